--! Previous: sha1:d20cf24cb752bbfd2ef2fe8cfe5976a4189ed187
--! Hash: sha1:85e48249e2db3d6efc0a5c22bde1326aee817804
--! Message: Structured invoices

--! split: 10-invoice-data.sql
-- Data of structured invoices (EN 16931). BT and BG are the norm's ids of its terms.

alter table erp.merchant
  add column if not exists contact_name text collate "C",
  add column if not exists electronic_address text collate "C",
  add column if not exists electronic_address_scheme text collate "C",
  add column if not exists foreign_vat_ids jsonb,
  add column if not exists oss_vat_id text collate "C",
  add column if not exists payment_days integer,
  add column if not exists payment_terms jsonb;
alter table erp.merchant
  drop constraint if exists merchant_contact_name_length,
  drop constraint if exists merchant_electronic_address_has_a_scheme,
  drop constraint if exists merchant_foreign_vat_ids_are_strings,
  drop constraint if exists merchant_oss_vat_id_begins_with_a_country,
  drop constraint if exists merchant_payment_days_are_plausible,
  drop constraint if exists merchant_payment_terms_are_localized;
alter table erp.merchant
  add constraint merchant_contact_name_length check (length(contact_name) <= 255) not valid,
  add constraint merchant_electronic_address_has_a_scheme check (
    (electronic_address is null) = (electronic_address_scheme is null)
    and length(electronic_address) <= 255 and electronic_address_scheme ~ '^([0-9]{4}|[A-Z]{2})$') not valid,
  add constraint merchant_foreign_vat_ids_are_strings check (erp.is_string_array(foreign_vat_ids)) not valid,
  add constraint merchant_oss_vat_id_begins_with_a_country
    check (oss_vat_id ~ '^[A-Z]{2}[A-Z0-9+*]{2,12}$') not valid,
  add constraint merchant_payment_days_are_plausible check (payment_days between 0 and 365) not valid,
  add constraint merchant_payment_terms_are_localized check (erp.is_localized_text(payment_terms)) not valid;
comment on column erp.merchant.contact_name is
  'Person or department that answers questions about invoices (BT-41).';
comment on column erp.merchant.electronic_address is 'Electronic address of the seller (BT-34).';
comment on column erp.merchant.electronic_address_scheme is
  'Kind of the electronic address: EM for an e-mail address, otherwise a code of the list EAS, such as 9930 '
  'for a German VAT number.';
comment on column erp.merchant.foreign_vat_ids is
  'VAT numbers in other countries, as a JSON array. Taxed invoices to such a country show its number.';
comment on column erp.merchant.oss_vat_id is
  'VAT number of the One Stop Shop, if it is another one (Article 369 of Directive 2006/112/EC). Invoices '
  'with tax to private customers in other countries of the European Union show it.';
comment on column erp.merchant.payment_days is
  'Days after the date of an invoice until it is due; null if invoices have no due date.';
comment on column erp.merchant.payment_terms is
  'Payment terms on invoices, by language (BT-20). {dueDate} stands for the due date.';

alter table erp.customer
  add column if not exists invoice_form text collate "C" not null default 'pdf',
  add column if not exists buyer_reference text collate "C",
  add column if not exists electronic_address text collate "C",
  add column if not exists electronic_address_scheme text collate "C",
  add column if not exists registration_id text collate "C";
alter table erp.customer
  drop constraint if exists customer_invoice_form_is_known,
  drop constraint if exists customer_buyer_reference_length,
  drop constraint if exists customer_electronic_address_has_a_scheme,
  drop constraint if exists customer_electronic_address_length,
  drop constraint if exists customer_electronic_address_scheme_is_a_code,
  drop constraint if exists customer_registration_id_length;
alter table erp.customer
  add constraint customer_invoice_form_is_known
    check (invoice_form in ('pdf', 'zugferd', 'xrechnung')) not valid,
  add constraint customer_buyer_reference_length check (length(buyer_reference) <= 255) not valid,
  add constraint customer_electronic_address_has_a_scheme
    check ((electronic_address is null) = (electronic_address_scheme is null)) not valid,
  add constraint customer_electronic_address_length check (length(electronic_address) <= 255) not valid,
  add constraint customer_electronic_address_scheme_is_a_code
    check (electronic_address_scheme ~ '^([0-9]{4}|[A-Z]{2})$') not valid,
  add constraint customer_registration_id_length check (length(registration_id) <= 255) not valid;
comment on column erp.customer.invoice_form is
  'Form of the customer''s invoices: pdf, zugferd (a PDF that contains XML) or xrechnung (XML).';
comment on column erp.customer.buyer_reference is
  'Reference that the customer wants on invoices, such as a Leitweg-ID (BT-10).';
comment on column erp.customer.electronic_address is
  'Electronic address that the customer receives invoices at (BT-49).';
comment on column erp.customer.electronic_address_scheme is
  'Kind of the electronic address: EM for an e-mail address, otherwise a code of the list EAS, such as 0204 '
  'for a Leitweg-ID.';
comment on column erp.customer.registration_id is
  'Number of the company in an official register (BT-47).';
comment on constraint customer_invoice_form_is_known on erp.customer is
  E'@userError INVALID invoice_form\nThe form must be pdf, zugferd or xrechnung.';
comment on constraint customer_buyer_reference_length on erp.customer is
  E'@userError OUT_OF_RANGE buyer_reference\nThe text has more than 255 characters.';
comment on constraint customer_electronic_address_has_a_scheme on erp.customer is
  E'@userError REQUIRED electronic_address_scheme\nAn electronic address and its scheme are given together.';
comment on constraint customer_electronic_address_length on erp.customer is
  E'@userError OUT_OF_RANGE electronic_address\nThe text has more than 255 characters.';
comment on constraint customer_electronic_address_scheme_is_a_code on erp.customer is
  E'@userError INVALID electronic_address_scheme\n'
  'The scheme must be EM or another code of the list EAS, such as 0204.';
comment on constraint customer_registration_id_length on erp.customer is
  E'@userError OUT_OF_RANGE registration_id\nThe text has more than 255 characters.';

alter table erp.sales_order
  add column if not exists buyer_reference text collate "C",
  add column if not exists purchase_order_number text collate "C",
  add column if not exists due_date date,
  add column if not exists paid_amount numeric,
  add column if not exists exchange_rate numeric,
  add column if not exists exchange_rate_date date,
  add column if not exists exchange_rate_source text collate "C";
alter table erp.sales_order
  drop constraint if exists order_paid_amount_is_an_amount,
  drop constraint if exists order_exchange_rate_is_positive,
  drop constraint if exists order_exchange_rate_is_complete,
  drop constraint if exists sales_order_buyer_reference_length,
  drop constraint if exists sales_order_purchase_order_number_length,
  drop constraint if exists sales_order_exchange_rate_source_length;
alter table erp.sales_order
  add constraint order_paid_amount_is_an_amount check (paid_amount >= 0 and paid_amount < 1000000000000000)
    not enforced,
  add constraint order_exchange_rate_is_positive check (exchange_rate > 0 and exchange_rate < 1000000000)
    not enforced,
  add constraint order_exchange_rate_is_complete check ((exchange_rate is null) = (exchange_rate_date is null)
    and (exchange_rate is null) = (exchange_rate_source is null)) not enforced,
  add constraint sales_order_buyer_reference_length check (length(buyer_reference) <= 255) not enforced,
  add constraint sales_order_purchase_order_number_length check (length(purchase_order_number) <= 255)
    not enforced,
  add constraint sales_order_exchange_rate_source_length check (length(exchange_rate_source) <= 255)
    not enforced;
comment on column erp.sales_order.buyer_reference is
  'Reference that the buyer wants on invoices of this order (BT-10). Null takes the customer''s.';
comment on column erp.sales_order.purchase_order_number is 'Number of the buyer''s purchase order (BT-13).';
comment on column erp.sales_order.due_date is
  'Day on which invoices of the order are due (BT-9). Null counts the merchant''s days for payment.';
comment on column erp.sales_order.paid_amount is
  'Amount that the customer has paid already, in the currency of the order (BT-113); null is nothing.';
comment on column erp.sales_order.exchange_rate is
  'Units of the order''s currency per unit of the default currency, for the tax on invoices. Null takes the '
  'rate of the day of delivery.';
comment on column erp.sales_order.exchange_rate_date is 'Day on which the exchange rate was published.';
comment on column erp.sales_order.exchange_rate_source is 'Publisher of the exchange rate, for example ecb.';
comment on constraint order_paid_amount_is_an_amount on erp.sales_order is
  E'@userError OUT_OF_RANGE paid_amount\nThe amount must be at least 0 and less than 1,000,000,000,000,000.';
comment on constraint order_exchange_rate_is_positive on erp.sales_order is
  E'@userError OUT_OF_RANGE exchange_rate\nThe rate must be greater than 0 and less than 1,000,000,000.';
comment on constraint order_exchange_rate_is_complete on erp.sales_order is
  E'@userError REQUIRED exchange_rate\nAn exchange rate needs its date and its source, and they need a rate.';
comment on constraint sales_order_buyer_reference_length on erp.sales_order is
  E'@userError OUT_OF_RANGE buyer_reference\nThe text has more than 255 characters.';
comment on constraint sales_order_purchase_order_number_length on erp.sales_order is
  E'@userError OUT_OF_RANGE purchase_order_number\nThe text has more than 255 characters.';
comment on constraint sales_order_exchange_rate_source_length on erp.sales_order is
  E'@userError OUT_OF_RANGE exchange_rate_source\nThe text has more than 255 characters.';

alter table erp.sales_order_line_item
  add column if not exists tax_category text collate "C",
  add column if not exists exemption_code text collate "C",
  add column if not exists discount_reason text collate "C",
  add column if not exists unit_code text collate "C";
alter table erp.sales_order_line_item
  drop constraint if exists order_line_item_tax_category_is_known,
  drop constraint if exists order_line_item_tax_category_matches_rate,
  drop constraint if exists order_line_item_exemption_code_has_its_form,
  drop constraint if exists order_line_item_unit_code_has_its_form,
  drop constraint if exists sales_order_line_item_discount_reason_length;
alter table erp.sales_order_line_item
  add constraint order_line_item_tax_category_is_known check (tax_category ~ '^(S|Z|E|AE|K|G)$')
    not enforced,
  add constraint order_line_item_tax_category_matches_rate
    check (tax_category !~ '^(S|Z|E|AE|K|G)$' or (tax_category = 'S') = (tax_rate > 0)) not enforced,
  add constraint order_line_item_exemption_code_has_its_form
    check (exemption_code is null or exemption_code ~ '^VATEX-[A-Z]{2}-[A-Z0-9-]{1,40}$'
      and tax_category is not null and tax_category ~ '^(E|AE|K|G)$') not enforced,
  add constraint order_line_item_unit_code_has_its_form check (unit_code ~ '^[A-Z0-9]{2,3}$') not enforced,
  add constraint sales_order_line_item_discount_reason_length check (length(discount_reason) <= 255)
    not enforced;
comment on column erp.sales_order_line_item.tax_category is
  'Tax category of UNTDID 5305: S standard or reduced rate, Z zero rate, E exempt, AE reverse charge, K '
  'intra-Community supply, G export. Null follows from the tax rate and the tax status of the order.';
comment on column erp.sales_order_line_item.exemption_code is
  'Code of the reason why the line has no tax, of the list VATEX. Null takes the code of the category.';
comment on column erp.sales_order_line_item.discount_reason is
  'Reason why the total is less than the unit price times the quantity (BT-139).';
comment on column erp.sales_order_line_item.unit_code is
  'Unit of the quantity, of UN/ECE Recommendation 20 (BT-130). Null takes the product''s, or else C62: one.';
comment on constraint order_line_item_tax_category_is_known on erp.sales_order_line_item is
  E'@userError INVALID tax_category\nThe tax category must be S, Z, E, AE, K or G.';
comment on constraint order_line_item_tax_category_matches_rate on erp.sales_order_line_item is
  E'@userError INVALID tax_category\nOnly the tax category S has a tax rate above 0, and it needs one.';
comment on constraint order_line_item_exemption_code_has_its_form on erp.sales_order_line_item is
  E'@userError INVALID exemption_code\n'
  'The code must be of the list VATEX, such as VATEX-EU-AE, with a tax category of E, AE, K or G.';
comment on constraint order_line_item_unit_code_has_its_form on erp.sales_order_line_item is
  E'@userError INVALID unit_code\nThe unit must be a code of UN/ECE Recommendation 20, such as C62 or KGM.';
comment on constraint sales_order_line_item_discount_reason_length on erp.sales_order_line_item is
  E'@userError OUT_OF_RANGE discount_reason\nThe text has more than 255 characters.';

alter table erp.product add column if not exists unit_code text collate "C";
alter table erp.product drop constraint if exists product_unit_code_has_its_form;
alter table erp.product
  add constraint product_unit_code_has_its_form check (unit_code ~ '^[A-Z0-9]{2,3}$') not enforced;
comment on column erp.product.unit_code is
  'Unit that the product is counted in, of UN/ECE Recommendation 20: C62 for pieces, which null means, KGM '
  'for kilograms.';
comment on constraint product_unit_code_has_its_form on erp.product is
  E'@userError INVALID unit_code\nThe unit must be a code of UN/ECE Recommendation 20, such as C62 or KGM.';

alter table erp.payment_method add column if not exists means_code text collate "C";
alter table erp.payment_method drop constraint if exists payment_method_means_code_has_its_form;
alter table erp.payment_method
  add constraint payment_method_means_code_has_its_form check (means_code ~ '^([0-9]{1,2}|ZZZ)$') not valid;
comment on column erp.payment_method.means_code is
  'Code of UNTDID 4461 on invoices (BT-81): 58 for a SEPA credit transfer, 68 for an online payment service. '
  'Null means that the parties agreed on it (ZZZ).';

-- The forms of an invoice: versions change here, not in programs
create table if not exists erp.invoice_form (
  technical_name text collate "C" primary key,
  guideline text collate "C",
  business_process text collate "C",
  file_name text collate "C",
  embeds_xml boolean not null default false,
  profile text collate "C",
  version text collate "C"
);
alter table erp.invoice_form enable row level security;
comment on table erp.invoice_form is 'Forms of invoices, and the versions of their standards.';
comment on column erp.invoice_form.technical_name is 'Name of the form: pdf, zugferd or xrechnung.';
comment on column erp.invoice_form.guideline is
  'Identifier of the rules that the XML follows (BT-24); null if the form has no XML.';
comment on column erp.invoice_form.business_process is 'Identifier of the business process (BT-23).';
comment on column erp.invoice_form.file_name is 'Name of the XML file inside the PDF or on its own.';
comment on column erp.invoice_form.embeds_xml is 'Whether the PDF contains the XML.';
comment on column erp.invoice_form.profile is 'Name of the profile in the metadata of the PDF.';
comment on column erp.invoice_form.version is 'Version of the standard in the metadata of the PDF.';
insert into erp.invoice_form (
  technical_name, guideline, business_process, file_name, embeds_xml, profile, version
)
values ('pdf', null, null, null, false, null, null),
  ('zugferd', 'urn:cen.eu:en16931:2017', null, 'factur-x.xml', true, 'EN 16931', '1.0'),
  ('xrechnung', 'urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0',
    'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0', 'xrechnung.xml', false, null, null)
on conflict do nothing;
select api_meta.allow('service_writer', 'erp.invoice_form', 'select');

-- Why an invoice charges no tax: wording and codes are data
create table if not exists erp.tax_reason (
  technical_name text collate "C" primary key,
  category text collate "C" not null,
  exemption_code text collate "C",
  reason erp.localized_text
);
alter table erp.tax_reason enable row level security;
comment on table erp.tax_reason is 'Reasons why lines of invoices have no tax.';
comment on column erp.tax_reason.technical_name is
  'Name of the reason: reverse_charge, intra_community, export, small_business, exempt or zero_rate.';
comment on column erp.tax_reason.category is 'Tax category of UNTDID 5305.';
comment on column erp.tax_reason.exemption_code is 'Code of the list VATEX (BT-121); null if it has none.';
comment on column erp.tax_reason.reason is 'The reason on documents, by language (BT-120).';
insert into erp.tax_reason (technical_name, category, exemption_code, reason) values
  ('reverse_charge', 'AE', 'VATEX-EU-AE', '{
    "en-GB": "Reverse charge: the customer owes the VAT (Article 196 of Directive 2006/112/EC).",
    "de-DE": "Steuerschuldnerschaft des Leistungsempfängers (§ 13b UStG).",
    "fr-FR": "Autoliquidation : la TVA est due par le client (article 196 de la directive 2006/112/CE)."}'),
  ('intra_community', 'K', 'VATEX-EU-IC', '{
    "en-GB": "VAT-exempt intra-Community supply (Article 138 of Directive 2006/112/EC).",
    "de-DE": "Steuerfreie innergemeinschaftliche Lieferung (§ 4 Nr. 1b UStG).",
    "fr-FR": "Livraison intracommunautaire exonérée de TVA (article 138 de la directive 2006/112/CE)."}'),
  ('export', 'G', 'VATEX-EU-G', '{
    "en-GB": "VAT-exempt export (Article 146 of Directive 2006/112/EC).",
    "de-DE": "Steuerfreie Ausfuhrlieferung (§ 4 Nr. 1a UStG).",
    "fr-FR": "Exportation exonérée de TVA (article 146 de la directive 2006/112/CE)."}'),
  ('small_business', 'E', null, '{
    "en-GB": "No VAT is charged: small enterprise (Article 284 of Directive 2006/112/EC).",
    "de-DE": "Steuerbefreiung für Kleinunternehmer (§ 19 UStG).",
    "fr-FR": "TVA non applicable : franchise (article 284 de la directive 2006/112/CE)."}'),
  ('exempt', 'E', null, '{
    "en-GB": "Exempt from VAT.", "de-DE": "Von der Umsatzsteuer befreit.", "fr-FR": "Exonéré de TVA."}'),
  ('zero_rate', 'Z', null, null)
on conflict do nothing;
select api_meta.allow('service_writer', 'erp.tax_reason', 'select');

-- Amounts of numbered invoices, cancellation invoices and credit notes, as their config has them
create table if not exists erp.invoice_figures (
  document_id uuid primary key references erp.document on delete cascade,
  type_code text collate "C" not null,
  form text collate "C" not null,
  currency_code text collate "C" not null,
  net numeric not null,
  tax numeric not null,
  total numeric not null,
  paid numeric not null,
  due numeric not null,
  due_date date
);
alter table erp.invoice_figures enable row level security;
comment on table erp.invoice_figures is
  'Amounts of numbered invoices, cancellation invoices and credit notes, as their config has them. '
  'Cancellation invoices have negative amounts, credit notes have positive ones.';
comment on column erp.invoice_figures.type_code is
  'Type of UNTDID 1001 (BT-3): 380 invoice, 381 credit note, 384 cancellation invoice.';
comment on column erp.invoice_figures.form is 'Form of the invoice: pdf, zugferd or xrechnung.';
comment on column erp.invoice_figures.currency_code is 'ISO 4217 code of the currency of the amounts (BT-5).';
comment on column erp.invoice_figures.net is 'Total without tax (BT-109).';
comment on column erp.invoice_figures.tax is 'Tax in total (BT-110).';
comment on column erp.invoice_figures.total is 'Total with tax (BT-112).';
comment on column erp.invoice_figures.paid is 'Amount paid before (BT-113).';
comment on column erp.invoice_figures.due is 'Amount that is still to be paid (BT-115).';
comment on column erp.invoice_figures.due_date is 'Day on which the amount is due (BT-9).';
comment on constraint invoice_figures_document_id_fkey on erp.invoice_figures is
  '@internal erp.keep_invoice is called with a new document';
create table if not exists erp.invoice_tax (
  document_id uuid not null references erp.invoice_figures on delete cascade,
  category text collate "C" not null,
  rate numeric not null,
  net numeric not null,
  tax numeric not null,
  exemption_code text collate "C",
  primary key (document_id, category, rate)
);
alter table erp.invoice_tax enable row level security;
comment on table erp.invoice_tax is 'Tax of invoices by category and rate (BG-23).';
comment on column erp.invoice_tax.category is 'Tax category of UNTDID 5305 (BT-118).';
comment on column erp.invoice_tax.rate is 'Tax rate in percent (BT-119).';
comment on column erp.invoice_tax.net is 'Amount without tax that is taxed at the rate (BT-116).';
comment on column erp.invoice_tax.tax is 'Tax at the rate (BT-117).';
comment on column erp.invoice_tax.exemption_code is
  'Code of the list VATEX for the reason why there is no tax (BT-121).';
comment on constraint invoice_tax_document_id_fkey on erp.invoice_tax is
  '@internal erp.keep_invoice is called with a new document';
comment on constraint invoice_tax_pkey on erp.invoice_tax is '@internal erp.document_taxes groups by it';
comment on constraint document_file_document_id_fkey on erp.document_file is
  '@internal erp.keep_invoice is called with a new document';
select api_meta.allow('service_writer', 'erp.invoice_figures', 'select', 'insert');
select api_meta.allow('service_writer', 'erp.invoice_tax', 'select', 'insert');
select api_meta.allow('service_writer', 'erp.document_file', 'select',
  'insert (document_id, format, content_type, content)');

--! split: 15-cii.sql
-- Structured invoices as XML (UN/CEFACT Cross Industry Invoice)

--! Included erp/xml_text.sql
create or replace function erp.without_forbidden_characters(value text) returns text
language sql immutable parallel safe
-- Few texts have such characters, and looking for them is much faster
return case when value ~ E'[\x01-\x08\x0b\x0c\x0e-\x1f\uFFFE\uFFFF]'
  then regexp_replace(value, E'[\x01-\x08\x0b\x0c\x0e-\x1f\uFFFE\uFFFF]', '', 'g') else value end;
comment on function erp.without_forbidden_characters(text) is
  'Returns a text without the characters that XML 1.0 forbids.';
grant execute on function erp.without_forbidden_characters(text) to service_writer;

create or replace function erp.xml_text(value text) returns text
language sql immutable parallel safe
return nullif(replace(replace(replace(replace(
  btrim(erp.without_forbidden_characters(value), E' \t\r\n'),
  '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '');
comment on function erp.xml_text(text) is
  'Returns a text as the content or an attribute of an XML element. Characters that XML 1.0 forbids and '
  'spaces at both ends are removed; null if nothing is left.';
grant execute on function erp.xml_text(text) to service_writer;
--! EndIncluded erp/xml_text.sql
--! Included erp/cii_amount.sql
create or replace function erp.cii_amount(object jsonb, key text) returns text
language sql immutable parallel safe
return round((object ->> key)::numeric, 2)::text;
comment on function erp.cii_amount(jsonb, text) is
  'Returns the amount of a key with two decimals, as XML writes it; null if there is none.';
grant execute on function erp.cii_amount(jsonb, text) to service_writer;

create or replace function erp.cii_number(object jsonb, key text) returns text
language sql immutable parallel safe
return trim_scale((object ->> key)::numeric)::text;
comment on function erp.cii_number(jsonb, text) is
  'Returns the number of a key with the decimals that it needs, as XML writes it; null if there is none.';
grant execute on function erp.cii_number(jsonb, text) to service_writer;

create or replace function erp.cii_day(day text) returns text
language sql immutable parallel safe
return '<udt:DateTimeString format="102">' || erp.xml_text(replace(day, '-', '')) || '</udt:DateTimeString>';
comment on function erp.cii_day(text) is
  'Returns an element of the XML of invoices with a day, which is given as YYYY-MM-DD.';
grant execute on function erp.cii_day(text) to service_writer;
--! EndIncluded erp/cii_amount.sql
--! Included erp/cii_tax.sql
create or replace function erp.cii_tax(entry jsonb) returns text
language sql immutable parallel safe
return '<ram:TypeCode>VAT</ram:TypeCode>'
  || coalesce('<ram:CategoryCode>' || erp.xml_text(entry ->> 'taxCategory') || '</ram:CategoryCode>', '')
  || coalesce('<ram:RateApplicablePercent>' || erp.cii_number(entry, 'taxRate')
    || '</ram:RateApplicablePercent>', '');
comment on function erp.cii_tax(jsonb) is
  'Returns the tax of a line (BG-30), a discount or a surcharge as the content of its element in the XML of '
  'invoices.';
grant execute on function erp.cii_tax(jsonb) to service_writer;
--! EndIncluded erp/cii_tax.sql
--! Included erp/cii_allowance.sql
create or replace function erp.cii_allowance(entry jsonb, is_charge boolean, tax text default '') returns text
language sql immutable parallel safe
return '<ram:SpecifiedTradeAllowanceCharge><ram:ChargeIndicator><udt:Indicator>'
  || case when is_charge then 'true' else 'false' end
  || '</udt:Indicator></ram:ChargeIndicator>'
  || coalesce('<ram:ActualAmount>' || erp.cii_amount(entry, 'amount') || '</ram:ActualAmount>', '')
  || case
    when erp.xml_text(entry ->> 'reason') is not null
      then '<ram:Reason>' || erp.xml_text(entry ->> 'reason') || '</ram:Reason>'
    -- Each needs a reason (BR-33, BR-38, BR-42, BR-44): discount, or other services
    else '<ram:ReasonCode>' || case when is_charge then 'ADR' else '95' end || '</ram:ReasonCode>' end
  || coalesce('<ram:CategoryTradeTax>' || nullif(tax, '') || '</ram:CategoryTradeTax>', '')
  || '</ram:SpecifiedTradeAllowanceCharge>';
comment on function erp.cii_allowance(jsonb, boolean, text) is
  'Returns a discount or surcharge on a line (BG-27) or on an invoice (BG-20, BG-21) as XML. The latter '
  'needs its tax, see erp.cii_tax.';
grant execute on function erp.cii_allowance(jsonb, boolean, text) to service_writer;

create or replace function erp.cii_allowances(entries jsonb, is_charge boolean) returns text
language sql immutable parallel safe
return (
  select coalesce(
    string_agg(erp.cii_allowance(e.entry, is_charge, erp.cii_tax(e.entry)), '' order by e.n), ''
  )
  from jsonb_array_elements(nullif(entries, 'null')) with ordinality e (entry, n)
);
comment on function erp.cii_allowances(jsonb, boolean) is
  'Returns the discounts (BG-20) or surcharges (BG-21) on an invoice as XML.';
grant execute on function erp.cii_allowances(jsonb, boolean) to service_writer;
--! EndIncluded erp/cii_allowance.sql
--! Included erp/cii_line.sql
create or replace function erp.cii_product(line jsonb) returns text
language sql immutable parallel safe
return '<ram:SpecifiedTradeProduct>'
  || coalesce('<ram:GlobalID schemeID="0160">' || erp.xml_text(line ->> 'gtin') || '</ram:GlobalID>', '')
  || coalesce('<ram:SellerAssignedID>' || erp.xml_text(line ->> 'productNumber')
    || '</ram:SellerAssignedID>', '')
  || coalesce('<ram:Name>' || erp.xml_text(line ->> 'label') || '</ram:Name>', '')
  || coalesce('<ram:Description>' || erp.xml_text(line ->> 'description') || '</ram:Description>', '')
  || '</ram:SpecifiedTradeProduct>';
comment on function erp.cii_product(jsonb) is
  'Returns the product of a line as XML: its label, description, number and GTIN (BG-31).';
grant execute on function erp.cii_product(jsonb) to service_writer;

create or replace function erp.cii_unit(line jsonb) returns text
language sql immutable parallel safe
return coalesce(' unitCode="' || erp.xml_text(line ->> 'unitCode') || '"', '');
comment on function erp.cii_unit(jsonb) is 'Returns the attribute with the unit of a line (BT-130).';
grant execute on function erp.cii_unit(jsonb) to service_writer;

create or replace function erp.cii_price(line jsonb) returns text
language sql immutable parallel safe
return '<ram:NetPriceProductTradePrice>'
  || coalesce('<ram:ChargeAmount>' || erp.cii_number(line, 'netPrice') || '</ram:ChargeAmount>', '')
  || case when (line ->> 'baseQuantity')::numeric <> 1
    then '<ram:BasisQuantity' || erp.cii_unit(line) || '>' || erp.cii_number(line, 'baseQuantity')
      || '</ram:BasisQuantity>' else '' end
  || '</ram:NetPriceProductTradePrice>';
comment on function erp.cii_price(jsonb) is 'Returns the price of a line as XML (BG-29).';
grant execute on function erp.cii_price(jsonb) to service_writer;

-- An expression without from clause, so that Postgres expands it in erp.cii_lines
create or replace function erp.cii_line(line jsonb) returns text
language sql immutable parallel safe
return '<ram:IncludedSupplyChainTradeLineItem><ram:AssociatedDocumentLineDocument>'
  || coalesce('<ram:LineID>' || erp.cii_number(line, 'position') || '</ram:LineID>', '')
  || '</ram:AssociatedDocumentLineDocument>'
  || erp.cii_product(line)
  || '<ram:SpecifiedLineTradeAgreement>' || erp.cii_price(line) || '</ram:SpecifiedLineTradeAgreement>'
  || '<ram:SpecifiedLineTradeDelivery>'
  || coalesce('<ram:BilledQuantity' || erp.cii_unit(line) || '>' || erp.cii_number(line, 'quantity')
    || '</ram:BilledQuantity>', '')
  || '</ram:SpecifiedLineTradeDelivery><ram:SpecifiedLineTradeSettlement><ram:ApplicableTradeTax>'
  || erp.cii_tax(line)
  || '</ram:ApplicableTradeTax>'
  || case when jsonb_typeof(line -> 'discount') = 'object'
    then erp.cii_allowance(line -> 'discount', false) else '' end
  || '<ram:SpecifiedTradeSettlementLineMonetarySummation>'
  || coalesce('<ram:LineTotalAmount>' || erp.cii_amount(line, 'net') || '</ram:LineTotalAmount>', '')
  || '</ram:SpecifiedTradeSettlementLineMonetarySummation>'
  || '</ram:SpecifiedLineTradeSettlement></ram:IncludedSupplyChainTradeLineItem>';
comment on function erp.cii_line(jsonb) is 'Returns a line of an invoice as XML (BG-25).';
grant execute on function erp.cii_line(jsonb) to service_writer;

create or replace function erp.cii_lines(lines jsonb) returns text
language sql immutable parallel safe
return (
  select coalesce(string_agg(erp.cii_line(l.line), '' order by l.n), '')
  from jsonb_array_elements(lines) with ordinality l (line, n)
  where l.line ->> 'kind' = 'line'
);
comment on function erp.cii_lines(jsonb) is
  'Returns the lines of an invoice as XML. Only lines of the kind line are in it.';
grant execute on function erp.cii_lines(jsonb) to service_writer;
--! EndIncluded erp/cii_line.sql
--! Included erp/cii_seller.sql
create or replace function erp.cii_seller(config jsonb) returns jsonb
language sql immutable parallel safe
return (
  select jsonb_build_object('name', s.seller -> 'legalName', 'registrationId', s.seller -> 'register',
    -- Without a VAT number, the seller needs another number (BR-CO-26)
    'id', case when erp.xml_text(s.seller ->> 'vatId') is null then s.seller -> 'taxNumber' end,
    'tradingName', case when config #>> '{sender,name}' <> s.seller ->> 'legalName'
      then config #> '{sender,name}' end,
    'legalInformation', case left(config ->> 'locale', 2) when 'de' then 'Geschäftsführung: '
      when 'fr' then 'Direction : ' else 'Managing directors: ' end || (s.seller ->> 'managers'),
    'contact', s.seller -> 'contactName', 'phone', s.seller -> 'phone', 'email', s.seller -> 'email',
    'address', s.seller -> 'address', 'electronicAddress', s.seller -> 'electronicAddress',
    'taxNumber', s.seller -> 'taxNumber', 'vatId', s.seller -> 'vatId')
  from (select config -> 'seller' as seller) s
);
comment on function erp.cii_seller(jsonb) is
  'Returns the seller of a document (BG-4) as erp.cii_party takes a party.';
grant execute on function erp.cii_seller(jsonb) to service_writer;
--! EndIncluded erp/cii_seller.sql
--! Included erp/cii_buyer.sql
create or replace function erp.name_of_person(address jsonb) returns text
language sql immutable parallel safe
return nullif(
  btrim(coalesce(address ->> 'firstName', '') || ' ' || coalesce(address ->> 'lastName', '')), ''
);
comment on function erp.name_of_person(jsonb) is
  'Returns the first and last name of an address; null if it has neither.';
grant execute on function erp.name_of_person(jsonb) to service_writer;

create or replace function erp.name_of_recipient(address jsonb) returns text
language sql immutable parallel safe
return case when erp.xml_text(address ->> 'company') is not null then address ->> 'company'
  else erp.name_of_person(address) end;
comment on function erp.name_of_recipient(jsonb) is
  'Returns the company of an address, or otherwise the name of the person.';
grant execute on function erp.name_of_recipient(jsonb) to service_writer;

create or replace function erp.cii_buyer(config jsonb) returns jsonb
language sql immutable parallel safe
return (
  select jsonb_build_object('id', config -> 'customerNumber', 'name', erp.name_of_recipient(a.address),
    'registrationId', b.buyer -> 'registrationId',
    -- One element for both, because the rules forbid a person beside a department (CII-SR-466)
    'contact', case when erp.xml_text(a.address ->> 'company') is not null then (
      select string_agg(v.name, ', ' order by v.n)
      from (values (1, erp.name_of_person(a.address)), (2, a.address ->> 'department')) v (n, name)
      where erp.xml_text(v.name) is not null) end,
    'email', b.buyer -> 'email', 'address', a.address, 'electronicAddress', b.buyer -> 'electronicAddress',
    'vatId', coalesce(b.buyer ->> 'vatId', config ->> 'customerVatId'))
  from (select config -> 'billingAddress' as address) a
  cross join (select config -> 'buyer' as buyer) b
);
comment on function erp.cii_buyer(jsonb) is
  'Returns the buyer of a document (BG-7) as erp.cii_party takes a party. The name is the company, and then '
  'the person is the contact; without a company it is the person.';
grant execute on function erp.cii_buyer(jsonb) to service_writer;
--! EndIncluded erp/cii_buyer.sql
--! Included erp/cii_party.sql
create or replace function erp.cii_address(address jsonb) returns text
language sql immutable parallel safe
return coalesce('<ram:PostalTradeAddress>' || nullif(
  coalesce('<ram:PostcodeCode>' || erp.xml_text(address ->> 'zipcode') || '</ram:PostcodeCode>', '')
  || coalesce('<ram:LineOne>' || erp.xml_text(address ->> 'street') || '</ram:LineOne>', '')
  || coalesce('<ram:LineTwo>' || erp.xml_text(address ->> 'additionalAddressLine1') || '</ram:LineTwo>', '')
  || coalesce('<ram:LineThree>' || erp.xml_text(address ->> 'additionalAddressLine2')
    || '</ram:LineThree>', '')
  || coalesce('<ram:CityName>' || erp.xml_text(address ->> 'city') || '</ram:CityName>', '')
  || coalesce('<ram:CountryID>' || erp.xml_text(address ->> 'countryIso') || '</ram:CountryID>', '')
  || coalesce('<ram:CountrySubDivisionName>' || erp.xml_text(address ->> 'countryStateName')
    || '</ram:CountrySubDivisionName>', ''), '') || '</ram:PostalTradeAddress>', '');
comment on function erp.cii_address(jsonb) is 'Returns an address as XML; an empty text if it has no parts.';
grant execute on function erp.cii_address(jsonb) to service_writer;

create or replace function erp.cii_contact(party jsonb) returns text
language sql immutable parallel safe
return coalesce('<ram:DefinedTradeContact>' || nullif(
  coalesce('<ram:PersonName>' || erp.xml_text(party ->> 'contact') || '</ram:PersonName>', '')
  || coalesce('<ram:TelephoneUniversalCommunication><ram:CompleteNumber>' || erp.xml_text(party ->> 'phone')
    || '</ram:CompleteNumber></ram:TelephoneUniversalCommunication>', '')
  || coalesce('<ram:EmailURIUniversalCommunication><ram:URIID>' || erp.xml_text(party ->> 'email')
    || '</ram:URIID></ram:EmailURIUniversalCommunication>', ''), '') || '</ram:DefinedTradeContact>', '');
comment on function erp.cii_contact(jsonb) is
  'Returns the contact of a party as XML (BG-6, BG-9); an empty text if there is none.';
grant execute on function erp.cii_contact(jsonb) to service_writer;

create or replace function erp.cii_tax_number(scheme text, number text) returns text
language sql immutable parallel safe
return coalesce('<ram:SpecifiedTaxRegistration><ram:ID schemeID="' || scheme || '">' || erp.xml_text(number)
  || '</ram:ID></ram:SpecifiedTaxRegistration>', '');
comment on function erp.cii_tax_number(text, text) is
  'Returns a number of a party as XML. The scheme is VA for a VAT number and FC for a tax number.';
grant execute on function erp.cii_tax_number(text, text) to service_writer;

create or replace function erp.cii_party(party jsonb) returns text
language sql immutable parallel safe
return coalesce('<ram:ID>' || erp.xml_text(party ->> 'id') || '</ram:ID>', '')
  || coalesce('<ram:Name>' || erp.xml_text(party ->> 'name') || '</ram:Name>', '')
  || coalesce('<ram:Description>' || erp.xml_text(party ->> 'legalInformation') || '</ram:Description>', '')
  || coalesce('<ram:SpecifiedLegalOrganization>' || nullif(
    coalesce('<ram:ID>' || erp.xml_text(party ->> 'registrationId') || '</ram:ID>', '')
    || coalesce('<ram:TradingBusinessName>' || erp.xml_text(party ->> 'tradingName')
      || '</ram:TradingBusinessName>', ''), '') || '</ram:SpecifiedLegalOrganization>', '')
  || erp.cii_contact(party)
  || erp.cii_address(party -> 'address')
  || coalesce('<ram:URIUniversalCommunication><ram:URIID'
    || coalesce(' schemeID="' || erp.xml_text(party #>> '{electronicAddress,scheme}') || '"', '') || '>'
    || erp.xml_text(party #>> '{electronicAddress,id}')
    || '</ram:URIID></ram:URIUniversalCommunication>', '')
  || erp.cii_tax_number('FC', party ->> 'taxNumber')
  || erp.cii_tax_number('VA', party ->> 'vatId');
comment on function erp.cii_party(jsonb) is
  'Returns the content of the element of the seller or buyer in the XML of invoices. Takes id, name, '
  'legalInformation, registrationId, tradingName, contact, phone, email, address, electronicAddress, '
  'taxNumber and vatId.';
grant execute on function erp.cii_party(jsonb) to service_writer;
--! EndIncluded erp/cii_party.sql
--! Included erp/cii_delivery.sql
create or replace function erp.cii_place(address jsonb) returns text
language sql immutable parallel safe
return nullif(coalesce('<ram:Name>' || erp.xml_text(erp.name_of_recipient(address)) || '</ram:Name>', '')
  || erp.cii_address(address), '');
comment on function erp.cii_place(jsonb) is
  'Returns the name and address of a place of delivery as XML (BT-70, BG-15); null if it has none.';
grant execute on function erp.cii_place(jsonb) to service_writer;

create or replace function erp.cii_delivery(config jsonb) returns text
language sql immutable parallel safe
return (
  select '<ram:ApplicableHeaderTradeDelivery>'
    || coalesce('<ram:ShipToTradeParty>' || case
      when p.shipping <> p.billing then p.shipping
      -- Needs the country of delivery (BR-IC-12), or would be an empty element (PEPPOL-EN16931-R008)
      when jsonb_path_exists(config, '$.totals.taxes[*] ? (@.category == "K")')
        or config #>> '{deliveryDate,to}' is null
        then coalesce(p.shipping, p.billing) end || '</ram:ShipToTradeParty>', '')
    || coalesce('<ram:ActualDeliverySupplyChainEvent><ram:OccurrenceDateTime>'
      || erp.cii_day(config #>> '{deliveryDate,to}')
      || '</ram:OccurrenceDateTime></ram:ActualDeliverySupplyChainEvent>', '')
    || '</ram:ApplicableHeaderTradeDelivery>'
  from (
    select erp.cii_place(config -> 'shippingAddress') as shipping,
      erp.cii_place(config -> 'billingAddress') as billing
    offset 0
  ) p
);
comment on function erp.cii_delivery(jsonb) is
  'Returns the delivery of an invoice as XML (BG-13): the last day, and the address. The billing address is '
  'not repeated, unless there is no day or the supply is intra-Community.';
grant execute on function erp.cii_delivery(jsonb) to service_writer;
--! EndIncluded erp/cii_delivery.sql
--! Included erp/cii_payment.sql
create or replace function erp.cii_account(bank jsonb) returns text
language sql immutable parallel safe
return coalesce('<ram:PayeePartyCreditorFinancialAccount>' || nullif(
  coalesce('<ram:IBANID>' || erp.xml_text(bank ->> 'iban') || '</ram:IBANID>', '')
  || coalesce('<ram:AccountName>' || erp.xml_text(bank ->> 'accountHolder') || '</ram:AccountName>', ''), '')
  || '</ram:PayeePartyCreditorFinancialAccount>', '')
  || coalesce('<ram:PayeeSpecifiedCreditorFinancialInstitution><ram:BICID>' || erp.xml_text(bank ->> 'bic')
    || '</ram:BICID></ram:PayeeSpecifiedCreditorFinancialInstitution>', '');
comment on function erp.cii_account(jsonb) is 'Returns the bank account of the seller as XML (BG-17).';
grant execute on function erp.cii_account(jsonb) to service_writer;

create or replace function erp.cii_payment(config jsonb) returns text
language sql immutable parallel safe
return '<ram:SpecifiedTradeSettlementPaymentMeans>'
  || coalesce('<ram:TypeCode>' || erp.xml_text(config ->> 'paymentMeansCode') || '</ram:TypeCode>', '')
  || coalesce('<ram:Information>' || erp.xml_text(config ->> 'paymentMethod') || '</ram:Information>', '')
  -- Credit transfers
  || case when config ->> 'paymentMeansCode' in ('30', '58') then erp.cii_account(config #> '{seller,bank}')
    else '' end
  || '</ram:SpecifiedTradeSettlementPaymentMeans>';
comment on function erp.cii_payment(jsonb) is
  'Returns the means of payment of an invoice as XML (BG-16), with the bank account for credit transfers.';
grant execute on function erp.cii_payment(jsonb) to service_writer;

create or replace function erp.cii_terms(config jsonb) returns text
language sql immutable parallel safe
return coalesce('<ram:SpecifiedTradePaymentTerms>' || nullif(
  coalesce('<ram:Description>' || erp.xml_text(config ->> 'paymentTerms')
    -- XRechnung ends each discount for early payment by a line feed (BR-DE-18)
    || case when config ->> 'paymentTerms' ~ '(^|\n)\s*#[^\n]*\s*$' then chr(10) else '' end
    || '</ram:Description>', '')
  || coalesce('<ram:DueDateDateTime>' || erp.cii_day(config ->> 'dueDate') || '</ram:DueDateDateTime>', ''),
  '') || '</ram:SpecifiedTradePaymentTerms>', '');
comment on function erp.cii_terms(jsonb) is
  'Returns the terms of payment of an invoice as XML (BT-20, BT-9); an empty text if there are none.';
grant execute on function erp.cii_terms(jsonb) to service_writer;
--! EndIncluded erp/cii_payment.sql
--! Included erp/cii_settlement.sql
create or replace function erp.cii_taxes(taxes jsonb) returns text
language sql immutable parallel safe
return (
  select coalesce(string_agg('<ram:ApplicableTradeTax>'
    || coalesce('<ram:CalculatedAmount>' || erp.cii_amount(t.tax, 'tax') || '</ram:CalculatedAmount>', '')
    || '<ram:TypeCode>VAT</ram:TypeCode>'
    || coalesce('<ram:ExemptionReason>' || erp.xml_text(t.tax ->> 'reason') || '</ram:ExemptionReason>', '')
    || coalesce('<ram:BasisAmount>' || erp.cii_amount(t.tax, 'net') || '</ram:BasisAmount>', '')
    || coalesce('<ram:CategoryCode>' || erp.xml_text(t.tax ->> 'category') || '</ram:CategoryCode>', '')
    || coalesce('<ram:ExemptionReasonCode>' || erp.xml_text(t.tax ->> 'exemptionCode')
      || '</ram:ExemptionReasonCode>', '')
    || coalesce('<ram:RateApplicablePercent>' || erp.cii_number(t.tax, 'rate')
      || '</ram:RateApplicablePercent>', '')
    || '</ram:ApplicableTradeTax>', '' order by t.n), '')
  from jsonb_array_elements(taxes) with ordinality t (tax, n)
);
comment on function erp.cii_taxes(jsonb) is
  'Returns the taxes of an invoice by category and rate as XML (BG-23).';
grant execute on function erp.cii_taxes(jsonb) to service_writer;

create or replace function erp.cii_sums(totals jsonb, currency text, own jsonb) returns text
language sql immutable parallel safe
return '<ram:SpecifiedTradeSettlementHeaderMonetarySummation>'
  || coalesce('<ram:LineTotalAmount>' || erp.cii_amount(totals, 'lineNet') || '</ram:LineTotalAmount>', '')
  || coalesce('<ram:ChargeTotalAmount>' || nullif(erp.cii_amount(totals, 'charges'), '0.00')
    || '</ram:ChargeTotalAmount>', '')
  || coalesce('<ram:AllowanceTotalAmount>' || nullif(erp.cii_amount(totals, 'allowances'), '0.00')
    || '</ram:AllowanceTotalAmount>', '')
  || coalesce('<ram:TaxBasisTotalAmount>' || erp.cii_amount(totals, 'net')
    || '</ram:TaxBasisTotalAmount>', '')
  || coalesce('<ram:TaxTotalAmount currencyID="' || erp.xml_text(currency) || '">' || (
    select round(sum((t.tax ->> 'tax')::numeric), 2)::text
    from jsonb_array_elements(totals -> 'taxes') t (tax)) || '</ram:TaxTotalAmount>', '')
  || coalesce('<ram:TaxTotalAmount currencyID="' || erp.xml_text(own #>> '{currency,isoCode}') || '">'
    || erp.cii_amount(own, 'tax') || '</ram:TaxTotalAmount>', '')
  || coalesce('<ram:GrandTotalAmount>' || erp.cii_amount(totals, 'total') || '</ram:GrandTotalAmount>', '')
  || coalesce('<ram:TotalPrepaidAmount>' || nullif(erp.cii_amount(totals, 'paid'), '0.00')
    || '</ram:TotalPrepaidAmount>', '')
  || coalesce('<ram:DuePayableAmount>' || erp.cii_amount(totals, 'due') || '</ram:DuePayableAmount>', '')
  || '</ram:SpecifiedTradeSettlementHeaderMonetarySummation>';
comment on function erp.cii_sums(jsonb, text, jsonb) is
  'Returns the totals of an invoice as XML (BG-22). Takes the currency of the document, and its tax in the '
  'merchant''s currency.';
grant execute on function erp.cii_sums(jsonb, text, jsonb) to service_writer;

create or replace function erp.cii_preceding(number text, day text) returns text
language sql immutable parallel safe
return coalesce('<ram:InvoiceReferencedDocument><ram:IssuerAssignedID>' || erp.xml_text(number)
  || '</ram:IssuerAssignedID>'
  || coalesce('<ram:FormattedIssueDateTime><qdt:DateTimeString format="102">'
    || erp.xml_text(replace(day, '-', '')) || '</qdt:DateTimeString></ram:FormattedIssueDateTime>', '')
  || '</ram:InvoiceReferencedDocument>', '');
comment on function erp.cii_preceding(text, text) is
  'Returns the invoice that a document refers to as XML (BG-3); an empty text without a number.';
grant execute on function erp.cii_preceding(text, text) to service_writer;

create or replace function erp.cii_settlement(config jsonb) returns text
language sql immutable parallel safe
return '<ram:ApplicableHeaderTradeSettlement>'
  || coalesce('<ram:PaymentReference>' || erp.xml_text(config ->> 'documentNumber')
    || '</ram:PaymentReference>', '')
  || coalesce('<ram:TaxCurrencyCode>' || erp.xml_text(config #>> '{taxInDefaultCurrency,currency,isoCode}')
    || '</ram:TaxCurrencyCode>', '')
  || coalesce('<ram:InvoiceCurrencyCode>' || erp.xml_text(config #>> '{currency,isoCode}')
    || '</ram:InvoiceCurrencyCode>', '')
  || erp.cii_payment(config)
  || erp.cii_taxes(config #> '{totals,taxes}')
  || case when config #>> '{deliveryDate,from}' <> config #>> '{deliveryDate,to}'
    then '<ram:BillingSpecifiedPeriod><ram:StartDateTime>' || erp.cii_day(config #>> '{deliveryDate,from}')
      || '</ram:StartDateTime><ram:EndDateTime>' || erp.cii_day(config #>> '{deliveryDate,to}')
      || '</ram:EndDateTime></ram:BillingSpecifiedPeriod>' else '' end
  || erp.cii_allowances(config -> 'allowances', false)
  || erp.cii_allowances(config -> 'charges', true)
  || erp.cii_terms(config)
  || erp.cii_sums(config -> 'totals', config #>> '{currency,isoCode}', config -> 'taxInDefaultCurrency')
  || erp.cii_preceding(config ->> 'referencedDocumentNumber', config ->> 'referencedDocumentDate')
  -- Others are in the notes: the schema has room for one
  || case
    when config ->> 'referencedDocumentNumber' is null and (config #>> '{totals,paid}')::numeric > 0
    then erp.cii_preceding(config #>> '{prepayments,0,number}', config #>> '{prepayments,0,date}')
    else '' end
  || '</ram:ApplicableHeaderTradeSettlement>';
comment on function erp.cii_settlement(jsonb) is
  'Returns what an invoice charges and how it is paid, as XML: taxes, allowances, totals, terms, and the '
  'invoice that it refers to.';
grant execute on function erp.cii_settlement(jsonb) to service_writer;
--! EndIncluded erp/cii_settlement.sql
--! Included erp/cii_notes.sql
create or replace function erp.cii_note(content text) returns text
language sql immutable parallel safe
return coalesce('<ram:IncludedNote><ram:Content>' || erp.xml_text(content)
  || '</ram:Content></ram:IncludedNote>', '');
comment on function erp.cii_note(text) is 'Returns a note of an invoice as XML (BT-22).';
grant execute on function erp.cii_note(text) to service_writer;

create or replace function erp.cii_prepayment(prepayment jsonb, currency text, locale text) returns text
language sql immutable parallel safe
return (
  select case left(locale, 2)
    when 'de' then 'Bereits berechnet: Anzahlungsrechnung ' || p.number || ' vom ' || p.day || ' über '
      || p.total || ', darin ' || p.tax || ' Umsatzsteuer.'
    when 'fr' then 'Déjà facturé : acompte ' || p.number || ' du ' || p.day || ', ' || p.total || ' dont '
      || p.tax || ' de TVA.'
    else 'Charged before: prepayment invoice ' || p.number || ' of ' || p.day || ', ' || p.total
      || ' including ' || p.tax || ' VAT.' end
  from (
    select prepayment ->> 'number' as number, prepayment ->> 'date' as day,
      erp.cii_amount(prepayment, 'total') || ' ' || currency as total,
      erp.cii_amount(prepayment, 'tax') || ' ' || currency as tax
  ) p
);
comment on function erp.cii_prepayment(jsonb, text, text) is
  'Returns the text about a prepayment invoice that an invoice deducts, with its tax (§ 14 (5) UStG).';
grant execute on function erp.cii_prepayment(jsonb, text, text) to service_writer;

create or replace function erp.cii_notes(config jsonb) returns text
language sql immutable parallel safe
return erp.cii_note('1 ' || (config #>> '{taxInDefaultCurrency,currency,isoCode}') || ' = '
    || erp.cii_number(config #> '{taxInDefaultCurrency,exchangeRate}', 'factor') || ' '
    || (config #>> '{currency,isoCode}') || ' ('
    || (config #>> '{taxInDefaultCurrency,exchangeRate,source}') || ', '
    || (config #>> '{taxInDefaultCurrency,exchangeRate,date}') || ')')
  || coalesce((
    select string_agg(erp.cii_note(
      erp.cii_prepayment(p.prepayment, config #>> '{currency,isoCode}', config ->> 'locale')
    ), '' order by p.n)
    from jsonb_array_elements(nullif(config -> 'prepayments', 'null')) with ordinality p (prepayment, n)
    -- Reversals keep the list, but take back the whole invoice
    where (config #>> '{totals,paid}')::numeric > 0
  ), '');
comment on function erp.cii_notes(jsonb) is
  'Returns notes of an invoice for which the norm has no terms, as XML: its exchange rate, and the '
  'prepayment invoices that it deducts. It can refer to only one of them.';
grant execute on function erp.cii_notes(jsonb) to service_writer;
--! EndIncluded erp/cii_notes.sql
--! Included erp/cii.sql
create or replace function erp.cii_header(config jsonb) returns text
language sql immutable parallel safe
return '<rsm:ExchangedDocumentContext>'
  || coalesce('<ram:BusinessProcessSpecifiedDocumentContextParameter><ram:ID>'
    || erp.xml_text(config #>> '{standard,businessProcess}')
    || '</ram:ID></ram:BusinessProcessSpecifiedDocumentContextParameter>', '')
  || '<ram:GuidelineSpecifiedDocumentContextParameter><ram:ID>'
  || erp.xml_text(config #>> '{standard,guideline}')
  || '</ram:ID></ram:GuidelineSpecifiedDocumentContextParameter></rsm:ExchangedDocumentContext>'
  || '<rsm:ExchangedDocument>'
  || coalesce('<ram:ID>' || erp.xml_text(config ->> 'documentNumber') || '</ram:ID>', '')
  || coalesce('<ram:TypeCode>' || erp.xml_text(config ->> 'typeCode') || '</ram:TypeCode>', '')
  || coalesce('<ram:IssueDateTime>' || erp.cii_day(config ->> 'documentDate') || '</ram:IssueDateTime>', '')
  || erp.cii_notes(config)
  || '</rsm:ExchangedDocument>';
comment on function erp.cii_header(jsonb) is
  'Returns the rules that an invoice follows, its number, type, date and notes as XML. '
  'Null if the config names no rules.';
grant execute on function erp.cii_header(jsonb) to service_writer;

create or replace function erp.cii_agreement(config jsonb) returns text
language sql immutable parallel safe
return '<ram:ApplicableHeaderTradeAgreement>'
  || coalesce('<ram:BuyerReference>' || erp.xml_text(config ->> 'buyerReference')
    || '</ram:BuyerReference>', '')
  || '<ram:SellerTradeParty>' || erp.cii_party(erp.cii_seller(config)) || '</ram:SellerTradeParty>'
  || '<ram:BuyerTradeParty>' || erp.cii_party(erp.cii_buyer(config)) || '</ram:BuyerTradeParty>'
  || coalesce('<ram:SellerOrderReferencedDocument><ram:IssuerAssignedID>'
    || erp.xml_text(config ->> 'orderNumber')
    || '</ram:IssuerAssignedID></ram:SellerOrderReferencedDocument>', '')
  || coalesce('<ram:BuyerOrderReferencedDocument><ram:IssuerAssignedID>'
    || erp.xml_text(config ->> 'purchaseOrderNumber')
    || '</ram:IssuerAssignedID></ram:BuyerOrderReferencedDocument>', '')
  || '</ram:ApplicableHeaderTradeAgreement>';
comment on function erp.cii_agreement(jsonb) is
  'Returns the seller, the buyer and the numbers of their orders as XML.';
grant execute on function erp.cii_agreement(jsonb) to service_writer;

create or replace function erp.cii(config jsonb) returns text
language sql immutable parallel safe
return '<?xml version="1.0" encoding="UTF-8"?>' || chr(10)
  || '<rsm:CrossIndustryInvoice xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"'
  || ' xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"'
  || ' xmlns:qdt="urn:un:unece:uncefact:data:standard:QualifiedDataType:100"'
  || ' xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100">'
  || erp.cii_header(config)
  || '<rsm:SupplyChainTradeTransaction>'
  || erp.cii_lines(config -> 'lines')
  || erp.cii_agreement(config)
  || erp.cii_delivery(config)
  || erp.cii_settlement(config)
  || '</rsm:SupplyChainTradeTransaction></rsm:CrossIndustryInvoice>';
comment on function erp.cii(jsonb) is
  'Returns the structured invoice of a numbered document: UN/CEFACT Cross Industry Invoice D16B, as EN 16931 '
  'uses it. Its config alone says everything. Null if config.standard names no guideline, as for the form '
  'pdf. What the config lacks is left out, so erp.invoice_faults has to check it first.';
grant execute on function erp.cii(jsonb) to service_writer;
--! EndIncluded erp/cii.sql

--! split: 25-numbers.sql
-- Numbers of documents by range, year and sales channel, and their proof

drop view if exists ledger.proof, erp.number_proof;
drop table if exists erp.number_range_year, erp.channel_number_range, erp.number_gap;

-- The next migration validates the rule: alter table erp.number_range
--   validate constraint number_range_by_year_has_no_sequence,
--   validate constraint number_range_of_customers_has_no_year,
--   validate constraint number_range_pattern_has_each_part_once;
alter table erp.number_range
  drop constraint if exists number_range_by_year_has_no_sequence,
  drop constraint if exists number_range_of_customers_has_no_year,
  drop constraint if exists number_range_pattern_has_each_part_once;
alter table erp.number_range
  add constraint number_range_by_year_has_no_sequence
    check (sequence is null or strpos(pattern, '{year}') = 0) not valid,
  -- An upsert numbers many customers at once
  add constraint number_range_of_customers_has_no_year
    check (technical_name <> 'customer' or strpos(pattern, '{year}') = 0) not valid,
  add constraint number_range_pattern_has_each_part_once
    check (regexp_count(pattern, '\{n\}') = 1 and regexp_count(pattern, '\{year\}') <= 1) not valid;
comment on constraint number_range_by_year_has_no_sequence on erp.number_range is
  '@internal Only people who write SQL change patterns and sequences.';
comment on constraint number_range_of_customers_has_no_year on erp.number_range is
  '@internal Only people who write SQL change patterns.';
comment on constraint number_range_pattern_has_each_part_once on erp.number_range is
  '@internal Only people who write SQL change patterns.';
comment on table erp.number_range is 'Number ranges of documents and orders, which count numbers.';
comment on column erp.number_range.pattern is
  'Pattern of the numbers, with {n} for the counter. With {year} for the year, in the merchant''s time zone, '
  'counting begins with 1 each year.';
comment on column erp.number_range.last_number is
  'Last number that was used; unused if a sequence counts, or if the pattern contains {year} '
  '(erp.number_range_year).';

create table erp.number_range_year (
  number_range text not null references erp.number_range on delete cascade on update cascade,
  year integer not null constraint number_range_year_has_four_digits check (year between 1000 and 9999),
  last_number bigint not null
    constraint number_range_year_last_number_is_not_negative check (last_number >= 0),
  primary key (number_range, year)
);
alter table erp.number_range_year enable row level security;
comment on table erp.number_range_year is 'Counters of number ranges whose pattern contains {year}.';
comment on column erp.number_range_year.year is 'Year in the merchant''s time zone, as in the numbers.';
comment on column erp.number_range_year.last_number is 'Last number that was used in the year.';
comment on constraint number_range_year_has_four_digits on erp.number_range_year is
  '@internal next_number() takes the present year';
comment on constraint number_range_year_last_number_is_not_negative on erp.number_range_year is
  '@internal next_number() counts up';
comment on constraint number_range_year_number_range_fkey on erp.number_range_year is
  '@internal next_number() locks the range';
select api_meta.allow('service_writer', 'erp.number_range_year', 'select', 'insert', 'update (last_number)');

create table erp.channel_number_range (
  document_type_id uuid not null references erp.document_type on delete cascade,
  sales_channel_id uuid not null references erp.sales_channel on delete cascade,
  number_range text not null references erp.number_range on delete restrict on update cascade,
  primary key (document_type_id, sales_channel_id)
);
create index on erp.channel_number_range (sales_channel_id);
create index on erp.channel_number_range (number_range);
alter table erp.channel_number_range enable row level security;
comment on table erp.channel_number_range is
  'Number ranges of documents by sales channel. Other documents take the range of their type.';
comment on column erp.channel_number_range.document_type_id is 'Type of the documents.';
comment on column erp.channel_number_range.sales_channel_id is 'Sales channel of their orders.';
comment on column erp.channel_number_range.number_range is
  'The range. No number may fit its pattern and another one of the same document type.';
select api_meta.allow('service_writer', 'erp.channel_number_range', 'select');

create table erp.number_gap (
  id uuid primary key default uuidv7(),
  number_range text not null references erp.number_range on delete cascade on update cascade,
  year integer,
  first_number bigint not null,
  last_number bigint not null,
  reason text not null constraint number_gap_has_a_reason check (not erp.is_blank(reason)),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  constraint number_gap_ends_after_its_beginning check (last_number >= first_number)
);
create index on erp.number_gap (number_range);
alter table erp.number_gap enable row level security;
comment on table erp.number_gap is
  'Missing numbers of documents that somebody explained. erp.number_proof leaves them out.';
comment on column erp.number_gap.year is 'Year in the numbers; null if the range has none.';
comment on column erp.number_gap.first_number is 'First counter that has no document.';
comment on column erp.number_gap.last_number is 'Last counter that has no document.';
comment on column erp.number_gap.reason is
  'Why there are no documents, for example because another system made them.';

--! Included erp/fill_pattern.sql
create or replace function erp.fill_pattern(pattern text, year integer, counter bigint) returns text
language sql immutable
return replace(replace(pattern, '{year}', coalesce(year::text, '')), '{n}', counter::text);
comment on function erp.fill_pattern(text, integer, bigint) is
  'Returns a number of a range: its pattern with the year in place of {year} and the counter in place of '
  '{n}.';
grant execute on function erp.fill_pattern(text, integer, bigint) to service_writer;
--! EndIncluded erp/fill_pattern.sql
--! Included erp/next_number.sql
create or replace function erp.next_number(number_range text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.number_range;
  this_year integer;
  counter bigint;
begin
  select * into present from erp.number_range r where r.technical_name = number_range;
  if present.sequence is not null then
    return erp.fill_pattern(present.pattern, null, nextval(present.sequence));
  end if;
  -- The range is the only lock that others may wait for. The row of a year is locked within it, because the
  -- first number of a year also locks the range, by its foreign key
  select * into present from erp.number_range r where r.technical_name = number_range for no key update;
  if not found then
    raise exception 'There is no number range %.', number_range using errcode = 'no_data_found';
  elsif strpos(present.pattern, '{year}') > 0 then
    this_year := extract(year from erp.local_date(now()));
    insert into erp.number_range_year as y (number_range, year, last_number)
    values (present.technical_name, this_year, 1)
    on conflict on constraint number_range_year_pkey do update set last_number = y.last_number + 1
    returning y.last_number into counter;
  else
    update erp.number_range r set last_number = r.last_number + 1
    where r.technical_name = present.technical_name
    returning r.last_number into counter;
  end if;
  return erp.fill_pattern(present.pattern, this_year, counter);
end
$$;
comment on function erp.next_number(text) is
  'Returns the next number of a range. Ranges without a sequence have no gaps: other transactions wait '
  'until the number is committed or rolled back. A range whose pattern contains {year} begins with 1 each '
  'year, by the date on documents.';
grant execute on function erp.next_number(text) to service_writer;
--! EndIncluded erp/next_number.sql
--! Included erp/range_of_documents.sql
create or replace function erp.range_of_documents(document_type text, sales_channel_id uuid) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select coalesce(c.number_range, t.number_range)
  from erp.document_type t
  left join erp.channel_number_range c on c.document_type_id = t.id
    and c.sales_channel_id = range_of_documents.sales_channel_id
  where t.technical_name = document_type
$$;
comment on function erp.range_of_documents(text, uuid) is
  'Returns the number range of new documents of a type, for an order of a sales channel: the channel''s own '
  'range (erp.channel_number_range), otherwise the range of the type.';
grant execute on function erp.range_of_documents(text, uuid) to service_writer;
--! EndIncluded erp/range_of_documents.sql
--! Included erp/lock_number_ranges.sql
create or replace function erp.lock_number_ranges(order_ids uuid[], document_types text[]) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  select from erp.number_range r
  where r.sequence is null and r.technical_name in (
    select erp.range_of_documents(t.name, o.sales_channel_id)
    from erp.sales_order o cross join unnest(document_types) t (name)
    where o.id = any (order_ids)
  )
  order by r.technical_name for no key update
$$;
comment on function erp.lock_number_ranges(uuid[], text[]) is
  'Locks the number ranges that documents of some types take for some orders, in one order. A transaction '
  'that makes several documents calls it first: others may need the same ranges in another order.';
grant execute on function erp.lock_number_ranges(uuid[], text[]) to service_writer;
--! EndIncluded erp/lock_number_ranges.sql
--! Included erp/number_proof.sql
-- Faults in the numbers of documents. Empty while no number is missing, given twice or yet to be given.
create or replace view erp.number_proof with (security_invoker = true) as
with
-- The first year whose documents nobody may have deleted yet
kept as (
  select y.year, make_timestamptz(y.year, 1, 1, 0, 0, 0, m.time_zone) as since
  from (
    select coalesce(max(retention_years), 8) as years, coalesce(max(time_zone), 'UTC') as time_zone
    from erp.merchant
  ) m
  cross join lateral (select extract(year from erp.local_date(now()))::integer - m.years as year) y
),
-- Patterns as regular expressions that find the counter, and the year before or after it
range as (
  select r.technical_name, r.pattern, r.last_number, strpos(r.pattern, '{year}') > 0 as is_by_year,
    case when strpos(r.pattern, '{year}') between 1 and strpos(r.pattern, '{n}') then 2 else 1 end
      as counter_at,
    '^' || replace(replace(q.text, '\{year\}', '([0-9]{4})'), '\{n\}', '([1-9][0-9]{0,17})') || '$' as form
  from erp.number_range r
  cross join lateral regexp_replace(r.pattern, '[][*+?^$(){}|.\\]', '\\\&', 'g') q (text)
  where r.sequence is null
),
use as (
  select t.id as document_type_id, t.number_range from erp.document_type t
  union
  select c.document_type_id, c.number_range from erp.channel_number_range c
),
-- Documents whose numbers fit. Year 0 stands for ranges without years
given as materialized (
  select r.technical_name as range, r.pattern, v.year, v.counter, d.id,
    d.document_number collate "default" as document_number,
    case when r.is_by_year then v.year >= k.year else d.created_at >= k.since end as is_kept
  from use u
  join range r on r.technical_name = u.number_range
  join erp.document d on d.document_type_id = u.document_type_id
  cross join lateral (select regexp_match(d.document_number, r.form) as parts offset 0) m
  cross join lateral (
    select m.parts[r.counter_at]::bigint as counter,
      case when r.is_by_year then m.parts[3 - r.counter_at]::integer else 0 end as year
  ) v
  cross join kept k
  where m.parts is not null
),
counter as (
  select r.technical_name as range, r.pattern, v.year, v.last_number
  from range r
  cross join lateral (
    select 0 as year, r.last_number where not r.is_by_year
    union all
    select y.year, y.last_number from erp.number_range_year y
    where r.is_by_year and y.number_range = r.technical_name
  ) v
  where r.technical_name in (select u.number_range from use u)
),
span as (
  select range, year, coalesce(c.pattern, g.pattern) as pattern, coalesce(c.last_number, 0) as last_number,
    coalesce(g.highest, 0) as highest, range || case when year > 0 then ' ' || year else '' end as id
  from counter c
  full join (
    select range, year, max(pattern) as pattern, max(counter) as highest from given group by range, year
  ) g using (range, year)
),
-- A range without years may begin with any number, a year begins with 1; both reach to the counter
step as (
  select range, year, is_kept, counter + 1 as first,
    lead(counter) over (partition by range, year order by counter) as next
  from (
    select range, year, counter, is_kept from given
    union all select s.range, s.year, 0, s.year >= k.year from span s cross join kept k where s.year > 0
    union all select s.range, s.year, greatest(s.last_number, s.highest) + 1, true from span s
  ) v
),
explained as (
  select number_range as range, coalesce(year, 0) as year,
    range_agg(int8range(first_number, last_number, '[]')) as counters
  from erp.number_gap group by 1, 2
)
select 'number_range.gap' as figure, s.id, 'no document' as stored,
  erp.fill_pattern(s.pattern, s.year, lower(m.counters))
    || case when upper(m.counters) - lower(m.counters) > 1
      then ' to ' || erp.fill_pattern(s.pattern, s.year, upper(m.counters) - 1) else '' end as expected
from step t
join span s using (range, year)
left join explained e using (range, year)
cross join lateral unnest(
  int8multirange(int8range(t.first, t.next)) - coalesce(e.counters, '{}')
) m (counters)
-- After a document that may be deleted, missing ones may have been deleted, too
where t.next > t.first and t.is_kept
union all
select 'number_range.last_number', s.id, s.last_number::text, 'at least ' || s.highest
from span s where s.highest > s.last_number
union all
select 'number_range.duplicate', g.range, count(*) || ' documents ' || min(g.document_number),
  'one document'
from given g group by g.range, g.year, g.counter having count(*) > 1
union all
select 'number_range.pattern', v.ranges, min(v.document_number) || ' fits all of them', 'one range'
from (
  select string_agg(g.range, ', ' order by g.range) as ranges, min(g.document_number) as document_number
  from given g group by g.id having count(*) > 1
) v
group by v.ranges;
comment on view erp.number_proof is
  'Faults in the numbers of documents from ranges without a sequence: gaps, counters behind their numbers, '
  'numbers given twice, and ranges of a type that the same number fits. Must always be empty. Numbers that '
  'do not fit the pattern of their range are left out: they were imported.';
--! EndIncluded erp/number_proof.sql
--! Included ledger/proof.sql
-- Each stored figure beside the one that the ledger and the documents give. Empty while the ledger is right.
create or replace view ledger.proof with (security_invoker = true) as
with
balance
  as (
    select product_id, place, sum(quantity) as quantity
    from ledger.flow
    where place is not null
    group by product_id, place
  ),
building as (
  select id::text as place, id as warehouse_id from erp.warehouse
  union all select id::text, warehouse_id from erp.bin_location
),
held as (
  select b.product_id, p.warehouse_id, sum(b.quantity) as quantity
  from balance b join building p using (place) group by b.product_id, p.warehouse_id
),
physical as (
  select h.product_id, sum(h.quantity) as quantity,
    coalesce(sum(h.quantity) filter (where not w.is_stock_available_for_sale), 0) as not_for_sale
  from held h join erp.warehouse w on w.id = h.warehouse_id group by h.product_id
),
reserved as (
  select l.product_id, sum(l.quantity - l.shipped_quantity) as quantity
  from erp.sales_order_line_item l join erp.sales_order o on o.id = l.order_id
  where o.state in ('open', 'in_progress') and l.product_id is not null group by l.product_id
),
promised as (
  select l.product_id, w.warehouse_id, sum(l.quantity - l.fulfilled_quantity) as quantity
  from erp.fulfillment_order_line_item l
  join erp.fulfillment_order f on f.id = l.fulfillment_order_id
    and f.state in ('Open', 'InProgress', 'OnHold')
  join erp.location w on w.id = f.source_warehouse_location_id
  where l.product_id is not null and w.warehouse_id is not null group by l.product_id, w.warehouse_id
),
ordered as (
  select l.product_id,
    coalesce(
      sum(l.open_quantity) filter (where o.state in ('open', 'sent', 'confirmed', 'partially_delivered')), 0
    ) as quantity,
    max(o.order_date_time) as last_at
  from erp.supplier_order_line_item l join erp.supplier_order o on o.id = l.supplier_order_id
  where l.product_id is not null group by l.product_id
),
batch_flow as (
  select b.batch_id, s.id as stock_id, f.location_type_technical_name in ('warehouse', 'bin_location')
    and f.place is not null as is_held, f.direction * b.quantity as quantity
  from ledger.stock_movement_batch b join ledger.flow f on f.movement_id = b.stock_movement_id
  left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  where f.location_type_technical_name <> 'special_stock_location'
),
batch_in_place
  as (
    select stock_id, batch_id, sum(quantity) as quantity
    from batch_flow
    where stock_id is not null
    group by stock_id, batch_id
  ),
batch_held as (select batch_id, sum(quantity) as quantity from batch_flow where is_held group by batch_id),
-- The count that stands, of each stock that was counted and of each batch of it
latest_count as (
  select distinct on (c.stock_id, c.batch_id)
    c.stock_id, c.batch_id, c.id, c.quantity, c.counted_at, s.product_id, s.place
  from ledger.stock_count c join ledger.stock s on s.id = c.stock_id
  where c.difference is not null
  order by c.stock_id, c.batch_id, c.counted_at desc, c.id desc
),
moved_since_count as (
  select l.stock_id, l.batch_id,
    sum(case when l.batch_id is null then f.quantity else f.direction * b.quantity end) as quantity
  from latest_count l
  join ledger.flow f on f.product_id = l.product_id and f.place = l.place
    and f.booked_at > l.counted_at and not f.is_count
  left join ledger.stock_movement_batch b on b.stock_movement_id = f.movement_id and b.batch_id = l.batch_id
  group by l.stock_id, l.batch_id
),
batch_counted_since as (
  select l.stock_id, sum(c.difference) as quantity
  from latest_count l
  join ledger.stock_count c on c.stock_id = l.stock_id
    and (c.counted_at, c.id) > (l.counted_at, l.id) and c.batch_id is not null
  where l.batch_id is null group by l.stock_id
),
received as (
  select l.supplier_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.goods_receipt_line_item l join erp.goods_receipt r on r.id = l.goods_receipt_id
  where r.state = 'completed' and l.supplier_order_line_item_id is not null
  group by l.supplier_order_line_item_id
),
fulfilled as (
  select l.fulfillment_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.fulfillment_line_item l join erp.fulfillment f on f.id = l.fulfillment_id
  where f.state = 'Fulfilled' group by l.fulfillment_order_line_item_id
),
shipped as (
  select l.destination_order_line_item_id as id, sum(l.fulfilled_quantity) as quantity
  from erp.fulfillment_order_line_item l
  where l.destination_order_line_item_id is not null
  group by l.destination_order_line_item_id
),
invoiced as (
  select l.order_line_item_id as id, sum(l.quantity) as quantity
  from erp.invoice_line_item l join erp.invoice i on i.document_id = l.document_id
  where i.cancellation_id is null group by l.order_line_item_id
),
due_code as (
  select o.id as order_id, c.code from erp.sales_order o cross join unnest(o.entered_tracking_codes) c (code)
  union
  select l.order_id, c.code
  from erp.shipping_label l
  cross join jsonb_array_elements_text(l.tracking_codes) c (code)
  where l.state = 'created' and l.type = 'outgoing' and l.order_id is not null
),
figures (figure, id, stored, expected) as (
  select 'stock.quantity', coalesce(s.product_id, b.product_id) || ' ' || coalesce(s.place, b.place),
    coalesce(s.quantity, 0)::text, coalesce(b.quantity, 0)::text
    from ledger.stock s full join balance b on b.product_id = s.product_id and b.place = s.place
  union all select 'product.physical_stock', p.id::text, p.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.stock_not_available_for_sale', p.id::text, p.stock_not_available_for_sale::text,
    coalesce(x.not_for_sale, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.reserved_stock', p.id::text, p.reserved_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join reserved x on x.product_id = p.id
  union all select 'product.open_supplier_order_quantity', p.id::text, p.open_supplier_order_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'product.last_supplier_order_at', p.id::text, p.last_supplier_order_at::text,
    x.last_at::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'batch.physical_stock', b.id::text, b.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.batch b left join batch_held x on x.batch_id = b.id
  union all select 'batch_stock.quantity',
    coalesce(s.stock_id, x.stock_id) || ' ' || coalesce(s.batch_id, x.batch_id),
    coalesce(s.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.batch_stock s
    full join batch_in_place x on x.stock_id = s.stock_id and x.batch_id = s.batch_id
  union all select 'batch_stock.sum', s.id::text, sum(b.quantity)::text, 'at most ' || s.quantity
    from ledger.stock s
    join ledger.batch_stock b on b.stock_id = s.id
    group by s.id
    having sum(b.quantity) > s.quantity
  union all select 'stock.counted', s.id::text, s.quantity::text,
      (l.quantity + coalesce(m.quantity, 0) + coalesce(b.quantity, 0))::text
    from latest_count l join ledger.stock s on s.id = l.stock_id
    left join moved_since_count m on m.stock_id = l.stock_id and m.batch_id is null
    left join batch_counted_since b on b.stock_id = l.stock_id
    where l.batch_id is null
  union all select 'batch_stock.counted', l.stock_id || ' ' || l.batch_id,
      coalesce(s.quantity, 0)::text, (l.quantity + coalesce(m.quantity, 0))::text
    from latest_count l left join ledger.batch_stock s on s.stock_id = l.stock_id and s.batch_id = l.batch_id
    left join moved_since_count m on m.stock_id = l.stock_id and m.batch_id = l.batch_id
    where l.batch_id is not null
  union all select 'warehouse_stock.quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join held x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'warehouse_stock.reserved_quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.reserved_quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join promised x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'product_warehouse_configuration.stock', c.id::text, c.stock::text,
    coalesce(x.quantity, 0)::text
    from erp.product_warehouse_configuration c
    left join held x on x.product_id = c.product_id and x.warehouse_id = c.warehouse_id
  union all select 'product_stock_location_configuration.stock', c.id::text, c.stock::text,
    coalesce(b.quantity, 0)::text
    from erp.product_stock_location_configuration c
    left join balance b on b.product_id = c.product_id
      and b.place = coalesce(c.warehouse_id, c.bin_location_id)::text
  union all select 'supplier_order_line_item.received_quantity', l.id::text, l.received_quantity::text,
    greatest(coalesce(x.quantity, 0), 0)::text
    from erp.supplier_order_line_item l left join received x on x.id = l.id
  union all select 'fulfillment_order_line_item.fulfilled_quantity', l.id::text, l.fulfilled_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.fulfillment_order_line_item l left join fulfilled x on x.id = l.id
  union all select 'fulfillment_order.is_partially_fulfilled', f.id::text, f.is_partially_fulfilled::text,
      (coalesce(sum(l.fulfilled_quantity), 0) > 0 and sum(l.fulfilled_quantity) < sum(l.quantity))::text
    from erp.fulfillment_order f
    left join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
    group by f.id
  -- What was shipped without a fulfillment counts too
  union all select 'sales_order_line_item.shipped_quantity', l.id::text, l.shipped_quantity::text,
    'at least ' || x.quantity
    from erp.sales_order_line_item l join shipped x on x.id = l.id where l.shipped_quantity < x.quantity
  union all select 'sales_order_line_item.invoiced_quantity', l.id::text, l.invoiced_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.sales_order_line_item l left join invoiced x on x.id = l.id
  -- No unit is charged by two invoices that stand
  union all select 'invoice_line_item.units', l.id::text, l.first_unit::text || ' and more',
    'not also by ' || o.id
    from erp.invoice_line_item l
    join erp.invoice i on i.document_id = l.document_id and i.cancellation_id is null
    join erp.invoice_line_item o on o.order_line_item_id = l.order_line_item_id and o.id > l.id
      and o.first_unit < l.first_unit + l.quantity and l.first_unit < o.first_unit + o.quantity
    join erp.invoice p on p.document_id = o.document_id and p.cancellation_id is null
  union all select 'sales_order.amounts', o.id::text, concat_ws(' ', o.amount_total, o.amount_net),
    concat_ws(' ', a.amount_total, a.amount_net)
    from erp.sales_order o cross join lateral ledger.order_amounts(o.id, o.tax_status) a
    where (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net)
  union all select 'sales_order.tracking_codes', o.id::text, coalesce(s.codes, '[]')::text,
    coalesce(x.codes, '[]')::text
    from erp.sales_order o
    left join lateral (
      select jsonb_agg(c.code order by c.code) as codes
      from jsonb_array_elements_text(o.tracking_codes) c (code)
    ) s
      on true
    left join (select order_id, jsonb_agg(code order by code) as codes from due_code group by order_id) x
      on x.order_id = o.id
  union all select b.rule, b.id, 'broken', 'upheld' from ledger.broken_rules() b
  union all select n.figure, n.id, n.stored, n.expected from erp.number_proof n
  union all select 'movement_sequence.sequence', 'last', coalesce(max(s.sequence), 0)::text, count(*)::text
    from ledger.movement_sequence s
)
select figure, id, stored, expected from figures where stored is distinct from expected;
comment on view ledger.proof is
  'Stored figures that differ from what the ledger and the documents give. Must always be empty.';
--! EndIncluded ledger/proof.sql

--! split: 31-invoice-faults.sql
-- Checks of structured invoices by the rules of EN 16931 and XRechnung

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
  'Whether a text is an IBAN without spaces and with correct check digits.';
grant execute on function erp.is_iban(text) to service_writer;
--! EndIncluded erp/is_iban.sql
--! Included erp/is_among.sql
create or replace function erp.is_among(code text, codes text) returns boolean
language sql immutable
return case when not erp.is_blank(code)
  then strpos(codes, ' ' || code || ' ') > 0 and strpos(code, ' ') = 0 end;
comment on function erp.is_among(text, text) is
  'Whether a code is one of a list, whose codes have a space before and after each. Null without a code.';
grant execute on function erp.is_among(text, text) to service_writer;
--! EndIncluded erp/is_among.sql
--! Included erp/is_currency_code.sql
create or replace function erp.is_currency_code(code text) returns boolean
language sql immutable
return erp.is_among(code,
  ' AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD'
  ' CDF CHE CHF CHW CLF CLP CNH CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP'
  ' GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW'
  ' KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN'
  ' NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD'
  ' SHP SLE SOS SRD SSP STD SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW'
  ' UZS VED VES VND VUV WST XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX YER'
  ' ZAR ZMW ZWG ');
comment on function erp.is_currency_code(text) is
  'Whether a text is a code of ISO 4217, as the code lists of EN 16931 have them.';
grant execute on function erp.is_currency_code(text) to service_writer;
--! EndIncluded erp/is_currency_code.sql
--! Included erp/is_country_code.sql
create or replace function erp.is_country_code(code text) returns boolean
language sql immutable
return erp.is_among(code,
  ' 1A AD AE AF AG AI AL AM AN AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS'
  ' BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH'
  ' ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU'
  ' ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU'
  ' LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP'
  ' NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK'
  ' SL SM SN SO SR ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC'
  ' VE VG VI VN VU WF WS XI YE YT ZA ZM ZW ');
comment on function erp.is_country_code(text) is
  'Whether a text is a code of ISO 3166-1, or XI for Northern Ireland or 1A for Kosovo, as the code lists of '
  'EN 16931 have them.';
grant execute on function erp.is_country_code(text) to service_writer;
--! EndIncluded erp/is_country_code.sql
--! Included erp/is_address_scheme.sql
create or replace function erp.is_address_scheme(code text) returns boolean
language sql immutable
return erp.is_among(code,
  ' 0002 0007 0009 0037 0060 0088 0096 0097 0106 0130 0135 0142 0147 0151 0154 0158 0170 0177 0183 0184'
  ' 0188 0190 0191 0192 0193 0194 0195 0196 0198 0199 0200 0201 0202 0203 0204 0205 0208 0209 0210 0211'
  ' 0212 0213 0215 0216 0217 0218 0219 0220 0221 0225 0230 0235 0240 0242 0244 0245 0246 0248 9910 9913'
  ' 9914 9915 9918 9919 9920 9922 9923 9924 9925 9926 9927 9928 9929 9930 9931 9932 9933 9934 9935 9936'
  ' 9937 9938 9939 9940 9941 9942 9943 9944 9945 9946 9947 9948 9949 9950 9951 9952 9953 9957 9959 AN AQ'
  ' AS AU EM ');
comment on function erp.is_address_scheme(text) is
  'Whether a text is a code of the list EAS: a scheme of electronic addresses.';
grant execute on function erp.is_address_scheme(text) to service_writer;
--! EndIncluded erp/is_address_scheme.sql
--! Included erp/is_payment_means_code.sql
create or replace function erp.is_payment_means_code(code text) returns boolean
language sql immutable
return erp.is_among(code,
  ' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37'
  ' 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 74'
  ' 75 76 77 78 91 92 93 94 95 96 97 98 ZZZ ');
comment on function erp.is_payment_means_code(text) is
  'Whether a text is a code of UNTDID 4461: a means of payment.';
grant execute on function erp.is_payment_means_code(text) to service_writer;
--! EndIncluded erp/is_payment_means_code.sql
--! Included erp/is_exemption_code.sql
create or replace function erp.is_exemption_code(code text) returns boolean
language sql immutable
return erp.is_among(code,
  ' VATEX-EU-132 VATEX-EU-132-1A VATEX-EU-132-1B VATEX-EU-132-1C VATEX-EU-132-1D VATEX-EU-132-1E'
  ' VATEX-EU-132-1F VATEX-EU-132-1G VATEX-EU-132-1H VATEX-EU-132-1I VATEX-EU-132-1J VATEX-EU-132-1K'
  ' VATEX-EU-132-1L VATEX-EU-132-1M VATEX-EU-132-1N VATEX-EU-132-1O VATEX-EU-132-1P VATEX-EU-132-1Q'
  ' VATEX-EU-135-1 VATEX-EU-143 VATEX-EU-143-1A VATEX-EU-143-1B VATEX-EU-143-1C VATEX-EU-143-1D'
  ' VATEX-EU-143-1E VATEX-EU-143-1F VATEX-EU-143-1FA VATEX-EU-143-1G VATEX-EU-143-1H VATEX-EU-143-1I'
  ' VATEX-EU-143-1J VATEX-EU-143-1K VATEX-EU-143-1L VATEX-EU-144 VATEX-EU-146-1E VATEX-EU-148'
  ' VATEX-EU-148-A VATEX-EU-148-B VATEX-EU-148-C VATEX-EU-148-D VATEX-EU-148-E VATEX-EU-148-F'
  ' VATEX-EU-148-G VATEX-EU-151 VATEX-EU-151-1A VATEX-EU-151-1AA VATEX-EU-151-1B VATEX-EU-151-1C'
  ' VATEX-EU-151-1D VATEX-EU-151-1E VATEX-EU-153 VATEX-EU-159 VATEX-EU-309 VATEX-EU-79-C VATEX-EU-AE'
  ' VATEX-EU-D VATEX-EU-F VATEX-EU-G VATEX-EU-I VATEX-EU-IC VATEX-EU-J VATEX-EU-O VATEX-FR-298SEXDECIESA'
  ' VATEX-FR-AE VATEX-FR-CGI261-1 VATEX-FR-CGI261-2 VATEX-FR-CGI261-3 VATEX-FR-CGI261-4 VATEX-FR-CGI261-5'
  ' VATEX-FR-CGI261-7 VATEX-FR-CGI261-8 VATEX-FR-CGI261A VATEX-FR-CGI261B VATEX-FR-CGI261C-1'
  ' VATEX-FR-CGI261C-2 VATEX-FR-CGI261C-3 VATEX-FR-CGI261D-1 VATEX-FR-CGI261D-1BIS VATEX-FR-CGI261D-2'
  ' VATEX-FR-CGI261D-3 VATEX-FR-CGI261D-4 VATEX-FR-CGI261E-1 VATEX-FR-CGI261E-2 VATEX-FR-CGI275'
  ' VATEX-FR-CGI277A VATEX-FR-CGI295 VATEX-FR-CNWVAT VATEX-FR-FRANCHISE ');
comment on function erp.is_exemption_code(text) is
  'Whether a text is a code of the list VATEX: a reason why there is no VAT.';
grant execute on function erp.is_exemption_code(text) to service_writer;
--! EndIncluded erp/is_exemption_code.sql
--! Included erp/is_invoice_type.sql
create or replace function erp.is_invoice_type(code text) returns boolean
language sql immutable
return erp.is_among(code,
  ' 71 80 81 82 83 84 102 130 202 203 204 211 218 219 261 262 295 296 308 325 326 331 380 381 382 383 384'
  ' 385 386 387 388 389 390 393 394 395 396 420 456 457 458 471 472 473 500 501 502 503 527 532 553 575'
  ' 623 633 751 780 817 870 875 876 877 935 ');
comment on function erp.is_invoice_type(text) is
  'Whether a text is a code of UNTDID 1001 for invoices or credit notes.';
grant execute on function erp.is_invoice_type(text) to service_writer;
--! EndIncluded erp/is_invoice_type.sql
--! Included erp/is_unit_code.sql
create or replace function erp.unit_codes_until_i() returns text
language sql immutable
return
  ' 10 11 13 14 15 1I 20 21 22 23 24 25 27 28 2A 2B 2C 2G 2H 2I 2J 2K 2L 2M 2N 2P 2Q 2R 2U 2X 2Y 2Z 33 34'
  ' 35 37 38 3B 3C 40 41 4C 4G 4H 4K 4L 4M 4N 4O 4P 4Q 4R 4T 4U 4W 4X 56 57 58 59 5A 5B 5E 5J 60 61 74 77'
  ' 80 81 85 87 89 91 A10 A11 A12 A13 A14 A15 A16 A17 A18 A19 A2 A20 A21 A22 A23 A24 A26 A27 A28 A29 A3'
  ' A30 A31 A32 A33 A34 A35 A36 A37 A38 A39 A4 A40 A41 A42 A43 A44 A45 A47 A48 A49 A5 A53 A54 A55 A56 A59'
  ' A6 A68 A69 A7 A70 A71 A73 A74 A75 A76 A8 A84 A85 A86 A87 A88 A89 A9 A90 A91 A93 A94 A95 A96 A97 A98'
  ' A99 AA AB ACR ACT AD AE AH AI AK AL AMH AMP ANN APZ AQ AS ASM ASU ATM AWG AY AZ B1 B10 B11 B12 B13 B14'
  ' B15 B16 B17 B18 B19 B20 B21 B22 B23 B24 B25 B26 B27 B28 B29 B3 B30 B31 B32 B33 B34 B35 B4 B41 B42 B43'
  ' B44 B45 B46 B47 B48 B49 B50 B52 B53 B54 B55 B56 B57 B58 B59 B60 B61 B62 B63 B64 B66 B67 B68 B69 B7 B70'
  ' B71 B72 B73 B74 B75 B76 B77 B78 B79 B8 B80 B81 B82 B83 B84 B85 B86 B87 B88 B89 B90 B91 B92 B93 B94 B95'
  ' B96 B97 B98 B99 BAR BB BFT BHP BIL BLD BLL BP BPM BQL BTU BUA BUI C0 C10 C11 C12 C13 C14 C15 C16 C17'
  ' C18 C19 C20 C21 C22 C23 C24 C25 C26 C27 C28 C29 C3 C30 C31 C32 C33 C34 C35 C36 C37 C38 C39 C40 C41 C42'
  ' C43 C44 C45 C46 C47 C48 C49 C50 C51 C52 C53 C54 C55 C56 C57 C58 C59 C60 C61 C62 C63 C64 C65 C66 C67'
  ' C68 C69 C7 C70 C71 C72 C73 C74 C75 C76 C78 C79 C8 C80 C81 C82 C83 C84 C85 C86 C87 C88 C89 C9 C90 C91'
  ' C92 C93 C94 C95 C96 C97 C99 CCT CDL CEL CEN CG CGM CKG CLF CLT CMK CMQ CMT CNP CNT COU CTG CTM CTN CUR'
  ' CWA CWI D03 D04 D1 D10 D11 D12 D13 D15 D16 D17 D18 D19 D2 D20 D21 D22 D23 D24 D25 D26 D27 D29 D30 D31'
  ' D32 D33 D34 D36 D41 D42 D43 D44 D45 D46 D47 D48 D49 D5 D50 D51 D52 D53 D54 D55 D56 D57 D58 D59 D6 D60'
  ' D61 D62 D63 D65 D68 D69 D73 D74 D77 D78 D80 D81 D82 D83 D85 D86 D87 D88 D89 D91 D93 D94 D95 DAA DAD'
  ' DAY DB DBM DBW DD DEC DG DJ DLT DMA DMK DMO DMQ DMT DN DPC DPR DPT DRA DRI DRL DT DTN DWT DZN DZP E01'
  ' E07 E08 E09 E10 E12 E14 E15 E16 E17 E18 E19 E20 E21 E22 E23 E25 E27 E28 E30 E31 E32 E33 E34 E35 E36'
  ' E37 E38 E39 E4 E40 E41 E42 E43 E44 E45 E46 E47 E48 E49 E50 E51 E52 E53 E54 E55 E56 E57 E58 E59 E60 E61'
  ' E62 E63 E64 E65 E66 E67 E68 E69 E70 E71 E72 E73 E74 E75 E76 E77 E78 E79 E80 E81 E82 E83 E84 E85 E86'
  ' E87 E88 E89 E90 E91 E92 E93 E94 E95 E96 E97 E98 E99 EA EB EQ F01 F02 F03 F04 F05 F06 F07 F08 F10 F11'
  ' F12 F13 F14 F15 F16 F17 F18 F19 F20 F21 F22 F23 F24 F25 F26 F27 F28 F29 F30 F31 F32 F33 F34 F35 F36'
  ' F37 F38 F39 F40 F41 F42 F43 F44 F45 F46 F47 F48 F49 F50 F51 F52 F53 F54 F55 F56 F57 F58 F59 F60 F61'
  ' F62 F63 F64 F65 F66 F67 F68 F69 F70 F71 F72 F73 F74 F75 F76 F77 F78 F79 F80 F81 F82 F83 F84 F85 F86'
  ' F87 F88 F89 F90 F91 F92 F93 F94 F95 F96 F97 F98 F99 FAH FAR FBM FC FF FH FIT FL FNU FOT FP FR FS FTK'
  ' FTQ G01 G04 G05 G06 G08 G09 G10 G11 G12 G13 G14 G15 G16 G17 G18 G19 G2 G20 G21 G23 G24 G25 G26 G27 G28'
  ' G29 G3 G30 G31 G32 G33 G34 G35 G36 G37 G38 G39 G40 G41 G42 G43 G44 G45 G46 G47 G48 G49 G50 G51 G52 G53'
  ' G54 G55 G56 G57 G58 G59 G60 G61 G62 G63 G64 G65 G66 G67 G68 G69 G70 G71 G72 G73 G74 G75 G76 G77 G78'
  ' G79 G80 G81 G82 G83 G84 G85 G86 G87 G88 G89 G90 G91 G92 G93 G94 G95 G96 G97 G98 G99 GB GBQ GDW GE GF'
  ' GFI GGR GIA GIC GII GIP GJ GL GLD GLI GLL GM GO GP GQ GRM GRN GRO GV GWH H03 H04 H05 H06 H07 H08 H09'
  ' H10 H11 H12 H13 H14 H15 H16 H18 H19 H20 H21 H22 H23 H24 H25 H26 H27 H28 H29 H30 H31 H32 H33 H34 H35'
  ' H36 H37 H38 H39 H40 H41 H42 H43 H44 H45 H46 H47 H48 H49 H50 H51 H52 H53 H54 H55 H56 H57 H58 H59 H60'
  ' H61 H62 H63 H64 H65 H66 H67 H68 H69 H70 H71 H72 H73 H74 H75 H76 H77 H79 H80 H81 H82 H83 H84 H85 H87'
  ' H88 H89 H90 H91 H92 H93 H94 H95 H96 H98 H99 HA HAD HBA HBX HC HDW HEA HGM HH HIU HKM HLT HM HMO HMQ'
  ' HMT HPA HTZ HUR HWE IA IE INH INK INQ ISD IU IUG IV ';
comment on function erp.unit_codes_until_i() is
  'Returns the codes of UN/ECE Recommendation 20 that begin with a digit or a letter until I, each between '
  'spaces.';
grant execute on function erp.unit_codes_until_i() to service_writer;

create or replace function erp.unit_codes_from_j() returns text
language sql immutable
return
  ' J10 J12 J13 J14 J15 J16 J17 J18 J19 J2 J20 J21 J22 J23 J24 J25 J26 J27 J28 J29 J30 J31 J32 J33 J34 J35'
  ' J36 J38 J39 J40 J41 J42 J43 J44 J45 J46 J47 J48 J49 J50 J51 J52 J53 J54 J55 J56 J57 J58 J59 J60 J61'
  ' J62 J63 J64 J65 J66 J67 J68 J69 J70 J71 J72 J73 J74 J75 J76 J78 J79 J81 J82 J83 J84 J85 J87 J90 J91'
  ' J92 J93 J95 J96 J97 J98 J99 JE JK JM JNT JOU JPS JWL K1 K10 K11 K12 K13 K14 K15 K16 K17 K18 K19 K2 K20'
  ' K21 K22 K23 K26 K27 K28 K3 K30 K31 K32 K33 K34 K35 K36 K37 K38 K39 K40 K41 K42 K43 K45 K46 K47 K48 K49'
  ' K50 K51 K52 K53 K54 K55 K58 K59 K6 K60 K61 K62 K63 K64 K65 K66 K67 K68 K69 K70 K71 K73 K74 K75 K76 K77'
  ' K78 K79 K80 K81 K82 K83 K84 K85 K86 K87 K88 K89 K90 K91 K92 K93 K94 K95 K96 K97 K98 K99 KA KAT KB KBA'
  ' KCC KDW KEL KGM KGS KHY KHZ KI KIC KIP KJ KJO KL KLK KLX KMA KMH KMK KMQ KMT KNI KNM KNS KNT KO KPA'
  ' KPH KPO KPP KR KSD KSH KT KTN KUR KVA KVR KVT KW KWH KWN KWO KWS KWT KWY KX L10 L11 L12 L13 L14 L15'
  ' L16 L17 L18 L19 L2 L20 L21 L23 L24 L25 L26 L27 L28 L29 L30 L31 L32 L33 L34 L35 L36 L37 L38 L39 L40 L41'
  ' L42 L43 L44 L45 L46 L47 L48 L49 L50 L51 L52 L53 L54 L55 L56 L57 L58 L59 L60 L63 L64 L65 L66 L67 L68'
  ' L69 L70 L71 L72 L73 L74 L75 L76 L77 L78 L79 L80 L81 L82 L83 L84 L85 L86 L87 L88 L89 L90 L91 L92 L93'
  ' L94 L95 L96 L98 L99 LA LAC LBR LBT LD LEF LF LH LK LM LN LO LP LPA LR LS LTN LTR LUB LUM LUX LY M1 M10'
  ' M11 M12 M13 M14 M15 M16 M17 M18 M19 M20 M21 M22 M23 M24 M25 M26 M27 M29 M30 M31 M32 M33 M34 M35 M36'
  ' M37 M38 M39 M4 M40 M41 M42 M43 M44 M45 M46 M47 M48 M49 M5 M50 M51 M52 M53 M55 M56 M57 M58 M59 M60 M61'
  ' M62 M63 M64 M65 M66 M67 M68 M69 M7 M70 M71 M72 M73 M74 M75 M76 M77 M78 M79 M80 M81 M82 M83 M84 M85 M86'
  ' M87 M88 M89 M9 M90 M91 M92 M93 M94 M95 M96 M97 M98 M99 MAH MAL MAM MAR MAW MBE MBF MBR MC MCU MD MGM'
  ' MHZ MIK MIL MIN MIO MIU MKD MKM MKW MLD MLT MMK MMQ MMT MND MNJ MON MPA MQD MQH MQM MQS MQW MRD MRM'
  ' MRW MSK MTK MTQ MTR MTS MTZ MVA MWH N1 N10 N11 N12 N13 N14 N15 N16 N17 N18 N19 N20 N21 N22 N23 N24 N25'
  ' N26 N27 N28 N29 N3 N30 N31 N32 N33 N34 N35 N36 N37 N38 N39 N40 N41 N42 N43 N44 N45 N46 N47 N48 N49 N50'
  ' N51 N52 N53 N54 N55 N56 N57 N58 N59 N60 N61 N62 N63 N64 N65 N66 N67 N68 N69 N70 N71 N72 N73 N74 N75'
  ' N76 N77 N78 N79 N80 N81 N82 N83 N84 N85 N86 N87 N88 N89 N90 N91 N92 N93 N94 N95 N96 N97 N98 N99 NA NAR'
  ' NCL NEW NF NIL NIU NL NM3 NMI NMP NPT NT NTU NU NX OA ODE ODG ODK ODM OHM ON ONZ OPM OT OZA OZI P1 P10'
  ' P11 P12 P13 P14 P15 P16 P17 P18 P19 P2 P20 P21 P22 P23 P24 P25 P26 P27 P28 P29 P30 P31 P32 P33 P34 P35'
  ' P36 P37 P38 P39 P40 P41 P42 P43 P44 P45 P46 P47 P48 P49 P5 P50 P51 P52 P53 P54 P55 P56 P57 P58 P59 P60'
  ' P61 P62 P63 P64 P65 P66 P67 P68 P69 P70 P71 P72 P73 P74 P75 P76 P77 P78 P79 P80 P81 P82 P83 P84 P85'
  ' P86 P87 P88 P89 P90 P91 P92 P93 P94 P95 P96 P97 P98 P99 PAL PD PFL PGL PI PLA PO PQ PR PS PTD PTI PTL'
  ' PTN Q10 Q11 Q12 Q13 Q14 Q15 Q16 Q17 Q18 Q19 Q20 Q21 Q22 Q23 Q24 Q25 Q26 Q27 Q28 Q29 Q3 Q30 Q31 Q32 Q33'
  ' Q34 Q35 Q36 Q37 Q38 Q39 Q40 Q41 Q42 QA QAN QB QR QTD QTI QTL QTR R1 R9 RH RM ROM RP RPM RPS RT S3 S4'
  ' SAN SCO SCR SEC SET SG SIE SM3 SMI SQ SQR SR STC STI STK STL STN STW SW SX SYR T0 T3 TAH TAN TI TIC'
  ' TIP TKM TMS TNE TP TPI TPR TQD TRL TST TTS U1 U2 UB UC VA VLT VP W2 WA WB WCD WE WEB WEE WG WHR WM WSD'
  ' WTT X1 YDK YDQ YRD Z11 Z9 ZP ZZ ';
comment on function erp.unit_codes_from_j() is
  'Returns the codes of UN/ECE Recommendation 20 that begin with a letter from J on, each between spaces.';
grant execute on function erp.unit_codes_from_j() to service_writer;

create or replace function erp.package_codes() returns text
language sql immutable
return
  ' X1A X1B X1D X1F X1G X1W X2C X3A X3H X43 X44 X4A X4B X4C X4D X4F X4G X4H X5H X5L X5M X6H X6P X7A X7B'
  ' X8A X8B X8C XAA XAB XAC XAD XAE XAF XAG XAH XAI XAJ XAL XAM XAP XAT XAV XB4 XBA XBB XBC XBD XBE XBF'
  ' XBG XBH XBI XBJ XBK XBL XBM XBN XBO XBP XBQ XBR XBS XBT XBU XBV XBW XBX XBY XBZ XCA XCB XCC XCD XCE'
  ' XCF XCG XCH XCI XCJ XCK XCL XCM XCN XCO XCP XCQ XCR XCS XCT XCU XCV XCW XCX XCY XCZ XDA XDB XDC XDG'
  ' XDH XDI XDJ XDK XDL XDM XDN XDP XDR XDS XDT XDU XDV XDW XDX XDY XEC XED XEE XEF XEG XEH XEI XEN XFB'
  ' XFC XFD XFE XFI XFL XFO XFP XFR XFT XFW XFX XGB XGI XGL XGR XGU XGY XGZ XHA XHB XHC XHG XHN XHR XIA'
  ' XIB XIC XID XIE XIF XIG XIH XIK XIL XIN XIZ XJB XJC XJG XJR XJT XJY XKG XKI XLE XLG XLT XLU XLV XLZ'
  ' XMA XMB XMC XME XMR XMS XMT XMW XMX XNA XNE XNF XNG XNS XNT XNU XNV XO1 XO2 XO3 XO4 XO5 XO6 XO7 XO8'
  ' XO9 XOA XOB XOC XOD XOE XOF XOG XOH XOI XOJ XOK XOL XOM XON XOP XOQ XOR XOS XOT XOU XOV XOW XOX XOY'
  ' XOZ XP1 XP2 XP3 XP4 XPA XPB XPC XPD XPE XPF XPG XPH XPI XPJ XPK XPL XPN XPO XPP XPR XPT XPU XPV XPX'
  ' XPY XPZ XQA XQB XQC XQD XQF XQG XQH XQJ XQK XQL XQM XQN XQP XQQ XQR XQS XRD XRG XRJ XRK XRL XRO XRT'
  ' XRZ XSA XSB XSC XSD XSE XSH XSI XSK XSL XSM XSO XSP XSS XST XSU XSV XSW XSX XSY XSZ XT1 XTB XTC XTD'
  ' XTE XTG XTI XTK XTL XTN XTO XTR XTS XTT XTU XTV XTW XTY XTZ XUC XUN XVA XVG XVI XVK XVL XVN XVO XVP'
  ' XVQ XVR XVS XVY XWA XWB XWC XWD XWF XWG XWH XWJ XWK XWL XWM XWN XWP XWQ XWR XWS XWT XWU XWV XWW XWX'
  ' XWY XWZ XXA XXB XXC XXD XXF XXG XXH XXJ XXK XYA XYB XYC XYD XYF XYG XYH XYJ XYK XYL XYM XYN XYP XYQ'
  ' XYR XYS XYT XYV XYW XYX XYY XYZ XZA XZB XZC XZD XZF XZG XZH XZJ XZK XZL XZM XZN XZP XZQ XZR XZS XZT'
  ' XZU XZV XZW XZX XZY XZZ ';
comment on function erp.package_codes() is
  'Returns the codes of packages, each between spaces: X and a code of UN/ECE Recommendation 21.';
grant execute on function erp.package_codes() to service_writer;

create or replace function erp.is_unit_code(code text) returns boolean
language sql immutable
return erp.is_among(code, case
  when code ~ '^[0-9A-I]' then erp.unit_codes_until_i()
  when code ~ '^X..$' then erp.package_codes()
  else erp.unit_codes_from_j() end);
comment on function erp.is_unit_code(text) is
  'Whether a text is a unit of UN/ECE Recommendation 20, or a package of Recommendation 21 with an X before '
  'its code.';
grant execute on function erp.is_unit_code(text) to service_writer;
--! EndIncluded erp/is_unit_code.sql
--! Included erp/is_tax_category.sql
create or replace function erp.is_tax_category(code text) returns boolean
language sql immutable
-- UNTDID 5305 has more: O (not subject to VAT), B, L and M for Italy and Spanish islands
return erp.is_among(code, ' S Z E AE K G ');
comment on function erp.is_tax_category(text) is
  'Whether a text is a tax category that orders can have.';
grant execute on function erp.is_tax_category(text) to service_writer;
--! EndIncluded erp/is_tax_category.sql
--! Included erp/begins_with_country.sql
create or replace function erp.begins_with_country(vat_id text) returns boolean
language sql immutable
return case when not erp.is_blank(vat_id) then
  -- Greece is EL in VAT numbers
  left(vat_id, 2) = 'EL' or erp.is_country_code(left(vat_id, 2)) end;
comment on function erp.begins_with_country(text) is
  'Whether a VAT number begins with the code of the country that gave it. Null without a number.';
grant execute on function erp.begins_with_country(text) to service_writer;
--! EndIncluded erp/begins_with_country.sql
--! Included erp/tax_rule.sql
create or replace function erp.tax_rule(category text, number text) returns text
language sql immutable
return format('BR-%s-%s', case category when 'K' then 'IC' else category end, number);
comment on function erp.tax_rule(text, text) is
  'Returns the id of a rule of EN 16931 that each tax category has, by the category and its number.';
grant execute on function erp.tax_rule(text, text) to service_writer;
--! EndIncluded erp/tax_rule.sql
--! Included erp/lacks.sql
create or replace function erp.lacks(config jsonb, variadic path text[]) returns boolean
language sql immutable
return coalesce(
  -- The first character decides of nearly all texts
  case when ascii(config #>> path) between 33 and 126 then false
    -- XML has no control characters
    else erp.is_blank(translate(config #>> path,
      E'\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d'
        '\x1e\x1f', '')) end,
  true);
comment on function erp.lacks(jsonb, text[]) is
  'Whether a JSON document has no text at a path, or a blank one.';
grant execute on function erp.lacks(jsonb, text[]) to service_writer;
--! EndIncluded erp/lacks.sql
--! Included erp/is_in_cents.sql
create or replace function erp.is_in_cents(amount numeric) returns boolean
language sql immutable
return coalesce(amount = erp.rounded(amount), true);
comment on function erp.is_in_cents(numeric) is
  'Whether an amount has at most two decimals. True without an amount.';
grant execute on function erp.is_in_cents(numeric) to service_writer;
--! EndIncluded erp/is_in_cents.sql
--! Included erp/is_empty_address.sql
create or replace function erp.is_empty_address(address jsonb) returns boolean
language sql immutable
return coalesce((
  select bool_and(erp.lacks(address, f.name))
  from unnest(array['street', 'additionalAddressLine1', 'additionalAddressLine2', 'zipcode', 'city',
    'countryStateName', 'countryIso']) f (name)
), true);
comment on function erp.is_empty_address(jsonb) is
  'Whether an address has no place: neither street, post code, city, state nor country.';
grant execute on function erp.is_empty_address(jsonb) to service_writer;
--! EndIncluded erp/is_empty_address.sql
--! Included erp/invoice_destination.sql
create or replace function erp.buyer_vat_id(config jsonb) returns text
language sql immutable
return (
  select case when not erp.is_blank(v.vat_id) then v.vat_id end
  from (select coalesce(config #>> '{buyer,vatId}', config ->> 'customerVatId') as vat_id) v
);
comment on function erp.buyer_vat_id(jsonb) is
  'Returns the VAT number of the buyer on a document; null if there is none.';
grant execute on function erp.buyer_vat_id(jsonb) to service_writer;

create or replace function erp.invoice_destination(config jsonb) returns jsonb
language sql immutable
return (
  select case
    when p.shipping <> p.billing then config -> 'shippingAddress'
    when jsonb_path_exists(config, '$.totals.taxes[*] ? (@.category == "K")')
      then config -> case when p.shipping is null then 'billingAddress' else 'shippingAddress' end end
  from (
    select erp.cii_place(config -> 'shippingAddress') as shipping,
      erp.cii_place(config -> 'billingAddress') as billing
  ) p
);
comment on function erp.invoice_destination(jsonb) is
  'Returns the address of delivery that the XML of an invoice states: the shipping address if it is not the '
  'billing address. An intra-Community supply always has one. Null if the XML has none. erp.cii_delivery '
  'chooses in the same way.';
grant execute on function erp.invoice_destination(jsonb) to service_writer;
--! EndIncluded erp/invoice_destination.sql
--! Included erp/invoice_entries.sql
create or replace function erp.invoice_entries(config jsonb)
returns table (
  kind text, entry jsonb, category text, rate numeric, amount numeric, field text, name text
)
language sql immutable
begin atomic
  select v.kind, v.entry, v.entry ->> 'taxCategory', (v.entry ->> 'taxRate')::numeric, v.amount, v.field,
    v.name || case when erp.lacks(v.entry, v.key) then '' else format(' (%s)', v.entry ->> v.key) end
  from (
    select 'line' as kind, l.entry, (l.entry ->> 'net')::numeric as amount,
      format('order.lines[%s]', (l.entry ->> 'position')::integer - 1) as field,
      format('Line %s', l.entry ->> 'position') as name, 'label' as key
    from jsonb_array_elements(config -> 'lines') l (entry) where l.entry ->> 'kind' = 'line'
    union all
    select 'allowance', a.entry, (a.entry ->> 'amount')::numeric, 'order.lines',
      'Discount', 'reason'
    from jsonb_array_elements(config -> 'allowances') a (entry)
    union all
    select 'charge', c.entry, (c.entry ->> 'amount')::numeric, 'order.lines',
      'Surcharge', 'reason'
    from jsonb_array_elements(config -> 'charges') c (entry)
  ) v;
end;
comment on function erp.invoice_entries(jsonb) is
  'Returns what the XML of an invoice charges: its lines, and the discounts (allowance) and surcharges '
  '(charge) on the whole invoice. Includes the amount without tax, where the order has it, and its name '
  'in messages.';
grant execute on function erp.invoice_entries(jsonb) to service_writer;
--! EndIncluded erp/invoice_entries.sql
--! Included erp/invoice_header_faults.sql
create or replace function erp.invoice_header_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  select f.rule, f.field, f.message
  from (
    select config ->> 'typeCode' as type, config #>> '{currency,isoCode}' as currency,
      nullif(config -> 'taxInDefaultCurrency', 'null') as accounted
  ) c
  cross join lateral (
    values
      (erp.lacks(config, 'standard', 'guideline'), 'BR-01', 'invoiceForm.guideline',
        'The form of the invoice has no identifier of the rules that it follows.'),
      (erp.lacks(config, 'documentNumber'), 'BR-02', 'invoice.documentNumber', 'The number is missing.'),
      (erp.lacks(config, 'documentDate'), 'BR-03', 'invoice.documentDate', 'The date is missing.'),
      (erp.lacks(config, 'typeCode'), 'BR-04', 'invoice.typeCode', 'The type of the document is missing.'),
      (not erp.is_invoice_type(c.type), 'BR-CL-01', 'invoice.typeCode',
        format('The type %s is none of an invoice or credit note.', c.type)),
      (erp.lacks(config, 'currency', 'isoCode'), 'BR-05', 'order.currency', 'The currency is missing.'),
      (not erp.is_currency_code(c.currency), 'BR-CL-04', 'order.currency',
        format('%s is no currency of ISO 4217.', c.currency)),
      (c.accounted is not null and erp.lacks(c.accounted, 'tax'), 'BR-53', 'order.exchangeRate',
        'The tax in the merchant''s currency is missing.'),
      (c.accounted #>> '{currency,isoCode}' = c.currency, 'BR-53', 'defaultCurrency',
        'The tax is to be given in another currency than the invoice''s, and it is the same one.'),
      (not erp.is_currency_code(c.accounted #>> '{currency,isoCode}'), 'BR-CL-05', 'defaultCurrency',
        format('%s is no currency of ISO 4217.', c.accounted #>> '{currency,isoCode}')),
      (config #>> '{deliveryDate,to}' < config #>> '{deliveryDate,from}', 'BR-29', 'order.deliveryDate',
        'The last day of delivery is before the first one.')
  ) f (is_broken, rule, field, message)
  where f.is_broken;
end;
comment on function erp.invoice_header_faults(jsonb) is
  'Returns the rules of EN 16931 that the head of an invoice breaks: its number, date, type and currencies. '
  'See erp.invoice_faults.';
grant execute on function erp.invoice_header_faults(jsonb) to service_writer;
--! EndIncluded erp/invoice_header_faults.sql
--! Included erp/invoice_seller_faults.sql
create or replace function erp.invoice_seller_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  select f.rule, f.field, f.message
  from (
    select config -> 'seller' as seller, config #>> '{seller,address,countryIso}' as country,
      config #>> '{seller,vatId}' as vat_id, config #>> '{seller,electronicAddress,scheme}' as scheme
  ) s
  cross join lateral (
    values
      (erp.lacks(s.seller, 'legalName'), 'BR-06', 'merchant.legalName', 'The merchant''s name is missing.'),
      (erp.is_empty_address(s.seller -> 'address'), 'BR-08', 'merchant.address',
        'The merchant''s address is missing.'),
      (not erp.is_empty_address(s.seller -> 'address') and erp.lacks(s.seller, 'address', 'countryIso'),
        'BR-09', 'merchant.address.countryIso', 'The country of the merchant''s address is missing.'),
      (not erp.is_country_code(s.country), 'BR-CL-14', 'merchant.address.countryIso',
        format('The merchant''s country %s is no code of ISO 3166, such as DE.', s.country)),
      (erp.lacks(s.seller, 'vatId') and erp.lacks(s.seller, 'taxNumber') and erp.lacks(s.seller, 'register'),
        'BR-CO-26', 'merchant.vatId',
        'The merchant''s VAT number is missing, or another number that identifies the merchant.'),
      (not erp.begins_with_country(s.vat_id), 'BR-CO-09', 'merchant.vatId',
        format('The merchant''s VAT number %s must begin with the code of its country.', s.vat_id)),
      (not erp.lacks(s.seller, 'electronicAddress', 'id')
          and erp.lacks(s.seller, 'electronicAddress', 'scheme'), 'BR-62', 'merchant.electronicAddressScheme',
        'The scheme of the merchant''s electronic address is missing, such as EM for an e-mail address.'),
      (not erp.is_address_scheme(s.scheme), 'BR-CL-25', 'merchant.electronicAddressScheme',
        format('The scheme %s of the merchant''s electronic address is not in the list EAS.', s.scheme))
  ) f (is_broken, rule, field, message)
  where f.is_broken;
end;
comment on function erp.invoice_seller_faults(jsonb) is
  'Returns the rules of EN 16931 that the seller''s details on an invoice break. See erp.invoice_faults.';
grant execute on function erp.invoice_seller_faults(jsonb) to service_writer;
--! EndIncluded erp/invoice_seller_faults.sql
--! Included erp/invoice_buyer_faults.sql
create or replace function erp.invoice_buyer_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  select f.rule, f.field, f.message
  from (
    select config -> 'billingAddress' as address, erp.invoice_destination(config) as destination,
      erp.buyer_vat_id(config) as vat_id, config #> '{buyer,electronicAddress}' as electronic
  ) b
  cross join lateral (
    values
      (erp.lacks(b.address, 'company') and erp.lacks(b.address, 'firstName')
          and erp.lacks(b.address, 'lastName'),
        'BR-07', 'order.billingAddress', 'The buyer''s name is missing: a company or a person.'),
      (erp.is_empty_address(b.address), 'BR-10', 'order.billingAddress', 'The buyer''s address is missing.'),
      (not erp.is_empty_address(b.address) and erp.lacks(b.address, 'countryIso'), 'BR-11',
        'order.billingAddress.countryIso', 'The country of the buyer''s address is missing.'),
      (not erp.is_country_code(b.address ->> 'countryIso'), 'BR-CL-14', 'order.billingAddress.countryIso',
        format('The buyer''s country %s is no code of ISO 3166, such as DE.', b.address ->> 'countryIso')),
      (not erp.is_empty_address(b.destination) and erp.lacks(b.destination, 'countryIso'), 'BR-57',
        'order.shippingAddress.countryIso', 'The country of the shipping address is missing.'),
      (not erp.is_country_code(b.destination ->> 'countryIso'), 'BR-CL-14',
        'order.shippingAddress.countryIso',
        format('The country %s of the shipping address is no code of ISO 3166, such as DE.',
          b.destination ->> 'countryIso')),
      (not erp.begins_with_country(b.vat_id), 'BR-CO-09', 'customer.vatIds',
        format('The buyer''s VAT number %s must begin with the code of its country.', b.vat_id)),
      (not erp.lacks(b.electronic, 'id') and erp.lacks(b.electronic, 'scheme'), 'BR-63',
        'customer.electronicAddressScheme',
        'The scheme of the buyer''s electronic address is missing, such as EM for an e-mail address.'),
      (not erp.is_address_scheme(b.electronic ->> 'scheme'), 'BR-CL-25', 'customer.electronicAddressScheme',
        format('The scheme %s of the buyer''s electronic address is not in the list EAS.',
          b.electronic ->> 'scheme'))
  ) f (is_broken, rule, field, message)
  where f.is_broken;
end;
comment on function erp.invoice_buyer_faults(jsonb) is
  'Returns the rules of EN 16931 that the buyer''s details and the shipping address on an invoice break. See '
  'erp.invoice_faults.';
grant execute on function erp.invoice_buyer_faults(jsonb) to service_writer;
--! EndIncluded erp/invoice_buyer_faults.sql
--! Included erp/invoice_payment_faults.sql
create or replace function erp.invoice_payment_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  select f.rule, f.field, f.message
  from (select config ->> 'paymentMeansCode' as means) p
  cross join lateral (
    values
      (erp.lacks(config, 'paymentMeansCode'), 'BR-49', 'paymentMethod.meansCode',
        'The code of the payment method is missing.'),
      (not erp.is_payment_means_code(p.means), 'BR-CL-16', 'paymentMethod.meansCode',
        format('The code %s of the payment method is not in the list UNTDID 4461.', p.means)),
      -- 30 and 58 are transfers
      (p.means in ('30', '58') and erp.lacks(config, 'seller', 'bank', 'iban'), case
          when config ->> 'form' = 'xrechnung' and erp.lacks(config, 'seller', 'bank', 'accountHolder')
            then 'BR-DE-23-a'
          else 'BR-61' end, 'merchant.iban',
        'The merchant''s IBAN is missing, to which the buyer transfers the amount.')
  ) f (is_broken, rule, field, message)
  where f.is_broken;
end;
comment on function erp.invoice_payment_faults(jsonb) is
  'Returns the rules of EN 16931 and XRechnung that the means of payment of an invoice break. See '
  'erp.invoice_faults.';
grant execute on function erp.invoice_payment_faults(jsonb) to service_writer;
--! EndIncluded erp/invoice_payment_faults.sql
--! Included erp/invoice_line_faults.sql
create or replace function erp.invoice_line_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  with line as (
    select e.entry, e.category, e.amount, e.field, e.name, nullif(e.entry -> 'discount', 'null') as discount
    from erp.invoice_entries(config) e where e.kind = 'line'
  ),
  -- Rules are named first, because Postgres would build each message of each line in a list of values
  broken as (
    select l.entry, l.field, l.name, r.rules
    from line l
    cross join lateral (
      select array_remove(array[
        case when erp.lacks(l.entry, 'quantity') then 'BR-22' end,
        case when erp.lacks(l.entry, 'unitCode') then 'BR-23' end,
        case when l.amount is null then 'BR-24' end,
        case when erp.lacks(l.entry, 'label') then 'BR-25' end,
        case when erp.lacks(l.entry, 'netPrice') then 'BR-26' end,
        case when (l.entry ->> 'netPrice')::numeric < 0 then 'BR-27' end,
        case when l.discount is not null and erp.lacks(l.discount, 'amount') then 'BR-41' end,
        case when not erp.is_tax_category(l.category) then 'BR-CL-18' end,
        case when not erp.is_unit_code(l.entry ->> 'unitCode') then 'BR-CL-23' end,
        case when erp.lacks(l.entry, 'taxCategory') then 'BR-CO-04' end,
        case when not erp.is_in_cents(l.amount) then 'BR-DEC-23' end,
        case when not erp.is_in_cents((l.discount ->> 'amount')::numeric) then 'BR-DEC-24' end
      ], null) as rules
    ) r
    where r.rules <> '{}'
  )
  select f.rule, format('%s.%s', b.field, f.field),
    format('%s: %s', b.name, format(f.message, b.entry ->> f.field))
  from broken b
  join (
    values
      ('BR-22', 'quantity', 'The quantity is missing.'),
      ('BR-23', 'unitCode', 'The unit is missing.'),
      ('BR-24', 'totalPrice', 'The amount is missing.'),
      ('BR-25', 'label', 'The name is missing.'),
      ('BR-26', 'unitPrice', 'The price is missing.'),
      ('BR-27', 'unitPrice', 'The price must not be below 0.'),
      ('BR-41', 'totalPrice', 'The amount of the discount is missing.'),
      ('BR-CL-18', 'taxCategory', 'The tax category %s is none of S, Z, E, AE, K and G.'),
      ('BR-CL-23', 'unitCode', 'The unit %s is no code of UN/ECE Recommendation 20, such as C62.'),
      ('BR-CO-04', 'taxCategory', 'The tax category is missing.'),
      ('BR-DEC-23', 'totalPrice', 'The amount has more than two decimals.'),
      ('BR-DEC-24', 'totalPrice', 'The amount of the discount has more than two decimals.')
  ) f (rule, field, message) on f.rule = any (b.rules)
  union all
  select 'BR-16', 'order.lines', 'The invoice has no line besides discounts.'
  where not exists (select from line);
end;
comment on function erp.invoice_line_faults(jsonb) is
  'Returns the rules of EN 16931 that the lines of an invoice break, but those about their tax. See '
  'erp.invoice_faults.';
grant execute on function erp.invoice_line_faults(jsonb) to service_writer;
--! EndIncluded erp/invoice_line_faults.sql
--! Included erp/invoice_discount_faults.sql
create or replace function erp.invoice_discount_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  select case e.kind when 'allowance' then f.of_allowance else f.of_charge end, e.field,
    format('%s: %s', e.name, f.message)
  from erp.invoice_entries(config) e
  cross join lateral (
    values
      (e.amount is null, 'BR-31', 'BR-36', 'The amount is missing.'),
      (erp.lacks(e.entry, 'taxCategory'), 'BR-32', 'BR-37', 'The tax category is missing.'),
      (not erp.is_tax_category(e.category), 'BR-CL-17', 'BR-CL-17',
        format('The tax category %s is none of S, Z, E, AE, K and G.', e.category)),
      (not erp.is_in_cents(e.amount), 'BR-DEC-01', 'BR-DEC-05', 'The amount has more than two decimals.')
  ) f (is_broken, of_allowance, of_charge, message)
  where e.kind <> 'line' and f.is_broken;
end;
comment on function erp.invoice_discount_faults(jsonb) is
  'Returns the rules of EN 16931 that discounts and surcharges on a whole invoice break, but those about '
  'their tax. See erp.invoice_faults.';
grant execute on function erp.invoice_discount_faults(jsonb) to service_writer;
--! EndIncluded erp/invoice_discount_faults.sql
--! Included erp/invoice_total_faults.sql
create or replace function erp.invoice_total_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  select f.rule, 'invoice.totals' || f.field, f.message
  from jsonb_to_record(config -> 'totals')
    t ("lineNet" numeric, allowances numeric, charges numeric, net numeric, total numeric, paid numeric,
      due numeric, taxes jsonb)
  cross join lateral (
    select coalesce(sum(e.amount) filter (where e.kind = 'line'), 0) as lines,
      coalesce(sum(e.amount) filter (where e.kind = 'allowance'), 0) as allowances,
      coalesce(sum(e.amount) filter (where e.kind = 'charge'), 0) as charges
    from erp.invoice_entries(config) e
  ) s
  cross join lateral (
    select coalesce(sum(x.tax), 0) as sum from jsonb_to_recordset(t.taxes) x (tax numeric)
  ) x
  cross join lateral (
    values
      (t."lineNet" is null, 'BR-12', '.lineNet', 'The sum of the lines is missing.'),
      (t.net is null, 'BR-13', '.net', 'The total without tax is missing.'),
      (t.total is null, 'BR-14', '.total', 'The total with tax is missing.'),
      (t.due is null, 'BR-15', '.due', 'The amount due is missing.'),
      (t."lineNet" <> s.lines, 'BR-CO-10', '.lineNet',
        format('The sum of the lines is %s, and they add up to %s.', t."lineNet", s.lines)),
      (coalesce(t.allowances, 0) <> s.allowances, 'BR-CO-11', '.allowances',
        format('The sum of the discounts is %s, and they add up to %s.', t.allowances, s.allowances)),
      (coalesce(t.charges, 0) <> s.charges, 'BR-CO-12', '.charges',
        format('The sum of the surcharges is %s, and they add up to %s.', t.charges, s.charges)),
      (t.net <> t."lineNet" - coalesce(t.allowances, 0) + coalesce(t.charges, 0), 'BR-CO-13', '.net',
        format('The total without tax is %s, which is not the lines less discounts plus surcharges.', t.net)),
      (t.total <> t.net + x.sum, 'BR-CO-15', '.total',
        format('The total with tax is %s, which is not %s without tax and %s tax.', t.total, t.net, x.sum)),
      (t.due <> t.total - coalesce(t.paid, 0), 'BR-CO-16', '.due',
        format('The amount due is %s, which is not the total %s less %s paid.', t.due, t.total, t.paid)),
      (coalesce(jsonb_array_length(t.taxes), 0) = 0, 'BR-CO-18', '.taxes', 'The taxes are missing.')
  ) f (is_broken, rule, field, message)
  where f.is_broken;
end;
comment on function erp.invoice_total_faults(jsonb) is
  'Returns the rules of EN 16931 that the totals of an invoice break. See erp.invoice_faults.';
grant execute on function erp.invoice_total_faults(jsonb) to service_writer;
--! EndIncluded erp/invoice_total_faults.sql
--! Included erp/invoice_decimal_faults.sql
create or replace function erp.invoice_decimal_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  select d.rule, format('invoice.%s', array_to_string(d.path, '.')),
    format('%s of %s has more than two decimals.', d.name, config #>> d.path)
  from (
    values
      ('BR-DEC-09', '{totals,lineNet}'::text[], 'The sum of the lines'),
      ('BR-DEC-10', '{totals,allowances}', 'The sum of the discounts'),
      ('BR-DEC-11', '{totals,charges}', 'The sum of the surcharges'),
      ('BR-DEC-12', '{totals,net}', 'The total without tax'),
      ('BR-DEC-14', '{totals,total}', 'The total with tax'),
      ('BR-DEC-15', '{taxInDefaultCurrency,tax}', 'The tax in the merchant''s currency'),
      ('BR-DEC-16', '{totals,paid}', 'The amount paid'),
      ('BR-DEC-18', '{totals,due}', 'The amount due')
  ) d (rule, path, name)
  where not erp.is_in_cents((config #>> d.path)::numeric)
  union all
  select d.rule, 'invoice.totals.taxes', format('%s of %s has more than two decimals.', d.name, d.amount)
  from jsonb_to_recordset(config #> '{totals,taxes}') t (net numeric, tax numeric)
  cross join lateral (
    values ('BR-DEC-19', t.net, 'The taxed amount'), ('BR-DEC-20', t.tax, 'The tax')
  ) d (rule, amount, name)
  where not erp.is_in_cents(d.amount);
end;
comment on function erp.invoice_decimal_faults(jsonb) is
  'Returns the rules of EN 16931 that amounts of an invoice break because they are no whole cents. See '
  'erp.invoice_faults.';
grant execute on function erp.invoice_decimal_faults(jsonb) to service_writer;
--! EndIncluded erp/invoice_decimal_faults.sql
--! Included erp/invoice_tax_faults.sql
create or replace function erp.invoice_tax_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  select f.rule, 'invoice.totals.taxes', f.message
  from jsonb_to_recordset(config #> '{totals,taxes}')
    t (category text, rate numeric, net numeric, tax numeric, "exemptionCode" text, reason text)
  cross join lateral (
    select t.category = 'S' as is_taxed, t.category in ('Z', 'E', 'AE', 'K', 'G') as is_free,
      concat_ws(' ', t.category, t.rate || ' %') as name,
      not coalesce(erp.is_blank(concat(t."exemptionCode", t.reason)), true) as is_explained
  ) c
  cross join lateral (
    values
      (t.net is null, 'BR-45', 'The taxed amount is missing.'),
      (t.tax is null, 'BR-46', 'The tax is missing.'),
      (coalesce(erp.is_blank(t.category), true), 'BR-47', 'The tax category is missing.'),
      (t.rate is null, 'BR-48', 'The tax rate is missing.'),
      (not erp.is_tax_category(t.category), 'BR-CL-18', 'The tax category is none of S, Z, E, AE, K and G.'),
      (not erp.is_exemption_code(t."exemptionCode"), 'BR-CL-22',
        format('The code %s of the reason for no tax is not in the list VATEX.', t."exemptionCode")),
      (not c.is_taxed and t.rate <> 0 and abs(t.tax - erp.rounded(t.net * t.rate / 100)) > 1, 'BR-CO-17',
        format('The tax %s is not the rate of the amount %s.', t.tax, t.net)),
      -- Prices with tax leave cents between the tax and the rate of the net amount
      (c.is_taxed and abs(t.tax - erp.rounded(t.net * t.rate / 100)) >= 1, erp.tax_rule(t.category, '09'),
        format('The tax %s is not the rate of the amount %s.', t.tax, t.net)),
      (c.is_free and t.tax <> 0, erp.tax_rule(t.category, '09'), 'The tax must be 0.'),
      (t.category in ('S', 'Z') and c.is_explained, erp.tax_rule(t.category, '10'),
        'A reason for no tax is given, which only other tax categories have.'),
      (t.category in ('E', 'AE', 'K', 'G') and not c.is_explained, erp.tax_rule(t.category, '10'),
        'The reason for no tax is missing, and its code.')
  ) f (is_broken, rule, message)
  where f.is_broken;
end;
comment on function erp.invoice_tax_faults(jsonb) is
  'Returns the rules of EN 16931 that single rows of the taxes of an invoice break. See erp.invoice_faults.';
grant execute on function erp.invoice_tax_faults(jsonb) to service_writer;
--! EndIncluded erp/invoice_tax_faults.sql
--! Included erp/invoice_number_faults.sql
create or replace function erp.invoice_number_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  with used as (
    select e.category, case when bool_or(e.kind = 'line') then '02'
        when bool_or(e.kind = 'allowance') then '03' else '04' end as n
    from erp.invoice_entries(config) e
    where erp.is_tax_category(e.category)
    group by e.category
  )
  select erp.tax_rule(u.category, u.n), f.field, f.message
  from used u
  cross join lateral (
    values
      (u.category in ('S', 'Z', 'E', 'AE') and erp.lacks(config, 'seller', 'vatId')
          and erp.lacks(config, 'seller', 'taxNumber'),
        'merchant.vatId', 'The merchant''s VAT number or tax number is missing.'),
      (u.category in ('K', 'G') and erp.lacks(config, 'seller', 'vatId'), 'merchant.vatId',
        format('The merchant''s VAT number is missing, which the tax category %s needs.', u.category)),
      (u.category = 'AE' and erp.buyer_vat_id(config) is null
          and erp.lacks(config, 'buyer', 'registrationId'), 'customer.vatIds',
        'The buyer''s VAT number is missing, or the number in a register. Reverse charge needs one of them.'),
      (u.category = 'K' and erp.buyer_vat_id(config) is null, 'customer.vatIds',
        'The buyer''s VAT number is missing, which an intra-Community supply needs.')
  ) f (is_broken, field, message)
  where f.is_broken;
end;
comment on function erp.invoice_number_faults(jsonb) is
  'Returns the rules of EN 16931 that an invoice breaks because a VAT number or similar number is missing '
  'which its tax categories need. See erp.invoice_faults.';
grant execute on function erp.invoice_number_faults(jsonb) to service_writer;
--! EndIncluded erp/invoice_number_faults.sql
--! Included erp/invoice_category_faults.sql
create or replace function erp.invoice_rate_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  select erp.tax_rule(e.category, case e.kind when 'line' then '05' when 'allowance' then '06' else '07' end),
    e.field || case e.kind when 'line' then '.taxRate' else '' end,
    format(case e.category
      when 'S' then '%s: The tax rate must be above 0 in the tax category %s.'
      else '%s: The tax rate must be 0 in the tax category %s.' end, e.name, e.category)
  from erp.invoice_entries(config) e
  where erp.is_tax_category(e.category)
    and coalesce(case e.category when 'S' then e.rate <= 0 else e.rate <> 0 end, true);
end;
comment on function erp.invoice_rate_faults(jsonb) is
  'Returns the rules of EN 16931 that lines, discounts and surcharges of an invoice break because their tax '
  'rate does not fit their tax category. See erp.invoice_faults.';
grant execute on function erp.invoice_rate_faults(jsonb) to service_writer;

create or replace function erp.invoice_category_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  with entry as (
    select e.category, e.rate, case e.kind when 'allowance' then - e.amount else e.amount end as amount
    from erp.invoice_entries(config) e
  ),
  tax as (
    select t.*
    from jsonb_to_recordset(config #> '{totals,taxes}') t (category text, rate numeric, net numeric)
  ),
  counted as (
    select c.category, (select count(*) from entry e where e.category = c.category) as entries,
      (select count(*) from tax t where t.category = c.category) as rows
    from (select category from entry union select category from tax) c
    where erp.is_tax_category(c.category)
  )
  select erp.tax_rule(c.category, '01'), 'invoice.totals.taxes', case
      when c.rows = 0 then format('The taxes lack the tax category %s, which lines have.', c.category)
      when c.entries = 0 then format('No line has the tax category %s of the taxes.', c.category)
      else format('The taxes have the tax category %s twice.', c.category) end
  from counted c
  where c.rows = 0 or c.category <> 'S' and (c.entries = 0 or c.rows > 1)
  union all
  select erp.tax_rule(t.category, '08'), 'invoice.totals.taxes',
    format('The amount %s at %s %s %% is not the sum of its lines, %s.', t.net, t.category, t.rate, s.sum)
  from tax t
  cross join lateral (
    select coalesce(sum(e.amount), 0) as sum from entry e
    where e.category = t.category and (t.category <> 'S' or e.rate = t.rate)
  ) s
  where erp.is_tax_category(t.category) and (t.category <> 'S' or t.rate is not null) and t.net <> s.sum
  union all
  select f.rule, f.field, f.message
  from counted c
  cross join lateral (
    values
      (erp.lacks(config, 'deliveryDate', 'to'), 'BR-IC-11', 'order.deliveryDate',
        'The day of delivery is missing, which an intra-Community supply needs: ship the order first.'),
      (erp.lacks(erp.invoice_destination(config), 'countryIso'), 'BR-IC-12',
        'order.shippingAddress.countryIso',
        'The country of the shipping address is missing, which an intra-Community supply needs.')
  ) f (is_broken, rule, field, message)
  where c.category = 'K' and c.rows > 0 and f.is_broken;
end;
comment on function erp.invoice_category_faults(jsonb) is
  'Returns the rules of EN 16931 that the taxes of an invoice break because they do not fit its lines. See '
  'erp.invoice_faults.';
grant execute on function erp.invoice_category_faults(jsonb) to service_writer;
--! EndIncluded erp/invoice_category_faults.sql
--! Included erp/xrechnung_faults.sql
create or replace function erp.xrechnung_party_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  select f.rule, f.field, f.message
  from (
    select config -> 'seller' as seller, config -> 'billingAddress' as buyer,
      erp.invoice_destination(config) as destination, config #>> '{seller,phone}' as phone,
      config #>> '{seller,email}' as email
  ) p
  cross join lateral (
    select erp.lacks(p.seller, 'contactName') as no_name, erp.lacks(p.seller, 'phone') as no_phone,
      erp.lacks(p.seller, 'email') as no_email, not erp.is_empty_address(p.seller -> 'address') as has_seat,
      not erp.is_empty_address(p.buyer) as has_buyer,
      not erp.is_empty_address(p.destination) as has_destination
  ) h
  cross join lateral (
    values
      (h.no_name and h.no_phone and h.no_email, 'BR-DE-2', 'merchant.contactName',
        'The merchant''s contact is missing: a name, a phone number and an e-mail address.'),
      (h.no_name and not (h.no_phone and h.no_email), 'BR-DE-5', 'merchant.contactName',
        'The name of the merchant''s contact is missing.'),
      (h.no_phone and not (h.no_name and h.no_email), 'BR-DE-6', 'merchant.phone',
        'The merchant''s phone number is missing.'),
      (h.no_email and not (h.no_name and h.no_phone), 'BR-DE-7', 'merchant.email',
        'The merchant''s e-mail address is missing.'),
      (not h.no_phone and p.phone !~ '[0-9].*[0-9].*[0-9]', 'BR-DE-27', 'merchant.phone',
        format('The merchant''s phone number %s must have three digits or more.', p.phone)),
      (not h.no_email and btrim(p.email) !~ '^[^@\s]+@([^@.\s]+\.)+[^@.\s]+$', 'BR-DE-28', 'merchant.email',
        format('The merchant''s e-mail address %s is not valid.', p.email)),
      (h.has_seat and erp.lacks(p.seller, 'address', 'city'), 'BR-DE-3', 'merchant.address.city',
        'The city of the merchant''s address is missing.'),
      (h.has_seat and erp.lacks(p.seller, 'address', 'zipcode'), 'BR-DE-4', 'merchant.address.zipcode',
        'The post code of the merchant''s address is missing.'),
      (h.has_buyer and erp.lacks(p.buyer, 'city'), 'BR-DE-8', 'order.billingAddress.city',
        'The city of the buyer''s address is missing.'),
      (h.has_buyer and erp.lacks(p.buyer, 'zipcode'), 'BR-DE-9', 'order.billingAddress.zipcode',
        'The post code of the buyer''s address is missing.'),
      (h.has_destination and erp.lacks(p.destination, 'city'), 'BR-DE-10', 'order.shippingAddress.city',
        'The city of the shipping address is missing.'),
      (h.has_destination and erp.lacks(p.destination, 'zipcode'), 'BR-DE-11', 'order.shippingAddress.zipcode',
        'The post code of the shipping address is missing.')
  ) f (is_broken, rule, field, message)
  where f.is_broken;
end;
comment on function erp.xrechnung_party_faults(jsonb) is
  'Returns the rules of XRechnung that the seller''s contact and the addresses of an invoice break. See '
  'erp.invoice_faults.';
grant execute on function erp.xrechnung_party_faults(jsonb) to service_writer;

create or replace function erp.breaks_skonto(payment_terms text) returns boolean
language sql immutable
-- A last line without a line feed gets one in the XML
return coalesce((
    select bool_or(regexp_replace(btrim(l.line), '\s+', ' ', 'g')
      !~ '^#SKONTO#TAGE=[0-9]+#PROZENT=[0-9]+\.[0-9]{2}(#BASISBETRAG=-?[0-9]+\.[0-9]{2})?#$')
    from regexp_split_to_table(payment_terms, '\r?\n') l (line) where btrim(l.line) like '#%'
  ), false);
comment on function erp.breaks_skonto(text) is
  'Whether payment terms have a line that begins with # but is no discount for early payment, as XRechnung '
  'writes it: #SKONTO#TAGE=14#PROZENT=2.00#.';
grant execute on function erp.breaks_skonto(text) to service_writer;

create or replace function erp.xrechnung_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  select f.rule, f.field, f.message
  from (
    select config ->> 'paymentMeansCode' as means, config #>> '{seller,bank,iban}' as iban,
      config #>> '{standard,guideline}' as guideline
  ) p
  cross join lateral (
    values
      (erp.lacks(config, 'buyerReference'), 'BR-DE-15', 'order.buyerReference',
        'The buyer reference is missing, such as a Leitweg-ID. The order has it, or the customer.'),
      (not config ->> 'typeCode' in ('326', '380', '381', '384', '389', '875', '876', '877'), 'BR-DE-17',
        'invoice.typeCode', format('XRechnung has no documents of the type %s.', config ->> 'typeCode')),
      (erp.breaks_skonto(config ->> 'paymentTerms'), 'BR-DE-18', 'merchant.paymentTerms',
        'A line of the payment terms begins with #, but is not like #SKONTO#TAGE=14#PROZENT=2.00#.'),
      (p.means = '58' and not erp.is_blank(p.iban) and not erp.is_iban(replace(p.iban, ' ', '')), 'BR-DE-19',
        'merchant.iban', format('The merchant''s IBAN %s is not valid.', p.iban)),
      (p.guideline !~ '^urn:cen\.eu:en16931:\d+#compliant#urn:xeinkauf\.de:kosit:xrechnung_\d', 'BR-DE-21',
        'invoiceForm.guideline', format('The form''s identifier %s is not of XRechnung.', p.guideline)),
      (p.means in ('48', '54', '55'), 'BR-DE-24-a', 'paymentMethod.meansCode',
        'The data of the card are missing, which this code of the payment method needs.'),
      (p.means = '59', 'BR-DE-25-a', 'paymentMethod.meansCode',
        'The data of the direct debit are missing, which this code of the payment method needs.'),
      (p.means = '49', 'PEPPOL-EN16931-R061', 'paymentMethod.meansCode',
        'The mandate of the direct debit is missing, which this code of the payment method needs.'),
      (config ->> 'typeCode' = '384' and erp.lacks(config, 'referencedDocumentNumber'), 'BR-DE-26',
        'invoice.referencedDocumentNumber', 'The number of the invoice that is cancelled is missing.'),
      (erp.lacks(config, 'standard', 'businessProcess'), 'PEPPOL-EN16931-R001', 'invoiceForm.businessProcess',
        'The form of the invoice has no identifier of the business process.'),
      (erp.lacks(config, 'buyer', 'electronicAddress', 'id'), 'PEPPOL-EN16931-R010',
        'customer.electronicAddress', 'The buyer''s electronic address is missing.'),
      (erp.lacks(config, 'seller', 'electronicAddress', 'id'), 'PEPPOL-EN16931-R020',
        'merchant.electronicAddress', 'The merchant''s electronic address is missing.')
  ) f (is_broken, rule, field, message)
  where f.is_broken;
end;
comment on function erp.xrechnung_faults(jsonb) is
  'Returns the rules of XRechnung that the references and the means of payment of an invoice break. See '
  'erp.invoice_faults.';
grant execute on function erp.xrechnung_faults(jsonb) to service_writer;

create or replace function erp.xrechnung_amount_faults(config jsonb)
returns table (rule text, field text, message text)
language sql immutable
begin atomic
  select 'PEPPOL-EN16931-R055', 'order.exchangeRate', 'The tax has opposite signs in the two currencies.'
  from (
    select sum(t.tax) as tax, (config #>> '{taxInDefaultCurrency,tax}')::numeric as own
    from jsonb_to_recordset(config #> '{totals,taxes}') t (tax numeric)
  ) t
  where (t.tax < 0) <> (t.own < 0)
  union all
  select case when l.base <= 0 then 'PEPPOL-EN16931-R121' else 'PEPPOL-EN16931-R120' end,
    l.field || case when l.base <= 0 then '.unitPrice' else '.totalPrice' end,
    format('%s: %s', l.name, case when l.base <= 0
      then 'The quantity that the price is for must be above 0.'
      else 'The amount is not the quantity times the price less the discount.' end)
  from (
    select e.field, e.name, e.amount, coalesce((e.entry ->> 'baseQuantity')::numeric, 1) as base,
      (e.entry ->> 'quantity')::numeric * (e.entry ->> 'netPrice')::numeric as price,
      coalesce((e.entry #>> '{discount,amount}')::numeric, 0) as discount
    from erp.invoice_entries(config) e where e.kind = 'line'
  ) l
  -- The rule allows a difference of two cents
  where case when l.base > 0 then abs(l.price / l.base - l.discount - l.amount) > 0.02 else true end;
end;
comment on function erp.xrechnung_amount_faults(jsonb) is
  'Returns the rules of XRechnung that the amounts of an invoice break. See erp.invoice_faults.';
grant execute on function erp.xrechnung_amount_faults(jsonb) to service_writer;
--! EndIncluded erp/xrechnung_faults.sql
--! Included erp/invoice_faults.sql
create or replace function erp.invoice_faults(config jsonb)
returns table (rule text, field text, message text)
language plpgsql immutable set search_path = pg_catalog, pg_temp
-- Planning takes longer than the checks, and differs for no config
set plan_cache_mode = force_generic_plan as $$
begin
  if coalesce(config ->> 'form' not in ('zugferd', 'xrechnung'), true)
    or config ->> 'documentType' = 'delivery_note'
  then
    return;
  end if;
  return query
  select * from erp.invoice_header_faults(config)
  union all select * from erp.invoice_seller_faults(config)
  union all select * from erp.invoice_buyer_faults(config)
  union all select * from erp.invoice_payment_faults(config)
  union all select * from erp.invoice_line_faults(config)
  union all select * from erp.invoice_discount_faults(config)
  union all select * from erp.invoice_total_faults(config)
  union all select * from erp.invoice_decimal_faults(config)
  union all select * from erp.invoice_tax_faults(config)
  union all select * from erp.invoice_rate_faults(config)
  union all select * from erp.invoice_number_faults(config)
  union all select * from erp.invoice_category_faults(config);
  if config ->> 'form' = 'xrechnung' then
    return query
    select * from erp.xrechnung_faults(config)
    union all select * from erp.xrechnung_party_faults(config)
    union all select * from erp.xrechnung_amount_faults(config);
  end if;
end
$$;
comment on function erp.invoice_faults(jsonb) is
  'Returns the rules of EN 16931, and for the form xrechnung of XRechnung, that an invoice breaks. It reads '
  'nothing but the config of the document. The rule has its official id; the field says what data to mend, '
  'such as order.lines[0].taxRate for the first line; the message is for the merchant. Nothing for '
  'documents without XML.';
grant execute on function erp.invoice_faults(jsonb) to service_writer;
--! EndIncluded erp/invoice_faults.sql

--! split: 35-invoices.sql
-- Invoices with tax categories, forms and partial credits; a refused invoice stops no shipment

-- Money is a Float, as in the types around it
comment on schema api_unstable is
  E'@floats currencies document_create_input document_create_line_input events goods_receipt_create_input '
  'goods_receipt_line_input goods_receipt_line_items goods_receipt_update_input goods_receipts '
  'invoice_tax invoices order_line_items order_line_upsert_input order_upsert_input orders price '
  'product_price_input product_upsert_input purchase_price_input quote_line_items quotes stock_movements '
  'supplier_order_line_input supplier_order_line_items supplier_orders supplier_upsert_input suppliers '
  'webhook_deliveries webhook_deliveries_replay_input webhook_subscriptions\n'
  'The head of the API: one view per GraphQL type. Released versions are frozen clones of it.';

-- Their parameters or results change, and others depend on them
drop function if exists erp.insert_document(uuid, text, erp.document, erp.document_part[], uuid[]);
drop function if exists erp.document_config(
  uuid, text, text, date, text, text, jsonb, erp.document_part[], uuid[]
);
drop function if exists erp.document_config(uuid, text, date, text, erp.document_part[], uuid[]);
drop function if exists erp.document_amounts_in(uuid, date, text, text, text, jsonb, erp.document_part[]);
drop function if exists erp.document_amounts(uuid, text, erp.document_part[]);
drop function if exists erp.document_amounts(uuid, text, text, text, erp.document_part[]);
drop function if exists erp.charged_pieces(uuid, text, text, erp.document_part[]);
drop function if exists erp.order_pieces(uuid, text);
drop function if exists erp.tax_in_default_currency(uuid, jsonb, date);
drop function if exists erp.seller(text);
drop function if exists erp.create_reversal(uuid, text, uuid, text[], text[]);
drop function if exists erp.create_order_document(uuid, text, uuid[], uuid);

--! Included erp/rounded.sql
-- The rules of rounding. Amounts are paid in cents, and rounded once, half away from zero; prices of a unit
-- keep more decimals. These functions have no settings, so that Postgres inlines them.
create or replace function erp.rounded(amount numeric) returns numeric
language sql immutable parallel safe
return round(amount, 2);
comment on function erp.rounded(numeric) is
  'Rounds an amount to cents: half a cent is rounded away from zero.';

create or replace function erp.rounded_price(price numeric) returns numeric
language sql immutable parallel safe
-- A quotient has infinitely many digits, and a rate four to six significant ones. With six decimals of a
-- price, the rounding on a line of 10,000 units is still below a cent.
return round(price, 6);
comment on function erp.rounded_price(numeric) is 'Rounds a calculated price of one unit to six decimals.';

create or replace function erp.net_amount(amount numeric, tax_rate numeric) returns numeric
language sql immutable parallel safe
return round(amount * 100 / (100 + tax_rate), 2);
comment on function erp.net_amount(numeric, numeric) is
  'Returns an amount without its tax, in cents; the rate is in percent. Null without a rate.';

create or replace function erp.share_of(amount numeric, units integer, quantity integer) returns numeric
language sql immutable parallel safe
return case units when quantity then amount else round(amount * units / quantity, 2) end;
comment on function erp.share_of(numeric, integer, integer) is
  'Returns the amount of the first units of a quantity, in cents. The difference between two shares is the '
  'amount of the units between them, so that the amounts of all units add up.';

create or replace function erp.in_default_currency(amount numeric, currency_factor numeric) returns numeric
language sql immutable strict parallel safe
return round(amount / currency_factor, 6);
comment on function erp.in_default_currency(numeric, numeric) is
  'Converts a price to the default currency: divides it by the units of its currency per unit of the '
  'default currency. The result has six decimals.';

create or replace function erp.amount_in_default_currency(amount numeric, currency_factor numeric)
returns numeric
language sql immutable strict parallel safe
return round(amount / currency_factor, 2);
comment on function erp.amount_in_default_currency(numeric, numeric) is
  'Returns an amount in the default currency, in cents. The amount is a price times a quantity, so that no '
  'rounded price is multiplied.';

create or replace function erp.price_on_document(price numeric, quantity integer, amount numeric)
returns numeric
language sql immutable parallel safe
return coalesce(
  (
    select round(price, d)
    from generate_series(4, 12) d
    where round(round(price, d) * quantity, 2) = amount
    order by d
    limit 1
  ),
  -- So many that the quantity makes less than half a cent of what is left out
  round(amount / quantity, 2 + length(quantity::text)));
comment on function erp.price_on_document(numeric, integer, numeric) is
  'Returns the price of one unit as a document shows it. It has at least four decimals, and as many as are '
  'needed for the price times the quantity to give the amount in cents. If no number of decimals does, as '
  'with a line that has a discount of its own, it is the amount divided by the quantity.';

create or replace function erp.net_price(amount numeric, quantity numeric) returns jsonb
language sql immutable parallel safe
return (
  select case
    when round(round(p.price, 2) * quantity, 2) = amount
      then jsonb_build_object('netPrice', round(p.price, 2), 'baseQuantity', 1)
    when round(round(p.price, 4) * quantity, 2) = amount
      then jsonb_build_object('netPrice', round(p.price, 4), 'baseQuantity', 1)
    else jsonb_build_object('netPrice', amount, 'baseQuantity', quantity) end
  from (select amount / quantity as price) p
);
comment on function erp.net_price(numeric, numeric) is
  'Returns the price without tax of one unit, with two or four decimals. If neither times the quantity '
  'gives the amount in cents, it is the price of all units, with their number as baseQuantity (BT-149).';

create or replace function erp.rounded_to(total numeric, amounts numeric[]) returns numeric[]
language sql immutable parallel safe
return (
  select array_agg(
    r.cents + case when r.nth <= (rounded_to.total - r.sum) * 100 then 0.01 else 0 end order by r.n
  )
  from (
    select a.n, floor(a.amount * 100) / 100 as cents, sum(floor(a.amount * 100) / 100) over () as sum,
      row_number() over (order by a.amount * 100 - floor(a.amount * 100) desc, a.n) as nth
    from unnest(amounts) with ordinality a (amount, n)
  ) r
);
comment on function erp.rounded_to(numeric, numeric[]) is
  'Rounds amounts to cents such that they add up to a total, by largest remainder: all are rounded down, '
  'and those that lose most get a cent more. Without rounding they must add up to the total already, except '
  'for half a cent.';

grant execute on function erp.rounded(numeric), erp.rounded_price(numeric), erp.net_amount(numeric, numeric),
  erp.share_of(numeric, integer, integer), erp.in_default_currency(numeric, numeric),
  erp.amount_in_default_currency(numeric, numeric), erp.price_on_document(numeric, integer, numeric),
  erp.net_price(numeric, numeric), erp.rounded_to(numeric, numeric[])
  to service_ledger, service_keeper, service_writer;
--! EndIncluded erp/rounded.sql
--! Included erp/tax_reason_of.sql
create or replace function erp.tax_reason_of(category text, exemption text) returns text
language sql stable
return (
  select r.technical_name from erp.tax_reason r where r.category = tax_reason_of.category
  -- Small enterprises are a reason of the merchant, not of a line
  order by r.technical_name = exemption desc nulls last, r.technical_name = 'small_business',
    r.technical_name
  limit 1
);
comment on function erp.tax_reason_of(text, text) is
  'Returns the name in erp.tax_reason of why a tax category has no tax: the exemption of the order if it is '
  'of that category, otherwise the first one. Null for S.';
grant execute on function erp.tax_reason_of(text, text) to service_writer;
--! EndIncluded erp/tax_reason_of.sql
--! Included erp/order_pieces.sql
-- Prices in erp.sales_order_line_item include tax, whatever the tax status of the order. This function,
-- charged_pieces and document_config return rows, because Postgres then inlines them into the calling query.
create or replace function erp.order_pieces(order_id uuid, tax_status text)
returns table (
  line_id uuid, unit_line_id uuid, rated_line_id uuid, rate numeric, total numeric
)
language sql stable
begin atomic
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.id, l.type, l.total_price as total,
      case when tax_status = 'tax-free' then l.tax_rate * 0 else l.tax_rate end as rate
    from erp.sales_order_line_item l where l.order_id = order_pieces.order_id
  ),
  rated as (
    select l.id, l.n, coalesce(l.rate, 0) as rate, l.total
    from line l where l.rate is not null or not exists (select from line where rate is not null)
  ),
  -- The range of each line with a rate when these lines are laid end to end, by amount
  ruler as (
    select r.*,
      coalesce((sum(r.total) over so_far - r.total) / nullif(sum(r.total) over (), 0),
        (row_number() over so_far - 1.0) / count(*) over ()) as starts,
      coalesce(sum(r.total) over so_far / nullif(sum(r.total) over (), 0),
        row_number() over so_far * 1.0 / count(*) over ()) as ends
    from rated r window so_far as (order by r.rate, r.n)
  ),
  -- As in ledger.order_amounts: lines without a rate, such as promotions, are taxed at the average of the
  -- others
  unrated as (
    select l.*, sum(l.total) over (order by l.n) as upto
    from line l where l.rate is null and exists (select from line where rate is not null)
  )
  select r.id, r.id, r.id, r.rate, r.total from rated r
  union all
  -- Sums are rounded, not their parts, so that the parts add up by line and by rate
  select u.id, case when u.type = 'product' then u.id else r.id end, r.id, r.rate,
    erp.rounded(u.upto * r.ends) - erp.rounded((u.upto - u.total) * r.ends)
      - erp.rounded(u.upto * r.starts) + erp.rounded((u.upto - u.total) * r.starts)
  from unrated u cross join ruler r;
end;
comment on function erp.order_pieces(uuid, text) is
  'Returns the amounts of an order''s lines with their tax, by rates. A line without a rate, such as '
  'a promotion, is distributed over the lines with one, in proportion to their amounts. Each piece is '
  'charged with the units of a line. That is the piece''s own line, unless it has no rate and is no '
  'product. Then it is the line that the piece is distributed to, which also has the tax category. All '
  'pieces add up exactly to the order.';
grant execute on function erp.order_pieces(uuid, text) to service_writer;
--! EndIncluded erp/order_pieces.sql
--! Included erp/charged_pieces.sql
drop type if exists erp.charged_piece cascade;
create type erp.charged_piece as (
  line_id uuid, category text, exemption_code text, rate numeric, total numeric, net numeric
);
comment on type erp.charged_piece is
  'A charge for units of an order line at a tax category and rate. It has the line, the category, the code '
  'of the exemption, the rate in percent, and the amount with and without tax.';

create or replace function erp.charged_pieces(
  order_id uuid, tax_status text, exemption text, parts erp.document_part[]
)
returns setof erp.charged_piece
language sql stable
begin atomic
  with
  part as (
    select p.order_line_item_id as id, p.first_unit, p.first_unit + p.quantity as upto from unnest(parts) p
    union all
    select l.id, 0, l.quantity from erp.sales_order_line_item l
    where l.order_id = charged_pieces.order_id and parts is null
  ),
  -- The units' share of each piece, such that the shares of all units add up to the piece
  piece as (
    select c.line_id, c.rate, coalesce(
        case when tax_status <> 'tax-free' or r.tax_category not in ('S', 'Z') then r.tax_category end,
        case when tax_status = 'tax-free' then e.category when c.rate > 0 then 'S' else 'Z' end
      ) as category, r.exemption_code,
      sum(erp.share_of(c.total, p.upto, u.quantity)
        - erp.share_of(c.total, p.first_unit, u.quantity)) as total
    from erp.order_pieces(charged_pieces.order_id, charged_pieces.tax_status) c
    join part p on p.id = c.unit_line_id
    join erp.sales_order_line_item u on u.id = c.unit_line_id
    join erp.sales_order_line_item r on r.id = c.rated_line_id
    left join erp.tax_reason e on e.technical_name = charged_pieces.exemption
    group by 1, 2, 3, 4
  ),
  by_rate as (
    select array_agg((p.line_id, p.category, p.exemption_code, p.rate, p.total, 0)::erp.charged_piece
        order by l.position, p.line_id, p.exemption_code) as pieces,
      erp.rounded_to(erp.net_amount(sum(p.total), p.rate), array_agg(p.total * 100 / (100 + p.rate)
        order by l.position, p.line_id, p.exemption_code)) as nets
    from piece p join erp.sales_order_line_item l on l.id = p.line_id
    group by p.category, p.rate
  )
  select c.line_id, c.category, c.exemption_code, c.rate, c.total, c.exact_net
  from by_rate g
  cross join lateral unnest(g.pieces, g.nets)
    c (line_id, category, exemption_code, rate, total, unset, exact_net);
end;
comment on function erp.charged_pieces(uuid, text, text, erp.document_part[]) is
  'Returns what units of an order''s lines are charged, or all units without parts, by line, tax category '
  'and rate. The amount without tax is rounded once for each category and rate. The cents that the lines '
  'lack go to those with the largest remainders. The exemption is a name of erp.tax_reason; without one, '
  'the category of an order without tax is null.';
grant execute on function erp.charged_pieces(uuid, text, text, erp.document_part[]) to service_writer;
--! EndIncluded erp/charged_pieces.sql
--! Included erp/document_lines.sql
create or replace function erp.document_lines(
  order_id uuid, tax_status text, parts erp.document_part[], pieces erp.charged_piece[]
)
returns jsonb
language sql stable
begin atomic
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.*,
      case when parts is null then l.quantity else q.quantity end as charged
    from erp.sales_order_line_item l
    left join (
      select p.order_line_item_id as id, sum(p.quantity) as quantity from unnest(parts) p group by 1
    ) q on q.id = l.id
    where l.order_id = document_lines.order_id
  ),
  shown as (
    select l.*, coalesce(l.charged, l.quantity)::integer as units, c.total, c.net, c.rate, c.category,
      c.rates,
      case when tax_status = 'net' then c.net else c.total end as amount,
      -- This document's share of a discount on the whole order
      l.charged is null and c.total <> l.total_price as is_share
    from line l
    join (
      select p.line_id as id, sum(p.total) as total, sum(p.net) as net, min(p.rate) as rate,
        min(p.category) as category, count(*) as rates
      from unnest(pieces) p group by p.line_id
    ) c on c.id = l.id
  ),
  priced as (
    select s.*, s.is_share or s.total < 0 or s.rates > 1 as is_allowance,
      greatest(0, erp.net_amount(s.unit_price * s.units, s.rate) - s.net) as discount
    from shown s where not s.is_share or s.amount <> 0
  )
  select coalesce(jsonb_agg(jsonb_build_object('position', l.n, 'lineId', l.id, 'label', l.label,
    'description', l.description, 'productNumber', p.product_number, 'quantity', l.units, 'total', l.amount,
    'unitPrice', erp.price_on_document(case
      when l.is_share then null
      when tax_status = 'net'
        then l.unit_price * coalesce(100 / (100 + l.rate), l.net / nullif(l.total, 0), 1)
      else l.unit_price end, l.units, l.amount))
    || case when l.is_share then '{"isShare": true}' else '{}'::jsonb end
    || case
      when l.is_allowance then jsonb_build_object('kind', 'allowance', 'taxRate', l.tax_rate)
      else jsonb_build_object('kind', 'line', 'taxRate', l.rate, 'taxCategory', l.category, 'net', l.net,
        'unitCode', coalesce(l.unit_code, p.unit_code, 'C62'), 'gtin', p.gtin,
        'discount', case when l.discount > 0
          then jsonb_build_object('amount', l.discount, 'reason', l.discount_reason) end)
        || coalesce(erp.net_price(l.net + l.discount, l.units), '{}')
    end order by l.n), '[]')
  from priced l left join erp.product p on p.id = l.product_id;
end;
comment on function erp.document_lines(uuid, text, erp.document_part[], erp.charged_piece[]) is
  'Returns the lines of a document from what is charged. Lines of the kind allowance are discounts, and '
  'other lines that a structured invoice cannot have: those with several rates and those below zero.';
grant execute on function erp.document_lines(uuid, text, erp.document_part[], erp.charged_piece[])
  to service_writer;
--! EndIncluded erp/document_lines.sql
--! Included erp/document_amounts.sql
create or replace function erp.document_taxes(pieces erp.charged_piece[], exemption text, locale text)
returns jsonb
language sql stable
return (
  select jsonb_agg(jsonb_build_object('category', t.category, 'rate', t.rate, 'net', t.net,
    'tax', t.total - t.net, 'exemptionCode', coalesce(t.exemption_code, r.exemption_code),
    'reason', coalesce(r.reason ->> locale, r.reason ->> 'en-GB')) order by t.rate, t.category)
  from (
    select p.category, p.rate, min(p.exemption_code) as exemption_code, sum(p.net) as net,
      sum(p.total) as total
    from unnest(pieces) p group by p.category, p.rate
  ) t
  left join erp.tax_reason r on r.technical_name = erp.tax_reason_of(t.category, exemption)
);
comment on function erp.document_taxes(erp.charged_piece[], text, text) is
  'Returns the taxes of what is charged, by category and rate (BG-23), with the reasons in a language.';
grant execute on function erp.document_taxes(erp.charged_piece[], text, text) to service_writer;

create or replace function erp.document_discounts(pieces erp.charged_piece[], lines jsonb) returns jsonb
language sql immutable
return (
  select jsonb_build_object(
    'allowances', coalesce(jsonb_agg(d.entry || jsonb_build_object('amount', - d.net) order by d.n, d.rate)
      filter (where d.net < 0), '[]'),
    'charges', coalesce(jsonb_agg(d.entry || jsonb_build_object('amount', d.net) order by d.n, d.rate)
      filter (where d.net > 0), '[]'))
  from (
    select l.n, p.rate, p.net, jsonb_build_object('reason', l.line ->> 'label', 'taxCategory', p.category,
      'taxRate', p.rate) as entry
    from jsonb_array_elements(lines) with ordinality l (line, n)
    join unnest(pieces) p on p.line_id = (l.line ->> 'lineId')::uuid
    where l.line ->> 'kind' = 'allowance'
  ) d
);
comment on function erp.document_discounts(erp.charged_piece[], jsonb) is
  'Returns the discounts and surcharges on a whole document, without tax, by rates (BG-20, BG-21): the '
  'lines of the kind allowance.';
grant execute on function erp.document_discounts(erp.charged_piece[], jsonb) to service_writer;

create or replace function erp.document_amounts(
  order_id uuid, tax_status text, exemption text, locale text, parts erp.document_part[] default null
)
returns jsonb
language sql stable
begin atomic
  select jsonb_build_object('lines', l.lines, 'allowances', d.discounts -> 'allowances',
    'charges', d.discounts -> 'charges',
    'totals', jsonb_build_object('net', t.net, 'total', t.total, 'taxes', coalesce(
        erp.document_taxes(p.pieces, document_amounts.exemption, document_amounts.locale), '[]'),
      'lineNet', (
        select coalesce(sum((e.line ->> 'net')::numeric), 0) from jsonb_array_elements(l.lines) e (line)
      ),
      'allowances', a.allowances, 'charges', a.charges))
  from (
    select array(select c from erp.charged_pieces(
      document_amounts.order_id, document_amounts.tax_status, document_amounts.exemption,
      document_amounts.parts
    ) c) as pieces
  ) p
  cross join lateral (
    select coalesce(sum(c.net), 0) as net, coalesce(sum(c.total), 0) as total from unnest(p.pieces) c
  ) t
  cross join lateral (
    select erp.document_lines(
      document_amounts.order_id, document_amounts.tax_status, document_amounts.parts, p.pieces
    ) as lines
  ) l
  cross join lateral (select erp.document_discounts(p.pieces, l.lines) as discounts) d
  cross join lateral (
    select coalesce(sum(e.amount) filter (where e.kind = 'allowances'), 0) as allowances,
      coalesce(sum(e.amount) filter (where e.kind = 'charges'), 0) as charges
    from (
      select k.kind, (v.entry ->> 'amount')::numeric as amount
      from jsonb_each(d.discounts) k (kind, entries) cross join jsonb_array_elements(k.entries) v (entry)
    ) e
  ) a;
end;
comment on function erp.document_amounts(uuid, text, text, text, erp.document_part[]) is
  'Returns the amounts that units of an order''s lines are charged, or all units without parts. If the tax '
  'status is net, prices are without tax. Discounts on the whole order are distributed over the units. The '
  'totals of documents that contain each unit once add up exactly to the order.';
grant execute on function erp.document_amounts(uuid, text, text, text, erp.document_part[]) to service_writer;
--! EndIncluded erp/document_amounts.sql
--! Included erp/tax_in_default_currency.sql
create or replace function erp.exchange_rate_of(order_id uuid, day date)
returns table (factor numeric, reference_date date, source text)
language sql stable
begin atomic
  select o.exchange_rate, o.exchange_rate_date, o.exchange_rate_source
  from erp.sales_order o where o.id = exchange_rate_of.order_id and o.exchange_rate is not null
  union all
  select f.factor, coalesce((f.reference_date at time zone 'UTC')::date, day), f.origin_source
  from erp.sales_order o
  cross join erp.currency_factor_at(o.currency_id, day::timestamp at time zone 'UTC') f
  where o.id = exchange_rate_of.order_id and o.exchange_rate is null;
end;
comment on function erp.exchange_rate_of(uuid, date) is
  'Returns the exchange rate for the tax of an order: the order''s own, otherwise the rate of the day. The '
  'factor is units of the order''s currency per unit of the default currency.';
grant execute on function erp.exchange_rate_of(uuid, date) to service_writer;

create or replace function erp.tax_in_default_currency(order_id uuid, taxes jsonb, day date) returns jsonb
language sql stable
return (
  select jsonb_build_object(
    'currency', jsonb_build_object('isoCode', d.iso_code, 'symbol', d.symbol, 'position', d."position"),
    'exchangeRate', jsonb_build_object('factor', f.factor,
      'date', to_char(f.reference_date, 'YYYY-MM-DD'), 'source', f.source),
    'taxes', jsonb_agg(jsonb_build_object('rate', t.rate, 'tax', t.tax) order by t.n),
    'tax', sum(t.tax))
  from erp.sales_order o
  join erp.currency d on d.is_default_currency and d.id <> o.currency_id
  cross join erp.exchange_rate_of(o.id, day) f
  cross join lateral (
    select v.n, v.tax -> 'rate' as rate,
      erp.amount_in_default_currency((v.tax ->> 'tax')::numeric, f.factor) as tax
    from jsonb_array_elements(taxes) with ordinality v (tax, n)
  ) t
  where o.id = tax_in_default_currency.order_id
  group by d.id, f.factor, f.reference_date, f.source
);
comment on function erp.tax_in_default_currency(uuid, jsonb, date) is
  'Returns the tax of a document in a foreign currency, by rates and in total, in the default currency. '
  'That is the currency of the merchant''s country, in which invoices have to state it (Article 230 of '
  'Directive 2006/112/EC). Includes the exchange rate and its date of publication. Null in the default '
  'currency, and without tax.';
grant execute on function erp.tax_in_default_currency(uuid, jsonb, date) to service_writer;
--! EndIncluded erp/tax_in_default_currency.sql
--! Included erp/seller.sql
create or replace function erp.seller_vat_id(destination text, customer_vat_id text, is_taxed boolean)
returns text
language sql stable
return (
  select case
    when is_taxed and f.id is not null then f.id
    when is_taxed and customer_vat_id is null and destination <> m.address ->> 'countryIso'
      and erp.is_in_eu(destination) then coalesce(m.oss_vat_id, m.vat_id)
    else m.vat_id end
  from erp.merchant m
  left join lateral (
    select v.id from jsonb_array_elements_text(m.foreign_vat_ids) with ordinality v (id, n)
    where left(v.id, 2) = case seller_vat_id.destination when 'GR' then 'EL' else destination end
    order by v.n limit 1
  ) f on true
);
comment on function erp.seller_vat_id(text, text, boolean) is
  'Returns the merchant''s VAT number for a country of delivery, an ISO 3166 code. For taxed '
  'sales that is the number in that country. For taxed sales to private customers in the European Union it '
  'may be the number of the One Stop Shop. Otherwise it is the number at home.';
grant execute on function erp.seller_vat_id(text, text, boolean) to service_writer;

create or replace function erp.seller(locale text, vat_id text) returns jsonb
language sql stable
begin atomic
  select jsonb_build_object('legalName', m.legal_name, 'email', m.email, 'phone', m.phone, 'website',
    m.website, 'contactName', m.contact_name,
    'electronicAddress', case when m.electronic_address is not null then jsonb_build_object(
      'id', m.electronic_address, 'scheme', m.electronic_address_scheme) end,
    'address', m.address || jsonb_build_object('countryName',
      coalesce(c.name ->> locale, m.address ->> 'countryName', c.name ->> 'en-GB')),
    'vatId', seller.vat_id, 'taxNumber', m.tax_number, 'managers', m.managers, 'register', m.register,
    'footer', coalesce(m.footer ->> locale, m.footer ->> 'en-GB'),
    'bank', case when m.iban is not null then jsonb_build_object(
      'accountHolder', coalesce(m.account_holder, m.legal_name), 'iban', m.iban, 'bic', m.bic, 'name',
        m.bank_name) end)
  from erp.merchant m left join erp.country c on c.iso_code = m.address ->> 'countryIso';
end;
comment on function erp.seller(text, text) is
  'Returns the merchant''s details for documents in a language, with the VAT number of erp.seller_vat_id; '
  'null while erp.merchant has no row.';
grant execute on function erp.seller(text, text) to service_writer;
--! EndIncluded erp/seller.sql
--! Included erp/credited_total.sql
create or replace function erp.credited_total(config jsonb, invoice_config jsonb) returns numeric
language sql immutable
return abs(coalesce(
  (config #>> '{totals,total}')::numeric, (invoice_config #>> '{totals,total}')::numeric
));
comment on function erp.credited_total(jsonb, jsonb) is
  'Returns the total of a credit note from its config, positive also where older versions made it '
  'negative. A credit note without amounts credits the whole invoice.';
grant execute on function erp.credited_total(jsonb, jsonb) to service_writer, service_ledger;
--! EndIncluded erp/credited_total.sql
--! Included erp/reversal_of.sql
create or replace function erp.reversal_of(invoice_id uuid) returns text
language sql stable
return (
  select (array_agg(coalesce(d.document_number, d.id::text) order by d.id desc))[1]
  from erp.document i
  join erp.document d on d.referenced_document_id = i.id
  join erp.document_type t on t.id = d.document_type_id and t.technical_name in ('credit_note', 'storno')
  where i.id = reversal_of.invoice_id
  having bool_or(t.technical_name = 'storno') or coalesce(
    sum(erp.credited_total(d.config, i.config)) >= max(erp.credited_total(i.config, i.config)), true
  )
);
comment on function erp.reversal_of(uuid) is
  'Returns the number of the document that takes an invoice back as a whole: a cancellation invoice, or the '
  'last of the credit notes. Null if none does, or only a part is credited.';
grant execute on function erp.reversal_of(uuid) to service_writer;

create or replace function erp.has_credit_note(invoice_id uuid) returns boolean
language sql stable
return exists (
  select from erp.document d join erp.document_type t on t.id = d.document_type_id
  where d.referenced_document_id = has_credit_note.invoice_id and t.technical_name = 'credit_note'
);
comment on function erp.has_credit_note(uuid) is
  'Whether a credit note credits an invoice, as a whole or in part.';
grant execute on function erp.has_credit_note(uuid) to service_writer;
--! EndIncluded erp/reversal_of.sql
--! Included erp/standing_prepayments.sql
create or replace function erp.standing_prepayments(order_id uuid)
returns table (id uuid, number text, day text, total numeric, tax numeric)
language sql stable
begin atomic
  select d.id, d.document_number, d.config ->> 'documentDate', f.total, f.tax
  from erp.document d
  join erp.document_type t on t.id = d.document_type_id and t.technical_name = 'prepayment'
  join erp.invoice_figures f on f.document_id = d.id
  where d.order_id = standing_prepayments.order_id and erp.reversal_of(d.id) is null;
end;
comment on function erp.standing_prepayments(uuid) is
  'Returns the prepayment invoices of an order that nothing has taken back as a whole, with their totals and '
  'tax, in the currency of the order.';
grant execute on function erp.standing_prepayments(uuid) to service_writer;

create or replace function erp.deducted_prepayments(order_id uuid, paid numeric) returns jsonb
language sql stable
return (
  select coalesce(jsonb_agg(jsonb_build_object('number', p.number, 'date', p.day, 'total', p.total,
    'tax', p.tax) order by p.id), '[]')
  from (
    select s.*, sum(s.total) over (order by s.id) as upto
    from erp.standing_prepayments(deducted_prepayments.order_id) s
    -- An invoice deducts each prepayment once
    where not exists (
      select from erp.document d join erp.invoice i on i.document_id = d.id and i.cancellation_id is null
      where d.order_id = deducted_prepayments.order_id
        and d.config -> 'prepayments' @> jsonb_build_array(jsonb_build_object('number', s.number)))
  ) p
  where p.upto <= paid
);
comment on function erp.deducted_prepayments(uuid, numeric) is
  'Returns the prepayment invoices that a new invoice of an order deducts: those that no other valid invoice '
  'deducts, as long as what is paid covers them.';
grant execute on function erp.deducted_prepayments(uuid, numeric) to service_writer;
--! EndIncluded erp/standing_prepayments.sql
--! Included erp/invoice_terms.sql
create or replace function erp.paid_of_order(order_id uuid, total numeric) returns numeric
language sql stable
return (
  select greatest(0, least(total, coalesce(o.paid_amount, 0) - (
    select coalesce(sum(f.paid), 0)
    from erp.document d
    join erp.invoice i on i.document_id = d.id and i.cancellation_id is null
    join erp.invoice_figures f on f.document_id = d.id
    where d.order_id = paid_of_order.order_id
  )))
  from erp.sales_order o where o.id = paid_of_order.order_id
);
comment on function erp.paid_of_order(uuid, numeric) is
  'Returns how much of an invoice with this total is paid: at most what was paid for the order and no other '
  'valid invoice shows as paid.';
grant execute on function erp.paid_of_order(uuid, numeric) to service_writer;

create or replace function erp.invoice_standard(form text) returns jsonb
language sql stable
return (
  select jsonb_build_object('guideline', f.guideline, 'businessProcess', f.business_process,
    'fileName', f.file_name, 'embedsXml', f.embeds_xml, 'profile', f.profile, 'version', f.version)
  from erp.invoice_form f where f.technical_name = form and f.guideline is not null
);
comment on function erp.invoice_standard(text) is
  'Returns the standard that invoices of a form follow now; null for a form without XML.';
grant execute on function erp.invoice_standard(text) to service_writer;

create or replace function erp.invoice_terms(order_id uuid, document_date date, locale text, totals jsonb)
returns jsonb
language sql stable
begin atomic
  select jsonb_build_object('typeCode', '380', 'form', coalesce(c.invoice_form, 'pdf'),
    'standard', erp.invoice_standard(c.invoice_form),
    'dueDate', to_char(d.due_date, 'YYYY-MM-DD'),
    'paymentTerms', replace(coalesce(m.payment_terms ->> locale, m.payment_terms ->> 'en-GB'), '{dueDate}',
      to_char(d.due_date, case left(locale, 2) when 'de' then 'DD.MM.YYYY' else 'DD/MM/YYYY' end)),
    'buyerReference', coalesce(o.buyer_reference, c.buyer_reference),
    'purchaseOrderNumber', o.purchase_order_number,
    'paymentMeansCode', case
      -- Data of cards and mandates, which XRechnung wants with these codes, are not stored
      when c.invoice_form = 'xrechnung' and p.means_code in ('48', '49', '54', '55', '59') then 'ZZZ'
      else coalesce(p.means_code, 'ZZZ') end,
    'buyer', jsonb_build_object('registrationId', c.registration_id, 'email', c.email,
      'electronicAddress', case when c.electronic_address is not null then jsonb_build_object(
        'id', c.electronic_address, 'scheme', c.electronic_address_scheme) end),
    'totals', totals || jsonb_build_object('paid', a.paid, 'due', a.due),
    'prepayments', erp.deducted_prepayments(o.id, a.paid))
  from erp.sales_order o
  left join erp.customer c on c.id = o.customer_id
  left join erp.payment_method p on p.id = o.payment_method_id
  left join erp.merchant m on true
  cross join lateral (
    select v.paid, (totals ->> 'total')::numeric - v.paid as due
    from erp.paid_of_order(o.id, (totals ->> 'total')::numeric) v (paid)
  ) a
  cross join lateral (
    select case when a.due > 0 then coalesce(o.due_date, document_date + m.payment_days) end as due_date
  ) d
  where o.id = invoice_terms.order_id;
end;
comment on function erp.invoice_terms(uuid, date, text, jsonb) is
  'Returns what an invoice shows beyond its amounts: its form, terms of payment, references, what is paid '
  'and what is due. Takes the date and language of the invoice, and its totals.';
grant execute on function erp.invoice_terms(uuid, date, text, jsonb) to service_writer;
--! EndIncluded erp/invoice_terms.sql
--! Included erp/document_title.sql
create or replace function erp.document_title(document_type text, locale text) returns text
language sql stable
return (
  select coalesce(t.name ->> locale, t.name ->> 'en-GB')
  from erp.document_type t where t.technical_name = document_type
);
comment on function erp.document_title(text, text) is
  'Returns the name of a type of documents in a language, otherwise in en-GB.';
grant execute on function erp.document_title(text, text) to service_writer;
--! EndIncluded erp/document_title.sql
--! Included erp/document_config.sql
create or replace function erp.document_amounts_in(
  order_id uuid, document_date date, locale text, tax_status text, exemption text, delivery jsonb,
  parts erp.document_part[]
)
returns jsonb
language sql stable
begin atomic
  select a.amounts || jsonb_build_object(
      'taxExemption', case when tax_status = 'tax-free' then coalesce(
        exemption, erp.tax_reason_of(a.amounts #>> '{totals,taxes,0,category}', null)
      ) end,
      -- The tax is owed from the delivery on
      'taxInDefaultCurrency', case when tax_status <> 'tax-free' then erp.tax_in_default_currency(
        document_amounts_in.order_id, a.amounts #> '{totals,taxes}',
        coalesce((delivery ->> 'to')::date, document_date)
      ) end)
    || erp.invoice_terms(document_amounts_in.order_id, document_date, locale, a.amounts -> 'totals')
  from erp.document_amounts(
    document_amounts_in.order_id, document_amounts_in.tax_status, document_amounts_in.exemption,
    document_amounts_in.locale, document_amounts_in.parts
  ) a (amounts);
end;
comment on function erp.document_amounts_in(uuid, date, text, text, text, jsonb, erp.document_part[]) is
  'Returns the amounts of an invoice with its terms, and its tax in the default currency.';
grant execute on function
  erp.document_amounts_in(uuid, date, text, text, text, jsonb, erp.document_part[]) to service_writer;

create or replace function erp.document_config(
  order_id uuid, document_type text, document_date date, locale text,
  parts erp.document_part[] default null, fulfillments uuid[] default null
)
returns table (config jsonb)
language sql stable
begin atomic
  select jsonb_build_object(
    'documentType', document_type,
    'title', erp.document_title(document_type, locale),
    'documentDate', to_char(document_date, 'YYYY-MM-DD'),
    'locale', locale,
    'displayPrices', document_type <> 'delivery_note',
    'orderNumber', o.order_number,
    'orderDate', to_char(erp.local_date(o.order_date_time), 'YYYY-MM-DD'),
    'deliveryDate', y.delivery,
    'customerNumber', c.customer_number,
    'customerVatId', v.vat_id,
    'taxStatus', o.tax_status,
    'currency', jsonb_build_object('isoCode', u.iso_code, 'symbol', u.symbol, 'position', u.position),
    'shippingMethod', coalesce(s.name ->> locale, s.name ->> 'en-GB'),
    'paymentMethod', coalesce(p.name ->> locale, p.name ->> 'en-GB'),
    'billingAddress', o.billing_address,
    'shippingAddress', o.shipping_address,
    'sender', jsonb_build_object('name', coalesce(h.name ->> locale, h.name ->> 'en-GB', w.name),
      'address', coalesce(m.seller -> 'address', w.address)),
    'seller', m.seller
  ) || case
    when document_type = 'delivery_note' then erp.delivered_lines(document_config.order_id, fulfillments[1])
    else erp.document_amounts_in(document_config.order_id, document_date, locale, o.tax_status,
      erp.tax_exemption(o.tax_status, v.destination, v.vat_id), y.delivery, parts)
  end
  from erp.sales_order o
  join erp.currency u on u.id = o.currency_id
  left join erp.customer c on c.id = o.customer_id
  cross join lateral (
    select d.destination, erp.vat_id_for(c.vat_ids, d.destination) as vat_id
    from (
      select coalesce(o.shipping_address ->> 'countryIso', o.billing_address ->> 'countryIso') as destination
    ) d
  ) v
  cross join lateral (
    select erp.seller(
      locale, erp.seller_vat_id(v.destination, v.vat_id, o.tax_status <> 'tax-free')
    ) as seller
  ) m
  left join erp.sales_channel h on h.id = o.sales_channel_id
  left join erp.shipping_method s on s.id = o.shipping_method_id
  left join erp.payment_method p on p.id = o.payment_method_id
  left join erp.warehouse w on w.is_default
  cross join lateral (select erp.delivery_date(fulfillments, o.state, document_date) as delivery) y
  where o.id = document_config.order_id;
end;
comment on function erp.document_config(uuid, text, date, text, erp.document_part[], uuid[]) is
  'Returns everything that an invoice or delivery note of an order shows, as it is now, except its number. '
  'A document stores it in its config, from which its files are made (src/pdf/config.ts has the format). '
  'Invoices need the units that they charge, if not all, and the shipments that brought them; delivery '
  'notes need their shipment.';
grant execute on function erp.document_config(uuid, text, date, text, erp.document_part[], uuid[])
  to service_writer;
--! EndIncluded erp/document_config.sql
--! Included erp/reversed_amounts.sql
create or replace function erp.negated(object jsonb, keys text[]) returns jsonb
language sql immutable
return object || (
  select coalesce(jsonb_object_agg(e.key, - (e.value #>> '{}')::numeric), '{}')
  from jsonb_each(object) e where e.key = any (keys) and jsonb_typeof(e.value) = 'number'
);
comment on function erp.negated(jsonb, text[]) is
  'Returns a JSON object with the numbers of these keys negated.';
grant execute on function erp.negated(jsonb, text[]) to service_writer;

create or replace function erp.all_negated(objects jsonb, keys text[]) returns jsonb
language sql immutable
return (
  select coalesce(jsonb_agg(erp.negated(e.object, keys) order by e.n), '[]')
  from jsonb_array_elements(objects) with ordinality e (object, n)
);
comment on function erp.all_negated(jsonb, text[]) is
  'Returns a JSON array of objects with the numbers of these keys negated in each.';
grant execute on function erp.all_negated(jsonb, text[]) to service_writer;

create or replace function erp.reversed_amounts(amounts jsonb) returns jsonb
language sql immutable
return (
  select jsonb_build_object(
      'lines', (
        select coalesce(jsonb_agg(erp.negated(l.line, '{quantity,total,net}')
          || case when jsonb_typeof(l.line -> 'discount') = 'object'
            then jsonb_build_object('discount', erp.negated(l.line -> 'discount', '{amount}')) else '{}' end
          order by l.n), '[]')
        from jsonb_array_elements(amounts -> 'lines') with ordinality l (line, n)
      ),
      'totals', erp.negated(amounts -> 'totals', '{net,total,lineNet,allowances,charges}')
        || jsonb_build_object('taxes', erp.all_negated(amounts #> '{totals,taxes}', '{net,tax}')))
    || case when amounts ? 'allowances' then jsonb_build_object(
      'allowances', erp.all_negated(amounts -> 'allowances', '{amount}'),
      'charges', erp.all_negated(amounts -> 'charges', '{amount}')) else '{}' end
    || case when jsonb_typeof(amounts -> 'taxInDefaultCurrency') = 'object' then jsonb_build_object(
      'taxInDefaultCurrency', erp.negated(amounts -> 'taxInDefaultCurrency', '{tax}')
        || jsonb_build_object('taxes', erp.all_negated(amounts #> '{taxInDefaultCurrency,taxes}', '{tax}')))
      else '{}' end
);
comment on function erp.reversed_amounts(jsonb) is
  'Returns the lines and totals of a document with quantities and amounts negated, at its exchange rate. '
  'Prices stay positive, because EN 16931 forbids others (BR-27).';
grant execute on function erp.reversed_amounts(jsonb) to service_writer;
--! EndIncluded erp/reversed_amounts.sql
--! Included erp/reversal_config.sql
create or replace function erp.reversal_config(invoice_config jsonb, document_type text, document_date date)
returns jsonb
language sql stable
return (
  select invoice_config || jsonb_build_object(
    'documentType', document_type,
    'title', erp.document_title(document_type, invoice_config ->> 'locale'),
    'typeCode', case document_type when 'storno' then '384' else '381' end,
    'form', coalesce(invoice_config ->> 'form', 'pdf'),
    'standard', erp.invoice_standard(invoice_config ->> 'form'),
    'documentDate', to_char(document_date, 'YYYY-MM-DD'),
    'referencedDocumentNumber', invoice_config -> 'documentNumber',
    'referencedDocumentDate', invoice_config -> 'documentDate',
    'prepayments', '[]'::jsonb,
    'dueDate', null,
    'paymentTerms', null
  ) || a.amounts || jsonb_build_object(
    'totals', (a.amounts -> 'totals') || jsonb_build_object('paid', 0, 'due', a.amounts #> '{totals,total}')
  )
  from (
    select case when document_type = 'storno' then erp.reversed_amounts(invoice_config)
      else jsonb_build_object('totals', invoice_config -> 'totals') end as amounts
  ) a
);
comment on function erp.reversal_config(jsonb, text, date) is
  'Returns what a credit note or storno (cancellation invoice) of an invoice shows, except its number. It '
  'repeats the invoice, as the order may have changed since. A cancellation invoice has negative '
  'amounts and quantities, a credit note has positive ones.';
grant execute on function erp.reversal_config(jsonb, text, date) to service_writer;
--! EndIncluded erp/reversal_config.sql
--! Included ledger/keep_cancellations.sql
create or replace function ledger.keep_cancellations() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if exists (
    select from (select distinct n.referenced_document_id as id from new_rows n) r
    join erp.document i on i.id = r.id
    join erp.document d on d.referenced_document_id = i.id
    join erp.document_type t on t.id = d.document_type_id and t.technical_name in ('credit_note', 'storno')
    group by i.id
    having count(*) > 1 and (bool_or(t.technical_name = 'storno') or coalesce(
      sum(erp.credited_total(d.config, i.config)) > max(erp.credited_total(i.config, i.config)), true
    ))
  ) then
    perform mutation.refuse('INVALID', 'The invoice has been taken back already.');
  end if;
  update erp.invoice i set cancellation_id = n.id
  from new_rows n join erp.document_type t on t.id = n.document_type_id and t.technical_name = 'storno'
  where i.document_id = n.referenced_document_id;
  return null;
end
$$;
comment on function ledger.keep_cancellations() is
  'Trigger after documents were inserted, by any writer: a cancellation invoice cancels the invoice that it '
  'refers to. An invoice is taken back once, by a cancellation invoice or by credit notes, which together '
  'credit at most its total. User error INVALID.';
select api_meta.give('ledger.keep_cancellations()', 'service_ledger');
--! EndIncluded ledger/keep_cancellations.sql
--! Included erp/creditable_lines.sql
create or replace function erp.credited_lines(invoice_id uuid)
returns table (line_id uuid, category text, rate numeric, units integer, amount numeric, net numeric)
language sql stable
begin atomic
  select (l.line ->> 'lineId')::uuid, l.line ->> 'taxCategory', (l.line ->> 'taxRate')::numeric,
    (l.line ->> 'creditedUnits')::integer, (l.line ->> 'total')::numeric, (l.line ->> 'net')::numeric
  from erp.document d
  join erp.document_type t on t.id = d.document_type_id and t.technical_name = 'credit_note'
  cross join lateral jsonb_array_elements(d.config -> 'lines') l (line)
  where d.referenced_document_id = credited_lines.invoice_id and d.document_number is not null;
end;
comment on function erp.credited_lines(uuid) is
  'Returns what credit notes have credited of an invoice so far, by line: units, the amount as the invoice '
  'shows prices, and the amount without tax.';
grant execute on function erp.credited_lines(uuid) to service_writer;

create or replace function erp.creditable_lines(invoice_id uuid)
returns table (
  n bigint, line jsonb, line_id uuid, category text, rate numeric, quantity integer, amount numeric,
  left_quantity integer, left_amount numeric
)
language sql stable
begin atomic
  with
  invoice as (select d.config from erp.document d where d.id = creditable_lines.invoice_id),
  by_rate as (
    select t.category, t.rate,
      t.net + case i.config ->> 'taxStatus' when 'net' then 0 else t.tax end as amount
    from invoice i cross join lateral jsonb_to_recordset(i.config #> '{totals,taxes}')
      t (category text, rate numeric, net numeric, tax numeric)
  ),
  weighed as (
    select e.n, e.line, g.category, g.rate, g.amount, (e.line ->> 'total')::numeric as weight,
      sum((e.line ->> 'total')::numeric) over (partition by g.category, g.rate) as sum
    from invoice i cross join lateral jsonb_array_elements(i.config -> 'lines') with ordinality e (line, n)
    join by_rate g on g.category = e.line ->> 'taxCategory' and g.rate = (e.line ->> 'taxRate')::numeric
    where e.line ->> 'kind' = 'line'
  ),
  -- The discounts on the whole invoice are distributed over its lines
  discounted as (
    select u.n, u.line, w.category, w.rate, u.amount
    from (
      select w.category, w.rate, array_agg(w.n order by w.n) as numbers,
        array_agg(w.line order by w.n) as lines,
        erp.rounded_to(w.amount, array_agg(
          coalesce(w.amount * w.weight / nullif(w.sum, 0), 0) order by w.n
        )) as amounts
      from weighed w group by w.category, w.rate, w.amount
    ) w
    cross join lateral unnest(w.numbers, w.lines, w.amounts) u (n, line, amount)
  )
  select d.n, d.line, (d.line ->> 'lineId')::uuid, d.category, d.rate, (d.line ->> 'quantity')::integer,
    d.amount, (d.line ->> 'quantity')::integer - coalesce(c.units, 0)::integer,
    d.amount - coalesce(c.amount, 0)
  from discounted d
  left join (
    select c.line_id, sum(c.units) as units, sum(c.amount) as amount
    from erp.credited_lines(creditable_lines.invoice_id) c group by c.line_id
  ) c on c.line_id = (d.line ->> 'lineId')::uuid;
end;
comment on function erp.creditable_lines(uuid) is
  'Returns the lines of an invoice with the units and the amount that can still be credited. The amount is '
  'as the invoice shows prices, less the line''s share of discounts on the whole invoice. No rows for '
  'invoices that were created before lines had tax categories.';
grant execute on function erp.creditable_lines(uuid) to service_writer;
--! EndIncluded erp/creditable_lines.sql
--! Included erp/require_credit_lines.sql
drop type if exists erp.credit_line cascade;
create type erp.credit_line as (order_line_item_id uuid, quantity integer, amount numeric);
comment on type erp.credit_line is
  'A wish to credit a line of an invoice: units, an amount as the invoice shows prices, or both.';

create or replace function erp.require_credit_lines(invoice_id uuid, lines erp.credit_line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error(f.code, f.message, mutation.path('lines', i.n, f.field), f.details)
    order by i.n)
  into errors
  from (
    select w.*, row_number() over (partition by w.order_line_item_id order by w.n) as nth
    from unnest(lines) with ordinality w (order_line_item_id, quantity, amount, n)
  ) i
  left join erp.creditable_lines(invoice_id) c on c.line_id = i.order_line_item_id
  cross join lateral (
    values
      (i.nth > 1, 'NOT_UNIQUE', 'An earlier line credits this line.', 'order_line_item_id', null::jsonb),
      (c.line_id is null, 'NOT_FOUND', 'The invoice has no such line that can be credited on its own.',
        'order_line_item_id', null),
      (i.quantity is null and i.amount is null, 'REQUIRED', 'Give the quantity, the amount or both.',
        'quantity', null),
      (not i.quantity between 1 and c.left_quantity, 'OUT_OF_RANGE',
        format('Between 1 and %s units can be credited.', c.left_quantity), 'quantity',
        jsonb_build_object('left', c.left_quantity)),
      (i.amount <= 0 or i.amount > c.left_amount, 'OUT_OF_RANGE',
        format('The amount must be above 0 and at most %s.', trim_scale(c.left_amount)), 'amount',
        jsonb_build_object('left', trim_scale(c.left_amount))),
      (i.amount <> erp.rounded(i.amount), 'INVALID', 'The amount must have at most two decimals.', 'amount',
        null)
  ) f (is_fault, code, message, field, details)
  where f.is_fault;
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_credit_lines(uuid, erp.credit_line[]) is
  'Refuses lines that cannot be credited of an invoice. User errors NOT_UNIQUE, NOT_FOUND, REQUIRED, '
  'OUT_OF_RANGE, INVALID.';
grant execute on function erp.require_credit_lines(uuid, erp.credit_line[]) to service_writer;
--! EndIncluded erp/require_credit_lines.sql
--! Included erp/converted_taxes.sql
create or replace function erp.converted_taxes(invoice_taxes jsonb, taxes jsonb) returns jsonb
language sql immutable
return case when jsonb_typeof(invoice_taxes) = 'object' then (
  select invoice_taxes || jsonb_build_object('tax', sum(c.tax),
    'taxes', jsonb_agg(jsonb_build_object('rate', c.rate, 'tax', c.tax) order by c.n))
  from (
    select v.n, v.tax -> 'rate' as rate, erp.amount_in_default_currency(
      (v.tax ->> 'tax')::numeric, (invoice_taxes #>> '{exchangeRate,factor}')::numeric
    ) as tax
    from jsonb_array_elements(taxes) with ordinality v (tax, n)
  ) c
) end;
comment on function erp.converted_taxes(jsonb, jsonb) is
  'Returns the taxes of a credit note in the default currency, at the exchange rate of the invoice. Null if '
  'the invoice does not state them.';
grant execute on function erp.converted_taxes(jsonb, jsonb) to service_writer;
--! EndIncluded erp/converted_taxes.sql
--! Included erp/credit_note_config.sql
drop type if exists erp.credited_part cascade;
create type erp.credited_part as (
  n bigint, line jsonb, category text, rate numeric, units integer, amount numeric
);
comment on type erp.credited_part is
  'A credited part of a line of an invoice: its position in the list, the line, and its tax category and '
  'rate. The units and the amount are as the invoice shows prices.';

create or replace function erp.credit_taxes(invoice_id uuid, lines erp.credited_part[]) returns jsonb
language sql stable
begin atomic
  with
  now as (
    select l.category, l.rate, sum(l.amount) as amount from unnest(lines) l group by l.category, l.rate
  ),
  before as (
    select t.category, t.rate, sum(t.net) as net, sum(t.tax) as tax
    from erp.document d
    join erp.document_type k on k.id = d.document_type_id and k.technical_name = 'credit_note'
    cross join lateral jsonb_to_recordset(d.config #> '{totals,taxes}')
      t (category text, rate numeric, net numeric, tax numeric)
    where d.referenced_document_id = credit_taxes.invoice_id group by t.category, t.rate
  ),
  credited as (
    select i.n, i.tax_row, i.net - coalesce(b.net, 0) as left_net, i.tax - coalesce(b.tax, 0) as left_tax,
      n.amount, n.rate, i.is_net
    from (
      select t.n, t.tax_row, (t.tax_row ->> 'net')::numeric as net, (t.tax_row ->> 'tax')::numeric as tax,
        d.config ->> 'taxStatus' = 'net' as is_net
      from erp.document d
      cross join lateral jsonb_array_elements(d.config #> '{totals,taxes}') with ordinality t (tax_row, n)
      where d.id = credit_taxes.invoice_id
    ) i
    join now n on n.category = i.tax_row ->> 'category' and n.rate = (i.tax_row ->> 'rate')::numeric
    left join before b on b.category = n.category and b.rate = n.rate
  )
  select jsonb_agg(c.tax_row || case
    -- The last credit note takes what is left, so that no cent stays
    when c.amount = c.left_net + case when c.is_net then 0 else c.left_tax end
      then jsonb_build_object('net', c.left_net, 'tax', c.left_tax)
    when c.is_net
      then jsonb_build_object('net', c.amount, 'tax', erp.rounded(c.amount * c.rate / 100))
    else jsonb_build_object('net', erp.net_amount(c.amount, c.rate),
      'tax', c.amount - erp.net_amount(c.amount, c.rate)) end order by c.n)
  from credited c;
end;
comment on function erp.credit_taxes(uuid, erp.credited_part[]) is
  'Returns the taxes of a credit note over parts of an invoice, by category and rate. The last credit '
  'note takes what the earlier ones have left of the invoice''s taxes.';
grant execute on function erp.credit_taxes(uuid, erp.credited_part[]) to service_writer;

create or replace function erp.credit_note_lines(lines erp.credited_part[], taxes jsonb) returns jsonb
language sql immutable
return (
  select jsonb_agg(u.line || erp.net_price(u.net, u.quantity) || jsonb_build_object(
    'quantity', u.quantity, 'creditedUnits', u.units, 'total', u.amount, 'net', u.net, 'discount', null,
    'unitPrice', erp.price_on_document(u.amount / u.quantity, u.quantity, u.amount)) order by u.n)
  from (
    select array_agg(l.n order by l.n) as numbers, array_agg(l.line order by l.n) as lines,
      array_agg(greatest(1, l.units) order by l.n) as quantities, array_agg(l.units order by l.n) as units,
      array_agg(l.amount order by l.n) as amounts,
      erp.rounded_to(t.net, array_agg(coalesce(l.amount * t.net / nullif(l.sum, 0), 0) order by l.n)) as nets
    from (
      select l.*, sum(l.amount) over (partition by l.category, l.rate) as sum from unnest(lines) l
    ) l
    join jsonb_to_recordset(taxes) t (category text, rate numeric, net numeric)
      on t.category = l.category and t.rate = l.rate
    group by t.category, t.rate, t.net
  ) g
  cross join lateral unnest(g.numbers, g.lines, g.quantities, g.units, g.amounts, g.nets)
    u (n, line, quantity, units, amount, net)
);
comment on function erp.credit_note_lines(erp.credited_part[], jsonb) is
  'Returns the lines of a credit note over parts of an invoice. Their amounts without tax add up to the '
  'amounts of its taxes. An amount without units is shown as one unit.';
grant execute on function erp.credit_note_lines(erp.credited_part[], jsonb) to service_writer;

create or replace function erp.credit_note_config(
  invoice_id uuid, document_date date, lines erp.credit_line[]
)
returns jsonb
language sql stable
begin atomic
  select erp.reversal_config(d.config, 'credit_note', document_date) || jsonb_build_object(
    'lines', erp.credit_note_lines(p.parts, t.taxes), 'allowances', '[]'::jsonb, 'charges', '[]'::jsonb,
    'totals', jsonb_build_object('net', s.net, 'total', s.net + s.tax, 'taxes', t.taxes, 'lineNet', s.net,
      'allowances', 0, 'charges', 0, 'paid', 0, 'due', s.net + s.tax),
    'taxInDefaultCurrency', erp.converted_taxes(d.config -> 'taxInDefaultCurrency', t.taxes))
  from erp.document d
  cross join lateral (
    select array(
      select row (c.n, c.line, c.category, c.rate, coalesce(w.quantity, case when w.amount is null
          then c.left_quantity else 0 end),
        coalesce(w.amount, case
          when coalesce(w.quantity, c.left_quantity) = c.left_quantity then c.left_amount
          else least(c.left_amount, erp.rounded(c.amount * w.quantity / c.quantity)) end)
      )::erp.credited_part
      from erp.creditable_lines(d.id) c
      left join unnest(lines) w on w.order_line_item_id = c.line_id
      where case when lines is null then c.left_amount > 0 or c.left_quantity > 0
        else w.order_line_item_id is not null end
      order by c.n
    ) as parts
  ) p
  cross join lateral (select erp.credit_taxes(d.id, p.parts) as taxes) t
  cross join lateral (
    select sum(r.net) as net, sum(r.tax) as tax from jsonb_to_recordset(t.taxes) r (net numeric, tax numeric)
  ) s
  where d.id = credit_note_config.invoice_id;
end;
comment on function erp.credit_note_config(uuid, date, erp.credit_line[]) is
  'Returns what a credit note over lines of an invoice shows, except its number; without lines, over all '
  'that earlier credit notes have left. The last credit note makes their sums equal to the invoice.';
grant execute on function erp.credit_note_config(uuid, date, erp.credit_line[]) to service_writer;
--! EndIncluded erp/credit_note_config.sql
--! Included erp/require_invoice.sql
create or replace function erp.require_invoice(config jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if jsonb_path_exists(config, '$.lines[*] ? (@.total == null || @.unitPrice == null)') then
    perform mutation.refuse('INVALID', 'The order has lines without a price.');
  elsif config ->> 'form' <> 'pdf' then
    perform mutation.refuse((
      select jsonb_agg(mutation.user_error('INVALID',
        format('Order %s: %s', config ->> 'orderNumber', f.message), null,
        jsonb_build_object('rule', f.rule, 'field', f.field)) order by f.rule, f.field)
      from erp.invoice_faults(config) f
    ));
  end if;
end
$$;
comment on function erp.require_invoice(jsonb) is
  'Refuses an invoice, cancellation invoice or credit note that lacks a price, or that the rules of its form '
  'refuse, see erp.invoice_faults. User error INVALID for each fault, with the rule and the field.';
grant execute on function erp.require_invoice(jsonb) to service_writer;
--! EndIncluded erp/require_invoice.sql
--! Included erp/keep_invoice.sql
create or replace function erp.keep_invoice(document_id uuid, config jsonb) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  insert into erp.invoice_figures (
    document_id, type_code, form, currency_code, net, tax, total, paid, due, due_date
  )
  select keep_invoice.document_id, config ->> 'typeCode', config ->> 'form', config #>> '{currency,isoCode}',
    t.net, t.total - t.net, t.total, t.paid, t.due, (config ->> 'dueDate')::date
  from jsonb_to_record(config -> 'totals') t (net numeric, total numeric, paid numeric, due numeric);
  insert into erp.invoice_tax (document_id, category, rate, net, tax, exemption_code)
  select keep_invoice.document_id, coalesce(t.category, 'E'), t.rate, t.net, t.tax, t."exemptionCode"
  from jsonb_to_recordset(config #> '{totals,taxes}')
    t (category text, rate numeric, net numeric, tax numeric, "exemptionCode" text);
  insert into erp.document_file (document_id, format, content_type, content)
  select keep_invoice.document_id, 'xml', 'application/xml', convert_to(erp.cii(config), 'UTF8')
  where config ->> 'form' <> 'pdf'
$$;
comment on function erp.keep_invoice(uuid, jsonb) is
  'Stores the amounts and taxes of a new invoice, cancellation invoice or credit note, and archives its XML '
  'if its form has one.';
grant execute on function erp.keep_invoice(uuid, jsonb) to service_writer;
--! EndIncluded erp/keep_invoice.sql
--! Included erp/insert_document.sql
create or replace function erp.insert_document(
  order_id uuid, document_type text, referenced_document_id uuid, config jsonb
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- 244 random bits
  code constant text := translate(
    encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64'), '+/=', '-_'
  );
  numbered jsonb;
  missing text[];
  new_id uuid;
begin
  numbered := config || jsonb_build_object('documentNumber', erp.next_number((
    select erp.range_of_documents(document_type, o.sales_channel_id)
    from erp.sales_order o where o.id = insert_document.order_id
  )));
  if document_type <> 'delivery_note' then
    perform erp.require_invoice(numbered);
  end if;
  insert into erp.document (
    document_type_id, order_id, referenced_document_id, document_number, deep_link_code, config
  )
  select t.id, insert_document.order_id, insert_document.referenced_document_id,
    numbered ->> 'documentNumber', code, numbered
  from erp.document_type t where t.technical_name = document_type
  returning id into strict new_id;
  if document_type <> 'delivery_note' then
    perform erp.keep_invoice(new_id, numbered);
  end if;
  missing := erp.missing_in_document(numbered);
  if cardinality(missing) > 0 then
    perform mutation.warn('DOCUMENT_INCOMPLETE',
      format('%s lacks details that the law demands: %s.', numbered ->> 'documentNumber',
        array_to_string(missing, ', ')), null,
      jsonb_build_object('documentNumber', numbered -> 'documentNumber', 'documentType', document_type,
        'missing', missing));
  end if;
  return new_id;
end
$$;
comment on function erp.insert_document(uuid, text, uuid, jsonb) is
  'Inserts a document of an order with the next number of its type and a random code for its address. The '
  'config is everything else that it shows, see erp.document_config and erp.reversal_config. User error '
  'INVALID, warning DOCUMENT_INCOMPLETE.';
grant execute on function erp.insert_document(uuid, text, uuid, jsonb) to service_writer;
--! EndIncluded erp/insert_document.sql
--! Included erp/create_invoice.sql
create or replace function erp.create_invoice(
  order_id uuid, only_shipped boolean, field text[] default null, fulfillment_ids uuid[] default null
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  parts erp.document_part[];
  shipments uuid[];
  made uuid;
begin
  perform ledger.lock_orders(array[order_id]);
  parts := erp.billable_parts(order_id, only_shipped, fulfillment_ids);
  if cardinality(parts) = 0 then
    perform mutation.refuse('INVALID', case
      when not only_shipped then 'The whole order has been invoiced already.'
      when erp.charges_services(order_id) then 'Everything that was shipped has been invoiced already.'
      when (select o.state from erp.sales_order o where o.id = order_id) = 'cancelled'
        then 'The order is cancelled, and nothing of it was shipped.'
      else 'Nothing of the order has been shipped. Ship it first, by orderShipmentComplete or '
        'fulfillmentCreate.' end,
      field, jsonb_build_object('invoices', erp.standing_invoices(order_id)));
  end if;
  shipments := array(
    select distinct f.id
    from erp.fulfillment_order o
    join erp.fulfillment_order_fulfillment p on p.fulfillment_order_id = o.id
    join erp.fulfillment f on f.id = p.fulfillment_id and f.state = 'Fulfilled'
    where o.destination_order_id = create_invoice.order_id
      and (fulfillment_ids is null or f.id = any (fulfillment_ids)) and not exists (
      select from erp.document_fulfillment c join erp.invoice i on i.document_id = c.document_id
      where c.fulfillment_id = f.id and i.cancellation_id is null)
    order by f.id);
  select erp.insert_document(order_id, 'invoice', null, c.config) into strict made
  from erp.document_config(order_id, 'invoice', erp.local_date(now()), erp.document_locale(order_id), parts,
    shipments) c;
  insert into erp.invoice (document_id) values (made);
  insert into erp.invoice_line_item (document_id, order_line_item_id, first_unit, quantity)
  select made, p.order_line_item_id, p.first_unit, p.quantity
  from unnest(parts) with ordinality p
  order by p.ordinality;
  if only_shipped then
    insert into erp.document_fulfillment (document_id, fulfillment_id) select made, s.id
    from unnest(shipments) s (id)
    order by s.id;
  end if;
  return made;
end
$$;
comment on function erp.create_invoice(uuid, boolean, text[], uuid[]) is
  'Creates an invoice over units of an order that no other invoice charges: shipped units, of some '
  'fulfillments if they are given, or all units. If one of the shipments is cancelled, the invoice is '
  'cancelled, too. User error INVALID if there is nothing to charge, a line has no price, or the invoice '
  'would break a rule of its form.';
grant execute on function erp.create_invoice(uuid, boolean, text[], uuid[]) to service_writer;
--! EndIncluded erp/create_invoice.sql
--! Included erp/try_invoice.sql
create or replace function erp.try_invoice(
  order_id uuid, field text[] default null, fulfillment_ids uuid[] default null
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors text;
begin
  return array[erp.create_invoice(order_id, true, null, fulfillment_ids)];
exception when sqlstate 'UE001' then
  get stacked diagnostics errors = pg_exception_detail;
  perform mutation.warn((
    select jsonb_agg(mutation.user_error('DOCUMENT_NOT_MADE', e.error ->> 'message', field,
      jsonb_build_object('documentType', 'invoice', 'orderNumber', o.order_number)
        || coalesce(nullif(e.error -> 'details', 'null'), '{}')) order by e.n)
    from jsonb_array_elements(errors::jsonb) with ordinality e (error, n)
    left join erp.sales_order o on o.id = try_invoice.order_id
  ));
  return '{}';
end
$$;
comment on function erp.try_invoice(uuid, text[], uuid[]) is
  'Creates an invoice over shipped units, as erp.create_invoice does. If that is refused, the shipment '
  'stands, and the number stays free. Returns the invoice or nothing. Warning DOCUMENT_NOT_MADE for each '
  'reason.';
grant execute on function erp.try_invoice(uuid, text[], uuid[]) to service_writer;
--! EndIncluded erp/try_invoice.sql
--! Included erp/create_delivery_note.sql
create or replace function erp.create_delivery_note(order_id uuid, fulfillment_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made uuid;
begin
  select erp.insert_document(order_id, 'delivery_note', null, c.config) into strict made
  from erp.document_config(order_id, 'delivery_note', erp.local_date(now()), erp.document_locale(order_id),
    null, array_remove(array[fulfillment_id], null)) c;
  insert into erp.document_fulfillment (document_id, fulfillment_id) select made, fulfillment_id
  where fulfillment_id is not null;
  return made;
end
$$;
comment on function erp.create_delivery_note(uuid, uuid) is
  'Creates a delivery note for a shipment of an order, or for the whole order without one.';
grant execute on function erp.create_delivery_note(uuid, uuid) to service_writer;
--! EndIncluded erp/create_delivery_note.sql
--! Included erp/create_documents.sql
create or replace function erp.create_documents(
  order_id uuid, documents text[], fulfillment_id uuid default null
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  shipment_id uuid := fulfillment_id;
  wanted record;
  made uuid[] := '{}';
begin
  if coalesce(cardinality(documents), 0) = 0 then
    return '{}';
  end if;
  if shipment_id is null then
    shipment_id := erp.newest_shipment(order_id);
  end if;
  perform erp.lock_number_ranges(array[order_id], documents);
  for wanted in select d.name,
    mutation.path(
      'documents', d.ordinality
    ) as field from unnest(documents) with ordinality d (name) order by d.ordinality loop
    made := made || case wanted.name
      when 'invoice' then erp.try_invoice(order_id, wanted.field)
      else array[erp.create_delivery_note(order_id, shipment_id)] end;
  end loop;
  return made;
end
$$;
comment on function erp.create_documents(uuid, text[], uuid) is
  'Creates documents of the given types for a shipment of an order, by default the newest one. The delivery '
  'note lists the content of the shipment; the invoice charges everything that was shipped and that no '
  'other invoice charges. erp.require_documents names the types. Returns their ids. Warnings '
  'DOCUMENT_NOT_MADE, DOCUMENT_INCOMPLETE.';
grant execute on function erp.create_documents(uuid, text[], uuid) to service_writer;
--! EndIncluded erp/create_documents.sql
--! Included erp/create_reversal.sql
create or replace function erp.reversal_snapshot(
  invoice erp.document, document_type text, lines erp.credit_line[]
)
returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if document_type = 'credit_note' and (lines is not null or erp.has_credit_note(invoice.id)) then
    return erp.credit_note_config(invoice.id, erp.local_date(now()), lines);
  end if;
  return erp.reversal_config(case
    when invoice.config ? 'lines' then invoice.config
    -- An invoice of another program, without content: the order is all that is known
    else (
      select c.config || jsonb_build_object('documentNumber', invoice.document_number,
        'documentDate', to_char(erp.local_date(invoice.created_at), 'YYYY-MM-DD'))
      from erp.document_config(invoice.order_id, 'invoice', erp.local_date(now()),
        erp.document_locale(invoice.order_id)) c
    ) end, document_type, erp.local_date(now()));
end
$$;
comment on function erp.reversal_snapshot(erp.document, text, erp.credit_line[]) is
  'Returns what a credit note or storno of an invoice shows, except its number: of the whole invoice, of '
  'lines, or of what earlier credit notes have left.';
grant execute on function erp.reversal_snapshot(erp.document, text, erp.credit_line[]) to service_writer;

create or replace function erp.create_reversal(
  order_id uuid, document_type text, invoice_id uuid, field text[] default null, id_field text[] default null,
  lines erp.credit_line[] default null
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  referenced erp.document;
  standing text[];
  reversal text;
begin
  perform ledger.lock_orders(array[order_id]);
  standing := erp.open_invoices(order_id);
  if invoice_id is null and cardinality(standing) > 1 then
    perform mutation.refuse('REQUIRED', 'The order has several invoices: name the one that is taken back.',
      id_field, jsonb_build_object('invoices', standing));
  end if;
  select d.* into referenced from erp.document d join erp.document_type t on t.id = d.document_type_id
  where d.order_id = create_reversal.order_id and t.technical_name in ('invoice', 'prepayment')
    and d.document_number is not null and d.id = coalesce(create_reversal.invoice_id, d.id)
  order by d.document_number = any (standing) desc, d.id desc limit 1;
  if not found then
    perform mutation.refuse('INVALID', case when invoice_id is null then 'The order has no invoice.'
      else 'The order has no such invoice.' end, case when invoice_id is null then field else id_field end);
  end if;
  reversal := erp.reversal_of(referenced.id);
  if reversal is not null then
    perform mutation.refuse('INVALID',
      format('%s has taken back invoice %s already.', reversal, referenced.document_number),
      case when invoice_id is null then field else id_field end, jsonb_build_object('document', reversal));
  end if;
  if exists (
    select from erp.document d join erp.invoice i on i.document_id = d.id and i.cancellation_id is null
    where d.order_id = create_reversal.order_id and d.config -> 'prepayments'
      @> jsonb_build_array(jsonb_build_object('number', referenced.document_number))
  ) then
    perform mutation.refuse('INVALID', format('An invoice deducts %s: take that invoice back first.',
      referenced.document_number), case when invoice_id is null then field else id_field end);
  elsif document_type = 'storno' and erp.has_credit_note(referenced.id) then
    perform mutation.refuse('INVALID', format('A part of invoice %s is credited: credit the rest by another '
      'credit_note.', referenced.document_number), case when invoice_id is null then field else id_field end);
  elsif lines is not null then
    perform erp.require_credit_lines(referenced.id, lines);
  end if;
  return erp.insert_document(order_id, document_type, referenced.id,
    erp.reversal_snapshot(referenced, document_type, lines));
end
$$;
comment on function erp.create_reversal(uuid, text, uuid, text[], text[], erp.credit_line[]) is
  'Creates a credit note or storno (cancellation invoice) of an invoice of an order, which may be omitted '
  'if only one is valid. A cancellation invoice cancels it: what it charged can be invoiced again. A credit '
  'note returns the money, and what it credits is not charged again. It may be limited to lines; another '
  'one can credit the rest later. User errors INVALID, REQUIRED, and the user errors of '
  'erp.require_credit_lines.';
grant execute on function erp.create_reversal(uuid, text, uuid, text[], text[], erp.credit_line[])
  to service_writer;
--! EndIncluded erp/create_reversal.sql
--! Included erp/prepayment_config.sql
create or replace function erp.prepayment_config(config jsonb, amount numeric) returns jsonb
language sql stable
begin atomic
  with
  share as (
    select t.n, t.tax_row, t.rate, s.amount
    from (
      select array_agg(e.tax_row order by e.n) as rows, array_agg(e.n order by e.n) as numbers,
        erp.rounded_to(prepayment_config.amount, array_agg(prepayment_config.amount * e.total
          / nullif((config #>> '{totals,total}')::numeric, 0) order by e.n)) as amounts
      from (
        select v.n, v.tax_row, (v.tax_row ->> 'net')::numeric + (v.tax_row ->> 'tax')::numeric as total
        from jsonb_array_elements(config #> '{totals,taxes}') with ordinality v (tax_row, n)
      ) e
    ) a
    cross join lateral unnest(a.rows, a.numbers, a.amounts) s (tax_row, n, amount)
    cross join lateral (
      select s.n, s.tax_row, (s.tax_row ->> 'rate')::numeric as rate
    ) t
  ),
  taxed as (
    select s.n, s.tax_row, s.rate, s.amount, erp.net_amount(s.amount, s.rate) as net from share s
    where s.amount <> 0
  )
  select prepayment_config.config || jsonb_build_object(
    'typeCode', case config ->> 'form' when 'xrechnung' then '380' else '386' end,
    'lines', jsonb_agg(jsonb_build_object('kind', 'line', 'position', t.n,
      'label', format('%s %s', config ->> 'title', config ->> 'orderNumber'), 'quantity', 1,
      'unitPrice', v.shown, 'total', v.shown, 'taxRate', t.rate, 'taxCategory', t.tax_row -> 'category',
      'net', t.net, 'netPrice', t.net, 'baseQuantity', 1, 'unitCode', 'C62') order by t.n),
    'allowances', '[]'::jsonb, 'charges', '[]'::jsonb, 'deliveryDate', null,
    'totals', jsonb_build_object('net', sum(t.net), 'total', prepayment_config.amount,
      'lineNet', sum(t.net), 'allowances', 0, 'charges', 0, 'paid', 0, 'due', prepayment_config.amount,
      'taxes', jsonb_agg(t.tax_row || jsonb_build_object('net', t.net, 'tax', t.amount - t.net)
        order by t.n)),
    'taxInDefaultCurrency', erp.converted_taxes(config -> 'taxInDefaultCurrency',
      jsonb_agg(t.tax_row || jsonb_build_object('net', t.net, 'tax', t.amount - t.net) order by t.n)))
  from taxed t
  cross join lateral (
    select case config ->> 'taxStatus' when 'net' then t.net else t.amount end as shown
  ) v;
end;
comment on function erp.prepayment_config(jsonb, numeric) is
  'Returns what a prepayment invoice over an amount with tax shows, except its number, from the config of '
  'the whole order. The amount is distributed over its tax rates. XRechnung has no type for prepayments: '
  'there it is an invoice (BR-DE-17).';
grant execute on function erp.prepayment_config(jsonb, numeric) to service_writer;
--! EndIncluded erp/prepayment_config.sql
--! Included erp/create_prepayment.sql
create or replace function erp.create_prepayment(order_id uuid, amount numeric) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  open_amount numeric;
begin
  select o.amount_total - coalesce((select sum(p.total) from erp.standing_prepayments(o.id) p), 0)
    - coalesce((
      select sum(f.total) from erp.document d
      join erp.invoice i on i.document_id = d.id and i.cancellation_id is null
      join erp.invoice_figures f on f.document_id = d.id where d.order_id = o.id
    ), 0)
  into open_amount
  from erp.sales_order o where o.id = create_prepayment.order_id and o.state <> 'cancelled';
  if open_amount is null then
    perform mutation.refuse('INVALID', 'The order is cancelled, or its lines have no prices.', '{order_id}');
  elsif amount is null then
    perform mutation.refuse('REQUIRED', 'Give the amount of the prepayment.', '{amount}');
  elsif amount <= 0 or amount > open_amount then
    perform mutation.refuse('OUT_OF_RANGE',
      format('The amount must be above 0 and at most %s, which is not invoiced yet.',
        trim_scale(open_amount)),
      '{amount}',
      jsonb_build_object('left', trim_scale(open_amount)));
  elsif amount <> erp.rounded(amount) then
    perform mutation.refuse('INVALID', 'The amount must have at most two decimals.', '{amount}');
  end if;
  return (
    select erp.insert_document(create_prepayment.order_id, 'prepayment', null,
      erp.prepayment_config(c.config, create_prepayment.amount))
    from erp.document_config(create_prepayment.order_id, 'prepayment', erp.local_date(now()),
      erp.document_locale(create_prepayment.order_id)) c
  );
end
$$;
comment on function erp.create_prepayment(uuid, numeric) is
  'Creates a prepayment invoice over an amount of an order, with tax, in the currency of the order: at most '
  'what no invoice and no other prepayment charges. User errors INVALID, REQUIRED, OUT_OF_RANGE.';
grant execute on function erp.create_prepayment(uuid, numeric) to service_writer;
--! EndIncluded erp/create_prepayment.sql
--! Included erp/create_document.sql
create or replace function erp.create_document(
  order_id uuid, document_type text, referenced_document_id uuid default null
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform from erp.sales_order o where o.id = create_document.order_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such order.');
  elsif referenced_document_id is not null and document_type not in ('credit_note', 'storno') then
    perform mutation.refuse('INVALID', 'Only credit notes and cancellations refer to another document.');
  end if;
  if document_type = 'invoice' then
    return erp.create_invoice(order_id, false);
  elsif document_type = 'delivery_note' then
    return erp.create_delivery_note(order_id, null);
  elsif document_type in ('credit_note', 'storno') then
    return erp.create_reversal(order_id, document_type, referenced_document_id);
  end if;
  perform mutation.refuse('INVALID', format('Documents of type %s cannot be created here.', document_type));
end
$$;
comment on function erp.create_document(uuid, text, uuid) is
  'Creates an invoice, delivery_note, credit_note or storno (cancellation invoice) for an order as a whole. '
  'An invoice charges everything that no other invoice charges. Credit notes and cancellation invoices '
  'refer to an invoice of the order, which must be given if several are valid. User errors NOT_FOUND, '
  'INVALID, REQUIRED.';
grant execute on function erp.create_document(uuid, text, uuid) to service_writer;
--! EndIncluded erp/create_document.sql
--! Included erp/open_invoices.sql
create or replace function erp.open_invoices(order_id uuid) returns text[]
language sql stable
return array(
  select d.document_number
  from erp.document d join erp.document_type t on t.id = d.document_type_id
  where d.order_id = open_invoices.order_id and t.technical_name in ('invoice', 'prepayment')
    and d.document_number is not null and erp.reversal_of(d.id) is null
  order by d.id
);
comment on function erp.open_invoices(uuid) is
  'Returns the numbers of the invoices and prepayment invoices of an order that neither a cancellation '
  'invoice nor credit notes have taken back as a whole.';
grant execute on function erp.open_invoices(uuid) to service_writer;
--! EndIncluded erp/open_invoices.sql
--! Included erp/cancel_invoices_of.sql
create or replace function erp.credit_shipment(order_id uuid, invoice_id uuid, fulfillment_id uuid)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  lines erp.credit_line[];
begin
  if exists (
    select from erp.document_fulfillment o
    join erp.fulfillment f on f.id = o.fulfillment_id and f.state = 'Fulfilled'
    where o.document_id = invoice_id and f.id <> credit_shipment.fulfillment_id
  ) then
    lines := array(
      select row (c.line_id, least(c.left_quantity, sum(i.quantity)), null)::erp.credit_line
      from erp.fulfillment_line_item i
      join erp.fulfillment_order_line_item a on a.id = i.fulfillment_order_line_item_id
      join erp.creditable_lines(invoice_id) c on c.line_id = a.destination_order_line_item_id
      where i.fulfillment_id = credit_shipment.fulfillment_id and c.left_quantity > 0
      group by c.line_id, c.left_quantity);
    if cardinality(lines) = 0 then
      return '{}';
    end if;
  end if;
  return array[erp.create_reversal(order_id, 'credit_note', invoice_id, null, null, lines)];
end
$$;
comment on function erp.credit_shipment(uuid, uuid, uuid) is
  'Credits the rest of a cancelled shipment on a partly credited invoice: its units that are not credited '
  'yet. If the invoice charges no other shipment, all its rest is credited. Returns the credit note, if any.';
grant execute on function erp.credit_shipment(uuid, uuid, uuid) to service_writer;

create or replace function erp.cancel_invoices_of(fulfillment_id uuid) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  cancelled record;
  left_over record;
  made uuid[] := '{}';
  replaced uuid[] := '{}';
begin
  perform erp.lock_number_ranges(array(
    select d.order_id from erp.document_fulfillment c join erp.document d on d.id = c.document_id
    join erp.invoice i on i.document_id = d.id and i.cancellation_id is null
    where c.fulfillment_id = cancel_invoices_of.fulfillment_id
  ), '{invoice,storno,credit_note}');
  for cancelled in
    select d.id, d.order_id, erp.has_credit_note(d.id) as is_credited,
      erp.reversal_of(d.id) is null as is_open
    from erp.document_fulfillment c
    join erp.invoice i on i.document_id = c.document_id and i.cancellation_id is null
    join erp.document d on d.id = i.document_id
    where c.fulfillment_id = cancel_invoices_of.fulfillment_id
    order by d.id
  loop
    if cancelled.is_credited then
      if cancelled.is_open then
        made := made || erp.credit_shipment(cancelled.order_id, cancelled.id, fulfillment_id);
      end if;
      perform erp.release_credited_units(cancelled.id, fulfillment_id);
    else
      made := made || erp.create_reversal(cancelled.order_id, 'storno', cancelled.id);
      replaced := replaced || cancelled.id;
    end if;
  end loop;
  for left_over in
    select d.order_id, array_agg(f.id order by f.id) as fulfillments
    from erp.document d
    join erp.document_fulfillment o on o.document_id = d.id
    join erp.fulfillment f on f.id = o.fulfillment_id and f.state = 'Fulfilled'
    where d.id = any (replaced)
    group by d.order_id order by d.order_id
  loop
    if cardinality(erp.billable_parts(left_over.order_id, true, left_over.fulfillments)) > 0 then
      made := made || erp.try_invoice(left_over.order_id, null, left_over.fulfillments);
    end if;
  end loop;
  return made;
end
$$;
comment on function erp.cancel_invoices_of(uuid) is
  'Cancels the invoices of a cancelled shipment, each by a cancellation invoice. A new invoice charges what '
  'they charged of other shipments. Of a credited invoice, the rest of the shipment is credited, too, and '
  'only its units can be invoiced again. Returns the created documents.';
grant execute on function erp.cancel_invoices_of(uuid) to service_writer;
--! EndIncluded erp/cancel_invoices_of.sql
--! Included erp/cancel_order.sql
create or replace function erp.cancel_order(order_id uuid) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
  wanted text;
  cancelled uuid[];
begin
  perform ledger.lock_orders(array[order_id], array(
    select f.id from erp.fulfillment_order f where f.destination_order_id = cancel_order.order_id));
  select * into present from erp.sales_order o where o.id = cancel_order.order_id;
  if not found then
    perform mutation.refuse_missing('order', '{id}');
  end if;
  wanted := erp.next_state('order', 'cancel', present.state);
  if exists (
    select from erp.sales_order_line_item l where l.order_id = present.id and l.shipped_quantity > 0
  ) then
    perform mutation.refuse('NOT_EDITABLE',
      'Parts of the order are shipped. Cancel its fulfillments first.', '{id}');
  elsif cardinality(erp.open_invoices(present.id)) > 0 then
    perform mutation.refuse('NOT_EDITABLE',
      'The order is invoiced. Take its invoices back first, by documentCreate with the type storno, or '
      'credit_note for what is left of a partly credited one.', '{id}',
      jsonb_build_object('invoices', erp.open_invoices(present.id)));
  end if;
  perform from erp.location l where l.id in (
    select f.source_warehouse_location_id from erp.fulfillment_order f
    where f.destination_order_id = present.id
  ) order by l.id for key share;
  perform ledger.lock_promises(present.id);
  with gone as (
    update erp.fulfillment_order f
    set state = erp.next_state('fulfillment_order', 'cancel', f.state), state_before_hold = null,
      hold_comment = null
    where f.destination_order_id = present.id and f.type <> 'ExternalToOrder'
      and f.state in ('Open', 'InProgress', 'OnHold')
    returning f.id
  )
  select coalesce(array_agg(g.id order by g.id), '{}') into cancelled from gone g;
  update erp.sales_order o
  set state = wanted, delivery_state = erp.next_state('order_delivery', 'cancel', o.delivery_state)
  where o.id = present.id and o.delivery_state is not null;
  update erp.sales_order o set state = wanted where o.id = present.id and o.state <> wanted;
  return row (present.id, '{}', cancelled, '{}', '{}')::erp.shipment;
end
$$;
comment on function erp.cancel_order(uuid) is
  'Cancels an order of which nothing is shipped or charged, and its open fulfillment orders, so that '
  'nothing is reserved for it any more. Externally managed fulfillment orders stay unchanged. User errors '
  'NOT_FOUND, INVALID_STATE_TRANSITION, NOT_EDITABLE.';
grant execute on function erp.cancel_order(uuid) to service_writer;
--! EndIncluded erp/cancel_order.sql
--! Included erp/create_order_document.sql
create or replace function erp.create_order_document(
  order_id uuid, document_type text, fulfillment_ids uuid[], referenced_document_id uuid,
  lines erp.credit_line[] default null, amount numeric default null
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_reversal constant boolean := document_type in ('credit_note', 'storno');
  shipment_id uuid;
begin
  if document_type not in ('invoice', 'delivery_note', 'credit_note', 'storno', 'prepayment') then
    perform mutation.refuse('INVALID',
      'The type must be invoice, delivery_note, credit_note, storno or prepayment.',
      '{document_type}');
  elsif is_reversal and fulfillment_ids is not null then
    perform mutation.refuse('INVALID', 'Credit notes and cancellations take back an invoice: name it by '
      'referencedDocumentId, or cancel the fulfillment.', '{fulfillment_ids}');
  elsif lines is not null and document_type <> 'credit_note' then
    perform mutation.refuse('INVALID', 'Only a credit_note can be limited to lines.', '{lines}');
  elsif amount is not null and document_type <> 'prepayment' then
    perform mutation.refuse('INVALID', 'Only a prepayment has an amount.', '{amount}');
  elsif fulfillment_ids is not null and document_type = 'prepayment' then
    perform mutation.refuse('INVALID', 'A prepayment charges no fulfillment.', '{fulfillment_ids}');
  elsif cardinality(lines) = 0 then
    perform mutation.refuse('REQUIRED', 'Give at least one line, or leave lines out.', '{lines}');

  elsif not is_reversal and referenced_document_id is not null then
    perform mutation.refuse('INVALID', 'Only credit notes and cancellations refer to another document.',
      '{referenced_document_id}');
  end if;
  perform mutation.refuse_too_many(cardinality(lines), 250, '{lines}');
  perform ledger.lock_orders(array[order_id]);
  perform from erp.sales_order o where o.id = create_order_document.order_id;
  if not found then
    perform mutation.refuse_missing('order', '{order_id}');
  elsif is_reversal then
    return erp.create_reversal(order_id, document_type, referenced_document_id, '{document_type}',
      '{referenced_document_id}', lines);
  elsif document_type = 'prepayment' then
    return erp.create_prepayment(order_id, amount);
  elsif fulfillment_ids is not null then
    perform erp.require_fulfillments(order_id, fulfillment_ids);
  end if;
  if document_type = 'invoice' then
    perform erp.require_uninvoiced(fulfillment_ids);
    return erp.create_invoice(order_id, true, '{document_type}', fulfillment_ids);
  elsif cardinality(fulfillment_ids) > 1 then
    perform mutation.refuse('INVALID', 'A delivery note lists one parcel: create one for each fulfillment.',
      '{fulfillment_ids}');
  end if;
  shipment_id := coalesce(fulfillment_ids[1], erp.newest_shipment(order_id));
  if shipment_id is null then
    perform mutation.refuse('INVALID', 'Nothing of the order has been shipped. Ship it first, by '
      'orderShipmentComplete or fulfillmentCreate.', '{document_type}');
  end if;
  return erp.create_delivery_note(order_id, shipment_id);
end
$$;
comment on function erp.create_order_document(uuid, text, uuid[], uuid, erp.credit_line[], numeric) is
  'Creates a document about shipped units of an order. An invoice charges what no other invoice charges, of '
  'some fulfillments if they are given. A delivery note lists one fulfillment, by default the newest. A '
  'credit note or storno (cancellation invoice) takes an invoice back; a credit note may be limited to '
  'lines. A prepayment charges an amount in advance. User errors NOT_FOUND, REQUIRED, INVALID, '
  'NOT_UNIQUE, OUT_OF_RANGE, TOO_MANY_LINES.';
select api_meta.plan_by_index(
  'erp.create_order_document(uuid, text, uuid[], uuid, erp.credit_line[], numeric)'
);
grant execute on function erp.create_order_document(uuid, text, uuid[], uuid, erp.credit_line[], numeric)
  to service_writer;
--! EndIncluded erp/create_order_document.sql
--! Included api/warning_code.sql
do $$
begin
  if to_regtype('api_unstable.warning_code') is null then
    create type api_unstable.warning_code as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.warning_code',
  'OTHER', 'COUNT_SUPERSEDED', 'STOCK_PROMISED', 'PRODUCT_HAS_VARIANTS', 'SURPLUS', 'ORDER_CANCELLED',
  'PRICE_CONVERTED', 'DOCUMENT_INCOMPLETE', 'DOCUMENT_NOT_MADE');
comment on type api_unstable.warning_code is
  E'@value OTHER A warning that this version has no code for; the message describes it.\n'
  '@value COUNT_SUPERSEDED A count was kept and changes nothing, because a later one exists. Field '
  'details has its countedAt and quantity.\n'
  '@value STOCK_PROMISED Units were booked out that orders wait for. Field details has the productId, '
  'the reserved stock and the available stock, which is negative now; and the warehouseId if only that '
  'warehouse is short.\n'
  '@value PRODUCT_HAS_VARIANTS The product only stands for its variants, and its stock cannot be sold. '
  'After productsUpsert, field details has its number, stock and reserved stock.\n'
  '@value SURPLUS More units arrive than the supplier order has open, or go back than it received. When '
  'the receipt is completed, the surplus becomes a line without an order. Field details has the '
  'quantity, the product, the order and then the line.\n'
  '@value ORDER_CANCELLED The supplier order is cancelled. When the receipt is completed, its units '
  'become a line without an order. Field details is the same as for SURPLUS.\n'
  '@value PRICE_CONVERTED Prices of a supplier order were converted from another currency. Field '
  'details names the order and both currencies.\n'
  '@value DOCUMENT_INCOMPLETE A document was created without data that the law demands. Field details '
  'lists it in missing, for example merchant.vatId, and has the documentNumber.\n'
  '@value DOCUMENT_NOT_MADE The goods were shipped, but the invoice was refused for the reason in the '
  'message. Field details has the documentType, the orderNumber, and the rule and the field to mend; then '
  'documentCreate makes the invoice.\n'
  'The code of a warning. A version only shows codes that it lists: later ones appear as OTHER.';
--! EndIncluded api/warning_code.sql
--! Included api/document_create.sql
drop type if exists api_unstable.document_create_payload cascade;
create type api_unstable.document_create_payload as (
  document uuid, "order" uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.document_create_payload is 'The document that was made.';
comment on column api_unstable.document_create_payload.document is
  E'@entity Document\nThe new document; null when it was refused.';
comment on column api_unstable.document_create_payload."order" is
  E'@entity Order\nThe order that it is about; null when it was refused.';
comment on column api_unstable.document_create_payload.user_errors is
  'Why nothing was made; empty when it was.';
comment on column api_unstable.document_create_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.document_create_input cascade;
drop type if exists api_unstable.document_create_line_input cascade;
create type api_unstable.document_create_line_input as (
  order_line_item_id uuid, quantity integer, amount numeric
);
comment on type api_unstable.document_create_line_input is
  'A line that a credit note credits, as a whole or in part.';
comment on column api_unstable.document_create_line_input.order_line_item_id is
  E'@notNull\n@gid OrderLineItem\nId of the line of the order, which the invoice charges.';
comment on column api_unstable.document_create_line_input.quantity is
  'Units that are credited, at their price less their share of discounts; at most what is not credited yet. '
  'Left out, only the amount is credited.';
comment on column api_unstable.document_create_line_input.amount is
  'Amount that is credited, in the currency of the order: with tax if the prices of the order include it. '
  'Left out, the price of the units.';

create type api_unstable.document_create_input as (
  order_id uuid, document_type text, fulfillment_ids uuid[], referenced_document_id uuid,
  lines api_unstable.document_create_line_input[], amount numeric
);
comment on type api_unstable.document_create_input is 'A document to make of an order.';
comment on column api_unstable.document_create_input.order_id is
  E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.document_create_input.document_type is
  E'@notNull\nTechnical name of the type: invoice, delivery_note, credit_note, storno or prepayment.';
comment on column api_unstable.document_create_input.fulfillment_ids is
  E'@gid Fulfillment\n'
  'Ids of the fulfillments that an invoice charges, 1 to 250, or of the one that a delivery note lists. Left '
  'out, the invoice charges all that was shipped and that no other invoice charges; the delivery note lists '
  'the newest fulfillment.';
comment on column api_unstable.document_create_input.referenced_document_id is
  E'@gid Document\n'
  'Id of the invoice that a credit_note or storno takes back. May be left out when only one is not taken '
  'back yet.';
comment on column api_unstable.document_create_input.lines is
  '1 to 250 lines that a credit_note credits, each of another line of the invoice. Left out, the credit note '
  'credits all that is left of the invoice.';
comment on column api_unstable.document_create_input.amount is
  'Amount of a prepayment with tax, in the currency of the order: at most what is not invoiced yet.';

create function api_unstable.document_create(input api_unstable.document_create_input)
returns api_unstable.document_create_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    erp.create_order_document(
      input.order_id, input.document_type, input.fulfillment_ids, input.referenced_document_id,
      case when input.lines is not null then array(
        select row (l.order_line_item_id, l.quantity, l.amount)::erp.credit_line
        from unnest(input.lines) with ordinality l order by l.ordinality
      ) end, input.amount
    ),
    input.order_id, null, null
  )::api_unstable.document_create_payload
$$;
comment on function api_unstable.document_create(api_unstable.document_create_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES\n'
  '@warnings DOCUMENT_INCOMPLETE\n'
  'Makes a document of an order after it was shipped. An invoice charges what was shipped and what no other '
  'invoice charges; with the first go the lines that are no products, such as the costs of shipping. An '
  'order without goods is charged as it is. A storno cancels an invoice: what it charged can be invoiced '
  'again. A credit_note gives the money of an invoice back, of the whole or of lines, and what it charged is '
  'not charged again. An invoice is taken back once: by a storno, or by credit notes up to its total. A '
  'prepayment charges an amount before the shipment; invoices deduct it once it is paid.';
--! EndIncluded api/document_create.sql
--! Included api/fulfillment_create.sql
drop type if exists api_unstable.fulfillment_create_payload cascade;
create type api_unstable.fulfillment_create_payload as (
  fulfillment uuid, fulfillment_order uuid, stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_create_payload is 'The result of shipping from a fulfillment order.';
comment on column api_unstable.fulfillment_create_payload.fulfillment is
  E'@entity Fulfillment\nThe record of what was shipped; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.fulfillment_order is
  E'@entity FulfillmentOrder\nThe fulfillment order as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.stock_movements is
  E'@entity StockMovement\n'
  'The movements that took the units to the order: first those from places that were named, then those '
  'that were picked.';
comment on column api_unstable.fulfillment_create_payload.documents is
  E'@entity Document\n'
  'The documents that were created, in the order of the input.';
comment on column api_unstable.fulfillment_create_payload.user_errors is
  'Why nothing was shipped; empty when it was.';
comment on column api_unstable.fulfillment_create_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.fulfillment_create_input cascade;
drop type if exists api_unstable.fulfillment_create_line_input cascade;
drop type if exists api_unstable.fulfillment_create_place_input cascade;
create type api_unstable.fulfillment_create_place_input
  as (place api_unstable.stock_place_input, quantity integer, batch_id uuid);
comment on type api_unstable.fulfillment_create_place_input is 'Units that are taken from a place.';
comment on column api_unstable.fulfillment_create_place_input.place is
  E'@notNull\n'
  'The place of the units: the warehouse of the fulfillment order, or one of its bins.';
comment on column api_unstable.fulfillment_create_place_input.quantity is E'@notNull\nHow many; at least 1.';
comment on column api_unstable.fulfillment_create_place_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';

create type api_unstable.fulfillment_create_line_input as (
  fulfillment_order_line_item_id uuid, quantity integer, places api_unstable.fulfillment_create_place_input[]
);
comment on type api_unstable.fulfillment_create_line_input is 'Units of one line that are shipped.';
comment on column api_unstable.fulfillment_create_line_input.fulfillment_order_line_item_id is
  E'@notNull\n@gid FulfillmentOrderLineItem\nId of the line of the fulfillment order.';
comment on column api_unstable.fulfillment_create_line_input.quantity is
  E'@notNull\nHow many; at least 1, and no more than are open.';
comment on column api_unstable.fulfillment_create_line_input.places is
  'Places that the units are taken from; together they have the whole quantity. By default the service '
  'picks: from bins by position, then by code, and last from stock without a bin; of products in '
  'batches, from the oldest batch first.';

create type api_unstable.fulfillment_create_input as (
  fulfillment_order_id uuid, lines api_unstable.fulfillment_create_line_input[], tracking_codes text[],
    documents text[], comment text
);
comment on type api_unstable.fulfillment_create_input is 'The lines of a fulfillment order that are shipped.';
comment on column api_unstable.fulfillment_create_input.fulfillment_order_id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';
comment on column api_unstable.fulfillment_create_input.lines is
  '1 to 250 lines, each of another line of the fulfillment order. Left out, all that is open is shipped.';
comment on column api_unstable.fulfillment_create_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.fulfillment_create_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice '
  'over all that was shipped of the order and that no other invoice charges. Others, and what was shipped '
  'without, are made by documentCreate.';
comment on column api_unstable.fulfillment_create_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.fulfillment_create(input api_unstable.fulfillment_create_input)
returns api_unstable.fulfillment_create_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders[1], s.stock_movements,
    erp.create_documents(s.order_id, input.documents, s.fulfillments[1]),
    null, null)::api_unstable.fulfillment_create_payload
  from erp.create_fulfillment(
    input.fulfillment_order_id,
    case when input.lines is not null then array(
      select row (l.fulfillment_order_line_item_id, l.quantity)::erp.shipping_line
      from unnest(input.lines) with ordinality l
      order by l.ordinality
    ) end,
    array(
      select row (
        l.ordinality, p.ordinality, (p.place).warehouse_id, (p.place).bin_location_id, p.quantity, p.batch_id
      )::erp.shipping_place
      from unnest(input.lines) with ordinality l
      cross join unnest(l.places) with ordinality p
      order by l.ordinality, p.ordinality
    ),
    input.tracking_codes, input.comment, input.documents
  ) s
$$;
comment on function api_unstable.fulfillment_create(api_unstable.fulfillment_create_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED ON_HOLD INVALID_STATE_TRANSITION OVER_FULFILLMENT '
  'INSUFFICIENT_STOCK REQUIRED INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES BATCH_MISMATCH '
  'BATCH_REQUIRED\n'
  '@warnings DOCUMENT_INCOMPLETE DOCUMENT_NOT_MADE\n'
  'Ships a part of a fulfillment order, or all that is open of it. Books the units out by the process '
  'api_shipping and records the fulfillment. The fulfillment order is in progress then, and closed when '
  'nothing is open any more; the states of the order follow.';
--! EndIncluded api/fulfillment_create.sql
--! Included api/order_shipment_complete.sql
drop type if exists api_unstable.order_shipment_complete_payload cascade;
create type api_unstable.order_shipment_complete_payload as (
  "order" uuid, fulfillments uuid[], fulfillment_orders uuid[], stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.order_shipment_complete_payload is 'The result of shipping an order.';
comment on column api_unstable.order_shipment_complete_payload."order" is
  E'@entity Order\nThe order as it is now; null when it was refused.';
comment on column api_unstable.order_shipment_complete_payload.fulfillments is
  E'@entity Fulfillment\nThe record of what was shipped.';
comment on column api_unstable.order_shipment_complete_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\n'
  'The fulfillment orders that were fulfilled, those that were made for the purpose included.';
comment on column api_unstable.order_shipment_complete_payload.stock_movements is
  E'@entity StockMovement\n'
  'The movements that took the units to the order, in the order in which they were picked.';
comment on column api_unstable.order_shipment_complete_payload.documents is
  E'@entity Document\n'
  '@perLine documents\n'
  'The documents that were created, in the order of the input.';
comment on column api_unstable.order_shipment_complete_payload.user_errors is
  'Why nothing was shipped; empty when all was.';
comment on column api_unstable.order_shipment_complete_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.order_shipment_complete_input cascade;
create type api_unstable.order_shipment_complete_input as (
  order_id uuid, warehouse_id uuid, tracking_codes text[], documents text[], comment text
);
comment on type api_unstable.order_shipment_complete_input is 'An order to ship.';
comment on column api_unstable.order_shipment_complete_input.order_id is
  E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.order_shipment_complete_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that ships what no open fulfillment order has. Left out, it is the default '
  'warehouse; and what was called off there, by cancelling a fulfillment order, is shipped by another '
  'warehouse that has all of it.';
comment on column api_unstable.order_shipment_complete_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.order_shipment_complete_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice '
  'over all that was shipped of the order and that no other invoice charges. Others, and what was shipped '
  'without, are made by documentCreate.';
comment on column api_unstable.order_shipment_complete_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.order_shipment_complete(input api_unstable.order_shipment_complete_input)
returns api_unstable.order_shipment_complete_payload
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  done constant erp.shipment := erp.complete_shipment(
    input.order_id, input.tracking_codes, input.documents, input.comment, input.warehouse_id
  );
begin
  return row (done.order_id, done.fulfillments, done.fulfillment_orders, done.stock_movements,
    erp.create_documents(done.order_id, input.documents, done.fulfillments[1]),
    null, null)::api_unstable.order_shipment_complete_payload;
end
$$;
comment on function api_unstable.order_shipment_complete(api_unstable.order_shipment_complete_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES INVALID_STATE_TRANSITION '
  'ON_HOLD EXTERNALLY_MANAGED INSUFFICIENT_STOCK OVER_FULFILLMENT BATCH_REQUIRED\n'
  '@warnings DOCUMENT_INCOMPLETE DOCUMENT_NOT_MADE\n'
  'Ships everything that is still open of an order. Open fulfillment orders are shipped from the '
  'warehouse of their location. Everything else is shipped from the named warehouse, or else from the '
  'default warehouse. Units that were cancelled there are shipped by another warehouse that has all of '
  'them. Units are picked from the bins by position, then by code, and last from stock without a bin; '
  'of products that are kept in batches, the oldest batch first. Books them out by the process '
  'api_shipping, records the fulfillment, closes the fulfillment orders, and brings the states of the '
  'order up to date. What is fulfilled externally is left alone. All of it is shipped, or nothing. An '
  'order that has nothing left to ship, as one of services alone, is only completed.';
--! EndIncluded api/order_shipment_complete.sql
--! Included api/fulfillment_cancel.sql
drop type if exists api_unstable.fulfillment_cancel_payload cascade;
create type api_unstable.fulfillment_cancel_payload as (
  fulfillment uuid, fulfillment_orders uuid[], stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_cancel_payload is 'The result of cancelling a fulfillment.';
comment on column api_unstable.fulfillment_cancel_payload.fulfillment is
  E'@entity Fulfillment\nThe fulfillment as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_cancel_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\nThe fulfillment orders whose quantities are open again.';
comment on column api_unstable.fulfillment_cancel_payload.stock_movements is
  E'@entity StockMovement\nThe movements that brought the units back.';
comment on column api_unstable.fulfillment_cancel_payload.documents is
  E'@entity Document\n'
  'The cancellation of the invoice over the fulfillment, and a new invoice over what else it charged; '
  'empty when it was not invoiced.';
comment on column api_unstable.fulfillment_cancel_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.fulfillment_cancel_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.fulfillment_cancel_input cascade;
create type api_unstable.fulfillment_cancel_input as (id uuid, comment text);
comment on type api_unstable.fulfillment_cancel_input is 'A fulfillment to cancel.';
comment on column api_unstable.fulfillment_cancel_input.id is
  E'@notNull\n@gid Fulfillment\nId of the fulfillment.';
comment on column api_unstable.fulfillment_cancel_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.fulfillment_cancel(input api_unstable.fulfillment_cancel_input)
returns api_unstable.fulfillment_cancel_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders, s.stock_movements, s.documents,
    null, null)::api_unstable.fulfillment_cancel_payload
  from erp.cancel_fulfillment(input.id, input.comment) s
$$;
comment on function api_unstable.fulfillment_cancel(api_unstable.fulfillment_cancel_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION INVALID INSUFFICIENT_STOCK '
  'BATCH_REQUIRED OUT_OF_RANGE\n'
  '@warnings DOCUMENT_INCOMPLETE DOCUMENT_NOT_MADE\n'
  'Cancels a fulfillment: books its units back to where they came from, by the process '
  'cancelled_fulfillment, or to the warehouse when a bin is gone. Its quantities are open again, closed '
  'fulfillment orders too, and the states of the order go back. Tracking codes stay. An invoice over it '
  'is cancelled by a document of its own (storno); what it charged of other parcels is charged by a new '
  'invoice. An invoice that a credit note has taken back needs none.';
--! EndIncluded api/fulfillment_cancel.sql

-- Prepayments are numbered as invoices are
insert into erp.document_type (technical_name, name, number_range)
select 'prepayment',
  '{"en-GB": "Prepayment invoice", "de-DE": "Anzahlungsrechnung", "fr-FR": "Facture d''acompte"}',
  t.number_range
from erp.document_type t where t.technical_name = 'invoice'
on conflict do nothing;

-- Amounts of the invoices that exist
insert into erp.invoice_figures (
  document_id, type_code, form, currency_code, net, tax, total, paid, due, due_date
)
select d.id, case t.technical_name when 'invoice' then '380' when 'storno' then '384' else '381' end, 'pdf',
  d.config #>> '{currency,isoCode}', v.net, v.total - v.net, v.total, 0, v.total, null
from erp.document d
join erp.document_type t on t.id = d.document_type_id
  and t.technical_name in ('invoice', 'credit_note', 'storno')
cross join lateral jsonb_to_record(d.config -> 'totals') v (net numeric, total numeric)
where d.document_number is not null and d.config #>> '{currency,isoCode}' is not null
  and v.net is not null and v.total is not null
on conflict do nothing;

--! split: 40-invoice-api.sql
-- Fields of structured invoices in the version unstable of the API

-- The view api_unstable.invoices is filtered and sorted by it
create index if not exists invoice_figures_due_date_document_id_idx
  on erp.invoice_figures (due_date, document_id);
comment on column erp.invoice_figures.document_id is 'The document that shows these amounts.';
comment on constraint document_file_pkey on erp.document_file is
  '@internal erp.keep_invoice is called with a new document';

-- Dates can be infinite, and no document could show such a date
alter table erp.sales_order
  drop constraint if exists order_due_date_is_plausible,
  drop constraint if exists order_exchange_rate_date_is_plausible;
alter table erp.sales_order
  add constraint order_due_date_is_plausible check (due_date between '1900-01-01' and '9999-12-31')
    not enforced,
  add constraint order_exchange_rate_date_is_plausible
    check (exchange_rate_date between '1900-01-01' and '9999-12-31') not enforced;
comment on constraint order_due_date_is_plausible on erp.sales_order is
  E'@userError OUT_OF_RANGE due_date\nThe year must be between 1900 and 9999.';
comment on constraint order_exchange_rate_date_is_plausible on erp.sales_order is
  E'@userError OUT_OF_RANGE exchange_rate_date\nThe year must be between 1900 and 9999.';

select api_meta.allow('service_writer', 'erp.customer',
  'update (invoice_form, buyer_reference, electronic_address, electronic_address_scheme, registration_id)');
select api_meta.allow('service_writer', 'erp.sales_order',
  'update (buyer_reference, purchase_order_number, due_date, paid_amount, exchange_rate, exchange_rate_date,
    exchange_rate_source)');
select api_meta.allow('service_writer', 'erp.sales_order_line_item',
  'update (tax_category, exemption_code, discount_reason, unit_code)');
select api_meta.allow('service_writer', 'erp.product', 'update (unit_code)');

--! Included api/invoice_form.sql
do $$
begin
  if to_regtype('api_unstable.invoice_form') is null then
    create type api_unstable.invoice_form as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.invoice_form', 'pdf', 'zugferd', 'xrechnung');
comment on type api_unstable.invoice_form is
  E'@value pdf A PDF without structured data.\n'
  '@value zugferd A PDF that contains the invoice as XML: ZUGFeRD, which is Factur-X in France.\n'
  '@value xrechnung XML as German authorities take it. The PDF of such an invoice is only a copy.\n'
  'The form of a customer''s invoices. All but pdf follow EN 16931.';
--! EndIncluded api/invoice_form.sql
--! Included erp/upsert_orders.sql
create or replace function erp.with_amounts(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.with_values(orders, (
    select jsonb_object_agg(o.line,
      jsonb_build_object('amount_total', a.amount_total, 'amount_net', a.amount_net))
    from unnest(orders) o
    join (
      select (l.wanted ->> 'order_id')::uuid as order_id,
        array_agg((l.wanted ->> 'total_price')::numeric) as prices,
        array_agg((l.wanted ->> 'tax_rate')::numeric) as tax_rates
      from unnest(lines) l group by 1
    ) l on l.order_id = o.id
    cross join lateral ledger.amounts_of(l.prices, l.tax_rates, o.wanted ->> 'tax_status') a
    where o.is_new and o.errors is null
  ));
end;
comment on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) is
  'Returns the rows of an upsert of orders, new ones with the totals of their lines. So these need not be '
  'written, and reported, as a later change of the order.';
grant execute on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) to service_writer;

create or replace function erp.write_order_lines(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  kept mutation.upsert_row[] := array(
    select l from unnest(lines) l join unnest(orders) o on o.id = (l.wanted ->> 'order_id')::uuid
    where o.errors is null order by l.line);
  listed constant uuid[] := array(
    select o.id from unnest(orders) o where o.errors is null and o.given ? 'line_items');
  gone uuid[];
begin
  -- Locks the products of old and new lines together, in one order
  perform ledger.lock(array(
    select l.product_id from erp.sales_order_line_item l
    where l.order_id = any (listed) and l.product_id is not null
    union
    select (k.wanted ->> 'product_id')::uuid from unnest(kept) k
    where k.wanted ->> 'product_id' is not null
  ));
  with deleted as (
    delete from erp.sales_order_line_item l
    where l.order_id = any (listed) and l.id <> all (array(select k.id from unnest(kept) k))
    returning l.order_id
  )
  select coalesce(array_agg(distinct d.order_id), '{}') into gone from deleted d;
  kept := mutation.write_rows('erp.sales_order_line_item', kept);
  -- Less may be wanted than was, so that everything is shipped
  perform erp.settle_order(o.id) from unnest(orders) o
  where o.id = any (listed) and o.present ->> 'state' = 'in_progress'
    and o.present ->> 'delivery_state' = 'shipped_partially' and not exists (
      select from erp.sales_order_line_item l
      where l.order_id = o.id and l.type = 'product' and l.shipped_quantity < l.quantity);
  return gone || array(select (k.wanted ->> 'order_id')::uuid from unnest(kept) k where k.is_changed);
end
$$;
comment on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'Writes the lines of an upsert of orders, and deletes omitted ones. Returns the orders with a changed '
  'line.';
grant execute on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;

create or replace function erp.upsert_orders(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := array[
    'o.storefront_id = r.storefront_id and o.sales_channel_id = r.sales_channel_id',
    'o.order_number = r.order_number and (r.storefront_id is null '
    'or coalesce(o.storefront_id, r.storefront_id) = r.storefront_id)'];
  rows mutation.upsert_row[];
  lines mutation.upsert_row[];
begin
  rows := mutation.match_rows('erp.sales_order', 'orders', given, '{storefront_id,order_number}', matches);
  rows := mutation.with_values(rows, (
    select jsonb_object_agg(u.line, case
      when u.is_new then jsonb_build_object('delivery_state', 'open')
        || jsonb_strip_nulls(jsonb_build_object('currency_id', case when not u.given ? 'currency_id' then (
          select c.currency_id from erp.sales_channel c where c.id = (u.given ->> 'sales_channel_id')::uuid
        ) end))
      else '{}' end || jsonb_strip_nulls(jsonb_build_object(
        'paid_amount', erp.rounded((u.given ->> 'paid_amount')::numeric))))
    from unnest(rows) u where u.is_new or u.given ? 'paid_amount'));
  lines := coalesce(erp.match_order_lines(rows), '{}');
  lines := coalesce(mutation.with_faults(lines, 'line_items',
    mutation.row_faults('erp.sales_order_line_item', lines) || erp.faults_of_order_lines(rows, lines)), '{}');
  rows := mutation.with_faults(rows, 'orders', mutation.row_faults('erp.sales_order', rows, matches)
    || erp.faults_of_orders(rows, lines) || erp.faults_of_tags(rows));
  rows := mutation.with_faults_of_taken_keys('erp.sales_order', rows, 'orders', partial);
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.sales_order', erp.with_amounts(rows, lines));
  rows := mutation.with_changes(rows, erp.write_order_lines(rows, lines));
  return mutation.with_changes(rows, erp.set_tags('erp.order_tag', 'order_id', rows));
end
$$;
comment on function erp.upsert_orders(jsonb, boolean) is
  'Creates and updates orders, with their lines and tags: the objects in the list, whose fields are named '
  'like columns. Returns the outcome of each.';
grant execute on function erp.upsert_orders(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_orders.sql
--! Included erp/faults_of_order_lines.sql
create or replace function erp.units_at_work(order_ids uuid[])
returns table (id uuid, order_id uuid, label text, shipped integer, assigned integer, invoiced integer)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select l.id, l.order_id, l.label, l.shipped_quantity, coalesce((
    select sum(a.quantity - a.fulfilled_quantity)
    from erp.fulfillment_order_line_item a join erp.fulfillment_order f on f.id = a.fulfillment_order_id
    where a.destination_order_line_item_id = l.id and f.state in ('Open', 'InProgress', 'OnHold')
  ), 0), l.invoiced_quantity
  from erp.sales_order_line_item l where l.order_id = any (order_ids);
end;
comment on function erp.units_at_work(uuid[]) is
  'Returns for each line of orders the units that are shipped, that open fulfillment orders have, and that '
  'are invoiced.';
grant execute on function erp.units_at_work(uuid[]) to service_writer;

create or replace function erp.faults_of_order_lines(
  orders mutation.upsert_row[], lines mutation.upsert_row[]
)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with line as (
    select l.*, o.present ->> 'state' as state, w.shipped + w.assigned as taken, w.shipped, w.assigned,
      w.invoiced, row_number() over (partition by l.id order by l.line) as nth,
      array(
        select c.key from jsonb_each(l.wanted) c
        where not l.is_new and c.value <> l.present -> c.key
      ) as changes
    from unnest(lines) l
    join unnest(orders) o on o.id = (l.wanted ->> 'order_id')::uuid and o.errors is null
    left join erp.units_at_work(array(select x.id from unnest(orders) x where not x.is_new)) w on w.id = l.id
  )
  select array_agg(row (f.line, f.code, f.message, f.field, f.details)::mutation.row_fault)
  from (
    select l.line, 'NOT_FOUND', 'The order has no such line.', array['id'], null::jsonb
    from line l where l.is_new and l.given ->> 'id' is not null
    union all
    select l.line, 'NOT_FOUND', 'There is no product with this number.', array['product_number'], null
    from line l where l.given ->> 'product_number' is not null and l.wanted ->> 'product_id' is null
    union all
    select l.line, 'NOT_UNIQUE', 'An earlier line refers to the same line.', null, null from line l
    where l.nth > 1
    union all
    select l.line, 'NOT_EDITABLE', format('The order is %s: its lines cannot change.', l.state), null,
      jsonb_build_object('state', l.state)
    from line l where l.state = 'cancelled' and (l.is_new or l.changes <> '{}')
      -- An invoice that was refused for such data is made after the shipment
      or l.state = 'completed' and (l.is_new
        or not l.changes <@ '{tax_category,exemption_code,discount_reason,unit_code}')
    union all
    select l.line, 'NOT_EDITABLE', format('%s units are shipped or assigned.', l.taken),
      array['quantity'], jsonb_build_object('shipped', l.shipped, 'assigned', l.assigned)
    from line l where (l.wanted ->> 'quantity')::int < l.taken and (l.wanted ->> 'quantity')::int >= l.shipped
    union all
    select l.line, 'NOT_EDITABLE', 'Units of the line are shipped, assigned or invoiced.',
      array[c.name], jsonb_build_object('shipped', l.shipped, 'assigned', l.assigned, 'invoiced', l.invoiced)
    from line l cross join unnest(l.changes) c (name)
    where c.name in ('product_id', 'type') and l.taken + l.invoiced > 0
    union all
    select l.line, 'NOT_EDITABLE', 'Units of the line are invoiced.', array[c.name],
      jsonb_build_object('invoiced', l.invoiced)
    from line l cross join unnest(l.changes) c (name)
    where c.name in ('unit_price', 'tax_rate', 'tax_category', 'exemption_code') and l.invoiced > 0
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'Returns what is wrong with lines of an upsert of orders: shipped, assigned or invoiced units must not '
  'change.';
grant execute on function erp.faults_of_order_lines(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;

create or replace function erp.faults_of_orders(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with work as (
    select w.*, o.line, o.present ->> 'state' as state,
      o.given ? 'line_items' and not exists (select from unnest(lines) l where l.id = w.id) as is_left_out
    from unnest(orders) o join erp.units_at_work(array(
      select x.id from unnest(orders) x where not x.is_new
    )) w on w.order_id = o.id
    where not o.is_new
  )
  select array_agg(row (f.line, f.code, f.message, f.field, f.details)::mutation.row_fault)
  from (
    -- Errors of lines, with paths that begin at their order
    select o.line, e.error ->> 'code', e.error ->> 'message', array['line_items'] || (
      select array_agg(case when p.n = 1 then (l.nth - 1)::text else p.part end order by p.n)
      from jsonb_array_elements_text((e.error -> 'field') - 0) with ordinality p (part, n)
    ), nullif(e.error -> 'details', 'null')
    from (
      select x.errors, x.order_id, row_number() over (partition by x.order_id order by x.line) as nth
      from (select u.*, (u.wanted ->> 'order_id')::uuid as order_id from unnest(lines) u) x
    ) l join unnest(orders) o on o.id = l.order_id and o.errors is null
    cross join jsonb_array_elements(l.errors) e (error)
    union all
    select o.line, 'TOO_MANY_LINES', 'An order has at most 250 lines.', array['line_items'], null
    from unnest(orders) o where jsonb_array_length(nullif(o.given -> 'line_items', 'null')) > 250
    union all
    select o.line, 'REQUIRED', 'A storefrontId needs the sales channel.', array['sales_channel_id'], null
    from unnest(orders) o
    where o.wanted ->> 'storefront_id' is not null and o.wanted ->> 'sales_channel_id' is null
    union all
    select w.line, 'NOT_EDITABLE', case when w.state in ('completed', 'cancelled')
      then format('The order is %s: its line "%s" cannot be left out.', w.state, w.label)
      else format('Units of the line "%s" are shipped, assigned or invoiced.', w.label) end,
      array['line_items'], jsonb_build_object('id', 'gid://service/OrderLineItem/' || w.id,
      'shipped', w.shipped, 'assigned', w.assigned, 'invoiced', w.invoiced)
    from work w
    where w.is_left_out and (w.shipped + w.assigned + w.invoiced > 0 or w.state in ('completed', 'cancelled'))
    union all
    select o.line, 'NOT_EDITABLE', 'The order is closed, or parts of it are shipped or invoiced.',
      array[c.name], null
    from unnest(orders) o cross join unnest('{currency_id,tax_status}'::text[]) c (name)
    where not o.is_new and o.wanted -> c.name <> o.present -> c.name
      and (o.present ->> 'state' in ('completed', 'cancelled')
        or exists (select from work w where w.order_id = o.id and w.shipped + w.invoiced > 0))
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_orders(mutation.upsert_row[], mutation.upsert_row[]) is
  'Returns what is wrong with rows of an upsert of orders beyond the rules of the table, including the '
  'errors of their lines. Shipped, assigned or invoiced units must not change, nor closed orders.';
grant execute on function erp.faults_of_orders(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;
--! EndIncluded erp/faults_of_order_lines.sql
--! Included erp/personal_values.sql
create or replace function erp.personal_values(customer uuid) returns setof text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with address as (
    select x.address
    from erp.about_customer(personal_values.customer) a
    cross join lateral (
      select o.shipping_address from erp.sales_order o where o.id = any (a.orders)
      union all
      select o.billing_address from erp.sales_order o where o.id = any (a.orders)
      union all
      select f.shipping_address from erp.fulfillment_order f where f.id = any (a.fulfillment_orders)
    ) x (address)
  ),
  value (value) as (
    select unnest(array[c.email, c.first_name, c.last_name, c.company, c.storefront_id, c.buyer_reference,
      c.electronic_address, c.registration_id])
    from erp.customer c
    where c.id = personal_values.customer
    union
    select jsonb_array_elements_text(c.vat_ids) from erp.customer c where c.id = personal_values.customer
    union
    select unnest(array[o.buyer_reference, o.purchase_order_number])
    from erp.sales_order o where o.customer_id = personal_values.customer
    union
    select v.value #>> '{}'
    from address a cross join jsonb_path_query(a.address, 'strict $.**') v (value)
    where jsonb_typeof(v.value) = 'string' and v.value #>> '{}' is distinct from a.address ->> 'countryName'
  )
  select lower(v.value)
  from value v
  where length(v.value) >= 3 and v.value !~ '@anonymized[.]invalid$'
    and v.value not in ('Anonymized', 'Customer');
end;
comment on function erp.personal_values(uuid) is
  'Returns the values that identify a customer, in lower case, to find them elsewhere: names, numbers, and '
  'their addresses except for the country.';
--! EndIncluded erp/personal_values.sql
--! Included erp/anonymize_rows.sql
create or replace function erp.anonymize_rows(customer uuid) returns table (what text, changed bigint)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  about record;
begin
  select * into about from erp.about_customer(anonymize_rows.customer);
  return query with done as (
    update erp.customer c
    set email = c.id || '@anonymized.invalid', first_name = 'Anonymized', last_name = 'Customer',
      title = null, company = null, vat_ids = null, storefront_id = null, salutation_id = null,
      buyer_reference = null, electronic_address = null, electronic_address_scheme = null,
      registration_id = null, active = false
    where c.id = about.customer and (c.email <> c.id || '@anonymized.invalid'
      or c.first_name <> 'Anonymized' or c.last_name <> 'Customer' or c.active
      or num_nonnulls(c.title, c.company, c.vat_ids, c.storefront_id, c.salutation_id, c.buyer_reference,
        c.electronic_address, c.registration_id) > 0)
    returning 1
  ) select 'customer', count(*) from done;
  return query with done as (
    delete from erp.customer_tag t where t.customer_id = about.customer returning 1
  ) select 'tags', count(*) from done;
  -- Also changes the tracking codes of orders
  return query with done as (
    update erp.shipping_label l
    set tracking_codes = '[]', tracking_url = null, document_url = null
    where l.id = any (about.labels)
      and (l.tracking_codes <> '[]' or num_nonnulls(l.tracking_url, l.document_url) > 0)
    returning 1
  ) select 'shipping labels', count(*) from done;
  return query with done as (
    update erp.sales_order o
    set shipping_address = erp.country_alone(o.shipping_address),
      billing_address = erp.country_alone(o.billing_address), entered_tracking_codes = '{}',
      tracking_codes = null, buyer_reference = null, purchase_order_number = null
    where o.id = any (about.orders)
      and (o.shipping_address is distinct from erp.country_alone(o.shipping_address)
        or o.billing_address is distinct from erp.country_alone(o.billing_address)
        or cardinality(o.entered_tracking_codes) > 0
        or num_nonnulls(o.buyer_reference, o.purchase_order_number) > 0)
    returning 1
  ) select 'orders', count(*) from done;
  return query with done as (
    update erp.fulfillment_order f
    set shipping_address = erp.postal_address(erp.country_alone(f.shipping_address)), hold_comment = null
    where f.id = any (about.fulfillment_orders) and (f.hold_comment is not null
      or f.shipping_address is distinct from erp.postal_address(erp.country_alone(f.shipping_address)))
    returning 1
  ) select 'fulfillment orders', count(*) from done;
  return query with done as (
    update erp.quote q set comment = null where q.id = any (about.quotes) and q.comment is not null
    returning 1
  ) select 'quotes', count(*) from done;
  return query with done as (
    update erp.goods_receipt g set comment = null where g.id = any (about.receipts) and g.comment is not null
    returning 1
  ) select 'goods receipts', count(*) from done;
end
$$;
comment on function erp.anonymize_rows(uuid) is
  'Replaces personal values in the tables of a shop, for erp.anonymize_customer.';
--! EndIncluded erp/anonymize_rows.sql
--! Included events/anonymous_data.sql
create or replace function events.anonymous_data(topic text, subject_id uuid, data jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select anonymous_data.data || coalesce(jsonb_object_agg(f.field, case
    when f.field = 'email' then to_jsonb(anonymous_data.subject_id || '@anonymized.invalid')
    when f.field = 'shippingAddress' then
      coalesce(case when jsonb_typeof(anonymous_data.data -> f.field) = 'object'
        then erp.postal_address(erp.country_alone(anonymous_data.data -> f.field)) end, 'null')
    -- Of orders null, of labels a list
    when f.field = 'trackingCodes' then
      case jsonb_typeof(anonymous_data.data -> f.field) when 'array' then '[]' else 'null' end::jsonb
    else f.value end), '{}')
  from events.topic t
  join (values
    ('Customer', 'email', 'null'::jsonb), ('Customer', 'firstName', '"Anonymized"'),
    ('Customer', 'lastName', '"Customer"'), ('Customer', 'title', 'null'), ('Customer', 'company', 'null'),
    ('Customer', 'vatIds', 'null'), ('Customer', 'storefrontId', 'null'),
    ('Customer', 'salutationId', 'null'), ('Customer', 'buyerReference', 'null'),
    ('Customer', 'electronicAddress', 'null'), ('Customer', 'electronicAddressScheme', 'null'),
    ('Customer', 'registrationId', 'null'), ('Order', 'trackingCodes', 'null'),
    ('Order', 'buyerReference', 'null'), ('Order', 'purchaseOrderNumber', 'null'),
    ('FulfillmentOrder', 'holdComment', 'null'), ('FulfillmentOrder', 'shippingAddress', 'null'),
    ('ShippingLabel', 'trackingCodes', 'null'), ('ShippingLabel', 'trackingUrl', 'null'),
    ('ShippingLabel', 'documentUrl', 'null'), ('GoodsReceipt', 'comment', 'null')
  ) f (subject_type, field, value) on f.subject_type = t.subject_type and anonymous_data.data ? f.field
  where t.name = anonymous_data.topic;
end;
comment on function events.anonymous_data(text, uuid, jsonb) is
  'Returns the data of an event without what identifies a customer. Data that is anonymous already stays '
  'the same.';
--! EndIncluded events/anonymous_data.sql

drop view if exists api_unstable.customers, api_unstable.orders, api_unstable.order_line_items,
  api_unstable.products, api_unstable.payment_methods, api_unstable.documents;
--! Included api/customers.sql
create view api_unstable.customers with (security_invoker = true) as
select id, customer_number, account_type, email, first_name, last_name, title, company, vat_ids, active,
  guest, group_id, invoice_form, buyer_reference, electronic_address, electronic_address_scheme,
  registration_id, sales_channel_id, storefront_id, created_at, updated_at,
  bound_sales_channel_id, requested_group_id, default_payment_method_id, last_payment_method_id, salutation_id
from erp.customer;
comment on view api_unstable.customers is
  E'@primaryKey id\n'
  '@requiresScopes customers:read\n'
  '@aggregates created_at\n'
  '@groupBy account_type,group_id,active,created_at\n'
  '@search customer_number,first_name,last_name,company,email\n'
  '@hidden bound_sales_channel_id,requested_group_id,default_payment_method_id,last_payment_method_id,'
  'salutation_id\n'
  '@nullable active,guest\n'
  '@columnEnum account_type customer_account_type\n'
  '@columnEnum invoice_form invoice_form\n'
  '@filters group_id,sales_channel_id,account_type,active,guest,company,customer_number,email,'
  'first_name,last_name,title,created_at,updated_at\n'
  '@foreignKey (bound_sales_channel_id) references sales_channels (id)|@fieldName '
  'boundSalesChannel|@foreignFieldName boundCustomers\n'
  '@foreignKey (sales_channel_id) references sales_channels (id)|@fieldName '
  'salesChannel|@foreignFieldName customers\n'
  '@foreignKey (default_payment_method_id) references payment_methods (id)|@fieldName '
  'defaultPaymentMethod|@foreignFieldName customers\n'
  '@foreignKey (last_payment_method_id) references payment_methods (id)|@fieldName lastPaymentMethod\n'
  '@foreignKey (group_id) references customer_groups (id)|@fieldName group|@foreignFieldName customers\n'
  '@foreignKey (requested_group_id) references customer_groups (id)|@fieldName requestedGroup\n'
  '@foreignKey (salutation_id) references salutations (id)|@fieldName salutation|@foreignFieldName '
  'customers\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->customer_tags(customer_id);(tag_id)->tags(id)\n'
  'A person or a company that buys.';
--! EndIncluded api/customers.sql
--! Included api/orders.sql
create view api_unstable.orders with (security_invoker = true) as
select id, order_number, order_date_time, state, delivery_state, payment_state, amount_net, amount_total,
  currency_id,
  tracking_codes, storefront_id, created_at, updated_at, sales_channel_id, customer_id, buyer_reference,
  purchase_order_number, due_date, paid_amount, exchange_rate, exchange_rate_date, exchange_rate_source
from erp.sales_order;
comment on view api_unstable.orders is
  E'@primaryKey id\n'
  '@requiresScopes orders:read\n'
  '@aggregates amount_net,amount_total,order_date_time\n'
  '@groupBy state,delivery_state,payment_state,currency_id,order_date_time\n'
  '@search order_number,storefront_id,tracking_codes,customer_id\n'
  '@filters amount_net,amount_total,created_at,order_date_time,updated_at,currency_id,order_number,state,'
  'delivery_state,payment_state,customer_id,sales_channel_id\n'
  '@foreignKey (currency_id) references currencies (id)|@fieldName currency|@foreignFieldName orders\n'
  '@foreignKey (sales_channel_id) references sales_channels (id)|@fieldName '
  'salesChannel|@foreignFieldName orders\n'
  '@foreignKey (customer_id) references customers (id)|@fieldName customer|@foreignFieldName orders\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->order_tags(order_id);(tag_id)->tags(id)\n'
  'An order of a customer.';
--! EndIncluded api/orders.sql
--! Included api/order_line_items.sql
create view api_unstable.order_line_items with (security_invoker = true) as
select id, order_id, product_id, type, identifier, label, description, quantity, shipped_quantity, unit_price,
  total_price,
  storefront_id, parent_id, position, tax_category, exemption_code, discount_reason, unit_code
from erp.sales_order_line_item;
comment on view api_unstable.order_line_items is $$
@primaryKey id
@requiresScopes orders:read
@aggregates quantity,shipped_quantity,total_price
@groupBy product_id,order_id,type
@hidden parent_id
@nullable shipped_quantity
@filters order_id,product_id,description,identifier,label,type,quantity,total_price,unit_price
@foreignKey (order_id) references orders (id)|@fieldName order|@foreignFieldName lineItems
@foreignKey (parent_id) references order_line_items (id)|@fieldName parent|@foreignFieldName children
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName orderLineItems
A line of an order: a product, a custom item, a promotion or a credit. Lines can have lines below them.$$;
--! EndIncluded api/order_line_items.sql
--! Included api/products.sql
create view api_unstable.products with (security_invoker = true) as
select id, product_number, parent_id, name, description, gtin, manufacturer_number, unit_code,
  array(
    select row (p.currency_id, p.net, p.gross, p.linked)::api_unstable.price
    from erp.product_price p where p.product_id = product.id order by p.currency_id
  ) as price,
  nullif(array(
    select row (p.currency_id, p.net, p.gross, p.linked)::api_unstable.price
    from erp.product_purchase_price p where p.product_id = product.id order by p.currency_id
  ), '{}') as purchase_prices,
  physical_stock, stock_not_available_for_sale, reserved_stock, available_stock, open_supplier_order_quantity,
  last_supplier_order_at, reorder_point, target_maximum_quantity, storefront_variants, canonical_product_id,
  array(
    select row (t.key, t.value ->> 'name', t.value ->> 'description')::api_unstable.product_translation
    from jsonb_each(product.translations) t order by t.key collate "C"
  ) as translations
from erp.product;
comment on view api_unstable.products is $$
@primaryKey id
@requiresScopes products:read
@aggregates physical_stock,available_stock,reserved_stock
@groupBy parent_id
@search product_number,name,gtin,manufacturer_number in erp.product_words
@hidden canonical_product_id
@nullable physical_stock,stock_not_available_for_sale,reserved_stock,available_stock
@filters parent_id,available_stock,gtin,manufacturer_number,product_number
@foreignKey (parent_id) references products (id)|@fieldName parent|@foreignFieldName children
@foreignKey (canonical_product_id) references products (id)|@fieldName canonicalProduct
@ref tags to:Tag plural
@refVia tags via:(id)->product_tags(product_id);(tag_id)->tags(id)
@describe images The images of the product, in their order. The first is shown where there is room for one.
A product of the catalog, or a variant of one.$$;
comment on column api_unstable.products.price is
  E'@notNull\n'
  'Sales prices, one per currency. Tiered prices and prices of customer groups are not among them.';
comment on column api_unstable.products.purchase_prices is
  'Purchase prices, one per currency. Kept in step with the default supplier''s: both ways while that '
  'supplier is paid in the default currency; otherwise only copied from it, converted by the rate of '
  'the moment. Prices of other suppliers stand on their configuration only. Null when there are none.';
comment on column api_unstable.products.translations is
  E'@notNull\nName and description in other languages, in the order of their locales.';
--! EndIncluded api/products.sql
--! Included api/payment_methods.sql
create view api_unstable.payment_methods with (security_invoker = true) as
select id, technical_name, erp.localized(name) as name, erp.localized(description) as description, active,
  position,
  after_order_enabled, created_at, updated_at, means_code
from erp.payment_method;
comment on view api_unstable.payment_methods is
  E'@primaryKey id\n'
  '@requiresScopes payment_methods:read\n'
  '@filters technical_name,active,position,after_order_enabled,created_at,updated_at\n'
  '@ref salesChannels to:SalesChannel plural\n'
  '@refVia salesChannels '
  'via:(id)->sales_channel_payment_methods(payment_method_id);(sales_channel_id)->sales_channels(id)\n'
  'A way to pay.';
--! EndIncluded api/payment_methods.sql
--! Included api/documents.sql
create view api_unstable.documents with (security_invoker = true) as
select id, document_number, deep_link_code, config, static, sent,
  '/api/_action/document/' || id::text || '/' || deep_link_code as download_url,
  array(
    select f.format
    from (
      select 'pdf'::text where not static or content_type ~* '^application/pdf'
      union all
      select x.format from erp.document_file x where x.document_id = document.id and x.format <> 'pdf'
    ) f (format)
    order by f.format
  ) as formats,
  document_type_id, order_id, referenced_document_id
from erp.document;
comment on view api_unstable.documents is
  E'@primaryKey id\n'
  '@requiresScopes documents:read\n'
  '@search document_number,order_id\n'
  '@hidden document_type_id,order_id,referenced_document_id\n'
  '@nullable static,sent\n'
  '@fullLists formats\n'
  '@filters deep_link_code,document_number,sent,static\n'
  '@foreignKey (document_type_id) references document_types (id)|@fieldName '
  'documentType|@foreignFieldName documents\n'
  '@foreignKey (order_id) references orders (id)|@fieldName order|@foreignFieldName documents\n'
  '@foreignKey (referenced_document_id) references documents (id)|@fieldName '
  'referencedDocument|@foreignFieldName dependentDocuments\n'
  'A document of an order, such as an invoice or a delivery note.';
comment on column api_unstable.documents.download_url is
  E'@notNull\n'
  'Address that opens the document without a token, relative to the address of the service; stays the '
  'same as long as the document lives.';
comment on column api_unstable.documents.formats is
  E'@notNull\n'
  'Formats of the document: pdf, and xml if it is a structured invoice. Add ?format=xml to downloadUrl to '
  'get the XML. Empty if the document is an uploaded file of another kind.';
--! EndIncluded api/documents.sql
--! Included api/invoices.sql
drop view if exists api_unstable.invoices;
drop type if exists api_unstable.invoice_tax;
create type api_unstable.invoice_tax as (
  category text, rate numeric, net numeric, tax numeric, exemption_code text
);
comment on type api_unstable.invoice_tax is 'Amounts of an invoice at one tax category and rate (BG-23).';
comment on column api_unstable.invoice_tax.category is
  E'@notNull\nTax category of UNTDID 5305 (BT-118), for example S for the standard or a reduced rate.';
comment on column api_unstable.invoice_tax.rate is E'@notNull\nTax rate in percent (BT-119).';
comment on column api_unstable.invoice_tax.net is
  E'@notNull\nAmount without tax that is taxed at the rate (BT-116).';
comment on column api_unstable.invoice_tax.tax is E'@notNull\nTax at the rate (BT-117).';
comment on column api_unstable.invoice_tax.exemption_code is
  'Code of the list VATEX for the reason why there is no tax (BT-121).';

create view api_unstable.invoices with (security_invoker = true) as
select document_id, type_code, form, currency_code, net, tax, total, paid, due, due_date,
  array(
    select row (t.category, t.rate, t.net, t.tax, t.exemption_code)::api_unstable.invoice_tax
    from erp.invoice_tax t where t.document_id = invoice_figures.document_id order by t.category, t.rate
  ) as taxes
from erp.invoice_figures;
comment on view api_unstable.invoices is
  E'@primaryKey document_id\n'
  '@requiresScopes documents:read\n'
  '@columnEnum form invoice_form\n'
  '@aggregates net,tax,total,paid,due\n'
  '@groupBy type_code,form,currency_code,due_date\n'
  '@filters document_id,due_date\n'
  '@foreignKey (document_id) references documents (id)|@fieldName document|@foreignFieldName invoice\n'
  'The amounts of a numbered invoice, cancellation invoice or credit note, as the document shows them. '
  'Later payments do not change them.';
comment on column api_unstable.invoices.taxes is
  E'@notNull\n'
  'The taxes by category and rate. Empty for invoices that were created before they had tax categories.';
--! EndIncluded api/invoices.sql
--! Included api/customers_upsert.sql
drop type if exists api_unstable.customers_upsert_input cascade;
drop type if exists api_unstable.customer_upsert_input cascade;
drop type if exists api_unstable.customers_upsert_payload cascade;

create type api_unstable.customer_upsert_input as (
  id uuid, storefront_id text, sales_channel_id uuid, customer_number text,
  account_type api_unstable.customer_account_type, email text, first_name text, last_name text, title text,
  company text, vat_ids jsonb, active boolean, guest boolean, group_id uuid, requested_group_id uuid,
  bound_sales_channel_id uuid, default_payment_method_id uuid, salutation_id uuid,
  invoice_form api_unstable.invoice_form, buyer_reference text, electronic_address text,
  electronic_address_scheme text, registration_id text, tags text[]
);
comment on type api_unstable.customer_upsert_input is
  'A customer as they are to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.customer_upsert_input.id is
  E'@gid Customer\nId of the customer. Without it, the customer is known by storefrontId and '
  'salesChannelId, or else by customerNumber.';
comment on column api_unstable.customer_upsert_input.storefront_id is
  'Id in the external storefront platform, unique in the sales channel; at most 255 characters.';
comment on column api_unstable.customer_upsert_input.sales_channel_id is
  E'@gid SalesChannel\nId of the sales channel where the account was made. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.customer_number is
  'Number that the shop knows the customer by, unique; at most 255 characters. When left out of a new '
  'one, the next of its range.';
comment on column api_unstable.customer_upsert_input.account_type is
  'Whether a person or a company buys. Private when left out of a new one.';
comment on column api_unstable.customer_upsert_input.email is
  'E-mail address, unique within the sales channel and the channel that the account is bound to; at '
  'most 255 characters. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.first_name is
  'Given name. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.last_name is
  'Family name. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.title is
  'Academic or honorary title.';
comment on column api_unstable.customer_upsert_input.company is
  'Name of the company, for business customers.';
comment on column api_unstable.customer_upsert_input.vat_ids is
  'VAT identification numbers: a list of strings.';
comment on column api_unstable.customer_upsert_input.active is
  'Whether the account may log in and buy. True when left out of a new one.';
comment on column api_unstable.customer_upsert_input.guest is
  'Whether the customer bought without opening an account. False when left out of a new one.';
comment on column api_unstable.customer_upsert_input.group_id is
  E'@gid CustomerGroup\n'
  'Id of the customer group whose terms apply. A new customer gets the group of the sales channel by '
  'default.';
comment on column api_unstable.customer_upsert_input.requested_group_id is
  E'@gid CustomerGroup\nId of the group that the customer wants to belong to.';
comment on column api_unstable.customer_upsert_input.bound_sales_channel_id is
  E'@gid SalesChannel\nId of the only sales channel where the account is valid; null for all.';
comment on column api_unstable.customer_upsert_input.default_payment_method_id is
  E'@gid PaymentMethod\nId of the way to pay that the customer prefers.';
comment on column api_unstable.customer_upsert_input.salutation_id is
  E'@gid Salutation\nId of the form of address.';
comment on column api_unstable.customer_upsert_input.invoice_form is
  'Form of the customer''s invoices. A new customer gets pdf by default.';
comment on column api_unstable.customer_upsert_input.buyer_reference is
  'Reference that the customer wants on invoices, such as a Leitweg-ID (BT-10); at most 255 characters. '
  'XRechnung needs one.';
comment on column api_unstable.customer_upsert_input.electronic_address is
  'Electronic address that the customer receives invoices at (BT-49); at most 255 characters. It needs its '
  'scheme.';
comment on column api_unstable.customer_upsert_input.electronic_address_scheme is
  'Kind of the electronic address: EM for an e-mail address, otherwise a code of the list EAS, such as 0204 '
  'for a Leitweg-ID.';
comment on column api_unstable.customer_upsert_input.registration_id is
  'Number of the company in an official register (BT-47); at most 255 characters.';
comment on column api_unstable.customer_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';

create type api_unstable.customers_upsert_input
  as (customers api_unstable.customer_upsert_input[], partial boolean);
comment on type api_unstable.customers_upsert_input is 'Customers as they are to be.';
comment on column api_unstable.customers_upsert_input.customers is
  E'@notNull\nThe customers; 1 to 250 rows.';
comment on column api_unstable.customers_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or '
  'none.';

create type api_unstable.customers_upsert_payload as (
  results api_unstable.upsert_result[], customers uuid[],
  user_errors api_unstable.user_error[]
);
comment on type api_unstable.customers_upsert_payload is 'The result of upserting customers.';
comment on column api_unstable.customers_upsert_payload.results is
  E'@resultOf Customer\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on column api_unstable.customers_upsert_payload.customers is
  E'@entity Customer\n@perLine customers\nThe customers of the rows that were not refused, in their '
  'order.';
comment on column api_unstable.customers_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.customers_upsert(input api_unstable.customers_upsert_input, changes jsonb)
returns api_unstable.customers_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.customers_upsert_payload
  from mutation.upserted(erp.upsert_customers(changes -> 'customers', input.partial)) d
$$;
comment on function api_unstable.customers_upsert(api_unstable.customers_upsert_input, jsonb) is
  E'@requiresScopes customers:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE TOO_MANY_LINES\n'
  'Creates and updates customers. A row is matched by id, by storefrontId and sales channel, or by '
  'number. A customer who was matched by number and has no storefrontId yet gets the one of the row. '
  'Rows without a change write nothing.';
--! EndIncluded api/customers_upsert.sql
--! Included api/orders_upsert.sql
drop type if exists api_unstable.orders_upsert_input cascade;
drop type if exists api_unstable.order_upsert_input cascade;
drop type if exists api_unstable.orders_upsert_payload cascade;

drop type if exists api_unstable.order_line_upsert_input cascade;

create type api_unstable.order_line_upsert_input as (
  id uuid, storefront_id text, identifier text, type text, product_id uuid, product_number text, label text,
  description text, quantity integer, unit_price numeric, total_price numeric, tax_rate numeric,
  tax_category text, exemption_code text, discount_reason text, unit_code text, position integer
);
comment on type api_unstable.order_line_upsert_input is
  'A line of an order as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.order_line_upsert_input.id is
  E'@gid OrderLineItem\nId of the line. Without it, the line is known by its storefrontId, or else by '
  'its identifier.';
comment on column api_unstable.order_line_upsert_input.storefront_id is
  'Id of the line in the external storefront platform.';
comment on column api_unstable.order_line_upsert_input.identifier is
  'Identifier taken over from the cart. When left out of a new line, its storefrontId, number of the '
  'product or label.';
comment on column api_unstable.order_line_upsert_input.type is
  'Kind of the line: product, custom, promotion, credit or another word. A new line is product or '
  'custom by default.';
comment on column api_unstable.order_line_upsert_input.product_id is
  E'@gid Product\nId of the product that was ordered.';
comment on column api_unstable.order_line_upsert_input.product_number is
  'Number of the product, instead of its id.';
comment on column api_unstable.order_line_upsert_input.label is
  'Text shown for the line. When left out of a new line, the name of the product.';
comment on column api_unstable.order_line_upsert_input.description is
  'Second line of text.';
comment on column api_unstable.order_line_upsert_input.quantity is
  'Units ordered; at least 1. A new line needs it.';
comment on column api_unstable.order_line_upsert_input.unit_price is
  'Price of one unit with tax, in the currency of the order.';
comment on column api_unstable.order_line_upsert_input.total_price is
  'Price of the line with tax, in cents: more decimals are rounded. When left out beside a unit price or a '
  'quantity, their product.';
comment on column api_unstable.order_line_upsert_input.tax_rate is
  'Tax rate in percent, from 0 to 100.';
comment on column api_unstable.order_line_upsert_input.tax_category is
  'Tax category of UNTDID 5305: S standard or reduced rate, Z zero rate, E exempt, AE reverse charge, K '
  'intra-Community supply, G export. S needs a tax rate above 0, the others one of 0. By default it follows '
  'from the tax rate and the tax status of the order.';
comment on column api_unstable.order_line_upsert_input.exemption_code is
  'Code of the reason why the line has no tax, of the list VATEX, such as VATEX-EU-AE. It needs a tax '
  'category of E, AE, K or G. By default the code of the category.';
comment on column api_unstable.order_line_upsert_input.discount_reason is
  'Reason why the total is less than the unit price times the quantity (BT-139); at most 255 characters.';
comment on column api_unstable.order_line_upsert_input.unit_code is
  'Unit of the quantity, of UN/ECE Recommendation 20 (BT-130), such as C62 for pieces or KGM for kilograms. '
  'By default the unit of the product.';
comment on column api_unstable.order_line_upsert_input.position is
  'Place of the line within its order, by which documents list lines. When left out of a new line, it '
  'comes after those that are there, in the order of the call.';

create type api_unstable.order_upsert_input as (
  id uuid, storefront_id text, sales_channel_id uuid, order_number text, order_date_time timestamptz,
  payment_state text, tax_status text, currency_id uuid, customer_id uuid, shipping_method_id uuid,
  payment_method_id uuid, shipping_address jsonb, billing_address jsonb,
  buyer_reference text, purchase_order_number text, due_date date, paid_amount numeric, exchange_rate numeric,
  exchange_rate_date date, exchange_rate_source text,
  line_items api_unstable.order_line_upsert_input[], tags text[]
);
comment on type api_unstable.order_upsert_input is
  'An order as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.order_upsert_input.id is
  E'@gid Order\nId of the order. Without it, the order is known by storefrontId and salesChannelId, or '
  'else by orderNumber.';
comment on column api_unstable.order_upsert_input.storefront_id is
  'Id in the external storefront platform, unique in the sales channel; at most 255 characters. It '
  'needs the sales channel.';
comment on column api_unstable.order_upsert_input.sales_channel_id is
  E'@gid SalesChannel\nId of the sales channel where it was ordered.';
comment on column api_unstable.order_upsert_input.order_number is
  'Number that the customer knows the order by, unique; at most 255 characters.';
comment on column api_unstable.order_upsert_input.order_date_time is
  'When the customer ordered. Now, when left out of a new one.';
comment on column api_unstable.order_upsert_input.payment_state is
  'State of the primary payment, for example open, paid or refunded.';
comment on column api_unstable.order_upsert_input.tax_status is
  'Whether prices are gross, net or tax-free. Gross when left out of a new one.';
comment on column api_unstable.order_upsert_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts. A new one gets the currency of the sales channel by default.';
comment on column api_unstable.order_upsert_input.customer_id is
  E'@gid Customer\nId of the customer.';
comment on column api_unstable.order_upsert_input.shipping_method_id is
  E'@gid ShippingMethod\nId of the way to ship.';
comment on column api_unstable.order_upsert_input.payment_method_id is
  E'@gid PaymentMethod\nId of the way to pay.';
comment on column api_unstable.order_upsert_input.shipping_address is
  'Shipping address: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_unstable.order_upsert_input.billing_address is
  'Billing address: an object with the same keys.';
comment on column api_unstable.order_upsert_input.buyer_reference is
  'Reference that the buyer wants on invoices of this order (BT-10); at most 255 characters. By default the '
  'customer''s.';
comment on column api_unstable.order_upsert_input.purchase_order_number is
  'Number of the buyer''s purchase order (BT-13); at most 255 characters.';
comment on column api_unstable.order_upsert_input.due_date is
  'Day on which invoices of the order are due (BT-9). By default it follows from the merchant''s days for '
  'payment.';
comment on column api_unstable.order_upsert_input.paid_amount is
  'Amount that the customer has paid already (BT-113), in the currency of the order and in cents: more '
  'decimals are rounded. Invoices deduct it.';
comment on column api_unstable.order_upsert_input.exchange_rate is
  'Units of the order''s currency per unit of the default currency, for the tax on invoices. It needs its '
  'date and source. By default the rate of the day of delivery.';
comment on column api_unstable.order_upsert_input.exchange_rate_date is
  'Day on which the exchange rate was published.';
comment on column api_unstable.order_upsert_input.exchange_rate_source is
  'Publisher of the exchange rate, for example ecb; at most 255 characters.';
comment on column api_unstable.order_upsert_input.line_items is
  'All lines that the order is to have, up to 250. Lines that are not among them go.';
comment on column api_unstable.order_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';

create type api_unstable.orders_upsert_input as (orders api_unstable.order_upsert_input[], partial boolean);
comment on type api_unstable.orders_upsert_input is 'Orders as they are to be.';
comment on column api_unstable.orders_upsert_input.orders is
  E'@notNull\nThe orders; 1 to 250 rows.';
comment on column api_unstable.orders_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or '
  'none.';

create type api_unstable.orders_upsert_payload as (
  results api_unstable.upsert_result[], orders uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.orders_upsert_payload is 'The result of upserting orders.';
comment on column api_unstable.orders_upsert_payload.results is
  E'@resultOf Order\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on column api_unstable.orders_upsert_payload.orders is
  E'@entity Order\n@perLine orders\nThe orders of the rows that were not refused, in their order.';
comment on column api_unstable.orders_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.orders_upsert(input api_unstable.orders_upsert_input, changes jsonb)
returns api_unstable.orders_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.orders_upsert_payload
  from mutation.upserted(erp.upsert_orders(changes -> 'orders', input.partial)) d
$$;
comment on function api_unstable.orders_upsert(api_unstable.orders_upsert_input, jsonb) is
  E'@requiresScopes orders:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE OVER_FULFILLMENT '
  'TOO_MANY_LINES\n'
  'Creates and updates orders. A row is matched by id, by storefrontId and sales channel, or by number. '
  'Units that are shipped, assigned to a fulfillment order or invoiced stay: a line keeps at least '
  'these units, and its product. Lines of completed and cancelled orders don''t change. Rows without a '
  'change write nothing.';
--! EndIncluded api/orders_upsert.sql
--! Included api/products_upsert.sql
drop type if exists api_unstable.products_upsert_input cascade;
drop type if exists api_unstable.product_upsert_input cascade;
drop type if exists api_unstable.product_price_input cascade;
drop type if exists api_unstable.products_upsert_payload cascade;
drop type if exists api_unstable.product_upsert_image_input cascade;
drop type if exists api_unstable.product_upsert_image_translation_input cascade;
drop type if exists api_unstable.product_upsert_translation_input cascade;

create type api_unstable.product_price_input
  as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type api_unstable.product_price_input is 'A price in one currency.';
comment on column api_unstable.product_price_input.currency_id is
  E'@notNull\n@gid Currency\nId of the currency.';
comment on column api_unstable.product_price_input.net is E'@notNull\nAmount without tax; not negative.';
comment on column api_unstable.product_price_input.gross is E'@notNull\nAmount with tax; not negative.';
comment on column api_unstable.product_price_input.linked is
  'Whether one of the amounts follows from the other by the tax rate. True when left out.';

create type api_unstable.product_upsert_translation_input as (locale text, name text, description text);
comment on type api_unstable.product_upsert_translation_input is
  'Texts of a product in another language. Without a text it counts as left out.';
comment on column api_unstable.product_upsert_translation_input.locale is
  E'@notNull\nThe language, perhaps with script and region: de, de-AT, zh-Hant-TW.';
comment on column api_unstable.product_upsert_translation_input.name is
  'Name of the product; at most 255 characters.';
comment on column api_unstable.product_upsert_translation_input.description is
  'Text that describes the product to buyers.';

create type api_unstable.product_upsert_image_translation_input as (locale text, alt_text text);
comment on type api_unstable.product_upsert_image_translation_input is
  'The alternative text of an image in another language. Without a text it counts as left out.';
comment on column api_unstable.product_upsert_image_translation_input.locale is
  E'@notNull\nThe language, perhaps with script and region: de, de-AT, zh-Hant-TW.';
comment on column api_unstable.product_upsert_image_translation_input.alt_text is
  'Description of the image; at most 1,000 characters.';

create type api_unstable.product_upsert_image_input
  as (url text, alt_text text, translations api_unstable.product_upsert_image_translation_input[]);
comment on type api_unstable.product_upsert_image_input is 'An image of a product.';
comment on column api_unstable.product_upsert_image_input.url is
  E'@notNull\n'
  'Address of the image, which begins with https:// or http://; at most 2048 characters, without a user. '
  'It is kept, and not fetched.';
comment on column api_unstable.product_upsert_image_input.alt_text is
  'Description of the image for people who can''t see it; at most 1,000 characters.';
comment on column api_unstable.product_upsert_image_input.translations is
  'The alternative text in other languages, each of them once; at most 250.';

create type api_unstable.product_upsert_input as (
  id uuid, product_number text, parent_id uuid, parent_product_number text, canonical_product_id uuid,
  name text, description text, gtin text, manufacturer_number text, unit_code text, tax_rate numeric,
  is_batch_managed boolean, reorder_point integer, target_maximum_quantity integer,
  storefront_variants jsonb, price api_unstable.product_price_input[],
  purchase_prices api_unstable.product_price_input[], tags text[],
  translations api_unstable.product_upsert_translation_input[],
  images api_unstable.product_upsert_image_input[]
);
comment on type api_unstable.product_upsert_input is
  'A product as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.product_upsert_input.id is
  E'@gid Product\nId of the product. Without it, the product is known by its number.';
comment on column api_unstable.product_upsert_input.product_number is
  'Stock keeping unit (SKU), unique; 1 to 255 characters. Beside an id it is the number that the product '
  'gets.';
comment on column api_unstable.product_upsert_input.parent_id is
  E'@gid Product\nId of the product that this one is a variant of.';
comment on column api_unstable.product_upsert_input.parent_product_number is
  'Number of the product that this one is a variant of, instead of its id. It may be a row of the same call, '
  'before or after this one.';
comment on column api_unstable.product_upsert_input.canonical_product_id is
  E'@gid Product\nId of the product that stands for this one where only one is shown.';
comment on column api_unstable.product_upsert_input.name is 'Name of the product.';
comment on column api_unstable.product_upsert_input.description is
  'Text that describes the product to buyers.';
comment on column api_unstable.product_upsert_input.gtin is
  'Global Trade Item Number (EAN, UPC); at most 255 characters.';
comment on column api_unstable.product_upsert_input.manufacturer_number is
  'Number that the manufacturer gave the product; at most 255 characters.';
comment on column api_unstable.product_upsert_input.unit_code is
  'Unit that the product is counted in, of UN/ECE Recommendation 20, such as C62 for pieces or KGM for '
  'kilograms. Invoices show C62 by default.';
comment on column api_unstable.product_upsert_input.tax_rate is
  'Tax rate in percent, from 0 to 100. 19 when left out of a new product.';
comment on column api_unstable.product_upsert_input.is_batch_managed is
  'Whether every movement of the product must name batches. It can''t change while there is stock.';
comment on column api_unstable.product_upsert_input.reorder_point is
  'Stock, over all warehouses, at which the product is to be ordered again; not negative.';
comment on column api_unstable.product_upsert_input.target_maximum_quantity is
  'Stock to fill up to when the product is ordered again; not negative.';
comment on column api_unstable.product_upsert_input.storefront_variants is
  'Counterparts in the external storefront platform: a list of objects with productId and variantId.';
comment on column api_unstable.product_upsert_input.price is
  'Sales prices, one per currency. They take the place of all present ones.';
comment on column api_unstable.product_upsert_input.purchase_prices is
  'Purchase prices, one per currency. They take the place of all present ones, also of the default '
  'supplier''s '
  'while that is paid in the default currency.';
comment on column api_unstable.product_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';
comment on column api_unstable.product_upsert_input.translations is
  'Name and description in other languages, each of them once, which take the place of all present ones; at '
  'most 250.';
comment on column api_unstable.product_upsert_input.images is
  'Images in their order, each address once, which take the place of all present ones; at most 250.';

create type api_unstable.products_upsert_input
  as (products api_unstable.product_upsert_input[], partial boolean);
comment on type api_unstable.products_upsert_input is 'Products as they are to be.';
comment on column api_unstable.products_upsert_input.products is E'@notNull\nThe products; 1 to 250 rows.';
comment on column api_unstable.products_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or none.';

create type api_unstable.products_upsert_payload as (
  results api_unstable.upsert_result[], products uuid[], user_errors api_unstable.user_error[],
  warnings api_unstable.warning[]
);
comment on type api_unstable.products_upsert_payload is 'The result of upserting products.';
comment on column api_unstable.products_upsert_payload.results is
  E'@resultOf Product\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on column api_unstable.products_upsert_payload.products is
  E'@entity Product\n@perLine products\nThe products of the rows that were not refused, in their order.';
comment on column api_unstable.products_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';
comment on column api_unstable.products_upsert_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

create function api_unstable.products_upsert(input api_unstable.products_upsert_input, changes jsonb)
returns api_unstable.products_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids,
    null, null
  )::api_unstable.products_upsert_payload
  from mutation.upserted(erp.upsert_products(changes -> 'products', input.partial)) d
$$;
comment on function api_unstable.products_upsert(api_unstable.products_upsert_input, jsonb) is
  E'@requiresScopes products:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE TOO_MANY_LINES\n'
  '@warnings PRODUCT_HAS_VARIANTS\n'
  'Makes products and changes those that are there, known by their id or number: with prices, translations, '
  'images, tags, and variants. Rows that say nothing new change nothing.';
--! EndIncluded api/products_upsert.sql
--! Included events/topics.sql
-- Subjects and topics of events. Everything else is derived from them: the triggers that write events
-- (events.derive_announcements), the scopes to read them, and their JSON schemas (events.schema).
-- Fields are columns, in the API's spelling; after a colon comes the type that an id belongs to. Columns that
-- change with everything, or that give access to something (a document's code), are omitted or don't count.
-- Other schemas declare subjects of their own, so a migration has to remove a subject that is no longer here.
merge into events.subject s
using (values
  ('Order', 'erp.sales_order', 'orders', 'id'),
  ('FulfillmentOrder', 'erp.fulfillment_order', 'fulfillment_orders', 'id'),
  ('Fulfillment', 'erp.fulfillment', 'fulfillments', 'id'),
  ('StockMovement', 'ledger.stock_movement', 'stock_movements', 'product_id'),
  ('Stock', 'ledger.stock', 'stocks', 'product_id'),
  ('Product', 'erp.product', 'products', 'id'),
  ('GoodsReceipt', 'erp.goods_receipt', 'goods_receipts', 'id'),
  ('SupplierOrder', 'erp.supplier_order', 'supplier_orders', 'id'),
  ('Batch', 'erp.batch', 'batches', 'id'),
  ('Customer', 'erp.customer', 'customers', 'id'),
  ('Document', 'erp.document', 'documents', 'id'),
  ('ShippingLabel', 'erp.shipping_label', 'shipping_labels', 'id'),
  ('WebhookSubscription', 'events.webhook_subscription', 'webhook_subscriptions', 'id'),
  ('BulkOperation', 'bulk.operation', 'bulk_operations', 'id')
) d (type, relation, view_name, entity_column) on s.type = d.type
when matched then update
set relation = d.relation::regclass, view_name = d.view_name, entity_column = d.entity_column
when not matched
  then insert (type, relation, view_name, entity_column) values (
    d.type, d.relation::regclass, d.view_name, d.entity_column
  );

with d as (
  select d.type, n.name, w.position, split_part(w.word, ':', 1) as column_name,
    nullif(split_part(w.word, ':', 2), '') as id_of
  from (values
    ('Order',
      'id:Order order_number order_date_time state delivery_state payment_state amount_net amount_total
      tracking_codes storefront_id currency_id:Currency sales_channel_id:SalesChannel customer_id:Customer
      buyer_reference purchase_order_number due_date paid_amount exchange_rate exchange_rate_date
      exchange_rate_source created_at updated_at'),
    ('FulfillmentOrder',
      'id:FulfillmentOrder number type state is_partially_fulfilled hold_comment destination_order_id:Order
      source_warehouse_location_id:Location external_location_name shipping_method_id:ShippingMethod
      shipping_method_name shipping_address storefront_id created_at updated_at'),
    ('Fulfillment',
      'id:Fulfillment number state storefront_id created_at'),
    ('StockMovement',
      'id:StockMovement product_id:Product quantity process_type_technical_name comment
      source_location_type_technical_name source_warehouse_id:Warehouse source_bin_location_id:BinLocation
      source_order_id:Order source_return_order_id:ReturnOrder source_goods_receipt_id:GoodsReceipt
      source_stock_container_id:StockContainer source_special_stock_location_technical_name
      destination_location_type_technical_name destination_warehouse_id:Warehouse
      destination_bin_location_id:BinLocation destination_order_id:Order
      destination_return_order_id:ReturnOrder destination_goods_receipt_id:GoodsReceipt
      destination_stock_container_id:StockContainer destination_special_stock_location_technical_name
      created_at'),
    ('Stock',
      'id:Stock product_id:Product quantity location_type_technical_name warehouse_id:Warehouse
      bin_location_id:BinLocation order_id:Order return_order_id:ReturnOrder goods_receipt_id:GoodsReceipt
      stock_container_id:StockContainer created_at updated_at'),
    ('Product',
      'id:Product product_number parent_id:Product canonical_product_id:Product name description gtin
      manufacturer_number unit_code physical_stock stock_not_available_for_sale reserved_stock available_stock
      open_supplier_order_quantity last_supplier_order_at reorder_point target_maximum_quantity
      storefront_variants'),
    ('GoodsReceipt',
      'id:GoodsReceipt number type state goods_receipt_date_time warehouse_id:Warehouse
      supplier_id:Supplier customer_id:Customer user_id:User currency_id:Currency currency_factor
      currency_factor_origin_type currency_factor_origin_source currency_factor_reference_date
      currency_factor_captured_at tax_status amount_net amount_total position_price comment'),
    ('SupplierOrder',
      'id:SupplierOrder number supplier_order_number state payment_state supplier_id:Supplier
      warehouse_id:Warehouse currency_id:Currency amount_net amount_total position_price tax_status
      order_date_time due_date delivery_date actual_delivery_date comment created_at updated_at'),
    ('Batch',
      'id:Batch product_id:Product number comment physical_stock'),
    ('Customer',
      'id:Customer customer_number account_type email first_name last_name title company vat_ids active
      guest group_id:CustomerGroup sales_channel_id:SalesChannel bound_sales_channel_id:SalesChannel
      requested_group_id:CustomerGroup default_payment_method_id:PaymentMethod salutation_id:Salutation
      invoice_form buyer_reference electronic_address electronic_address_scheme registration_id
      storefront_id created_at updated_at'),
    ('Document',
      'id:Document document_number static sent document_type_id:DocumentType order_id:Order
      referenced_document_id:Document'),
    ('ShippingLabel',
      'id:ShippingLabel state type carrier_technical_name carrier_name tracking_codes tracking_url
      document_url weight_in_grams fulfillment_order_id:FulfillmentOrder order_id:Order cancelled_at
      created_at updated_at'),
    ('WebhookSubscription',
      'id:WebhookSubscription topic api_version created_at'),
    ('BulkOperation',
      'id:BulkOperation kind state resource row_count done_count created_count updated_count refused_count
      error_code error_message created_at started_at finished_at')
  ) d (type, fields)
  cross join lateral regexp_split_to_table(d.fields, '\s+') with ordinality w (word, position)
  cross join lateral (
    select lower(left(c.camel, 1)) || substr(c.camel, 2)
    from (select replace(initcap(replace(split_part(w.word, ':', 1), '_', ' ')), ' ', '')) c (camel)
  ) n (name)
)
merge into events.field f
using d on f.subject_type = d.type and f.name = d.name
when matched then update set position = d.position, column_name = d.column_name, id_of = d.id_of
when not matched
  then insert (subject_type, name, position, column_name, id_of) values (
    d.type, d.name, d.position, d.column_name, d.id_of
  )
when not matched by source and f.subject_type in (select type from d) then delete;

with d as (
  select d.*, scope from (values
    ('order.created', 'Order', 'An order was created.', null::text[]),
    ('order.updated', 'Order', 'An order was changed.', null),
    (
      'order.state_changed', 'Order', 'The state of an order, of its delivery or of its payment was changed.',
      null
    ),
    ('fulfillment_order.created', 'FulfillmentOrder', 'A fulfillment order was created.', null),
    ('fulfillment_order.held', 'FulfillmentOrder', 'A fulfillment order was put on hold.', null),
    ('fulfillment_order.released', 'FulfillmentOrder', 'A fulfillment order is no longer on hold.', null),
    ('fulfillment_order.closed', 'FulfillmentOrder', 'A fulfillment order was fulfilled completely.', null),
    ('fulfillment_order.cancelled', 'FulfillmentOrder', 'A fulfillment order was cancelled.', null),
    ('fulfillment.created', 'Fulfillment', 'Something was shipped.', null),
    ('fulfillment.cancelled', 'Fulfillment', 'A fulfillment was cancelled.', null),
    ('stock_movement.created', 'StockMovement', 'Stock was moved.', null),
    (
      'stock.changed', 'Stock', 'The quantity of a product changed in a place that is not special.', null
    ),
    ('product.created', 'Product', 'A product was created.', null),
    (
      'product.updated', 'Product',
      'A product or a figure of its stock was changed.', null
    ),
    ('product.deleted', 'Product', 'A product was deleted.', '{id,productNumber}'),
    ('goods_receipt.created', 'GoodsReceipt', 'A goods receipt was created.', null),
    ('goods_receipt.approved', 'GoodsReceipt', 'A goods receipt was approved: the goods are there.', null),
    (
      'goods_receipt.completed', 'GoodsReceipt',
      'A goods receipt was completed: the goods have been put away.', null
    ),
    ('goods_receipt.deleted', 'GoodsReceipt', 'A goods receipt was deleted.', '{id,number}'),
    ('supplier_order.created', 'SupplierOrder', 'An order to a supplier was created.', null),
    ('supplier_order.sent', 'SupplierOrder', 'An order was sent to its supplier.', null),
    ('supplier_order.confirmed', 'SupplierOrder', 'A supplier confirmed an order.', null),
    (
      'supplier_order.delivered', 'SupplierOrder', 'Everything of an order to a supplier has been received.',
      null
    ),
    (
      'supplier_order.reopened', 'SupplierOrder',
      'A correction took back part of a delivered order: it waits for goods again.', null
    ),
    ('supplier_order.completed', 'SupplierOrder', 'An order to a supplier was completed.', null),
    ('supplier_order.cancelled', 'SupplierOrder', 'An order to a supplier was cancelled.', null),
    ('batch.created', 'Batch', 'A batch was created.', null),
    ('batch.updated', 'Batch', 'A batch or its stock was changed.', null),
    ('customer.created', 'Customer', 'A customer was created.', null),
    ('customer.updated', 'Customer', 'A customer was changed.', null),
    ('customer.deleted', 'Customer', 'A customer was deleted.', '{id,customerNumber}'),
    ('document.created', 'Document', 'A document of an order was created.', null),
    ('shipping_label.created', 'ShippingLabel', 'A shipping label was bought.', null),
    ('shipping_label.cancelled', 'ShippingLabel', 'A shipping label was cancelled.', null),
    (
      'bulk_operation.finished', 'BulkOperation',
      'A bulk operation has ended: it is completed, has failed or was cancelled.', null
    ),
    (
      'webhook_subscription.test', 'WebhookSubscription',
      'A test whether deliveries arrive. It is not in the log, and has no sequence.', null
    )
  ) d (name, subject_type, description, fields)
  join events.subject s on s.type = d.subject_type
  -- A scope is declared on the view and nowhere else
  cross join lateral api_meta.view_tag(
    format('api_unstable.%I', s.view_name)::regclass, 'requiresScopes'
  ) scope
)
merge into events.topic t
using d on t.name = d.name
when matched then update
set subject_type = d.subject_type, description = d.description, fields = d.fields, scope = d.scope,
  subscribable = d.name <> 'webhook_subscription.test'
when not matched then insert (name, subject_type, description, fields, scope, subscribable)
  values (d.name, d.subject_type, d.description, d.fields, d.scope, d.name <> 'webhook_subscription.test')
when not matched by source and t.subject_type in (select subject_type from d) then delete;

with d (topic, operation, columns, condition) as (values
  ('order.created', 'insert', null::text[], null),
  ('order.updated', 'update', null, null),
  ('order.state_changed', 'update', '{state,delivery_state,payment_state}', null),
  ('fulfillment_order.created', 'insert', null, null),
  ('fulfillment_order.held', 'update', '{state}', $$n.state = 'OnHold'$$),
  ('fulfillment_order.released', 'update', '{state}',
    $$o.state = 'OnHold' and n.state in ('Open', 'InProgress')$$),
  ('fulfillment_order.closed', 'update', '{state}', $$n.state = 'Closed'$$),
  ('fulfillment_order.cancelled', 'update', '{state}', $$n.state = 'Cancelled'$$),
  ('fulfillment.created', 'insert', null, null),
  ('fulfillment.cancelled', 'update', '{state}', $$n.state = 'Cancelled'$$),
  ('stock_movement.created', 'insert', null, null),
  ('stock.changed', 'insert', null, 'n.quantity <> 0 and n.special_stock_location_technical_name is null'),
  ('stock.changed', 'update', '{quantity}', 'n.special_stock_location_technical_name is null'),
  ('product.created', 'insert', null, null),
  ('product.updated', 'update', null, null),
  ('product.deleted', 'delete', null, null),
  ('goods_receipt.created', 'insert', null, null),
  ('goods_receipt.approved', 'update', '{state}', $$n.state = 'approved'$$),
  ('goods_receipt.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('goods_receipt.deleted', 'delete', null, null),
  ('supplier_order.created', 'insert', null, null),
  ('supplier_order.sent', 'update', '{state}', $$n.state = 'sent'$$),
  ('supplier_order.confirmed', 'update', '{state}',
    $$n.state = 'confirmed' and o.state in ('open', 'sent')$$),
  ('supplier_order.delivered', 'update', '{state}', $$n.state = 'delivered'$$),
  ('supplier_order.reopened', 'update', '{state}',
    $$o.state = 'delivered' and n.state in ('partially_delivered', 'confirmed')$$),
  ('supplier_order.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('supplier_order.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('batch.created', 'insert', null, null),
  ('batch.updated', 'update', null, null),
  ('customer.created', 'insert', null, null),
  ('customer.updated', 'update', null, null),
  ('customer.deleted', 'delete', null, null),
  ('document.created', 'insert', null, null),
  ('shipping_label.created', 'insert', null, $$n.state = 'created'$$),
  ('shipping_label.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('bulk_operation.finished', 'update', '{state}', $$n.state in ('completed', 'failed', 'cancelled')$$)
)
merge into events.occasion o
using d on o.topic = d.topic and o.operation = d.operation
when matched then update set columns = d.columns, condition = d.condition
when not matched
  then insert (topic, operation, columns, condition) values (d.topic, d.operation, d.columns, d.condition)
when not matched by source and o.topic in (select topic from d) then delete;
--! EndIncluded events/topics.sql

--! split: 50-downloads.sql
-- Documents are downloaded in each of their formats; a PDF may contain the XML

drop function if exists erp.open_document(uuid, bytea);
--! Included erp/open_document.sql
create or replace function erp.open_document(id uuid, presented_hash bytea, format text default 'pdf')
returns table (document_number text, config jsonb, static boolean, content bytea, content_type text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
  code text;
begin
  select d.deep_link_code into code from erp.document d where d.id = open_document.id;

  -- As in auth.authenticate_credential: the time of the comparison reveals nothing about the code. An unknown
  -- id takes the same path, with a hash that no code has.
  if sha256(nonce || presented_hash) is distinct from sha256(
    nonce || coalesce(sha256(convert_to(code, 'UTF8')), nonce)
  ) then
    return;
  end if;
  return query select d.document_number,
      d.config || case
        when x.content is not null then jsonb_build_object('xml', convert_from(x.content, 'UTF8'))
        else '{}' end,
      d.static, coalesce(case when open_document.format = 'pdf' then d.content end, f.content),
      coalesce(case when open_document.format = 'pdf' then d.content_type end, f.content_type)
    from erp.document d
    left join erp.document_file f on f.document_id = d.id and f.format = open_document.format
    left join erp.document_file x on x.document_id = d.id and x.format = 'xml' and f.content is null
      and (d.config #>> '{standard,embedsXml}')::boolean
    where d.id = open_document.id;
end
$$;
comment on function erp.open_document(uuid, bytea, text) is
  'Returns the document with this id and the SHA-256 of this deep link code, or no row. The '
  'content is the file of a format, pdf or xml. A PDF is null until it is rendered; the config then also '
  'has the XML that the PDF is to contain. Takes a hash, so that no code gets into the log of Postgres, and '
  'any input can be checked.';
select api_meta.give('erp.open_document(uuid, bytea, text)', 'service_document');
--! EndIncluded erp/open_document.sql

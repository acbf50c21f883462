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

-- Currencies, countries and sales channels
insert into erp.currency (
  id, iso_code, symbol, name, short_name, factor, position, is_default_currency, created_at, updated_at
)
select demo.id('currency', n), iso, symbol, demo.texts(en, de, fr), demo.texts(iso, iso, null), factor,
  position, n = 1,
  demo.opening() - interval '30 days', case when n > 1 then demo.today() end
from (values (1, 'EUR', '€', 'Euro', 'Euro', 'Euro', 1.0, 1),
  (2, 'USD', '$', 'US dollar', 'US-Dollar', 'Dollar américain', 1.0842, 0),
  (3, 'GBP', '£', 'Pound sterling', 'Pfund Sterling', 'Livre sterling', 0.8561, 0),
  (4, 'CHF', 'CHF', 'Swiss franc', 'Schweizer Franken', 'Franc suisse', 0.9534, 1)) as v (n, iso, symbol, en,
    de, fr, factor, position);

-- Published on working days, as if the shop had no age; the last one is what it uses now
insert into erp.exchange_rate (currency_id, reference_date, factor, source, imported_at)
select c.id, (d + demo.age())::date,
  round(
    c.factor * (
      1 + 0.04 * sin(extract(julian from d) / 40.0) * least(1, (date '2026-05-29' - d::date) / 30.0)
    )::numeric,
    4
  ),
  'ecb', d + demo.age() + interval '16 hours'
from erp.currency c,
  generate_series(timestamptz '2024-06-03 00:00+00', timestamptz '2026-05-29 00:00+00', interval '1 day') d
where not c.is_default_currency and extract(isodow from d) < 6;

insert into erp.country (id, iso_code, name, created_at)
select demo.id('country', n), iso, demo.texts(en, de, fr), demo.opening() - interval '30 days'
from (values (1, 'DE', 'Germany', 'Deutschland', 'Allemagne'), (2, 'AT', 'Austria', 'Österreich', 'Autriche'),
  (3, 'CH', 'Switzerland', 'Schweiz', 'Suisse'), (4, 'FR', 'France', 'Frankreich', 'France'),
  (5, 'GB', 'United Kingdom', 'Vereinigtes Königreich', 'Royaume-Uni'),
    (6, 'NL', 'Netherlands', 'Niederlande', 'Pays-Bas'),
  (7, 'BE', 'Belgium', 'Belgien', 'Belgique'), (8, 'LU', 'Luxembourg', 'Luxemburg', 'Luxembourg'),
  (9, 'IT', 'Italy', 'Italien', 'Italie'), (10, 'ES', 'Spain', 'Spanien', 'Espagne'),
    (11, 'PL', 'Poland', 'Polen', 'Pologne'),
  (12, 'DK', 'Denmark', 'Dänemark', 'Danemark'), (13, 'SE', 'Sweden', 'Schweden', 'Suède'),
    (14, 'IE', 'Ireland', 'Irland', null),
  (15, 'US', 'United States', 'Vereinigte Staaten', null)) as v (n, iso, en, de, fr);

insert into erp.salutation (id, salutation_key, display_name, letter_name, created_at, updated_at)
select demo.id('salutation', n), key, demo.texts(en, de, fr),
  case when letter is not null then demo.texts(letter, letter_de, letter_fr) end,
  demo.opening() - interval '30 days', case when n = 3 then demo.opening() end
from (values (1, 'mr', 'Mr', 'Herr', 'Monsieur', 'Dear Mr', 'Sehr geehrter Herr', 'Cher Monsieur'),
  (2, 'mrs', 'Ms', 'Frau', 'Madame', 'Dear Ms', 'Sehr geehrte Frau', 'Chère Madame'),
  (3, 'family', 'Family', 'Familie', 'Famille', 'Dear family', 'Liebe Familie', 'Chère famille')) as v (n,
    key, en, de, fr, letter, letter_de,
    letter_fr)
union all
select demo.id('salutation', 4), 'not_specified', null, null, demo.opening() - interval '30 days', null;

insert into erp.customer_group (id, technical_name, name, display_gross, created_at)
select demo.id('customer_group', n), case when n <= 4 then replace(lower(en), ' ', '_') end,
  demo.texts(en, de, fr), n % 3 = 1, demo.opening() - interval '30 days'
from (values (1, 'Standard', 'Standard', 'Standard'), (2, 'Business', 'Geschäftskunden', 'Entreprises'),
  (3, 'Resellers', 'Wiederverkäufer', 'Revendeurs'),
  (4, 'Alpine club', 'Alpenverein', 'Club alpin'), (5, 'Cafés', 'Cafés', 'Cafés'),
    (6, 'Hotels and huts', 'Hotels und Hütten', 'Hôtels et refuges'),
  (7, 'Staff', 'Mitarbeitende', 'Personnel'), (8, 'Schools', 'Schulen', 'Écoles'),
    (9, 'Mountain guides', 'Bergführer', 'Guides de montagne'),
  (10, 'Press', 'Presse', 'Presse'), (11, 'Offices', 'Büros', 'Bureaux'),
    (12, 'Rescue services', 'Rettungsdienste', 'Secours')) as v (n, en, de, fr);

insert into erp.payment_method (
  id, technical_name, name, description, active, position, after_order_enabled, means_code, created_at,
  updated_at
)
select demo.id('payment_method', n), technical_name, case when n <> 12 then demo.texts(en, de, fr) end,
  case when n % 2 = 1 then demo.texts('Pay with ' || en || '.', 'Bezahlen mit ' || de || '.', null) end,
    n <> 6, nullif(n, 12), n in (1, 5),
  (array['58', '68', '48', '59', '58', null, null, '68', '68', '68', null, '10'])[n],
  demo.opening() - interval '30 days', case when n = 6 then demo.opening() end
from (values (1, 'invoice', 'Invoice', 'Rechnung', 'Facture'), (2, 'paypal', 'PayPal', 'PayPal', 'PayPal'),
  (3, 'credit_card', 'Credit card', 'Kreditkarte', 'Carte bancaire'),
  (4, 'sepa_debit', 'SEPA direct debit', 'SEPA-Lastschrift', 'Prélèvement SEPA'),
    (5, 'prepayment', 'Paid in advance', 'Vorkasse', 'Paiement d''avance'),
  (6, 'cash_on_delivery', 'Cash on delivery', 'Nachnahme', 'Contre remboursement'),
    (7, 'gift_card', 'Gift card', 'Gutschein', 'Carte cadeau'),
  (8, 'apple_pay', 'Apple Pay', 'Apple Pay', 'Apple Pay'),
    (9, 'google_pay', 'Google Pay', 'Google Pay', 'Google Pay'),
    (10, 'twint', 'TWINT', 'TWINT', 'TWINT'),
  (11, 'instalments', 'Instalments', 'Ratenzahlung', 'En plusieurs fois'),
    (12, 'cash', 'Cash', 'Bar', 'Espèces')) as v (n, technical_name, en,
    de, fr);

insert into erp.shipping_method (id, technical_name, name, created_at, updated_at)
select demo.id('shipping_method', n), technical_name, demo.texts(en, de, fr),
  demo.opening() - interval '30 days', case when n = 3 then demo.opening() end
from (values (1, 'standard', 'Standard', 'Standardversand', 'Standard'),
  (2, 'express', 'Express', 'Express', 'Express'),
  (3, 'freight', 'Freight', 'Spedition', 'Fret'), (4, 'pickup', 'Pick-up', 'Abholung', 'Retrait')) as v (n,
    technical_name, en, de, fr);

insert into erp.tag (id, name, created_at)
select demo.id('tag', n), name, demo.opening() - interval '20 days'
from unnest(array['new', 'bestseller', 'sale', 'organic', 'fair trade', 'winter', 'summer', 'fragile',
  'heavy', 'gift', 'urgent', 'VIP',
  'check address',
  'wholesale', 'fast mover', 'cold storage', 'recycled', 'vegan', 'limited edition', 'ground floor',
    'top shelf', 'complaint', 'newsletter',
    'recall']) with ordinality as v (name, n);

insert into erp.sales_channel (
  id, technical_name, name, country_id, currency_id, customer_group_id, payment_method_id, created_at,
  updated_at
)
select demo.id('sales_channel', n), (array['online_shop', 'uk_shop'])[n], demo.texts(en, de, fr),
  demo.id('country', country),
  demo.id('currency', currency),
  demo.id('customer_group', customer_group),
  demo.id('payment_method', payment), demo.opening() - interval '20 days',
    case when n = 1 then demo.opening() end
from (values (1, 'Gipfel & Bohne online shop', 'Gipfel & Bohne Onlineshop',
  'Boutique en ligne Gipfel & Bohne', 1, 1, 1, 2),
  (2, 'Summit & Bean UK', 'Summit & Bean Großbritannien', 'Summit & Bean Royaume-Uni', 5, 3, 1, 3),
  (3, 'Trade portal', 'Händlerportal', 'Portail professionnel', 3, 4, 2, 1)) as v (n, en, de, fr, country,
    currency, customer_group, payment);

insert into erp.sales_channel_country (sales_channel_id, country_id)
select demo.id('sales_channel', s), demo.id('country', c)
from generate_series(1, 3) s, generate_series(1, 15) c
where s = 1 and c <> 5 or s = 2 and c in (5, 14) or s = 3;
insert into erp.sales_channel_currency (sales_channel_id, currency_id)
select demo.id('sales_channel', s), demo.id('currency', c)
from generate_series(1, 3) s, generate_series(1, 4) c
where s = 1 and c in (1, 4) or s = 2 and c in (1, 2, 3) or s = 3;
insert into erp.sales_channel_payment_method (sales_channel_id, payment_method_id)
select demo.id('sales_channel', s), demo.id('payment_method', p)
from generate_series(1, 3) s, generate_series(1, 12) p
where s = 1 and p <> 12 or s = 2 and p in (2, 3, 7, 8, 9) or s = 3 and p in (1, 4, 5);
insert into erp.sales_channel_registration_group (sales_channel_id, customer_group_id)
select demo.id('sales_channel', s), demo.id('customer_group', g)
from generate_series(1, 3) s, generate_series(1, 12) g
where s = 1 and g in (1, 4) or s = 2 and g in (1, 2) or s = 3 and g <> 7;

-- The bank, the court and the numbers are made up
insert into erp.merchant (
  legal_name, address, email, phone, website, vat_id, tax_number, managers, register, iban, bic, bank_name,
  footer, contact_name, electronic_address, electronic_address_scheme, payment_days, payment_terms, time_zone,
  created_at, quote_days, quote_terms, supplier_order_terms
)
values ('Gipfel & Bohne Handelsgesellschaft mbH',
  '{
    "street": "Hafenweg 1", "zipcode": "20457", "city": "Hamburg",
    "countryName": "Germany", "countryIso": "DE"
  }',
  'shop@gipfel-und-bohne.example', '+49 40 5550 100', 'gipfel-und-bohne.example', 'DE999999999',
    '99/999/99999',
  'Hanna Krüger, Thomas Mercier', 'Amtsgericht Hamburg, HRB 999999', demo.iban('DE', '000000000123456789'),
    'GUBODEH0XXX', 'Beispielbank Hamburg',
  demo.texts('Goods remain our property until they are paid in full.',
    'Die Ware bleibt bis zur vollständigen Bezahlung unser Eigentum.',
    'Les marchandises restent notre propriété jusqu’au paiement intégral.'),
    'Buchhaltung', 'rechnung@gipfel-und-bohne.example', 'EM', 14,
  demo.texts('Payable until {dueDate} without deduction.', 'Zahlbar bis {dueDate} ohne Abzug.',
    'Payable sans escompte jusqu’au {dueDate}.'), 'UTC',
      demo.opening() - interval '30 days', 30,
  demo.texts('Payable within 14 days of the invoice.', 'Zahlbar 14 Tage nach Rechnung.',
    'Payable sous 14 jours après la facture.'),
  demo.texts('Please state our order number on your delivery note and invoice.',
    'Bitte nennen Sie unsere Bestellnummer auf Lieferschein und Rechnung.',
    'Merci d’indiquer notre numéro de commande sur votre bon de livraison et votre facture.'));

insert into erp.admin_user (id, username, first_name, last_name, created_at)
select demo.id('admin_user', n), username, first_name, last_name, demo.opening() - interval '30 days'
from (values (1, 'hkrueger', 'Hanna', 'Krüger'), (2, 'tmercier', 'Thomas', 'Mercier'),
  (3, 'jclarke', 'Joanna', 'Clarke'),
  (4, 'pweiss', 'Paul', 'Weiß')) as v (n, username, first_name, last_name);

-- These exist from the beginning (0600-documents.sql); what was made of them since is replaced
insert into erp.number_range (technical_name, pattern, last_number)
select name, prefix || '{n}', 10000
from (values ('order', 'SO-'), ('customer', 'C-'), ('fulfillment_order', 'FO-'), ('fulfillment', 'F-'),
  ('return_order', 'R-'), ('supplier_order', 'PO-'),
  ('goods_receipt', 'GR-'), ('quote', 'Q-'), ('supplier', 'S-'), ('document_invoice', 'INV-'),
    ('document_delivery_note', 'DN-'),
    ('document_credit_note', 'CN-'),
  ('document_storno', 'ST-'), ('document_upload', 'UP-')) as v (name, prefix)
on conflict (technical_name) do update set pattern = excluded.pattern, last_number = excluded.last_number;

insert into erp.document_type (id, technical_name, name, number_range, created_at)
select demo.id('document_type', n), technical_name, demo.texts(en, de, fr),
  case when n < 7 then 'document_' || replace(technical_name, 'prepayment', 'invoice') end,
  demo.opening() - interval '30 days'
from (values (1, 'invoice', 'Invoice', 'Rechnung', 'Facture'),
  (2, 'delivery_note', 'Delivery note', 'Lieferschein', 'Bon de livraison'),
  (3, 'credit_note', 'Credit note', 'Rechnungskorrektur', 'Avoir'),
    (4, 'storno', 'Cancellation invoice', 'Stornorechnung', 'Facture d''annulation'),
  (5, 'upload', 'Uploaded file', 'Hochgeladene Datei', 'Fichier'),
  (6, 'prepayment', 'Prepayment invoice', 'Anzahlungsrechnung', 'Facture d''acompte'),
  (7, 'quote', 'Quote', 'Angebot', 'Devis'),
  (8, 'supplier_order', 'Purchase order', 'Bestellung', 'Bon de commande')) as v (n,
    technical_name, en, de, fr)
on conflict (technical_name) do update
set id = excluded.id, name = excluded.name, number_range = excluded.number_range,
  created_at = excluded.created_at, updated_at = null;

--! Previous: sha1:2933e8c145c2cf7e5435280a6f094f1dd4fc9f69
--! Hash: sha1:61ef5f3d47dead4901ed48844e4f94743f8bbfce
--! Message: Round amounts in XML by the rules of one file

--! split: 1-current.sql
-- Amounts in XML are rounded by the functions of one file
--! Included erp/cii_amount.sql
create or replace function erp.cii_amount(object jsonb, key text) returns text
language sql immutable parallel safe
return erp.rounded((object ->> key)::numeric)::text;
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
    select erp.rounded(sum((t.tax ->> 'tax')::numeric))::text
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

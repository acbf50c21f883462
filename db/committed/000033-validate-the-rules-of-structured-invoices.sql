--! Previous: sha1:85e48249e2db3d6efc0a5c22bde1326aee817804
--! Hash: sha1:ec3e8129db5b747a07d20c57be6708228aca86a1
--! Message: Validate the rules of structured invoices

--! split: 1-current.sql
-- Migration 32 added these rules for new rows; existing ones are checked while others write
alter table erp.merchant validate constraint merchant_contact_name_length;
alter table erp.merchant validate constraint merchant_electronic_address_has_a_scheme;
alter table erp.merchant validate constraint merchant_foreign_vat_ids_are_strings;
alter table erp.merchant validate constraint merchant_oss_vat_id_begins_with_a_country;
alter table erp.merchant validate constraint merchant_payment_days_are_plausible;
alter table erp.merchant validate constraint merchant_payment_terms_are_localized;
alter table erp.customer validate constraint customer_invoice_form_is_known;
alter table erp.customer validate constraint customer_buyer_reference_length;
alter table erp.customer validate constraint customer_electronic_address_has_a_scheme;
alter table erp.customer validate constraint customer_electronic_address_length;
alter table erp.customer validate constraint customer_electronic_address_scheme_is_a_code;
alter table erp.customer validate constraint customer_registration_id_length;
alter table erp.payment_method validate constraint payment_method_means_code_has_its_form;
alter table erp.number_range validate constraint number_range_by_year_has_no_sequence;
alter table erp.number_range validate constraint number_range_of_customers_has_no_year;
alter table erp.number_range validate constraint number_range_pattern_has_each_part_once;

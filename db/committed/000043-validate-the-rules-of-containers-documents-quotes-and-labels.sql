--! Previous: sha1:6d3175cd80bb311004b33295fa95b65cea989472
--! Hash: sha1:c8ce5e23f60c878bff7ef01ef5d4d82fe705049f
--! Message: validate the rules of containers documents quotes and labels

--! split: 100-validate.sql
-- Rules of new columns. Rules that old rows may break, such as lengths of texts, stay unvalidated
alter table erp.customer_group validate constraint customer_group_technical_name_is_not_blank;
alter table erp.document validate constraint document_is_about_one_thing;
alter table erp.document validate constraint document_quote_id_fkey;
alter table erp.document validate constraint document_supplier_order_id_fkey;
alter table erp.merchant validate constraint merchant_quote_days_are_plausible;
alter table erp.merchant validate constraint merchant_quote_terms_are_localized;
alter table erp.merchant validate constraint merchant_supplier_order_terms_are_localized;
alter table erp.product_supplier_configuration validate constraint product_supplier_units_per_pack_are_positive;
alter table erp.quote validate constraint quote_billing_address_is_an_object;
alter table erp.quote validate constraint quote_billing_address_length;
alter table erp.quote validate constraint quote_decline_reason_length;
alter table erp.quote validate constraint quote_shipping_address_is_an_object;
alter table erp.quote validate constraint quote_shipping_address_length;
alter table erp.quote_line_item validate constraint quote_line_item_discount_reason_length;
alter table erp.quote_line_item validate constraint quote_line_item_exemption_code_has_its_form;
alter table erp.quote_line_item validate constraint quote_line_item_tax_category_is_known;
alter table erp.quote_line_item validate constraint quote_line_item_tax_category_matches_rate;
alter table erp.quote_line_item validate constraint quote_line_item_unit_code_has_its_form;
alter table erp.sales_channel validate constraint sales_channel_technical_name_is_not_blank;
alter table erp.shipping_label validate constraint shipping_label_failure_length;
alter table erp.shipping_label validate constraint shipping_label_parcel_number_is_positive;
alter table erp.shipping_label validate constraint shipping_label_request_has_a_parcel;
alter table erp.shipping_label validate constraint shipping_label_state_is_known;
alter table erp.state_transition validate constraint state_transition_machine_is_known;
alter table erp.stock_container validate constraint stock_container_bin_location_id_fkey;
alter table erp.stock_container validate constraint stock_container_fulfillment_order_id_fkey;
alter table erp.stock_container validate constraint stock_container_kind_is_known;
alter table erp.stock_container validate constraint stock_container_sscc_is_valid;
alter table erp.stock_container validate constraint stock_container_warehouse_id_fkey;
alter table erp.stocktake_count validate constraint stocktake_count_stock_container_id_fkey;
alter table erp.stocktake_line validate constraint stocktake_line_has_one_place;
alter table erp.stocktake_line validate constraint stocktake_line_names_its_place;
alter table erp.stocktake_line validate constraint stocktake_line_stock_container_id_fkey;

-- Every rule about columns that mutations write says what a client is told, or why none can break it. A blank
-- number of a batch was an internal error.
--!include erp/check_goods_receipt_lines.sql

comment on constraint product_open_supplier_order_quantity_is_not_negative on erp.product is
  '@internal new products have no stock';
comment on constraint product_physical_stock_is_not_negative on erp.product is
  '@internal new products have no stock';
comment on constraint product_reserved_stock_is_not_negative on erp.product is
  '@internal new products have no stock';
comment on constraint product_stock_not_for_sale_is_part_of_physical_stock on erp.product is
  '@internal new products have no stock';
comment on constraint batch_physical_stock_is_not_negative on erp.batch is
  '@internal new products have no stock';
comment on constraint batch_number_is_not_blank on erp.batch is
  '@internal check_goods_receipt_lines() refuses it';
comment on constraint batch_number_is_unique_per_product on erp.batch is
  '@internal resolve_goods_receipt_lines() takes the batch that is there';
comment on constraint location_has_one_per_warehouse on erp.location is
  '@internal each new warehouse gets its own';
comment on constraint product_warehouse_configuration_is_unique on erp.product_warehouse_configuration is
  '@internal set_product_warehouse_configuration() changes the one that is there';
comment on constraint order_tracking_codes_are_strings on erp.sales_order is
  '@internal settle_order() writes texts';
comment on constraint fulfillment_order_external_has_no_warehouse_location on erp.fulfillment_order is
  '@internal assign() makes none of another type';
comment on constraint fulfillment_order_external_name_only_on_external on erp.fulfillment_order is
  '@internal assign() makes none of another type';
comment on constraint fulfillment_order_type_is_known on erp.fulfillment_order is
  '@internal assign() makes none of another type';
comment on constraint fulfillment_order_number_is_unique on erp.fulfillment_order is
  '@internal next_number() gives each number once';
comment on constraint fulfillment_number_is_unique on erp.fulfillment is
  '@internal next_number() gives each number once';
comment on constraint document_number_is_unique_per_type on erp.document is
  '@internal next_number() gives each number once';
comment on constraint fulfillment_order_shipping_address_is_an_object on erp.fulfillment_order is
  '@internal it is the address of the order';
comment on constraint fulfillment_order_line_item_is_unique on erp.fulfillment_order_line_item is
  '@internal functions that assign lines refuse it';
comment on constraint fulfillment_order_line_item_quantity_is_positive on erp.fulfillment_order_line_item is
  '@internal functions that assign lines refuse it';
comment on constraint fulfillment_line_item_is_unique on erp.fulfillment_line_item is
  '@internal functions that ship gather units by line';
comment on constraint fulfillment_line_item_quantity_is_positive on erp.fulfillment_line_item is
  '@internal functions that ship gather units by line';
comment on constraint document_config_is_an_object on erp.document is
  '@internal insert_document() sees to it';
comment on constraint document_content_has_a_type on erp.document is '@internal insert_document() sees to it';
comment on constraint document_deep_link_code_is_long on erp.document is
  '@internal insert_document() sees to it';
comment on constraint document_deep_link_code_key on erp.document is '@internal insert_document() sees to it';
comment on constraint document_static_has_no_config on erp.document is
  '@internal insert_document() sees to it';
comment on constraint invoice_is_cancelled_by_one_document on erp.invoice is
  '@internal the invoice is locked while it is cancelled';
comment on constraint invoice_line_item_first_unit_is_not_negative on erp.invoice_line_item is
  '@internal billable_parts() leaves out what has been invoiced';
comment on constraint invoice_line_item_is_unique on erp.invoice_line_item is
  '@internal billable_parts() leaves out what has been invoiced';
comment on constraint invoice_line_item_quantity_is_positive on erp.invoice_line_item is
  '@internal billable_parts() leaves out what has been invoiced';
comment on constraint webhook_secret_has_its_form on events.webhook_secret is
  '@internal the service makes it';
comment on constraint delivery_is_one_per_event_and_subscription on events.delivery is
  '@internal replay_deliveries() and send_test() leave out what is there';

-- Comments of tables, views and functions, and so descriptions of the API, in plain words.

--!include api_meta/describe.sql
--!include api_meta/grant_mutations.sql
--!include api_meta/upholding.sql
--!include auth/record_fields.sql
--!include auth/record_operations.sql
--!include erp/create_goods_receipt.sql
--!include erp/upsert_orders.sql
--!include ledger/keep_order_line_figures.sql
--!include ledger/keep_tracking_codes.sql
--!include mutation/faults_of_keys.sql
--!include mutation/take_key.sql

comment on table api_meta.backfill is
  'Columns that background work fills in batches, or has filled. Migrations declare them by '
  'api_meta.backfill().';
comment on table api_meta.frozen_part is
  'The parts of each frozen version when it was recorded, from api_meta.current_parts.';
comment on column api_meta.frozen_part.parent is
  'The view, type or function that the part belongs to; null for views, types and functions themselves.';
comment on table api_meta.frozen_promise is
  'Columns and checks of tables that keep null out of columns of frozen versions that are never null.';
comment on column api_meta.frozen_promise.name is
  'view.column, or the view alone if it isn''t known which of its columns rely on the expression.';
comment on type erp.delivery is
  'The changes of a supplier order''s line when a goods receipt is completed. They are its received '
  'quantity, whether units arrive, and the new state of its order; also whether the whole order has '
  'arrived, and the change of the product''s open quantity.';
comment on type erp.receipt_part is
  'A part of a goods receipt''s line, for one line of a supplier order or for none (erp.allotment). The '
  'first part keeps the id of its line. named_order_id is the order that the line named.';
comment on column erp.currency."position" is 'Place of the symbol: 1 after the amount, 0 before it.';
comment on column erp.document.config is
  'Data that the document is rendered from, as they were when it was created: a JSON object. Empty for '
  'uploaded files.';
comment on table erp.fulfillment_line_item is
  'Units that a fulfillment shipped, by line of a fulfillment order.';
comment on column erp.fulfillment_order.type is
  'Kind of location that ships: one of the merchant''s own, or one outside the system.';
comment on column erp.fulfillment_order.state is 'Progress of the work: a state of erp.state_transition.';
comment on table erp.fulfillment_order_fulfillment is
  'Pairs of fulfillments and the fulfillment orders that they shipped from. Every fulfillment line '
  'needs its pair here.';
comment on table erp.fulfillment_order_line_item is
  'Units of order lines that a fulfillment order has to ship.';
comment on column erp.fulfillment_order_line_item.quantity is
  'Units of the order line that are assigned here, including fulfilled ones.';
comment on table erp.fulfillment_stock_movement is
  'Movements that took the units of a fulfillment''s line to the order. Cancelling the fulfillment '
  'books them back the same way.';
comment on column erp.goods_receipt.type is
  'Origin of the goods: a supplier, a customer who returns them, or neither.';
comment on column erp.goods_receipt.state is 'State: draft, created, approved, in_progress or completed.';
comment on column erp.goods_receipt.currency_factor_origin_type is
  'Origin of the exchange rate; null on receipts older than this record.';
comment on column erp.goods_receipt.currency_factor_origin_source is
  'Publisher of the exchange rate, if it was imported; null otherwise.';
comment on column erp.goods_receipt.currency_factor_captured_at is
  'When the exchange rate was looked up, or last entered manually; null on receipts older than this '
  'record.';
comment on column erp.goods_receipt.tax_status is 'Tax status of prices: gross, net or tax-free.';
comment on table erp.merchant is
  'The merchant''s details on documents. The table has one row, or none until it is filled in: then '
  'documents lack data that the law demands, and a warning says so.';
comment on column erp.merchant.is_only_row is 'Always true, so that there is no second row.';
comment on column erp.merchant.managers is
  'Persons who may act for the company, where the law demands their names.';
comment on table erp.number_range is
  'Number ranges of documents and orders: the pattern, with {n} for the counter, and the last number.';
comment on column erp.number_range.last_number is 'Last number that was used; unused if a sequence counts.';
comment on column erp.product_image."position" is
  'Position of the image in the product''s list, counted from 1.';
comment on column erp.product_image.url is
  'Address of the image, which begins with https:// or http://. The service stores it without fetching '
  'the image.';
comment on column erp.product_image.alt_text is 'Description of the image for people who can''t see it.';
comment on table erp.product_supplier_configuration is 'Suppliers of products, with their terms.';
comment on table erp.product_supplier_price is 'Prices of products at suppliers, one per currency.';
comment on column erp.quote_line_item.type is
  'Kind of the line: product, custom, promotion, credit or another word.';
comment on table erp.return_order is 'Returns of customers. Clients know them by id only.';
comment on column erp.sales_order.amount_total is
  'Total with tax, in the currency of the order; recomputed when a line changes.';
comment on column erp.sales_order.tracking_codes is
  'Tracking codes of the primary delivery, as a JSON array of strings: codes of shipping labels that '
  'are not cancelled, and codes entered manually. Empty if there are none yet, null if the order has no '
  'delivery.';
comment on column erp.sales_order.entered_tracking_codes is
  'Tracking codes that were entered manually. They stay in the list of all codes when a label with the '
  'same code is cancelled.';
comment on column erp.sales_order_line_item.type is
  'Kind of the line: product, custom, promotion, credit or another word.';
comment on table erp.state_transition is
  'Transitions between states: the action that leads an entity from one state to the next.';
comment on column erp.state_transition.mutation is
  'Mutation that does the action, by the name of its function, such as order_cancel. Null if no '
  'mutation does it: then refusals do not offer the action.';
comment on column erp.document.static is 'Whether the document is an uploaded file, and not rendered.';
comment on type api_unstable.bin_location_delete_payload is 'The result of deleting a bin.';
comment on type api_unstable.bin_location_payload is 'The result of creating or changing a bin.';
comment on type api_unstable.bulk_operation_cancel_payload is 'The result of stopping a bulk operation.';
comment on column api_unstable.bulk_operation_run_input.query is
  E'@notNull\n'
  'A GraphQL document with one query of one list, up to 10,000 characters. Page sizes are ignored, also '
  'in nested lists: all rows are exported.';
comment on type api_unstable.bulk_operation_run_payload is 'The result of requesting an export.';
comment on function api_unstable.bulk_operation_run(api_unstable.bulk_operation_run_input) is
  E'@requiresScopes bulk_operations:write\n'
  '@userErrors INVALID OUT_OF_RANGE SCOPE_MISSING\n'
  'Exports all rows of a list to a file, in the background. The file is a snapshot of one moment. It '
  'has a line for each row, and a line with __parentId for each row of nested lists.';
comment on type api_unstable.bulk_operation_kind is $$
@value import Imports the rows of a file, like the upsert of their resource.
@value export Exports the rows of a list to a file.
The kind of a bulk operation.$$;
comment on type api_unstable.customer_upsert_input is
  'A customer as they are to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.customer_upsert_input.group_id is
  E'@gid CustomerGroup\n'
  'Id of the customer group whose terms apply. A new customer gets the group of the sales channel by '
  'default.';
comment on type api_unstable.customers_upsert_payload is 'The result of upserting customers.';
comment on column api_unstable.customers_upsert_payload.results is
  E'@resultOf Customer\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on function api_unstable.customers_upsert(api_unstable.customers_upsert_input, jsonb) is
  E'@requiresScopes customers:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE TOO_MANY_LINES\n'
  'Creates and updates customers. A row is matched by id, by storefrontId and sales channel, or by '
  'number. A customer who was matched by number and has no storefrontId yet gets the one of the row. '
  'Rows without a change write nothing.';
comment on column api_unstable.document_create_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on type api_unstable.fulfillment_cancel_payload is 'The result of cancelling a fulfillment.';
comment on column api_unstable.fulfillment_cancel_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on type api_unstable.fulfillment_create_payload is 'The result of shipping from a fulfillment order.';
comment on column api_unstable.fulfillment_create_payload.documents is
  E'@entity Document\n'
  'The documents that were created, in the order of the input.';
comment on column api_unstable.fulfillment_create_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on column api_unstable.fulfillment_create_place_input.place is
  E'@notNull\n'
  'The place of the units: the warehouse of the fulfillment order, or one of its bins.';
comment on column api_unstable.fulfillment_create_line_input.places is
  'Places that the units are taken from; together they have the whole quantity. By default the service '
  'picks: from bins by position, then by code, and last from stock without a bin; of products in '
  'batches, from the oldest batch first.';
comment on type api_unstable.fulfillment_create_input is 'The lines of a fulfillment order that are shipped.';
comment on type api_unstable.fulfillment_order_payload is
  'The result of changing the state of a fulfillment order.';
comment on column api_unstable.fulfillment_order_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on function api_unstable.goods_receipt_approve(api_unstable.goods_receipt_approve_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED BATCH_REQUIRED INSUFFICIENT_STOCK\n'
  '@warnings PRODUCT_HAS_VARIANTS STOCK_PROMISED\n'
  'Approves a goods receipt: the goods have arrived. Books the lines to the place of the receipt: from '
  'the return orders for receipts of type Customer, and otherwise from the special place unknown. Lines '
  'with a negative quantity are booked from the place of the goods.';
comment on type api_unstable.goods_receipt_booking_payload is 'The result of booking a goods receipt.';
comment on column api_unstable.goods_receipt_booking_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on column api_unstable.goods_receipt_complete_input.put_away is
  'Places where the goods were put. Any other line goes to its own bin, or else to the usual bin of the '
  'product, or else to the warehouse.';
comment on column api_unstable.goods_receipt_create_input.type is
  E'@enum goods_receipt_type\n'
  'Origin of the goods. By default Supplier if supplier orders are named, Customer if return orders or '
  'a customer are named, and otherwise Free.';
comment on column api_unstable.goods_receipt_create_input.supplier_id is
  E'@gid Supplier\n'
  'Id of the supplier. By default the supplier of the supplier orders that are named here or by the '
  'lines. Orders of other suppliers are refused.';
comment on column api_unstable.goods_receipt_create_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts. By default the currency of the first supplier order that is named '
  'here or by a line, or else the supplier''s currency.';
comment on column api_unstable.goods_receipt_create_input.currency_factor is
  'Exchange rate: units of the currency per unit of the default currency. By default the imported rate '
  'of the day, or else the shop''s own rate.';
comment on column api_unstable.goods_receipt_create_input.supplier_order_ids is
  E'@gid SupplierOrder\n'
  'Ids of the supplier orders that are delivered. Orders that the lines name can be left out.';
comment on type api_unstable.goods_receipt_delete_payload is 'The result of deleting a goods receipt.';
comment on column api_unstable.goods_receipt_delete_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on column api_unstable.goods_receipt_line_input.unit_price is
  'Price of one unit, in the currency of the receipt and by its tax status. By default the price of the '
  'supplier order, converted if the order has another currency or tax status.';
comment on column api_unstable.goods_receipt_line_input.tax_rate is
  'Tax rate in percent. By default the rate of the supplier order or of the product.';
comment on function
  api_unstable.goods_receipt_line_items_set(api_unstable.goods_receipt_line_items_set_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES '
  'SUPPLIER_MISMATCH\n'
  '@warnings SURPLUS ORDER_CANCELLED PRICE_CONVERTED\n'
  'Replaces the lines of a goods receipt that is not approved yet, and recomputes its totals. Lines are '
  'listed in the order of the input, except existing lines that swap places. A receipt without a '
  'supplier takes the supplier of the supplier orders that its lines name.';
comment on type api_unstable.goods_receipt_payload is 'The result of a mutation of a goods receipt.';
comment on column api_unstable.goods_receipt_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on column api_unstable.goods_receipt_update_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts, which are not converted. The exchange rate is looked up again.';
comment on column api_unstable.goods_receipt_update_input.currency_factor is
  'Exchange rate, entered manually: units of the currency per unit of the default currency. Null takes '
  'the rate of this moment. It can be changed until a stock valuation report counts with it.';
comment on type api_unstable.order_cancel_payload is 'The result of cancelling an order.';
comment on type api_unstable.order_shipment_complete_payload is 'The result of shipping an order.';
comment on column api_unstable.order_shipment_complete_payload.documents is
  E'@entity Document\n'
  '@perLine documents\n'
  'The documents that were created, in the order of the input.';
comment on column api_unstable.order_shipment_complete_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on function api_unstable.order_shipment_complete(api_unstable.order_shipment_complete_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES INVALID_STATE_TRANSITION '
  'ON_HOLD EXTERNALLY_MANAGED INSUFFICIENT_STOCK OVER_FULFILLMENT BATCH_REQUIRED\n'
  '@warnings DOCUMENT_INCOMPLETE\n'
  'Ships everything that is still open of an order. Open fulfillment orders are shipped from the '
  'warehouse of their location. Everything else is shipped from the named warehouse, or else from the '
  'default warehouse. Units that were cancelled there are shipped by another warehouse that has all of '
  'them. Units are picked from the bins by position, then by code, and last from stock without a bin; '
  'of products that are kept in batches, the oldest batch first. Books them out by the process '
  'api_shipping, records the fulfillment, closes the fulfillment orders, and brings the states of the '
  'order up to date. What is fulfilled externally is left alone. All of it is shipped, or nothing. An '
  'order that has nothing left to ship, as one of services alone, is only completed.';
comment on type api_unstable.order_line_upsert_input is
  'A line of an order as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.order_line_upsert_input.type is
  'Kind of the line: product, custom, promotion, credit or another word. A new line is product or '
  'custom by default.';
comment on type api_unstable.order_upsert_input is
  'An order as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.order_upsert_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts. A new one gets the currency of the sales channel by default.';
comment on column api_unstable.order_upsert_input.shipping_address is
  'Shipping address: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_unstable.order_upsert_input.billing_address is
  'Billing address: an object with the same keys.';
comment on type api_unstable.orders_upsert_payload is 'The result of upserting orders.';
comment on column api_unstable.orders_upsert_payload.results is
  E'@resultOf Order\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on function api_unstable.orders_upsert(api_unstable.orders_upsert_input, jsonb) is
  E'@requiresScopes orders:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE OVER_FULFILLMENT '
  'TOO_MANY_LINES\n'
  'Creates and updates orders. A row is matched by id, by storefrontId and sales channel, or by number. '
  'Units that are shipped, assigned to a fulfillment order or invoiced stay: a line keeps at least '
  'these units, and its product. Lines of completed and cancelled orders don''t change. Rows without a '
  'change write nothing.';
comment on column api_unstable.product_image_translation.alt_text is
  E'@notNull\n'
  'Description of the image.';
comment on column api_unstable.product_supplier_configuration_create_input.purchase_prices is
  'Prices of the product at this supplier, one per currency. They replace all existing prices. Prices '
  'of the default supplier become the purchase prices of the product.';
comment on type api_unstable.product_supplier_configuration_delete_payload is
  'The result of removing a supplier from a product.';
comment on type api_unstable.product_supplier_configuration_payload is
  'The result of setting how a supplier sells a product.';
comment on column api_unstable.product_supplier_configuration_update_input.purchase_prices is
  'Prices of the product at this supplier, one per currency. They replace all existing prices. Prices '
  'of the default supplier become the purchase prices of the product.';
comment on view api_unstable.product_supplier_configurations is
  E'@primaryKey id\n'
  '@requiresScopes product_supplier_configurations:read\n'
  '@filters *\n'
  '@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName '
  'supplierConfigurations\n'
  '@foreignKey (supplier_id) references suppliers (id)|@fieldName supplier|@foreignFieldName '
  'productConfigurations\n'
  'A supplier''s prices and terms for a product.';
comment on column api_unstable.product_supplier_configurations.purchase_prices is
  E'@notNull\n'
  'Prices of the product at this supplier, one per currency.';
comment on type api_unstable.product_warehouse_configuration_payload is
  'The result of configuring a product in a warehouse.';
comment on column api_unstable.product_upsert_image_translation_input.alt_text is
  'Description of the image; at most 1,000 characters.';
comment on column api_unstable.product_upsert_image_input.alt_text is
  'Description of the image for people who can''t see it; at most 1,000 characters.';
comment on type api_unstable.product_upsert_input is
  'A product as it is to be. Omitted fields keep their value; null clears them.';
comment on type api_unstable.products_upsert_payload is 'The result of upserting products.';
comment on column api_unstable.products_upsert_payload.results is
  E'@resultOf Product\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on column api_unstable.products_upsert_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on type api_unstable.put_away_input is 'A place where units of a line are put.';
comment on column api_unstable.stock_adjust_line_input.place is
  E'@notNull\n'
  'Place of the stock.';
comment on column api_unstable.stock_adjust_input.lines is
  E'@notNull\n'
  'The changes; 1 to 250 lines. Several lines may have the same product and place.';
comment on type api_unstable.stock_payload is 'The result of a mutation of stock.';
comment on column api_unstable.stock_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on type api_unstable.stock_set_line_input is 'The stock that a product has in a place.';
comment on column api_unstable.stock_set_line_input.place is
  E'@notNull\n'
  'Place of the stock.';
comment on column api_unstable.stock_set_line_input.counted_at is
  'When the quantity was counted, to the microsecond; a time without decimals is the beginning of its '
  'second. Later movements are added: the stock becomes the quantity plus all later movements, except '
  'corrections by other counts. Counts may arrive late, in any order, and more than once. A count that '
  'is older than another one of the same stock is kept and changes nothing; the warning '
  'COUNT_SUPERSEDED reports it. Of two counts of the same time, the one that arrives later is valid. By '
  'default the quantity was counted now.';
comment on column api_unstable.stock_transfer_line_input.source is
  E'@notNull\n'
  'Place that the units are taken from.';
comment on column api_unstable.stock_transfer_line_input.destination is
  E'@notNull\n'
  'Place that the units go to.';
comment on column api_unstable.stock_transfer_input.lines is
  E'@notNull\n'
  'The transfers; 1 to 250 lines.';
comment on type api_unstable.supplier_order_delete_payload is 'The result of deleting a supplier order.';
comment on column api_unstable.supplier_order_delete_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on column api_unstable.supplier_order_line_input.tax_rate is
  'Tax rate in percent. By default the rate of the product.';
comment on function
  api_unstable.supplier_order_line_items_set(api_unstable.supplier_order_line_items_set_input) is
  E'@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE OUT_OF_RANGE NOT_UNIQUE TOO_MANY_LINES\n'
  'Replaces the lines of an open supplier order, and recomputes its totals. Lines are listed in the '
  'order of the input, except existing lines that swap places. The position is always the one of the '
  'input.';
comment on type api_unstable.supplier_order_payload is 'The result of a mutation of a supplier order.';
comment on column api_unstable.supplier_order_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
comment on type api_unstable.supplier_upsert_input is
  'A supplier as it is to be. Omitted fields keep their value; null clears them.';
comment on type api_unstable.suppliers_upsert_payload is 'The result of upserting suppliers.';
comment on column api_unstable.suppliers_upsert_payload.results is
  E'@resultOf Supplier\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on type api_unstable.upsert_outcome is
  E'@value CREATED The object was created.\n'
  '@value UPDATED The object existed, and was changed.\n'
  '@value UNCHANGED The object has the values of the row already. Nothing was written, and there is no '
  'event.\n'
  '@value REFUSED The row was refused because of its user errors. Nothing of it was written.\n'
  'The outcome of a row of an upsert.';
comment on type api_unstable.upsert_result is 'The outcome of a row of an upsert.';
comment on column api_unstable.upsert_result.outcome is
  E'@notNull\n'
  'The outcome of the row.';
comment on column api_unstable.upsert_result.id is
  E'@gid Node\n'
  'Id of the object; null if it is new and was refused.';
comment on column api_unstable.user_error.code is
  E'@notNull\n'
  'Code of the error, for programs.';
comment on column api_unstable.user_error.message is
  E'@notNull\n'
  'Message for people.';
comment on column api_unstable.user_error.field is
  'Path to the input that is wrong, for example ["lines", "0", "quantity"]; null if no single input is.';
comment on type api_unstable.user_error_code is
  E'@value REQUIRED A value is missing, or null.\n'
  '@value INVALID The value is not valid here; the message says why.\n'
  '@value NOT_FOUND There is no object with this id.\n'
  '@value NOT_UNIQUE Another object has this value.\n'
  '@value OUT_OF_RANGE A number, date or text length is outside the allowed range.\n'
  '@value INVALID_STATE_TRANSITION The state does not allow this. Field details names the actions that '
  'it allows.\n'
  '@value NOT_EDITABLE The state, or where it comes from, does not allow changes.\n'
  '@value INSUFFICIENT_STOCK A place would be left with less than nothing. Field details has what is '
  'available and requested.\n'
  '@value QUANTITY_CHANGED The stock is not what expectedQuantity says. Field details has what is '
  'expected and actual.\n'
  '@value OVER_RECEIPT More would be received than can be. No longer given: what is more than was '
  'ordered becomes a line without an order.\n'
  '@value OVER_FULFILLMENT More would be fulfilled than is open.\n'
  '@value BATCH_REQUIRED The units are kept in batches: a batch must be named.\n'
  '@value BATCH_MISMATCH The batch is of another product.\n'
  '@value WAREHOUSE_NOT_EMPTY The warehouse or bin still holds stock. Field details has the quantity.\n'
  '@value REFERENCE_IN_USE Another object still refers to it, and can''t exist without it.\n'
  '@value CURRENCY_FACTOR_LOCKED The exchange rate is part of a stock valuation report.\n'
  '@value EXTERNALLY_MANAGED Another system manages it; it is read-only here.\n'
  '@value ON_HOLD It is on hold.\n'
  '@value IDEMPOTENCY_KEY_MISMATCH The idempotency key was used for something else in the last 24 '
  'hours.\n'
  '@value TOO_MANY_LINES The input has more lines than are allowed at once.\n'
  '@value URL_FORBIDDEN The address may not be called.\n'
  '@value SCOPE_MISSING The access token lacks a scope that depends on the input.\n'
  '@value PRODUCT_HAS_VARIANTS The product only stands for its variants: they are kept in stock, it is '
  'not.\n'
  '@value SUPPLIER_MISMATCH A goods receipt delivers orders of one supplier, its own. Field details '
  'names the order or the receipt that is of another.\n'
  '@value SUPPLIER_INACTIVE The shop no longer orders from the supplier. Earlier orders can still be '
  'received.\n'
  '@value TOO_MANY_SUBSCRIPTIONS The maximum number of webhook subscriptions is reached. Field details '
  'has the number.\n'
  'The code of a user error. A version only shows codes that it lists: later ones appear as INVALID.';
comment on type api_unstable.warehouse_delete_payload is 'The result of deleting a warehouse.';
comment on type api_unstable.warehouse_payload is 'The result of creating or changing a warehouse.';
comment on type api_unstable.warehouse_upsert_input is
  'A warehouse as it is to be. Omitted fields keep their value; null clears them.';
comment on type api_unstable.warehouses_upsert_payload is 'The result of upserting warehouses.';
comment on column api_unstable.warehouses_upsert_payload.results is
  E'@resultOf Warehouse\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on type api_unstable.warning is 'A warning about a mutation that succeeded.';
comment on column api_unstable.warning.code is
  E'@notNull\n'
  'Code of the warning, for programs.';
comment on column api_unstable.warning.message is
  E'@notNull\n'
  'Message for people.';
comment on column api_unstable.warning.field is
  'Path to the input that the warning is about, for example ["lines", "0", "quantity"]; null if it is '
  'about no single input.';
comment on type api_unstable.webhook_deliveries_replay_payload is 'The result of a replay.';
comment on function api_unstable.webhook_deliveries_replay(api_unstable.webhook_deliveries_replay_input) is
  E'@requiresScopes webhook_subscriptions:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE INVALID_STATE_TRANSITION SCOPE_MISSING\n'
  'Sends events of the log to a subscriber again, or for the first time: events of its topic and '
  'fields. Use it for receivers that were down, lost something, or were disabled. The log goes back 30 '
  'days.';
comment on type api_unstable.webhook_delivery_attempt is
  E'@name WebhookDeliveryAttempt\n'
  'An attempt to deliver an event.';
comment on type api_unstable.webhook_delivery_retry_payload is 'The result of retrying a delivery.';
comment on column api_unstable.webhook_subscription_create_input.fields is
  'Fields of the topic''s data, of which one must have changed. Only for topics about changes. By '
  'default every change is sent.';
comment on type api_unstable.webhook_subscription_delete_payload is
  'The result of deleting a webhook subscription.';
comment on type api_unstable.webhook_subscription_payload is 'The result of changing a webhook subscription.';
comment on type api_unstable.webhook_subscription_secret_payload is
  'The result of subscribing, or of changing the secret.';
comment on column api_unstable.webhook_subscription_secret_payload.secret is
  E'@secret\n'
  'Secret that signs deliveries, by Standard Webhooks: whsec_ and the key in Base64. It is shown once: '
  'null when the mutation is repeated with its idempotency key.';
comment on type api_unstable.webhook_subscription_test_payload is
  'The result of testing a webhook subscription.';
comment on column api_unstable.webhook_subscription_update_input.fields is
  'Fields of the topic''s data, of which one must have changed. Only for topics about changes. By '
  'default every change is sent. Null for every change.';
comment on view api_unstable.webhook_subscriptions is $$
@primaryKey id
@requiresScopes webhook_subscriptions:read
@scopesOfAll all_webhook_subscriptions:read all_webhook_subscriptions:write
@filters *
@fullLists fields
A subscription to a topic of events, with the address that they are sent to. Each credential sees its own subscriptions, or all with all_webhook_subscriptions:read.$$;
comment on function administration.webhook_delivery(uuid) is
  'Returns a delivery, with the body that it sends if the subscription has no payload query.';
comment on view api_unstable.fulfillment_line_items is
  E'@primaryKey id\n'
  '@requiresScopes fulfillment_orders:read\n'
  '@hidden fulfillment_id,fulfillment_order_line_item_id,product_id\n'
  '@filters quantity\n'
  '@foreignKey (fulfillment_id) references fulfillments (id)|@fieldName fulfillment|@foreignFieldName '
  'lineItems\n'
  '@foreignKey (fulfillment_order_line_item_id) references fulfillment_order_line_items (id)|@fieldName '
  'fulfillmentOrderLineItem|@foreignFieldName fulfillmentLineItems\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  'The units of a fulfillment order''s line that a fulfillment shipped.';
comment on view api_unstable.fulfillment_order_line_items is
  E'@primaryKey id\n'
  '@requiresScopes fulfillment_orders:read\n'
  '@hidden fulfillment_order_id,destination_order_line_item_id,product_id\n'
  '@filters quantity,storefront_id\n'
  '@foreignKey (fulfillment_order_id) references fulfillment_orders (id)|@fieldName '
  'fulfillmentOrder|@foreignFieldName lineItems\n'
  '@foreignKey (destination_order_line_item_id) references order_line_items (id)|@fieldName '
  'destinationOrderLineItem\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  'The units of an order line that a fulfillment order has to ship.';
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
  'The code of a warning. A version only shows codes that it lists: later ones appear as OTHER.';
comment on function api_meta.allow(regrole, regclass, text[]) is
  'Grants a role that runs functions rights on a table, with policies for all rows. A right is select, '
  'insert, update or delete, with a list of columns in parentheses if not all are meant.';
comment on function api_meta.backfill(text, regclass, name[], text, text) is
  'Lets background work fill columns of a table in batches. Rows that meet the condition get the value '
  'of the expression, or of a list of expressions for several columns. Filled rows must no longer meet '
  'the condition. A second call starts it again.';
comment on function api_meta.clone_column_comments(name, name, name) is
  'Copies the comments of the columns of a view or composite type to another API schema.';
comment on function api_meta.current_parts(name) is
  'Returns the parts of a version of the API: views with their queries and columns, types with their '
  'attributes, functions with their bodies. A definition ends with the comment. Queries and bodies are '
  'hashed by MD5: definition has the hash of the text, tree the hash of Postgres'' own form with object '
  'ids.';
comment on function api_meta.derive_references() is
  'Creates triggers for foreign keys that are declared as not enforced. They check once per statement, '
  'while an enforced key checks each row. New rows must refer to existing ones; deleting a referenced '
  'row does what the key declares. Neither side of a reference can be changed. Bookings only refer to '
  'rows that they have locked (ledger.lock_stock). Runs after each migration.';
comment on function api_meta.derive_rules() is
  'Creates triggers for checks that are declared as not enforced. They refuse the same rows with the '
  'same error: uphold_figures has the checks of columns that bookings update, uphold_rules has all. '
  'They also fire if another trigger changes such a column. Tables that every booking writes to declare '
  'their checks in this way, because Postgres compiles enforced checks and generated columns again in '
  'each statement. Runs after each migration.';
comment on function api_meta.keep_words(api_meta.searched_view) is
  'Creates the trigger that keeps the searched text of rows in a separate table. Fills that table again '
  'if other columns are searched now.';
comment on function api_meta.describe() is
  'Writes the comments of the columns of views in api_unstable. Description and nullability come from '
  'the table''s column of the same name. The view''s tags @nullable, @hidden, @columnEnum and '
  '@fullLists correct them, and tags of indexes are added. Columns that are expressions have their own '
  'comments. Only changed comments are written.';
comment on function api_meta.follow_deletion() is
  'Trigger after a delete in a table that foreign keys refer to which are declared as not enforced. '
  'Does what these keys declare for a deletion, with the rights of the tables'' owner, like an enforced '
  'key.';
comment on function api_meta.has_null_elements(oid, integer, oid) is
  'Whether a column of a table is an array that may hold null: no check array_position(…, null) is null '
  'forbids it, and no domain of the array or its elements.';
comment on function api_meta.index_search(regclass) is
  'Creates the index for searches of a view with the tag @search, and replaces an existing one. Writes '
  'to the table wait meanwhile. For a large table, run the statement of api_meta.search_index in a '
  'separate migration, and then comment on the index with it.';
comment on view api_meta.index_tag is
  'Tags that follow from the indexes of each view''s main table, by column. The tag @indexed: an index '
  'finds its values. The tag @foundExactly: an index finds whole texts but not their beginnings; with '
  'unique, a text has few rows. The tag @orders: an index has the order of this column, of the columns '
  'that follow, and of the key.';
comment on view api_meta.index_use is
  'The use of each index: a constraint, a relation (a foreign key, which deletions look up too), a '
  'filter of the API, or a use that its comment names. Column covered_by lists other indexes that begin '
  'with the same columns and have its rows.';
comment on view api_meta.own_schema is
  'The schemas of the service: schemas of service_owner, except the packages'' (graphile_… and '
  'extensions), and schemas of others that are exposed to the API. Column is_api: the schema is a '
  'version of the API; is_frozen: a released version.';
comment on view api_meta.promise_ground is
  'Columns and checks of tables that can keep null out of the API. Column tree names them by object '
  'ids, ground by names. Column holds is true if no row has null there, or breaks the check.';
comment on function api_meta.read_faults() is
  'Returns tables that views of the API read although no policy protects them or their schema isn''t '
  'exposed, each with a remedy.';
comment on view api_meta.searched_view is
  'The views whose lists can be searched, by the tag @search: `@search number,name,customer_id`. A '
  'column with a @foreignKey to such a view also finds rows that belong to matches there. Column words: '
  'the searched text of the other columns, an expression over the view''s main table. Column links: '
  'columns with such a key; targets: the views that they lead to; through: the functions that search '
  'these. The tag `in erp.product_words` names a table that keeps the text by id. Tables that bookings '
  'change need it, because an index would slow down each booking.';
comment on function api_meta.uphold(api_meta.upholding) is
  'Creates or replaces the trigger function that upholds a table''s checks that are declared as not '
  'enforced, for some columns or all.';
comment on view api_meta.upholding is
  'The triggers that uphold checks which are declared as not enforced: uphold_figures for columns that '
  'bookings update, uphold_rules for all. columns: the trigger fires when one of them changes.';
comment on function api_meta.version_faults() is
  'Returns differences between the frozen versions and their records, one row per part. Columns, types, '
  'attributes and functions must have the same order and comments. Renaming a table or column behind a '
  'view is no difference. A view that reads other data is one, and so is a dropped not-null column or '
  'check that a promise to clients relies on.';
comment on view api_meta.view_column_source is
  'The columns of tables that each API view reads, also through other views. The table with the '
  'greatest weight is the view''s main table.';
comment on function api_meta.view_origins(name) is
  'Returns the table column behind each column of a version''s views, also through other views, and '
  'whether it is never null; for other columns the expression alone. Column is_promised: the tag '
  '@notNull or a key promises clients that it is never null. It takes a tenth of a second, because it '
  'reads Postgres'' form of the views, so migrations don''t call it routinely.';
comment on function api_meta.view_targets(regclass) is
  'Returns the columns of a view from Postgres'' own form: the expression of each, or the column of a '
  'table or another view that it shows unchanged. A column that an outer join may set to null is an '
  'expression.';
comment on function search.require_few(uuid[]) is
  'Refuses a search with more than 10,000 matches by SQLSTATE UE006: each page would have to read and '
  'sort all of them again.';
comment on type api_unstable.fulfillment_order_type is
  E'\n'
  '@value WarehouseLocationToOrder A location of the merchant ships to the customer, and the work is '
  'done in this system.\n'
  '@value ExternalToOrder A location outside this system ships, such as a fulfillment network; this '
  'system only mirrors it.\n'
  'Kind of location that ships a fulfillment order.';
comment on type api_unstable.currency_factor_origin_type is
  E'\n'
  '@value ExchangeRateImport The automatic update of exchange rates.\n'
  '@value Manual Somebody set it for this goods receipt.\n'
  '@value ShopCurrencyFactor The factor of the currency in the shop, kept without the automatic update.\n'
  'Origin of a goods receipt''s exchange rate.';
comment on type api_unstable.goods_receipt_type is
  E'\n'
  '@value Free Stands alone: neither a supplier order nor a return is behind it.\n'
  '@value Customer Books what a customer sends back.\n'
  '@value Supplier Books what supplier orders bring.\n'
  'Origin of the goods of a receipt.';
comment on view api_unstable.product_images is $$
@primaryKey product_id,position
@requiresScopes products:read
@filters product_id,position,url
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName images
@describe productImages All images of products that the caller may read, ordered within each product.
An image of a product. Its id contains the product and the position among its images.$$;

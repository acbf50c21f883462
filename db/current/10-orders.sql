-- Bookings of orders and receipts

-- The locks of all products at once
--!include ledger/change_reserved_stock.sql
--!include ledger/change_promised_stock.sql
--!include ledger/keep_order_figures.sql
--!include ledger/keep_fulfillment_order_figures.sql
--!include erp/awaits_goods.sql
--!include ledger/keep_purchase_figures.sql
--!include ledger/lock_promises.sql
--!include ledger/lock_way_back.sql
drop function if exists erp.lock_to_ship(ledger.pick[], erp.assignment[]);
--!include erp/lock_to_ship.sql
--!include erp/create_fulfillment_order.sql
--!include erp/cancel_order.sql

-- A shipment and a receipt write each row once: their figures are booked along with their movements.
grant update (reserved_stock, open_supplier_order_quantity) on erp.product to service_booker;
grant update (updated_at) on erp.product to service_ledger;
grant update (reserved_quantity) on ledger.warehouse_stock to service_booker;
grant update (updated_at) on ledger.warehouse_stock to service_ledger;
grant update (is_partially_fulfilled) on erp.fulfillment_order to service_writer;
select api_meta.allow('service_booker', 'erp.fulfillment_order_fulfillment', 'insert');
select api_meta.allow('service_booker', 'erp.fulfillment_stock_movement', 'insert');
select api_meta.allow('service_booker', 'erp.fulfillment_line_item', 'select', 'insert');
select api_meta.allow('service_booker', 'erp.fulfillment_order_line_item',
  'select', 'insert', 'update (fulfilled_quantity)');
select api_meta.allow('service_booker', 'erp.sales_order_line_item', 'select', 'update (shipped_quantity)');
create or replace trigger keep_figures_after_insert after insert on erp.fulfillment_line_item
  referencing new table as new_rows for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_fulfillment_line_figures();
create or replace trigger keep_figures_after_insert after insert on erp.fulfillment_order_line_item
  referencing new table as new_rows for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_fulfillment_order_line_figures();
create or replace trigger keep_figures_after_update after update on erp.fulfillment_order_line_item
  referencing old table as old_rows new table as new_rows for each statement
  when (current_user <> 'service_booker'::text) execute function ledger.keep_fulfillment_order_line_figures();
create or replace trigger keep_figures_after_update after update on erp.sales_order_line_item
  referencing old table as old_rows new table as new_rows for each statement
  when (current_user <> 'service_booker'::text) execute function ledger.keep_order_line_figures();

select api_meta.allow('service_booker', 'erp.supplier_order_line_item',
  'select', 'update (received_quantity, actual_delivery_date)');
create or replace trigger keep_figures_on_update after update on erp.supplier_order_line_item
  referencing old table as gone new table as changed for each statement
  when (current_user <> 'service_booker'::text) execute function ledger.keep_purchase_figures();

--!include ledger/figure_change.sql
drop function if exists ledger.write_figures(ledger.place_change[], boolean, boolean, boolean);
drop function if exists ledger.write_new_stock(ledger.place_change[]);
--!include ledger/write_new_stock.sql
--!include ledger/write_figures.sql
--!include ledger/keep_figures.sql
drop function if exists ledger.book(ledger.draft[], text);
--!include ledger/book.sql
drop function if exists ledger.post(ledger.draft[], text);
--!include ledger/post.sql
--!include ledger/promises_kept.sql
--!include ledger/require_picked.sql
drop function if exists ledger.ship(uuid, ledger.pick[], text);
--!include ledger/ship.sql
--!include ledger/write_shipment.sql
--!include ledger/write_assigned.sql
drop function if exists erp.assign(uuid, erp.assignment[]);
--!include erp/assign.sql
drop function if exists erp.settle_order(uuid);
--!include erp/settle_order.sql
drop function if exists erp.ship(uuid, ledger.pick[], text[], text);
--!include erp/ship.sql
--!include erp/complete_shipment.sql
--!include erp/create_fulfillment.sql
--!include erp/receipt_part.sql
--!include erp/delivery.sql
--!include erp/deliveries.sql
--!include ledger/write_deliveries.sql
drop function if exists erp.settle_receipt_lines(uuid);
--!include erp/settle_receipt_lines.sql
drop function if exists erp.deliver_supplier_orders(uuid);
--!include erp/complete_goods_receipt.sql

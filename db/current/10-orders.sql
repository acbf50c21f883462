-- Bookings of orders and receipts

-- The locks of all products at once
--!include ledger/change_reserved_stock.sql
--!include ledger/change_promised_stock.sql
--!include ledger/keep_purchase_figures.sql
--!include ledger/lock_promises.sql
--!include ledger/lock_way_back.sql
drop function if exists erp.lock_to_ship(ledger.pick[], erp.assignment[]);
--!include erp/lock_to_ship.sql
--!include erp/complete_shipment.sql
--!include erp/create_fulfillment_order.sql
--!include erp/create_fulfillment.sql
--!include erp/cancel_order.sql

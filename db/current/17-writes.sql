-- Bookings look at less, and write what is configured along with the other figures
drop function if exists ledger.examine(ledger.leg[]);
drop function if exists ledger.write_new_stock(ledger.place_change[], boolean);
drop function if exists ledger.write_configured_figures(ledger.place_change[]);
drop function if exists
  ledger.write_figures(ledger.place_change[], ledger.figure_change[], boolean, boolean, boolean);
--!include ledger/examine.sql
--!include ledger/lock_lines.sql
--!include ledger/write_new_stock.sql
--!include ledger/changed_parts.sql
--!include ledger/open_warehouse_stock.sql
--!include ledger/write_figures.sql
--!include ledger/keep_figures.sql
--!include ledger/book_correction.sql
--!include ledger/book.sql
--!include ledger/next_movement_ids.sql
--!include ledger/write_movements.sql
--!include ledger/write_singles.sql

-- Answers are ids, which hardly become shorter when they are compressed
alter table mutation.idempotency_key alter column payload set storage external;

-- Rows that come many at a time, and are updated soon after, find room in their page
alter table ledger.stock set (fillfactor = 80);
alter table erp.supplier_order_line_item set (fillfactor = 80);
alter table erp.sales_order_line_item set (fillfactor = 90);
alter table erp.fulfillment_order_line_item set (fillfactor = 90);

-- Refusals that say what to do instead.

--!include ledger/require_picked.sql
--!include erp/faults_of_orders_named.sql
--!include mutation/match_rows.sql
--!include events/require_settings.sql

-- A quantity below nothing is refused as that, whatever has been shipped
alter table erp.sales_order_line_item
  drop constraint if exists order_line_item_ships_no_more_than_ordered;
alter table erp.sales_order_line_item add constraint order_line_item_ships_no_more_than_ordered
  check (shipped_quantity >= 0 and shipped_quantity <= greatest(quantity, 0)) not enforced;
comment on constraint order_line_item_ships_no_more_than_ordered on erp.sales_order_line_item is
  E'@userError OVER_FULFILLMENT\nMore of a line would be shipped than was ordered.';

-- Products that get variants while they are in stock themselves
--!include erp/upsert_products.sql
--!include api/warning_code.sql
--!include api/products_upsert.sql

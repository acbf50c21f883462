-- Refusals say what to do, and holding a batch names the pick lists that have it
--!include ledger/require_serial_numbers.sql
--!include ledger/require_picked.sql
--!include ledger/require_empty_place.sql
--!include ledger/warn_of_hold.sql
--!include valuation/position_of.sql
--!include erp/check_pick_place.sql
--!include erp/require_places.sql
--!include erp/lock_divisible_order.sql
--!include erp/delete_warehouse.sql
--!include erp/approve_goods_receipt.sql
--!include erp/plan_uncovered.sql
--!include mutation/broken_rule.sql
comment on constraint pick_list_warehouse_id_fkey on erp.pick_list is
  E'@userError REFERENCE_IN_USE id\nPick lists keep the warehouse. Close it instead: warehouseUpdate with '
  'isStockAvailableForSale false, and locationsUpsert with active false.';
comment on constraint stocktake_warehouse_id_fkey on erp.stocktake is
  E'@userError REFERENCE_IN_USE id\nStocktakes keep the warehouse. Close it instead: warehouseUpdate with '
  'isStockAvailableForSale false, and locationsUpsert with active false.';
comment on constraint stock_container_warehouse_id_fkey on erp.stock_container is
  E'@userError REFERENCE_IN_USE id\nContainers are in the warehouse: delete them by stockContainerDelete '
  'first.';
comment on index erp.stocktake_line_is_counted_by_one_stocktake is
  E'@userError IN_OTHER_STOCKTAKE\nAnother stocktake that is not finished counts the same stock. Approve '
  'or cancel it first.';

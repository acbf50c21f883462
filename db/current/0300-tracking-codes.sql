-- An order that gets its delivery later gets its list then
drop trigger if exists keep_figures_of_delivery on erp.sales_order;
create trigger keep_figures_of_delivery before update of delivery_state on erp.sales_order
  for each row when (new.delivery_state is not null and new.tracking_codes is null)
  execute function ledger.keep_tracking_codes();

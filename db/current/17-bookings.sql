-- In the order of bookings, so that neither waits for the other in a circle
lock table erp.sales_order, erp.sales_order_line_item, erp.fulfillment_order, erp.fulfillment_order_line_item,
  erp.fulfillment, erp.fulfillment_line_item, erp.return_order, erp.goods_receipt, erp.warehouse,
  erp.bin_location, erp.stock_container, erp.product, ledger.stock, ledger.stock_movement, ledger.stock_count,
  ledger.special_stock_location;

--!include events/cause.sql
--!include events/announcement.sql

-- What a movement refers to is asked once for each statement
--!include api_meta/upheld_reference.sql
--!include api_meta/follow_deletion.sql
--!include api_meta/derive_references.sql
--!include api_meta/finish_migration.sql
do $$
declare
  name text;
  relation regclass;
begin
  for name, relation in
    select c.conname, c.conrelid::regclass from pg_constraint c
    where c.conrelid in ('ledger.stock_movement'::regclass, 'ledger.stock_count'::regclass)
      and c.contype = 'f' and c.conenforced
      and c.confrelid not in ('ledger.process_type'::regclass, 'erp.batch'::regclass)
  loop
    execute format('alter table %s alter constraint %I not enforced', relation, name);
  end loop;
end
$$;
--!include ledger/lock_stock.sql
--!include ledger/write_stock.sql
--!include ledger/examine.sql
--!include ledger/write_figures.sql
--!include ledger/broken_rules.sql
--!include ledger/write_movements.sql
--!include ledger/write_new_stock.sql
select api_meta.allow('service_booker', 'ledger.stock_count', 'insert');
--!include ledger/note_counts.sql

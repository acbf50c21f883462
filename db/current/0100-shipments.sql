-- A shipment takes fewer statements
drop function if exists erp.lock_order_to_ship(uuid);
drop function if exists erp.refuse_nothing_to_ship(erp.sales_order);
drop function if exists ledger.forget_unwanted(uuid[]);
drop function if exists ledger.write_shipment(text, ledger.pick[], uuid[], uuid[]);
--!include erp/next_state.sql
--!include erp/lock_order_to_ship.sql
--!include erp/refuse_nothing_to_ship.sql
--!include erp/lock_to_ship.sql
--!include ledger/lock_shipment.sql
--!include ledger/promises_kept.sql
--!include ledger/follow_states.sql
--!include ledger/write_shipment.sql
--!include erp/ship.sql
--!include erp/complete_shipment.sql
--!include erp/create_fulfillment_order.sql
--!include erp/complete_goods_receipt.sql
--!include ledger/lock_places.sql
--!include ledger/lock_stock.sql
--!include ledger/book.sql
--!include mutation/run.sql

-- What a shipment refers to is locked by it, or new
do $$
declare
  reference record;
begin
  for reference in
    select c.conrelid::regclass as relation, c.conname as name from pg_constraint c
    where c.contype = 'f' and c.conenforced and cardinality(c.conkey) = 1 and c.conrelid in (
      'erp.fulfillment_order_fulfillment'::regclass, 'erp.fulfillment_line_item'::regclass,
      'erp.fulfillment_stock_movement'::regclass)
  loop
    execute format('alter table %s alter constraint %I not enforced', reference.relation, reference.name);
  end loop;
end
$$;

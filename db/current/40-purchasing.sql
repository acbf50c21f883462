-- Receipts follow the supplier orders that their lines name, share out what comes over them, and book all of it.
--!include functions/api/user_error.sql
--!include functions/api/warning.sql

-- An order that a correction opens again goes back
insert into erp.state_transition (machine, action, from_state, to_state) values
  ('supplier_order', 'deliver_partially', 'delivered', 'partially_delivered'),
  ('supplier_order', 'take_back', 'delivered', 'confirmed'),
  ('supplier_order', 'take_back', 'partially_delivered', 'confirmed')
on conflict do nothing;
--!include functions/events/topics.sql

--!include functions/erp/line_ids.sql
--!include functions/erp/goods_receipt_orders.sql
--!include functions/erp/goods_receipt_delivery.sql
--!include functions/erp/goods_receipt_lines.sql
--!include functions/erp/goods_receipt.sql
--!include functions/erp/goods_receipt_booking.sql
--!include functions/erp/supplier_order.sql
--!include functions/ledger/keep_figures.sql
--!include functions/ledger/change_figures.sql

-- What lines name, their receipts name: the rule of one supplier asks of orders that are new to a receipt
insert into erp.goods_receipt_supplier_order (goods_receipt_id, supplier_order_id)
select distinct l.goods_receipt_id, l.supplier_order_id
from erp.goods_receipt_line_item l
where l.supplier_order_id is not null and not exists (
  select from erp.goods_receipt_supplier_order n
  where n.goods_receipt_id = l.goods_receipt_id and n.supplier_order_id = l.supplier_order_id);
create or replace trigger require_one_supplier_on_insert after insert on erp.goods_receipt_line_item
  referencing new table as changed for each statement execute function erp.require_one_supplier();
create or replace trigger require_one_supplier_on_update after update on erp.goods_receipt_line_item
  referencing new table as changed for each statement execute function erp.require_one_supplier();
create or replace trigger require_one_supplier after insert on erp.goods_receipt_supplier_order
  referencing new table as changed for each statement execute function erp.require_one_supplier();
create or replace trigger require_one_supplier after update of supplier_id on erp.goods_receipt
  for each row when (new.supplier_id is distinct from old.supplier_id and new.supplier_id is not null)
  execute function erp.require_one_supplier();
create or replace trigger require_one_supplier after update of supplier_id on erp.supplier_order
  for each row when (new.supplier_id is distinct from old.supplier_id and new.supplier_id is not null)
  execute function erp.require_one_supplier();
select api_meta.give('erp.require_one_supplier()', 'service_writer');
do $$
declare
  routine regprocedure;
begin
  -- What of the schema erp runs within mutations, may run there
  for routine in
    select p.oid from pg_proc p
    where p.pronamespace = 'erp'::regnamespace and not p.prosecdef and p.prorettype <> 'trigger'::regtype
  loop
    execute format('grant execute on function %s to service_writer', routine);
  end loop;
end
$$;

-- What was found where the parts of this issue meet
--!include erp/call_off_labels.sql
drop trigger if exists call_off_labels on erp.fulfillment_order;
create trigger call_off_labels after update of state on erp.fulfillment_order
for each row when (new.state = 'Cancelled' and old.state <> 'Cancelled') execute function erp.call_off_labels();
drop trigger if exists call_off_labels on erp.sales_order;
create trigger call_off_labels after update of state on erp.sales_order
for each row when (new.state = 'cancelled' and old.state <> 'cancelled') execute function erp.call_off_labels();

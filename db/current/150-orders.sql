-- Closed orders can be opened again

alter table erp.fulfillment_order drop column if exists was_cancelled_with_order cascade;
alter table erp.fulfillment_order add column was_cancelled_with_order boolean not null default false;
comment on column erp.fulfillment_order.was_cancelled_with_order is
  'Whether it was cancelled because the whole order was. The location may ship the order if it is reopened.';
select api_meta.allow('service_writer', 'erp.fulfillment_order', 'update (was_cancelled_with_order)');

delete from erp.state_transition t where t.machine = 'order_delivery' and t.action = 'reopen';
insert into erp.state_transition (machine, action, from_state, to_state, mutation) values
  ('order_delivery', 'reopen', 'cancelled', 'open', 'order_reopen');
update erp.state_transition t set mutation = 'order_reopen' where t.machine = 'order' and t.action = 'reopen';

--!include erp/is_called_off.sql
--!include erp/cancel_order.sql
--!include erp/reopen_order.sql
--!include api/order_reopen.sql

-- Mutations of shipping plan their statements once, by index. Who takes a fulfillment order off hold with SQL need not
-- know of its comment: the API shows it only as long as it is on hold.
alter table erp.fulfillment_order drop constraint if exists fulfillment_order_hold_comment_only_on_hold;
drop view if exists api_unstable.fulfillment_orders;
--!include views/api/fulfillment_orders.sql
--!include functions/erp/complete_shipment.sql
--!include functions/erp/fulfillment_order.sql
--!include functions/erp/fulfillment.sql

-- What to buy: proposals, and supplier orders of them
drop function if exists api_unstable.propose_reorders(uuid, uuid, uuid, integer);
drop view if exists api_unstable.reorder_proposals cascade;
drop function if exists api_unstable.supplier_orders_create_from_proposals cascade;
drop function if exists administration.report_reorder(text, text, integer);
drop function if exists erp.reorder_proposals(uuid, uuid, uuid, integer, integer);
drop function if exists erp.supplier_terms(uuid[], uuid[]) cascade;
drop type if exists erp.reorder_line cascade;
create type erp.reorder_line as (
  product_id uuid, warehouse_id uuid, quantity integer, on_order_quantity integer, supplier_id uuid
);
comment on type erp.reorder_line is 'A proposal that is to be ordered, and what it said was on order.';
--!include api/user_error_code.sql
--!include api/reorder_reason.sql
--!include ledger/unassigned_units.sql
--!include ledger/shipped_units.sql
--!include erp/supplier_terms.sql
--!include erp/reorder_quantity.sql
--!include erp/reorder_positions.sql
--!include erp/reorder_proposals.sql
grant execute on function erp.reorder_proposals(uuid, uuid, uuid, integer, integer) to service_registrar;
--!include erp/reorder_faults.sql
--!include erp/create_supplier_order.sql
--!include erp/warn_of_purchase.sql
--!include erp/order_proposals.sql
--!include api/reorder_proposals.sql
--!include api/propose_reorders.sql
--!include api/supplier_order_create.sql
--!include api/supplier_order_line_items_set.sql
--!include api/supplier_orders_create_from_proposals.sql
select api_meta.allow('service_registrar', 'erp.supplier', 'select (id, number, name, minimum_order_value)');
select api_meta.allow('service_registrar', 'erp.currency', 'select (id, iso_code)');
select api_meta.allow('service_registrar', 'erp.product', 'select (name, parent_id)');
--!include administration/report_reorder.sql

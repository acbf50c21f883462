drop function if exists ledger.write_shipment(uuid, ledger.pick[], uuid[], uuid[]);
select api_meta.allow('service_booker', 'erp.state_transition', 'select');
select api_meta.allow('service_booker', 'erp.fulfillment', 'select', 'insert');
select api_meta.allow('service_booker', 'erp.fulfillment_order',
  'select', 'update (state, is_partially_fulfilled)');
select api_meta.allow('service_booker', 'erp.sales_order',
  'select', 'update (state, delivery_state, tracking_codes, entered_tracking_codes)');
create or replace trigger keep_figures_after_update after update on erp.fulfillment_order
  referencing old table as old_rows new table as new_rows
  for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_fulfillment_order_figures();
create or replace trigger keep_figures_after_update after update on erp.sales_order
  referencing old table as old_rows new table as new_rows
  for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_order_figures();
-- The functions that tell of what follows in it
select events.derive_announcements();
--!include erp/is_string_array.sql
--!include erp/next_state.sql
--!include ledger/forget_unwanted.sql
--!include ledger/write_order_states.sql
--!include ledger/write_shipment.sql
--!include erp/settle_order.sql
--!include erp/ship.sql
--!include erp/create_documents.sql

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
--!include ledger/picked_lines.sql
--!include ledger/write_shipment.sql
--!include erp/settle_order.sql
--!include erp/ship.sql
--!include erp/create_documents.sql
--!include erp/require_documents.sql
--!include erp/require_tracking_codes.sql
--!include ledger/lock_orders.sql

-- Their checks are declared, and upheld by triggers that are made of them (api_meta.derive_rules): Postgres
-- compiles an enforced one anew in each statement.
do $$
declare
  rule record;
begin
  for rule in
    select c.conrelid::regclass as relation, c.conname, pg_get_constraintdef(c.oid) as definition,
      obj_description(c.oid, 'pg_constraint') as note
    from pg_constraint c
    where c.contype = 'c' and c.conenforced and c.conrelid = any (array[
      'erp.sales_order', 'erp.sales_order_line_item', 'erp.fulfillment_order',
      'erp.fulfillment_order_line_item', 'erp.fulfillment', 'erp.fulfillment_line_item']::regclass[])
  loop
    execute format('alter table %s drop constraint %I', rule.relation, rule.conname);
    execute format('alter table %s add constraint %I %s not enforced', rule.relation, rule.conname,
      rule.definition);
    if rule.note is not null then
      execute format('comment on constraint %I on %s is %L', rule.conname, rule.relation, rule.note);
    end if;
  end loop;
end
$$;

-- Shipping: the figures that follow from orders, fulfillment orders, fulfillments and labels, and the mutations.
alter table erp.sales_order add column if not exists entered_tracking_codes text[] not null default '{}';
comment on column erp.sales_order.entered_tracking_codes is
  'Tracking codes that were entered by hand. They stay in the list of all codes when a label with the same code is cancelled.';

drop type if exists ledger.change cascade;
create type ledger.change as (owner_id uuid, item_id uuid, quantity bigint);
comment on type ledger.change is
  'By how much a quantity of an item changes for its owner: of a product for an order, a fulfillment order or a warehouse, of a line for a fulfillment.';

--!include functions/ledger/lock_orders.sql
--!include functions/ledger/change_figures.sql
--!include functions/ledger/order_amounts.sql
--!include functions/ledger/promises_of.sql
--!include functions/ledger/keep_order_figures.sql
--!include functions/ledger/keep_tracking_codes.sql
--!include functions/ledger/keep_fulfillment_order_figures.sql
--!include functions/ledger/keep_fulfillment_figures.sql
--!include functions/ledger/keep_location_figures.sql

do $$
declare
  item record;
begin
  -- A trigger with transition tables is for one event only
  for item in
    select t.relation, t.routine, e.event, e.tables
    from (values
      ('erp.sales_order_line_item', 'ledger.keep_order_line_figures', '{insert,update,delete}'::text[]),
      ('erp.sales_order', 'ledger.keep_order_figures', '{update}'),
      ('erp.shipping_label', 'ledger.keep_label_figures', '{insert,update,delete}'),
      ('erp.fulfillment_order_line_item', 'ledger.keep_fulfillment_order_line_figures', '{insert,update,delete}'),
      ('erp.fulfillment_order', 'ledger.keep_fulfillment_order_figures', '{update}'),
      ('erp.fulfillment_line_item', 'ledger.keep_fulfillment_line_figures', '{insert,update,delete}'),
      ('erp.fulfillment', 'ledger.keep_fulfillment_figures', '{update}')
    ) t (relation, routine, events)
    join (values ('insert', 'new table as new_rows'), ('update', 'old table as old_rows new table as new_rows'), ('delete', 'old table as old_rows'))
      e (event, tables) on e.event = any (t.events)
  loop
    execute format('create or replace trigger keep_figures_after_%s after %1$s on %s referencing %s for each statement execute function %s()',
      item.event, item.relation, item.tables, item.routine);
  end loop;
end
$$;
create or replace trigger keep_figures_before_delete before delete on erp.sales_order
  for each row execute function ledger.keep_order_figures();
create or replace trigger keep_figures_before_delete before delete on erp.fulfillment_order
  for each row execute function ledger.keep_fulfillment_order_figures();
create or replace trigger keep_figures_before_delete before delete on erp.fulfillment
  for each row execute function ledger.keep_fulfillment_figures();
create or replace trigger keep_figures_before_delete before delete on erp.location
  for each row execute function ledger.keep_location_figures();
create or replace trigger keep_figures_after_move after update of warehouse_id on erp.location
  for each row when (old.warehouse_id is distinct from new.warehouse_id) execute function ledger.keep_location_figures();
create or replace trigger keep_figures_of_tax before update of tax_status on erp.sales_order
  for each row when (old.tax_status <> new.tax_status) execute function ledger.keep_order_amounts();
create or replace trigger keep_figures_of_tracking before insert or update of tracking_codes, entered_tracking_codes on erp.sales_order
  for each row execute function ledger.keep_tracking_codes();

-- What the triggers find right they leave alone. Orders from before them are brought up to date here.
update erp.sales_order o set entered_tracking_codes = e.codes
from (
  select o.id, array_agg(c.code) as codes from erp.sales_order o cross join jsonb_array_elements_text(o.tracking_codes) c (code)
  where c.code <> all (o.entered_tracking_codes) and not exists (
    select from erp.shipping_label l where l.order_id = o.id and l.state = 'created' and l.type = 'outgoing' and l.tracking_codes ? c.code)
  group by o.id
) e where e.id = o.id;
update erp.sales_order o set amount_total = a.amount_total, amount_net = a.amount_net
from erp.sales_order present cross join lateral ledger.order_amounts(present.id, present.tax_status) a
where o.id = present.id and (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net);

select api_meta.allow('service_ledger', 'erp.sales_order', 'select', 'update (amount_total, amount_net, tracking_codes, entered_tracking_codes)');
select api_meta.allow('service_ledger', 'erp.sales_order_line_item', 'select', 'update (shipped_quantity)');
select api_meta.allow('service_ledger', 'erp.fulfillment_order', 'select', 'update (is_partially_fulfilled)');
select api_meta.allow('service_ledger', 'erp.fulfillment_order_line_item', 'select', 'update (fulfilled_quantity)');
select api_meta.allow('service_ledger', 'erp.fulfillment_line_item', 'select');
select api_meta.allow('service_ledger', 'erp.shipping_label', 'select');
select api_meta.allow('service_ledger', 'erp.product', 'update (reserved_stock)');
select api_meta.allow('service_ledger', 'ledger.warehouse_stock', 'update (reserved_quantity)');
-- To lock rows
select api_meta.allow('service_ledger', 'erp.fulfillment', 'select', 'update (updated_at)');
select api_meta.allow('service_ledger', 'erp.location', 'select', 'update (updated_at)');
select api_meta.give(routine, 'service_ledger') from unnest(array[
  'ledger.keep_order_line_figures()', 'ledger.keep_order_figures()', 'ledger.keep_order_amounts()', 'ledger.keep_tracking_codes()',
  'ledger.keep_label_figures()', 'ledger.keep_fulfillment_order_line_figures()', 'ledger.keep_fulfillment_order_figures()',
  'ledger.keep_fulfillment_line_figures()', 'ledger.keep_fulfillment_figures()', 'ledger.keep_location_figures()']::regprocedure[]) routine;
grant execute on function erp.is_string_array(jsonb), ledger.lock_orders(uuid[], uuid[]) to service_ledger, service_writer;
grant execute on function ledger.change_reserved_stock(ledger.change[]), ledger.change_promised_stock(ledger.change[]),
  ledger.change_fulfilled_quantities(ledger.change[]), ledger.lock_orders_of(ledger.change[]), ledger.promises_of(ledger.change[]),
  ledger.order_amounts(uuid, text) to service_ledger;

comment on constraint number_range_last_number_is_not_negative on erp.number_range is
  E'@userError OUT_OF_RANGE\nThe number range has come to an end.';

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

-- Orders from before these triggers are brought up to date
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

comment on constraint number_range_last_number_is_not_negative on erp.number_range is
  E'@userError OUT_OF_RANGE\nThe number range has come to an end.';

-- What the mutations need beside the figures
create table if not exists erp.fulfillment_stock_movement (
  fulfillment_line_item_id uuid not null references erp.fulfillment_line_item on delete cascade,
  stock_movement_id uuid not null references ledger.stock_movement on delete cascade,
  primary key (fulfillment_line_item_id, stock_movement_id)
);
create index if not exists fulfillment_stock_movement_stock_movement_id_idx on erp.fulfillment_stock_movement (stock_movement_id);
alter table erp.fulfillment_stock_movement enable row level security;
comment on table erp.fulfillment_stock_movement is
  'Which movements took the units of a line of a fulfillment to the order. Cancelling the fulfillment books them back the same way.';
-- Bins and warehouses that hold a product, among all the orders that it went to
create index if not exists stock_in_warehouses_idx on ledger.stock (product_id) where location_type_technical_name in ('warehouse', 'bin_location');

alter table erp.fulfillment_order add column if not exists hold_comment text;
comment on column erp.fulfillment_order.hold_comment is 'Why it is on hold, in the words of whoever put it there; null when it is not, or nobody said.';
do $$
begin
  if not exists (select from pg_constraint where conname = 'fulfillment_order_hold_comment_is_not_too_long') then
    alter table erp.fulfillment_order add constraint fulfillment_order_hold_comment_is_not_too_long check (length(hold_comment) <= 1000);
  end if;
end
$$;
drop view if exists api_unstable.fulfillment_orders;
--!include views/api/fulfillment_orders.sql

do $$
begin
  if not exists (select from pg_constraint where conname = 'state_transition_machine_is_known' and pg_get_constraintdef(oid) like '%''fulfillment''%') then
    alter table erp.state_transition drop constraint state_transition_machine_is_known;
    alter table erp.state_transition add constraint state_transition_machine_is_known check (machine in
      ('goods_receipt', 'order', 'order_delivery', 'fulfillment_order', 'fulfillment', 'supplier_order', 'quote', 'shipping_label'));
  end if;
end
$$;
insert into erp.state_transition (machine, action, from_state, to_state) values
  ('order', 'stop', 'in_progress', 'open'),
  ('order_delivery', 'ship_partially', 'shipped_partially', 'shipped_partially'),
  ('order_delivery', 'unship_partially', 'shipped', 'shipped_partially'),
  ('order_delivery', 'unship_partially', 'shipped_partially', 'shipped_partially'),
  ('order_delivery', 'unship', 'shipped', 'open'), ('order_delivery', 'unship', 'shipped_partially', 'open'),
  ('fulfillment_order', 'release_hold', 'OnHold', 'Open'),
  ('fulfillment', 'cancel', 'Fulfilled', 'Cancelled')
on conflict do nothing;

comment on constraint order_state_is_known on erp.sales_order is E'@userError INVALID state\nThere is no such state of orders.';
comment on constraint order_line_item_ships_no_more_than_ordered on erp.sales_order_line_item is
  E'@userError OVER_FULFILLMENT\nMore of a line would be shipped than was ordered.';
comment on constraint fulfillment_order_line_item_fulfills_no_more_than_assigned on erp.fulfillment_order_line_item is
  E'@userError OVER_FULFILLMENT\nMore of a line would be fulfilled than is assigned.';
comment on constraint fulfillment_order_state_is_known on erp.fulfillment_order is E'@userError INVALID state\nThere is no such state of fulfillment orders.';
comment on constraint fulfillment_order_returns_from_hold_to_work on erp.fulfillment_order is
  E'@userError INVALID state_before_hold\nA fulfillment order returns from hold to being open or in progress.';
comment on constraint fulfillment_order_remembers_its_state_on_hold on erp.fulfillment_order is
  E'@userError INVALID state_before_hold\nOnly a fulfillment order on hold has a state to return to.';
comment on constraint fulfillment_order_hold_comment_is_not_too_long on erp.fulfillment_order is
  E'@userError OUT_OF_RANGE hold_comment\nThe comment has more than 1,000 characters.';
comment on constraint fulfillment_state_is_known on erp.fulfillment is E'@userError INVALID state\nThere is no such state of fulfillments.';

drop type if exists ledger.pick cascade;
create type ledger.pick as (
  field text[], line_id uuid, product_id uuid, warehouse_id uuid, quantity integer, place_type text, place text, batch_id uuid
);
comment on type ledger.pick is
  'Units of a line of a fulfillment order that are to be shipped from a warehouse. place is a key as in ledger.stock.place, null when the units are to be picked; field is where the input says the quantity, for user errors.';
drop type if exists erp.shipping_line cascade;
drop type if exists erp.shipping_place cascade;
drop type if exists erp.shipment cascade;
create type erp.shipping_line as (id uuid, quantity integer);
comment on type erp.shipping_line is 'Units of a line of a fulfillment order that are to be shipped.';
create type erp.shipping_place as (line integer, nth integer, warehouse_id uuid, bin_location_id uuid, quantity integer, batch_id uuid);
comment on type erp.shipping_place is 'The nth place that units of a line are taken from. Lines and places are numbered from 1.';
create type erp.shipment as (order_id uuid, fulfillments uuid[], fulfillment_orders uuid[], stock_movements uuid[]);
comment on type erp.shipment is 'Ids of what was made and changed by shipping something, or by taking it back.';

--!include functions/ledger/lock_shipment.sql
--!include functions/ledger/ship.sql
--!include functions/erp/allowed_actions.sql
--!include functions/erp/shipment.sql
--!include functions/erp/complete_shipment.sql
--!include functions/erp/fulfillment_order.sql
--!include functions/erp/fulfillment.sql

select api_meta.allow('service_ledger', 'erp.fulfillment_stock_movement', 'select');
select api_meta.give(routine, 'service_ledger') from unnest(array[
  'ledger.lock_shipment(uuid[], uuid[], uuid[])', 'ledger.ship(uuid, ledger.pick[], text)', 'ledger.take_back(uuid, text)']::regprocedure[]) routine;
select api_meta.allow('service_writer', 'erp.sales_order', 'select', 'update (state, delivery_state, entered_tracking_codes)');
select api_meta.allow('service_writer', 'erp.fulfillment_order', 'select', 'insert', 'update (state, state_before_hold, hold_comment)');
select api_meta.allow('service_writer', 'erp.fulfillment_order_line_item', 'select', 'insert');
select api_meta.allow('service_writer', 'erp.fulfillment', 'select', 'insert', 'update (state)');
select api_meta.allow('service_writer', 'erp.fulfillment_order_fulfillment', 'select', 'insert');
select api_meta.allow('service_writer', 'erp.fulfillment_line_item', 'select', 'insert');
select api_meta.allow('service_writer', 'erp.fulfillment_stock_movement', 'select', 'insert');
select api_meta.allow('service_writer', relation, 'select')
from unnest(array['erp.sales_order_line_item', 'erp.shipping_method', 'erp.document_type', 'erp.batch']::regclass[]) relation;
grant execute on function ledger.lock_shipment(uuid[], uuid[], uuid[]), ledger.ship(uuid, ledger.pick[], text), ledger.take_back(uuid, text),
  erp.allowed_actions(text, text), erp.require_tracking_codes(text[]), erp.has_open_lines(uuid), erp.settle_order(uuid), erp.unsettle_order(uuid),
  erp.ship(uuid, ledger.pick[], text[], text), erp.complete_shipment(uuid, text[], text[], text), erp.create_documents(uuid, text[]),
  erp.lock_fulfillment_order(uuid, text[]), erp.change_fulfillment_order(uuid, text, text),
  erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text), erp.cancel_fulfillment(uuid, text) to service_writer;

--!include functions/api/order_shipment_complete.sql
--!include functions/api/fulfillment_order.sql
--!include functions/api/fulfillment.sql

-- The version of June ships too
select api_meta.clone_types('api_unstable', 'api_2026_06_unstable');
select api_meta.clone_functions('api_unstable', 'api_2026_06_unstable');

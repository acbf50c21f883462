-- Sourcing: which location ships what of an order, by a plan and by rules; fulfillment orders move and split

drop function if exists api_unstable.sourcing_simulate, api_unstable.sourcing_simulate_locations,
  api_unstable.sourcing_rules_set, api_unstable.fulfillment_order_move, api_unstable.fulfillment_order_split;
drop view if exists api_unstable.sourcing_rules, api_unstable.sourcing_simulation_locations;
drop function if exists erp.plan_uncovered(uuid, uuid);
drop function if exists erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[]);
drop function if exists administration.report_sourcing;
drop schema if exists sourcing cascade;
create schema sourcing;
comment on schema sourcing is
  'Sourcing: a plan that may be replaced says which location ships what of an order. Rules are rows, and '
  'simulations apply them to past orders.';
grant usage on schema sourcing to service_api, service_writer, service_registrar, service_ledger;
select api_meta.expose('sourcing');

--!include sourcing/kinds.sql
create table sourcing.rule (
  id uuid primary key default uuidv7(),
  "position" integer not null constraint rule_position_is_unique unique
    constraint rule_position_is_plausible check ("position" between 1 and 1000),
  kind text collate "C" not null constraint rule_kind_is_known
    check (kind in ('priority', 'same_country', 'fullest', 'do_not_split', 'split_least')),
  location_id uuid references erp.location on delete cascade,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  constraint rule_has_a_location_only_as_priority check ((kind = 'priority') = (location_id is not null)),
  constraint rule_is_unique unique nulls not distinct (location_id, kind)
);
alter table sourcing.rule enable row level security;
comment on table sourcing.rule is
  'Rules that order the locations which could ship an order. Without rows, the default warehouse ships '
  'everything.';
comment on column sourcing.rule."position" is
  'Place in the list; the rule with the smallest one decides first.';
comment on column sourcing.rule.kind is 'How the rule orders the locations.';
comment on column sourcing.rule.location_id is
  'The location that comes first; null unless the kind is priority.';
comment on column sourcing.rule.created_at is 'When the rules were set.';
comment on constraint rule_position_is_unique on sourcing.rule is '@internal set by functions';
comment on constraint rule_position_is_plausible on sourcing.rule is '@internal set by functions';
comment on constraint rule_kind_is_known on sourcing.rule is '@internal an enum in the API';
comment on constraint rule_location_id_fkey on sourcing.rule is '@internal sourcing.require_rules() finds it';
comment on constraint rule_has_a_location_only_as_priority on sourcing.rule is
  '@internal sourcing.require_rules() refuses others';
comment on constraint rule_is_unique on sourcing.rule is '@internal sourcing.require_rules() refuses others';
select api_meta.allow('service_writer', 'sourcing.rule', 'select', 'insert', 'delete');

alter table erp.fulfillment_order drop column if exists division_count cascade;
alter table erp.fulfillment_order add column division_count integer not null default 0;
comment on column erp.fulfillment_order.division_count is
  'How often units were taken out of it and put into others, by fulfillmentOrderMove or '
  'fulfillmentOrderSplit.';
select api_meta.allow('service_writer', 'erp.fulfillment_order',
  'update (source_warehouse_location_id, division_count)');
select api_meta.allow('service_writer', 'erp.fulfillment_order_line_item', 'update (quantity)', 'delete');
select api_meta.allow('service_registrar', 'erp.location', 'select (id, name, warehouse_id)');
select api_meta.allow('service_registrar', 'erp.warehouse', 'select (id, code)');

delete from erp.state_transition t
where t.machine = 'fulfillment_order' and t.action in ('move', 'split');
insert into erp.state_transition (machine, action, from_state, to_state, mutation) values
  ('fulfillment_order', 'move', 'Open', 'Open', 'fulfillment_order_move'),
  ('fulfillment_order', 'split', 'Open', 'Open', 'fulfillment_order_split');

--!include api/warning_code.sql
--!include sourcing/allotment.sql
--!include sourcing/is_simulated.sql
--!include sourcing/reserved_of.sql
--!include sourcing/needs.sql
--!include sourcing/offers.sql
--!include sourcing/listed_rules.sql
--!include sourcing/rules_in_use.sql
--!include sourcing/places.sql
--!include sourcing/best_share.sql
--!include sourcing/plan.sql
--!include sourcing/plan_fault.sql
--!include sourcing/checked_plan.sql
--!include sourcing/require_same_plan.sql
--!include sourcing/require_rules.sql
--!include sourcing/set_rules.sql
--!include sourcing/stock_as_of.sql
--!include sourcing/simulate_order.sql
--!include sourcing/simulate.sql
--!include sourcing/figures.sql
--!include sourcing/compare.sql

--!include erp/joined_assignments.sql
--!include erp/plan_uncovered.sql
--!include erp/complete_shipment.sql
--!include erp/create_fulfillment_order.sql
--!include erp/lock_divisible_order.sql
--!include erp/parts_of.sql
--!include erp/lock_division.sql
--!include erp/plan_again.sql
--!include erp/take_out.sql
--!include erp/divide_fulfillment_order.sql
--!include erp/move_fulfillment_order.sql
--!include erp/split_fulfillment_order.sql

--!include api/fulfillment_orders_payload.sql
--!include api/fulfillment_order_create.sql
--!include api/order_shipment_complete.sql
--!include api/fulfillment_order_line_input.sql
--!include api/fulfillment_order_move.sql
--!include api/fulfillment_order_split.sql
--!include api/sourcing_rule_kind.sql
--!include api/sourcing_rules.sql
--!include api/sourcing_rules_set.sql
--!include api/sourcing_simulate.sql
--!include api/sourcing_simulation_locations.sql
--!include api/sourcing_simulate_locations.sql
--!include administration/report_sourcing.sql

-- The value of the stock: methods, values given by people, and the calculation

drop function if exists api_unstable.valuation_method_set, api_unstable.stock_opening_values_set,
  api_unstable.landed_cost_allocate, api_unstable.stock_write_down;
drop schema if exists valuation cascade;
create schema valuation;
comment on schema valuation is
  'The value of the stock. It is calculated from movements, prices and a method, and kept in reports that '
  'close a period.';
grant usage on schema valuation to service_api, service_writer;
select api_meta.expose('valuation');
select api_meta.allow('service_writer', 'ledger.movement_sequence', 'select');

create table valuation.method (
  id uuid primary key default uuidv7(),
  starts_on date not null constraint method_starts_on_is_unique unique
    constraint method_starts_on_is_plausible check (starts_on between '1900-01-01' and '9999-12-31'),
  method text not null constraint method_is_known
    check (method in ('moving_average', 'period_average', 'fifo')),
  created_at timestamptz(0) not null default date_trunc('second', now())
);
comment on table valuation.method is
  'Methods by which the stock is valued, each from a day on. Before the first, the method is the moving '
  'average.';
comment on column valuation.method.starts_on is 'First day that is valued by the method.';
comment on column valuation.method.method is
  'The method: moving_average, period_average or fifo (first in, first out).';
comment on constraint method_starts_on_is_unique on valuation.method is
  '@internal valuation.set_method changes the one that is there.';
comment on column valuation.method.created_at is 'When the method was set.';
comment on constraint method_starts_on_is_plausible on valuation.method is
  E'@userError OUT_OF_RANGE starts_on\nThe year must be between 1900 and 9999.';
comment on constraint method_is_known on valuation.method is '@internal An enum of the API has these values.';

create table valuation.opening_value (
  id uuid primary key default uuidv7(),
  stock_movement_id uuid not null references ledger.stock_movement on delete cascade
    constraint opening_value_is_one_per_movement unique,
  product_id uuid not null references erp.product on delete cascade,
  unit_value numeric not null constraint opening_value_is_an_amount
    check (unit_value >= 0 and unit_value < 1000000000 and scale(unit_value) <= 6),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
create index on valuation.opening_value (product_id, id);
comment on constraint opening_value_is_one_per_movement on valuation.opening_value is
  '@internal valuation.set_opening_values changes the one that is there.';
comment on table valuation.opening_value is
  'Values of units that came in without a goods receipt: from initialization, import or a count.';
comment on column valuation.opening_value.stock_movement_id is 'The movement that brought the units.';
comment on column valuation.opening_value.product_id is 'Product of the movement.';
comment on column valuation.opening_value.unit_value is
  'Value of one unit without deductible tax, in the default currency.';
comment on column valuation.opening_value.created_at is 'When the value was first set.';
comment on column valuation.opening_value.updated_at is 'When the value was last changed.';
comment on constraint opening_value_is_an_amount on valuation.opening_value is
  '@internal valuation.set_opening_values checks it for each line.';
comment on constraint opening_value_stock_movement_id_fkey on valuation.opening_value is
  '@internal valuation.set_opening_values looks it up.';
comment on constraint opening_value_product_id_fkey on valuation.opening_value is
  '@internal It is the product of the movement.';

create table valuation.landed_cost (
  id uuid primary key default uuidv7(),
  goods_receipt_id uuid not null references erp.goods_receipt on delete restrict,
  product_id uuid not null references erp.product on delete cascade,
  amount numeric not null constraint landed_cost_is_an_amount
    check (amount <> 0 and abs(amount) < 1000000000000 and scale(amount) <= 6),
  day date not null,
  sequence bigint not null,
  note text constraint landed_cost_note_length check (length(note) <= 1000),
  created_at timestamptz(0) not null default date_trunc('second', now())
);
create index on valuation.landed_cost (goods_receipt_id, id);
create index on valuation.landed_cost (product_id, id);
create index landed_cost_sequence_idx on valuation.landed_cost (sequence);
comment on index valuation.landed_cost_sequence_idx is 'Finds what belongs to the open period.';
comment on table valuation.landed_cost is
  'Freight, customs and other costs of purchase that belong to the goods of a receipt.';
comment on column valuation.landed_cost.goods_receipt_id is 'Goods receipt that the costs belong to.';
comment on column valuation.landed_cost.product_id is 'Product of the receipt that bears the costs.';
comment on column valuation.landed_cost.amount is
  'Costs of the product in the default currency; negative when earlier ones are taken back.';
comment on column valuation.landed_cost.day is
  'Day in the time zone of the merchant at whose end the costs count.';
comment on column valuation.landed_cost.sequence is
  'Number of the movement in the ledger after which the costs count.';
comment on column valuation.landed_cost.note is 'Free note, for example the number of the invoice.';
comment on column valuation.landed_cost.created_at is 'When the costs were booked.';
comment on constraint landed_cost_is_an_amount on valuation.landed_cost is
  '@internal valuation.allocate_landed_cost checks the total before it is split.';
comment on constraint landed_cost_note_length on valuation.landed_cost is
  E'@userError OUT_OF_RANGE note\nThe text has more than 1,000 characters.';
comment on constraint landed_cost_goods_receipt_id_fkey on valuation.landed_cost is
  '@internal valuation.allocate_landed_cost looks it up.';
comment on constraint landed_cost_product_id_fkey on valuation.landed_cost is
  '@internal valuation.allocate_landed_cost takes it from a line of the receipt.';

create table valuation.write_down (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  amount numeric not null constraint write_down_is_an_amount
    check (amount <> 0 and abs(amount) < 1000000000000 and scale(amount) <= 6),
  day date not null,
  sequence bigint not null,
  reason text not null constraint write_down_reason_length check (length(reason) <= 1000)
    constraint write_down_reason_is_not_blank check (not erp.is_blank(reason)),
  created_at timestamptz(0) not null default date_trunc('second', now())
);
create index on valuation.write_down (product_id, id);
create index write_down_sequence_idx on valuation.write_down (sequence);
comment on index valuation.write_down_sequence_idx is 'Finds what belongs to the open period.';
comment on table valuation.write_down is 'Bookings that lower the value of a product without moving units.';
comment on column valuation.write_down.product_id is 'Product whose value falls.';
comment on column valuation.write_down.amount is
  'Amount by which the value falls, in the default currency; negative when it rises again.';
comment on column valuation.write_down.day is
  'Day in the time zone of the merchant at whose end the write-down counts.';
comment on column valuation.write_down.sequence is
  'Number of the movement in the ledger after which the write-down counts.';
comment on column valuation.write_down.reason is 'Why the value fell, or rose again.';
comment on column valuation.write_down.created_at is 'When it was booked.';
comment on constraint write_down_is_an_amount on valuation.write_down is
  '@internal valuation.write_down checks it.';
comment on constraint write_down_reason_length on valuation.write_down is
  E'@userError OUT_OF_RANGE reason\nThe text has more than 1,000 characters.';
comment on constraint write_down_reason_is_not_blank on valuation.write_down is
  E'@userError INVALID reason\nA write-down needs a reason.';
comment on constraint write_down_product_id_fkey on valuation.write_down is
  E'@userError NOT_FOUND product_id\nThere is no such product.';

-- Reports outlive products and places, and so have no foreign keys to them
create table valuation.report (
  id uuid primary key default uuidv7(),
  number integer,
  reference_date date not null,
  sequence bigint not null,
  method text not null constraint report_method_is_known
    check (method in ('moving_average', 'period_average', 'fifo')),
  closed_at timestamptz(0),
  voided_at timestamptz(0),
  voided_by uuid references valuation.report
);
create index on valuation.report (voided_by);
comment on table valuation.report is
  'Valuations of the stock at the end of a day. A closed one never changes.';
comment on column valuation.report.number is 'Number of the report, without gaps; null while it is a draft.';
comment on column valuation.report.reference_date is
  'Day in the time zone of the merchant at whose end the stock is valued.';
comment on column valuation.report.sequence is 'Number of the last movement that is counted.';
comment on column valuation.report.method is 'Method by which the stock is valued.';
comment on column valuation.report.closed_at is 'When the report was closed; null for a draft.';
comment on column valuation.report.voided_at is 'When the report was declared void; null while it is valid.';
comment on column valuation.report.voided_by is 'Report that replaces it, if it is void.';
comment on constraint report_method_is_known on valuation.report is
  '@internal It comes from valuation.method.';
comment on constraint report_voided_by_fkey on valuation.report is '@internal Functions set it.';

create table valuation.report_product (
  report_id uuid not null references valuation.report on delete cascade,
  product_id uuid not null,
  product_number text not null,
  quantity bigint not null,
  value numeric not null,
  last_unit_cost numeric,
  layers jsonb,
  landed_expense numeric not null,
  variance numeric not null,
  primary key (report_id, product_id)
);
comment on table valuation.report_product is 'Units and value of a product at the end of a report''s day.';
comment on column valuation.report_product.report_id is 'The report.';
comment on column valuation.report_product.product_id is 'The product, which may have been deleted since.';
comment on column valuation.report_product.product_number is
  'Number of the product when the report was made.';
comment on column valuation.report_product.quantity is 'Units in all warehouses.';
comment on column valuation.report_product.value is 'Value of these units in the default currency.';
comment on column valuation.report_product.last_unit_cost is
  'Value of one unit when it was last known; null if it never was.';
comment on column valuation.report_product.layers is
  'Units and value by arrival, the oldest first; null unless the method is first in, first out.';
comment on column valuation.report_product.landed_expense is
  'Costs of purchase of the period whose goods had left before, and so are cost of goods sold.';
comment on column valuation.report_product.variance is
  'Write-downs of the period that found no value to lower; negative for write-ups without units.';

create table valuation.report_outside (
  report_id uuid not null references valuation.report on delete cascade,
  place_type text not null,
  place text not null,
  product_id uuid not null,
  quantity bigint not null,
  value numeric not null,
  primary key (report_id, place, product_id)
);
create index report_outside_place_product_id_idx on valuation.report_outside (place, product_id);
comment on index valuation.report_outside_place_product_id_idx is
  'Finds the value that goods had when they left.';
comment on table valuation.report_outside is
  'Goods in orders, return orders and goods receipts, with the value at which they left the stock. Of a '
  'period, only places that changed.';
comment on column valuation.report_outside.report_id is 'The report.';
comment on column valuation.report_outside.place_type is
  'Kind of place: order, return_order or goods_receipt.';
comment on column valuation.report_outside.place is 'Id of the place, which may have been deleted since.';
comment on column valuation.report_outside.product_id is 'The product, which may have been deleted since.';
comment on column valuation.report_outside.quantity is 'Units in the place that came with a value.';
comment on column valuation.report_outside.value is 'Value of these units in the default currency.';

create table valuation.report_cost (
  report_id uuid not null references valuation.report on delete cascade,
  stock_movement_id uuid not null,
  product_id uuid not null,
  order_id uuid,
  kind text not null,
  quantity integer not null,
  value numeric not null,
  primary key (report_id, stock_movement_id)
);
comment on table valuation.report_cost is
  'Values that movements of a period brought to the stock, or took from it.';
comment on column valuation.report_cost.report_id is 'The report.';
comment on column valuation.report_cost.stock_movement_id is
  'The movement, which may have been deleted since.';
comment on column valuation.report_cost.product_id is 'The product, which may have been deleted since.';
comment on column valuation.report_cost.order_id is
  'Order that the units went to or came from; null for others.';
comment on column valuation.report_cost.kind is 'Kind of the other place, or the name of a special one.';
comment on column valuation.report_cost.quantity is 'Units that came in; negative for units that went out.';
comment on column valuation.report_cost.value is 'Value that came in; negative for value that went out.';

create table valuation.report_warehouse (
  report_id uuid not null references valuation.report on delete cascade,
  product_id uuid not null,
  warehouse_id uuid,
  warehouse_code text,
  quantity bigint not null,
  value numeric not null
);
create index on valuation.report_warehouse (report_id);
comment on table valuation.report_warehouse is 'The share of each warehouse in the value of a product.';
comment on column valuation.report_warehouse.report_id is 'The report.';
comment on column valuation.report_warehouse.product_id is 'The product, which may have been deleted since.';
comment on column valuation.report_warehouse.warehouse_id is
  'The warehouse, which may have been deleted since; null for units in no warehouse.';
comment on column valuation.report_warehouse.warehouse_code is
  'Code of the warehouse when the report was made.';
comment on column valuation.report_warehouse.quantity is 'Units in the warehouse.';
comment on column valuation.report_warehouse.value is 'Value of these units in the default currency.';

alter table valuation.method enable row level security;
alter table valuation.opening_value enable row level security;
alter table valuation.landed_cost enable row level security;
alter table valuation.write_down enable row level security;
alter table valuation.report enable row level security;
alter table valuation.report_product enable row level security;
alter table valuation.report_outside enable row level security;
alter table valuation.report_cost enable row level security;
alter table valuation.report_warehouse enable row level security;
select api_meta.allow('service_writer', 'valuation.method', 'select', 'insert', 'update (method)');
select api_meta.allow('service_writer', 'valuation.opening_value', 'select', 'insert',
  'update (unit_value, updated_at)');
select api_meta.allow('service_writer', 'valuation.landed_cost', 'select', 'insert');
select api_meta.allow('service_writer', 'valuation.write_down', 'select', 'insert');
select api_meta.allow('service_writer', 'valuation.report', 'select');
select api_meta.allow('service_writer', 'valuation.report_product', 'select');
select api_meta.allow('service_writer', 'valuation.report_outside', 'select');
select api_meta.allow('service_writer', 'valuation.report_cost', 'select');
select api_meta.allow('service_writer', 'valuation.report_warehouse', 'select');

alter table erp.product drop column if exists gross_weight cascade;
alter table erp.product add column gross_weight numeric,
  add constraint product_gross_weight_is_plausible
    check (gross_weight > 0 and gross_weight <= 1000000 and scale(gross_weight) <= 6) not enforced;
comment on constraint product_gross_weight_is_plausible on erp.product is
  E'@userError OUT_OF_RANGE gross_weight\nThe weight must be more than 0 and at most 1,000,000 kilograms, '
  'with at most six decimals.';
comment on column erp.product.gross_weight is 'Weight of one unit with its packaging, in kilograms.';
select api_meta.allow('service_writer', 'erp.product', 'update (gross_weight)');

create type valuation.opening_line as (stock_movement_id uuid, unit_value numeric);
comment on type valuation.opening_line is 'Value of the units of a movement.';
-- The calculation
create type valuation.run as (
  method text, report_id uuid, report_number integer, after bigint, after_day date, upto bigint, day date,
  products uuid[]
);
comment on type valuation.run is
  'A calculation: the method, the closed report that it starts from, and up to where it goes.';
create type valuation.pool as (
  product_id uuid, method text, quantity bigint, value bigint, unit_cost bigint, first_unit_cost bigint,
  landed_expense bigint, variance bigint, lowered bigint, gone bigint, came bigint, worth bigint,
  all_came bigint, all_worth bigint, moved bigint, is_unvalued boolean, quantities bigint[],
  amounts bigint[], receipts uuid[]
);
comment on type valuation.pool is
  'The stock of a product in the course of a calculation, in millionths. For a period average: what came and '
  'its worth, what has gone, what was written down, and all that comes in the period. For first in, first '
  'out: units, value and receipt of each layer. The field moved is the value of the units that moved last. '
  'The field is_unvalued says whether some of them came without one.';
create type valuation.entry as (
  type text, product_id uuid, sequence bigint, stock_movement_id uuid, kind text, quantity bigint,
  value bigint, pool_quantity bigint, pool_value bigint, last_unit_cost bigint, layers jsonb,
  landed_expense bigint, variance bigint, goods_receipt_id uuid
);
comment on type valuation.entry is
  'A result of the calculation: the state of a product, the cost of a movement, a movement between places '
  'outside of the stock, or a fault. Amounts are in millionths of the default currency.';

--!include erp/rounded.sql
--!include valuation/lock.sql
--!include valuation/part_of.sql
--!include valuation/method_on.sql
--!include valuation/cut.sql
--!include valuation/run_of.sql
--!include valuation/received_of.sql
--!include valuation/pool_at.sql
--!include valuation/movements.sql
--!include valuation/bookings.sql
--!include valuation/events.sql
--!include valuation/pool_of.sql
--!include valuation/with_booking.sql
--!include valuation/with_arrival.sql
--!include valuation/entries.sql
--!include valuation/states.sql
--!include valuation/costs.sql
--!include valuation/outside.sql
--!include valuation/faults.sql
--!include valuation/position_of.sql
--!include valuation/refuse_unpriced.sql
--!include valuation/cost_weights.sql
--!include valuation/set_method.sql
--!include valuation/set_opening_values.sql
--!include valuation/allocate_landed_cost.sql
--!include valuation/write_down.sql

--!include api/valuation_method.sql
--!include api/landed_cost_basis.sql
drop view if exists api_unstable.products cascade;
--!include api/products.sql
--!include api/products_upsert.sql
drop view if exists api_unstable.valuation_method_settings, api_unstable.stock_opening_values,
  api_unstable.landed_costs, api_unstable.write_downs;
--!include api/valuation_method_settings.sql
--!include api/stock_opening_values.sql
--!include api/landed_costs.sql
--!include api/write_downs.sql
--!include api/valuation_method_set.sql
--!include api/stock_opening_values_set.sql
--!include api/landed_cost_allocate.sql
--!include api/stock_write_down.sql

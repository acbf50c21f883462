-- Stocktakes: blind sheets for several people, recounts, approval by another, and what to count next.

drop view if exists api_unstable.stocktake_line_values, api_unstable.stocktake_lines,
  api_unstable.stocktake_counts, api_unstable.stocktake_sheets, api_unstable.stocktake_scopes,
  api_unstable.stocktakes, api_unstable.cycle_count_proposals, ledger.stocktake_proof cascade;
drop table if exists erp.stocktake_count, erp.stocktake_line, erp.stocktake_sheet, erp.stocktake_scope,
  erp.stocktake cascade;

delete from erp.state_transition where machine = 'stocktake';
insert into erp.state_transition (machine, action, from_state, to_state, mutation) values
  ('stocktake', 'count', 'open', 'counting', 'stocktake_sheet_submit'),
  ('stocktake', 'count', 'counting', 'counting', 'stocktake_sheet_submit'),
  ('stocktake', 'review', 'counting', 'review', null),
  ('stocktake', 'recount', 'counting', 'counting', 'stocktake_recount'),
  ('stocktake', 'recount', 'review', 'counting', 'stocktake_recount'),
  ('stocktake', 'approve_lines', 'counting', 'counting', 'stocktake_approve'),
  ('stocktake', 'approve_lines', 'review', 'review', 'stocktake_approve'),
  ('stocktake', 'approve', 'review', 'approved', 'stocktake_approve'),
  ('stocktake', 'cancel', 'open', 'cancelled', 'stocktake_cancel'),
  ('stocktake', 'cancel', 'counting', 'cancelled', 'stocktake_cancel'),
  ('stocktake', 'cancel', 'review', 'cancelled', 'stocktake_cancel');
insert into erp.number_range (technical_name, pattern, last_number) values ('stocktake', 'STK-{n}', 0)
on conflict (technical_name) do nothing;
-- The merchant may require reasons for differences of stocktakes, too
alter table ledger.process_type drop constraint process_type_can_require_a_reason;
alter table ledger.process_type add constraint process_type_can_require_a_reason
  check (not requires_reason
    or technical_name in ('api', 'api_incoming', 'api_outgoing', 'api_relocation', 'stocktaking')) not valid;
comment on constraint process_type_can_require_a_reason on ledger.process_type is
  '@internal Only people who write SQL change processes.';

create table erp.stocktake (
  id uuid primary key default uuidv7(),
  number text collate "C" not null constraint stocktake_number_is_unique unique,
  state text not null default 'open' constraint stocktake_state_is_known
    check (state in ('open', 'counting', 'review', 'approved', 'cancelled')),
  warehouse_id uuid not null references erp.warehouse on delete restrict,
  counts_all_bins boolean not null default true,
  counts_all_products boolean not null default true,
  recount_units integer constraint stocktake_recount_units_are_not_negative check (recount_units >= 0),
  recount_percent numeric constraint stocktake_recount_percent_is_not_negative
    check (recount_percent >= 0 and recount_percent <= 1000000),
  recount_value numeric constraint stocktake_recount_value_is_not_negative
    check (recount_value >= 0 and recount_value < 1000000000000),
  comment text constraint stocktake_comment_length check (length(comment) <= 1000),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  reviewed_at timestamptz(0),
  approved_at timestamptz(0),
  cancelled_at timestamptz(0),
  constraint stocktake_is_approved_at_a_moment check ((state = 'approved') = (approved_at is not null)),
  constraint stocktake_is_cancelled_at_a_moment check ((state = 'cancelled') = (cancelled_at is not null))
);
create index on erp.stocktake (warehouse_id, id);
create index on erp.stocktake (state, id);
create index on erp.stocktake (created_at, id);
alter table erp.stocktake enable row level security;
comment on table erp.stocktake is
  'Stocktakes of a warehouse: people count what is there, others approve the differences.';
comment on column erp.stocktake.number is 'Number of the stocktake, which its bookings have as reference.';
comment on column erp.stocktake.state is
  'open until the first count; counting; review when all sheets are complete; approved when all positions '
  'are booked; cancelled.';
comment on column erp.stocktake.warehouse_id is 'The warehouse that is counted.';
comment on column erp.stocktake.counts_all_bins is
  'Whether all bins of the warehouse are counted, with what lies outside of bins.';
comment on column erp.stocktake.counts_all_products is 'Whether all products are counted.';
comment on column erp.stocktake.recount_units is
  'A difference of more units needs a second count. Null: no such bound.';
comment on column erp.stocktake.recount_percent is
  'A difference of more percent of the expected units needs a second count. Null: no such bound.';
comment on column erp.stocktake.recount_value is
  'A difference of more value, in the default currency, needs a second count. Null: no such bound.';
comment on column erp.stocktake.comment is 'Free note.';
comment on column erp.stocktake.created_at is 'When it was created. No count of it is older.';
comment on column erp.stocktake.updated_at is 'When it was last changed.';
comment on column erp.stocktake.reviewed_at is 'When the last sheet was completed.';
comment on column erp.stocktake.approved_at is 'When the last position was approved.';
comment on column erp.stocktake.cancelled_at is 'When it was cancelled.';

create table erp.stocktake_scope (
  id uuid primary key default uuidv7(),
  stocktake_id uuid not null references erp.stocktake on delete cascade,
  bin_location_id uuid references erp.bin_location on delete cascade,
  product_id uuid references erp.product on delete cascade,
  batch_id uuid references erp.batch on delete cascade,
  constraint stocktake_scope_names_one check (num_nonnulls(bin_location_id, product_id, batch_id) = 1),
  constraint stocktake_scope_names_each_once unique nulls not distinct
    (stocktake_id, bin_location_id, product_id, batch_id)
);
create index on erp.stocktake_scope (stocktake_id, id);
create index on erp.stocktake_scope (bin_location_id) where bin_location_id is not null;
create index on erp.stocktake_scope (product_id) where product_id is not null;
create index on erp.stocktake_scope (batch_id) where batch_id is not null;
alter table erp.stocktake_scope enable row level security;
comment on table erp.stocktake_scope is
  'The bins, products and batches that a stocktake is limited to. Each row names one of them.';
comment on column erp.stocktake_scope.stocktake_id is 'The stocktake.';
comment on column erp.stocktake_scope.bin_location_id is 'A bin that is counted.';
comment on column erp.stocktake_scope.product_id is 'A product that is counted.';
comment on column erp.stocktake_scope.batch_id is 'A batch that is counted.';

create table erp.stocktake_sheet (
  id uuid primary key default uuidv7(),
  stocktake_id uuid not null references erp.stocktake on delete cascade,
  number integer not null constraint stocktake_sheet_number_is_positive check (number > 0),
  round integer not null default 1 constraint stocktake_sheet_round_is_positive check (round > 0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  completed_at timestamptz(0),
  constraint stocktake_sheet_number_is_unique unique (stocktake_id, number)
);
create index on erp.stocktake_sheet (stocktake_id, id);
alter table erp.stocktake_sheet enable row level security;
comment on table erp.stocktake_sheet is
  'Sheets of a stocktake: what one person counts, in the order of the walk. They show no expected units.';
comment on column erp.stocktake_sheet.stocktake_id is 'The stocktake.';
comment on column erp.stocktake_sheet.number is 'Number of the sheet, from 1.';
comment on column erp.stocktake_sheet.round is '1 for the first count, 2 and more for recounts.';
comment on column erp.stocktake_sheet.created_at is 'When the sheet was made.';
comment on column erp.stocktake_sheet.completed_at is 'When the person declared that all is counted.';

create table erp.stocktake_line (
  id uuid primary key default uuidv7(),
  stocktake_id uuid not null references erp.stocktake on delete cascade,
  number integer not null constraint stocktake_line_number_is_positive check (number > 0),
  place text collate "C" not null constraint stocktake_line_place_length check (length(place) <= 36)
    constraint stocktake_line_place_is_not_blank check (not erp.is_blank(place)),
  warehouse_id uuid references erp.warehouse on delete set null,
  bin_location_id uuid references erp.bin_location on delete set null,
  product_id uuid references erp.product on delete cascade,
  batch_id uuid references erp.batch on delete cascade,
  is_found boolean not null default false,
  state text not null default 'open' constraint stocktake_line_state_is_known
    check (state in ('open', 'beyond_bound', 'counted', 'approved', 'cancelled')),
  round integer not null default 1 constraint stocktake_line_round_is_positive check (round > 0),
  expected_quantity integer not null default 0,
  counted_quantity integer constraint stocktake_line_quantity_is_not_negative check (counted_quantity >= 0),
  counted_at timestamptz,
  difference integer,
  earlier_difference integer,
  unit_value numeric,
  reason text collate "C" references ledger.booking_reason on update cascade on delete restrict,
  approved_at timestamptz(0),
  approved_by uuid,
  booked_difference integer,
  stock_movement_id uuid,
  constraint stocktake_line_difference_follows check (difference = counted_quantity - expected_quantity),
  constraint stocktake_line_count_is_complete check (
    (counted_quantity is null) = (counted_at is null) and (counted_quantity is null) = (difference is null)),
  constraint stocktake_line_is_counted check (
    state in ('open', 'cancelled') or counted_quantity is not null),
  constraint stocktake_line_is_approved_at_a_moment check ((state = 'approved') = (approved_at is not null)),
  constraint stocktake_line_names_its_place check (state in ('approved', 'cancelled')
    or coalesce(place = coalesce(bin_location_id, warehouse_id)::text, false)),
  constraint stocktake_line_has_one_place check (num_nonnulls(warehouse_id, bin_location_id) <= 1),
  constraint stocktake_line_without_product_is_empty check (
    product_id is not null or batch_id is null and coalesce(counted_quantity, 0) = 0)
);
create unique index stocktake_line_is_counted_by_one_stocktake
  on erp.stocktake_line (place, product_id, batch_id) nulls not distinct
  where state not in ('approved', 'cancelled');
create unique index stocktake_line_number_is_unique on erp.stocktake_line (stocktake_id, number);
create index on erp.stocktake_line (stocktake_id, id);
create index on erp.stocktake_line (stocktake_id, state);
create index on erp.stocktake_line (warehouse_id) where warehouse_id is not null;
create index on erp.stocktake_line (bin_location_id) where bin_location_id is not null;
create index on erp.stocktake_line (product_id, id);
create index on erp.stocktake_line (batch_id) where batch_id is not null;
create index on erp.stocktake_line (reason) where reason is not null;
alter table erp.stocktake_line enable row level security;
comment on table erp.stocktake_line is
  'Positions of a stocktake: a product in a place, for tracked products each batch. A position without a '
  'product asks whether a bin is empty.';
comment on column erp.stocktake_line.stocktake_id is 'The stocktake.';
comment on column erp.stocktake_line.number is 'Number of the position, in the order of the walk.';
comment on column erp.stocktake_line.place is 'Key of the place, as in ledger.stock.place.';
comment on column erp.stocktake_line.warehouse_id is
  'The warehouse, for what lies outside of its bins.';
comment on column erp.stocktake_line.bin_location_id is
  'The bin; null outside of bins, and once the bin was deleted.';
comment on column erp.stocktake_line.product_id is
  'The product; null where the question is whether the bin is empty.';
comment on column erp.stocktake_line.batch_id is 'The batch, of products that are kept in batches.';
comment on column erp.stocktake_line.is_found is
  'Whether people found units there that nobody expected.';
comment on column erp.stocktake_line.state is
  'open until it is counted; beyond_bound if it needs a second count; counted; approved: then it is booked; '
  'cancelled.';
comment on column erp.stocktake_line.round is 'Number of counts that were requested.';
comment on column erp.stocktake_line.expected_quantity is
  'Units that the ledger says were there when the count was made; before, when the stocktake was created.';
comment on column erp.stocktake_line.counted_quantity is 'Units of the latest count.';
comment on column erp.stocktake_line.counted_at is 'Moment of the latest count.';
comment on column erp.stocktake_line.difference is 'Counted units less expected ones.';
comment on column erp.stocktake_line.earlier_difference is
  'The difference of the count before the recount.';
comment on column erp.stocktake_line.unit_value is
  'Value of a unit when it was counted, in the default currency. Null if unknown.';
comment on column erp.stocktake_line.reason is 'Reason of the difference, a code of booking reasons.';
comment on column erp.stocktake_line.approved_at is 'When it was approved and booked.';
comment on column erp.stocktake_line.approved_by is 'Credential that approved it.';
comment on column erp.stocktake_line.booked_difference is
  'Units that were booked, negative if some were missing. Null if a later count made this one obsolete, and '
  'for positions without a product.';
comment on column erp.stocktake_line.stock_movement_id is 'The movement that corrected the ledger.';

create table erp.stocktake_count (
  id uuid primary key default uuidv7(),
  sheet_id uuid not null references erp.stocktake_sheet on delete cascade,
  line_id uuid not null references erp.stocktake_line on delete cascade,
  number integer not null,
  place text collate "C" not null constraint stocktake_count_place_length check (length(place) <= 36),
  warehouse_id uuid references erp.warehouse on delete set null,
  bin_location_id uuid references erp.bin_location on delete set null,
  product_id uuid references erp.product on delete cascade,
  batch_id uuid references erp.batch on delete cascade,
  quantity integer constraint stocktake_count_quantity_is_not_negative check (quantity >= 0),
  counted_at timestamptz,
  counter_name text constraint stocktake_count_counter_name_length check (length(counter_name) <= 255)
    constraint stocktake_count_counter_is_not_blank check (not erp.is_blank(counter_name)),
  credential_id uuid,
  submitted_at timestamptz(0),
  constraint stocktake_count_is_once_on_a_sheet unique (sheet_id, line_id),
  constraint stocktake_count_is_complete check (
    num_nonnulls(quantity, counted_at, counter_name, submitted_at) in (0, 4))
);
create index on erp.stocktake_count (sheet_id, id);
create index on erp.stocktake_count (sheet_id, place);
create index on erp.stocktake_count (line_id);
create index on erp.stocktake_count (warehouse_id) where warehouse_id is not null;
create index on erp.stocktake_count (bin_location_id) where bin_location_id is not null;
create index on erp.stocktake_count (product_id) where product_id is not null;
create index on erp.stocktake_count (batch_id) where batch_id is not null;
alter table erp.stocktake_count enable row level security;
comment on table erp.stocktake_count is
  'Lines of the sheets of a stocktake: what to count, and what was counted. Kept apart from the positions, '
  'so that people who count see no expected units.';
comment on column erp.stocktake_count.sheet_id is 'The sheet.';
comment on column erp.stocktake_count.line_id is 'The position of the stocktake.';
comment on column erp.stocktake_count.number is 'Number of the position, in the order of the walk.';
comment on column erp.stocktake_count.place is 'Key of the place, as in ledger.stock.place.';
comment on column erp.stocktake_count.warehouse_id is 'The warehouse, for what lies outside of its bins.';
comment on column erp.stocktake_count.bin_location_id is 'The bin.';
comment on column erp.stocktake_count.product_id is
  'The product; null where the question is whether the bin is empty.';
comment on column erp.stocktake_count.batch_id is 'The batch, of products that are kept in batches.';
comment on column erp.stocktake_count.quantity is
  'Units that were counted last; null until then. Without the scope stocktake_results:read, only counts of '
  'the own credential.';
comment on column erp.stocktake_count.counted_at is 'When the units were counted.';
comment on column erp.stocktake_count.counter_name is 'The person who counted, as the client says.';
comment on column erp.stocktake_count.credential_id is 'The credential that sent the count.';
comment on column erp.stocktake_count.submitted_at is 'When the count arrived.';

select api_meta.allow('service_writer', 'erp.stocktake', 'select', 'insert',
  'update (state, reviewed_at, approved_at, cancelled_at)');
select api_meta.allow('service_writer', 'erp.stocktake_scope', 'select', 'insert');
select api_meta.allow('service_writer', 'erp.stocktake_sheet', 'select', 'insert', 'update (completed_at)');
select api_meta.allow('service_writer', 'erp.stocktake_line', 'select', 'insert', 'delete',
  'update (state, round, expected_quantity, counted_quantity, counted_at, difference, earlier_difference, '
  'unit_value, reason, approved_at, approved_by, booked_difference, stock_movement_id)');
select api_meta.allow('service_writer', 'erp.stocktake_count', 'select', 'insert', 'delete',
  'update (quantity, counted_at, counter_name, credential_id, submitted_at)');
select api_meta.allow('service_writer', 'ledger.batch_stock', 'select');

comment on constraint stocktake_number_is_unique on erp.stocktake is
  '@internal erp.next_number gives each number once.';
comment on constraint stocktake_state_is_known on erp.stocktake is
  '@internal erp.state_transition has only these states.';
comment on constraint stocktake_recount_units_are_not_negative on erp.stocktake is
  E'@userError OUT_OF_RANGE recount_units\nThe bound must not be negative.';
comment on constraint stocktake_recount_percent_is_not_negative on erp.stocktake is
  E'@userError OUT_OF_RANGE recount_percent\nThe bound must be between 0 and 1,000,000 percent.';
comment on constraint stocktake_recount_value_is_not_negative on erp.stocktake is
  E'@userError OUT_OF_RANGE recount_value\nThe bound must not be negative.';
comment on constraint stocktake_comment_length on erp.stocktake is
  E'@userError OUT_OF_RANGE comment\nThe comment must have at most 1,000 characters.';
comment on constraint stocktake_is_approved_at_a_moment on erp.stocktake is
  '@internal erp.approve_stocktake writes both.';
comment on constraint stocktake_is_cancelled_at_a_moment on erp.stocktake is
  '@internal erp.cancel_stocktake writes both.';
comment on constraint stocktake_scope_names_one on erp.stocktake_scope is
  '@internal erp.create_stocktake writes each thing as a row of its own.';
comment on constraint stocktake_scope_names_each_once on erp.stocktake_scope is
  '@internal erp.create_stocktake writes each thing once.';
comment on constraint stocktake_sheet_number_is_positive on erp.stocktake_sheet is
  '@internal Sheets are numbered from 1.';
comment on constraint stocktake_sheet_round_is_positive on erp.stocktake_sheet is
  '@internal Rounds are numbered from 1.';
comment on constraint stocktake_sheet_number_is_unique on erp.stocktake_sheet is
  '@internal The stocktake is locked while sheets are added.';
comment on constraint stocktake_line_number_is_positive on erp.stocktake_line is
  '@internal Positions are numbered from 1.';
comment on constraint stocktake_scope_stocktake_id_fkey on erp.stocktake_scope is
  '@internal The stocktake was made by the same call.';
comment on constraint stocktake_sheet_stocktake_id_fkey on erp.stocktake_sheet is
  '@internal The stocktake is locked while sheets are added.';
comment on constraint stocktake_line_stocktake_id_fkey on erp.stocktake_line is
  '@internal The stocktake is locked while positions are added.';
comment on constraint stocktake_count_line_id_fkey on erp.stocktake_count is
  '@internal The stocktake is locked while lines are added.';
comment on constraint stocktake_line_place_is_not_blank on erp.stocktake_line is
  '@internal The key of a place is a uuid.';
comment on constraint stocktake_line_place_length on erp.stocktake_line is
  '@internal The key of a place is a uuid.';
comment on constraint stocktake_line_state_is_known on erp.stocktake_line is
  '@internal The functions of stocktakes write only these.';
comment on constraint stocktake_line_round_is_positive on erp.stocktake_line is
  '@internal Rounds are numbered from 1.';
comment on constraint stocktake_line_quantity_is_not_negative on erp.stocktake_line is
  '@internal erp.check_stocktake_readings refuses it first.';
comment on constraint stocktake_line_difference_follows on erp.stocktake_line is
  '@internal erp.judge_stocktake_lines writes all three.';
comment on constraint stocktake_line_count_is_complete on erp.stocktake_line is
  '@internal erp.judge_stocktake_lines writes all three.';
comment on constraint stocktake_line_is_counted on erp.stocktake_line is
  '@internal Only counted positions become anything else.';
comment on constraint stocktake_line_is_approved_at_a_moment on erp.stocktake_line is
  '@internal erp.book_stocktake_lines writes both.';
comment on constraint stocktake_line_names_its_place on erp.stocktake_line is
  E'@userError REFERENCE_IN_USE id\nA stocktake that is not finished counts this place.';
comment on constraint stocktake_line_has_one_place on erp.stocktake_line is
  '@internal A position is either in a bin or outside of bins.';
comment on constraint stocktake_line_without_product_is_empty on erp.stocktake_line is
  '@internal erp.add_found_lines makes a position for what is found.';
comment on index erp.stocktake_line_is_counted_by_one_stocktake is
  E'@userError IN_OTHER_STOCKTAKE\nAnother stocktake that is not finished counts the same stock.';
comment on index erp.stocktake_line_number_is_unique is
  '@internal The stocktake is locked while positions are added.';
comment on constraint stocktake_count_place_length on erp.stocktake_count is
  '@internal The key of a place is a uuid.';
comment on constraint stocktake_count_quantity_is_not_negative on erp.stocktake_count is
  '@internal erp.check_stocktake_readings refuses it first.';
comment on constraint stocktake_count_counter_name_length on erp.stocktake_count is
  E'@userError OUT_OF_RANGE counter_name\nThe name must have at most 255 characters.';
comment on constraint stocktake_count_counter_is_not_blank on erp.stocktake_count is
  E'@userError INVALID counter_name\nThe name of the person who counted must not be blank.';
comment on constraint stocktake_count_is_once_on_a_sheet on erp.stocktake_count is
  '@internal The stocktake is locked while lines are added.';
comment on constraint stocktake_count_is_complete on erp.stocktake_count is
  '@internal erp.take_counts writes all four.';

--!include api/user_error_code.sql

--!include api/stocktakes.sql
--!include api/stocktake_scopes.sql
--!include api/stocktake_sheets.sql
--!include api/stocktake_counts.sql
--!include api/stocktake_sheets_open_count.sql
--!include api/stocktakes_progress.sql
--!include api/stocktake_lines.sql
grant execute on function erp.rounded(numeric) to service_api, service_registrar;
--!include api/stocktake_line_values.sql

drop function if exists ledger.set_stock(ledger.line[], text, text, text);
--!include ledger/set_stock.sql
--!include ledger/quantity_when_counted.sql
--!include erp/unit_values.sql
drop type if exists erp.stocktake_reading cascade;
--!include erp/stocktake_reading.sql
--!include erp/lock_stocktake.sql
--!include erp/add_stocktake_lines.sql
--!include erp/add_stocktake_sheets.sql
--!include erp/create_stocktake.sql
--!include erp/check_stocktake_readings.sql
--!include erp/check_found_units.sql
--!include erp/add_found_lines.sql
--!include erp/is_counted_again.sql
--!include erp/new_readings.sql
--!include erp/take_counts.sql
--!include erp/judge_stocktake_lines.sql
--!include erp/complete_stocktake_sheet.sql
--!include erp/submit_stocktake_sheet.sql
--!include erp/recount_stocktake.sql
--!include erp/about_stocktake_lines.sql
--!include erp/require_approvable.sql
--!include erp/book_stocktake_lines.sql
--!include erp/approve_stocktake.sql
--!include erp/cancel_stocktake.sql
--!include erp/cycle_counts.sql

--!include api/stocktake_payload.sql
--!include api/stocktake_create.sql
--!include api/stocktake_sheet_submit.sql
--!include api/stocktake_recount.sql
--!include api/stocktake_approve.sql
--!include api/stocktake_cancel.sql
--!include api/cycle_count_proposals.sql
--!include api/propose_cycle_counts.sql

--!include events/topics.sql
--!include ledger/stocktake_proof.sql
--!include ledger/proof.sql

select api_meta.allow('service_registrar', 'erp.stocktake', 'select');
select api_meta.allow('service_registrar', 'erp.stocktake_sheet', 'select');
select api_meta.allow('service_registrar', 'erp.stocktake_line', 'select');
--!include administration/report_stocktake.sql
--!include administration/report_stocktake_progress.sql

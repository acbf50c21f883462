-- Counts are kept, each with its moment; moments of movements are kept to the microsecond.

-- The second stays where it is. What it lacks is added beside it: a default needs no movement to be written anew,
-- and the index by product and second serves exact moments too.
alter table ledger.stock_movement add column if not exists microseconds integer not null default 0
  constraint stock_movement_microseconds_are_of_a_second check (microseconds between 0 and 999999);
comment on column ledger.stock_movement.microseconds is
  'What the exact moment of the booking has beyond created_at. 0 where only the second is known.';
-- A trigger gives the present moment, so that it can tell what was given
alter table ledger.stock_movement alter column created_at drop default;

create table if not exists ledger.stock_count (
  id bigint not null generated always as identity,
  stock_id uuid not null references ledger.stock on delete cascade,
  batch_id uuid references erp.batch on delete cascade,
  quantity integer not null,
  counted_at timestamptz not null,
  recorded_at timestamptz not null default clock_timestamp(),
  difference integer default 0,
  stock_movement_id uuid references ledger.stock_movement on delete cascade,
  constraint stock_count_comes_after_earlier_ones primary key (stock_id, counted_at, id)
);
create index if not exists stock_count_batch_id_idx on ledger.stock_count (batch_id)
  where batch_id is not null;
create index if not exists stock_count_stock_movement_id_idx on ledger.stock_count (stock_movement_id)
  where stock_movement_id is not null;
alter table ledger.stock_count enable row level security;
comment on table ledger.stock_count is
  'Counts of stock. Of those of one stock, or of one batch of it, the latest moment stands, and of equal moments what was recorded last: the stock is its quantity and what moved after it (ledger.moved_since). A count of the stock as a whole stands for its batches, too. Rows are never changed. They begin with the migration that made the table: older counts left nothing but their corrections.';
comment on column ledger.stock_count.id is 'The order in which counts of a stock were recorded.';
comment on column ledger.stock_count.stock_id is
  'The product and the place that were counted. With the place its counts go.';
comment on column ledger.stock_count.batch_id is
  'The batch that was counted; null when all that lies there was.';
comment on column ledger.stock_count.quantity is
  'Units that were there. May be negative in rows that keep the books right after movements with an earlier moment were inserted.';
comment on column ledger.stock_count.counted_at is 'When they were there, to the microsecond.';
comment on column ledger.stock_count.recorded_at is 'When the count was recorded.';
comment on column ledger.stock_count.difference is
  'Units that the count brought into the books, negative when it took some out. Null when it was superseded: a later one was known already, of the same stock and batch or of all that lies there.';
comment on column ledger.stock_count.stock_movement_id is
  'The movement that did; null where the books were right.';

drop type if exists ledger.stock_reading cascade;
create type ledger.stock_reading as (
  line bigint, stock_id uuid, place_type text, place text, product_id uuid, batch_id uuid,
  quantity integer, counted_at timestamptz, moved bigint, present integer,
  newer_counted_at timestamptz, newer_quantity integer
);
comment on type ledger.stock_reading is
  'A line of stockSet: what was counted, what has moved since, what the books say at present, and a newer count if there is one; then moved is null.';

--!include functions/ledger/microseconds.sql
--!include functions/ledger/is_count.sql
--!include functions/ledger/require_movement_places.sql
--!include views/flow.sql
--!include functions/ledger/quantity_at.sql
--!include functions/ledger/stock_counts.sql
--!include functions/ledger/keep_figures.sql
--!include functions/ledger/post.sql
--!include functions/ledger/set_stock.sql

-- Figures are kept by triggers of this name; this one is last
drop trigger if exists keep_figures_of_counts on ledger.stock_movement;
create constraint trigger keep_figures_of_counts after insert on ledger.stock_movement
  deferrable initially deferred for each row
  when (ledger.is_count(new.process_type_technical_name, new.source_special_stock_location_technical_name,
    new.destination_special_stock_location_technical_name))
  execute function ledger.keep_count();

select api_meta.allow('service_ledger', 'ledger.stock_count', 'select', 'insert');
select api_meta.give('ledger.keep_count()', 'service_ledger');
grant execute on function ledger.microseconds(timestamptz), ledger.counted_quantity(uuid, uuid, timestamptz),
  ledger.carry_counts(uuid[], uuid), ledger.read_counts(ledger.line[]),
  ledger.note_counts(ledger.stock_reading[], uuid[]) to service_ledger;
-- Workflows read the flow
grant execute on function ledger.is_count(text, text, text) to service_ledger, service_writer;

-- Whoever follows a list by its cursor sees each row exactly once, also rows whose transaction was open for long: rows
-- remember their transaction, and cursors what was open. Movements have numbers without gaps, too.
--!include functions/erp/open_transactions.sql

-- Null in the rows that were there before. Nothing is rewritten.
alter table ledger.stock_movement add column if not exists transaction_id bigint;
comment on column ledger.stock_movement.transaction_id is
  'The transaction that booked it, which tells readers who saw what; null where that is long over.';
create index if not exists stock_movement_transaction_id_idx on ledger.stock_movement (transaction_id, id)
  where transaction_id is not null;
-- By the trigger, which takes the transaction first
alter table ledger.stock_movement alter column id drop default;
--!include functions/ledger/require_movement_places.sql
--!include functions/ledger/post.sql

create table if not exists ledger.movement_sequence (
  sequence bigint primary key,
  movement_id uuid not null constraint movement_sequence_is_one_per_movement unique
);
alter table ledger.movement_sequence enable row level security;
comment on table ledger.movement_sequence is
  'The numbers of movements, given after the commit, without gaps. That of a movement which went with its product stays, so that nothing can go unseen.';
comment on column ledger.movement_sequence.sequence is
  'Number in the ledger, without gaps, in the order in which movements were committed; null for a moment, until it is given.';
comment on column ledger.movement_sequence.movement_id is 'The movement, which may be gone.';
--!include functions/ledger/number_movements.sql
grant usage on schema ledger to service_recorder;
select api_meta.allow('service_recorder', 'ledger.movement_sequence', 'select', 'insert');
select api_meta.allow('service_recorder', 'ledger.stock_movement', 'select');
select api_meta.give('ledger.number_movements(uuid[])', 'service_recorder');
--!include functions/events/sequence_events.sql
select ledger.number_movements();

drop view if exists api_unstable.stock_movements;
--!include views/api/stock_movements.sql

-- The promise holds in the frozen version, too, whose schema stays as it is: the column is hidden.
create or replace view api_2026_06_unstable.stock_movements with (security_invoker = true) as
select id, created_at, product_id, quantity,
  source_location_type_technical_name, source_warehouse_id, source_bin_location_id, source_order_id, source_return_order_id,
  source_goods_receipt_id, source_stock_container_id, source_special_stock_location_technical_name,
  destination_location_type_technical_name, destination_warehouse_id, destination_bin_location_id, destination_order_id,
  destination_return_order_id, destination_goods_receipt_id, destination_stock_container_id,
  destination_special_stock_location_technical_name, process_type_technical_name, transaction_id
from ledger.stock_movement;
comment on column api_2026_06_unstable.stock_movements.transaction_id is '@behavior -*';
do $$
declare
  note constant text := obj_description('api_2026_06_unstable.stock_movements'::regclass, 'pg_class');
begin
  if note !~ '(?n)^@followed ' then
    execute format('comment on view api_2026_06_unstable.stock_movements is %L',
      regexp_replace(note, '@requiresScopes', E'@followed transaction_id\n@requiresScopes'));
  end if;
end
$$;

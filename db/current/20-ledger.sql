-- What a mutation needs to know about itself is resolved when it is migrated, and its key is written once.
drop function if exists mutation.secrets_of(oid), mutation.find(name, name),
  mutation.take_key(text, bytea, bytea), mutation.keep_answer(text, jsonb);
-- waive drops-data: only functions of this schema read it, and they are replaced by the same migration
alter table mutation.operation drop column if exists payload_type;
alter table mutation.operation drop column if exists secrets;
alter table mutation.operation add column secrets text[] not null default '{}';
--!include mutation/derive_operations.sql
--!include mutation/find.sql
--!include mutation/caller.sql
--!include mutation/key_lock.sql
--!include mutation/warnings.sql
--!include mutation/forget_keys.sql
--!include mutation/take_key.sql
--!include mutation/keep_answer.sql
--!include mutation/run.sql
--!include events/cause.sql
--!include ledger/is_malformed.sql
--!include ledger/book_correction.sql

-- Conditions compare with a text: a name is read as 64 bytes, in each statement that writes.
--!include events/derive_announcements.sql
create or replace trigger stock_movement_names_its_places before insert on ledger.stock_movement
  for each row when (current_user <> 'service_booker'::text)
  execute function ledger.require_movement_places();
create or replace trigger keep_figures after insert on ledger.stock_movement referencing new table as booked
  for each statement when (current_user <> 'service_booker'::text) execute function ledger.keep_figures();
create or replace trigger keep_figures after insert on ledger.stock_movement_batch
  referencing new table as booked
  for each statement when (current_user <> 'service_booker'::text)
  execute function ledger.keep_batch_figures();
drop trigger if exists keep_figures_of_counts on ledger.stock_movement;
create constraint trigger keep_figures_of_counts after insert on ledger.stock_movement
  deferrable initially deferred for each row
  when (current_user <> 'service_booker'::text and new.process_type_technical_name in ('api', 'stocktaking'))
  execute function ledger.keep_count();

-- What needs each index (db/lint/index-use.sql).
drop view if exists api_meta.index_use;
--!include api_meta/index_use.sql
comment on index ledger.stock_in_warehouses_idx is
  'For picking: a product may have stock in thousands of orders, and in a dozen bins.';
comment on index ledger.stock_movement_product_id_created_at_idx is
  'For ledger.moved_since, and for a time of a product.';

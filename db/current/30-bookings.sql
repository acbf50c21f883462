-- Bookings write each row once, as service_booker; triggers are for everybody else.
drop function if exists ledger.insert_movements(ledger.draft[], timestamptz, text);
drop function if exists ledger.stock_of(ledger.draft[]);
drop function if exists ledger.lock(uuid[], uuid[], uuid[]);
drop function if exists events.announcement(events.subject, text);
drop type if exists ledger.leg cascade;
drop type if exists ledger.place_change cascade;

create type ledger.leg as (
  position bigint, product_id uuid, place_type text, place text, change integer, batch_id uuid,
    booked_at timestamptz, is_count boolean
);
comment on type ledger.leg is
  'One end of a movement: by how much it changes what lies in a place, which is a key as in '
  'ledger.stock.place; negative where it leaves. is_count tells corrections after counts.';
create type ledger.place_change as (
  position bigint, product_id uuid, place_type text, place text, warehouse_id uuid, stock_id uuid,
    is_new boolean, change bigint
);
comment on type ledger.place_change is
  'By how much movements change what lies in a place, which is a key as in ledger.stock.place: the stock '
  'there, which may have to be made, and the warehouse that it is in, if any.';

-- Triggers of others on what it writes may refuse and warn.
grant usage on schema ledger, erp, events, mutation to service_booker;
select api_meta.allow('service_booker', 'ledger.stock_movement', 'select', 'insert');
select api_meta.allow('service_booker', 'ledger.stock_movement_batch', 'select', 'insert');
select api_meta.allow('service_booker', 'ledger.stock', 'select', 'insert', 'update (quantity, updated_at)');
select api_meta.allow('service_booker', 'ledger.stock_count', 'select');
select api_meta.allow('service_booker', 'ledger.batch_stock', 'select', 'insert', 'update (quantity)');
select api_meta.allow('service_booker', 'ledger.warehouse_stock',
  'select', 'insert', 'update (quantity, updated_at)');
select api_meta.allow('service_booker', 'erp.product',
  'select', 'update (physical_stock, stock_not_available_for_sale, updated_at)');
select api_meta.allow('service_booker', 'erp.batch', 'select', 'update (physical_stock, updated_at)');
select api_meta.allow('service_booker', 'erp.product_warehouse_configuration',
  'select', 'update (stock, updated_at)');
select api_meta.allow('service_booker', 'erp.product_stock_location_configuration',
  'select', 'update (stock, updated_at)');
select api_meta.allow('service_booker', 'erp.warehouse', 'select');
select api_meta.allow('service_booker', 'erp.bin_location', 'select');
select api_meta.allow('service_booker', 'events.outbox', 'insert');
revoke insert on ledger.stock_movement, ledger.stock_movement_batch from service_ledger;
drop policy if exists stock_movement_insert_ledger on ledger.stock_movement;
drop policy if exists stock_movement_batch_insert_ledger on ledger.stock_movement_batch;

-- What a mutation needs to know about itself is written down when it is migrated.
drop table if exists mutation.operation;
create table mutation.operation (
  version name collate "C" not null,
  operation name collate "C" not null,
  routine regproc not null,
  input_type regtype not null,
  payload_type regtype not null,
  takes_changes boolean not null,
  scopes text[] not null,
  constraint operation_pkey primary key (version, operation)
);
alter table mutation.operation enable row level security;
comment on table mutation.operation is
  'What mutation.run is to know of each mutation. Follows from the functions of the API schemas, after each '
  'migration.';
select api_meta.allow('service_writer', 'mutation.operation', 'select');
--!include mutation/user_error.sql
--!include mutation/path.sql
--!include mutation/refuse.sql
--!include mutation/refuse_missing.sql
--!include mutation/warnings.sql
--!include mutation/warn.sql
--!include mutation/derive_operations.sql
--!include mutation/find.sql
--!include api_meta/rule_columns.sql
--!include api_meta/derive_rules.sql
--!include api_meta/finish_migration.sql
--!include events/changed_expression.sql
--!include events/announcement.sql
--!include events/derive_booked_events.sql
--!include events/derive_announcements.sql
--!include events/cause.sql
--!include ledger/is_count.sql
--!include ledger/microseconds.sql
--!include ledger/lock.sql
--!include ledger/next_movement_id.sql
--!include ledger/require_movement_places.sql
--!include ledger/write_movements.sql
--!include ledger/write_batches.sql
--!include ledger/examine.sql
--!include ledger/write_new_stock.sql
--!include ledger/write_configured_figures.sql
--!include ledger/write_figures.sql
--!include ledger/write_batch_figures.sql
--!include ledger/keep_figures.sql
--!include ledger/keep_batch_figures.sql
--!include ledger/named_places.sql
--!include ledger/is_malformed.sql
--!include ledger/prepare.sql
--!include ledger/legs_of.sql
--!include ledger/book.sql
--!include ledger/post.sql
--!include ledger/adjust_stock.sql
--!include ledger/set_stock.sql
--!include ledger/transfer_stock.sql

create or replace trigger stock_movement_names_its_places before insert on ledger.stock_movement
  for each row when (current_user <> 'service_booker') execute function ledger.require_movement_places();
create or replace trigger keep_figures after insert on ledger.stock_movement referencing new table as booked
  for each statement when (current_user <> 'service_booker') execute function ledger.keep_figures();
create or replace trigger keep_figures after insert on ledger.stock_movement_batch
  referencing new table as booked
  for each statement when (current_user <> 'service_booker') execute function ledger.keep_batch_figures();
drop trigger if exists keep_figures_of_counts on ledger.stock_movement;
create constraint trigger keep_figures_of_counts after insert on ledger.stock_movement
  deferrable initially deferred
  for each row when (current_user <> 'service_booker' and ledger.is_count(new.process_type_technical_name,
    new.source_special_stock_location_technical_name, new.destination_special_stock_location_technical_name))
  execute function ledger.keep_count();
do $$
declare
  booked regclass;
begin
  foreach booked in array array['ledger.stock', 'ledger.warehouse_stock', 'erp.product', 'erp.batch',
    'erp.product_warehouse_configuration', 'erp.product_stock_location_configuration']::regclass[]
  loop
    execute format('create or replace trigger touch_updated_at before update on %s for each row '
      'when (current_user <> ''service_booker'') execute function erp.touch_updated_at()', booked);
  end loop;
end
$$;

-- Their checks are declared, and upheld by a trigger that is made of them (api_meta.derive_rules).
do $$
declare
  rule record;
begin
  for rule in
    select c.conrelid::regclass as relation, c.conname, pg_get_constraintdef(c.oid) as definition,
      obj_description(c.oid, 'pg_constraint') as note
    from pg_constraint c
    where c.contype = 'c' and c.conenforced and c.conrelid = any (array[
      'ledger.stock_movement', 'ledger.stock', 'ledger.stock_movement_batch', 'ledger.batch_stock',
      'ledger.warehouse_stock', 'erp.product', 'erp.batch', 'erp.product_warehouse_configuration',
      'erp.product_stock_location_configuration']::regclass[])
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
--!include ledger/broken_rules.sql
--!include ledger/proof.sql

-- Indexes are for something (db/lint/index-use.sql).
drop index if exists ledger.stock_movement_process_type_technical_name_id_idx;
comment on constraint stock_movement_process_type_technical_name_fkey on ledger.stock_movement is
  '@unindexed No list is filtered by it, and kinds of processes are hardly ever deleted; an index would take '
  'a sixth of the room of all of a movement''s.';
comment on index ledger.stock_movement_transaction_id_idx is 'For those who follow the list.';
comment on index erp.fulfillment_line_item_fulfillment_order_line_item_id_id_idx is
  'For the figures of a line of a fulfillment order.';
comment on index events.webhook_subscription_credential_id_idx is
  'For the number of them that a credential may have.';
comment on index events.delivery_queue_claimed_by_idx is 'For a process to renew what it has claimed.';
comment on index erp.goods_receipt_line_item_id_idx is 'For erp.fill_default_currency_prices.';
comment on index mutation.idempotency_key_created_at_idx is 'For the removal of those that are too old.';
comment on index auth.audit_event_credential_id_idx is 'For the page of a credential.';

-- Bookings at the price of the disk, continued

drop function if exists api_meta.rule_columns(regclass);
--!include api_meta/upheld_rules.sql
--!include api_meta/uphold.sql
--!include api_meta/derive_rules.sql

-- Postgres compiles a generated column anew in each statement. These are kept by the triggers of the rules.
do $$
declare
  kept record;
begin
  for kept in
    select a.attrelid::regclass as relation, a.attname as name, pg_get_expr(d.adbin, d.adrelid) as value,
      format('%s_%s_follows', t.relname, a.attname) as rule
    from pg_attribute a join pg_class t on t.oid = a.attrelid
    join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attgenerated = 's' and a.attrelid = any (array['erp.product', 'ledger.stock',
      'ledger.warehouse_stock', 'erp.product_warehouse_configuration',
      'erp.product_stock_location_configuration']::regclass[])
  loop
    execute format('alter table %s alter column %I drop expression', kept.relation, kept.name);
    execute format('alter table %s add constraint %I check (%I = %s) not enforced',
      kept.relation, kept.rule, kept.name, kept.value);
    execute format('comment on constraint %I on %s is %L', kept.rule, kept.relation,
      E'@internal\n@keeps ' || kept.name);
  end loop;
end
$$;
--!include events/changed_expression.sql

--!include ledger/is_malformed.sql
--!include ledger/lock_line.sql
--!include ledger/prepare.sql
drop function if exists ledger.movement_of(ledger.draft, timestamptz, text);
--!include ledger/movement_of.sql
--!include ledger/plain_place.sql
--!include ledger/book_correction.sql
--!include ledger/is_correction.sql
--!include ledger/book.sql

-- Several bookings in one statement
--!include ledger/single.sql
--!include ledger/plain_singles.sql
--!include ledger/product_after.sql
--!include ledger/events_of_single.sql
--!include ledger/write_singles.sql
--!include ledger/book_singles.sql
drop function if exists ledger.adjustment_of(text[], uuid, integer, uuid, uuid, uuid);
--!include ledger/adjustment_of.sql
--!include ledger/adjust_stock.sql
--!include events/cause.sql
--!include mutation/key_lock.sql
--!include mutation/forget_keys.sql
--!include mutation/keep_answer.sql
--!include mutation/take_key.sql
--!include mutation/joint_call.sql
--!include mutation/joint_calls.sql
--!include mutation/take_keys.sql
--!include mutation/run_together.sql

-- Postgres reads and compiles a condition in each statement, so it is short; the function asks the rest.
--!include ledger/keep_count.sql
drop trigger if exists keep_figures_of_counts on ledger.stock_movement;
create constraint trigger keep_figures_of_counts after insert on ledger.stock_movement
  deferrable initially deferred for each row
  when (current_user <> 'service_booker' and new.process_type_technical_name in ('api', 'stocktaking'))
  execute function ledger.keep_count();

--!include api_meta/derive_touches.sql
--!include api_meta/finish_migration.sql

--!include events/cause.sql
--!include events/data_expression.sql

-- What a movement refers to is asked once for each statement
--!include api_meta/upheld_reference.sql
--!include api_meta/follow_deletion.sql
--!include api_meta/derive_references.sql
--!include api_meta/finish_migration.sql
do $$
declare
  name text;
begin
  for name in
    select c.conname from pg_constraint c
    where c.conrelid = 'ledger.stock_movement'::regclass and c.contype = 'f' and c.conenforced
      and c.confrelid <> 'ledger.process_type'::regclass
  loop
    execute format('alter table ledger.stock_movement alter constraint %I not enforced', name);
  end loop;
end
$$;
--!include ledger/lock_stock.sql
--!include ledger/write_stock.sql
--!include ledger/examine.sql
--!include ledger/write_figures.sql
--!include ledger/broken_rules.sql

-- One statement writes the books, for one call or several
drop function if exists ledger.adjust_line(ledger.line, text);
drop function if exists ledger.lock_line(ledger.line);
drop function if exists ledger.book_draft(ledger.draft, text);
drop function if exists ledger.is_correction(ledger.draft);
drop function if exists ledger.book_correction(
  uuid, integer, text, uuid, text, text, boolean, uuid, boolean, text);
drop function if exists ledger.plain_stock(uuid, uuid, integer, text, uuid, timestamptz, uuid);
drop function if exists ledger.open_special_stock(uuid, integer, text);
drop function if exists ledger.write_singles(ledger.single[]);
drop function if exists ledger.plain_singles(ledger.single[], timestamptz, uuid[]);
drop function if exists ledger.plain_place(uuid, text, text, boolean, timestamptz) cascade;
drop function if exists ledger.events_of_single(ledger.stock_movement, integer, ledger.stock, erp.product,
  integer, bigint, bigint, bigint, bigint, bigint, timestamptz);
drop function if exists ledger.draft_of_single(text, uuid, integer, integer, text, text, text, text);
drop function if exists ledger.places_of(ledger.line);
drop function if exists ledger.lock_lines(ledger.line[]);
drop function if exists ledger.movement_of(ledger.draft, timestamptz, text, uuid);
drop function if exists ledger.write_movements(ledger.draft[], timestamptz, text);
-- The functions that take this type go with it
--!include ledger/place_change.sql
--!include ledger/call.sql
--!include ledger/place_columns.sql
--!include ledger/movements_of.sql
--!include ledger/changed_parts.sql
--!include ledger/product_after.sql
--!include ledger/lock_stock.sql
--!include ledger/tell_steps.sql
--!include ledger/write_missing.sql
--!include ledger/write_rows.sql
--!include ledger/write.sql
--!include ledger/examine.sql
--!include ledger/plain_place.sql
--!include ledger/keep_figures.sql
--!include ledger/book_correction.sql
--!include ledger/book.sql
--!include ledger/adjustment_of.sql
--!include ledger/relocation_of.sql
--!include ledger/place_of.sql
revoke execute on function ledger.adjustment_of(text[], uuid, integer, uuid, text, text, boolean)
  from service_booker;
revoke execute on function ledger.relocation_of(text[], uuid, integer, uuid, text, text, text, text)
  from service_booker;
revoke execute on function ledger.place_of(uuid, uuid) from service_booker;
--!include ledger/lock_lines.sql
--!include ledger/prepare.sql
--!include ledger/adjust_stock.sql
--!include ledger/draft_of_single.sql
--!include ledger/plain_singles.sql
--!include ledger/book_singles.sql

-- Calls that come together: what they are is in columns, and of which mutations they are is in tags
--!include mutation/joint_call.sql
--!include mutation/joint_calls.sql
--!include mutation/take_keys.sql
--!include mutation/run_together.sql
--!include api/stock_adjust.sql
--!include api/stock_set.sql
--!include api/stock_transfer.sql
-- waive frozen-version api_2026_06_unstable.stock_adjust(input api_2026_06_unstable.stock_adjust_input): a tag for the service, which no client sees
-- waive frozen-version api_2026_06_unstable.stock_set(input api_2026_06_unstable.stock_set_input): a tag for the service, which no client sees
-- waive frozen-version api_2026_06_unstable.stock_transfer(input api_2026_06_unstable.stock_transfer_input): a tag for the service, which no client sees
do $$
declare
  item record;
begin
  for item in
    select p.oid::regprocedure as routine, d.description as note
    from pg_proc p join pg_description d on d.objoid = p.oid and d.classoid = 'pg_proc'::regclass
    where p.pronamespace = 'api_2026_06_unstable'::regnamespace
      and p.proname in ('stock_adjust', 'stock_set', 'stock_transfer') and d.description !~ '(?n)^@together'
  loop
    execute format('comment on function %s is %L', item.routine,
      regexp_replace(item.note, '(?n)^@userErrors', E'@together product_id\n@userErrors'));
  end loop;
end
$$;
select api_meta.record_version('api_2026_06_unstable');

-- What connections rehearse
--!include mutation/rehearse.sql

-- Lines of orders are known by their orders
--!include erp/match_order_lines.sql
--!include erp/faults_of_order_lines.sql
--!include erp/upsert_orders.sql

-- Words
--!include api_meta/view_targets.sql
--!include api_meta/record_promises.sql

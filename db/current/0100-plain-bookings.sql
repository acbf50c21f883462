-- A line of stockAdjust alone is locked and booked with fewer statements and expressions
drop function if exists ledger.book_correction(ledger.draft, text);
drop function if exists ledger.lock_line(ledger.line);
drop function if exists mutation.find(name, name);
drop function if exists mutation.refuse_nulls(regtype, jsonb);
select api_meta.allow('service_writer', 'auth.plan', 'select (name, is_current)');
--!include ledger/lock_line.sql
--!include ledger/open_special_stock.sql
--!include ledger/plain_stock.sql
--!include ledger/book_correction.sql
--!include ledger/book_draft.sql
--!include ledger/adjust_line.sql
--!include ledger/adjust_stock.sql
--!include ledger/book.sql
--!include ledger/prepare.sql
--!include mutation/find.sql
--!include mutation/refuse_nulls.sql
--!include mutation/run.sql
--!include mutation/forget_keys.sql
--!include mutation/keep_answer.sql

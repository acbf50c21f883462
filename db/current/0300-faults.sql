-- Checks of columns that other triggers fill, and stock that is deleted while it is counted
--!include api_meta/filling_triggers.sql
--!include api_meta/columns_behind.sql
--!include api_meta/derive_rules.sql
--!include api_meta/uphold.sql
--!include ledger/await_bookings.sql
-- By its name it comes before what follows a deletion
create or replace trigger await_bookings after delete on ledger.stock
referencing old table as gone for each statement when (pg_trigger_depth() = 0)
execute function ledger.await_bookings();

-- Bookings look for pick lists, containers and processes only where these matter
--!include ledger/check_process.sql
--!include ledger/free_containers.sql
drop function if exists ledger.examine(ledger.leg[]);
--!include ledger/examine.sql
--!include ledger/warn_of_picks.sql
--!include ledger/book.sql
--!include ledger/ship.sql
--!include ledger/refuse_reservations.sql

-- Bookings look for pick lists and containers only where these matter; promised places are picked first
--!include ledger/check_process.sql
--!include ledger/free_containers.sql
drop function if exists ledger.examine(ledger.leg[]);
--!include ledger/examine.sql
--!include ledger/warn_of_picks.sql
--!include ledger/book.sql
--!include ledger/ship.sql
drop function if exists ledger.pick_units(ledger.pick[]);
--!include ledger/own_picks.sql
--!include ledger/piles.sql
--!include ledger/pick_units.sql
--!include ledger/promised_picks.sql
--!include ledger/refuse_reservations.sql

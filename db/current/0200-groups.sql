-- Mutations of stock that arrive together: stockSet and stockTransfer as well
drop function if exists ledger.events_of_single(ledger.stock_movement, ledger.stock, erp.product, integer,
  integer, bigint, bigint, bigint, timestamptz);
drop function if exists ledger.adjustment_of(text[], uuid, integer, uuid, text, text);
--!include ledger/place_of.sql
--!include ledger/is_malformed.sql
--!include ledger/adjustment_of.sql
--!include ledger/set_stock.sql
--!include ledger/relocation_of.sql
--!include ledger/transfer_stock.sql
--!include ledger/lock_lines.sql
--!include ledger/prepare.sql
--!include ledger/single.sql
--!include ledger/plain_place.sql
--!include ledger/book_correction.sql
--!include ledger/places_of.sql
--!include ledger/draft_of_single.sql
--!include ledger/plain_singles.sql
--!include ledger/events_of_single.sql
--!include ledger/write_singles.sql
--!include ledger/book_singles.sql
--!include mutation/joint_call.sql
--!include mutation/joint_calls.sql
--!include mutation/take_keys.sql
--!include mutation/run_together.sql

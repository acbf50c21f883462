-- The proof of all stored figures, which compares what the files before this one have made.
drop view if exists ledger.proof;
--!include views/proof.sql

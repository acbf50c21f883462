--! Previous: sha1:c8ce5e23f60c878bff7ef01ef5d4d82fe705049f
--! Hash: sha1:243f0e09cb4db70377bbf9cde3a45b08784d8e5a
--! Message: drop the index that the index of places replaces

--! no-transaction
drop index concurrently if exists ledger.stock_in_warehouses_idx;

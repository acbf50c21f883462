--! Previous: sha1:7c1a94d610f7c154a9b63eb150e360808b487e1f
--! Hash: sha1:04b7ff14d6f66bfd1aeeefc2f63d10473007237b
--! Message: index of the places of a product

--! no-transaction
-- waive index-use ledger.stock_in_places_idx: the next migration says what it is for
-- waive concurrently-if-not-exists: the next migration fails if the index is invalid
create index concurrently if not exists stock_in_places_idx on ledger.stock (product_id)
  where location_type_technical_name in ('warehouse', 'bin_location', 'stock_container');

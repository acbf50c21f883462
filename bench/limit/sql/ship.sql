select bare_ledger.ship($1, $2)

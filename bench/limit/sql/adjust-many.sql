select bare_ledger.adjust_many($1, $2)

select bare_ledger.adjust_one($1, $2, $3, $4)

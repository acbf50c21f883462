-- Checking that the books are right
set constraints all immediate;
select ledger.number_movements();
select api_meta.fill_words();
select demo.switch_triggers('enable');
drop schema demo cascade;

-- Checking that the books are right
set constraints all immediate;
select ledger.number_movements();
select demo.switch_triggers('enable');
drop schema demo cascade;

-- Checking that the books are right
set constraints all immediate;
select demo.switch_triggers('enable');
drop schema demo cascade;

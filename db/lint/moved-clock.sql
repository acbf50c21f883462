-- A clock of the ledger that was moved: bookings would get other moments than now. Only tests and
-- demonstration data may move it, in databases of their own.
-- Remedy: create or replace function OBJECT as db/fixtures/ledger/moment.sql has it.
select p.oid::regprocedure as object, coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) as body
from (values ('ledger.moment()', 'RETURN clock_timestamp()'),
  ('ledger.moment_of_statement()', 'RETURN statement_timestamp()')) given (name, body)
join pg_proc p on p.oid = to_regprocedure(given.name)
where pg_get_function_sqlbody(p.oid) is distinct from given.body;

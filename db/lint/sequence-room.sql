-- Sequences that end early, or have used half of their numbers. When the last one is given, every row that
-- needs another is refused.
-- Remedy: alter sequence OBJECT maxvalue 2147483647, or no maxvalue; a column that can't hold more numbers
-- becomes a bigint (docs/guides/changing-columns.md). One that is short on purpose, or begins again, is
-- waived.
select q.seqrelid::regclass as object, format('ends at %s', q.seqmax) as fault
from pg_sequence q join pg_class c on c.oid = q.seqrelid join api_meta.own_schema s on s.oid = c.relnamespace
where q.seqincrement > 0
  and (q.seqmax < 2147483647 or pg_sequence_last_value(q.seqrelid::regclass) > q.seqmax / 2);

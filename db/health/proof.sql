-- Figures that differ from the ledger, at most ten of them.
set local role service_owner;
select 'error' as severity,
  format('%s of %s is %s, and the ledger gives %s.', figure, id, stored, expected) as what,
  'Find who changed it by SQL; then correct the figure, or restore an earlier moment '
    '(docs/guides/backups.md).'
    as "toDo"
from ledger.proof
limit 10;

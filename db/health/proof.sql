-- Figures that differ from the ledger, and faults in the numbers of documents, at most ten of them.
set local role service_owner;
select 'error' as severity,
  format('%s of %s is %s, and the %s %s.', figure, id, stored,
    case when starts_with(figure, 'number_range.') then 'documents demand' else 'ledger gives' end, expected)
    as what,
  case
    when figure = 'number_range.gap' then
      'Find who deleted documents by SQL. If the gap is lawful, explain it in the table erp.number_gap.'
    when starts_with(figure, 'number_range.') then
      'Correct the number ranges or their counters by SQL (db/README.md).'
    else
      'Find who changed it by SQL; correct the figure, or restore an earlier moment (docs/guides/backups.md).'
  end as "toDo"
from ledger.proof
limit 10;

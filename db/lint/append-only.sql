-- Rights to change or delete movements, their numbers, bookings, counts, or events of the audit. These are
-- only ever added; foreign keys handle the deletion of their product or place, and service_keeper deletes
-- events of the audit by age, as a trigger makes sure.
-- Remedy: revoke the right from the role: revoke update, delete, truncate on the table from it. Add a row
-- that corrects instead.
select r.name as object, t.name, p.privilege
from api_meta.own_role r
cross join (values ('ledger.stock_movement'::regclass), ('ledger.stock_movement_batch'::regclass),
  ('ledger.movement_sequence'::regclass), ('ledger.stock_count'::regclass),
    ('ledger.booking'::regclass), ('auth.audit_event'::regclass)) t (name)
cross join (values ('update'), ('delete'), ('truncate')) p (privilege)
where r.is_serving
  and (has_table_privilege(r.oid, t.name, p.privilege)
    or p.privilege = 'update' and has_any_column_privilege(r.oid, t.name, 'update'))
  and (r.name, t.name, p.privilege) <> ('service_keeper', 'auth.audit_event'::regclass, 'delete');

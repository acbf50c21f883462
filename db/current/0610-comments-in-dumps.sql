-- pg_dump leaves out the comment of a constraint that is a trigger, but has the trigger's
comment on constraint warehouse_has_its_defaults on erp.warehouse is null;
comment on trigger warehouse_has_its_defaults on erp.warehouse is
  E'@userError INVALID\n'
  'One warehouse must be the default, and one the default for receiving. Make another one it first.';
--!include mutation/violation.sql

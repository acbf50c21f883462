-- Actions that clients are told they can do, and that are done by no mutation.
-- Remedy: name the function of the mutation in erp.state_transition.mutation, or leave it null.
select format('%s: %s from %s', t.machine, t.action, t.from_state) as object, t.mutation
from erp.state_transition t
where t.mutation is not null and not exists (
  select from pg_proc p
  where p.pronamespace = 'api_unstable'::regnamespace and p.proname = t.mutation and p.provolatile = 'v');

-- Warnings: what a mutation tells although it was done. Enums of codes grow from here on without being dropped.
--!include functions/api_meta/add_values.sql
--!include functions/api/user_error.sql
--!include functions/api/warning.sql
--!include functions/mutation/warnings.sql
--!include functions/mutation/run.sql
comment on column mutation.idempotency_key.payload is
  'What the mutation answered: ids, not the things themselves; and its warnings.';

-- What a key stands for, and what a mutation is asked for.
--!include functions/mutation/user_errors.sql
--!include functions/mutation/digest.sql
--!include functions/mutation/run.sql
comment on column mutation.idempotency_key.request is
  'SHA-256 of the name of the mutation and of what its input means, by mutation.digest.';

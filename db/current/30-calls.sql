-- What a key stands for, and what a mutation is asked for.
--!include functions/mutation/user_errors.sql
--!include functions/mutation/digest.sql
--!include functions/mutation/run.sql
comment on column mutation.idempotency_key.request is
  'SHA-256 of the name of the mutation and of what its input means, by mutation.digest.';

-- What is said about bookings: of products that only stand for variants, and of units that orders wait for.
--!include functions/erp/has_variants.sql
--!include functions/ledger/check_variants.sql
--!include functions/ledger/warn_of_promises.sql
--!include functions/ledger/post.sql

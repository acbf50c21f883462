-- A refusal holds its idempotency key for calls that arrived before it
alter table mutation.idempotency_key add column if not exists refused_at timestamptz;
comment on table mutation.idempotency_key is
  'Which mutations were called with a key in the last 24 hours, by the credential that did; written in the '
  'transaction of their effect, or of their refusal.';
comment on column mutation.idempotency_key.payload is
  'What the mutation answered: ids, not the things themselves; and its warnings. Of one that was refused: '
  'its user errors.';
comment on column mutation.idempotency_key.refused_at is
  'When the mutation was refused; null when it was done. A call that arrived later may use the key again.';

drop function if exists mutation.broken_rule(text, jsonb, name, name, name, name);
drop function if exists mutation.run(name, name, jsonb, text, boolean);
drop function if exists mutation.take_key(text, bytea, name, jsonb);
drop function if exists mutation.keep_answer(text, bytea, jsonb);
--!include mutation/broken_rule.sql
--!include mutation/keep_answer.sql
--!include mutation/take_key.sql
--!include mutation/take_keys.sql
--!include mutation/run.sql

-- Several messages of a queue are sent in one turn
--!include events/next_delivery.sql
--!include events/claimed_delivery.sql
--!include events/next_deliveries.sql
--!include events/record_attempts.sql

-- Heads of the chain of stock valuation reports, signed once a day
drop view if exists api_unstable.stock_valuation_heads, api_unstable.stock_valuation_signing_keys;
drop view if exists valuation.proof;
drop function if exists valuation.next_head(timestamptz);
drop table if exists valuation.head, valuation.signing_key;

create table valuation.signing_key (
  id uuid primary key,
  public_key text collate "C" not null
    constraint signing_key_public_has_its_form check (public_key ~ '^[A-Za-z0-9_-]{43}$'),
  secret text collate "C" constraint signing_key_secret_length check (length(secret) <= 1000),
  created_at timestamptz(0) not null default now(),
  retired_at timestamptz(0),
  constraint signing_key_that_signs_has_a_secret check ((secret is null) = (retired_at is not null))
);
create unique index signing_key_that_signs_is_one on valuation.signing_key ((true)) where retired_at is null;
alter table valuation.signing_key enable row level security;
comment on table valuation.signing_key is
  'Key pairs that sign heads of the chain of reports. Rows are never deleted.';
comment on column valuation.signing_key.id is 'Id of the key, which signatures name.';
comment on column valuation.signing_key.public_key is
  'The public key: 32 bytes of Ed25519 in base64url, as x of a JSON Web Key.';
comment on column valuation.signing_key.secret is
  'The private key: PKCS #8 in base64, encrypted if there is a SECRETS_KEY; null when it has retired.';
comment on column valuation.signing_key.created_at is 'When the key was made.';
comment on column valuation.signing_key.retired_at is
  'When another key replaced it; null for the key that signs.';

create table valuation.head (
  id uuid primary key default uuidv7(),
  day date not null,
  report_number integer not null,
  report_hash text collate "C" not null
    constraint head_report_hash_has_its_form check (report_hash ~ '^[0-9a-f]{64}$'),
  previous_hash text collate "C"
    constraint head_previous_hash_has_its_form check (previous_hash ~ '^[0-9a-f]{64}$'),
  signing_key_id uuid not null references valuation.signing_key,
  signature text collate "C" not null constraint head_signature_length check (length(signature) <= 1000),
  signed_at timestamptz(0) not null
);
create unique index head_day_is_unique on valuation.head (day);
create index head_signed_at_idx on valuation.head (signed_at);
create index head_signing_key_id_idx on valuation.head (signing_key_id);
alter table valuation.head enable row level security;
comment on table valuation.head is
  'Heads of the chain of reports at the end of each day, signed. Rows are never changed or deleted.';
comment on column valuation.head.day is 'The day, in the time zone of the merchant.';
comment on column valuation.head.report_number is
  'Number of the newest report that was closed by the end of the day, void or not.';
comment on column valuation.head.report_hash is 'Hash of that report.';
comment on column valuation.head.previous_hash is
  'SHA-256 of the signature of the day before, as hexadecimal digits; null for the first head.';
comment on column valuation.head.signing_key_id is 'Key that has signed.';
comment on column valuation.head.signature is
  'JSON Web Signature (RFC 7515) in its compact form, by Ed25519. Its payload has day, reportNumber, '
  'reportHash, previousHash and iat, the moment of the signature.';
comment on column valuation.head.signed_at is
  'When it was signed: the day after, or later when no process was running.';

--!include valuation/head_text.sql
alter table valuation.head add constraint head_signature_is_of_the_row check (
  starts_with(signature, valuation.head_text(signing_key_id, day, report_number, report_hash, previous_hash,
    signed_at) || '.')
);
comment on constraint signing_key_public_has_its_form on valuation.signing_key is
  '@internal Node.js exports the key in this form.';
comment on constraint signing_key_secret_length on valuation.signing_key is
  '@internal Private keys have 64 characters, encrypted ones 200.';
comment on constraint signing_key_that_signs_has_a_secret on valuation.signing_key is
  '@internal valuation.rotate_signing_key changes both.';
comment on index valuation.signing_key_that_signs_is_one is 'One key signs.';
comment on constraint head_report_hash_has_its_form on valuation.head is
  '@internal Reports have such hashes.';
comment on constraint head_previous_hash_has_its_form on valuation.head is
  '@internal valuation.digest returns such hashes.';
comment on constraint head_signing_key_id_fkey on valuation.head is
  '@internal valuation.next_head names a key.';
comment on constraint head_signature_length on valuation.head is '@internal Signatures have 460 characters.';
comment on constraint head_signature_is_of_the_row on valuation.head is
  '@internal valuation.add_head compares them.';
comment on index valuation.head_day_is_unique is 'A day has one head.';
comment on index valuation.head_signed_at_idx is 'For valuation.keep_signed_days.';
select api_meta.allow('service_keeper', 'valuation.signing_key', 'select', 'insert');
select api_meta.allow('service_keeper', 'valuation.head', 'select', 'insert');
select api_meta.allow('service_writer', 'valuation.head', 'select (signed_at)');
select api_meta.allow('service_keeper', 'erp.merchant', 'select (time_zone)');
grant usage on schema valuation to service_worker;
grant execute on function valuation.digest(text), valuation.lock_shared(), erp.local_date(timestamptz),
  erp.end_of_day(date) to service_keeper;
--!include valuation/next_head.sql
--!include valuation/add_head.sql
--!include valuation/add_signing_key.sql
--!include valuation/rotate_signing_key.sql
--!include valuation/keep_heads.sql
--!include valuation/keep_signed_days.sql
create trigger keep_heads before update or delete on valuation.head
for each row execute function valuation.keep_heads();
create trigger keep_heads before update or delete on valuation.signing_key
for each row execute function valuation.keep_heads();
create or replace trigger keep_signed_days_on_insert after insert on valuation.report
for each row when (new.closed_at is not null) execute function valuation.keep_signed_days();
create or replace trigger keep_signed_days_on_update after update of closed_at on valuation.report
for each row when (new.closed_at is not null and old.closed_at is null)
execute function valuation.keep_signed_days();

--!include auth/stored_secrets.sql
--!include valuation/proof.sql
--!include api/stock_valuation_signing_keys.sql
--!include api/stock_valuation_heads.sql

--! Previous: sha1:60c44f2d970f2169cbf72d3ede4136c8112e5f49
--! Hash: sha1:23a3c5ec19da724f3b63b51edca284e1cccfd032
--! Message: returns promises sourcing counts and signed heads

--! split: 90-heads.sql
--! Message: returns promises sourcing counts and signed heads

--! Message: returns promises sourcing counts and signed heads

--! Message: returns promises sourcing counts and signed heads

-- Heads of the chain of stock valuation reports, signed once a day
drop view if exists api_unstable.stock_valuation_heads, api_unstable.stock_valuation_signing_keys;
drop view if exists valuation.proof;
drop function if exists valuation.next_head(timestamptz);
drop table if exists valuation.head, valuation.signing_key cascade;

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

--! Included valuation/head_text.sql
create or replace function valuation.head_text(
  signing_key_id uuid, day date, report_number integer, report_hash text, previous_hash text,
  signed_at timestamptz
)
returns text language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select string_agg(
    rtrim(translate(encode(convert_to(p.json, 'UTF8'), 'base64'), E'+/\n', '-_'), '='), '.' order by p.n
  )
  from (values
    (1, '{"alg":"EdDSA","kid":"' || head_text.signing_key_id || '","typ":"stock-valuation-head"}'),
    (2, '{"day":"' || to_char(head_text.day, 'YYYY-MM-DD') || '","reportNumber":' || head_text.report_number
      || ',"reportHash":"' || head_text.report_hash || '","previousHash":'
      || coalesce('"' || head_text.previous_hash || '"', 'null')
      || ',"iat":' || extract(epoch from head_text.signed_at)::bigint || '}')
  ) p (n, json);
end;
comment on function valuation.head_text(uuid, date, integer, text, text, timestamptz) is
  'Text of a head that is signed: the header and the payload of a JSON Web Signature (RFC 7515), each as '
  'JSON in base64url, with a full stop between them. The moment, iat, is in whole seconds since 1970.';
grant execute on function valuation.head_text(uuid, date, integer, text, text, timestamptz) to service_keeper;
--! EndIncluded valuation/head_text.sql
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
--! Included valuation/next_head.sql
create or replace function valuation.next_head(moment timestamptz)
returns table (
  day date, report_number integer, report_hash text, previous_hash text, signing_key_id uuid, secret text,
  text text
)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  with last as (
    select h.day, valuation.digest(h.signature) as hash from valuation.head h order by h.day desc limit 1
  )
  select d.day, r.number, r.hash, d.previous_hash, k.id, k.secret,
    valuation.head_text(k.id, d.day, r.number, r.hash, d.previous_hash,
      date_trunc('second', next_head.moment))
  from (
    select coalesce((select l.day from last l), erp.local_date(next_head.moment) - 2) + 1 as day,
      (select l.hash from last l) as previous_hash
  ) d
  cross join lateral (
    select r.number, r.hash from valuation.report r where r.closed_at <= erp.end_of_day(d.day)
    order by r.number desc limit 1
  ) r
  left join valuation.signing_key k on k.retired_at is null
  where d.day < erp.local_date(next_head.moment);
end;
comment on function valuation.next_head(timestamptz) is
  'Returns the head that has to be signed next, with the secret of the key; no row when none is due. The '
  'first day is yesterday, if a report has been closed by then. Each later day has one. The key, '
  'its secret and the text are null before there is a key. The moment is now by '
  'the clock of the process that signs.';
select api_meta.give('valuation.next_head(timestamptz)', 'service_keeper');
grant execute on function valuation.next_head(timestamptz) to service_worker;
--! EndIncluded valuation/next_head.sql
--! Included valuation/add_head.sql
create or replace function valuation.add_head(signature text, moment timestamptz) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- A report that was closed on the day is there, or can no longer be closed on it
  perform valuation.lock_shared();
  insert into valuation.head (day, report_number, report_hash, previous_hash, signing_key_id, signature,
    signed_at)
  select n.day, n.report_number, n.report_hash, n.previous_hash, n.signing_key_id, add_head.signature,
    date_trunc('second', moment)
  from valuation.next_head(moment) n where starts_with(add_head.signature, n.text || '.')
  order by n.day
  on conflict (day) do nothing;
  return found;
end
$$;
comment on function valuation.add_head(text, timestamptz) is
  'Stores the next head: a JSON Web Signature in its compact form, and the moment that it names. Returns '
  'false if something else is due by now, because another process was faster, a report was closed or the '
  'key was replaced.';
select api_meta.give('valuation.add_head(text, timestamptz)', 'service_keeper');
grant execute on function valuation.add_head(text, timestamptz) to service_worker;
--! EndIncluded valuation/add_head.sql
--! Included valuation/add_signing_key.sql
create or replace function valuation.add_signing_key(id uuid, public_key text, secret text) returns void
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  insert into valuation.signing_key (id, public_key, secret)
  values (add_signing_key.id, add_signing_key.public_key, add_signing_key.secret)
  on conflict ((true)) where retired_at is null do nothing;
end;
comment on function valuation.add_signing_key(uuid, text, text) is
  'Stores a key to sign heads, if none signs yet.';
select api_meta.give('valuation.add_signing_key(uuid, text, text)', 'service_keeper');
grant execute on function valuation.add_signing_key(uuid, text, text) to service_worker;
--! EndIncluded valuation/add_signing_key.sql
--! Included valuation/rotate_signing_key.sql
create or replace function valuation.rotate_signing_key(id uuid, public_key text, secret text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update valuation.signing_key k set retired_at = date_trunc('second', now()), secret = null
  where k.retired_at is null;
  perform valuation.add_signing_key(id, public_key, secret);
  perform auth.note_event('valuation_key.rotated', id::text);
end
$$;
comment on function valuation.rotate_signing_key(uuid, text, text) is
  'Lets a new key sign heads. Erases the secret of the one before; its public key stays.';
--! EndIncluded valuation/rotate_signing_key.sql
--! Included valuation/keep_heads.sql
create or replace function valuation.keep_heads() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  changing constant text[] := '{secret,retired_at}';
begin
  if tg_table_name = 'signing_key' and tg_op = 'UPDATE' and to_jsonb(old) ->> 'retired_at' is null
    and to_jsonb(new) - changing = to_jsonb(old) - changing then
    return new;
  end if;
  raise exception 'Signed heads of reports and the keys that signed them are kept for ever.'
    using errcode = 'restrict_violation';
end
$$;
comment on function valuation.keep_heads() is
  'Trigger before a head or a key that signs heads is updated or deleted, by any role: refuses it. A key '
  'can be encrypted again until it retires, and retires once.';
--! EndIncluded valuation/keep_heads.sql
--! Included valuation/keep_signed_days.sql
create or replace function valuation.keep_signed_days() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from valuation.head h where h.signed_at > new.closed_at) then
    raise serialization_failure using message = 'A head was signed meanwhile: try again.';
  end if;
  return null;
end
$$;
comment on function valuation.keep_signed_days() is
  'Trigger after a report was closed, by any role: refuses it if a head was signed since its transaction '
  'began, because the head should perhaps name it. The transaction can be tried again.';
--! EndIncluded valuation/keep_signed_days.sql
create trigger keep_heads before update or delete on valuation.head
for each row execute function valuation.keep_heads();
create trigger keep_heads before update or delete on valuation.signing_key
for each row execute function valuation.keep_heads();
create or replace trigger keep_signed_days_on_insert after insert on valuation.report
for each row when (new.closed_at is not null) execute function valuation.keep_signed_days();
create or replace trigger keep_signed_days_on_update after update of closed_at on valuation.report
for each row when (new.closed_at is not null and old.closed_at is null)
execute function valuation.keep_signed_days();

--! Included auth/stored_secrets.sql
create or replace function auth.stored_secrets() returns table (kind text, key_id text, count bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select 'signing key', auth.secrets_key_id(k.secret), count(*)
  from auth.signing_key k
  where k.secret is not null and (k.retires_at is null or k.retires_at > now())
  group by 2
  union all
  select 'valuation key', auth.secrets_key_id(k.secret), count(*)
  from valuation.signing_key k
  where k.retired_at is null
  group by 2
  union all
  select 'webhook secret', auth.secrets_key_id(w.secret), count(*)
  from events.webhook_secret w
  where w.expires_at is null or w.expires_at > now()
  group by 2;
end;
comment on function auth.stored_secrets() is
  'Returns the number of secrets of each kind, and the keys that they are encrypted with, null for '
  'unencrypted ones. Returns no secret.';
grant execute on function auth.stored_secrets() to service_auth;
--! EndIncluded auth/stored_secrets.sql
--! Included valuation/proof.sql
-- Figures of closed reports beside what follows from their lines, from the report before and from the ledger.
-- Empty while they are right.
create or replace view valuation.proof with (security_invoker = true) as
with
report as (
  select r.id, r.number, r.sequence, r.voided_at is null as is_valid, r as stored,
    row_number() over (order by r.number) as place, lag(r.hash) over (order by r.number) as hash_before,
    row (r.method, b.id, b.number, coalesce(b.sequence, 0), b.reference_date, r.sequence, r.reference_date,
      null)::valuation.run as run
  from valuation.report r
  left join lateral (
    select b.* from valuation.report b
    where b.closed_at is not null and b.voided_at is null and b.number < r.number
    order by b.number desc limit 1
  ) b on true
  where r.closed_at is not null
),
entry as materialized (
  select r.id as report_id, e.*
  from report r cross join lateral valuation.entries(r.run, true) e
  where r.is_valid and e.type in ('state', 'cost')
),
-- Without what was deleted since, which is only possible long after
product as (
  select s.* from valuation.report_product s
  join report r on r.id = s.report_id and r.is_valid join erp.product p on p.id = s.product_id
),
cost as (
  select c.* from valuation.report_cost c
  join report r on r.id = c.report_id and r.is_valid
  join ledger.stock_movement m on m.id = c.stock_movement_id
),
newest as (select r.id, r.sequence from report r where r.is_valid order by r.number desc limit 1),
balance as (
  select f.product_id, sum(f.quantity) as quantity
  from newest n
  join ledger.movement_sequence s on s.sequence <= n.sequence
  join ledger.flow f on f.movement_id = s.movement_id
  where f.location_type_technical_name in ('warehouse', 'bin_location', 'stock_container')
  group by f.product_id
),
figures (figure, id, stored, expected) as (
  select 'report.number', r.id::text, r.number::text, r.place::text from report r
  union all select 'report.previous_hash', r.id::text, (r.stored).previous_hash, r.hash_before from report r
  union all select 'report.lines_hash', r.id::text, (r.stored).lines_hash, valuation.lines_hash(r.id)
    from report r
  union all select 'report.state_hash', r.id::text, (r.stored).state_hash, valuation.state_hash(r.id)
    from report r
  union all select 'report.hash', r.id::text, (r.stored).hash, valuation.report_hash(r.stored) from report r
  union all select 'report.value', r.id::text, round((r.stored).value, 2)::text,
    round(coalesce(sum(w.amount), 0), 2)::text
    from report r left join valuation.report_warehouse w on w.report_id = r.id group by r.id, r.stored
  union all select 'report.quantity', r.id::text, (r.stored).quantity::text,
    coalesce(sum(w.quantity), 0)::text
    from report r left join valuation.report_warehouse w on w.report_id = r.id group by r.id, r.stored
  union all select 'report_product.shares', p.report_id || ' ' || p.product_id, round(p.value, 6)::text,
    round(sum(w.value), 6)::text
    from product p join valuation.report_warehouse w on w.report_id = p.report_id
      and w.product_id = p.product_id
    group by p.report_id, p.product_id, p.value
  union all select 'report_product.quantity', coalesce(p.product_id, b.product_id)::text,
    coalesce(p.quantity, 0)::text, coalesce(b.quantity, 0)::text
    from (select p.* from product p join newest n on n.id = p.report_id) p
    full join balance b on b.product_id = p.product_id
  union all select 'report_product.value',
    coalesce(p.report_id, e.report_id) || ' ' || coalesce(p.product_id, e.product_id),
    concat_ws(' ', coalesce(p.quantity, 0), round(coalesce(p.value, 0), 6), p.layers),
    concat_ws(' ', coalesce(e.quantity, 0), round(coalesce(e.value, 0) / 1000000.0, 6), e.layers)
    from product p
    full join (select e.* from entry e where e.type = 'state') e
      on e.report_id = p.report_id and e.product_id = p.product_id
  union all select 'report_cost.value',
    coalesce(c.report_id, e.report_id) || ' ' || coalesce(c.stock_movement_id, e.stock_movement_id),
    round(coalesce(c.value, 0), 6)::text, round(coalesce(e.value, 0) / 1000000.0, 6)::text
    from cost c
    full join (select e.* from entry e where e.type = 'cost') e
      on e.report_id = c.report_id and e.stock_movement_id = c.stock_movement_id
  -- Ten years later the report may have been deleted
  union all select 'head.report_hash', h.day::text, h.report_hash, (r.stored).hash
    from valuation.head h join report r on r.number = h.report_number
  -- The merchant may have moved to another time zone, by 26 hours at most
  union all select 'head.report_number', h.day::text, h.report_number::text,
    least(greatest(h.report_number, n.least), n.most)::text
    from valuation.head h
    cross join lateral (
      select max(r.number) as most, max(r.number) filter (
        where (r.stored).closed_at <= erp.end_of_day(h.day) - interval '26 hours') as least
      from report r where (r.stored).closed_at <= h.signed_at
    ) n
  union all select 'head.previous_hash', h.day::text, h.previous_hash,
    lag(valuation.digest(h.signature)) over (order by h.day)
    from valuation.head h
  union all select 'head.day', h.day::text, h.day::text,
    (lag(h.day, 1, h.day - 1) over (order by h.day) + 1)::text
    from valuation.head h
)
select figure, id, stored, expected from figures where stored is distinct from expected;
comment on view valuation.proof is
  'Figures of closed reports that differ from their lines, from the ledger, from the report before and what '
  'happened since, and hashes that do not fit, also of signed heads. Signatures are not checked. Must '
  'always be empty.';
--! EndIncluded valuation/proof.sql
--! Included api/stock_valuation_signing_keys.sql
create view api_unstable.stock_valuation_signing_keys with (security_invoker = true) as
select id, jsonb_build_object('kty', 'OKP', 'crv', 'Ed25519', 'x', public_key, 'kid', id, 'alg', 'EdDSA',
  'use', 'sig') as public_key, created_at, retired_at
from valuation.signing_key;
comment on view api_unstable.stock_valuation_signing_keys is $$
@primaryKey id
@requiresScopes valuation:read
A key pair that signs heads of the chain of stock valuation reports. Its public key is kept for ever.$$;
comment on column api_unstable.stock_valuation_signing_keys.public_key is
  E'@notNull\nThe public key, as JSON Web Key (RFC 7517, RFC 8037).';
--! EndIncluded api/stock_valuation_signing_keys.sql
--! Included api/stock_valuation_heads.sql
create view api_unstable.stock_valuation_heads with (security_invoker = true) as
select id, day, report_number, report_hash, previous_hash, signing_key_id, signature, signed_at
from valuation.head;
comment on view api_unstable.stock_valuation_heads is $$
@primaryKey id
@requiresScopes valuation:read
@filters day
@foreignKey (signing_key_id) references stock_valuation_signing_keys (id)|@fieldName signingKey
The head of the chain of stock valuation reports at the end of a day, signed. There is one for each day, also
when no report was closed.$$;
--! EndIncluded api/stock_valuation_heads.sql

--! split: 95-closing.sql
-- What questions about stock and value cost, when the past is settled, and how fast a period is closed
--! Included ledger/settled_until.sql
create or replace function ledger.open_writers(seen pg_snapshot) returns bigint
language sql parallel unsafe set search_path = pg_catalog, pg_temp
begin atomic
  with held as materialized (select l.* from pg_locks l),
  -- Prepared transactions have locks, but no process
  writer as (
    select distinct h.virtualtransaction as name from held h
    where h.relation in ('erp.product'::regclass, 'ledger.stock_movement'::regclass)
      and h.mode in ('RowShareLock', 'RowExclusiveLock') and h.pid is distinct from pg_backend_pid()
      and h.database = (select d.oid from pg_database d where d.datname = current_database())
  )
  select case when count(*) > 0
    then coalesce(min(o.id::text::bigint), pg_snapshot_xmax(seen)::text::bigint) end
  from writer w
  left join held h on h.virtualtransaction = w.name and h.locktype = 'transactionid'
    and h.mode = 'ExclusiveLock'
  -- Locks have the lower 32 bits of a number
  left join pg_snapshot_xip(seen) o (id)
    on o.id::text::bigint & 4294967295 = h.transactionid::text::bigint;
end;
comment on function ledger.open_writers(pg_snapshot) is
  'Returns the least number of the transactions that were open in a snapshot and may book stock in this '
  'database. If they have no number yet, it is the first one after the snapshot. Null while none may book. '
  'Transactions of other databases do not matter, although they have numbers of the same sequence.';
grant execute on function ledger.open_writers(pg_snapshot) to service_ledger, service_registrar;

create or replace function ledger.settled_until(seen pg_snapshot) returns timestamptz
-- Volatile, to look at what was committed after the snapshot. Not in parallel, because it makes a setting
language plpgsql parallel unsafe set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  known constant text := current_setting('service.settled_until', true);
  opened constant bigint[] := array(select o.id::text::bigint from pg_snapshot_xip(seen) o (id));
  oldest bigint;
  settled timestamptz := now();
begin
  if known <> '' then
    return known::timestamptz;
  end if;
  -- A standby does not know who writes, and in another isolation nothing tells what was committed since. Then
  -- every open transaction of the server may be a booking
  oldest := case
    when pg_is_in_recovery() or current_setting('transaction_isolation') <> 'read committed'
      then pg_snapshot_xmin(seen)::text::bigint
    -- Bookings lock their products before they draw their moments
    else ledger.open_writers(seen) end;
  if oldest is not null then
    settled := coalesce((
      select w.moment from ledger.writing_since w
      where w.transaction_id <= oldest order by w.transaction_id desc limit 1
    ), '-infinity');
  end if;
  -- Bookings that were open then, and have ended since
  settled := least(settled, (
    select min(m.created_at) - interval '1 microsecond' from (
      select m.created_at from ledger.stock_movement m where m.transaction_id = any (opened)
      union all
      select m.created_at from ledger.stock_movement m
      where m.transaction_id >= pg_snapshot_xmax(seen)::text::bigint
      -- Not by the index of moments, which would be read from its beginning
      offset 0
    ) m
  ));
  perform set_config('service.settled_until', settled::text, true);
  return settled;
end
$$;
comment on function ledger.settled_until(pg_snapshot) is
  'Returns the moment up to which no booking is missing in a snapshot: no transaction that was open then can '
  'have booked earlier. It is the beginning of the reader''s own transaction while nobody writes stock. '
  'Otherwise it is the latest moment of ledger.writing_since that is older than all transactions of this '
  'database that may write stock. In other isolations, and on a standby, it is older than all transactions '
  'of the server. Late counts, and movements that are inserted with a moment of their own, can still come. '
  'The answer holds for the whole transaction.';
grant execute on function ledger.settled_until(pg_snapshot) to service_ledger, service_registrar;
--! EndIncluded ledger/settled_until.sql
--! Included valuation/stock_value.sql
create or replace function valuation.stock_value(
  day date, upto bigint, wanted text, warehouse_id uuid, products uuid[],
  out method text, out sequence bigint, out quantity bigint, out value numeric, out fault_count bigint
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan as $$
declare
  last_day constant date := coalesce(day, erp.local_date(now()));
  run valuation.run;
begin
  if not auth.has_scope('valuation:read') then
    return;
  elsif num_nonnulls(day, upto) > 1 then
    raise exception 'A day and a number exclude each other.' using errcode = 'UE010';
  elsif upto > coalesce(
    (select s.sequence from ledger.movement_sequence s order by s.sequence desc limit 1), 0
  ) then
    raise exception 'No movement has this number yet.' using errcode = 'UE011';
  end if;
  run := valuation.run_of(coalesce(wanted, valuation.method_on(last_day)),
    coalesce(upto, valuation.cut(last_day)), products, case when upto is null then last_day end);
  method := run.method;
  sequence := run.upto;
  select coalesce(sum(e.quantity) filter (where e.type = 'state'), 0),
    coalesce(sum(e.value) filter (where e.type = 'state'), 0) * 0.000001,
    count(*) filter (where e.type = 'fault')
  into quantity, value, fault_count from valuation.entries(run, false) e;
  if warehouse_id is not null then
    select coalesce(sum(s.quantity), 0), coalesce(sum(s.value), 0) into quantity, value
    from valuation.shares(run.method, run.upto, run.products, run.day) s
    where s.warehouse_id = stock_value.warehouse_id;
  end if;
end
$$;
comment on function valuation.stock_value(date, bigint, text, uuid, uuid[]) is
  'Returns the units and their value at the end of a day, or up to a number of the ledger; by default now. '
  'Of one warehouse if it is given, and of the given products, or all. Without a method, the day has its '
  'own. Refuses a day with a number by SQLSTATE UE010, and a number that no movement has yet by UE011. Empty '
  'without the scope valuation:read.';
select api_meta.give('valuation.stock_value(date, bigint, text, uuid, uuid[])', 'service_writer');
revoke execute on function valuation.stock_value(date, bigint, text, uuid, uuid[]) from public;
grant execute on function valuation.stock_value(date, bigint, text, uuid, uuid[]) to service_api;
--! EndIncluded valuation/stock_value.sql

-- A closing adds hundreds of thousands of rows for one report: references are checked once for each statement
alter table valuation.report_product alter constraint report_product_report_id_fkey not enforced;
alter table valuation.report_warehouse alter constraint report_warehouse_report_id_fkey not enforced;
alter table valuation.report_cost alter constraint report_cost_report_id_fkey not enforced;
alter table valuation.report_outside alter constraint report_outside_report_id_fkey not enforced;
--! Included valuation/entries.sql
create or replace function valuation.state_of(pool valuation.pool) returns valuation.entry
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  excess bigint := case when pool.quantity = 0 then pool.lowered
    else greatest(pool.lowered - pool.value, 0) end;
  layers jsonb;
begin
  -- Of a period average, only the end of the period knows what the units cost that went
  if pool.method = 'period_average' and pool.quantity = 0 and pool.came > 0 then
    pool.unit_cost := valuation.part_of(pool.worth, 1, pool.came);
  elsif pool.method = 'fifo' then
    layers := (
      select coalesce(jsonb_agg(jsonb_build_object('quantity', l.quantity, 'value', l.amount * 0.000001,
        'goods_receipt_id', l.receipt) order by l.n), '[]')
      from unnest(pool.quantities, pool.amounts, pool.receipts) with ordinality
        l (quantity, amount, receipt, n)
    );
  end if;
  return row ('state', pool.product_id, null, null, null, pool.quantity, pool.value - pool.lowered + excess,
    pool.came, pool.worth, pool.unit_cost, layers, pool.landed_expense, pool.variance + excess,
    null)::valuation.entry;
end
$$;
comment on function valuation.state_of(valuation.pool) is
  'Returns the state of a product at the end of a calculation. The layers are an array, the oldest first, '
  'of {quantity, value, goods_receipt_id}.';
grant execute on function valuation.state_of(valuation.pool) to service_writer;

create or replace function valuation.entries(
  run valuation.run, details boolean, counts bigint[] default null, worths bigint[] default null
)
returns setof valuation.entry
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
-- A merge by the product alone would compare each movement with each place of the product
set enable_mergejoin = off set enable_bitmapscan = off set work_mem = '64MB' as $$
declare
  is_period constant boolean := run.method = 'period_average';
  e record; p valuation.pool; n integer := 0; f integer; t integer;
  -- Units that move between places: from this period, from before; and their value
  own bigint; old bigint; own_part bigint; part bigint; entered bigint;
  -- Places outside by slot: units and value from before, and from this period
  old_q bigint[]; old_v bigint[]; own_q bigint[]; own_v bigint[]; supply boolean[]; unpriced boolean[];
begin
  if is_period and counts is null then
    -- Units leave at the average of all units of the period, so a first pass calculates the average
    select array_agg(x.pool_quantity order by x.product_id), array_agg(x.pool_value order by x.product_id)
    into counts, worths from valuation.entries(run, false, '{}', '{}') x where x.type = 'state';
  end if;
  for e in select x.* from valuation.events(run) x order by x.product_id, x.sequence, x.step, x.id loop
    if e.product_id is distinct from p.product_id then
      if p.product_id is not null then return next valuation.state_of(p); end if;
      n := n + 1;
      -- The state of a closed report is the first event of its product
      p := valuation.pool_of(e.product_id, run.method, case e.type when 'state' then e.quantity else 0 end,
        case e.type when 'state' then e.value else 0 end, e.last_unit_cost, e.layers, counts[n], worths[n]);
    end if;
    f := e.from_slot; t := e.to_slot; own := 0; old := 0; own_part := 0; part := 0;
    if e.type = 'out' then
      p := valuation.without_units(p, e.quantity);
      entered := - p.moved;
      if is_period then own := e.quantity; own_part := p.moved;
      else old := e.quantity; part := p.moved;
      end if;
    elsif e.type = 'pool' then
      old_q[f] := e.quantity; old_v[f] := e.value; own_q[f] := 0; own_v[f] := 0;
      supply[f] := e.is_supply; unpriced[f] := e.is_unpriced;
    elsif e.type in ('landed_cost', 'write_down') then
      p := valuation.with_booking(p, e.type, e.value, e.goods_receipt_id, e.quantity);
    elsif f is not null then
      own := least(e.quantity, own_q[f]); own_part := valuation.part_of(own_v[f], own, own_q[f]);
      old := least(e.quantity - own, old_q[f]); part := valuation.part_of(old_v[f], old, old_q[f]);
      own_q[f] := own_q[f] - own; own_v[f] := own_v[f] - own_part;
      old_q[f] := old_q[f] - old; old_v[f] := old_v[f] - part;
    end if;
    if e.type = 'in' then
      if e.value is not null then old := e.quantity; part := e.value; end if;
      p := valuation.with_arrival(p, e.quantity, old, part, own,
        e.value is not null or supply[f] and not unpriced[f], unpriced[f], e.is_unvalued,
        e.goods_receipt_id);
      entered := p.moved;
      if p.is_unvalued then
        return next row ('fault', e.product_id, e.sequence, e.id, 'PRICE_MISSING', e.quantity, null, null,
          null, null, null, null, null, e.goods_receipt_id)::valuation.entry;
      end if;
    elsif t is not null then
      own_q[t] := own_q[t] + own; own_v[t] := own_v[t] + own_part;
      old_q[t] := old_q[t] + old; old_v[t] := old_v[t] + part;
    end if;
    if details and e.type in ('in', 'out', 'carry') then
      return next row (case when e.type = 'carry' then 'carry' else 'cost' end, e.product_id, e.sequence,
        e.id, e.kind, case when e.type = 'out' then - e.quantity else e.quantity end,
        case when e.type <> 'carry' then entered end, own + old,
        own_part + part, null, null, null, null, e.goods_receipt_id)::valuation.entry;
    end if;
  end loop;
  if p.product_id is not null then return next valuation.state_of(p); end if;
end
$$;
comment on function valuation.entries(valuation.run, boolean, bigint[], bigint[]) is
  'Calculates the value of products, event after event: states and faults, with details also costs of '
  'movements. Of a period average, counts and worths have the units and the value of all that was there or '
  'came, by product; they are calculated if they are null.';
grant execute on function valuation.entries(valuation.run, boolean, bigint[], bigint[]) to service_writer;
--! EndIncluded valuation/entries.sql
--! Included valuation/require_short_period.sql
create or replace function valuation.require_short_period(
  after valuation.report, upto bigint, field text[], most bigint default 400000
) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  last_day date;
begin
  -- Without a time limit, as in SQL, a period may have any length
  if current_setting('statement_timeout') = '0' or upto - coalesce(after.sequence, 0) <= most then
    return;
  end if;
  last_day := (
    select erp.local_date(m.created_at) - 1
    from ledger.movement_sequence s join ledger.stock_movement m on m.id = s.movement_id
    where s.sequence > coalesce(after.sequence, 0) + most order by s.sequence limit 1
  );
  perform mutation.refuse('PERIOD_TOO_LONG',
    format('The period has more than %s stock movements. Close an earlier day first.', most), field,
    jsonb_strip_nulls(jsonb_build_object('maximum', most, 'referenceDate',
      case when after.reference_date is null or last_day > after.reference_date then last_day end)));
end
$$;
comment on function valuation.require_short_period(valuation.report, bigint, text[], bigint) is
  'Refuses to calculate a period that may take longer than a mutation, by the numbers of the ledger. The '
  'period reaches from a closed report, or null, up to a number. The details have the latest day that can be '
  'closed before, if there is one. User error PERIOD_TOO_LONG.';
grant execute on function valuation.require_short_period(valuation.report, bigint, text[], bigint)
  to service_writer;
--! EndIncluded valuation/require_short_period.sql
--! Included valuation/create_report.sql
create or replace function valuation.create_report(reference_date date) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  newest valuation.report;
  draft valuation.report;
  upto bigint;
begin
  perform valuation.lock();
  newest := valuation.newest_report();
  if reference_date >= erp.local_date(now()) then
    perform mutation.refuse('INVALID',
      format('The day must be over: it is %s in the time zone of the merchant.', erp.local_date(now())),
      '{reference_date}');
  elsif reference_date <= newest.reference_date then
    perform mutation.refuse('PERIOD_CLOSED',
      format('Report %s closed the period up to %s.', newest.number, newest.reference_date),
      '{reference_date}', jsonb_build_object('number', newest.number,
        'referenceDate', newest.reference_date));
  end if;
  upto := greatest(valuation.cut(reference_date), newest.sequence);
  perform valuation.require_short_period(newest, upto, '{reference_date}');
  delete from valuation.report r where r.closed_at is null;
  insert into valuation.report as r (reference_date, sequence, method, currency_code)
  select create_report.reference_date,
    upto,
    valuation.method_on(create_report.reference_date),
    coalesce((select c.iso_code from erp.currency c where c.is_default_currency), 'XXX')
  returning r.* into draft;
  perform valuation.fill_report(draft, false);
  return draft.id;
end
$$;
comment on function valuation.create_report(date) is
  'Makes the draft of a stock valuation report for a day that is over and that no report has closed. It '
  'replaces the draft that is there. Returns its id. User errors INVALID, PERIOD_CLOSED, '
  'PERIOD_TOO_LONG.';
grant execute on function valuation.create_report(date) to service_writer;
--! EndIncluded valuation/create_report.sql
--! Included valuation/close_report.sql
create or replace function valuation.close_report(report_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  target valuation.report;
  newest valuation.report;
begin
  perform valuation.lock();
  select * into target from valuation.report r where r.id = report_id;
  if not found then
    perform mutation.refuse_missing('stock valuation report', '{id}');
  elsif target.closed_at is not null then
    perform mutation.refuse('PERIOD_CLOSED', format('Report %s is closed already.', target.number), '{id}');
  end if;
  -- Prices may have changed since the draft was made, and movements may have been numbered
  newest := valuation.newest_report();
  target.sequence := greatest(valuation.cut(target.reference_date), newest.sequence);
  perform valuation.require_short_period(newest, target.sequence, '{id}');
  target.method := valuation.method_on(target.reference_date);
  perform valuation.empty_report(target.id);
  perform valuation.fill_report(target, true);
  perform valuation.refuse_faults(target.id);

  target.number := coalesce((select max(r.number) from valuation.report r), 0) + 1;
  target.closed_at := date_trunc('second', now());
  target.previous_hash := (select r.hash from valuation.report r where r.number = target.number - 1);
  update valuation.report r set voided_by = target.id where r.voided_at is not null and r.voided_by is null;
  select r.quantity, r.value into target.quantity, target.value
  from valuation.report r where r.id = target.id;
  target.lines_hash := valuation.lines_hash(target.id);
  target.state_hash := valuation.state_hash(target.id);
  update valuation.report r
  set number = target.number, sequence = target.sequence, method = target.method,
    closed_at = target.closed_at, previous_hash = target.previous_hash, lines_hash = target.lines_hash,
    state_hash = target.state_hash, hash = valuation.report_hash(target)
  where r.id = target.id;
  return target.id;
end
$$;
comment on function valuation.close_report(uuid) is
  'Closes the draft of a stock valuation report: calculates it again, keeps the state that the next one '
  'continues from, numbers it and chains its hash to the report before. Locks the prices and exchange '
  'rates of the goods receipts that it counts. Returns its id. User errors NOT_FOUND, PERIOD_CLOSED, '
  'PERIOD_TOO_LONG, PRICE_MISSING.';
grant execute on function valuation.close_report(uuid) to service_writer;
--! EndIncluded valuation/close_report.sql
--! Included valuation/keep_entries.sql
create or replace function valuation.keep_entries(
  target valuation.report, run valuation.run, closes boolean
) returns void
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
-- Otherwise each place might be looked for in all rows that the same statement has written before
set enable_seqscan = off set enable_mergejoin = off set enable_bitmapscan = off
-- Only one transaction at a time closes a report, so it may use more memory
set work_mem = '64MB' as $$
begin
  -- Everything is stored from one calculation
  with entry as materialized (
    select e.type, e.product_id, e.sequence, e.stock_movement_id, e.kind, e.quantity, e.value,
      e.pool_quantity, e.pool_value, e.last_unit_cost, e.layers, e.landed_expense, e.variance,
      e.goods_receipt_id, coalesce(m.destination_order_id, m.source_order_id) as order_id,
      coalesce(m.source_order_id, m.source_return_order_id, m.source_goods_receipt_id) as source,
      m.source_location_type_technical_name as source_type,
      coalesce(m.destination_order_id, m.destination_return_order_id, m.destination_goods_receipt_id)
        as destination,
      m.destination_location_type_technical_name as destination_type
    from valuation.entries(run, true) e left join ledger.stock_movement m on m.id = e.stock_movement_id
  ),
  product as (
    insert into valuation.report_product (report_id, product_id, product_number, quantity, value,
      last_unit_cost, layers, landed_expense, variance)
    select target.id, e.product_id, p.product_number, e.quantity, e.value * 0.000001,
      e.last_unit_cost * 0.000001, e.layers, e.landed_expense * 0.000001, e.variance * 0.000001
    from entry e join erp.product p on p.id = e.product_id where e.type = 'state'
  ),
  fault as (
    insert into valuation.report_fault (report_id, product_id, stock_movement_id, goods_receipt_id, code)
    select target.id, e.product_id, e.stock_movement_id, e.goods_receipt_id, e.kind
    from entry e where e.type = 'fault' order by e.product_id, e.sequence limit 10000
  ),
  cost as (
    insert into valuation.report_cost (report_id, stock_movement_id, product_id, order_id, kind, quantity,
      value)
    select target.id, e.stock_movement_id, e.product_id, e.order_id, e.kind, e.quantity,
      e.value * 0.000001
    from entry e where e.type = 'cost' and closes
    -- Keys in their order make an index faster, and smaller
    order by e.stock_movement_id
  ),
  outside as (
    insert into valuation.report_outside (report_id, place_type, place, product_id, quantity, value)
    select target.id, c.type, c.place::text, c.product_id, a.quantity + c.quantity,
      (a.value + c.value) * 0.000001
    from (
      select e.product_id, p.place, sum(p.sign * e.pool_quantity)::bigint as quantity,
        sum(p.sign * e.pool_value)::bigint as value, min(p.type) as type
      from entry e
      cross join lateral (values (e.source, e.source_type, -1), (e.destination, e.destination_type, 1))
        p (place, type, sign)
      where closes and e.type in ('cost', 'carry') and p.place is not null
      group by e.product_id, p.place
    ) c
    cross join lateral valuation.pool_at(run.report_number, c.place,
      case when c.type = 'goods_receipt' then c.place end, c.product_id) a
    order by c.place, c.product_id
  )
  insert into valuation.report_late_entry (report_id, stock_movement_id, product_id, quantity, value, day)
  select target.id, e.stock_movement_id, e.product_id, e.quantity, e.value * 0.000001, l.day
  from entry e cross join lateral valuation.day_of(e.stock_movement_id) l (day)
  where run.after_day is not null and e.type = 'cost' and l.day <= run.after_day
  order by e.sequence;
end
$$;
comment on function valuation.keep_entries(valuation.report, valuation.run, boolean) is
  'Calculates a report that is not closed, and stores states of products, faults and late entries. When it '
  'closes, also costs of movements, and goods in orders, returns and receipts that changed in its period, '
  'with the value that comes back with them.';
grant execute on function valuation.keep_entries(valuation.report, valuation.run, boolean)
  to service_writer;
--! EndIncluded valuation/keep_entries.sql
--! Included valuation/fill_report.sql
create or replace function valuation.fill_report(target valuation.report, closes boolean) returns void
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
set enable_mergejoin = off set work_mem = '64MB' as $$
declare
  run constant valuation.run :=
    valuation.run_of(target.method, target.sequence, null, target.reference_date);
begin
  perform valuation.keep_entries(target, run, closes);
  insert into valuation.report_warehouse (report_id, product_id, product_number, warehouse_id,
    warehouse_code, quantity, unit_cost, value, amount)
  select target.id, p.product_id, p.product_number, w.warehouse_id, c.code, w.quantity,
    erp.rounded_price(p.value / p.quantity), w.value, 0
  from (
    select u.product_id, array_agg(u.warehouse_id order by u.warehouse_id) as warehouse_ids,
      array_agg(u.quantity order by u.warehouse_id) as quantities
    from valuation.held_units(run) u group by u.product_id
  ) u
  join valuation.report_product p on p.report_id = target.id and p.product_id = u.product_id
  cross join lateral unnest(u.warehouse_ids, u.quantities, erp.shares(p.value, u.quantities))
    w (warehouse_id, quantity, value)
  left join erp.warehouse c on c.id = w.warehouse_id
  order by p.product_number, w.warehouse_id;
  if closes then
    insert into valuation.counted_receipt (goods_receipt_id, report_id)
    select distinct r.id, target.id
    from valuation.report_outside o join erp.goods_receipt r on r.id = o.place::uuid
    where o.report_id = target.id and o.place_type = 'goods_receipt'
    on conflict do nothing;
  end if;
  perform valuation.total_report(target.id);
end
$$;
comment on function valuation.fill_report(valuation.report, boolean) is
  'Calculates a report that is not closed: states of products, lines by warehouse, faults, late entries and '
  'totals. When it closes, also costs of movements and goods in other places. Locks the goods receipts that '
  'it counts.';
grant execute on function valuation.fill_report(valuation.report, boolean) to service_writer;
--! EndIncluded valuation/fill_report.sql
drop function if exists valuation.keep_places(uuid, valuation.run);

--! Included api/stock_valuation.sql
drop type if exists api_unstable.stock_value cascade;
create type api_unstable.stock_value as (
  method api_unstable.valuation_method, sequence bigint, quantity bigint, value numeric, fault_count bigint
);
comment on type api_unstable.stock_value is
  'Units in stock and what they are worth, in the default currency.';
comment on column api_unstable.stock_value.method is E'@notNull\nThe method by which they are valued.';
comment on column api_unstable.stock_value.sequence is
  E'@notNull\nThe number of the ledger up to which movements are counted.';
comment on column api_unstable.stock_value.quantity is
  E'@notNull\nUnits in warehouses, bins and containers.';
comment on column api_unstable.stock_value.value is E'@notNull\nTheir value, with six decimals.';
comment on column api_unstable.stock_value.fault_count is
  E'@notNull\nHow often units came in without a price. Unless it is 0, the value is too low.';

create function api_unstable.stock_valuation(
  day date default null, sequence double precision default null, warehouse_id uuid default null,
  method api_unstable.valuation_method default null
)
returns api_unstable.stock_value
language sql stable begin atomic
  select row (v.method::api_unstable.valuation_method, v.sequence, v.quantity, v.value, v.fault_count)
    ::api_unstable.stock_value
  from valuation.stock_value(
    day, stock_valuation.sequence::bigint, stock_valuation.method::text, warehouse_id, null
  ) v;
end;
comment on function api_unstable.stock_valuation(
  date, double precision, uuid, api_unstable.valuation_method
) is $$
@cost 200
@requiresScopes valuation:read
@gid warehouse_id Warehouse
@describe day The day at whose end the stock is valued. By default now.
@describe sequence The number of the last movement that counts. Give it or a day, and not both.
@describe warehouse_id Only what lies in this warehouse: its share of the value of each product.
@describe method The method, if not the one of the day.
The value of the whole stock. For lists by product and warehouse, make the draft of a report.$$;
--! EndIncluded api/stock_valuation.sql
--! Included api/products_stock_value.sql
create function api_unstable.products_stock_value(
  product api_unstable.products, day date default null, sequence double precision default null,
  warehouse_id uuid default null, method api_unstable.valuation_method default null
)
returns api_unstable.stock_value
language sql stable begin atomic
  select row (v.method::api_unstable.valuation_method, v.sequence, v.quantity, v.value, v.fault_count)
    ::api_unstable.stock_value
  from valuation.product_value(
    product.id, day, products_stock_value.sequence::bigint, products_stock_value.method::text, warehouse_id
  ) v;
end;
comment on function api_unstable.products_stock_value(
  api_unstable.products, date, double precision, uuid, api_unstable.valuation_method
) is $$
@cost 10
@requiresScopes valuation:read
@gid warehouse_id Warehouse
@describe day The day at whose end the stock is valued. By default now.
@describe sequence The number of the last movement that counts. Give it or a day, and not both.
@describe warehouse_id Only what lies in this warehouse: its share of the value.
@describe method The method, if not the one of the day.
The value of the stock of the product.$$;
--! EndIncluded api/products_stock_value.sql
drop function if exists api_unstable.products_stock_card_lines(
  api_unstable.products, timestamptz, timestamptz, uuid, uuid, uuid);
drop function if exists api_unstable.orders_cost_of_goods(api_unstable.orders),
  api_unstable.orders_margin(api_unstable.orders),
  api_unstable.fulfillments_cost_of_goods(api_unstable.fulfillments);
--! Included api/orders_cost_of_goods.sql
create function api_unstable.orders_cost_of_goods("order" api_unstable.orders) returns double precision
language sql stable
return valuation.cost_of_order("order".id)::double precision;
comment on function api_unstable.orders_cost_of_goods(api_unstable.orders) is $$
@cost 10
@requiresScopes valuation:read
The cost of the goods that the order has received and kept, in the default currency. Null while a price is
missing, and in the moment after a shipment.$$;
--! EndIncluded api/orders_cost_of_goods.sql
--! Included api/orders_margin.sql
create function api_unstable.orders_margin("order" api_unstable.orders) returns double precision
language sql stable
return valuation.margin_of_order("order".id)::double precision;
comment on function api_unstable.orders_margin(api_unstable.orders) is $$
@cost 10
@requiresScopes valuation:read
The net amount of the order less the cost of its goods, in the default currency. Null until all products are
shipped and their cost is known.$$;
--! EndIncluded api/orders_margin.sql
--! Included api/fulfillments_cost_of_goods.sql
create function api_unstable.fulfillments_cost_of_goods(fulfillment api_unstable.fulfillments)
returns double precision
language sql stable
return valuation.cost_of_fulfillment(fulfillment.id)::double precision;
comment on function api_unstable.fulfillments_cost_of_goods(api_unstable.fulfillments) is $$
@cost 10
@requiresScopes valuation:read
The cost of the goods that were shipped, in the default currency, also if the fulfillment was cancelled
later. Null while a price is missing, and in the moment after the shipment.$$;
--! EndIncluded api/fulfillments_cost_of_goods.sql
--! Included api/stock_valuation_report_create.sql
drop type if exists api_unstable.stock_valuation_report_create_input cascade;
create type api_unstable.stock_valuation_report_create_input as (reference_date date);
comment on type api_unstable.stock_valuation_report_create_input is 'A draft to make.';
comment on column api_unstable.stock_valuation_report_create_input.reference_date is
  E'@notNull\nThe day at whose end the stock is valued, in the time zone of the merchant. It is over, and '
  'comes after the day of the newest closed report.';

create function api_unstable.stock_valuation_report_create(
  input api_unstable.stock_valuation_report_create_input
)
returns api_unstable.stock_valuation_report_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (valuation.create_report(input.reference_date), null)
    ::api_unstable.stock_valuation_report_payload
$$;
comment on function api_unstable.stock_valuation_report_create(
  api_unstable.stock_valuation_report_create_input
) is
  E'@requiresScopes valuation:write\n'
  '@userErrors INVALID PERIOD_CLOSED PERIOD_TOO_LONG\n'
  'Makes the draft of a stock valuation report. There is one draft at most: it replaces the one before. A '
  'draft shows values and faults as of when it was made; make it again after you corrected prices.';
--! EndIncluded api/stock_valuation_report_create.sql
--! Included api/stock_valuation_report_close.sql
drop type if exists api_unstable.stock_valuation_report_close_input cascade;
create type api_unstable.stock_valuation_report_close_input as (id uuid);
comment on type api_unstable.stock_valuation_report_close_input is 'A draft to close.';
comment on column api_unstable.stock_valuation_report_close_input.id is
  E'@notNull\n@gid StockValuationReport\nId of the draft.';

create function api_unstable.stock_valuation_report_close(
  input api_unstable.stock_valuation_report_close_input
)
returns api_unstable.stock_valuation_report_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (valuation.close_report(input.id), null)::api_unstable.stock_valuation_report_payload
$$;
comment on function api_unstable.stock_valuation_report_close(
  api_unstable.stock_valuation_report_close_input
) is
  E'@requiresScopes valuation:write\n'
  '@userErrors NOT_FOUND PERIOD_CLOSED PERIOD_TOO_LONG PRICE_MISSING\n'
  'Closes a draft, after it was calculated again. The report gets a number and a hash, and is never changed '
  'again. Prices and exchange rates of the goods receipts that it counts can no longer be changed, and '
  'products, warehouses, orders and receipts that it counts can no longer be deleted.';
--! EndIncluded api/stock_valuation_report_close.sql

--! split: 98-state.sql
-- State of stock: what is in quality control, damaged or expired is not available; safety stock is kept back

alter table erp.bin_location drop column if exists stock_state cascade;
alter table erp.bin_location add column stock_state text collate "C" not null default 'sellable';
alter table erp.bin_location add constraint bin_location_stock_state_is_known
  check (stock_state in ('sellable', 'quality_control', 'damaged')) not valid;
comment on column erp.bin_location.stock_state is
  'State of the units in the bin. Unless it is sellable, they are not picked, not promised, not available.';
comment on constraint bin_location_stock_state_is_known on erp.bin_location is '@internal an enum in the API';
select api_meta.allow('service_writer', 'erp.bin_location', 'update (stock_state)');

alter table erp.batch
  drop column if exists stock_state cascade,
  drop column if exists is_expired cascade;
alter table erp.batch
  add column stock_state text collate "C" not null default 'sellable',
  add column is_expired boolean not null default false;
alter table erp.batch
  add constraint batch_stock_state_is_known
    check (stock_state in ('sellable', 'quality_control', 'damaged')) not enforced,
  add constraint batch_is_held_by_its_state check (is_held = (stock_state <> 'sellable')) not enforced;
-- waive index-blocks-writes: built under the lock of the new columns, in about 0.1 s for 100,000 batches
create index batch_is_expired_best_before_date_idx on erp.batch (is_expired, best_before_date);
comment on index erp.batch_is_expired_best_before_date_idx is 'For erp.expire_batches.';
comment on column erp.batch.stock_state is
  'State of the units of the batch. It is sellable unless the batch is on hold.';
comment on column erp.batch.is_expired is
  'Whether the best-before date has passed, in the merchant''s time zone: the units are not available. '
  'Follows within an hour of the day''s end.';
comment on constraint batch_stock_state_is_known on erp.batch is '@internal an enum in the API';
comment on constraint batch_is_held_by_its_state on erp.batch is
  '@internal erp.keep_batch_state() sets one by the other';
select api_meta.allow('service_writer', 'erp.batch', 'update (stock_state)');
select api_meta.allow('service_ledger', 'erp.batch', 'update (is_expired)');
-- The few that are on hold, found by the index of held_at
update erp.batch set stock_state = 'quality_control' where held_at is not null and is_held;

alter table erp.product_warehouse_configuration drop column if exists safety_stock cascade;
alter table erp.product_warehouse_configuration add column safety_stock integer not null default 0;
alter table erp.product_warehouse_configuration
  add constraint product_warehouse_configuration_safety_stock_is_plausible
    check (safety_stock between 0 and 10000000) not enforced;
comment on column erp.product_warehouse_configuration.safety_stock is
  'Units in the warehouse that are not offered for sale, because a count or a sale elsewhere may be late.';
comment on constraint product_warehouse_configuration_safety_stock_is_plausible
  on erp.product_warehouse_configuration is
  E'@userError OUT_OF_RANGE safety_stock\nThe safety stock must be from 0 to 10,000,000.';
select api_meta.allow('service_writer', 'erp.product_warehouse_configuration', 'update (safety_stock)');

alter table ledger.warehouse_stock drop column if exists safety_stock cascade;
alter table ledger.warehouse_stock add column safety_stock integer not null default 0;
alter table ledger.warehouse_stock drop constraint if exists warehouse_stock_available_quantity_follows;
alter table ledger.warehouse_stock add constraint warehouse_stock_available_quantity_follows
  check (available_quantity = quantity - reserved_quantity - held_quantity
    - greatest(least(quantity - reserved_quantity - held_quantity, safety_stock), 0)) not enforced;
comment on column ledger.warehouse_stock.safety_stock is
  'Units that are kept back from sale, as far as they are there.';
comment on column ledger.warehouse_stock.held_quantity is
  'Units that cannot be sold, in the warehouse and all its bins. Their batch is on hold or has expired, or '
  'their bin is not sellable. Each counts once.';
comment on column ledger.warehouse_stock.available_quantity is
  'Units that can be sold: quantity less reserved, held and safety stock. The safety stock reduces it '
  'to 0 at most. Negative when more was promised than there is.';
comment on constraint warehouse_stock_available_quantity_follows
  on ledger.warehouse_stock is E'@internal\n@keeps available_quantity';
select api_meta.allow('service_ledger', 'ledger.warehouse_stock', 'update (safety_stock)');

alter table erp.product drop column if exists safety_stock cascade;
alter table erp.product add column safety_stock integer not null default 0;
alter table erp.product drop constraint if exists product_available_stock_follows;
alter table erp.product add constraint product_available_stock_follows
  check (available_stock = physical_stock - stock_not_available_for_sale - reserved_stock
    - greatest(least(physical_stock - stock_not_available_for_sale - reserved_stock, safety_stock), 0))
    not enforced;
comment on column erp.product.safety_stock is
  'Safety stock of the warehouses that sell their stock together.';
comment on column erp.product.available_stock is
  'Units that can be sold: physical stock less the stock not for sale, the reserved stock and the safety '
  'stock. The safety stock reduces it to 0 at most. Negative when more was sold than there is.';
comment on constraint product_available_stock_follows on erp.product is E'@internal\n@keeps available_stock';
select api_meta.allow('service_ledger', 'erp.product', 'update (safety_stock)');
-- Among the figures, whose rules alone are checked when it changes (api_meta.upholding)
select api_meta.allow('service_booker', 'erp.product', 'update (safety_stock)');

-- Figures
--! Included erp/keep_batch_state.sql
create or replace function erp.keep_batch_state() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if new.stock_state is distinct from coalesce(old.stock_state, 'sellable') then
    new.is_held := new.stock_state <> 'sellable';
  elsif new.is_held is distinct from coalesce(old.is_held, false) then
    new.stock_state := case when new.is_held then 'quality_control' else 'sellable' end;
  end if;
  if new.is_held and not coalesce(old.is_held, false) then
    new.held_at := coalesce(new.held_at, date_trunc('second', now()));
  elsif old.is_held and not new.is_held then
    new.held_at := null;
    new.hold_reason := null;
  end if;
  new.is_expired := case when new.best_before_date is null then false
    else new.best_before_date < erp.local_date(now()) end;
  return new;
end
$$;
comment on function erp.keep_batch_state() is
  'Trigger before a batch is written: whether it is held follows from its state, or the state from the hold '
  'if only that was changed. So do the moment of the hold, and whether it has expired.';
--! EndIncluded erp/keep_batch_state.sql
create or replace trigger keep_figures_of_state before insert or update of is_held, held_at, hold_reason,
  stock_state, best_before_date, is_expired on erp.batch for each row execute function erp.keep_batch_state();
--! Included ledger/examine.sql
create or replace function ledger.examine(
  legs ledger.leg[], out changes ledger.place_change[], out needs_care boolean, out recounted uuid[]
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  select array_agg(row (g.position, null, g.product_id, g.place_type, g.place, w.id, coalesce(s.id, uuidv7()),
      s.id is null, g.change, case when w.is_stock_available_for_sale then u.on_hold else g.change end,
      u.on_hold)::ledger.place_change order by g.position),
    bool_or(p.is_batch_managed or g.names_batches
      or w.id is not null and g.comes and exists (select from erp.product v where v.parent_id = g.product_id)
      or g.leaves and g.place_type <> 'special_stock_location' and (s.id is null or s.quantity + g.change < 0
        or exists (select from ledger.batch_stock b where b.stock_id = s.id))),
    array_agg(s.id) filter (where g.has_moved and g.place_type <> 'special_stock_location' and exists (
      select from ledger.stock_count c where c.stock_id = s.id and c.counted_at >= g.moved_at
        and c.batch_id is null and c.difference is not null))
  into changes, needs_care, recounted
  from (
    select l.product_id, l.place_type, l.place, sum(l.change) as change, min(l.position) as position,
      coalesce(sum(l.change) filter (where l.batch_id is not null
        and (select b.is_held or b.is_expired from erp.batch b where b.id = l.batch_id)), 0) as on_hold,
      bool_or(l.change < 0) as leaves, bool_or(l.change > 0) as comes,
      bool_or(l.batch_id is not null) as names_batches,
      min(l.booked_at) filter (where not l.is_count) as moved_at,
      sum(l.change) <> 0 or min(l.booked_at) < max(l.booked_at) as has_moved
    from unnest(legs) l group by l.product_id, l.place_type, l.place order by min(l.position)
  ) g
  -- Where units leave, which each product does somewhere, so that it is read once. One that has been deleted
  -- lets the booking fail, for its stock can't be opened
  left join erp.product p on p.id = g.product_id and g.leaves
  left join ledger.stock s on s.product_id = g.product_id and s.place = g.place
  left join erp.bin_location b on b.id = case g.place_type when 'bin_location' then g.place::uuid end
  left join erp.warehouse w
    on w.id = case g.place_type when 'warehouse' then g.place::uuid else b.warehouse_id end
  cross join lateral (
    select case when b.stock_state <> 'sellable' then g.change else g.on_hold end) u (on_hold);
end
$$;
comment on function ledger.examine(ledger.leg[]) is
  'Returns the changes that legs of movements make, one for each product and place. The result needs_care '
  'says that they may have to be refused or warned about. That is rare: batches or variants are involved, '
  'or a place has too little. The result recounted is stock with a known count after the moment of a leg. '
  'The products are locked. Callers must be marked by api_meta.plan_by_index.';
grant execute on function ledger.examine(ledger.leg[]) to service_ledger;
--! EndIncluded ledger/examine.sql
--! Included ledger/plain_place.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.plain_place(
  product_id uuid, place text, special_place text, comes boolean, counted_from timestamptz
)
returns table (
  stock ledger.stock, special_id uuid, product erp.product, is_for_sale boolean, held ledger.warehouse_stock
)
language sql stable
begin atomic
  select s, x.id, p, w.is_stock_available_for_sale, h
  from ledger.stock s
  left join ledger.stock x on x.product_id = s.product_id and x.place = plain_place.special_place
  join erp.product p on p.id = s.product_id
  join erp.warehouse w on w.id = coalesce(s.warehouse_id,
    (select b.warehouse_id from erp.bin_location b
      where b.id = s.bin_location_id and b.stock_state = 'sellable'))
  join ledger.warehouse_stock h on h.product_id = s.product_id and h.warehouse_id = w.id
  where s.product_id = plain_place.product_id and s.place = plain_place.place and not p.is_batch_managed
    and (plain_place.special_place is null or x.id is not null)
    and (plain_place.comes is false
      or not exists (select from erp.product v where v.parent_id = plain_place.product_id))
    and (plain_place.comes is true
      or not exists (select from ledger.batch_stock b where b.stock_id = s.id))
    and not exists (
      select from ledger.stock_count n
      where n.stock_id = s.id and n.counted_at >= plain_place.counted_from and n.batch_id is null
        and n.difference is not null);
end;
comment on function ledger.plain_place(uuid, text, text, boolean, timestamptz) is
  'Returns the rows that change when units come to or leave a warehouse or bin: its stock, the stock in a '
  'special place, if given, and the figures that follow. Returns no row if one of these is missing, or if '
  'batches, variants or counts from a moment on need a check, or the bin is not sellable. The product is '
  'locked.';
grant execute on function ledger.plain_place(uuid, text, text, boolean, timestamptz)
  to service_ledger, service_booker;
--! EndIncluded ledger/plain_place.sql
--! Included ledger/plain_singles.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.plain_singles(singles ledger.single[], moment timestamptz)
returns table (
  nth integer, side integer, operation text, note text, cause jsonb, reference text, reason text,
  line ledger.line, change integer, not_for_sale integer, stock ledger.stock, special_id uuid,
  warehouse_id uuid, booked_at timestamptz, movement bigint
)
language sql stable
begin atomic
  select j.nth, j.side, j.operation, j.note, j.cause, j.reference, j.reason, j.line, j.change,
    j.not_for_sale, j.stock, j.special_id, (j.held).warehouse_id,
    -- Later ones have moved since what earlier ones count
    moment + j.nth * interval '1 microsecond',
    case when j.change <> 0 then
      count(*) filter (where j.change <> 0 and j.side = 1) over (order by j.nth) end
  from (
    select r.*,
      bool_and(coalesce(
        (r.stock).quantity + r.stock_change between 0 and 2000000000
        and (r.product).physical_stock + r.product_change <= 2000000000
        -- What was changed before can't be set by what is known here
        and (r.operation <> 'set' or r.nth_there = 1)
        -- A warning is due, unless units come
        and (r.change >= 0
          or (r.held).quantity - (r.held).reserved_quantity - (r.held).held_quantity + r.held_change >= 0
          and (r.product).physical_stock - (r.product).stock_not_available_for_sale
            - (r.product).reserved_stock + r.product_change - r.not_for_sale_change >= 0), false))
        over (partition by (r.line).product_id order by r.nth) as is_plain
    from (
      select s.*, row_number() over there as nth_there, sum(s.change) over there as stock_change,
        sum(s.change) over (partition by (s.held).id order by s.nth) as held_change,
        sum(s.change) over everywhere as product_change,
        sum(s.not_for_sale) over everywhere as not_for_sale_change
      from (
        select c.*, l.side, p.*, x.change, case when p.is_for_sale then 0 else x.change end as not_for_sale
        from unnest(singles) c
        cross join lateral (
          values (1, (c.line).source_warehouse_id, (c.line).source_bin_location_id,
            case c.operation when 'adjust' then 1 when 'transfer' then - 1 end * (c.line).quantity),
          (2, (c.line).destination_warehouse_id, (c.line).destination_bin_location_id, (c.line).quantity)
        ) l (side, warehouse_id, bin_location_id, units)
        left join lateral ledger.plain_place(
          (c.line).product_id, coalesce(l.warehouse_id, l.bin_location_id)::text,
          case when c.operation <> 'transfer' then 'stock_correction' end, l.units > 0, moment) p
          -- Else a warehouse's id would do for a bin's
          on (p.stock).warehouse_id is not distinct from l.warehouse_id
            and (p.stock).bin_location_id is not distinct from l.bin_location_id
        cross join lateral (
          select case c.operation when 'set' then (c.line).quantity - (p.stock).quantity else l.units end
        ) x (change)
        where l.side = 1 or c.operation = 'transfer'
      ) s
      window there as (partition by (s.stock).id order by s.nth),
        everywhere as (partition by (s.line).product_id order by s.nth)
    ) r
  ) j where j.is_plain;
end;
comment on function ledger.plain_singles(ledger.single[], timestamptz) is
  'Returns the mutations of stock with one line each that qualify for the single-line path. For each of '
  'their places, ledger.plain_place must return a row and enough stock must be left. No earlier mutation of '
  'the same product may have been left out. Returns a row for each place: the change there, and the number '
  'of the movement, from 1, if there is one. The products are locked.';
grant execute on function ledger.plain_singles(ledger.single[], timestamptz) to service_ledger;
--! EndIncluded ledger/plain_singles.sql
--! Included ledger/product_after.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.product_after(product erp.product, change bigint, not_for_sale bigint)
returns erp.product
language sql stable
return case when change = 0 and not_for_sale = 0 then product
  else jsonb_populate_record(product, jsonb_build_object(
  'physical_stock', (product).physical_stock + change,
  'stock_not_available_for_sale', (product).stock_not_available_for_sale + not_for_sale,
  'available_stock', (select u.units - greatest(least(u.units, (product).safety_stock), 0) from (
    select (product).physical_stock + change - (product).stock_not_available_for_sale - not_for_sale
      - (product).reserved_stock
  ) u (units)))) end;
comment on function ledger.product_after(erp.product, bigint, bigint) is
  'Returns a product after a change of its stock and of the part that is not for sale.';
grant execute on function ledger.product_after(erp.product, bigint, bigint) to service_booker;
--! EndIncluded ledger/product_after.sql
--! Included ledger/units_of_batches.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.units_of_batches(batch_ids uuid[])
returns table (batch_id uuid, product_id uuid, warehouse_id uuid, quantity bigint)
language sql stable
begin atomic
  select b.id, b.product_id, w.id, sum(u.quantity)
  from erp.batch b
  -- A batch may have been shipped to thousands of orders, and lie in a dozen bins
  join ledger.stock s on s.product_id = b.product_id
    and s.location_type_technical_name in ('warehouse', 'bin_location')
  join ledger.batch_stock u on u.stock_id = s.id and u.batch_id = b.id and u.quantity > 0
  join erp.warehouse w on w.id = coalesce(s.warehouse_id,
    (select l.warehouse_id from erp.bin_location l
      where l.id = s.bin_location_id and l.stock_state = 'sellable'))
  where b.id = any (batch_ids)
  group by b.id, w.id;
end;
comment on function ledger.units_of_batches(uuid[]) is
  'Returns how many units of batches each warehouse has, with its bins, leaving out bins whose units are not '
  'sellable anyway. Callers must be marked by api_meta.plan_by_index.';
grant execute on function ledger.units_of_batches(uuid[]) to service_ledger;
--! EndIncluded ledger/units_of_batches.sql
--! Included ledger/keep_held_stock.sql
create or replace function ledger.keep_held_stock() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  turned constant uuid[] := array(
    select n.id from new_rows n join old_rows o on o.id = n.id
    where (o.is_held or o.is_expired) <> (n.is_held or n.is_expired));
begin
  if turned = '{}' then
    return null;
  end if;
  perform ledger.lock(array(select distinct n.product_id from new_rows n where n.id = any (turned)));
  perform ledger.change_held_stock(array(
    select row (
      u.warehouse_id, u.product_id, case when n.is_held or n.is_expired then u.quantity
        else - u.quantity end)::ledger.change
    from ledger.units_of_batches(turned) u join new_rows n on n.id = u.batch_id
  ));
  return null;
end
$$;
comment on function ledger.keep_held_stock() is
  'Trigger after batches were put on hold or released, or have expired: updates the held stock of their '
  'warehouses and the stock not available for sale of their products.';
select api_meta.plan_by_index('ledger.keep_held_stock()');
select api_meta.give('ledger.keep_held_stock()', 'service_ledger');
--! EndIncluded ledger/keep_held_stock.sql
--! Included ledger/keep_batch_figures.sql
create or replace function ledger.keep_batch_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  legs ledger.leg[];
begin
  -- Where movements and batches are inserted by one statement, this trigger may be the first
  perform ledger.lock(array(
    select distinct m.product_id from booked b join ledger.stock_movement m on m.id = b.stock_movement_id
  ));
  perform ledger.open_stock(array(select stock_movement_id from booked));
  legs := array(
    select row (row_number() over (order by f.movement_id, f.direction), f.product_id,
      f.location_type_technical_name, f.place, m.quantity * f.direction, m.batch_id, f.booked_at,
      f.is_count)::ledger.leg
    from booked m join ledger.flow f on f.movement_id = m.stock_movement_id
  );
  perform ledger.carry_counts(w.stock_ids, w.batch_id) from ledger.write_batch_figures(legs) w;
  -- The movements were counted without their batches
  perform ledger.change_held_stock(array(
    select row (w.id, l.product_id, l.change)::ledger.change
    from unnest(legs) l
    join erp.batch b on b.id = l.batch_id and (b.is_held or b.is_expired)
    left join erp.bin_location p on p.id = case l.place_type when 'bin_location' then l.place::uuid end
    join erp.warehouse w
      on w.id = case l.place_type when 'warehouse' then l.place::uuid else p.warehouse_id end
    -- Elsewhere the movement was counted, whatever its batch
    where coalesce(p.stock_state, 'sellable') = 'sellable'
  ));
  return null;
end
$$;
comment on function ledger.keep_batch_figures() is
  'Trigger after batches of movements were inserted by anyone but ledger.book: updates the stock of '
  'batches, in each place and in total. Updates the figures of those that are not sellable, too.';
select api_meta.plan_by_index('ledger.keep_batch_figures()');
select api_meta.give('ledger.keep_batch_figures()', 'service_ledger');
--! EndIncluded ledger/keep_batch_figures.sql
--! Included ledger/keep_figures.sql
create or replace function ledger.keep_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  seen record;
begin
  -- Also the places: their warehouse must not stop selling meanwhile, nor a bin change its state
  perform ledger.lock(array_agg(distinct b.product_id),
    array_agg(b.source_warehouse_id) || array_agg(b.destination_warehouse_id),
    array_agg(b.source_bin_location_id) || array_agg(b.destination_bin_location_id)) from booked b;
  select * into seen from ledger.examine(array(
    select row (row_number() over (order by min(f.movement_id::text), min(f.direction)), f.product_id,
      f.location_type_technical_name, f.place, sum(f.quantity), null, f.booked_at, f.is_count)::ledger.leg
    from booked m join ledger.flow f on f.movement_id = m.id
    group by f.product_id, f.location_type_technical_name, f.place, f.booked_at, f.is_count
  ));
  if seen.changes is not null then
    perform ledger.write(array[null::ledger.call], '{}', seen.changes);
  end if;
  if seen.recounted is not null then
    perform ledger.carry_counts(seen.recounted, null);
  end if;
  return null;
end
$$;
comment on function ledger.keep_figures() is
  'Trigger after movements were inserted by anyone but ledger.book: takes the locks of a booking, and '
  'updates the figures in the same statement.';
select api_meta.plan_by_index('ledger.keep_figures()');
select api_meta.give('ledger.keep_figures()', 'service_ledger');
--! EndIncluded ledger/keep_figures.sql
--! Included ledger/keep_saleable_stock.sql
create or replace function ledger.keep_saleable_stock() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  sign constant integer := case when new.is_stock_available_for_sale then 1 else -1 end;
begin
  if tg_when = 'BEFORE' then
    -- Waits for bookings that use the old value; later ones wait for this change.
    perform from erp.warehouse w where w.id = old.id for update;
    return new;
  end if;
  perform ledger.lock(array(select s.product_id from ledger.warehouse_stock s where s.warehouse_id = new.id));
  update erp.product p
  set stock_not_available_for_sale = p.stock_not_available_for_sale
      - sign * (s.quantity - s.held_quantity),
    safety_stock = p.safety_stock + sign * s.safety_stock
  from ledger.warehouse_stock s
  where s.warehouse_id = new.id and s.product_id = p.id
    and (s.quantity <> s.held_quantity or s.safety_stock <> 0);
  return null;
end
$$;
comment on function ledger.keep_saleable_stock() is
  'Triggers before and after a warehouse starts or stops selling its stock: moves it into or out of the '
  'products'' stock not available for sale. The safety stock of the products follows. Units that are not '
  'sellable are not for sale in any warehouse.';
select api_meta.plan_by_index('ledger.keep_saleable_stock()');
select api_meta.give('ledger.keep_saleable_stock()', 'service_ledger');
--! EndIncluded ledger/keep_saleable_stock.sql
--! Included ledger/keep_bin_state.sql
create or replace function ledger.keep_bin_state() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_when = 'BEFORE' then
    -- Waits for bookings that use the old state; later ones wait for this change
    perform from erp.bin_location b where b.id = old.id for update;
    perform from erp.warehouse w where w.id = new.warehouse_id for key share;
    return new;
  end if;
  perform ledger.lock(array(
    select s.product_id from ledger.stock s where s.bin_location_id = new.id and s.quantity <> 0));
  perform ledger.change_held_stock(array(
    select row (new.warehouse_id, s.product_id,
      case when new.stock_state = 'sellable' then -1 else 1 end * (s.quantity - coalesce((
        select sum(u.quantity) from ledger.batch_stock u join erp.batch b on b.id = u.batch_id
        where u.stock_id = s.id and (b.is_held or b.is_expired)), 0)))::ledger.change
    from ledger.stock s where s.bin_location_id = new.id and s.quantity <> 0
  ));
  return null;
end
$$;
comment on function ledger.keep_bin_state() is
  'Triggers before and after a bin begins or ceases to be sellable: updates the held stock of its warehouse, '
  'and what its products have that is not for sale. Units of batches that are not sellable '
  'count already.';
select api_meta.plan_by_index('ledger.keep_bin_state()');
select api_meta.give('ledger.keep_bin_state()', 'service_ledger');
--! EndIncluded ledger/keep_bin_state.sql
create or replace trigger keep_figures_first before update of stock_state on erp.bin_location for each row
  when ((old.stock_state = 'sellable') <> (new.stock_state = 'sellable'))
  execute function ledger.keep_bin_state();
create or replace trigger keep_figures after update of stock_state on erp.bin_location for each row
  when ((old.stock_state = 'sellable') <> (new.stock_state = 'sellable'))
  execute function ledger.keep_bin_state();
--! Included ledger/keep_safety_stock.sql
create or replace function ledger.keep_safety_stock() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- Null if there is none
  gone constant uuid := old.product_id;
  today constant timestamptz := date_trunc('second', now());
begin
  perform ledger.lock(array_remove(array[new.product_id, gone], null), array[new.warehouse_id]);
  update ledger.warehouse_stock s set safety_stock = 0, updated_at = today
  where s.product_id = gone and s.warehouse_id = old.warehouse_id and s.safety_stock <> 0
    and (s.product_id, s.warehouse_id) is distinct from (new.product_id, new.warehouse_id);
  if new.product_id is not null then
    insert into ledger.warehouse_stock (product_id, warehouse_id)
    select new.product_id, new.warehouse_id where new.safety_stock > 0
    on conflict (product_id, warehouse_id) do nothing;
    update ledger.warehouse_stock s set safety_stock = new.safety_stock, updated_at = today
    where s.product_id = new.product_id and s.warehouse_id = new.warehouse_id
      and s.safety_stock <> new.safety_stock;
  end if;
  -- Of the warehouses that sell. One that is being deleted is gone already
  update erp.product p set safety_stock = n.units, updated_at = today
  from (
    select i.id, coalesce(sum(c.safety_stock) filter (where w.is_stock_available_for_sale), 0)::integer
    from (select new.product_id union select gone) i (id)
    left join erp.product_warehouse_configuration c on c.product_id = i.id and c.safety_stock > 0
    left join erp.warehouse w on w.id = c.warehouse_id
    group by i.id
  ) n (id, units)
  where p.id = n.id and p.safety_stock <> n.units;
  return null;
end
$$;
comment on function ledger.keep_safety_stock() is
  'Trigger after the safety stock of a product in a warehouse was changed: keeps it beside the stock of the '
  'warehouse, and its sum at the product.';
select api_meta.plan_by_index('ledger.keep_safety_stock()');
select api_meta.give('ledger.keep_safety_stock()', 'service_ledger');
--! EndIncluded ledger/keep_safety_stock.sql
create or replace trigger keep_figures_of_safety_after_insert after insert
  on erp.product_warehouse_configuration for each row
  when (new.safety_stock > 0) execute function ledger.keep_safety_stock();
create or replace trigger keep_figures_of_safety_after_update after update of safety_stock, product_id,
  warehouse_id on erp.product_warehouse_configuration for each row
  when ((old.safety_stock, old.product_id, old.warehouse_id)
    is distinct from (new.safety_stock, new.product_id, new.warehouse_id))
  execute function ledger.keep_safety_stock();
create or replace trigger keep_figures_of_safety_after_delete after delete
  on erp.product_warehouse_configuration for each row
  when (old.safety_stock > 0) execute function ledger.keep_safety_stock();
--! Included erp/expire_batches.sql
create or replace function erp.expire_batches(most integer default 500) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  today constant date := erp.local_date(now());
  due uuid[];
begin
  due := array(
    select x.id from (
      (select b.id from erp.batch b where b.is_expired = false and b.best_before_date < today
        order by b.best_before_date limit most)
      union all
      -- The day went back: the merchant has moved to another time zone
      (select b.id from erp.batch b where b.is_expired = true and b.best_before_date >= today
        order by b.best_before_date limit most)
    ) x limit most
  );
  -- As erp.hold_batches: products come first
  perform ledger.lock(array(select distinct b.product_id from erp.batch b where b.id = any (due)));
  perform from erp.batch b where b.id = any (due) order by b.id for no key update;
  update erp.batch b set is_expired = b.best_before_date < today
  where b.id = any (due) and b.is_expired is distinct from b.best_before_date < today;
  return cardinality(due);
end
$$;
comment on function erp.expire_batches(integer) is
  'Marks batches whose best-before date has passed as expired, so that their units are no longer available: '
  'as many as the argument says, the longest expired first. Returns how many it found; call it again until '
  'none is left.';
select api_meta.plan_by_index('erp.expire_batches(integer)');
select api_meta.give('erp.expire_batches(integer)', 'service_ledger');
revoke execute on function erp.expire_batches(integer) from public;
grant execute on function erp.expire_batches(integer) to service_worker;
--! EndIncluded erp/expire_batches.sql

-- Picking and warnings
--! Included ledger/pick_units.sql
create or replace function ledger.pick_units(picks ledger.pick[]) returns ledger.pick[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- The wanted units and the stored units form two rulers, side by side. Where stretches of both overlap,
  -- these units go to that line.
  return array(
    with wanted as (
      select p.ordinality as line, p.field, p.line_id, p.product_id, p.warehouse_id, p.quantity,
        sum(p.quantity) over (partition by p.product_id, p.warehouse_id order by p.ordinality) as upto
      from unnest(picks) with ordinality p where p.place is null and p.product_id is not null
    ),
    named as (
      select p.product_id, p.place, p.batch_id, sum(p.quantity) as quantity
      from unnest(picks) p where p.place is not null group by p.product_id, p.place, p.batch_id
    ),
    lying as (
      select w.product_id, w.warehouse_id, s.id, s.place, s.location_type_technical_name as place_type,
        s.quantity, b."position", b.code, a.is_batch_managed,
        coalesce(a.minimum_remaining_shelf_life_days, 0) as days,
        coalesce(a.pick_order, (select m.pick_order from erp.merchant m), 'bin') as pick_order
      from (select distinct wanted.product_id, wanted.warehouse_id from wanted) w
      join erp.product a on a.id = w.product_id
      join ledger.stock s on s.product_id = w.product_id
        and s.location_type_technical_name in ('warehouse', 'bin_location') and s.quantity > 0
      left join erp.bin_location b on b.id = s.bin_location_id
      where coalesce(s.warehouse_id, b.warehouse_id) = w.warehouse_id
        and (b.id is null or b.stock_state = 'sellable')
    ),
    pile as (
      -- Neither on hold, nor expired, nor short of the promised shelf life
      select l.*, b.batch_id, b.quantity as units, x.best_before_date
      from lying l join ledger.batch_stock b on b.stock_id = l.id
      -- Offset: looked up one by one
      cross join lateral (
        select x.is_held, x.best_before_date from erp.batch x where x.id = b.batch_id offset 0) x
      where not x.is_held and coalesce(x.best_before_date - l.days >= (select erp.local_date(now())), true)
      union all
      select l.*, null,
        l.quantity - coalesce((select sum(b.quantity) from ledger.batch_stock b where b.stock_id = l.id), 0),
        null
      from lying l where not l.is_batch_managed
    ),
    free as (
      select p.*, p.units - coalesce(n.quantity, 0) as quantity_left
      from pile p
      left join named n on n.product_id = p.product_id and n.place = p.place
        and n.batch_id is not distinct from p.batch_id
    ),
    offered as (
      select f.*, sum(f.quantity_left) over (
        partition by f.product_id, f.warehouse_id
        order by case f.pick_order when 'first_expired' then f.best_before_date end,
          case when f.is_batch_managed or f.pick_order <> 'bin' then f.batch_id end,
          case when f.pick_order <> 'bin' and f.batch_id is null then f.id end,
          f.place_type = 'warehouse', f."position" nulls last, f.code, f.batch_id nulls first
        rows unbounded preceding) as upto
      from free f where f.quantity_left > 0
    )
    select row (w.field, w.line_id, w.product_id, w.warehouse_id,
      least(w.upto, o.upto) - greatest(w.upto - w.quantity, o.upto - o.quantity_left),
      o.place_type, o.place, o.batch_id)::ledger.pick
    from wanted w join offered o on o.product_id = w.product_id and o.warehouse_id = w.warehouse_id
      and o.upto > w.upto - w.quantity and o.upto - o.quantity_left < w.upto
    order by w.line, o.upto
  );
end
$$;
comment on function ledger.pick_units(ledger.pick[]) is
  'Returns the places to take the units of picks from that name no place, in the pick order of their '
  'product. Bins that are not sellable are left out, as are batches that are on hold, have expired or are '
  'short of the promised shelf life. Returns fewer units if there are not enough.';
grant execute on function ledger.pick_units(ledger.pick[]) to service_ledger;
--! EndIncluded ledger/pick_units.sql
--! Included ledger/require_picked.sql
create or replace function ledger.require_picked(picks ledger.pick[], found_units ledger.pick[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  -- Usually there are enough
  if (select sum(w.quantity) from unnest(picks) w where w.place is null and w.product_id is not null)
    is not distinct from (select sum(f.quantity) from unnest(found_units) f) then
    return;
  end if;
  select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
    format(
      'Warehouse %s holds %s units of product %s to be picked, %s are needed.', w.code, t.available,
      p.product_number, t.requested
    )
    || coalesce(' Of what lies there, ' || nullif(concat_ws(', ', u.held || ' are on hold',
      u.expired || ' have expired', u.blocked || ' lie in bins that are not sellable',
      u.short || ' are short of the promised shelf life, unless you name their batches'), '') || '.', '')
    || case when e.units > 0
      then format(' Other warehouses hold %s: assign units to them by fulfillmentOrderCreate.', e.units)
      else '' end,
    picks[t.line].field,
    jsonb_strip_nulls(jsonb_build_object(
      'available', t.available, 'requested', t.requested, 'productNumber', p.product_number, 'held', u.held,
      'expired', u.expired, 'short', u.short, 'notSellable', u.blocked
    ))) order by t.line)
  into errors
  from (
    select r.product_id, r.warehouse_id, sum(r.requested) as requested, sum(r.available) as available,
      min(r.line) filter (where r.available < r.requested) as line
    from (
      select w.ordinality as line, w.product_id, w.warehouse_id, w.quantity as requested,
        coalesce(
          (select sum(f.quantity) from unnest(found_units) f where f.line_id = w.line_id), 0
        ) as available
      from unnest(picks) with ordinality w where w.place is null and w.product_id is not null
    ) r group by r.product_id, r.warehouse_id having sum(r.available) < sum(r.requested)
  ) t join erp.product p on p.id = t.product_id join erp.warehouse w on w.id = t.warehouse_id
  cross join lateral (
    select coalesce(sum(s.quantity - s.held_quantity), 0) as units from ledger.warehouse_stock s
    where s.product_id = t.product_id and s.warehouse_id <> t.warehouse_id
  ) e
  -- Units in the warehouse that are not picked, by reason
  cross join lateral (
    select sum(i.quantity) filter (where not i.is_blocked and i.is_held) as held,
      sum(i.quantity) filter (where not i.is_blocked and not i.is_held and i.days_left < 0) as expired,
      sum(i.quantity) filter (where not i.is_blocked and not i.is_held and i.days_left >= 0
        and i.days_left < coalesce(p.minimum_remaining_shelf_life_days, 0)) as short,
      nullif(sum(i.in_place) filter (where i.is_blocked and i.nth = 1), 0) as blocked
    from (
      select b.quantity, x.is_held, x.best_before_date - erp.local_date(now()) as days_left,
        coalesce(l.stock_state, 'sellable') <> 'sellable' as is_blocked, s.quantity as in_place,
        row_number() over (partition by s.id) as nth
      from ledger.stock s left join erp.bin_location l on l.id = s.bin_location_id
      left join ledger.batch_stock b on b.stock_id = s.id and b.quantity > 0
      left join erp.batch x on x.id = b.batch_id
      where s.product_id = t.product_id and coalesce(s.warehouse_id, l.warehouse_id) = t.warehouse_id
    ) i
  ) u;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_picked(ledger.pick[], ledger.pick[]) is
  'Refuses picks for which not enough units were found. Says how many lie there that are not picked. User '
  'error INSUFFICIENT_STOCK.';
grant execute on function ledger.require_picked(ledger.pick[], ledger.pick[]) to service_ledger;
--! EndIncluded ledger/require_picked.sql
--! Included erp/require_places.sql
create or replace function erp.require_places(
  lines erp.shipping_line[], places erp.shipping_place[], source_id uuid
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    mutation.user_error(
      e.code, e.message, mutation.path('lines', e.line) || mutation.path('places', e.nth) || e.field
    ) order by e.line,
    e.nth
  )
  into errors
  from (
    select p.line, p.nth, 'NOT_FOUND', 'There is no such warehouse.', '{place,warehouse_id}'::text[]
    from unnest(places) p
    where p.warehouse_id is not null and not exists (select from erp.warehouse w where w.id = p.warehouse_id)
    union all
    select p.line, p.nth, 'NOT_FOUND', 'There is no such bin.', '{place,bin_location_id}'
    from unnest(places) p
    where p.bin_location_id is not null
      and not exists (select from erp.bin_location b where b.id = p.bin_location_id)
    union all
    select p.line, p.nth, 'INVALID', 'This place is not in the warehouse that is to ship.', '{place}'
    from unnest(places) p
    left join erp.bin_location b on b.id = p.bin_location_id
    left join erp.warehouse w on w.id = p.warehouse_id
    where coalesce(b.warehouse_id, w.id) <> source_id
    union all
    select p.line, p.nth, 'INVALID', 'The line has no product that could be taken from a place.', '{place}'
    from unnest(places) p
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where l.product_id is null
    union all
    select p.line, p.nth, 'NOT_FOUND', 'There is no such batch.', '{batch_id}'
    from unnest(places) p
    where p.batch_id is not null and not exists (select from erp.batch b where b.id = p.batch_id)
    union all
    select p.line, p.nth, 'BATCH_MISMATCH', format('Batch %s belongs to another product.', b.number),
      '{batch_id}'
    from unnest(places) p
    join erp.batch b on b.id = p.batch_id
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.product_id <> l.product_id
    union all
    select p.line, p.nth, 'BATCH_HELD', format('Batch %s is on hold.', b.number), '{batch_id}'
    from unnest(places) p
    join erp.batch b on b.id = p.batch_id
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.is_held and b.product_id = l.product_id
    union all
    select p.line, p.nth, 'BIN_NOT_SELLABLE', format('The units in bin %s are %s.', b.code,
      case b.stock_state when 'damaged' then 'damaged' else 'in quality control' end), '{place}'
    from unnest(places) p join erp.bin_location b on b.id = p.bin_location_id
    where b.stock_state <> 'sellable' and b.warehouse_id = source_id
    union all
    select p.line, p.nth, 'BATCH_EXPIRED', format('Batch %s was best before %s.', b.number,
      b.best_before_date), '{batch_id}'
    from unnest(places) p
    join erp.batch b on b.id = p.batch_id
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.best_before_date < erp.local_date(now()) and b.product_id = l.product_id
  ) e (line, nth, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid) is
  'Refuses places and batches that a warehouse cannot take units of lines from. Batches that are short of '
  'the promised shelf life may be named. User errors NOT_FOUND, INVALID, BATCH_MISMATCH, BATCH_HELD, '
  'BIN_NOT_SELLABLE, BATCH_EXPIRED.';
grant execute on function erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid)
  to service_writer;
--! EndIncluded erp/require_places.sql
--! Included ledger/warn_of_promises.sql
create or replace function ledger.warn_of_promises(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Shipped units were promised; the promises end with them
  shipping constant text := 'api_shipping';
  suspects uuid[];
  warnings jsonb;
begin
  -- These are the figures after the booking. Usually none is below 0, and there is nothing to warn about.
  suspects := array(
    select distinct d.product_id from unnest(drafts) d join erp.product p on p.id = d.product_id
    where d.source_type in ('warehouse', 'bin_location') and d.process <> shipping
      and (p.available_stock < 0 or exists (
        select from ledger.warehouse_stock s
        where s.product_id = d.product_id and s.available_quantity < 0)));
  if suspects = '{}' then
    return;
  end if;
  -- Units that are not sellable, by their batch or bin, were available to nobody
  with moved as (
    select d.* from unnest(drafts) with ordinality d where d.product_id = any (suspects)
      and not exists (select from erp.batch b where b.id = d.batch_id and (b.is_held or b.is_expired))
  ),
  leg (product_id, place_type, place, change, line) as (
    select d.product_id, d.source_type, d.source, - d.quantity, d.ordinality from moved d
    union all
    select d.product_id, d.destination_type, d.destination, d.quantity, d.ordinality from moved d
  ),
  change as (
    select leg.product_id, w.id as warehouse_id, w.code, w.is_stock_available_for_sale as is_for_sale,
      sum(leg.change) as units, min(leg.line) filter (where leg.change < 0) as line
    from leg
    left join erp.bin_location b on b.id = case leg.place_type when 'bin_location' then leg.place::uuid end
    join erp.warehouse w
      on w.id = case leg.place_type when 'warehouse' then leg.place::uuid else b.warehouse_id end
    where coalesce(b.stock_state, 'sellable') = 'sellable'
    group by leg.product_id, w.id
  ),
  short (product_id, warehouse_id, code, available, reserved, line) as (
    select p.id, null, null, p.available_stock, p.reserved_stock, c.line
    from (
      select change.product_id, min(change.line) as line from change
      group by change.product_id having sum(change.units) filter (where change.is_for_sale) < 0
    ) c join erp.product p on p.id = c.product_id where p.available_stock < 0 and p.reserved_stock > 0
    union all
    select c.product_id, c.warehouse_id, c.code, s.available_quantity, s.reserved_quantity, c.line
    from change c
    join ledger.warehouse_stock s on s.product_id = c.product_id and s.warehouse_id = c.warehouse_id
    where c.units < 0 and s.available_quantity < 0 and s.reserved_quantity > 0
  )
  select jsonb_agg(mutation.user_error('STOCK_PROMISED',
    format('Orders wait for %s units of product %s%s; %s of them are missing now.',
      s.reserved, p.product_number, ' from warehouse ' || s.code, - s.available),
    drafts[s.line].field,
    jsonb_strip_nulls(jsonb_build_object(
      'productId', 'gid://service/Product/' || s.product_id,
      'warehouseId', 'gid://service/Warehouse/' || s.warehouse_id,
      'reserved', s.reserved, 'available', s.available)))
    order by s.line, s.code)
  into warnings
  from (
    -- One warning per product: its shortage makes warnings about its warehouses redundant
    select short.*,
      bool_or(short.warehouse_id is null) over (partition by short.product_id) as is_short_everywhere
    from short
  ) s join erp.product p on p.id = s.product_id
  where s.warehouse_id is null or not s.is_short_everywhere;
  perform mutation.warn(warnings);
end
$$;
comment on function ledger.warn_of_promises(ledger.draft[]) is
  'Warns if movements, which have been booked, took units that orders wait for: the available stock of the '
  'product, or of a warehouse, is below 0 and lower than before. Adds one warning STOCK_PROMISED for the '
  'product or, if the product itself is not short, one for each warehouse that is. Units that are not '
  'sellable are available to nobody, so they don''t count; what is moved to them is missing.';
grant execute on function ledger.warn_of_promises(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/warn_of_promises.sql
--! Included ledger/warn_of_hold.sql
create or replace function ledger.warn_of_hold(batch_ids uuid[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Orders miss the units as if a booking had taken them away
  perform ledger.warn_of_promises(array(
    select row (mutation.path('ids', i.n), u.product_id, u.quantity, null, 'warehouse', u.warehouse_id::text,
      'special_stock_location', 'stock_correction', 'api')::ledger.draft
    from unnest(batch_ids) with ordinality i (id, n)
    join ledger.units_of_batches(batch_ids) u on u.batch_id = i.id
    order by i.n, u.warehouse_id
  ));
end
$$;
comment on function ledger.warn_of_hold(uuid[]) is
  'Warns if orders wait for units of batches that have been put on hold: warning STOCK_PROMISED, as of '
  'ledger.warn_of_promises. Nulls among the batches are ignored.';
select api_meta.plan_by_index('ledger.warn_of_hold(uuid[])');
select api_meta.give('ledger.warn_of_hold(uuid[])', 'service_ledger');
grant execute on function ledger.warn_of_hold(uuid[]) to service_writer;
--! EndIncluded ledger/warn_of_hold.sql
--! Included ledger/warn_of_bin_state.sql
create or replace function ledger.warn_of_bin_state(bin_location_id uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Orders miss the units as if a booking had taken them away
  perform ledger.warn_of_promises(array(
    select row ('{stock_state}', s.product_id, s.quantity - u.unsellable, null, 'warehouse',
      b.warehouse_id::text, 'special_stock_location', 'stock_correction', 'api')::ledger.draft
    from erp.bin_location b
    join ledger.stock s on s.bin_location_id = b.id and s.quantity > 0
    cross join lateral (
      select coalesce(sum(n.quantity), 0)::integer as unsellable
      from ledger.batch_stock n join erp.batch x on x.id = n.batch_id
      where n.stock_id = s.id and (x.is_held or x.is_expired)
    ) u
    where b.id = warn_of_bin_state.bin_location_id and s.quantity > u.unsellable order by s.id
  ));
end
$$;
comment on function ledger.warn_of_bin_state(uuid) is
  'Warns if orders wait for units in a bin that is no longer sellable: warning STOCK_PROMISED, as of '
  'ledger.warn_of_promises.';
select api_meta.plan_by_index('ledger.warn_of_bin_state(uuid)');
select api_meta.give('ledger.warn_of_bin_state(uuid)', 'service_ledger');
grant execute on function ledger.warn_of_bin_state(uuid) to service_writer;
--! EndIncluded ledger/warn_of_bin_state.sql

-- API
--! Included api/stock_state.sql
do $$
begin
  if to_regtype('api_unstable.stock_state') is null then
    create type api_unstable.stock_state as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.stock_state', 'sellable', 'quality_control', 'damaged');
comment on type api_unstable.stock_state is
  E'@value sellable The units can be sold and shipped.\n'
  '@value quality_control The units wait for a decision, such as an inspection or a supplier''s answer.\n'
  '@value damaged The units are damaged, and wait to be repaired, returned or disposed of.\n'
  'State of the units in a bin, or of a batch. Only sellable units are available and shipped. All can be '
  'moved, counted and disposed of.';
--! EndIncluded api/stock_state.sql
drop view if exists api_unstable.bin_locations, api_unstable.batches, api_unstable.warehouse_stocks,
  api_unstable.product_warehouse_configurations cascade;
--! Included api/bin_locations.sql
create view api_unstable.bin_locations with (security_invoker = true) as
select id, warehouse_id, code, position, stock_state, created_at, updated_at from erp.bin_location;
comment on view api_unstable.bin_locations is $$
@primaryKey id
@requiresScopes warehouses:read
@search code
@columnEnum stock_state stock_state
@filters *
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName binLocations
@ref tags to:Tag plural
@refVia tags via:(id)->bin_location_tags(bin_location_id);(tag_id)->tags(id)
The smallest place in a warehouse that has an address of its own.$$;
--! EndIncluded api/bin_locations.sql
--! Included api/batches.sql
create view api_unstable.batches with (security_invoker = true) as
select id, product_id, number, comment, best_before_date, production_date, supplier_lot, physical_stock,
  is_held, held_at, hold_reason, stock_state, is_expired
from erp.batch;
comment on view api_unstable.batches is $$
@primaryKey id
@requiresScopes batches:read
@search number,product_id
@nullable number
@columnEnum stock_state stock_state
@filters best_before_date,comment,held_at,number,physical_stock,product_id,supplier_lot
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName batches
@ref tags to:Tag plural
@refVia tags via:(id)->batch_tags(batch_id);(tag_id)->tags(id)
A batch (lot) of a product. Product and number together are unique.$$;
--! EndIncluded api/batches.sql
--! Included api/batches_physical_stock_as_of.sql
create function api_unstable.batches_physical_stock_as_of(
  batch api_unstable.batches, sequence float default null, moment timestamptz default null
) returns integer language sql stable
return ledger.batch_quantity_as_of(batch.id, null, sequence::bigint, moment);
comment on function api_unstable.batches_physical_stock_as_of(
  api_unstable.batches, float, timestamptz
) is $$
@notNull
@describe sequence The number of a stock movement: all with this number or a smaller one count.
@describe moment A moment in the past: what had happened by then counts, also if it was booked later.
How many units of the batch all warehouses held then. Give either sequence or moment.$$;
--! EndIncluded api/batches_physical_stock_as_of.sql
--! Included api/products_stock_card.sql
drop type if exists api_unstable.stock_card cascade;
create type api_unstable.stock_card as (
  opening_balance integer, incoming integer, outgoing integer, closing_balance integer
);
comment on type api_unstable.stock_card is 'Units that came, that left, and that were there, in a period.';
comment on column api_unstable.stock_card.opening_balance is
  E'@notNull\nUnits that were there before the period.';
comment on column api_unstable.stock_card.incoming is E'@notNull\nUnits that came in the period.';
comment on column api_unstable.stock_card.outgoing is E'@notNull\nUnits that left in the period.';
comment on column api_unstable.stock_card.closing_balance is
  E'@notNull\nUnits that were there at the end of the period.';

create function api_unstable.products_stock_card(
  product api_unstable.products, since timestamptz, until timestamptz default null,
  warehouse_id uuid default null, bin_location_id uuid default null, batch_id uuid default null
) returns api_unstable.stock_card language sql stable
begin atomic
  select row (c.opening, c.incoming, c.outgoing, c.opening + c.incoming - c.outgoing)::api_unstable.stock_card
  from (
    select min(c.balance) filter (where c.movement_id is null) as opening,
      coalesce(sum(c.quantity) filter (where c.quantity > 0), 0) as incoming,
      coalesce(- sum(c.quantity) filter (where c.quantity < 0), 0) as outgoing
    from ledger.stock_card(product.id, products_stock_card.bin_location_id::text,
      products_stock_card.warehouse_id, products_stock_card.batch_id, since, until) c
  ) c
  where products_stock_card.batch_id is null
    or exists (select from api_unstable.batches b where b.id = products_stock_card.batch_id);
end;
comment on function api_unstable.products_stock_card(
  api_unstable.products, timestamptz, timestamptz, uuid, uuid, uuid
) is $$
@cost 10
@requiresScopes stocks:read
@gid warehouse_id Warehouse
@gid bin_location_id BinLocation
@gid batch_id Batch
@describe since The beginning of the period.
@describe until The end of the period, which is not part of it; without it, the period reaches to now.
@describe warehouse_id Only this warehouse, with the bins that stood in it then; by default, all warehouses.
@describe bin_location_id Only this bin.
@describe batch_id Only units of this batch.
The balances of the stock card; stockCardLines has its lines. Null for a batch that you may not read.$$;
--! EndIncluded api/products_stock_card.sql
--! Included api/products_stock_card_lines.sql
create function api_unstable.products_stock_card_lines(
  product api_unstable.products, since timestamptz, until timestamptz default null,
  warehouse_id uuid default null, bin_location_id uuid default null, batch_id uuid default null
) returns setof api_unstable.stock_card_lines language sql stable
begin atomic
  select c.movement_id, c.direction, c.moment, c.booked_at,
    c.quantity, c.balance::integer, c.warehouse_id, c.bin_location_id, c.former_place
  from ledger.stock_card(product.id, products_stock_card_lines.bin_location_id::text,
    products_stock_card_lines.warehouse_id, products_stock_card_lines.batch_id, since, until) c
  where c.movement_id is not null and (products_stock_card_lines.batch_id is null
    or exists (select from api_unstable.batches b where b.id = products_stock_card_lines.batch_id));
end;
comment on function api_unstable.products_stock_card_lines(
  api_unstable.products, timestamptz, timestamptz, uuid, uuid, uuid
) is $$
@cost 10
@noFilter
@gid warehouse_id Warehouse
@gid bin_location_id BinLocation
@gid batch_id Batch
@describe since The beginning of the period.
@describe until The end of the period, which is not part of it; without it, all lines up to now.
@describe warehouse_id Only this warehouse, with the bins that stood in it then; by default, all warehouses.
@describe bin_location_id Only this bin.
@describe batch_id Only units of this batch.
The lines of the stock card: arrivals and departures of a period, in the order in which they happened. Each
has the balance after it.$$;
--! EndIncluded api/products_stock_card_lines.sql
--! Included api/warehouse_stocks.sql
create view api_unstable.warehouse_stocks with (security_invoker = true) as
select id, product_id, warehouse_id, quantity, reserved_quantity, held_quantity, safety_stock,
  available_quantity, created_at, updated_at
from ledger.warehouse_stock;
comment on view api_unstable.warehouse_stocks is $$
@primaryKey id
@requiresScopes stocks:read
@filters *
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName warehouseStocks
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName warehouseStocks
How much of a product a warehouse holds, its bins included.$$;
--! EndIncluded api/warehouse_stocks.sql
--! Included api/warehouse_stocks_quantity_as_of.sql
create function api_unstable.warehouse_stocks_quantity_as_of(
  stock api_unstable.warehouse_stocks, sequence float default null, moment timestamptz default null
) returns integer language sql stable
return ledger.quantity_as_of(stock.product_id, null, stock.warehouse_id, sequence::bigint, moment);
comment on function api_unstable.warehouse_stocks_quantity_as_of(
  api_unstable.warehouse_stocks, float, timestamptz
) is $$
@notNull
@describe sequence The number of a stock movement: all with this number or a smaller one count.
@describe moment A moment in the past: what had happened by then counts, also if it was booked later.
How many units the warehouse held then, with the bins that stood there. Give either sequence or moment.$$;
--! EndIncluded api/warehouse_stocks_quantity_as_of.sql
--! Included api/warehouses_stocks_as_of.sql
create function api_unstable.warehouses_stocks_as_of(
  warehouse api_unstable.warehouses, sequence float default null, moment timestamptz default null
) returns setof api_unstable.warehouse_stocks language sql stable
begin atomic
  select s.* from api_unstable.warehouse_stocks s
  where s.warehouse_id = warehouse.id
    and ledger.quantity_as_of(s.product_id, null, s.warehouse_id, sequence::bigint, moment) <> 0;
end;
comment on function api_unstable.warehouses_stocks_as_of(
  api_unstable.warehouses, float, timestamptz
) is $$
@describe sequence The number of a stock movement: all with this number or a smaller one count.
@describe moment A moment in the past: what had happened by then counts, also if it was booked later.
The stocks of which the warehouse held units then. Their field quantityAsOf says how many; the other fields
say what it holds now. Give either sequence or moment.$$;
--! EndIncluded api/warehouses_stocks_as_of.sql
--! Included api/product_warehouse_configurations.sql
create view api_unstable.product_warehouse_configurations with (security_invoker = true) as
select id, product_id, warehouse_id, default_bin_location_id, reorder_point, target_maximum_quantity,
  safety_stock, stock_below_reorder_point, created_at, updated_at
from erp.product_warehouse_configuration;
comment on view api_unstable.product_warehouse_configurations is
  E'@primaryKey id\n'
  '@requiresScopes product_warehouse_configurations:read\n'
  '@nullable stock_below_reorder_point\n'
  '@filters *\n'
  '@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName '
  'warehouseConfigurations|@noFilter\n'
  '@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName '
  'productConfigurations\n'
  '@foreignKey (default_bin_location_id) references bin_locations (id)|@fieldName '
  'defaultBinLocation|@foreignFieldName productWarehouseConfigurations\n'
  'How a product is kept in a warehouse: its usual bin, when to refill, and what is not sold.';
--! EndIncluded api/product_warehouse_configurations.sql
drop function if exists api_unstable.products_safety_stock(api_unstable.products);
--! Included ledger/safety_stock_of.sql
create or replace function ledger.safety_stock_of(product_id uuid) returns integer
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select p.safety_stock from erp.product p
  where p.id = safety_stock_of.product_id and (select auth.has_scope('products:read'));
end;
comment on function ledger.safety_stock_of(uuid) is
  'Returns the safety stock of a product in the warehouses that sell their stock. Null without the scope '
  'products:read.';
select api_meta.give('ledger.safety_stock_of(uuid)', 'service_ledger');
revoke execute on function ledger.safety_stock_of(uuid) from public;
grant execute on function ledger.safety_stock_of(uuid) to service_api;
--! EndIncluded ledger/safety_stock_of.sql
--! Included api/products_safety_stock.sql
create function api_unstable.products_safety_stock(product api_unstable.products) returns integer
language sql stable
return ledger.safety_stock_of(product.id);
comment on function api_unstable.products_safety_stock(api_unstable.products) is $$
@notNull
Units that are kept back: the safety stock of all warehouses that sell their stock together. The available
stock is reduced by them, at most to 0.$$;
--! EndIncluded api/products_safety_stock.sql
--! Included erp/create_bin_location.sql
drop function if exists erp.create_bin_location(uuid, text, integer);
create or replace function erp.create_bin_location(
  warehouse_id uuid, code text, "position" integer, stock_state text default null
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made uuid;
begin
  perform from erp.warehouse w where w.id = warehouse_id for key share;
  if not found then
    perform mutation.refuse_missing('warehouse', '{warehouse_id}');
  end if;
  insert into erp.bin_location (warehouse_id, code, "position", stock_state)
  values (warehouse_id, code, "position", coalesce(stock_state, 'sellable'))
  returning id
  into made;
  return made;
end
$$;
comment on function erp.create_bin_location(uuid, text, integer, text) is
  'Creates a bin in a warehouse, sellable unless another state is given. Returns its id.';
grant execute on function erp.create_bin_location(uuid, text, integer, text) to service_writer;
--! EndIncluded erp/create_bin_location.sql
--! Included erp/update_bin_location.sql
create or replace function erp.update_bin_location(bin_location_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.bin_location;
  wanted erp.bin_location;
begin
  -- Warehouses are locked before their bins
  perform from erp.warehouse w
  where w.id = (select b.warehouse_id from erp.bin_location b where b.id = bin_location_id) for key share;
  select * into present from erp.bin_location b where b.id = bin_location_id for no key update;
  if not found then
    perform mutation.refuse_missing('bin', '{id}');
  end if;
  wanted := jsonb_populate_record(present, changes - '{id,warehouse_id,created_at,updated_at}'::text[]);
  update erp.bin_location b
  set code = wanted.code, "position" = wanted."position", stock_state = wanted.stock_state
  where b.id = bin_location_id;
  if present.stock_state = 'sellable' and wanted.stock_state <> 'sellable' then
    perform ledger.warn_of_bin_state(bin_location_id);
  end if;
  return bin_location_id;
end
$$;
comment on function erp.update_bin_location(uuid, jsonb) is
  'Changes code, position and state of a bin, if the object contains them. Returns its id. Warning '
  'STOCK_PROMISED.';
select api_meta.plan_by_index('erp.update_bin_location(uuid, jsonb)');
grant execute on function erp.update_bin_location(uuid, jsonb) to service_writer;
--! EndIncluded erp/update_bin_location.sql
--! Included erp/set_product_warehouse_configuration.sql
create or replace function erp.set_product_warehouse_configuration(
  product_id uuid, warehouse_id uuid, changes jsonb
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  wanted erp.product_warehouse_configuration;
begin
  -- So that neither can be deleted before the row exists
  perform ledger.lock(
    array[set_product_warehouse_configuration.product_id],
    array[set_product_warehouse_configuration.warehouse_id]
  );
  perform from erp.product p where p.id = set_product_warehouse_configuration.product_id;
  if not found then
    perform mutation.refuse_missing('product', '{product_id}');
  end if;
  perform from erp.warehouse w where w.id = set_product_warehouse_configuration.warehouse_id;
  if not found then
    perform mutation.refuse_missing('warehouse', '{warehouse_id}');
  end if;
  insert into erp.product_warehouse_configuration as c (product_id, warehouse_id)
  values (set_product_warehouse_configuration.product_id, set_product_warehouse_configuration.warehouse_id)
  on conflict (product_id, warehouse_id) do nothing;
  select * into wanted from erp.product_warehouse_configuration c
  where c.product_id = set_product_warehouse_configuration.product_id
    and c.warehouse_id = set_product_warehouse_configuration.warehouse_id
  for no key update;
  wanted := jsonb_populate_record(
    wanted, changes - '{id,product_id,warehouse_id,stock,created_at,updated_at}'::text[]
  );
  update erp.product_warehouse_configuration c
  set default_bin_location_id = wanted.default_bin_location_id, reorder_point = wanted.reorder_point,
    target_maximum_quantity = wanted.target_maximum_quantity, safety_stock = wanted.safety_stock
  where c.id = wanted.id;
  return wanted.id;
end
$$;
comment on function erp.set_product_warehouse_configuration(uuid, uuid, jsonb) is
  'Changes how a product is kept in a warehouse: the usual bin, the reorder point, the target and the safety '
  'stock, if the object contains them. Inserts the row if it is missing. Returns its id.';
grant execute on function erp.set_product_warehouse_configuration(uuid, uuid, jsonb) to service_writer;
--! EndIncluded erp/set_product_warehouse_configuration.sql
--! Included erp/hold_batches.sql
drop function if exists erp.hold_batches(uuid[], boolean, text);
create or replace function erp.hold_batches(
  batch_ids uuid[], held boolean, reason text default null, state text default null
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
  turned uuid[];
begin
  if coalesce(cardinality(batch_ids), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one batch is needed.', '{ids}');
  end if;
  perform mutation.refuse_too_many(cardinality(batch_ids), 250, '{ids}');
  if length(reason) > 1000 then
    perform mutation.refuse('OUT_OF_RANGE', 'The reason has more than 1,000 characters.', '{reason}');
  end if;
  if held and state = 'sellable' then
    perform mutation.refuse('INVALID', 'Units on hold are not sellable: batchRelease makes them so.',
      '{stock_state}');
  end if;
  -- Bookings update batches under the lock of their product, which comes first here, too
  perform ledger.lock(array(select distinct b.product_id from erp.batch b where b.id = any (batch_ids)));
  perform from erp.batch b where b.id = any (batch_ids) order by b.id for no key update;
  select jsonb_agg(mutation.user_error(
    case when i.nth > 1 then 'NOT_UNIQUE' when b.id is null then 'NOT_FOUND'
      else 'INVALID_STATE_TRANSITION' end,
    case when i.nth > 1 then 'This batch is in the list already.'
      when b.id is null then 'There is no such batch.'
      else format('Batch %s is%s on hold.', b.number, case when held then ' already' else ' not' end) end,
    mutation.path('ids', i.n), case when i.nth = 1 and b.id is not null then
      jsonb_build_object('allowedActions', array[case when held then 'release' else 'hold' end])
    end) order by i.n)
  into errors
  from (
    select u.id, u.n, row_number() over (partition by u.id order by u.n) as nth
    from unnest(batch_ids) with ordinality u (id, n)
  ) i
  left join erp.batch b on b.id = i.id
  where i.nth > 1 or b.id is null
    or b.is_held = held and (not held or state is null or b.stock_state = state);
  perform mutation.refuse(errors);
  -- Others were missing before
  turned := array(
    select b.id from unnest(batch_ids) with ordinality i (id, n)
    left join erp.batch b on b.id = i.id and not (b.is_held or b.is_expired) order by i.n);
  update erp.batch b
  set stock_state = case when held then coalesce(state, 'quality_control') else 'sellable' end,
    hold_reason = reason
  where b.id = any (batch_ids);
  if held then
    perform ledger.warn_of_hold(turned);
  end if;
  return batch_ids;
end
$$;
comment on function erp.hold_batches(uuid[], boolean, text, text) is
  'Puts batches on hold, for a reason, or releases them. The state says why their units are not sold; '
  'quality_control if null. Batches on hold may get another state. Returns their ids. User errors REQUIRED, '
  'TOO_MANY_LINES, OUT_OF_RANGE, INVALID, NOT_UNIQUE, NOT_FOUND, INVALID_STATE_TRANSITION; warning '
  'STOCK_PROMISED.';
select api_meta.plan_by_index('erp.hold_batches(uuid[], boolean, text, text)');
grant execute on function erp.hold_batches(uuid[], boolean, text, text) to service_writer;
--! EndIncluded erp/hold_batches.sql
--! Included api/bin_location_payload.sql
drop type if exists api_unstable.bin_location_payload cascade;
create type api_unstable.bin_location_payload as (
  bin_location uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.bin_location_payload is 'The result of creating or changing a bin.';
comment on column api_unstable.bin_location_payload.bin_location is
  E'@entity BinLocation\nThe bin as it is now; null when it was refused.';
comment on column api_unstable.bin_location_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.bin_location_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
--! EndIncluded api/bin_location_payload.sql
--! Included api/bin_location_create.sql
drop type if exists api_unstable.bin_location_create_input cascade;
create type api_unstable.bin_location_create_input as (
  warehouse_id uuid, code text, position integer, stock_state api_unstable.stock_state
);
comment on type api_unstable.bin_location_create_input is 'A new bin.';
comment on column api_unstable.bin_location_create_input.warehouse_id is
  E'@notNull\n@gid Warehouse\nId of the warehouse that it is in.';
comment on column api_unstable.bin_location_create_input.code is
  E'@notNull\nLabel, unique in the warehouse; 1 to 100 characters.';
comment on column api_unstable.bin_location_create_input.position is
  'Place on the pick route; lower is visited first.';
comment on column api_unstable.bin_location_create_input.stock_state is
  'State of the units that are put in the bin. Sellable when left out.';

create function api_unstable.bin_location_create(input api_unstable.bin_location_create_input)
returns api_unstable.bin_location_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    erp.create_bin_location(input.warehouse_id, input.code, input.position, input.stock_state::text), null,
    null
  )::api_unstable.bin_location_payload
$$;
comment on function api_unstable.bin_location_create(api_unstable.bin_location_create_input) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE
Makes a bin in a warehouse.$$;
--! EndIncluded api/bin_location_create.sql
--! Included api/bin_location_update.sql
drop type if exists api_unstable.bin_location_update_input cascade;
create type api_unstable.bin_location_update_input as (
  id uuid, code text, position integer, stock_state api_unstable.stock_state
);
comment on type api_unstable.bin_location_update_input is
  'Changes of a bin. What is left out stays as it is. A bin stays in its warehouse.';
comment on column api_unstable.bin_location_update_input.id is E'@notNull\n@gid BinLocation\nId of the bin.';
comment on column api_unstable.bin_location_update_input.code is
  'Label, unique in the warehouse; 1 to 100 characters.';
comment on column api_unstable.bin_location_update_input.position is
  'Place on the pick route; lower is visited first. Null takes it off the route.';
comment on column api_unstable.bin_location_update_input.stock_state is
  'State of the units in the bin, also of those that are there already.';

create function api_unstable.bin_location_update(input api_unstable.bin_location_update_input, changes jsonb)
returns api_unstable.bin_location_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_bin_location(input.id, changes), null, null)::api_unstable.bin_location_payload
$$;
comment on function api_unstable.bin_location_update(api_unstable.bin_location_update_input, jsonb) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND REQUIRED NOT_UNIQUE INVALID OUT_OF_RANGE
@warnings STOCK_PROMISED
Changes a bin. If it is no longer sellable, its units are no longer available. The call succeeds even if
orders wait for the units, and then has the warning STOCK_PROMISED.$$;
--! EndIncluded api/bin_location_update.sql
--! Included api/product_warehouse_configuration_payload.sql
drop type if exists api_unstable.product_warehouse_configuration_payload cascade;
create type api_unstable.product_warehouse_configuration_payload
  as (product_warehouse_configuration uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.product_warehouse_configuration_payload is
  'The result of configuring a product in a warehouse.';
comment on column api_unstable.product_warehouse_configuration_payload.product_warehouse_configuration is
  E'@entity ProductWarehouseConfiguration\nThe settings as they are now; null when they were refused.';
comment on column api_unstable.product_warehouse_configuration_payload.user_errors is
  'Why nothing was changed; empty when it was.';
--! EndIncluded api/product_warehouse_configuration_payload.sql
--! Included api/product_warehouse_configuration_set.sql
drop type if exists api_unstable.product_warehouse_configuration_set_input cascade;
create type api_unstable.product_warehouse_configuration_set_input as (
  product_id uuid, warehouse_id uuid, default_bin_location_id uuid, reorder_point integer,
    target_maximum_quantity integer, safety_stock integer
);
comment on type api_unstable.product_warehouse_configuration_set_input is
  'How a product is kept in a warehouse. What is left out stays as it is; where there was nothing, it '
  'is empty, and the reorder point and the safety stock 0.';
comment on column api_unstable.product_warehouse_configuration_set_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.product_warehouse_configuration_set_input.warehouse_id is
  E'@notNull\n@gid Warehouse\nId of the warehouse.';
comment on column api_unstable.product_warehouse_configuration_set_input.default_bin_location_id is
  E'@gid BinLocation\n'
  'Id of the bin of this warehouse that the product is put in unless something else says otherwise; '
  'null for none.';
comment on column api_unstable.product_warehouse_configuration_set_input.reorder_point is
  'Stock in the warehouse at which it is to be refilled; not negative.';
comment on column api_unstable.product_warehouse_configuration_set_input.target_maximum_quantity is
  'Stock to fill up to; null for no such target.';
comment on column api_unstable.product_warehouse_configuration_set_input.safety_stock is
  'Units in the warehouse that are not offered for sale; 0 to 10,000,000.';

create function api_unstable.product_warehouse_configuration_set(
  input api_unstable.product_warehouse_configuration_set_input, changes jsonb
)
returns api_unstable.product_warehouse_configuration_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    erp.set_product_warehouse_configuration(input.product_id, input.warehouse_id, changes), null
  )::api_unstable.product_warehouse_configuration_payload
$$;
comment on function
  api_unstable.product_warehouse_configuration_set(
    api_unstable.product_warehouse_configuration_set_input, jsonb
  ) is
  E'@requiresScopes warehouses:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE\n'
  'Sets how a product is kept in a warehouse: its usual bin, when to refill, and what to keep back.';
--! EndIncluded api/product_warehouse_configuration_set.sql
--! Included api/fulfillment_create.sql
drop type if exists api_unstable.fulfillment_create_payload cascade;
create type api_unstable.fulfillment_create_payload as (
  fulfillment uuid, fulfillment_order uuid, stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_create_payload is 'The result of shipping from a fulfillment order.';
comment on column api_unstable.fulfillment_create_payload.fulfillment is
  E'@entity Fulfillment\nThe record of what was shipped; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.fulfillment_order is
  E'@entity FulfillmentOrder\nThe fulfillment order as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.stock_movements is
  E'@entity StockMovement\n'
  'The movements that took the units to the order: first those from places that were named, then those '
  'that were picked.';
comment on column api_unstable.fulfillment_create_payload.documents is
  E'@entity Document\n'
  'The documents that were created, in the order of the input.';
comment on column api_unstable.fulfillment_create_payload.user_errors is
  'Why nothing was shipped; empty when it was.';
comment on column api_unstable.fulfillment_create_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.fulfillment_create_input cascade;
drop type if exists api_unstable.fulfillment_create_line_input cascade;
drop type if exists api_unstable.fulfillment_create_place_input cascade;
create type api_unstable.fulfillment_create_place_input
  as (place api_unstable.stock_place_input, quantity integer, batch_id uuid);
comment on type api_unstable.fulfillment_create_place_input is 'Units that are taken from a place.';
comment on column api_unstable.fulfillment_create_place_input.place is
  E'@notNull\n'
  'The place of the units: the warehouse of the fulfillment order, or one of its bins.';
comment on column api_unstable.fulfillment_create_place_input.quantity is E'@notNull\nHow many; at least 1.';
comment on column api_unstable.fulfillment_create_place_input.batch_id is
  E'@gid Batch\n'
  'Id of the batch that the units belong to. Needed for products that are kept in batches. An expired batch '
  'is refused.';

create type api_unstable.fulfillment_create_line_input as (
  fulfillment_order_line_item_id uuid, quantity integer, places api_unstable.fulfillment_create_place_input[]
);
comment on type api_unstable.fulfillment_create_line_input is 'Units of one line that are shipped.';
comment on column api_unstable.fulfillment_create_line_input.fulfillment_order_line_item_id is
  E'@notNull\n@gid FulfillmentOrderLineItem\nId of the line of the fulfillment order.';
comment on column api_unstable.fulfillment_create_line_input.quantity is
  E'@notNull\nHow many; at least 1, and no more than are open.';
comment on column api_unstable.fulfillment_create_line_input.places is
  'Places that the units are taken from; together they have the whole quantity. By default the service '
  'picks in the pick order of the product. Then it leaves out batches that are on hold, have expired or are '
  'short of the promised shelf life.';

create type api_unstable.fulfillment_create_input as (
  fulfillment_order_id uuid, lines api_unstable.fulfillment_create_line_input[], tracking_codes text[],
    documents text[], comment text
);
comment on type api_unstable.fulfillment_create_input is 'The lines of a fulfillment order that are shipped.';
comment on column api_unstable.fulfillment_create_input.fulfillment_order_id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';
comment on column api_unstable.fulfillment_create_input.lines is
  '1 to 250 lines, each of another line of the fulfillment order. Left out, all that is open is shipped.';
comment on column api_unstable.fulfillment_create_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.fulfillment_create_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice '
  'over all that was shipped of the order and that no other invoice charges. Others, and what was shipped '
  'without, are made by documentCreate.';
comment on column api_unstable.fulfillment_create_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.fulfillment_create(input api_unstable.fulfillment_create_input)
returns api_unstable.fulfillment_create_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders[1], s.stock_movements,
    erp.create_documents(s.order_id, input.documents, s.fulfillments[1]),
    null, null)::api_unstable.fulfillment_create_payload
  from erp.create_fulfillment(
    input.fulfillment_order_id,
    case when input.lines is not null then array(
      select row (l.fulfillment_order_line_item_id, l.quantity)::erp.shipping_line
      from unnest(input.lines) with ordinality l
      order by l.ordinality
    ) end,
    array(
      select row (
        l.ordinality, p.ordinality, (p.place).warehouse_id, (p.place).bin_location_id, p.quantity, p.batch_id
      )::erp.shipping_place
      from unnest(input.lines) with ordinality l
      cross join unnest(l.places) with ordinality p
      order by l.ordinality, p.ordinality
    ),
    input.tracking_codes, input.comment, input.documents
  ) s
$$;
comment on function api_unstable.fulfillment_create(api_unstable.fulfillment_create_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED ON_HOLD INVALID_STATE_TRANSITION OVER_FULFILLMENT '
  'INSUFFICIENT_STOCK REQUIRED INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES BATCH_MISMATCH BATCH_HELD '
  'BIN_NOT_SELLABLE BATCH_EXPIRED BATCH_REQUIRED\n'
  '@warnings DOCUMENT_INCOMPLETE DOCUMENT_NOT_MADE\n'
  'Ships a part of a fulfillment order, or all that is open of it. Books the units out by the process '
  'api_shipping and records the fulfillment. The fulfillment order is in progress then, and closed when '
  'nothing is open any more; the states of the order follow.';
--! EndIncluded api/fulfillment_create.sql
--! Included api/batch_hold.sql
drop type if exists api_unstable.batch_hold_payload cascade;
create type api_unstable.batch_hold_payload as (
  batches uuid[], user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.batch_hold_payload is
  'The result of putting batches on hold, or of releasing them.';
comment on column api_unstable.batch_hold_payload.batches is
  E'@entity Batch\n@perLine ids\nThe batches as they are now, in the order of the input; empty when refused.';
comment on column api_unstable.batch_hold_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.batch_hold_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.batch_hold_input cascade;
create type api_unstable.batch_hold_input as (
  ids uuid[], reason text, stock_state api_unstable.stock_state
);
comment on type api_unstable.batch_hold_input is 'Batches to put on hold.';
comment on column api_unstable.batch_hold_input.ids is
  E'@notNull\n@gid Batch\nIds of the batches; 1 to 250. They may belong to several products.';
comment on column api_unstable.batch_hold_input.reason is
  'Why they have to wait, in at most 1,000 characters. Kept until the hold is released.';
comment on column api_unstable.batch_hold_input.stock_state is
  'Why the units are not sold: quality control when left out, or damaged. A batch that is on hold may get '
  'another state.';

create function api_unstable.batch_hold(input api_unstable.batch_hold_input)
returns api_unstable.batch_hold_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.hold_batches(
    input.ids, true, input.reason, input.stock_state::text
  ), null, null)::api_unstable.batch_hold_payload
$$;
comment on function api_unstable.batch_hold(api_unstable.batch_hold_input) is
  E'@requiresScopes batches:write\n'
  '@userErrors NOT_FOUND REQUIRED NOT_UNIQUE INVALID INVALID_STATE_TRANSITION OUT_OF_RANGE '
  'TOO_MANY_LINES\n'
  '@warnings STOCK_PROMISED\n'
  'Puts batches on hold: all of them, or none. Their units are no longer available, and no shipment takes '
  'them. They can still be counted, moved by name and disposed of. The call succeeds even if orders wait '
  'for the units, and then has the warning STOCK_PROMISED.';
--! EndIncluded api/batch_hold.sql
--! Included api/batch_release.sql
drop type if exists api_unstable.batch_release_input cascade;
create type api_unstable.batch_release_input as (ids uuid[]);
comment on type api_unstable.batch_release_input is 'Batches to release from their hold.';
comment on column api_unstable.batch_release_input.ids is
  E'@notNull\n@gid Batch\nIds of the batches; 1 to 250. They may belong to several products.';

create function api_unstable.batch_release(input api_unstable.batch_release_input)
returns api_unstable.batch_hold_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.hold_batches(input.ids, false), null, null)::api_unstable.batch_hold_payload
$$;
comment on function api_unstable.batch_release(api_unstable.batch_release_input) is
  E'@requiresScopes batches:write\n'
  '@userErrors NOT_FOUND REQUIRED NOT_UNIQUE INVALID_STATE_TRANSITION TOO_MANY_LINES\n'
  'Releases batches from their hold: all of them, or none. Their units are available again where the '
  'warehouse sells its stock.';
--! EndIncluded api/batch_release.sql

--! split: 100-returns.sql
-- Returns: what customers send back, line by line

drop view if exists ledger.proof;
drop view if exists erp.return_proof;
drop view if exists api_unstable.return_orders, api_unstable.return_order_line_items,
  api_unstable.return_order_documents, api_unstable.return_reasons cascade;
drop view if exists api_unstable.stock_movements, api_unstable.stocks, api_unstable.goods_receipt_line_items
  cascade;
drop trigger if exists keep_figures_of_returns on erp.return_order;
drop trigger if exists keep_figures_of_returns on erp.goods_receipt;
drop trigger if exists keep_figures_of_returns_insert on erp.goods_receipt_line_item;
drop trigger if exists keep_figures_of_returns_update on erp.goods_receipt_line_item;
drop trigger if exists keep_figures_of_returns_delete on erp.goods_receipt_line_item;
drop trigger if exists fill_return_line on erp.goods_receipt_line_item;
drop trigger if exists touch_updated_at on erp.return_order;
alter table erp.goods_receipt_line_item drop column if exists return_order_line_item_id cascade,
  drop column if exists quarantined_quantity cascade, drop column if exists disposed_quantity cascade;
drop table if exists erp.return_order_document, erp.return_order_charge, erp.return_order_line_item,
  erp.return_reason cascade;
alter table erp.return_order drop constraint if exists return_order_state_length;
drop index if exists erp.return_order_state_id_idx;
alter table erp.return_order drop column if exists reference cascade, drop column if exists comment cascade,
  drop column if exists withdrawal_date cascade, drop column if exists requested_at cascade,
  drop column if exists closed_at cascade, drop column if exists refusal_reason cascade,
  drop column if exists replacement_order_id cascade, drop column if exists refund_amount cascade,
  drop column if exists refunded_at cascade, drop column if exists updated_at cascade;
alter table erp.sales_order_line_item drop column if exists returned_quantity cascade;
drop type if exists erp.return_order_line cascade;
drop type if exists erp.refund_line cascade;
drop type if exists erp.refunded_line cascade;

-- Reasons
create table erp.return_reason (
  code text collate "C" primary key
    constraint return_reason_is_a_machine_name check (code ~ '^[a-z][a-z0-9_]{0,62}$'),
  description text not null constraint return_reason_description_length check (length(description) <= 255),
  is_active boolean not null default true
);
alter table erp.return_reason enable row level security;
comment on table erp.return_reason is
  'Reasons for which customers send goods back. The merchant changes the list in SQL; a reason that is no '
  'longer wanted becomes inactive.';
comment on column erp.return_reason.code is 'The reason, as lines of returns name it.';
comment on column erp.return_reason.description is 'Meaning of the reason, for people.';
comment on column erp.return_reason.is_active is 'Whether new lines may give it.';
insert into erp.return_reason (code, description) values
  ('changed_mind', 'The customer no longer wants the goods.'),
  ('withdrawal', 'A consumer has withdrawn from the contract.'),
  ('does_not_fit', 'The goods do not fit, or look different.'),
  ('wrong_item', 'The shop sent something else than was ordered.'),
  ('damaged', 'The goods arrived damaged.'),
  ('defective', 'The goods do not work.'),
  ('too_late', 'The goods arrived too late.'),
  ('undeliverable', 'The carrier could not deliver the parcel.');
select api_meta.allow('service_writer', 'erp.return_reason', 'select');

-- The return as a whole
alter table erp.return_order add column reference text collate "C";
alter table erp.return_order add column comment text collate "C";
alter table erp.return_order add column withdrawal_date date;
alter table erp.return_order add column requested_at timestamptz(0) not null
  default date_trunc('second', now());
alter table erp.return_order add column closed_at timestamptz(0);
alter table erp.return_order add column refusal_reason text collate "C";
alter table erp.return_order add column replacement_order_id uuid;
alter table erp.return_order add column refund_amount numeric not null default 0;
alter table erp.return_order add column refunded_at timestamptz(0);
alter table erp.return_order add column updated_at timestamptz(0);
alter table erp.return_order add constraint return_order_reference_length
  check (length(reference) <= 255) not valid;
alter table erp.return_order add constraint return_order_comment_length
  check (length(comment) <= 1000) not valid;
alter table erp.return_order add constraint return_order_refusal_reason_length
  check (length(refusal_reason) <= 1000) not valid;
alter table erp.return_order add constraint return_order_state_length check (length(state) <= 63) not valid;
alter table erp.return_order add constraint return_order_refund_is_not_negative
  check (refund_amount >= 0) not valid;
alter table erp.return_order add constraint return_order_is_not_replaced_by_its_order
  check (replacement_order_id <> order_id) not valid;
alter table erp.return_order add constraint return_order_replacement_order_id_fkey
  foreign key (replacement_order_id) references erp.sales_order on delete set null not valid;
-- waive index-blocks-writes: only SQL has made returns so far
create index return_order_replacement_order_id_idx on erp.return_order (replacement_order_id)
  where replacement_order_id is not null;
-- waive index-blocks-writes: only SQL has made returns so far
create index return_order_state_id_idx on erp.return_order (state, id);
-- waive index-blocks-writes: only SQL has made returns so far
create index return_order_requested_at_id_idx on erp.return_order (requested_at, id);
-- waive index-blocks-writes: only SQL has made returns so far
create index return_order_withdrawal_date_id_idx on erp.return_order (withdrawal_date, id)
  where withdrawal_date is not null;
-- waive index-blocks-writes: only SQL has made returns so far
create index return_order_reference_idx on erp.return_order (reference) where reference is not null;
comment on table erp.return_order is 'Goods that a customer sends back, or wants to.';
comment on column erp.return_order.number is 'Number of the return.';
comment on column erp.return_order.state is
  'Progress of the return: requested, approved, received_partially, received, closed, refused or cancelled. '
  'Returns that were made in SQL may be open, which is like approved.';
comment on column erp.return_order.order_id is
  'Order that the goods were shipped for; null while nobody knows it.';
comment on column erp.return_order.customer_id is 'Customer who sends the goods back.';
comment on column erp.return_order.reference is
  'Reference of the return in another system, such as the shop''s or the carrier''s.';
comment on column erp.return_order.comment is 'Free note.';
comment on column erp.return_order.withdrawal_date is
  'Day on which a consumer declared the withdrawal from the contract.';
comment on column erp.return_order.requested_at is 'When the customer made the request.';
comment on column erp.return_order.closed_at is 'When it was closed; null while it is not.';
comment on column erp.return_order.refusal_reason is 'Why it was refused; null when it was not.';
comment on column erp.return_order.replacement_order_id is 'Order that replaces the goods.';
comment on column erp.return_order.refund_amount is
  'Amount with tax that the customer gets back, in the currency of the order: for lines, and for other '
  'charges such as shipping. It is recorded here, and paid elsewhere.';
comment on column erp.return_order.refunded_at is 'When a refund was recorded last; null when none was.';
comment on column erp.return_order.created_at is 'When the return was recorded.';
comment on column erp.return_order.updated_at is 'When the return was last changed.';
comment on constraint return_order_reference_length on erp.return_order is
  E'@userError OUT_OF_RANGE reference\nThe text has more than 255 characters.';
comment on constraint return_order_comment_length on erp.return_order is
  E'@userError OUT_OF_RANGE comment\nThe text has more than 1,000 characters.';
comment on constraint return_order_refusal_reason_length on erp.return_order is
  E'@userError OUT_OF_RANGE refusal_reason\nThe text has more than 1,000 characters.';
comment on constraint return_order_state_length on erp.return_order is
  '@internal States are those of erp.state_transition.';
comment on constraint return_order_refund_is_not_negative on erp.return_order is
  '@internal erp.refund_return adds amounts above 0.';
comment on constraint return_order_is_not_replaced_by_its_order on erp.return_order is
  E'@userError INVALID replacement_order_id\nAn order does not replace its own goods.';
comment on constraint return_order_number_key on erp.return_order is
  '@internal next_number() gives each number once';
create trigger touch_updated_at before update on erp.return_order
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.return_order', 'select', 'insert', 'update (
  state, order_id, customer_id, reference, comment, withdrawal_date, closed_at, refusal_reason,
  replacement_order_id, refund_amount, refunded_at)');
select api_meta.allow('service_ledger', 'erp.return_order', 'select', 'update (state)');

-- Its lines
create table erp.return_order_line_item (
  id uuid primary key default uuidv7(),
  return_order_id uuid not null references erp.return_order on delete cascade,
  fulfillment_line_item_id uuid references erp.fulfillment_line_item on delete set null,
  order_line_item_id uuid references erp.sales_order_line_item on delete set null,
  product_id uuid references erp.product on delete set null,
  batch_id uuid,
  quantity integer not null constraint return_order_line_item_quantity_is_positive check (quantity > 0),
  reason text collate "C" references erp.return_reason on update cascade,
  wanted_outcome text collate "C" constraint return_order_line_item_outcome_is_known
    check (wanted_outcome in ('refund', 'replacement', 'repair', 'credit')),
  received_quantity integer not null default 0,
  restocked_quantity integer not null default 0,
  quarantined_quantity integer not null default 0,
  disposed_quantity integer not null default 0,
  missing_quantity integer not null default 0,
  refunded_quantity integer not null default 0,
  refund_amount numeric not null default 0,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint return_order_line_item_batch_is_of_the_product
    foreign key (product_id, batch_id) references erp.batch (product_id, id) on delete set null (batch_id),
  constraint return_order_line_item_arrives_before_it_is_put_away
    check (restocked_quantity + quarantined_quantity + disposed_quantity <= received_quantity),
  constraint return_order_line_item_refund_is_in_range check (
    refund_amount >= 0 and refunded_quantity between 0 and greatest(quantity, received_quantity))
);
create index on erp.return_order_line_item (return_order_id, id);
create index on erp.return_order_line_item (fulfillment_line_item_id)
  where fulfillment_line_item_id is not null;
create index on erp.return_order_line_item (order_line_item_id, id);
create index on erp.return_order_line_item (product_id, id);
create index on erp.return_order_line_item (batch_id, id) where batch_id is not null;
create index on erp.return_order_line_item (product_id, batch_id);
create index on erp.return_order_line_item (reason, id) where reason is not null;
alter table erp.return_order_line_item enable row level security;
comment on table erp.return_order_line_item is
  'A line of a return: units of a product that come back, and what became of them.';
comment on column erp.return_order_line_item.return_order_id is 'The return.';
comment on column erp.return_order_line_item.fulfillment_line_item_id is
  'Line of the fulfillment that shipped the units; null when only the order is known, or nothing.';
comment on column erp.return_order_line_item.order_line_item_id is
  'Line of the order that the units were shipped for; null while nobody knows it.';
comment on column erp.return_order_line_item.product_id is 'Product that comes back.';
comment on column erp.return_order_line_item.batch_id is
  'Batch that comes back, or serial number; null when nobody has announced it.';
comment on column erp.return_order_line_item.quantity is 'Units that were announced.';
comment on column erp.return_order_line_item.reason is
  'Why they come back: a code of the reasons of returns.';
comment on column erp.return_order_line_item.wanted_outcome is
  'The customer''s wish: refund, replacement, repair or credit.';
comment on column erp.return_order_line_item.received_quantity is
  'Units that arrived, by approved goods receipts.';
comment on column erp.return_order_line_item.restocked_quantity is
  'Units that completed goods receipts have put where they can be sold.';
comment on column erp.return_order_line_item.quarantined_quantity is
  'Units that completed goods receipts have put where they wait for a decision. Later movements of the '
  'stock do not change it.';
comment on column erp.return_order_line_item.disposed_quantity is
  'Units that completed goods receipts have thrown away.';
comment on column erp.return_order_line_item.missing_quantity is
  'Units that had not arrived when the return was closed.';
comment on column erp.return_order_line_item.refunded_quantity is 'Units that refunds are for.';
comment on column erp.return_order_line_item.refund_amount is
  'Amount with tax that the customer gets back for the line, in the currency of the order.';
comment on column erp.return_order_line_item.created_at is 'When the line was recorded.';
comment on column erp.return_order_line_item.updated_at is 'When the line was last changed.';
comment on constraint return_order_line_item_quantity_is_positive on erp.return_order_line_item is
  '@internal erp.resolve_return_lines refuses such lines.';
comment on constraint return_order_line_item_outcome_is_known on erp.return_order_line_item is
  E'@userError INVALID wanted_outcome\nThe customer can want refund, replacement, repair or credit.';
comment on constraint return_order_line_item_reason_fkey on erp.return_order_line_item is
  '@internal erp.resolve_return_lines refuses unknown reasons.';
comment on constraint return_order_line_item_batch_is_of_the_product on erp.return_order_line_item is
  '@internal erp.resolve_return_lines refuses batches of other products.';
comment on constraint return_order_line_item_arrives_before_it_is_put_away on erp.return_order_line_item is
  '@internal The figures follow from goods receipts.';
comment on constraint return_order_line_item_refund_is_in_range on erp.return_order_line_item is
  E'@userError OUT_OF_RANGE quantity\nMore units of a line would be refunded than come back.';
create trigger touch_updated_at before update on erp.return_order_line_item
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.return_order_line_item', 'select', 'insert', 'update (
  fulfillment_line_item_id, order_line_item_id, product_id, batch_id, quantity, reason, wanted_outcome,
  refunded_quantity, refund_amount)', 'delete');
select api_meta.allow('service_ledger', 'erp.return_order_line_item', 'select', 'update (
  received_quantity, restocked_quantity, quarantined_quantity, disposed_quantity, missing_quantity)');

-- What else is refunded, and the credit notes
create table erp.return_order_charge (
  return_order_id uuid not null references erp.return_order on delete cascade,
  order_line_item_id uuid not null references erp.sales_order_line_item on delete cascade,
  refund_amount numeric not null constraint return_order_charge_is_positive check (refund_amount > 0),
  primary key (return_order_id, order_line_item_id)
);
create index on erp.return_order_charge (order_line_item_id);
alter table erp.return_order_charge enable row level security;
comment on table erp.return_order_charge is
  'Refunds of lines that are no products, such as the costs of shipping.';
comment on column erp.return_order_charge.return_order_id is 'The return.';
comment on column erp.return_order_charge.order_line_item_id is 'Line of the order that charged it.';
comment on column erp.return_order_charge.refund_amount is 'Amount with tax, in the currency of the order.';
comment on constraint return_order_charge_is_positive on erp.return_order_charge is
  '@internal erp.refund_return refuses such amounts.';
select api_meta.allow('service_writer', 'erp.return_order_charge', 'select', 'insert',
  'update (refund_amount)');

create table erp.return_order_document (
  return_order_id uuid not null references erp.return_order on delete cascade,
  document_id uuid not null references erp.document on delete cascade,
  primary key (return_order_id, document_id)
);
create index on erp.return_order_document (document_id);
alter table erp.return_order_document enable row level security;
comment on table erp.return_order_document is 'Credit notes, and the returns that they belong to.';
comment on column erp.return_order_document.return_order_id is 'The return.';
comment on column erp.return_order_document.document_id is 'The credit note.';
comment on constraint return_order_document_document_id_fkey on erp.return_order_document is
  '@internal erp.refund_return names credit notes that it has just made.';
select api_meta.allow('service_writer', 'erp.return_order_document', 'select', 'insert');

-- Lines of orders know how much of them comes back
alter table erp.sales_order_line_item add column returned_quantity integer not null default 0;
alter table erp.sales_order_line_item add constraint order_line_item_returns_no_more_than_shipped
  check (returned_quantity between 0 and shipped_quantity) not enforced;
comment on column erp.sales_order_line_item.returned_quantity is
  'Units that returns claim: announced ones until the return is closed, and those that arrived. Follows '
  'from the lines of returns.';
comment on constraint order_line_item_returns_no_more_than_shipped on erp.sales_order_line_item is
  E'@userError EXCEEDS_SHIPPED\nMore of a line would come back than was shipped.';
select api_meta.allow('service_ledger', 'erp.sales_order_line_item',
  'select', 'update (shipped_quantity, invoiced_quantity, returned_quantity)');
select api_meta.allow('service_ledger', 'erp.sales_order', 'select', 'update (
  amount_net, amount_total, tracking_codes, entered_tracking_codes, delivery_state)');
select api_meta.allow('service_ledger', 'erp.goods_receipt_line_item', 'select');
select api_meta.allow('service_ledger', 'erp.goods_receipt', 'select');

-- Lines of goods receipts name the line of a return, and keep what became of their units
alter table erp.goods_receipt_line_item add column return_order_line_item_id uuid;
alter table erp.goods_receipt_line_item add column quarantined_quantity integer not null default 0;
alter table erp.goods_receipt_line_item add column disposed_quantity integer not null default 0;
alter table erp.goods_receipt_line_item add constraint goods_receipt_line_item_return_order_line_item_id_fkey
  foreign key (return_order_line_item_id) references erp.return_order_line_item on delete set null not valid;
alter table erp.goods_receipt_line_item add constraint goods_receipt_line_item_has_what_it_lost
  check (quarantined_quantity >= 0 and disposed_quantity >= 0
    and quarantined_quantity + disposed_quantity <= greatest(quantity, 0)) not valid;
-- waive index-blocks-writes: receipts are written rarely, and no row is in the index yet
create index goods_receipt_line_item_return_order_line_item_id_idx
  on erp.goods_receipt_line_item (return_order_line_item_id, id) where return_order_line_item_id is not null;
comment on column erp.goods_receipt_line_item.return_order_line_item_id is
  'Line of the return whose units arrive; on receipts of type Customer.';
comment on column erp.goods_receipt_line_item.quarantined_quantity is
  'Units of a return that were put where they wait for a decision, when the receipt was completed.';
comment on column erp.goods_receipt_line_item.disposed_quantity is
  'Units of a return that were thrown away when the receipt was completed.';
comment on constraint goods_receipt_line_item_has_what_it_lost on erp.goods_receipt_line_item is
  '@internal erp.complete_goods_receipt checks it.';
select api_meta.allow('service_writer', 'erp.goods_receipt_line_item',
  'select', 'insert', 'update (
    product_id, batch_id, return_order_id, return_order_line_item_id, supplier_order_id,
    supplier_order_line_item_id, destination_bin_location_id, quantity, planned_disposal_quantity,
    quarantined_quantity, disposed_quantity, unit_price, unit_price_in_default_currency, tax_rate)',
  'delete');

-- Types of the functions
-- Frozen versions make values of the types goods_receipt_line and placement, so these keep their attributes
comment on type erp.goods_receipt_line is
  'A line of a goods receipt as it is to be; with the id of one that is there, or without. The return may be '
  'given by its line: return_order_id is the id of either.';

create type erp.return_order_line as (
  id uuid, fulfillment_line_item_id uuid, order_line_item_id uuid, product_id uuid, batch_id uuid,
  quantity integer, reason text, wanted_outcome text
);
comment on type erp.return_order_line is
  'A line of a return as it is to be; with the id of one that is there, or without.';
create type erp.refund_line as (return_order_line_item_id uuid, quantity integer, amount numeric);
comment on type erp.refund_line is
  'A wish to refund a line of a return: units, an amount with tax, or both.';
create type erp.refunded_line as (
  n bigint, return_order_line_item_id uuid, order_line_item_id uuid, quantity integer, amount numeric,
  is_given boolean
);
comment on type erp.refunded_line is
  'A refund of a line of a return, or of another line of its order: units and an amount with tax. '
  'is_given says that the caller named the amount.';

-- States
alter table erp.state_transition drop constraint state_transition_machine_is_known;
alter table erp.state_transition add constraint state_transition_machine_is_known
  check (machine in ('goods_receipt', 'order', 'order_delivery', 'fulfillment_order', 'fulfillment',
    'supplier_order', 'quote', 'shipping_label', 'return_order', 'stocktake')) not valid;
delete from erp.state_transition t where t.machine = 'return_order'
  or t.machine = 'order_delivery'
    and t.action in ('return', 'return_partially', 'unreturn', 'unreturn_partially')
  or t.machine = 'order_delivery' and 'returned_partially' in (t.from_state, t.to_state)
  or t.machine = 'order' and t.action = 'return';
insert into erp.state_transition (machine, action, from_state, to_state, mutation)
select m.machine, m.action, f.from_state, coalesce(m.to_state, f.from_state), m.mutation
from (values
  ('return_order', 'approve', '{requested,open}'::text[], 'approved', 'return_order_approve'),
  ('return_order', 'refuse', '{requested,open,approved}', 'refused', 'return_order_refuse'),
  ('return_order', 'cancel', '{requested,open,approved}', 'cancelled', 'return_order_cancel'),
  ('return_order', 'receive_partially', '{requested,open,approved,received,received_partially,closed}',
    'received_partially', 'goods_receipt_approve'),
  ('return_order', 'receive', '{requested,open,approved,received_partially,received,closed}', 'received',
    'goods_receipt_approve'),
  ('return_order', 'take_back', '{received,received_partially}', 'approved', null),
  ('return_order', 'close', '{open,approved,received_partially,received}', 'closed', 'return_order_close'),
  ('return_order', 'refund', '{open,approved,received_partially,received,closed}', null,
    'return_order_refund'),
  ('return_order', 'update', '{requested,open,approved,received_partially,received}', null,
    'return_order_update'),
  ('order_delivery', 'return_partially', '{shipped,shipped_partially,returned_partially,returned}',
    'returned_partially', 'goods_receipt_approve'),
  ('order_delivery', 'return', '{shipped,shipped_partially,returned_partially,returned}', 'returned',
    'goods_receipt_approve'),
  ('order_delivery', 'unreturn', '{returned_partially,returned}', 'shipped', null),
  ('order_delivery', 'unreturn_partially', '{returned_partially,returned}', 'shipped_partially', null),
  ('order_delivery', 'ship', '{returned_partially,returned}', 'returned_partially',
    'order_shipment_complete'),
  ('order_delivery', 'ship_partially', '{returned_partially,returned}', 'returned_partially',
    'fulfillment_create'),
  ('order_delivery', 'unship_partially', '{returned_partially}', 'returned_partially', null),
  ('order', 'return', '{in_progress,completed}', null, 'return_order_create')
) m (machine, action, from_states, to_state, mutation)
cross join lateral unnest(m.from_states) f (from_state);

grant execute on function erp.next_state(text, text, text), erp.is_all_shipped(uuid), erp.has_open_lines(uuid)
  to service_ledger;
--! Included erp/follow_returns.sql
create or replace function erp.claimed_units(state text, quantity integer, received integer) returns integer
language sql immutable parallel safe
return case when state in ('refused', 'cancelled', 'closed') then received
  else greatest(quantity, received) end;
comment on function erp.claimed_units(text, integer, integer) is
  'Returns how many units of what was shipped a line of a return claims, in a state of the return: those '
  'that were announced or arrived. After its end, only those that arrived.';
grant execute on function erp.claimed_units(text, integer, integer) to service_ledger, service_writer;

create or replace function erp.arrived_units(return_order_line_item_id uuid) returns table (
  received integer, restocked integer, quarantined integer, disposed integer
)
language sql stable
begin atomic
  -- A negative line takes units back when its receipt is completed
  select coalesce(sum(l.quantity) filter (where l.quantity > 0 or r.state = 'completed'), 0)::integer,
    coalesce(sum(l.quantity - l.quarantined_quantity - l.disposed_quantity)
      filter (where r.state = 'completed'), 0)::integer,
    coalesce(sum(l.quarantined_quantity) filter (where r.state = 'completed'), 0)::integer,
    coalesce(sum(l.disposed_quantity) filter (where r.state = 'completed'), 0)::integer
  from erp.goods_receipt_line_item l join erp.goods_receipt r on r.id = l.goods_receipt_id
  where l.return_order_line_item_id = arrived_units.return_order_line_item_id
    and r.state in ('approved', 'in_progress', 'completed');
end;
comment on function erp.arrived_units(uuid) is
  'Returns what goods receipts say about a line of a return: units that arrived by approved receipts, and '
  'what completed receipts did with them.';
grant execute on function erp.arrived_units(uuid) to service_ledger;

create or replace function erp.follow_arrivals(lines uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update erp.return_order_line_item i
  set received_quantity = f.received, restocked_quantity = f.restocked,
    quarantined_quantity = f.quarantined, disposed_quantity = f.disposed, missing_quantity = f.missing
  from (
    select l.id, a.*,
      case when o.state = 'closed' then greatest(l.quantity - a.received, 0) else 0 end as missing
    from erp.return_order_line_item l join erp.return_order o on o.id = l.return_order_id
    cross join lateral erp.arrived_units(l.id) a
    where l.id = any (lines)
  ) f
  where i.id = f.id and (i.received_quantity, i.restocked_quantity, i.quarantined_quantity,
    i.disposed_quantity, i.missing_quantity)
    is distinct from (f.received, f.restocked, f.quarantined, f.disposed, f.missing);

  update erp.return_order o
  set state = erp.next_state('return_order', case s.wanted when 'received' then 'receive'
    when 'received_partially' then 'receive_partially' else 'take_back' end, o.state)
  from (
    select r.id, case
      when max(l.received_quantity) <= 0 then case
        when r.state in ('received', 'received_partially') then 'approved' else r.state end
      when bool_and(l.received_quantity >= l.quantity) then 'received'
      else 'received_partially' end as wanted
    from erp.return_order r join erp.return_order_line_item l on l.return_order_id = r.id
    where r.id in (select x.return_order_id from erp.return_order_line_item x where x.id = any (lines))
      and r.state in ('requested', 'open', 'approved', 'received_partially', 'received')
    group by r.id
  ) s
  where o.id = s.id and o.state <> s.wanted;
end
$$;
comment on function erp.follow_arrivals(uuid[]) is
  'Updates lines of returns, and the states of the returns, to what goods receipts say. A closed, refused '
  'or cancelled return keeps its state.';
select api_meta.plan_by_index('erp.follow_arrivals(uuid[])');
grant execute on function erp.follow_arrivals(uuid[]) to service_ledger;

create or replace function erp.follow_claims(order_lines uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  orders uuid[];
  present erp.sales_order;
  wanted text;
begin
  update erp.sales_order_line_item l set returned_quantity = f.quantity
  from (
    select i.id, coalesce((
      select sum(erp.claimed_units(o.state, r.quantity, r.received_quantity))
      from erp.return_order_line_item r join erp.return_order o on o.id = r.return_order_id
      where r.order_line_item_id = i.id), 0)::integer as quantity
    from unnest(order_lines) i (id)
  ) f
  where l.id = f.id and l.returned_quantity <> f.quantity;

  orders := array(
    select distinct l.order_id from erp.sales_order_line_item l where l.id = any (order_lines) order by 1);
  for present in select o.* from erp.sales_order o where o.id = any (orders) order by o.id loop
    wanted := erp.state_after_returns(present);
    if wanted is distinct from present.delivery_state then
      update erp.sales_order o set delivery_state = wanted where o.id = present.id;
    end if;
  end loop;
end
$$;
comment on function erp.follow_claims(uuid[]) is
  'Updates what returns claim of lines of orders, and the delivery states of these orders, whose locks have '
  'been taken. The constraint order_line_item_returns_no_more_than_shipped refuses more than was shipped.';
select api_meta.plan_by_index('erp.follow_claims(uuid[])');
grant execute on function erp.follow_claims(uuid[]) to service_ledger;

create or replace function erp.state_after_returns(present erp.sales_order) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_all_shipped constant boolean := erp.is_all_shipped(present.id);
  shipped integer;
  received integer;
  from_state text := present.delivery_state;
begin
  select coalesce(sum(l.shipped_quantity), 0), coalesce(sum((
    select sum(r.received_quantity) from erp.return_order_line_item r where r.order_line_item_id = l.id)), 0)
  into shipped, received
  from erp.sales_order_line_item l where l.order_id = present.id and l.type = 'product';
  if present.state = 'cancelled' or from_state = 'cancelled' then
    return from_state;
  elsif received <= 0 then
    return case when from_state in ('returned', 'returned_partially') then erp.next_state('order_delivery',
      -- A reopened order waits for more to be shipped
      case when is_all_shipped and present.state <> 'in_progress' then 'unreturn'
        else 'unreturn_partially' end, from_state)
      else from_state end;
  elsif coalesce(from_state, 'open') = 'open' then
    -- Shipped by a program that sets no delivery state
    from_state := case when is_all_shipped then 'shipped' else 'shipped_partially' end;
  end if;
  return erp.next_state('order_delivery', case when is_all_shipped and received >= shipped then 'return'
    else 'return_partially' end, from_state);
end
$$;
comment on function erp.state_after_returns(erp.sales_order) is
  'Returns the delivery state that an order has after returns: returned when all of it was shipped and came '
  'back, returned_partially when units came back. A cancelled order keeps its state.';
select api_meta.plan_by_index('erp.state_after_returns(erp.sales_order)');
grant execute on function erp.state_after_returns(erp.sales_order) to service_ledger, service_writer;

create or replace function erp.follow_returns(lines uuid[], order_lines uuid[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  claimed constant uuid[] := array(
    select l.order_line_item_id from erp.return_order_line_item l
    where l.id = any (lines) and l.order_line_item_id is not null
    union select i from unnest(order_lines) i where i is not null);
  shipment text;
begin
  perform ledger.lock_orders(array(
    select distinct l.order_id from erp.sales_order_line_item l where l.id = any (claimed)));
  perform from erp.return_order o where o.id in (
    select l.return_order_id from erp.return_order_line_item l where l.id = any (lines)
  ) order by o.id for no key update;
  perform erp.follow_arrivals(lines);
  select f.number into shipment
  from erp.fulfillment_line_item i join erp.fulfillment f on f.id = i.fulfillment_id
  join erp.return_order_line_item l on l.fulfillment_line_item_id = i.id
  join erp.return_order o on o.id = l.return_order_id
  where i.id in (
    select x.fulfillment_line_item_id from erp.return_order_line_item x where x.id = any (lines))
  group by i.id, f.id
  having sum(erp.claimed_units(o.state, l.quantity, l.received_quantity))
    > case f.state when 'Cancelled' then 0 else i.quantity end
  limit 1;
  if found then
    perform mutation.refuse('EXCEEDS_SHIPPED',
      format('More of fulfillment %s would come back than it shipped.', shipment), null,
      jsonb_build_object('fulfillmentNumber', shipment));
  end if;
  perform erp.follow_claims(claimed);
end
$$;
comment on function erp.follow_returns(uuid[], uuid[]) is
  'Updates all that follows from lines of returns. These are their figures and states, their claims of lines '
  'of orders, also of the given ones, and the delivery states of orders. Takes the locks of the orders, then '
  'the locks of the returns. User error EXCEEDS_SHIPPED.';
select api_meta.plan_by_index('erp.follow_returns(uuid[], uuid[])');
select api_meta.give('erp.follow_returns(uuid[], uuid[])', 'service_ledger');
grant execute on function erp.follow_returns(uuid[], uuid[]) to service_writer;
--! EndIncluded erp/follow_returns.sql
--! Included erp/keep_returns.sql
create or replace function erp.keep_returns() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lines uuid[] := '{}';
  order_lines uuid[] := '{}';
begin
  if tg_op = 'INSERT' then
    lines := array(select n.id from new_rows n);
  elsif tg_op = 'DELETE' then
    order_lines := array(select distinct o.order_line_item_id from old_rows o);
  else
    select coalesce(array_agg(n.id), '{}'), coalesce(array_agg(o.order_line_item_id), '{}')
    into lines, order_lines
    from new_rows n join old_rows o on o.id = n.id
    where (n.return_order_id, n.fulfillment_line_item_id, n.order_line_item_id, n.quantity,
      n.received_quantity, n.restocked_quantity, n.quarantined_quantity, n.disposed_quantity,
      n.missing_quantity)
      is distinct from (o.return_order_id, o.fulfillment_line_item_id, o.order_line_item_id, o.quantity,
      o.received_quantity, o.restocked_quantity, o.quarantined_quantity, o.disposed_quantity,
      o.missing_quantity);
  end if;
  if lines <> '{}' or array_remove(order_lines, null) <> '{}' then
    perform erp.follow_returns(lines, order_lines);
  end if;
  return null;
end
$$;
comment on function erp.keep_returns() is
  'Trigger after lines of returns changed, by any writer: updates what follows from them.';
select api_meta.give('erp.keep_returns()', 'service_ledger');
--! EndIncluded erp/keep_returns.sql
create trigger keep_figures_of_returns_insert after insert on erp.return_order_line_item
  referencing new table as new_rows for each statement execute function erp.keep_returns();
create trigger keep_figures_of_returns_update after update on erp.return_order_line_item
  referencing old table as old_rows new table as new_rows
  for each statement execute function erp.keep_returns();
create trigger keep_figures_of_returns_delete after delete on erp.return_order_line_item
  referencing old table as old_rows for each statement execute function erp.keep_returns();
--! Included erp/keep_return.sql
create or replace function erp.keep_return() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform erp.follow_returns(array(
    select l.id from erp.return_order_line_item l where l.return_order_id = new.id), '{}');
  return null;
end
$$;
comment on function erp.keep_return() is
  'Trigger after the state of a return changed, by any writer: updates its lines, and what they claim.';
select api_meta.give('erp.keep_return()', 'service_ledger');
--! EndIncluded erp/keep_return.sql
create trigger keep_figures_of_returns after update of state on erp.return_order
  for each row when (old.state is distinct from new.state) execute function erp.keep_return();
--! Included erp/keep_return_receipts.sql
create or replace function erp.keep_return_receipts() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lines uuid[];
begin
  if tg_op = 'INSERT' then
    lines := array(
      select n.return_order_line_item_id from new_rows n where n.return_order_line_item_id is not null);
  elsif tg_op = 'DELETE' then
    lines := array(
      select o.return_order_line_item_id from old_rows o where o.return_order_line_item_id is not null);
  else
    lines := array(
      select n.return_order_line_item_id from new_rows n where n.return_order_line_item_id is not null
      union
      select o.return_order_line_item_id from old_rows o where o.return_order_line_item_id is not null);
  end if;
  if lines <> '{}' then
    perform erp.follow_returns(lines, '{}');
  end if;
  return null;
end
$$;
comment on function erp.keep_return_receipts() is
  'Trigger after lines of goods receipts changed, by any writer: updates the lines of returns that they '
  'name.';
select api_meta.give('erp.keep_return_receipts()', 'service_ledger');

create or replace function erp.keep_return_receipt() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lines constant uuid[] := array(
    select l.return_order_line_item_id from erp.goods_receipt_line_item l
    where l.goods_receipt_id = new.id and l.return_order_line_item_id is not null);
begin
  if lines <> '{}' then
    perform erp.follow_returns(lines, '{}');
  end if;
  return null;
end
$$;
comment on function erp.keep_return_receipt() is
  'Trigger after the state of a goods receipt changed, by any writer: updates the lines of returns that it '
  'receives.';
select api_meta.give('erp.keep_return_receipt()', 'service_ledger');
--! EndIncluded erp/keep_return_receipts.sql
create trigger keep_figures_of_returns_insert after insert on erp.goods_receipt_line_item
  referencing new table as new_rows for each statement execute function erp.keep_return_receipts();
create trigger keep_figures_of_returns_update after update on erp.goods_receipt_line_item
  referencing old table as old_rows new table as new_rows
  for each statement execute function erp.keep_return_receipts();
create trigger keep_figures_of_returns_delete after delete on erp.goods_receipt_line_item
  referencing old table as old_rows for each statement execute function erp.keep_return_receipts();
create trigger keep_figures_of_returns after update of state on erp.goods_receipt
  for each row when (old.state is distinct from new.state and new.type = 'Customer')
  execute function erp.keep_return_receipt();
--! Included erp/fill_return_line.sql
create or replace function erp.fill_return_line() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  shipped_product uuid;
begin
  if new.fulfillment_line_item_id is not null then
    select coalesce(new.order_line_item_id, a.destination_order_line_item_id) into new.order_line_item_id
    from erp.fulfillment_line_item i
    join erp.fulfillment_order_line_item a on a.id = i.fulfillment_order_line_item_id
    where i.id = new.fulfillment_line_item_id;
  end if;
  select l.product_id into shipped_product
  from erp.sales_order_line_item l where l.id = new.order_line_item_id;
  new.product_id := coalesce(new.product_id, shipped_product);
  return new;
end
$$;
comment on function erp.fill_return_line() is
  'Trigger before a line of a return is written, by any writer: it takes the line of the order from the '
  'fulfillment, and the product from the order.';
select api_meta.give('erp.fill_return_line()', 'service_ledger');

create or replace function erp.fill_returned_line() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  line erp.return_order_line_item;
begin
  select * into line from erp.return_order_line_item i where i.id = new.return_order_line_item_id;
  if line.product_id <> new.product_id then
    perform mutation.refuse('INVALID', 'The line of the return is about another product.');
  end if;
  new.return_order_id := line.return_order_id;
  return new;
end
$$;
comment on function erp.fill_returned_line() is
  'Trigger before a line of a goods receipt that names a line of a return is written, by any writer: it '
  'takes the return from there. Refuses another product with the user error INVALID.';
select api_meta.give('erp.fill_returned_line()', 'service_ledger');
--! EndIncluded erp/fill_return_line.sql
create trigger fill_return_line before insert or update of order_line_item_id,
  fulfillment_line_item_id on erp.return_order_line_item
  for each row execute function erp.fill_return_line();
create trigger fill_return_line before insert or update of product_id, return_order_id,
  return_order_line_item_id on erp.goods_receipt_line_item
  for each row when (new.return_order_line_item_id is not null)
  execute function erp.fill_returned_line();

select api_meta.allow('service_writer', 'ledger.batch_stock', 'select');
--! Included erp/placed_state.sql
create or replace function erp.placed_state(bin_location_id uuid, batch_id uuid)
returns table (state text)
language sql stable rows 1
begin atomic
  select case
    when exists (select from erp.batch t where t.id = batch_id and (t.is_held or t.is_expired)) then 'held'
    when placed_state.bin_location_id is null then 'sellable'
    else (select b.stock_state from erp.bin_location b where b.id = placed_state.bin_location_id) end;
end;
comment on function erp.placed_state(uuid, uuid) is
  'Returns whether units of a batch can be sold in a bin: sellable if they can, otherwise why not.';
grant execute on function erp.placed_state(uuid, uuid) to service_writer;
--! EndIncluded erp/placed_state.sql
--! Included erp/lock_returns_of.sql
create or replace function erp.lock_returns_of(goods_receipt_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  returns constant uuid[] := array(
    select distinct i.return_order_id
    from erp.goods_receipt_line_item l
    join erp.return_order_line_item i on i.id = l.return_order_line_item_id
    where l.goods_receipt_id = lock_returns_of.goods_receipt_id);
begin
  if returns = '{}' then
    return;
  end if;
  perform ledger.lock_orders(array(
    select distinct o.order_id
    from erp.return_order_line_item i join erp.sales_order_line_item o on o.id = i.order_line_item_id
    where i.return_order_id = any (returns)));
  perform from erp.return_order r where r.id = any (returns) order by r.id for no key update;
end
$$;
comment on function erp.lock_returns_of(uuid) is
  'Takes the locks of the orders and returns whose lines a goods receipt names, before the locks of the '
  'stock.';
select api_meta.plan_by_index('erp.lock_returns_of(uuid)');
grant execute on function erp.lock_returns_of(uuid) to service_writer;
--! EndIncluded erp/lock_returns_of.sql
--! Included erp/check_return_lines.sql
create or replace function erp.was_shipped(order_id uuid, product_id uuid, batch_id uuid) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
return exists (
  select from ledger.stock s
  where s.product_id = was_shipped.product_id and s.place = was_shipped.order_id::text
    and (s.quantity > coalesce(
        (select sum(b.quantity) from ledger.batch_stock b where b.stock_id = s.id), 0)
      or exists (
        select from ledger.batch_stock b
        where b.stock_id = s.id and b.batch_id = was_shipped.batch_id and b.quantity > 0)))
  or not exists (
    select from ledger.stock s
    where s.product_id = was_shipped.product_id and s.place = was_shipped.order_id::text and s.quantity > 0);
comment on function erp.was_shipped(uuid, uuid, uuid) is
  'Whether a batch can come back from an order. It can if it was shipped there and has not come back, or if '
  'the ledger does not know the batches of the shipped units.';
grant execute on function erp.was_shipped(uuid, uuid, uuid) to service_writer;

create or replace function erp.return_lines_of(target uuid, given erp.return_order_line[])
returns erp.return_order_line[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select row (g.id, g.fulfillment_line_item_id, g.order_line_item_id,
      coalesce(g.product_id, o.product_id), g.batch_id, g.quantity, g.reason,
      g.wanted_outcome)::erp.return_order_line
    from (
      select l.ordinality, l.id, coalesce(l.fulfillment_line_item_id, p.fulfillment_line_item_id)
          as fulfillment_line_item_id,
        coalesce(l.order_line_item_id, a.destination_order_line_item_id, p.order_line_item_id)
          as order_line_item_id,
        coalesce(l.product_id, p.product_id) as product_id, coalesce(l.batch_id, p.batch_id) as batch_id,
        coalesce(l.quantity, p.quantity) as quantity, coalesce(l.reason, p.reason) as reason,
        coalesce(l.wanted_outcome, p.wanted_outcome) as wanted_outcome
      from unnest(given) with ordinality l
      left join erp.return_order_line_item p on p.id = l.id and p.return_order_id = target
      left join erp.fulfillment_line_item f on f.id = l.fulfillment_line_item_id
      left join erp.fulfillment_order_line_item a on a.id = f.fulfillment_order_line_item_id
    ) g
    left join erp.sales_order_line_item o on o.id = g.order_line_item_id
    order by g.ordinality
  );
end;
comment on function erp.return_lines_of(uuid, erp.return_order_line[]) is
  'Fills in what lines of a return name indirectly: the line of the order by the fulfillment, the product by '
  'the order. A line with an id keeps what is left out.';
grant execute on function erp.return_lines_of(uuid, erp.return_order_line[]) to service_writer;

create or replace function erp.faults_of_return_lines(
  target erp.return_order, lines erp.return_order_line[]
)
returns table (line bigint, code text, message text, field text)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select l.ordinality, f.code, f.message, f.field
  from unnest(lines) with ordinality l
  left join erp.fulfillment_line_item i on i.id = l.fulfillment_line_item_id
  left join erp.fulfillment_order_line_item a on a.id = i.fulfillment_order_line_item_id
  left join erp.sales_order_line_item o on o.id = l.order_line_item_id
  left join erp.product p on p.id = l.product_id
  left join erp.batch b on b.id = l.batch_id
  left join erp.return_reason r on r.code = l.reason
  left join erp.return_order_line_item x on x.id = l.id and x.return_order_id = (target).id
  cross join lateral (
    values
      (l.id is not null and x.id is null, 'NOT_FOUND', 'The return has no such line.', 'id'),
      (l.quantity is null, 'REQUIRED', 'How many units come back?', 'quantity'),
      (l.quantity < 1, 'OUT_OF_RANGE', 'The quantity must be at least 1.', 'quantity'),
      (l.fulfillment_line_item_id is not null and i.id is null, 'NOT_FOUND',
        'There is no such line of a fulfillment.', 'fulfillment_line_item_id'),
      (a.destination_order_line_item_id <> l.order_line_item_id, 'INVALID',
        'The fulfillment shipped another line of the order.', 'fulfillment_line_item_id'),
      (l.order_line_item_id is not null and o.id is null, 'NOT_FOUND', 'There is no such line of an order.',
        'order_line_item_id'),
      (o.order_id is distinct from (target).order_id and o.id is not null, 'INVALID',
        'The line belongs to another order than the return.',
        case when l.fulfillment_line_item_id is null then 'order_line_item_id'
          else 'fulfillment_line_item_id' end),
      (l.product_id is null, 'REQUIRED', 'Name the line of the fulfillment or of the order, or the product.',
        'product_id'),
      (l.product_id is not null and p.id is null, 'NOT_FOUND', 'There is no such product.', 'product_id'),
      (o.product_id <> l.product_id, 'INVALID', 'The line of the order has another product.', 'product_id'),
      (x.product_id <> l.product_id and x.received_quantity > 0, 'NOT_EDITABLE',
        'Units of the line have arrived.', 'product_id'),
      (x.order_line_item_id <> l.order_line_item_id and x.received_quantity > 0, 'NOT_EDITABLE',
        'Units of the line have arrived.', 'order_line_item_id'),
      (p.has_serial_numbers and l.quantity > 1 and l.batch_id is not null, 'OUT_OF_RANGE',
        'A serial number is one unit.', 'quantity'),
      (l.batch_id is not null and b.id is null, 'NOT_FOUND', 'There is no such batch.', 'batch_id'),
      (b.product_id <> l.product_id, 'BATCH_MISMATCH',
        format('Batch %s belongs to another product.', b.number), 'batch_id'),
      (b.product_id = l.product_id and o.id is not null and coalesce(x.received_quantity, 0) = 0
        and not erp.was_shipped((target).order_id, l.product_id, b.id), 'BATCH_MISMATCH',
        format('Batch %s was not shipped in the order, or has come back already.', b.number), 'batch_id'),
      (l.reason is not null and r.code is null, 'NOT_FOUND', 'There is no such reason of returns.', 'reason'),
      (not r.is_active and l.reason is distinct from x.reason, 'INVALID',
        'This reason is no longer in use.', 'reason')
  ) f (is_fault, code, message, field)
  where f.is_fault;
end;
comment on function erp.faults_of_return_lines(erp.return_order, erp.return_order_line[]) is
  'Returns what is wrong with lines of a return on their own.';
grant execute on function erp.faults_of_return_lines(erp.return_order, erp.return_order_line[])
  to service_writer;

create or replace function erp.excess_returns(target uuid, lines erp.return_order_line[])
returns table (line bigint, returnable integer, requested integer)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with
  wanted as (
    select w.ordinality as line, w.order_line_item_id, w.fulfillment_line_item_id,
      greatest(w.quantity, coalesce(x.received_quantity, 0)) as quantity
    from unnest(lines) with ordinality w
    left join erp.return_order_line_item x on x.id = w.id and x.return_order_id = target
  ),
  -- The return itself claims its own units again
  own as (
    select l.order_line_item_id, l.fulfillment_line_item_id,
      erp.claimed_units(o.state, l.quantity, l.received_quantity) as quantity
    from erp.return_order_line_item l join erp.return_order o on o.id = l.return_order_id
    where l.return_order_id = target
  )
  select max(w.line), (l.shipped_quantity - l.returned_quantity + coalesce((
      select sum(o.quantity) from own o where o.order_line_item_id = l.id), 0))::integer as returnable,
    sum(w.quantity)::integer
  from wanted w join erp.sales_order_line_item l on l.id = w.order_line_item_id
  group by l.id
  having sum(w.quantity) > l.shipped_quantity - l.returned_quantity + coalesce((
    select sum(o.quantity) from own o where o.order_line_item_id = l.id), 0)
  union
  select max(w.line), (f.shipped - f.claimed)::integer, sum(w.quantity)::integer
  from wanted w
  join lateral (
    select i.id, case t.state when 'Cancelled' then 0 else i.quantity end as shipped, coalesce((
      select sum(erp.claimed_units(o.state, l.quantity, l.received_quantity))
      from erp.return_order_line_item l join erp.return_order o on o.id = l.return_order_id
      where l.fulfillment_line_item_id = i.id and o.id is distinct from target), 0) as claimed
    from erp.fulfillment_line_item i join erp.fulfillment t on t.id = i.fulfillment_id
    where i.id = w.fulfillment_line_item_id
  ) f on true
  group by f.id, f.shipped, f.claimed having sum(w.quantity) > f.shipped - f.claimed;
end;
comment on function erp.excess_returns(uuid, erp.return_order_line[]) is
  'Returns the lines by which a return would claim more of a line of an order, or of a fulfillment, than was '
  'shipped and no other return claims.';
grant execute on function erp.excess_returns(uuid, erp.return_order_line[]) to service_writer;

create or replace function erp.check_return_lines(target erp.return_order, lines erp.return_order_line[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  perform mutation.refuse_too_many(cardinality(lines), 250, '{line_items}');
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('line_items', e.line, e.field)) order by e.line
  )
  into errors
  from (
    select f.line, f.code, f.message, f.field from erp.faults_of_return_lines(target, lines) f
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line has this id.', 'id'
    from (
      select i.*, row_number() over (partition by i.id order by i.ordinality) as nth
      from unnest(lines) with ordinality i
    ) l
    where l.id is not null and l.nth > 1
  ) e;
  perform mutation.refuse(errors);
  select jsonb_agg(mutation.user_error('EXCEEDS_SHIPPED',
    format('%s units would come back, but only %s were shipped and have not come back.', e.requested,
      e.returnable),
    mutation.path('line_items', e.line, 'quantity'),
    jsonb_build_object('returnable', e.returnable, 'requested', e.requested)) order by e.line)
  into errors
  from (
    select x.line, min(x.returnable) as returnable, max(x.requested) as requested
    from erp.excess_returns(target.id, lines) x group by x.line
  ) e;
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_return_lines(erp.return_order, erp.return_order_line[]) is
  'Refuses lines that do not fit their return. The lock of the order has been taken. User errors '
  'TOO_MANY_LINES, REQUIRED, OUT_OF_RANGE, NOT_FOUND, NOT_UNIQUE, NOT_EDITABLE, INVALID, BATCH_MISMATCH, '
  'EXCEEDS_SHIPPED.';
grant execute on function erp.check_return_lines(erp.return_order, erp.return_order_line[])
  to service_writer;
--! EndIncluded erp/check_return_lines.sql
--! Included erp/check_return_order.sql
create or replace function erp.check_return_order(wanted erp.return_order) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error(e.code, e.message, array[e.field])) into errors
  from (
    values
      (wanted.order_id is not null
        and not exists (select from erp.sales_order o where o.id = wanted.order_id),
        'NOT_FOUND', 'There is no such order.', 'order_id'),
      (wanted.customer_id is not null
        and not exists (select from erp.customer c where c.id = wanted.customer_id),
        'NOT_FOUND', 'There is no such customer.', 'customer_id'),
      (wanted.replacement_order_id is not null
        and not exists (select from erp.sales_order o where o.id = wanted.replacement_order_id),
        'NOT_FOUND', 'There is no such order.', 'replacement_order_id'),
      (wanted.requested_at > now() + interval '1 minute', 'OUT_OF_RANGE', 'The moment is in the future.',
        'requested_at'),
      (wanted.withdrawal_date > erp.local_date(now()) + 1, 'OUT_OF_RANGE', 'The day is in the future.',
        'withdrawal_date')
  ) e (is_fault, code, message, field)
  where e.is_fault;
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_return_order(erp.return_order) is
  'Refuses a return that refers to something that does not exist, or happens in the future. User errors '
  'NOT_FOUND, OUT_OF_RANGE.';
grant execute on function erp.check_return_order(erp.return_order) to service_writer;
--! EndIncluded erp/check_return_order.sql
--! Included erp/set_return_lines.sql
create or replace function erp.set_return_lines(target uuid, lines erp.return_order_line[]) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  delete from erp.return_order_line_item i
  where i.return_order_id = target and i.id <> all (array(
    select l.id from unnest(lines) l where l.id is not null));
  -- A line that shrinks makes room for others, so those that are there come first
  update erp.return_order_line_item i
  set fulfillment_line_item_id = l.fulfillment_line_item_id, order_line_item_id = l.order_line_item_id,
    product_id = l.product_id, batch_id = l.batch_id, quantity = l.quantity, reason = l.reason,
    wanted_outcome = l.wanted_outcome
  from unnest(lines) l
  where i.id = l.id and i.return_order_id = target and (i.fulfillment_line_item_id, i.order_line_item_id,
    i.product_id, i.batch_id, i.quantity, i.reason, i.wanted_outcome)
    is distinct from (l.fulfillment_line_item_id, l.order_line_item_id, l.product_id, l.batch_id, l.quantity,
    l.reason, l.wanted_outcome);
  insert into erp.return_order_line_item (return_order_id, fulfillment_line_item_id, order_line_item_id,
    product_id, batch_id, quantity, reason, wanted_outcome)
  select target, l.fulfillment_line_item_id, l.order_line_item_id, l.product_id, l.batch_id, l.quantity,
    l.reason, l.wanted_outcome
  from unnest(lines) with ordinality l where l.id is null order by l.ordinality
$$;
comment on function erp.set_return_lines(uuid, erp.return_order_line[]) is
  'Sets the lines of a return: lines with an id are updated, others are inserted, and missing ones deleted. '
  'The lines have been checked.';
grant execute on function erp.set_return_lines(uuid, erp.return_order_line[]) to service_writer;
--! EndIncluded erp/set_return_lines.sql
--! Included erp/lock_return_order.sql
create or replace function erp.lock_return_order(return_order_id uuid, order_id uuid default null)
returns erp.return_order
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.return_order;
begin
  -- The order first, as everywhere
  perform ledger.lock_orders(array_remove(array[lock_return_order.order_id,
    (select r.order_id from erp.return_order r where r.id = return_order_id)], null));
  select * into present from erp.return_order r where r.id = return_order_id for no key update;
  if not found then
    perform mutation.refuse_missing('return order', '{id}');
  end if;
  return present;
end
$$;
comment on function erp.lock_return_order(uuid, uuid) is
  'Locks the order of a return, and another order if it is given, then the return, until the end of the '
  'transaction. Returns the return. User error NOT_FOUND.';
grant execute on function erp.lock_return_order(uuid, uuid) to service_writer;
--! EndIncluded erp/lock_return_order.sql
--! Included erp/create_return_order.sql
create or replace function erp.create_return_order(given jsonb, lines erp.return_order_line[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted constant erp.return_order_line[] := erp.return_lines_of(null, lines);
  made erp.return_order := jsonb_populate_record(null::erp.return_order, given);
begin
  if coalesce(cardinality(lines), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'A return needs at least one line.', '{line_items}');
  end if;
  if made.order_id is null then
    select o.order_id into made.order_id
    from unnest(wanted) with ordinality w join erp.sales_order_line_item o on o.id = w.order_line_item_id
    order by w.ordinality limit 1;
  end if;
  perform ledger.lock_orders(array_remove(array[made.order_id], null));
  made.customer_id := coalesce(
    made.customer_id, (select o.customer_id from erp.sales_order o where o.id = made.order_id));
  perform erp.check_return_order(made);
  perform erp.check_return_lines(made, wanted);
  insert into erp.return_order (number, state, order_id, customer_id, reference, comment, withdrawal_date,
    requested_at, replacement_order_id)
  values (erp.next_number('return_order'),
    case when (given ->> 'is_approved')::boolean then 'approved' else 'requested' end, made.order_id,
    made.customer_id, made.reference, made.comment, made.withdrawal_date,
    coalesce(made.requested_at, date_trunc('second', now())), made.replacement_order_id)
  returning * into made;
  perform erp.set_return_lines(made.id, wanted);
  return made.id;
end
$$;
comment on function erp.create_return_order(jsonb, erp.return_order_line[]) is
  'Creates a return from the columns in the object (is_approved: approved already) and its lines. The order '
  'follows from the lines, and the customer from the order. Returns its id. User errors REQUIRED, NOT_FOUND, '
  'OUT_OF_RANGE, and the errors of erp.check_return_lines.';
select api_meta.plan_by_index('erp.create_return_order(jsonb, erp.return_order_line[])');
grant execute on function erp.create_return_order(jsonb, erp.return_order_line[]) to service_writer;
--! EndIncluded erp/create_return_order.sql
--! Included erp/update_return_order.sql
create or replace function erp.matched_return_lines(target erp.return_order, lines erp.return_order_line[])
returns erp.return_order_line[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select row (l.id, l.fulfillment_line_item_id, coalesce(l.order_line_item_id, m.id), l.product_id,
      l.batch_id, l.quantity, l.reason, l.wanted_outcome)::erp.return_order_line
    from unnest(lines) with ordinality l
    left join lateral (
      select o.id from erp.sales_order_line_item o
      where o.order_id = (target).order_id and o.product_id = l.product_id and l.order_line_item_id is null
        and o.shipped_quantity - o.returned_quantity >= l.quantity
      order by o."position", o.id limit 1
    ) m on true
    order by l.ordinality
  );
end;
comment on function erp.matched_return_lines(erp.return_order, erp.return_order_line[]) is
  'Returns lines of a return, those without a line of the order with the first one of its order that shipped '
  'as many units of the product. Others stay without.';
grant execute on function erp.matched_return_lines(erp.return_order, erp.return_order_line[])
  to service_writer;

create or replace function erp.move_found_units(target uuid, matched uuid[], note text) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  drafts ledger.draft[] := '{}';
  found record;
  untracked integer;
begin
  for found in
    select l.product_id, l.batch_id, o.order_id, sum(l.quantity)::integer as quantity,
      least(sum(l.quantity), erp.units_at(o.order_id::text, l.product_id, l.batch_id))::integer as known,
      erp.units_at(o.order_id::text, l.product_id, null) as untracked, p.product_number, exists (
        select from ledger.stock s join ledger.batch_stock b on b.stock_id = s.id and b.quantity > 0
        where s.product_id = l.product_id and s.place = o.order_id::text) as is_tracked
    from erp.return_order_line_item r
    join erp.sales_order_line_item o on o.id = r.order_line_item_id
    join erp.goods_receipt_line_item l on l.return_order_line_item_id = r.id
    join erp.product p on p.id = l.product_id
    join erp.goods_receipt g on g.id = l.goods_receipt_id
      and (g.state = 'completed' or g.state in ('approved', 'in_progress') and l.quantity > 0)
    where r.return_order_id = target and r.id = any (matched)
    group by l.product_id, l.batch_id, o.order_id, p.id having sum(l.quantity) > 0
    order by l.product_id, l.batch_id
  loop
    -- Units that left without a batch may come back with one
    untracked := case when found.batch_id is null then 0
      else least(found.quantity - found.known, found.untracked) end;
    if found.known + untracked < found.quantity and found.is_tracked then
      perform mutation.refuse('BATCH_MISMATCH', format('The order holds other batches of product %s than '
        'those that arrived.', found.product_number), '{order_id}',
        jsonb_build_object('productNumber', found.product_number));
    end if;
    drafts := drafts || array(
      select row ('{order_id}', found.product_id, u.quantity, u.batch_id, 'order', found.order_id::text,
        'special_stock_location', 'unknown', 'return_order')::ledger.draft
      from (values (found.known, found.batch_id), (untracked, null)) u (quantity, batch_id)
      where u.quantity > 0);
  end loop;
  return (ledger.post(drafts, note)).stock_movements;
end
$$;
comment on function erp.move_found_units(uuid, uuid[], text) is
  'Books units that arrived before anybody knew their order from the order to the special place unknown, '
  'where they seemed to come from. Returns the movements. User error BATCH_MISMATCH.';
grant execute on function erp.move_found_units(uuid, uuid[], text) to service_writer;

create or replace function erp.update_return_order(
  return_order_id uuid, changes jsonb, given erp.return_order_line[]
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.return_order :=
    erp.lock_return_order(return_order_id, (changes ->> 'order_id')::uuid);
  wanted erp.return_order := jsonb_populate_record(present, changes - '{id,line_items}'::text[]);
  lines erp.return_order_line[];
  matched uuid[];
begin
  if wanted.order_id is distinct from present.order_id or given is not null then
    perform erp.next_state('return_order', 'update', present.state);
    if present.order_id is not null and wanted.order_id is distinct from present.order_id then
      perform mutation.refuse('NOT_EDITABLE', 'The return has an order. Cancel it, and make another.',
        '{order_id}');
    end if;
    lines := erp.return_lines_of(present.id, coalesce(given, array(
      select row (l.id, null, null, null, null, null, null, null)::erp.return_order_line
      from erp.return_order_line_item l where l.return_order_id = present.id order by l.id)));
    if wanted.order_id is distinct from present.order_id then
      lines := erp.matched_return_lines(wanted, lines);
      wanted.customer_id := coalesce(
        wanted.customer_id, (select o.customer_id from erp.sales_order o where o.id = wanted.order_id));
    end if;
    perform erp.check_return_order(wanted);
    perform erp.check_return_lines(wanted, lines);
    if exists (
      select from erp.return_order_line_item l
      where l.return_order_id = present.id and (l.received_quantity > 0 or l.refunded_quantity > 0)
        and l.id <> all (array(select n.id from unnest(lines) n where n.id is not null))
    ) then
      perform mutation.refuse('NOT_EDITABLE', 'A line is left out, but its units have arrived or are '
        'refunded.', '{line_items}');
    end if;
    matched := array(
      select l.id from unnest(lines) n join erp.return_order_line_item l on l.id = n.id
      where l.order_line_item_id is null and n.order_line_item_id is not null);
  else
    perform erp.check_return_order(wanted);
  end if;
  update erp.return_order r
  set order_id = wanted.order_id, customer_id = wanted.customer_id, reference = wanted.reference,
    comment = wanted.comment, withdrawal_date = wanted.withdrawal_date,
    replacement_order_id = wanted.replacement_order_id
  where r.id = present.id;
  if lines is not null then
    perform erp.set_return_lines(present.id, lines);
    if matched <> '{}' then
      perform erp.move_found_units(present.id, matched, null);
    end if;
  end if;
  return present.id;
end
$$;
comment on function erp.update_return_order(uuid, jsonb, erp.return_order_line[]) is
  'Changes the columns of a return in the object, and its lines if they are given. A return without an order '
  'can be given one: its lines are then matched by their products, and units that arrived leave the order. '
  'Returns its id. User errors NOT_FOUND, NOT_EDITABLE, INVALID_STATE_TRANSITION, OUT_OF_RANGE, and the '
  'errors of erp.check_return_lines.';
select api_meta.plan_by_index('erp.update_return_order(uuid, jsonb, erp.return_order_line[])');
grant execute on function erp.update_return_order(uuid, jsonb, erp.return_order_line[]) to service_writer;
--! EndIncluded erp/update_return_order.sql
--! Included erp/end_return_order.sql
create or replace function erp.take_from_return(target erp.return_order, note text) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  drafts constant ledger.draft[] := array(
    select row ('{id}', s.product_id, u.quantity, u.batch_id, 'return_order', target.id::text,
      case when target.order_id is null then 'special_stock_location' else 'order' end,
      coalesce(target.order_id::text, 'unknown'), 'return_order')::ledger.draft
    from ledger.stock s
    cross join lateral (
      select b.batch_id, b.quantity from ledger.batch_stock b where b.stock_id = s.id and b.quantity > 0
      union all
      select null, s.quantity - coalesce(sum(b.quantity), 0)::integer
      from ledger.batch_stock b where b.stock_id = s.id
    ) u
    where s.return_order_id = target.id and s.quantity > 0 and u.quantity > 0
    order by s.product_id, u.batch_id);
begin
  if drafts = '{}' then
    return '{}';
  end if;
  return (ledger.post(drafts, note)).stock_movements;
end
$$;
comment on function erp.take_from_return(erp.return_order, text) is
  'Books units that are on their way in a return back to its order, or to the special place unknown: they '
  'will not arrive. Returns the movements.';
select api_meta.plan_by_index('erp.take_from_return(erp.return_order, text)');
grant execute on function erp.take_from_return(erp.return_order, text) to service_writer;

create or replace function erp.end_return_order(
  return_order_id uuid, action text, reason text default null
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.return_order := erp.lock_return_order(return_order_id);
  wanted constant text := erp.next_state('return_order', action, present.state);
  moved uuid[] := '{}';
begin
  if action = 'refuse' and (reason is null or erp.is_blank(reason)) then
    perform mutation.refuse('REQUIRED', 'Say why the return is refused.', '{refusal_reason}');
  elsif action in ('refuse', 'cancel') and exists (
    select from erp.return_order_line_item l
    where l.return_order_id = present.id and l.received_quantity > 0
  ) then
    perform mutation.refuse('NOT_EDITABLE', 'Units have arrived: close the return instead.', '{id}');
  elsif action = 'approve' and not exists (
    select from erp.return_order_line_item l where l.return_order_id = present.id
  ) then
    perform mutation.refuse('REQUIRED', 'The return has no lines.', '{id}');
  elsif action <> 'approve' then
    moved := erp.take_from_return(present, null);
  end if;
  update erp.return_order r
  set state = wanted, refusal_reason = coalesce(reason, r.refusal_reason),
    closed_at = case when wanted = 'closed' then date_trunc('second', now()) else r.closed_at end
  where r.id = present.id;
  return moved;
end
$$;
comment on function erp.end_return_order(uuid, text, text) is
  'Does an action of the machine return_order of erp.state_transition: approve, refuse, cancel or close. '
  'Units that were on their way go back to the order, except after approval. Returns the movements. User '
  'errors NOT_FOUND, INVALID_STATE_TRANSITION, REQUIRED, NOT_EDITABLE, OUT_OF_RANGE.';
select api_meta.plan_by_index('erp.end_return_order(uuid, text, text)');
grant execute on function erp.end_return_order(uuid, text, text) to service_writer;
--! EndIncluded erp/end_return_order.sql
--! Included erp/return_drafts.sql
create or replace function erp.units_at(place text, product_id uuid, batch_id uuid) returns integer
language sql stable
return coalesce((
  select case when units_at.batch_id is null
    then s.quantity - coalesce((select sum(b.quantity) from ledger.batch_stock b where b.stock_id = s.id), 0)
    else (
      select b.quantity from ledger.batch_stock b where b.stock_id = s.id and b.batch_id = units_at.batch_id)
    end
  from ledger.stock s where s.product_id = units_at.product_id and s.place = units_at.place), 0)::integer;
comment on function erp.units_at(text, uuid, uuid) is
  'Returns the units of a batch in a place, given by its key; without a batch those that have none.';
grant execute on function erp.units_at(text, uuid, uuid) to service_writer;

create or replace function erp.return_sources(receipt erp.goods_receipt)
returns table (
  id uuid, product_id uuid, batch_id uuid, quantity integer, return_order_id uuid, order_id uuid,
  from_return integer, from_order integer, from_unknown integer, in_order integer
)
language sql stable
begin atomic
  with
  line as (
    select l.id, l.product_id, l.batch_id, l.quantity, i.return_order_id, o.order_id,
      sum(l.quantity) over (
        partition by i.return_order_id, l.product_id, l.batch_id order by l.id) - l.quantity as earlier
    from erp.goods_receipt_line_item l
    join erp.return_order_line_item i on i.id = l.return_order_line_item_id
    left join erp.sales_order_line_item o on o.id = i.order_line_item_id
    where l.goods_receipt_id = (receipt).id and l.quantity > 0 and l.product_id is not null
  ),
  -- Units that are on their way already, because a program booked them into the return
  on_way as (
    select l.*, greatest(0, least(l.quantity,
      erp.units_at(l.return_order_id::text, l.product_id, l.batch_id) - l.earlier))::integer as from_return
    from line l
  ),
  rest as (
    select w.*, erp.units_at(w.order_id::text, w.product_id, w.batch_id) as in_order,
      sum(w.quantity - w.from_return) over (partition by w.order_id, w.product_id, w.batch_id order by w.id)
        - (w.quantity - w.from_return) as earlier_rest
    from on_way w
  ),
  taken as (
    select r.*, greatest(0, least(r.quantity - r.from_return, r.in_order - r.earlier_rest))::integer
      as from_order
    from rest r
  )
  select t.id, t.product_id, t.batch_id, t.quantity, t.return_order_id, t.order_id, t.from_return,
    t.from_order, t.quantity - t.from_return - t.from_order, t.in_order
  from taken t;
end;
comment on function erp.return_sources(erp.goods_receipt) is
  'Returns where the units of the lines of returns come from that a goods receipt receives. They are on '
  'their way in the return, or the order holds them, or neither, when the ledger does not know their order.';
grant execute on function erp.return_sources(erp.goods_receipt) to service_writer;

create or replace function erp.return_drafts(receipt erp.goods_receipt) returns ledger.draft[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select row ('{id}', s.product_id, d.quantity, s.batch_id, d.type, d.place, 'return_order',
      s.return_order_id::text, 'return_order')::ledger.draft
    from erp.return_sources(receipt) s
    cross join lateral (values
      (1, s.from_order, 'order', s.order_id::text),
      (2, s.from_unknown, 'special_stock_location', 'unknown')
    ) d (nth, quantity, type, place)
    where d.quantity > 0 order by s.id, d.nth
  );
end;
comment on function erp.return_drafts(erp.goods_receipt) is
  'Returns the movements that bring the units of a goods receipt into the returns that its lines name: from '
  'the order, or from the special place unknown.';
grant execute on function erp.return_drafts(erp.goods_receipt) to service_writer;

create or replace function erp.give_back_drafts(receipt erp.goods_receipt) returns ledger.draft[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select row ('{id}', l.product_id, - l.quantity, l.batch_id, 'return_order', i.return_order_id::text,
      case when o.order_id is null then 'special_stock_location' else 'order' end,
      coalesce(o.order_id::text, 'unknown'), 'return_order')::ledger.draft
    from erp.goods_receipt_line_item l
    join erp.return_order_line_item i on i.id = l.return_order_line_item_id
    left join erp.sales_order_line_item o on o.id = i.order_line_item_id
    where l.goods_receipt_id = (receipt).id and l.quantity < 0 and l.product_id is not null order by l.id
  );
end;
comment on function erp.give_back_drafts(erp.goods_receipt) is
  'Returns the movements that bring units of negative lines from the return back to its order, so that they '
  'have not come back.';
grant execute on function erp.give_back_drafts(erp.goods_receipt) to service_writer;
--! EndIncluded erp/return_drafts.sql
--! Included erp/require_returns.sql
create or replace function erp.require_return_batches(receipt erp.goods_receipt) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  -- Only where the order holds units of the product: others were shipped before there was a ledger
  select jsonb_agg(case when s.batch_id is null
    then mutation.user_error('BATCH_REQUIRED',
      format('Product %s was shipped in batches: its line must name one.', p.product_number), '{id}',
      jsonb_build_object('productNumber', p.product_number))
    else mutation.user_error('BATCH_MISMATCH', format('The order holds %s units of batch %s, and %s would '
      'come back.', s.in_order, b.number, s.quantity), '{id}', jsonb_build_object(
        'productNumber', p.product_number, 'batchNumber', b.number, 'returnable', s.in_order)) end
    order by p.product_number, b.number)
  into errors
  from (
    select s.product_id, s.batch_id, sum(s.quantity) as quantity, sum(s.from_unknown) as from_unknown,
      min(s.in_order) as in_order, s.order_id
    from erp.return_sources(receipt) s where s.order_id is not null
    group by s.product_id, s.batch_id, s.order_id
  ) s
  join erp.product p on p.id = s.product_id left join erp.batch b on b.id = s.batch_id
  where s.from_unknown > 0 and exists (
    select from ledger.stock x join ledger.batch_stock y on y.stock_id = x.id and y.quantity > 0
    where x.product_id = s.product_id and x.place = s.order_id::text);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_return_batches(erp.goods_receipt) is
  'Refuses units of returns in other batches, or with other serial numbers, than their order holds. User '
  'errors BATCH_REQUIRED, BATCH_MISMATCH.';
grant execute on function erp.require_return_batches(erp.goods_receipt) to service_writer;

create or replace function erp.require_returns(receipt erp.goods_receipt) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
  warnings jsonb;
begin
  perform erp.next_state('return_order', 'receive', r.state)
  from erp.return_order r where r.id in (
    select i.return_order_id from erp.goods_receipt_line_item l
    join erp.return_order_line_item i on i.id = l.return_order_line_item_id
    where l.goods_receipt_id = receipt.id and l.quantity > 0);
  select jsonb_agg(mutation.user_error('EXCEEDS_SHIPPED', e.text, '{id}', e.details) order by e.id)
      filter (where e.excess > e.returnable),
    jsonb_agg(mutation.user_error('SURPLUS', e.text, '{id}', e.details) order by e.id)
      filter (where e.excess <= e.returnable)
  into errors, warnings
  from (
    select i.id, x.excess, x.returnable, format('%s units of product %s arrive, and return %s has %s open.',
        sum(l.quantity), p.product_number, r.number, greatest(i.quantity - i.received_quantity, 0)) as text,
      jsonb_build_object('quantity', x.excess, 'productNumber', p.product_number, 'returnOrderNumber',
        r.number, 'returnable', x.returnable) as details
    from erp.goods_receipt_line_item l
    join erp.return_order_line_item i on i.id = l.return_order_line_item_id
    join erp.return_order r on r.id = i.return_order_id
    join erp.product p on p.id = i.product_id
    left join erp.sales_order_line_item o on o.id = i.order_line_item_id
    left join erp.fulfillment_line_item f on f.id = i.fulfillment_line_item_id
    cross join lateral (
      -- A closed return claims nothing beyond what arrived
      select i.received_quantity + (
          select sum(n.quantity) from erp.goods_receipt_line_item n
          where n.goods_receipt_id = receipt.id and n.return_order_line_item_id = i.id and n.quantity > 0)
        - case r.state when 'closed' then i.received_quantity
          else greatest(i.quantity, i.received_quantity) end as excess,
        case when o.id is null then 2147483647 else o.shipped_quantity - o.returned_quantity end as returnable
    ) x
    where l.goods_receipt_id = receipt.id and l.quantity > 0 and x.excess > 0
    group by i.id, r.id, p.id, x.excess, x.returnable
  ) e
  where e.excess > 0;
  perform mutation.refuse(errors);
  perform mutation.warn(warnings);
  perform erp.require_return_batches(receipt);
  -- A parcel that arrives after the end opens the return again
  update erp.return_order r set state = erp.next_state('return_order', 'receive_partially', r.state),
    closed_at = null
  where r.state = 'closed' and r.id in (
    select i.return_order_id from erp.goods_receipt_line_item l
    join erp.return_order_line_item i on i.id = l.return_order_line_item_id
    where l.goods_receipt_id = receipt.id and l.quantity > 0);
end
$$;
comment on function erp.require_returns(erp.goods_receipt) is
  'Refuses units of returns that cannot arrive: in the state of the return, in these batches, or because '
  'fewer were shipped. Warns of units that nobody announced. Opens closed returns again. User errors '
  'INVALID_STATE_TRANSITION, EXCEEDS_SHIPPED, BATCH_REQUIRED, BATCH_MISMATCH; warning SURPLUS.';
select api_meta.plan_by_index('erp.require_returns(erp.goods_receipt)');
grant execute on function erp.require_returns(erp.goods_receipt) to service_writer;
--! EndIncluded erp/require_returns.sql
--! Included erp/keep_outcomes.sql
create or replace function erp.keep_outcomes(
  receipt erp.goods_receipt, placements erp.placement[], outcomes text[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update erp.goods_receipt_line_item l
  set disposed_quantity = f.disposed, quarantined_quantity = f.quarantined
  from (
    select x.id, x.planned_disposal_quantity
        + coalesce(sum(u.quantity) filter (where u.outcome = 'dispose'), 0) as disposed,
      coalesce(sum(u.quantity) filter (where u.outcome = 'quarantine'), 0) as quarantined
    from erp.goods_receipt_line_item x
    cross join lateral erp.put_away_place(receipt, x) d
    left join lateral (
      select p.quantity, coalesce(outcomes[p.line],
        case when s.state <> 'sellable' then 'quarantine' else 'restock' end) as outcome
      from unnest(placements) p cross join lateral erp.placed_state(p.bin_location_id, x.batch_id) s
      where p.goods_receipt_line_item_id = x.id
      union all
      select x.quantity - x.planned_disposal_quantity,
        case when s.state <> 'sellable' then 'quarantine' else 'restock' end
      from erp.placed_state(case d.type when 'bin_location' then d.place::uuid end, x.batch_id) s
      where not exists (select from unnest(placements) p where p.goods_receipt_line_item_id = x.id)
    ) u on true
    where x.goods_receipt_id = receipt.id and x.quantity > 0 and x.return_order_line_item_id is not null
    group by x.id
  ) f
  where l.id = f.id and (l.disposed_quantity, l.quarantined_quantity)
    is distinct from (f.disposed::integer, f.quarantined::integer);
end
$$;
comment on function erp.keep_outcomes(erp.goods_receipt, erp.placement[], text[]) is
  'Keeps what became of units of returns when their goods receipt is completed. Without a named outcome, '
  'units in a bin or batch that is not sellable are in quarantine.';
select api_meta.plan_by_index('erp.keep_outcomes(erp.goods_receipt, erp.placement[], text[])');
grant execute on function erp.keep_outcomes(erp.goods_receipt, erp.placement[], text[]) to service_writer;
--! EndIncluded erp/keep_outcomes.sql
--! Included erp/paid_lines.sql
create or replace function erp.paid_lines(order_id uuid) returns table (line_id uuid, amount numeric)
language sql stable
begin atomic
  with
  piece as (
    select p.line_id, p.rate, sum(p.total) as total
    from erp.sales_order o cross join lateral erp.order_pieces(o.id, o.tax_status) p
    where o.id = paid_lines.order_id and p.total is not null group by p.line_id, p.rate
  ),
  by_rate as (
    select p.rate, sum(p.total) as amount, sum(p.total) filter (where p.total > 0) as weight
    from piece p group by p.rate
  )
  select u.line_id, sum(u.amount)
  from (
    select array_agg(p.line_id order by p.line_id) as lines, erp.rounded_to(r.amount,
      array_agg(r.amount * p.total / r.weight order by p.line_id)) as amounts
    from by_rate r join piece p on p.rate = r.rate and p.total > 0
    where r.amount > 0 group by r.rate, r.amount
  ) g
  cross join lateral unnest(g.lines, g.amounts) u (line_id, amount)
  group by u.line_id;
end;
comment on function erp.paid_lines(uuid) is
  'Returns what the customer pays for each line of an order, with tax and less its share of discounts. The '
  'amounts of a tax rate add up to what the order charges at that rate.';
grant execute on function erp.paid_lines(uuid) to service_writer;
--! EndIncluded erp/paid_lines.sql
--! Included erp/credit_refunds.sql
create or replace function erp.refundable_invoices(order_id uuid) returns table (
  invoice_id uuid, line_id uuid, quantity integer, amount numeric, left_quantity integer,
  left_amount numeric, rate numeric, is_net boolean
)
language sql stable
begin atomic
  select d.id, c.line_id, c.quantity, c.amount, c.left_quantity, c.left_amount, c.rate,
    d.config ->> 'taxStatus' = 'net'
  from erp.document d
  join erp.document_type t on t.id = d.document_type_id and t.technical_name = 'invoice'
  join erp.invoice v on v.document_id = d.id and v.cancellation_id is null
  cross join lateral erp.creditable_lines(d.id) c
  where d.order_id = refundable_invoices.order_id and d.document_number is not null;
end;
comment on function erp.refundable_invoices(uuid) is
  'Returns the lines of the valid invoices of an order with what can still be credited of them.';
grant execute on function erp.refundable_invoices(uuid) to service_writer;

create or replace function erp.credits_of_refunds(order_id uuid, wanted erp.refunded_line[])
returns table (invoice_id uuid, line_id uuid, units integer, amount numeric, missing integer)
language sql stable
begin atomic
  with
  asked as (
    select w.order_line_item_id as line_id, sum(w.quantity)::integer as quantity, sum(w.amount) as amount,
      bool_or(w.is_given) as is_given
    from unnest(wanted) w group by w.order_line_item_id
  ),
  shared as (
    select v.*, a.quantity as asked, a.amount as asked_amount, a.is_given,
      greatest(0, least(v.left_quantity, a.quantity - (sum(v.left_quantity) over so_far - v.left_quantity)))
        ::integer as units,
      sum(v.left_amount) over so_far - v.left_amount as earlier_amount,
      sum(v.left_quantity) over (partition by v.line_id) as all_left
    from asked a join erp.refundable_invoices(credits_of_refunds.order_id) v on v.line_id = a.line_id
    window so_far as (partition by v.line_id order by v.invoice_id)
  )
  select s.invoice_id, a.line_id, s.units, case
    -- Prices without tax: units are credited as documentCreate does
    when s.is_net and not s.is_given and s.units = s.left_quantity and s.units > 0 then s.left_amount
    when s.is_net and not s.is_given and s.units > 0
      then least(s.left_amount, erp.rounded(s.amount * s.units / s.quantity))
    else least(s.left_amount, greatest(0, case when s.is_net then erp.net_amount(s.asked_amount, s.rate)
      else s.asked_amount end - s.earlier_amount)) end,
    (a.quantity - coalesce(s.all_left, 0))::integer
  from asked a left join shared s on s.line_id = a.line_id;
end;
comment on function erp.credits_of_refunds(uuid, erp.refunded_line[]) is
  'Distributes refunds over the invoices of an order, the oldest first: units and amounts as the invoice '
  'shows prices. The column missing has the units that no invoice charges.';
grant execute on function erp.credits_of_refunds(uuid, erp.refunded_line[]) to service_writer;

create or replace function erp.credit_refunds(target erp.return_order, wanted erp.refunded_line[])
returns table (documents uuid[], refunds erp.refunded_line[])
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  part record;
begin
  if exists (
    select from erp.credits_of_refunds(target.order_id, wanted) c where c.missing > 0 or c.invoice_id is null
  ) then
    perform mutation.refuse('INVALID', 'No invoice charges these units, or credit notes have credited them: '
      'leave makeCreditNotes out.', '{make_credit_notes}',
      jsonb_build_object('invoices', erp.standing_invoices(target.order_id)));
  end if;
  documents := '{}';
  refunds := wanted;
  for part in
    select c.invoice_id, array_agg(row (c.line_id, nullif(c.units, 0), c.amount)::erp.credit_line
      order by c.line_id) as lines
    from erp.credits_of_refunds(target.order_id, wanted) c
    where c.units > 0 or c.amount > 0 group by c.invoice_id order by c.invoice_id
  loop
    documents := documents || erp.create_reversal(target.order_id, 'credit_note', part.invoice_id,
      '{lines}', '{id}', part.lines);
  end loop;
  refunds := erp.credited_refunds(documents, wanted);
  return next;
end
$$;
comment on function erp.credit_refunds(erp.return_order, erp.refunded_line[]) is
  'Makes the credit notes of refunds, one for each invoice that charges their units. Returns them, and the '
  'refunds with the amounts with tax that the credit notes show. User error INVALID.';
grant execute on function erp.credit_refunds(erp.return_order, erp.refunded_line[]) to service_writer;

create or replace function erp.credited_refunds(documents uuid[], wanted erp.refunded_line[])
returns erp.refunded_line[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with
  credited as (
    select (l.line ->> 'lineId')::uuid as line_id, sum(case d.config ->> 'taxStatus' when 'net'
      then (l.line ->> 'net')::numeric * (1 + (l.line ->> 'taxRate')::numeric / 100)
      else (l.line ->> 'total')::numeric end) as amount
    from erp.document d cross join lateral jsonb_array_elements(d.config -> 'lines') l (line)
    where d.id = any (documents) group by 1
  ),
  total as (
    select sum((d.config #>> '{totals,total}')::numeric) as total
    from erp.document d where d.id = any (documents)
  ),
  share as (
    select w.n, w.return_order_line_item_id, w.order_line_item_id, w.quantity, w.is_given,
      c.amount * w.amount / nullif(sum(w.amount) over (partition by w.order_line_item_id), 0) as amount
    from unnest(wanted) w left join credited c on c.line_id = w.order_line_item_id
  )
  select array(
    select row (u.n, u.return_id, u.order_id, u.quantity, u.amount, u.is_given)::erp.refunded_line
    from (
      select array_agg(s.n order by s.n) as ns,
        array_agg(s.return_order_line_item_id order by s.n) as returns,
        array_agg(s.order_line_item_id order by s.n) as orders, array_agg(s.quantity order by s.n) as units,
        array_agg(s.is_given order by s.n) as given,
        erp.rounded_to(
          (select t.total from total t), array_agg(coalesce(s.amount, 0) order by s.n)) as amounts
      from share s
    ) g
    cross join lateral unnest(g.ns, g.returns, g.orders, g.units, g.amounts, g.given)
      u (n, return_id, order_id, quantity, amount, is_given)
    order by u.n
  );
end;
comment on function erp.credited_refunds(uuid[], erp.refunded_line[]) is
  'Returns refunds with the amounts with tax that credit notes show, which add up to their totals.';
grant execute on function erp.credited_refunds(uuid[], erp.refunded_line[]) to service_writer;
--! EndIncluded erp/credit_refunds.sql
--! Included erp/refund_return.sql
create or replace function erp.wanted_refunds(target erp.return_order, lines erp.refund_line[])
returns erp.refunded_line[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select row (w.n, i.id, i.order_line_item_id, coalesce(w.quantity, case when w.amount is null
      then i.received_quantity - i.refunded_quantity else 0 end), w.amount, w.amount is not null
      )::erp.refunded_line
    from (
      select l.ordinality as n, l.return_order_line_item_id as id, l.quantity, l.amount
      from unnest(lines) with ordinality l
      union all
      -- Without lines, all that came back
      select row_number() over (order by i.id), i.id, null, null
      from erp.return_order_line_item i
      where lines is null and i.return_order_id = (target).id and i.received_quantity > i.refunded_quantity
        and i.order_line_item_id is not null
    ) w
    left join erp.return_order_line_item i on i.id = w.id and i.return_order_id = (target).id
    order by w.n
  );
end;
comment on function erp.wanted_refunds(erp.return_order, erp.refund_line[]) is
  'Returns what is to be refunded of lines of a return. Units that are left out are those that came back and '
  'are not refunded; without lines, the units of all lines.';
grant execute on function erp.wanted_refunds(erp.return_order, erp.refund_line[]) to service_writer;

create or replace function erp.refundable_lines(order_id uuid) returns table (
  line_id uuid, quantity integer, paid numeric, refunded_quantity integer, refunded numeric, open numeric
)
language sql stable
begin atomic
  select l.id, l.quantity, p.amount, coalesce(r.quantity, 0)::integer,
    coalesce(r.amount, 0) + coalesce(c.amount, 0),
    -- Credit notes that no refund belongs to count, too
    least(p.amount - coalesce(r.amount, 0) - coalesce(c.amount, 0), i.left_amount)
  from erp.sales_order_line_item l
  join erp.paid_lines(refundable_lines.order_id) p on p.line_id = l.id
  left join lateral (
    select sum(x.refunded_quantity) as quantity, sum(x.refund_amount) as amount
    from erp.return_order_line_item x where x.order_line_item_id = l.id
  ) r on true
  left join lateral (
    select sum(x.refund_amount) as amount from erp.return_order_charge x where x.order_line_item_id = l.id
  ) c on true
  left join (
    select v.line_id, sum(v.left_amount) as left_amount
    from erp.refundable_invoices(refundable_lines.order_id) v where not v.is_net group by v.line_id
  ) i on i.line_id = l.id
  where l.order_id = refundable_lines.order_id;
end;
comment on function erp.refundable_lines(uuid) is
  'Returns what can be refunded of each line of an order. These are its units, what the customer pays for '
  'them, what returns have refunded, and the amount that is left. It is not more than its invoices leave.';
grant execute on function erp.refundable_lines(uuid) to service_writer;

create or replace function erp.priced_refunds(target erp.return_order, wanted erp.refunded_line[])
returns erp.refunded_line[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select row (w.n, w.return_order_line_item_id, w.order_line_item_id, w.quantity, coalesce(w.amount,
      least(greatest(f.open, 0), case
        when w.return_order_line_item_id is null then f.open
        -- The last units take what is left, so that no cent stays
        when w.upto = f.quantity then f.paid - f.refunded - (
          erp.share_of(f.paid, w.upto - w.quantity, f.quantity)
          - erp.share_of(f.paid, f.refunded_quantity, f.quantity))
        else erp.share_of(f.paid, w.upto, f.quantity)
          - erp.share_of(f.paid, w.upto - w.quantity, f.quantity) end)), w.is_given)::erp.refunded_line
    from (
      select u.*, (x.refunded_quantity + sum(u.quantity) over (
        partition by u.order_line_item_id order by u.n))::integer as upto
      from unnest(wanted) u
      left join erp.refundable_lines((target).order_id) x on x.line_id = u.order_line_item_id
    ) w
    left join erp.refundable_lines((target).order_id) f on f.line_id = w.order_line_item_id
    order by w.n
  );
end;
comment on function erp.priced_refunds(erp.return_order, erp.refunded_line[]) is
  'Returns refunds with their amounts: by default the price that the customer paid for the units, or for '
  'another charge what is left of it.';
grant execute on function erp.priced_refunds(erp.return_order, erp.refunded_line[]) to service_writer;

create or replace function erp.require_refunds(target erp.return_order, priced erp.refunded_line[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error(f.code, f.message, case
      when p.is_charge then mutation.path('charges', p.nth, f.field)
      else mutation.path('lines', p.nth, f.field) end, f.details) order by p.n) into errors
  from (
    select u.*, u.n > 1000 as is_charge, case when u.n > 1000 then u.n - 1000 else u.n end as nth,
      row_number() over (partition by u.return_order_line_item_id, u.order_line_item_id order by u.n) as copy,
      sum(u.amount) over (partition by u.order_line_item_id order by u.n) as upto
    from unnest(priced) u
  ) p
  left join erp.return_order_line_item i on i.id = p.return_order_line_item_id
  left join erp.sales_order_line_item o on o.id = p.order_line_item_id
  left join erp.refundable_lines(target.order_id) l on l.line_id = p.order_line_item_id
  cross join lateral (
    values
      (not p.is_charge and i.id is null, 'NOT_FOUND', 'The return has no such line.',
        'return_order_line_item_id', null::jsonb),
      (not p.is_charge and i.id is not null and p.order_line_item_id is null, 'INVALID',
        'Nobody knows what it cost: match the return to its order first, by returnOrderUpdate.',
        'return_order_line_item_id', null),
      (p.is_charge and (o.order_id is distinct from target.order_id or o.type is not distinct from 'product'),
        'NOT_FOUND', 'The order has no such line without a product.', 'order_line_item_id', null),
      (p.copy > 1, 'NOT_UNIQUE', 'An earlier entry names this line.', case when p.is_charge
        then 'order_line_item_id' else 'return_order_line_item_id' end, null),
      (i.id is not null and (p.quantity < 0 or p.quantity > greatest(i.quantity, i.received_quantity)
        - i.refunded_quantity or p.quantity = 0 and not p.is_given), 'OUT_OF_RANGE',
        format('At most %s units of the line can be refunded.', greatest(i.quantity, i.received_quantity)
          - i.refunded_quantity), 'quantity', jsonb_build_object('left',
          greatest(i.quantity, i.received_quantity) - i.refunded_quantity)),
      (p.amount <> erp.rounded(p.amount), 'INVALID', 'The amount must have at most two decimals.', 'amount',
        null),
      (p.amount <= 0 or coalesce(p.upto > l.open, l.line_id is null), 'OUT_OF_RANGE',
        format('At most %s can be refunded.', trim_scale(greatest(coalesce(l.open, 0), 0))), 'amount',
        jsonb_build_object('left', trim_scale(greatest(coalesce(l.open, 0), 0))))
  ) f (is_fault, code, message, field, details)
  where f.is_fault and (f.field <> 'amount' or p.order_line_item_id is not null and (o.order_id
    is not distinct from target.order_id));
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_refunds(erp.return_order, erp.refunded_line[]) is
  'Refuses refunds of more than came back or was paid. User errors NOT_FOUND, INVALID, NOT_UNIQUE, '
  'OUT_OF_RANGE.';
grant execute on function erp.require_refunds(erp.return_order, erp.refunded_line[]) to service_writer;

create or replace function erp.refund_return(
  return_order_id uuid, lines erp.refund_line[], charges erp.refund_line[], makes_credit_notes boolean
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.return_order := erp.lock_return_order(return_order_id);
  wanted erp.refunded_line[];
  documents uuid[] := '{}';
begin
  perform erp.next_state('return_order', 'refund', present.state);
  if makes_credit_notes and not auth.has_scope('documents:write') then
    perform mutation.refuse('SCOPE_MISSING', 'Credit notes require the scope documents:write.',
      '{make_credit_notes}', '{"scope": "documents:write"}');
  end if;
  if present.order_id is null then
    perform mutation.refuse('INVALID', 'Nobody knows the order of the return: match it first, by '
      'returnOrderUpdate.', '{id}');
  end if;
  perform mutation.refuse_too_many(cardinality(lines), 250, '{lines}');
  perform mutation.refuse_too_many(cardinality(charges), 250, '{charges}');
  wanted := erp.priced_refunds(present, erp.wanted_refunds(present, lines) || array(
    select row (1000 + c.ordinality, null, c.return_order_line_item_id, 0, c.amount, c.amount is not null
      )::erp.refunded_line
    from unnest(charges) with ordinality c order by c.ordinality));
  if wanted = '{}' then
    perform mutation.refuse('REQUIRED', 'Nothing has come back that is not refunded yet: name lines.',
      '{lines}');
  end if;
  perform erp.require_refunds(present, wanted);
  if makes_credit_notes then
    select c.documents, c.refunds into documents, wanted from erp.credit_refunds(present, wanted) c;
  end if;
  update erp.return_order_line_item i
  set refunded_quantity = i.refunded_quantity + w.quantity, refund_amount = i.refund_amount + w.amount
  from unnest(wanted) w where i.id = w.return_order_line_item_id;
  insert into erp.return_order_charge as c (return_order_id, order_line_item_id, refund_amount)
  select present.id, w.order_line_item_id, w.amount from unnest(wanted) w
  where w.return_order_line_item_id is null
  on conflict on constraint return_order_charge_pkey
    do update set refund_amount = c.refund_amount + excluded.refund_amount;
  insert into erp.return_order_document (return_order_id, document_id)
  select present.id, d from unnest(documents) d;
  update erp.return_order r
  set refund_amount = r.refund_amount + (select sum(w.amount) from unnest(wanted) w),
    refunded_at = date_trunc('second', now())
  where r.id = present.id;
  return documents;
end
$$;
comment on function erp.refund_return(uuid, erp.refund_line[], erp.refund_line[], boolean) is
  'Records what the customer gets back for a return: for its lines, by default all units that came back, and '
  'for charges, which are other lines of the order. It can make the credit notes, too, and returns them. '
  'User errors NOT_FOUND, INVALID_STATE_TRANSITION, INVALID, REQUIRED, OUT_OF_RANGE, NOT_UNIQUE, '
  'TOO_MANY_LINES, and the errors of erp.credit_refunds.';
select api_meta.plan_by_index('erp.refund_return(uuid, erp.refund_line[], erp.refund_line[], boolean)');
grant execute on function erp.refund_return(uuid, erp.refund_line[], erp.refund_line[], boolean)
  to service_writer;
--! EndIncluded erp/refund_return.sql
--! Included erp/require_no_returns.sql
create or replace function erp.require_no_returns(fulfillment_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  returns text[];
begin
  select array_agg(distinct r.number order by r.number) into returns
  from (
    select a.destination_order_line_item_id as order_line_id, array_agg(i.id) as lines,
      sum(i.quantity) as quantity
    from erp.fulfillment_line_item i
    join erp.fulfillment_order_line_item a on a.id = i.fulfillment_order_line_item_id
    where i.fulfillment_id = require_no_returns.fulfillment_id group by 1
  ) f
  join erp.sales_order_line_item o on o.id = f.order_line_id
  join erp.return_order_line_item l on l.order_line_item_id = o.id
  join erp.return_order r on r.id = l.return_order_id
    and erp.claimed_units(r.state, l.quantity, l.received_quantity) > 0
  where l.fulfillment_line_item_id = any (f.lines) or o.shipped_quantity - f.quantity < o.returned_quantity;
  if returns is not null then
    perform mutation.refuse('RETURN_EXISTS', format('Units of the fulfillment come back by return %s. Cancel '
      'it if nothing has arrived; units that have come back stay returned.', returns[1]), '{id}',
      jsonb_build_object('returnOrderNumbers', returns));
  end if;
end
$$;
comment on function erp.require_no_returns(uuid) is
  'Refuses to cancel a fulfillment whose units returns claim, or have brought back. The orders are locked. '
  'User error RETURN_EXISTS.';
select api_meta.plan_by_index('erp.require_no_returns(uuid)');
grant execute on function erp.require_no_returns(uuid) to service_writer;
--! EndIncluded erp/require_no_returns.sql
--! Included erp/cancel_fulfillment.sql
create or replace function erp.cancel_fulfillment(fulfillment_id uuid, note text) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.fulfillment;
  wanted text;
  orders uuid[];
  fulfillment_orders uuid[];
  stock_movements uuid[];
begin
  fulfillment_orders := array(
    select p.fulfillment_order_id
    from erp.fulfillment_order_fulfillment p
    where p.fulfillment_id = cancel_fulfillment.fulfillment_id
    order by 1);
  orders := array(
    select distinct f.destination_order_id from erp.fulfillment_order f
    where f.id = any (fulfillment_orders) and f.destination_order_id is not null order by 1);
  perform ledger.lock_orders(orders, fulfillment_orders);
  select * into present from erp.fulfillment f where f.id = fulfillment_id for no key update;
  if not found then
    perform mutation.refuse_missing('fulfillment', '{id}');
  elsif exists (
    select from erp.fulfillment_order f where f.id = any (fulfillment_orders) and f.type = 'ExternalToOrder'
  ) then
    perform mutation.refuse('EXTERNALLY_MANAGED', 'The fulfillment is managed externally.', '{id}');
  end if;
  wanted := erp.next_state('fulfillment', 'cancel', present.state);
  perform erp.require_no_returns(present.id);
  perform from erp.location l
  where l.id in (
    select f.source_warehouse_location_id from erp.fulfillment_order f where f.id = any (fulfillment_orders)
  )
  order by l.id for key share;

  stock_movements := ledger.take_back(present.id, note);
  update erp.fulfillment f set state = wanted where f.id = present.id;
  -- Cancelled orders get no more work
  update erp.fulfillment_order f set state = erp.next_state('fulfillment_order', 'reopen', f.state)
  from erp.sales_order o
  where f.id = any (fulfillment_orders) and f.state = 'Closed' and o.id = f.destination_order_id
    and o.state <> 'cancelled';
  perform erp.unsettle_order(o.id) from unnest(orders) o (id);
  return row (
    orders[1], array[present.id], fulfillment_orders, stock_movements, erp.cancel_invoices_of(present.id)
  )::erp.shipment;
end
$$;
comment on function erp.cancel_fulfillment(uuid, text) is
  'Cancels a fulfillment: books its units back, opens its quantities again, and cancels the invoices over '
  'it (erp.cancel_invoices_of). User errors NOT_FOUND, EXTERNALLY_MANAGED, INVALID, '
  'INVALID_STATE_TRANSITION, RETURN_EXISTS, and the user errors of ledger.take_back.';
select api_meta.plan_by_index('erp.cancel_fulfillment(uuid, text)');
grant execute on function erp.cancel_fulfillment(uuid, text) to service_writer;
--! EndIncluded erp/cancel_fulfillment.sql

-- Goods receipts
--! Included erp/resolve_goods_receipt_lines.sql
create or replace function erp.resolve_goods_receipt_lines(
  target erp.goods_receipt, lines erp.goods_receipt_line[]
)
returns erp.goods_receipt_line[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Batches that are given by a new number are made
  insert into erp.batch (product_id, number)
  select l.product_id, l.batch_number from unnest(lines) with ordinality l
  where l.batch_number is not null and l.batch_id is null
    and exists (select from erp.product p where p.id = l.product_id)
  group by l.product_id, l.batch_number order by min(l.ordinality)
  on conflict (product_id, number) do nothing;
  return array(
    select row (l.id, l.product_id, l.quantity, coalesce(l.batch_id, b.id), l.batch_number,
      coalesce(o.id, s.id),
      coalesce(o.supplier_order_id, l.supplier_order_id), l.return_order_id, l.unit_price, l.tax_rate,
      l.planned_disposal_quantity, l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(lines) with ordinality l
    left join erp.batch b on b.product_id = l.product_id and b.number = l.batch_number
    left join lateral (
      -- An order without a line means its line of this product: the first that still expects some, or has
      -- some to return
      select i.id from erp.supplier_order_line_item i
      where l.supplier_order_line_item_id is null and i.supplier_order_id = l.supplier_order_id
        and i.product_id = l.product_id
      order by case when l.quantity > 0 then i.open_quantity else i.received_quantity end = 0, i."position",
        i.id
      limit 1
    ) s on true
    left join erp.supplier_order_line_item o on o.id = l.supplier_order_line_item_id
    order by l.ordinality
  );
end
$$;
comment on function erp.resolve_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Fills in what lines of a goods receipt name indirectly: batches by number, which are created if they are '
  'new, and lines of supplier orders by the order. The lines must have been checked before.';
grant execute on function erp.resolve_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/resolve_goods_receipt_lines.sql
--! Included erp/set_goods_receipt_lines.sql
create or replace function erp.set_goods_receipt_lines(
  target erp.goods_receipt, given erp.goods_receipt_line[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  lines erp.goods_receipt_line[];
  ids uuid[];
  discount constant numeric := target.position_price
    - case target.tax_status when 'gross' then target.amount_total else target.amount_net end;
begin
  perform erp.check_goods_receipt_lines(target, given);
  lines := erp.resolve_goods_receipt_lines(target, given);
  ids := erp.line_ids(array(select l.id from unnest(lines) with ordinality l order by l.ordinality));
  delete from erp.goods_receipt_line_item i where i.goods_receipt_id = target.id and i.id <> all (ids);

  insert into erp.goods_receipt_line_item as i (id, goods_receipt_id, product_id, batch_id, return_order_id,
    return_order_line_item_id, supplier_order_id,
    supplier_order_line_item_id, destination_bin_location_id, quantity, planned_disposal_quantity, unit_price,
      tax_rate)
  select ids[l.ordinality], target.id, l.product_id, l.batch_id,
    coalesce(r.return_order_id, l.return_order_id), r.id, l.supplier_order_id,
    l.supplier_order_line_item_id,
    l.destination_bin_location_id, l.quantity, coalesce(l.planned_disposal_quantity, 0),
    coalesce(l.unit_price,
      case when s.id is not null then erp.price_on_receipt(target, s.id, l.tax_rate) end),
    coalesce(l.tax_rate, s.tax_rate, p.tax_rate)
  from unnest(lines) with ordinality l join erp.product p on p.id = l.product_id
  left join erp.supplier_order_line_item s on s.id = l.supplier_order_line_item_id
  -- A line may name the line of a return in place of the return
  left join erp.return_order_line_item r on r.id = l.return_order_id
  order by l.ordinality
  on conflict (id) do update
  set product_id = excluded.product_id, batch_id = excluded.batch_id,
    return_order_id = excluded.return_order_id,
    return_order_line_item_id = excluded.return_order_line_item_id,
    supplier_order_id = excluded.supplier_order_id,
      supplier_order_line_item_id = excluded.supplier_order_line_item_id,
    destination_bin_location_id = excluded.destination_bin_location_id, quantity = excluded.quantity,
    planned_disposal_quantity = excluded.planned_disposal_quantity, unit_price = excluded.unit_price,
      tax_rate = excluded.tax_rate;

  insert into erp.goods_receipt_supplier_order (goods_receipt_id, supplier_order_id)
  select distinct target.id, l.supplier_order_id from unnest(lines) l where l.supplier_order_id is not null
  on conflict do nothing;

  update erp.goods_receipt r
  set amount_net = a.amount_net, amount_total = a.amount_total, position_price = a.position_price
  from (
    select (erp.amounts(target.tax_status, array_agg(i.total_price), array_agg(i.tax_rate), discount)).*
    from erp.goods_receipt_line_item i where i.goods_receipt_id = target.id
  ) a where r.id = target.id;
  perform erp.warn_of_lines(target, ids);
  perform erp.warn_of_conversions(target, lines);
end
$$;
comment on function erp.set_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Sets the lines of a goods receipt: lines with an id are updated, others are inserted, and missing ones '
  'deleted. They are listed in this order, except that existing lines keep their order among themselves. '
  'Omitted prices and tax rates come from the supplier order, converted if its currency differs, and from '
  'the product. Warns about units that the orders do not have open.';
grant execute on function erp.set_goods_receipt_lines(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/set_goods_receipt_lines.sql
--! Included erp/faults_of_things_named.sql
create or replace function erp.faults_of_things_named(
  target erp.goods_receipt, lines erp.goods_receipt_line[]
)
returns table (line bigint, code text, message text, field text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return query
    select l.ordinality, case when b.id is null then 'NOT_FOUND' else 'BATCH_MISMATCH' end,
      case
        when b.id is null then 'There is no such batch.'
        else format('Batch %s belongs to another product.', b.number) end,
      'batch_id'
    from unnest(lines) with ordinality l left join erp.batch b on b.id = l.batch_id
    where l.batch_id is not null and b.product_id is distinct from l.product_id
    union all
    select l.ordinality, 'INVALID', 'The batch has another number.', 'batch_number'
    from unnest(lines) with ordinality l
    join erp.batch b on b.id = l.batch_id
    where l.batch_number <> b.number
    union all
    select l.ordinality, 'OUT_OF_RANGE',
      'Each unit has a serial number: a line has one unit, or -1 to take it back.', 'quantity'
    from unnest(lines) with ordinality l join erp.product p on p.id = l.product_id
    where p.has_serial_numbers and abs(l.quantity) > 1
    union all
    select l.ordinality, 'INVALID', 'Only receipts of type Customer name return orders.', 'return_order_id'
    from unnest(lines) with ordinality l where target.type <> 'Customer' and l.return_order_id is not null
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such return.', 'return_order_id'
    from unnest(lines) with ordinality l where l.return_order_id is not null
      and not exists (select from erp.return_order r where r.id = l.return_order_id)
      and not exists (select from erp.return_order_line_item i where i.id = l.return_order_id)
    union all
    select l.ordinality, 'INVALID', 'The line of the return is about another product: add a line about this '
      'one to the return.', 'return_order_line_item_id'
    from unnest(lines) with ordinality l join erp.return_order_line_item i on i.id = l.return_order_id
    where i.product_id <> l.product_id
    union all
    select l.ordinality, 'INVALID', 'The warehouse of the receipt has no such bin.',
      'destination_bin_location_id'
    from unnest(lines) with ordinality l where l.destination_bin_location_id is not null and not exists (
      select from erp.bin_location b
      where b.id = l.destination_bin_location_id and b.warehouse_id = target.warehouse_id);
end
$$;
comment on function erp.faults_of_things_named(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Returns what is wrong with the batches, serial numbers, return orders and bins that lines of a goods '
  'receipt name.';
grant execute on function erp.faults_of_things_named(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/faults_of_things_named.sql
drop function if exists erp.put_away_drafts(erp.goods_receipt, erp.placement[]);
--! Included erp/put_away_drafts.sql
create or replace function erp.put_away_drafts(
  receipt erp.goods_receipt, placements erp.placement[], outcomes text[]
)
returns ledger.draft[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select row ('{id}', d.product_id, d.quantity, d.batch_id, 'goods_receipt', (receipt).id::text, d.type,
      d.place,
      erp.goods_receipt_process((receipt).type))::ledger.draft
    from (
      select l.id, l.product_id, l.batch_id, p.quantity,
        case when outcomes[p.line] = 'dispose' then 'special_stock_location' else t.type end,
        case when outcomes[p.line] = 'dispose' then 'stock_correction' else t.place end, p.line as "position"
      from unnest(placements) p join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id
      cross join lateral ledger.place_of(p.warehouse_id, p.bin_location_id) t
      union all
      select l.id, l.product_id, l.batch_id, l.quantity - l.planned_disposal_quantity, t.type, t.place, 0
      from erp.goods_receipt_line_item l cross join lateral erp.put_away_place(receipt, l) t
      where l.goods_receipt_id = (receipt).id and l.quantity > l.planned_disposal_quantity
        and not exists (select from unnest(placements) p where p.goods_receipt_line_item_id = l.id)
      union all
      select l.id, l.product_id, l.batch_id, l.planned_disposal_quantity, 'special_stock_location',
        'stock_correction', 1000
      from erp.goods_receipt_line_item l
      where l.goods_receipt_id = (receipt).id and l.planned_disposal_quantity > 0
      union all
      select l.id, l.product_id, l.batch_id, - l.quantity,
        case
          when (receipt).type = 'Customer' and l.return_order_id is not null then 'return_order'
          else 'special_stock_location' end,
        case
          when (receipt).type = 'Customer' and l.return_order_id is not null then l.return_order_id::text
          else 'unknown' end,
          0
      from erp.goods_receipt_line_item l where l.goods_receipt_id = (receipt).id and l.quantity < 0
    ) d (id, product_id, batch_id, quantity, type, place, "position")
    where d.product_id is not null order by d.id, d."position"
  );
end;
comment on function erp.put_away_drafts(erp.goods_receipt, erp.placement[], text[]) is
  'Returns the movements that complete a goods receipt. Units go from its place to where its lines are put '
  'away, or to stock_correction if they are to be thrown away. Units of negative lines go where their goods '
  'are returned to.';
grant execute on function erp.put_away_drafts(erp.goods_receipt, erp.placement[], text[]) to service_writer;
--! EndIncluded erp/put_away_drafts.sql
drop function if exists erp.check_placements(erp.goods_receipt, erp.placement[]);
--! Included erp/check_placements.sql
create or replace function erp.check_placements(
  receipt erp.goods_receipt, placements erp.placement[], outcomes text[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('put_away', e.line) || e.field) order by e.line
  )
  into errors
  from (
    select p.line, 'NOT_FOUND', 'The receipt has no such line.', '{goods_receipt_line_item_id}'::text[]
    from unnest(placements) p where not exists (
      select from erp.goods_receipt_line_item l
      where l.id = p.goods_receipt_line_item_id and l.goods_receipt_id = receipt.id and l.quantity > 0)
    union all
    select p.line, 'OUT_OF_RANGE', 'The quantity must be at least 1.', '{quantity}'
    from unnest(placements) p
    where p.quantity < 1
    union all
    select p.line, 'INVALID', 'An outcome is restock, quarantine or dispose.', '{outcome}'
    from unnest(placements) p where outcomes[p.line] not in ('restock', 'quarantine', 'dispose')
    union all
    select p.line, 'INVALID', 'Units that are thrown away are put nowhere.', '{place}'
    from unnest(placements) p
    where outcomes[p.line] = 'dispose' and num_nonnulls(p.warehouse_id, p.bin_location_id) > 0
    union all
    select p.line, 'INVALID', case outcomes[p.line]
        when 'restock' then 'Units there cannot be sold: quarantine them, or name another place.'
        else 'Units there can be sold: name a bin whose state is not sellable, or hold the batch.' end,
      '{place}'
    from unnest(placements) p join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id
    cross join lateral erp.placed_state(p.bin_location_id, l.batch_id) s (state)
    where outcomes[p.line] = 'quarantine' and s.state = 'sellable'
      or outcomes[p.line] = 'restock' and s.state <> 'sellable'
    union all
    select p.line, 'INVALID', 'Name the warehouse of the receipt or one of its bins.', '{place}'
    from unnest(placements) p
    where outcomes[p.line] is distinct from 'dispose'
        and num_nonnulls(p.warehouse_id, p.bin_location_id) <> 1
      or p.warehouse_id <> receipt.warehouse_id
      or p.bin_location_id is not null and not exists (
        select from erp.bin_location b
        where b.id = p.bin_location_id and b.warehouse_id = receipt.warehouse_id)
  ) e (line, code, message, field);
  perform mutation.refuse(errors);

  select jsonb_agg(mutation.user_error('INVALID',
    format('%s units are put away, but the line has %s.', s.placed, s.wanted),
    mutation.path('put_away', s.line, 'quantity'),
      jsonb_build_object('placed', s.placed, 'expected', s.wanted)) order by s.line) into errors
  from (
    select min(p.line) as line, sum(p.quantity) as placed, l.quantity - l.planned_disposal_quantity as wanted
    from unnest(placements) p
    join erp.goods_receipt_line_item l on l.id = p.goods_receipt_line_item_id
    group by l.id
  ) s where s.placed <> s.wanted;
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_placements(erp.goods_receipt, erp.placement[], text[]) is
  'Refuses placements that do not fit the lines of a goods receipt or its warehouse. User errors '
  'NOT_FOUND, OUT_OF_RANGE, INVALID.';
grant execute on function erp.check_placements(erp.goods_receipt, erp.placement[], text[]) to service_writer;
--! EndIncluded erp/check_placements.sql
--! Included erp/approve_goods_receipt.sql
create or replace function erp.approve_goods_receipt(goods_receipt_id uuid) returns ledger.booked
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  new_state constant text := erp.next_state('goods_receipt', 'approve', present.state);
  errors jsonb;
  drafts ledger.draft[] := '{}';
  booked ledger.booked;
begin
  if present.type = 'Customer' then
    perform erp.lock_returns_of(present.id);
  end if;
  if present.warehouse_id is null then
    perform mutation.refuse('REQUIRED', 'The receipt has no warehouse any more.', '{id}');
  end if;
  select jsonb_agg(e.error order by e.id) into errors
  from (
    select l.id,
      mutation.user_error('BATCH_REQUIRED',
        format('Product %s is kept in batches: its line must name one.', p.product_number), '{id}',
      jsonb_build_object('productNumber', p.product_number)) as error
    from erp.goods_receipt_line_item l join erp.product p on p.id = l.product_id
    where l.goods_receipt_id = present.id and p.is_batch_managed and l.batch_id is null
    union all
    select l.id,
      mutation.user_error('REQUIRED',
        format('The line of product %s must name its return order.', p.product_number), '{id}',
      jsonb_build_object('productNumber', p.product_number))
    from erp.goods_receipt_line_item l join erp.product p on p.id = l.product_id
    where l.goods_receipt_id = present.id and present.type = 'Customer' and l.quantity > 0
      and l.return_order_id is null
  ) e;
  perform mutation.refuse(errors);
  if present.type = 'Customer' then
    perform erp.require_returns(present);
    drafts := erp.return_drafts(present);
  end if;
  if not exists (select from erp.goods_receipt_line_item l where l.goods_receipt_id = present.id) then
    perform mutation.refuse('REQUIRED', 'The receipt has no lines.', '{id}');
  end if;

  booked := ledger.post(drafts || array(
    select row ('{id}', l.product_id, abs(l.quantity), l.batch_id,
      case
        when l.quantity < 0 then p.type
        when present.type = 'Customer' then 'return_order'
        else 'special_stock_location' end,
      case
        when l.quantity < 0 then p.place
        when present.type = 'Customer' then l.return_order_id::text
        else 'unknown' end,
      'goods_receipt', present.id::text, erp.goods_receipt_process(present.type))::ledger.draft
    from erp.goods_receipt_line_item l cross join lateral erp.put_away_place(present, l) p
    where l.goods_receipt_id = present.id and l.product_id is not null order by l.id
  ), null);
  update erp.goods_receipt r set state = new_state where r.id = present.id;
  return booked;
end
$$;
comment on function erp.approve_goods_receipt(uuid) is
  'Approves a goods receipt: books its lines to the place of the receipt, from the return order or from '
  'unknown, and negative lines from where the units are. Units of a line of a return come from its order, '
  'through the return, in the same booking.';
grant execute on function erp.approve_goods_receipt(uuid) to service_writer;
--! EndIncluded erp/approve_goods_receipt.sql
drop function if exists erp.complete_goods_receipt(uuid, erp.placement[]);
--! Included erp/complete_goods_receipt.sql
create or replace function erp.complete_goods_receipt(
  goods_receipt_id uuid, placements erp.placement[], outcomes text[] default '{}'
)
returns ledger.booked
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := date_trunc('second', ledger.moment());
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  new_state constant text := erp.next_state('goods_receipt', 'complete', present.state);
  parts erp.receipt_part[];
  deliveries erp.delivery[];
  given_back ledger.draft[] := '{}';
  booked ledger.booked;
begin
  if present.type = 'Customer' then
    perform erp.lock_returns_of(present.id);
    given_back := erp.give_back_drafts(present);
  end if;
  -- After the receipt and before the stock, always in this order. From here on no other transaction delivers
  -- these orders
  perform from erp.supplier_order o where o.id = any (array(
    select coalesce(i.supplier_order_id, l.supplier_order_id) from erp.goods_receipt_line_item l
    left join erp.supplier_order_line_item i on i.id = l.supplier_order_line_item_id
    where l.goods_receipt_id = present.id
  )) order by o.id for no key update;
  if cardinality(placements) > 0 then
    perform erp.check_placements(present, placements, outcomes);
  end if;
  parts := array(
    select row (case when a.nth = 1 then l.id else uuidv7() end, l.id, a.nth, l.supplier_order_id,
      a.supplier_order_id, a.supplier_order_line_item_id, a.quantity)::erp.receipt_part
    from erp.allotment(present.id) a join erp.goods_receipt_line_item l on l.id = a.goods_receipt_line_item_id
    order by l.id, a.nth
  );
  deliveries := erp.deliveries(present.id, parts);
  booked := ledger.post(erp.put_away_drafts(present, placements, outcomes) || given_back, null, array(
    select row (d.product_id, null, 0, 0, d.awaited)::ledger.figure_change
    from unnest(deliveries) d where d.product_id is not null and d.awaited <> 0
  ));

  update erp.goods_receipt r set state = new_state, goods_receipt_date_time = moment where r.id = present.id;
  if present.type = 'Customer' then
    perform erp.keep_outcomes(present, placements, outcomes);
  end if;
  perform erp.settle_receipt_lines(present.id, parts);
  perform ledger.write_deliveries(deliveries, moment);
  update erp.supplier_order o
  set state = d.new_state,
    -- If a person completed it, its delivery date no longer follows from its lines
    actual_delivery_date = case when d.is_complete then coalesce(o.actual_delivery_date, moment)
      when o.state = 'completed' then o.actual_delivery_date end
  from (select distinct d.supplier_order_id, d.new_state, d.is_complete from unnest(deliveries) d) d
  where o.id = d.supplier_order_id;
  return booked;
end
$$;
comment on function erp.complete_goods_receipt(uuid, erp.placement[], text[]) is
  'Completes a goods receipt. Books its lines from the place of the receipt to where they are put away, and '
  'units to be thrown away to stock_correction, and records what arrived of supplier orders. A line without '
  'placements goes to its own bin, the usual bin, or the warehouse. All units are booked, including units '
  'that no order has open: these become lines of their own. An outcome says of a placement, by its place in '
  'the input: restock, quarantine or dispose.';
select api_meta.plan_by_index('erp.complete_goods_receipt(uuid, erp.placement[], text[])');
grant execute on function erp.complete_goods_receipt(uuid, erp.placement[], text[]) to service_writer;
--! EndIncluded erp/complete_goods_receipt.sql
--! Included erp/delete_goods_receipt.sql
create or replace function erp.delete_goods_receipt(goods_receipt_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
begin
  perform erp.lock_returns_of(present.id);
  if present.state = 'completed'
    or exists (select from ledger.stock_movement m where m.source_goods_receipt_id = present.id) then
    perform mutation.refuse(
      'NOT_EDITABLE', 'Stock has left the receipt. Correct it by another receipt with negative quantities.',
      '{id}'
    );
  end if;
  -- Approved goods are booked back. Returned goods came from the order in the same booking, and go back there
  perform ledger.post(array(
    select row ('{id}', m.product_id, coalesce(b.quantity, m.quantity), b.batch_id,
      m.destination_location_type_technical_name,
      coalesce(m.destination_goods_receipt_id, m.destination_return_order_id)::text,
      case when f.place is null then 'special_stock_location' else f.location_type_technical_name end,
        coalesce(f.place, 'unknown'),
      m.process_type_technical_name)::ledger.draft
    from (
      select a.* from ledger.stock_movement a where a.destination_goods_receipt_id = present.id
      union all
      select r.* from ledger.stock_movement r
      where present.type = 'Customer' and r.destination_return_order_id in (
          select l.return_order_id from erp.goods_receipt_line_item l where l.goods_receipt_id = present.id)
        and r.booking_id in (
          select a.booking_id from ledger.stock_movement a where a.destination_goods_receipt_id = present.id)
    ) m
    join ledger.flow f on f.movement_id = m.id and f.direction = -1
    left join ledger.stock_movement_batch b on b.stock_movement_id = m.id
    order by m.id, b.batch_id
  ), null);
  delete from erp.goods_receipt r where r.id = present.id;
  return present.id;
end
$$;
comment on function erp.delete_goods_receipt(uuid) is
  'Deletes a goods receipt whose stock is still at its place. Approved goods are booked back first; '
  'movements are kept, without the receipt. Returns its id.';
grant execute on function erp.delete_goods_receipt(uuid) to service_writer;
--! EndIncluded erp/delete_goods_receipt.sql

-- The API
--! Included api/goods_receipt_line_input.sql
drop type if exists api_unstable.goods_receipt_line_input cascade;
create type api_unstable.goods_receipt_line_input as (
  id uuid, product_id uuid, quantity integer, batch_id uuid, batch_number text,
    supplier_order_line_item_id uuid, supplier_order_id uuid,
  return_order_id uuid, unit_price numeric, tax_rate numeric, planned_disposal_quantity integer,
    destination_bin_location_id uuid, return_order_line_item_id uuid
);
comment on type api_unstable.goods_receipt_line_input is 'A line of a goods receipt.';
comment on column api_unstable.goods_receipt_line_input.id is
  E'@gid GoodsReceiptLineItem\nId of the line, when it is there already; without it the line is new.';
comment on column api_unstable.goods_receipt_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.goods_receipt_line_input.quantity is
  E'@notNull\nUnits that come in. Negative takes back what an earlier receipt brought. Not 0.';
comment on column api_unstable.goods_receipt_line_input.batch_id is
  E'@gid Batch\nId of the batch that comes in.';
comment on column api_unstable.goods_receipt_line_input.batch_number is
  'Number of the batch that comes in; a new one is made when the product has none of this number.';
comment on column api_unstable.goods_receipt_line_input.supplier_order_line_item_id is
  E'@gid SupplierOrderLineItem\nId of the line of a supplier order that is delivered.';
comment on column api_unstable.goods_receipt_line_input.supplier_order_id is
  E'@gid SupplierOrder\nId of the supplier order whose lines with this product are delivered.';
comment on column api_unstable.goods_receipt_line_input.return_order_id is
  E'@gid ReturnOrder\n'
  'Id of the return that the goods come from, if no line of it does; on receipts of type Customer.';
comment on column api_unstable.goods_receipt_line_input.unit_price is
  'Price of one unit, in the currency of the receipt and by its tax status. By default the price of the '
  'supplier order, converted if the order has another currency or tax status.';
comment on column api_unstable.goods_receipt_line_input.tax_rate is
  'Tax rate in percent. By default the rate of the supplier order or of the product.';
comment on column api_unstable.goods_receipt_line_input.planned_disposal_quantity is
  'Units that are to be thrown away instead of stocked. 0 when left out.';
comment on column api_unstable.goods_receipt_line_input.destination_bin_location_id is
  E'@gid BinLocation\nId of the bin that the units are to be put into.';
comment on column api_unstable.goods_receipt_line_input.return_order_line_item_id is
  E'@gid ReturnOrderLineItem\n'
  'Id of the line of a return whose units arrive; on receipts of type Customer. It names the return, too.';
--! EndIncluded api/goods_receipt_line_input.sql
--! Included api/goods_receipt_create.sql
drop type if exists api_unstable.goods_receipt_create_input cascade;
create type api_unstable.goods_receipt_create_input as (
  type text, warehouse_id uuid, supplier_id uuid, customer_id uuid, currency_id uuid, currency_factor numeric,
    tax_status text, comment text,
  is_draft boolean, supplier_order_ids uuid[], line_items api_unstable.goods_receipt_line_input[]
);
comment on type api_unstable.goods_receipt_create_input is 'A new goods receipt.';
comment on column api_unstable.goods_receipt_create_input.type is
  E'@enum goods_receipt_type\n'
  'Origin of the goods. By default Supplier if supplier orders are named, Customer if return orders or '
  'a customer are named, and otherwise Free.';
comment on column api_unstable.goods_receipt_create_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that receives the goods. When left out, the one where goods are received by '
  'default.';
comment on column api_unstable.goods_receipt_create_input.supplier_id is
  E'@gid Supplier\n'
  'Id of the supplier. By default the supplier of the supplier orders that are named here or by the '
  'lines. Orders of other suppliers are refused.';
comment on column api_unstable.goods_receipt_create_input.customer_id is
  E'@gid Customer\nId of the customer who sends goods back; on receipts of type Customer only.';
comment on column api_unstable.goods_receipt_create_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts. By default the currency of the first supplier order that is named '
  'here or by a line, or else the supplier''s currency.';
comment on column api_unstable.goods_receipt_create_input.currency_factor is
  'Exchange rate: units of the currency per unit of the default currency. By default the imported rate '
  'of the day, or else the shop''s own rate.';
comment on column api_unstable.goods_receipt_create_input.tax_status is
  'Whether prices are net, gross or tax-free. When left out, as on the first supplier order; net '
  'without one.';
comment on column api_unstable.goods_receipt_create_input.comment is 'Free note.';
comment on column api_unstable.goods_receipt_create_input.is_draft is
  E'@neverNull\nWhether the receipt is only a draft. False when left out.';
comment on column api_unstable.goods_receipt_create_input.supplier_order_ids is
  E'@gid SupplierOrder\n'
  'Ids of the supplier orders that are delivered. Orders that the lines name can be left out.';
comment on column api_unstable.goods_receipt_create_input.line_items is 'The lines, up to 250.';

create function api_unstable.goods_receipt_create(
  input api_unstable.goods_receipt_create_input, changes jsonb
)
returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_goods_receipt(changes - '{line_items,supplier_order_ids}'::text[], array(
    select row (l.id, l.product_id, l.quantity, l.batch_id, l.batch_number, l.supplier_order_line_item_id,
      l.supplier_order_id, coalesce(l.return_order_line_item_id, l.return_order_id),
      l.unit_price, l.tax_rate, l.planned_disposal_quantity,
        l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  ),
    coalesce(input.supplier_order_ids, '{}')), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function api_unstable.goods_receipt_create(api_unstable.goods_receipt_create_input, jsonb) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES '
  'SUPPLIER_MISMATCH\n'
  '@warnings SURPLUS ORDER_CANCELLED PRICE_CONVERTED\n'
  'Makes a goods receipt, with the next number of its range: as a draft, or ready to be approved. '
  'Nothing is booked yet. Its lines say what it is for: what is left out of type, supplier, currency, '
  'tax status and prices follows from the supplier orders that they name.';
--! EndIncluded api/goods_receipt_create.sql
--! Included api/goods_receipt_line_items_set.sql
drop type if exists api_unstable.goods_receipt_line_items_set_input cascade;
create type api_unstable.goods_receipt_line_items_set_input
  as (id uuid, line_items api_unstable.goods_receipt_line_input[]);
comment on type api_unstable.goods_receipt_line_items_set_input is 'The lines of a goods receipt.';
comment on column api_unstable.goods_receipt_line_items_set_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_unstable.goods_receipt_line_items_set_input.line_items is
  E'@notNull\nAll lines that the receipt is to have, up to 250. Lines that are not among them go.';

create function api_unstable.goods_receipt_line_items_set(
  input api_unstable.goods_receipt_line_items_set_input
)
returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.set_lines_of_goods_receipt(input.id, array(
    select row (l.id, l.product_id, l.quantity, l.batch_id, l.batch_number, l.supplier_order_line_item_id,
      l.supplier_order_id, coalesce(l.return_order_line_item_id, l.return_order_id),
      l.unit_price, l.tax_rate, l.planned_disposal_quantity,
        l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function
  api_unstable.goods_receipt_line_items_set(api_unstable.goods_receipt_line_items_set_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES '
  'SUPPLIER_MISMATCH\n'
  '@warnings SURPLUS ORDER_CANCELLED PRICE_CONVERTED\n'
  'Replaces the lines of a goods receipt that is not approved yet, and recomputes its totals. Lines are '
  'listed in the order of the input, except existing lines that swap places. A receipt without a '
  'supplier takes the supplier of the supplier orders that its lines name.';
--! EndIncluded api/goods_receipt_line_items_set.sql
--! Included api/put_away_input.sql
drop type if exists api_unstable.put_away_input cascade;
create type api_unstable.put_away_input
  as (goods_receipt_line_item_id uuid, place api_unstable.stock_place_input, quantity integer, outcome text);
comment on type api_unstable.put_away_input is 'A place where units of a line are put.';
comment on column api_unstable.put_away_input.goods_receipt_line_item_id is
  E'@notNull\n@gid GoodsReceiptLineItem\nId of the line.';
comment on column api_unstable.put_away_input.place is
  'The bin, or the warehouse for goods that lie outside of bins. Left out for goods that are thrown away.';
comment on column api_unstable.put_away_input.quantity is
  E'@notNull\nUnits; all entries of a line together are its quantity less what is thrown away.';
comment on column api_unstable.put_away_input.outcome is
  'The decision about the units. It is restock if they can be sold, and dispose if they are thrown away. It '
  'is quarantine if they wait, in a bin or batch that cannot be sold. Left out, the place says it.';
--! EndIncluded api/put_away_input.sql
--! Included api/goods_receipt_complete.sql
drop type if exists api_unstable.goods_receipt_complete_input cascade;
create type api_unstable.goods_receipt_complete_input as (id uuid, put_away api_unstable.put_away_input[]);
comment on type api_unstable.goods_receipt_complete_input is 'A goods receipt to complete.';
comment on column api_unstable.goods_receipt_complete_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_unstable.goods_receipt_complete_input.put_away is
  'Places where the goods were put. Any other line goes to its own bin, or else to the usual bin of the '
  'product, or else to the warehouse.';

create function api_unstable.goods_receipt_complete(input api_unstable.goods_receipt_complete_input)
returns api_unstable.goods_receipt_booking_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, b.stock_movements, b.stocks, null, null)::api_unstable.goods_receipt_booking_payload
  from erp.complete_goods_receipt(input.id, array(
    select row (
      p.ordinality, p.goods_receipt_line_item_id, (p.place).warehouse_id, (p.place).bin_location_id,
      p.quantity
    )::erp.placement
    from unnest(input.put_away) with ordinality p order by p.ordinality
  ), array(select p.outcome from unnest(input.put_away) with ordinality p order by p.ordinality)) b
$$;
comment on function api_unstable.goods_receipt_complete(api_unstable.goods_receipt_complete_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION INVALID OUT_OF_RANGE INSUFFICIENT_STOCK\n'
  '@warnings SURPLUS ORDER_CANCELLED PRODUCT_HAS_VARIANTS STOCK_PROMISED\n'
  'Completes an approved goods receipt: books the goods to where they were put away, and what is thrown '
  'away to stock_correction. Lines of supplier orders become received, and their orders '
  'partially_delivered or delivered, or less than that after a correction. All that came is booked: '
  'what fits on no line of the order that a line names, by now, becomes a line without an order. Lines of '
  'returns know what became of their units.';
--! EndIncluded api/goods_receipt_complete.sql
--! Included api/goods_receipt_approve.sql
drop type if exists api_unstable.goods_receipt_approve_input cascade;
create type api_unstable.goods_receipt_approve_input as (id uuid);
comment on type api_unstable.goods_receipt_approve_input is 'A goods receipt to approve.';
comment on column api_unstable.goods_receipt_approve_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

create function api_unstable.goods_receipt_approve(input api_unstable.goods_receipt_approve_input)
returns api_unstable.goods_receipt_booking_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, b.stock_movements, b.stocks,
    null, null)::api_unstable.goods_receipt_booking_payload from erp.approve_goods_receipt(input.id) b
$$;
comment on function api_unstable.goods_receipt_approve(api_unstable.goods_receipt_approve_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED BATCH_REQUIRED INSUFFICIENT_STOCK '
  'OUT_OF_RANGE SERIAL_NUMBER_IN_STOCK BATCH_MISMATCH EXCEEDS_SHIPPED\n'
  '@warnings PRODUCT_HAS_VARIANTS STOCK_PROMISED SURPLUS\n'
  'Approves a goods receipt: the goods have arrived. Books the lines to the place of the receipt: from '
  'the return orders for receipts of type Customer, and otherwise from the special place unknown. Lines '
  'with a negative quantity are booked from the place of the goods. Units of a line of a return come from '
  'its order, in the batches that were shipped, or from unknown while nobody knows the order.';
--! EndIncluded api/goods_receipt_approve.sql
--! Included api/fulfillment_cancel.sql
drop type if exists api_unstable.fulfillment_cancel_payload cascade;
create type api_unstable.fulfillment_cancel_payload as (
  fulfillment uuid, fulfillment_orders uuid[], stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_cancel_payload is 'The result of cancelling a fulfillment.';
comment on column api_unstable.fulfillment_cancel_payload.fulfillment is
  E'@entity Fulfillment\nThe fulfillment as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_cancel_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\nThe fulfillment orders whose quantities are open again.';
comment on column api_unstable.fulfillment_cancel_payload.stock_movements is
  E'@entity StockMovement\nThe movements that brought the units back.';
comment on column api_unstable.fulfillment_cancel_payload.documents is
  E'@entity Document\n'
  'The cancellation of the invoice over the fulfillment, and a new invoice over what else it charged; '
  'empty when it was not invoiced.';
comment on column api_unstable.fulfillment_cancel_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.fulfillment_cancel_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.fulfillment_cancel_input cascade;
create type api_unstable.fulfillment_cancel_input as (id uuid, comment text);
comment on type api_unstable.fulfillment_cancel_input is 'A fulfillment to cancel.';
comment on column api_unstable.fulfillment_cancel_input.id is
  E'@notNull\n@gid Fulfillment\nId of the fulfillment.';
comment on column api_unstable.fulfillment_cancel_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.fulfillment_cancel(input api_unstable.fulfillment_cancel_input)
returns api_unstable.fulfillment_cancel_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders, s.stock_movements, s.documents,
    null, null)::api_unstable.fulfillment_cancel_payload
  from erp.cancel_fulfillment(input.id, input.comment) s
$$;
comment on function api_unstable.fulfillment_cancel(api_unstable.fulfillment_cancel_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION INVALID INSUFFICIENT_STOCK '
  'BATCH_REQUIRED OUT_OF_RANGE SERIAL_NUMBER_IN_STOCK RETURN_EXISTS\n'
  '@warnings DOCUMENT_INCOMPLETE DOCUMENT_NOT_MADE\n'
  'Cancels a fulfillment: books its units back to where they came from, by the process '
  'cancelled_fulfillment, or to the warehouse when a bin is gone. Its quantities are open again, closed '
  'fulfillment orders too, and the states of the order go back. Tracking codes stay. An invoice over it '
  'is cancelled by a document of its own (storno); what it charged of other parcels is charged by a new '
  'invoice. An invoice that a credit note has taken back needs none.';
--! EndIncluded api/fulfillment_cancel.sql
--! Included api/return_reasons.sql
create view api_unstable.return_reasons with (security_invoker = true) as
select code, description, is_active from erp.return_reason;
comment on view api_unstable.return_reasons is $$
@primaryKey code
@requiresScopes return_orders:read
@filters code,is_active
A reason for which customers send goods back.$$;
--! EndIncluded api/return_reasons.sql
--! Included api/return_orders.sql
create view api_unstable.return_orders with (security_invoker = true) as
select id, number, state, order_id, customer_id, reference, comment, withdrawal_date, requested_at, closed_at,
  refusal_reason, replacement_order_id, refund_amount, refunded_at, created_at, updated_at
from erp.return_order;
comment on view api_unstable.return_orders is
  E'@primaryKey id\n'
  '@requiresScopes return_orders:read\n'
  '@aggregates refund_amount,requested_at\n'
  '@groupBy state,customer_id,requested_at\n'
  '@filters number,state,order_id,customer_id,reference,withdrawal_date,requested_at,replacement_order_id\n'
  '@foreignKey (order_id) references orders (id)|@fieldName order|@foreignFieldName returnOrders\n'
  '@foreignKey (customer_id) references customers (id)|@fieldName customer|@foreignFieldName returnOrders\n'
  '@foreignKey (replacement_order_id) references orders (id)|@fieldName replacementOrder|@foreignFieldName '
  'replacedReturnOrders\n'
  '@ref documents to:Document plural\n'
  '@refVia documents '
  'via:(id)->return_order_documents(return_order_id);(document_id)->documents(id)\n'
  'Goods that a customer sends back, or wants to: a return of an order, or a parcel that nobody announced.';
--! EndIncluded api/return_orders.sql
--! Included api/return_order_line_items.sql
create view api_unstable.return_order_line_items with (security_invoker = true) as
select id, return_order_id, fulfillment_line_item_id, order_line_item_id, product_id, batch_id, quantity,
  reason, wanted_outcome, received_quantity, restocked_quantity, quarantined_quantity, disposed_quantity,
  missing_quantity, refunded_quantity, refund_amount
from erp.return_order_line_item;
comment on view api_unstable.return_order_line_items is
  E'@primaryKey id\n'
  '@requiresScopes return_orders:read\n'
  '@aggregates quantity,received_quantity,restocked_quantity,quarantined_quantity,disposed_quantity,'
  'missing_quantity,refunded_quantity,refund_amount\n'
  '@groupBy product_id,reason,return_order_id\n'
  '@filters return_order_id,order_line_item_id,product_id,batch_id,reason\n'
  '@foreignKey (return_order_id) references return_orders (id)|@fieldName returnOrder|@foreignFieldName '
  'lineItems\n'
  '@foreignKey (fulfillment_line_item_id) references fulfillment_line_items (id)|@fieldName '
  'fulfillmentLineItem|@foreignFieldName returnOrderLineItems\n'
  '@foreignKey (order_line_item_id) references order_line_items (id)|@fieldName '
  'orderLineItem|@foreignFieldName returnOrderLineItems\n'
  '@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName '
  'returnOrderLineItems\n'
  '@foreignKey (batch_id) references batches (id)|@fieldName batch|@foreignFieldName returnOrderLineItems\n'
  'A line of a return: units of a product that come back, and what became of them.';
--! EndIncluded api/return_order_line_items.sql
--! Included api/return_order_documents.sql
create view api_unstable.return_order_documents with (security_invoker = true) as
select return_order_id, document_id from erp.return_order_document;
comment on view api_unstable.return_order_documents is $$
@primaryKey return_order_id,document_id
@behavior -*
@requiresScopes return_orders:read documents:read
@foreignKey (return_order_id) references return_orders (id)|@behavior -*
@foreignKey (document_id) references documents (id)|@behavior -*
Link between return_orders and documents; not a type of the API.$$;
--! EndIncluded api/return_order_documents.sql
--! Included api/goods_receipt_line_items.sql
create view api_unstable.goods_receipt_line_items with (security_invoker = true) as
select id, goods_receipt_id, product_id, batch_id, quantity, planned_disposal_quantity, return_order_id,
  supplier_order_id,
  unit_price, total_price, unit_price_in_default_currency, total_price_in_default_currency,
    destination_bin_location_id,
  supplier_order_line_item_id, return_order_line_item_id
from erp.goods_receipt_line_item;
comment on view api_unstable.goods_receipt_line_items is
  E'@primaryKey id\n'
  '@requiresScopes goods_receipts:read\n'
  '@hidden destination_bin_location_id,supplier_order_line_item_id,return_order_line_item_id\n'
  '@filters batch_id,goods_receipt_id,product_id,return_order_id,supplier_order_id,'
  'planned_disposal_quantity,quantity,total_price,total_price_in_default_currency,unit_price,'
  'unit_price_in_default_currency\n'
  '@foreignKey (batch_id) references batches (id)|@fieldName batch|@foreignFieldName '
  'goodsReceiptLineItems\n'
  '@foreignKey (destination_bin_location_id) references bin_locations (id)|@fieldName '
  'destinationBinLocation|@foreignFieldName destinationGoodsReceiptLineItems\n'
  '@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName '
  'goodsReceipt|@foreignFieldName lineItems\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  '@foreignKey (return_order_id) references return_orders (id)|@fieldName returnOrder|@foreignFieldName '
  'goodsReceiptLineItems\n'
  '@foreignKey (return_order_line_item_id) references return_order_line_items (id)|@fieldName '
  'returnOrderLineItem|@foreignFieldName goodsReceiptLineItems\n'
  '@foreignKey (supplier_order_id) references supplier_orders (id)|@fieldName '
  'supplierOrder|@foreignFieldName goodsReceiptLineItems\n'
  '@foreignKey (supplier_order_line_item_id) references supplier_order_line_items (id)|@behavior '
  '-singularRelation:resource:single|@foreignFieldName goodsReceiptLineItems\n'
  'A line of a goods receipt.';
--! EndIncluded api/goods_receipt_line_items.sql
--! Included api/stock_movements.sql
create view api_unstable.stock_movements with (security_invoker = true) as
select m.id, m.created_at, m.product_id, m.quantity,
  m.source_location_type_technical_name, m.source_warehouse_id, m.source_bin_location_id, m.source_order_id,
    m.source_return_order_id,
  m.source_goods_receipt_id, m.source_stock_container_id, m.source_special_stock_location_technical_name,
  m.destination_location_type_technical_name, m.destination_warehouse_id, m.destination_bin_location_id,
    m.destination_order_id,
  m.destination_return_order_id, m.destination_goods_receipt_id, m.destination_stock_container_id,
  m.destination_special_stock_location_technical_name, m.process_type_technical_name, m.comment, s.sequence,
  m.booking_id, m.transaction_id
from ledger.stock_movement m left join ledger.movement_sequence s on s.movement_id = m.id;
comment on view api_unstable.stock_movements is
  E'@primaryKey id\n'
  '@requiresScopes stocks:read\n'
  '@aggregates quantity,created_at\n'
  '@groupBy created_at,product_id,source_warehouse_id,destination_warehouse_id\n'
  '@followed transaction_id\n'
  '@hidden transaction_id\n'
  '@nullable sequence\n'
  '@gid source_stock_container_id StockContainer\n'
  '@gid destination_stock_container_id StockContainer\n'
  '@filters destination_bin_location_id,destination_goods_receipt_id,destination_order_id,'
  'destination_return_order_id,destination_stock_container_id,destination_warehouse_id,product_id,'
  'source_bin_location_id,source_goods_receipt_id,source_order_id,source_return_order_id,'
  'source_stock_container_id,source_warehouse_id,created_at,destination_location_type_technical_name,'
  'destination_special_stock_location_technical_name,source_location_type_technical_name,'
  'source_special_stock_location_technical_name,quantity,sequence\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  '@foreignKey (source_warehouse_id) references warehouses (id)|@fieldName '
  'sourceWarehouse|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_warehouse_id) references warehouses (id)|@fieldName '
  'destinationWarehouse|@foreignFieldName destinationStockMovements\n'
  '@foreignKey (source_bin_location_id) references bin_locations (id)|@fieldName '
  'sourceBinLocation|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_bin_location_id) references bin_locations (id)|@fieldName '
  'destinationBinLocation|@foreignFieldName destinationStockMovements\n'
  '@foreignKey (source_order_id) references orders (id)|@fieldName sourceOrder\n'
  '@foreignKey (destination_order_id) references orders (id)|@fieldName destinationOrder\n'
  '@foreignKey (source_return_order_id) references return_orders (id)|@fieldName '
  'sourceReturnOrder|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_return_order_id) references return_orders (id)|@fieldName '
  'destinationReturnOrder|@foreignFieldName destinationStockMovements\n'
  '@foreignKey (source_goods_receipt_id) references goods_receipts (id)|@fieldName '
  'sourceGoodsReceipt|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_goods_receipt_id) references goods_receipts (id)|@fieldName '
  'destinationGoodsReceipt|@foreignFieldName destinationStockMovements\n'
  '@foreignKey (booking_id) references stock_bookings (id)|@fieldName booking|@noFilter\n'
  'An entry in the ledger of stock: a positive quantity that moved from one place to another. '
  'Movements are never changed; they go only with their product.';
--! EndIncluded api/stock_movements.sql
--! Included api/stock_bookings_stock_movements.sql
create function api_unstable.stock_bookings_stock_movements(booking api_unstable.stock_bookings)
returns setof api_unstable.stock_movements
language sql stable
begin atomic
  -- By their primary key: an index of bookings would make each movement larger
  select m.* from api_unstable.stock_movements m
  where m.id >= booking.id and m.id <= booking.last_movement_id and m.booking_id = booking.id;
end;
comment on function api_unstable.stock_bookings_stock_movements(api_unstable.stock_bookings) is
  E'@fieldName stockMovements\nThe movements that were booked. Movements of deleted products are left out.';
--! EndIncluded api/stock_bookings_stock_movements.sql
--! Included api/stocks.sql
create view api_unstable.stocks with (security_invoker = true) as
select id, product_id, quantity, location_type_technical_name, warehouse_id, bin_location_id, order_id,
  return_order_id,
  goods_receipt_id, stock_container_id, special_stock_location_technical_name, created_at, updated_at
from ledger.stock;
comment on view api_unstable.stocks is $$
@primaryKey id
@requiresScopes stocks:read
@aggregates quantity
@groupBy product_id,warehouse_id,bin_location_id
@gid stock_container_id StockContainer
@filters *
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName stocks
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName stocks
@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation|@foreignFieldName stocks
@foreignKey (order_id) references orders (id)|@fieldName order
@foreignKey (return_order_id) references return_orders (id)|@fieldName returnOrder|@foreignFieldName stocks
@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName goodsReceipt|@foreignFieldName stocks
How much of a product lies in one place.$$;
--! EndIncluded api/stocks.sql
--! Included api/stocks_quantity_as_of.sql
create function api_unstable.stocks_quantity_as_of(
  stock api_unstable.stocks, sequence float default null, moment timestamptz default null
) returns integer language sql stable
return case when coalesce(stock.order_id::text, stock.special_stock_location_technical_name) is null
  then ledger.quantity_as_of(stock.product_id, coalesce(stock.warehouse_id, stock.bin_location_id,
    stock.goods_receipt_id, stock.return_order_id, stock.stock_container_id)::text, null, sequence::bigint,
    moment) end;
comment on function api_unstable.stocks_quantity_as_of(api_unstable.stocks, float, timestamptz) is $$
@describe sequence The number of a stock movement: all with this number or a smaller one count.
@describe moment A moment in the past: what had happened by then counts, also if it was booked later.
How many units lay in the place then; null for orders and special places. Give either sequence or moment.$$;
--! EndIncluded api/stocks_quantity_as_of.sql
drop function if exists api_unstable.batch_stocks_quantity_as_of;
--! Included api/batch_stocks_quantity_as_of.sql
create function api_unstable.batch_stocks_quantity_as_of(
  batch_stock api_unstable.batch_stocks, sequence float default null, moment timestamptz default null
) returns integer language sql stable
return (
  select case when coalesce(s.order_id::text, s.special_stock_location_technical_name) is null
    then ledger.batch_quantity_as_of(batch_stock.batch_id, coalesce(s.warehouse_id, s.bin_location_id,
      s.goods_receipt_id, s.return_order_id, s.stock_container_id)::text, sequence::bigint, moment) end
  from api_unstable.stocks s where s.id = batch_stock.stock_id
);
comment on function api_unstable.batch_stocks_quantity_as_of(
  api_unstable.batch_stocks, float, timestamptz
) is $$
@describe sequence The number of a stock movement: all with this number or a smaller one count.
@describe moment A moment in the past: what had happened by then counts, also if it was booked later.
How many units of the batch lay in the place then; null for orders and special places. Give either
sequence or moment.$$;
--! EndIncluded api/batch_stocks_quantity_as_of.sql
drop function if exists api_unstable.order_line_items_returned_quantity;
--! Included api/order_line_items_returned_quantity.sql
create function api_unstable.order_line_items_returned_quantity(line api_unstable.order_line_items)
returns integer
language sql stable
begin atomic
  select coalesce(sum(r.received_quantity), 0)::integer
  from api_unstable.return_order_line_items r where r.order_line_item_id = line.id;
end;
comment on function api_unstable.order_line_items_returned_quantity(api_unstable.order_line_items) is $$
@notNull
Units of the line that have come back by returns.$$;
--! EndIncluded api/order_line_items_returned_quantity.sql
--! Included api/return_orders_goods_receipts.sql
create function api_unstable.return_orders_goods_receipts(return_order api_unstable.return_orders)
returns setof api_unstable.goods_receipts
language sql stable begin atomic
  select g.* from api_unstable.goods_receipts g
  where g.id in (
    select l.goods_receipt_id from api_unstable.goods_receipt_line_items l
    where l.return_order_id = return_order.id);
end;
comment on function api_unstable.return_orders_goods_receipts(api_unstable.return_orders) is $$
The goods receipts whose lines name the return.$$;
--! EndIncluded api/return_orders_goods_receipts.sql
--! Included api/return_order_payload.sql
drop type if exists api_unstable.return_order_payload cascade;
create type api_unstable.return_order_payload as (
  return_order uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.return_order_payload is 'The result of a change of a return.';
comment on column api_unstable.return_order_payload.return_order is
  E'@entity ReturnOrder\nThe return as it is now; null when it was refused.';
comment on column api_unstable.return_order_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.return_order_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
--! EndIncluded api/return_order_payload.sql
--! Included api/return_order_line_input.sql
drop type if exists api_unstable.return_order_line_input cascade;
create type api_unstable.return_order_line_input as (
  id uuid, fulfillment_line_item_id uuid, order_line_item_id uuid, product_id uuid, batch_id uuid,
  quantity integer, reason text, wanted_outcome text
);
comment on type api_unstable.return_order_line_input is
  'A line of a return. It names the line of a fulfillment, the line of an order, or only a product.';
comment on column api_unstable.return_order_line_input.id is
  E'@gid ReturnOrderLineItem\n'
  'Id of the line, when it is there already: then it keeps what is left out. Without it the line is new.';
comment on column api_unstable.return_order_line_input.fulfillment_line_item_id is
  E'@gid FulfillmentLineItem\nId of the line of the fulfillment that shipped the units.';
comment on column api_unstable.return_order_line_input.order_line_item_id is
  E'@gid OrderLineItem\nId of the line of the order that the units were shipped for.';
comment on column api_unstable.return_order_line_input.product_id is
  E'@gid Product\nId of the product; by default the product of the order.';
comment on column api_unstable.return_order_line_input.batch_id is
  E'@gid Batch\nId of the batch or serial number that comes back, if it is known.';
comment on column api_unstable.return_order_line_input.quantity is
  'Units that come back; required for new lines.';
comment on column api_unstable.return_order_line_input.reason is
  'Why they come back: the code of one of the returnReasons.';
comment on column api_unstable.return_order_line_input.wanted_outcome is
  'The customer''s wish: refund, replacement, repair or credit.';
--! EndIncluded api/return_order_line_input.sql
--! Included api/return_order_create.sql
drop type if exists api_unstable.return_order_create_input cascade;
create type api_unstable.return_order_create_input as (
  order_id uuid, customer_id uuid, reference text, comment text, withdrawal_date date,
  requested_at timestamptz, replacement_order_id uuid, is_approved boolean,
  line_items api_unstable.return_order_line_input[]
);
comment on type api_unstable.return_order_create_input is 'A new return.';
comment on column api_unstable.return_order_create_input.order_id is
  E'@gid Order\n'
  'Id of the order that comes back. By default the order of the first line that names one. A return without '
  'an order is a parcel that nobody announced.';
comment on column api_unstable.return_order_create_input.customer_id is
  E'@gid Customer\nId of the customer; by default the customer of the order.';
comment on column api_unstable.return_order_create_input.reference is
  'Reference of the return in another system, of at most 255 characters.';
comment on column api_unstable.return_order_create_input.comment is 'Free note, of at most 1,000 characters.';
comment on column api_unstable.return_order_create_input.withdrawal_date is
  'Day on which a consumer declared the withdrawal from the contract.';
comment on column api_unstable.return_order_create_input.requested_at is
  'When the customer made the request; now when left out.';
comment on column api_unstable.return_order_create_input.replacement_order_id is
  E'@gid Order\nId of the order that replaces the goods.';
comment on column api_unstable.return_order_create_input.is_approved is
  E'@neverNull\nWhether the return is approved already. False when left out.';
comment on column api_unstable.return_order_create_input.line_items is E'@notNull\nThe lines, 1 to 250.';

create function api_unstable.return_order_create(
  input api_unstable.return_order_create_input, changes jsonb
)
returns api_unstable.return_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_return_order(changes - 'line_items', array(
    select row (null, l.fulfillment_line_item_id, l.order_line_item_id, l.product_id, l.batch_id, l.quantity,
      l.reason, l.wanted_outcome)::erp.return_order_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null, null)::api_unstable.return_order_payload
$$;
comment on function api_unstable.return_order_create(api_unstable.return_order_create_input, jsonb) is
  E'@requiresScopes return_orders:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE TOO_MANY_LINES BATCH_MISMATCH EXCEEDS_SHIPPED\n'
  'Creates a return, with the next number of its range. All returns of a line together never claim more '
  'units than were shipped. Goods receipts of type Customer name its lines when the parcel arrives.';
--! EndIncluded api/return_order_create.sql
--! Included api/return_order_update.sql
drop type if exists api_unstable.return_order_update_input cascade;
create type api_unstable.return_order_update_input as (
  id uuid, order_id uuid, customer_id uuid, reference text, comment text, withdrawal_date date,
  replacement_order_id uuid, line_items api_unstable.return_order_line_input[]
);
comment on type api_unstable.return_order_update_input is
  'Changes of a return. What is left out stays, and null clears it.';
comment on column api_unstable.return_order_update_input.id is
  E'@notNull\n@gid ReturnOrder\nId of the return.';
comment on column api_unstable.return_order_update_input.order_id is
  E'@neverNull\n@gid Order\n'
  'Id of the order of a parcel that nobody announced. Lines are matched by their products, unless they name '
  'lines of the order.';
comment on column api_unstable.return_order_update_input.customer_id is
  E'@gid Customer\nId of the customer.';
comment on column api_unstable.return_order_update_input.reference is
  'Reference of the return in another system, of at most 255 characters.';
comment on column api_unstable.return_order_update_input.comment is 'Free note, of at most 1,000 characters.';
comment on column api_unstable.return_order_update_input.withdrawal_date is
  'Day on which a consumer declared the withdrawal from the contract.';
comment on column api_unstable.return_order_update_input.replacement_order_id is
  E'@gid Order\nId of the order that replaces the goods.';
comment on column api_unstable.return_order_update_input.line_items is
  E'@neverNull\n'
  'All lines that the return is to have, up to 250. Lines that are not among them go, if nothing of them has '
  'arrived.';

create function api_unstable.return_order_update(
  input api_unstable.return_order_update_input, changes jsonb
)
returns api_unstable.return_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_return_order(input.id, changes, case when input.line_items is not null then array(
    select row (l.id, l.fulfillment_line_item_id, l.order_line_item_id, l.product_id, l.batch_id, l.quantity,
      l.reason, l.wanted_outcome)::erp.return_order_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  ) end), null, null)::api_unstable.return_order_payload
$$;
comment on function api_unstable.return_order_update(api_unstable.return_order_update_input, jsonb) is
  E'@requiresScopes return_orders:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE NOT_UNIQUE NOT_EDITABLE INVALID_STATE_TRANSITION '
  'TOO_MANY_LINES BATCH_MISMATCH EXCEEDS_SHIPPED INSUFFICIENT_STOCK BATCH_REQUIRED\n'
  'Changes a return and, until it is closed, its lines. A parcel that nobody announced can be matched to '
  'its order: units of it that have arrived leave the order then.';
--! EndIncluded api/return_order_update.sql
--! Included api/return_order_approve.sql
drop type if exists api_unstable.return_order_approve_input cascade;
create type api_unstable.return_order_approve_input as (id uuid);
comment on type api_unstable.return_order_approve_input is 'A return to approve.';
comment on column api_unstable.return_order_approve_input.id is
  E'@notNull\n@gid ReturnOrder\nId of the return.';

create function api_unstable.return_order_approve(input api_unstable.return_order_approve_input)
returns api_unstable.return_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, null, null)::api_unstable.return_order_payload
  from erp.end_return_order(input.id, 'approve')
$$;
comment on function api_unstable.return_order_approve(api_unstable.return_order_approve_input) is $$
@requiresScopes return_orders:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED
Approves a return: the customer may send the goods. Goods can also arrive before, because parcels do not
wait.$$;
--! EndIncluded api/return_order_approve.sql
--! Included api/return_order_refuse.sql
drop type if exists api_unstable.return_order_refuse_input cascade;
create type api_unstable.return_order_refuse_input as (id uuid, refusal_reason text);
comment on type api_unstable.return_order_refuse_input is 'A return to refuse.';
comment on column api_unstable.return_order_refuse_input.id is
  E'@notNull\n@gid ReturnOrder\nId of the return.';
comment on column api_unstable.return_order_refuse_input.refusal_reason is
  E'@notNull\nWhy it is refused, in at most 1,000 characters.';

create function api_unstable.return_order_refuse(input api_unstable.return_order_refuse_input)
returns api_unstable.return_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, null, null)::api_unstable.return_order_payload
  from erp.end_return_order(input.id, 'refuse', input.refusal_reason)
$$;
comment on function api_unstable.return_order_refuse(api_unstable.return_order_refuse_input) is $$
@requiresScopes return_orders:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED NOT_EDITABLE OUT_OF_RANGE
Refuses a return of which nothing has arrived. If its parcel arrives anyway, it is a return
without an order.$$;
--! EndIncluded api/return_order_refuse.sql
--! Included api/return_order_cancel.sql
drop type if exists api_unstable.return_order_cancel_input cascade;
create type api_unstable.return_order_cancel_input as (id uuid);
comment on type api_unstable.return_order_cancel_input is 'A return to cancel.';
comment on column api_unstable.return_order_cancel_input.id is
  E'@notNull\n@gid ReturnOrder\nId of the return.';

create function api_unstable.return_order_cancel(input api_unstable.return_order_cancel_input)
returns api_unstable.return_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, null, null)::api_unstable.return_order_payload
  from erp.end_return_order(input.id, 'cancel')
$$;
comment on function api_unstable.return_order_cancel(api_unstable.return_order_cancel_input) is $$
@requiresScopes return_orders:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION NOT_EDITABLE OUT_OF_RANGE
Cancels a return of which nothing has arrived: its units can be returned again.$$;
--! EndIncluded api/return_order_cancel.sql
--! Included api/return_order_close.sql
drop type if exists api_unstable.return_order_close_input cascade;
create type api_unstable.return_order_close_input as (id uuid);
comment on type api_unstable.return_order_close_input is 'A return to close.';
comment on column api_unstable.return_order_close_input.id is
  E'@notNull\n@gid ReturnOrder\nId of the return.';

create function api_unstable.return_order_close(input api_unstable.return_order_close_input)
returns api_unstable.return_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, null, null)::api_unstable.return_order_payload
  from erp.end_return_order(input.id, 'close')
$$;
comment on function api_unstable.return_order_close(api_unstable.return_order_close_input) is $$
@requiresScopes return_orders:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION OUT_OF_RANGE
Closes a return: what has not arrived is missing, and can be returned again. A parcel that arrives later
opens the return again.$$;
--! EndIncluded api/return_order_close.sql
--! Included api/return_order_refund.sql
drop type if exists api_unstable.return_order_refund_payload cascade;
create type api_unstable.return_order_refund_payload as (
  return_order uuid, documents uuid[], user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.return_order_refund_payload is 'The result of a refund.';
comment on column api_unstable.return_order_refund_payload.return_order is
  E'@entity ReturnOrder\nThe return as it is now; null when it was refused.';
comment on column api_unstable.return_order_refund_payload.documents is
  E'@entity Document\n@atMost 250\nThe credit notes that were made.';
comment on column api_unstable.return_order_refund_payload.user_errors is
  'Why nothing was recorded; empty when it was.';
comment on column api_unstable.return_order_refund_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.return_order_refund_input cascade;
drop type if exists api_unstable.return_order_refund_line_input cascade;
drop type if exists api_unstable.return_order_refund_charge_input cascade;
create type api_unstable.return_order_refund_line_input as (
  return_order_line_item_id uuid, quantity integer, amount numeric
);
comment on type api_unstable.return_order_refund_line_input is 'A line of a return to refund.';
comment on column api_unstable.return_order_refund_line_input.return_order_line_item_id is
  E'@notNull\n@gid ReturnOrderLineItem\nId of the line of the return.';
comment on column api_unstable.return_order_refund_line_input.quantity is
  'Units that are refunded. By default those that came back and are not refunded, or none if there is an '
  'amount.';
comment on column api_unstable.return_order_refund_line_input.amount is
  'Amount with tax, in the currency of the order. By default what the customer paid for the units, less '
  'their share of discounts.';
create type api_unstable.return_order_refund_charge_input as (order_line_item_id uuid, amount numeric);
comment on type api_unstable.return_order_refund_charge_input is
  'A line of the order without a product to refund, such as the costs of shipping.';
comment on column api_unstable.return_order_refund_charge_input.order_line_item_id is
  E'@notNull\n@gid OrderLineItem\nId of the line of the order.';
comment on column api_unstable.return_order_refund_charge_input.amount is
  'Amount with tax, in the currency of the order; by default what is left of it.';

create type api_unstable.return_order_refund_input as (
  id uuid, lines api_unstable.return_order_refund_line_input[],
  charges api_unstable.return_order_refund_charge_input[], make_credit_notes boolean
);
comment on type api_unstable.return_order_refund_input is 'A refund of a return.';
comment on column api_unstable.return_order_refund_input.id is
  E'@notNull\n@gid ReturnOrder\nId of the return.';
comment on column api_unstable.return_order_refund_input.lines is
  E'@neverNull\n'
  'The lines that are refunded, up to 250. Left out, all units that came back and are not refunded yet.';
comment on column api_unstable.return_order_refund_input.charges is
  E'@neverNull\nOther lines of the order that are refunded, such as the costs of shipping; up to 250.';
comment on column api_unstable.return_order_refund_input.make_credit_notes is
  E'@neverNull\n'
  'Whether the credit notes are made as well, one for each invoice. This needs the scope documents:write. '
  'False when left out.';

create function api_unstable.return_order_refund(input api_unstable.return_order_refund_input)
returns api_unstable.return_order_refund_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, erp.refund_return(input.id, case when input.lines is not null then array(
      select row (l.return_order_line_item_id, l.quantity, l.amount)::erp.refund_line
      from unnest(input.lines) with ordinality l order by l.ordinality
    ) end, array(
      select row (c.order_line_item_id, null, c.amount)::erp.refund_line
      from unnest(input.charges) with ordinality c order by c.ordinality
    ), coalesce(input.make_credit_notes, false)), null, null)::api_unstable.return_order_refund_payload
$$;
comment on function api_unstable.return_order_refund(api_unstable.return_order_refund_input) is
  E'@requiresScopes return_orders:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID INVALID_STATE_TRANSITION OUT_OF_RANGE NOT_UNIQUE TOO_MANY_LINES '
  'SCOPE_MISSING\n'
  '@warnings DOCUMENT_INCOMPLETE\n'
  'Records what the customer gets back for a return, and makes the credit notes if asked to. It is never '
  'more than was paid, or than the invoices leave. Nobody is paid by this service.';
--! EndIncluded api/return_order_refund.sql
--! Included erp/return_proof.sql
create or replace view erp.return_proof with (security_invoker = true) as
with
line as (
  select l.id, o.state, concat_ws(' ', l.received_quantity, l.restocked_quantity, l.quarantined_quantity,
      l.disposed_quantity, l.missing_quantity) as stored,
    concat_ws(' ', a.received, a.restocked, a.quarantined, a.disposed,
      case when o.state = 'closed' then greatest(l.quantity - a.received, 0) else 0 end) as expected
  from erp.return_order_line_item l join erp.return_order o on o.id = l.return_order_id
  cross join lateral erp.arrived_units(l.id) a
),
claim as (
  select l.order_line_item_id as id,
    sum(erp.claimed_units(o.state, l.quantity, l.received_quantity)) as quantity
  from erp.return_order_line_item l join erp.return_order o on o.id = l.return_order_id
  where l.order_line_item_id is not null group by l.order_line_item_id
),
refund as (
  select r.return_order_id, sum(r.amount) as amount
  from (
    select l.return_order_id, l.refund_amount as amount from erp.return_order_line_item l
    union all
    select c.return_order_id, c.refund_amount from erp.return_order_charge c
  ) r group by r.return_order_id
),
-- Goods receipts whose lines of a product all name lines of returns
receipt as (
  select l.goods_receipt_id, l.product_id, sum(greatest(l.quantity, 0)) as arrived,
    sum(l.disposed_quantity) as disposed
  from erp.goods_receipt_line_item l join erp.goods_receipt r on r.id = l.goods_receipt_id
  where r.type = 'Customer' and r.state in ('approved', 'in_progress', 'completed')
    and l.product_id is not null
  group by l.goods_receipt_id, l.product_id having bool_and(l.return_order_line_item_id is not null)
),
booked as (
  select c.*,
    (
      select coalesce(sum(m.quantity), 0) from ledger.stock_movement m
      where m.destination_goods_receipt_id = c.goods_receipt_id and m.product_id = c.product_id
        and m.source_location_type_technical_name = 'return_order'
    ) as booked_in,
    (
      select coalesce(sum(m.quantity), 0) from ledger.stock_movement m
      where m.source_goods_receipt_id = c.goods_receipt_id and m.product_id = c.product_id
        and m.destination_special_stock_location_technical_name = 'stock_correction'
    ) as booked_out
  from receipt c
)
select 'return_order_line_item.figures' as figure, l.id::text as id, l.stored, l.expected from line l
where l.stored <> l.expected
union all
select 'sales_order_line_item.returned_quantity', l.id::text, l.returned_quantity::text,
  coalesce(c.quantity, 0)::text
from erp.sales_order_line_item l left join claim c on c.id = l.id
where l.returned_quantity <> coalesce(c.quantity, 0)
union all
select 'return_order.refund_amount', o.id::text, o.refund_amount::text, coalesce(r.amount, 0)::text
from erp.return_order o left join refund r on r.return_order_id = o.id
where o.refund_amount <> coalesce(r.amount, 0)
union all
select 'goods_receipt_line_item.returned', b.goods_receipt_id || ' ' || b.product_id,
  concat_ws(' ', b.arrived, b.disposed), concat_ws(' ', b.booked_in, b.booked_out)
from booked b where (b.arrived, b.disposed) is distinct from (b.booked_in, b.booked_out);
comment on view erp.return_proof is
  'Figures of returns that differ from what goods receipts and the ledger give, for ledger.proof.';
--! EndIncluded erp/return_proof.sql

-- Events and people
--! Included erp/export_customer.sql
create or replace function erp.export_customer(customer uuid) returns table (kind text, content jsonb)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with about as (
    select a.*
    from erp.about_customer(export_customer.customer) a
  )
  select 'customer', to_jsonb(r) || jsonb_build_object('tags', array(
    select t.name from erp.customer_tag c join erp.tag t on t.id = c.tag_id
    where c.customer_id = r.id order by t.name))
  from erp.customer r
  where r.id = export_customer.customer
  union all
  select 'orders', to_jsonb(r) || jsonb_build_object('line_items', array(
    select to_jsonb(l) from erp.sales_order_line_item l where l.order_id = r.id order by l.id))
  from about a join erp.sales_order r on r.id = any (a.orders)
  union all
  select 'quotes', to_jsonb(r) || jsonb_build_object('line_items', array(
    select to_jsonb(l) from erp.quote_line_item l where l.quote_id = r.id order by l.id))
  from about a join erp.quote r on r.id = any (a.quotes)
  union all
  select 'fulfillment_orders', to_jsonb(r) || jsonb_build_object('line_items', array(
    select to_jsonb(l)
    from erp.fulfillment_order_line_item l
    where l.fulfillment_order_id = r.id order by l.id))
  from about a join erp.fulfillment_order r on r.id = any (a.fulfillment_orders)
  union all
  select 'fulfillments', to_jsonb(r) from about a join erp.fulfillment r on r.id = any (a.fulfillments)
  union all
  select 'labels', to_jsonb(r) from about a join erp.shipping_label r on r.id = any (a.labels)
  union all
  select 'returns', to_jsonb(r) || jsonb_build_object('line_items', array(
    select to_jsonb(l) from erp.return_order_line_item l where l.return_order_id = r.id order by l.id))
  from about a join erp.return_order r on r.id = any (a.returns)
  union all
  select 'receipts', to_jsonb(r) from about a join erp.goods_receipt r on r.id = any (a.receipts)
  union all
  (select 'events', to_jsonb(e) || jsonb_build_object('deliveries', array(
    select to_jsonb(d) || jsonb_build_object('attempts', array(
      select to_jsonb(t) from events.delivery_attempt t where t.delivery_id = d.id order by t.number))
    from events.delivery d where d.sequence = e.sequence order by d.id))
  from events.sequences_about(erp.subjects_about(export_customer.customer)) s (sequence)
  join events.event e on e.sequence = s.sequence
  order by e.sequence)
  union all
  (select 'events_to_be_numbered', to_jsonb(r)
  from events.outbox r
  where r.subject_id = any (array(select unnest(erp.subjects_about(export_customer.customer))))
  order by r.position)
  union all
  select 'answers_of_idempotency_keys', to_jsonb(r) - 'request'
  from mutation.answers_about(export_customer.customer) a
  join mutation.idempotency_key r on r.credential_id = a.credential_id and r.key = a.key
  union all
  (select 'audit', to_jsonb(r)
  from auth.audit_event r
  where r.action ~ '^customer[.]' and r.subject = export_customer.customer::text
  order by r.id);
end;
comment on function erp.export_customer(uuid) is
  'Returns the rows about a customer, each with what belongs to it, except documents and files of bulk '
  'operations.';
--! EndIncluded erp/export_customer.sql
--! Included erp/anonymize_rows.sql
create or replace function erp.anonymize_rows(customer uuid) returns table (what text, changed bigint)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  about record;
begin
  select * into about from erp.about_customer(anonymize_rows.customer);
  return query with done as (
    update erp.customer c
    set email = c.id || '@anonymized.invalid', first_name = 'Anonymized', last_name = 'Customer',
      title = null, company = null, vat_ids = null, storefront_id = null, salutation_id = null,
      buyer_reference = null, electronic_address = null, electronic_address_scheme = null,
      registration_id = null, active = false
    where c.id = about.customer and (c.email <> c.id || '@anonymized.invalid'
      or c.first_name <> 'Anonymized' or c.last_name <> 'Customer' or c.active
      or num_nonnulls(c.title, c.company, c.vat_ids, c.storefront_id, c.salutation_id, c.buyer_reference,
        c.electronic_address, c.registration_id) > 0)
    returning 1
  ) select 'customer', count(*) from done;
  return query with done as (
    delete from erp.customer_tag t where t.customer_id = about.customer returning 1
  ) select 'tags', count(*) from done;
  -- Also changes the tracking codes of orders
  return query with done as (
    update erp.shipping_label l
    set tracking_codes = '[]', tracking_url = null, document_url = null
    where l.id = any (about.labels)
      and (l.tracking_codes <> '[]' or num_nonnulls(l.tracking_url, l.document_url) > 0)
    returning 1
  ) select 'shipping labels', count(*) from done;
  return query with done as (
    update erp.sales_order o
    set shipping_address = erp.country_alone(o.shipping_address),
      billing_address = erp.country_alone(o.billing_address), entered_tracking_codes = '{}',
      tracking_codes = null, buyer_reference = null, purchase_order_number = null
    where o.id = any (about.orders)
      and (o.shipping_address is distinct from erp.country_alone(o.shipping_address)
        or o.billing_address is distinct from erp.country_alone(o.billing_address)
        or cardinality(o.entered_tracking_codes) > 0
        or num_nonnulls(o.buyer_reference, o.purchase_order_number) > 0)
    returning 1
  ) select 'orders', count(*) from done;
  return query with done as (
    update erp.fulfillment_order f
    set shipping_address = erp.postal_address(erp.country_alone(f.shipping_address)), hold_comment = null
    where f.id = any (about.fulfillment_orders) and (f.hold_comment is not null
      or f.shipping_address is distinct from erp.postal_address(erp.country_alone(f.shipping_address)))
    returning 1
  ) select 'fulfillment orders', count(*) from done;
  return query with done as (
    update erp.quote q set comment = null where q.id = any (about.quotes) and q.comment is not null
    returning 1
  ) select 'quotes', count(*) from done;
  return query with done as (
    update erp.return_order r set comment = null, reference = null, refusal_reason = null
    where r.id = any (about.returns) and num_nonnulls(r.comment, r.reference, r.refusal_reason) > 0
    returning 1
  ) select 'returns', count(*) from done;
  return query with done as (
    update erp.goods_receipt g set comment = null where g.id = any (about.receipts) and g.comment is not null
    returning 1
  ) select 'goods receipts', count(*) from done;
end
$$;
comment on function erp.anonymize_rows(uuid) is
  'Replaces personal values in the tables of a shop, for erp.anonymize_customer.';
--! EndIncluded erp/anonymize_rows.sql
--! Included erp/subjects_about.sql
create or replace function erp.subjects_about(customer uuid) returns uuid[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select a.customer || a.orders || a.fulfillment_orders || a.fulfillments || a.labels || a.returns
    || a.receipts || a.documents
  from erp.about_customer(subjects_about.customer) a;
end;
comment on function erp.subjects_about(uuid) is 'Returns the ids whose events are about a customer.';
--! EndIncluded erp/subjects_about.sql
--! Included events/anonymous_data.sql
create or replace function events.anonymous_data(topic text, subject_id uuid, data jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select anonymous_data.data || coalesce(jsonb_object_agg(f.field, case
    when f.field = 'email' then to_jsonb(anonymous_data.subject_id || '@anonymized.invalid')
    when f.field = 'shippingAddress' then
      coalesce(case when jsonb_typeof(anonymous_data.data -> f.field) = 'object'
        then erp.postal_address(erp.country_alone(anonymous_data.data -> f.field)) end, 'null')
    -- Of orders null, of labels a list
    when f.field = 'trackingCodes' then
      case jsonb_typeof(anonymous_data.data -> f.field) when 'array' then '[]' else 'null' end::jsonb
    else f.value end), '{}')
  from events.topic t
  join (values
    ('Customer', 'email', 'null'::jsonb), ('Customer', 'firstName', '"Anonymized"'),
    ('Customer', 'lastName', '"Customer"'), ('Customer', 'title', 'null'), ('Customer', 'company', 'null'),
    ('Customer', 'vatIds', 'null'), ('Customer', 'storefrontId', 'null'),
    ('Customer', 'salutationId', 'null'), ('Customer', 'buyerReference', 'null'),
    ('Customer', 'electronicAddress', 'null'), ('Customer', 'electronicAddressScheme', 'null'),
    ('Customer', 'registrationId', 'null'), ('Order', 'trackingCodes', 'null'),
    ('Order', 'buyerReference', 'null'), ('Order', 'purchaseOrderNumber', 'null'),
    ('FulfillmentOrder', 'holdComment', 'null'), ('FulfillmentOrder', 'shippingAddress', 'null'),
    ('ShippingLabel', 'trackingCodes', 'null'), ('ShippingLabel', 'trackingUrl', 'null'),
    ('ShippingLabel', 'documentUrl', 'null'), ('GoodsReceipt', 'comment', 'null'),
    ('ReturnOrder', 'comment', 'null'), ('ReturnOrder', 'reference', 'null'),
    ('ReturnOrder', 'refusalReason', 'null')
  ) f (subject_type, field, value) on f.subject_type = t.subject_type and anonymous_data.data ? f.field
  where t.name = anonymous_data.topic;
end;
comment on function events.anonymous_data(text, uuid, jsonb) is
  'Returns the data of an event without what identifies a customer. Data that is anonymous already stays '
  'the same.';
--! EndIncluded events/anonymous_data.sql

--! split: 120-promises.sql
-- Reservations of stock: units that are promised at a place, for an order line or for anything else

drop view if exists api_unstable.stock_reservations cascade;
drop table if exists erp.stock_reservation cascade;
alter table erp.product drop column if exists allows_backorders cascade;
alter table erp.product add column allows_backorders boolean not null default false;
comment on column erp.product.allows_backorders is
  'Whether units may be reserved that are not there yet.';
select api_meta.allow('service_writer', 'erp.product', 'update (allows_backorders)');

create table erp.stock_reservation (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  warehouse_id uuid not null references erp.warehouse on delete cascade,
  bin_location_id uuid references erp.bin_location on delete set null,
  batch_id uuid references erp.batch on delete set null,
  order_line_item_id uuid references erp.sales_order_line_item on delete set null,
  quantity integer not null,
  open_quantity integer not null,
  state text collate "C" not null default 'active',
  expires_at timestamptz,
  reference text collate "C",
  note text collate "C",
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint stock_reservation_quantity_is_plausible
    check (quantity between 1 and 1000000000) not enforced,
  constraint stock_reservation_open_quantity_is_part_of_it
    check (open_quantity between 0 and quantity) not enforced,
  constraint stock_reservation_state_is_known
    check (state in ('active', 'consumed', 'released', 'expired')) not enforced,
  constraint stock_reservation_is_active_with_open_units
    check ((state = 'active') = (open_quantity > 0)) not enforced,
  constraint stock_reservation_reference_length check (length(reference) <= 255) not enforced,
  constraint stock_reservation_note_length check (length(note) <= 1000) not enforced
);
-- What counts, by product; the rest is history
create index stock_reservation_open_idx
  on erp.stock_reservation (product_id, warehouse_id) where open_quantity > 0;
create index stock_reservation_expires_at_idx
  on erp.stock_reservation (expires_at) where open_quantity > 0;
create index stock_reservation_product_id_id_idx on erp.stock_reservation (product_id, id);
create index stock_reservation_warehouse_id_id_idx on erp.stock_reservation (warehouse_id, id);
create index stock_reservation_bin_location_id_id_idx
  on erp.stock_reservation (bin_location_id, id) where bin_location_id is not null;
create index stock_reservation_batch_id_id_idx
  on erp.stock_reservation (batch_id, id) where batch_id is not null;
create index stock_reservation_order_line_item_id_id_idx
  on erp.stock_reservation (order_line_item_id, id) where order_line_item_id is not null;
comment on index erp.stock_reservation_open_idx is 'For ledger.free_units and ledger.expire_reservations.';
comment on index erp.stock_reservation_expires_at_idx is 'For ledger.expire_reservations.';
alter table erp.stock_reservation enable row level security;
comment on table erp.stock_reservation is
  'Units of a product that are promised at a place. Units for an order line are part of what the order has '
  'reserved; others add to it.';
comment on column erp.stock_reservation.product_id is 'Product that is reserved.';
comment on column erp.stock_reservation.warehouse_id is 'Warehouse that the units are promised at.';
comment on column erp.stock_reservation.bin_location_id is
  'Bin that the units are promised in; null if any place of the warehouse will do.';
comment on column erp.stock_reservation.batch_id is
  'Batch that is promised; null if any will do.';
comment on column erp.stock_reservation.order_line_item_id is
  'Order line that the units are for; null if they are for no order.';
comment on column erp.stock_reservation.quantity is 'Units that were reserved.';
comment on column erp.stock_reservation.open_quantity is
  'Units that are still reserved: neither consumed, nor released, nor expired.';
comment on column erp.stock_reservation.state is
  'active, or how the last units of it ended: consumed by a fulfillment order, released or expired.';
comment on column erp.stock_reservation.expires_at is
  'When the reservation ends by itself; null if never.';
comment on column erp.stock_reservation.reference is 'The caller''s own reference, such as a cart.';
comment on column erp.stock_reservation.note is 'Note of the caller.';
comment on constraint stock_reservation_quantity_is_plausible on erp.stock_reservation is
  '@internal ledger.check_reservations() refuses others';
comment on constraint stock_reservation_open_quantity_is_part_of_it on erp.stock_reservation is
  '@internal ledger.release_stock() refuses more';
comment on constraint stock_reservation_state_is_known on erp.stock_reservation is
  '@internal an enum in the API';
comment on constraint stock_reservation_is_active_with_open_units on erp.stock_reservation is
  '@internal the functions of ledger set both';
comment on constraint stock_reservation_reference_length on erp.stock_reservation is
  E'@userError OUT_OF_RANGE reference\nThe reference has more than 255 characters.';
comment on constraint stock_reservation_note_length on erp.stock_reservation is
  E'@userError OUT_OF_RANGE note\nThe note has more than 1,000 characters.';
select api_meta.allow('service_ledger', 'erp.stock_reservation', 'select', 'insert',
  'update (open_quantity, state, bin_location_id)');
select api_meta.allow('service_writer', 'erp.stock_reservation', 'select');

-- Functions
--! Included ledger/uncovered_units.sql
create or replace function ledger.uncovered_units(order_line_item_id uuid) returns integer
language sql stable set search_path = pg_catalog, pg_temp
return (
  select greatest(l.quantity - l.shipped_quantity - coalesce((
    select sum(a.quantity - a.fulfilled_quantity)
    from erp.fulfillment_order_line_item a join erp.fulfillment_order f on f.id = a.fulfillment_order_id
    where a.destination_order_line_item_id = l.id and f.state in ('Open', 'InProgress', 'OnHold')
  ), 0), 0)::integer
  from erp.sales_order_line_item l
  -- A sub-select: a join could be planned by the index of states, through all open orders
  where l.id = uncovered_units.order_line_item_id and l.product_id is not null
    and (select o.state from erp.sales_order o where o.id = l.order_id) in ('open', 'in_progress')
);
comment on function ledger.uncovered_units(uuid) is
  'Returns the units of an order line that are neither shipped nor to be shipped by an open fulfillment '
  'order: as many may be reserved. Null if the order is not open, or if the line is no product.';
select api_meta.plan_by_index('ledger.uncovered_units(uuid)');
grant execute on function ledger.uncovered_units(uuid) to service_ledger;
--! EndIncluded ledger/uncovered_units.sql
--! Included ledger/fit_reservations.sql
create or replace function ledger.fit_reservations(order_line_item_ids uuid[], ending text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (
    select from erp.stock_reservation r
    where r.order_line_item_id = any (order_line_item_ids) and r.open_quantity > 0
  ) then
    return;
  end if;
  perform ledger.lock(array(
    select distinct r.product_id from erp.stock_reservation r
    where r.order_line_item_id = any (order_line_item_ids) and r.open_quantity > 0
  ));
  update erp.stock_reservation r
  set open_quantity = x.left_over, state = case when x.left_over > 0 then r.state else ending end
  from (
    select o.id, o.open_quantity,
      -- The oldest keep their units
      least(o.open_quantity, greatest(0, o.units - sum(o.open_quantity) over line + o.open_quantity))::integer
        as left_over
    from (
      select s.id, s.order_line_item_id, s.open_quantity,
        case when s.product_id = l.product_id then coalesce(ledger.uncovered_units(l.id), 0) else 0 end
          as units
      from erp.stock_reservation s join erp.sales_order_line_item l on l.id = s.order_line_item_id
      where s.order_line_item_id = any (order_line_item_ids) and s.open_quantity > 0
    ) o
    window line as (partition by o.order_line_item_id order by o.id)
  ) x
  where r.id = x.id and x.left_over < x.open_quantity;
end
$$;
comment on function ledger.fit_reservations(uuid[], text) is
  'Reduces the active reservations of order lines to what these have open without a fulfillment order, the '
  'newest first. Reservations that end get the state: consumed or released. The orders are locked.';
select api_meta.plan_by_index('ledger.fit_reservations(uuid[], text)');
grant execute on function ledger.fit_reservations(uuid[], text) to service_ledger;
--! EndIncluded ledger/fit_reservations.sql
--! Included ledger/consume_reservations.sql
create or replace function ledger.consume_reservations(changes ledger.change[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  line_ids constant uuid[] := array(select c.item_id from unnest(changes) c where c.quantity > 0);
begin
  if not exists (
    select from erp.stock_reservation r where r.order_line_item_id = any (line_ids) and r.open_quantity > 0
  ) then
    return;
  end if;
  perform ledger.lock(array(
    select distinct r.product_id from erp.stock_reservation r
    where r.order_line_item_id = any (line_ids) and r.open_quantity > 0
  ));
  update erp.stock_reservation r
  set open_quantity = x.left_over, state = case when x.left_over > 0 then r.state else 'consumed' end
  from (
    select s.id, s.open_quantity, least(s.open_quantity, greatest(0, sum(s.open_quantity) over (
      partition by s.order_line_item_id, s.warehouse_id order by s.id) - c.units))::integer as left_over
    from (
      select w.warehouse_id, c.item_id, sum(c.quantity) as units
      from unnest(changes) c join erp.fulfillment_order f on f.id = c.owner_id
      join erp.location w on w.id = f.source_warehouse_location_id
      where c.quantity > 0 and coalesce(current_setting('ledger.is_dividing', true), '') = ''
      group by w.warehouse_id, c.item_id
    ) c
    join erp.stock_reservation s on s.order_line_item_id = c.item_id and s.warehouse_id = c.warehouse_id
    where s.open_quantity > 0
  ) x
  where r.id = x.id and x.left_over < x.open_quantity;
  -- Reservations elsewhere go on, as far as the line still has units for them
  perform ledger.fit_reservations(line_ids, 'consumed');
end
$$;
comment on function ledger.consume_reservations(ledger.change[]) is
  'Consumes reservations of the items, which are order lines, after fulfillment orders, which own the '
  'changes, got units of them. First those at the same warehouse, the oldest first. Then others, as far as '
  'more is reserved than the line has open without a fulfillment order. Units that one fulfillment order '
  'gives to another consume none. The orders and products are locked.';
select api_meta.plan_by_index('ledger.consume_reservations(ledger.change[])');
select api_meta.give('ledger.consume_reservations(ledger.change[])', 'service_ledger');
grant execute on function ledger.consume_reservations(ledger.change[]) to service_writer, service_booker;
--! EndIncluded ledger/consume_reservations.sql
--! Included ledger/expire_reservations.sql
create or replace function ledger.expire_reservations(product_ids uuid[] default null) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := ledger.moment();
  overdue uuid[];
  expired integer;
begin
  if product_ids is null then
    overdue := array(
      select r.id from erp.stock_reservation r
      where r.open_quantity > 0 and r.expires_at <= moment order by r.expires_at limit 500
    );
    product_ids := array(
      select distinct r.product_id from erp.stock_reservation r where r.id = any (overdue));
  else
    overdue := array(
      select r.id from erp.stock_reservation r
      where r.product_id = any (product_ids) and r.open_quantity > 0 and r.expires_at <= moment
    );
  end if;
  if overdue = '{}' then
    return 0;
  end if;
  perform ledger.lock(product_ids);
  update erp.stock_reservation r set open_quantity = 0, state = 'expired'
  where r.id = any (overdue) and r.open_quantity > 0 and r.expires_at <= moment;
  get diagnostics expired = row_count;
  return greatest(expired, 1);
end
$$;
comment on function ledger.expire_reservations(uuid[]) is
  'Ends reservations whose time is over: of products, or of all, 500 at most. Takes the locks of the '
  'products. Callers that decide on stock hold them already, so that they see what became free. Returns 0 if '
  'none was overdue.';
select api_meta.plan_by_index('ledger.expire_reservations(uuid[])');
select api_meta.give('ledger.expire_reservations(uuid[])', 'service_ledger');
grant execute on function ledger.expire_reservations(uuid[]) to service_writer, service_worker;
--! EndIncluded ledger/expire_reservations.sql
--! Included ledger/require_open_lines.sql
create or replace function ledger.require_open_lines(order_line_item_ids uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Open units of the lines must not change meanwhile
  perform ledger.lock_orders(array(
    select l.order_id from erp.sales_order_line_item l where l.id = any (order_line_item_ids)));
  if exists (
    select from unnest(order_line_item_ids) i (id)
    join erp.sales_order_line_item l on l.id = i.id
    cross join lateral (
      select sum(r.open_quantity) as units, bool_or(r.product_id <> l.product_id) as is_other
      from erp.stock_reservation r where r.order_line_item_id = l.id and r.open_quantity > 0
    ) r
    where r.is_other or r.units > coalesce(ledger.uncovered_units(l.id), 0)
  ) then
    raise exception
      'More would be reserved than the order line has open without a fulfillment order, or another product.'
      using errcode = 'check_violation';
  end if;
end
$$;
comment on function ledger.require_open_lines(uuid[]) is
  'Refuses reservations of order lines beyond what these have open without a fulfillment order, and of '
  'products other than theirs. Mutations have refused them before (ledger.refuse_reservations).';
select api_meta.plan_by_index('ledger.require_open_lines(uuid[])');
grant execute on function ledger.require_open_lines(uuid[]) to service_ledger;
--! EndIncluded ledger/require_open_lines.sql
--! Included ledger/keep_reservation.sql
create or replace function ledger.keep_reservation() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'UPDATE' and new.order_line_item_id is null and old.order_line_item_id is not null then
    -- Its order line was deleted. It must not turn into one that belongs to no order
    new.state := case when new.open_quantity > 0 then 'released' else new.state end;
    new.open_quantity := 0;
    return new;
  end if;
  if new.bin_location_id is not null and not exists (
    select from erp.bin_location b where b.id = new.bin_location_id and b.warehouse_id = new.warehouse_id
  ) then
    raise exception 'The bin of a reservation is in its warehouse.' using errcode = 'check_violation';
  elsif new.batch_id is not null and not exists (
    select from erp.batch b where b.id = new.batch_id and b.product_id = new.product_id
  ) then
    raise exception 'The batch of a reservation is of its product.' using errcode = 'check_violation';
  end if;
  return new;
end
$$;
comment on function ledger.keep_reservation() is
  'Trigger before a reservation is written: one whose order line was deleted ends. Refuses bins of other '
  'warehouses and batches of other products.';
select api_meta.give('ledger.keep_reservation()', 'service_ledger');
--! EndIncluded ledger/keep_reservation.sql
--! Included ledger/keep_reservations_of_bin.sql
create or replace function ledger.keep_reservations_of_bin() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update erp.stock_reservation r set bin_location_id = null where r.bin_location_id = new.id;
  return null;
end
$$;
comment on function ledger.keep_reservations_of_bin() is
  'Trigger after an empty bin was moved to another warehouse: reservations that name it stay in the former '
  'warehouse, without a bin.';
select api_meta.plan_by_index('ledger.keep_reservations_of_bin()');
select api_meta.give('ledger.keep_reservations_of_bin()', 'service_ledger');
--! EndIncluded ledger/keep_reservations_of_bin.sql
--! Included ledger/change_promised_stock.sql
create or replace function ledger.change_promised_stock(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if changes = '{}' then
    return;
  end if;
  changes := array(
    select row (c.owner_id, c.item_id, sum(c.quantity))::ledger.change
    from unnest(changes) c group by c.owner_id, c.item_id having sum(c.quantity) <> 0
  );
  if changes = '{}' then
    return;
  end if;
  perform ledger.lock(
    array(select c.item_id from unnest(changes) c),
    -- Only figures that may have to be inserted need their warehouse
    array(select c.owner_id from unnest(changes) c where c.quantity > 0)
  );
  insert into ledger.warehouse_stock (product_id, warehouse_id)
  select c.item_id, c.owner_id from unnest(changes) c where c.quantity > 0 order by 1, 2
  on conflict (product_id, warehouse_id) do nothing;
  update ledger.warehouse_stock s set reserved_quantity = s.reserved_quantity + c.quantity,
    updated_at = date_trunc('second', now())
  from unnest(changes) c
  -- During the deletion of a warehouse or a product its figures may exist a little longer
  join erp.warehouse w on w.id = c.owner_id join erp.product p on p.id = c.item_id
  where s.product_id = c.item_id and s.warehouse_id = c.owner_id;
end
$$;
comment on function ledger.change_promised_stock(ledger.change[]) is
  'Adds to the reserved quantities of the items, which are products, in the warehouses that own the changes.';
grant execute on function ledger.change_promised_stock(ledger.change[]) to service_ledger;
--! EndIncluded ledger/change_promised_stock.sql
--! Included ledger/keep_reservation_figures.sql
create or replace function ledger.keep_reservation_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By warehouse and product, with the units that no order line has
  promised ledger.change[];
  reserved ledger.change[];
  -- Order lines for which more is reserved than before
  lines uuid[];
begin
  if tg_op = 'INSERT' then
    promised := array(select row (n.warehouse_id, n.product_id, n.open_quantity)::ledger.change
      from new_rows n where n.open_quantity > 0);
    reserved := array(select row (null, n.product_id, n.open_quantity)::ledger.change
      from new_rows n where n.open_quantity > 0 and n.order_line_item_id is null);
    lines := array(select n.order_line_item_id from new_rows n
      where n.open_quantity > 0 and n.order_line_item_id is not null);
  elsif tg_op = 'DELETE' then
    promised := array(select row (o.warehouse_id, o.product_id, - o.open_quantity)::ledger.change
      from old_rows o where o.open_quantity > 0);
    reserved := array(select row (null, o.product_id, - o.open_quantity)::ledger.change
      from old_rows o where o.open_quantity > 0 and o.order_line_item_id is null);
  else
    promised := array(select row (x.warehouse_id, x.product_id, x.units)::ledger.change
      from (select n.warehouse_id, n.product_id, n.open_quantity as units from new_rows n
        union all select o.warehouse_id, o.product_id, - o.open_quantity from old_rows o) x
      where x.units <> 0);
    reserved := array(select row (null, x.product_id, x.units)::ledger.change
      from (select n.order_line_item_id, n.product_id, n.open_quantity as units from new_rows n
        union all select o.order_line_item_id, o.product_id, - o.open_quantity from old_rows o) x
      where x.units <> 0 and x.order_line_item_id is null);
    lines := array(select n.order_line_item_id from new_rows n join old_rows o on o.id = n.id
      where n.order_line_item_id is not null and n.open_quantity > 0
        and (n.open_quantity > o.open_quantity or n.order_line_item_id is distinct from o.order_line_item_id
          or n.product_id <> o.product_id));
  end if;
  if lines <> '{}' then
    perform ledger.require_open_lines(lines);
  end if;
  perform ledger.change_promised_stock(promised);
  perform ledger.change_reserved_stock(reserved);
  return null;
end
$$;
comment on function ledger.keep_reservation_figures() is
  'Trigger after reservations changed, by any writer: updates the reserved quantities of warehouses, and the '
  'reserved stock of products by reservations without an order line. Refuses more units of an order line '
  'than it has open without a fulfillment order.';
select api_meta.plan_by_index('ledger.keep_reservation_figures()');
select api_meta.give('ledger.keep_reservation_figures()', 'service_ledger');
--! EndIncluded ledger/keep_reservation_figures.sql
--! Included ledger/keep_order_figures.sql
create or replace function ledger.keep_order_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  changes ledger.change[];
begin
  if tg_op = 'DELETE' then
    -- Before its lines are deleted, because then its state is no longer known
    if old.state in ('open', 'in_progress') then
      perform ledger.change_reserved_stock(array(
        select row (old.id, l.product_id, sum(l.shipped_quantity - l.quantity))::ledger.change
        from erp.sales_order_line_item l
        where l.order_id = old.id and l.product_id is not null
        group by l.product_id));
    end if;
    return old;
  end if;
  changes := array(
    select row (null, l.product_id, sum(t.direction * (l.quantity - l.shipped_quantity)))::ledger.change
    from (
      select s.id, sum(s.direction) as direction
      from (
        select n.id, 1 as direction from new_rows n where n.state in ('open', 'in_progress')
        union all select o.id, -1 from old_rows o where o.state in ('open', 'in_progress')
      ) s group by s.id having sum(s.direction) <> 0
    ) t join erp.sales_order_line_item l
      on l.order_id = t.id where l.product_id is not null and l.quantity <> l.shipped_quantity
    group by l.product_id);
  perform ledger.change_reserved_stock(changes);
  perform ledger.fit_reservations(array(
    select l.id from old_rows o join new_rows n on n.id = o.id
    join erp.sales_order_line_item l on l.order_id = o.id
    where o.state in ('open', 'in_progress') and n.state not in ('open', 'in_progress')), 'released');
  return null;
end
$$;
comment on function ledger.keep_order_figures() is
  'Triggers before an order is deleted and after orders changed: an order that opens or closes changes the '
  'reserved stock of its products. Reservations of one that closes end.';
select api_meta.plan_by_index('ledger.keep_order_figures()');
select api_meta.give('ledger.keep_order_figures()', 'service_ledger');
--! EndIncluded ledger/keep_order_figures.sql
--! Included ledger/keep_order_line_figures.sql
create or replace function ledger.keep_order_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By order and product: units that are not shipped yet
  changes ledger.change[];
  -- Orders with changed lines that have a price
  priced uuid[];
  -- Lines of which fewer units are open, or another product
  reduced uuid[] := '{}';
begin
  if tg_op = 'INSERT' then
    changes := array(select row (l.order_id, l.product_id,
      sum(l.quantity - l.shipped_quantity))::ledger.change
      from new_rows l where l.product_id is not null group by l.order_id, l.product_id);
    priced := array(select distinct l.order_id from new_rows l where l.total_price is not null);
  elsif tg_op = 'DELETE' then
    changes := array(select row (l.order_id, l.product_id,
      sum(l.shipped_quantity - l.quantity))::ledger.change
      from old_rows l where l.product_id is not null group by l.order_id, l.product_id);
    priced := array(select distinct l.order_id from old_rows l where l.total_price is not null);
  else
    changes := array(
      select row (l.order_id, l.product_id, sum(l.quantity))::ledger.change
      from (
        select n.order_id, n.product_id, n.quantity - n.shipped_quantity as quantity from new_rows n
        union all select o.order_id, o.product_id, o.shipped_quantity - o.quantity from old_rows o
      ) l where l.product_id is not null group by l.order_id, l.product_id having sum(l.quantity) <> 0);
    priced := array(
      select distinct l.order_id
      from (
        select n.order_id, n.total_price, n.tax_rate, 1 as direction from new_rows n
        union all select o.order_id, o.total_price, o.tax_rate, -1 from old_rows o
      ) l where l.total_price is not null group by l.order_id, l.total_price,
        l.tax_rate having sum(l.direction) <> 0);
    reduced := array(select o.id from old_rows o join new_rows n on n.id = o.id
      where n.quantity - n.shipped_quantity < o.quantity - o.shipped_quantity
        or n.product_id is distinct from o.product_id);
  end if;
  if cardinality(changes) + cardinality(priced) + cardinality(reduced) = 0 then
    return null;
  end if;

  -- The states of the orders must not change meanwhile. An order that is being deleted is gone already, with
  -- its reservations.
  perform ledger.lock_orders(
    array(select c.owner_id from unnest(changes) c union select p.id from unnest(priced) p (id))
  );
  -- A sub-select per row: a join could be planned by the index of states, through all open orders
  perform ledger.change_reserved_stock(array(
    select row (c.owner_id, c.item_id, c.quantity)::ledger.change
    from unnest(changes) c
    where (select o.state from erp.sales_order o where o.id = c.owner_id) in ('open', 'in_progress')));
  perform ledger.fit_reservations(reduced, 'released') where reduced <> '{}';
  update erp.sales_order o set amount_total = a.amount_total, amount_net = a.amount_net
  from unnest(priced) p (id) join erp.sales_order present on present.id = p.id
  left join lateral ledger.order_amounts(present.id, present.tax_status) a on true
  where o.id = p.id and (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net);
  return null;
end
$$;
comment on function ledger.keep_order_line_figures() is
  'Trigger after lines of orders changed, by any writer: updates the reserved stock of products and the '
  'amounts of the orders. Reduces reservations to what the lines still have open.';
select api_meta.plan_by_index('ledger.keep_order_line_figures()');
select api_meta.give('ledger.keep_order_line_figures()', 'service_ledger');
--! EndIncluded ledger/keep_order_line_figures.sql
--! Included ledger/keep_fulfillment_order_figures.sql
create or replace function ledger.keep_fulfillment_order_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  changes ledger.change[];
  moved ledger.change[];
begin
  if tg_op = 'DELETE' then
    -- Before its lines are deleted, because then its warehouse is no longer known
    perform ledger.change_promised_stock(ledger.promises_of(array(
      select row (old.id, l.product_id, sum(l.fulfilled_quantity - l.quantity))::ledger.change
      from erp.fulfillment_order_line_item l
      where l.fulfillment_order_id = old.id and l.product_id is not null
      group by l.product_id)));
    return old;
  end if;
  -- By location: fulfillment orders that begin or cease to have open units there
  moved := array(
    select row (t.location_id, t.id, sum(t.direction))::ledger.change
    from (
      select n.id, n.source_warehouse_location_id as location_id, 1 as direction
      from new_rows n
      where n.state in ('Open', 'InProgress', 'OnHold')
      union all
      select o.id, o.source_warehouse_location_id, -1
      from old_rows o
      where o.state in ('Open', 'InProgress', 'OnHold')
    ) t where t.location_id is not null group by t.location_id, t.id having sum(t.direction) <> 0);
  if cardinality(moved) = 0 then
    return null;
  end if;
  perform
  from erp.location l
  where l.id in (select m.owner_id from unnest(moved) m)
  order by l.id for key share;
  changes := array(
    select row (
      w.warehouse_id, l.product_id, sum(m.quantity * (l.quantity - l.fulfilled_quantity))
    )::ledger.change
    from unnest(moved) m
    join erp.location w on w.id = m.owner_id
    join erp.fulfillment_order_line_item l on l.fulfillment_order_id = m.item_id
    where w.warehouse_id is not null and l.product_id is not null and l.quantity <> l.fulfilled_quantity
    group by w.warehouse_id, l.product_id);
  perform ledger.change_promised_stock(changes);
  perform ledger.fit_reservations(array(
    select l.destination_order_line_item_id from unnest(moved) m
    join erp.fulfillment_order_line_item l on l.fulfillment_order_id = m.item_id
    where m.quantity > 0 and l.destination_order_line_item_id is not null
  ), 'consumed');
  return null;
end
$$;
comment on function ledger.keep_fulfillment_order_figures() is
  'Triggers before a fulfillment order is deleted and after fulfillment orders changed: one that opens, '
  'closes or moves to another location changes the reserved quantities of the warehouses. One that opens '
  'consumes reservations of its order lines as far as they have no other units.';
select api_meta.plan_by_index('ledger.keep_fulfillment_order_figures()');
select api_meta.give('ledger.keep_fulfillment_order_figures()', 'service_ledger');
--! EndIncluded ledger/keep_fulfillment_order_figures.sql
--! Included ledger/keep_fulfillment_order_line_figures.sql
create or replace function ledger.keep_fulfillment_order_line_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- By fulfillment order and product: open units
  changes ledger.change[];
  -- By line of the order: fulfilled units
  shipped ledger.change[];
  -- Fulfillment orders that may have begun or ceased to be partially fulfilled
  touched uuid[];
  -- By fulfillment order and line of the order: units that it got
  taken ledger.change[] := '{}';
begin
  if tg_op = 'INSERT' then
    changes := array(select row (l.fulfillment_order_id, l.product_id,
      sum(l.quantity - l.fulfilled_quantity))::ledger.change
      from new_rows l where l.product_id is not null group by l.fulfillment_order_id, l.product_id);
    shipped := array(select row (null, l.destination_order_line_item_id,
      sum(l.fulfilled_quantity))::ledger.change
      from new_rows l
      where l.destination_order_line_item_id is not null and l.fulfilled_quantity > 0
      group by l.destination_order_line_item_id);
    touched := array(select distinct l.fulfillment_order_id from new_rows l);
    taken := array(
      select row (l.fulfillment_order_id, l.destination_order_line_item_id, l.quantity)::ledger.change
      from new_rows l where l.destination_order_line_item_id is not null);
  elsif tg_op = 'DELETE' then
    changes := array(select row (l.fulfillment_order_id, l.product_id,
      sum(l.fulfilled_quantity - l.quantity))::ledger.change
      from old_rows l where l.product_id is not null group by l.fulfillment_order_id, l.product_id);
    shipped := array(select row (null, l.destination_order_line_item_id,
      - sum(l.fulfilled_quantity))::ledger.change
      from old_rows l
      where l.destination_order_line_item_id is not null and l.fulfilled_quantity > 0
      group by l.destination_order_line_item_id);
    touched := array(select distinct l.fulfillment_order_id from old_rows l);
  else
    changes := array(
      select row (l.fulfillment_order_id, l.product_id, sum(l.quantity))::ledger.change
      from (
        select n.fulfillment_order_id, n.product_id, n.quantity - n.fulfilled_quantity as quantity
        from new_rows n
        union all select o.fulfillment_order_id, o.product_id, o.fulfilled_quantity - o.quantity
        from old_rows o
      ) l where l.product_id is not null
      group by l.fulfillment_order_id, l.product_id having sum(l.quantity) <> 0);
    shipped := array(
      select row (null, l.line_id, sum(l.quantity))::ledger.change
      from (
        select n.destination_order_line_item_id as line_id, n.fulfilled_quantity as quantity from new_rows n
        union all select o.destination_order_line_item_id, - o.fulfilled_quantity from old_rows o
      ) l where l.line_id is not null group by l.line_id having sum(l.quantity) <> 0);
    touched := array(
      select distinct l.fulfillment_order_id
      from (
        select n.fulfillment_order_id, n.quantity, n.fulfilled_quantity, 1 as direction from new_rows n
        union all select o.fulfillment_order_id, o.quantity, o.fulfilled_quantity, -1 from old_rows o
      ) l group by l.fulfillment_order_id, l.quantity, l.fulfilled_quantity having sum(l.direction) <> 0);
    taken := array(select row (l.owner_id, l.item_id, sum(l.quantity))::ledger.change from (
      select n.fulfillment_order_id, n.destination_order_line_item_id, n.quantity from new_rows n
      union all select o.fulfillment_order_id, o.destination_order_line_item_id, - o.quantity from old_rows o
      ) l (owner_id, item_id, quantity)
      where l.item_id is not null group by l.owner_id, l.item_id having sum(l.quantity) > 0);
  end if;
  if cardinality(changes) + cardinality(shipped) + cardinality(touched) > 0 then
    perform ledger.apply_fulfillment_changes(changes, shipped, touched);
    perform ledger.consume_reservations(taken) where taken <> '{}';
  end if;
  return null;
end
$$;
comment on function ledger.keep_fulfillment_order_line_figures() is
  'Trigger after lines of fulfillment orders changed, by any writer: updates the reserved quantities of '
  'warehouses, the shipped quantities of order lines, and whether the fulfillment orders are partially '
  'fulfilled. Consumes reservations of the order lines.';
select api_meta.plan_by_index('ledger.keep_fulfillment_order_line_figures()');
select api_meta.give('ledger.keep_fulfillment_order_line_figures()', 'service_ledger');
--! EndIncluded ledger/keep_fulfillment_order_line_figures.sql
--! Included ledger/write_assigned.sql
create or replace function ledger.write_assigned(
  fulfillment_order_id uuid, assignments erp.assignment[]
)
returns void
language sql security definer set search_path = pg_catalog, pg_temp
begin atomic
  insert into erp.fulfillment_order_line_item (
    fulfillment_order_id, destination_order_line_item_id, product_id, quantity
  )
  select write_assigned.fulfillment_order_id, a.order_line_item_id, a.product_id, a.quantity
  from unnest(assignments) with ordinality a order by a.ordinality;
  select ledger.consume_reservations(array(
    select row (write_assigned.fulfillment_order_id, a.order_line_item_id, a.quantity)::ledger.change
    from unnest(assignments) a));
end;
comment on function ledger.write_assigned(uuid, erp.assignment[]) is
  'Adds lines to a fulfillment order that promise nothing, because the same transaction ships them. Consumes '
  'reservations of the order lines. Only for erp.assign.';
select api_meta.give('ledger.write_assigned(uuid, erp.assignment[])', 'service_booker');
grant execute on function ledger.write_assigned(uuid, erp.assignment[]) to service_writer;
--! EndIncluded ledger/write_assigned.sql
--! Included ledger/sellable_units.sql
create or replace function ledger.sellable_units(
  product_id uuid, warehouse_id uuid, bin_location_id uuid, batch_id uuid
)
returns bigint
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if batch_id is null then
    return coalesce((
      select s.quantity - coalesce((
        select sum(u.quantity) from ledger.batch_stock u join erp.batch b on b.id = u.batch_id
        where u.stock_id = s.id and (b.is_held or b.best_before_date < (select erp.local_date(now())))), 0)
      from ledger.stock s join erp.bin_location l on l.id = s.bin_location_id
      where s.product_id = sellable_units.product_id and s.place = sellable_units.bin_location_id::text
        and l.stock_state = 'sellable'
    ), 0);
  end if;
  return coalesce((
    select sum(u.quantity)
    from ledger.stock s join ledger.batch_stock u on u.stock_id = s.id
      and u.batch_id = sellable_units.batch_id
    join erp.batch b on b.id = u.batch_id
    left join erp.bin_location l on l.id = s.bin_location_id
    where s.product_id = sellable_units.product_id
      and s.location_type_technical_name in ('warehouse', 'bin_location')
      and coalesce(s.warehouse_id, l.warehouse_id) = sellable_units.warehouse_id
      and (sellable_units.bin_location_id is null or s.bin_location_id = sellable_units.bin_location_id)
      and not b.is_held and coalesce(b.best_before_date >= (select erp.local_date(now())), true)
      and coalesce(l.stock_state, 'sellable') = 'sellable'
  ), 0);
end
$$;
comment on function ledger.sellable_units(uuid, uuid, uuid, uuid) is
  'Returns how many units that can be sold lie in a bin, or of one batch in a warehouse or in a bin of it. '
  'Batches on hold or past their best-before date can not be sold. Callers must be marked by '
  'api_meta.plan_by_index.';
grant execute on function ledger.sellable_units(uuid, uuid, uuid, uuid) to service_ledger;
--! EndIncluded ledger/sellable_units.sql
--! Included ledger/reservation_line.sql
drop type if exists ledger.reservation_line cascade;
create type ledger.reservation_line as (
  product_id uuid, warehouse_id uuid, bin_location_id uuid, quantity integer, batch_id uuid,
  order_line_item_id uuid
);
comment on type ledger.reservation_line is
  'A line of stockReserve: units of a product to be reserved in a warehouse, or in a bin, perhaps of a '
  'batch, and perhaps for an order line.';
--! EndIncluded ledger/reservation_line.sql
--! Included ledger/free_units.sql
create or replace function ledger.free_units(line ledger.reservation_line) returns bigint[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  free bigint[] := array[null, null, null, null, null]::bigint[];
begin
  free[1] := coalesce((
    select s.available_quantity from ledger.warehouse_stock s
    where s.product_id = line.product_id and s.warehouse_id = line.warehouse_id), 0);
  if line.order_line_item_id is null then
    free[2] := (select p.available_stock from erp.product p where p.id = line.product_id);
  end if;
  if line.bin_location_id is not null then
    free[3] := ledger.sellable_units(line.product_id, line.warehouse_id, line.bin_location_id, null)
      - coalesce((
        select sum(r.open_quantity) from erp.stock_reservation r
        where r.bin_location_id = line.bin_location_id and r.product_id = line.product_id
          and r.open_quantity > 0), 0);
  end if;
  if line.batch_id is not null then
    free[4] := ledger.sellable_units(line.product_id, line.warehouse_id, null, line.batch_id)
      - coalesce((
        select sum(r.open_quantity) from erp.stock_reservation r
        where r.batch_id = line.batch_id and r.product_id = line.product_id
          and r.warehouse_id = line.warehouse_id and r.open_quantity > 0), 0);
  end if;
  if line.bin_location_id is not null and line.batch_id is not null then
    free[5] := ledger.sellable_units(line.product_id, line.warehouse_id, line.bin_location_id, line.batch_id)
      - coalesce((
        select sum(r.open_quantity) from erp.stock_reservation r
        where r.batch_id = line.batch_id and r.product_id = line.product_id
          and r.bin_location_id = line.bin_location_id and r.open_quantity > 0), 0);
  end if;
  return free;
end
$$;
comment on function ledger.free_units(ledger.reservation_line) is
  'Returns how many units are left to be reserved. The five numbers are for the warehouse, the product in '
  'all, the bin, the batch in the warehouse, and the batch in the bin; null if it does not matter. The '
  'product matters only without an order line: other orders wait for units of any warehouse. Callers must be '
  'marked by api_meta.plan_by_index.';
grant execute on function ledger.free_units(ledger.reservation_line) to service_ledger;
--! EndIncluded ledger/free_units.sql
--! Included ledger/check_reservations.sql
create or replace function ledger.check_reservations(lines ledger.reservation_line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error(e.code, e.message, mutation.path('lines', e.line) || e.field)
    order by e.line)
  into errors
  from (
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must be from 1 to 1,000,000,000.', '{quantity}'::text[]
    from unnest(lines) with ordinality l where coalesce(l.quantity not between 1 and 1000000000, true)
    union all
    select l.ordinality, 'INVALID', 'A place is either a warehouse or a bin.', '{place}'
    from unnest(lines) with ordinality l where num_nonnulls(l.warehouse_id, l.bin_location_id) <> 1
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.check_reservations(ledger.reservation_line[]) is
  'Refuses lines of stockReserve that are invalid by themselves. User errors OUT_OF_RANGE, INVALID.';
grant execute on function ledger.check_reservations(ledger.reservation_line[]) to service_ledger;
--! EndIncluded ledger/check_reservations.sql
--! Included ledger/check_reserved_things.sql
create or replace function ledger.check_reserved_things(lines ledger.reservation_line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error(e.code, e.message, mutation.path('lines', e.line) || e.field)
    order by e.line)
  into errors
  from (
    select l.ordinality, 'NOT_FOUND', 'There is no such product.', '{product_id}'::text[]
    from unnest(lines) with ordinality l
    where not exists (select from erp.product p where p.id = l.product_id)
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such warehouse.', '{place,warehouse_id}'
    from unnest(lines) with ordinality l
    where l.bin_location_id is null and not exists (select from erp.warehouse w where w.id = l.warehouse_id)
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such bin.', '{place,bin_location_id}'
    from unnest(lines) with ordinality l
    where l.bin_location_id is not null
      and not exists (select from erp.bin_location b where b.id = l.bin_location_id)
    union all
    select l.ordinality, case when b.id is null then 'NOT_FOUND' else 'BATCH_MISMATCH' end,
      case when b.id is null then 'There is no such batch.'
        else format('Batch %s belongs to another product.', b.number) end, '{batch_id}'
    from unnest(lines) with ordinality l left join erp.batch b on b.id = l.batch_id
    where l.batch_id is not null and b.product_id is distinct from l.product_id
    union all
    select l.ordinality, case when s.id is null then 'NOT_FOUND' else 'INVALID' end,
      case when s.id is null then 'There is no such order line.'
        else 'The order line has another product, or none.' end, '{order_line_item_id}'
    from unnest(lines) with ordinality l
    left join erp.sales_order_line_item s on s.id = l.order_line_item_id
    where l.order_line_item_id is not null and s.product_id is distinct from l.product_id
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.check_reserved_things(ledger.reservation_line[]) is
  'Refuses lines of stockReserve that name something that does not exist, or a batch or an order line of '
  'another product. User errors NOT_FOUND, BATCH_MISMATCH, INVALID.';
select api_meta.plan_by_index('ledger.check_reserved_things(ledger.reservation_line[])');
grant execute on function ledger.check_reserved_things(ledger.reservation_line[]) to service_ledger;
--! EndIncluded ledger/check_reserved_things.sql
--! Included ledger/unmet_units.sql
create or replace function ledger.unmet_units(
  product_id uuid, warehouse_id uuid, lines ledger.reservation_line[]
)
returns bigint
language sql stable set search_path = pg_catalog, pg_temp
return (
  with need as materialized (
    select x.bin, x.batch, sum(x.units) as units
    from (
      select r.bin_location_id as bin, r.batch_id as batch, r.open_quantity as units
      from erp.stock_reservation r
      where r.product_id = unmet_units.product_id and r.warehouse_id = unmet_units.warehouse_id
        and r.open_quantity > 0
      union all
      select l.bin_location_id, l.batch_id, l.quantity from unnest(unmet_units.lines) l
      where l.product_id = unmet_units.product_id and l.warehouse_id = unmet_units.warehouse_id
    ) x
    where num_nonnulls(x.bin, x.batch) > 0 group by x.bin, x.batch
  ),
  bin as materialized (
    select n.bin, row_number() over (order by n.bin)::integer - 1 as nth from need n
    where n.batch is null and exists (select from need b where b.bin is null)
  ),
  -- Promised units less sellable units, by bin and batch
  lack as materialized (
    select n.bin, n.batch, n.units from need n
    union all
    select s.bin_location_id, u.batch, - u.units
    from ledger.stock s left join erp.bin_location l on l.id = s.bin_location_id
    cross join lateral (
      select b.id as batch, k.quantity as units
      from ledger.batch_stock k join erp.batch b on b.id = k.batch_id
      where k.stock_id = s.id and not b.is_held
        and coalesce(b.best_before_date >= (select erp.local_date(now())), true)
      union all
      select null, s.quantity - coalesce(sum(k.quantity), 0) from ledger.batch_stock k where k.stock_id = s.id
    ) u
    where s.product_id = unmet_units.product_id
      and s.location_type_technical_name in ('warehouse', 'bin_location')
      and coalesce(s.warehouse_id, l.warehouse_id) = unmet_units.warehouse_id
      and coalesce(l.stock_state, 'sellable') = 'sellable' and exists (select from bin)
  ),
  -- Some bins as a whole, and of each batch what lies elsewhere: for any choice of bins
  chosen as (
    select m.mask, i.is_in, case when not i.is_in then k.batch end as batch, sum(k.units) as units
    from generate_series(0, (1 << (select least(count(*), 10)::integer from bin)) - 1) m (mask)
    cross join lack k left join bin b on b.bin = k.bin
    cross join lateral (values (coalesce(b.nth < 10 and m.mask & (1 << (b.nth % 10)) <> 0, false))) i (is_in)
    where exists (select from bin) and (i.is_in or k.batch in (select n.batch from need n)) group by 1, 2, 3
  )
  select coalesce(max(c.units), 0)
  from (
    select sum(case when c.is_in then c.units else greatest(c.units, 0) end)::bigint as units
    from chosen c group by c.mask
  ) c
);
comment on function ledger.unmet_units(uuid, uuid, ledger.reservation_line[]) is
  'Returns how many units of reservations of a product in a warehouse cannot be had at the same time: '
  'some name a bin, and others a batch that lies there. Counts active reservations and the given lines. By '
  'Hall''s theorem, for up to ten bins. Returns 0 unless both kinds exist.';
select api_meta.plan_by_index('ledger.unmet_units(uuid, uuid, ledger.reservation_line[])');
grant execute on function ledger.unmet_units(uuid, uuid, ledger.reservation_line[]) to service_ledger;
--! EndIncluded ledger/unmet_units.sql
--! Included ledger/refuse_reservations.sql
create or replace function ledger.refuse_reservations(lines ledger.reservation_line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found record;
begin
  with line as (
    select l.*, ledger.free_units(lines[l.ordinality]) as free,
      coalesce(ledger.uncovered_units(l.order_line_item_id), 0) - coalesce((
        select sum(r.open_quantity) from erp.stock_reservation r
        where r.order_line_item_id = l.order_line_item_id and r.open_quantity > 0), 0) as open
    from unnest(lines) with ordinality l
  ),
  -- Earlier lines of the call have their units already
  counted as (
    select l.ordinality as line, l.product_id, l.quantity, l.order_line_item_id,
      l.open - sum(l.quantity) over of_line + l.quantity as open,
      -- Where a line does not ask it is null, which does not count
      least(l.free[1] - sum(l.quantity) over in_warehouse, l.free[2] - sum(l.quantity) over of_product,
        l.free[3] - sum(l.quantity) over in_bin, l.free[4] - sum(l.quantity) over of_batch,
        l.free[5] - sum(l.quantity) over of_batch_in_bin) + l.quantity as free
    from line l
    window of_line as (partition by l.order_line_item_id order by l.ordinality),
      in_warehouse as (partition by l.product_id, l.warehouse_id order by l.ordinality),
      of_product as (partition by l.product_id, l.order_line_item_id is null order by l.ordinality),
      in_bin as (partition by l.product_id, l.bin_location_id order by l.ordinality),
      of_batch as (partition by l.batch_id, l.warehouse_id order by l.ordinality),
      of_batch_in_bin as (partition by l.batch_id, l.bin_location_id order by l.ordinality)
  )
  select jsonb_agg(mutation.user_error('OVER_FULFILLMENT',
      format('The order line has %s units left to reserve, not %s.', greatest(c.open, 0), c.quantity),
      mutation.path('lines', c.line, 'quantity'),
      jsonb_build_object('open', greatest(c.open, 0), 'requested', c.quantity)) order by c.line)
      filter (where c.order_line_item_id is not null and c.open < c.quantity) as over,
    jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
      format('%s units are left to reserve there, not %s.', greatest(c.free, 0), c.quantity),
      mutation.path('lines', c.line, 'quantity'),
      jsonb_build_object('available', greatest(c.free, 0), 'requested', c.quantity)) order by c.line)
      filter (where c.free < c.quantity and not p.allows_backorders) as short
  into found
  from counted c join erp.product p on p.id = c.product_id;
  perform mutation.refuse(found.over);
  perform mutation.refuse(found.short);
  -- A bin and a batch that lies in it must not promise the same units
  if exists (
    select from unnest(lines) l join erp.batch b on b.product_id = l.product_id
    where num_nonnulls(l.bin_location_id, l.batch_id) > 0
  ) then
    perform mutation.refuse((
      select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
        format('%s of these %s units are promised by reservations that name a bin or a batch.',
          u.units, l.quantity),
        mutation.path('lines', l.ordinality, 'quantity'),
        jsonb_build_object('available', greatest(l.quantity - u.units, 0), 'requested', l.quantity))
        order by l.ordinality)
      from unnest(lines) with ordinality l join erp.product p on p.id = l.product_id
      cross join lateral (
        select ledger.unmet_units(l.product_id, l.warehouse_id, lines[1 : l.ordinality])
          - ledger.unmet_units(l.product_id, l.warehouse_id, lines[1 : l.ordinality - 1]) as units
      ) u
      where num_nonnulls(l.bin_location_id, l.batch_id) > 0 and not p.allows_backorders and u.units > 0));
  end if;
end
$$;
comment on function ledger.refuse_reservations(ledger.reservation_line[]) is
  'Refuses lines of stockReserve with more units than there are, unless the product allows backorders, or '
  'than their order lines have open. Lines of a call count one after the other. The orders and products are '
  'locked. User errors OVER_FULFILLMENT, INSUFFICIENT_STOCK.';
select api_meta.plan_by_index('ledger.refuse_reservations(ledger.reservation_line[])');
grant execute on function ledger.refuse_reservations(ledger.reservation_line[]) to service_ledger;
--! EndIncluded ledger/refuse_reservations.sql
--! Included ledger/reserve_stock.sql
create or replace function ledger.reserve_stock(
  lines ledger.reservation_line[], expires_at timestamptz, reference text, note text
)
returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  orders uuid[];
  made uuid[];
  are_found boolean;
begin
  if coalesce(cardinality(lines), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one line is needed.', '{lines}');
  elsif cardinality(lines) > 250 then
    perform mutation.refuse_too_many(cardinality(lines), 250, '{lines}');
  elsif expires_at <= ledger.moment() then
    perform mutation.refuse('OUT_OF_RANGE', 'The reservation would have expired already.', '{expires_at}');
  end if;
  perform ledger.check_reservations(lines);
  orders := array(
    select distinct s.order_id from unnest(lines) l
    join erp.sales_order_line_item s on s.id = l.order_line_item_id);
  if orders <> '{}' then
    perform ledger.lock_orders(orders);
  end if;
  are_found := ledger.lock(array(select l.product_id from unnest(lines) l),
    array(select l.warehouse_id from unnest(lines) l), array(select l.bin_location_id from unnest(lines) l));
  if not are_found or exists (
    select from unnest(lines) l where num_nonnulls(l.batch_id, l.order_line_item_id) > 0
  ) then
    perform ledger.check_reserved_things(lines);
  end if;
  perform ledger.expire_reservations(array(select l.product_id from unnest(lines) l));
  lines := array(
    select row (l.product_id, coalesce(l.warehouse_id, b.warehouse_id), l.bin_location_id, l.quantity,
      l.batch_id, l.order_line_item_id)::ledger.reservation_line
    from unnest(lines) with ordinality l left join erp.bin_location b on b.id = l.bin_location_id
    order by l.ordinality);
  perform ledger.refuse_reservations(lines);
  with new as (
    insert into erp.stock_reservation (product_id, warehouse_id, bin_location_id, batch_id,
      order_line_item_id, quantity, open_quantity, expires_at, reference, note)
    select l.product_id, l.warehouse_id, l.bin_location_id, l.batch_id, l.order_line_item_id, l.quantity,
      l.quantity, reserve_stock.expires_at, reserve_stock.reference, reserve_stock.note
    from unnest(lines) with ordinality l order by l.ordinality
    returning id
  )
  select array_agg(n.id order by n.id) into made from new n;
  return made;
end
$$;
comment on function ledger.reserve_stock(ledger.reservation_line[], timestamptz, text, text) is
  'Reserves units: all lines, or none. Returns the reservations in the order of the lines. First, '
  'reservations of the same products end if their time is over. User errors REQUIRED, TOO_MANY_LINES, '
  'OUT_OF_RANGE, INVALID, NOT_FOUND, BATCH_MISMATCH, OVER_FULFILLMENT, INSUFFICIENT_STOCK.';
select api_meta.plan_by_index('ledger.reserve_stock(ledger.reservation_line[], timestamptz, text, text)');
select api_meta.give(
  'ledger.reserve_stock(ledger.reservation_line[], timestamptz, text, text)', 'service_ledger');
grant execute on function ledger.reserve_stock(ledger.reservation_line[], timestamptz, text, text)
  to service_writer;
--! EndIncluded ledger/reserve_stock.sql
--! Included ledger/release_stock.sql
create or replace function ledger.release_stock(ids uuid[], quantities integer[]) returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  product_ids uuid[];
  errors jsonb;
begin
  if coalesce(cardinality(ids), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one line is needed.', '{lines}');
  elsif cardinality(ids) > 250 then
    perform mutation.refuse_too_many(cardinality(ids), 250, '{lines}');
  end if;
  product_ids := array(
    select distinct r.product_id from erp.stock_reservation r where r.id = any (ids));
  perform ledger.lock(product_ids);
  perform ledger.expire_reservations(product_ids);
  select jsonb_agg(mutation.user_error(e.code, e.message, mutation.path('lines', l.n) || e.field, e.details)
    order by l.n)
  into errors
  from (
    select i.id, i.n, i.quantity, row_number() over (partition by i.id order by i.n) as nth
    from unnest(ids, quantities) with ordinality i (id, quantity, n)
  ) l
  left join erp.stock_reservation r on r.id = l.id
  cross join lateral (
    values (r.id is null, 'NOT_FOUND', 'There is no such reservation.', '{id}'::text[], null::jsonb),
      (l.nth > 1, 'NOT_UNIQUE', 'This reservation is in the list already.', '{id}', null),
      (r.open_quantity = 0, 'INVALID_STATE_TRANSITION', format('The reservation is %s already.', r.state),
        '{id}', jsonb_build_object('state', r.state, 'allowedActions', '[]'::jsonb)),
      (r.open_quantity > 0 and l.quantity not between 1 and r.open_quantity, 'OUT_OF_RANGE',
        format('The reservation has %s units left, not %s.', r.open_quantity, l.quantity), '{quantity}',
        jsonb_build_object('open', r.open_quantity, 'requested', l.quantity))
  ) e (is_wrong, code, message, field, details)
  where e.is_wrong;
  perform mutation.refuse(errors);
  update erp.stock_reservation r
  set open_quantity = r.open_quantity - coalesce(i.quantity, r.open_quantity),
    state = case when r.open_quantity > i.quantity then r.state else 'released' end
  from unnest(ids, quantities) i (id, quantity) where r.id = i.id;
  return ids;
end
$$;
comment on function ledger.release_stock(uuid[], integer[]) is
  'Releases units of reservations: quantities has how many of each, null for all that are left. All lines, '
  'or none. Returns the reservations. User errors REQUIRED, TOO_MANY_LINES, NOT_FOUND, NOT_UNIQUE, '
  'OUT_OF_RANGE, INVALID_STATE_TRANSITION.';
select api_meta.plan_by_index('ledger.release_stock(uuid[], integer[])');
select api_meta.give('ledger.release_stock(uuid[], integer[])', 'service_ledger');
grant execute on function ledger.release_stock(uuid[], integer[]) to service_writer;
--! EndIncluded ledger/release_stock.sql
--! Included erp/delete_warehouse.sql
create or replace function erp.delete_warehouse(warehouse_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- As the other mutations of warehouses do, before any row
  lock table erp.warehouse in share row exclusive mode;
  perform from erp.warehouse w where w.id = warehouse_id for update;
  if not found then
    perform mutation.refuse_missing('warehouse', '{id}');
  end if;
  if exists (
    select from erp.goods_receipt r
    where r.warehouse_id = delete_warehouse.warehouse_id and r.state in ('approved', 'in_progress')
  ) then
    perform mutation.refuse('REFERENCE_IN_USE', 'Goods are being received in this warehouse.', '{id}');
  end if;
  if exists (
    select from erp.fulfillment_order f join erp.location l on l.id = f.source_warehouse_location_id
    where l.warehouse_id = delete_warehouse.warehouse_id and f.state in ('Open', 'InProgress', 'OnHold')
  ) then
    perform mutation.refuse(
      'REFERENCE_IN_USE', 'Orders are still to be fulfilled from this warehouse.', '{id}'
    );
  end if;
  if exists (
    select from erp.stock_reservation r
    where r.warehouse_id = delete_warehouse.warehouse_id and r.open_quantity > 0
  ) then
    perform mutation.refuse(
      'REFERENCE_IN_USE', 'Stock is reserved in this warehouse. Release it first.', '{id}'
    );
  end if;
  delete from erp.warehouse w where w.id = warehouse_id;
  return warehouse_id;
end
$$;
comment on function erp.delete_warehouse(uuid) is
  'Deletes a warehouse that is empty, has nothing to receive, to fulfill or reserved, and is not a default. '
  'Returns its id.';
grant execute on function erp.delete_warehouse(uuid) to service_writer;
--! EndIncluded erp/delete_warehouse.sql

create trigger keep_reservation before insert or update of product_id, warehouse_id, bin_location_id,
  batch_id, order_line_item_id on erp.stock_reservation
  for each row execute function ledger.keep_reservation();
create trigger touch_updated_at before update on erp.stock_reservation
  for each row execute function erp.touch_updated_at();
create trigger keep_figures_after_insert after insert on erp.stock_reservation
  referencing new table as new_rows for each statement execute function ledger.keep_reservation_figures();
create trigger keep_figures_after_update after update on erp.stock_reservation
  referencing old table as old_rows new table as new_rows
  for each statement execute function ledger.keep_reservation_figures();
create trigger keep_figures_after_delete after delete on erp.stock_reservation
  referencing old table as old_rows for each statement execute function ledger.keep_reservation_figures();
create or replace trigger keep_reservations after update of warehouse_id on erp.bin_location
  for each row when (old.warehouse_id <> new.warehouse_id)
  execute function ledger.keep_reservations_of_bin();

-- API
--! Included ledger/allows_backorders.sql
create or replace function ledger.allows_backorders(product_id uuid) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
return (
  select p.allows_backorders from erp.product p
  where p.id = allows_backorders.product_id and (select auth.has_scope('products:read'))
);
comment on function ledger.allows_backorders(uuid) is
  'Returns whether units of a product may be reserved that are not there yet. Null without the scope '
  'products:read.';
select api_meta.give('ledger.allows_backorders(uuid)', 'service_ledger');
grant execute on function ledger.allows_backorders(uuid) to service_api;
--! EndIncluded ledger/allows_backorders.sql
--! Included ledger/expected_units.sql
create or replace function ledger.expected_units(product_id uuid, warehouse_id uuid, day date)
returns integer
language sql stable security definer set search_path = pg_catalog, pg_temp
return (
  select coalesce(sum(l.open_quantity), 0)::integer
  from erp.supplier_order_line_item l
  cross join lateral (
    select o.delivery_date, o.warehouse_id, o.state from erp.supplier_order o
    where o.id = l.supplier_order_id offset 0
  ) o
  where l.product_id = expected_units.product_id and l.open_quantity > 0
    and (select auth.has_scope('supplier_orders:read'))
    and o.state in ('open', 'sent', 'confirmed', 'partially_delivered')
    and (expected_units.warehouse_id is null or o.warehouse_id = expected_units.warehouse_id)
    -- Overdue units may come today, at the earliest
    and greatest(erp.local_date(coalesce(l.expected_delivery_date, o.delivery_date)),
      erp.local_date(ledger.moment_of_statement()))
      <= coalesce(expected_units.day, erp.local_date(ledger.moment_of_statement()))
    and coalesce(l.expected_delivery_date, o.delivery_date) is not null
);
comment on function ledger.expected_units(uuid, uuid, date) is
  'Returns the units of a product that open supplier orders bring until a day: to a warehouse, or to any. A '
  'line counts by its own date, or by the date of its order; overdue ones from today on. 0 without the '
  'scope supplier_orders:read.';
select api_meta.plan_by_index('ledger.expected_units(uuid, uuid, date)');
select api_meta.give('ledger.expected_units(uuid, uuid, date)', 'service_ledger');
revoke execute on function ledger.expected_units(uuid, uuid, date) from public;
grant execute on function ledger.expected_units(uuid, uuid, date) to service_api;
--! EndIncluded ledger/expected_units.sql
--! Included ledger/missing_units.sql
create or replace function ledger.missing_units(reservation_id uuid) returns integer
language sql stable security definer set search_path = pg_catalog, pg_temp
return (
  select least(r.open_quantity, greatest(0, max(- f.units)))::integer
  from erp.stock_reservation r
  cross join lateral unnest(ledger.free_units(row (r.product_id, r.warehouse_id, r.bin_location_id,
    r.quantity, r.batch_id, r.order_line_item_id)::ledger.reservation_line)) with ordinality f (units, nth)
  -- The second is of no place
  where r.id = missing_units.reservation_id and f.nth <> 2 and (select auth.has_scope('stocks:read'))
  group by r.id
);
comment on function ledger.missing_units(uuid) is
  'Returns how many units of a reservation are no longer at its place, or of its batch, at most its open '
  'ones. Null without the scope stocks:read.';
select api_meta.plan_by_index('ledger.missing_units(uuid)');
select api_meta.give('ledger.missing_units(uuid)', 'service_ledger');
revoke execute on function ledger.missing_units(uuid) from public;
grant execute on function ledger.missing_units(uuid) to service_api;
--! EndIncluded ledger/missing_units.sql
--! Included api/stock_reservation_state.sql
do $$
begin
  if to_regtype('api_unstable.stock_reservation_state') is null then
    create type api_unstable.stock_reservation_state as enum ();
  end if;
end
$$;
select api_meta.add_values(
  'api_unstable.stock_reservation_state', 'active', 'consumed', 'released', 'expired');
comment on type api_unstable.stock_reservation_state is
  E'@value active It still has units.\n'
  '@value consumed Fulfillment orders have its units now.\n'
  '@value released It was released, or its order line no longer needs the units.\n'
  '@value expired Its time is over.\n'
  'State of a reservation.';
--! EndIncluded api/stock_reservation_state.sql
--! Included api/stock_reservations.sql
create view api_unstable.stock_reservations with (security_invoker = true) as
select id, product_id, warehouse_id, bin_location_id, batch_id, order_line_item_id, quantity, open_quantity,
  state, expires_at, reference, note, created_at, updated_at
from erp.stock_reservation;
comment on view api_unstable.stock_reservations is
  E'@primaryKey id\n'
  '@requiresScopes stocks:read\n'
  '@columnEnum state stock_reservation_state\n'
  '@aggregates quantity,open_quantity\n'
  '@groupBy product_id,warehouse_id,state\n'
  '@filters product_id,warehouse_id,bin_location_id,batch_id,order_line_item_id,open_quantity,state,'
  'expires_at,reference\n'
  '@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName '
  'stockReservations\n'
  '@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName '
  'stockReservations\n'
  '@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation|@foreignFieldName '
  'stockReservations\n'
  '@foreignKey (batch_id) references batches (id)|@fieldName batch|@foreignFieldName stockReservations\n'
  '@foreignKey (order_line_item_id) references order_line_items (id)|@fieldName orderLineItem'
  '|@foreignFieldName stockReservations\n'
  'Units of a product that are promised at a place. One for an order line is part of what the order has '
  'reserved; others add to it.';
--! EndIncluded api/stock_reservations.sql
--! Included api/stock_reservations_missing_quantity.sql
create function api_unstable.stock_reservations_missing_quantity(
  reservation api_unstable.stock_reservations
)
returns integer language sql stable
return ledger.missing_units(reservation.id);
comment on function api_unstable.stock_reservations_missing_quantity(api_unstable.stock_reservations) is $$
@notNull
Units of it that are no longer there, because they were counted down, put on hold or shipped to others. At
most its open units. Other promises of the same place may lack the same units.$$;
--! EndIncluded api/stock_reservations_missing_quantity.sql
drop function if exists api_unstable.products_allows_backorders(api_unstable.products);
--! Included api/products_allows_backorders.sql
create function api_unstable.products_allows_backorders(product api_unstable.products) returns boolean
language sql stable
return ledger.allows_backorders(product.id);
comment on function api_unstable.products_allows_backorders(api_unstable.products) is $$
@notNull
Whether units may be reserved that are not there yet.$$;
--! EndIncluded api/products_allows_backorders.sql
drop function if exists api_unstable.products_available_to_promise(api_unstable.products, date);
--! Included api/products_available_to_promise.sql
create function api_unstable.products_available_to_promise(
  product api_unstable.products, day date default null
)
returns integer language sql stable
return product.available_stock + ledger.expected_units(product.id, null, day);
comment on function api_unstable.products_available_to_promise(api_unstable.products, date) is $$
@notNull
@requiresScopes supplier_orders:read
@describe day The day on which the units are needed. By default today.
Units that can be promised for a day: what is available now, and what open supplier orders bring until then.
A line counts from its expected date on, or else from the delivery date of its order. Overdue lines count
from today on, and lines without a date never.$$;
--! EndIncluded api/products_available_to_promise.sql
drop function if exists
  api_unstable.warehouse_stocks_available_to_promise(api_unstable.warehouse_stocks, date);
--! Included api/warehouse_stocks_available_to_promise.sql
create function api_unstable.warehouse_stocks_available_to_promise(
  stock api_unstable.warehouse_stocks, day date default null
)
returns integer language sql stable
return stock.available_quantity + ledger.expected_units(stock.product_id, stock.warehouse_id, day);
comment on function api_unstable.warehouse_stocks_available_to_promise(
  api_unstable.warehouse_stocks, date
) is $$
@notNull
@requiresScopes supplier_orders:read
@describe day The day on which the units are needed. By default today.
Units that can be promised from the warehouse for a day: what is available there now, and what open supplier
orders for this warehouse bring until then. Product.availableToPromise says which lines count.$$;
--! EndIncluded api/warehouse_stocks_available_to_promise.sql
--! Included api/products_upsert.sql
drop type if exists api_unstable.products_upsert_input cascade;
drop type if exists api_unstable.product_upsert_input cascade;
drop type if exists api_unstable.product_price_input cascade;
drop type if exists api_unstable.products_upsert_payload cascade;
drop type if exists api_unstable.product_upsert_image_input cascade;
drop type if exists api_unstable.product_upsert_image_translation_input cascade;
drop type if exists api_unstable.product_upsert_translation_input cascade;

create type api_unstable.product_price_input
  as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type api_unstable.product_price_input is 'A price in one currency.';
comment on column api_unstable.product_price_input.currency_id is
  E'@notNull\n@gid Currency\nId of the currency.';
comment on column api_unstable.product_price_input.net is E'@notNull\nAmount without tax; not negative.';
comment on column api_unstable.product_price_input.gross is E'@notNull\nAmount with tax; not negative.';
comment on column api_unstable.product_price_input.linked is
  'Whether one of the amounts follows from the other by the tax rate. True when left out.';

create type api_unstable.product_upsert_translation_input as (locale text, name text, description text);
comment on type api_unstable.product_upsert_translation_input is
  'Texts of a product in another language. Without a text it counts as left out.';
comment on column api_unstable.product_upsert_translation_input.locale is
  E'@notNull\nThe language, perhaps with script and region: de, de-AT, zh-Hant-TW.';
comment on column api_unstable.product_upsert_translation_input.name is
  'Name of the product; at most 255 characters.';
comment on column api_unstable.product_upsert_translation_input.description is
  'Text that describes the product to buyers.';

create type api_unstable.product_upsert_image_translation_input as (locale text, alt_text text);
comment on type api_unstable.product_upsert_image_translation_input is
  'The alternative text of an image in another language. Without a text it counts as left out.';
comment on column api_unstable.product_upsert_image_translation_input.locale is
  E'@notNull\nThe language, perhaps with script and region: de, de-AT, zh-Hant-TW.';
comment on column api_unstable.product_upsert_image_translation_input.alt_text is
  'Description of the image; at most 1,000 characters.';

create type api_unstable.product_upsert_image_input
  as (url text, alt_text text, translations api_unstable.product_upsert_image_translation_input[]);
comment on type api_unstable.product_upsert_image_input is 'An image of a product.';
comment on column api_unstable.product_upsert_image_input.url is
  E'@notNull\n'
  'Address of the image, which begins with https:// or http://; at most 2048 characters, without a user. '
  'It is kept, and not fetched.';
comment on column api_unstable.product_upsert_image_input.alt_text is
  'Description of the image for people who can''t see it; at most 1,000 characters.';
comment on column api_unstable.product_upsert_image_input.translations is
  'The alternative text in other languages, each of them once; at most 250.';

create type api_unstable.product_upsert_input as (
  id uuid, product_number text, parent_id uuid, parent_product_number text, canonical_product_id uuid,
  name text, description text, gtin text, manufacturer_number text, unit_code text, gross_weight numeric,
  tax_rate numeric,
  is_batch_managed boolean, tracking api_unstable.product_tracking,
  minimum_remaining_shelf_life_days integer, pick_order api_unstable.pick_order, allows_backorders boolean,
  reorder_point integer, target_maximum_quantity integer,
  storefront_variants jsonb, price api_unstable.product_price_input[],
  purchase_prices api_unstable.product_price_input[], tags text[],
  translations api_unstable.product_upsert_translation_input[],
  images api_unstable.product_upsert_image_input[]
);
comment on type api_unstable.product_upsert_input is
  'A product as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.product_upsert_input.id is
  E'@gid Product\nId of the product. Without it, the product is known by its number.';
comment on column api_unstable.product_upsert_input.product_number is
  'Stock keeping unit (SKU), unique; 1 to 255 characters. Beside an id it is the number that the product '
  'gets.';
comment on column api_unstable.product_upsert_input.parent_id is
  E'@gid Product\nId of the product that this one is a variant of.';
comment on column api_unstable.product_upsert_input.parent_product_number is
  'Number of the product that this one is a variant of, instead of its id. It may be a row of the same call, '
  'before or after this one.';
comment on column api_unstable.product_upsert_input.canonical_product_id is
  E'@gid Product\nId of the product that stands for this one where only one is shown.';
comment on column api_unstable.product_upsert_input.name is 'Name of the product.';
comment on column api_unstable.product_upsert_input.description is
  'Text that describes the product to buyers.';
comment on column api_unstable.product_upsert_input.gtin is
  'Global Trade Item Number (EAN, UPC); at most 255 characters.';
comment on column api_unstable.product_upsert_input.manufacturer_number is
  'Number that the manufacturer gave the product; at most 255 characters.';
comment on column api_unstable.product_upsert_input.unit_code is
  'Unit that the product is counted in, of UN/ECE Recommendation 20, such as C62 for pieces or KGM for '
  'kilograms. Invoices show C62 by default.';
comment on column api_unstable.product_upsert_input.gross_weight is
  'Weight of one unit with its packaging, in kilograms; more than 0, with at most six decimals.';
comment on column api_unstable.product_upsert_input.tax_rate is
  'Tax rate in percent, from 0 to 100. 19 when left out of a new product.';
comment on column api_unstable.product_upsert_input.is_batch_managed is
  'Whether every movement of the product must name batches. It can''t change while there is stock. Field '
  'tracking says the same, and whether batches are serial numbers: true keeps these, and false ends them.';
comment on column api_unstable.product_upsert_input.tracking is
  'How units are told apart: not at all when left out of a new product. It can''t change while there is '
  'stock.';
comment on column api_unstable.product_upsert_input.minimum_remaining_shelf_life_days is
  'Days of shelf life that customers are promised, from 0 to 36,500. A batch is sold until so many days '
  'before its best-before date. Later it is shipped only if it is named.';
comment on column api_unstable.product_upsert_input.pick_order is
  'Order in which units are picked. Null leaves it to the merchant.';
comment on column api_unstable.product_upsert_input.allows_backorders is
  'Whether units may be reserved that are not there yet. False when left out of a new product.';
comment on column api_unstable.product_upsert_input.reorder_point is
  'Stock, over all warehouses, at which the product is to be ordered again; not negative.';
comment on column api_unstable.product_upsert_input.target_maximum_quantity is
  'Stock to fill up to when the product is ordered again; not negative.';
comment on column api_unstable.product_upsert_input.storefront_variants is
  'Counterparts in the external storefront platform: a list of objects with productId and variantId.';
comment on column api_unstable.product_upsert_input.price is
  'Sales prices, one per currency. They take the place of all present ones.';
comment on column api_unstable.product_upsert_input.purchase_prices is
  'Purchase prices, one per currency. They take the place of all present ones, also of the default '
  'supplier''s '
  'while that is paid in the default currency.';
comment on column api_unstable.product_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';
comment on column api_unstable.product_upsert_input.translations is
  'Name and description in other languages, each of them once, which take the place of all present ones; at '
  'most 250.';
comment on column api_unstable.product_upsert_input.images is
  'Images in their order, each address once, which take the place of all present ones; at most 250.';

create type api_unstable.products_upsert_input
  as (products api_unstable.product_upsert_input[], partial boolean);
comment on type api_unstable.products_upsert_input is 'Products as they are to be.';
comment on column api_unstable.products_upsert_input.products is E'@notNull\nThe products; 1 to 250 rows.';
comment on column api_unstable.products_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or none.';

create type api_unstable.products_upsert_payload as (
  results api_unstable.upsert_result[], products uuid[], user_errors api_unstable.user_error[],
  warnings api_unstable.warning[]
);
comment on type api_unstable.products_upsert_payload is 'The result of upserting products.';
comment on column api_unstable.products_upsert_payload.results is
  E'@resultOf Product\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on column api_unstable.products_upsert_payload.products is
  E'@entity Product\n@perLine products\nThe products of the rows that were not refused, in their order.';
comment on column api_unstable.products_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';
comment on column api_unstable.products_upsert_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

create function api_unstable.products_upsert(input api_unstable.products_upsert_input, changes jsonb)
returns api_unstable.products_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids,
    null, null
  )::api_unstable.products_upsert_payload
  from mutation.upserted(erp.upsert_products(changes -> 'products', input.partial)) d
$$;
comment on function api_unstable.products_upsert(api_unstable.products_upsert_input, jsonb) is
  E'@requiresScopes products:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE TOO_MANY_LINES\n'
  '@warnings PRODUCT_HAS_VARIANTS\n'
  'Makes products and changes those that are there, known by their id or number: with prices, translations, '
  'images, tags, and variants. Rows that say nothing new change nothing.';
--! EndIncluded api/products_upsert.sql
--! Included api/stock_reservation_payload.sql
drop type if exists api_unstable.stock_reservation_payload cascade;
create type api_unstable.stock_reservation_payload as (
  stock_reservations uuid[], user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.stock_reservation_payload is
  'The result of reserving units, or of releasing them.';
comment on column api_unstable.stock_reservation_payload.stock_reservations is
  E'@entity StockReservation\n@perLine lines\n'
  'The reservations as they are now, in the order of the lines; empty when refused.';
comment on column api_unstable.stock_reservation_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.stock_reservation_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
--! EndIncluded api/stock_reservation_payload.sql
--! Included api/stock_reserve.sql
drop type if exists api_unstable.stock_reserve_input cascade;
drop type if exists api_unstable.stock_reserve_line_input cascade;
create type api_unstable.stock_reserve_line_input as (
  product_id uuid, place api_unstable.stock_place_input, quantity integer, batch_id uuid,
  order_line_item_id uuid
);
comment on type api_unstable.stock_reserve_line_input is 'Units of a product to be reserved.';
comment on column api_unstable.stock_reserve_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_reserve_line_input.place is
  E'@notNull\nPlace that the units are promised at: a warehouse with all its bins, or one bin.';
comment on column api_unstable.stock_reserve_line_input.quantity is E'@notNull\nUnits; at least 1.';
comment on column api_unstable.stock_reserve_line_input.batch_id is
  E'@gid Batch\nId of the batch that is promised. Without it, any will do.';
comment on column api_unstable.stock_reserve_line_input.order_line_item_id is
  E'@gid OrderLineItem\nId of the order line that the units are for. The order has them reserved already, so '
  'the reserved stock of the product stays as it is.';

create type api_unstable.stock_reserve_input as (
  lines api_unstable.stock_reserve_line_input[], expires_at timestamptz, reference text, note text
);
comment on type api_unstable.stock_reserve_input is 'Units to be reserved.';
comment on column api_unstable.stock_reserve_input.lines is
  E'@notNull\nThe units; 1 to 250 lines. Each becomes a reservation.';
comment on column api_unstable.stock_reserve_input.expires_at is
  'When the reservations end by themselves, in the future. Without it they never do.';
comment on column api_unstable.stock_reserve_input.reference is
  'The caller''s own reference, such as the number of a cart, of at most 255 characters. '
  'stockReservations can be filtered by it.';
comment on column api_unstable.stock_reserve_input.note is
  'Note that is kept with the reservations, of at most 1,000 characters.';

create function api_unstable.stock_reserve(input api_unstable.stock_reserve_input)
returns api_unstable.stock_reservation_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (ledger.reserve_stock(array(
    select row (l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, l.quantity, l.batch_id,
      l.order_line_item_id)::ledger.reservation_line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.expires_at, input.reference, input.note), null, null)::api_unstable.stock_reservation_payload
$$;
comment on function api_unstable.stock_reserve(api_unstable.stock_reserve_input) is
  E'@requiresScopes stocks:write\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH OVER_FULFILLMENT '
  'INSUFFICIENT_STOCK\n'
  'Reserves units at a place: all lines, or none. Never more than there is, unless the product allows '
  'backorders. The place, the batch, and the available stock of the product must have the units. For an '
  'order line the product need not, because the order has reserved them already.';
--! EndIncluded api/stock_reserve.sql
--! Included api/stock_release.sql
drop type if exists api_unstable.stock_release_input cascade;
drop type if exists api_unstable.stock_release_line_input cascade;
create type api_unstable.stock_release_line_input as (id uuid, quantity integer);
comment on type api_unstable.stock_release_line_input is 'A reservation to release.';
comment on column api_unstable.stock_release_line_input.id is
  E'@notNull\n@gid StockReservation\nId of the reservation.';
comment on column api_unstable.stock_release_line_input.quantity is
  'Units to release, at most its open ones. Without it, all of them.';

create type api_unstable.stock_release_input as (lines api_unstable.stock_release_line_input[]);
comment on type api_unstable.stock_release_input is 'Reservations to release.';
comment on column api_unstable.stock_release_input.lines is
  E'@notNull\nThe reservations, each once; 1 to 250 lines.';

create function api_unstable.stock_release(input api_unstable.stock_release_input)
returns api_unstable.stock_reservation_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (ledger.release_stock(
    array(select l.id from unnest(input.lines) with ordinality l order by l.ordinality),
    array(select l.quantity from unnest(input.lines) with ordinality l order by l.ordinality)
  ), null, null)::api_unstable.stock_reservation_payload
$$;
comment on function api_unstable.stock_release(api_unstable.stock_release_input) is
  E'@requiresScopes stocks:write\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE NOT_FOUND NOT_UNIQUE INVALID_STATE_TRANSITION\n'
  'Releases reserved units, so that others can have them: all lines, or none. A reservation without open '
  'units stays as history.';
--! EndIncluded api/stock_release.sql

--! split: 130-sourcing.sql
-- Sourcing: which location ships what of an order, by a plan and by rules; fulfillment orders move and split

drop function if exists api_unstable.sourcing_simulate, api_unstable.sourcing_simulate_locations,
  api_unstable.sourcing_rules_set, api_unstable.fulfillment_order_move, api_unstable.fulfillment_order_split;
drop view if exists api_unstable.sourcing_rules, api_unstable.sourcing_simulation_locations;
drop function if exists erp.plan_uncovered(uuid, uuid);
drop function if exists erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[]);
drop function if exists administration.report_sourcing;
drop schema if exists sourcing cascade;
create schema sourcing;
comment on schema sourcing is
  'Sourcing: a plan that may be replaced says which location ships what of an order. Rules are rows, and '
  'simulations apply them to past orders.';
grant usage on schema sourcing to service_api, service_writer, service_registrar, service_ledger;
select api_meta.expose('sourcing');

--! Included sourcing/kinds.sql
create or replace function sourcing.kinds() returns text[]
language sql immutable
return array['priority', 'same_country', 'fullest', 'do_not_split', 'split_least'];
comment on function sourcing.kinds() is 'Returns the kinds of sourcing rules.';
grant execute on function sourcing.kinds() to service_writer, service_registrar;
--! EndIncluded sourcing/kinds.sql
create table sourcing.rule (
  id uuid primary key default uuidv7(),
  "position" integer not null constraint rule_position_is_unique unique
    constraint rule_position_is_plausible check ("position" between 1 and 1000),
  kind text collate "C" not null constraint rule_kind_is_known
    check (kind in ('priority', 'same_country', 'fullest', 'do_not_split', 'split_least')),
  location_id uuid references erp.location on delete cascade,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  constraint rule_has_a_location_only_as_priority check ((kind = 'priority') = (location_id is not null)),
  constraint rule_is_unique unique nulls not distinct (location_id, kind)
);
alter table sourcing.rule enable row level security;
comment on table sourcing.rule is
  'Rules that order the locations which could ship an order. Without rows, the default warehouse ships '
  'everything.';
comment on column sourcing.rule."position" is
  'Place in the list; the rule with the smallest one decides first.';
comment on column sourcing.rule.kind is 'How the rule orders the locations.';
comment on column sourcing.rule.location_id is
  'The location that comes first; null unless the kind is priority.';
comment on column sourcing.rule.created_at is 'When the rules were set.';
comment on constraint rule_position_is_unique on sourcing.rule is '@internal set by functions';
comment on constraint rule_position_is_plausible on sourcing.rule is '@internal set by functions';
comment on constraint rule_kind_is_known on sourcing.rule is '@internal an enum in the API';
comment on constraint rule_location_id_fkey on sourcing.rule is '@internal sourcing.require_rules() finds it';
comment on constraint rule_has_a_location_only_as_priority on sourcing.rule is
  '@internal sourcing.require_rules() refuses others';
comment on constraint rule_is_unique on sourcing.rule is '@internal sourcing.require_rules() refuses others';
select api_meta.allow('service_writer', 'sourcing.rule', 'select', 'insert', 'delete');

alter table erp.fulfillment_order drop column if exists division_count cascade;
alter table erp.fulfillment_order add column division_count integer not null default 0;
comment on column erp.fulfillment_order.division_count is
  'How often units were taken out of it and put into others, by fulfillmentOrderMove or '
  'fulfillmentOrderSplit.';
select api_meta.allow('service_writer', 'erp.fulfillment_order',
  'update (source_warehouse_location_id, division_count)');
select api_meta.allow('service_writer', 'erp.fulfillment_order_line_item', 'update (quantity)', 'delete');
select api_meta.allow('service_registrar', 'erp.location', 'select (id, name, warehouse_id)');
select api_meta.allow('service_registrar', 'erp.warehouse', 'select (id, code)');

delete from erp.state_transition t
where t.machine = 'fulfillment_order' and t.action in ('move', 'split');
insert into erp.state_transition (machine, action, from_state, to_state, mutation) values
  ('fulfillment_order', 'move', 'Open', 'Open', 'fulfillment_order_move'),
  ('fulfillment_order', 'split', 'Open', 'Open', 'fulfillment_order_split');

--! Included api/warning_code.sql
do $$
begin
  if to_regtype('api_unstable.warning_code') is null then
    create type api_unstable.warning_code as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.warning_code',
  'OTHER', 'COUNT_SUPERSEDED', 'STOCK_PROMISED', 'PRODUCT_HAS_VARIANTS', 'SURPLUS', 'ORDER_CANCELLED',
  'PRICE_CONVERTED', 'DOCUMENT_INCOMPLETE', 'DOCUMENT_NOT_MADE');
comment on type api_unstable.warning_code is
  E'@value OTHER A warning that this version has no code for; the message describes it.\n'
  '@value COUNT_SUPERSEDED A count was kept and changes nothing, because a later one exists. Field '
  'details has its countedAt and quantity.\n'
  '@value STOCK_PROMISED Units that orders wait for were booked out or put on hold. Field details has the '
  'productId, the reserved stock and the available stock, which is negative now; and the warehouseId if '
  'only that warehouse is short. Call fulfillmentOrderMove without warehouseId to plan a fulfillment order '
  'again.\n'
  '@value PRODUCT_HAS_VARIANTS The product only stands for its variants, and its stock cannot be sold. '
  'After productsUpsert, field details has its number, stock and reserved stock.\n'
  '@value SURPLUS More units arrive than the supplier order or the return has open, or go back than it '
  'received. When the receipt is completed, the surplus of a supplier order becomes a line without an '
  'order. Field details has the quantity, the product, the order and then the line.\n'
  '@value ORDER_CANCELLED The supplier order is cancelled. When the receipt is completed, its units '
  'become a line without an order. Field details is the same as for SURPLUS.\n'
  '@value PRICE_CONVERTED Prices of a supplier order were converted from another currency. Field '
  'details names the order and both currencies.\n'
  '@value DOCUMENT_INCOMPLETE A document was created without data that the law demands. Field details '
  'lists it in missing, for example merchant.vatId, and has the documentNumber.\n'
  '@value DOCUMENT_NOT_MADE The goods were shipped, but the invoice was refused for the reason in the '
  'message. Field details has the documentType, the orderNumber, and the rule and the field to mend; then '
  'documentCreate makes the invoice.\n'
  'The code of a warning. A version only shows codes that it lists: later ones appear as OTHER.';
--! EndIncluded api/warning_code.sql
--! Included sourcing/allotment.sql
do $$
begin
  if to_regtype('sourcing.allotment') is null then
    create type sourcing.allotment as (order_line_item_id uuid, location_id uuid, quantity integer);
  end if;
end
$$;
comment on type sourcing.allotment is
  'Units of a line of an order that a location is to ship: a row of the answer of sourcing.plan.';
--! EndIncluded sourcing/allotment.sql
--! Included sourcing/is_simulated.sql
create or replace function sourcing.is_simulated() returns boolean
language sql stable
return coalesce(current_setting('sourcing.stock', true), '') <> '';
comment on function sourcing.is_simulated() is
  'Whether sourcing.simulate plans a past order. The setting sourcing.stock then has its stock.';
grant execute on function sourcing.is_simulated() to service_writer;
--! EndIncluded sourcing/is_simulated.sql
--! Included sourcing/reserved_of.sql
create or replace function sourcing.reserved_of(order_id uuid)
returns table (order_line_item_id uuid, location_id uuid, quantity integer)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select r.order_line_item_id, l.id, sum(r.open_quantity)::integer
  from erp.sales_order_line_item s join erp.stock_reservation r on r.order_line_item_id = s.id
  join erp.location l on l.warehouse_id = r.warehouse_id and l.active
  where s.order_id = reserved_of.order_id and r.open_quantity > 0
    and coalesce(r.expires_at > ledger.moment_of_statement(), true)
    and not sourcing.is_simulated() and coalesce(current_setting('sourcing.again', true), '') = ''
  group by r.order_line_item_id, l.id;
end;
comment on function sourcing.reserved_of(uuid) is
  'Returns the units that active reservations of an order''s lines keep, by the location of their warehouse. '
  'Returns nothing in a simulation, and nothing while a fulfillment order is planned again.';
grant execute on function sourcing.reserved_of(uuid) to service_writer;
--! EndIncluded sourcing/reserved_of.sql
--! Included sourcing/needs.sql
create or replace function sourcing.needs(order_id uuid)
returns table (nth bigint, order_line_item_id uuid, product_id uuid, quantity integer)
language sql stable
begin atomic
  select u.ordinality, u.owner_id, u.item_id, u.quantity::integer
  from unnest(erp.uncovered_lines(needs.order_id)) with ordinality u
  where u.item_id is not null and not sourcing.is_simulated()
    and coalesce(current_setting('sourcing.again', true), '') = ''
  union all
  select row_number() over (order by s."position", s.id), s.id, s.product_id,
    l.quantity - l.fulfilled_quantity
  from erp.fulfillment_order_line_item l
  join erp.sales_order_line_item s on s.id = l.destination_order_line_item_id
  where l.fulfillment_order_id = nullif(current_setting('sourcing.again', true), '')::uuid
    and s.order_id = needs.order_id and l.quantity > l.fulfilled_quantity and s.product_id is not null
  union all
  select row_number() over (order by s."position", s.id), s.id, s.product_id, s.quantity
  from erp.sales_order_line_item s
  where s.order_id = needs.order_id and s.product_id is not null and sourcing.is_simulated()
  order by 1;
end;
comment on function sourcing.needs(uuid) is
  'Returns the units of an order that are to be sourced, by line, in the order of the lines: units that are '
  'neither shipped nor in an open fulfillment order. While a fulfillment order is planned again, they are '
  'its open units. In a simulation they are all units of the order.';
grant execute on function sourcing.needs(uuid) to service_writer;
--! EndIncluded sourcing/needs.sql
--! Included sourcing/offers.sql
create or replace function sourcing.offers(product_ids uuid[])
returns table (nth bigint, product_id uuid, location_id uuid, warehouse_id uuid, quantity integer)
language sql stable
begin atomic
  select p.nth, p.id, l.id, l.warehouse_id, greatest(0, case
    when sourcing.is_simulated() then (
      (select nullif(current_setting('sourcing.stock', true), '')::jsonb)
        ->> concat(p.id, '/', l.warehouse_id)
    )::integer
    when coalesce(current_setting('sourcing.again', true), '') = '' then a.units
    else coalesce(a.units, 0) + coalesce((
      select sum(i.quantity - i.fulfilled_quantity) from erp.fulfillment_order f
      join erp.fulfillment_order_line_item i on i.fulfillment_order_id = f.id
      where f.id = nullif(current_setting('sourcing.again', true), '')::uuid
        and f.source_warehouse_location_id = l.id and i.product_id = p.id
    ), 0)::integer end)
  from erp.warehouse w join erp.location l on l.warehouse_id = w.id
  cross join unnest(offers.product_ids) with ordinality p (id, nth)
  left join ledger.warehouse_stock s on s.product_id = p.id and s.warehouse_id = l.warehouse_id
  -- Reservations whose time is over, until they end
  left join (
    select r.product_id, r.warehouse_id, sum(r.open_quantity)::integer as units
    from erp.stock_reservation r
    where r.product_id = any (offers.product_ids) and r.open_quantity > 0
      and r.expires_at <= ledger.moment_of_statement()
    group by r.product_id, r.warehouse_id
  ) o on o.product_id = p.id and o.warehouse_id = l.warehouse_id
  cross join lateral (values (s.quantity - s.held_quantity - s.reserved_quantity + o.units)) f (units)
  cross join lateral (values (
    coalesce(f.units - greatest(least(f.units, s.safety_stock), 0), s.available_quantity))) a (units)
  where l.active and w.is_stock_available_for_sale;
end;
comment on function sourcing.offers(uuid[]) is
  'Returns how many units of each of some products each location can promise; nth counts the products. The '
  'locations are active, and their warehouses sell their stock. Reservations whose time is over do not '
  'count. While a fulfillment order is planned again, its own units count as free. In a simulation the units '
  'are those that lay there at the time of the order.';
grant execute on function sourcing.offers(uuid[]) to service_writer;
--! EndIncluded sourcing/offers.sql
--! Included sourcing/listed_rules.sql
create or replace function sourcing.listed_rules(kinds text[], locations uuid[])
returns table ("position" integer, kind text, location_id uuid)
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select row_number() over (order by k.ordinality, l.ordinality)::integer, k.kind, l.id
  from unnest(listed_rules.kinds) with ordinality k (kind, ordinality)
  left join unnest(listed_rules.locations) with ordinality l (id, ordinality) on k.kind = 'priority';
end;
comment on function sourcing.listed_rules(text[], uuid[]) is
  'Returns kinds of rules as rows of sourcing.rule: priority is a row for each location.';
grant execute on function sourcing.listed_rules(text[], uuid[]) to service_writer;
--! EndIncluded sourcing/listed_rules.sql
--! Included sourcing/rules_in_use.sql
create or replace function sourcing.rules_in_use()
returns table ("position" integer, kind text, location_id uuid)
language sql stable
begin atomic
  select r."position", r.kind, r.location_id from sourcing.rule r
  where coalesce(current_setting('sourcing.rules', true), '') = ''
  union all
  select r."position", r.kind, r.location_id
  from jsonb_to_recordset(coalesce(nullif(current_setting('sourcing.rules', true), ''), '[]')::jsonb)
    as r ("position" integer, kind text, location_id uuid)
  order by 1;
end;
comment on function sourcing.rules_in_use() is
  'Returns the rules in their order: the rows of sourcing.rule, or the rules that a simulation tries.';
grant execute on function sourcing.rules_in_use() to service_writer;
--! EndIncluded sourcing/rules_in_use.sql
--! Included sourcing/places.sql
drop type if exists sourcing.place cascade;
create type sourcing.place as (location_id uuid, stock bigint[], keys bigint[]);
comment on type sourcing.place is
  'A location that could ship an order: the units that it has for each line, and its rank by each rule.';

create or replace function sourcing.places(
  order_id uuid, lines ledger.change[], in_use uuid[], kinds text[], locations uuid[]
) returns sourcing.place[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return array(
    with off as materialized (
      select a.destination_order_line_item_id as line_id, f.source_warehouse_location_id as location_id
      from erp.fulfillment_order f join erp.fulfillment_order_line_item a on a.fulfillment_order_id = f.id
      where f.destination_order_id = places.order_id and f.state = 'Cancelled'
        and a.quantity > a.fulfilled_quantity and not sourcing.is_simulated()
    ),
    place as (
      select o.location_id, o.warehouse_id, array_agg(case
          when exists (select from off
            where off.location_id = o.location_id and off.line_id = lines[o.nth].owner_id) then 0
          else o.quantity end::bigint order by o.nth) as stock,
        -- Of each product once
        sum(o.quantity) filter (where o.nth = array_position(ids.list, o.product_id)) as units
      from (select array(select n.item_id from unnest(lines) with ordinality n order by n.ordinality) as list)
        ids
      cross join lateral sourcing.offers(ids.list) o group by o.location_id, o.warehouse_id
    )
    select row (p.location_id, p.stock, array(
      select case r.kind when 'priority' then (r.location_id = p.location_id)::integer
        when 'fullest' then p.units
        when 'same_country' then coalesce(upper(w.address ->> 'countryIso') = (
          select upper(s.shipping_address ->> 'countryIso') from erp.sales_order s
          where s.id = places.order_id), false)::integer
        else 0 end
      from unnest(kinds, locations) with ordinality r (kind, location_id, nth) order by r.nth
    ))::sourcing.place
    from place p join erp.warehouse w on w.id = p.warehouse_id
    where p.units > 0
    order by p.location_id = any (in_use || array(
      select f.source_warehouse_location_id from erp.fulfillment_order f
      where f.destination_order_id = places.order_id and f.state in ('Open', 'InProgress')
        and not sourcing.is_simulated()
    )) desc, w.is_default desc, w.code, p.location_id
  );
end
$$;
comment on function sourcing.places(uuid, ledger.change[], uuid[], text[], uuid[]) is
  'Returns the locations that have something of lines of an order (owners) with products (items). Where the '
  'shipping of a line was called off, a location has none of its units. Takes locations that ship something '
  'of the order anyway, and the rules. Locations that rules leave equal stand in the order that decides '
  'then: those that ship something of the order, the default warehouse, the code of the warehouse.';
select api_meta.plan_by_index('sourcing.places(uuid, ledger.change[], uuid[], text[], uuid[])');
grant execute on function sourcing.places(uuid, ledger.change[], uuid[], text[], uuid[]) to service_writer;
--! EndIncluded sourcing/places.sql
--! Included sourcing/best_share.sql
drop type if exists sourcing.share cascade;
create type sourcing.share as (place integer, units bigint[]);
comment on type sourcing.share is
  'The units of each line that a location ships, and its index; both null if no location ships anything.';

create or replace function sourcing.best_share(
  previous bigint[], left_over bigint[], places sourcing.place[], kinds text[]
) returns sourcing.share
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  wanted bigint := 0;
  must_have_all constant boolean := 'do_not_split' = any (kinds);
  by_units constant integer := array_position(kinds, 'split_least');
  -- Units of the product that this line and earlier ones want
  claimed bigint[] := left_over;
  stock bigint[];
  units bigint[] := left_over;
  keys bigint[];
  best_keys bigint[];
  total bigint;
  best sourcing.share;
begin
  foreach total in array left_over loop
    wanted := wanted + total;
  end loop;
  for n in 1 .. cardinality(places) loop
    stock := places[n].stock;
    total := 0;
    for i in 1 .. cardinality(left_over) loop
      claimed[i] := coalesce(claimed[previous[i]], 0);
      units[i] := greatest(0, least(left_over[i], stock[i] - claimed[i]));
      total := total + units[i];
      if stock[i] > 0 then
        claimed[i] := claimed[i] + left_over[i];
      end if;
    end loop;
    continue when total = 0 or must_have_all and total < wanted;
    keys := places[n].keys;
    if by_units is not null then
      keys[by_units] := total;
    end if;
    if best_keys is null or keys > best_keys then
      best_keys := keys;
      best := row (n, units)::sourcing.share;
    end if;
  end loop;
  return best;
end
$$;
comment on function sourcing.best_share(bigint[], bigint[], sourcing.place[], text[]) is
  'Returns what the best location ships of the units that are left of lines. An element of the array '
  'previous is the index of the line before that has the same product: it comes first. The array of places '
  'has an order that decides where the rules leave locations equal.';
grant execute on function sourcing.best_share(bigint[], bigint[], sourcing.place[], text[])
  to service_writer;
--! EndIncluded sourcing/best_share.sql
--! Included sourcing/plan.sql
create or replace function sourcing.plan(order_id uuid) returns setof sourcing.allotment
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  kinds constant text[] := array(select r.kind from sourcing.rules_in_use() r order by r."position");
  kept constant sourcing.allotment[] := array(
    select row (r.order_line_item_id, r.location_id, r.quantity)::sourcing.allotment
    from sourcing.reserved_of(plan.order_id) r);
  lines ledger.change[];
  places sourcing.place[];
  left_over bigint[];
  previous bigint[];
  best sourcing.share;
begin
  return query select k.* from unnest(kept) k;
  if kinds = '{}' then
    return;
  end if;
  lines := array(
    select row (n.order_line_item_id, n.product_id, n.quantity - coalesce((
      select sum(k.quantity) from unnest(kept) k where k.order_line_item_id = n.order_line_item_id
    ), 0))::ledger.change
    from sourcing.needs(plan.order_id) n order by n.nth);
  left_over := array(select l.quantity from unnest(lines) with ordinality l order by l.ordinality);
  previous := array(
    select lag(l.ordinality) over (partition by l.item_id order by l.ordinality)
    from unnest(lines) with ordinality l order by l.ordinality);
  places := sourcing.places(plan.order_id, lines, array(select k.location_id from unnest(kept) k), kinds,
    array(select r.location_id from sourcing.rules_in_use() r order by r."position"));
  -- The best location ships what it has; then the rules look at what is left
  while 0 < any (left_over) loop
    best := sourcing.best_share(previous, left_over, places, kinds);
    exit when best.place is null;
    for i in 1 .. cardinality(lines) loop
      if best.units[i] > 0 then
        return next row (lines[i].owner_id, places[best.place].location_id, best.units[i]::integer)
          ::sourcing.allotment;
        left_over[i] := left_over[i] - best.units[i];
      end if;
    end loop;
    places := places[:best.place - 1] || places[best.place + 1:];
  end loop;
end
$$;
comment on function sourcing.plan(uuid) is
  'Returns which locations are to ship the units of an order that sourcing.needs returns. What it leaves out '
  'goes to the default warehouse. Reserved units are shipped from where they are reserved. The rules of '
  'sourcing.rule order the locations for the others, and the first one takes what it has. Then the rules '
  'order the locations again for what is left. Without rules it returns reserved units only. You may replace '
  'it by a function of the same name, parameter and result, which changes nothing. Its answer is checked.';
select api_meta.plan_by_index('sourcing.plan(uuid)');
grant execute on function sourcing.plan(uuid) to service_writer;
--! EndIncluded sourcing/plan.sql
--! Included sourcing/plan_fault.sql
create or replace function sourcing.plan_fault(order_id uuid, planned sourcing.allotment[]) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select f.fault from (
    select 1 as nth, format('it has %s locations; 250 are allowed', count(distinct p.location_id)) as fault
    from unnest(plan_fault.planned) p having count(distinct p.location_id) > 250
    union all
    select 2, format('line %s gets %s units', p.order_line_item_id, coalesce(p.quantity::text, 'no'))
    from unnest(plan_fault.planned) p where p.quantity is null or p.quantity < 1
    union all
    select 3, format('location %s is not active, or has no warehouse', coalesce(p.location_id::text, 'null'))
    from unnest(plan_fault.planned) p where not exists (
      select from erp.location l
      where l.id = p.location_id and l.active and l.warehouse_id is not null)
    union all
    select 4, format('line %s gets %s units, but %s are to be sourced',
      coalesce(p.order_line_item_id::text, 'null'), p.quantity, coalesce(n.quantity, 0))
    from (
      select a.order_line_item_id, sum(a.quantity) as quantity
      from unnest(plan_fault.planned) a group by a.order_line_item_id
    ) p
    left join sourcing.needs(plan_fault.order_id) n on n.order_line_item_id = p.order_line_item_id
    where p.quantity > coalesce(n.quantity, 0)
  ) f order by f.nth limit 1;
end;
comment on function sourcing.plan_fault(uuid, sourcing.allotment[]) is
  'Returns what is wrong with the answer of sourcing.plan for an order, or null. It may only name lines of '
  'the order with at most their units of sourcing.needs, positive quantities, and active locations with a '
  'warehouse.';
grant execute on function sourcing.plan_fault(uuid, sourcing.allotment[]) to service_writer;
--! EndIncluded sourcing/plan_fault.sql
--! Included sourcing/checked_plan.sql
create or replace function sourcing.checked_plan(order_id uuid) returns erp.assignment[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  planned constant sourcing.allotment[] := array(select p from sourcing.plan(checked_plan.order_id) p);
  fault text;
begin
  if planned = '{}' then
    return '{}';
  end if;
  perform from erp.location l where l.id in (select p.location_id from unnest(planned) p)
    order by l.id for key share;
  fault := sourcing.plan_fault(checked_plan.order_id, planned);
  if fault is not null then
    raise log 'sourcing.plan(%) is refused: %.', checked_plan.order_id, fault;
    perform mutation.refuse('SOURCING_PLAN_INVALID',
      format('The plan of sourcing.plan is refused: %s.', fault), '{order_id}');
  end if;
  return array(
    select row (p.location_id, p.order_line_item_id, s.product_id, p.quantity)::erp.assignment
    from (
      select a.location_id, a.order_line_item_id, sum(a.quantity) as quantity, min(a.ordinality) as nth
      from unnest(planned) with ordinality a group by a.location_id, a.order_line_item_id
    ) p join erp.sales_order_line_item s on s.id = p.order_line_item_id
    order by p.nth);
end
$$;
comment on function sourcing.checked_plan(uuid) is
  'Returns the plan of an order as assignments, once for each line and location. The locations are protected '
  'from deletion until the end of the transaction. A plan that breaks the rules of sourcing.plan_fault is '
  'written to the log of Postgres. User error SOURCING_PLAN_INVALID.';
select api_meta.plan_by_index('sourcing.checked_plan(uuid)');
grant execute on function sourcing.checked_plan(uuid) to service_writer;
--! EndIncluded sourcing/checked_plan.sql
--! Included sourcing/require_same_plan.sql
create or replace function sourcing.require_same_plan(order_id uuid, planned erp.assignment[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if planned <> '{}' and sourcing.checked_plan(order_id) <> planned then
    raise exception 'The stock has changed since the order was planned.'
      using errcode = 'serialization_failure';
  end if;
end
$$;
comment on function sourcing.require_same_plan(uuid, erp.assignment[]) is
  'Plans an order again once the locks of its products are held. Raises a serialization failure if the plan '
  'is another one now: then mutation.run is repeated.';
grant execute on function sourcing.require_same_plan(uuid, erp.assignment[]) to service_writer;
--! EndIncluded sourcing/require_same_plan.sql
--! Included sourcing/require_rules.sql
create or replace function sourcing.require_rules(kinds text[], locations uuid[]) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 100;
  errors jsonb;
begin
  if greatest(cardinality(kinds), cardinality(locations)) > most then
    perform mutation.refuse('TOO_MANY_LINES', format('At most %s are allowed.', most),
      case when cardinality(kinds) > most then '{rules}' else '{location_ids}' end::text[],
      jsonb_build_object('maximum', most));
  elsif 'priority' = any (kinds) and cardinality(coalesce(locations, '{}')) = 0 then
    perform mutation.refuse('REQUIRED', 'The rule priority needs locations.', '{location_ids}');
  elsif cardinality(locations) > 0 and not 'priority' = any (kinds) then
    perform mutation.refuse('INVALID', 'Only the rule priority has locations.', '{location_ids}');
  end if;
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path(e.list, e.nth)) order by e.list, e.nth)
  into errors
  from (
    select 'NOT_UNIQUE', 'An earlier rule is the same.', 'rules', k.ordinality
    from unnest(kinds) with ordinality k (kind, ordinality)
    where k.kind = any (kinds[:k.ordinality - 1])
    union all
    select 'NOT_UNIQUE', 'An earlier location is the same.', 'location_ids', l.ordinality
    from unnest(locations) with ordinality l (id, ordinality)
    where l.id = any (locations[:l.ordinality - 1])
    union all
    select 'NOT_FOUND', 'There is no such location.', 'location_ids', l.ordinality
    from unnest(locations) with ordinality l (id, ordinality)
    where not exists (select from erp.location p where p.id = l.id)
    union all
    select 'INVALID', 'The location has no warehouse.', 'location_ids', l.ordinality
    from unnest(locations) with ordinality l (id, ordinality)
    where exists (select from erp.location p where p.id = l.id and p.warehouse_id is null)
  ) e (code, message, list, nth);
  perform mutation.refuse(errors);
end
$$;
comment on function sourcing.require_rules(text[], uuid[]) is
  'Refuses lists of rules that are invalid. User errors TOO_MANY_LINES, REQUIRED, INVALID, NOT_UNIQUE, '
  'NOT_FOUND.';
grant execute on function sourcing.require_rules(text[], uuid[]) to service_writer;
--! EndIncluded sourcing/require_rules.sql
--! Included sourcing/set_rules.sql
create or replace function sourcing.set_rules(kinds text[], locations uuid[]) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform sourcing.require_rules(kinds, locations);
  -- One list after the other
  perform from erp.location l where l.id = any (locations) order by l.id for key share;
  lock table sourcing.rule in share row exclusive mode;
  delete from sourcing.rule;
  insert into sourcing.rule ("position", kind, location_id)
  select r."position", r.kind, r.location_id
  from sourcing.listed_rules(kinds, locations) r order by r."position";
  return array(select r.id from sourcing.rule r order by r."position");
end
$$;
comment on function sourcing.set_rules(text[], uuid[]) is
  'Replaces the rules. The locations belong to the rule priority, in their order. Returns the ids of the '
  'rules. User errors NOT_UNIQUE, NOT_FOUND, REQUIRED, INVALID, TOO_MANY_LINES.';
grant execute on function sourcing.set_rules(text[], uuid[]) to service_writer;
--! EndIncluded sourcing/set_rules.sql
--! Included sourcing/stock_as_of.sql
create or replace function sourcing.stock_as_of(order_id uuid, moment timestamptz) returns jsonb
language plpgsql stable parallel unsafe security definer set search_path = pg_catalog, pg_temp as $$
declare
  known constant timestamptz := least(moment, ledger.settled_until(pg_current_snapshot()));
  span constant ledger.span := ledger.span_of(null, known);
begin
  return (
    select coalesce(jsonb_object_agg(concat(x.product_id, '/', x.warehouse_id), x.quantity), '{}')
    from (
      select y.product_id, y.warehouse_id, sum(y.quantity) as quantity
      from (select distinct s.product_id from erp.sales_order_line_item s
        where s.order_id = stock_as_of.order_id and s.product_id is not null) p
      cross join lateral (
        select b.product_id, b.quantity, b.warehouse_id from ledger.closing_balance b
        where b.closing_id = span.closing_id and b.product_id = p.product_id
        union all
        select l.product_id, l.quantity, l.warehouse_id from ledger.past_leg l
        where l.product_id = p.product_id and l.movement_id between span.from_id and span.to_id
          and (l.booked_at <= known or l.is_count) and l.moment <= known
          and (l.movement_id > span.sure_id or coalesce(l.sequence > span.after_sequence, true))
      ) y
      where y.warehouse_id is not null group by y.product_id, y.warehouse_id having sum(y.quantity) > 0
    ) x);
end
$$;
comment on function sourcing.stock_as_of(uuid, timestamptz) is
  'Returns the units of an order''s products in each warehouse at a moment, as a JSON object. The key is the '
  'id of the product, a slash and the id of the warehouse. It reads closings of the ledger and the movements '
  'after them, as ledger.quantity_as_of does.';
select api_meta.plan_by_index('sourcing.stock_as_of(uuid, timestamptz)');
select api_meta.give('sourcing.stock_as_of(uuid, timestamptz)', 'service_ledger');
revoke execute on function sourcing.stock_as_of(uuid, timestamptz) from public;
grant execute on function sourcing.stock_as_of(uuid, timestamptz) to service_writer;
--! EndIncluded sourcing/stock_as_of.sql
--! Included sourcing/simulate_order.sql
create or replace function sourcing.simulate_order(order_id uuid, moment timestamptz)
returns table (location_id uuid, units bigint, short_units bigint)
language plpgsql stable parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
  stock constant jsonb := sourcing.stock_as_of(simulate_order.order_id, moment);
  planned sourcing.allotment[];
  home uuid;
begin
  perform set_config('sourcing.stock', stock::text, true);
  planned := array(select p from sourcing.plan(simulate_order.order_id) p);
  if sourcing.plan_fault(simulate_order.order_id, planned) is not null then
    planned := '{}';
  end if;
  select l.id into home from erp.warehouse w join erp.location l on l.warehouse_id = w.id
  where w.is_default and l.active;
  return query
    with part as (
      select n.product_id, p.location_id, p.quantity
      from unnest(planned) p
      join sourcing.needs(simulate_order.order_id) n on n.order_line_item_id = p.order_line_item_id
      union all
      -- The default warehouse ships all that the plan leaves out
      select n.product_id, home, n.quantity - coalesce(p.quantity, 0)
      from sourcing.needs(simulate_order.order_id) n
      left join (select a.order_line_item_id, sum(a.quantity) as quantity from unnest(planned) a group by 1) p
        on p.order_line_item_id = n.order_line_item_id
      where n.quantity > coalesce(p.quantity, 0)
    )
    select s.location_id, sum(s.quantity)::bigint, sum(greatest(0, s.quantity - coalesce(
      (stock ->> concat(s.product_id, '/', l.warehouse_id))::bigint, 0)))::bigint
    from (
      select p.product_id, p.location_id, sum(p.quantity) as quantity
      from part p group by p.product_id, p.location_id
    ) s left join erp.location l on l.id = s.location_id group by s.location_id;
  perform set_config('sourcing.stock', '', true);
end
$$;
comment on function sourcing.simulate_order(uuid, timestamptz) is
  'Returns where all units of an order would have been sourced at a moment, and how many of them the '
  'location did not have then. The location is null if there is no default warehouse to ship what is left.';
select api_meta.plan_by_index('sourcing.simulate_order(uuid, timestamptz)');
grant execute on function sourcing.simulate_order(uuid, timestamptz) to service_writer;
--! EndIncluded sourcing/simulate_order.sql
--! Included sourcing/simulate.sql
create or replace function sourcing.simulate(since timestamptz, until timestamptz, orders integer,
  kinds text[] default null, locations uuid[] default null)
returns table (location_id uuid, order_count integer, split_count integer, short_count integer, units integer,
  short_units integer, actual_order_count integer, actual_split_count integer, actual_units integer)
language plpgsql stable parallel unsafe security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform set_config('sourcing.rules', case when kinds is not null then (
    select coalesce(jsonb_agg(to_jsonb(r)), '[]') from sourcing.listed_rules(kinds, locations) r
  )::text else '' end, true);
  return query
    with chosen as materialized (
      select o.id, o.order_date_time as moment from erp.sales_order o
      where o.order_date_time >= coalesce(simulate.since, '-infinity')
        and o.order_date_time < coalesce(simulate.until, 'infinity')
        and o.state <> 'cancelled' and exists (
          select from erp.sales_order_line_item s where s.order_id = o.id and s.product_id is not null)
      order by o.order_date_time desc, o.id desc limit least(greatest(simulate.orders, 0), 1000)
    ),
    part as materialized (
      select c.id as order_id, p.* from chosen c
      cross join lateral sourcing.simulate_order(c.id, c.moment) p
    ),
    fact as materialized (
      select c.id as order_id, f.source_warehouse_location_id as location_id,
        sum(case when f.state = 'Cancelled' then l.fulfilled_quantity else l.quantity end) as units
      from chosen c join erp.fulfillment_order f on f.destination_order_id = c.id
      join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
      where f.source_warehouse_location_id is not null group by 1, 2
      having sum(case when f.state = 'Cancelled' then l.fulfilled_quantity else l.quantity end) > 0
    ),
    whole as (
      select p.order_id, count(*) > 1 as is_split,
        bool_or(p.location_id is null or p.short_units > 0) as is_short
      from part p group by p.order_id
    )
    select null::uuid, (select count(*) from chosen)::integer,
      (select count(*) from whole w where w.is_split)::integer,
      (select count(*) from whole w where w.is_short)::integer, coalesce(sum(p.units), 0)::integer,
      coalesce(sum(p.short_units), 0)::integer, (select count(distinct f.order_id) from fact f)::integer,
      (select count(*) from (select from fact f group by f.order_id having count(*) > 1) s)::integer,
      (select coalesce(sum(f.units), 0) from fact f)::integer
    from part p
    union all
    select b.location_id, count(distinct b.planned)::integer,
      count(distinct b.planned) filter (where b.is_split)::integer,
      count(*) filter (where b.short_units > 0)::integer, sum(b.units)::integer, sum(b.short_units)::integer,
      count(distinct b.done)::integer, count(distinct b.done) filter (where b.was_split)::integer,
      sum(b.actual_units)::integer
    from (
      select p.location_id, p.order_id as planned, w.is_split, p.units, p.short_units, null::uuid as done,
        false as was_split, 0 as actual_units
      from part p join whole w using (order_id) where p.location_id is not null
      union all
      select f.location_id, null, false, 0, 0, f.order_id,
        count(*) over (partition by f.order_id) > 1, f.units
      from fact f
    ) b group by b.location_id;
  perform set_config('sourcing.rules', '', true);
end
$$;
comment on function sourcing.simulate(timestamptz, timestamptz, integer, text[], uuid[]) is
  'Returns where the newest orders of a period would have been sourced, and where they were. There are at '
  'most 1,000 orders. The first row has the sums, the others one location each. An order is short if a '
  'location would have lacked units of it. Each order is planned alone, on the units that lay in the '
  'warehouses at its time: promises and holds of then are not known. Without kinds of rules it uses the '
  'present ones, and in any case the present function sourcing.plan.';
select api_meta.plan_by_index('sourcing.simulate(timestamptz, timestamptz, integer, text[], uuid[])');
select api_meta.give(
  'sourcing.simulate(timestamptz, timestamptz, integer, text[], uuid[])', 'service_writer'
);
revoke execute on function sourcing.simulate(timestamptz, timestamptz, integer, text[], uuid[]) from public;
grant execute on function sourcing.simulate(timestamptz, timestamptz, integer, text[], uuid[])
  to service_api, service_registrar;
--! EndIncluded sourcing/simulate.sql
--! Included sourcing/figures.sql
create or replace function sourcing.figures(since timestamptz, orders integer) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_object_agg(f.name, f.value)
  from sourcing.simulate(figures.since, null, figures.orders) s
  left join erp.location l on l.id = s.location_id
  cross join lateral (
    select 'orders', s.order_count where s.location_id is null
    union all select 'split orders', s.split_count where s.location_id is null
    union all select 'short orders', s.short_count where s.location_id is null
    union all select 'units from ' || l.name, s.units where s.location_id is not null
  ) f (name, value);
end;
comment on function sourcing.figures(timestamptz, integer) is
  'Returns figures of a simulation as an object: orders, split and short ones, and units by location.';
revoke execute on function sourcing.figures(timestamptz, integer) from public;
--! EndIncluded sourcing/figures.sql
--! Included sourcing/compare.sql
create or replace function sourcing.compare(former text) returns setof text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  days constant integer := 31;
  most constant integer := 200;
  present constant text := pg_get_functiondef('sourcing.plan(uuid)'::regprocedure);
  figures jsonb[];
begin
  figures := array[
    sourcing.figures(now() - days * interval '1 day', most), null
  ];
  execute former;
  figures[2] := sourcing.figures(now() - days * interval '1 day', most);
  execute present;
  return next format('sourcing.plan has changed. The newest %s orders of the last %s days:',
    figures[1] ->> 'orders', days);
  return query
    select format('%-28s %8s before, %8s now', f.name, coalesce(o.value, '0'), coalesce(n.value, '0'))
    from (
      select k.name, min(k.nth) as nth from unnest(figures) a cross join jsonb_object_keys(a)
        with ordinality k (name, nth) group by k.name
    ) f
    left join jsonb_each_text(figures[2]) o on o.key = f.name
    left join jsonb_each_text(figures[1]) n on n.key = f.name
    where f.name <> 'orders' order by f.name not like '% orders', f.name;
end
$$;
comment on function sourcing.compare(text) is
  'Returns lines that say what the present function sourcing.plan would have done with recent orders, and '
  'what a former one would have done, of which the definition is given. It replaces the function for a '
  'moment: call it in a transaction that you roll back.';
revoke execute on function sourcing.compare(text) from public;
--! EndIncluded sourcing/compare.sql

--! Included erp/joined_assignments.sql
create or replace function erp.joined_assignments(assignments erp.assignment[]) returns erp.assignment[]
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select row (a.location_id, a.order_line_item_id, a.product_id, a.quantity)::erp.assignment
    from (
      select a.location_id, a.order_line_item_id, a.product_id, sum(a.quantity)::bigint as quantity,
        min(a.ordinality) as nth
      from unnest(joined_assignments.assignments) with ordinality a group by 1, 2, 3
    ) a order by a.nth
  );
end;
comment on function erp.joined_assignments(erp.assignment[]) is
  'Returns assignments with one for each location and line, in the order in which they first occur.';
grant execute on function erp.joined_assignments(erp.assignment[]) to service_writer;
--! EndIncluded erp/joined_assignments.sql
--! Included erp/plan_uncovered.sql
create or replace function erp.plan_uncovered(
  order_id uuid, warehouse_id uuid, out assignments erp.assignment[], out planned erp.assignment[]
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  uncovered ledger.change[] := erp.uncovered_lines(order_id);
  lines constant ledger.change[] := uncovered;
  home uuid;
  called_off ledger.change[];
  elsewhere uuid;
begin
  planned := '{}';
  if cardinality(uncovered) = 0 then
    assignments := '{}';
    return;
  elsif warehouse_id is not null then
    home := erp.location_of_warehouse(warehouse_id, '{warehouse_id}');
    assignments := array(
      select row (home, u.owner_id, u.item_id, u.quantity)::erp.assignment from unnest(uncovered) u
    );
    return;
  end if;
  planned := sourcing.checked_plan(order_id);
  assignments := planned;
  if planned <> '{}' then
    uncovered := array(
      select row (u.owner_id, u.item_id, u.quantity - coalesce(p.quantity, 0))::ledger.change
      from unnest(lines) with ordinality u
      left join (
        select a.order_line_item_id, sum(a.quantity) as quantity from unnest(planned) a group by 1
      ) p on p.order_line_item_id = u.owner_id
      where u.quantity > coalesce(p.quantity, 0) order by u.ordinality);
    if cardinality(uncovered) = 0 then
      return;
    end if;
  end if;
  select l.id into home from erp.location l join erp.warehouse w on w.id = l.warehouse_id
  where w.is_default and l.active for key share of l;
  called_off := array(select u from unnest(uncovered) u where erp.is_called_off((u).owner_id, home));
  if cardinality(called_off) > 0 then
    elsewhere := erp.other_location(order_id, called_off);
    perform from erp.location l where l.id = elsewhere for key share;
    if not found then
      perform mutation.refuse('INSUFFICIENT_STOCK',
        'The default warehouse does not ship units whose shipping was cancelled there, '
        'and no other warehouse has all of them.', '{order_id}',
        jsonb_build_object('requested', (select sum(c.quantity) from unnest(called_off) c)));
    end if;
  end if;
  if home is null and cardinality(called_off) < cardinality(uncovered) then
    perform mutation.refuse(
      'INVALID', 'The default warehouse has no active location to ship from.', '{order_id}'
    );
  end if;
  assignments := array(
    select row (
      case when u = any (called_off) then elsewhere else home end, u.owner_id, u.item_id, u.quantity
    )::erp.assignment
    from unnest(uncovered) u);
  if planned <> '{}' then
    assignments := erp.joined_assignments(planned || assignments);
  end if;
end
$$;
comment on function erp.plan_uncovered(uuid, uuid) is
  'Returns the locations that are to ship the units of an order that no open fulfillment order has. That is '
  'the location of the given warehouse, or else the locations of sourcing.plan. What a plan leaves out goes '
  'to the default warehouse or, if its shipping was cancelled there, to erp.other_location. Locations are '
  'protected from deletion until the end of the transaction. Also returns the plan alone. User errors '
  'NOT_FOUND, INVALID, INSUFFICIENT_STOCK, SOURCING_PLAN_INVALID.';
grant execute on function erp.plan_uncovered(uuid, uuid) to service_writer;
--! EndIncluded erp/plan_uncovered.sql
--! Included erp/complete_shipment.sql
create or replace function erp.complete_shipment(order_id uuid, tracking_codes text[], documents text[],
  note text,
  warehouse_id uuid default null) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present record;
  picks ledger.pick[];
  assignments erp.assignment[];
  planned erp.assignment[];
  assigned uuid[] := '{}';
begin
  if cardinality(tracking_codes) > 0 then
    perform erp.require_tracking_codes(tracking_codes);
  end if;
  if cardinality(documents) > 0 then
    perform erp.require_documents(documents);
  end if;
  present := erp.lock_order_to_ship(order_id);
  if present.is_on_hold then
    perform mutation.refuse('ON_HOLD', 'A fulfillment order of the order is on hold.', '{order_id}');
  end if;

  perform from erp.location l where l.id = any (present.locations) order by l.id for key share;
  picks := erp.open_picks(order_id);
  select p.assignments, p.planned into assignments, planned from erp.plan_uncovered(order_id, warehouse_id) p;
  if cardinality(picks) + cardinality(assignments) = 0 then
    perform erp.require_all_shipped(order_id, present.state);
    perform erp.settle_order(order_id, tracking_codes);
    return row (order_id, '{}', '{}', '{}', '{}')::erp.shipment;
  elsif exists (select from unnest(picks) p where p.warehouse_id is null and p.product_id is not null) then
    perform mutation.refuse('INVALID', 'A fulfillment order has no warehouse to ship from.', '{order_id}');
  end if;
  perform erp.lock_to_ship(picks, assignments);
  perform sourcing.require_same_plan(order_id, planned);
  if cardinality(assignments) > 0 then
    assigned := erp.assign(order_id, assignments, true);
    picks := erp.open_picks(order_id);
  end if;
  return erp.ship(order_id, picks, assigned, tracking_codes, note);
end
$$;
comment on function erp.complete_shipment(uuid, text[], text[], text, uuid) is
  'Ships everything that is open of an order. Assigned units are shipped from their warehouses, all others '
  'from the warehouses of erp.plan_uncovered, for which a warehouse may be given. External fulfillment '
  'orders stay unchanged. An order with nothing to ship, such as services, is only completed. Documents are '
  'only checked here. User errors NOT_FOUND, INVALID, NOT_UNIQUE, ON_HOLD, EXTERNALLY_MANAGED, '
  'INVALID_STATE_TRANSITION, INSUFFICIENT_STOCK, OUT_OF_RANGE, TOO_MANY_LINES, SOURCING_PLAN_INVALID.';
select api_meta.plan_by_index('erp.complete_shipment(uuid, text[], text[], text, uuid)');
grant execute on function erp.complete_shipment(uuid, text[], text[], text, uuid) to service_writer;
--! EndIncluded erp/complete_shipment.sql
--! Included erp/create_fulfillment_order.sql
create or replace function erp.create_fulfillment_order(
  order_id uuid, warehouse_id uuid, lines erp.shipping_line[]
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present record;
  assignments erp.assignment[];
  planned erp.assignment[] := '{}';
begin
  perform erp.require_shipping_lines(lines, '{}', 'order_line_item_id');
  if lines is not null and warehouse_id is null then
    perform mutation.refuse('REQUIRED', 'Given lines need a warehouse.', '{warehouse_id}');
  end if;
  present := erp.lock_order_to_ship(order_id);
  if lines is null then
    select p.assignments, p.planned into assignments, planned
    from erp.plan_uncovered(order_id, warehouse_id) p;
    if cardinality(assignments) = 0 then
      perform mutation.refuse('INVALID_STATE_TRANSITION',
        'Fulfillment orders have all open units of the order already.', '{order_id}',
        jsonb_build_object(
          'state', present.state, 'allowedActions', erp.allowed_actions('order', present.state)
        ));
    end if;
  else
    perform erp.require_assignable_lines(order_id, lines);
    assignments := array(
      select row (w.location_id, s.id, s.product_id, l.quantity)::erp.assignment
      from (select erp.location_of_warehouse(warehouse_id, '{warehouse_id}') as location_id) w
      cross join unnest(lines) with ordinality l
      join erp.sales_order_line_item s on s.id = l.id
      order by l.ordinality);
  end if;
  perform erp.lock_to_ship('{}', assignments);
  perform sourcing.require_same_plan(order_id, planned);
  return erp.assign(order_id, assignments);
end
$$;
comment on function erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[]) is
  'Creates fulfillment orders by which warehouses ship units of an order that no fulfillment order has: the '
  'given ones, or all if lines is null. Without a warehouse, erp.plan_uncovered names the locations. Returns '
  'them. User errors NOT_FOUND, INVALID, INVALID_STATE_TRANSITION, OVER_FULFILLMENT, REQUIRED, OUT_OF_RANGE, '
  'NOT_UNIQUE, TOO_MANY_LINES, INSUFFICIENT_STOCK, SOURCING_PLAN_INVALID.';
select api_meta.plan_by_index('erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[])');
grant execute on function erp.create_fulfillment_order(uuid, uuid, erp.shipping_line[]) to service_writer;
--! EndIncluded erp/create_fulfillment_order.sql
--! Included erp/lock_divisible_order.sql
create or replace function erp.lock_divisible_order(fulfillment_order_id uuid, action text)
returns erp.fulfillment_order
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.fulfillment_order := erp.lock_fulfillment_order(fulfillment_order_id, '{id}');
begin
  if present.state = 'OnHold' then
    perform mutation.refuse('ON_HOLD', 'The fulfillment order is on hold. Release the hold first.', '{id}');
  end if;
  perform erp.next_state('fulfillment_order', action, present.state);
  return present;
end
$$;
comment on function erp.lock_divisible_order(uuid, text) is
  'Takes the locks of a fulfillment order that is to be moved or split, and of its order. Returns it. User '
  'errors NOT_FOUND, EXTERNALLY_MANAGED, ON_HOLD, INVALID_STATE_TRANSITION.';
grant execute on function erp.lock_divisible_order(uuid, text) to service_writer;
--! EndIncluded erp/lock_divisible_order.sql
--! Included erp/parts_of.sql
create or replace function erp.parts_of(present erp.fulfillment_order, lines erp.shipping_line[])
returns erp.assignment[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  picks ledger.pick[];
  parts erp.assignment[];
begin
  -- Refuses lines of others, and more than is open
  picks := erp.picks_of(present, lines, '{}');
  parts := array(
    select row (present.source_warehouse_location_id, l.destination_order_line_item_id, l.product_id,
      p.quantity)::erp.assignment
    from unnest(picks) with ordinality p join erp.fulfillment_order_line_item l on l.id = p.line_id
    order by p.ordinality);
  if exists (select from unnest(parts) p where p.order_line_item_id is null) then
    perform mutation.refuse(
      'INVALID', 'The line of the order was deleted: nobody wants these units.', '{lines}'
    );
  end if;
  return parts;
end
$$;
comment on function erp.parts_of(erp.fulfillment_order, erp.shipping_line[]) is
  'Returns open units of lines of a fulfillment order, or all if lines is null, as assignments to its '
  'present location. User errors NOT_FOUND, OVER_FULFILLMENT, INVALID_STATE_TRANSITION, INVALID.';
grant execute on function erp.parts_of(erp.fulfillment_order, erp.shipping_line[]) to service_writer;
--! EndIncluded erp/parts_of.sql
--! Included erp/lock_division.sql
create or replace function erp.lock_division(present erp.fulfillment_order, targets uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  locations constant uuid[] := targets || present.source_warehouse_location_id;
begin
  perform from erp.location l where l.id = any (locations) order by l.id for key share;
  perform ledger.lock(
    array(select l.product_id from erp.fulfillment_order_line_item l
      where l.fulfillment_order_id = present.id and l.product_id is not null),
    array(select l.warehouse_id from erp.location l where l.id = any (locations))
  );
end
$$;
comment on function erp.lock_division(erp.fulfillment_order, uuid[]) is
  'Takes the locks for moving units of a fulfillment order to other locations, after the locks of the order '
  'and the fulfillment order: the locations, the warehouses and the products.';
grant execute on function erp.lock_division(erp.fulfillment_order, uuid[]) to service_writer;
--! EndIncluded erp/lock_division.sql
--! Included erp/plan_again.sql
create or replace function erp.plan_again(present erp.fulfillment_order) returns erp.assignment[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  planned erp.assignment[];
begin
  perform set_config('sourcing.again', present.id::text, true);
  planned := sourcing.checked_plan(present.destination_order_id);
  perform erp.lock_division(present, array(select p.location_id from unnest(planned) p));
  perform sourcing.require_same_plan(present.destination_order_id, planned);
  perform set_config('sourcing.again', '', true);
  return array(
    select row (p.location_id, p.order_line_item_id, p.product_id, p.quantity)::erp.assignment
    from unnest(planned) with ordinality p
    where p.location_id is distinct from present.source_warehouse_location_id order by p.ordinality);
end
$$;
comment on function erp.plan_again(erp.fulfillment_order) is
  'Returns the open units of a fulfillment order that sourcing.plan gives to other locations now, as if they '
  'were in no fulfillment order. Units that no location has stay where they are. Takes the locks for moving '
  'them. User error SOURCING_PLAN_INVALID.';
grant execute on function erp.plan_again(erp.fulfillment_order) to service_writer;
--! EndIncluded erp/plan_again.sql
--! Included erp/take_out.sql
create or replace function erp.take_out(present erp.fulfillment_order, parts erp.assignment[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  whole uuid[];
begin
  whole := array(
    select l.id from erp.fulfillment_order_line_item l
    join (select p.order_line_item_id, sum(p.quantity) as quantity from unnest(parts) p group by 1) p
      on p.order_line_item_id = l.destination_order_line_item_id
    where l.fulfillment_order_id = present.id and l.quantity = p.quantity);
  if exists (
    select from erp.fulfillment_line_item i where i.fulfillment_order_line_item_id = any (whole)
  ) then
    perform mutation.refuse('NOT_EDITABLE', 'A cancelled shipment names a line of the fulfillment order. '
      'Cancel the fulfillment order, and have another warehouse ship its units by '
      'fulfillmentOrderCreate.', '{id}');
  end if;
  delete from erp.fulfillment_order_line_item l where l.id = any (whole);
  update erp.fulfillment_order_line_item l set quantity = l.quantity - p.quantity
  from (select p.order_line_item_id, sum(p.quantity) as quantity from unnest(parts) p group by 1) p
  where l.fulfillment_order_id = present.id and l.destination_order_line_item_id = p.order_line_item_id;
end
$$;
comment on function erp.take_out(erp.fulfillment_order, erp.assignment[]) is
  'Takes units out of the lines of a fulfillment order. A line that has no units left is deleted. User error '
  'NOT_EDITABLE: a line of a cancelled shipment has to stay.';
grant execute on function erp.take_out(erp.fulfillment_order, erp.assignment[]) to service_writer;
--! EndIncluded erp/take_out.sql
--! Included erp/divide_fulfillment_order.sql
create or replace function erp.divide_fulfillment_order(present erp.fulfillment_order, parts erp.assignment[])
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  source_id uuid;
  made uuid;
  all_made uuid[] := array[present.id];
  -- Where the fulfillment order goes itself, because nothing of it stays
  new_home uuid;
  others erp.assignment[] := parts;
begin
  if parts[1].location_id is distinct from present.source_warehouse_location_id and not exists (
    select from erp.fulfillment_order_line_item l
    left join (
      select p.order_line_item_id, sum(p.quantity) as quantity from unnest(parts) p group by 1
    ) p on p.order_line_item_id = l.destination_order_line_item_id
    where l.fulfillment_order_id = present.id and l.destination_order_line_item_id is not null
      and l.quantity > coalesce(p.quantity, 0)
  ) then
    new_home := parts[1].location_id;
    others := array(select p from unnest(parts) p where p.location_id <> new_home);
  end if;
  -- Reservations are for other units than those that are given on
  perform set_config('ledger.is_dividing', 'on', true);
  perform erp.take_out(present, others);
  update erp.fulfillment_order f
  set source_warehouse_location_id = coalesce(new_home, f.source_warehouse_location_id),
    division_count = f.division_count + (others <> '{}')::integer,
    state = case when erp.has_open_lines(f.id) then f.state
      else erp.next_state('fulfillment_order', 'close', f.state) end
  where f.id = present.id;
  for source_id in
    select p.location_id from unnest(others) with ordinality p
    group by p.location_id order by min(p.ordinality)
  loop
    insert into erp.fulfillment_order (number, destination_order_id, source_warehouse_location_id,
      shipping_method_id, shipping_method_name, shipping_address)
    values (erp.next_number('fulfillment_order'), present.destination_order_id, source_id,
      present.shipping_method_id, present.shipping_method_name, present.shipping_address)
    returning id into strict made;
    insert into erp.fulfillment_order_line_item (
      fulfillment_order_id, destination_order_line_item_id, product_id, quantity
    )
    select made, p.order_line_item_id, p.product_id, p.quantity
    from unnest(others) with ordinality p where p.location_id = source_id order by p.ordinality;
    all_made := all_made || made;
  end loop;
  perform set_config('ledger.is_dividing', '', true);
  return all_made;
end
$$;
comment on function erp.divide_fulfillment_order(erp.fulfillment_order, erp.assignment[]) is
  'Takes units out of a fulfillment order and puts them into new ones, one for each location. If nothing '
  'stays, and nothing was shipped, the fulfillment order itself goes to the first location. If only shipped '
  'units stay, it is closed. Returns it, and the new ones. The caller holds the locks of erp.lock_division. '
  'User error NOT_EDITABLE.';
grant execute on function erp.divide_fulfillment_order(erp.fulfillment_order, erp.assignment[])
  to service_writer;
--! EndIncluded erp/divide_fulfillment_order.sql
--! Included erp/move_fulfillment_order.sql
create or replace function erp.move_fulfillment_order(
  fulfillment_order_id uuid, warehouse_id uuid, lines erp.shipping_line[]
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.fulfillment_order;
  parts erp.assignment[];
  target uuid;
begin
  perform erp.require_shipping_lines(lines, '{}', 'fulfillment_order_line_item_id');
  if lines is not null and warehouse_id is null then
    perform mutation.refuse('REQUIRED', 'Given lines need a warehouse.', '{warehouse_id}');
  end if;
  present := erp.lock_divisible_order(fulfillment_order_id, 'move');
  if warehouse_id is null then
    parts := erp.plan_again(present);
    if cardinality(parts) = 0 then
      return array[present.id];
    end if;
    return erp.divide_fulfillment_order(present, parts);
  end if;
  parts := erp.parts_of(present, lines);
  target := erp.location_of_warehouse(warehouse_id, '{warehouse_id}');
  if target = present.source_warehouse_location_id then
    perform mutation.refuse(
      'INVALID', 'This warehouse ships the fulfillment order already.', '{warehouse_id}'
    );
  end if;
  perform erp.lock_division(present, array[target]);
  return erp.divide_fulfillment_order(present, array(
    select row (target, p.order_line_item_id, p.product_id, p.quantity)::erp.assignment
    from unnest(parts) with ordinality p order by p.ordinality));
end
$$;
comment on function erp.move_fulfillment_order(uuid, uuid, erp.shipping_line[]) is
  'Gives open units of a fulfillment order to the location of another warehouse: the given lines, or all if '
  'lines is null. Without a warehouse, sourcing.plan decides again about all its units. Returns the '
  'fulfillment order, and those that were made. User errors NOT_FOUND, EXTERNALLY_MANAGED, ON_HOLD, '
  'INVALID_STATE_TRANSITION, INVALID, REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, NOT_UNIQUE, OVER_FULFILLMENT, '
  'NOT_EDITABLE, SOURCING_PLAN_INVALID.';
select api_meta.plan_by_index('erp.move_fulfillment_order(uuid, uuid, erp.shipping_line[])');
grant execute on function erp.move_fulfillment_order(uuid, uuid, erp.shipping_line[]) to service_writer;
--! EndIncluded erp/move_fulfillment_order.sql
--! Included erp/split_fulfillment_order.sql
create or replace function erp.split_fulfillment_order(fulfillment_order_id uuid, lines erp.shipping_line[])
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.fulfillment_order;
  parts erp.assignment[];
begin
  perform erp.require_shipping_lines(lines, '{}', 'fulfillment_order_line_item_id');
  present := erp.lock_divisible_order(fulfillment_order_id, 'split');
  parts := erp.parts_of(present, lines);
  if not exists (
    select from erp.fulfillment_order_line_item l
    left join unnest(parts) p on p.order_line_item_id = l.destination_order_line_item_id
    where l.fulfillment_order_id = present.id and l.destination_order_line_item_id is not null
      and l.quantity - l.fulfilled_quantity > coalesce(p.quantity, 0)
  ) then
    perform mutation.refuse('INVALID', 'Nothing would be left in the fulfillment order.', '{lines}');
  end if;
  perform erp.lock_division(present, '{}');
  return erp.divide_fulfillment_order(present, parts);
end
$$;
comment on function erp.split_fulfillment_order(uuid, erp.shipping_line[]) is
  'Puts open units of a fulfillment order into a new one at the same location. Returns both, the old one '
  'first. User errors NOT_FOUND, EXTERNALLY_MANAGED, ON_HOLD, INVALID_STATE_TRANSITION, INVALID, REQUIRED, '
  'TOO_MANY_LINES, OUT_OF_RANGE, NOT_UNIQUE, OVER_FULFILLMENT, NOT_EDITABLE.';
select api_meta.plan_by_index('erp.split_fulfillment_order(uuid, erp.shipping_line[])');
grant execute on function erp.split_fulfillment_order(uuid, erp.shipping_line[]) to service_writer;
--! EndIncluded erp/split_fulfillment_order.sql

--! Included api/fulfillment_orders_payload.sql
drop type if exists api_unstable.fulfillment_orders_payload cascade;
create type api_unstable.fulfillment_orders_payload as (
  fulfillment_order uuid, fulfillment_orders uuid[], user_errors api_unstable.user_error[],
  warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_orders_payload is
  'The result of giving units of an order to fulfillment orders.';
comment on column api_unstable.fulfillment_orders_payload.fulfillment_order is
  E'@entity FulfillmentOrder\n'
  'The first of them: the one of the input, or else the first new one. Null when it was refused.';
comment on column api_unstable.fulfillment_orders_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\n@atMost 251\n'
  'All of them: the one of the input, and then the new ones.';
comment on column api_unstable.fulfillment_orders_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.fulfillment_orders_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
--! EndIncluded api/fulfillment_orders_payload.sql
--! Included api/fulfillment_order_create.sql
drop type if exists api_unstable.fulfillment_order_create_input cascade;
drop type if exists api_unstable.fulfillment_order_create_line_input cascade;
create type api_unstable.fulfillment_order_create_line_input as (order_line_item_id uuid, quantity integer);
comment on type api_unstable.fulfillment_order_create_line_input is
  'Units of a line of an order that a warehouse ships.';
comment on column api_unstable.fulfillment_order_create_line_input.order_line_item_id is
  E'@notNull\n@gid OrderLineItem\nId of the line of the order, which must have a product.';
comment on column api_unstable.fulfillment_order_create_line_input.quantity is
  E'@notNull\n'
  'Number of units: at least 1, and at most those that are neither shipped nor in an open fulfillment '
  'order.';

create type api_unstable.fulfillment_order_create_input as (
  order_id uuid, warehouse_id uuid, lines api_unstable.fulfillment_order_create_line_input[]
);
comment on type api_unstable.fulfillment_order_create_input is
  'The part of an order that a warehouse ships.';
comment on column api_unstable.fulfillment_order_create_input.order_id is
  E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.fulfillment_order_create_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse; it has an active location. Without it, the sourcing rules decide, and each location '
  'gets a fulfillment order.';
comment on column api_unstable.fulfillment_order_create_input.lines is
  '1 to 250 lines, each of another line of the order. Without it, all units are assigned that no open '
  'fulfillment order has.';

create function api_unstable.fulfillment_order_create(input api_unstable.fulfillment_order_create_input)
returns api_unstable.fulfillment_orders_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (made[1], made, null, null)::api_unstable.fulfillment_orders_payload
  from erp.create_fulfillment_order(input.order_id, input.warehouse_id,
    case when input.lines is not null then array(
      select row (l.order_line_item_id, l.quantity)::erp.shipping_line
      from unnest(input.lines) with ordinality l
      order by l.ordinality
    ) end) made
$$;
comment on function api_unstable.fulfillment_order_create(api_unstable.fulfillment_order_create_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID INVALID_STATE_TRANSITION OVER_FULFILLMENT REQUIRED NOT_UNIQUE '
  'OUT_OF_RANGE TOO_MANY_LINES INSUFFICIENT_STOCK SOURCING_PLAN_INVALID\n'
  'Makes a warehouse ship units of an order that no fulfillment order has, for example because one was '
  'cancelled. They are promised to the order in that warehouse, even if it does not have them yet. '
  'Without warehouseId, the sourcing rules choose the locations. fulfillmentCreate or '
  'orderShipmentComplete ships them from there.';
--! EndIncluded api/fulfillment_order_create.sql
--! Included api/order_shipment_complete.sql
drop type if exists api_unstable.order_shipment_complete_payload cascade;
create type api_unstable.order_shipment_complete_payload as (
  "order" uuid, fulfillments uuid[], fulfillment_orders uuid[], stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.order_shipment_complete_payload is 'The result of shipping an order.';
comment on column api_unstable.order_shipment_complete_payload."order" is
  E'@entity Order\nThe order as it is now; null when it was refused.';
comment on column api_unstable.order_shipment_complete_payload.fulfillments is
  E'@entity Fulfillment\nThe record of what was shipped.';
comment on column api_unstable.order_shipment_complete_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\n'
  'The fulfillment orders that were fulfilled, those that were made for the purpose included.';
comment on column api_unstable.order_shipment_complete_payload.stock_movements is
  E'@entity StockMovement\n'
  'The movements that took the units to the order, in the order in which they were picked.';
comment on column api_unstable.order_shipment_complete_payload.documents is
  E'@entity Document\n'
  '@perLine documents\n'
  'The documents that were created, in the order of the input.';
comment on column api_unstable.order_shipment_complete_payload.user_errors is
  'Why nothing was shipped; empty when all was.';
comment on column api_unstable.order_shipment_complete_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.order_shipment_complete_input cascade;
create type api_unstable.order_shipment_complete_input as (
  order_id uuid, warehouse_id uuid, tracking_codes text[], documents text[], comment text
);
comment on type api_unstable.order_shipment_complete_input is 'An order to ship.';
comment on column api_unstable.order_shipment_complete_input.order_id is
  E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.order_shipment_complete_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that ships what no open fulfillment order has. Left out, the sourcing rules '
  'decide, and without rules it is the default warehouse. What was called off there, by cancelling a '
  'fulfillment order, is shipped by another warehouse that has all of it.';
comment on column api_unstable.order_shipment_complete_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.order_shipment_complete_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice '
  'over all that was shipped of the order and that no other invoice charges. Others, and what was shipped '
  'without, are made by documentCreate.';
comment on column api_unstable.order_shipment_complete_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.order_shipment_complete(input api_unstable.order_shipment_complete_input)
returns api_unstable.order_shipment_complete_payload
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  done constant erp.shipment := erp.complete_shipment(
    input.order_id, input.tracking_codes, input.documents, input.comment, input.warehouse_id
  );
begin
  return row (done.order_id, done.fulfillments, done.fulfillment_orders, done.stock_movements,
    erp.create_documents(done.order_id, input.documents, done.fulfillments[1]),
    null, null)::api_unstable.order_shipment_complete_payload;
end
$$;
comment on function api_unstable.order_shipment_complete(api_unstable.order_shipment_complete_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES INVALID_STATE_TRANSITION '
  'ON_HOLD EXTERNALLY_MANAGED INSUFFICIENT_STOCK OVER_FULFILLMENT BATCH_REQUIRED '
  'SOURCING_PLAN_INVALID\n'
  '@warnings DOCUMENT_INCOMPLETE DOCUMENT_NOT_MADE\n'
  'Ships everything that is still open of an order. Open fulfillment orders are shipped from the '
  'warehouse of their location. Everything else is shipped from the named warehouse, or as the '
  'sourcing rules say. The default warehouse ships the units that the rules leave, and all without '
  'rules. Units that were cancelled there are shipped by another warehouse that has all of '
  'them. Units are picked in the pick order of their product; batches on hold, expired ones and those '
  'short of the promised shelf life are left out. Books them out by the process '
  'api_shipping, records the fulfillment, closes the fulfillment orders, and brings the states of the '
  'order up to date. What is fulfilled externally is left alone. All of it is shipped, or nothing. An '
  'order that has nothing left to ship, as one of services alone, is only completed.';
--! EndIncluded api/order_shipment_complete.sql
--! Included api/fulfillment_order_line_input.sql
drop type if exists api_unstable.fulfillment_order_line_input cascade;
create type api_unstable.fulfillment_order_line_input as (
  fulfillment_order_line_item_id uuid, quantity integer
);
comment on type api_unstable.fulfillment_order_line_input is
  'Open units of a line of a fulfillment order that another one gets.';
comment on column api_unstable.fulfillment_order_line_input.fulfillment_order_line_item_id is
  E'@notNull\n@gid FulfillmentOrderLineItem\nId of the line of the fulfillment order.';
comment on column api_unstable.fulfillment_order_line_input.quantity is
  E'@notNull\nNumber of units: at least 1, and at most those that are open.';
--! EndIncluded api/fulfillment_order_line_input.sql
--! Included api/fulfillment_order_move.sql
drop type if exists api_unstable.fulfillment_order_move_input cascade;
create type api_unstable.fulfillment_order_move_input as (
  id uuid, warehouse_id uuid, lines api_unstable.fulfillment_order_line_input[]
);
comment on type api_unstable.fulfillment_order_move_input is
  'A fulfillment order whose units another warehouse is to ship.';
comment on column api_unstable.fulfillment_order_move_input.id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order; it is open.';
comment on column api_unstable.fulfillment_order_move_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that is to ship the units; it has an active location. Without it, the sourcing rules '
  'decide again, by the stock of now.';
comment on column api_unstable.fulfillment_order_move_input.lines is
  '1 to 250 lines, each with another id. Without it, all open units are moved.';

create function api_unstable.fulfillment_order_move(input api_unstable.fulfillment_order_move_input)
returns api_unstable.fulfillment_orders_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, erp.move_fulfillment_order(input.id, input.warehouse_id,
    case when input.lines is not null then array(
      select row (l.fulfillment_order_line_item_id, l.quantity)::erp.shipping_line
      from unnest(input.lines) with ordinality l
      order by l.ordinality
    ) end), null, null)::api_unstable.fulfillment_orders_payload
$$;
comment on function api_unstable.fulfillment_order_move(api_unstable.fulfillment_order_move_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED ON_HOLD INVALID_STATE_TRANSITION INVALID REQUIRED '
  'TOO_MANY_LINES OUT_OF_RANGE NOT_UNIQUE OVER_FULFILLMENT NOT_EDITABLE SOURCING_PLAN_INVALID\n'
  'Gives an open fulfillment order to another warehouse, or open units of some lines. They are then promised '
  'there, even if that warehouse does not have them yet. If all goes to one warehouse and nothing was '
  'shipped, the fulfillment order keeps its number. Otherwise the units go into new fulfillment orders. '
  'Without warehouseId, units that no location has stay where they are.';
--! EndIncluded api/fulfillment_order_move.sql
--! Included api/fulfillment_order_split.sql
drop type if exists api_unstable.fulfillment_order_split_input cascade;
create type api_unstable.fulfillment_order_split_input as (
  id uuid, lines api_unstable.fulfillment_order_line_input[]
);
comment on type api_unstable.fulfillment_order_split_input is
  'A fulfillment order of which a part becomes one of its own.';
comment on column api_unstable.fulfillment_order_split_input.id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order; it is open.';
comment on column api_unstable.fulfillment_order_split_input.lines is
  E'@notNull\n1 to 250 lines, each with another id: the units of the new fulfillment order.';

create function api_unstable.fulfillment_order_split(input api_unstable.fulfillment_order_split_input)
returns api_unstable.fulfillment_orders_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, erp.split_fulfillment_order(input.id, array(
    select row (l.fulfillment_order_line_item_id, l.quantity)::erp.shipping_line
    from unnest(input.lines) with ordinality l
    order by l.ordinality
  )), null, null)::api_unstable.fulfillment_orders_payload
$$;
comment on function api_unstable.fulfillment_order_split(api_unstable.fulfillment_order_split_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED ON_HOLD INVALID_STATE_TRANSITION INVALID REQUIRED '
  'TOO_MANY_LINES OUT_OF_RANGE NOT_UNIQUE OVER_FULFILLMENT NOT_EDITABLE\n'
  'Puts open units of an open fulfillment order into a new one of the same location, for example to ship '
  'them in a parcel of their own. At least one open unit stays.';
--! EndIncluded api/fulfillment_order_split.sql
--! Included api/sourcing_rule_kind.sql
do $$
begin
  if to_regtype('api_unstable.sourcing_rule_kind') is null then
    create type api_unstable.sourcing_rule_kind as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.sourcing_rule_kind',
  'priority', 'same_country', 'fullest', 'do_not_split', 'split_least');
comment on type api_unstable.sourcing_rule_kind is
  E'@value priority Given locations come first, in their order.\n'
  '@value same_country Locations in the country of the shipping address come first.\n'
  '@value fullest The location that has most units of the order''s products comes first.\n'
  '@value do_not_split One location ships the whole order: only locations that have all of it count. If '
  'there is none, the order goes to the default warehouse, and waits. It is the same at each place of the '
  'list.\n'
  '@value split_least The location that has most of the units that are left comes first, so there are few '
  'parcels.\n'
  'How a sourcing rule orders the locations that could ship an order.';
--! EndIncluded api/sourcing_rule_kind.sql
--! Included api/sourcing_rules.sql
create view api_unstable.sourcing_rules with (security_invoker = true) as
select id, "position", kind, location_id, created_at from sourcing.rule;
comment on view api_unstable.sourcing_rules is $$
@primaryKey id
@requiresScopes sourcing:read
@columnEnum kind sourcing_rule_kind
@filters kind,location_id,position
@foreignKey (location_id) references locations (id)|@fieldName location
A rule that orders the locations which could ship an order. Earlier rules decide first.$$;
--! EndIncluded api/sourcing_rules.sql
--! Included api/sourcing_rules_set.sql
drop type if exists api_unstable.sourcing_rules_set_input cascade;
create type api_unstable.sourcing_rules_set_input as (
  rules api_unstable.sourcing_rule_kind[], location_ids uuid[]
);
comment on type api_unstable.sourcing_rules_set_input is 'The rules by which orders are sourced from now on.';
comment on column api_unstable.sourcing_rules_set_input.rules is
  E'@notNull\n'
  'Rules in their order, each once. An empty list has the default warehouse ship everything.';
comment on column api_unstable.sourcing_rules_set_input.location_ids is
  E'@gid Location\nThe locations of the rule priority in their order: 1 to 100 that have a warehouse.';

drop type if exists api_unstable.sourcing_rules_set_payload cascade;
create type api_unstable.sourcing_rules_set_payload as (
  sourcing_rules uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.sourcing_rules_set_payload is 'The result of setting the sourcing rules.';
comment on column api_unstable.sourcing_rules_set_payload.sourcing_rules is
  E'@entity SourcingRule\n@atMost 105\nAll rules in their order: priority is one rule for each location.';
comment on column api_unstable.sourcing_rules_set_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create function api_unstable.sourcing_rules_set(input api_unstable.sourcing_rules_set_input)
returns api_unstable.sourcing_rules_set_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    sourcing.set_rules(input.rules::text[], input.location_ids), null
  )::api_unstable.sourcing_rules_set_payload
$$;
comment on function api_unstable.sourcing_rules_set(api_unstable.sourcing_rules_set_input) is
  E'@requiresScopes sourcing:write\n'
  '@userErrors NOT_UNIQUE NOT_FOUND REQUIRED INVALID TOO_MANY_LINES\n'
  'Replaces the rules by which orders are sourced. Each rule orders the locations that earlier rules leave '
  'equal. The first location ships what it has, then the rules order the others for what is left. '
  'sourcingSimulate shows before what rules would have done. Fulfillment orders that exist stay as they are.';
--! EndIncluded api/sourcing_rules_set.sql
--! Included api/sourcing_simulate.sql
drop type if exists api_unstable.sourcing_simulation cascade;
create type api_unstable.sourcing_simulation as (
  order_count integer, split_count integer, short_count integer, units integer, short_units integer,
  actual_order_count integer, actual_split_count integer, actual_units integer
);
comment on type api_unstable.sourcing_simulation is
  'A simulation of sourcing rules with past orders, beside what happened.';
comment on column api_unstable.sourcing_simulation.order_count is E'@notNull\nOrders that were simulated.';
comment on column api_unstable.sourcing_simulation.split_count is
  E'@notNull\nOrders that several locations would have shipped.';
comment on column api_unstable.sourcing_simulation.short_count is E'@notNull\n'
  'Orders of which a location would have lacked units. Shipping them at once would be refused.';
comment on column api_unstable.sourcing_simulation.units is E'@notNull\nUnits of these orders.';
comment on column api_unstable.sourcing_simulation.short_units is
  E'@notNull\nUnits that would have been lacking.';
comment on column api_unstable.sourcing_simulation.actual_order_count is
  E'@notNull\nOrders among them that have fulfillment orders.';
comment on column api_unstable.sourcing_simulation.actual_split_count is
  E'@notNull\nOrders that several locations ship or shipped.';
comment on column api_unstable.sourcing_simulation.actual_units is
  E'@notNull\nUnits that locations ship or shipped.';

create function api_unstable.sourcing_simulate(
  since timestamptz default null, until timestamptz default null, orders integer default 200,
  rules api_unstable.sourcing_rule_kind[] default null, location_ids uuid[] default null
) returns api_unstable.sourcing_simulation language sql stable
begin atomic
  select row (s.order_count, s.split_count, s.short_count, s.units, s.short_units, s.actual_order_count,
    s.actual_split_count, s.actual_units)::api_unstable.sourcing_simulation
  from sourcing.simulate(since, until, orders, rules::text[], location_ids) s where s.location_id is null;
end;
comment on function api_unstable.sourcing_simulate(
  timestamptz, timestamptz, integer, api_unstable.sourcing_rule_kind[], uuid[]
) is $$
@requiresScopes sourcing:read
@gid location_ids Location
@describe since The beginning of the period, by the time of the orders; without it, all orders until then.
@describe until The end of the period, which is not part of it; without it, the period reaches to now.
@describe orders The maximum number of orders, up to 1,000: the newest ones of the period.
@describe rules The rules to try, in their order; without it, the present ones.
@describe location_ids The locations of the rule priority, in their order.
Simulates sourcing rules with past orders, and compares them with what happened. Each order
is planned alone, by the units that lay in the warehouses at its time. Promises and holds of that time are
not known. sourcingSimulateLocations has the same by location.$$;
--! EndIncluded api/sourcing_simulate.sql
--! Included api/sourcing_simulation_locations.sql
-- Has no rows by itself: api_unstable.sourcing_simulate_locations fills it
create view api_unstable.sourcing_simulation_locations with (security_invoker = true) as
select 0 as rank, r.id as location_id, 0 as order_count, 0 as split_count, 0 as short_count,
  0 as units, 0 as short_units, 0 as actual_order_count,
  0 as actual_split_count, 0 as actual_units
from sourcing.rule r where false;
comment on view api_unstable.sourcing_simulation_locations is $$
@primaryKey rank,location_id
@requiresScopes sourcing:read
@behavior -query:resource:connection -node
@hidden rank
@foreignKey (location_id) references locations (id)|@fieldName location
The part of a location in a simulation of sourcing rules, beside what happened.$$;
comment on column api_unstable.sourcing_simulation_locations.rank is 'Place of the location, by units.';
comment on column api_unstable.sourcing_simulation_locations.location_id is E'@notNull\nThe location.';
comment on column api_unstable.sourcing_simulation_locations.order_count is
  E'@notNull\nOrders of which it would have shipped something.';
comment on column api_unstable.sourcing_simulation_locations.split_count is
  E'@notNull\nOrders among them that others would have shipped, too.';
comment on column api_unstable.sourcing_simulation_locations.short_count is
  E'@notNull\nOrders of which it would have lacked units.';
comment on column api_unstable.sourcing_simulation_locations.units is
  E'@notNull\nUnits that it would have shipped.';
comment on column api_unstable.sourcing_simulation_locations.short_units is
  E'@notNull\nUnits among them that it did not have.';
comment on column api_unstable.sourcing_simulation_locations.actual_order_count is
  E'@notNull\nOrders that it ships or shipped.';
comment on column api_unstable.sourcing_simulation_locations.actual_split_count is
  E'@notNull\nOrders among them that others ship or shipped, too.';
comment on column api_unstable.sourcing_simulation_locations.actual_units is
  E'@notNull\nUnits that it ships or shipped.';
--! EndIncluded api/sourcing_simulation_locations.sql
--! Included api/sourcing_simulate_locations.sql
create function api_unstable.sourcing_simulate_locations(
  since timestamptz default null, until timestamptz default null, orders integer default 200,
  rules api_unstable.sourcing_rule_kind[] default null, location_ids uuid[] default null
) returns setof api_unstable.sourcing_simulation_locations language sql stable
begin atomic
  select row_number() over (order by s.units desc, s.actual_units desc)::integer, s.location_id,
    s.order_count, s.split_count, s.short_count, s.units, s.short_units,
    s.actual_order_count, s.actual_split_count, s.actual_units
  from sourcing.simulate(since, until, orders, rules::text[], sourcing_simulate_locations.location_ids) s
  where s.location_id is not null;
end;
comment on function api_unstable.sourcing_simulate_locations(
  timestamptz, timestamptz, integer, api_unstable.sourcing_rule_kind[], uuid[]
) is $$
@noFilter
@gid location_ids Location
@describe since The beginning of the period, by the time of the orders; without it, all orders until then.
@describe until The end of the period, which is not part of it; without it, the period reaches to now.
@describe orders The maximum number of orders, up to 1,000: the newest ones of the period.
@describe rules The rules to try, in their order; without it, the present ones.
@describe location_ids The locations of the rule priority, in their order.
Returns what each location would have shipped of past orders (sourcingSimulate).$$;
--! EndIncluded api/sourcing_simulate_locations.sql
--! Included administration/report_sourcing.sql
create or replace function administration.report_sourcing(
  first_day date, last_day date, rules text, how_many integer
)
returns table (location text, orders integer, split_orders integer, short_orders integer, units integer,
  short_units integer, actual_orders integer, actual_split_orders integer, actual_units integer)
language plpgsql stable parallel unsafe security definer set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 500;
  words constant text[] := regexp_split_to_array(btrim(lower(rules)), '\s*,\s*');
  today constant date := erp.local_date(now());
  -- The code of a warehouse stands for its priority
  places uuid[];
  kinds text[];
begin
  perform administration.require_administrator();
  if rules <> '' then
    places := array(
      select l.id from unnest(words) with ordinality w (word, nth)
      join erp.warehouse h on lower(h.code) = w.word
      join erp.location l on l.warehouse_id = h.id order by w.nth);
    kinds := array(
      select k.kind from (
        select case when w.word = any (sourcing.kinds()) then w.word else 'priority' end as kind, w.nth
        from unnest(words) with ordinality w (word, nth)
        where w.word = any (sourcing.kinds())
          or exists (select from erp.warehouse h where lower(h.code) = w.word)
      ) k group by k.kind order by min(k.nth));
  end if;
  return query
    select coalesce(l.name, 'All locations'), s.order_count, s.split_count, s.short_count, s.units,
      s.short_units, s.actual_order_count, s.actual_split_count, s.actual_units
    from sourcing.simulate(erp.end_of_day(coalesce(first_day, today - 31) - 1),
      erp.end_of_day(coalesce(last_day, today)), most, kinds, places) s
    left join erp.location l on l.id = s.location_id
    order by s.location_id is not null, s.units desc, l.name limit how_many;
end
$$;
comment on function administration.report_sourcing(date, date, text, integer) is $$
@title Sourcing of past orders
@hint first_day The first day of the orders. Empty: 31 days ago.
@hint last_day The last day of the orders. Empty: today.
@hint rules Rules to try, separated by commas, or codes of warehouses by priority. Empty: the present rules.
A simulation of sourcing rules with the newest 500 orders of a period, beside what happened. Rules are
same_country, fullest, do_not_split and split_least.$$;
select api_meta.give('administration.report_sourcing(date, date, text, integer)', 'service_registrar');
grant execute on function administration.report_sourcing(date, date, text, integer) to service_administration;
--! EndIncluded administration/report_sourcing.sql

--! split: 140-counts.sql
-- Stocktakes: blind sheets for several people, recounts, approval by another, and what to count next.

drop view if exists api_unstable.stocktake_line_values, api_unstable.stocktake_lines,
  api_unstable.stocktake_counts, api_unstable.stocktake_sheets, api_unstable.stocktake_scopes,
  api_unstable.stocktakes, api_unstable.cycle_count_proposals, ledger.stocktake_proof cascade;
drop table if exists erp.stocktake_count, erp.stocktake_line, erp.stocktake_sheet, erp.stocktake_scope,
  erp.stocktake cascade;

delete from erp.state_transition where machine = 'stocktake';
insert into erp.state_transition (machine, action, from_state, to_state, mutation) values
  ('stocktake', 'count', 'open', 'counting', 'stocktake_sheet_submit'),
  ('stocktake', 'count', 'counting', 'counting', 'stocktake_sheet_submit'),
  ('stocktake', 'review', 'counting', 'review', null),
  ('stocktake', 'recount', 'counting', 'counting', 'stocktake_recount'),
  ('stocktake', 'recount', 'review', 'counting', 'stocktake_recount'),
  ('stocktake', 'approve_lines', 'counting', 'counting', 'stocktake_approve'),
  ('stocktake', 'approve_lines', 'review', 'review', 'stocktake_approve'),
  ('stocktake', 'approve', 'review', 'approved', 'stocktake_approve'),
  ('stocktake', 'cancel', 'open', 'cancelled', 'stocktake_cancel'),
  ('stocktake', 'cancel', 'counting', 'cancelled', 'stocktake_cancel'),
  ('stocktake', 'cancel', 'review', 'cancelled', 'stocktake_cancel');
insert into erp.number_range (technical_name, pattern, last_number) values ('stocktake', 'STK-{n}', 0)
on conflict (technical_name) do nothing;
-- The merchant may require reasons for differences of stocktakes, too
alter table ledger.process_type drop constraint process_type_can_require_a_reason;
alter table ledger.process_type add constraint process_type_can_require_a_reason
  check (not requires_reason
    or technical_name in ('api', 'api_incoming', 'api_outgoing', 'api_relocation', 'stocktaking')) not valid;
comment on constraint process_type_can_require_a_reason on ledger.process_type is
  '@internal Only people who write SQL change processes.';

create table erp.stocktake (
  id uuid primary key default uuidv7(),
  number text collate "C" not null constraint stocktake_number_is_unique unique,
  state text not null default 'open' constraint stocktake_state_is_known
    check (state in ('open', 'counting', 'review', 'approved', 'cancelled')),
  warehouse_id uuid not null references erp.warehouse on delete restrict,
  counts_all_bins boolean not null default true,
  counts_all_products boolean not null default true,
  recount_units integer constraint stocktake_recount_units_are_not_negative check (recount_units >= 0),
  recount_percent numeric constraint stocktake_recount_percent_is_not_negative
    check (recount_percent >= 0 and recount_percent <= 1000000),
  recount_value numeric constraint stocktake_recount_value_is_not_negative
    check (recount_value >= 0 and recount_value < 1000000000000),
  comment text constraint stocktake_comment_length check (length(comment) <= 1000),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  reviewed_at timestamptz(0),
  approved_at timestamptz(0),
  cancelled_at timestamptz(0),
  constraint stocktake_is_approved_at_a_moment check ((state = 'approved') = (approved_at is not null)),
  constraint stocktake_is_cancelled_at_a_moment check ((state = 'cancelled') = (cancelled_at is not null))
);
create index on erp.stocktake (warehouse_id, id);
create index on erp.stocktake (state, id);
create index on erp.stocktake (created_at, id);
alter table erp.stocktake enable row level security;
comment on table erp.stocktake is
  'Stocktakes of a warehouse: people count what is there, others approve the differences.';
comment on column erp.stocktake.number is 'Number of the stocktake, which its bookings have as reference.';
comment on column erp.stocktake.state is
  'open until the first count; counting; review when all sheets are complete; approved when all positions '
  'are booked; cancelled.';
comment on column erp.stocktake.warehouse_id is 'The warehouse that is counted.';
comment on column erp.stocktake.counts_all_bins is
  'Whether all bins of the warehouse are counted, with what lies outside of bins.';
comment on column erp.stocktake.counts_all_products is 'Whether all products are counted.';
comment on column erp.stocktake.recount_units is
  'A difference of more units needs a second count. Null: no such bound.';
comment on column erp.stocktake.recount_percent is
  'A difference of more percent of the expected units needs a second count. Null: no such bound.';
comment on column erp.stocktake.recount_value is
  'A difference of more value, in the default currency, needs a second count. Null: no such bound.';
comment on column erp.stocktake.comment is 'Free note.';
comment on column erp.stocktake.created_at is 'When it was created. No count of it is older.';
comment on column erp.stocktake.updated_at is 'When it was last changed.';
comment on column erp.stocktake.reviewed_at is 'When the last sheet was completed.';
comment on column erp.stocktake.approved_at is 'When the last position was approved.';
comment on column erp.stocktake.cancelled_at is 'When it was cancelled.';

create table erp.stocktake_scope (
  id uuid primary key default uuidv7(),
  stocktake_id uuid not null references erp.stocktake on delete cascade,
  bin_location_id uuid references erp.bin_location on delete cascade,
  product_id uuid references erp.product on delete cascade,
  batch_id uuid references erp.batch on delete cascade,
  constraint stocktake_scope_names_one check (num_nonnulls(bin_location_id, product_id, batch_id) = 1),
  constraint stocktake_scope_names_each_once unique nulls not distinct
    (stocktake_id, bin_location_id, product_id, batch_id)
);
create index on erp.stocktake_scope (stocktake_id, id);
create index on erp.stocktake_scope (bin_location_id) where bin_location_id is not null;
create index on erp.stocktake_scope (product_id) where product_id is not null;
create index on erp.stocktake_scope (batch_id) where batch_id is not null;
alter table erp.stocktake_scope enable row level security;
comment on table erp.stocktake_scope is
  'The bins, products and batches that a stocktake is limited to. Each row names one of them.';
comment on column erp.stocktake_scope.stocktake_id is 'The stocktake.';
comment on column erp.stocktake_scope.bin_location_id is 'A bin that is counted.';
comment on column erp.stocktake_scope.product_id is 'A product that is counted.';
comment on column erp.stocktake_scope.batch_id is 'A batch that is counted.';

create table erp.stocktake_sheet (
  id uuid primary key default uuidv7(),
  stocktake_id uuid not null references erp.stocktake on delete cascade,
  number integer not null constraint stocktake_sheet_number_is_positive check (number > 0),
  round integer not null default 1 constraint stocktake_sheet_round_is_positive check (round > 0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  completed_at timestamptz(0),
  constraint stocktake_sheet_number_is_unique unique (stocktake_id, number)
);
create index on erp.stocktake_sheet (stocktake_id, id);
alter table erp.stocktake_sheet enable row level security;
comment on table erp.stocktake_sheet is
  'Sheets of a stocktake: what one person counts, in the order of the walk. They show no expected units.';
comment on column erp.stocktake_sheet.stocktake_id is 'The stocktake.';
comment on column erp.stocktake_sheet.number is 'Number of the sheet, from 1.';
comment on column erp.stocktake_sheet.round is '1 for the first count, 2 and more for recounts.';
comment on column erp.stocktake_sheet.created_at is 'When the sheet was made.';
comment on column erp.stocktake_sheet.completed_at is 'When the person declared that all is counted.';

create table erp.stocktake_line (
  id uuid primary key default uuidv7(),
  stocktake_id uuid not null references erp.stocktake on delete cascade,
  number integer not null constraint stocktake_line_number_is_positive check (number > 0),
  place text collate "C" not null constraint stocktake_line_place_length check (length(place) <= 36)
    constraint stocktake_line_place_is_not_blank check (not erp.is_blank(place)),
  warehouse_id uuid references erp.warehouse on delete set null,
  bin_location_id uuid references erp.bin_location on delete set null,
  product_id uuid references erp.product on delete cascade,
  batch_id uuid references erp.batch on delete cascade,
  is_found boolean not null default false,
  state text not null default 'open' constraint stocktake_line_state_is_known
    check (state in ('open', 'beyond_bound', 'counted', 'approved', 'cancelled')),
  round integer not null default 1 constraint stocktake_line_round_is_positive check (round > 0),
  expected_quantity integer not null default 0,
  counted_quantity integer constraint stocktake_line_quantity_is_not_negative check (counted_quantity >= 0),
  counted_at timestamptz,
  difference integer,
  earlier_difference integer,
  unit_value numeric,
  reason text collate "C" references ledger.booking_reason on update cascade on delete restrict,
  approved_at timestamptz(0),
  approved_by uuid,
  booked_difference integer,
  stock_movement_id uuid,
  constraint stocktake_line_difference_follows check (difference = counted_quantity - expected_quantity),
  constraint stocktake_line_count_is_complete check (
    (counted_quantity is null) = (counted_at is null) and (counted_quantity is null) = (difference is null)),
  constraint stocktake_line_is_counted check (
    state in ('open', 'cancelled') or counted_quantity is not null),
  constraint stocktake_line_is_approved_at_a_moment check ((state = 'approved') = (approved_at is not null)),
  constraint stocktake_line_names_its_place check (state in ('approved', 'cancelled')
    or coalesce(place = coalesce(bin_location_id, warehouse_id)::text, false)),
  constraint stocktake_line_has_one_place check (num_nonnulls(warehouse_id, bin_location_id) <= 1),
  constraint stocktake_line_without_product_is_empty check (
    product_id is not null or batch_id is null and coalesce(counted_quantity, 0) = 0)
);
create unique index stocktake_line_is_counted_by_one_stocktake
  on erp.stocktake_line (place, product_id, batch_id) nulls not distinct
  where state not in ('approved', 'cancelled');
create unique index stocktake_line_number_is_unique on erp.stocktake_line (stocktake_id, number);
create index on erp.stocktake_line (stocktake_id, id);
create index on erp.stocktake_line (stocktake_id, state);
create index on erp.stocktake_line (warehouse_id) where warehouse_id is not null;
create index on erp.stocktake_line (bin_location_id) where bin_location_id is not null;
create index on erp.stocktake_line (product_id, id);
create index on erp.stocktake_line (batch_id) where batch_id is not null;
create index on erp.stocktake_line (reason) where reason is not null;
alter table erp.stocktake_line enable row level security;
comment on table erp.stocktake_line is
  'Positions of a stocktake: a product in a place, for tracked products each batch. A position without a '
  'product asks whether a bin is empty.';
comment on column erp.stocktake_line.stocktake_id is 'The stocktake.';
comment on column erp.stocktake_line.number is 'Number of the position, in the order of the walk.';
comment on column erp.stocktake_line.place is 'Key of the place, as in ledger.stock.place.';
comment on column erp.stocktake_line.warehouse_id is
  'The warehouse, for what lies outside of its bins.';
comment on column erp.stocktake_line.bin_location_id is
  'The bin; null outside of bins, and once the bin was deleted.';
comment on column erp.stocktake_line.product_id is
  'The product; null where the question is whether the bin is empty.';
comment on column erp.stocktake_line.batch_id is 'The batch, of products that are kept in batches.';
comment on column erp.stocktake_line.is_found is
  'Whether people found units there that nobody expected.';
comment on column erp.stocktake_line.state is
  'open until it is counted; beyond_bound if it needs a second count; counted; approved: then it is booked; '
  'cancelled.';
comment on column erp.stocktake_line.round is 'Number of counts that were requested.';
comment on column erp.stocktake_line.expected_quantity is
  'Units that the ledger says were there when the count was made; before, when the stocktake was created.';
comment on column erp.stocktake_line.counted_quantity is 'Units of the latest count.';
comment on column erp.stocktake_line.counted_at is 'Moment of the latest count.';
comment on column erp.stocktake_line.difference is 'Counted units less expected ones.';
comment on column erp.stocktake_line.earlier_difference is
  'The difference of the count before the recount.';
comment on column erp.stocktake_line.unit_value is
  'Value of a unit when it was counted, in the default currency. Null if unknown.';
comment on column erp.stocktake_line.reason is 'Reason of the difference, a code of booking reasons.';
comment on column erp.stocktake_line.approved_at is 'When it was approved and booked.';
comment on column erp.stocktake_line.approved_by is 'Credential that approved it.';
comment on column erp.stocktake_line.booked_difference is
  'Units that were booked, negative if some were missing. Null if a later count made this one obsolete, and '
  'for positions without a product.';
comment on column erp.stocktake_line.stock_movement_id is 'The movement that corrected the ledger.';

create table erp.stocktake_count (
  id uuid primary key default uuidv7(),
  sheet_id uuid not null references erp.stocktake_sheet on delete cascade,
  line_id uuid not null references erp.stocktake_line on delete cascade,
  number integer not null,
  place text collate "C" not null constraint stocktake_count_place_length check (length(place) <= 36),
  warehouse_id uuid references erp.warehouse on delete set null,
  bin_location_id uuid references erp.bin_location on delete set null,
  product_id uuid references erp.product on delete cascade,
  batch_id uuid references erp.batch on delete cascade,
  quantity integer constraint stocktake_count_quantity_is_not_negative check (quantity >= 0),
  counted_at timestamptz,
  counter_name text constraint stocktake_count_counter_name_length check (length(counter_name) <= 255)
    constraint stocktake_count_counter_is_not_blank check (not erp.is_blank(counter_name)),
  credential_id uuid,
  submitted_at timestamptz(0),
  constraint stocktake_count_is_once_on_a_sheet unique (sheet_id, line_id),
  constraint stocktake_count_is_complete check (
    num_nonnulls(quantity, counted_at, counter_name, submitted_at) in (0, 4))
);
create index on erp.stocktake_count (sheet_id, id);
create index on erp.stocktake_count (sheet_id, place);
create index on erp.stocktake_count (line_id);
create index on erp.stocktake_count (warehouse_id) where warehouse_id is not null;
create index on erp.stocktake_count (bin_location_id) where bin_location_id is not null;
create index on erp.stocktake_count (product_id) where product_id is not null;
create index on erp.stocktake_count (batch_id) where batch_id is not null;
alter table erp.stocktake_count enable row level security;
comment on table erp.stocktake_count is
  'Lines of the sheets of a stocktake: what to count, and what was counted. Kept apart from the positions, '
  'so that people who count see no expected units.';
comment on column erp.stocktake_count.sheet_id is 'The sheet.';
comment on column erp.stocktake_count.line_id is 'The position of the stocktake.';
comment on column erp.stocktake_count.number is 'Number of the position, in the order of the walk.';
comment on column erp.stocktake_count.place is 'Key of the place, as in ledger.stock.place.';
comment on column erp.stocktake_count.warehouse_id is 'The warehouse, for what lies outside of its bins.';
comment on column erp.stocktake_count.bin_location_id is 'The bin.';
comment on column erp.stocktake_count.product_id is
  'The product; null where the question is whether the bin is empty.';
comment on column erp.stocktake_count.batch_id is 'The batch, of products that are kept in batches.';
comment on column erp.stocktake_count.quantity is
  'Units that were counted last; null until then. Without the scope stocktake_results:read, only counts of '
  'the own credential.';
comment on column erp.stocktake_count.counted_at is 'When the units were counted.';
comment on column erp.stocktake_count.counter_name is 'The person who counted, as the client says.';
comment on column erp.stocktake_count.credential_id is 'The credential that sent the count.';
comment on column erp.stocktake_count.submitted_at is 'When the count arrived.';

select api_meta.allow('service_writer', 'erp.stocktake', 'select', 'insert',
  'update (state, reviewed_at, approved_at, cancelled_at)');
select api_meta.allow('service_writer', 'erp.stocktake_scope', 'select', 'insert');
select api_meta.allow('service_writer', 'erp.stocktake_sheet', 'select', 'insert', 'update (completed_at)');
select api_meta.allow('service_writer', 'erp.stocktake_line', 'select', 'insert', 'delete',
  'update (state, round, expected_quantity, counted_quantity, counted_at, difference, earlier_difference, '
  'unit_value, reason, approved_at, approved_by, booked_difference, stock_movement_id)');
select api_meta.allow('service_writer', 'erp.stocktake_count', 'select', 'insert', 'delete',
  'update (quantity, counted_at, counter_name, credential_id, submitted_at)');
select api_meta.allow('service_writer', 'ledger.batch_stock', 'select');

comment on constraint stocktake_number_is_unique on erp.stocktake is
  '@internal erp.next_number gives each number once.';
comment on constraint stocktake_state_is_known on erp.stocktake is
  '@internal erp.state_transition has only these states.';
comment on constraint stocktake_recount_units_are_not_negative on erp.stocktake is
  E'@userError OUT_OF_RANGE recount_units\nThe bound must not be negative.';
comment on constraint stocktake_recount_percent_is_not_negative on erp.stocktake is
  E'@userError OUT_OF_RANGE recount_percent\nThe bound must be between 0 and 1,000,000 percent.';
comment on constraint stocktake_recount_value_is_not_negative on erp.stocktake is
  E'@userError OUT_OF_RANGE recount_value\nThe bound must not be negative.';
comment on constraint stocktake_comment_length on erp.stocktake is
  E'@userError OUT_OF_RANGE comment\nThe comment must have at most 1,000 characters.';
comment on constraint stocktake_is_approved_at_a_moment on erp.stocktake is
  '@internal erp.approve_stocktake writes both.';
comment on constraint stocktake_is_cancelled_at_a_moment on erp.stocktake is
  '@internal erp.cancel_stocktake writes both.';
comment on constraint stocktake_scope_names_one on erp.stocktake_scope is
  '@internal erp.create_stocktake writes each thing as a row of its own.';
comment on constraint stocktake_scope_names_each_once on erp.stocktake_scope is
  '@internal erp.create_stocktake writes each thing once.';
comment on constraint stocktake_sheet_number_is_positive on erp.stocktake_sheet is
  '@internal Sheets are numbered from 1.';
comment on constraint stocktake_sheet_round_is_positive on erp.stocktake_sheet is
  '@internal Rounds are numbered from 1.';
comment on constraint stocktake_sheet_number_is_unique on erp.stocktake_sheet is
  '@internal The stocktake is locked while sheets are added.';
comment on constraint stocktake_line_number_is_positive on erp.stocktake_line is
  '@internal Positions are numbered from 1.';
comment on constraint stocktake_scope_stocktake_id_fkey on erp.stocktake_scope is
  '@internal The stocktake was made by the same call.';
comment on constraint stocktake_sheet_stocktake_id_fkey on erp.stocktake_sheet is
  '@internal The stocktake is locked while sheets are added.';
comment on constraint stocktake_line_stocktake_id_fkey on erp.stocktake_line is
  '@internal The stocktake is locked while positions are added.';
comment on constraint stocktake_count_line_id_fkey on erp.stocktake_count is
  '@internal The stocktake is locked while lines are added.';
comment on constraint stocktake_line_place_is_not_blank on erp.stocktake_line is
  '@internal The key of a place is a uuid.';
comment on constraint stocktake_line_place_length on erp.stocktake_line is
  '@internal The key of a place is a uuid.';
comment on constraint stocktake_line_state_is_known on erp.stocktake_line is
  '@internal The functions of stocktakes write only these.';
comment on constraint stocktake_line_round_is_positive on erp.stocktake_line is
  '@internal Rounds are numbered from 1.';
comment on constraint stocktake_line_quantity_is_not_negative on erp.stocktake_line is
  '@internal erp.check_stocktake_readings refuses it first.';
comment on constraint stocktake_line_difference_follows on erp.stocktake_line is
  '@internal erp.judge_stocktake_lines writes all three.';
comment on constraint stocktake_line_count_is_complete on erp.stocktake_line is
  '@internal erp.judge_stocktake_lines writes all three.';
comment on constraint stocktake_line_is_counted on erp.stocktake_line is
  '@internal Only counted positions become anything else.';
comment on constraint stocktake_line_is_approved_at_a_moment on erp.stocktake_line is
  '@internal erp.book_stocktake_lines writes both.';
comment on constraint stocktake_line_names_its_place on erp.stocktake_line is
  E'@userError REFERENCE_IN_USE id\nA stocktake that is not finished counts this place.';
comment on constraint stocktake_line_has_one_place on erp.stocktake_line is
  '@internal A position is either in a bin or outside of bins.';
comment on constraint stocktake_line_without_product_is_empty on erp.stocktake_line is
  '@internal erp.add_found_lines makes a position for what is found.';
comment on index erp.stocktake_line_is_counted_by_one_stocktake is
  E'@userError IN_OTHER_STOCKTAKE\nAnother stocktake that is not finished counts the same stock.';
comment on index erp.stocktake_line_number_is_unique is
  '@internal The stocktake is locked while positions are added.';
comment on constraint stocktake_count_place_length on erp.stocktake_count is
  '@internal The key of a place is a uuid.';
comment on constraint stocktake_count_quantity_is_not_negative on erp.stocktake_count is
  '@internal erp.check_stocktake_readings refuses it first.';
comment on constraint stocktake_count_counter_name_length on erp.stocktake_count is
  E'@userError OUT_OF_RANGE counter_name\nThe name must have at most 255 characters.';
comment on constraint stocktake_count_counter_is_not_blank on erp.stocktake_count is
  E'@userError INVALID counter_name\nThe name of the person who counted must not be blank.';
comment on constraint stocktake_count_is_once_on_a_sheet on erp.stocktake_count is
  '@internal The stocktake is locked while lines are added.';
comment on constraint stocktake_count_is_complete on erp.stocktake_count is
  '@internal erp.take_counts writes all four.';

--! Included api/user_error_code.sql
do $$
begin
  if to_regtype('api_unstable.user_error_code') is null then
    create type api_unstable.user_error_code as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.user_error_code',
  'REQUIRED', 'INVALID', 'NOT_FOUND', 'NOT_UNIQUE', 'OUT_OF_RANGE', 'INVALID_STATE_TRANSITION',
  'NOT_EDITABLE', 'INSUFFICIENT_STOCK', 'QUANTITY_CHANGED', 'OVER_RECEIPT', 'OVER_FULFILLMENT',
  'BATCH_REQUIRED', 'BATCH_MISMATCH', 'WAREHOUSE_NOT_EMPTY', 'REFERENCE_IN_USE', 'CURRENCY_FACTOR_LOCKED',
  'EXTERNALLY_MANAGED', 'ON_HOLD', 'IDEMPOTENCY_KEY_MISMATCH', 'TOO_MANY_LINES', 'URL_FORBIDDEN',
  'SCOPE_MISSING', 'PRODUCT_HAS_VARIANTS', 'SUPPLIER_MISMATCH', 'SUPPLIER_INACTIVE',
  'TOO_MANY_SUBSCRIPTIONS', 'BATCH_HELD', 'BATCH_EXPIRED', 'SERIAL_NUMBER_IN_STOCK', 'PERIOD_CLOSED',
  'PRICE_MISSING', 'METHOD_CHANGE_IN_CLOSED_PERIOD', 'BIN_NOT_SELLABLE', 'EXCEEDS_SHIPPED', 'RETURN_EXISTS',
  'SOURCING_PLAN_INVALID', 'NOT_ON_SHEET', 'OUT_OF_SCOPE', 'IN_OTHER_STOCKTAKE', 'NOT_COUNTED',
  'RECOUNT_REQUIRED', 'SAME_PERSON', 'SELF_APPROVAL', 'PERIOD_TOO_LONG');
comment on type api_unstable.user_error_code is
  E'@value REQUIRED A value is missing, or null.\n'
  '@value INVALID The value is not valid here; the message says why.\n'
  '@value NOT_FOUND There is no object with this id.\n'
  '@value NOT_UNIQUE Another object has this value.\n'
  '@value OUT_OF_RANGE A number, date or text length is outside the allowed range.\n'
  '@value INVALID_STATE_TRANSITION The state does not allow this. Field details names the actions that '
  'it allows.\n'
  '@value NOT_EDITABLE The state, or where it comes from, does not allow changes.\n'
  '@value INSUFFICIENT_STOCK A place would be left with less than nothing. Field details has what is '
  'available and requested.\n'
  '@value QUANTITY_CHANGED The stock is not what expectedQuantity says. Field details has what is '
  'expected and actual.\n'
  '@value OVER_RECEIPT More would be received than can be. No longer given: what is more than was '
  'ordered becomes a line without an order.\n'
  '@value OVER_FULFILLMENT More would be fulfilled than is open.\n'
  '@value BATCH_REQUIRED The units are kept in batches: a batch must be named.\n'
  '@value BATCH_MISMATCH The batch is of another product, or was not shipped in the order that comes back.\n'
  '@value WAREHOUSE_NOT_EMPTY The warehouse or bin still holds stock. Field details has the quantity.\n'
  '@value REFERENCE_IN_USE Another object still refers to it, and can''t exist without it.\n'
  '@value CURRENCY_FACTOR_LOCKED The exchange rate is part of a stock valuation report.\n'
  '@value EXTERNALLY_MANAGED Another system manages it; it is read-only here.\n'
  '@value ON_HOLD It is on hold.\n'
  '@value IDEMPOTENCY_KEY_MISMATCH The idempotency key was used for something else in the last 24 '
  'hours.\n'
  '@value TOO_MANY_LINES The input has more lines than are allowed at once.\n'
  '@value URL_FORBIDDEN The address may not be called.\n'
  '@value SCOPE_MISSING The access token lacks a scope that depends on the input.\n'
  '@value PRODUCT_HAS_VARIANTS The product only stands for its variants: they are kept in stock, it is '
  'not.\n'
  '@value SUPPLIER_MISMATCH A goods receipt delivers orders of one supplier, its own. Field details '
  'names the order or the receipt that is of another.\n'
  '@value SUPPLIER_INACTIVE The shop no longer orders from the supplier. Earlier orders can still be '
  'received.\n'
  '@value TOO_MANY_SUBSCRIPTIONS The maximum number of webhook subscriptions is reached. Field details '
  'has the number.\n'
  '@value BATCH_HELD The batch is on hold: nothing of it is shipped until it is released.\n'
  '@value SERIAL_NUMBER_IN_STOCK There is one unit of each serial number, and it is in stock already. Field '
  'details has the serialNumber.\n'
  '@value BIN_NOT_SELLABLE The bin holds damaged goods, or goods in quality control: nothing is shipped from '
  'there.\n'
  '@value BATCH_EXPIRED The best-before date of the batch has passed. Field details has it.\n'
  '@value PERIOD_CLOSED A closed stock valuation report counts it.\n'
  '@value PRICE_MISSING Units in stock have no value: a price is missing. Field details has the first '
  'ones.\n'
  '@value METHOD_CHANGE_IN_CLOSED_PERIOD A closed stock valuation report covers the day. Field details has '
  'its number and day.\n'
  '@value EXCEEDS_SHIPPED More units would come back than were shipped. Field details has the units that '
  'are returnable.\n'
  '@value RETURN_EXISTS Units come back by a return. Field details has its number.\n'
  '@value SOURCING_PLAN_INVALID The function sourcing.plan of this service gave an answer that is not '
  'possible. The message says what is wrong with it.\n'
  '@value NOT_ON_SHEET Another sheet of the stocktake has this place, or the recount does not include it.\n'
  '@value OUT_OF_SCOPE The stocktake does not include this place or product.\n'
  '@value IN_OTHER_STOCKTAKE Another stocktake that is not finished counts the same stock.\n'
  '@value NOT_COUNTED Positions are not counted yet. Field details has their openCount.\n'
  '@value RECOUNT_REQUIRED Differences beyond a bound need a second count. Field details has their count.\n'
  '@value SAME_PERSON The person made the first count; another one has to recount.\n'
  '@value SELF_APPROVAL The same person or credential counted it: another one has to approve. Field details '
  'has the count of such positions.\n'
  '@value PERIOD_TOO_LONG The period has too many stock movements to be calculated at once. Field details '
  'has the referenceDate of an earlier day to close first.\n'
  'The code of a user error. A version only shows codes that it lists: later ones appear as INVALID.';
--! EndIncluded api/user_error_code.sql

--! Included api/stocktakes.sql
create view api_unstable.stocktakes with (security_invoker = true) as
select id, number, state, warehouse_id, counts_all_bins, counts_all_products, recount_units, recount_percent,
  recount_value, comment, created_at, updated_at, reviewed_at, approved_at, cancelled_at
from erp.stocktake;
comment on view api_unstable.stocktakes is $$
@primaryKey id
@requiresScopes stocktakes:read
@filters number,state,warehouse_id,created_at
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName stocktakes
A stocktake of a warehouse. People count by sheets that show no expected units, others approve the
differences. What is approved is booked as counts of the process stocktaking.$$;
--! EndIncluded api/stocktakes.sql
--! Included api/stocktake_scopes.sql
create view api_unstable.stocktake_scopes with (security_invoker = true) as
select id, stocktake_id, bin_location_id, product_id, batch_id from erp.stocktake_scope;
comment on view api_unstable.stocktake_scopes is $$
@primaryKey id
@requiresScopes stocktakes:read
@filters stocktake_id,bin_location_id,product_id,batch_id
@foreignKey (stocktake_id) references stocktakes (id)|@fieldName stocktake|@foreignFieldName scopes
@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (batch_id) references batches (id)|@fieldName batch
A bin, a product or a batch that a stocktake is limited to.$$;
--! EndIncluded api/stocktake_scopes.sql
--! Included api/stocktake_sheets.sql
create view api_unstable.stocktake_sheets with (security_invoker = true) as
select id, stocktake_id, number, round, created_at, completed_at from erp.stocktake_sheet;
comment on view api_unstable.stocktake_sheets is $$
@primaryKey id
@requiresScopes stocktakes:read
@filters stocktake_id,round
@foreignKey (stocktake_id) references stocktakes (id)|@fieldName stocktake|@foreignFieldName sheets
The places that one person counts in a stocktake, in the order of the walk. It shows no expected units.$$;
--! EndIncluded api/stocktake_sheets.sql
--! Included api/stocktake_counts.sql
-- Reads no expected units: who may read a view may read the tables behind it
create view api_unstable.stocktake_counts with (security_invoker = true) as
select id, sheet_id, number, warehouse_id, bin_location_id, product_id, batch_id,
  coalesce(quantity is not null, false) as is_counted, case when o.is_own then quantity end as quantity,
  counted_at, counter_name, submitted_at
from erp.stocktake_count
cross join lateral (
  select (select auth.has_scope('stocktake_results:read'))
    or credential_id = (select nullif(current_setting('service.credential_id', true), '')::uuid) as is_own
) o;
comment on view api_unstable.stocktake_counts is $$
@primaryKey id
@requiresScopes stocktakes:read
@filters sheet_id,product_id,bin_location_id
@foreignKey (sheet_id) references stocktake_sheets (id)|@fieldName sheet|@foreignFieldName counts
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse
@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (batch_id) references batches (id)|@fieldName batch
A line of a sheet: what to count, and what was counted. It shows no expected units.$$;
comment on column api_unstable.stocktake_counts.is_counted is E'@notNull\nWhether somebody has counted it.';
comment on column api_unstable.stocktake_counts.quantity is
  'Units that were counted last; null until then. Without the scope stocktake_results:read, only the counts '
  'of the own credential are shown.';
--! EndIncluded api/stocktake_counts.sql
--! Included api/stocktake_sheets_open_count.sql
create function api_unstable.stocktake_sheets_open_count(sheet api_unstable.stocktake_sheets) returns integer
language sql stable begin atomic
  select count(*)::integer from api_unstable.stocktake_counts c
  where c.sheet_id = sheet.id and not c.is_counted;
end;
comment on function api_unstable.stocktake_sheets_open_count(api_unstable.stocktake_sheets) is $$
@requiresScopes stocktakes:read
@notNull
Positions of the sheet that nobody has counted yet.$$;
--! EndIncluded api/stocktake_sheets_open_count.sql
--! Included api/stocktakes_progress.sql
drop type if exists api_unstable.stocktake_progress cascade;
create type api_unstable.stocktake_progress as (
  sheet_count integer, completed_sheet_count integer, open_count integer
);
comment on type api_unstable.stocktake_progress is 'How far people have counted.';
comment on column api_unstable.stocktake_progress.sheet_count is E'@notNull\nSheets, also of recounts.';
comment on column api_unstable.stocktake_progress.completed_sheet_count is E'@notNull\nCompleted sheets.';
comment on column api_unstable.stocktake_progress.open_count is
  E'@notNull\nPositions on all sheets that nobody has counted yet.';
create function api_unstable.stocktakes_progress(stocktake api_unstable.stocktakes)
returns api_unstable.stocktake_progress
language sql stable begin atomic
  select row (count(*), count(s.completed_at), coalesce(sum((
    select count(*) from api_unstable.stocktake_counts c where c.sheet_id = s.id and not c.is_counted
  )), 0))::api_unstable.stocktake_progress
  from api_unstable.stocktake_sheets s where s.stocktake_id = stocktake.id;
end;
comment on function api_unstable.stocktakes_progress(api_unstable.stocktakes) is $$
@requiresScopes stocktakes:read
How far people have counted.$$;
--! EndIncluded api/stocktakes_progress.sql
--! Included api/stocktake_lines.sql
create view api_unstable.stocktake_lines with (security_invoker = true) as
select id, stocktake_id, number, warehouse_id, bin_location_id, product_id, batch_id, is_found, state, round,
  expected_quantity, counted_quantity, counted_at,
  difference, earlier_difference, reason, approved_at,
  approved_by, booked_difference, stock_movement_id
from erp.stocktake_line;
comment on view api_unstable.stocktake_lines is $$
@primaryKey id
@requiresScopes stocktake_results:read
@aggregates difference,booked_difference,counted_quantity,expected_quantity
@groupBy state,product_id,reason
@gid approved_by Credential
@filters stocktake_id,product_id,bin_location_id,batch_id,state,difference,reason,is_found,stock_movement_id
@foreignKey (stocktake_id) references stocktakes (id)|@fieldName stocktake|@foreignFieldName lines
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse
@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName stocktakeLines
@foreignKey (batch_id) references batches (id)|@fieldName batch
@foreignKey (stock_movement_id) references stock_movements (id)|@fieldName stockMovement
A position of a stocktake: a product in a place, for tracked products each batch. It has the expected and the
counted units, and their difference.$$;
comment on column api_unstable.stocktake_lines.expected_quantity is
  E'@notNull\nUnits that the ledger says were there when the count was made; before, when the stocktake was '
  'created.';
comment on column api_unstable.stocktake_lines.difference is 'Counted units less expected ones.';
comment on column api_unstable.stocktake_lines.earlier_difference is
  'The difference of the count before the recount.';
--! EndIncluded api/stocktake_lines.sql
grant execute on function erp.rounded(numeric) to service_api, service_registrar;
--! Included api/stocktake_line_values.sql
create view api_unstable.stocktake_line_values with (security_invoker = true) as
select id as line_id, stocktake_id, product_id, state, coalesce(difference, 0) as difference, unit_value,
  erp.rounded(difference * unit_value) as value
from erp.stocktake_line where counted_quantity is not null;
comment on view api_unstable.stocktake_line_values is $$
@primaryKey line_id
@requiresScopes allOf: stocktake_results:read valuation:read
@aggregates value,difference
@groupBy state,product_id
@filters stocktake_id,product_id,state,difference
@foreignKey (line_id) references stocktake_lines (id)|@fieldName line|@foreignFieldName valuation
@foreignKey (stocktake_id) references stocktakes (id)|@fieldName stocktake|@foreignFieldName lineValues
@foreignKey (product_id) references products (id)|@fieldName product
The value of the difference of a counted position.$$;
comment on column api_unstable.stocktake_line_values.line_id is 'The position.';
comment on column api_unstable.stocktake_line_values.difference is
  E'@notNull\nCounted units less expected ones.';
comment on column api_unstable.stocktake_line_values.value is
  'The difference times the value of a unit, in the default currency. Null if that is unknown.';
--! EndIncluded api/stocktake_line_values.sql

drop function if exists ledger.set_stock(ledger.line[], text, text, text);
--! Included ledger/set_stock.sql
create or replace function ledger.set_stock(
  lines ledger.line[], note text, reference text default null, reason text default null,
  process text default 'api'
)
returns ledger.booked
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  readings ledger.stock_reading[];
  notes jsonb;
  drafts ledger.draft[];
  booked ledger.booked;
begin
  perform ledger.prepare(lines, 'set');
  readings := ledger.read_counts(lines);

  select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
    format('%s were counted, but %s more have left the place since.', r.quantity, - r.moved),
    mutation.path('lines', r.line, 'quantity'),
    jsonb_build_object('available', r.quantity, 'requested', - r.moved)) order by r.line)
  into notes from unnest(readings) r where r.quantity + r.moved < 0;
  perform mutation.refuse(notes);

  drafts := array(
    select ledger.adjustment_of(
      d.field, r.product_id, d.difference::integer, r.batch_id, r.place_type, r.place, true)
    from unnest(readings) r
    cross join lateral (
      select r.quantity + r.moved - r.present, mutation.path('lines', r.line, 'quantity')
    ) d (difference, field)
    where r.newer_counted_at is null and d.difference <> 0 order by r.line
  );
  if set_stock.process <> 'api' then
    drafts := array(
      select row (d.field, d.product_id, d.quantity, d.batch_id, d.source_type, d.source, d.destination_type,
        d.destination, set_stock.process)::ledger.draft
      from unnest(drafts) with ordinality d order by d.ordinality);
  end if;
  booked := ledger.book(drafts, note, '{}', reference, reason);
  perform ledger.note_counts(readings, booked.stock_movements);

  select jsonb_agg(mutation.user_error('COUNT_SUPERSEDED',
    'The place has been counted again since then. This count was recorded, but changes nothing.',
    mutation.path('lines', r.line, 'counted_at'),
    jsonb_build_object('quantity', r.newer_quantity, 'countedAt',
      to_char(r.newer_counted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'))) order by r.line)
  into notes from unnest(readings) r where r.newer_counted_at is not null;
  perform mutation.warn(notes);
  -- The result includes stock that was right already
  booked.stocks := array(select r.stock_id from unnest(readings) r group by r.stock_id order by min(r.line));
  return booked;
end
$$;
comment on function ledger.set_stock(ledger.line[], text, text, text, text) is
  'Sets stock to a counted quantity: books the difference against stock_correction. With counted_at, '
  'movements after that moment are added to the count. A count that is older than a known one changes '
  'nothing and adds the warning COUNT_SUPERSEDED. The process is api or stocktaking.';
select api_meta.plan_by_index('ledger.set_stock(ledger.line[], text, text, text, text)');
select api_meta.give('ledger.set_stock(ledger.line[], text, text, text, text)', 'service_ledger');
grant execute on function ledger.set_stock(ledger.line[], text, text, text, text) to service_writer;
--! EndIncluded ledger/set_stock.sql
--! Included ledger/quantity_when_counted.sql
create or replace function ledger.quantity_when_counted(
  product_id uuid, place text, batch_id uuid, moment timestamptz
)
returns bigint language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select ledger.quantity_at(quantity_when_counted.product_id, quantity_when_counted.place,
      quantity_when_counted.batch_id)
    - ledger.moved_since(quantity_when_counted.product_id, quantity_when_counted.place,
      quantity_when_counted.batch_id, moment);
end;
comment on function ledger.quantity_when_counted(uuid, text, uuid, timestamptz) is
  'Returns the units of a product, or of one batch of it, that a count at a moment should find in a place. '
  'The place may never have had any.';
select api_meta.plan_by_index('ledger.quantity_when_counted(uuid, text, uuid, timestamptz)');
select api_meta.give('ledger.quantity_when_counted(uuid, text, uuid, timestamptz)', 'service_ledger');
revoke execute on function ledger.quantity_when_counted(uuid, text, uuid, timestamptz) from public;
grant execute on function ledger.quantity_when_counted(uuid, text, uuid, timestamptz) to service_writer;
--! EndIncluded ledger/quantity_when_counted.sql
--! Included erp/unit_values.sql
create or replace function erp.unit_values(product_ids uuid[])
returns table (product_id uuid, unit_value numeric)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with newest as (select (valuation.newest_report()).id)
  select p.id, coalesce(
    (
      select case when r.quantity > 0 then erp.rounded_price(r.value / r.quantity) else r.last_unit_cost end
      from valuation.report_product r where r.report_id = (select n.id from newest n) and r.product_id = p.id
    ),
    (
      select c.net from erp.product_purchase_price c
      where c.product_id = p.id
        and c.currency_id = (select d.id from erp.currency d where d.is_default_currency)
    ))
  from unnest(product_ids) p (id);
end;
comment on function erp.unit_values(uuid[]) is
  'Returns what a unit of each product is worth, in the default currency: by the newest closed stock '
  'valuation report, or else the purchase price. Null if neither is known.';
grant execute on function erp.unit_values(uuid[]) to service_writer;
--! EndIncluded erp/unit_values.sql
drop type if exists erp.stocktake_reading cascade;
--! Included erp/stocktake_reading.sql
drop type if exists erp.stocktake_reading cascade;
create type erp.stocktake_reading as (
  warehouse_id uuid, bin_location_id uuid, product_id uuid, batch_id uuid, quantity integer,
  counted_at timestamptz, is_empty boolean
);
comment on type erp.stocktake_reading is
  'A count of one person in a place: units of a product, or that nothing else is there.';
--! EndIncluded erp/stocktake_reading.sql
--! Included erp/lock_stocktake.sql
create or replace function erp.lock_stocktake(stocktake_id uuid, field text[] default '{id}')
returns erp.stocktake
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.stocktake;
begin
  select * into present from erp.stocktake s where s.id = stocktake_id for no key update;
  if not found then
    perform mutation.refuse_missing('stocktake', field);
  end if;
  return present;
end
$$;
comment on function erp.lock_stocktake(uuid, text[]) is
  'Locks a stocktake until the end of the transaction, and returns it. Every change of a stocktake begins '
  'with that. User error NOT_FOUND, of the field.';
grant execute on function erp.lock_stocktake(uuid, text[]) to service_writer;
--! EndIncluded erp/lock_stocktake.sql
--! Included erp/add_stocktake_lines.sql
create or replace function erp.add_stocktake_lines(stocktake erp.stocktake, includes_empty_bins boolean)
returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  maximum constant integer := 20000;
  added integer;
begin
  with scope as materialized (
    select c.* from erp.stocktake_scope c where c.stocktake_id = stocktake.id
  ), place as materialized (
    select w.id as warehouse_id, null::uuid as bin_location_id, w.id::text as place, -1 as position,
      '' as code
    from erp.warehouse w where w.id = stocktake.warehouse_id and stocktake.counts_all_bins
    union all
    select null, b.id, b.id::text, b.position, b.code from erp.bin_location b
    where b.warehouse_id = stocktake.warehouse_id and (stocktake.counts_all_bins
      or b.id in (select c.bin_location_id from scope c where c.bin_location_id is not null))
  ), held as materialized (
    select s.warehouse_id, s.bin_location_id, s.place, s.position, s.code, s.product_id, b.batch_id,
      coalesce(b.quantity, s.quantity) as quantity
    from (
      select p.*, s.id, s.product_id, s.quantity from place p
      join ledger.stock s on s.warehouse_id = p.warehouse_id
      union all
      select p.*, s.id, s.product_id, s.quantity from place p
      join ledger.stock s on s.bin_location_id = p.bin_location_id
    ) s
    join erp.product r on r.id = s.product_id
    left join ledger.batch_stock b on b.stock_id = s.id and b.quantity <> 0 and r.is_batch_managed
    where s.quantity <> 0 and (b.batch_id is not null or not r.is_batch_managed)
      and (stocktake.counts_all_products
        or s.product_id in (select c.product_id from scope c where c.product_id is not null)
        or b.batch_id in (select c.batch_id from scope c where c.batch_id is not null))
    limit maximum + 1
  ), wanted as (
    select h.* from held h
    union all
    select p.*, null, null, 0 from place p
    where includes_empty_bins and p.bin_location_id is not null and not exists (
      select from ledger.stock s where s.bin_location_id = p.bin_location_id and s.quantity <> 0)
    limit maximum + 1
  )
  insert into erp.stocktake_line (stocktake_id, number, place, warehouse_id, bin_location_id, product_id,
    batch_id, expected_quantity)
  select stocktake.id,
    row_number() over (order by w.position nulls last, w.code, w.place, p.product_number, b.number),
    w.place, w.warehouse_id, w.bin_location_id, w.product_id, w.batch_id, w.quantity
  from wanted w
  left join erp.product p on p.id = w.product_id left join erp.batch b on b.id = w.batch_id
  order by 2;
  get diagnostics added = row_count;
  perform mutation.refuse_too_many(added, maximum, null);
  return added;
end
$$;
comment on function erp.add_stocktake_lines(erp.stocktake, boolean) is
  'Adds the positions of a new stocktake: what lies in its scope, and on request empty bins, in the order of '
  'the walk. Returns their number. User errors TOO_MANY_LINES beyond 20,000, and IN_OTHER_STOCKTAKE.';
grant execute on function erp.add_stocktake_lines(erp.stocktake, boolean) to service_writer;
--! EndIncluded erp/add_stocktake_lines.sql
--! Included erp/add_stocktake_sheets.sql
create or replace function erp.add_stocktake_sheets(stocktake_id uuid, sheets integer) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  with place as (
    -- A place is on one sheet, with the positions before it on the walk
    select l.place, min(l.number) as number, count(*) as lines, sum(count(*)) over () as total,
      sum(count(*)) over (order by min(l.number)) - count(*) as before
    from erp.stocktake_line l where l.stocktake_id = add_stocktake_sheets.stocktake_id group by l.place
  ), part as (
    select p.place,
      dense_rank() over (order by div((2 * p.before + p.lines) * sheets, 2 * p.total)) as sheet
    from place p
  ), sheet as (
    insert into erp.stocktake_sheet (stocktake_id, number)
    select add_stocktake_sheets.stocktake_id, p.sheet from part p group by p.sheet order by p.sheet
    returning id, number
  )
  insert into erp.stocktake_count (sheet_id, line_id, number, place, warehouse_id, bin_location_id,
    product_id, batch_id)
  select s.id, l.id, l.number, l.place, l.warehouse_id, l.bin_location_id, l.product_id, l.batch_id
  from part p join sheet s on s.number = p.sheet
  join erp.stocktake_line l on l.stocktake_id = add_stocktake_sheets.stocktake_id and l.place = p.place
  order by l.number;
end;
comment on function erp.add_stocktake_sheets(uuid, integer) is
  'Divides the positions of a new stocktake among sheets of about the same length, by places in the order of '
  'the walk. With few places there are fewer sheets.';
grant execute on function erp.add_stocktake_sheets(uuid, integer) to service_writer;
--! EndIncluded erp/add_stocktake_sheets.sql
--! Included erp/create_stocktake.sql
create or replace function erp.create_stocktake(
  made erp.stocktake, bins uuid[], products uuid[], batches uuid[], sheets integer, lines_per_sheet integer,
  includes_empty_bins boolean
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  lines integer;
begin
  perform mutation.refuse_too_many(cardinality(bins), 1000, '{bin_location_ids}');
  perform mutation.refuse_too_many(cardinality(products), 1000, '{product_ids}');
  perform mutation.refuse_too_many(cardinality(batches), 1000, '{batch_ids}');
  if sheets not between 1 and 250 then
    perform mutation.refuse('OUT_OF_RANGE', 'A stocktake has 1 to 250 sheets.', '{sheets}');
  elsif lines_per_sheet < 1 then
    perform mutation.refuse('OUT_OF_RANGE', 'A sheet has at least one line.', '{lines_per_sheet}');
  elsif not exists (select from erp.warehouse w where w.id = made.warehouse_id) then
    perform mutation.refuse_missing('warehouse', '{warehouse_id}');
  elsif exists (select from unnest(bins) i where not exists (
    select from erp.bin_location b where b.id = i and b.warehouse_id = made.warehouse_id)) then
    perform mutation.refuse('NOT_FOUND', 'The warehouse has no such bin.', '{bin_location_ids}');
  elsif exists (
    select from unnest(products) i where not exists (select from erp.product p where p.id = i)) then
    perform mutation.refuse_missing('product', '{product_ids}');
  elsif exists (
    select from unnest(batches) i where not exists (select from erp.batch b where b.id = i)) then
    perform mutation.refuse_missing('batch', '{batch_ids}');
  end if;
  made.counts_all_bins := coalesce(cardinality(bins), 0) = 0;
  made.counts_all_products := coalesce(cardinality(products), 0) + coalesce(cardinality(batches), 0) = 0;
  insert into erp.stocktake (number, warehouse_id, counts_all_bins, counts_all_products, recount_units,
    recount_percent, recount_value, comment)
  values (erp.next_number('stocktake'), made.warehouse_id, made.counts_all_bins, made.counts_all_products,
    made.recount_units, made.recount_percent, made.recount_value, made.comment)
  returning * into made;
  insert into erp.stocktake_scope (stocktake_id, bin_location_id, product_id, batch_id)
  select distinct made.id, i, null::uuid, null::uuid from unnest(bins) i
  union all select distinct made.id, null::uuid, i, null::uuid from unnest(products) i
  union all select distinct made.id, null::uuid, null::uuid, i from unnest(batches) i
  order by 2, 3, 4;

  lines := erp.add_stocktake_lines(made, includes_empty_bins);
  if lines = 0 then
    perform mutation.refuse('INVALID', 'There is nothing to count there.', '{warehouse_id}');
  end if;
  sheets := coalesce(sheets, greatest(1, ceil(lines::numeric / lines_per_sheet)), 1);
  perform mutation.refuse_too_many(sheets, 250, '{lines_per_sheet}');
  perform erp.add_stocktake_sheets(made.id, sheets);
  return made.id;
end
$$;
comment on function erp.create_stocktake(
  erp.stocktake, uuid[], uuid[], uuid[], integer, integer, boolean
) is
  'Creates a stocktake with its positions and sheets. Returns its id. User errors NOT_FOUND, OUT_OF_RANGE, '
  'TOO_MANY_LINES, IN_OTHER_STOCKTAKE, and INVALID if there is nothing to count.';
grant execute on function erp.create_stocktake(
  erp.stocktake, uuid[], uuid[], uuid[], integer, integer, boolean
) to service_writer;
--! EndIncluded erp/create_stocktake.sql
--! Included erp/check_stocktake_readings.sql
create or replace function erp.check_stocktake_readings(
  readings erp.stocktake_reading[], since timestamptz
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  perform mutation.refuse_too_many(cardinality(readings), 250, '{lines}');
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('lines', e.line) || e.field) order by e.line)
  into errors
  from (
    select r.ordinality, 'INVALID', 'Name either a warehouse or a bin.', '{place}'::text[]
    from unnest(readings) with ordinality r where num_nonnulls(r.warehouse_id, r.bin_location_id) <> 1
    union all
    select r.ordinality, 'INVALID', 'A line that says that nothing else is there names no product.',
      '{is_empty}'
    from unnest(readings) with ordinality r
    where r.is_empty and num_nonnulls(r.product_id, r.batch_id, r.quantity) > 0
    union all
    select r.ordinality, 'REQUIRED', 'Name the product.', '{product_id}'
    from unnest(readings) with ordinality r where not r.is_empty and r.product_id is null
    union all
    select r.ordinality, 'REQUIRED', 'Say how many units are there.', '{quantity}'
    from unnest(readings) with ordinality r where not r.is_empty and r.quantity is null
    union all
    select r.ordinality, 'OUT_OF_RANGE', 'The quantity must not be negative.', '{quantity}'
    from unnest(readings) with ordinality r where r.quantity < 0
    union all
    select r.ordinality, 'OUT_OF_RANGE', 'This moment is in the future.', '{counted_at}'
    from unnest(readings) with ordinality r where r.counted_at > ledger.moment()
    union all
    select r.ordinality, 'OUT_OF_RANGE', 'This moment is before the stocktake.', '{counted_at}'
    from unnest(readings) with ordinality r where r.counted_at < since
    union all
    select r.ordinality, 'NOT_UNIQUE', 'An earlier line counts the same.', '{}'
    from (
      select r.ordinality, row_number() over (
        partition by r.warehouse_id, r.bin_location_id, r.product_id, r.batch_id order by r.ordinality) as nth
      from unnest(readings) with ordinality r
    ) r where r.nth > 1
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_stocktake_readings(erp.stocktake_reading[], timestamptz) is
  'Refuses lines of a sheet that are invalid by themselves. User errors TOO_MANY_LINES, INVALID, REQUIRED, '
  'OUT_OF_RANGE, NOT_UNIQUE.';
grant execute on function erp.check_stocktake_readings(erp.stocktake_reading[], timestamptz)
  to service_writer;
--! EndIncluded erp/check_stocktake_readings.sql
--! Included erp/check_found_units.sql
create or replace function erp.check_found_units(
  stocktake erp.stocktake, sheet erp.stocktake_sheet, readings erp.stocktake_reading[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  with reading as (
    select r.*, r.ordinality as line, p.place, b.warehouse_id as bin_warehouse_id, t.id as product,
      t.is_batch_managed, t.has_serial_numbers, c.product_id as batch_product_id,
      exists (
        select from erp.stocktake_count n where n.sheet_id = sheet.id and n.place = p.place
          and (r.is_empty or n.product_id = r.product_id and n.batch_id is not distinct from r.batch_id)
      ) as is_on_sheet
    from unnest(readings) with ordinality r
    cross join lateral ledger.place_of(r.warehouse_id, r.bin_location_id) p
    left join erp.bin_location b on b.id = r.bin_location_id
    left join erp.product t on t.id = r.product_id left join erp.batch c on c.id = r.batch_id
  )
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('lines', e.line) || e.field) order by e.line)
  into errors
  from reading r
  cross join lateral (
    select r.line, v.* from (values
      (r.has_serial_numbers and r.quantity > 1, 'OUT_OF_RANGE', 'A serial number is one unit.',
        '{quantity}'::text[]),
      (not r.is_on_sheet and not r.is_empty and r.product is null, 'NOT_FOUND', 'There is no such product.',
        '{product_id}'),
      (not r.is_on_sheet and r.is_batch_managed and r.batch_id is null, 'BATCH_REQUIRED',
        'The product is kept in batches: name one.', '{batch_id}'),
      (not r.is_on_sheet and r.batch_id is not null and r.batch_product_id is null, 'NOT_FOUND',
        'There is no such batch.', '{batch_id}'),
      (not r.is_on_sheet and r.batch_product_id <> r.product_id, 'BATCH_MISMATCH',
        'The batch belongs to another product.', '{batch_id}'),
      (not r.is_on_sheet and not r.is_batch_managed and r.batch_id is not null, 'INVALID',
        'The product is not kept in batches.', '{batch_id}'),
      (not r.is_on_sheet and exists (select from erp.product v where v.parent_id = r.product_id),
        'PRODUCT_HAS_VARIANTS', 'The product only stands for its variants: count these.', '{product_id}'),
      (not r.is_on_sheet and sheet.round > 1, 'NOT_ON_SHEET', 'This recount does not ask for it.', '{}'),
      (not r.is_on_sheet and exists (
        select from erp.stocktake_sheet o join erp.stocktake_count n on n.sheet_id = o.id
        where o.stocktake_id = stocktake.id and o.round = 1 and o.id <> sheet.id and n.place = r.place
      ), 'NOT_ON_SHEET', 'Another sheet has this place.', '{place}'),
      (not r.is_on_sheet and coalesce(r.warehouse_id, r.bin_warehouse_id) is distinct from
        stocktake.warehouse_id, 'OUT_OF_SCOPE', 'The stocktake is about another warehouse.', '{place}'),
      (not r.is_on_sheet and not stocktake.counts_all_bins and not exists (
        select from erp.stocktake_scope o
        where o.stocktake_id = stocktake.id and o.bin_location_id = r.bin_location_id
      ), 'OUT_OF_SCOPE', 'The stocktake does not include this place.', '{place}'),
      (not r.is_on_sheet and not r.is_empty and not stocktake.counts_all_products and not exists (
        select from erp.stocktake_scope o
        where o.stocktake_id = stocktake.id and (o.product_id = r.product_id or o.batch_id = r.batch_id)
      ), 'OUT_OF_SCOPE', 'The stocktake does not include this product.', '{product_id}')
    ) v (is_wrong, code, message, field)
    where v.is_wrong limit 1
  ) e (line, is_wrong, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_found_units(erp.stocktake, erp.stocktake_sheet, erp.stocktake_reading[]) is
  'Refuses units that cannot be counted on a sheet: what does not exist, what the stocktake does not '
  'include, and places of other sheets. User errors NOT_FOUND, BATCH_REQUIRED, BATCH_MISMATCH, INVALID, '
  'OUT_OF_RANGE, PRODUCT_HAS_VARIANTS, NOT_ON_SHEET, OUT_OF_SCOPE.';
grant execute on function erp.check_found_units(
  erp.stocktake, erp.stocktake_sheet, erp.stocktake_reading[]
) to service_writer;
--! EndIncluded erp/check_found_units.sql
--! Included erp/add_found_lines.sql
create or replace function erp.add_found_lines(sheet erp.stocktake_sheet, readings erp.stocktake_reading[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  last_number constant integer := (
    select max(l.number) from erp.stocktake_line l where l.stocktake_id = sheet.stocktake_id);
begin
  with found as (
    select r.*, p.place from unnest(readings) with ordinality r
    cross join lateral ledger.place_of(r.warehouse_id, r.bin_location_id) p
    where r.quantity > 0 and not exists (
      select from erp.stocktake_count c where c.sheet_id = sheet.id and c.place = p.place
        and c.product_id = r.product_id and c.batch_id is not distinct from r.batch_id)
  ), line as (
    insert into erp.stocktake_line (stocktake_id, number, place, warehouse_id, bin_location_id, product_id,
      batch_id, is_found)
    select sheet.stocktake_id, coalesce(last_number, 0) + row_number() over (order by f.ordinality), f.place,
      f.warehouse_id, f.bin_location_id, f.product_id, f.batch_id, true
    from found f order by f.ordinality
    returning *
  )
  insert into erp.stocktake_count (sheet_id, line_id, number, place, warehouse_id, bin_location_id,
    product_id, batch_id)
  select sheet.id, l.id, l.number, l.place, l.warehouse_id, l.bin_location_id, l.product_id, l.batch_id
  from line l order by l.number;

  -- The bin is not empty, so nobody has to say so
  delete from erp.stocktake_line l
  using erp.stocktake_count c
  where c.sheet_id = sheet.id and c.line_id = l.id and l.product_id is null and exists (
    select from unnest(readings) r cross join lateral ledger.place_of(r.warehouse_id, r.bin_location_id) p
    where p.place = l.place and r.quantity > 0);
end
$$;
comment on function erp.add_found_lines(erp.stocktake_sheet, erp.stocktake_reading[]) is
  'Adds positions for units that a person found and nobody expected.';
select api_meta.plan_by_index('erp.add_found_lines(erp.stocktake_sheet, erp.stocktake_reading[])');
grant execute on function erp.add_found_lines(erp.stocktake_sheet, erp.stocktake_reading[])
  to service_writer;
--! EndIncluded erp/add_found_lines.sql
--! Included erp/is_counted_again.sql
create or replace function erp.is_counted_again(given erp.stocktake_count) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select exists (
    select from erp.stocktake_count c
    join erp.stocktake_sheet s on s.id = c.sheet_id
    join erp.stocktake_sheet p on p.id = given.sheet_id and p.number < s.number
    where c.line_id = given.line_id
  );
end;
comment on function erp.is_counted_again(erp.stocktake_count) is
  'Whether a later sheet has the same position, so that this line of a sheet no longer matters.';
grant execute on function erp.is_counted_again(erp.stocktake_count) to service_writer;
--! EndIncluded erp/is_counted_again.sql
--! Included erp/new_readings.sql
create or replace function erp.new_readings(sheet_id uuid, readings erp.stocktake_reading[])
returns erp.stocktake_reading[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  older jsonb;
begin
  select jsonb_agg(mutation.user_error('COUNT_SUPERSEDED',
    'There is a later count of this, or a recount. This one changes nothing.',
    mutation.path('lines', r.ordinality, 'counted_at'),
    jsonb_build_object('countedAt',
      to_char(c.counted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'))) order by r.ordinality)
  into older
  from unnest(readings) with ordinality r
  cross join lateral ledger.place_of(r.warehouse_id, r.bin_location_id) p
  join erp.stocktake_count c on c.sheet_id = new_readings.sheet_id and c.place = p.place
    and c.product_id = r.product_id and c.batch_id is not distinct from r.batch_id
  where c.counted_at > r.counted_at or erp.is_counted_again(c);
  perform mutation.warn(older);

  return array(
    select row (r.warehouse_id, r.bin_location_id, r.product_id, r.batch_id, r.quantity, r.counted_at,
      r.is_empty)::erp.stocktake_reading
    from unnest(readings) with ordinality r
    cross join lateral ledger.place_of(r.warehouse_id, r.bin_location_id) p
    where case when r.is_empty then exists (
        select from erp.stocktake_count c
        where c.sheet_id = new_readings.sheet_id and c.place = p.place and c.quantity is null)
      else not exists (
        select from erp.stocktake_count c
        where c.sheet_id = new_readings.sheet_id and c.place = p.place and c.product_id = r.product_id
          and c.batch_id is not distinct from r.batch_id
          and (c.counted_at > r.counted_at or c.counted_at = r.counted_at and c.quantity = r.quantity
            or erp.is_counted_again(c)))
      end
    order by r.ordinality
  );
end
$$;
comment on function erp.new_readings(uuid, erp.stocktake_reading[]) is
  'Returns the lines that change a sheet: not those that it has already, nor those that are older than what '
  'it has, for which the warning COUNT_SUPERSEDED is added.';
select api_meta.plan_by_index('erp.new_readings(uuid, erp.stocktake_reading[])');
grant execute on function erp.new_readings(uuid, erp.stocktake_reading[]) to service_writer;
--! EndIncluded erp/new_readings.sql
--! Included erp/take_counts.sql
create or replace function erp.take_counts(
  sheet_id uuid, counter_name text, readings erp.stocktake_reading[]
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  lines uuid[];
begin
  with reading as (
    select r.*, p.place from unnest(readings) r
    cross join lateral ledger.place_of(r.warehouse_id, r.bin_location_id) p
  ), counted as (
    update erp.stocktake_count c
    set quantity = n.quantity, counted_at = n.counted_at, counter_name = take_counts.counter_name,
      credential_id = mutation.caller(), submitted_at = date_trunc('second', now())
    from (
      select distinct on (c.id) c.id, coalesce(r.quantity, 0) as quantity, r.counted_at
      from reading r
      join erp.stocktake_count c on c.sheet_id = take_counts.sheet_id and c.place = r.place
        and case when r.is_empty then c.quantity is null
          else c.product_id = r.product_id and c.batch_id is not distinct from r.batch_id end
      -- Counts of the same call go before the rest of the place
      order by c.id, r.is_empty
    ) n
    where c.id = n.id
    returning c.line_id
  )
  select array_agg(c.line_id) into lines from counted c;
  if exists (
    select from erp.stocktake_line l where l.id = any (lines) and l.state in ('approved', 'cancelled')) then
    perform mutation.refuse('NOT_EDITABLE', 'A position was approved already: ask for another stocktake.',
      '{lines}');
  end if;
  return coalesce(lines, '{}');
end
$$;
comment on function erp.take_counts(uuid, text, erp.stocktake_reading[]) is
  'Writes counts on a sheet: each replaces an earlier one of the same position. Returns the positions. User '
  'error NOT_EDITABLE.';
select api_meta.plan_by_index('erp.take_counts(uuid, text, erp.stocktake_reading[])');
grant execute on function erp.take_counts(uuid, text, erp.stocktake_reading[]) to service_writer;
--! EndIncluded erp/take_counts.sql
--! Included erp/judge_stocktake_lines.sql
create or replace function erp.judge_stocktake_lines(stocktake erp.stocktake, sheet_id uuid, lines uuid[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with reading as materialized (
    select l.id, l.round, l.product_id, c.quantity, c.counted_at,
      case when l.product_id is null then 0
        else ledger.quantity_when_counted(l.product_id, l.place, l.batch_id, c.counted_at) end as expected
    from unnest(lines) i
    join erp.stocktake_line l on l.id = i
    join erp.stocktake_count c on c.line_id = l.id and c.sheet_id = judge_stocktake_lines.sheet_id
  ), judged as (
    select r.*, abs(r.quantity - r.expected) as units, u.unit_value
    from reading r
    left join erp.unit_values(array(select distinct r.product_id from reading r)) u
      on u.product_id = r.product_id
  )
  update erp.stocktake_line l
  set counted_quantity = j.quantity, counted_at = j.counted_at, expected_quantity = j.expected,
    difference = j.quantity - j.expected, unit_value = j.unit_value,
    state = case when j.round = 1 and (
        j.units > stocktake.recount_units
        or j.units * 100 > stocktake.recount_percent * greatest(j.expected, 0)
        or j.units * j.unit_value > stocktake.recount_value)
      then 'beyond_bound' else 'counted' end
  from judged j where l.id = j.id;
end
$$;
comment on function erp.judge_stocktake_lines(erp.stocktake, uuid, uuid[]) is
  'Compares new counts of positions with what the ledger says of their moments. A first count beyond a bound '
  'of the stocktake makes a position wait for a second one. After that the latest count is valid, and the '
  'approver decides.';
select api_meta.plan_by_index('erp.judge_stocktake_lines(erp.stocktake, uuid, uuid[])');
grant execute on function erp.judge_stocktake_lines(erp.stocktake, uuid, uuid[]) to service_writer;
--! EndIncluded erp/judge_stocktake_lines.sql
--! Included erp/complete_stocktake_sheet.sql
create or replace function erp.complete_stocktake_sheet(sheet_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  open_count constant bigint := (
    select count(*) from erp.stocktake_count c
    where c.sheet_id = complete_stocktake_sheet.sheet_id and c.quantity is null);
begin
  if open_count > 0 then
    perform mutation.refuse('NOT_COUNTED', format('%s positions of the sheet are not counted.', open_count),
      '{is_complete}', jsonb_build_object('openCount', open_count));
  end if;
  update erp.stocktake_sheet s set completed_at = date_trunc('second', now())
  where s.id = complete_stocktake_sheet.sheet_id;
end
$$;
comment on function erp.complete_stocktake_sheet(uuid) is
  'Closes a sheet. User error NOT_COUNTED if a position of it has no count.';
select api_meta.plan_by_index('erp.complete_stocktake_sheet(uuid)');
grant execute on function erp.complete_stocktake_sheet(uuid) to service_writer;
--! EndIncluded erp/complete_stocktake_sheet.sql
--! Included erp/submit_stocktake_sheet.sql
create or replace function erp.submit_stocktake_sheet(
  sheet_id uuid, counter_name text, readings erp.stocktake_reading[], is_complete boolean
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  sheet erp.stocktake_sheet;
  stocktake erp.stocktake;
  next_state text;
  wanted erp.stocktake_reading[];
begin
  select * into sheet from erp.stocktake_sheet s where s.id = sheet_id;
  if not found then
    perform mutation.refuse_missing('sheet', '{sheet_id}');
  end if;
  stocktake := erp.lock_stocktake(sheet.stocktake_id);
  select * into sheet from erp.stocktake_sheet s where s.id = sheet_id;
  perform erp.check_stocktake_readings(readings, stocktake.created_at);
  wanted := erp.new_readings(sheet.id, readings);
  if wanted = '{}' and (sheet.completed_at is not null or not is_complete) then
    return sheet.id;
  elsif sheet.completed_at is not null then
    perform mutation.refuse('NOT_EDITABLE', 'The sheet is complete: ask for a recount.', '{sheet_id}');
  end if;
  next_state := erp.next_state('stocktake', 'count', stocktake.state);
  perform erp.check_found_units(stocktake, sheet, readings);
  perform erp.add_found_lines(sheet, wanted);
  perform erp.judge_stocktake_lines(stocktake, sheet.id, erp.take_counts(sheet.id, counter_name, wanted));
  if sheet.round > 1 and exists (
    select from erp.stocktake_count c join erp.stocktake_count e on e.line_id = c.line_id
    where c.sheet_id = sheet.id and e.sheet_id <> sheet.id
      and lower(btrim(e.counter_name)) = lower(btrim(submit_stocktake_sheet.counter_name))
      and lower(btrim(c.counter_name)) = lower(btrim(submit_stocktake_sheet.counter_name))
  ) then
    perform mutation.refuse('SAME_PERSON', 'This person made the first count: another one has to recount.',
      '{counter_name}');
  end if;

  if is_complete then
    perform erp.complete_stocktake_sheet(sheet.id);
    if not exists (
      select from erp.stocktake_sheet s where s.stocktake_id = stocktake.id and s.completed_at is null) then
      next_state := erp.next_state('stocktake', 'review', next_state);
    end if;
  end if;
  update erp.stocktake s
  set state = next_state,
    reviewed_at = case when next_state = 'review' then date_trunc('second', now()) else s.reviewed_at end
  where s.id = stocktake.id and s.state <> next_state;
  return sheet.id;
end
$$;
comment on function erp.submit_stocktake_sheet(uuid, text, erp.stocktake_reading[], boolean) is
  'Takes counts of one person on a sheet, and on request completes the sheet. With the last sheet the review '
  'begins. Returns the id of the sheet. What the sheet has already changes nothing, also after it was '
  'completed. User errors of the functions that it calls, and NOT_EDITABLE, SAME_PERSON, '
  'INVALID_STATE_TRANSITION.';
grant execute on function erp.submit_stocktake_sheet(uuid, text, erp.stocktake_reading[], boolean)
  to service_writer;
--! EndIncluded erp/submit_stocktake_sheet.sql
--! Included erp/recount_stocktake.sql
create or replace function erp.recount_stocktake(stocktake_id uuid, line_ids uuid[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  maximum constant integer := 1000;
  stocktake constant erp.stocktake := erp.lock_stocktake(stocktake_id);
  next_state constant text := erp.next_state('stocktake', 'recount', stocktake.state);
  lines uuid[];
  made uuid;
begin
  perform mutation.refuse_too_many(cardinality(line_ids), maximum, '{line_ids}');
  if exists (
    select from unnest(line_ids) i where not exists (
      select from erp.stocktake_line l where l.id = i and l.stocktake_id = stocktake.id)
  ) then
    perform mutation.refuse_missing('position of this stocktake', '{line_ids}');
  elsif exists (
    select from erp.stocktake_line l
    where l.id = any (line_ids) and l.state not in ('counted', 'beyond_bound')
  ) then
    perform mutation.refuse('INVALID', 'Only counted positions that nobody approved can be counted again.',
      '{line_ids}');
  end if;
  lines := array(
    select l.id from erp.stocktake_line l
    where l.stocktake_id = stocktake.id
      and case when line_ids is null then l.state = 'beyond_bound' else l.id = any (line_ids) end
    order by l.number limit maximum);
  if lines = '{}' then
    perform mutation.refuse('INVALID', 'No position is beyond a bound.', '{line_ids}');
  end if;

  insert into erp.stocktake_sheet (stocktake_id, number, round)
  select stocktake.id, max(s.number) + 1, (
    select max(l.round) + 1 from erp.stocktake_line l where l.id = any (lines))
  from erp.stocktake_sheet s where s.stocktake_id = stocktake.id
  returning id into made;
  update erp.stocktake_line l
  set state = 'open', round = l.round + 1, earlier_difference = l.difference
  where l.id = any (lines);
  insert into erp.stocktake_count (sheet_id, line_id, number, place, warehouse_id, bin_location_id,
    product_id, batch_id)
  select made, l.id, l.number, l.place, l.warehouse_id, l.bin_location_id, l.product_id, l.batch_id
  from erp.stocktake_line l where l.id = any (lines) order by l.number;
  update erp.stocktake s set state = next_state where s.id = stocktake.id and s.state <> next_state;
  return made;
end
$$;
comment on function erp.recount_stocktake(uuid, uuid[]) is
  'Makes a sheet for another count: of the positions, or of those beyond a bound, 1,000 at a time. '
  'Returns the sheet. User errors NOT_FOUND, INVALID, TOO_MANY_LINES, INVALID_STATE_TRANSITION.';
grant execute on function erp.recount_stocktake(uuid, uuid[]) to service_writer;
--! EndIncluded erp/recount_stocktake.sql
--! Included erp/about_stocktake_lines.sql
create or replace function erp.about_stocktake_lines(
  notes jsonb, lines erp.stocktake_line[], line_ids uuid[]
)
returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_agg(n.note || case when n.note -> 'field' ->> 0 = 'lines' then jsonb_build_object(
    'field', case when line_ids is not null
      then to_jsonb(mutation.path('line_ids', array_position(line_ids, l.id))) end,
    'details', coalesce(nullif(n.note -> 'details', 'null'), '{}')
      || jsonb_build_object('position', l.number)) else '{}' end order by n.nth)
  from jsonb_array_elements(notes) with ordinality n (note, nth)
  left join unnest(lines) with ordinality l on l.ordinality = (n.note -> 'field' ->> 1)::integer + 1;
end;
comment on function erp.about_stocktake_lines(jsonb, erp.stocktake_line[], uuid[]) is
  'Returns errors or warnings of ledger.set_stock about positions of a stocktake: they name the id in '
  'line_ids, if the caller gave ids, and the number of the position.';
grant execute on function erp.about_stocktake_lines(jsonb, erp.stocktake_line[], uuid[]) to service_writer;
--! EndIncluded erp/about_stocktake_lines.sql
--! Included erp/require_approvable.sql
create or replace function erp.require_approvable(
  stocktake erp.stocktake, line_ids uuid[], approver_name text
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found record;
begin
  perform mutation.refuse_too_many(cardinality(line_ids), 1000, '{line_ids}');
  if exists (
    select from unnest(line_ids) i where not exists (
      select from erp.stocktake_line l where l.id = i and l.stocktake_id = stocktake.id)
  ) then
    perform mutation.refuse_missing('position of this stocktake', '{line_ids}');
  end if;
  select count(*) filter (where l.state = 'open') as open,
    count(*) filter (where l.state = 'beyond_bound') as beyond_bound,
    count(*) filter (where exists (
      select from erp.stocktake_count c
      where c.line_id = l.id and (c.credential_id = mutation.caller()
        or lower(btrim(c.counter_name)) = lower(btrim(approver_name)))
    )) as own
  into found
  from erp.stocktake_line l
  where l.stocktake_id = stocktake.id and l.state <> 'approved'
    and (line_ids is null or l.id = any (line_ids));
  if found.open > 0 then
    perform mutation.refuse('NOT_COUNTED', format('%s positions are not counted.', found.open),
      '{line_ids}', jsonb_build_object('openCount', found.open));
  elsif found.beyond_bound > 0 then
    perform mutation.refuse('RECOUNT_REQUIRED',
      format('%s differences are beyond a bound: another person has to count.', found.beyond_bound),
      '{line_ids}', jsonb_build_object('count', found.beyond_bound));
  elsif found.own > 0 then
    perform mutation.refuse('SELF_APPROVAL',
      format('The same credential or person counted %s of the positions: another one has to approve.',
        found.own), null, jsonb_build_object('count', found.own));
  end if;
end
$$;
comment on function erp.require_approvable(erp.stocktake, uuid[], text) is
  'Refuses to approve positions that are not counted, need a recount, or were counted by the credential of '
  'the caller or by a person of the approver''s name. User errors NOT_FOUND, TOO_MANY_LINES, NOT_COUNTED, '
  'RECOUNT_REQUIRED, SELF_APPROVAL.';
grant execute on function erp.require_approvable(erp.stocktake, uuid[], text) to service_writer;
--! EndIncluded erp/require_approvable.sql
--! Included erp/book_stocktake_lines.sql
create or replace function erp.book_stocktake_lines(
  stocktake erp.stocktake, lines erp.stocktake_line[], line_ids uuid[], reason text, comment text
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  earlier constant jsonb := mutation.warnings();
  booked ledger.booked;
  faults text;
  news jsonb;
begin
  begin
    booked := ledger.set_stock(array(
      select row (l.product_id, l.warehouse_id, l.bin_location_id, null, null, l.counted_quantity, l.batch_id,
        null, l.counted_at)::ledger.line
      from unnest(lines) with ordinality l order by l.ordinality
    ), comment, stocktake.number, reason, 'stocktaking');
  exception when sqlstate 'UE001' then
    get stacked diagnostics faults = pg_exception_detail;
    perform mutation.refuse(erp.about_stocktake_lines(faults::jsonb, lines, line_ids));
  end;
  select coalesce(jsonb_agg(w.note order by w.nth), '[]') into news
  from jsonb_array_elements(mutation.warnings()) with ordinality w (note, nth)
  where w.nth > jsonb_array_length(earlier);

  update erp.stocktake_line l
  set state = 'approved', approved_at = date_trunc('second', now()), approved_by = mutation.caller(),
    booked_difference = case when not b.is_obsolete then b.change end, stock_movement_id = b.movement_id,
    difference = case when b.is_obsolete then l.difference else b.change end,
    expected_quantity = case when b.is_obsolete then l.expected_quantity
      else l.counted_quantity - b.change end,
    reason = case when b.movement_id is not null then book_stocktake_lines.reason end
  from (
    select p.id, f.movement_id, coalesce(f.change, 0) as change, exists (
      select from jsonb_array_elements(news) w
      where w ->> 'code' = 'COUNT_SUPERSEDED' and (w -> 'field' ->> 1)::integer + 1 = p.ordinality
    ) as is_obsolete
    from unnest(lines) with ordinality p
    left join lateral (
      select f.movement_id, f.quantity as change
      from ledger.flow f left join ledger.stock_movement_batch m on m.stock_movement_id = f.movement_id
      where f.movement_id = any (booked.stock_movements) and f.product_id = p.product_id
        and f.place = p.place and m.batch_id is not distinct from p.batch_id
    ) f on true
  ) b
  where l.id = b.id;
  perform set_config('service.warnings',
    (earlier || coalesce(erp.about_stocktake_lines(news, lines, line_ids), '[]'))::text, true);
end
$$;
comment on function erp.book_stocktake_lines(
  erp.stocktake, erp.stocktake_line[], uuid[], text, text
) is
  'Books up to 250 counted positions, whose products are locked, as counts of the process stocktaking. The '
  'booking has the number of the stocktake as reference. The difference becomes what was booked; a count '
  'that a later one made obsolete books nothing. Errors and warnings of ledger.set_stock.';
grant execute on function erp.book_stocktake_lines(
  erp.stocktake, erp.stocktake_line[], uuid[], text, text
) to service_writer;
--! EndIncluded erp/book_stocktake_lines.sql
--! Included erp/approve_stocktake.sql
create or replace function erp.approve_stocktake(
  stocktake_id uuid, line_ids uuid[], reason text, comment text, approver_name text,
  out approved_count integer, out remaining_count integer
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  chunk constant integer := 250;
  stocktake constant erp.stocktake := erp.lock_stocktake(stocktake_id);
  lines erp.stocktake_line[];
  next_state text;
begin
  next_state := erp.next_state('stocktake',
    case when line_ids is null then 'approve' else 'approve_lines' end, stocktake.state);
  perform erp.require_approvable(stocktake, line_ids, approver_name);
  lines := array(
    select l from erp.stocktake_line l
    where l.stocktake_id = stocktake.id and l.state = 'counted' and l.product_id is not null
      and (line_ids is null or l.id = any (line_ids))
    order by l.number limit 1000);
  -- All at once, because calls at the same time take the locks in the same order
  perform ledger.lock(array(select l.product_id from unnest(lines) l), array[stocktake.warehouse_id],
    array(select l.bin_location_id from unnest(lines) l));
  for n in 0 .. (cardinality(lines) - 1) / chunk loop
    exit when lines = '{}';
    perform erp.book_stocktake_lines(stocktake, lines[n * chunk + 1 : (n + 1) * chunk], line_ids, reason,
      comment);
  end loop;
  -- Bins that were found empty, as expected
  update erp.stocktake_line l
  set state = 'approved', approved_at = date_trunc('second', now()), approved_by = mutation.caller()
  where l.stocktake_id = stocktake.id and l.state = 'counted' and l.product_id is null
    and (line_ids is null or l.id = any (line_ids));

  approved_count := cardinality(lines);
  select count(*) into remaining_count from erp.stocktake_line l
  where l.stocktake_id = stocktake.id and l.state <> 'approved';
  if remaining_count = 0 and stocktake.state = 'review' then
    update erp.stocktake s
    set state = erp.next_state('stocktake', 'approve', stocktake.state),
      approved_at = date_trunc('second', now())
    where s.id = stocktake.id;
  end if;
end
$$;
comment on function erp.approve_stocktake(uuid, uuid[], text, text, text) is
  'Approves positions of a stocktake and books them: those given, or all, 1,000 at a time. With the last one '
  'the stocktake is approved. Returns how many were booked, and how many remain. User errors of '
  'erp.require_approvable, ledger.set_stock, and INVALID_STATE_TRANSITION.';
grant execute on function erp.approve_stocktake(uuid, uuid[], text, text, text) to service_writer;
--! EndIncluded erp/approve_stocktake.sql
--! Included erp/cancel_stocktake.sql
create or replace function erp.cancel_stocktake(stocktake_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  stocktake constant erp.stocktake := erp.lock_stocktake(stocktake_id);
begin
  update erp.stocktake s
  set state = erp.next_state('stocktake', 'cancel', stocktake.state),
    cancelled_at = date_trunc('second', now())
  where s.id = stocktake.id;
  update erp.stocktake_line l set state = 'cancelled'
  where l.stocktake_id = stocktake.id and l.state <> 'approved';
  return stocktake.id;
end
$$;
comment on function erp.cancel_stocktake(uuid) is
  'Cancels a stocktake. What was approved stays booked. Returns the id. User errors NOT_FOUND, '
  'INVALID_STATE_TRANSITION.';
grant execute on function erp.cancel_stocktake(uuid) to service_writer;
--! EndIncluded erp/cancel_stocktake.sql
--! Included erp/cycle_counts.sql
create or replace function erp.cycle_counts(
  warehouse_id uuid, days_of_a integer, days_of_b integer, days_of_c integer, maximum integer
)
returns table (rank integer, stock_id uuid, product_id uuid, place_warehouse_id uuid, bin_location_id uuid,
  value_class text, last_counted_at timestamptz, due_ratio double precision, difference_count integer)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  with held as materialized (
    select s.* from (
      select s.* from ledger.stock s where s.warehouse_id = cycle_counts.warehouse_id
      union all
      select s.* from erp.bin_location b join ledger.stock s on s.bin_location_id = b.id
      where b.warehouse_id = cycle_counts.warehouse_id
    ) s
    where s.quantity > 0 and (select auth.has_scope('stocktake_results:read'))
  ), product as materialized (
    select h.product_id, sum(h.quantity) as quantity from held h group by h.product_id
  ), worth as (
    select p.product_id, p.quantity * coalesce(u.unit_value, 0) as value
    from product p
    join erp.unit_values(array(select p.product_id from product p)) u on u.product_id = p.product_id
  ), class as (
    -- The first 80 percent of the value are class A, the next 15 are class B
    select c.product_id, c.value,
      case when c.before < 0.80 * c.total then 'A' when c.before < 0.95 * c.total then 'B' else 'C' end
        as name
    from (
      select w.product_id, w.value, sum(w.value) over () as total,
        sum(w.value) over (order by w.value desc, w.product_id) - w.value as before
      from worth w
    ) c
  ), due as (
    select h.id, h.product_id, h.warehouse_id, h.bin_location_id, c.name, c.value, n.counted_at,
      extract(epoch from ledger.moment() - coalesce(n.counted_at, h.created_at)) / 86400
        / case c.name when 'A' then days_of_a when 'B' then days_of_b else days_of_c end as ratio
    from held h join class c on c.product_id = h.product_id
    left join lateral (
      select max(n.counted_at) as counted_at from ledger.stock_count n
      where n.stock_id = h.id and n.difference is not null
    ) n on true
    where not exists (
      select from erp.stocktake_line l
      where l.place = h.place and l.product_id = h.product_id and l.state not in ('approved', 'cancelled'))
  ), first as (
    select row_number() over (order by d.ratio desc, d.value desc, d.id) as rank, d.* from due d
    where d.ratio >= 1 order by 1 limit maximum
  )
  select f.rank::integer, f.id, f.product_id, f.warehouse_id, f.bin_location_id, f.name, f.counted_at,
    f.ratio::double precision, (
      select count(*) from ledger.stock_count n where n.stock_id = f.id and n.difference <> 0
    )::integer
  from first f order by f.rank;
end;
comment on function erp.cycle_counts(uuid, integer, integer, integer, integer) is
  'Returns the stock of a warehouse that is due for a count, by how long it is due. The interval in days '
  'depends on the share of the product in the value of the warehouse: class A, B or C. What was never '
  'counted is due since its first movement. Stock of open stocktakes is left out. Empty without the scope '
  'stocktake_results:read.';
select api_meta.give('erp.cycle_counts(uuid, integer, integer, integer, integer)', 'service_writer');
revoke execute on function erp.cycle_counts(uuid, integer, integer, integer, integer) from public;
grant execute on function erp.cycle_counts(uuid, integer, integer, integer, integer) to service_api;
--! EndIncluded erp/cycle_counts.sql

--! Included api/stocktake_payload.sql
drop type if exists api_unstable.stocktake_payload cascade;
create type api_unstable.stocktake_payload as (stocktake uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.stocktake_payload is 'The result of creating or cancelling a stocktake.';
comment on column api_unstable.stocktake_payload.stocktake is
  E'@entity Stocktake\nThe stocktake as it is now; null when it was refused.';
comment on column api_unstable.stocktake_payload.user_errors is
  'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.stocktake_sheet_payload cascade;
create type api_unstable.stocktake_sheet_payload as (
  stocktake_sheet uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.stocktake_sheet_payload is 'The result of a mutation of a sheet.';
comment on column api_unstable.stocktake_sheet_payload.stocktake_sheet is
  E'@entity StocktakeSheet\nThe sheet as it is now; null when it was refused.';
comment on column api_unstable.stocktake_sheet_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.stocktake_sheet_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
--! EndIncluded api/stocktake_payload.sql
--! Included api/stocktake_create.sql
drop type if exists api_unstable.stocktake_create_input cascade;
create type api_unstable.stocktake_create_input as (
  warehouse_id uuid, bin_location_ids uuid[], product_ids uuid[], batch_ids uuid[], sheets integer,
  lines_per_sheet integer, includes_empty_bins boolean, recount_units integer, recount_percent numeric,
  recount_value numeric, comment text
);
comment on type api_unstable.stocktake_create_input is 'A new stocktake.';
comment on column api_unstable.stocktake_create_input.warehouse_id is
  E'@notNull\n@gid Warehouse\nId of the warehouse.';
comment on column api_unstable.stocktake_create_input.bin_location_ids is
  E'@gid BinLocation\n'
  'Ids of the bins to count, up to 1,000. By default all bins, and what lies outside of bins.';
comment on column api_unstable.stocktake_create_input.product_ids is
  E'@gid Product\nIds of the products to count, up to 1,000. By default all.';
comment on column api_unstable.stocktake_create_input.batch_ids is
  E'@gid Batch\nIds of batches to count, up to 1,000, in addition to the products.';
comment on column api_unstable.stocktake_create_input.sheets is
  'Number of people who count, each with a sheet; 1 to 250. With few places there are fewer sheets. By '
  'default as many as linesPerSheet needs, or one.';
comment on column api_unstable.stocktake_create_input.lines_per_sheet is
  'About how many positions a sheet has. A place is never divided. Has no effect if sheets is given.';
comment on column api_unstable.stocktake_create_input.includes_empty_bins is
  E'@neverNull\nWhether people visit bins that should be empty, too. False when left out.';
comment on column api_unstable.stocktake_create_input.recount_units is
  'A difference of more units needs a second count by another person.';
comment on column api_unstable.stocktake_create_input.recount_percent is
  'A difference of more percent of the expected units needs a second count.';
comment on column api_unstable.stocktake_create_input.recount_value is
  'A difference of more value, in the default currency, needs a second count.';
comment on column api_unstable.stocktake_create_input.comment is 'Free note, of at most 1,000 characters.';

create function api_unstable.stocktake_create(input api_unstable.stocktake_create_input)
returns api_unstable.stocktake_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_stocktake(
    jsonb_populate_record(null::erp.stocktake, to_jsonb(input)), input.bin_location_ids, input.product_ids,
    input.batch_ids, input.sheets, input.lines_per_sheet, coalesce(input.includes_empty_bins, false)
  ), null)::api_unstable.stocktake_payload
$$;
comment on function api_unstable.stocktake_create(api_unstable.stocktake_create_input) is
  E'@requiresScopes stocktake_results:write\n'
  '@userErrors NOT_FOUND INVALID OUT_OF_RANGE TOO_MANY_LINES IN_OTHER_STOCKTAKE\n'
  'Begins a stocktake. Its positions are what lies in its scope now: each product in each place, and each '
  'batch of tracked products; at most 20,000. Sheets divide them by places. Goods may move while people '
  'count.';
--! EndIncluded api/stocktake_create.sql
--! Included api/stocktake_sheet_submit.sql
drop type if exists api_unstable.stocktake_sheet_submit_input cascade;
drop type if exists api_unstable.stocktake_sheet_submit_line_input cascade;
create type api_unstable.stocktake_sheet_submit_line_input as (
  place api_unstable.stock_place_input, product_id uuid, batch_id uuid, quantity integer,
  counted_at timestamptz, is_empty boolean
);
comment on type api_unstable.stocktake_sheet_submit_line_input is 'A count of one person in a place.';
comment on column api_unstable.stocktake_sheet_submit_line_input.place is
  E'@notNull\nThe place, of this sheet or of no sheet.';
comment on column api_unstable.stocktake_sheet_submit_line_input.product_id is
  E'@gid Product\nId of the product. Left out only if isEmpty is true.';
comment on column api_unstable.stocktake_sheet_submit_line_input.batch_id is
  E'@gid Batch\nId of the batch, for products that are kept in batches.';
comment on column api_unstable.stocktake_sheet_submit_line_input.quantity is
  'Units that are there; not negative. Left out only if isEmpty is true.';
comment on column api_unstable.stocktake_sheet_submit_line_input.counted_at is
  'When it was counted, to the microsecond; not before the stocktake. By default now.';
comment on column api_unstable.stocktake_sheet_submit_line_input.is_empty is
  E'@neverNull\n'
  'True says that the place holds nothing, or nothing else than was counted: all its positions without a '
  'count get 0 units. False when left out.';

create type api_unstable.stocktake_sheet_submit_input as (
  sheet_id uuid, counter_name text, lines api_unstable.stocktake_sheet_submit_line_input[],
  is_complete boolean
);
comment on type api_unstable.stocktake_sheet_submit_input is 'Counts of one person on a sheet.';
comment on column api_unstable.stocktake_sheet_submit_input.sheet_id is
  E'@notNull\n@gid StocktakeSheet\nId of the sheet.';
comment on column api_unstable.stocktake_sheet_submit_input.counter_name is
  E'@notNull\nThe person who counted, of at most 255 characters.';
comment on column api_unstable.stocktake_sheet_submit_input.lines is
  'The counts, up to 250. Others follow in other calls.';
comment on column api_unstable.stocktake_sheet_submit_input.is_complete is
  E'@neverNull\nWhether the sheet is complete now, with these counts. False when left out.';

create function api_unstable.stocktake_sheet_submit(input api_unstable.stocktake_sheet_submit_input)
returns api_unstable.stocktake_sheet_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.submit_stocktake_sheet(input.sheet_id, input.counter_name, array(
    select row ((l.place).warehouse_id, (l.place).bin_location_id, l.product_id, l.batch_id, l.quantity,
      coalesce(l.counted_at, n.moment), coalesce(l.is_empty, false))::erp.stocktake_reading
    from unnest(input.lines) with ordinality l cross join (select ledger.moment()) n (moment)
    order by l.ordinality
  ), coalesce(input.is_complete, false)), null, null)::api_unstable.stocktake_sheet_payload
$$;
comment on function api_unstable.stocktake_sheet_submit(api_unstable.stocktake_sheet_submit_input) is
  E'@requiresScopes stocktakes:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE NOT_UNIQUE TOO_MANY_LINES BATCH_REQUIRED '
  'BATCH_MISMATCH PRODUCT_HAS_VARIANTS NOT_ON_SHEET OUT_OF_SCOPE IN_OTHER_STOCKTAKE NOT_COUNTED '
  'NOT_EDITABLE SAME_PERSON INVALID_STATE_TRANSITION\n'
  '@warnings COUNT_SUPERSEDED\n'
  'Takes counts of one person: of lines of the sheet, and of units that nobody expected there. Calls may '
  'arrive late, in any order and more than once: of a position the count with the latest countedAt is '
  'valid, until the sheet is complete.';
--! EndIncluded api/stocktake_sheet_submit.sql
--! Included api/stocktake_recount.sql
drop type if exists api_unstable.stocktake_recount_input cascade;
create type api_unstable.stocktake_recount_input as (id uuid, line_ids uuid[]);
comment on type api_unstable.stocktake_recount_input is 'Positions to count again.';
comment on column api_unstable.stocktake_recount_input.id is
  E'@notNull\n@gid Stocktake\nId of the stocktake.';
comment on column api_unstable.stocktake_recount_input.line_ids is
  E'@gid StocktakeLine\n'
  'Ids of the positions, up to 1,000. By default the first 1,000 that are beyond a bound.';

create function api_unstable.stocktake_recount(input api_unstable.stocktake_recount_input)
returns api_unstable.stocktake_sheet_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.recount_stocktake(input.id, input.line_ids), null, null)
    ::api_unstable.stocktake_sheet_payload
$$;
comment on function api_unstable.stocktake_recount(api_unstable.stocktake_recount_input) is
  E'@requiresScopes stocktake_results:write\n'
  '@userErrors NOT_FOUND INVALID TOO_MANY_LINES INVALID_STATE_TRANSITION\n'
  'Makes a sheet for another count by another person: of differences beyond a bound, or of positions that '
  'the approver does not believe.';
--! EndIncluded api/stocktake_recount.sql
--! Included api/stocktake_approve.sql
drop type if exists api_unstable.stocktake_approve_payload cascade;
create type api_unstable.stocktake_approve_payload as (
  stocktake uuid, approved_count integer, remaining_count integer, user_errors api_unstable.user_error[],
  warnings api_unstable.warning[]
);
comment on type api_unstable.stocktake_approve_payload is 'The result of approving positions.';
comment on column api_unstable.stocktake_approve_payload.stocktake is
  E'@entity Stocktake\nThe stocktake as it is now; null when it was refused.';
comment on column api_unstable.stocktake_approve_payload.approved_count is
  'Positions that this call booked.';
comment on column api_unstable.stocktake_approve_payload.remaining_count is
  'Positions of the stocktake that are not approved yet. If there are any, call again.';
comment on column api_unstable.stocktake_approve_payload.user_errors is
  'Why nothing was booked; empty when all was.';
comment on column api_unstable.stocktake_approve_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.stocktake_approve_input cascade;
create type api_unstable.stocktake_approve_input as (
  id uuid, line_ids uuid[], reason text, comment text, approver_name text
);
comment on type api_unstable.stocktake_approve_input is 'Positions to approve.';
comment on column api_unstable.stocktake_approve_input.id is
  E'@notNull\n@gid Stocktake\nId of the stocktake.';
comment on column api_unstable.stocktake_approve_input.line_ids is
  E'@gid StocktakeLine\n'
  'Ids of counted positions, up to 1,000. By default the first 1,000 of the stocktake, whose sheets must all '
  'be complete then.';
comment on column api_unstable.stocktake_approve_input.reason is
  'Code of one of stockBookingReasons, for the differences. The merchant may require a reason.';
comment on column api_unstable.stocktake_approve_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';
comment on column api_unstable.stocktake_approve_input.approver_name is
  'The person who approves. Refused if a person of this name counted one of the positions.';

create function api_unstable.stocktake_approve(input api_unstable.stocktake_approve_input)
returns api_unstable.stocktake_approve_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, a.approved_count, a.remaining_count, null, null)
    ::api_unstable.stocktake_approve_payload
  from erp.approve_stocktake(input.id, input.line_ids, input.reason, input.comment, input.approver_name) a
$$;
comment on function api_unstable.stocktake_approve(api_unstable.stocktake_approve_input) is
  E'@requiresScopes stocktake_results:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE TOO_MANY_LINES NOT_COUNTED RECOUNT_REQUIRED '
  'SELF_APPROVAL INSUFFICIENT_STOCK SERIAL_NUMBER_IN_STOCK BATCH_REQUIRED PRODUCT_HAS_VARIANTS '
  'INVALID_STATE_TRANSITION\n'
  '@warnings COUNT_SUPERSEDED STOCK_PROMISED\n'
  'Approves counts and books them by the process stocktaking, as stockSet with countedAt does: the stock '
  'becomes the count and what moved since. The reference of the bookings is the number of the stocktake. A '
  'credential or person that counted a position cannot approve it.';
--! EndIncluded api/stocktake_approve.sql
--! Included api/stocktake_cancel.sql
drop type if exists api_unstable.stocktake_cancel_input cascade;
create type api_unstable.stocktake_cancel_input as (id uuid);
comment on type api_unstable.stocktake_cancel_input is 'A stocktake to cancel.';
comment on column api_unstable.stocktake_cancel_input.id is
  E'@notNull\n@gid Stocktake\nId of the stocktake.';

create function api_unstable.stocktake_cancel(input api_unstable.stocktake_cancel_input)
returns api_unstable.stocktake_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.cancel_stocktake(input.id), null)::api_unstable.stocktake_payload
$$;
comment on function api_unstable.stocktake_cancel(api_unstable.stocktake_cancel_input) is
  E'@requiresScopes stocktake_results:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION\n'
  'Cancels a stocktake. Positions that were approved stay booked, all others are dropped.';
--! EndIncluded api/stocktake_cancel.sql
--! Included api/cycle_count_proposals.sql
-- Has no rows by itself: api_unstable.propose_cycle_counts fills it for a warehouse
create view api_unstable.cycle_count_proposals with (security_invoker = true) as
select 0 as rank, l.id as stock_id, l.stocktake_id as product_id, null::uuid as warehouse_id,
  null::uuid as bin_location_id, l.state as value_class,
  l.counted_at as last_counted_at, 0::double precision as due_ratio, 0 as difference_count
from erp.stocktake_line l where false;
comment on view api_unstable.cycle_count_proposals is $$
@primaryKey rank,stock_id
@gid stock_id Stock
@requiresScopes stocktake_results:read
@behavior -query:resource:connection -node
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse
@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation
Stock that is due for a count.$$;
comment on column api_unstable.cycle_count_proposals.rank is E'@notNull\nThe place in the list, from 1.';
comment on column api_unstable.cycle_count_proposals.stock_id is 'The stock.';
comment on column api_unstable.cycle_count_proposals.product_id is E'@notNull\nThe product.';
comment on column api_unstable.cycle_count_proposals.warehouse_id is
  'The warehouse, for what lies outside of its bins.';
comment on column api_unstable.cycle_count_proposals.bin_location_id is 'The bin.';
comment on column api_unstable.cycle_count_proposals.value_class is
  E'@notNull\nA for the products that make 80 percent of the value in the warehouse, B for the next 15, C '
  'for the others.';
comment on column api_unstable.cycle_count_proposals.last_counted_at is
  'When it was counted last; null if never.';
comment on column api_unstable.cycle_count_proposals.due_ratio is
  E'@notNull\nDays since the last count, divided by the days that the class allows. At least 1.';
comment on column api_unstable.cycle_count_proposals.difference_count is
  E'@notNull\nCounts so far that found a difference.';
--! EndIncluded api/cycle_count_proposals.sql
--! Included api/propose_cycle_counts.sql
create function api_unstable.propose_cycle_counts(
  warehouse_id uuid, days_of_a integer default 30, days_of_b integer default 90,
  days_of_c integer default 365
) returns setof api_unstable.cycle_count_proposals language sql stable
begin atomic
  select c.rank, c.stock_id, c.product_id, c.place_warehouse_id, c.bin_location_id, c.value_class,
    c.last_counted_at, c.due_ratio, c.difference_count
  from erp.cycle_counts(propose_cycle_counts.warehouse_id, greatest(days_of_a, 1), greatest(days_of_b, 1),
    greatest(days_of_c, 1), 1000) c;
end;
comment on function api_unstable.propose_cycle_counts(uuid, integer, integer, integer) is $$
@fieldName cycleCountProposals
@noFilter
@gid warehouse_id Warehouse
@describe warehouse_id The warehouse.
@describe days_of_a Days after which stock of class A is due again.
@describe days_of_b The same for class B.
@describe days_of_c The same for class C.
Stock of a warehouse that is due for a count, the most urgent first, at most 1,000. It depends on the value of
the product and on the last count. Stock that an open stocktake counts is left out.$$;
--! EndIncluded api/propose_cycle_counts.sql

--! Included events/topics.sql
-- Subjects and topics of events. Everything else is derived from them: the triggers that write events
-- (events.derive_announcements), the scopes to read them, and their JSON schemas (events.schema).
-- Fields are columns, in the API's spelling; after a colon comes the type that an id belongs to. Columns that
-- change with everything, or that give access to something (a document's code), are omitted or don't count.
-- Other schemas declare subjects of their own, so a migration has to remove a subject that is no longer here.
merge into events.subject s
using (values
  ('Order', 'erp.sales_order', 'orders', 'id'),
  ('FulfillmentOrder', 'erp.fulfillment_order', 'fulfillment_orders', 'id'),
  ('Fulfillment', 'erp.fulfillment', 'fulfillments', 'id'),
  ('StockMovement', 'ledger.stock_movement', 'stock_movements', 'product_id'),
  ('Stock', 'ledger.stock', 'stocks', 'product_id'),
  ('Product', 'erp.product', 'products', 'id'),
  ('GoodsReceipt', 'erp.goods_receipt', 'goods_receipts', 'id'),
  ('SupplierOrder', 'erp.supplier_order', 'supplier_orders', 'id'),
  ('ReturnOrder', 'erp.return_order', 'return_orders', 'id'),
  ('Batch', 'erp.batch', 'batches', 'id'),
  ('Customer', 'erp.customer', 'customers', 'id'),
  ('Document', 'erp.document', 'documents', 'id'),
  ('ShippingLabel', 'erp.shipping_label', 'shipping_labels', 'id'),
  ('WebhookSubscription', 'events.webhook_subscription', 'webhook_subscriptions', 'id'),
  ('BulkOperation', 'bulk.operation', 'bulk_operations', 'id'),
  ('StockValuationReport', 'valuation.report', 'stock_valuation_reports', 'id'),
  ('Stocktake', 'erp.stocktake', 'stocktakes', 'id'),
  ('StockValuationHead', 'valuation.head', 'stock_valuation_heads', 'id'),
  ('StockReservation', 'erp.stock_reservation', 'stock_reservations', 'product_id')
) d (type, relation, view_name, entity_column) on s.type = d.type
when matched then update
set relation = d.relation::regclass, view_name = d.view_name, entity_column = d.entity_column
when not matched
  then insert (type, relation, view_name, entity_column) values (
    d.type, d.relation::regclass, d.view_name, d.entity_column
  );

with d as (
  select d.type, n.name, w.position, split_part(w.word, ':', 1) as column_name,
    nullif(split_part(w.word, ':', 2), '') as id_of
  from (values
    ('Order',
      'id:Order order_number order_date_time state delivery_state payment_state amount_net amount_total
      tracking_codes storefront_id currency_id:Currency sales_channel_id:SalesChannel customer_id:Customer
      buyer_reference purchase_order_number due_date paid_amount exchange_rate exchange_rate_date
      exchange_rate_source created_at updated_at'),
    ('FulfillmentOrder',
      'id:FulfillmentOrder number type state is_partially_fulfilled hold_comment destination_order_id:Order
      source_warehouse_location_id:Location external_location_name shipping_method_id:ShippingMethod
      shipping_method_name shipping_address storefront_id created_at updated_at'),
    ('Fulfillment',
      'id:Fulfillment number state storefront_id created_at'),
    ('StockMovement',
      'id:StockMovement product_id:Product quantity process_type_technical_name comment
      source_location_type_technical_name source_warehouse_id:Warehouse source_bin_location_id:BinLocation
      source_order_id:Order source_return_order_id:ReturnOrder source_goods_receipt_id:GoodsReceipt
      source_stock_container_id:StockContainer source_special_stock_location_technical_name
      destination_location_type_technical_name destination_warehouse_id:Warehouse
      destination_bin_location_id:BinLocation destination_order_id:Order
      destination_return_order_id:ReturnOrder destination_goods_receipt_id:GoodsReceipt
      destination_stock_container_id:StockContainer destination_special_stock_location_technical_name
      created_at'),
    ('Stock',
      'id:Stock product_id:Product quantity location_type_technical_name warehouse_id:Warehouse
      bin_location_id:BinLocation order_id:Order return_order_id:ReturnOrder goods_receipt_id:GoodsReceipt
      stock_container_id:StockContainer created_at updated_at'),
    ('Product',
      'id:Product product_number parent_id:Product canonical_product_id:Product name description gtin
      manufacturer_number unit_code physical_stock stock_not_available_for_sale reserved_stock available_stock
      open_supplier_order_quantity last_supplier_order_at reorder_point target_maximum_quantity
      storefront_variants'),
    ('GoodsReceipt',
      'id:GoodsReceipt number type state goods_receipt_date_time warehouse_id:Warehouse
      supplier_id:Supplier customer_id:Customer user_id:User currency_id:Currency currency_factor
      currency_factor_origin_type currency_factor_origin_source currency_factor_reference_date
      currency_factor_captured_at tax_status amount_net amount_total position_price comment'),
    ('SupplierOrder',
      'id:SupplierOrder number supplier_order_number state payment_state supplier_id:Supplier
      warehouse_id:Warehouse currency_id:Currency amount_net amount_total position_price tax_status
      order_date_time due_date delivery_date actual_delivery_date comment created_at updated_at'),
    ('ReturnOrder',
      'id:ReturnOrder number state order_id:Order customer_id:Customer reference comment withdrawal_date
      requested_at closed_at refusal_reason replacement_order_id:Order refund_amount refunded_at created_at
      updated_at'),
    ('Batch',
      'id:Batch product_id:Product number comment best_before_date production_date supplier_lot
      physical_stock is_held held_at hold_reason stock_state is_expired'),
    ('Customer',
      'id:Customer customer_number account_type email first_name last_name title company vat_ids active
      guest group_id:CustomerGroup sales_channel_id:SalesChannel bound_sales_channel_id:SalesChannel
      requested_group_id:CustomerGroup default_payment_method_id:PaymentMethod salutation_id:Salutation
      invoice_form buyer_reference electronic_address electronic_address_scheme registration_id
      storefront_id created_at updated_at'),
    ('Document',
      'id:Document document_number static sent document_type_id:DocumentType order_id:Order
      referenced_document_id:Document'),
    ('ShippingLabel',
      'id:ShippingLabel state type carrier_technical_name carrier_name tracking_codes tracking_url
      document_url weight_in_grams fulfillment_order_id:FulfillmentOrder order_id:Order cancelled_at
      created_at updated_at'),
    ('WebhookSubscription',
      'id:WebhookSubscription topic api_version created_at'),
    ('BulkOperation',
      'id:BulkOperation kind state resource row_count done_count created_count updated_count refused_count
      error_code error_message created_at started_at finished_at'),
    ('StockValuationReport',
      'id:StockValuationReport number reference_date sequence method currency_code quantity value hash
      previous_hash lines_hash state_hash closed_at voided_at void_reason'),
    ('Stocktake',
      'id:Stocktake number state warehouse_id:Warehouse counts_all_bins counts_all_products recount_units
      recount_percent recount_value comment created_at reviewed_at approved_at cancelled_at'),
    ('StockValuationHead',
      'id:StockValuationHead day report_number report_hash previous_hash
      signing_key_id:StockValuationSigningKey signature signed_at'),
    ('StockReservation',
      'id:StockReservation product_id:Product warehouse_id:Warehouse bin_location_id:BinLocation
      batch_id:Batch order_line_item_id:OrderLineItem quantity open_quantity state expires_at reference note
      created_at updated_at')
  ) d (type, fields)
  cross join lateral regexp_split_to_table(d.fields, '\s+') with ordinality w (word, position)
  cross join lateral (
    select lower(left(c.camel, 1)) || substr(c.camel, 2)
    from (select replace(initcap(replace(split_part(w.word, ':', 1), '_', ' ')), ' ', '')) c (camel)
  ) n (name)
)
merge into events.field f
using d on f.subject_type = d.type and f.name = d.name
when matched then update set position = d.position, column_name = d.column_name, id_of = d.id_of
when not matched
  then insert (subject_type, name, position, column_name, id_of) values (
    d.type, d.name, d.position, d.column_name, d.id_of
  )
when not matched by source and f.subject_type in (select type from d) then delete;

with d as (
  select d.*, scope from (values
    ('order.created', 'Order', 'An order was created.', null::text[]),
    ('order.updated', 'Order', 'An order was changed.', null),
    (
      'order.state_changed', 'Order', 'The state of an order, of its delivery or of its payment was changed.',
      null
    ),
    ('fulfillment_order.created', 'FulfillmentOrder', 'A fulfillment order was created.', null),
    ('fulfillment_order.held', 'FulfillmentOrder', 'A fulfillment order was put on hold.', null),
    ('fulfillment_order.released', 'FulfillmentOrder', 'A fulfillment order is no longer on hold.', null),
    ('fulfillment_order.closed', 'FulfillmentOrder', 'A fulfillment order was fulfilled completely.', null),
    ('fulfillment_order.cancelled', 'FulfillmentOrder', 'A fulfillment order was cancelled.', null),
    ('fulfillment_order.moved', 'FulfillmentOrder', 'Another location ships a fulfillment order now.', null),
    (
      'fulfillment_order.divided', 'FulfillmentOrder',
      'Units of a fulfillment order were put into others.', null
    ),
    ('fulfillment.created', 'Fulfillment', 'Something was shipped.', null),
    ('fulfillment.cancelled', 'Fulfillment', 'A fulfillment was cancelled.', null),
    ('stock_movement.created', 'StockMovement', 'Stock was moved.', null),
    (
      'stock.changed', 'Stock', 'The quantity of a product changed in a place that is not special.', null
    ),
    ('product.created', 'Product', 'A product was created.', null),
    (
      'product.updated', 'Product',
      'A product or a figure of its stock was changed.', null
    ),
    ('product.deleted', 'Product', 'A product was deleted.', '{id,productNumber}'),
    ('goods_receipt.created', 'GoodsReceipt', 'A goods receipt was created.', null),
    ('goods_receipt.approved', 'GoodsReceipt', 'A goods receipt was approved: the goods are there.', null),
    (
      'goods_receipt.completed', 'GoodsReceipt',
      'A goods receipt was completed: the goods have been put away.', null
    ),
    ('goods_receipt.deleted', 'GoodsReceipt', 'A goods receipt was deleted.', '{id,number}'),
    ('supplier_order.created', 'SupplierOrder', 'An order to a supplier was created.', null),
    ('supplier_order.sent', 'SupplierOrder', 'An order was sent to its supplier.', null),
    ('supplier_order.confirmed', 'SupplierOrder', 'A supplier confirmed an order.', null),
    (
      'supplier_order.delivered', 'SupplierOrder', 'Everything of an order to a supplier has been received.',
      null
    ),
    (
      'supplier_order.reopened', 'SupplierOrder',
      'A correction took back part of a delivered order: it waits for goods again.', null
    ),
    ('supplier_order.completed', 'SupplierOrder', 'An order to a supplier was completed.', null),
    ('supplier_order.cancelled', 'SupplierOrder', 'An order to a supplier was cancelled.', null),
    ('return_order.created', 'ReturnOrder', 'A return was created.', null),
    ('return_order.approved', 'ReturnOrder', 'A return was approved.', null),
    ('return_order.refused', 'ReturnOrder', 'A return was refused.', null),
    ('return_order.cancelled', 'ReturnOrder', 'A return was cancelled.', null),
    (
      'return_order.received', 'ReturnOrder', 'Goods of a return arrived, not necessarily all of them.', null
    ),
    ('return_order.closed', 'ReturnOrder', 'A return was closed.', null),
    ('return_order.refunded', 'ReturnOrder', 'A refund was recorded for a return.', null),
    ('batch.created', 'Batch', 'A batch was created.', null),
    ('batch.updated', 'Batch', 'A batch or its stock was changed.', null),
    ('customer.created', 'Customer', 'A customer was created.', null),
    ('customer.updated', 'Customer', 'A customer was changed.', null),
    ('customer.deleted', 'Customer', 'A customer was deleted.', '{id,customerNumber}'),
    ('document.created', 'Document', 'A document of an order was created.', null),
    ('shipping_label.created', 'ShippingLabel', 'A shipping label was bought.', null),
    ('shipping_label.cancelled', 'ShippingLabel', 'A shipping label was cancelled.', null),
    (
      'bulk_operation.finished', 'BulkOperation',
      'A bulk operation has ended: it is completed, has failed or was cancelled.', null
    ),
    (
      'stock_valuation_report.closed', 'StockValuationReport', 'A stock valuation report was closed.', null
    ),
    (
      'stock_valuation_report.voided', 'StockValuationReport',
      'The newest stock valuation report was declared void: its period is open again.', null
    ),
    ('stocktake.created', 'Stocktake', 'A stocktake was created.', null),
    ('stocktake.reviewed', 'Stocktake', 'All sheets of a stocktake are complete: its review begins.', null),
    ('stocktake.approved', 'Stocktake', 'All positions of a stocktake are approved and booked.', null),
    ('stocktake.cancelled', 'Stocktake', 'A stocktake was cancelled.', null),
    (
      'stock_valuation_head.signed', 'StockValuationHead',
      'The head of the chain of stock valuation reports was signed for a day.', null
    ),
    ('stock_reservation.created', 'StockReservation', 'Units were reserved.', null),
    (
      'stock_reservation.updated', 'StockReservation',
      'A reservation was changed: for example, some of its units were consumed.', null
    ),
    (
      'stock_reservation.consumed', 'StockReservation',
      'Fulfillment orders have got all units of a reservation.', null
    ),
    ('stock_reservation.released', 'StockReservation', 'A reservation was released.', null),
    ('stock_reservation.expired', 'StockReservation', 'The time of a reservation is over.', null),
    (
      'webhook_subscription.test', 'WebhookSubscription',
      'A test whether deliveries arrive. It is not in the log, and has no sequence.', null
    )
  ) d (name, subject_type, description, fields)
  join events.subject s on s.type = d.subject_type
  -- A scope is declared on the view and nowhere else
  cross join lateral api_meta.view_tag(
    format('api_unstable.%I', s.view_name)::regclass, 'requiresScopes'
  ) scope
)
merge into events.topic t
using d on t.name = d.name
when matched then update
set subject_type = d.subject_type, description = d.description, fields = d.fields, scope = d.scope,
  subscribable = d.name <> 'webhook_subscription.test'
when not matched then insert (name, subject_type, description, fields, scope, subscribable)
  values (d.name, d.subject_type, d.description, d.fields, d.scope, d.name <> 'webhook_subscription.test')
when not matched by source and t.subject_type in (select subject_type from d) then delete;

with d (topic, operation, columns, condition) as (values
  ('order.created', 'insert', null::text[], null),
  ('order.updated', 'update', null, null),
  ('order.state_changed', 'update', '{state,delivery_state,payment_state}', null),
  ('fulfillment_order.created', 'insert', null, null),
  ('fulfillment_order.held', 'update', '{state}', $$n.state = 'OnHold'$$),
  ('fulfillment_order.released', 'update', '{state}',
    $$o.state = 'OnHold' and n.state in ('Open', 'InProgress')$$),
  ('fulfillment_order.closed', 'update', '{state}', $$n.state = 'Closed'$$),
  ('fulfillment_order.cancelled', 'update', '{state}', $$n.state = 'Cancelled'$$),
  ('fulfillment_order.moved', 'update', '{source_warehouse_location_id}', null),
  ('fulfillment_order.divided', 'update', '{division_count}', null),
  ('fulfillment.created', 'insert', null, null),
  ('fulfillment.cancelled', 'update', '{state}', $$n.state = 'Cancelled'$$),
  ('stock_movement.created', 'insert', null, null),
  ('stock_reservation.created', 'insert', null, null),
  ('stock_reservation.updated', 'update', null, null),
  ('stock_reservation.consumed', 'update', '{state}', $$n.state = 'consumed'$$),
  ('stock_reservation.released', 'update', '{state}', $$n.state = 'released'$$),
  ('stock_reservation.expired', 'update', '{state}', $$n.state = 'expired'$$),
  ('stock.changed', 'insert', null, 'n.quantity <> 0 and n.special_stock_location_technical_name is null'),
  ('stock.changed', 'update', '{quantity}', 'n.special_stock_location_technical_name is null'),
  ('product.created', 'insert', null, null),
  ('product.updated', 'update', null, null),
  ('product.deleted', 'delete', null, null),
  ('goods_receipt.created', 'insert', null, null),
  ('goods_receipt.approved', 'update', '{state}', $$n.state = 'approved'$$),
  ('goods_receipt.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('goods_receipt.deleted', 'delete', null, null),
  ('supplier_order.created', 'insert', null, null),
  ('supplier_order.sent', 'update', '{state}', $$n.state = 'sent'$$),
  ('supplier_order.confirmed', 'update', '{state}',
    $$n.state = 'confirmed' and o.state in ('open', 'sent')$$),
  ('supplier_order.delivered', 'update', '{state}', $$n.state = 'delivered'$$),
  ('supplier_order.reopened', 'update', '{state}',
    $$o.state = 'delivered' and n.state in ('partially_delivered', 'confirmed')$$),
  ('supplier_order.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('supplier_order.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('return_order.created', 'insert', null, null),
  ('return_order.approved', 'update', '{state}',
    $$n.state = 'approved' and o.state in ('requested', 'open')$$),
  ('return_order.refused', 'update', '{state}', $$n.state = 'refused'$$),
  ('return_order.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('return_order.received', 'update', '{state}', $$n.state in ('received_partially', 'received')$$),
  ('return_order.closed', 'update', '{state}', $$n.state = 'closed'$$),
  ('return_order.refunded', 'update', '{refund_amount}', null),
  ('stocktake.created', 'insert', null, null),
  ('stocktake.reviewed', 'update', '{state}', $$n.state = 'review'$$),
  ('stocktake.approved', 'update', '{state}', $$n.state = 'approved'$$),
  ('stocktake.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('batch.created', 'insert', null, null),
  ('batch.updated', 'update', null, null),
  ('customer.created', 'insert', null, null),
  ('customer.updated', 'update', null, null),
  ('customer.deleted', 'delete', null, null),
  ('document.created', 'insert', null, null),
  ('shipping_label.created', 'insert', null, $$n.state = 'created'$$),
  ('shipping_label.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('bulk_operation.finished', 'update', '{state}', $$n.state in ('completed', 'failed', 'cancelled')$$),
  ('stock_valuation_report.closed', 'update', '{closed_at}', 'n.closed_at is not null'),
  ('stock_valuation_report.voided', 'update', '{voided_at}', 'n.voided_at is not null'),
  ('stock_valuation_head.signed', 'insert', null, null)
)
merge into events.occasion o
using d on o.topic = d.topic and o.operation = d.operation
when matched then update set columns = d.columns, condition = d.condition
when not matched
  then insert (topic, operation, columns, condition) values (d.topic, d.operation, d.columns, d.condition)
when not matched by source and o.topic in (select topic from d) then delete;
--! EndIncluded events/topics.sql
--! Included ledger/stocktake_proof.sql
-- Figures of stocktakes beside what their counts and movements say. Empty while they are right.
create or replace view ledger.stocktake_proof with (security_invoker = true) as
with figures (figure, id, stored, expected) as (
  -- The movement of a position has the units that were booked for it
  select 'stocktake_line.booked_difference', l.id::text,
    concat_ws(' ', l.booked_difference, l.difference, s.number),
    concat_ws(' ', coalesce(f.quantity, 0), coalesce(f.quantity, 0), coalesce(b.reference, s.number))
  from erp.stocktake_line l join erp.stocktake s on s.id = l.stocktake_id
  left join ledger.flow f
    on f.movement_id = l.stock_movement_id and f.location_type_technical_name <> 'special_stock_location'
  left join ledger.stock_movement m on m.id = l.stock_movement_id
  left join ledger.booking b on b.id = m.booking_id
  where l.state = 'approved' and l.booked_difference is not null
  union all
  -- A position has the count of its newest sheet, once that is counted
  select 'stocktake_line.counted_quantity', l.id::text, concat_ws(' ', l.counted_quantity, l.counted_at),
    concat_ws(' ', c.quantity, c.counted_at)
  from erp.stocktake_line l
  cross join lateral (
    select c.* from erp.stocktake_count c join erp.stocktake_sheet s on s.id = c.sheet_id
    where c.line_id = l.id order by s.number desc limit 1
  ) c
  where c.quantity is not null
  union all
  select 'stocktake_line.round', l.id::text, l.round::text, count(c.id)::text
  from erp.stocktake_line l left join erp.stocktake_count c on c.line_id = l.id group by l.id
  union all
  select 'stocktake_count.position', c.id::text, concat_ws(' ', c.place, c.product_id, c.batch_id, c.number),
    concat_ws(' ', l.place, l.product_id, l.batch_id, l.number)
  from erp.stocktake_count c join erp.stocktake_line l on l.id = c.line_id
)
select figure, id, stored collate "default" as stored, expected collate "default" as expected
from figures where stored is distinct from expected;
comment on view ledger.stocktake_proof is
  'Figures of stocktakes that differ from their counts and movements. Part of ledger.proof.';
--! EndIncluded ledger/stocktake_proof.sql
--! Included ledger/proof.sql
-- Each stored figure beside the one that the ledger and the documents give. Empty while the ledger is right.
create or replace view ledger.proof with (security_invoker = true) as
with
balance
  as (
    select product_id, place, sum(quantity) as quantity
    from ledger.flow
    where place is not null
    group by product_id, place
  ),
building as (
  select id::text as place, id as warehouse_id, true as is_sellable from erp.warehouse
  union all select id::text, warehouse_id, stock_state = 'sellable' from erp.bin_location
),
held as (
  select b.product_id, p.warehouse_id, sum(b.quantity) as quantity
  from balance b join building p using (place) group by b.product_id, p.warehouse_id
),
-- In bins that are not sellable, and of batches that are held or have expired elsewhere: each unit once
on_hold as (
  select u.product_id, u.warehouse_id, sum(u.quantity) as quantity
  from (
    select b.product_id, p.warehouse_id, b.quantity
    from balance b join building p using (place) where not p.is_sellable
    union all
    select t.product_id, p.warehouse_id, f.direction * b.quantity
    from erp.batch t join ledger.stock_movement_batch b on b.batch_id = t.id
    join ledger.flow f on f.movement_id = b.stock_movement_id join building p on p.place = f.place
    where (t.is_held or t.is_expired) and p.is_sellable
  ) u
  group by u.product_id, u.warehouse_id
),
physical as (
  select h.product_id, sum(h.quantity) as quantity,
    sum(case when w.is_stock_available_for_sale then coalesce(b.quantity, 0) else h.quantity end)
      as not_for_sale
  from held h join erp.warehouse w on w.id = h.warehouse_id
  left join on_hold b on b.product_id = h.product_id and b.warehouse_id = h.warehouse_id
  group by h.product_id
),
-- A reservation for an order line is part of what the order has reserved
reserved as (
  select x.product_id, sum(x.quantity) as quantity
  from (
    select l.product_id, l.quantity - l.shipped_quantity as quantity
    from erp.sales_order_line_item l join erp.sales_order o on o.id = l.order_id
    where o.state in ('open', 'in_progress') and l.product_id is not null
    union all
    select r.product_id, r.open_quantity from erp.stock_reservation r where r.order_line_item_id is null
  ) x group by x.product_id
),
promised as (
  select x.product_id, x.warehouse_id, sum(x.quantity) as quantity
  from (
    select l.product_id, w.warehouse_id, l.quantity - l.fulfilled_quantity as quantity
    from erp.fulfillment_order_line_item l
    join erp.fulfillment_order f on f.id = l.fulfillment_order_id
      and f.state in ('Open', 'InProgress', 'OnHold')
    join erp.location w on w.id = f.source_warehouse_location_id
    where l.product_id is not null and w.warehouse_id is not null
    union all
    select r.product_id, r.warehouse_id, r.open_quantity from erp.stock_reservation r
    where r.open_quantity > 0
  ) x group by x.product_id, x.warehouse_id
),
ordered as (
  select l.product_id,
    coalesce(
      sum(l.open_quantity) filter (where o.state in ('open', 'sent', 'confirmed', 'partially_delivered')), 0
    ) as quantity,
    max(o.order_date_time) as last_at
  from erp.supplier_order_line_item l join erp.supplier_order o on o.id = l.supplier_order_id
  where l.product_id is not null group by l.product_id
),
batch_flow as (
  select b.batch_id, s.id as stock_id, f.location_type_technical_name in ('warehouse', 'bin_location')
    and f.place is not null as is_held, f.direction * b.quantity as quantity
  from ledger.stock_movement_batch b join ledger.flow f on f.movement_id = b.stock_movement_id
  left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  where f.location_type_technical_name <> 'special_stock_location'
),
batch_in_place
  as (
    select stock_id, batch_id, sum(quantity) as quantity
    from batch_flow
    where stock_id is not null
    group by stock_id, batch_id
  ),
batch_held as (select batch_id, sum(quantity) as quantity from batch_flow where is_held group by batch_id),
-- The count that stands, of each stock that was counted and of each batch of it
latest_count as (
  select distinct on (c.stock_id, c.batch_id)
    c.stock_id, c.batch_id, c.id, c.quantity, c.counted_at, s.product_id, s.place
  from ledger.stock_count c join ledger.stock s on s.id = c.stock_id
  where c.difference is not null
  order by c.stock_id, c.batch_id, c.counted_at desc, c.id desc
),
moved_since_count as (
  select l.stock_id, l.batch_id,
    sum(case when l.batch_id is null then f.quantity else f.direction * b.quantity end) as quantity
  from latest_count l
  join ledger.flow f on f.product_id = l.product_id and f.place = l.place
    and f.booked_at > l.counted_at and not f.is_count
  left join ledger.stock_movement_batch b on b.stock_movement_id = f.movement_id and b.batch_id = l.batch_id
  group by l.stock_id, l.batch_id
),
batch_counted_since as (
  select l.stock_id, sum(c.difference) as quantity
  from latest_count l
  join ledger.stock_count c on c.stock_id = l.stock_id
    and (c.counted_at, c.id) > (l.counted_at, l.id) and c.batch_id is not null
  where l.batch_id is null group by l.stock_id
),
received as (
  select l.supplier_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.goods_receipt_line_item l join erp.goods_receipt r on r.id = l.goods_receipt_id
  where r.state = 'completed' and l.supplier_order_line_item_id is not null
  group by l.supplier_order_line_item_id
),
fulfilled as (
  select l.fulfillment_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.fulfillment_line_item l join erp.fulfillment f on f.id = l.fulfillment_id
  where f.state = 'Fulfilled' group by l.fulfillment_order_line_item_id
),
shipped as (
  select l.destination_order_line_item_id as id, sum(l.fulfilled_quantity) as quantity
  from erp.fulfillment_order_line_item l
  where l.destination_order_line_item_id is not null
  group by l.destination_order_line_item_id
),
invoiced as (
  select l.order_line_item_id as id, sum(l.quantity) as quantity
  from erp.invoice_line_item l join erp.invoice i on i.document_id = l.document_id
  where i.cancellation_id is null group by l.order_line_item_id
),
due_code as (
  select o.id as order_id, c.code from erp.sales_order o cross join unnest(o.entered_tracking_codes) c (code)
  union
  select l.order_id, c.code
  from erp.shipping_label l
  cross join jsonb_array_elements_text(l.tracking_codes) c (code)
  where l.state = 'created' and l.type = 'outgoing' and l.order_id is not null
),
figures (figure, id, stored, expected) as (
  select 'stock.quantity', coalesce(s.product_id, b.product_id) || ' ' || coalesce(s.place, b.place),
    coalesce(s.quantity, 0)::text, coalesce(b.quantity, 0)::text
    from ledger.stock s full join balance b on b.product_id = s.product_id and b.place = s.place
  union all select 'product.physical_stock', p.id::text, p.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.stock_not_available_for_sale', p.id::text, p.stock_not_available_for_sale::text,
    coalesce(x.not_for_sale, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.reserved_stock', p.id::text, p.reserved_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join reserved x on x.product_id = p.id
  union all select 'product.open_supplier_order_quantity', p.id::text, p.open_supplier_order_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'product.last_supplier_order_at', p.id::text, p.last_supplier_order_at::text,
    x.last_at::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'batch.physical_stock', b.id::text, b.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.batch b left join batch_held x on x.batch_id = b.id
  union all select 'batch_stock.quantity',
    coalesce(s.stock_id, x.stock_id) || ' ' || coalesce(s.batch_id, x.batch_id),
    coalesce(s.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.batch_stock s
    full join batch_in_place x on x.stock_id = s.stock_id and x.batch_id = s.batch_id
  union all select 'batch_stock.sum', s.id::text, sum(b.quantity)::text, 'at most ' || s.quantity
    from ledger.stock s
    join ledger.batch_stock b on b.stock_id = s.id
    group by s.id
    having sum(b.quantity) > s.quantity
  union all select 'batch_stock.serial_number', b.batch_id::text, sum(b.quantity)::text, 'at most 1'
    from erp.product p join ledger.stock s on s.product_id = p.id
      and s.location_type_technical_name in ('warehouse', 'bin_location', 'stock_container', 'goods_receipt')
    join ledger.batch_stock b on b.stock_id = s.id
    where p.has_serial_numbers
    group by b.batch_id
    having sum(b.quantity) > 1
  union all select 'stock.counted', s.id::text, s.quantity::text,
      (l.quantity + coalesce(m.quantity, 0) + coalesce(b.quantity, 0))::text
    from latest_count l join ledger.stock s on s.id = l.stock_id
    left join moved_since_count m on m.stock_id = l.stock_id and m.batch_id is null
    left join batch_counted_since b on b.stock_id = l.stock_id
    where l.batch_id is null
  union all select 'batch_stock.counted', l.stock_id || ' ' || l.batch_id,
      coalesce(s.quantity, 0)::text, (l.quantity + coalesce(m.quantity, 0))::text
    from latest_count l left join ledger.batch_stock s on s.stock_id = l.stock_id and s.batch_id = l.batch_id
    left join moved_since_count m on m.stock_id = l.stock_id and m.batch_id = l.batch_id
    where l.batch_id is not null
  union all select 'warehouse_stock.quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join held x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'warehouse_stock.reserved_quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.reserved_quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join promised x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'warehouse_stock.held_quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.held_quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join on_hold x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'warehouse_stock.safety_stock',
    coalesce(w.product_id, c.product_id) || ' ' || coalesce(w.warehouse_id, c.warehouse_id),
    coalesce(w.safety_stock, 0)::text, coalesce(c.safety_stock, 0)::text
    from ledger.warehouse_stock w
    full join erp.product_warehouse_configuration c
      on c.product_id = w.product_id and c.warehouse_id = w.warehouse_id
  union all select 'product.safety_stock', p.id::text, p.safety_stock::text, coalesce((
      select sum(c.safety_stock) from erp.product_warehouse_configuration c
      join erp.warehouse w on w.id = c.warehouse_id and w.is_stock_available_for_sale
      where c.product_id = p.id), 0)::text
    from erp.product p
  -- A batch that has expired today, or a time zone that was changed, is found within the hour
  union all select 'batch.is_expired', b.id::text, 'true', coalesce(b.best_before_date::text, 'no date')
    from erp.batch b
    where b.is_expired and coalesce(b.best_before_date > erp.local_date(now()) + 1, true)
  -- No unit of an order line is promised by a reservation and by a fulfillment order
  union all select 'stock_reservation.units', l.id::text, r.units::text,
      'at most ' || coalesce(ledger.uncovered_units(l.id), 0)
    from (
      select s.order_line_item_id, sum(s.open_quantity) as units, min(s.product_id::text) as first_product,
        max(s.product_id::text) as last_product
      from erp.stock_reservation s where s.order_line_item_id is not null and s.open_quantity > 0
      group by s.order_line_item_id
    ) r join erp.sales_order_line_item l on l.id = r.order_line_item_id
    where r.units > coalesce(ledger.uncovered_units(l.id), 0)
      or (r.first_product, r.last_product) is distinct from (l.product_id::text, l.product_id::text)
  union all select 'product_warehouse_configuration.stock', c.id::text, c.stock::text,
    coalesce(x.quantity, 0)::text
    from erp.product_warehouse_configuration c
    left join held x on x.product_id = c.product_id and x.warehouse_id = c.warehouse_id
  union all select 'product_stock_location_configuration.stock', c.id::text, c.stock::text,
    coalesce(b.quantity, 0)::text
    from erp.product_stock_location_configuration c
    left join balance b on b.product_id = c.product_id
      and b.place = coalesce(c.warehouse_id, c.bin_location_id)::text
  union all select 'supplier_order_line_item.received_quantity', l.id::text, l.received_quantity::text,
    greatest(coalesce(x.quantity, 0), 0)::text
    from erp.supplier_order_line_item l left join received x on x.id = l.id
  union all select 'fulfillment_order_line_item.fulfilled_quantity', l.id::text, l.fulfilled_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.fulfillment_order_line_item l left join fulfilled x on x.id = l.id
  union all select 'fulfillment_order.is_partially_fulfilled', f.id::text, f.is_partially_fulfilled::text,
      (coalesce(sum(l.fulfilled_quantity), 0) > 0 and sum(l.fulfilled_quantity) < sum(l.quantity))::text
    from erp.fulfillment_order f
    left join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
    group by f.id
  -- What was shipped without a fulfillment counts too
  union all select 'sales_order_line_item.shipped_quantity', l.id::text, l.shipped_quantity::text,
    'at least ' || x.quantity
    from erp.sales_order_line_item l join shipped x on x.id = l.id where l.shipped_quantity < x.quantity
  union all select 'sales_order_line_item.invoiced_quantity', l.id::text, l.invoiced_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.sales_order_line_item l left join invoiced x on x.id = l.id
  -- No unit is charged by two invoices that stand
  union all select 'invoice_line_item.units', l.id::text, l.first_unit::text || ' and more',
    'not also by ' || o.id
    from erp.invoice_line_item l
    join erp.invoice i on i.document_id = l.document_id and i.cancellation_id is null
    join erp.invoice_line_item o on o.order_line_item_id = l.order_line_item_id and o.id > l.id
      and o.first_unit < l.first_unit + l.quantity and l.first_unit < o.first_unit + o.quantity
    join erp.invoice p on p.document_id = o.document_id and p.cancellation_id is null
  union all select 'sales_order.amounts', o.id::text, concat_ws(' ', o.amount_total, o.amount_net),
    concat_ws(' ', a.amount_total, a.amount_net)
    from erp.sales_order o cross join lateral ledger.order_amounts(o.id, o.tax_status) a
    where (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net)
  union all select 'sales_order.tracking_codes', o.id::text, coalesce(s.codes, '[]')::text,
    coalesce(x.codes, '[]')::text
    from erp.sales_order o
    left join lateral (
      select jsonb_agg(c.code order by c.code) as codes
      from jsonb_array_elements_text(o.tracking_codes) c (code)
    ) s
      on true
    left join (select order_id, jsonb_agg(code order by code) as codes from due_code group by order_id) x
      on x.order_id = o.id
  -- A movement names a booking of its moment, whose ids are around its own
  union all select 'stock_movement.booking_id', m.id::text, m.booking_id::text, 'a booking that holds it'
    from ledger.stock_movement m
    where m.booking_id is not null and not exists (
      select from ledger.booking b
      where b.id = m.booking_id and m.id >= b.id and m.id <= b.last_movement_id
        and m.created_at = date_trunc('second', b.booked_at)
        and m.microseconds = ledger.microseconds(b.booked_at))
  union all select 'booking.movements', b.id::text, m.id::text, 'no movement of others'
    from ledger.booking b
    join ledger.stock_movement m on m.id > b.id and m.id <= b.last_movement_id
    where b.last_movement_id <> b.id and m.booking_id is distinct from b.id
  union all select 'booking.transaction', m.booking_id::text, max(m.transaction_id)::text,
    min(m.transaction_id)::text
    from ledger.stock_movement m where m.booking_id is not null group by m.booking_id
  union all select b.rule, b.id, 'broken', 'upheld' from ledger.broken_rules() b
  union all select n.figure, n.id, n.stored, n.expected from erp.number_proof n
  union all select r.figure, r.id, r.stored, r.expected from erp.return_proof r
  union all select c.figure, c.id, c.stored, c.expected from ledger.closing_proof c
  union all select t.figure, t.id, t.stored, t.expected from ledger.stocktake_proof t
  union all select 'movement_sequence.sequence', 'last', coalesce(max(s.sequence), 0)::text, count(*)::text
    from ledger.movement_sequence s
)
select figure, id, stored, expected from figures where stored is distinct from expected;
comment on view ledger.proof is
  'Stored figures that differ from what the ledger and the documents give. Must always be empty.';
--! EndIncluded ledger/proof.sql

select api_meta.allow('service_registrar', 'erp.stocktake', 'select');
select api_meta.allow('service_registrar', 'erp.stocktake_sheet', 'select');
select api_meta.allow('service_registrar', 'erp.stocktake_line', 'select');
--! Included administration/report_stocktake.sql
create or replace function administration.report_stocktake(stocktake text, how_many integer)
returns table ("position" integer, place text, product text, name text, batch text, state text,
  expected integer, counted integer, difference integer, value numeric, reason text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select l.number, coalesce(b.code, w.code), p.product_number, p.name, t.number, l.state,
    l.expected_quantity, l.counted_quantity, l.difference, erp.rounded(l.difference * l.unit_value), l.reason
  from erp.stocktake s join erp.stocktake_line l on l.stocktake_id = s.id
  left join erp.bin_location b on b.id = l.bin_location_id
  left join erp.warehouse w on w.id = l.warehouse_id
  left join erp.product p on p.id = l.product_id
  left join erp.batch t on t.id = l.batch_id
  where s.number = report_stocktake.stocktake and l.difference <> 0
  order by abs(l.difference * l.unit_value) desc nulls last, l.number limit how_many;
end
$$;
comment on function administration.report_stocktake(text, integer) is $$
@title Differences of a stocktake
@hint stocktake The number of the stocktake.
Positions where people counted something else than expected. The greatest value comes first.$$;
select api_meta.give('administration.report_stocktake(text, integer)', 'service_registrar');
grant execute on function administration.report_stocktake(text, integer) to service_administration;
--! EndIncluded administration/report_stocktake.sql
--! Included administration/report_stocktake_progress.sql
create or replace function administration.report_stocktake_progress(warehouse text, how_many integer)
returns table (stocktake text, state text, place text, created timestamptz, sheets bigint,
  complete bigint, positions bigint, counted bigint, "beyond a bound" bigint, approved bigint,
  difference bigint, value numeric)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select s.number, s.state, w.code, s.created_at::timestamptz, n.sheets, n.complete,
    l.positions, l.counted, l.beyond_bound, l.approved, l.difference, erp.rounded(l.value)
  from erp.stocktake s join erp.warehouse w on w.id = s.warehouse_id
  cross join lateral (
    select count(*) as sheets, count(h.completed_at) as complete
    from erp.stocktake_sheet h where h.stocktake_id = s.id
  ) n
  cross join lateral (
    select count(*) as positions, count(l.counted_quantity) as counted,
      count(*) filter (where l.state = 'beyond_bound') as beyond_bound,
      count(*) filter (where l.state = 'approved') as approved,
      coalesce(sum(l.difference), 0) as difference, sum(l.difference * l.unit_value) as value
    from erp.stocktake_line l where l.stocktake_id = s.id
  ) l
  where w.code = coalesce(report_stocktake_progress.warehouse, w.code)
  order by s.id desc limit how_many;
end
$$;
comment on function administration.report_stocktake_progress(text, integer) is $$
@title Stocktakes and their progress
@hint warehouse The code of a warehouse. Empty: all warehouses.
How far people have counted, and what the differences are worth. The newest stocktakes come first.$$;
select api_meta.give('administration.report_stocktake_progress(text, integer)', 'service_registrar');
grant execute on function administration.report_stocktake_progress(text, integer)
  to service_administration;
--! EndIncluded administration/report_stocktake_progress.sql

--! split: 150-orders.sql
-- Closed orders can be opened again

alter table erp.fulfillment_order drop column if exists was_cancelled_with_order cascade;
alter table erp.fulfillment_order add column was_cancelled_with_order boolean not null default false;
comment on column erp.fulfillment_order.was_cancelled_with_order is
  'Whether it was cancelled because the whole order was. The location may ship the order if it is reopened.';
select api_meta.allow('service_writer', 'erp.fulfillment_order', 'update (was_cancelled_with_order)');

delete from erp.state_transition t where t.machine = 'order_delivery' and t.action = 'reopen';
insert into erp.state_transition (machine, action, from_state, to_state, mutation) values
  ('order_delivery', 'reopen', 'cancelled', 'open', 'order_reopen');
update erp.state_transition t set mutation = 'order_reopen' where t.machine = 'order' and t.action = 'reopen';

--! Included erp/is_called_off.sql
create or replace function erp.is_called_off(order_line_item_id uuid, location_id uuid) returns boolean
language sql stable
return exists (
  select from erp.fulfillment_order_line_item a join erp.fulfillment_order f on f.id = a.fulfillment_order_id
  where a.destination_order_line_item_id = is_called_off.order_line_item_id
    and a.quantity > a.fulfilled_quantity
    and f.state = 'Cancelled' and not f.was_cancelled_with_order
    and f.source_warehouse_location_id = is_called_off.location_id);
comment on function erp.is_called_off(uuid, uuid) is
  'Whether a fulfillment order was cancelled by which a location was to ship units of an order line. The '
  'location then ships them only on request. Cancelling the whole order says nothing about a location.';
grant execute on function erp.is_called_off(uuid, uuid) to service_writer;
--! EndIncluded erp/is_called_off.sql
--! Included erp/cancel_order.sql
create or replace function erp.cancel_order(order_id uuid) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
  wanted text;
  cancelled uuid[];
begin
  perform ledger.lock_orders(array[order_id], array(
    select f.id from erp.fulfillment_order f where f.destination_order_id = cancel_order.order_id));
  select * into present from erp.sales_order o where o.id = cancel_order.order_id;
  if not found then
    perform mutation.refuse_missing('order', '{id}');
  end if;
  wanted := erp.next_state('order', 'cancel', present.state);
  if exists (
    select from erp.sales_order_line_item l where l.order_id = present.id and l.shipped_quantity > 0
  ) then
    perform mutation.refuse('NOT_EDITABLE',
      'Parts of the order are shipped. Cancel its fulfillments first, or let a return bring them back.',
      '{id}', jsonb_build_object('allowedActions', erp.allowed_actions('order', present.state)));
  elsif cardinality(erp.open_invoices(present.id)) > 0 then
    perform mutation.refuse('NOT_EDITABLE',
      'The order is invoiced. Take its invoices back first, by documentCreate with the type storno, or '
      'credit_note for what is left of a partly credited one.', '{id}',
      jsonb_build_object('invoices', erp.open_invoices(present.id)));
  end if;
  perform from erp.location l where l.id in (
    select f.source_warehouse_location_id from erp.fulfillment_order f
    where f.destination_order_id = present.id
  ) order by l.id for key share;
  perform ledger.lock_promises(present.id);
  with gone as (
    update erp.fulfillment_order f
    set state = erp.next_state('fulfillment_order', 'cancel', f.state), state_before_hold = null,
      hold_comment = null, was_cancelled_with_order = true
    where f.destination_order_id = present.id and f.type <> 'ExternalToOrder'
      and f.state in ('Open', 'InProgress', 'OnHold')
    returning f.id
  )
  select coalesce(array_agg(g.id order by g.id), '{}') into cancelled from gone g;
  update erp.sales_order o
  set state = wanted, delivery_state = erp.next_state('order_delivery', 'cancel', o.delivery_state)
  where o.id = present.id and o.delivery_state is not null;
  update erp.sales_order o set state = wanted where o.id = present.id and o.state <> wanted;
  return row (present.id, '{}', cancelled, '{}', '{}')::erp.shipment;
end
$$;
comment on function erp.cancel_order(uuid) is
  'Cancels an order of which nothing is shipped or charged, and its open fulfillment orders, so that '
  'nothing is reserved for it any more. Externally managed fulfillment orders stay unchanged. User errors '
  'NOT_FOUND, INVALID_STATE_TRANSITION, NOT_EDITABLE.';
grant execute on function erp.cancel_order(uuid) to service_writer;
--! EndIncluded erp/cancel_order.sql
--! Included erp/reopen_order.sql
create or replace function erp.reopen_order(order_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
  wanted erp.sales_order;
  is_some_shipped boolean;
begin
  perform ledger.lock_orders(array[order_id], array(
    select f.id from erp.fulfillment_order f where f.destination_order_id = reopen_order.order_id));
  select * into present from erp.sales_order o where o.id = reopen_order.order_id;
  if not found then
    perform mutation.refuse_missing('order', '{id}');
  end if;
  wanted := present;
  is_some_shipped := exists (
    select from erp.sales_order_line_item l where l.order_id = present.id and l.shipped_quantity > 0);
  wanted.state := erp.next_state('order', 'reopen', present.state);
  if is_some_shipped then
    wanted.state := erp.next_state('order', 'process', wanted.state);
  end if;
  if present.delivery_state = 'cancelled' then
    wanted.delivery_state := erp.next_state('order_delivery', 'reopen', present.delivery_state);
  elsif present.delivery_state = 'shipped' then
    wanted.delivery_state := erp.next_state('order_delivery', 'unship_partially', present.delivery_state);
  end if;
  perform ledger.lock_promises(present.id);
  update erp.sales_order o
  set state = wanted.state, delivery_state = wanted.delivery_state where o.id = present.id;
  return present.id;
end
$$;
comment on function erp.reopen_order(uuid) is
  'Opens an order that is cancelled or completed, so that its lines may change and what is open of them is '
  'reserved again. It is in progress if something of it is shipped. Returns it. User errors NOT_FOUND, '
  'INVALID_STATE_TRANSITION.';
grant execute on function erp.reopen_order(uuid) to service_writer;
--! EndIncluded erp/reopen_order.sql
--! Included api/order_reopen.sql
drop type if exists api_unstable.order_reopen_input cascade;
drop type if exists api_unstable.order_reopen_payload cascade;

create type api_unstable.order_reopen_input as (id uuid);
comment on type api_unstable.order_reopen_input is 'An order to open again.';
comment on column api_unstable.order_reopen_input.id is E'@notNull\n@gid Order\nId of the order.';

create type api_unstable.order_reopen_payload as ("order" uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.order_reopen_payload is 'The result of opening an order again.';
comment on column api_unstable.order_reopen_payload."order" is
  E'@entity Order\nThe order as it is now; null when it was refused.';
comment on column api_unstable.order_reopen_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create function api_unstable.order_reopen(input api_unstable.order_reopen_input)
returns api_unstable.order_reopen_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.reopen_order(input.id), null)::api_unstable.order_reopen_payload
$$;
comment on function api_unstable.order_reopen(api_unstable.order_reopen_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION\n'
  'Opens a cancelled or completed order again. Its open units are reserved, and its lines can be changed. '
  'Cancelled fulfillment orders stay cancelled. An order of which something is shipped is in progress; it is '
  'completed when ordersUpsert leaves nothing open, or when the rest is shipped.';
--! EndIncluded api/order_reopen.sql

--! split: 160-between.sql
-- What lies between the parts of issue 42
--! Included erp/settle_order.sql
create or replace function erp.settle_order(order_id uuid, tracking_codes text[] default '{}')
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present record;
  new_delivery_state text;
  new_state text;
begin
  select o.state, o.delivery_state, erp.is_all_shipped(o.id) as is_all_shipped
  into strict present from erp.sales_order o where o.id = order_id;
  -- An order without a delivery state gets one when something is shipped
  new_delivery_state := erp.next_state('order_delivery',
    case when present.is_all_shipped then 'ship' else 'ship_partially' end,
    coalesce(present.delivery_state, 'open'));
  if new_delivery_state = 'returned_partially' then
    -- Shipped units may have come back, so that the customer has none
    select erp.state_after_returns(o) into new_delivery_state from erp.sales_order o where o.id = order_id;
  end if;
  new_state := present.state;
  if new_state <> 'in_progress' then
    new_state := erp.next_state('order', 'process', new_state);
  end if;
  if present.is_all_shipped then
    new_state := erp.next_state('order', 'complete', new_state);
  end if;
  if present.state not in ('open', 'in_progress') then
    -- A transition that was added: what the order reserves again follows by triggers
    update erp.sales_order o set state = new_state where o.id = order_id;
  end if;
  perform ledger.write_order_states(order_id, new_state, new_delivery_state, tracking_codes);
end
$$;
comment on function erp.settle_order(uuid, text[]) is
  'Updates the states of an order after something of it was shipped, and adds tracking codes: it is in '
  'progress, and completed when nothing is left to ship. User error INVALID_STATE_TRANSITION.';
grant execute on function erp.settle_order(uuid, text[]) to service_writer;
--! EndIncluded erp/settle_order.sql
--! Included erp/upsert_orders.sql
create or replace function erp.with_amounts(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.with_values(orders, (
    select jsonb_object_agg(o.line,
      jsonb_build_object('amount_total', a.amount_total, 'amount_net', a.amount_net))
    from unnest(orders) o
    join (
      select (l.wanted ->> 'order_id')::uuid as order_id,
        array_agg((l.wanted ->> 'total_price')::numeric) as prices,
        array_agg((l.wanted ->> 'tax_rate')::numeric) as tax_rates
      from unnest(lines) l group by 1
    ) l on l.order_id = o.id
    cross join lateral ledger.amounts_of(l.prices, l.tax_rates, o.wanted ->> 'tax_status') a
    where o.is_new and o.errors is null
  ));
end;
comment on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) is
  'Returns the rows of an upsert of orders, new ones with the totals of their lines. So these need not be '
  'written, and reported, as a later change of the order.';
grant execute on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) to service_writer;

create or replace function erp.write_order_lines(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  kept mutation.upsert_row[] := array(
    select l from unnest(lines) l join unnest(orders) o on o.id = (l.wanted ->> 'order_id')::uuid
    where o.errors is null order by l.line);
  listed constant uuid[] := array(
    select o.id from unnest(orders) o where o.errors is null and o.given ? 'line_items');
  gone uuid[];
begin
  -- Locks the products of old and new lines together, in one order
  perform ledger.lock(array(
    select l.product_id from erp.sales_order_line_item l
    where l.order_id = any (listed) and l.product_id is not null
    union
    select (k.wanted ->> 'product_id')::uuid from unnest(kept) k
    where k.wanted ->> 'product_id' is not null
  ));
  with deleted as (
    delete from erp.sales_order_line_item l
    where l.order_id = any (listed) and l.id <> all (array(select k.id from unnest(kept) k))
    returning l.order_id
  )
  select coalesce(array_agg(distinct d.order_id), '{}') into gone from deleted d;
  kept := mutation.write_rows('erp.sales_order_line_item', kept);
  -- Less may be wanted than was, so that everything is shipped
  perform erp.settle_order(o.id) from unnest(orders) o
  where o.id = any (listed) and o.present ->> 'state' = 'in_progress'
    and o.present ->> 'delivery_state' in ('shipped_partially', 'returned_partially') and not exists (
      select from erp.sales_order_line_item l
      where l.order_id = o.id and l.type = 'product' and l.shipped_quantity < l.quantity);
  return gone || array(select (k.wanted ->> 'order_id')::uuid from unnest(kept) k where k.is_changed);
end
$$;
comment on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'Writes the lines of an upsert of orders, and deletes omitted ones. Returns the orders with a changed '
  'line.';
grant execute on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;

create or replace function erp.upsert_orders(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := array[
    'o.storefront_id = r.storefront_id and o.sales_channel_id = r.sales_channel_id',
    'o.order_number = r.order_number and (r.storefront_id is null '
    'or coalesce(o.storefront_id, r.storefront_id) = r.storefront_id)'];
  rows mutation.upsert_row[];
  lines mutation.upsert_row[];
begin
  rows := mutation.match_rows('erp.sales_order', 'orders', given, '{storefront_id,order_number}', matches);
  rows := mutation.with_values(rows, (
    select jsonb_object_agg(u.line, case
      when u.is_new then jsonb_build_object('delivery_state', 'open')
        || jsonb_strip_nulls(jsonb_build_object('currency_id', case when not u.given ? 'currency_id' then (
          select c.currency_id from erp.sales_channel c where c.id = (u.given ->> 'sales_channel_id')::uuid
        ) end))
      else '{}' end || jsonb_strip_nulls(jsonb_build_object(
        'paid_amount', erp.rounded((u.given ->> 'paid_amount')::numeric))))
    from unnest(rows) u where u.is_new or u.given ? 'paid_amount'));
  lines := coalesce(erp.match_order_lines(rows), '{}');
  lines := coalesce(mutation.with_faults(lines, 'line_items',
    mutation.row_faults('erp.sales_order_line_item', lines) || erp.faults_of_order_lines(rows, lines)), '{}');
  rows := mutation.with_faults(rows, 'orders', mutation.row_faults('erp.sales_order', rows, matches)
    || erp.faults_of_orders(rows, lines) || erp.faults_of_tags(rows));
  rows := mutation.with_faults_of_taken_keys('erp.sales_order', rows, 'orders', partial);
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.sales_order', erp.with_amounts(rows, lines));
  rows := mutation.with_changes(rows, erp.write_order_lines(rows, lines));
  return mutation.with_changes(rows, erp.set_tags('erp.order_tag', 'order_id', rows));
end
$$;
comment on function erp.upsert_orders(jsonb, boolean) is
  'Creates and updates orders, with their lines and tags: the objects in the list, whose fields are named '
  'like columns. Returns the outcome of each.';
grant execute on function erp.upsert_orders(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_orders.sql

-- Bookings: one row for each call that books, which its movements name. One clock of bookings.

do $$
begin
  -- Until now, a type had the name, which is ledger.booked now
  if (select c.relkind from pg_class c where c.oid = to_regclass('ledger.booking')) = 'c' then
    drop type ledger.booking cascade;
  end if;
end
$$;
drop function if exists api_unstable.stock_bookings_stock_movements;
drop view if exists api_unstable.stock_bookings, api_unstable.stock_booking_reasons,
  api_unstable.stock_movements cascade;
drop trigger if exists booker_is_kept on auth.credential;
drop trigger if exists booker_is_kept on auth.administrator;
drop table if exists ledger.booking, ledger.booker, ledger.booking_reason cascade;
alter table ledger.process_type drop column if exists requires_reason cascade;
alter table ledger.stock_movement drop column if exists booking_id cascade;

create table ledger.booking_reason (
  code text collate "C" primary key
    constraint booking_reason_is_a_machine_name check (code ~ '^[a-z][a-z0-9_]{0,62}$'),
  description text not null constraint booking_reason_description_length check (length(description) <= 255),
  is_active boolean not null default true
);
alter table ledger.booking_reason enable row level security;
comment on table ledger.booking_reason is
  'Reasons that bookings can give. The merchant changes the list in SQL; a reason that is no longer wanted '
  'becomes inactive.';
comment on column ledger.booking_reason.code is 'The reason, as bookings name it.';
comment on column ledger.booking_reason.description is 'Meaning of the reason, for people.';
comment on column ledger.booking_reason.is_active is 'Whether new bookings may give it.';
insert into ledger.booking_reason (code, description) values
  ('counting_error', 'An earlier count or booking was wrong.'),
  ('damaged', 'The units were damaged and cannot be sold.'),
  ('expired', 'The units are past their best-before date.'),
  ('theft', 'The units were stolen.'),
  ('lost', 'The units cannot be found.'),
  ('found', 'The units were found again.'),
  ('internal_use', 'The company used the units itself.'),
  ('sample', 'The units were given away as samples.'),
  ('production', 'The units were made or used up in production.'),
  ('replenishment', 'The units were moved to where they are picked.');

-- waive constraint-scans: two dozen rows that only merchants change
alter table ledger.process_type add column requires_reason boolean not null default false
  constraint process_type_can_require_a_reason check (
    not requires_reason or technical_name in ('api', 'api_incoming', 'api_outgoing', 'api_relocation'));
-- waive index-blocks-writes: two dozen rows that only merchants change
create index process_type_requires_reason on ledger.process_type (technical_name) where requires_reason;
comment on index ledger.process_type_requires_reason is
  'For bookings without a reason: usually it is empty.';
comment on column ledger.process_type.requires_reason is
  'Whether bookings by this process need a reason. Only stockAdjust, stockSet and stockTransfer can give '
  'one.';

create table ledger.booker (
  id uuid primary key,
  name text not null constraint booker_name_length check (length(name) <= 255)
);
alter table ledger.booker enable row level security;
comment on table ledger.booker is
  'Names of all API credentials and administrators, kept after their deletion for the bookings that they '
  'did.';
comment on column ledger.booker.id is 'Id of the credential or the administrator.';
comment on column ledger.booker.name is 'The latest name.';
insert into ledger.booker (id, name)
select id, name from auth.credential union all select id, name from auth.administrator;
select api_meta.allow('service_registrar', 'ledger.booker', 'select', 'insert', 'update (name)');
grant usage on schema ledger to service_registrar;
--!include ledger/keep_booker.sql
create trigger booker_is_kept after insert or update of name on auth.credential
for each row execute function ledger.keep_booker();
create trigger booker_is_kept after insert or update of name on auth.administrator
for each row execute function ledger.keep_booker();

create table ledger.booking (
  -- The id of its first movement
  id uuid primary key,
  last_movement_id uuid not null,
  booked_at timestamptz not null,
  credential_id uuid,
  administrator_id uuid,
  request_id text,
  reference text collate "C" constraint booking_reference_length
    check (length(reference) <= 255) not enforced,
  reason text collate "C",
  note text
);
create index on ledger.booking (reference, id) where reference is not null;
create index on ledger.booking (reason, id) where reason is not null;
create index on ledger.booking (credential_id, id) where credential_id is not null;
alter table ledger.booking enable row level security;
comment on table ledger.booking is
  'One row for each call that books movements, which name it. Rows are only ever inserted. They stay when '
  'their movements go with a product.';
comment on column ledger.booking.id is 'Id of the first movement.';
comment on column ledger.booking.last_movement_id is
  'Id of the last movement. Ids between belong to this booking alone.';
comment on column ledger.booking.booked_at is 'When the movements were booked, to the microsecond.';
comment on column ledger.booking.credential_id is
  'Credential that made the call; null for bookings in SQL. The credential may have been deleted since.';
comment on column ledger.booking.administrator_id is 'Administrator who acted; null if a client did.';
comment on column ledger.booking.request_id is 'Id of the request, as in its response and in the log.';
comment on column ledger.booking.reference is 'The caller''s own reference.';
comment on column ledger.booking.reason is 'Code of the reason, as ledger.booking_reason had it.';
comment on column ledger.booking.note is
  'Note of the call. Its movements have it, too, and bound its length.';
comment on constraint booking_reference_length on ledger.booking is
  E'@userError OUT_OF_RANGE reference\nThe reference has more than 255 characters.';
select api_meta.allow('service_booker', 'ledger.booking', 'select', 'insert');
select api_meta.allow('service_ledger', 'ledger.booking_reason', 'select');
select api_meta.allow('service_ledger', 'ledger.process_type', 'select');
select api_meta.allow('service_writer', 'ledger.booking_reason', 'select');
select api_meta.allow('service_writer', 'ledger.process_type', 'select');
grant usage on schema auth to service_booker;

alter table ledger.stock_movement add column booking_id uuid;
comment on column ledger.stock_movement.booking_id is
  'Booking that the movement belongs to; null for movements that were inserted in SQL, and for those from '
  'before bookings were kept.';

drop function if exists ledger.book(ledger.draft[], text, ledger.figure_change[]),
  ledger.book_correction(ledger.draft, ledger.call[]),
  ledger.adjust_stock(ledger.line[], text), ledger.set_stock(ledger.line[], text),
  ledger.transfer_stock(ledger.line[], text);
--!include ledger/moment.sql
--!include ledger/booked.sql
--!include ledger/call.sql
--!include ledger/single.sql
--!include auth/acting_administrator.sql
--!include ledger/bookings_of.sql
--!include ledger/check_reason.sql
--!include ledger/movements_of.sql
--!include ledger/write_rows.sql
--!include ledger/write_missing.sql
--!include ledger/tell_steps.sql
--!include ledger/write.sql
--!include ledger/book_correction.sql
--!include ledger/book.sql
--!include ledger/post.sql
--!include ledger/plain_singles.sql
--!include ledger/book_singles.sql
--!include ledger/read_counts.sql
--!include ledger/check_form.sql
--!include ledger/is_malformed.sql
--!include ledger/require_movement_places.sql
--!include ledger/adjust_stock.sql
--!include ledger/set_stock.sql
--!include ledger/transfer_stock.sql
--!include ledger/keep_figures.sql
--!include erp/approve_goods_receipt.sql
--!include erp/complete_goods_receipt.sql
--!include mutation/joint_calls.sql
--!include mutation/run_together.sql

--!include api/stock_movements.sql
--!include api/stock_bookings.sql
--!include api/stock_bookings_stock_movements.sql
--!include api/stock_booking_reasons.sql
--!include api/stock_adjust.sql
--!include api/stock_set.sql
--!include api/stock_transfer.sql

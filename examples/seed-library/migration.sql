-- A seed library: people borrow packets of seeds, and bring back a part of their harvest.
drop schema if exists seed_library cascade;
create schema seed_library;
comment on schema seed_library is 'Varieties, packets of their seeds, harvests and loans.';
select api_meta.expose('seed_library');

-- Tables, with the keys that they have anyway
create type seed_library.sowing as enum ('in the open', 'under glass');

create table seed_library.variety (
  code text primary key,
  name text not null,
  sowing seed_library.sowing not null,
  sown_in daterange
);
comment on table seed_library.variety is 'A variety of a plant.';
comment on column seed_library.variety.code is 'Code on the drawer.';
comment on column seed_library.variety.name is 'Name of the variety.';
comment on column seed_library.variety.sowing is 'Where it is sown.';
comment on column seed_library.variety.sown_in is 'Days on which it may be sown this year.';

create table seed_library.packet (
  id bigint generated always as identity primary key,
  variety_code text not null references seed_library.variety on delete cascade,
  weight_in_grams numeric(12, 6) not null,
  packed_on date not null
);
create index on seed_library.packet (variety_code);
comment on table seed_library.packet is 'A packet of seeds.';
comment on column seed_library.packet.variety_code is 'Code of its variety.';
comment on column seed_library.packet.weight_in_grams is 'Weight of the seeds, in grams.';
comment on column seed_library.packet.packed_on is 'Day on which it was filled.';

create table seed_library.harvest (
  variety_code text not null references seed_library.variety on delete cascade,
  year integer not null,
  seeds bigint not null,
  primary key (variety_code, year)
);
comment on table seed_library.harvest is 'What one year has brought.';
comment on column seed_library.harvest.variety_code is 'Code of the variety.';
comment on column seed_library.harvest.year is 'The year.';
comment on column seed_library.harvest.seeds is 'Seeds that were counted.';

create table seed_library.loan (
  id uuid primary key default uuidv7(),
  packet_id bigint not null references seed_library.packet on delete cascade,
  borrower text not null constraint loan_borrower_is_not_blank check (btrim(borrower) <> ''),
  created_at timestamptz not null default now(),
  days integer not null default 28 constraint loan_days_are_positive check (days > 0)
);
create index on seed_library.loan (packet_id);
comment on table seed_library.loan is 'A packet that somebody has borrowed.';
comment on column seed_library.loan.packet_id is 'The packet.';
comment on column seed_library.loan.borrower is 'Who has it.';
comment on column seed_library.loan.days is 'For how many days.';
comment on constraint loan_borrower_is_not_blank on seed_library.loan is
  E'@userError INVALID borrower\nThe borrower has no name.';
comment on constraint loan_days_are_positive on seed_library.loan is
  E'@userError INVALID days\nA loan takes a day at least.';

alter table seed_library.variety enable row level security;
alter table seed_library.packet enable row level security;
alter table seed_library.harvest enable row level security;
alter table seed_library.loan enable row level security;

-- What the API shows of them
drop view if exists api_unstable.seed_varieties, api_unstable.seed_packets, api_unstable.seed_harvests,
  api_unstable.seed_loans cascade;

create view api_unstable.seed_varieties with (security_invoker = true) as
select code, name, sowing, sown_in from seed_library.variety;
comment on view api_unstable.seed_varieties is $$
@primaryKey code
@requiresScopes seed_packets:read
@filters *
A variety of a plant.$$;

create view api_unstable.seed_packets with (security_invoker = true) as
select id, variety_code, weight_in_grams, packed_on from seed_library.packet;
comment on view api_unstable.seed_packets is $$
@primaryKey id
@requiresScopes seed_packets:read
@filters *
@foreignKey (variety_code) references seed_varieties (code)|@fieldName variety|@foreignFieldName packets
A packet of seeds.$$;

create view api_unstable.seed_harvests with (security_invoker = true) as
select variety_code, year, seeds from seed_library.harvest;
comment on view api_unstable.seed_harvests is $$
@primaryKey variety_code,year
@requiresScopes seed_packets:read
@filters *
@foreignKey (variety_code) references seed_varieties (code)|@fieldName variety|@foreignFieldName harvests
What one year has brought.$$;

create view api_unstable.seed_loans with (security_invoker = true) as
select id, packet_id, borrower, created_at, days from seed_library.loan;
comment on view api_unstable.seed_loans is $$
@primaryKey id
@requiresScopes seed_loans:read
@filters packet_id,borrower
@foreignKey (packet_id) references seed_packets (id)|@fieldName packet|@foreignFieldName loans
A packet that somebody has borrowed.$$;

-- A column that is worked out
create function api_unstable.seed_packets_age_in_days(packet api_unstable.seed_packets) returns integer
language sql stable
return current_date - packet.packed_on;
comment on function api_unstable.seed_packets_age_in_days(api_unstable.seed_packets) is
  'Days since the packet was filled.';

-- A mutation: what it does, which all versions share, and what clients see of it
grant usage on schema seed_library to service_writer;
select api_meta.allow('service_writer', 'seed_library.loan', 'select', 'insert (packet_id, borrower, days)');
select api_meta.allow('service_writer', 'seed_library.packet', 'select');

create function seed_library.lend(packet bigint, borrower text, days integer) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made uuid;
begin
  perform from seed_library.packet p where p.id = packet;
  if not found then
    perform mutation.refuse_missing('packet', '{packet_id}');
  end if;
  insert into seed_library.loan (packet_id, borrower, days) values (packet, borrower, coalesce(days, 28))
  returning id into made;
  return made;
end
$$;
comment on function seed_library.lend(bigint, text, integer) is 'Lends a packet to somebody.';
grant execute on function seed_library.lend(bigint, text, integer) to service_writer;

drop type if exists api_unstable.seed_packet_lend_input, api_unstable.seed_packet_lend_payload cascade;
create type api_unstable.seed_packet_lend_input as (packet_id bigint, borrower text, days integer);
comment on type api_unstable.seed_packet_lend_input is 'Who borrows which packet.';
comment on column api_unstable.seed_packet_lend_input.packet_id is
  E'@notNull\n@gid SeedPacket\nThe packet.';
comment on column api_unstable.seed_packet_lend_input.borrower is E'@notNull\nWho borrows it.';
comment on column api_unstable.seed_packet_lend_input.days is 'For how many days; 28 if not given.';

create type api_unstable.seed_packet_lend_payload as (
  seed_loan uuid, seed_packet bigint, user_errors api_unstable.user_error[]
);
comment on type api_unstable.seed_packet_lend_payload is 'What lending a packet answers.';
comment on column api_unstable.seed_packet_lend_payload.seed_loan is
  E'@entity SeedLoan\nThe loan; null when it was refused.';
comment on column api_unstable.seed_packet_lend_payload.seed_packet is
  E'@entity SeedPacket\nThe packet; null when it was refused.';
comment on column api_unstable.seed_packet_lend_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create function api_unstable.seed_packet_lend(input api_unstable.seed_packet_lend_input)
returns api_unstable.seed_packet_lend_payload
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return row (
    seed_library.lend(input.packet_id, input.borrower, input.days), input.packet_id, null
  )::api_unstable.seed_packet_lend_payload;
end
$$;
comment on function api_unstable.seed_packet_lend(api_unstable.seed_packet_lend_input) is $$
@requiresScopes seed_loans:write
@userErrors NOT_FOUND INVALID
Lends a packet to somebody.$$;

-- A topic of events
insert into events.subject (type, relation, view_name, entity_column)
values ('SeedLoan', 'seed_library.loan', 'seed_loans', 'id')
on conflict (type) do update set relation = excluded.relation;
insert into events.field (subject_type, name, position, column_name, id_of)
values ('SeedLoan', 'id', 1, 'id', 'SeedLoan'), ('SeedLoan', 'packetId', 2, 'packet_id', 'SeedPacket'),
  ('SeedLoan', 'createdAt', 3, 'created_at', null)
on conflict do nothing;
insert into events.topic (name, subject_type, scope, description)
values ('seed_loan.created', 'SeedLoan', 'seed_loans:read', 'A packet was lent.')
on conflict do nothing;
insert into events.occasion (topic, operation) values ('seed_loan.created', 'insert') on conflict do nothing;

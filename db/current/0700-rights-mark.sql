-- A service with many merchants sees by one value that rights are what they were: an idle merchant then
-- needs one connection for its request, not two.
drop function if exists auth.rights_now();
drop table if exists auth.rights_mark;
create table auth.rights_mark (
  is_one boolean primary key default true constraint rights_mark_is_one check (is_one),
  mark uuid not null default gen_random_uuid()
);
alter table auth.rights_mark enable row level security;
comment on table auth.rights_mark is
  'Another value after each change of rights: of credentials, the plan, signing keys, stored operations.';
select api_meta.allow('service_registrar', 'auth.rights_mark', 'select', 'update (mark)');
insert into auth.rights_mark default values;
--!include auth/announce_credential_change.sql
--!include auth/rights_now.sql

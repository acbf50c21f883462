-- Which fields of the API each credential uses, and when last: tells whom a change would break
create table if not exists auth.field_use (
  credential_id uuid not null references auth.credential on delete cascade,
  version text not null,
  field text not null,
  last_used_on date not null,
  primary key (credential_id, version, field)
);
alter table auth.field_use enable row level security;
comment on table auth.field_use is
  'When each credential last used each field of each version, by UTC: whom a change of it would break.';
comment on column auth.field_use.field is
  'Type.field, or Type.field(argument:) for an argument that was given.';
select api_meta.allow('service_registrar', 'auth.field_use', 'select', 'insert', 'update (last_used_on)');
--!include auth/record_fields.sql
--!include api_meta/extend.sql

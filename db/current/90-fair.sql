-- What clients may spend, where processes count together: buckets that fill all the time, in place of windows.
drop table if exists auth.taken_points;

-- Not worth a log: after a crash every bucket counts as full.
create unlogged table if not exists auth.bucket (
  key text primary key,
  full_at timestamptz not null
);
alter table auth.bucket enable row level security;
comment on table auth.bucket is 'When buckets of points are full again. A bucket that is not here is full.';
comment on column auth.bucket.key is 'What the points are for, and whose they are.';
comment on column auth.bucket.full_at is 'When all points that were taken will have come back.';
grant usage on schema auth to service_limiter;
select api_meta.allow('service_limiter', 'auth.bucket', 'select', 'insert', 'update', 'delete');

--!include functions/auth/take_points.sql

-- A business that the service knows nothing of, in a schema of its own

create schema orchard;
select api_meta.expose('orchard');

create type orchard.taste as enum ('sweet', 'very sour');
create domain orchard.percent as integer constraint percent_is_up_to_100 check (value between 0 and 100);

create table orchard.tree (
  id integer generated always as identity primary key,
  sort text not null,
  height numeric not null,
  taste orchard.taste not null
);
create index on orchard.tree (sort);
comment on table orchard.tree is 'A tree.';

create table orchard.apple (
  tree_id integer not null references orchard.tree on delete cascade,
  number bigint not null,
  weight_in_grams integer not null,
  picked_on date,
  primary key (tree_id, number)
);
comment on table orchard.apple is 'An apple.';

alter table orchard.tree enable row level security;
alter table orchard.apple enable row level security;

insert into orchard.tree (sort, height, taste)
select s, n, t::orchard.taste from (values ('Boskoop', 3.25, 'very sour'), ('Elstar', 2.5, 'sweet'),
  ('Elstar', 1.125, 'sweet')) v (s, n, t);
insert into orchard.apple
select t, n, 100 * t + n, date '2026-09-01' + n from generate_series(1, 3) t, generate_series(1, 5) n;

create view api_unstable.trees with (security_invoker = true) as
select id, sort, height, taste from orchard.tree;
comment on view api_unstable.trees is $$
@primaryKey id
@requiresScopes trees:read
@filters *
A tree.$$;

create view api_unstable.apples with (security_invoker = true) as
select tree_id, number, weight_in_grams, picked_on from orchard.apple;
comment on view api_unstable.apples is $$
@primaryKey tree_id,number
@requiresScopes apples:read
@filters *
@foreignKey (tree_id) references trees (id)|@fieldName tree
An apple.$$;

create function api_unstable.trees_height_in(tree api_unstable.trees, divisor numeric, unit text default 'm')
returns text stable language sql
return trim_scale(round(tree.height / divisor, 3)) || ' ' || unit;
comment on function api_unstable.trees_height_in(api_unstable.trees, numeric, text) is $$
@notNull
@describe divisor How many metres the unit has.
The height of the tree, in another unit.$$;

create function api_unstable.trees_secret(tree api_unstable.trees, number smallint) returns bigint
stable language sql
return tree.id * 9007199254740993 + number;
comment on function api_unstable.trees_secret(api_unstable.trees, smallint) is $$
@requiresScopes secrets:read
@fieldName riddle
What the gardener keeps to herself.$$;

create function api_unstable.trees_ripe_apples(
  tree api_unstable.trees, day date, at_least orchard.percent default 0
) returns setof api_unstable.apples stable language sql
begin atomic
  select a.* from api_unstable.apples a
  where a.tree_id = tree.id and a.picked_on <= day and a.weight_in_grams % 100 >= at_least;
end;
comment on function api_unstable.trees_ripe_apples(api_unstable.trees, date, orchard.percent) is $$
The apples that were picked by a day.$$;

create function api_unstable.heavy_apples(
  weights int[], except_of integer[] default null, taste orchard.taste default null
) returns setof api_unstable.apples stable language sql
begin atomic
  select a.* from api_unstable.apples a
  where a.weight_in_grams >= any (weights) and (except_of is null or a.tree_id <> all (except_of))
    and (heavy_apples.taste is null
      or exists (select from api_unstable.trees t where t.id = a.tree_id and t.taste = heavy_apples.taste));
end;
comment on function api_unstable.heavy_apples(int[], integer[], orchard.taste) is $$
@gid except_of Tree
@deprecated 2026-12-01 Use apples.
Apples that weigh at least one of the weights.$$;

create function api_unstable.tall_trees() returns setof api_unstable.trees stable language sql
begin atomic
  select * from api_unstable.trees where height > 2;
end;
comment on function api_unstable.tall_trees() is $$
@noFilter
Trees that need a ladder.$$;

create function api_unstable.trees_apple_below(tree api_unstable.trees, weight integer, before date default null)
returns api_unstable.apples stable language sql
begin atomic
  select a.* from api_unstable.apples a
  where a.tree_id = tree.id and a.weight_in_grams < weight and (before is null or a.picked_on < before)
  order by a.weight_in_grams desc limit 1;
end;
comment on function api_unstable.trees_apple_below(api_unstable.trees, integer, date) is $$
@describe weight Its limit in grams.
The heaviest apple that is lighter.$$;

create function api_unstable.trees_next_tree(tree api_unstable.trees) returns api_unstable.trees
stable language sql
begin atomic
  select t.* from api_unstable.trees t where t.id > tree.id order by t.id limit 1;
end;
comment on function api_unstable.trees_next_tree(api_unstable.trees) is $$
@requiresScopes secrets:read
The tree beside it.$$;

create function api_unstable.tree_of_sort(sort text) returns api_unstable.trees stable language sql
begin atomic
  select t.* from api_unstable.trees t where t.sort = tree_of_sort.sort order by t.id limit 1;
end;
comment on function api_unstable.tree_of_sort(text) is $$
@deprecated 2026-12-01 Use trees.
The first tree of a sort.$$;

create type api_unstable.crop as (tree_id integer, apples bigint, weight numeric, tastes orchard.taste[], "lastDay" date);
comment on type api_unstable.crop is $$
@gid tree_id Tree
@deprecated lastDay 2026-12-01 Ask the gardener.
What trees bear.$$;
comment on column api_unstable.crop.apples is $$
@notNull
How many apples.$$;
create type api_unstable.growth as (height numeric, grown boolean);
comment on type api_unstable.growth is 'How a tree grows.';

create function api_unstable.trees_crop(tree api_unstable.trees, since date default null) returns api_unstable.crop
stable language sql
begin atomic
  select row(tree.id, count(*), round(avg(a.weight_in_grams), 1), array[tree.taste], max(a.picked_on))::api_unstable.crop
  from api_unstable.apples a where a.tree_id = tree.id and (since is null or a.picked_on >= since) having count(*) > 0;
end;
comment on function api_unstable.trees_crop(api_unstable.trees, date) is $$
@requiresScopes apples:read
What the tree bears.$$;

create function api_unstable.trees_growth(tree api_unstable.trees) returns api_unstable.growth stable language sql
return case when tree.height > 2 then row(tree.height - 1.5, null)::api_unstable.growth end;
comment on function api_unstable.trees_growth(api_unstable.trees) is 'How it grows.';

create function api_unstable.whole_crop() returns api_unstable.crop stable language sql
begin atomic
  select row(null, count(*), sum(a.weight_in_grams), '{}', max(a.picked_on))::api_unstable.crop from api_unstable.apples a;
end;
comment on function api_unstable.whole_crop() is $$
@requiresScopes apples:read
@notNull
What all trees bear.$$;

-- Tables and columns of all sorts

create extension citext schema orchard;

create table orchard.harvest (
  year smallint not null,
  crate bigint generated by default as identity,
  picker orchard.citext not null,
  kilograms numeric(8, 3) not null,
  pounds numeric generated always as (kilograms * 2.20462262185) stored,
  tastes orchard.taste[],
  marks text[] not null default '{}',
  scales double precision[],
  notes jsonb,
  kept daterange,
  shelves int4range,
  primary key (year, crate)
) partition by range (year);
create table orchard.harvest_2025 partition of orchard.harvest for values from (2025) to (2026);
create table orchard.harvest_2026 partition of orchard.harvest for values from (2026) to (2027);
comment on table orchard.harvest is 'A crate of apples.';
alter table orchard.harvest enable row level security;
alter table orchard.harvest_2025 enable row level security;
alter table orchard.harvest_2026 enable row level security;

insert into orchard.harvest (year, crate, picker, kilograms, tastes, marks, scales, notes, kept, shelves) values
  (2025, 1, 'Ada', 12.5, '{sweet}', '{red,large}', '{1.5}', '{"worms": 2, "sold": {"to": ["Bea"]}}',
    '[2025-10-01,2026-02-01)', '[1,4)'),
  (2025, 2, 'ada', 0.001, '{sweet,"very sour"}', '{}', null, '["worms"]', 'empty', '[3,3]'),
  (2026, 9007199254740993, 'Bea', 99999.999, null, '{red}', '{}', null, '[2026-10-01,)', null);

create materialized view orchard.total as select year, sum(kilograms) as kilograms from orchard.harvest group by 1;

create view api_unstable.harvests with (security_invoker = true) as
select year, crate, picker, kilograms, pounds, tastes, marks, scales, notes, kept, shelves from orchard.harvest;
comment on view api_unstable.harvests is $$
@primaryKey year,crate
@requiresScopes trees:read
@aggregates crate,kilograms
@groupBy year,crate
@filters *,tastes,marks,scales,notes
A crate of apples.$$;

create view api_unstable.yearly_totals with (security_invoker = true) as
select year, kilograms from orchard.total where (select auth.has_scope('trees:read'));
comment on view api_unstable.yearly_totals is $$
@primaryKey year
@requiresScopes trees:read
@filters *
All that was picked in a year.$$;

-- Events of rows whose keys are no uuids

insert into events.subject (type, relation, view_name) values
  ('Tree', 'orchard.tree', 'trees'), ('Harvest', 'orchard.harvest', 'harvests');
insert into events.field (subject_type, name, position, column_name, id_of) values
  ('Tree', 'id', 1, 'id', 'Tree'), ('Tree', 'sort', 2, 'sort', null), ('Tree', 'height', 3, 'height', null),
  ('Harvest', 'id', 1, 'year,crate', 'Harvest'), ('Harvest', 'crate', 2, 'crate', null),
  ('Harvest', 'kilograms', 3, 'kilograms', null), ('Harvest', 'tastes', 4, 'tastes', null),
  ('Harvest', 'notes', 5, 'notes', null), ('Harvest', 'kept', 6, 'kept', null),
  ('Harvest', 'pickerId', 7, 'picker', 'Picker');
insert into events.topic (name, subject_type, scope, description) values
  ('tree.changed', 'Tree', 'trees:read', 'A tree has grown.'),
  ('harvest.changed', 'Harvest', 'trees:read', 'A crate is another.'),
  ('harvest.deleted', 'Harvest', 'trees:read', 'A crate was sold.');
insert into events.occasion (topic, operation) values
  ('tree.changed', 'insert'), ('tree.changed', 'update'), ('harvest.changed', 'insert'),
  ('harvest.changed', 'update'), ('harvest.deleted', 'delete');

-- A mutation that answers numbers of many digits

create type api_unstable.tree_measure_input as (tree_id bigint, amount numeric);
comment on type api_unstable.tree_measure_input is 'What was measured.';
comment on column api_unstable.tree_measure_input.tree_id is 'The tree.';
comment on column api_unstable.tree_measure_input.amount is 'How much.';
create type api_unstable.tree_measure_payload as (
  number bigint, amount numeric, amounts numeric[], notes jsonb, user_errors api_unstable.user_error[]
);
comment on type api_unstable.tree_measure_payload is 'What was measured.';
comment on column api_unstable.tree_measure_payload.number is 'The number.';
comment on column api_unstable.tree_measure_payload.amount is 'How much.';
comment on column api_unstable.tree_measure_payload.amounts is 'The same, several times.';
comment on column api_unstable.tree_measure_payload.notes is 'What else.';
comment on column api_unstable.tree_measure_payload.user_errors is 'Why nothing was changed.';
create function api_unstable.tree_measure(input api_unstable.tree_measure_input)
returns api_unstable.tree_measure_payload
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select row (input.tree_id, input.amount, array[input.amount, 1.50], '{"d": 1.10, "n": 12345678901234567890}', null
  )::api_unstable.tree_measure_payload
$$;
comment on function api_unstable.tree_measure(api_unstable.tree_measure_input) is $$
@requiresScopes trees:write
@userErrors INVALID
Measures a tree.$$;

-- A row of docs/reference/keys-and-types.md each

create table orchard.sample (
  sample_id integer primary key,
  taken_at timestamptz not null,
  spot point,
  price money,
  words tsvector,
  note xml,
  counts integer[],
  sure text[] check (array_position(sure, null) is null)
);
comment on table orchard.sample is 'Some apples.';
alter table orchard.sample enable row level security;
create index on orchard.sample (taken_at, sample_id);
insert into orchard.sample
select n, timestamptz '2026-05-05T10:00:00Z' + n * interval '0.4 seconds', point(n, 0.1), 90071992547409.93,
  'a fat cat', '<a/>', case n when 7 then array[1, null] else array[n] end, '{a}'
from generate_series(0, 7) n;

create view api_unstable.samples with (security_invoker = true) as
select sample_id as id, taken_at, spot, price, words, note, counts, sure from orchard.sample;
comment on view api_unstable.samples is $$
@primaryKey id
@requiresScopes trees:read
@filters *
Some apples.$$;

create table orchard.visitor (id uuid primary key default uuidv7(), name text not null);
comment on table orchard.visitor is 'People who have come.';
alter table orchard.visitor enable row level security;
insert into orchard.visitor (name) values ('Ada Apfel'), ('Bob Birne');
create view api_unstable.visitors with (security_invoker = true) as select id, name from orchard.visitor;
comment on view api_unstable.visitors is $$
@primaryKey id
@requiresScopes trees:read
@search name
Somebody who has come.$$;

create table orchard.reading (taken_at timestamptz, probe bytea, degrees integer, primary key (taken_at, probe));
comment on table orchard.reading is 'How warm it is.';
alter table orchard.reading enable row level security;
create view api_unstable.readings with (security_invoker = true) as
select taken_at, probe, degrees from orchard.reading;
comment on view api_unstable.readings is $$
@primaryKey taken_at,probe
@requiresScopes trees:read
How warm it is.$$;
insert into events.subject (type, relation, view_name) values ('Reading', 'orchard.reading', 'readings');
insert into events.field (subject_type, name, position, column_name, id_of) values
  ('Reading', 'id', 1, 'taken_at,probe', 'Reading');
insert into events.topic (name, subject_type, scope, description) values
  ('reading.taken', 'Reading', 'trees:read', 'It was read.');
insert into events.occasion (topic, operation) values ('reading.taken', 'insert');

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

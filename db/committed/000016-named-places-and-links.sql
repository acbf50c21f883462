--! Previous: sha1:1befd63414eac6c38750c9ae7b1dfde47ae064f4
--! Hash: sha1:855305541f493a8ac4860c4a2a27721fae8da591
--! Message: named places and links

--! split: 0400-named-places.sql
-- Places of calls that are run together are of the sort that they are named as
--! Included ledger/plain_singles.sql
-- In a form that becomes part of the statement that calls it
create or replace function ledger.plain_singles(
  singles ledger.single[], moment timestamptz, ids uuid[]
)
returns table (
  nth integer, side integer, draft ledger.draft, counted integer, note text, cause jsonb,
  booked_at timestamptz, movement_id uuid, change integer, not_for_sale integer, stock ledger.stock,
  special_id uuid, product erp.product, held_id uuid, configuration_id uuid, place_configuration_id uuid,
  stock_change bigint, product_change bigint, not_for_sale_change bigint, own_change bigint,
  own_not_for_sale bigint
)
language sql stable
begin atomic
  select j.nth, j.side,
    ledger.draft_of_single(j.operation, (j.line).product_id, (j.line).quantity, j.change,
      w.source_type, w.source, w.destination_type, w.destination),
    case j.operation when 'set' then (j.line).quantity end, j.note, j.cause,
    -- Later ones have moved since what earlier ones count
    moment + j.nth * interval '1 microsecond',
    case when j.change <> 0 and j.side = 1 then ids[j.position] end, j.change, j.not_for_sale,
    j.stock, j.special_id, j.product, (j.held).id, j.configuration_id,
    j.place_configuration_id, j.stock_change, j.product_change, j.not_for_sale_change, j.own_change,
    j.own_not_for_sale
  from (
    select r.*,
      bool_and(coalesce(
        (r.stock).quantity + r.stock_change between 0 and 2000000000
        and (r.product).physical_stock + r.product_change <= 2000000000
        -- What was changed before can't be set by what is known here
        and (r.operation <> 'set' or r.nth_there = 1)
        -- A warning is due, unless units come
        and (r.change >= 0 or (r.held).available_quantity + r.held_change >= 0
          and (r.product).available_stock + r.product_change - r.not_for_sale_change >= 0), false))
        over (partition by (r.line).product_id order by r.nth) as is_plain
    from (
      select s.*, row_number() over there as nth_there, sum(s.change) over there as stock_change,
        sum(s.change) over (partition by (s.held).id order by s.nth) as held_change,
        sum(s.change) over everywhere as product_change,
        sum(s.not_for_sale) over everywhere as not_for_sale_change,
        sum(s.change) over own as own_change,
        sum(s.not_for_sale) over own as own_not_for_sale
      from (
        select c.*, l.side, p.*, x.change, case when p.is_for_sale then 0 else x.change end as not_for_sale
        from unnest(singles) with ordinality c (nth, operation, line, note, cause, position)
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
        everywhere as (partition by (s.line).product_id order by s.nth),
        own as (partition by (s.line).product_id, s.nth)
    ) r
  ) j cross join lateral ledger.places_of(j.line) w
  where j.is_plain;
end;
comment on function ledger.plain_singles(ledger.single[], timestamptz, uuid[]) is
  'Of mutations of stock with one line each, those that ledger.plain_place finds plain, that leave enough, '
  'and that no earlier one of the same product stands in the way of. One row for each place of theirs: what '
  'changes there, there and of the product together with the earlier ones, and of the product by both places '
  'of the mutation. Ids of movements are given in order. The products are locked.';
grant execute on function ledger.plain_singles(ledger.single[], timestamptz, uuid[]) to service_booker;
--! EndIncluded ledger/plain_singles.sql
-- Columns of links say what indexes do for them, however the database came to be
--! Included api_meta/describe.sql
create or replace function api_meta.describe() returns void
language plpgsql set search_path = pg_catalog, pg_temp
-- Postgres takes what follows from the catalog for a few rows
set enable_nestloop = off as $$
declare
  col record;
begin
  for col in
    with tagged as materialized (
      select v.*,
        array(
          select unnest(string_to_array(replace(t, ' ', ''), ','))
          from api_meta.view_tag(v.view, 'nullable') t
        ) as nullable,
        array(
          select unnest(string_to_array(replace(t, ' ', ''), ',')) from api_meta.view_tag(v.view, 'hidden') t
        ) as hidden,
        array(select t from api_meta.view_tag(v.view, 'columnEnum') t) as enums
      from api_meta.api_view v
      -- frozen versions keep the words that they were released with
      where v.schema = 'api_unstable'
    ), source as materialized (
      select distinct on (s.view, s.attname) s.* from api_meta.view_column_source s
      where s.view = any (array(select v.view from tagged v))
      order by s.view, s.attname, s.weight desc
    ), index_tag as materialized (
      select i.view, i.name, string_agg(i.tag, E'\n' order by i.tag) as tags
      from api_meta.index_tag i group by i.view, i.name
    ), described as (
      select v.schema, v.name, a.attname, s.table_id, own.description as own,
        concat_ws(E'\n',
          case when s.attnotnull and a.attname <> all (v.nullable) then '@notNull' end,
          case when a.attname = any (v.hidden) then '@behavior -*' end,
          (
            select '@enum ' || split_part(e, ' ', 2) from unnest(v.enums) e
            where split_part(e, ' ', 1) = a.attname
          ),
          i.tags
        ) as tags,
        coalesce(
          below.description,
          case a.attname
            when 'id' then 'Global id.'
            when 'created_at' then 'When it was made.'
            when 'updated_at' then 'When it was last changed; null when it never was.'
          end
        ) as text
      from tagged v
      join pg_attribute a on a.attrelid = v.view and a.attnum > 0 and not a.attisdropped
      left join source s on s.view = v.view and s.attname = a.attname
      left join index_tag i on i.view = v.view and i.name = a.attname
      left join pg_description own on own.classoid = 'pg_class'::regclass
        and own.objoid = v.view and own.objsubid = a.attnum
      left join pg_description below on below.classoid = 'pg_class'::regclass
        and below.objoid = s.table_id and below.objsubid = s.attnum
    )
    select d.schema, d.name, d.attname, w.words
    from described d
    cross join lateral (select nullif(concat_ws(E'\n', nullif(d.tags, ''), d.text), '') as words) w
    -- a comment written by hand beside the view stays; what this function wrote before is written anew
    where (d.own is null or d.table_id is not null and d.text is not null
        or d.own ~ '^(@notNull(\n|$))?(@behavior -\*(\n|$))?(@(indexed|orders)[^\n]*(\n|$))*$')
      and w.words is distinct from d.own
  loop
    execute format('comment on column %I.%I.%I is %L', col.schema, col.name, col.attname, col.words);
  end loop;
end
$$;
comment on function api_meta.describe() is
  'Writes the comments of the columns of the views of api_unstable: description and nullability from the '
  'table''s column of the same name, corrected by the view''s tags @nullable, @hidden and @columnEnum, and '
  'what indexes do for it. '
  'Columns that are expressions carry comments of their own. Changes only what differs.';
--! EndIncluded api_meta/describe.sql

-- Products, variants and batches
-- Blocks of 40: a garment in 12 variants, a coffee in 3 sizes, 3 foods, 20 pieces of gear. Parents are not
-- stocked.
create table demo.product as
with
row as (
  select n, (n - 1) / 40 as block, (n - 1) % 40 as r from generate_series(1, 200 * demo.scale()) n
),
named as (
  select *,
    case
      when r <= 12 then 'garment'
      when r <= 16 then 'coffee'
      when r <= 19 then 'food'
      else 'gear' end as kind,
    case when r between 1 and 12 then n - r when r between 14 and 16 then n - r + 13 end as parent_n,
    (array['Höhenweg', 'Alpage', 'Ridgeline', 'Wildbach', 'Refuge', 'Fernblick', 'Granite', 'Sentier',
      'Nordwand', 'Vallée', 'Moorland',
      'Steinbock', 'Edelweiss', 'Chamois', 'Lochside',
      'Bivouac', 'Gletscher', 'Brume', 'Harbour', 'Kiefer', 'Cairn', 'Lavande', 'Firn', 'Grouse'])[1
        + block % 24]
      || case when block >= 24 then ' ' || block / 24 + 1 else '' end as style
  from row
),
labelled as (
  select *,
    case kind
      when 'garment'
        then (array['Merino T-Shirt', 'Fleecejacke', 'Veste imperméable', 'Wanderhose', 'Softshell Jacket',
        'Chemise de trek'])[1 + block % 6]
      when 'coffee'
        then (array['Espresso', 'Filterkaffee', 'Café en grains', 'Single Origin Coffee'])[1 + block % 4]
      when 'food' then (array['Energieriegel Haselnuss', 'Barre aux abricots', 'Trail Mix'])[r - 16]
      else (array['Trekkingrucksack 45 l', 'Tagesrucksack 20 l', 'Tente légère 2 places', 'Schlafsack Daune',
        'Sac de couchage été',
        'Inflatable Sleeping Mat', 'Stirnlampe 400 lm', 'Gas Stove',
        'Popote en titane', 'Thermosflasche 1 l', 'Enamel Mug', 'Handmühle', 'Cafetière à piston',
          'Espressokocher 4 Tassen', 'Pour-over Dripper',
          'Trekkingstöcke', 'Gourde isotherme',
        'First-aid Kit', 'Wanderstiefel', 'Wanderstiefel'])[r - 19]
    end || ' ' || style as base,
    (array['Moos', 'Ardoise', 'Rust'])[1 + (r - 1) / 4] || ' '
      || (array['S', 'M', 'L', 'XL'])[1 + (r - 1) % 4] as garment,
    (array['250 g', '500 g', '1 kg'])[r - 13] as pack
  from named
),
priced as (
  select *,
    case kind
      when 'garment' then 49 + 20 * demo.pick(block, 'garment price', 6) + 0.95
      when 'coffee' then 8.9 * (array[1, 1, 1.9, 3.6])[1 + greatest(r - 13, 0)]
        + demo.pick(block, 'coffee price', 4)
      when 'food' then 2.5 + demo.pick(n, 'price', 30) / 10.0
      else (
        array[179, 79, 329, 249, 89, 99, 45, 59, 69, 39, 14, 89, 34, 39, 29, 99, 27, 32, 169, 119]
      )[r - 19]
        * (1 + demo.pick(block, 'gear price ' || r, 25) / 100.0)
    end::numeric as price
  from labelled
)
select n, demo.id('product', n) as id, parent_n, kind, r, block,
  case
    when r between 1 and 12 then base || ' ' || garment
    when r between 14 and 16 then base || ' ' || pack
    when r = 39 then base || ' (2. Wahl)'
    else base
  end as label,
  format('%s-%s-%s',
    case kind when 'garment' then 'BK' when 'coffee' then 'KA' when 'food' then 'LM' else 'AU' end,
      demo.padded(block + 1, 4),
    demo.padded(r, 2)) as number,
  kind in ('coffee', 'food') as has_batches,
  r not in (0, 13) as is_stocked,
  case when kind in ('coffee', 'food') then 7 else 19 end::numeric as tax_rate,
  case when kind = 'gear' then ceil(price) - 0.1 else round(price, 2) end as gross,
  demo.opening() - interval '15 days' + n * interval '1 second' as created_at
from priced;
alter table demo.product add primary key (n);

create function demo.serial_product() returns bigint language sql stable parallel safe
return 200 * demo.scale() + 1;

create function demo.ean13(n bigint) returns text language sql immutable parallel safe
return (select digits
  || (10 - sum(substr(digits, i, 1)::integer * case when i % 2 = 0 then 3 else 1 end) % 10) % 10
  from (values ('402' || demo.padded(n, 9))) as v (digits), generate_series(1, 12) i group by digits);

insert into erp.product (id, product_number, parent_id, canonical_product_id, name, description, gtin,
  manufacturer_number, unit_code, tax_rate,
  is_batch_managed, minimum_remaining_shelf_life_days, pick_order,
  storefront_variants, reorder_point, target_maximum_quantity, created_at, updated_at, translations)
select p.id, p.number, parent.id, case when p.r = 39 then demo.id('product', p.n - 1) end,
  -- Variants may leave name and description to their parent
  case when p.r not in (4, 8, 12) then p.label end,
  case when p.parent_n is null and p.r <> 27 then case p.kind
    when 'garment' then 'Für lange Tage draußen: robust, atmungsaktiv und fair genäht.'
    when 'coffee' then 'Roasted in small batches. Notes of cocoa, hazelnut and orange.'
    when 'food' then 'De l''énergie pour la route, sans additifs.'
    else 'Tested on tour, repairable, with a five-year guarantee.' end end,
  case when p.is_stocked and p.n % 10 <> 7 then demo.ean13(p.n) end,
  case when p.n % 5 <> 3 then 'M' || demo.padded(demo.pick(p.n, 'manufacturer', 100000), 5) || '-' || p.n end,
  case when p.n % 6 = 1 then 'H87' end, p.tax_rate, p.has_batches and p.is_stocked,
  case when p.has_batches and p.is_stocked then case p.kind when 'food' then 30 else 60 end end,
  case
    when p.has_batches and p.is_stocked then 'first_expired'
    when p.kind = 'gear' and p.n % 7 = 0 then 'first_in'
    when p.kind = 'gear' and p.n % 7 = 1 then 'bin' end,
  case when p.n % 10 in (2, 5, 8) then '[]'::jsonb else jsonb_build_array(jsonb_build_object(
    'productId', 'gid://storefront/Product/' || 7000000 + coalesce(p.parent_n, p.n),
    'variantId', case
      when p.parent_n is not null then 'gid://storefront/ProductVariant/' || 9000000 + p.n end)) end,
  case when p.is_stocked then demo.pick(p.n, 'reorder', 6) * 5 end,
  case when p.is_stocked and p.n % 3 > 0 then 40 + demo.pick(p.n, 'target', 6) * 20 end,
  p.created_at,
    case when p.n % 2 = 0 then demo.opening() + demo.pick(p.n, 'updated', 700) * interval '1 day' end,
  case
    when p.r = 39 then jsonb_build_object('en-GB', jsonb_build_object('name', p.label || ' (seconds)'),
      'fr-FR', jsonb_build_object('name', p.label || ' (second choix)'))
    when p.parent_n is null and p.r <> 27 then case p.kind
      when 'garment' then '{"en-GB": {"description": "For long days outdoors: sturdy and fairly sewn."},
        "fr-FR": {"description": "Pour de longues journées dehors : robuste et respirant."}}'
      when 'coffee' then '{"de-DE": {"description": "Schonend geröstet, mit Noten von Kakao und Orange."}}'
      when 'food' then '{"de-DE": {"description": "Energie für unterwegs, ohne Zusätze."}}'
      else '{"de-DE": {"description": "Auf Tour erprobt, mit fünf Jahren Garantie."}}' end::jsonb
    else '{}' end
from demo.product p left join demo.product parent on parent.n = p.parent_n
order by p.n;

insert into erp.product_image (product_id, position, url, alt_text, translations)
select p.id, i, format('https://images.example.com/%s/%s.jpg', lower(p.number), i),
  case when i % 4 > 0 then p.label || demo.one_of(i, 'view', array[', front', ', back', ', in use']) end,
  case when i = 1 then jsonb_build_object('de-DE', jsonb_build_object('alt_text', p.label || ', von vorn'))
    else '{}' end
from demo.product p, generate_series(1, case when p.n = 20 then 12 else demo.pick(p.n, 'image', 4) end) i
order by p.n, i;

insert into erp.product_price (product_id, currency_id, net, gross, linked)
select p.id, c.id, demo.net(price, p.tax_rate) - case when p.n % 12 = 5 then 0.01 else 0 end, price,
  p.n % 12 <> 5
from demo.product p, erp.currency c, lateral (select case when c.is_default_currency then round(p.gross, 2)
  else ceil(p.gross * c.factor) - 0.05 end as price) v
where p.r not in (4, 8, 12) and (c.is_default_currency or demo.pick(p.n, c.iso_code, 4) > 0);

-- Kinds of products that lie in the warehouse, numbered without gaps
create table demo.stocked as
select row_number() over (order by n) as s, n, id, label, number, has_batches, tax_rate, gross, kind,
  case when has_batches then 3 + demo.pick(n, 'batches', 3) else 0 end as batches, created_at
from demo.product where is_stocked;
alter table demo.stocked add primary key (n);
create unique index on demo.stocked (s);
analyze demo.stocked;

create function demo.batch_id(product_n bigint, batch integer)
returns uuid language sql immutable parallel safe
return case when batch is not null then demo.id('batch', product_n * 8 + batch) end;

insert into erp.batch (id, product_id, number, comment, best_before_date, production_date, supplier_lot,
  created_at, updated_at)
select demo.batch_id(p.n, i), p.id,
  'L' || to_char(at, 'YYMM') || '-' || demo.padded(demo.pick(p.n * 8 + i, 'lot', 1000), 3) || '-' || i,
  case
    when (p.n + i) % 4 = 0
      then demo.one_of(p.n + i, 'comment', array['Röstung Brasilien', 'Best before in 12 months',
    'Contrôle qualité fait']) end,
  -- Few have expired, or are short of the promised shelf life
  case
    when (p.n + i) % 200 = 61 then demo.today()::date - 10
    when (p.n + i) % 200 = 102 then demo.today()::date + 12
    when (p.n + i) % 5 > 0 then demo.today()::date + 300 + demo.pick(p.n * 8 + i, 'best before', 1100) end,
  case when (p.n + i) % 5 > 2 then at::date - 3 - demo.pick(p.n * 8 + i, 'produced', 20) end,
  case when (p.n + i) % 4 > 1
    then 'LOT ' || demo.padded(demo.pick(p.n * 8 + i, 'supplier lot', 100000), 5) end,
  at, case when (p.n + i) % 3 = 0 then at + interval '40 days' end
from demo.stocked p, generate_series(1, p.batches) i,
  lateral (select demo.opening() - interval '10 days' as at) v
order by p.n, i;

insert into erp.product_tag (product_id, tag_id)
select p.id, demo.id('tag', t) from demo.product p, generate_series(1, 24) t
where case when p.n = 20 then t <= 14 else demo.pick(p.n * 32 + t, 'product tag', 16) = 0 end;
insert into erp.batch_tag (batch_id, tag_id)
select demo.batch_id(p.n, i), demo.id('tag', t)
from demo.stocked p, generate_series(1, p.batches) i, generate_series(1, 24) t
where case
  when p.n = 15 and i = 1 then t <= 12
  else demo.pick((p.n * 8 + i) * 32 + t, 'batch tag', 40) = 0 end;

-- A product with serial numbers, the last of all, so that it leaves the ids of the others as they are. Its
-- units come from two lots
insert into erp.product (id, product_number, name, gtin, manufacturer_number, tax_rate, is_batch_managed,
  has_serial_numbers, created_at)
values (demo.id('product', demo.serial_product()), 'AU-SN-01', 'Avalanche Transceiver Refuge',
  demo.ean13(demo.serial_product()), 'AT-457', 19, true, true, demo.opening());
insert into erp.product_price (product_id, currency_id, net, gross, linked)
select demo.id('product', demo.serial_product()), c.id, demo.net(p.gross, 19), p.gross, true
from erp.currency c cross join lateral (select round(299 * c.factor, 2) as gross) p;
insert into erp.batch (id, product_id, number, production_date, supplier_lot, created_at)
select demo.batch_id(demo.serial_product(), i), demo.id('product', demo.serial_product()),
  'AT457-' || demo.padded(2600 + i, 6), demo.today()::date - 100 - i % 2 * 30, 'LOT AT-' || 1 + i % 2,
  demo.today() - interval '20 days'
from generate_series(1, 7) i;

-- Warehouses, bins and where products are kept
insert into erp.warehouse (
  id, code, name, is_default, is_default_receiving, is_stock_available_for_sale, address, gln, created_at,
  updated_at
)
values
  (
    demo.id('warehouse', 1), 'HAM', 'Zentrallager Hamburg', true, false, true, demo.address(1, 'Germany'),
    -- GS1 keeps numbers that begin with 952 for examples
    '9521000000179', demo.opening() - interval '20 days', null
  ),
  (demo.id('warehouse', 2), 'BRE', 'Wareneingang Bremen', false, true, true, demo.address(2, 'Germany'),
    '9521000000346', demo.opening() - interval '20 days',
    demo.opening()),
  (
    demo.id('warehouse', 3), 'LYO', 'Retours Lyon', false, false, false, null,
    null, demo.opening() - interval '20 days', null
  );

insert into erp.location (id, name, active, warehouse_id, storefront_id, created_at, updated_at)
select demo.id('location', n), name, n <> 5, case when n <= 3 then demo.id('warehouse', n) end,
  case when n in (1, 2, 4) then 'gid://storefront/Location/' || 6100 + n end,
    demo.opening() - interval '20 days',
    case when n = 5 then demo.today() - interval '90 days' end
from unnest(
  array['Hamburg', 'Bremen', 'Lyon', 'Boutique Paris', 'Pop-up Leeds']
) with ordinality as v (name, n);

create function demo.bins(warehouse integer) returns integer language sql stable
return case warehouse when 1 then 40 + 20 * demo.scale() when 2 then 20 + 10 * demo.scale() else 12 end;
create function demo.bin_id(warehouse integer, n bigint) returns uuid language sql immutable parallel safe
return demo.id('bin', warehouse * 100000 + n);

-- The last bin of warehouse 1 is torn down later, after it was in use
insert into erp.bin_location (id, warehouse_id, code, position, stock_state, created_at, updated_at)
select demo.bin_id(w, n), demo.id('warehouse', w),
  case
    when n > demo.bins(w) then 'ALT-01'
    else format('%s-%s-%s', demo.padded(1 + (n - 1) / 40, 2), demo.padded(1 + (n - 1) % 40 / 4, 2),
    1 + (n - 1) % 4) end,
  case when n % 9 > 0 then n * 10 end,
  -- Goods wait in the last bins but one, and damaged ones lie in the last
  case when w = 2 then 'sellable' when n = demo.bins(w) - 1 then 'quality_control'
    when n = demo.bins(w) then 'damaged' else 'sellable' end,
  demo.opening() - interval '19 days',
    case when n % 4 = 0 then demo.opening() + n % 500 * interval '1 day' end
from generate_series(1, 3) w, generate_series(1, demo.bins(w) + case when w = 1 then 1 else 0 end) n;

insert into erp.bin_location_tag (bin_location_id, tag_id)
select demo.bin_id(w, n), demo.id('tag', t)
from generate_series(1, 3) w, generate_series(1, demo.bins(w)) n, generate_series(1, 24) t
where case when w = 1 and n = 1 then t <= 12 else demo.pick((w * 100000 + n) * 32 + t, 'bin tag', 30) = 0 end;

-- Those without a warehouse are from a time when containers needed none
alter table erp.stock_container disable trigger keep_place_of_new;
insert into erp.stock_container (
  id, number, kind, sscc, warehouse_id, bin_location_id, created_at, updated_at
)
select demo.id('container', n), 'KISTE-' || demo.padded(n, 3), (array['box', 'tote', 'pallet'])[1 + n % 3],
  case when n % 3 = 2 then s.digits || (10 - (
    select sum(d.digit::integer * case when d.nth % 2 = 1 then 3 else 1 end)
    from string_to_table(s.digits, null) with ordinality d (digit, nth)) % 10) % 10 end,
  case when n % 7 > 0 then demo.id('warehouse', 1 + n % 2) end,
  case when n % 7 > 0 and n % 5 < 3 then demo.bin_id(1 + n % 2, 2 + n) end,
  demo.opening() - interval '18 days',
  case when n % 4 = 0 then demo.opening() + n * interval '1 day' end
from generate_series(1, 10 + 10 * demo.scale()) n,
  -- GS1 keeps numbers that begin with 952 for examples
  lateral (select '39521000' || demo.padded(n, 9)) s (digits);
alter table erp.stock_container enable trigger keep_place_of_new;

-- Where a product lies in each warehouse unless something else says otherwise: a bin, or the part without
-- bins. The first bin of the first warehouse is the pick front, where small things of many kinds lie.
create table demo.home as
select p.n as product_n, w as warehouse, demo.id('warehouse', w) as warehouse_id, bin,
  coalesce(demo.bin_id(w, bin), demo.id('warehouse', w)) as place_id,
    case when bin is null then 'warehouse' else 'bin_location' end as place_type
from demo.stocked p, generate_series(1, 3) w, lateral (
  select case
    when w = 1 and p.s % 10 = 0 and p.s < 400 then 1
    when w > 1 and p.s % 4 = w - 2 then null
    else 2 + demo.pick(p.n, 'bin ' || w,
    demo.bins(w) - 1) end as bin
) v;
alter table demo.home add primary key (product_n, warehouse);
analyze demo.home;

insert into erp.product_warehouse_configuration (id, product_id, warehouse_id, default_bin_location_id,
  reorder_point, target_maximum_quantity,
  created_at, updated_at)
select demo.id('product warehouse', product_n * 4 + warehouse), demo.id('product', product_n), warehouse_id,
  demo.bin_id(warehouse, bin),
  demo.pick(product_n, 'reorder ' || warehouse, 5) * 5, case when product_n % 3 > 0 then 60 end,
  demo.opening() - interval '10 days',
    case when product_n % 4 = 0 then demo.opening() + interval '100 days' end
from demo.home
where warehouse = 1 or warehouse = 2 and product_n % 2 = 0 or warehouse = 3 and product_n % 9 = 0;

insert into erp.product_stock_location_configuration (id, product_id, warehouse_id, bin_location_id,
  reorder_point, target_maximum_quantity,
  created_at, updated_at)
select demo.id('product place', product_n * 64 + warehouse), demo.id('product', product_n),
  case when bin is null then warehouse_id end,
  demo.bin_id(warehouse, bin),
  1 + demo.pick(product_n, 'reorder place', 4) * 3, case when product_n % 2 = 0 then 30 end,
    demo.opening() - interval '10 days',
    case when product_n % 4 = 0 then demo.opening() + interval '100 days' end
from demo.home where warehouse = 1 and product_n % 2 = 0 or warehouse = 2 and product_n % 3 = 0
union all
select demo.id('product place', 2 * 64 + 10 + b), demo.id('product', 2), null, demo.bin_id(3, b), 2, null,
  demo.opening() - interval '10 days',
  null from generate_series(1, 11) b;

-- Suppliers and purchase prices
create function demo.suppliers() returns integer language sql stable return 12 + 3 * demo.scale();

create table demo.supplier as
select n, demo.id('supplier', n) as id,
  case when n % 5 = 0 then 2 when n % 7 = 0 then 4 when n % 11 = 0 then 3 else 1 end as currency,
  n % 3 = 1 as leaves_currency_open,
  (array['Rösterei Nordlicht GmbH', 'Cafés du Rhône SARL', 'Peak Textiles Ltd', 'Alpin Werkstatt KG',
    'Pacific Outdoor Inc.',
    'Laiterie des Alpes', 'Säntis Sport AG', 'Moulin & Fils', 'Weber Metallwaren',
    'Highland Wool Co.', 'Atelier Granit', 'Harbour Trading Ltd', 'Nussmanufaktur Franken', 'Zeltbau Müller',
      'Maison Lumière'])[1 + (n - 1) % 15]
        || case when n > 15 then ' ' || (n - 1) / 15 + 1 else '' end as name
from generate_series(1, demo.suppliers()) n;
alter table demo.supplier add primary key (n);

insert into erp.supplier (id, number, name, customer_number, currency_id, language_code, email, phone,
  address, default_delivery_time_days,
  minimum_order_value, vat_id, active, created_at, updated_at)
select id, demo.number('S-', n), name, case when n % 4 > 0 then 'GB-' || 4000 + n end,
  case when currency > 1 or not leaves_currency_open then demo.id('currency', currency) end,
  case when n % 6 > 0 then (array['de-DE', 'fr-FR', 'en-GB'])[1 + n % 3] end,
    case when n % 8 > 0 then 'orders@supplier' || n || '.example.com' end,
  case when n % 2 = 0 then '+49 40 5551' || 100 + n end,
    case when n % 5 <> 1 then demo.address(n, (array['Germany', 'France', 'United Kingdom',
    'Switzerland'])[1 + n % 4]) end,
  case when n % 3 > 0 then 5 + n % 15 end, case when n % 4 = 1 then 250 end,
    case when n % 5 > 0 then 'DE' || 200000000 + n end, n % 14 <> 13,
  demo.opening() - interval '25 days', case when n % 4 = 2 then demo.opening() end
from demo.supplier;

-- Most products have a default supplier (k = 1), some a second one (k = 2), few none
create table demo.supply as
select p.n as product_n, k, supplier, demo.id('product supplier', p.n * 4 + k) as id,
  round(demo.net(p.gross, p.tax_rate) * (0.42 + 0.06 * k) * c.factor, 2) as price, c.id as currency_id,
    c.factor, s.currency, p.tax_rate, p.s
from demo.stocked p, generate_series(1, 2) k,
  lateral (
    select 1 + (demo.pick(p.n / 4, p.kind, demo.suppliers()) + (k - 1) * 7) % demo.suppliers() as supplier
  ) v
join demo.supplier s on s.n = v.supplier
join erp.currency c on c.id = demo.id('currency', s.currency)
where k = 1 and p.s % 19 > 0 or k = 2 and p.s % 5 < 2;
analyze demo.supply;

insert into erp.product_supplier_configuration (id, product_id, supplier_id, supplier_product_number,
  min_purchase, purchase_steps,
  supplier_is_default, delivery_time_days, created_at, updated_at, units_per_pack)
select id, demo.id('product', product_n), demo.id('supplier', supplier),
  case when product_n % 6 > 0 then 'V' || supplier || '-' || product_n end,
  1 + product_n % 3 * 5, case when product_n % 3 = 0 then 1 else 5 end, k = 1,
    case when product_n % 4 > 0 then 3 + product_n % 20 end,
  demo.opening() - interval '9 days',
  case when product_n % 5 = 0 then demo.opening() + interval '50 days' end,
  case when product_n % 3 > 0 then 5 end
from demo.supply order by product_n, k;

insert into erp.product_supplier_price (product_supplier_configuration_id, currency_id, net, gross, linked)
select id, currency_id, price, round(price * (100 + tax_rate) / 100, 2), true
from demo.supply
where s % 23 > 0
union all
select id, demo.id('currency', 2), round(price * 1.0842, 2),
  round(price * 1.0842 * (100 + tax_rate) / 100, 2),
  s % 2 = 0 from demo.supply where s % 23 > 0 and currency = 1 and s % 6 = 0;

-- Equal to the default supplier's where that one is paid in the default currency, else converted from its
-- price
insert into erp.product_purchase_price (product_id, currency_id, net, gross, linked)
select demo.id('product', s.product_n), p.currency_id, p.net, p.gross, p.linked
from demo.supply s
join erp.product_supplier_price p on p.product_supplier_configuration_id = s.id
where s.k = 1 and s.currency = 1
union all
select demo.id('product', s.product_n), demo.id('currency', 1), round(p.net / s.factor, 2),
  round(p.gross / s.factor, 2), p.linked
from demo.supply s join erp.product_supplier_price p on p.product_supplier_configuration_id = s.id
  and p.currency_id = s.currency_id where s.k = 1 and s.currency > 1;

select json_build_object('data', json_build_object('products', json_build_object(
  'edges', coalesce(json_agg(json_build_object('node', json_build_object('id', 'gid://service/Product/' || id,
    'productNumber', product_number, 'name', name, 'gtin', gtin, 'manufacturerNumber', manufacturer_number)) order by id), '[]'))))
from (
  select id, product_number, name, gtin, manufacturer_number
  from api_unstable.products
  where product_number >= $1 and product_number < $2 or gtin = $3 or manufacturer_number = $4
  order by id limit 10
) p

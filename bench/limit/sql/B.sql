select json_build_object('data', json_build_object('products', json_build_object(
  'edges', coalesce(json_agg(json_build_object('node', json_build_object('id', 'gid://service/Product/' || id,
    'productNumber', product_number, 'name', name, 'availableStock', available_stock)) order by id) filter (where n <= 10), '[]'),
  'pageInfo', json_build_object('hasNextPage', count(*) > 10))))
from (
  select id, product_number, name, available_stock, row_number() over (order by id) as n
  from api_unstable.products where product_number >= $1 and product_number < $2 order by id limit 11
) p

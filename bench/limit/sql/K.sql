select json_build_object('data', json_build_object('orders', json_build_object(
  'edges', coalesce(json_agg(json_build_object('node', json_build_object('id', 'gid://service/Order/' || id,
    'orderNumber', order_number, 'state', state)) order by id) filter (where n <= 20), '[]'),
  'pageInfo', json_build_object('hasNextPage', count(*) > 20))))
from (
  select id, order_number, state, row_number() over (order by id) as n
  from api_unstable.orders o
  where exists (select from api_unstable.order_line_items l where l.order_id = o.id and l.product_id = $1::uuid)
  order by id limit 21
) o

select json_build_object('data', json_build_object('orders', json_build_object(
  'edges', coalesce(json_agg(json_build_object('node', json_build_object('id', 'gid://service/Order/' || id,
    'orderNumber', order_number, 'orderDateTime', order_date_time, 'amountTotal', amount_total))
    order by order_date_time desc, id desc) filter (where n <= 20), '[]'),
  'pageInfo', json_build_object('hasNextPage', count(*) > 20))))
from (
  select id, order_number, order_date_time, amount_total, row_number() over (order by order_date_time desc, id desc) as n
  from api_unstable.orders where state = $1 and order_date_time < $2::timestamptz
  order by order_date_time desc, id desc limit 21
) o

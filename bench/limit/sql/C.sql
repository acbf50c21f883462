select json_build_object('data', json_build_object('orders', json_build_object('edges', coalesce(json_agg(
  json_build_object('node', json_build_object('id', 'gid://service/Order/' || o.id, 'orderNumber', o.order_number,
    'orderDateTime', o.order_date_time, 'amountTotal', o.amount_total, 'currency', json_build_object('isoCode', c.iso_code),
    'lineItems', json_build_object('edges', l.edges))) order by o.id), '[]'))))
from (
  select id, order_number, order_date_time, amount_total, currency_id from api_unstable.orders where id > $1 order by id limit 20
) o
left join api_unstable.currencies c on c.id = o.currency_id
cross join lateral (
  select coalesce(json_agg(json_build_object('node', json_build_object('id', 'gid://service/OrderLineItem/' || i.id,
    'quantity', i.quantity, 'unitPrice', i.unit_price, 'product', case when p.id is not null then
      json_build_object('id', 'gid://service/Product/' || p.id, 'productNumber', p.product_number, 'name', p.name) end))
    order by i.id), '[]') as edges
  from (
    select id, quantity, unit_price, product_id from api_unstable.order_line_items where order_id = o.id order by id limit 5
  ) i
  left join api_unstable.products p on p.id = i.product_id
) l

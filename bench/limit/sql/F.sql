select json_build_object('data', json_build_object(
  'product', (
    select json_build_object('id', 'gid://service/Product/' || id, 'productNumber', product_number, 'name', name)
    from api_unstable.products where id = $1),
  'order', (
    select json_build_object('id', 'gid://service/Order/' || id, 'orderNumber', order_number, 'state', state, 'amountTotal', amount_total)
    from api_unstable.orders where id = $2),
  'warehouses', (
    select json_build_object('edges', coalesce(json_agg(json_build_object('node', json_build_object(
      'id', 'gid://service/Warehouse/' || id, 'code', code, 'name', name)) order by id), '[]'))
    from (select id, code, name from api_unstable.warehouses order by id limit 3) w),
  'currencies', (
    select json_build_object('edges', coalesce(json_agg(json_build_object('node', json_build_object(
      'id', 'gid://service/Currency/' || id, 'isoCode', iso_code)) order by id), '[]'))
    from (select id, iso_code from api_unstable.currencies order by id limit 5) c)))

select json_build_object('data', json_build_object('stockMovements', json_build_object(
  'edges', coalesce(json_agg(json_build_object('node', json_build_object('id', 'gid://service/StockMovement/' || id,
    'quantity', quantity, 'createdAt', created_at, 'processTypeTechnicalName', process_type_technical_name,
    'productId', 'gid://service/Product/' || product_id)) order by id) filter (where n <= 20), '[]'),
  'pageInfo', json_build_object('hasNextPage', count(*) > 20))))
from (
  select id, quantity, created_at, process_type_technical_name, product_id, row_number() over (order by id) as n
  from api_unstable.stock_movements where id > $1 order by id limit 21
) m

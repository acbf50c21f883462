select json_build_object('data', json_build_object('stockMovements', json_build_object('edges', coalesce(json_agg(
  json_build_object('node', json_build_object('id', 'gid://service/StockMovement/' || m.id, 'quantity', m.quantity,
    'createdAt', m.created_at,
    'product', json_build_object('id', 'gid://service/Product/' || p.id, 'productNumber', p.product_number, 'name', p.name),
    'sourceWarehouse', case when sw.id is not null then json_build_object('id', 'gid://service/Warehouse/' || sw.id, 'code', sw.code) end,
    'destinationWarehouse', case when dw.id is not null then json_build_object('id', 'gid://service/Warehouse/' || dw.id, 'code', dw.code) end,
    'sourceBinLocation', case when sb.id is not null then json_build_object('id', 'gid://service/BinLocation/' || sb.id, 'code', sb.code) end,
    'destinationBinLocation', case when db.id is not null then json_build_object('id', 'gid://service/BinLocation/' || db.id, 'code', db.code) end
  )) order by m.id), '[]'))))
from (
  select id, quantity, created_at, product_id, source_warehouse_id, destination_warehouse_id, source_bin_location_id,
    destination_bin_location_id
  from api_unstable.stock_movements where id > $1 order by id limit 100
) m
left join api_unstable.products p on p.id = m.product_id
left join api_unstable.warehouses sw on sw.id = m.source_warehouse_id
left join api_unstable.warehouses dw on dw.id = m.destination_warehouse_id
left join api_unstable.bin_locations sb on sb.id = m.source_bin_location_id
left join api_unstable.bin_locations db on db.id = m.destination_bin_location_id

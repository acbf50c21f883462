select json_build_object('data', json_build_object('product', (
  select json_build_object('id', 'gid://service/Product/' || id, 'productNumber', product_number, 'name', name, 'gtin', gtin,
    'physicalStock', physical_stock, 'availableStock', available_stock)
  from api_unstable.products where id = $1
)))

select json_build_object('data', json_build_object('products', json_build_object('edges', coalesce(json_agg(
  json_build_object('node', json_build_object('id', 'gid://service/Product/' || p.id, 'tags', json_build_object('edges', t.edges)))
  order by p.id), '[]'))))
from (select id from api_unstable.products where id > $1 order by id limit 20) p
cross join lateral (
  select coalesce(json_agg(json_build_object('node', json_build_object('id', 'gid://service/Tag/' || g.id, 'name', g.name))
    order by g.id), '[]') as edges
  from (
    select t.id, t.name from api_unstable.product_tags l join api_unstable.tags t on t.id = l.tag_id
    where l.product_id = p.id order by t.id limit 5
  ) g
) t

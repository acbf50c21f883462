-- The tables of Medusa, as its migrations make them.
insert into stock_location (id, name) values ('sloc_measured', 'Warehouse') on conflict do nothing;

truncate product, product_variant, product_variant_inventory_item, inventory_item, inventory_level cascade;

insert into product (id, title, handle, status) select 'prod_' || id, name, number, 'published' from measured;
insert into product_variant (id, product_id, title, sku, ean)
select 'variant_' || id, 'prod_' || id, name, number, gtin from measured;
insert into inventory_item (id, sku, title) select 'iitem_' || id, number, name from measured;
insert into product_variant_inventory_item (id, variant_id, inventory_item_id)
select 'pvitem_' || id, 'variant_' || id, 'iitem_' || id from measured;
insert into inventory_level (id, inventory_item_id, location_id, stocked_quantity, raw_stocked_quantity,
  reserved_quantity, raw_reserved_quantity, raw_incoming_quantity)
select 'ilev_' || id, 'iitem_' || id, 'sloc_measured', physical,
  jsonb_build_object('value', physical::text, 'precision', 20), reserved,
  jsonb_build_object('value', reserved::text, 'precision', 20), '{"value": "0", "precision": 20}'
from measured;

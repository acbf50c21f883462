-- The tables of Vendure, as it makes them itself. What a shop needs before its first product has fixed ids.
insert into zone (id, name) values ('00000000-0000-4000-8000-000000000001', 'Everywhere') on conflict do nothing;
insert into tax_category (id, name, "isDefault") values ('00000000-0000-4000-8000-000000000002', 'Standard', true)
on conflict do nothing;
insert into tax_rate (id, name, enabled, value, "categoryId", "zoneId")
values ('00000000-0000-4000-8000-000000000003', 'Standard', true, 19, '00000000-0000-4000-8000-000000000002',
  '00000000-0000-4000-8000-000000000001')
on conflict do nothing;
update channel
set "defaultTaxZoneId" = '00000000-0000-4000-8000-000000000001',
  "defaultShippingZoneId" = '00000000-0000-4000-8000-000000000001';

truncate product, product_variant cascade;

insert into product (id) select id from measured;
insert into product_translation ("languageCode", name, slug, description, "baseId")
select 'en', name, number, '', id from measured;
insert into product_channels_channel ("productId", "channelId") select m.id, c.id from measured m, channel c;

insert into product_variant (id, "productId", sku, "taxCategoryId", "customFieldsGtin")
select id, id, number, '00000000-0000-4000-8000-000000000002', gtin from measured;
insert into product_variant_translation ("languageCode", name, "baseId") select 'en', name, id from measured;
insert into product_variant_channels_channel ("productVariantId", "channelId")
select m.id, c.id from measured m, channel c;
insert into product_variant_price (price, "currencyCode", "channelId", "variantId")
select 1000, c."defaultCurrencyCode", c.id, m.id from measured m, channel c;
insert into stock_level ("productVariantId", "stockLocationId", "stockOnHand", "stockAllocated")
select m.id, l.id, m.physical, m.reserved from measured m, stock_location l;

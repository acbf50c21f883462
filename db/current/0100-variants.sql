-- Entries from before the rule about them: it would refuse other changes of their products, too.
-- Numbers become texts, and what names no product goes
update erp.product p
set storefront_variants = (
  select coalesce(jsonb_agg(e.entry || k.ids order by e.nth), '[]')
  from jsonb_array_elements(p.storefront_variants) with ordinality e (entry, nth)
  cross join lateral (
    select coalesce(jsonb_object_agg(i.key, case jsonb_typeof(i.value)
      when 'number' then to_jsonb(i.value #>> '{}') when 'string' then i.value else 'null' end), '{}')
    from jsonb_each(case jsonb_typeof(e.entry) when 'object' then e.entry end) i
    where i.key in ('productId', 'variantId')
  ) k (ids)
  where jsonb_typeof(k.ids -> 'productId') = 'string'
)
where not erp.are_storefront_variants(p.storefront_variants);

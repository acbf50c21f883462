--! Previous: sha1:7978b623c4e1ca598f95f3df6b9ccc999b18e6ef
--! Hash: sha1:a45dc18f05037497487c25aa1a6c55e073eeb7ea
--! Message: variants within their rule

--! split: 0100-variants.sql
-- As part of its rule, it is no statement of its own for each row
--! Included erp/are_storefront_variants.sql
-- In a form that becomes part of the rule that calls it
create or replace function erp.are_storefront_variants(value jsonb) returns boolean
language sql immutable parallel safe
return coalesce(not value @? ('strict $[*] ? (!(@.productId.type() == "string") '
  || '|| (@.productId.type() == "string") is unknown '
  || '|| @.variantId.type() != "string" && @.variantId.type() != "null")')::jsonpath, true);
comment on function erp.are_storefront_variants(jsonb) is
  'Whether the entries of a list are objects that name a product of the storefront, and perhaps its variant.';
grant execute on function erp.are_storefront_variants(jsonb) to service_writer;
--! EndIncluded erp/are_storefront_variants.sql

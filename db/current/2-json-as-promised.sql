-- JSON that clients wrote was shown as it came, where they are promised keys and types
--!include ledger/keep_tracking_codes.sql
--!include erp/postal_address.sql
--!include erp/assign.sql
--!include erp/are_storefront_variants.sql
alter table erp.product drop constraint if exists product_storefront_variants_name_products;
alter table erp.product add constraint product_storefront_variants_name_products
  check (erp.are_storefront_variants(storefront_variants)) not enforced;
comment on constraint product_storefront_variants_name_products on erp.product is
  E'@userError INVALID storefront_variants\nEach entry must be an object with productId and variantId.';

-- A customer of whom another key is blank, too, could not be written by the backfill of migration 26. A blank
-- number names nobody, so the id takes its place; an address can't be made up, so such a customer is left
select api_meta.backfill('blank keys of customers', 'erp.customer', '{customer_number,storefront_id}',
  'case when erp.is_blank(customer_number) then id::text else customer_number end, '
  'case when not erp.is_blank(storefront_id) then storefront_id end',
  '(erp.is_blank(customer_number) or erp.is_blank(storefront_id)) and not erp.is_blank(email)')
where exists (select from erp.customer);

-- The mutations of stock, warehouses and bins. What a violated constraint means to clients stands in its comment.
--!include functions/erp/require_default_warehouse.sql
do $$
begin
  if not exists (select from pg_constraint where conname = 'warehouse_code_is_not_too_long') then
    alter table erp.warehouse
      add constraint warehouse_code_is_not_too_long check (length(code) <= 100),
      add constraint warehouse_name_is_not_too_long check (length(name) <= 255);
    alter table erp.bin_location add constraint bin_location_code_is_not_too_long check (length(code) <= 100);
    alter table ledger.stock_movement add constraint stock_movement_comment_is_not_too_long check (length(comment) <= 1000);
  end if;
end
$$;
comment on constraint warehouse_code_is_unique on erp.warehouse is E'@userError NOT_UNIQUE code\nAnother warehouse has this code.';
comment on constraint warehouse_code_is_not_blank on erp.warehouse is E'@userError INVALID code\nThe code is blank.';
comment on constraint warehouse_code_is_not_too_long on erp.warehouse is E'@userError OUT_OF_RANGE code\nThe code has more than 100 characters.';
comment on constraint warehouse_name_is_not_blank on erp.warehouse is E'@userError INVALID name\nThe name is blank.';
comment on constraint warehouse_name_is_not_too_long on erp.warehouse is E'@userError OUT_OF_RANGE name\nThe name has more than 255 characters.';
comment on constraint warehouse_address_is_an_object on erp.warehouse is E'@userError INVALID address\nThe address must be a JSON object.';
comment on constraint warehouse_has_its_defaults on erp.warehouse is
  E'@userError INVALID\nOne warehouse must be the default, and one the default for receiving. Make another one it first.';
comment on constraint bin_location_code_is_unique_per_warehouse on erp.bin_location is
  E'@userError NOT_UNIQUE code\nAnother bin of the warehouse has this code.';
comment on constraint bin_location_code_is_not_blank on erp.bin_location is E'@userError INVALID code\nThe code is blank.';
comment on constraint bin_location_code_is_not_too_long on erp.bin_location is E'@userError OUT_OF_RANGE code\nThe code has more than 100 characters.';
comment on constraint product_warehouse_configuration_reorder_point_is_not_negative on erp.product_warehouse_configuration is
  E'@userError OUT_OF_RANGE reorder_point\nThe reorder point must not be negative.';
comment on constraint product_warehouse_configuration_target_is_not_negative on erp.product_warehouse_configuration is
  E'@userError OUT_OF_RANGE target_maximum_quantity\nThe target must not be negative.';
comment on constraint product_warehouse_configuration_bin_is_in_the_warehouse on erp.product_warehouse_configuration is
  E'@userError INVALID default_bin_location_id\nThe warehouse has no such bin.';
comment on constraint stock_movement_comment_is_not_too_long on ledger.stock_movement is
  E'@userError OUT_OF_RANGE comment\nThe comment has more than 1,000 characters.';

--!include functions/erp/warehouse.sql
--!include functions/erp/bin_location.sql
--!include functions/erp/product_warehouse_configuration.sql

select api_meta.allow('service_writer', 'erp.warehouse', 'select', 'insert', 'delete',
  'update (code, name, is_default, is_default_receiving, is_stock_available_for_sale, address)');
select api_meta.allow('service_writer', 'erp.location', 'select', 'insert', 'update (name)');
select api_meta.allow('service_writer', 'erp.bin_location', 'select', 'insert', 'delete', 'update (code, position)');
select api_meta.allow('service_writer', 'erp.product_warehouse_configuration', 'select', 'insert',
  'update (default_bin_location_id, reorder_point, target_maximum_quantity)');
select api_meta.allow('service_writer', relation, 'select')
from unnest(array['erp.product', 'erp.goods_receipt', 'erp.fulfillment_order', 'ledger.stock', 'ledger.warehouse_stock']::regclass[]) relation;
grant execute on function erp.hand_over_defaults(uuid, boolean, boolean), erp.create_warehouse(text, text, boolean, boolean, boolean, jsonb),
  erp.update_warehouse(uuid, jsonb), erp.delete_warehouse(uuid), erp.create_bin_location(uuid, text, integer),
  erp.update_bin_location(uuid, jsonb), erp.delete_bin_location(uuid), erp.set_product_warehouse_configuration(uuid, uuid, jsonb) to service_writer;

-- All mutations are made anew, those of later files too: their types use types of this one
do $$
declare item record;
begin
  for item in
    select p.oid::regprocedure as routine from pg_proc p where p.pronamespace::regnamespace::text in ('api_unstable', 'api_2026_06_unstable')
  loop
    execute format('drop function %s', item.routine);
  end loop;
  for item in
    select c.oid::regclass as name from pg_class c
    where c.relnamespace::regnamespace::text in ('api_unstable', 'api_2026_06_unstable') and c.relkind = 'c' and c.relname ~ '_(input|payload)$|^user_error$'
  loop
    execute format('drop type %s cascade', item.name);
  end loop;
  drop type if exists api_2026_06_unstable.user_error_code;
end
$$;

--!include functions/api/user_error.sql
--!include functions/api/stock_place.sql
--!include functions/api/stock_set.sql
--!include functions/api/stock_adjust.sql
--!include functions/api/stock_transfer.sql
--!include functions/api/warehouse.sql
--!include functions/api/bin_location.sql
--!include functions/api/product_warehouse_configuration.sql

-- Who writes a comment wants to read it. Versions that are frozen already go without.
comment on column ledger.stock_movement.comment is 'Note of whoever booked it.';
drop view if exists api_unstable.stock_movements;
--!include views/api/stock_movements.sql

-- The version of June has the mutations too
--!include functions/api_meta/freeze.sql
select api_meta.clone_types('api_unstable', 'api_2026_06_unstable');
select api_meta.clone_functions('api_unstable', 'api_2026_06_unstable');

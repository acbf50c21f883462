--! Previous: sha1:5db136bcb55f841905202b3a4156c783765d58b9
--! Hash: sha1:c798a91bf67c0cbd0bd516d208c213df53f00d06
--! Message: mutations-of-stock

--! split: 0300-mutations.sql
-- The mutations of stock, warehouses and bins. What a violated constraint means to clients stands in its comment.
--! Included functions/erp/require_default_warehouse.sql
create or replace function erp.require_default_warehouse() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from erp.warehouse) and not (
    exists (select from erp.warehouse where is_default) and exists (select from erp.warehouse where is_default_receiving)
  ) then
    raise exception 'One warehouse must be the default, and one the default for receiving.'
      using errcode = 'integrity_constraint_violation', constraint = 'warehouse_has_its_defaults', schema = 'erp', table = 'warehouse';
  end if;
  return null;
end
$$;
comment on function erp.require_default_warehouse() is
  'Constraint trigger: as soon as there are warehouses, one is the default and one the default for receiving. That no two are is a unique index.';
--! EndIncluded functions/erp/require_default_warehouse.sql
--! Included functions/erp/is_blank.sql
create or replace function erp.is_blank(words text) returns boolean
language sql immutable strict parallel safe
return words !~ U&'[^\0009-\000D\0020\0085\00A0\1680\2000-\200D\2028\2029\202F\205F\2060\3000\FEFF]';
comment on function erp.is_blank(text) is 'Whether a text has nothing but white space, or nothing at all: that of Unicode, and characters without a width.';
--! EndIncluded functions/erp/is_blank.sql
do $$
begin
  if not exists (select from pg_constraint where conname = 'warehouse_code_is_not_too_long') then
    alter table erp.warehouse
      add constraint warehouse_code_is_not_too_long check (length(code) <= 100),
      add constraint warehouse_name_is_not_too_long check (length(name) <= 255);
    alter table erp.bin_location add constraint bin_location_code_is_not_too_long check (length(code) <= 100);
    -- Tabs, line feeds and other white space make no name either
    alter table erp.warehouse
      drop constraint warehouse_code_is_not_blank, drop constraint warehouse_name_is_not_blank,
      add constraint warehouse_code_is_not_blank check (not erp.is_blank(code)),
      add constraint warehouse_name_is_not_blank check (not erp.is_blank(name));
    alter table erp.bin_location
      drop constraint bin_location_code_is_not_blank, add constraint bin_location_code_is_not_blank check (not erp.is_blank(code));
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

--! Included functions/erp/warehouse.sql
create or replace function erp.hand_over_defaults(warehouse_id uuid, is_default boolean, is_default_receiving boolean) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if hand_over_defaults.is_default then
    update erp.warehouse w set is_default = false where w.is_default and w.id <> warehouse_id;
  end if;
  if hand_over_defaults.is_default_receiving then
    update erp.warehouse w set is_default_receiving = false where w.is_default_receiving and w.id <> warehouse_id;
  end if;
end
$$;
comment on function erp.hand_over_defaults(uuid, boolean, boolean) is
  'Takes the marks of being the default from other warehouses, where this one is to have them: there is exactly one of each.';

create or replace function erp.create_warehouse(code text, name text, is_default boolean, is_default_receiving boolean,
  is_stock_available_for_sale boolean, address jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made constant uuid := uuidv7();
  is_first boolean;
begin
  -- Who is the default concerns all warehouses
  lock table erp.warehouse in share row exclusive mode;
  is_first := not exists (select from erp.warehouse);
  perform erp.hand_over_defaults(made, is_default, is_default_receiving);
  insert into erp.warehouse (id, code, name, is_default, is_default_receiving, is_stock_available_for_sale, address)
  values (made, code, name, is_first or coalesce(is_default, false), is_first or coalesce(is_default_receiving, false),
    coalesce(is_stock_available_for_sale, true), address);
  insert into erp.location (name, warehouse_id) values (name, made);
  return made;
end
$$;
comment on function erp.create_warehouse(text, text, boolean, boolean, boolean, jsonb) is
  'Makes a warehouse with the location that orders are fulfilled from. The first one is the default for everything. Answers its id.';

create or replace function erp.update_warehouse(warehouse_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.warehouse;
  wanted erp.warehouse;
begin
  lock table erp.warehouse in share row exclusive mode;
  select * into present from erp.warehouse w where w.id = warehouse_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such warehouse.', '{id}');
  end if;
  wanted := jsonb_populate_record(present, changes - '{id,created_at,updated_at}'::text[]);
  perform erp.hand_over_defaults(wanted.id, wanted.is_default, wanted.is_default_receiving);
  update erp.warehouse w
  set code = wanted.code, name = wanted.name, is_default = wanted.is_default, is_default_receiving = wanted.is_default_receiving,
    is_stock_available_for_sale = wanted.is_stock_available_for_sale, address = wanted.address
  where w.id = present.id;
  -- A location that has a name of its own keeps it
  update erp.location l set name = wanted.name where l.warehouse_id = present.id and l.name = present.name and l.name <> wanted.name;
  return present.id;
end
$$;
comment on function erp.update_warehouse(uuid, jsonb) is
  'Changes the columns of a warehouse that the object names, and its location''s name along with its own. Answers its id.';

create or replace function erp.delete_warehouse(warehouse_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- As the other mutations of warehouses do, before any row
  lock table erp.warehouse in share row exclusive mode;
  perform from erp.warehouse w where w.id = warehouse_id for update;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such warehouse.', '{id}');
  end if;
  if exists (select from erp.goods_receipt r where r.warehouse_id = delete_warehouse.warehouse_id and r.state in ('approved', 'in_progress')) then
    perform mutation.refuse('REFERENCE_IN_USE', 'Goods are being received in this warehouse.', '{id}');
  end if;
  if exists (
    select from erp.fulfillment_order f join erp.location l on l.id = f.source_warehouse_location_id
    where l.warehouse_id = delete_warehouse.warehouse_id and f.state in ('Open', 'InProgress', 'OnHold')
  ) then
    perform mutation.refuse('REFERENCE_IN_USE', 'Orders are still to be fulfilled from this warehouse.', '{id}');
  end if;
  delete from erp.warehouse w where w.id = warehouse_id;
  return warehouse_id;
end
$$;
comment on function erp.delete_warehouse(uuid) is
  'Deletes a warehouse that is empty, has nothing to receive or to fulfill, and is not a default. Answers its id.';
--! EndIncluded functions/erp/warehouse.sql
--! Included functions/erp/bin_location.sql
create or replace function erp.create_bin_location(warehouse_id uuid, code text, "position" integer) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made uuid;
begin
  perform from erp.warehouse w where w.id = warehouse_id for key share;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such warehouse.', '{warehouse_id}');
  end if;
  insert into erp.bin_location (warehouse_id, code, "position") values (warehouse_id, code, "position") returning id into made;
  return made;
end
$$;
comment on function erp.create_bin_location(uuid, text, integer) is 'Makes a bin in a warehouse. Answers its id.';

create or replace function erp.update_bin_location(bin_location_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted erp.bin_location;
begin
  select * into wanted from erp.bin_location b where b.id = bin_location_id for no key update;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such bin.', '{id}');
  end if;
  wanted := jsonb_populate_record(wanted, changes - '{id,warehouse_id,created_at,updated_at}'::text[]);
  update erp.bin_location b set code = wanted.code, "position" = wanted."position" where b.id = bin_location_id;
  return bin_location_id;
end
$$;
comment on function erp.update_bin_location(uuid, jsonb) is 'Changes code and position of a bin, where the object names them. Answers its id.';

create or replace function erp.delete_bin_location(bin_location_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from erp.bin_location b where b.id = bin_location_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such bin.', '{id}');
  end if;
  return bin_location_id;
end
$$;
comment on function erp.delete_bin_location(uuid) is 'Deletes an empty bin. Answers its id.';
--! EndIncluded functions/erp/bin_location.sql
--! Included functions/erp/product_warehouse_configuration.sql
create or replace function erp.set_product_warehouse_configuration(product_id uuid, warehouse_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  wanted erp.product_warehouse_configuration;
begin
  -- So that neither goes away before its row is there
  perform ledger.lock(array[set_product_warehouse_configuration.product_id], array[set_product_warehouse_configuration.warehouse_id]);
  perform from erp.product p where p.id = set_product_warehouse_configuration.product_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such product.', '{product_id}');
  end if;
  perform from erp.warehouse w where w.id = set_product_warehouse_configuration.warehouse_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such warehouse.', '{warehouse_id}');
  end if;
  insert into erp.product_warehouse_configuration as c (product_id, warehouse_id)
  values (set_product_warehouse_configuration.product_id, set_product_warehouse_configuration.warehouse_id)
  on conflict (product_id, warehouse_id) do nothing;
  select * into wanted from erp.product_warehouse_configuration c
  where c.product_id = set_product_warehouse_configuration.product_id and c.warehouse_id = set_product_warehouse_configuration.warehouse_id
  for no key update;
  wanted := jsonb_populate_record(wanted, changes - '{id,product_id,warehouse_id,stock,created_at,updated_at}'::text[]);
  update erp.product_warehouse_configuration c
  set default_bin_location_id = wanted.default_bin_location_id, reorder_point = wanted.reorder_point,
    target_maximum_quantity = wanted.target_maximum_quantity
  where c.id = wanted.id;
  return wanted.id;
end
$$;
comment on function erp.set_product_warehouse_configuration(uuid, uuid, jsonb) is
  'Changes how a product is kept in a warehouse: the usual bin, the reorder point and the target, where the object names them; makes the row where there was none. Answers its id.';
--! EndIncluded functions/erp/product_warehouse_configuration.sql

select api_meta.allow('service_writer', 'erp.warehouse', 'select', 'insert', 'delete',
  'update (code, name, is_default, is_default_receiving, is_stock_available_for_sale, address)');
select api_meta.allow('service_writer', 'erp.location', 'select', 'insert', 'update (name)');
select api_meta.allow('service_writer', 'erp.bin_location', 'select', 'insert', 'delete', 'update (code, position)');
select api_meta.allow('service_writer', 'erp.product_warehouse_configuration', 'select', 'insert',
  'update (default_bin_location_id, reorder_point, target_maximum_quantity)');
select api_meta.allow('service_writer', relation, 'select')
from unnest(array['erp.product', 'erp.goods_receipt', 'erp.fulfillment_order', 'ledger.stock', 'ledger.warehouse_stock']::regclass[]) relation;
grant execute on function erp.is_blank(text), erp.hand_over_defaults(uuid, boolean, boolean), erp.create_warehouse(text, text, boolean, boolean, boolean, jsonb),
  erp.update_warehouse(uuid, jsonb), erp.delete_warehouse(uuid), erp.create_bin_location(uuid, text, integer),
  erp.update_bin_location(uuid, jsonb), erp.delete_bin_location(uuid), erp.set_product_warehouse_configuration(uuid, uuid, jsonb) to service_writer;

-- Run again while it is written: what there is of mutations goes first, in both versions
do $$
declare
  item record;
begin
  for item in
    select p.oid::regprocedure as routine from pg_proc p
    where p.pronamespace = any (array['api_unstable', 'api_2026_06_unstable']::regnamespace[])
  loop
    execute format('drop function %s', item.routine);
  end loop;
  for item in
    select c.oid::regclass as name from pg_class c
    where c.relnamespace = any (array['api_unstable', 'api_2026_06_unstable']::regnamespace[]) and c.relkind = 'c'
      and c.relname ~ '_(input|payload)$|^user_error$'
  loop
    execute format('drop type if exists %s cascade', item.name);
  end loop;
  drop type if exists api_2026_06_unstable.user_error_code;
end
$$;
--! Included functions/api/user_error.sql
drop type if exists api_unstable.user_error cascade;
drop type if exists api_unstable.user_error_code cascade;
create type api_unstable.user_error_code as enum (
  'REQUIRED', 'INVALID', 'NOT_FOUND', 'NOT_UNIQUE', 'OUT_OF_RANGE', 'INVALID_STATE_TRANSITION', 'NOT_EDITABLE', 'INSUFFICIENT_STOCK',
  'QUANTITY_CHANGED', 'OVER_RECEIPT', 'OVER_FULFILLMENT', 'BATCH_REQUIRED', 'BATCH_MISMATCH', 'WAREHOUSE_NOT_EMPTY', 'REFERENCE_IN_USE',
  'CURRENCY_FACTOR_LOCKED', 'EXTERNALLY_MANAGED', 'ON_HOLD', 'IDEMPOTENCY_KEY_MISMATCH', 'TOO_MANY_LINES', 'URL_FORBIDDEN', 'SCOPE_MISSING');
comment on type api_unstable.user_error_code is $$
@value REQUIRED Something is missing, or null where it must not be.
@value INVALID A value makes no sense here; the message says why.
@value NOT_FOUND An id leads to nothing.
@value NOT_UNIQUE Something else has this value already.
@value OUT_OF_RANGE A number, a moment or the length of a text is too small or too large.
@value INVALID_STATE_TRANSITION The state does not allow this. Field details names the actions that it allows.
@value NOT_EDITABLE The state, or where it comes from, does not allow changes.
@value INSUFFICIENT_STOCK A place would be left with less than nothing. Field details has what is available and requested.
@value QUANTITY_CHANGED The stock is not what expectedQuantity says. Field details has what is expected and actual.
@value OVER_RECEIPT More would be received than can be.
@value OVER_FULFILLMENT More would be fulfilled than is open.
@value BATCH_REQUIRED The units are kept in batches: a batch must be named.
@value BATCH_MISMATCH The batch is of another product.
@value WAREHOUSE_NOT_EMPTY The warehouse or bin still holds stock. Field details has the quantity.
@value REFERENCE_IN_USE Something that cannot do without it still refers to it.
@value CURRENCY_FACTOR_LOCKED The exchange rate is part of a stock valuation report.
@value EXTERNALLY_MANAGED Another system manages it; here it can only be read.
@value ON_HOLD It is on hold.
@value IDEMPOTENCY_KEY_MISMATCH The idempotency key was used for something else in the last 24 hours.
@value TOO_MANY_LINES The input has more lines than are allowed at once.
@value URL_FORBIDDEN The address may not be called.
@value SCOPE_MISSING The access token lacks a scope that depends on the input.
What kept a mutation from being done. A version never shows codes that it does not list: later ones appear as INVALID.$$;

create type api_unstable.user_error as (code api_unstable.user_error_code, message text, field text[], details jsonb);
comment on type api_unstable.user_error is 'Why a mutation was refused. Nothing has been changed then.';
comment on column api_unstable.user_error.code is E'@notNull\nWhat is wrong, for programs.';
comment on column api_unstable.user_error.message is E'@notNull\nWhat is wrong, for people.';
comment on column api_unstable.user_error.field is 'Way to the part of the input that is at fault, for example ["lines", "0", "quantity"]; null when no single part is.';
comment on column api_unstable.user_error.details is 'Further facts, for programs; which ones depends on the code.';
--! EndIncluded functions/api/user_error.sql
--! Included functions/api/stock_place.sql
drop type if exists api_unstable.stock_place_input cascade;
create type api_unstable.stock_place_input as (warehouse_id uuid, bin_location_id uuid);
comment on type api_unstable.stock_place_input is 'A place that holds stock: either a warehouse, for what lies in it outside of bins, or a bin.';
comment on column api_unstable.stock_place_input.warehouse_id is E'@gid Warehouse\nId of the warehouse.';
comment on column api_unstable.stock_place_input.bin_location_id is E'@gid BinLocation\nId of the bin.';

drop type if exists api_unstable.stock_payload cascade;
create type api_unstable.stock_payload as (stock_movements uuid[], stocks uuid[], user_errors api_unstable.user_error[]);
comment on type api_unstable.stock_payload is 'What a mutation of stock answers.';
comment on column api_unstable.stock_payload.stock_movements is
  E'@entity StockMovement\nThe movements that were booked, in the order of the lines. Empty when there was nothing to book.';
comment on column api_unstable.stock_payload.stocks is E'@entity Stock\nThe stock in the places of the lines, as it is now.';
comment on column api_unstable.stock_payload.user_errors is 'Why nothing was booked; empty when all was.';
--! EndIncluded functions/api/stock_place.sql
--! Included functions/api/stock_set.sql
drop type if exists api_unstable.stock_set_input cascade;
drop type if exists api_unstable.stock_set_line_input cascade;
create type api_unstable.stock_set_line_input as (
  product_id uuid, place api_unstable.stock_place_input, quantity integer, batch_id uuid, expected_quantity integer, counted_at timestamptz
);
comment on type api_unstable.stock_set_line_input is 'What the stock of a product in a place is to be.';
comment on column api_unstable.stock_set_line_input.product_id is E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_set_line_input.place is E'@notNull\nWhere it lies.';
comment on column api_unstable.stock_set_line_input.quantity is E'@notNull\nUnits that are there; not negative.';
comment on column api_unstable.stock_set_line_input.batch_id is
  E'@gid Batch\nId of the batch that was counted. The line then sets the stock of this batch only. Needed for products that are kept in batches.';
comment on column api_unstable.stock_set_line_input.expected_quantity is
  'Units that the caller believes to be there now. When there are others, nothing is booked: QUANTITY_CHANGED.';
comment on column api_unstable.stock_set_line_input.counted_at is
  'When the quantity was counted. What came and went after that second stays on top of it: the stock becomes the quantity and all later movements, save what other counts have corrected (processes api and stocktaking). So the same count can be sent again. Without it the quantity holds for now.';
create type api_unstable.stock_set_input as (lines api_unstable.stock_set_line_input[], comment text);
comment on type api_unstable.stock_set_input is 'Stock as it was counted.';
comment on column api_unstable.stock_set_input.lines is E'@notNull\nOne line for each product, place and batch; 1 to 250.';
comment on column api_unstable.stock_set_input.comment is 'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.stock_set(input api_unstable.stock_set_input) returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null)::api_unstable.stock_payload
  from ledger.set_stock(array(
    select row (l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null,
      l.quantity, l.batch_id, l.expected_quantity, l.counted_at)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$$;
comment on function api_unstable.stock_set(api_unstable.stock_set_input) is $$
@requiresScopes stocks:write
@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_UNIQUE NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED QUANTITY_CHANGED INSUFFICIENT_STOCK
Sets stock to what is there, as after a count: books each difference between what the books say and the line, against the special place stock_correction, by the process api. All lines are booked, or none.$$;
--! EndIncluded functions/api/stock_set.sql
--! Included functions/api/stock_adjust.sql
drop type if exists api_unstable.stock_adjust_input cascade;
drop type if exists api_unstable.stock_adjust_line_input cascade;
create type api_unstable.stock_adjust_line_input as (
  product_id uuid, place api_unstable.stock_place_input, delta integer, batch_id uuid, expected_quantity integer
);
comment on type api_unstable.stock_adjust_line_input is 'How the stock of a product in a place changes.';
comment on column api_unstable.stock_adjust_line_input.product_id is E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_adjust_line_input.place is E'@notNull\nWhere it lies.';
comment on column api_unstable.stock_adjust_line_input.delta is E'@notNull\nUnits that come in; negative for units that go out. Not 0.';
comment on column api_unstable.stock_adjust_line_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
comment on column api_unstable.stock_adjust_line_input.expected_quantity is
  'Units that the caller believes to be there before. When there are others, nothing is booked: QUANTITY_CHANGED.';
create type api_unstable.stock_adjust_input as (lines api_unstable.stock_adjust_line_input[], comment text);
comment on type api_unstable.stock_adjust_input is 'Units that come in and go out.';
comment on column api_unstable.stock_adjust_input.lines is E'@notNull\nWhat changes; 1 to 250 lines. A product and place may occur in several.';
comment on column api_unstable.stock_adjust_input.comment is 'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.stock_adjust(input api_unstable.stock_adjust_input) returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null)::api_unstable.stock_payload
  from ledger.adjust_stock(array(
    select row (l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null, l.delta, l.batch_id, l.expected_quantity, null)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$$;
comment on function api_unstable.stock_adjust(api_unstable.stock_adjust_input) is $$
@requiresScopes stocks:write
@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED QUANTITY_CHANGED INSUFFICIENT_STOCK
Adds units to stock or takes them away, against the special place stock_correction, by the processes api_incoming and api_outgoing. All lines are booked, or none; whether there is enough is asked of all lines together.$$;
--! EndIncluded functions/api/stock_adjust.sql
--! Included functions/api/stock_transfer.sql
drop type if exists api_unstable.stock_transfer_input cascade;
drop type if exists api_unstable.stock_transfer_line_input cascade;
create type api_unstable.stock_transfer_line_input as (
  product_id uuid, source api_unstable.stock_place_input, destination api_unstable.stock_place_input, quantity integer, batch_id uuid,
  expected_quantity integer
);
comment on type api_unstable.stock_transfer_line_input is 'Units that move from one place to another.';
comment on column api_unstable.stock_transfer_line_input.product_id is E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_transfer_line_input.source is E'@notNull\nWhere it is taken from.';
comment on column api_unstable.stock_transfer_line_input.destination is E'@notNull\nWhere it goes.';
comment on column api_unstable.stock_transfer_line_input.quantity is E'@notNull\nUnits that move; at least 1.';
comment on column api_unstable.stock_transfer_line_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
comment on column api_unstable.stock_transfer_line_input.expected_quantity is
  'Units that the caller believes to be in the source before. When there are others, nothing is booked: QUANTITY_CHANGED.';
create type api_unstable.stock_transfer_input as (lines api_unstable.stock_transfer_line_input[], comment text);
comment on type api_unstable.stock_transfer_input is 'Units that move within the warehouses.';
comment on column api_unstable.stock_transfer_input.lines is E'@notNull\nWhat moves; 1 to 250 lines.';
comment on column api_unstable.stock_transfer_input.comment is 'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.stock_transfer(input api_unstable.stock_transfer_input) returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null)::api_unstable.stock_payload
  from ledger.transfer_stock(array(
    select row (l.product_id, (l.source).warehouse_id, (l.source).bin_location_id, (l.destination).warehouse_id, (l.destination).bin_location_id,
      l.quantity, l.batch_id, l.expected_quantity, null)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment) b
$$;
comment on function api_unstable.stock_transfer(api_unstable.stock_transfer_input) is $$
@requiresScopes stocks:write
@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED QUANTITY_CHANGED INSUFFICIENT_STOCK
Moves units between warehouses and bins, by the process api_relocation. All lines are booked, or none; whether there is enough is asked of all lines together.$$;
--! EndIncluded functions/api/stock_transfer.sql
--! Included functions/api/warehouse.sql
drop type if exists api_unstable.warehouse_payload cascade;
create type api_unstable.warehouse_payload as (warehouse uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.warehouse_payload is 'What creating or changing a warehouse answers.';
comment on column api_unstable.warehouse_payload.warehouse is E'@entity Warehouse\nThe warehouse as it is now; null when it was refused.';
comment on column api_unstable.warehouse_payload.user_errors is 'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.warehouse_create_input cascade;
create type api_unstable.warehouse_create_input as (
  code text, name text, is_default boolean, is_default_receiving boolean, is_stock_available_for_sale boolean, address jsonb
);
comment on type api_unstable.warehouse_create_input is 'A new warehouse.';
comment on column api_unstable.warehouse_create_input.code is E'@notNull\nShort name, unique; 1 to 100 characters.';
comment on column api_unstable.warehouse_create_input.name is E'@notNull\nName; 1 to 255 characters.';
comment on column api_unstable.warehouse_create_input.is_default is 'Whether it takes the place of the warehouse that is the default now. False when left out.';
comment on column api_unstable.warehouse_create_input.is_default_receiving is
  'Whether it takes the place of the warehouse where goods are received by default now. False when left out.';
comment on column api_unstable.warehouse_create_input.is_stock_available_for_sale is 'Whether its stock may be sold. True when left out.';
comment on column api_unstable.warehouse_create_input.address is 'Postal address: an object with the keys of FulfillmentOrder.shippingAddress.';

create function api_unstable.warehouse_create(input api_unstable.warehouse_create_input) returns api_unstable.warehouse_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_warehouse(input.code, input.name, input.is_default, input.is_default_receiving, input.is_stock_available_for_sale,
    input.address), null)::api_unstable.warehouse_payload
$$;
comment on function api_unstable.warehouse_create(api_unstable.warehouse_create_input) is $$
@requiresScopes warehouses:write
@userErrors NOT_UNIQUE INVALID OUT_OF_RANGE
Makes a warehouse, and the location that orders are fulfilled from there. The first warehouse is the default for everything.$$;

drop type if exists api_unstable.warehouse_update_input cascade;
create type api_unstable.warehouse_update_input as (
  id uuid, code text, name text, is_default boolean, is_default_receiving boolean, is_stock_available_for_sale boolean, address jsonb
);
comment on type api_unstable.warehouse_update_input is 'Changes of a warehouse. What is left out stays as it is.';
comment on column api_unstable.warehouse_update_input.id is E'@notNull\n@gid Warehouse\nId of the warehouse.';
comment on column api_unstable.warehouse_update_input.code is 'Short name, unique; 1 to 100 characters.';
comment on column api_unstable.warehouse_update_input.name is 'Name; 1 to 255 characters.';
comment on column api_unstable.warehouse_update_input.is_default is
  'True makes it take the place of the warehouse that is the default now. To make one no longer the default, make another one it.';
comment on column api_unstable.warehouse_update_input.is_default_receiving is 'The same for the warehouse where goods are received by default.';
comment on column api_unstable.warehouse_update_input.is_stock_available_for_sale is 'Whether its stock may be sold.';
comment on column api_unstable.warehouse_update_input.address is
  'Postal address: an object with the keys of FulfillmentOrder.shippingAddress. It replaces the old one as a whole; null removes it.';

create function api_unstable.warehouse_update(input api_unstable.warehouse_update_input, changes jsonb) returns api_unstable.warehouse_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_warehouse(input.id, changes), null)::api_unstable.warehouse_payload
$$;
comment on function api_unstable.warehouse_update(api_unstable.warehouse_update_input, jsonb) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND REQUIRED NOT_UNIQUE INVALID OUT_OF_RANGE
Changes a warehouse.$$;

drop type if exists api_unstable.warehouse_delete_input cascade;
create type api_unstable.warehouse_delete_input as (id uuid);
comment on type api_unstable.warehouse_delete_input is 'A warehouse to delete.';
comment on column api_unstable.warehouse_delete_input.id is E'@notNull\n@gid Warehouse\nId of the warehouse.';
drop type if exists api_unstable.warehouse_delete_payload cascade;
create type api_unstable.warehouse_delete_payload as (deleted_warehouse_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.warehouse_delete_payload is 'What deleting a warehouse answers.';
comment on column api_unstable.warehouse_delete_payload.deleted_warehouse_id is E'@gid Warehouse\nId of the warehouse that is gone; null when it was refused.';
comment on column api_unstable.warehouse_delete_payload.user_errors is 'Why it was not deleted; empty when it was.';

create function api_unstable.warehouse_delete(input api_unstable.warehouse_delete_input) returns api_unstable.warehouse_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_warehouse(input.id), null)::api_unstable.warehouse_delete_payload
$$;
comment on function api_unstable.warehouse_delete(api_unstable.warehouse_delete_input) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND WAREHOUSE_NOT_EMPTY REFERENCE_IN_USE INVALID
Deletes an empty warehouse with its bins, its location and the settings of products there. Movements of stock that passed through it are kept; they no longer name it. The default warehouse cannot be deleted, nor one that goods are being received in or that has orders to fulfill.$$;
--! EndIncluded functions/api/warehouse.sql
--! Included functions/api/bin_location.sql
drop type if exists api_unstable.bin_location_payload cascade;
create type api_unstable.bin_location_payload as (bin_location uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.bin_location_payload is 'What creating or changing a bin answers.';
comment on column api_unstable.bin_location_payload.bin_location is E'@entity BinLocation\nThe bin as it is now; null when it was refused.';
comment on column api_unstable.bin_location_payload.user_errors is 'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.bin_location_create_input cascade;
create type api_unstable.bin_location_create_input as (warehouse_id uuid, code text, position integer);
comment on type api_unstable.bin_location_create_input is 'A new bin.';
comment on column api_unstable.bin_location_create_input.warehouse_id is E'@notNull\n@gid Warehouse\nId of the warehouse that it is in.';
comment on column api_unstable.bin_location_create_input.code is E'@notNull\nLabel, unique in the warehouse; 1 to 100 characters.';
comment on column api_unstable.bin_location_create_input.position is 'Place on the pick route; lower is visited first.';

create function api_unstable.bin_location_create(input api_unstable.bin_location_create_input) returns api_unstable.bin_location_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_bin_location(input.warehouse_id, input.code, input.position), null)::api_unstable.bin_location_payload
$$;
comment on function api_unstable.bin_location_create(api_unstable.bin_location_create_input) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE
Makes a bin in a warehouse.$$;

drop type if exists api_unstable.bin_location_update_input cascade;
create type api_unstable.bin_location_update_input as (id uuid, code text, position integer);
comment on type api_unstable.bin_location_update_input is 'Changes of a bin. What is left out stays as it is. A bin stays in its warehouse.';
comment on column api_unstable.bin_location_update_input.id is E'@notNull\n@gid BinLocation\nId of the bin.';
comment on column api_unstable.bin_location_update_input.code is 'Label, unique in the warehouse; 1 to 100 characters.';
comment on column api_unstable.bin_location_update_input.position is 'Place on the pick route; lower is visited first. Null takes it off the route.';

create function api_unstable.bin_location_update(input api_unstable.bin_location_update_input, changes jsonb) returns api_unstable.bin_location_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_bin_location(input.id, changes), null)::api_unstable.bin_location_payload
$$;
comment on function api_unstable.bin_location_update(api_unstable.bin_location_update_input, jsonb) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND REQUIRED NOT_UNIQUE INVALID OUT_OF_RANGE
Changes a bin.$$;

drop type if exists api_unstable.bin_location_delete_input cascade;
create type api_unstable.bin_location_delete_input as (id uuid);
comment on type api_unstable.bin_location_delete_input is 'A bin to delete.';
comment on column api_unstable.bin_location_delete_input.id is E'@notNull\n@gid BinLocation\nId of the bin.';
drop type if exists api_unstable.bin_location_delete_payload cascade;
create type api_unstable.bin_location_delete_payload as (deleted_bin_location_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.bin_location_delete_payload is 'What deleting a bin answers.';
comment on column api_unstable.bin_location_delete_payload.deleted_bin_location_id is E'@gid BinLocation\nId of the bin that is gone; null when it was refused.';
comment on column api_unstable.bin_location_delete_payload.user_errors is 'Why it was not deleted; empty when it was.';

create function api_unstable.bin_location_delete(input api_unstable.bin_location_delete_input) returns api_unstable.bin_location_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_bin_location(input.id), null)::api_unstable.bin_location_delete_payload
$$;
comment on function api_unstable.bin_location_delete(api_unstable.bin_location_delete_input) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND WAREHOUSE_NOT_EMPTY
Deletes an empty bin. Movements of stock that passed through it are kept; they no longer name it.$$;
--! EndIncluded functions/api/bin_location.sql
--! Included functions/api/product_warehouse_configuration.sql
drop type if exists api_unstable.product_warehouse_configuration_payload cascade;
create type api_unstable.product_warehouse_configuration_payload as (product_warehouse_configuration uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.product_warehouse_configuration_payload is 'What setting the configuration of a product in a warehouse answers.';
comment on column api_unstable.product_warehouse_configuration_payload.product_warehouse_configuration is
  E'@entity ProductWarehouseConfiguration\nThe settings as they are now; null when they were refused.';
comment on column api_unstable.product_warehouse_configuration_payload.user_errors is 'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.product_warehouse_configuration_set_input cascade;
create type api_unstable.product_warehouse_configuration_set_input as (
  product_id uuid, warehouse_id uuid, default_bin_location_id uuid, reorder_point integer, target_maximum_quantity integer
);
comment on type api_unstable.product_warehouse_configuration_set_input is
  'How a product is kept in a warehouse. What is left out stays as it is; where there was nothing, it is empty, and the reorder point 0.';
comment on column api_unstable.product_warehouse_configuration_set_input.product_id is E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.product_warehouse_configuration_set_input.warehouse_id is E'@notNull\n@gid Warehouse\nId of the warehouse.';
comment on column api_unstable.product_warehouse_configuration_set_input.default_bin_location_id is
  E'@gid BinLocation\nId of the bin of this warehouse that the product is put in unless something else says otherwise; null for none.';
comment on column api_unstable.product_warehouse_configuration_set_input.reorder_point is 'Stock in the warehouse at which it is to be refilled; not negative.';
comment on column api_unstable.product_warehouse_configuration_set_input.target_maximum_quantity is 'Stock to fill up to; null for no such target.';

create function api_unstable.product_warehouse_configuration_set(input api_unstable.product_warehouse_configuration_set_input, changes jsonb)
returns api_unstable.product_warehouse_configuration_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.set_product_warehouse_configuration(input.product_id, input.warehouse_id, changes), null)::api_unstable.product_warehouse_configuration_payload
$$;
comment on function api_unstable.product_warehouse_configuration_set(api_unstable.product_warehouse_configuration_set_input, jsonb) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE
Sets how a product is kept in a warehouse: its usual bin, and when to refill.$$;
--! EndIncluded functions/api/product_warehouse_configuration.sql

-- Who writes a comment wants to read it. Versions that are frozen already go without.
comment on column ledger.stock_movement.comment is 'Note of whoever booked it.';
drop view if exists api_unstable.stock_movements;
--! Included views/api/stock_movements.sql
create view api_unstable.stock_movements with (security_invoker = true) as
select id, created_at, product_id, quantity,
  source_location_type_technical_name, source_warehouse_id, source_bin_location_id, source_order_id, source_return_order_id,
  source_goods_receipt_id, source_stock_container_id, source_special_stock_location_technical_name,
  destination_location_type_technical_name, destination_warehouse_id, destination_bin_location_id, destination_order_id,
  destination_return_order_id, destination_goods_receipt_id, destination_stock_container_id,
  destination_special_stock_location_technical_name, process_type_technical_name, comment
from ledger.stock_movement;
comment on view api_unstable.stock_movements is $$
@primaryKey id
@requiresScopes stocks:read
@gid source_return_order_id ReturnOrder
@gid destination_return_order_id ReturnOrder
@gid source_stock_container_id StockContainer
@gid destination_stock_container_id StockContainer
@filters destination_bin_location_id,destination_goods_receipt_id,destination_order_id,destination_return_order_id,destination_stock_container_id,destination_warehouse_id,product_id,source_bin_location_id,source_goods_receipt_id,source_order_id,source_return_order_id,source_stock_container_id,source_warehouse_id,created_at,destination_location_type_technical_name,destination_special_stock_location_technical_name,source_location_type_technical_name,source_special_stock_location_technical_name,quantity
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (source_warehouse_id) references warehouses (id)|@fieldName sourceWarehouse|@foreignFieldName sourceStockMovements
@foreignKey (destination_warehouse_id) references warehouses (id)|@fieldName destinationWarehouse|@foreignFieldName destinationStockMovements
@foreignKey (source_bin_location_id) references bin_locations (id)|@fieldName sourceBinLocation|@foreignFieldName sourceStockMovements
@foreignKey (destination_bin_location_id) references bin_locations (id)|@fieldName destinationBinLocation|@foreignFieldName destinationStockMovements
@foreignKey (source_order_id) references orders (id)|@fieldName sourceOrder
@foreignKey (destination_order_id) references orders (id)|@fieldName destinationOrder
@foreignKey (source_goods_receipt_id) references goods_receipts (id)|@fieldName sourceGoodsReceipt|@foreignFieldName sourceStockMovements
@foreignKey (destination_goods_receipt_id) references goods_receipts (id)|@fieldName destinationGoodsReceipt|@foreignFieldName destinationStockMovements
A booking in the ledger of stock: a positive quantity that moved from one place to another. Movements are never changed; they go only with their product.$$;
--! EndIncluded views/api/stock_movements.sql

-- The version of June has the mutations too
--! Included functions/api_meta/freeze.sql
create or replace function api_meta.clone_types(source name, target name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
  from_prefix constant text := quote_ident(source) || '.';
  to_prefix constant text := quote_ident(target) || '.';
begin
  for item in
    select t.oid, t.typname, t.typtype, t.typrelid, obj_description(t.oid, 'pg_type') as note
    from pg_type t left join pg_class c on c.oid = t.typrelid
    where t.typnamespace = source::text::regnamespace and (t.typtype = 'e' or (t.typtype = 'c' and c.relkind = 'c'))
      and to_regtype(to_prefix || quote_ident(t.typname)) is null
    order by t.oid
  loop
    if item.typtype = 'e' then
      execute format('create type %I.%I as enum (%s)', target, item.typname,
        (select string_agg(quote_literal(enumlabel), ', ' order by enumsortorder) from pg_enum where enumtypid = item.oid));
    else
      execute format('create type %I.%I as (%s)', target, item.typname,
        (select string_agg(format('%I %s', attname, replace(format_type(atttypid, atttypmod), from_prefix, to_prefix)), ', ' order by attnum)
         from pg_attribute where attrelid = item.typrelid and attnum > 0 and not attisdropped));
      perform api_meta.clone_column_comments(source, target, item.typname);
    end if;
    execute format('comment on type %I.%I is %L', target, item.typname, item.note);
  end loop;
end
$$;
comment on function api_meta.clone_types(name, name) is 'Clones the enums and composite types of an API schema that another one lacks.';

create or replace function api_meta.clone_functions(source name, target name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
  signature text;
  from_prefix constant text := quote_ident(source) || '.';
  to_prefix constant text := quote_ident(target) || '.';
begin
  for item in
    select p.oid, pg_get_functiondef(p.oid) as definition, obj_description(p.oid, 'pg_proc') as note, p.proname, p.oid::regprocedure::text as signature
    from pg_proc p
    where p.pronamespace = source::text::regnamespace
      and not exists (select from pg_proc o where o.pronamespace = target::text::regnamespace and o.proname = p.proname)
    order by p.oid
  loop
    execute replace(item.definition, from_prefix, to_prefix);
    execute format('comment on function %s is %L', replace(item.signature, from_prefix, to_prefix), item.note);
  end loop;
end
$$;
comment on function api_meta.clone_functions(name, name) is
  'Clones the functions of an API schema, its mutations, that another one lacks. The types that they use must be there. Grants follow by api_meta.derive().';

create or replace function api_meta.clone_column_comments(source name, target name, relation name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    select a.attname, col_description(a.attrelid, a.attnum) as note from pg_attribute a
    where a.attrelid = format('%I.%I', source, relation)::regclass and a.attnum > 0 and not a.attisdropped
      and col_description(a.attrelid, a.attnum) is not null
  loop
    execute format('comment on column %I.%I.%I is %L', target, relation, item.attname, item.note);
  end loop;
end
$$;
comment on function api_meta.clone_column_comments(name, name, name) is
  'Copies the comments of the columns of a view or a composite type to that of the same name in another API schema.';

create or replace function api_meta.freeze(source name, target name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  execute format('create schema %I', target);
  execute format('comment on schema %I is %L', target, 'Frozen clone of ' || source || '.');
  perform api_meta.clone_types(source, target);
  for item in
    select c.oid, c.relname, obj_description(c.oid, 'pg_class') as note from pg_class c
    where c.relnamespace = source::text::regnamespace and c.relkind = 'v' order by c.oid
  loop
    execute format('create view %I.%I with (security_invoker = true) as %s', target, item.relname,
      replace(pg_get_viewdef(item.oid), quote_ident(source) || '.', quote_ident(target) || '.'));
    execute format('comment on view %I.%I is %L', target, item.relname, item.note);
    perform api_meta.clone_column_comments(source, target, item.relname);
  end loop;
  perform api_meta.clone_functions(source, target);
end
$$;
comment on function api_meta.freeze(name, name) is
  'Clones an API schema under a new name: types, views, functions, and their comments; grants follow by api_meta.derive(). A clone reads the same tables and never changes again by itself; views are bound to tables by identity, so renaming a table or a column does not touch it.';
--! EndIncluded functions/api_meta/freeze.sql
select api_meta.clone_types('api_unstable', 'api_2026_06_unstable');
select api_meta.clone_functions('api_unstable', 'api_2026_06_unstable');

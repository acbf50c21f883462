--! Previous: sha1:04b7ff14d6f66bfd1aeeefc2f63d10473007237b
--! Hash: sha1:6d3175cd80bb311004b33295fa95b65cea989472
--! Message: containers picking labels quotes reordering master data and moves of shops

--! split: 190-pick-lists.sql
--! Message: containers picking labels quotes reordering master data and moves of shops

-- Tables of picking. They come before 200-places.sql, which includes functions that read them.

drop view if exists api_unstable.pick_lists, api_unstable.pick_tasks, api_unstable.pick_list_lines,
  api_unstable.product_gtins cascade;
drop trigger if exists keep_picks on erp.fulfillment_order;
drop trigger if exists keep_picks on erp.fulfillment_order_line_item;
drop table if exists erp.pick_list_line, erp.pick_task, erp.pick_list, erp.product_gtin cascade;

delete from erp.state_transition where machine = 'pick_list';
alter table erp.state_transition drop constraint state_transition_machine_is_known;
alter table erp.state_transition add constraint state_transition_machine_is_known
  check (machine in ('goods_receipt', 'order', 'order_delivery', 'fulfillment_order', 'fulfillment',
    'supplier_order', 'quote', 'shipping_label', 'return_order', 'stocktake', 'pick_list')) not valid;
insert into erp.state_transition (machine, action, from_state, to_state, mutation) values
  ('pick_list', 'start', 'open', 'in_progress', 'pick_list_start'),
  ('pick_list', 'pick', 'in_progress', 'in_progress', 'pick_list_line_confirm'),
  ('pick_list', 'complete', 'open', 'completed', null),
  ('pick_list', 'complete', 'in_progress', 'completed', 'pick_list_pack'),
  ('pick_list', 'cancel', 'open', 'cancelled', 'pick_list_cancel'),
  ('pick_list', 'cancel', 'in_progress', 'cancelled', 'pick_list_cancel');
insert into erp.number_range (technical_name, pattern, last_number) values
  ('pick_list', 'PL-{n}', 0), ('pick_container', 'PICK-{n}', 0)
on conflict (technical_name) do nothing;


create table erp.pick_list (
  id uuid primary key default uuidv7(),
  number text collate "C" not null constraint pick_list_number_is_unique unique
    constraint pick_list_number_is_not_blank check (not erp.is_blank(number)),
  state text collate "C" not null default 'open' constraint pick_list_state_is_known
    check (state in ('open', 'in_progress', 'completed', 'cancelled')),
  warehouse_id uuid not null references erp.warehouse on delete restrict,
  assignee text constraint pick_list_assignee_length check (length(assignee) <= 200),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  started_at timestamptz(0),
  ended_at timestamptz(0),
  constraint pick_list_ends_at_a_moment check ((state in ('completed', 'cancelled')) = (ended_at is not null))
);
create index on erp.pick_list (warehouse_id, id);
create index on erp.pick_list (state, id);
create index on erp.pick_list (created_at, id);
alter table erp.pick_list enable row level security;
comment on table erp.pick_list is
  'Pick lists: what one person takes out of the bins of a warehouse in one round, for several fulfillment '
  'orders.';
comment on column erp.pick_list.number is 'Number of the pick list.';
comment on column erp.pick_list.state is
  'open until somebody starts; in_progress; completed when each of its fulfillment orders is packed or has '
  'left the list; cancelled when nothing was packed.';
comment on column erp.pick_list.warehouse_id is 'The warehouse.';
comment on column erp.pick_list.assignee is 'The person who picks, as free text.';
comment on column erp.pick_list.created_at is 'When it was created.';
comment on column erp.pick_list.updated_at is 'When it was last changed.';
comment on column erp.pick_list.started_at is 'When picking began.';
comment on column erp.pick_list.ended_at is 'When it was completed or cancelled.';
comment on constraint pick_list_number_is_unique on erp.pick_list is
  '@internal The number range gives each number once.';
comment on constraint pick_list_number_is_not_blank on erp.pick_list is
  '@internal The number range gives numbers.';
comment on constraint pick_list_state_is_known on erp.pick_list is
  '@internal erp.state_transition has only these states.';
comment on constraint pick_list_assignee_length on erp.pick_list is
  E'@userError OUT_OF_RANGE assignee\nThe name of a person must have at most 200 characters.';
comment on constraint pick_list_ends_at_a_moment on erp.pick_list is
  '@internal erp.end_pick_task writes both.';
comment on constraint pick_list_warehouse_id_fkey on erp.pick_list is
  E'@userError REFERENCE_IN_USE id\nThe warehouse has pick lists.';

create table erp.pick_task (
  id uuid primary key default uuidv7(),
  pick_list_id uuid not null references erp.pick_list on delete cascade,
  number integer not null constraint pick_task_number_is_positive check (number > 0),
  fulfillment_order_id uuid not null references erp.fulfillment_order on delete cascade,
  stock_container_id uuid references erp.stock_container on delete set null,
  state text not null default 'open' constraint pick_task_state_is_known
    check (state in ('open', 'packed', 'dropped')),
  ended_at timestamptz(0),
  constraint pick_task_number_is_unique unique (pick_list_id, number),
  constraint pick_task_ends_at_a_moment check ((state = 'open') = (ended_at is null))
);
create unique index pick_task_plans_a_fulfillment_order_once on erp.pick_task (fulfillment_order_id)
  where state = 'open';
create unique index pick_task_uses_a_container_alone on erp.pick_task (stock_container_id)
  where state = 'open';
create index on erp.pick_task (fulfillment_order_id, id);
create index on erp.pick_task (stock_container_id, id);
alter table erp.pick_task enable row level security;
comment on table erp.pick_task is
  'A fulfillment order on a pick list, and the container that its units are put into.';
comment on column erp.pick_task.pick_list_id is 'The pick list.';
comment on column erp.pick_task.number is 'Number within the pick list, from 1.';
comment on column erp.pick_task.fulfillment_order_id is 'The fulfillment order.';
comment on column erp.pick_task.stock_container_id is
  'The container that its units are put into; null when it was deleted afterwards.';
comment on column erp.pick_task.state is
  'open while its units are picked and packed; packed; dropped when the fulfillment order left the list '
  'without a parcel.';
comment on column erp.pick_task.ended_at is 'When it was packed or dropped.';
comment on constraint pick_task_number_is_positive on erp.pick_task is '@internal Numbered from 1.';
comment on constraint pick_task_number_is_unique on erp.pick_task is '@internal Written with the list.';
comment on constraint pick_task_state_is_known on erp.pick_task is
  '@internal erp.end_pick_task writes only these.';
comment on constraint pick_task_ends_at_a_moment on erp.pick_task is
  '@internal erp.end_pick_task writes both.';
comment on constraint pick_task_pick_list_id_fkey on erp.pick_task is
  '@internal The list is made by the same call.';
comment on constraint pick_task_fulfillment_order_id_fkey on erp.pick_task is
  '@internal The fulfillment order is locked.';
comment on constraint pick_task_stock_container_id_fkey on erp.pick_task is
  '@internal The container is locked.';
comment on index erp.pick_task_plans_a_fulfillment_order_once is
  E'@userError ON_PICK_LIST fulfillment_order_id\nThe fulfillment order is on a pick list already.';
comment on index erp.pick_task_uses_a_container_alone is
  E'@userError CONTAINER_IN_USE stock_container_id\nThe container is used by another pick list.';

create table erp.pick_list_line (
  id uuid primary key default uuidv7(),
  pick_list_id uuid not null references erp.pick_list on delete cascade,
  number integer not null constraint pick_list_line_number_is_positive check (number > 0),
  pick_task_id uuid not null references erp.pick_task on delete cascade,
  fulfillment_order_line_item_id uuid references erp.fulfillment_order_line_item on delete set null,
  product_id uuid not null references erp.product on delete cascade,
  batch_id uuid references erp.batch on delete cascade,
  bin_location_id uuid references erp.bin_location on delete set null,
  stock_container_id uuid references erp.stock_container on delete set null,
  quantity integer not null,
  picked_quantity integer not null default 0,
  packed_quantity integer not null default 0,
  state text not null default 'open' constraint pick_list_line_state_is_known
    check (state in ('open', 'picked', 'short', 'dropped')),
  short_at timestamptz,
  updated_at timestamptz(0),
  constraint pick_list_line_number_is_unique unique (pick_list_id, number),
  constraint pick_list_line_quantities_fit check (quantity > 0 and picked_quantity between 0 and quantity
    and packed_quantity between 0 and picked_quantity),
  constraint pick_list_line_is_open_or_done check (case state when 'open' then picked_quantity < quantity
    when 'picked' then picked_quantity = quantity else true end),
  constraint pick_list_line_has_one_place check (num_nonnulls(bin_location_id, stock_container_id) < 2),
  constraint pick_list_line_is_short_at_a_moment check ((state = 'short') = (short_at is not null))
) with (fillfactor = 80);
create index on erp.pick_list_line (pick_task_id, id);
create index on erp.pick_list_line (fulfillment_order_line_item_id, id);
create index on erp.pick_list_line (product_id, id);
create index pick_list_line_is_planned on erp.pick_list_line (product_id) where state = 'open';
create index pick_list_line_was_short on erp.pick_list_line (product_id, short_at) where state = 'short';
comment on index erp.pick_list_line_is_planned is
  'For ledger.planned_picks and ledger.plain_place: what is planned of a product.';
comment on index erp.pick_list_line_was_short is
  'For ledger.planned_picks and erp.cycle_counts: places that lacked units.';
create index on erp.pick_list_line (batch_id) where batch_id is not null;
create index on erp.pick_list_line (bin_location_id) where bin_location_id is not null;
create index on erp.pick_list_line (stock_container_id) where stock_container_id is not null;
alter table erp.pick_list_line enable row level security;
comment on table erp.pick_list_line is
  'A position of a pick list: units of a product, perhaps of a batch, to be taken from a place for a line '
  'of a fulfillment order.';
comment on column erp.pick_list_line.pick_list_id is 'The pick list.';
comment on column erp.pick_list_line.number is
  'Place in the pick order, from 1. Lines that replace missing units come last.';
comment on column erp.pick_list_line.pick_task_id is 'The fulfillment order on the list, with its container.';
comment on column erp.pick_list_line.fulfillment_order_line_item_id is
  'The line of the fulfillment order; null when it was deleted afterwards.';
comment on column erp.pick_list_line.product_id is 'The product.';
comment on column erp.pick_list_line.batch_id is 'The batch to take; null for units without a batch.';
comment on column erp.pick_list_line.bin_location_id is
  'The bin to take the units from; null for what lies elsewhere in the warehouse.';
comment on column erp.pick_list_line.stock_container_id is
  'The container to take the units from; null for what lies in none.';
comment on column erp.pick_list_line.quantity is 'Units to pick there.';
comment on column erp.pick_list_line.picked_quantity is 'Units that were picked, and not put back.';
comment on column erp.pick_list_line.packed_quantity is 'Units of them that were packed into parcels.';
comment on column erp.pick_list_line.state is
  'open while units are to be picked; picked; short when units were missing; dropped when the fulfillment '
  'order needs them no more.';
comment on column erp.pick_list_line.short_at is 'When units were reported missing.';
comment on column erp.pick_list_line.updated_at is 'When it was last changed.';
comment on constraint pick_list_line_number_is_positive on erp.pick_list_line is
  '@internal Numbered from 1.';
comment on constraint pick_list_line_number_is_unique on erp.pick_list_line is
  '@internal The list is locked while lines are added.';
comment on constraint pick_list_line_state_is_known on erp.pick_list_line is
  '@internal The functions of pick lists write only these.';
comment on constraint pick_list_line_quantities_fit on erp.pick_list_line is
  '@internal erp.confirm_pick refuses more units than are open.';
comment on constraint pick_list_line_is_open_or_done on erp.pick_list_line is
  '@internal The functions of pick lists write both.';
comment on constraint pick_list_line_is_short_at_a_moment on erp.pick_list_line is
  '@internal erp.report_short writes both.';
comment on constraint pick_list_line_has_one_place on erp.pick_list_line is
  '@internal ledger.pick_units names one place.';
comment on constraint pick_list_line_stock_container_id_fkey on erp.pick_list_line is
  '@internal The container is locked.';
comment on constraint pick_list_line_pick_list_id_fkey on erp.pick_list_line is
  '@internal Written with the list.';
comment on constraint pick_list_line_pick_task_id_fkey on erp.pick_list_line is
  '@internal Written with the list.';
comment on constraint pick_list_line_fulfillment_order_line_item_id_fkey on erp.pick_list_line is
  '@internal The fulfillment order is locked.';
comment on constraint pick_list_line_product_id_fkey on erp.pick_list_line is
  '@internal The product is locked.';
comment on constraint pick_list_line_batch_id_fkey on erp.pick_list_line is
  '@internal The product is locked.';
comment on constraint pick_list_line_bin_location_id_fkey on erp.pick_list_line is
  '@internal The bin is locked.';

create table erp.product_gtin (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  gtin text collate "C" not null constraint product_gtin_is_unique unique
    constraint product_gtin_has_its_form check (gtin ~ '^\d{14}$' and erp.is_gs1_number(gtin)),
  quantity integer not null default 1 constraint product_gtin_quantity_is_positive
    check (quantity between 1 and 1000000)
);
create index on erp.product_gtin (product_id, id);
alter table erp.product_gtin enable row level security;
comment on table erp.product_gtin is
  'Further GTINs of products, each with the units that it stands for: of a case of 12, or of another '
  'supplier.';
comment on column erp.product_gtin.product_id is 'The product.';
comment on column erp.product_gtin.gtin is 'The GTIN, as 14 digits.';
comment on column erp.product_gtin.quantity is 'Units of the product that the GTIN stands for.';
comment on constraint product_gtin_is_unique on erp.product_gtin is
  E'@userError NOT_UNIQUE gtin\nAnother product has this GTIN.';
comment on constraint product_gtin_has_its_form on erp.product_gtin is
  '@internal erp.set_product_gtins refuses it first.';
comment on constraint product_gtin_quantity_is_positive on erp.product_gtin is
  E'@userError OUT_OF_RANGE quantity\nA GTIN stands for 1 to 1,000,000 units.';
comment on constraint product_gtin_product_id_fkey on erp.product_gtin is
  '@internal The product is locked.';

create trigger touch_updated_at before update on erp.pick_list
for each row execute function erp.touch_updated_at();
create trigger touch_updated_at before update on erp.pick_list_line
for each row execute function erp.touch_updated_at();

select api_meta.allow('service_writer', 'erp.pick_list', 'select', 'insert',
  'update (state, assignee, started_at, ended_at, updated_at)');
select api_meta.allow('service_writer', 'erp.pick_task', 'select', 'insert', 'update (state, ended_at)');
select api_meta.allow('service_writer', 'erp.pick_list_line', 'select', 'insert',
  'update (quantity, picked_quantity, packed_quantity, state, short_at, updated_at)');
select api_meta.allow('service_writer', 'erp.product_gtin', 'select', 'insert', 'update (quantity)',
  'delete');
select api_meta.allow('service_ledger', 'erp.pick_list', 'select');
select api_meta.allow('service_ledger', 'erp.pick_task', 'select');
select api_meta.allow('service_ledger', 'erp.pick_list_line', 'select');
select api_meta.allow('service_booker', 'erp.pick_list_line', 'select');

-- Topics, which others include too, name this view
--! Included api/pick_lists.sql
create view api_unstable.pick_lists with (security_invoker = true) as
select id, number, state, warehouse_id, assignee, created_at, updated_at, started_at, ended_at
from erp.pick_list;
comment on view api_unstable.pick_lists is $$
@primaryKey id
@requiresScopes pick_lists:read
@filters number,state,warehouse_id,created_at
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName pickLists
A pick list: what one person takes out of the bins of a warehouse in one round, for several fulfillment
orders.$$;
--! EndIncluded api/pick_lists.sql

--! split: 200-places.sql
-- Containers as places of stock
drop view if exists api_unstable.stock_containers, api_unstable.stock_card_lines cascade;
drop trigger if exists keep_place on erp.stock_container;
drop trigger if exists keep_place_of_new on erp.stock_container;
drop trigger if exists require_empty_place on erp.stock_container;
drop trigger if exists touch_updated_at on erp.stock_container;
drop trigger if exists free_containers on erp.fulfillment_order;
drop function if exists ledger.lock_lines(ledger.line[]), ledger.lock_places(ledger.draft[]),
  ledger.lock(uuid[], uuid[], uuid[]), ledger.lock(uuid[], uuid[], uuid[], uuid[]),
  ledger.warn_of_bin_state(uuid);

alter table erp.stock_container drop constraint if exists stock_container_warehouse_id_fkey,
  drop constraint if exists stock_container_number_is_not_blank,
  drop constraint if exists stock_container_number_length,
  drop column if exists sscc cascade, drop column if exists kind cascade,
  drop column if exists bin_location_id cascade, drop column if exists fulfillment_order_id cascade,
  drop column if exists updated_at cascade;
alter table erp.stock_container
  add column sscc text collate "C", add column kind text collate "C" not null default 'box',
  add column bin_location_id uuid, add column fulfillment_order_id uuid,
  add column updated_at timestamptz(0);
alter table erp.stock_container
  add constraint stock_container_warehouse_id_fkey foreign key (warehouse_id) references erp.warehouse
    on delete restrict not valid,
  add constraint stock_container_bin_location_id_fkey foreign key (bin_location_id)
    references erp.bin_location on delete restrict not valid,
  add constraint stock_container_fulfillment_order_id_fkey foreign key (fulfillment_order_id)
    references erp.fulfillment_order on delete set null not valid,
  add constraint stock_container_number_is_not_blank check (not erp.is_blank(number)) not valid,
  add constraint stock_container_number_length check (length(number) <= 100) not valid,
  add constraint stock_container_kind_is_known check (kind in ('box', 'tote', 'pallet')) not valid;
comment on constraint stock_container_number_key on erp.stock_container is
  E'@userError NOT_UNIQUE number\nAnother container has this code.';
comment on constraint stock_container_number_is_not_blank on erp.stock_container is
  E'@userError INVALID number\nA container needs a code.';
comment on constraint stock_container_number_length on erp.stock_container is
  E'@userError OUT_OF_RANGE number\nThe code has more than 100 characters.';
comment on constraint stock_container_kind_is_known on erp.stock_container is
  '@internal An enum of the API.';
--! Included erp/is_gs1_number.sql
-- Identifiers of GS1. Codes with a check digit are counted from the right, alternately by 3 and 1.
create or replace function erp.has_check_digit(digits text) returns boolean
language sql immutable strict parallel safe
return (
  select sum(d.digit::integer * case when d.n % 2 = 0 then 3 else 1 end) % 10 = 0
  from string_to_table(reverse(digits), null) with ordinality d (digit, n));
comment on function erp.has_check_digit(text) is
  'Whether the last one of some digits is the check digit of the others.';
grant execute on function erp.has_check_digit(text) to service_writer, service_ledger, service_api;

create or replace function erp.is_gs1_number(code text) returns boolean
language sql immutable strict parallel safe
return code ~ '^\d{8,14}$' and erp.has_check_digit(code);
comment on function erp.is_gs1_number(text) is
  'Whether a text is 8 to 14 digits, of which the last one is the check digit of the others.';
grant execute on function erp.is_gs1_number(text) to service_writer, service_api;

create or replace function erp.gtin14(gtin text) returns text
language sql immutable strict parallel safe
return case
  when gtin ~ '^(\d{8}|\d{12,14})$' and erp.is_gs1_number(gtin) then lpad(gtin, 14, '0')
end;
comment on function erp.gtin14(text) is
  'Returns a GTIN of 8, 12, 13 or 14 digits as 14 digits; null if it is none.';
grant execute on function erp.gtin14(text) to service_api, service_writer;

-- The standard knows 82 characters, and allows 20 of them in numbers of lots and names of places
create or replace function erp.is_gs1_text(value text) returns boolean
language sql immutable strict parallel safe
return value ~ '^[!"%&''()*+,./0-9:;<=>?A-Z_a-z-]{1,20}$';
comment on function erp.is_gs1_text(text) is
  'Whether GS1 allows a text as the number of a lot, or as the name of a part of a place.';
grant execute on function erp.is_gs1_text(text) to service_api;
--! EndIncluded erp/is_gs1_number.sql
alter table erp.stock_container
  add constraint stock_container_sscc_is_valid
    check (sscc ~ '^\d{18}$' and erp.has_check_digit(sscc)) not valid;
comment on constraint stock_container_sscc_is_valid on erp.stock_container is
  E'@userError INVALID sscc\nAn SSCC has 18 digits, and the last one is the check digit of the others.';
-- waive index-blocks-writes: containers are few
create unique index stock_container_sscc_is_unique on erp.stock_container (sscc) where sscc is not null;
-- waive index-blocks-writes: containers are few
create index stock_container_bin_location_id_idx on erp.stock_container (bin_location_id)
  where bin_location_id is not null;
-- waive index-blocks-writes: containers are few
create index stock_container_fulfillment_order_id_idx on erp.stock_container (fulfillment_order_id)
  where fulfillment_order_id is not null;
comment on index erp.stock_container_sscc_is_unique is
  E'@userError NOT_UNIQUE sscc\nAnother container has this SSCC.';
comment on table erp.stock_container is
  'Boxes, totes and pallets that stock lies in. A container in a warehouse is a part of it, like a bin.';
comment on column erp.stock_container.number is 'The code on the container.';
comment on column erp.stock_container.sscc is
  'SSCC of the container, the number of GS1 for a logistic unit: 18 digits.';
comment on column erp.stock_container.kind is 'Kind of container: box, tote or pallet.';
comment on column erp.stock_container.warehouse_id is
  'Warehouse that the container is in. Null only for old rows: their units count nowhere.';
comment on column erp.stock_container.bin_location_id is
  'Bin of the warehouse that the container stands in; null outside of bins.';
comment on column erp.stock_container.fulfillment_order_id is
  'Fulfillment order that the units in it are picked for; null when they are free.';
comment on column erp.stock_container.created_at is 'When the container was created.';
comment on column erp.stock_container.updated_at is 'When the container was last changed; null if never.';

alter table erp.stocktake_line drop constraint if exists stocktake_line_has_one_place,
  drop constraint if exists stocktake_line_names_its_place, drop column if exists stock_container_id cascade;
alter table erp.stocktake_count drop column if exists stock_container_id cascade;
alter table erp.stocktake_line add column stock_container_id uuid;
alter table erp.stocktake_count add column stock_container_id uuid;
alter table erp.stocktake_line
  add constraint stocktake_line_stock_container_id_fkey foreign key (stock_container_id)
    references erp.stock_container on delete set null not valid,
  add constraint stocktake_line_has_one_place
    check (num_nonnulls(warehouse_id, bin_location_id, stock_container_id) <= 1) not valid,
  add constraint stocktake_line_names_its_place
    check (state in ('approved', 'cancelled')
      or coalesce(place = coalesce(stock_container_id, bin_location_id, warehouse_id)::text, false))
    not valid;
alter table erp.stocktake_count
  add constraint stocktake_count_stock_container_id_fkey foreign key (stock_container_id)
    references erp.stock_container on delete set null not valid;
-- waive index-blocks-writes: no row has a container yet, and only stocktakes wait
create index stocktake_line_stock_container_id_idx on erp.stocktake_line (stock_container_id)
  where stock_container_id is not null;
-- waive index-blocks-writes: no row has a container yet, and only stocktakes wait
create index stocktake_count_stock_container_id_idx on erp.stocktake_count (stock_container_id)
  where stock_container_id is not null;
comment on column erp.stocktake_line.stock_container_id is 'The container, if the position is in one.';
comment on column erp.stocktake_count.stock_container_id is 'The container, if it is one.';
comment on constraint stocktake_line_has_one_place on erp.stocktake_line is
  '@internal A position is in a bin, in a container, or outside of both.';
comment on constraint stocktake_line_names_its_place on erp.stocktake_line is
  E'@userError REFERENCE_IN_USE id\nA stocktake that is not finished counts this place.';
-- The migration before this one makes it concurrently. If that failed half-way, an invalid index is left
do $$
begin
  if exists (select from pg_index i where i.indexrelid = to_regclass('ledger.stock_in_places_idx')
    and not i.indisvalid) then
    raise exception 'Run drop index concurrently ledger.stock_in_places_idx, and migrate again.';
  end if;
end
$$;
-- waive index-blocks-writes: it is there, unless an invalid one was dropped
create index if not exists stock_in_places_idx on ledger.stock (product_id)
  where location_type_technical_name in ('warehouse', 'bin_location', 'stock_container');
comment on index ledger.stock_in_places_idx is
  'For picks, promises and batches: where a product lies, without the thousands of orders that have it.';

alter type ledger.line drop attribute if exists source_stock_container_id cascade,
  drop attribute if exists destination_stock_container_id cascade;
alter type ledger.line add attribute source_stock_container_id uuid,
  add attribute destination_stock_container_id uuid;
alter type ledger.named_place drop attribute if exists stock_container_id cascade;
alter type ledger.named_place add attribute stock_container_id uuid;

select api_meta.allow('service_writer', 'erp.stock_container', 'select', 'insert', 'delete',
  'update (number, kind, sscc, warehouse_id, bin_location_id, fulfillment_order_id, updated_at)');
select api_meta.allow('service_ledger', 'erp.stock_container', 'select',
  'update (fulfillment_order_id, updated_at)');
select api_meta.allow('service_booker', 'erp.stock_container', 'select');
select api_meta.allow('service_recorder', 'erp.stock_container', 'select');
select api_meta.allow('service_registrar', 'erp.stock_container', 'select');

--! Included ledger/site.sql
-- Have no settings, so that Postgres inlines them into the calling statement
create or replace function ledger.site(warehouse_id uuid, bin_location_id uuid, stock_container_id uuid)
returns table (
  warehouse_id uuid, bin_location_id uuid, is_sellable boolean, fulfillment_order_id uuid,
  "position" integer, code text
)
language sql stable rows 1
begin atomic
  select coalesce(site.warehouse_id, c.warehouse_id, b.warehouse_id), b.id,
    coalesce(b.stock_state = 'sellable', true), c.fulfillment_order_id, b."position",
    coalesce(b.code, c.number)
  from (select) one
  left join erp.stock_container c on c.id = site.stock_container_id
  left join erp.bin_location b on b.id = coalesce(site.bin_location_id, c.bin_location_id);
end;
comment on function ledger.site(uuid, uuid, uuid) is
  'Returns where a warehouse, a bin or a container is, which is the one rule for all figures. A container '
  'is in its warehouse and, perhaps, in a bin; its units are sellable if the bin is. The '
  'fulfillment order is the one that the units of a container are picked for. The warehouse is null for '
  'containers in no warehouse, and for other places.';
grant execute on function ledger.site(uuid, uuid, uuid) to service_ledger, service_writer, service_booker;

create or replace function ledger.site_of(type text, place text)
returns table (warehouse_id uuid, bin_location_id uuid, is_sellable boolean, fulfillment_order_id uuid)
language sql stable rows 1
begin atomic
  select coalesce(w.id, c.warehouse_id, b.warehouse_id), b.id, coalesce(b.stock_state = 'sellable', true),
    c.fulfillment_order_id
  from (select case site_of.type when 'warehouse' then site_of.place::uuid end) w (id)
  left join erp.stock_container c
    on c.id = case site_of.type when 'stock_container' then site_of.place::uuid end
  left join erp.bin_location b
    on b.id = case site_of.type when 'bin_location' then site_of.place::uuid else c.bin_location_id end;
end;
comment on function ledger.site_of(text, text) is
  'As ledger.site, for a place that is given by its kind and its key (see ledger.stock.place).';
grant execute on function ledger.site_of(text, text) to service_ledger, service_writer, service_booker;
--! EndIncluded ledger/site.sql
--! Included ledger/lock.sql
create or replace function ledger.lock(
  product_ids uuid[], warehouse_ids uuid[] default '{}', bin_location_ids uuid[] default '{}',
  stock_container_ids uuid[] default '{}'
)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  warehouses uuid[] := array_remove(warehouse_ids, null);
  bins uuid[] := array_remove(bin_location_ids, null);
  containers constant uuid[] := array_remove(stock_container_ids, null);
  locked uuid[];
  are_found boolean := true;
begin
  if containers <> '{}' then
    locked := array(
      select c.id from erp.stock_container c where c.id = any (containers) order by c.id for key share);
    are_found := containers <@ locked;
    -- Nobody moves them any more
    warehouses := warehouses || array(
      select c.warehouse_id from erp.stock_container c
      where c.id = any (containers) and c.warehouse_id is not null);
    bins := bins || array(
      select c.bin_location_id from erp.stock_container c
      where c.id = any (containers) and c.bin_location_id is not null);
  end if;
  if bins <> '{}' then
    warehouses := warehouses || array(
      select b.warehouse_id from erp.bin_location b where b.id = any (bins));
  end if;
  if warehouses <> '{}' then
    locked := array(
      select w.id from erp.warehouse w where w.id = any (warehouses) order by w.id for key share);
    are_found := are_found and warehouses <@ locked;
  end if;
  if bins <> '{}' then
    locked := array(select b.id from erp.bin_location b where b.id = any (bins) order by b.id for key share);
    are_found := are_found and bins <@ locked;
  end if;
  locked := array(
    select p.id from erp.product p where p.id = any (product_ids) order by p.id for no key update);
  -- One may be named several times. Containment would take the square of their number
  if cardinality(locked) < cardinality(product_ids) then
    are_found := are_found
      and cardinality(locked) = (select count(distinct p) from unnest(product_ids) as p);
  end if;
  return are_found;
end
$$;
comment on function ledger.lock(uuid[], uuid[], uuid[], uuid[]) is
  'Takes the locks of a booking, always in the same order, so that bookings cannot deadlock. The order is: '
  'containers, against deletion and moves; warehouses, also of the containers and bins; bins, also of the '
  'containers, against deletion and changes of their warehouse or state; products. Only the holder of a '
  'product''s lock changes its stock and figures. Returns whether all were found. Nulls among the places '
  'are ignored.';
select api_meta.give('ledger.lock(uuid[], uuid[], uuid[], uuid[])', 'service_ledger');
grant execute on function ledger.lock(uuid[], uuid[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/lock.sql
--! Included ledger/lock_lines.sql
create or replace function ledger.lock_lines(
  lines ledger.line[], out are_there boolean, out name_batches boolean, out expect boolean,
  out name_containers boolean
)
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select ledger.lock(array_agg(l.product_id),
      array_agg(l.source_warehouse_id) || array_agg(l.destination_warehouse_id),
      array_agg(l.source_bin_location_id) || array_agg(l.destination_bin_location_id),
      array_agg(l.source_stock_container_id) || array_agg(l.destination_stock_container_id)),
    bool_or(l.batch_id is not null), bool_or(l.expected_quantity is not null),
    bool_or(num_nonnulls(l.source_stock_container_id, l.destination_stock_container_id) > 0)
  from unnest(lines) l;
end;
comment on function ledger.lock_lines(ledger.line[]) is
  'Takes the locks of ledger.lock for lines of mutations of stock. Returns whether all their products and '
  'places exist, and whether some name batches, expect quantities or name containers.';
grant execute on function ledger.lock_lines(ledger.line[]) to service_ledger;
--! EndIncluded ledger/lock_lines.sql
--! Included ledger/lock_places.sql
create or replace function ledger.lock_places(drafts ledger.draft[]) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select ledger.lock(array_agg(d.product_id), array_agg(s.warehouse_id) || array_agg(t.warehouse_id),
    array_agg(s.bin_location_id) || array_agg(t.bin_location_id),
    array_agg(s.stock_container_id) || array_agg(t.stock_container_id))
  from unnest(drafts) d
  cross join lateral ledger.place_columns(d.source_type, d.source) s
  cross join lateral ledger.place_columns(d.destination_type, d.destination) t;
end;
comment on function ledger.lock_places(ledger.draft[]) is
  'Takes the locks of ledger.lock for the products and places of movements to be booked.';
grant execute on function ledger.lock_places(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/lock_places.sql
--! Included ledger/lock_shipment.sql
create or replace function ledger.lock_shipment(
  product_ids uuid[], warehouse_ids uuid[], bin_location_ids uuid[] default '{}'
)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  bins uuid[];
  containers uuid[];
begin
  select array_agg(s.bin_location_id), array_agg(s.stock_container_id) into bins, containers
  from ledger.stock s
  where s.product_id = any (product_ids)
    and s.location_type_technical_name in ('warehouse', 'bin_location', 'stock_container')
    and s.quantity > 0 and case
      -- One after the other: a join would look for all warehouses in each bin
      when s.bin_location_id is not null then (
        select b.warehouse_id from erp.bin_location b where b.id = s.bin_location_id) = any (warehouse_ids)
      when s.stock_container_id is not null then (
        select c.warehouse_id from erp.stock_container c where c.id = s.stock_container_id)
          = any (warehouse_ids) end;
  perform ledger.lock(product_ids, warehouse_ids, bins || bin_location_ids, containers);
end
$$;
comment on function ledger.lock_shipment(uuid[], uuid[], uuid[]) is
  'Takes all locks for shipping products from warehouses, including the locks of the bins and containers '
  'that hold them, after the locks of the orders. From then on no other transaction changes the stock of '
  'these products.';
select api_meta.plan_by_index('ledger.lock_shipment(uuid[], uuid[], uuid[])');
select api_meta.give('ledger.lock_shipment(uuid[], uuid[], uuid[])', 'service_ledger');
grant execute on function ledger.lock_shipment(uuid[], uuid[], uuid[]) to service_writer;
--! EndIncluded ledger/lock_shipment.sql
--! Included ledger/lock_way_back.sql
create or replace function ledger.lock_way_back(fulfillment_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock(
    array(
      select unnest(array[l.product_id, a.product_id, s.product_id])
      from erp.fulfillment_line_item l
      join erp.fulfillment_order_line_item a on a.id = l.fulfillment_order_line_item_id
      left join erp.sales_order_line_item s on s.id = a.destination_order_line_item_id
      where l.fulfillment_id = lock_way_back.fulfillment_id
      -- What else is open of its orders and fulfillment orders is reserved and promised again
      union
      select s.product_id from erp.fulfillment_line_item l
      join erp.fulfillment_order f on f.id = l.fulfillment_order_id
      join erp.sales_order_line_item s on s.order_id = f.destination_order_id
      where l.fulfillment_id = lock_way_back.fulfillment_id and s.quantity > s.shipped_quantity
      union
      select a.product_id from erp.fulfillment_line_item l
      join erp.fulfillment_order_line_item a on a.fulfillment_order_id = l.fulfillment_order_id
      where l.fulfillment_id = lock_way_back.fulfillment_id and a.quantity > a.fulfilled_quantity
    ),
    array(
      select unnest(array[w.warehouse_id, m.source_warehouse_id])
      from erp.fulfillment_line_item l join erp.fulfillment_order f on f.id = l.fulfillment_order_id
      left join erp.location w on w.id = f.source_warehouse_location_id
      left join erp.fulfillment_stock_movement k on k.fulfillment_line_item_id = l.id
      left join ledger.stock_movement m on m.id = k.stock_movement_id
      where l.fulfillment_id = lock_way_back.fulfillment_id
    ),
    array(
      select m.source_bin_location_id
      from erp.fulfillment_line_item l
      join erp.fulfillment_stock_movement k on k.fulfillment_line_item_id = l.id
      join ledger.stock_movement m on m.id = k.stock_movement_id
      where l.fulfillment_id = lock_way_back.fulfillment_id and m.source_bin_location_id is not null
    ),
    array(
      select m.source_stock_container_id
      from erp.fulfillment_line_item l
      join erp.fulfillment_stock_movement k on k.fulfillment_line_item_id = l.id
      join ledger.stock_movement m on m.id = k.stock_movement_id
      where l.fulfillment_id = lock_way_back.fulfillment_id
    )
  );
end
$$;
comment on function ledger.lock_way_back(uuid) is
  'Takes the locks of ledger.lock to take a fulfillment back: for the products that are returned, reserved '
  'or promised again, and for the places that the units came from.';
grant execute on function ledger.lock_way_back(uuid) to service_ledger;
--! EndIncluded ledger/lock_way_back.sql
--! Included ledger/named_places.sql
create or replace function ledger.named_places(lines ledger.line[], operation text)
returns ledger.named_place[]
language sql immutable
return array(
  select row (l.ordinality, p.name, p.warehouse_id, p.bin_location_id,
    p.stock_container_id)::ledger.named_place
  from unnest(lines) with ordinality l cross join lateral (values
    (case operation when 'transfer' then 'source' else 'place' end,
      l.source_warehouse_id, l.source_bin_location_id, l.source_stock_container_id),
    (case operation when 'transfer' then 'destination' end,
      l.destination_warehouse_id, l.destination_bin_location_id, l.destination_stock_container_id)
  ) p (name, warehouse_id, bin_location_id, stock_container_id) where p.name is not null
);
comment on function ledger.named_places(ledger.line[], text) is
  'Returns the places of the lines of a mutation of stock, each with the name of its field in the input.';
grant execute on function ledger.named_places(ledger.line[], text) to service_ledger;
--! EndIncluded ledger/named_places.sql
--! Included ledger/is_malformed.sql
-- Has no settings, so that Postgres inlines it into the calling expression
create or replace function ledger.is_malformed(l ledger.line, operation text) returns boolean
language sql stable
return case operation when 'set' then (l).quantity < 0 when 'adjust' then (l).quantity = 0
    else (l).quantity < 1
      or num_nonnulls((l).destination_warehouse_id, (l).destination_bin_location_id,
        (l).destination_stock_container_id) <> 1 end
  or num_nonnulls((l).source_warehouse_id, (l).source_bin_location_id,
    (l).source_stock_container_id) <> 1
  or (l).source_warehouse_id = (l).destination_warehouse_id
  or (l).source_bin_location_id = (l).destination_bin_location_id
  or (l).source_stock_container_id = (l).destination_stock_container_id
  -- A little earlier than now, but one that is volatile could not become part of anything
  or (l).counted_at > ledger.moment_of_statement();
comment on function ledger.is_malformed(ledger.line, text) is
  'Whether ledger.check_form finds a fault in a line; a cheap test, because faults are rare.';
grant execute on function ledger.is_malformed(ledger.line, text) to service_ledger, service_writer;

create or replace function ledger.is_malformed(lines ledger.line[], operation text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if cardinality(lines) = 1 then
    return coalesce(ledger.is_malformed(lines[1], operation), false);
  end if;
  return exists (select from unnest(lines) l where ledger.is_malformed(l, operation))
    or operation = 'set' and exists (
      select from unnest(lines) l
      group by l.product_id, l.source_warehouse_id, l.source_bin_location_id, l.source_stock_container_id,
        l.batch_id having count(*) > 1);
end
$$;
comment on function ledger.is_malformed(ledger.line[], text) is
  'Whether ledger.check_form finds a fault; a cheap test, because faults are rare.';
grant execute on function ledger.is_malformed(ledger.line[], text) to service_ledger;
--! EndIncluded ledger/is_malformed.sql
--! Included ledger/check_form.sql
create or replace function ledger.check_form(lines ledger.line[], places ledger.named_place[], operation text)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('lines', e.line) || e.field) order by e.line
  )
  into errors
  from (
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must not be negative.', '{quantity}'::text[]
    from unnest(lines) with ordinality l where operation = 'set' and l.quantity < 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The change must not be 0.', '{delta}'
    from unnest(lines) with ordinality l where operation = 'adjust' and l.quantity = 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The quantity must be at least 1.', '{quantity}'
    from unnest(lines) with ordinality l where operation = 'transfer' and l.quantity < 1
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'This moment is in the future.', '{counted_at}'
    from unnest(lines) with ordinality l where l.counted_at > ledger.moment()
    union all
    select p.line, 'INVALID', 'Name either a warehouse, a bin or a container.', array[p.name]
    from unnest(places) p
    where num_nonnulls(p.warehouse_id, p.bin_location_id, p.stock_container_id) <> 1
    union all
    select l.ordinality, 'INVALID', 'Source and destination are the same place.', '{destination}'
    from unnest(lines) with ordinality l
    where l.source_warehouse_id = l.destination_warehouse_id
      or l.source_bin_location_id = l.destination_bin_location_id
      or l.source_stock_container_id = l.destination_stock_container_id
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line sets the same stock.', '{}'
    from (
      select l.*, row_number() over (
        partition by l.product_id, l.source_warehouse_id, l.source_bin_location_id,
          l.source_stock_container_id, l.batch_id
        order by l.ordinality) as nth
      from unnest(lines) with ordinality l
    ) l where operation = 'set' and l.nth > 1
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.check_form(ledger.line[], ledger.named_place[], text) is
  'Refuses lines of a mutation of stock that are invalid by themselves. User errors OUT_OF_RANGE, INVALID, '
  'NOT_UNIQUE.';
grant execute on function ledger.check_form(ledger.line[], ledger.named_place[], text) to service_ledger;
--! EndIncluded ledger/check_form.sql
--! Included ledger/check_references.sql
create or replace function ledger.check_references(lines ledger.line[], places ledger.named_place[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('lines', e.line) || e.field) order by e.line
  )
  into errors
  from (
    select l.ordinality, 'NOT_FOUND', 'There is no such product.', '{product_id}'::text[]
    from unnest(lines) with ordinality l
    where not exists (select from erp.product p where p.id = l.product_id)
    union all
    select p.line, 'NOT_FOUND', 'There is no such warehouse.', array[p.name, 'warehouse_id']
    from unnest(places) p
    where p.warehouse_id is not null and not exists (select from erp.warehouse w where w.id = p.warehouse_id)
    union all
    select p.line, 'NOT_FOUND', 'There is no such bin.', array[p.name, 'bin_location_id']
    from unnest(places) p
    where p.bin_location_id is not null
      and not exists (select from erp.bin_location b where b.id = p.bin_location_id)
    union all
    select p.line, 'NOT_FOUND', 'There is no such container.', array[p.name, 'stock_container_id']
    from unnest(places) p
    where p.stock_container_id is not null
      and not exists (select from erp.stock_container c where c.id = p.stock_container_id)
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such batch.', '{batch_id}'
    from unnest(lines) with ordinality l
    where l.batch_id is not null and not exists (select from erp.batch b where b.id = l.batch_id)
    union all
    select l.ordinality, 'BATCH_MISMATCH', format('Batch %s belongs to another product.', b.number),
      '{batch_id}'
    from unnest(lines) with ordinality l
    join erp.batch b on b.id = l.batch_id
    where b.product_id <> l.product_id
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.check_references(ledger.line[], ledger.named_place[]) is
  'Refuses lines of a mutation of stock that name something that does not exist, or a batch of another '
  'product. User errors NOT_FOUND, BATCH_MISMATCH.';
grant execute on function ledger.check_references(ledger.line[], ledger.named_place[]) to service_ledger;
--! EndIncluded ledger/check_references.sql
--! Included ledger/check_containers.sql
create or replace function ledger.check_containers(places ledger.named_place[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    case when c.fulfillment_order_id is not null then mutation.user_error('PICKED_FOR_ORDER',
      format('What is in container %s was picked for fulfillment order %s.', c.number, f.number),
      mutation.path('lines', p.line) || array[p.name, 'stock_container_id'], jsonb_build_object(
        'fulfillmentOrderId', 'gid://service/FulfillmentOrder/' || f.id, 'number', f.number))
    else mutation.user_error('INVALID',
      format('Container %s is in no warehouse: it can only be emptied, by stockTransfer.', c.number),
      mutation.path('lines', p.line) || array[p.name, 'stock_container_id']) end
    order by p.line, p.name)
  into errors
  from unnest(places) p join erp.stock_container c on c.id = p.stock_container_id
  left join erp.fulfillment_order f on f.id = c.fulfillment_order_id
  where c.fulfillment_order_id is not null or c.warehouse_id is null and p.name <> 'source';
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.check_containers(ledger.named_place[]) is
  'Refuses containers of a mutation of stock: those with units that are picked for a fulfillment order, and '
  'those in no warehouse, which can only be emptied. The containers are locked. User errors '
  'PICKED_FOR_ORDER, INVALID.';
select api_meta.plan_by_index('ledger.check_containers(ledger.named_place[])');
grant execute on function ledger.check_containers(ledger.named_place[]) to service_ledger;
--! EndIncluded ledger/check_containers.sql
--! Included ledger/check_expectations.sql
create or replace function ledger.check_expectations(lines ledger.line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error('QUANTITY_CHANGED',
    format('The place holds %s units, not %s.', q.quantity, l.expected_quantity),
    mutation.path('lines', l.ordinality, 'expected_quantity'),
    jsonb_build_object('expected', l.expected_quantity, 'actual', q.quantity)) order by l.ordinality)
  into errors
  from unnest(lines) with ordinality l
  cross join lateral ledger.quantity_at(
    l.product_id, coalesce(l.source_warehouse_id, l.source_bin_location_id,
      l.source_stock_container_id)::text, l.batch_id
  ) q (quantity)
  where l.expected_quantity <> q.quantity;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.check_expectations(ledger.line[]) is
  'Refuses lines of a mutation of stock that expect another quantity than the present one. User error '
  'QUANTITY_CHANGED.';
grant execute on function ledger.check_expectations(ledger.line[]) to service_ledger;
--! EndIncluded ledger/check_expectations.sql
--! Included ledger/prepare.sql
create or replace function ledger.prepare(lines ledger.line[], operation text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  locked record;
begin
  if coalesce(cardinality(lines), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one line is needed.', '{lines}');
  end if;
  if cardinality(lines) > 250 then
    perform mutation.refuse_too_many(cardinality(lines), 250, '{lines}');
  end if;
  if ledger.is_malformed(lines, operation) then
    perform ledger.check_form(lines, ledger.named_places(lines, operation), operation);
  end if;
  -- From here on nothing that the lines name goes away, and nobody else changes the stock of these products.
  locked := ledger.lock_lines(lines);
  if not locked.are_there or locked.name_batches then
    perform ledger.check_references(lines, ledger.named_places(lines, operation));
  end if;
  if locked.name_containers then
    perform ledger.check_containers(ledger.named_places(lines, operation));
  end if;
  if locked.expect then
    perform ledger.check_expectations(lines);
  end if;
end
$$;
comment on function ledger.prepare(ledger.line[], text) is
  'Prepares a mutation of stock (set, adjust, transfer): checks its lines and takes the locks of the '
  'booking, so that later reads see what the booking finds. User errors REQUIRED, TOO_MANY_LINES, '
  'OUT_OF_RANGE, INVALID, NOT_UNIQUE, NOT_FOUND, BATCH_MISMATCH, QUANTITY_CHANGED, PICKED_FOR_ORDER.';
grant execute on function ledger.prepare(ledger.line[], text) to service_ledger;
--! EndIncluded ledger/prepare.sql
--! Included ledger/read_counts.sql
create or replace function ledger.read_counts(lines ledger.line[]) returns ledger.stock_reading[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Later than all bookings of these products, because they are locked
  moment constant timestamptz := ledger.moment();
begin
  if exists (
    select from unnest(lines) l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id,
      l.source_stock_container_id) p
    where not exists (select from ledger.stock s where s.product_id = l.product_id and s.place = p.place)
  ) then
    insert into ledger.stock (product_id, location_type_technical_name, warehouse_id, bin_location_id,
      stock_container_id)
    select l.product_id, p.type, l.source_warehouse_id, l.source_bin_location_id,
      l.source_stock_container_id
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id,
      l.source_stock_container_id) p
    group by l.product_id, p.type, l.source_warehouse_id, l.source_bin_location_id,
      l.source_stock_container_id
    order by min(l.ordinality)
    on conflict (product_id, place) do nothing;
  end if;

  return array(
    select row (l.ordinality, s.id, p.type, p.place, l.product_id, l.batch_id, l.quantity,
      case when l.counted_at is null then greatest(moment, newer.counted_at) else l.counted_at end,
      case when l.counted_at is null then 0
        when newer.counted_at is null
          then ledger.moved_since(l.product_id, p.place, l.batch_id, l.counted_at) end,
      case when l.batch_id is null then s.quantity else coalesce((
        select b.quantity from ledger.batch_stock b where b.stock_id = s.id and b.batch_id = l.batch_id
      ), 0) end,
      case when l.counted_at is not null then newer.counted_at end, newer.quantity
    )::ledger.stock_reading
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id,
      l.source_stock_container_id) p
    join ledger.stock s on s.product_id = l.product_id and s.place = p.place
    left join lateral (
      select c.counted_at, c.quantity from ledger.stock_count c
      where c.stock_id = s.id and c.counted_at > coalesce(l.counted_at, moment)
        and (c.batch_id is null or c.batch_id = l.batch_id) and c.difference is not null
      order by c.counted_at desc, c.id desc limit 1
    ) newer on true
    order by l.ordinality
  );
end
$$;
comment on function ledger.read_counts(ledger.line[]) is
  'Compares the lines of stockSet with the ledger. The products are locked. Stock that is counted for the '
  'first time gets a row, even with 0 units.';
grant execute on function ledger.read_counts(ledger.line[]) to service_ledger;
--! EndIncluded ledger/read_counts.sql
--! Included ledger/examine.sql
create or replace function ledger.examine(
  legs ledger.leg[], out changes ledger.place_change[], out needs_care boolean, out recounted uuid[]
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  select array_agg(row (g.position, null, g.product_id, g.place_type, g.place, w.id, coalesce(s.id, uuidv7()),
      s.id is null, g.change, case when w.is_stock_available_for_sale then u.on_hold else g.change end,
      u.on_hold)::ledger.place_change order by g.position),
    bool_or(p.is_batch_managed or g.names_batches
      or w.id is not null and g.comes and exists (select from erp.product v where v.parent_id = g.product_id)
      or g.leaves and g.place_type <> 'special_stock_location' and (s.id is null or s.quantity + g.change < 0
        or exists (select from ledger.batch_stock b where b.stock_id = s.id))),
    array_agg(s.id) filter (where g.has_moved and g.place_type <> 'special_stock_location' and exists (
      select from ledger.stock_count c where c.stock_id = s.id and c.counted_at >= g.moved_at
        and c.batch_id is null and c.difference is not null))
  into changes, needs_care, recounted
  from (
    select l.product_id, l.place_type, l.place, sum(l.change) as change, min(l.position) as position,
      coalesce(sum(l.change) filter (where l.batch_id is not null
        and (select b.is_held or b.is_expired from erp.batch b where b.id = l.batch_id)), 0) as on_hold,
      bool_or(l.change < 0) as leaves, bool_or(l.change > 0) as comes,
      bool_or(l.batch_id is not null) as names_batches,
      min(l.booked_at) filter (where not l.is_count) as moved_at,
      sum(l.change) <> 0 or min(l.booked_at) < max(l.booked_at) as has_moved
    from unnest(legs) l group by l.product_id, l.place_type, l.place order by min(l.position)
  ) g
  -- Where units leave, which each product does somewhere, so that it is read once. One that has been deleted
  -- lets the booking fail, for its stock can't be opened
  left join erp.product p on p.id = g.product_id and g.leaves
  left join ledger.stock s on s.product_id = g.product_id and s.place = g.place
  cross join lateral ledger.site_of(g.place_type, g.place) t
  left join erp.warehouse w on w.id = t.warehouse_id
  cross join lateral (select case when t.is_sellable then g.on_hold else g.change end) u (on_hold);
end
$$;
comment on function ledger.examine(ledger.leg[]) is
  'Returns the changes that legs of movements make, one for each product and place. The result needs_care '
  'says that they may have to be refused or warned about. That is rare: batches or variants are involved, '
  'or a place has too little. The result recounted is stock with a known count after the moment of a leg. '
  'The products are locked. Callers must be marked by api_meta.plan_by_index.';
grant execute on function ledger.examine(ledger.leg[]) to service_ledger;
--! EndIncluded ledger/examine.sql
--! Included ledger/keep_figures.sql
create or replace function ledger.keep_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  seen record;
begin
  -- Also the places: their warehouse must not stop selling meanwhile, nor a bin change its state
  perform ledger.lock(array_agg(distinct b.product_id),
    array_agg(b.source_warehouse_id) || array_agg(b.destination_warehouse_id),
    array_agg(b.source_bin_location_id) || array_agg(b.destination_bin_location_id),
    array_agg(b.source_stock_container_id) || array_agg(b.destination_stock_container_id)) from booked b;
  select * into seen from ledger.examine(array(
    select row (row_number() over (order by min(f.movement_id::text), min(f.direction)), f.product_id,
      f.location_type_technical_name, f.place, sum(f.quantity), null, f.booked_at, f.is_count)::ledger.leg
    from booked m join ledger.flow f on f.movement_id = m.id
    group by f.product_id, f.location_type_technical_name, f.place, f.booked_at, f.is_count
  ));
  if seen.changes is not null then
    perform ledger.write(array[null::ledger.call], '{}', seen.changes);
  end if;
  if seen.recounted is not null then
    perform ledger.carry_counts(seen.recounted, null);
  end if;
  return null;
end
$$;
comment on function ledger.keep_figures() is
  'Trigger after movements were inserted by anyone but ledger.book: takes the locks of a booking, and '
  'updates the figures in the same statement.';
select api_meta.plan_by_index('ledger.keep_figures()');
select api_meta.give('ledger.keep_figures()', 'service_ledger');
--! EndIncluded ledger/keep_figures.sql
--! Included ledger/keep_batch_figures.sql
create or replace function ledger.keep_batch_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  legs ledger.leg[];
begin
  -- Where movements and batches are inserted by one statement, this trigger may be the first
  perform ledger.lock(array(
    select distinct m.product_id from booked b join ledger.stock_movement m on m.id = b.stock_movement_id
  ));
  perform ledger.open_stock(array(select stock_movement_id from booked));
  legs := array(
    select row (row_number() over (order by f.movement_id, f.direction), f.product_id,
      f.location_type_technical_name, f.place, m.quantity * f.direction, m.batch_id, f.booked_at,
      f.is_count)::ledger.leg
    from booked m join ledger.flow f on f.movement_id = m.stock_movement_id
  );
  perform ledger.carry_counts(w.stock_ids, w.batch_id) from ledger.write_batch_figures(legs) w;
  -- The movements were counted without their batches
  perform ledger.change_held_stock(array(
    select row (w.id, l.product_id, l.change)::ledger.change
    from unnest(legs) l
    join erp.batch b on b.id = l.batch_id and (b.is_held or b.is_expired)
    cross join lateral ledger.site_of(l.place_type, l.place) t
    join erp.warehouse w on w.id = t.warehouse_id
    -- Elsewhere the movement was counted, whatever its batch
    where t.is_sellable
  ));
  return null;
end
$$;
comment on function ledger.keep_batch_figures() is
  'Trigger after batches of movements were inserted by anyone but ledger.book: updates the stock of '
  'batches, in each place and in total. Updates the figures of those that are not sellable, too.';
select api_meta.plan_by_index('ledger.keep_batch_figures()');
select api_meta.give('ledger.keep_batch_figures()', 'service_ledger');
--! EndIncluded ledger/keep_batch_figures.sql
--! Included ledger/write_batch_figures.sql
create or replace function ledger.write_batch_figures(legs ledger.leg[])
returns table (batch_id uuid, stock_ids uuid[])
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  today constant timestamptz := date_trunc('second', now());
begin
  return query
  with flow as materialized (
    select s.id as stock_id, l.batch_id, sum(l.change) as change, min(l.position) as position,
      coalesce(sum(l.change) filter (where l.place_type in ('warehouse', 'bin_location')
        or l.place_type = 'stock_container'
          and (select t.warehouse_id from ledger.site_of(l.place_type, l.place) t) is not null), 0) as held,
      min(l.booked_at) filter (where not l.is_count) as moved_at
    from unnest(legs) l
    join ledger.stock s on s.product_id = l.product_id and s.place = l.place
    where l.batch_id is not null and l.place_type <> 'special_stock_location'
    group by s.id, l.batch_id
  ),
  opened as (
    insert into ledger.batch_stock (stock_id, batch_id, quantity)
    select f.stock_id, f.batch_id, f.change from flow f
    where not exists (
      select from ledger.batch_stock b where b.stock_id = f.stock_id and b.batch_id = f.batch_id)
    order by f.position
  ),
  in_place as (
    update ledger.batch_stock b set quantity = b.quantity + f.change
    from flow f where b.stock_id = f.stock_id and b.batch_id = f.batch_id and f.change <> 0
  ),
  in_batch as (
    update erp.batch b set physical_stock = b.physical_stock + h.change, updated_at = today
    from (
      select flow.batch_id, sum(flow.held)::bigint as change, min(flow.position) as position
      from flow group by flow.batch_id having sum(flow.held) <> 0
    ) h
    where b.id = h.batch_id
    returning with (old as o, new as n) o, n, h.position
  ),
  told as (
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause())
    from in_batch b cross join lateral events.batch_update_events(b.o, b.n) e order by b.position
  )
  select f.batch_id, array_agg(f.stock_id) from flow f
  where exists (
    select from ledger.stock_count c
    where c.stock_id = f.stock_id and c.counted_at >= f.moved_at
      and c.batch_id = f.batch_id and c.difference is not null)
  group by f.batch_id;
end
$$;
comment on function ledger.write_batch_figures(ledger.leg[]) is
  'Updates the stock of batches after movements, in each place and in total, and emits events. Returns the '
  'batches with a known count after the moment of a leg, each with its stock.';
select api_meta.plan_by_index('ledger.write_batch_figures(ledger.leg[])');
select api_meta.give('ledger.write_batch_figures(ledger.leg[])', 'service_booker');
grant execute on function ledger.write_batch_figures(ledger.leg[]) to service_ledger;
--! EndIncluded ledger/write_batch_figures.sql
--! Included ledger/units_of_batches.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.units_of_batches(batch_ids uuid[])
returns table (batch_id uuid, product_id uuid, warehouse_id uuid, quantity bigint)
language sql stable
begin atomic
  select b.id, b.product_id, w.id, sum(u.quantity)
  from erp.batch b
  -- A batch may have been shipped to thousands of orders, and lie in a dozen bins
  join ledger.stock s on s.product_id = b.product_id
    and s.location_type_technical_name in ('warehouse', 'bin_location', 'stock_container')
  join ledger.batch_stock u on u.stock_id = s.id and u.batch_id = b.id and u.quantity > 0
  cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) t
  join erp.warehouse w on w.id = t.warehouse_id
  where b.id = any (batch_ids) and t.is_sellable
  group by b.id, w.id;
end;
comment on function ledger.units_of_batches(uuid[]) is
  'Returns how many units of batches each warehouse has, with its bins and containers, leaving out bins '
  'whose units are not sellable anyway. Callers must be marked by api_meta.plan_by_index.';
grant execute on function ledger.units_of_batches(uuid[]) to service_ledger;
--! EndIncluded ledger/units_of_batches.sql
--! Included ledger/stock_of_bin.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.stock_of_bin(bin_location_id uuid) returns setof ledger.stock
language sql stable
begin atomic
  select s.* from ledger.stock s where s.bin_location_id = stock_of_bin.bin_location_id
  union all
  select s.* from erp.stock_container c join ledger.stock s on s.stock_container_id = c.id
  where c.bin_location_id = stock_of_bin.bin_location_id;
end;
comment on function ledger.stock_of_bin(uuid) is
  'Returns the stock in a bin, and in the containers that stand in it. Callers must be marked by '
  'api_meta.plan_by_index.';
grant execute on function ledger.stock_of_bin(uuid) to service_ledger, service_writer;
--! EndIncluded ledger/stock_of_bin.sql
--! Included ledger/turn_stock.sql
create or replace function ledger.turn_stock(warehouse_id uuid, stock_ids uuid[], is_sellable boolean)
returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select ledger.change_held_stock(array(
    select row (turn_stock.warehouse_id, s.product_id,
      case when turn_stock.is_sellable then -1 else 1 end * (s.quantity - coalesce((
        select sum(u.quantity) from ledger.batch_stock u join erp.batch b on b.id = u.batch_id
        where u.stock_id = s.id and (b.is_held or b.is_expired)), 0)))::ledger.change
    from ledger.stock s where s.id = any (turn_stock.stock_ids) and s.quantity <> 0
  ));
end;
comment on function ledger.turn_stock(uuid, uuid[], boolean) is
  'Updates the held stock of a warehouse when the place of some of its stock begins or ceases to be '
  'sellable. Units of batches that are not sellable count already. The products are locked. Callers must be '
  'marked by api_meta.plan_by_index.';
grant execute on function ledger.turn_stock(uuid, uuid[], boolean) to service_ledger;
--! EndIncluded ledger/turn_stock.sql
--! Included ledger/keep_bin_state.sql
create or replace function ledger.keep_bin_state() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_when = 'BEFORE' then
    -- Waits for bookings that use the old state; later ones wait for this change
    perform from erp.bin_location b where b.id = old.id for update;
    perform from erp.warehouse w where w.id = new.warehouse_id for key share;
    return new;
  end if;
  perform ledger.lock(array(
    select distinct s.product_id from ledger.stock_of_bin(new.id) s where s.quantity <> 0));
  perform ledger.turn_stock(new.warehouse_id, array(select s.id from ledger.stock_of_bin(new.id) s),
    new.stock_state = 'sellable');
  return null;
end
$$;
comment on function ledger.keep_bin_state() is
  'Triggers before and after a bin begins or ceases to be sellable: updates the held stock of its warehouse, '
  'and what its products have that is not for sale. Containers in the bin change with it.';
select api_meta.plan_by_index('ledger.keep_bin_state()');
select api_meta.give('ledger.keep_bin_state()', 'service_ledger');
--! EndIncluded ledger/keep_bin_state.sql
--! Included ledger/keep_container_place.sql
create or replace function ledger.keep_container_place() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  bins constant uuid[] := array_remove(array[new.bin_location_id,
    case when tg_op = 'UPDATE' then old.bin_location_id end], null);
  stocks uuid[] := '{}';
  was_sellable boolean;
  is_sellable boolean;
begin
  if tg_op = 'UPDATE' and (old.warehouse_id, old.bin_location_id)
    is distinct from (new.warehouse_id, new.bin_location_id)
    or new.fulfillment_order_id is not null then
    -- Waits for bookings that use the old place; later ones wait for this change
    perform from erp.stock_container c where c.id = new.id for update;
  end if;
  if tg_op = 'UPDATE' and old.warehouse_id is distinct from new.warehouse_id
    and exists (select from ledger.stock s where s.stock_container_id = new.id) then
    perform mutation.refuse('NOT_EDITABLE', format(
      'Container %s has held stock, so it stays in its warehouse: transfer its goods to another one.',
      old.number), '{warehouse_id}');
  elsif tg_op = 'UPDATE' and old.warehouse_id is distinct from new.warehouse_id
    and new.fulfillment_order_id is not null then
    -- Its units would be picked in one warehouse and lie in the other
    perform mutation.refuse('NOT_EDITABLE', format(
      'Container %s is used for fulfillment order %s, so it stays in its warehouse until that is packed.',
      old.number, (select f.number from erp.fulfillment_order f where f.id = new.fulfillment_order_id)),
      '{warehouse_id}');
  elsif new.warehouse_id is null and (tg_op = 'INSERT' or old.warehouse_id is not null) then
    perform mutation.refuse('REQUIRED', 'A container needs a warehouse.', '{warehouse_id}');
  end if;
  stocks := array(
    select s.id from ledger.stock s where s.stock_container_id = new.id and s.quantity <> 0);
  perform ledger.lock(array(select distinct s.product_id from ledger.stock s where s.id = any (stocks)),
    array[new.warehouse_id], bins);
  if new.bin_location_id is not null and not exists (
    select from erp.bin_location b
    where b.id = new.bin_location_id and b.warehouse_id = new.warehouse_id) then
    perform mutation.refuse('INVALID', 'The bin is not in the warehouse of the container.',
      '{bin_location_id}');
  end if;
  if stocks <> '{}' and new.warehouse_id is not null then
    was_sellable := (select s.is_sellable from ledger.site(null, old.bin_location_id, null) s);
    is_sellable := (select s.is_sellable from ledger.site(null, new.bin_location_id, null) s);
    if was_sellable <> is_sellable then
      perform ledger.turn_stock(new.warehouse_id, stocks, is_sellable);
    end if;
  end if;
  return new;
end
$$;
comment on function ledger.keep_container_place() is
  'Trigger before a container is made, moved, or given to a fulfillment order: its bin is in its warehouse. '
  'It stays in the warehouse once it has held stock, and while a fulfillment order uses it. If its new bin '
  'is sellable and the old one was not, or the other way round, the held stock of the warehouse changes. '
  'User errors NOT_EDITABLE, REQUIRED, INVALID.';
select api_meta.plan_by_index('ledger.keep_container_place()');
select api_meta.give('ledger.keep_container_place()', 'service_ledger');
--! EndIncluded ledger/keep_container_place.sql
--! Included ledger/free_containers.sql
create or replace function ledger.free_containers() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update erp.stock_container c set fulfillment_order_id = null where c.fulfillment_order_id = new.id;
  return null;
end
$$;
comment on function ledger.free_containers() is
  'Trigger after a fulfillment order was closed or cancelled: units that were picked for it are free again.';
select api_meta.plan_by_index('ledger.free_containers()');
select api_meta.give('ledger.free_containers()', 'service_ledger');
--! EndIncluded ledger/free_containers.sql
--! Included ledger/keep_former_place.sql
create or replace function ledger.keep_former_place() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into ledger.former_place (movement_id, direction, place, warehouse_id, code, counted_at)
  select f.movement_id, f.direction, old.id::text,
    case when tg_table_name = 'warehouse' then old.id
      when tg_table_name in ('bin_location', 'stock_container')
        then (to_jsonb(old) ->> 'warehouse_id')::uuid end,
    coalesce(to_jsonb(old) ->> 'code', to_jsonb(old) ->> 'number'),
    case when f.is_count
      then (select min(c.counted_at) from ledger.stock_count c where c.stock_movement_id = f.movement_id) end
  from ledger.flow f
  -- Only one of them can be the place, but each has an index
  where f.warehouse_id = old.id or f.bin_location_id = old.id or f.goods_receipt_id = old.id
    or f.return_order_id = old.id or f.stock_container_id = old.id
  on conflict (movement_id, direction) do nothing;
  return coalesce(new, old);
end
$$;
comment on function ledger.keep_former_place() is
  'Trigger before a physical place is deleted, or a bin is moved to another warehouse: keeps for all its '
  'movements which place it was, and in which warehouse. Runs before counts are deleted with the place, and '
  'keeps their moments. Movements that an earlier move of the bin has noted stay with that warehouse.';
select api_meta.plan_by_index('ledger.keep_former_place()');
select api_meta.give('ledger.keep_former_place()', 'service_ledger');
--! EndIncluded ledger/keep_former_place.sql
--! Included ledger/require_empty_place.sql
create or replace function ledger.require_empty_place() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  held bigint;
begin
  if tg_table_name = 'bin_location'
    and exists (select from erp.stock_container c where c.bin_location_id = old.id) then
    perform mutation.refuse('REFERENCE_IN_USE', format(
      'Containers stand in bin %s: move them to another one first.', old.code));
  end if;
  if tg_table_name = 'warehouse' then
    select sum(s.quantity) into held from ledger.warehouse_stock s where s.warehouse_id = old.id;
  elsif tg_table_name = 'stock_container' then
    select sum(s.quantity) into held from ledger.stock s where s.stock_container_id = old.id;
  else
    select sum(s.quantity) into held from ledger.stock s where s.bin_location_id = old.id;
  end if;
  if held > 0 then
    perform mutation.refuse('WAREHOUSE_NOT_EMPTY', format('%s %s still holds stock: %s units.',
      case tg_table_name when 'warehouse' then 'Warehouse' when 'bin_location' then 'Bin'
        else 'Container' end,
      coalesce(to_jsonb(old) ->> 'code', to_jsonb(old) ->> 'number'), held), null,
        jsonb_build_object('quantity', held));
  end if;
  return coalesce(new, old);
end
$$;
comment on function ledger.require_empty_place() is
  'Trigger: refuses to delete a warehouse, a bin or a container that holds stock, or to move such a bin '
  'to another warehouse. A bin must not have containers in it, either.';
--! EndIncluded ledger/require_empty_place.sql
--! Included ledger/warn_of_lost_stock.sql
create or replace function ledger.warn_of_lost_stock(stock_ids uuid[], path text[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Orders miss the units as if a booking had taken them away
  perform ledger.warn_of_promises(array(
    select row (path, s.product_id, s.quantity - u.unsellable, null, 'warehouse',
      t.warehouse_id::text, 'special_stock_location', 'stock_correction', 'api')::ledger.draft
    from ledger.stock s
    cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) t
    cross join lateral (
      select coalesce(sum(n.quantity), 0)::integer as unsellable
      from ledger.batch_stock n join erp.batch x on x.id = n.batch_id
      where n.stock_id = s.id and (x.is_held or x.is_expired)
    ) u
    where s.id = any (stock_ids) and not t.is_sellable and s.quantity > u.unsellable order by s.id
  ));
end
$$;
comment on function ledger.warn_of_lost_stock(uuid[], text[]) is
  'Warns if orders wait for stock whose place is no longer sellable: warning STOCK_PROMISED, as of '
  'ledger.warn_of_promises, at a path of the input. Places that are sellable are left out.';
select api_meta.plan_by_index('ledger.warn_of_lost_stock(uuid[], text[])');
select api_meta.give('ledger.warn_of_lost_stock(uuid[], text[])', 'service_ledger');
grant execute on function ledger.warn_of_lost_stock(uuid[], text[]) to service_writer;
--! EndIncluded ledger/warn_of_lost_stock.sql
--! Included ledger/sellable_units.sql
create or replace function ledger.sellable_units(
  product_id uuid, warehouse_id uuid, bin_location_id uuid, batch_id uuid
)
returns bigint
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if batch_id is null then
    return coalesce((
      select sum(s.quantity - coalesce((
        select sum(u.quantity) from ledger.batch_stock u join erp.batch b on b.id = u.batch_id
        where u.stock_id = s.id and (b.is_held or b.best_before_date < (select erp.local_date(now())))), 0))
      from ledger.stock s cross join lateral ledger.site(null, s.bin_location_id, s.stock_container_id) t
      where s.product_id = sellable_units.product_id and s.place in (
          select sellable_units.bin_location_id::text union all
          select c.id::text from erp.stock_container c
          where c.bin_location_id = sellable_units.bin_location_id)
        and t.is_sellable and t.fulfillment_order_id is null
    ), 0);
  end if;
  return coalesce((
    select sum(u.quantity)
    from ledger.stock s join ledger.batch_stock u on u.stock_id = s.id
      and u.batch_id = sellable_units.batch_id
    join erp.batch b on b.id = u.batch_id
    cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) t
    where s.product_id = sellable_units.product_id
      and s.location_type_technical_name in ('warehouse', 'bin_location', 'stock_container')
      and t.warehouse_id = sellable_units.warehouse_id and t.fulfillment_order_id is null
      and (sellable_units.bin_location_id is null or t.bin_location_id = sellable_units.bin_location_id)
      and not b.is_held and coalesce(b.best_before_date >= (select erp.local_date(now())), true)
      and t.is_sellable
  ), 0);
end
$$;
comment on function ledger.sellable_units(uuid, uuid, uuid, uuid) is
  'Returns how many units that can be sold lie in a bin, or of one batch in a warehouse or in a bin of it. '
  'Containers count with their bin, unless they are picked for a fulfillment order. Batches on hold '
  'or past their best-before date can not be sold. Callers must be marked by api_meta.plan_by_index.';
grant execute on function ledger.sellable_units(uuid, uuid, uuid, uuid) to service_ledger;
--! EndIncluded ledger/sellable_units.sql
--! Included ledger/own_picks.sql
create or replace function ledger.own_picks(picks ledger.pick[]) returns ledger.pick[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  -- Usually nothing was picked before
  if not exists (
    select from unnest(picks) p join erp.fulfillment_order_line_item l on l.id = p.line_id
    join erp.stock_container c on c.fulfillment_order_id = l.fulfillment_order_id where p.place is null
  ) then
    return '{}';
  end if;
  -- Two rulers, as in ledger.pick_units
  return array(
    with wanted as (
      select p.ordinality as line, p.field, p.line_id, p.product_id, p.warehouse_id, p.quantity,
        l.fulfillment_order_id,
        sum(p.quantity) over (partition by p.product_id, l.fulfillment_order_id order by p.ordinality) as upto
      from unnest(picks) with ordinality p join erp.fulfillment_order_line_item l on l.id = p.line_id
      where p.place is null and p.product_id is not null
    ),
    lying as (
      select w.product_id, w.fulfillment_order_id, s.id, s.place, s.quantity, c.number
      from (select distinct w.product_id, w.warehouse_id, w.fulfillment_order_id from wanted w) w
      join erp.stock_container c on c.fulfillment_order_id = w.fulfillment_order_id
        and c.warehouse_id = w.warehouse_id
      join ledger.stock s on s.product_id = w.product_id and s.place = c.id::text and s.quantity > 0
      cross join lateral ledger.site(null, null, c.id) t
      where t.is_sellable
    ),
    pile as (
      select l.*, b.batch_id, b.quantity as units
      from lying l join ledger.batch_stock b on b.stock_id = l.id and b.quantity > 0
      join erp.batch x on x.id = b.batch_id
      where not x.is_held and coalesce(x.best_before_date >= (select erp.local_date(now())), true)
      union all
      select l.*, null,
        l.quantity - coalesce((select sum(b.quantity) from ledger.batch_stock b where b.stock_id = l.id), 0)
      from lying l
    ),
    offered as (
      select p.*, sum(p.units) over (
        partition by p.product_id, p.fulfillment_order_id order by p.number, p.batch_id nulls first
        rows unbounded preceding) as upto
      from pile p where p.units > 0
    )
    select row (w.field, w.line_id, w.product_id, w.warehouse_id,
      least(w.upto, o.upto) - greatest(w.upto - w.quantity, o.upto - o.units), 'stock_container', o.place,
      o.batch_id)::ledger.pick
    from wanted w join offered o on o.product_id = w.product_id
      and o.fulfillment_order_id = w.fulfillment_order_id
      and o.upto > w.upto - w.quantity and o.upto - o.units < w.upto
    order by w.line, o.upto
  );
end
$$;
comment on function ledger.own_picks(ledger.pick[]) is
  'Returns units of picks without a place that were picked for their fulfillment order before: they lie in '
  'its containers. Units that are not sellable, of held or of expired batches are left out.';
grant execute on function ledger.own_picks(ledger.pick[]) to service_ledger;
--! EndIncluded ledger/own_picks.sql
--! Included ledger/pick_units.sql
create or replace function ledger.pick_units(picks ledger.pick[]) returns ledger.pick[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  own constant ledger.pick[] := ledger.own_picks(picks);
begin
  -- Wanted and stored units form two rulers, side by side. Where both overlap, units go to that line.
  return own || array(
    with wanted as (
      select p.ordinality as line, p.field, p.line_id, p.product_id, p.warehouse_id, q.quantity,
        sum(q.quantity) over (partition by p.product_id, p.warehouse_id order by p.ordinality) as upto
      from unnest(picks) with ordinality p
      cross join lateral (select p.quantity - coalesce(sum(o.quantity), 0)::integer as quantity
        from unnest(own) o where o.line_id = p.line_id) q
      where p.place is null and p.product_id is not null and q.quantity > 0
    ),
    named as (
      select p.product_id, p.place, p.batch_id, sum(p.quantity) as quantity
      from unnest(picks) p where p.place is not null group by p.product_id, p.place, p.batch_id
    ),
    lying as (
      select w.product_id, w.warehouse_id, s.id, s.place, s.location_type_technical_name as place_type,
        s.quantity, t."position", t.code, a.is_batch_managed,
        coalesce(a.minimum_remaining_shelf_life_days, 0) as days,
        coalesce(a.pick_order, (select m.pick_order from erp.merchant m), 'bin') as pick_order
      from (select distinct wanted.product_id, wanted.warehouse_id from wanted) w
      join erp.product a on a.id = w.product_id
      join ledger.stock s on s.product_id = w.product_id and s.quantity > 0
        and s.location_type_technical_name in ('warehouse', 'bin_location', 'stock_container')
      cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) t
      where t.warehouse_id = w.warehouse_id and t.is_sellable and t.fulfillment_order_id is null
    ),
    pile as (
      -- Neither on hold, nor expired, nor short of the promised shelf life
      select l.*, b.batch_id, b.quantity as units, x.best_before_date
      from lying l join ledger.batch_stock b on b.stock_id = l.id
      -- Offset: looked up one by one
      cross join lateral (
        select x.is_held, x.best_before_date from erp.batch x where x.id = b.batch_id offset 0) x
      where not x.is_held and coalesce(x.best_before_date - l.days >= (select erp.local_date(now())), true)
      union all
      select l.*, null,
        l.quantity - coalesce((select sum(b.quantity) from ledger.batch_stock b where b.stock_id = l.id), 0),
        null
      from lying l where not l.is_batch_managed
    ),
    free as (
      select p.*, p.units - coalesce(n.quantity, 0) as quantity_left
      from pile p
      left join named n on n.product_id = p.product_id and n.place = p.place
        and n.batch_id is not distinct from p.batch_id
    ),
    offered as (
      select f.*, sum(f.quantity_left) over (
        partition by f.product_id, f.warehouse_id
        order by case f.pick_order when 'first_expired' then f.best_before_date end,
          case when f.is_batch_managed or f.pick_order <> 'bin' then f.batch_id end,
          case when f.pick_order <> 'bin' and f.batch_id is null then f.id end,
          f.place_type = 'warehouse', f."position" nulls last, f.code, f.batch_id nulls first, f.place
        rows unbounded preceding) as upto
      from free f where f.quantity_left > 0
    )
    select row (w.field, w.line_id, w.product_id, w.warehouse_id,
      least(w.upto, o.upto) - greatest(w.upto - w.quantity, o.upto - o.quantity_left),
      o.place_type, o.place, o.batch_id)::ledger.pick
    from wanted w join offered o on o.product_id = w.product_id and o.warehouse_id = w.warehouse_id
      and o.upto > w.upto - w.quantity and o.upto - o.quantity_left < w.upto
    order by w.line, o.upto
  );
end
$$;
comment on function ledger.pick_units(ledger.pick[]) is
  'Returns the places to take the units of picks from that name no place. First come units that were picked '
  'for their fulfillment order, then others in the pick order of their product. Units in bins that are '
  'not sellable, or picked for other fulfillment orders, are left out. So are batches that are on hold, '
  'have expired or are short of the promised shelf life. Returns fewer units if there are not enough.';
grant execute on function ledger.pick_units(ledger.pick[]) to service_ledger;
--! EndIncluded ledger/pick_units.sql
--! Included ledger/require_picked.sql
create or replace function ledger.require_picked(picks ledger.pick[], found_units ledger.pick[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  -- Usually there are enough
  if (select sum(w.quantity) from unnest(picks) w where w.place is null and w.product_id is not null)
    is not distinct from (select sum(f.quantity) from unnest(found_units) f) then
    return;
  end if;
  select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
    format(
      'Warehouse %s holds %s units of product %s to be picked, %s are needed.', w.code, t.available,
      p.product_number, t.requested
    )
    || coalesce(' Of what lies there, ' || nullif(concat_ws(', ', u.held || ' are on hold',
      u.expired || ' have expired', u.blocked || ' lie in bins that are not sellable',
      u.short || ' are short of the promised shelf life, unless you name their batches'), '') || '.', '')
    || case when e.units > 0
      then format(' Other warehouses hold %s: assign units to them by fulfillmentOrderCreate.', e.units)
      else '' end,
    picks[t.line].field,
    jsonb_strip_nulls(jsonb_build_object(
      'available', t.available, 'requested', t.requested, 'productNumber', p.product_number, 'held', u.held,
      'expired', u.expired, 'short', u.short, 'notSellable', u.blocked
    ))) order by t.line)
  into errors
  from (
    select r.product_id, r.warehouse_id, sum(r.requested) as requested, sum(r.available) as available,
      min(r.line) filter (where r.available < r.requested) as line
    from (
      select w.ordinality as line, w.product_id, w.warehouse_id, w.quantity as requested,
        coalesce(
          (select sum(f.quantity) from unnest(found_units) f where f.line_id = w.line_id), 0
        ) as available
      from unnest(picks) with ordinality w where w.place is null and w.product_id is not null
    ) r group by r.product_id, r.warehouse_id having sum(r.available) < sum(r.requested)
  ) t join erp.product p on p.id = t.product_id join erp.warehouse w on w.id = t.warehouse_id
  cross join lateral (
    select coalesce(sum(s.quantity - s.held_quantity), 0) as units from ledger.warehouse_stock s
    where s.product_id = t.product_id and s.warehouse_id <> t.warehouse_id
  ) e
  -- Units in the warehouse that are not picked, by reason
  cross join lateral (
    select sum(i.quantity) filter (where not i.is_blocked and i.is_held) as held,
      sum(i.quantity) filter (where not i.is_blocked and not i.is_held and i.days_left < 0) as expired,
      sum(i.quantity) filter (where not i.is_blocked and not i.is_held and i.days_left >= 0
        and i.days_left < coalesce(p.minimum_remaining_shelf_life_days, 0)) as short,
      nullif(sum(i.in_place) filter (where i.is_blocked and i.nth = 1), 0) as blocked
    from (
      select b.quantity, x.is_held, x.best_before_date - erp.local_date(now()) as days_left,
        not l.is_sellable as is_blocked, s.quantity as in_place,
        row_number() over (partition by s.id) as nth
      from ledger.stock s
      cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) l
      left join ledger.batch_stock b on b.stock_id = s.id and b.quantity > 0
      left join erp.batch x on x.id = b.batch_id
      where s.product_id = t.product_id and l.warehouse_id = t.warehouse_id
        and l.fulfillment_order_id is null
    ) i
  ) u;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_picked(ledger.pick[], ledger.pick[]) is
  'Refuses picks for which not enough units were found. Says how many lie there that are not picked. User '
  'error INSUFFICIENT_STOCK.';
grant execute on function ledger.require_picked(ledger.pick[], ledger.pick[]) to service_ledger;
--! EndIncluded ledger/require_picked.sql
--! Included ledger/past_leg.sql
-- Arrivals and departures at physical places, deleted ones too. Whatever takes a look-up is only computed for
-- queries that use it, so single legs are found by index.
create or replace view ledger.past_leg with (security_invoker = true) as
select f.movement_id, f.product_id, f.direction, f.quantity, f.created_at, f.booked_at, f.is_count,
  f.location_type_technical_name as location_type,
  coalesce(f.place, p.place, f.location_type_technical_name) as place,
  coalesce(p.warehouse_id, f.warehouse_id,
    (select b.warehouse_id from erp.bin_location b where b.id = f.bin_location_id),
    (select c.warehouse_id from erp.stock_container c where c.id = f.stock_container_id)) as warehouse_id,
  f.bin_location_id, case when f.place is null then p.code end as former_code,
  case when f.is_count then least(f.booked_at, p.counted_at,
    (select min(c.counted_at) from ledger.stock_count c where c.stock_movement_id = f.movement_id))
  else f.booked_at end as moment,
  (select s.sequence from ledger.movement_sequence s where s.movement_id = f.movement_id) as sequence
from ledger.flow f
left join ledger.former_place p on p.movement_id = f.movement_id and p.direction = f.direction
where f.location_type_technical_name
  in ('warehouse', 'bin_location', 'stock_container', 'goods_receipt', 'return_order');
comment on view ledger.past_leg is
  'Arrivals, and negative departures, of goods at physical places: not at orders and special places. The '
  'column place keeps the key of a deleted place, and former_code its code. The key is its kind if it was '
  'deleted before ledger.former_place existed. The column warehouse_id is the warehouse in which a bin '
  'or a container stood then. The column moment is when it happened: the moment of the count that a '
  'correction follows from, else the moment of the booking. It is never later than booked_at. The column '
  'sequence is null until the movement is numbered.';
grant select on ledger.past_leg to service_ledger, service_recorder, service_writer;
grant select on ledger.former_place to service_writer;
--! EndIncluded ledger/past_leg.sql
--! Included ledger/quantity_as_of.sql
create or replace function ledger.quantity_as_of(
  product_id uuid, place text, warehouse_id uuid, sequence bigint, moment timestamptz
) returns integer
language plpgsql stable parallel unsafe security definer set search_path = pg_catalog, pg_temp
-- The plan must stay right while the table of former places grows
set enable_material = off as $$
declare
  span constant ledger.span := ledger.span_of(sequence, moment);
begin
  if not auth.has_scope('stocks:read')
    and not (coalesce(place, warehouse_id::text) is null and auth.has_scope('products:read')) then
    return null;
  end if;
  return (
    select coalesce(sum(x.quantity), 0) from (
      select b.quantity, b.place, b.warehouse_id, b.location_type from ledger.closing_balance b
      where b.closing_id = span.closing_id and b.product_id = quantity_as_of.product_id
      union all
      select l.quantity, l.place, l.warehouse_id, l.location_type from ledger.past_leg l
      where l.product_id = quantity_as_of.product_id and l.movement_id between span.from_id and span.to_id
        -- Most of what came later is left out before its place is looked up
        and (quantity_as_of.moment is null or l.booked_at <= quantity_as_of.moment or l.is_count)
        and case when quantity_as_of.sequence is null
          then l.moment <= quantity_as_of.moment
            and (l.movement_id > span.sure_id or coalesce(l.sequence > span.after_sequence, true))
          else l.sequence between span.after_sequence + 1 and quantity_as_of.sequence end
    ) x
    where case when quantity_as_of.place is not null then x.place = quantity_as_of.place
      when quantity_as_of.warehouse_id is not null then x.warehouse_id = quantity_as_of.warehouse_id
      else x.location_type in ('warehouse', 'bin_location')
        or x.location_type = 'stock_container' and x.warehouse_id is not null end
  );
end
$$;
comment on function ledger.quantity_as_of(uuid, text, uuid, bigint, timestamptz) is
  'Returns the units of a product in a physical place, in a warehouse, or in all warehouses. A warehouse has '
  'the bins that stood in it. The units are as of the number of a movement or as of a moment '
  '(ledger.span_of). Null without the scope stocks:read; products:read is enough for all warehouses '
  'together.';
select api_meta.plan_by_index('ledger.quantity_as_of(uuid, text, uuid, bigint, timestamptz)');
select api_meta.give('ledger.quantity_as_of(uuid, text, uuid, bigint, timestamptz)', 'service_ledger');
revoke execute on function ledger.quantity_as_of(uuid, text, uuid, bigint, timestamptz) from public;
grant execute on function ledger.quantity_as_of(uuid, text, uuid, bigint, timestamptz)
  to service_api, service_writer;
--! EndIncluded ledger/quantity_as_of.sql
--! Included ledger/batch_quantity_as_of.sql
create or replace function ledger.batch_quantity_as_of(
  batch_id uuid, place text, sequence bigint, moment timestamptz, warehouse_id uuid default null
) returns integer
language plpgsql stable parallel unsafe security definer set search_path = pg_catalog, pg_temp
-- The plan must stay right while the table of former places grows
set enable_material = off as $$
declare
  span constant ledger.span := ledger.span_of(sequence, moment);
begin
  if not auth.has_scope('batches:read')
    or coalesce(place, warehouse_id::text) is not null and not auth.has_scope('stocks:read') then
    return null;
  end if;
  return (
    select coalesce(sum(x.quantity), 0) from (
      select b.quantity, b.place, b.warehouse_id, b.location_type from ledger.closing_batch_balance b
      where b.closing_id = span.closing_id and b.batch_id = batch_quantity_as_of.batch_id
      union all
      select l.direction * b.quantity, l.place, l.warehouse_id, l.location_type
      from ledger.stock_movement_batch b join ledger.past_leg l on l.movement_id = b.stock_movement_id
      where b.batch_id = batch_quantity_as_of.batch_id
        and b.stock_movement_id between span.from_id and span.to_id
        -- Most of what came later is left out before its place is looked up
        and (batch_quantity_as_of.moment is null or l.booked_at <= batch_quantity_as_of.moment or l.is_count)
        and case when batch_quantity_as_of.sequence is null
          then l.moment <= batch_quantity_as_of.moment
            and (l.movement_id > span.sure_id or coalesce(l.sequence > span.after_sequence, true))
          else l.sequence between span.after_sequence + 1 and batch_quantity_as_of.sequence end
    ) x
    where case when batch_quantity_as_of.place is not null then x.place = batch_quantity_as_of.place
      when batch_quantity_as_of.warehouse_id is not null
        then x.warehouse_id = batch_quantity_as_of.warehouse_id
      else x.location_type in ('warehouse', 'bin_location')
        or x.location_type = 'stock_container' and x.warehouse_id is not null end
  );
end
$$;
comment on function ledger.batch_quantity_as_of(uuid, text, bigint, timestamptz, uuid) is
  'Returns the units of a batch in a physical place, in a warehouse with its bins, or in all warehouses. The '
  'units are as of the number of a movement or as of a moment (ledger.span_of). Null without the scope '
  'batches:read, and without stocks:read unless it is of all warehouses.';
select api_meta.plan_by_index('ledger.batch_quantity_as_of(uuid, text, bigint, timestamptz, uuid)');
select api_meta.give('ledger.batch_quantity_as_of(uuid, text, bigint, timestamptz, uuid)', 'service_ledger');
revoke execute on function ledger.batch_quantity_as_of(uuid, text, bigint, timestamptz, uuid) from public;
grant execute on function ledger.batch_quantity_as_of(uuid, text, bigint, timestamptz, uuid)
  to service_api, service_writer;
--! EndIncluded ledger/batch_quantity_as_of.sql
--! Included ledger/stock_card.sql
drop type if exists ledger.card_line cascade;
create type ledger.card_line as (
  moment timestamptz, movement_id uuid, direction integer, booked_at timestamptz, quantity integer,
  balance bigint, former_place text, warehouse_id uuid, bin_location_id uuid
);
comment on type ledger.card_line is
  'A line of a stock card: units that came, or negative ones that left, and what was there then.';

create or replace function ledger.stock_card(
  product_id uuid, place text, warehouse_id uuid, batch_id uuid, since timestamptz, until timestamptz
) returns setof ledger.card_line
language plpgsql stable parallel unsafe security definer set search_path = pg_catalog, pg_temp
-- The plan must stay right while the table of former places grows
set enable_material = off as $$
declare
  before constant timestamptz := since - interval '1 microsecond';
  first constant ledger.span := ledger.span_of(null, before);
  last_id constant uuid := case when until is null then 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
    else (ledger.span_of(null, until - interval '1 microsecond')).to_id end;
  opening constant bigint := case
    when batch_id is null then ledger.quantity_as_of(product_id, place, warehouse_id, null, before)
    when exists (select from erp.batch b where b.id = batch_id and b.product_id = stock_card.product_id)
      then ledger.batch_quantity_as_of(batch_id, place, null, before, warehouse_id)
    else 0 end;
begin
  if not auth.has_scope('stocks:read') or batch_id is not null and not auth.has_scope('batches:read') then
    return;
  end if;
  return next row (before, null, null, null, null, opening, null, null, null)::ledger.card_line;
  return query
  select l.moment, l.movement_id, l.direction, l.booked_at, u.quantity::integer,
    (opening + sum(u.quantity) over (
      order by l.moment, l.movement_id, l.direction rows unbounded preceding
    ))::bigint, l.former_code, l.warehouse_id, l.bin_location_id
  from ledger.past_leg l
  left join ledger.stock_movement_batch b
    on b.stock_movement_id = l.movement_id and b.batch_id = stock_card.batch_id
  cross join lateral (
    select case when stock_card.batch_id is null then l.quantity else l.direction * b.quantity end as quantity
  ) u
  where l.product_id = stock_card.product_id and l.movement_id between first.from_id and last_id
    and l.moment >= stock_card.since and l.moment < coalesce(stock_card.until, 'infinity')
    and u.quantity is not null
    and case when stock_card.place is not null then l.place = stock_card.place
      when stock_card.warehouse_id is not null then l.warehouse_id = stock_card.warehouse_id
      else l.location_type in ('warehouse', 'bin_location')
        or l.location_type = 'stock_container' and l.warehouse_id is not null end;
end
$$;
comment on function ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz) is
  'Returns the stock card of a product, or of a batch of it, in a place, in a warehouse with its bins and '
  'containers, or in all warehouses. The first line has the opening balance and no movement. Then each '
  'arrival and departure from a moment on follows, up to but without another, in the order in which they '
  'happened. Empty without the scopes stocks:read and, for a batch, batches:read.';
select api_meta.plan_by_index('ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz)');
select api_meta.give('ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz)', 'service_ledger');
revoke execute on function ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz) from public;
grant execute on function ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz)
  to service_api, service_writer;
--! EndIncluded ledger/stock_card.sql
--! Included api/stock_card_lines.sql
-- Has no rows by itself: api_unstable.products_stock_card_lines fills it for a product and a period
create view api_unstable.stock_card_lines with (security_invoker = true) as
select m.id as stock_movement_id, 0 as direction, m.created_at::timestamptz as happened_at,
  m.created_at::timestamptz as booked_at, 0 as quantity, 0 as balance, m.source_warehouse_id as warehouse_id,
  m.source_bin_location_id as bin_location_id, m.comment as former_place
from ledger.stock_movement m where false;
comment on view api_unstable.stock_card_lines is $$
@primaryKey happened_at,stock_movement_id,direction
@requiresScopes stocks:read
@behavior -query:resource:connection -node
@hidden direction
@foreignKey (stock_movement_id) references stock_movements (id)|@fieldName stockMovement
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse
@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation
A line of a stock card: an arrival or a departure, and how many units were there then.$$;
comment on column api_unstable.stock_card_lines.stock_movement_id is E'@notNull\nThe movement.';
comment on column api_unstable.stock_card_lines.direction is '1 for an arrival, -1 for a departure.';
comment on column api_unstable.stock_card_lines.happened_at is
  E'@notNull\nWhen it happened: for the difference of a count, the moment of the count.';
comment on column api_unstable.stock_card_lines.booked_at is
  E'@notNull\nWhen it was booked: later than it happened, if a count arrived late.';
comment on column api_unstable.stock_card_lines.quantity is
  E'@notNull\nUnits that came; negative if they left.';
comment on column api_unstable.stock_card_lines.balance is
  E'@notNull\nUnits that were there after it, in the place or the places of the card.';
comment on column api_unstable.stock_card_lines.warehouse_id is
  'The warehouse, also of a bin that has been moved to another one or deleted since.';
comment on column api_unstable.stock_card_lines.bin_location_id is
  'The bin; null outside of bins, and once the bin was deleted.';
comment on column api_unstable.stock_card_lines.former_place is
  'The code of the bin or warehouse, if it was deleted since.';
--! EndIncluded api/stock_card_lines.sql
--! Included ledger/proof.sql
-- Each stored figure beside the one that the ledger and the documents give. Empty while the ledger is right.
create or replace view ledger.proof with (security_invoker = true) as
with
balance
  as (
    select product_id, place, sum(quantity) as quantity
    from ledger.flow
    where place is not null
    group by product_id, place
  ),
building as (
  select id::text as place, id as warehouse_id, true as is_sellable from erp.warehouse
  union all select id::text, warehouse_id, stock_state = 'sellable' from erp.bin_location
  union all select c.id::text, t.warehouse_id, t.is_sellable
    from erp.stock_container c cross join lateral ledger.site(null, null, c.id) t
    where t.warehouse_id is not null
),
held as (
  select b.product_id, p.warehouse_id, sum(b.quantity) as quantity
  from balance b join building p using (place) group by b.product_id, p.warehouse_id
),
-- In bins that are not sellable, and of batches that are held or have expired elsewhere: each unit once
on_hold as (
  select u.product_id, u.warehouse_id, sum(u.quantity) as quantity
  from (
    select b.product_id, p.warehouse_id, b.quantity
    from balance b join building p using (place) where not p.is_sellable
    union all
    select t.product_id, p.warehouse_id, f.direction * b.quantity
    from erp.batch t join ledger.stock_movement_batch b on b.batch_id = t.id
    join ledger.flow f on f.movement_id = b.stock_movement_id join building p on p.place = f.place
    where (t.is_held or t.is_expired) and p.is_sellable
  ) u
  group by u.product_id, u.warehouse_id
),
physical as (
  select h.product_id, sum(h.quantity) as quantity,
    sum(case when w.is_stock_available_for_sale then coalesce(b.quantity, 0) else h.quantity end)
      as not_for_sale
  from held h join erp.warehouse w on w.id = h.warehouse_id
  left join on_hold b on b.product_id = h.product_id and b.warehouse_id = h.warehouse_id
  group by h.product_id
),
-- A reservation for an order line is part of what the order has reserved
reserved as (
  select x.product_id, sum(x.quantity) as quantity
  from (
    select l.product_id, l.quantity - l.shipped_quantity as quantity
    from erp.sales_order_line_item l join erp.sales_order o on o.id = l.order_id
    where o.state in ('open', 'in_progress') and l.product_id is not null
    union all
    select r.product_id, r.open_quantity from erp.stock_reservation r where r.order_line_item_id is null
  ) x group by x.product_id
),
promised as (
  select x.product_id, x.warehouse_id, sum(x.quantity) as quantity
  from (
    select l.product_id, w.warehouse_id, l.quantity - l.fulfilled_quantity as quantity
    from erp.fulfillment_order_line_item l
    join erp.fulfillment_order f on f.id = l.fulfillment_order_id
      and f.state in ('Open', 'InProgress', 'OnHold')
    join erp.location w on w.id = f.source_warehouse_location_id
    where l.product_id is not null and w.warehouse_id is not null
    union all
    select r.product_id, r.warehouse_id, r.open_quantity from erp.stock_reservation r
    where r.open_quantity > 0
  ) x group by x.product_id, x.warehouse_id
),
ordered as (
  select l.product_id,
    coalesce(
      sum(l.open_quantity) filter (where o.state in ('open', 'sent', 'confirmed', 'partially_delivered')), 0
    ) as quantity,
    max(o.order_date_time) as last_at
  from erp.supplier_order_line_item l join erp.supplier_order o on o.id = l.supplier_order_id
  where l.product_id is not null group by l.product_id
),
batch_flow as (
  select b.batch_id, s.id as stock_id, p.place is not null as is_held,
    f.direction * b.quantity as quantity
  from ledger.stock_movement_batch b join ledger.flow f on f.movement_id = b.stock_movement_id
  left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
  left join building p on p.place = f.place
  where f.location_type_technical_name <> 'special_stock_location'
),
batch_in_place
  as (
    select stock_id, batch_id, sum(quantity) as quantity
    from batch_flow
    where stock_id is not null
    group by stock_id, batch_id
  ),
batch_held as (select batch_id, sum(quantity) as quantity from batch_flow where is_held group by batch_id),
-- The count that stands, of each stock that was counted and of each batch of it
latest_count as (
  select distinct on (c.stock_id, c.batch_id)
    c.stock_id, c.batch_id, c.id, c.quantity, c.counted_at, s.product_id, s.place
  from ledger.stock_count c join ledger.stock s on s.id = c.stock_id
  where c.difference is not null
  order by c.stock_id, c.batch_id, c.counted_at desc, c.id desc
),
moved_since_count as (
  select l.stock_id, l.batch_id,
    sum(case when l.batch_id is null then f.quantity else f.direction * b.quantity end) as quantity
  from latest_count l
  join ledger.flow f on f.product_id = l.product_id and f.place = l.place
    and f.booked_at > l.counted_at and not f.is_count
  left join ledger.stock_movement_batch b on b.stock_movement_id = f.movement_id and b.batch_id = l.batch_id
  group by l.stock_id, l.batch_id
),
batch_counted_since as (
  select l.stock_id, sum(c.difference) as quantity
  from latest_count l
  join ledger.stock_count c on c.stock_id = l.stock_id
    and (c.counted_at, c.id) > (l.counted_at, l.id) and c.batch_id is not null
  where l.batch_id is null group by l.stock_id
),
received as (
  select l.supplier_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.goods_receipt_line_item l join erp.goods_receipt r on r.id = l.goods_receipt_id
  where r.state = 'completed' and l.supplier_order_line_item_id is not null
  group by l.supplier_order_line_item_id
),
fulfilled as (
  select l.fulfillment_order_line_item_id as id, sum(l.quantity) as quantity
  from erp.fulfillment_line_item l join erp.fulfillment f on f.id = l.fulfillment_id
  where f.state = 'Fulfilled' group by l.fulfillment_order_line_item_id
),
shipped as (
  select l.destination_order_line_item_id as id, sum(l.fulfilled_quantity) as quantity
  from erp.fulfillment_order_line_item l
  where l.destination_order_line_item_id is not null
  group by l.destination_order_line_item_id
),
invoiced as (
  select l.order_line_item_id as id, sum(l.quantity) as quantity
  from erp.invoice_line_item l join erp.invoice i on i.document_id = l.document_id
  where i.cancellation_id is null group by l.order_line_item_id
),
due_code as (
  select o.id as order_id, c.code from erp.sales_order o cross join unnest(o.entered_tracking_codes) c (code)
  union
  select l.order_id, c.code
  from erp.shipping_label l
  cross join jsonb_array_elements_text(l.tracking_codes) c (code)
  where l.state = 'created' and l.type = 'outgoing' and l.order_id is not null
),
figures (figure, id, stored, expected) as (
  select 'stock.quantity', coalesce(s.product_id, b.product_id) || ' ' || coalesce(s.place, b.place),
    coalesce(s.quantity, 0)::text, coalesce(b.quantity, 0)::text
    from ledger.stock s full join balance b on b.product_id = s.product_id and b.place = s.place
  union all select 'product.physical_stock', p.id::text, p.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.stock_not_available_for_sale', p.id::text, p.stock_not_available_for_sale::text,
    coalesce(x.not_for_sale, 0)::text
    from erp.product p left join physical x on x.product_id = p.id
  union all select 'product.reserved_stock', p.id::text, p.reserved_stock::text, coalesce(x.quantity, 0)::text
    from erp.product p left join reserved x on x.product_id = p.id
  union all select 'product.open_supplier_order_quantity', p.id::text, p.open_supplier_order_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'product.last_supplier_order_at', p.id::text, p.last_supplier_order_at::text,
    x.last_at::text
    from erp.product p left join ordered x on x.product_id = p.id
  union all select 'batch.physical_stock', b.id::text, b.physical_stock::text, coalesce(x.quantity, 0)::text
    from erp.batch b left join batch_held x on x.batch_id = b.id
  union all select 'batch_stock.quantity',
    coalesce(s.stock_id, x.stock_id) || ' ' || coalesce(s.batch_id, x.batch_id),
    coalesce(s.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.batch_stock s
    full join batch_in_place x on x.stock_id = s.stock_id and x.batch_id = s.batch_id
  union all select 'batch_stock.sum', s.id::text, sum(b.quantity)::text, 'at most ' || s.quantity
    from ledger.stock s
    join ledger.batch_stock b on b.stock_id = s.id
    group by s.id
    having sum(b.quantity) > s.quantity
  union all select 'batch_stock.serial_number', b.batch_id::text, sum(b.quantity)::text, 'at most 1'
    from erp.product p join ledger.stock s on s.product_id = p.id
      and s.location_type_technical_name in ('warehouse', 'bin_location', 'stock_container', 'goods_receipt')
    join ledger.batch_stock b on b.stock_id = s.id
    where p.has_serial_numbers
    group by b.batch_id
    having sum(b.quantity) > 1
  union all select 'stock.counted', s.id::text, s.quantity::text,
      (l.quantity + coalesce(m.quantity, 0) + coalesce(b.quantity, 0))::text
    from latest_count l join ledger.stock s on s.id = l.stock_id
    left join moved_since_count m on m.stock_id = l.stock_id and m.batch_id is null
    left join batch_counted_since b on b.stock_id = l.stock_id
    where l.batch_id is null
  union all select 'batch_stock.counted', l.stock_id || ' ' || l.batch_id,
      coalesce(s.quantity, 0)::text, (l.quantity + coalesce(m.quantity, 0))::text
    from latest_count l left join ledger.batch_stock s on s.stock_id = l.stock_id and s.batch_id = l.batch_id
    left join moved_since_count m on m.stock_id = l.stock_id and m.batch_id = l.batch_id
    where l.batch_id is not null
  union all select 'warehouse_stock.quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join held x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'warehouse_stock.reserved_quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.reserved_quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join promised x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'warehouse_stock.held_quantity',
    coalesce(w.product_id, x.product_id) || ' ' || coalesce(w.warehouse_id, x.warehouse_id),
    coalesce(w.held_quantity, 0)::text, coalesce(x.quantity, 0)::text
    from ledger.warehouse_stock w
    full join on_hold x on x.product_id = w.product_id and x.warehouse_id = w.warehouse_id
  union all select 'warehouse_stock.safety_stock',
    coalesce(w.product_id, c.product_id) || ' ' || coalesce(w.warehouse_id, c.warehouse_id),
    coalesce(w.safety_stock, 0)::text, coalesce(c.safety_stock, 0)::text
    from ledger.warehouse_stock w
    full join erp.product_warehouse_configuration c
      on c.product_id = w.product_id and c.warehouse_id = w.warehouse_id
  union all select 'product.safety_stock', p.id::text, p.safety_stock::text, coalesce((
      select sum(c.safety_stock) from erp.product_warehouse_configuration c
      join erp.warehouse w on w.id = c.warehouse_id and w.is_stock_available_for_sale
      where c.product_id = p.id), 0)::text
    from erp.product p
  -- A batch that has expired today, or a time zone that was changed, is found within the hour
  union all select 'batch.is_expired', b.id::text, 'true', coalesce(b.best_before_date::text, 'no date')
    from erp.batch b
    where b.is_expired and coalesce(b.best_before_date > erp.local_date(now()) + 1, true)
  -- No unit of an order line is promised by a reservation and by a fulfillment order
  union all select 'stock_reservation.units', l.id::text, r.units::text,
      'at most ' || coalesce(ledger.uncovered_units(l.id), 0)
    from (
      select s.order_line_item_id, sum(s.open_quantity) as units, min(s.product_id::text) as first_product,
        max(s.product_id::text) as last_product
      from erp.stock_reservation s where s.order_line_item_id is not null and s.open_quantity > 0
      group by s.order_line_item_id
    ) r join erp.sales_order_line_item l on l.id = r.order_line_item_id
    where r.units > coalesce(ledger.uncovered_units(l.id), 0)
      or (r.first_product, r.last_product) is distinct from (l.product_id::text, l.product_id::text)
  union all select 'product_warehouse_configuration.stock', c.id::text, c.stock::text,
    coalesce(x.quantity, 0)::text
    from erp.product_warehouse_configuration c
    left join held x on x.product_id = c.product_id and x.warehouse_id = c.warehouse_id
  union all select 'product_stock_location_configuration.stock', c.id::text, c.stock::text,
    coalesce(b.quantity, 0)::text
    from erp.product_stock_location_configuration c
    left join balance b on b.product_id = c.product_id
      and b.place = coalesce(c.warehouse_id, c.bin_location_id)::text
  union all select 'supplier_order_line_item.received_quantity', l.id::text, l.received_quantity::text,
    greatest(coalesce(x.quantity, 0), 0)::text
    from erp.supplier_order_line_item l left join received x on x.id = l.id
  union all select 'fulfillment_order_line_item.fulfilled_quantity', l.id::text, l.fulfilled_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.fulfillment_order_line_item l left join fulfilled x on x.id = l.id
  union all select 'fulfillment_order.is_partially_fulfilled', f.id::text, f.is_partially_fulfilled::text,
      (coalesce(sum(l.fulfilled_quantity), 0) > 0 and sum(l.fulfilled_quantity) < sum(l.quantity))::text
    from erp.fulfillment_order f
    left join erp.fulfillment_order_line_item l on l.fulfillment_order_id = f.id
    group by f.id
  -- What was shipped without a fulfillment counts too
  union all select 'sales_order_line_item.shipped_quantity', l.id::text, l.shipped_quantity::text,
    'at least ' || x.quantity
    from erp.sales_order_line_item l join shipped x on x.id = l.id where l.shipped_quantity < x.quantity
  union all select 'sales_order_line_item.invoiced_quantity', l.id::text, l.invoiced_quantity::text,
    coalesce(x.quantity, 0)::text
    from erp.sales_order_line_item l left join invoiced x on x.id = l.id
  -- No unit is charged by two invoices that stand
  union all select 'invoice_line_item.units', l.id::text, l.first_unit::text || ' and more',
    'not also by ' || o.id
    from erp.invoice_line_item l
    join erp.invoice i on i.document_id = l.document_id and i.cancellation_id is null
    join erp.invoice_line_item o on o.order_line_item_id = l.order_line_item_id and o.id > l.id
      and o.first_unit < l.first_unit + l.quantity and l.first_unit < o.first_unit + o.quantity
    join erp.invoice p on p.document_id = o.document_id and p.cancellation_id is null
  union all select 'sales_order.amounts', o.id::text, concat_ws(' ', o.amount_total, o.amount_net),
    concat_ws(' ', a.amount_total, a.amount_net)
    from erp.sales_order o cross join lateral ledger.order_amounts(o.id, o.tax_status) a
    where (o.amount_total, o.amount_net) is distinct from (a.amount_total, a.amount_net)
  union all select 'sales_order.tracking_codes', o.id::text, coalesce(s.codes, '[]')::text,
    coalesce(x.codes, '[]')::text
    from erp.sales_order o
    left join lateral (
      select jsonb_agg(c.code order by c.code) as codes
      from jsonb_array_elements_text(o.tracking_codes) c (code)
    ) s
      on true
    left join (select order_id, jsonb_agg(code order by code) as codes from due_code group by order_id) x
      on x.order_id = o.id
  -- A movement names a booking of its moment, whose ids are around its own
  union all select 'stock_movement.booking_id', m.id::text, m.booking_id::text, 'a booking that holds it'
    from ledger.stock_movement m
    where m.booking_id is not null and not exists (
      select from ledger.booking b
      where b.id = m.booking_id and m.id >= b.id and m.id <= b.last_movement_id
        and m.created_at = date_trunc('second', b.booked_at)
        and m.microseconds = ledger.microseconds(b.booked_at))
  union all select 'booking.movements', b.id::text, m.id::text, 'no movement of others'
    from ledger.booking b
    join ledger.stock_movement m on m.id > b.id and m.id <= b.last_movement_id
    where b.last_movement_id <> b.id and m.booking_id is distinct from b.id
  union all select 'booking.transaction', m.booking_id::text, max(m.transaction_id)::text,
    min(m.transaction_id)::text
    from ledger.stock_movement m where m.booking_id is not null group by m.booking_id
  -- The bin of a container is in its warehouse
  union all select 'stock_container.warehouse_id', c.id::text, c.warehouse_id::text, b.warehouse_id::text
    from erp.stock_container c join erp.bin_location b on b.id = c.bin_location_id
  union all select b.rule, b.id, 'broken', 'upheld' from ledger.broken_rules() b
  union all select n.figure, n.id, n.stored, n.expected from erp.number_proof n
  union all select r.figure, r.id, r.stored, r.expected from erp.return_proof r
  union all select c.figure, c.id, c.stored, c.expected from ledger.closing_proof c
  union all select t.figure, t.id, t.stored, t.expected from ledger.stocktake_proof t
  union all select 'movement_sequence.sequence', 'last', coalesce(max(s.sequence), 0)::text, count(*)::text
    from ledger.movement_sequence s
)
select figure, id, stored, expected from figures where stored is distinct from expected;
comment on view ledger.proof is
  'Stored figures that differ from what the ledger and the documents give. Must always be empty.';
--! EndIncluded ledger/proof.sql
--! Included valuation/shares.sql
create or replace function valuation.held_units(run valuation.run)
returns table (product_id uuid, warehouse_id uuid, quantity bigint)
language sql stable
begin atomic
  select u.product_id, u.warehouse_id, sum(u.quantity)::bigint
  from (
    select w.product_id, w.warehouse_id, w.quantity from valuation.report_warehouse w
    where w.report_id = run.report_id and (run.products is null or w.product_id = any (run.products))
    union all
    select l.product_id, l.warehouse_id, l.quantity
    from ledger.movement_sequence s
    join ledger.past_leg l on l.movement_id = s.movement_id
    where s.sequence > run.after and s.sequence <= run.upto
      and (run.products is null or l.product_id = any (run.products))
      and l.location_type in ('warehouse', 'bin_location', 'stock_container')
  ) u
  group by u.product_id, u.warehouse_id
  having sum(u.quantity) <> 0;
end;
comment on function valuation.held_units(valuation.run) is
  'Returns the units of products in each warehouse with its bins and containers, at the end of a '
  'calculation. Places that no longer name a warehouse count as none.';
grant execute on function valuation.held_units(valuation.run) to service_writer;

create or replace function valuation.shares(
  method text, upto bigint, products uuid[] default null, day date default null
)
returns table (product_id uuid, warehouse_id uuid, quantity bigint, value numeric)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  run constant valuation.run := valuation.run_of(method, upto, products, day);
begin
  return query
  select s.product_id, w.warehouse_id, w.quantity, w.value
  from (
    select h.product_id, array_agg(h.warehouse_id order by h.warehouse_id) as warehouses,
      array_agg(h.quantity order by h.warehouse_id) as quantities
    from valuation.held_units(run) h group by h.product_id
  ) h
  join valuation.entries(run, false) s on s.product_id = h.product_id and s.type = 'state'
  cross join lateral unnest(h.warehouses, h.quantities, erp.shares(s.value * 0.000001, h.quantities))
    w (warehouse_id, quantity, value);
end
$$;
comment on function valuation.shares(text, bigint, uuid[], date) is
  'Returns the units of products in each warehouse, and the share of the value that they have. The shares '
  'of a product add up to its value, by largest remainder, the lower id first. The warehouse is null for '
  'units in no warehouse.';
grant execute on function valuation.shares(text, bigint, uuid[], date) to service_writer;
--! EndIncluded valuation/shares.sql
--! Included mutation/joint_calls.sql
create or replace function mutation.joint_calls(calls jsonb) returns mutation.joint_call[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  reason_needed constant boolean := exists (select from ledger.process_type t where t.requires_reason);
begin
  return array(
    select row (c.ordinality, o.operation, f.kind, o.input_type, c.input, l.line, c.key,
      coalesce(c.credential_id, '00000000-0000-0000-0000-000000000000'),
      events.traced(events.cause(c.credential_id::text, c.request_id, c.key), c.traceparent),
      coalesce(o.scopes && string_to_array(c.scopes, ' ')
        and jsonb_array_length(c.input -> 'lines') = 1
        -- What isn't known here, or is seldom said, is left to mutation.run
        and case when jsonb_strip_nulls(c.input) - '{lines,comment}'::text[] = '{}'
          then not reason_needed else mutation.has_known_remarks(c.input) end
        and jsonb_strip_nulls(j.line) - array['product_id', f.place, f.destination, f.quantity] = '{}'
        and jsonb_strip_nulls(j.line -> f.place) - '{warehouse_id,bin_location_id}'::text[] = '{}'
        and coalesce(jsonb_strip_nulls(j.line -> f.destination)
          - '{warehouse_id,bin_location_id}'::text[] = '{}', f.destination is null)
        and (l.line).product_id is not null and abs((l.line).quantity) <= 1000000
        and ledger.is_malformed(l.line, f.kind) is not true
        and (c.input ->> 'comment' is null or length(c.input ->> 'comment') <= 1000)
        and (c.key is null or length(c.key) between 1 and 255), false),
      null, null)::mutation.joint_call
    from rows from (jsonb_to_recordset(calls) as (version name, operation name, input jsonb, key text,
      credential_id uuid, request_id text, scopes text, traceparent text)) with ordinality c
    join mutation.operation o on o.version = c.version and o.operation = c.operation
    join (values ('stock_adjust', 'adjust', 'place', null, 'delta'),
      ('stock_set', 'set', 'place', null, 'quantity'),
      ('stock_transfer', 'transfer', 'source', 'destination', 'quantity')
    ) f (operation, kind, place, destination, quantity) on f.operation = c.operation
    cross join lateral (select c.input #> '{lines,0}' offset 0) j (line)
    cross join lateral (select row (
      j.line ->> 'product_id', j.line -> f.place ->> 'warehouse_id', j.line -> f.place ->> 'bin_location_id',
      j.line -> f.destination ->> 'warehouse_id', j.line -> f.destination ->> 'bin_location_id',
      j.line ->> f.quantity, null, null, null, null, null)::ledger.line offset 0) l (line)
    order by c.ordinality
  );
end
$$;
comment on function mutation.joint_calls(jsonb) is
  'Returns the calls of stock_adjust, stock_set and stock_transfer among the calls of '
  'mutation.run_together. They fit the single-line path if they have one line with only the usual fields, '
  'and the caller has the scope.';
grant execute on function mutation.joint_calls(jsonb) to service_writer;

create or replace function mutation.has_known_remarks(input jsonb) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_strip_nulls(input) - '{lines,comment,reference,reason}'::text[] = '{}'
    and coalesce(length(input ->> 'reference') <= 255, true)
    and case when input ->> 'reason' is null
      then not exists (select from ledger.process_type t where t.requires_reason)
      else exists (
        select from ledger.booking_reason r where r.code = input ->> 'reason' and r.is_active) end;
end;
comment on function mutation.has_known_remarks(jsonb) is
  'Whether the input of a mutation of stock has a reference or a reason that will be accepted, and nothing '
  'else beside its lines and its comment.';
grant execute on function mutation.has_known_remarks(jsonb) to service_writer;
--! EndIncluded mutation/joint_calls.sql
--! Included erp/update_bin_location.sql
create or replace function erp.update_bin_location(bin_location_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.bin_location;
  wanted erp.bin_location;
begin
  -- Warehouses are locked before their bins
  perform from erp.warehouse w
  where w.id = (select b.warehouse_id from erp.bin_location b where b.id = bin_location_id) for key share;
  select * into present from erp.bin_location b where b.id = bin_location_id for no key update;
  if not found then
    perform mutation.refuse_missing('bin', '{id}');
  end if;
  wanted := jsonb_populate_record(present, changes - '{id,warehouse_id,created_at,updated_at}'::text[]);
  update erp.bin_location b
  set code = wanted.code, "position" = wanted."position", stock_state = wanted.stock_state
  where b.id = bin_location_id;
  if present.stock_state = 'sellable' and wanted.stock_state <> 'sellable' then
    perform ledger.warn_of_lost_stock(array(
      select s.id from ledger.stock_of_bin(bin_location_id) s where s.quantity > 0), '{stock_state}');
  end if;
  return bin_location_id;
end
$$;
comment on function erp.update_bin_location(uuid, jsonb) is
  'Changes code, position and state of a bin, if the object contains them. Returns its id. Warning '
  'STOCK_PROMISED.';
select api_meta.plan_by_index('erp.update_bin_location(uuid, jsonb)');
grant execute on function erp.update_bin_location(uuid, jsonb) to service_writer;
--! EndIncluded erp/update_bin_location.sql
--! Included erp/stocktake_reading.sql
drop type if exists erp.stocktake_reading cascade;
create type erp.stocktake_reading as (
  warehouse_id uuid, bin_location_id uuid, stock_container_id uuid, product_id uuid, batch_id uuid,
  quantity integer, counted_at timestamptz, is_empty boolean
);
comment on type erp.stocktake_reading is
  'A count of one person in a place: units of a product, or that nothing else is there.';
--! EndIncluded erp/stocktake_reading.sql
--! Included erp/check_stocktake_readings.sql
create or replace function erp.check_stocktake_readings(
  readings erp.stocktake_reading[], since timestamptz
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  perform mutation.refuse_too_many(cardinality(readings), 250, '{lines}');
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('lines', e.line) || e.field) order by e.line)
  into errors
  from (
    select r.ordinality, 'INVALID', 'Name either a warehouse, a bin or a container.', '{place}'::text[]
    from unnest(readings) with ordinality r
    where num_nonnulls(r.warehouse_id, r.bin_location_id, r.stock_container_id) <> 1
    union all
    select r.ordinality, 'INVALID', 'A line that says that nothing else is there names no product.',
      '{is_empty}'
    from unnest(readings) with ordinality r
    where r.is_empty and num_nonnulls(r.product_id, r.batch_id, r.quantity) > 0
    union all
    select r.ordinality, 'REQUIRED', 'Name the product.', '{product_id}'
    from unnest(readings) with ordinality r where not r.is_empty and r.product_id is null
    union all
    select r.ordinality, 'REQUIRED', 'Say how many units are there.', '{quantity}'
    from unnest(readings) with ordinality r where not r.is_empty and r.quantity is null
    union all
    select r.ordinality, 'OUT_OF_RANGE', 'The quantity must not be negative.', '{quantity}'
    from unnest(readings) with ordinality r where r.quantity < 0
    union all
    select r.ordinality, 'OUT_OF_RANGE', 'This moment is in the future.', '{counted_at}'
    from unnest(readings) with ordinality r where r.counted_at > ledger.moment()
    union all
    select r.ordinality, 'OUT_OF_RANGE', 'This moment is before the stocktake.', '{counted_at}'
    from unnest(readings) with ordinality r where r.counted_at < since
    union all
    select r.ordinality, 'NOT_UNIQUE', 'An earlier line counts the same.', '{}'
    from (
      select r.ordinality, row_number() over (
        partition by r.warehouse_id, r.bin_location_id, r.stock_container_id, r.product_id, r.batch_id
        order by r.ordinality) as nth
      from unnest(readings) with ordinality r
    ) r where r.nth > 1
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_stocktake_readings(erp.stocktake_reading[], timestamptz) is
  'Refuses lines of a sheet that are invalid by themselves. User errors TOO_MANY_LINES, INVALID, REQUIRED, '
  'OUT_OF_RANGE, NOT_UNIQUE.';
grant execute on function erp.check_stocktake_readings(erp.stocktake_reading[], timestamptz)
  to service_writer;
--! EndIncluded erp/check_stocktake_readings.sql
--! Included erp/new_readings.sql
create or replace function erp.new_readings(sheet_id uuid, readings erp.stocktake_reading[])
returns erp.stocktake_reading[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  older jsonb;
begin
  select jsonb_agg(mutation.user_error('COUNT_SUPERSEDED',
    'There is a later count of this, or a recount. This one changes nothing.',
    mutation.path('lines', r.ordinality, 'counted_at'),
    jsonb_build_object('countedAt',
      to_char(c.counted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'))) order by r.ordinality)
  into older
  from unnest(readings) with ordinality r
  cross join lateral ledger.place_of(r.warehouse_id, r.bin_location_id, r.stock_container_id) p
  join erp.stocktake_count c on c.sheet_id = new_readings.sheet_id and c.place = p.place
    and c.product_id = r.product_id and c.batch_id is not distinct from r.batch_id
  where c.counted_at > r.counted_at or erp.is_counted_again(c);
  perform mutation.warn(older);

  return array(
    select row (r.warehouse_id, r.bin_location_id, r.stock_container_id, r.product_id, r.batch_id, r.quantity,
      r.counted_at, r.is_empty)::erp.stocktake_reading
    from unnest(readings) with ordinality r
    cross join lateral ledger.place_of(r.warehouse_id, r.bin_location_id, r.stock_container_id) p
    where case when r.is_empty then exists (
        select from erp.stocktake_count c
        where c.sheet_id = new_readings.sheet_id and c.place = p.place and c.quantity is null)
      else not exists (
        select from erp.stocktake_count c
        where c.sheet_id = new_readings.sheet_id and c.place = p.place and c.product_id = r.product_id
          and c.batch_id is not distinct from r.batch_id
          and (c.counted_at > r.counted_at or c.counted_at = r.counted_at and c.quantity = r.quantity
            or erp.is_counted_again(c)))
      end
    order by r.ordinality
  );
end
$$;
comment on function erp.new_readings(uuid, erp.stocktake_reading[]) is
  'Returns the lines that change a sheet: not those that it has already, nor those that are older than what '
  'it has, for which the warning COUNT_SUPERSEDED is added.';
select api_meta.plan_by_index('erp.new_readings(uuid, erp.stocktake_reading[])');
grant execute on function erp.new_readings(uuid, erp.stocktake_reading[]) to service_writer;
--! EndIncluded erp/new_readings.sql
--! Included erp/take_counts.sql
create or replace function erp.take_counts(
  sheet_id uuid, counter_name text, readings erp.stocktake_reading[]
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  lines uuid[];
begin
  with reading as (
    select r.*, p.place from unnest(readings) r
    cross join lateral ledger.place_of(r.warehouse_id, r.bin_location_id, r.stock_container_id) p
  ), counted as (
    update erp.stocktake_count c
    set quantity = n.quantity, counted_at = n.counted_at, counter_name = take_counts.counter_name,
      credential_id = mutation.caller(), submitted_at = date_trunc('second', now())
    from (
      select distinct on (c.id) c.id, coalesce(r.quantity, 0) as quantity, r.counted_at
      from reading r
      join erp.stocktake_count c on c.sheet_id = take_counts.sheet_id and c.place = r.place
        and case when r.is_empty then c.quantity is null
          else c.product_id = r.product_id and c.batch_id is not distinct from r.batch_id end
      -- Counts of the same call go before the rest of the place
      order by c.id, r.is_empty
    ) n
    where c.id = n.id
    returning c.line_id
  )
  select array_agg(c.line_id) into lines from counted c;
  if exists (
    select from erp.stocktake_line l where l.id = any (lines) and l.state in ('approved', 'cancelled')) then
    perform mutation.refuse('NOT_EDITABLE', 'A position was approved already: ask for another stocktake.',
      '{lines}');
  end if;
  return coalesce(lines, '{}');
end
$$;
comment on function erp.take_counts(uuid, text, erp.stocktake_reading[]) is
  'Writes counts on a sheet: each replaces an earlier one of the same position. Returns the positions. User '
  'error NOT_EDITABLE.';
select api_meta.plan_by_index('erp.take_counts(uuid, text, erp.stocktake_reading[])');
grant execute on function erp.take_counts(uuid, text, erp.stocktake_reading[]) to service_writer;
--! EndIncluded erp/take_counts.sql
--! Included erp/add_found_lines.sql
create or replace function erp.add_found_lines(sheet erp.stocktake_sheet, readings erp.stocktake_reading[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  last_number constant integer := (
    select max(l.number) from erp.stocktake_line l where l.stocktake_id = sheet.stocktake_id);
begin
  with found as (
    select r.*, p.place from unnest(readings) with ordinality r
    cross join lateral ledger.place_of(r.warehouse_id, r.bin_location_id, r.stock_container_id) p
    where r.quantity > 0 and not exists (
      select from erp.stocktake_count c where c.sheet_id = sheet.id and c.place = p.place
        and c.product_id = r.product_id and c.batch_id is not distinct from r.batch_id)
  ), line as (
    insert into erp.stocktake_line (stocktake_id, number, place, warehouse_id, bin_location_id,
      stock_container_id, product_id, batch_id, is_found)
    select sheet.stocktake_id, coalesce(last_number, 0) + row_number() over (order by f.ordinality), f.place,
      f.warehouse_id, f.bin_location_id, f.stock_container_id, f.product_id, f.batch_id, true
    from found f order by f.ordinality
    returning *
  )
  insert into erp.stocktake_count (sheet_id, line_id, number, place, warehouse_id, bin_location_id,
    stock_container_id, product_id, batch_id)
  select sheet.id, l.id, l.number, l.place, l.warehouse_id, l.bin_location_id, l.stock_container_id,
    l.product_id, l.batch_id
  from line l order by l.number;

  -- The bin is not empty, so nobody has to say so
  delete from erp.stocktake_line l
  using erp.stocktake_count c
  where c.sheet_id = sheet.id and c.line_id = l.id and l.product_id is null and exists (
    select from unnest(readings) r
    cross join lateral ledger.place_of(r.warehouse_id, r.bin_location_id, r.stock_container_id) p
    where p.place = l.place and r.quantity > 0);
end
$$;
comment on function erp.add_found_lines(erp.stocktake_sheet, erp.stocktake_reading[]) is
  'Adds positions for units that a person found and nobody expected.';
select api_meta.plan_by_index('erp.add_found_lines(erp.stocktake_sheet, erp.stocktake_reading[])');
grant execute on function erp.add_found_lines(erp.stocktake_sheet, erp.stocktake_reading[])
  to service_writer;
--! EndIncluded erp/add_found_lines.sql
--! Included erp/submit_stocktake_sheet.sql
create or replace function erp.submit_stocktake_sheet(
  sheet_id uuid, counter_name text, readings erp.stocktake_reading[], is_complete boolean
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  sheet erp.stocktake_sheet;
  stocktake erp.stocktake;
  next_state text;
  wanted erp.stocktake_reading[];
begin
  select * into sheet from erp.stocktake_sheet s where s.id = sheet_id;
  if not found then
    perform mutation.refuse_missing('sheet', '{sheet_id}');
  end if;
  stocktake := erp.lock_stocktake(sheet.stocktake_id);
  select * into sheet from erp.stocktake_sheet s where s.id = sheet_id;
  perform erp.check_stocktake_readings(readings, stocktake.created_at);
  wanted := erp.new_readings(sheet.id, readings);
  if wanted = '{}' and (sheet.completed_at is not null or not is_complete) then
    return sheet.id;
  elsif sheet.completed_at is not null then
    perform mutation.refuse('NOT_EDITABLE', 'The sheet is complete: ask for a recount.', '{sheet_id}');
  end if;
  next_state := erp.next_state('stocktake', 'count', stocktake.state);
  perform erp.check_found_units(stocktake, sheet, readings);
  perform erp.add_found_lines(sheet, wanted);
  perform erp.judge_stocktake_lines(stocktake, sheet.id, erp.take_counts(sheet.id, counter_name, wanted));
  if sheet.round > 1 and exists (
    select from erp.stocktake_count c join erp.stocktake_count e on e.line_id = c.line_id
    where c.sheet_id = sheet.id and e.sheet_id <> sheet.id
      and lower(btrim(e.counter_name)) = lower(btrim(submit_stocktake_sheet.counter_name))
      and lower(btrim(c.counter_name)) = lower(btrim(submit_stocktake_sheet.counter_name))
  ) then
    perform mutation.refuse('SAME_PERSON', 'This person made the first count: another one has to recount.',
      '{counter_name}');
  end if;

  if is_complete then
    perform erp.complete_stocktake_sheet(sheet.id);
    if not exists (
      select from erp.stocktake_sheet s where s.stocktake_id = stocktake.id and s.completed_at is null) then
      next_state := erp.next_state('stocktake', 'review', next_state);
    end if;
  end if;
  update erp.stocktake s
  set state = next_state,
    reviewed_at = case when next_state = 'review' then date_trunc('second', now()) else s.reviewed_at end
  where s.id = stocktake.id and s.state <> next_state;
  return sheet.id;
end
$$;
comment on function erp.submit_stocktake_sheet(uuid, text, erp.stocktake_reading[], boolean) is
  'Takes counts of one person on a sheet, and on request completes the sheet. With the last sheet the review '
  'begins. Returns the id of the sheet. What the sheet has already changes nothing, also after it was '
  'completed. User errors of the functions that it calls, and NOT_EDITABLE, SAME_PERSON, '
  'INVALID_STATE_TRANSITION.';
grant execute on function erp.submit_stocktake_sheet(uuid, text, erp.stocktake_reading[], boolean)
  to service_writer;
--! EndIncluded erp/submit_stocktake_sheet.sql
--! Included erp/add_stocktake_lines.sql
create or replace function erp.add_stocktake_lines(stocktake erp.stocktake, includes_empty_bins boolean)
returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  maximum constant integer := 20000;
  added integer;
begin
  with scope as materialized (
    select c.* from erp.stocktake_scope c where c.stocktake_id = stocktake.id
  ), place as materialized (
    select w.id as warehouse_id, null::uuid as bin_location_id, null::uuid as stock_container_id,
      w.id::text as place, -1 as position, '' as code
    from erp.warehouse w where w.id = stocktake.warehouse_id and stocktake.counts_all_bins
    union all
    select null, b.id, null, b.id::text, b.position, b.code from erp.bin_location b
    where b.warehouse_id = stocktake.warehouse_id and (stocktake.counts_all_bins
      or b.id in (select c.bin_location_id from scope c where c.bin_location_id is not null))
    union all
    -- After the bin that it stands in
    select null, null, k.id, k.id::text, t.position, concat_ws(' ', nullif(t.code, k.number), k.number)
    from erp.stock_container k cross join lateral ledger.site(null, null, k.id) t
    where k.warehouse_id = stocktake.warehouse_id and k.fulfillment_order_id is null
      and (stocktake.counts_all_bins
        or t.bin_location_id in (select c.bin_location_id from scope c where c.bin_location_id is not null))
  ), held as materialized (
    select s.warehouse_id, s.bin_location_id, s.stock_container_id, s.place, s.position, s.code,
      s.product_id, b.batch_id,
      coalesce(b.quantity, s.quantity) as quantity
    from (
      select p.*, s.id, s.product_id, s.quantity from place p
      join ledger.stock s on s.warehouse_id = p.warehouse_id
      union all
      select p.*, s.id, s.product_id, s.quantity from place p
      join ledger.stock s on s.bin_location_id = p.bin_location_id
      union all
      select p.*, s.id, s.product_id, s.quantity from place p
      join ledger.stock s on s.stock_container_id = p.stock_container_id
    ) s
    join erp.product r on r.id = s.product_id
    left join ledger.batch_stock b on b.stock_id = s.id and b.quantity <> 0 and r.is_batch_managed
    where s.quantity <> 0 and (b.batch_id is not null or not r.is_batch_managed)
      and (stocktake.counts_all_products
        or s.product_id in (select c.product_id from scope c where c.product_id is not null)
        or b.batch_id in (select c.batch_id from scope c where c.batch_id is not null))
    limit maximum + 1
  ), wanted as (
    select h.* from held h
    union all
    select p.*, null, null, 0 from place p
    where includes_empty_bins and p.bin_location_id is not null and not exists (
      select from ledger.stock s where s.bin_location_id = p.bin_location_id and s.quantity <> 0)
    limit maximum + 1
  )
  insert into erp.stocktake_line (stocktake_id, number, place, warehouse_id, bin_location_id,
    stock_container_id, product_id, batch_id, expected_quantity)
  select stocktake.id,
    row_number() over (order by w.position nulls last, w.code, w.place, p.product_number, b.number),
    w.place, w.warehouse_id, w.bin_location_id, w.stock_container_id, w.product_id, w.batch_id,
    w.quantity
  from wanted w
  left join erp.product p on p.id = w.product_id left join erp.batch b on b.id = w.batch_id
  order by 2;
  get diagnostics added = row_count;
  perform mutation.refuse_too_many(added, maximum, null);
  return added;
end
$$;
comment on function erp.add_stocktake_lines(erp.stocktake, boolean) is
  'Adds the positions of a new stocktake: what lies in its scope, and on request empty bins, in the order of '
  'the walk. Containers in a bin belong to it, unless they are picked for a fulfillment order. Returns the '
  'number of positions. User errors TOO_MANY_LINES beyond 20,000, and IN_OTHER_STOCKTAKE.';
grant execute on function erp.add_stocktake_lines(erp.stocktake, boolean) to service_writer;
--! EndIncluded erp/add_stocktake_lines.sql
--! Included erp/add_stocktake_sheets.sql
create or replace function erp.add_stocktake_sheets(stocktake_id uuid, sheets integer) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  with place as (
    -- A place is on one sheet, with the positions before it on the walk
    select l.place, min(l.number) as number, count(*) as lines, sum(count(*)) over () as total,
      sum(count(*)) over (order by min(l.number)) - count(*) as before
    from erp.stocktake_line l where l.stocktake_id = add_stocktake_sheets.stocktake_id group by l.place
  ), part as (
    select p.place,
      dense_rank() over (order by div((2 * p.before + p.lines) * sheets, 2 * p.total)) as sheet
    from place p
  ), sheet as (
    insert into erp.stocktake_sheet (stocktake_id, number)
    select add_stocktake_sheets.stocktake_id, p.sheet from part p group by p.sheet order by p.sheet
    returning id, number
  )
  insert into erp.stocktake_count (sheet_id, line_id, number, place, warehouse_id, bin_location_id,
    stock_container_id, product_id, batch_id)
  select s.id, l.id, l.number, l.place, l.warehouse_id, l.bin_location_id, l.stock_container_id,
    l.product_id, l.batch_id
  from part p join sheet s on s.number = p.sheet
  join erp.stocktake_line l on l.stocktake_id = add_stocktake_sheets.stocktake_id and l.place = p.place
  order by l.number;
end;
comment on function erp.add_stocktake_sheets(uuid, integer) is
  'Divides the positions of a new stocktake among sheets of about the same length, by places in the order of '
  'the walk. With few places there are fewer sheets.';
grant execute on function erp.add_stocktake_sheets(uuid, integer) to service_writer;
--! EndIncluded erp/add_stocktake_sheets.sql
--! Included erp/book_stocktake_lines.sql
create or replace function erp.book_stocktake_lines(
  stocktake erp.stocktake, lines erp.stocktake_line[], line_ids uuid[], reason text, comment text
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  earlier constant jsonb := mutation.warnings();
  booked ledger.booked;
  faults text;
  news jsonb;
begin
  begin
    booked := ledger.set_stock(array(
      select row (l.product_id, l.warehouse_id, l.bin_location_id, null, null, l.counted_quantity, l.batch_id,
        null, l.counted_at, l.stock_container_id, null)::ledger.line
      from unnest(lines) with ordinality l order by l.ordinality
    ), comment, stocktake.number, reason, 'stocktaking');
  exception when sqlstate 'UE001' then
    get stacked diagnostics faults = pg_exception_detail;
    perform mutation.refuse(erp.about_stocktake_lines(faults::jsonb, lines, line_ids));
  end;
  select coalesce(jsonb_agg(w.note order by w.nth), '[]') into news
  from jsonb_array_elements(mutation.warnings()) with ordinality w (note, nth)
  where w.nth > jsonb_array_length(earlier);

  update erp.stocktake_line l
  set state = 'approved', approved_at = date_trunc('second', now()), approved_by = mutation.caller(),
    booked_difference = case when not b.is_obsolete then b.change end, stock_movement_id = b.movement_id,
    difference = case when b.is_obsolete then l.difference else b.change end,
    expected_quantity = case when b.is_obsolete then l.expected_quantity
      else l.counted_quantity - b.change end,
    reason = case when b.movement_id is not null then book_stocktake_lines.reason end
  from (
    select p.id, f.movement_id, coalesce(f.change, 0) as change, exists (
      select from jsonb_array_elements(news) w
      where w ->> 'code' = 'COUNT_SUPERSEDED' and (w -> 'field' ->> 1)::integer + 1 = p.ordinality
    ) as is_obsolete
    from unnest(lines) with ordinality p
    left join lateral (
      select f.movement_id, f.quantity as change
      from ledger.flow f left join ledger.stock_movement_batch m on m.stock_movement_id = f.movement_id
      where f.movement_id = any (booked.stock_movements) and f.product_id = p.product_id
        and f.place = p.place and m.batch_id is not distinct from p.batch_id
    ) f on true
  ) b
  where l.id = b.id;
  perform set_config('service.warnings',
    (earlier || coalesce(erp.about_stocktake_lines(news, lines, line_ids), '[]'))::text, true);
end
$$;
comment on function erp.book_stocktake_lines(
  erp.stocktake, erp.stocktake_line[], uuid[], text, text
) is
  'Books up to 250 counted positions, whose products are locked, as counts of the process stocktaking. The '
  'booking has the number of the stocktake as reference. The difference becomes what was booked; a count '
  'that a later one made obsolete books nothing. Errors and warnings of ledger.set_stock.';
grant execute on function erp.book_stocktake_lines(
  erp.stocktake, erp.stocktake_line[], uuid[], text, text
) to service_writer;
--! EndIncluded erp/book_stocktake_lines.sql
--! Included administration/report_stocktake.sql
create or replace function administration.report_stocktake(stocktake text, how_many integer)
returns table ("position" integer, place text, product text, name text, batch text, state text,
  expected integer, counted integer, difference integer, value numeric, reason text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select l.number, coalesce(b.code, w.code, c.number), p.product_number, p.name, t.number,
    l.state,
    l.expected_quantity, l.counted_quantity, l.difference, erp.rounded(l.difference * l.unit_value), l.reason
  from erp.stocktake s join erp.stocktake_line l on l.stocktake_id = s.id
  left join erp.bin_location b on b.id = l.bin_location_id
  left join erp.warehouse w on w.id = l.warehouse_id
  left join erp.stock_container c on c.id = l.stock_container_id
  left join erp.product p on p.id = l.product_id
  left join erp.batch t on t.id = l.batch_id
  where s.number = report_stocktake.stocktake and l.difference <> 0
  order by abs(l.difference * l.unit_value) desc nulls last, l.number limit how_many;
end
$$;
comment on function administration.report_stocktake(text, integer) is $$
@title Differences of a stocktake
@hint stocktake The number of the stocktake.
Positions where people counted something else than expected. The greatest value comes first.$$;
select api_meta.give('administration.report_stocktake(text, integer)', 'service_registrar');
grant execute on function administration.report_stocktake(text, integer) to service_administration;
--! EndIncluded administration/report_stocktake.sql
--! Included erp/require_container_place.sql
create or replace function erp.require_container_place(warehouse_id uuid, bin_location_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if warehouse_id is not null
    and not exists (select from erp.warehouse w where w.id = require_container_place.warehouse_id) then
    perform mutation.refuse_missing('warehouse', '{warehouse_id}');
  elsif bin_location_id is not null
    and not exists (select from erp.bin_location b where b.id = require_container_place.bin_location_id) then
    perform mutation.refuse_missing('bin', '{bin_location_id}');
  end if;
end
$$;
comment on function erp.require_container_place(uuid, uuid) is
  'Refuses a place of a container that does not exist. User error NOT_FOUND.';
select api_meta.plan_by_index('erp.require_container_place(uuid, uuid)');
grant execute on function erp.require_container_place(uuid, uuid) to service_writer;
--! EndIncluded erp/require_container_place.sql
--! Included erp/create_stock_container.sql
create or replace function erp.create_stock_container(
  number text, kind text, sscc text, warehouse_id uuid, bin_location_id uuid
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made uuid;
begin
  perform erp.require_container_place(warehouse_id, bin_location_id);
  insert into erp.stock_container (number, kind, sscc, warehouse_id, bin_location_id)
  values (number, kind, sscc, warehouse_id, bin_location_id)
  returning id into made;
  return made;
end
$$;
comment on function erp.create_stock_container(text, text, text, uuid, uuid) is
  'Creates a container in a warehouse, perhaps in a bin. Returns its id. User errors NOT_FOUND, INVALID.';
grant execute on function erp.create_stock_container(text, text, text, uuid, uuid) to service_writer;
--! EndIncluded erp/create_stock_container.sql
--! Included erp/update_stock_container.sql
create or replace function erp.update_stock_container(stock_container_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.stock_container;
  wanted erp.stock_container;
begin
  select * into present from erp.stock_container c where c.id = stock_container_id for no key update;
  if not found then
    perform mutation.refuse_missing('container', '{id}');
  end if;
  wanted := jsonb_populate_record(present, changes);
  update erp.stock_container c set number = wanted.number, kind = wanted.kind, sscc = wanted.sscc
  where c.id = present.id and wanted is distinct from present;
  return present.id;
end
$$;
comment on function erp.update_stock_container(uuid, jsonb) is
  'Changes code, kind and SSCC of a container, if the object contains them. Returns its id. User error '
  'NOT_FOUND.';
select api_meta.plan_by_index('erp.update_stock_container(uuid, jsonb)');
grant execute on function erp.update_stock_container(uuid, jsonb) to service_writer;
--! EndIncluded erp/update_stock_container.sql
--! Included erp/move_stock_container.sql
create or replace function erp.move_stock_container(
  stock_container_id uuid, warehouse_id uuid, bin_location_id uuid
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.stock_container;
  was_sellable boolean;
begin
  if num_nonnulls(warehouse_id, bin_location_id) <> 1 then
    perform mutation.refuse('INVALID', 'Name either a warehouse or a bin.', '{bin_location_id}');
  end if;
  perform erp.require_container_place(warehouse_id, bin_location_id);
  -- Waits for bookings of what is in it; later ones wait for this move
  select * into present from erp.stock_container c where c.id = stock_container_id for update;
  if not found then
    perform mutation.refuse_missing('container', '{id}');
  end if;
  was_sellable := (select s.is_sellable from ledger.site(null, present.bin_location_id, null) s);
  update erp.stock_container c
  set bin_location_id = move_stock_container.bin_location_id,
    warehouse_id = coalesce(move_stock_container.warehouse_id, (
      select b.warehouse_id from erp.bin_location b where b.id = move_stock_container.bin_location_id))
  where c.id = present.id;
  if was_sellable then
    perform ledger.warn_of_lost_stock(array(
      select s.id from ledger.stock s where s.stock_container_id = present.id and s.quantity > 0),
      '{bin_location_id}');
  end if;
  return present.id;
end
$$;
comment on function erp.move_stock_container(uuid, uuid, uuid) is
  'Moves a container with its goods to a bin, or to a place of a warehouse outside of bins. Returns its id. '
  'Warning STOCK_PROMISED. User errors INVALID, NOT_FOUND, and user errors of ledger.keep_container_place.';
select api_meta.plan_by_index('erp.move_stock_container(uuid, uuid, uuid)');
grant execute on function erp.move_stock_container(uuid, uuid, uuid) to service_writer;
--! EndIncluded erp/move_stock_container.sql
--! Included erp/delete_stock_container.sql
create or replace function erp.delete_stock_container(stock_container_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from erp.stock_container c where c.id = stock_container_id;
  if not found then
    perform mutation.refuse_missing('container', '{id}');
  end if;
  return stock_container_id;
end
$$;
comment on function erp.delete_stock_container(uuid) is 'Deletes an empty container. Returns its id.';
select api_meta.plan_by_index('erp.delete_stock_container(uuid)');
grant execute on function erp.delete_stock_container(uuid) to service_writer;
--! EndIncluded erp/delete_stock_container.sql

create trigger keep_place_of_new before insert on erp.stock_container
  for each row execute function ledger.keep_container_place();
create trigger keep_place before update of warehouse_id, bin_location_id, fulfillment_order_id
  on erp.stock_container for each row
  when ((old.warehouse_id, old.bin_location_id, old.fulfillment_order_id)
    is distinct from (new.warehouse_id, new.bin_location_id, new.fulfillment_order_id))
  execute function ledger.keep_container_place();
create trigger require_empty_place before delete on erp.stock_container
  for each row execute function ledger.require_empty_place();
create trigger touch_updated_at before update on erp.stock_container
  for each row execute function erp.touch_updated_at();
create trigger free_containers after update of state on erp.fulfillment_order
  for each row when (old.state <> new.state and new.state in ('Closed', 'Cancelled'))
  execute function ledger.free_containers();

--! Included api/stock_container_kind.sql
do $$
begin
  if to_regtype('api_unstable.stock_container_kind') is null then
    create type api_unstable.stock_container_kind as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.stock_container_kind', 'box', 'tote', 'pallet');
comment on type api_unstable.stock_container_kind is
  E'@value box A box.\n'
  '@value tote A tote, such as one on a cart for picking.\n'
  '@value pallet A pallet.\n'
  'A kind of container.';
--! EndIncluded api/stock_container_kind.sql
--! Included api/stock_containers.sql
create view api_unstable.stock_containers with (security_invoker = true) as
select id, number, sscc, kind, warehouse_id, bin_location_id, fulfillment_order_id, created_at, updated_at
from erp.stock_container;
comment on view api_unstable.stock_containers is
  E'@primaryKey id\n'
  '@requiresScopes warehouses:read\n'
  '@columnEnum kind stock_container_kind\n'
  '@filters number,sscc,kind,warehouse_id,bin_location_id,fulfillment_order_id\n'
  '@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse'
  '|@foreignFieldName stockContainers\n'
  '@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation'
  '|@foreignFieldName stockContainers\n'
  '@foreignKey (fulfillment_order_id) references fulfillment_orders (id)|@fieldName fulfillmentOrder'
  '|@foreignFieldName stockContainers\n'
  'A box, a tote or a pallet with a code. Its goods are in its warehouse, and move with it from bin to bin.';
--! EndIncluded api/stock_containers.sql
--! Included api/stocks.sql
create or replace view api_unstable.stocks with (security_invoker = true) as
select id, product_id, quantity, location_type_technical_name, warehouse_id, bin_location_id, order_id,
  return_order_id,
  goods_receipt_id, stock_container_id, special_stock_location_technical_name, created_at, updated_at
from ledger.stock;
comment on view api_unstable.stocks is
  E'@primaryKey id\n'
  '@requiresScopes stocks:read\n'
  '@aggregates quantity\n'
  '@groupBy product_id,warehouse_id,bin_location_id\n'
  '@filters *\n'
  '@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName stocks\n'
  '@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName stocks\n'
  '@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation'
  '|@foreignFieldName stocks\n'
  '@foreignKey (order_id) references orders (id)|@fieldName order\n'
  '@foreignKey (return_order_id) references return_orders (id)|@fieldName returnOrder'
  '|@foreignFieldName stocks\n'
  '@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName goodsReceipt'
  '|@foreignFieldName stocks\n'
  '@foreignKey (stock_container_id) references stock_containers (id)|@fieldName stockContainer'
  '|@foreignFieldName stocks\n'
  'How much of a product lies in one place.';
--! EndIncluded api/stocks.sql
--! Included api/stock_movements.sql
create or replace view api_unstable.stock_movements with (security_invoker = true) as
select m.id, m.created_at, m.product_id, m.quantity,
  m.source_location_type_technical_name, m.source_warehouse_id, m.source_bin_location_id, m.source_order_id,
    m.source_return_order_id,
  m.source_goods_receipt_id, m.source_stock_container_id, m.source_special_stock_location_technical_name,
  m.destination_location_type_technical_name, m.destination_warehouse_id, m.destination_bin_location_id,
    m.destination_order_id,
  m.destination_return_order_id, m.destination_goods_receipt_id, m.destination_stock_container_id,
  m.destination_special_stock_location_technical_name, m.process_type_technical_name, m.comment, s.sequence,
  m.booking_id, m.transaction_id
from ledger.stock_movement m left join ledger.movement_sequence s on s.movement_id = m.id;
comment on view api_unstable.stock_movements is
  E'@primaryKey id\n'
  '@requiresScopes stocks:read\n'
  '@aggregates quantity,created_at\n'
  '@groupBy created_at,product_id,source_warehouse_id,destination_warehouse_id\n'
  '@followed transaction_id\n'
  '@hidden transaction_id\n'
  '@nullable sequence\n'
  '@filters destination_bin_location_id,destination_goods_receipt_id,destination_order_id,'
  'destination_return_order_id,destination_stock_container_id,destination_warehouse_id,product_id,'
  'source_bin_location_id,source_goods_receipt_id,source_order_id,source_return_order_id,'
  'source_stock_container_id,source_warehouse_id,created_at,destination_location_type_technical_name,'
  'destination_special_stock_location_technical_name,source_location_type_technical_name,'
  'source_special_stock_location_technical_name,quantity,sequence\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  '@foreignKey (source_warehouse_id) references warehouses (id)|@fieldName '
  'sourceWarehouse|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_warehouse_id) references warehouses (id)|@fieldName '
  'destinationWarehouse|@foreignFieldName destinationStockMovements\n'
  '@foreignKey (source_bin_location_id) references bin_locations (id)|@fieldName '
  'sourceBinLocation|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_bin_location_id) references bin_locations (id)|@fieldName '
  'destinationBinLocation|@foreignFieldName destinationStockMovements\n'
  '@foreignKey (source_order_id) references orders (id)|@fieldName sourceOrder\n'
  '@foreignKey (destination_order_id) references orders (id)|@fieldName destinationOrder\n'
  '@foreignKey (source_return_order_id) references return_orders (id)|@fieldName '
  'sourceReturnOrder|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_return_order_id) references return_orders (id)|@fieldName '
  'destinationReturnOrder|@foreignFieldName destinationStockMovements\n'
  '@foreignKey (source_goods_receipt_id) references goods_receipts (id)|@fieldName '
  'sourceGoodsReceipt|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_goods_receipt_id) references goods_receipts (id)|@fieldName '
  'destinationGoodsReceipt|@foreignFieldName destinationStockMovements\n'
  '@foreignKey (source_stock_container_id) references stock_containers (id)|@fieldName '
  'sourceStockContainer|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_stock_container_id) references stock_containers (id)|@fieldName '
  'destinationStockContainer|@foreignFieldName destinationStockMovements\n'
  '@foreignKey (booking_id) references stock_bookings (id)|@fieldName booking|@noFilter\n'
  'An entry in the ledger of stock: a positive quantity that moved from one place to another. '
  'Movements are never changed; they go only with their product.';
--! EndIncluded api/stock_movements.sql
--! Included api/stocktake_lines.sql
create or replace view api_unstable.stocktake_lines with (security_invoker = true) as
select id, stocktake_id, number, warehouse_id, bin_location_id, product_id, batch_id, is_found, state, round,
  expected_quantity, counted_quantity, counted_at,
  difference, earlier_difference, reason, approved_at,
  approved_by, booked_difference, stock_movement_id, stock_container_id
from erp.stocktake_line;
comment on view api_unstable.stocktake_lines is $$
@primaryKey id
@requiresScopes stocktake_results:read
@aggregates difference,booked_difference,counted_quantity,expected_quantity
@groupBy state,product_id,reason
@gid approved_by Credential
@filters stocktake_id,product_id,bin_location_id,batch_id,state,difference,reason,is_found,stock_movement_id
@foreignKey (stocktake_id) references stocktakes (id)|@fieldName stocktake|@foreignFieldName lines
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse
@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation
@foreignKey (stock_container_id) references stock_containers (id)|@fieldName stockContainer
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName stocktakeLines
@foreignKey (batch_id) references batches (id)|@fieldName batch
@foreignKey (stock_movement_id) references stock_movements (id)|@fieldName stockMovement
A position of a stocktake: a product in a place, for tracked products each batch. It has the expected and the
counted units, and their difference.$$;
comment on column api_unstable.stocktake_lines.expected_quantity is
  E'@notNull\nUnits that the ledger says were there when the count was made; before, when the stocktake was '
  'created.';
comment on column api_unstable.stocktake_lines.difference is 'Counted units less expected ones.';
comment on column api_unstable.stocktake_lines.earlier_difference is
  'The difference of the count before the recount.';
--! EndIncluded api/stocktake_lines.sql
--! Included api/stocktake_counts.sql
-- Reads no expected units: who may read a view may read the tables behind it
create or replace view api_unstable.stocktake_counts with (security_invoker = true) as
select id, sheet_id, number, warehouse_id, bin_location_id, product_id, batch_id,
  coalesce(quantity is not null, false) as is_counted, case when o.is_own then quantity end as quantity,
  counted_at, counter_name, submitted_at, stock_container_id
from erp.stocktake_count
cross join lateral (
  select (select auth.has_scope('stocktake_results:read'))
    or credential_id = (select nullif(current_setting('service.credential_id', true), '')::uuid) as is_own
) o;
comment on view api_unstable.stocktake_counts is $$
@primaryKey id
@requiresScopes stocktakes:read
@filters sheet_id,product_id,bin_location_id
@foreignKey (sheet_id) references stocktake_sheets (id)|@fieldName sheet|@foreignFieldName counts
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse
@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation
@foreignKey (stock_container_id) references stock_containers (id)|@fieldName stockContainer
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (batch_id) references batches (id)|@fieldName batch
A line of a sheet: what to count, and what was counted. It shows no expected units.$$;
comment on column api_unstable.stocktake_counts.is_counted is E'@notNull\nWhether somebody has counted it.';
comment on column api_unstable.stocktake_counts.quantity is
  'Units that were counted last; null until then. Without the scope stocktake_results:read, only the counts '
  'of the own credential are shown.';
--! EndIncluded api/stocktake_counts.sql
drop function if exists api_unstable.stocktake_sheets_open_count(api_unstable.stocktake_sheets);
--! Included api/stocktake_sheets_open_count.sql
create function api_unstable.stocktake_sheets_open_count(sheet api_unstable.stocktake_sheets) returns integer
language sql stable begin atomic
  select count(*)::integer from api_unstable.stocktake_counts c
  where c.sheet_id = sheet.id and not c.is_counted;
end;
comment on function api_unstable.stocktake_sheets_open_count(api_unstable.stocktake_sheets) is $$
@requiresScopes stocktakes:read
@notNull
Positions of the sheet that nobody has counted yet.$$;
--! EndIncluded api/stocktake_sheets_open_count.sql
--! Included api/stocktakes_progress.sql
drop type if exists api_unstable.stocktake_progress cascade;
create type api_unstable.stocktake_progress as (
  sheet_count integer, completed_sheet_count integer, open_count integer
);
comment on type api_unstable.stocktake_progress is 'How far people have counted.';
comment on column api_unstable.stocktake_progress.sheet_count is E'@notNull\nSheets, also of recounts.';
comment on column api_unstable.stocktake_progress.completed_sheet_count is E'@notNull\nCompleted sheets.';
comment on column api_unstable.stocktake_progress.open_count is
  E'@notNull\nPositions on all sheets that nobody has counted yet.';
create function api_unstable.stocktakes_progress(stocktake api_unstable.stocktakes)
returns api_unstable.stocktake_progress
language sql stable begin atomic
  select row (count(*), count(s.completed_at), coalesce(sum((
    select count(*) from api_unstable.stocktake_counts c where c.sheet_id = s.id and not c.is_counted
  )), 0))::api_unstable.stocktake_progress
  from api_unstable.stocktake_sheets s where s.stocktake_id = stocktake.id;
end;
comment on function api_unstable.stocktakes_progress(api_unstable.stocktakes) is $$
@requiresScopes stocktakes:read
How far people have counted.$$;
--! EndIncluded api/stocktakes_progress.sql
--! Included api/stock_place_input.sql
drop type if exists api_unstable.stock_place_input cascade;
create type api_unstable.stock_place_input as (
  warehouse_id uuid, bin_location_id uuid, stock_container_id uuid
);
comment on type api_unstable.stock_place_input is
  'A place that holds stock: either a warehouse, for what lies in it outside of bins and containers, or a '
  'bin, or a container. Only stockAdjust, stockSet, stockTransfer and stocktakes name containers.';
comment on column api_unstable.stock_place_input.warehouse_id is E'@gid Warehouse\nId of the warehouse.';
comment on column api_unstable.stock_place_input.bin_location_id is E'@gid BinLocation\nId of the bin.';
comment on column api_unstable.stock_place_input.stock_container_id is
  E'@gid StockContainer\nId of the container.';
--! EndIncluded api/stock_place_input.sql
--! Included api/stock_reserve.sql
drop type if exists api_unstable.stock_reserve_input cascade;
drop type if exists api_unstable.stock_reserve_line_input cascade;
create type api_unstable.stock_reserve_line_input as (
  product_id uuid, place api_unstable.stock_place_input, quantity integer, batch_id uuid,
  order_line_item_id uuid
);
comment on type api_unstable.stock_reserve_line_input is 'Units of a product to be reserved.';
comment on column api_unstable.stock_reserve_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_reserve_line_input.place is
  E'@notNull\nPlace that the units are promised at: a warehouse with all its bins, or one bin.';
comment on column api_unstable.stock_reserve_line_input.quantity is E'@notNull\nUnits; at least 1.';
comment on column api_unstable.stock_reserve_line_input.batch_id is
  E'@gid Batch\nId of the batch that is promised. Without it, any will do.';
comment on column api_unstable.stock_reserve_line_input.order_line_item_id is
  E'@gid OrderLineItem\nId of the order line that the units are for. The order has them reserved already, so '
  'the reserved stock of the product stays as it is.';

create type api_unstable.stock_reserve_input as (
  lines api_unstable.stock_reserve_line_input[], expires_at timestamptz, reference text, note text
);
comment on type api_unstable.stock_reserve_input is 'Units to be reserved.';
comment on column api_unstable.stock_reserve_input.lines is
  E'@notNull\nThe units; 1 to 250 lines. Each becomes a reservation.';
comment on column api_unstable.stock_reserve_input.expires_at is
  'When the reservations end by themselves, in the future. Without it they never do.';
comment on column api_unstable.stock_reserve_input.reference is
  'The caller''s own reference, such as the number of a cart, of at most 255 characters. '
  'stockReservations can be filtered by it.';
comment on column api_unstable.stock_reserve_input.note is
  'Note that is kept with the reservations, of at most 1,000 characters.';

create function api_unstable.stock_reserve(input api_unstable.stock_reserve_input)
returns api_unstable.stock_reservation_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (ledger.reserve_stock(array(
    select row (l.product_id,
      case when (l.place).stock_container_id is null then (l.place).warehouse_id end,
      case when (l.place).stock_container_id is null then (l.place).bin_location_id end, l.quantity,
      l.batch_id, l.order_line_item_id)::ledger.reservation_line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.expires_at, input.reference, input.note), null, null)::api_unstable.stock_reservation_payload
$$;
comment on function api_unstable.stock_reserve(api_unstable.stock_reserve_input) is
  E'@requiresScopes stocks:write\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH OVER_FULFILLMENT '
  'INSUFFICIENT_STOCK\n'
  'Reserves units at a place: all lines, or none. Never more than there is, unless the product allows '
  'backorders. The place, the batch, and the available stock of the product must have the units. For an '
  'order line the product need not, because the order has reserved them already.';
--! EndIncluded api/stock_reserve.sql
--! Included api/put_away_input.sql
drop type if exists api_unstable.put_away_input cascade;
create type api_unstable.put_away_input
  as (goods_receipt_line_item_id uuid, place api_unstable.stock_place_input, quantity integer, outcome text);
comment on type api_unstable.put_away_input is 'A place where units of a line are put.';
comment on column api_unstable.put_away_input.goods_receipt_line_item_id is
  E'@notNull\n@gid GoodsReceiptLineItem\nId of the line.';
comment on column api_unstable.put_away_input.place is
  'The bin, or the warehouse for goods that lie outside of bins. Left out for goods that are thrown away.';
comment on column api_unstable.put_away_input.quantity is
  E'@notNull\nUnits; all entries of a line together are its quantity less what is thrown away.';
comment on column api_unstable.put_away_input.outcome is
  'The decision about the units. It is restock if they can be sold, and dispose if they are thrown away. It '
  'is quarantine if they wait, in a bin or batch that cannot be sold. Left out, the place says it.';
--! EndIncluded api/put_away_input.sql
--! Included api/goods_receipt_complete.sql
drop type if exists api_unstable.goods_receipt_complete_input cascade;
create type api_unstable.goods_receipt_complete_input as (id uuid, put_away api_unstable.put_away_input[]);
comment on type api_unstable.goods_receipt_complete_input is 'A goods receipt to complete.';
comment on column api_unstable.goods_receipt_complete_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_unstable.goods_receipt_complete_input.put_away is
  'Places where the goods were put. Any other line goes to its own bin, or else to the usual bin of the '
  'product, or else to the warehouse.';

create function api_unstable.goods_receipt_complete(input api_unstable.goods_receipt_complete_input)
returns api_unstable.goods_receipt_booking_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, b.stock_movements, b.stocks, null, null)::api_unstable.goods_receipt_booking_payload
  from erp.complete_goods_receipt(input.id, array(
    select row (
      p.ordinality, p.goods_receipt_line_item_id,
      case when (p.place).stock_container_id is null then (p.place).warehouse_id end,
      case when (p.place).stock_container_id is null then (p.place).bin_location_id end,
      p.quantity
    )::erp.placement
    from unnest(input.put_away) with ordinality p order by p.ordinality
  ), array(select p.outcome from unnest(input.put_away) with ordinality p order by p.ordinality)) b
$$;
comment on function api_unstable.goods_receipt_complete(api_unstable.goods_receipt_complete_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION INVALID OUT_OF_RANGE INSUFFICIENT_STOCK\n'
  '@warnings SURPLUS ORDER_CANCELLED PRODUCT_HAS_VARIANTS STOCK_PROMISED\n'
  'Completes an approved goods receipt: books the goods to where they were put away, and what is thrown '
  'away to stock_correction. Lines of supplier orders become received, and their orders '
  'partially_delivered or delivered, or less than that after a correction. All that came is booked: '
  'what fits on no line of the order that a line names, by now, becomes a line without an order. Lines of '
  'returns know what became of their units.';
--! EndIncluded api/goods_receipt_complete.sql
--! Included api/stocktake_sheet_submit.sql
drop type if exists api_unstable.stocktake_sheet_submit_input cascade;
drop type if exists api_unstable.stocktake_sheet_submit_line_input cascade;
create type api_unstable.stocktake_sheet_submit_line_input as (
  place api_unstable.stock_place_input, product_id uuid, batch_id uuid, quantity integer,
  counted_at timestamptz, is_empty boolean
);
comment on type api_unstable.stocktake_sheet_submit_line_input is 'A count of one person in a place.';
comment on column api_unstable.stocktake_sheet_submit_line_input.place is
  E'@notNull\nThe place, of this sheet or of no sheet.';
comment on column api_unstable.stocktake_sheet_submit_line_input.product_id is
  E'@gid Product\nId of the product. Left out only if isEmpty is true.';
comment on column api_unstable.stocktake_sheet_submit_line_input.batch_id is
  E'@gid Batch\nId of the batch, for products that are kept in batches.';
comment on column api_unstable.stocktake_sheet_submit_line_input.quantity is
  'Units that are there; not negative. Left out only if isEmpty is true.';
comment on column api_unstable.stocktake_sheet_submit_line_input.counted_at is
  'When it was counted, to the microsecond; not before the stocktake. By default now.';
comment on column api_unstable.stocktake_sheet_submit_line_input.is_empty is
  E'@neverNull\n'
  'True says that the place holds nothing, or nothing else than was counted: all its positions without a '
  'count get 0 units. False when left out.';

create type api_unstable.stocktake_sheet_submit_input as (
  sheet_id uuid, counter_name text, lines api_unstable.stocktake_sheet_submit_line_input[],
  is_complete boolean
);
comment on type api_unstable.stocktake_sheet_submit_input is 'Counts of one person on a sheet.';
comment on column api_unstable.stocktake_sheet_submit_input.sheet_id is
  E'@notNull\n@gid StocktakeSheet\nId of the sheet.';
comment on column api_unstable.stocktake_sheet_submit_input.counter_name is
  E'@notNull\nThe person who counted, of at most 255 characters.';
comment on column api_unstable.stocktake_sheet_submit_input.lines is
  'The counts, up to 250. Others follow in other calls.';
comment on column api_unstable.stocktake_sheet_submit_input.is_complete is
  E'@neverNull\nWhether the sheet is complete now, with these counts. False when left out.';

create function api_unstable.stocktake_sheet_submit(input api_unstable.stocktake_sheet_submit_input)
returns api_unstable.stocktake_sheet_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.submit_stocktake_sheet(input.sheet_id, input.counter_name, array(
    select row ((l.place).warehouse_id, (l.place).bin_location_id, (l.place).stock_container_id, l.product_id,
      l.batch_id, l.quantity,
      coalesce(l.counted_at, n.moment), coalesce(l.is_empty, false))::erp.stocktake_reading
    from unnest(input.lines) with ordinality l cross join (select ledger.moment()) n (moment)
    order by l.ordinality
  ), coalesce(input.is_complete, false)), null, null)::api_unstable.stocktake_sheet_payload
$$;
comment on function api_unstable.stocktake_sheet_submit(api_unstable.stocktake_sheet_submit_input) is
  E'@requiresScopes stocktakes:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE NOT_UNIQUE TOO_MANY_LINES BATCH_REQUIRED '
  'BATCH_MISMATCH PRODUCT_HAS_VARIANTS NOT_ON_SHEET OUT_OF_SCOPE IN_OTHER_STOCKTAKE NOT_COUNTED '
  'NOT_EDITABLE SAME_PERSON INVALID_STATE_TRANSITION PICKED_FOR_ORDER\n'
  '@warnings COUNT_SUPERSEDED\n'
  'Takes counts of one person: of lines of the sheet, and of units that nobody expected there. Calls may '
  'arrive late, in any order and more than once: of a position the count with the latest countedAt is '
  'valid, until the sheet is complete.';
--! EndIncluded api/stocktake_sheet_submit.sql
--! Included api/stock_container_payload.sql
drop type if exists api_unstable.stock_container_payload cascade;
create type api_unstable.stock_container_payload as (
  stock_container uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.stock_container_payload is
  'The result of creating, changing or moving a container.';
comment on column api_unstable.stock_container_payload.stock_container is
  E'@entity StockContainer\nThe container as it is now; null when it was refused.';
comment on column api_unstable.stock_container_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.stock_container_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
--! EndIncluded api/stock_container_payload.sql
--! Included api/stock_container_create.sql
drop type if exists api_unstable.stock_container_create_input cascade;
create type api_unstable.stock_container_create_input as (
  number text, kind api_unstable.stock_container_kind, sscc text, warehouse_id uuid, bin_location_id uuid
);
comment on type api_unstable.stock_container_create_input is 'A new container.';
comment on column api_unstable.stock_container_create_input.number is
  E'@notNull\nThe code on it, unique; 1 to 100 characters.';
comment on column api_unstable.stock_container_create_input.kind is E'@notNull\nKind of container.';
comment on column api_unstable.stock_container_create_input.sscc is
  'Its SSCC, the number of GS1 for a logistic unit: 18 digits, the last one a check digit; unique.';
comment on column api_unstable.stock_container_create_input.warehouse_id is
  E'@notNull\n@gid Warehouse\nId of the warehouse that it is in.';
comment on column api_unstable.stock_container_create_input.bin_location_id is
  E'@gid BinLocation\nId of the bin that it stands in. Left out, it stands outside of bins.';

create function api_unstable.stock_container_create(input api_unstable.stock_container_create_input)
returns api_unstable.stock_container_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    erp.create_stock_container(input.number, input.kind::text, input.sscc, input.warehouse_id,
      input.bin_location_id), null, null
  )::api_unstable.stock_container_payload
$$;
comment on function api_unstable.stock_container_create(api_unstable.stock_container_create_input) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE
Makes an empty container in a warehouse.$$;
--! EndIncluded api/stock_container_create.sql
--! Included api/stock_container_update.sql
drop type if exists api_unstable.stock_container_update_input cascade;
create type api_unstable.stock_container_update_input as (
  id uuid, number text, kind api_unstable.stock_container_kind, sscc text
);
comment on type api_unstable.stock_container_update_input is
  'Changes of a container. What is left out stays as it is. stockContainerMove changes its place.';
comment on column api_unstable.stock_container_update_input.id is
  E'@notNull\n@gid StockContainer\nId of the container.';
comment on column api_unstable.stock_container_update_input.number is
  E'@neverNull\nThe code on it, unique; 1 to 100 characters.';
comment on column api_unstable.stock_container_update_input.kind is E'@neverNull\nKind of container.';
comment on column api_unstable.stock_container_update_input.sscc is
  'Its SSCC: 18 digits, the last one a check digit; unique. Null takes it off.';

create function api_unstable.stock_container_update(
  input api_unstable.stock_container_update_input, changes jsonb
)
returns api_unstable.stock_container_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    erp.update_stock_container(input.id, changes), null, null
  )::api_unstable.stock_container_payload
$$;
comment on function
  api_unstable.stock_container_update(api_unstable.stock_container_update_input, jsonb) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE
Changes the code, the kind or the SSCC of a container.$$;
--! EndIncluded api/stock_container_update.sql
--! Included api/stock_container_move.sql
drop type if exists api_unstable.stock_container_move_input cascade;
create type api_unstable.stock_container_move_input as (id uuid, warehouse_id uuid, bin_location_id uuid);
comment on type api_unstable.stock_container_move_input is
  'A container, and the place that it is moved to: either a bin, or a warehouse.';
comment on column api_unstable.stock_container_move_input.id is
  E'@notNull\n@gid StockContainer\nId of the container.';
comment on column api_unstable.stock_container_move_input.warehouse_id is
  E'@gid Warehouse\nId of the warehouse where it stands outside of bins.';
comment on column api_unstable.stock_container_move_input.bin_location_id is
  E'@gid BinLocation\nId of the bin that it stands in.';

create function api_unstable.stock_container_move(input api_unstable.stock_container_move_input)
returns api_unstable.stock_container_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    erp.move_stock_container(input.id, input.warehouse_id, input.bin_location_id), null, null
  )::api_unstable.stock_container_payload
$$;
comment on function api_unstable.stock_container_move(api_unstable.stock_container_move_input) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND INVALID NOT_EDITABLE
@warnings STOCK_PROMISED
Moves a container with all that is in it. It stays in its warehouse once it has held stock: stockTransfer
takes goods to another one. If its new bin is not sellable, its units are no longer available. The call
succeeds even if orders wait for the units, and then has the warning STOCK_PROMISED.$$;
--! EndIncluded api/stock_container_move.sql
--! Included api/stock_container_delete.sql
drop type if exists api_unstable.stock_container_delete_input cascade;
create type api_unstable.stock_container_delete_input as (id uuid);
comment on type api_unstable.stock_container_delete_input is 'A container to delete.';
comment on column api_unstable.stock_container_delete_input.id is
  E'@notNull\n@gid StockContainer\nId of the container.';

drop type if exists api_unstable.stock_container_delete_payload cascade;
create type api_unstable.stock_container_delete_payload
  as (deleted_stock_container_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.stock_container_delete_payload is 'The result of deleting a container.';
comment on column api_unstable.stock_container_delete_payload.deleted_stock_container_id is
  E'@gid StockContainer\nId of the container that is gone; null when it was refused.';
comment on column api_unstable.stock_container_delete_payload.user_errors is
  'Why it was not deleted; empty when it was.';

create function api_unstable.stock_container_delete(input api_unstable.stock_container_delete_input)
returns api_unstable.stock_container_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_stock_container(input.id), null)::api_unstable.stock_container_delete_payload
$$;
comment on function api_unstable.stock_container_delete(api_unstable.stock_container_delete_input) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND WAREHOUSE_NOT_EMPTY
Deletes an empty container. Movements of stock that passed through it are kept; they no longer name it.$$;
--! EndIncluded api/stock_container_delete.sql

-- The frozen version names no containers. Its calls make the same lines as before.

-- waive frozen-version api_2026_06_unstable.stock_adjust(input api_2026_06_unstable.stock_adjust_input): lines without containers, as before.

-- waive frozen-version api_2026_06_unstable.stock_set(input api_2026_06_unstable.stock_set_input): lines without containers, as before.

-- waive frozen-version api_2026_06_unstable.stock_transfer(input api_2026_06_unstable.stock_transfer_input): lines without containers, as before.
do $$
declare
  definition text;
begin
  for definition in
    select pg_get_functiondef(p.oid) from pg_proc p
    where p.pronamespace = 'api_2026_06_unstable'::regnamespace
      and p.proname in ('stock_adjust', 'stock_set', 'stock_transfer')
      and p.prosrc ~ '::ledger\.line' and p.prosrc !~ 'null, null\)::ledger\.line'
  loop
    execute replace(definition, ')::ledger.line', ', null, null)::ledger.line');
  end loop;
end
$$;
select api_meta.record_version('api_2026_06_unstable');

-- Units in containers of a warehouse count from now on, also the ones that are there already
do $$
declare
  products constant uuid[] := array(
    select distinct s.product_id from ledger.stock s
    join erp.stock_container c on c.id = s.stock_container_id and c.warehouse_id is not null);
begin
  perform ledger.lock(products);
  update ledger.closing_balance b set warehouse_id = c.warehouse_id
  from ledger.stock s join erp.stock_container c on c.id = s.stock_container_id, ledger.closing k
  where b.closing_id = k.id and b.product_id = s.product_id and b.place = s.place
    and b.warehouse_id is distinct from c.warehouse_id;
  update ledger.closing_batch_balance b set warehouse_id = c.warehouse_id
  from ledger.stock s join erp.stock_container c on c.id = s.stock_container_id
  join ledger.batch_stock u on u.stock_id = s.id, ledger.closing k
  where b.closing_id = k.id and b.batch_id = u.batch_id and b.place = s.place
    and b.warehouse_id is distinct from c.warehouse_id;

  insert into ledger.warehouse_stock (product_id, warehouse_id)
  select distinct s.product_id, c.warehouse_id from ledger.stock s
  join erp.stock_container c on c.id = s.stock_container_id
  where c.warehouse_id is not null
  on conflict (product_id, warehouse_id) do nothing;
  update ledger.warehouse_stock w set quantity = x.quantity, held_quantity = x.held
  from (
    select s.product_id, t.warehouse_id, sum(s.quantity) as quantity,
      sum(case when t.is_sellable then u.held else s.quantity end) as held
    from ledger.stock s
    cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) t
    cross join lateral (
      select coalesce(sum(n.quantity), 0) as held from ledger.batch_stock n
      join erp.batch b on b.id = n.batch_id where n.stock_id = s.id and (b.is_held or b.is_expired)) u
    where s.product_id = any (products) and t.warehouse_id is not null
    group by s.product_id, t.warehouse_id
  ) x
  where w.product_id = x.product_id and w.warehouse_id = x.warehouse_id
    and (w.quantity, w.held_quantity) <> (x.quantity, x.held);
  update erp.product_warehouse_configuration c set stock = w.quantity
  from ledger.warehouse_stock w
  where w.product_id = any (products) and c.product_id = w.product_id and c.warehouse_id = w.warehouse_id
    and c.stock <> w.quantity;
  update erp.product p
  set physical_stock = x.quantity, stock_not_available_for_sale = x.not_for_sale
  from (
    select w.product_id, sum(w.quantity)::integer as quantity,
      sum(case when h.is_stock_available_for_sale then w.held_quantity else w.quantity end)::integer
        as not_for_sale
    from ledger.warehouse_stock w join erp.warehouse h on h.id = w.warehouse_id
    where w.product_id = any (products) group by w.product_id
  ) x
  where p.id = x.product_id
    and (p.physical_stock, p.stock_not_available_for_sale) <> (x.quantity, x.not_for_sale);
  update erp.batch b set physical_stock = x.quantity
  from (
    select u.batch_id, sum(u.quantity) as quantity
    from ledger.stock s
    cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) t
    join ledger.batch_stock u on u.stock_id = s.id
    where s.product_id = any (products) and t.warehouse_id is not null group by u.batch_id
  ) x
  where b.id = x.batch_id and b.physical_stock <> x.quantity;
end
$$;

--! split: 210-processes.sql
-- What processes may be used for
drop trigger if exists keep_figures_of_counts on ledger.stock_movement;
drop function if exists ledger.adjust_stock(ledger.line[], text, text, text),
  ledger.adjust_stock(ledger.line[], text, text, text, text),
  ledger.set_stock(ledger.line[], text, text, text, text),
  ledger.set_stock(ledger.line[], text, text, text, text, text),
  ledger.transfer_stock(ledger.line[], text, text, text),
  ledger.transfer_stock(ledger.line[], text, text, text, text),
  ledger.ship(uuid, ledger.pick[], uuid[], text), ledger.ship(uuid, ledger.pick[], uuid[], text, text),
  erp.ship(uuid, ledger.pick[], uuid[], text[], text),
  erp.ship(uuid, ledger.pick[], uuid[], text[], text, text),
  erp.complete_shipment(uuid, text[], text[], text, uuid),
  erp.complete_shipment(uuid, text[], text[], text, uuid, text),
  erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[]),
  erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[], text);
alter table ledger.process_type drop constraint if exists process_type_can_require_a_reason;
alter table ledger.process_type drop column if exists uses cascade;

-- waive constraint-scans: two dozen rows that only merchants change
alter table ledger.process_type add column uses text[] not null default '{}'
  constraint process_type_uses_are_known
    check (uses <@ '{incoming,outgoing,count,relocation,shipping}' and array_position(uses, null) is null);
comment on column ledger.process_type.uses is
  'Uses that calls may name the process for. incoming and outgoing: stockAdjust, by the direction of its '
  'lines. count: stockSet. relocation: stockTransfer. shipping: orderShipmentComplete and fulfillmentCreate. '
  'Empty for processes that only follow from documents.';
comment on constraint process_type_uses_are_known on ledger.process_type is
  '@internal Only people who write SQL change processes.';
update ledger.process_type t set uses = v.uses
from (values ('api', array['count']), ('stocktaking', '{count}'),
  ('api_incoming', '{incoming}'), ('incoming', '{incoming}'), ('csv_import_incoming', '{incoming}'),
  ('api_outgoing', '{outgoing}'), ('outgoing', '{outgoing}'), ('csv_import_outgoing', '{outgoing}'),
  ('api_relocation', '{relocation}'), ('relocation', '{relocation}'),
  ('api_shipping', '{shipping}'), ('shipping', '{shipping}'), ('shipped_automatically', '{shipping}')
) v (name, uses)
where t.technical_name = v.name;
-- waive constraint-scans: two dozen rows that only merchants change
alter table ledger.process_type add constraint process_type_can_require_a_reason
  check (not requires_reason
    or uses && '{incoming,outgoing,count,relocation}' and technical_name <> 'relocation');
comment on constraint process_type_can_require_a_reason on ledger.process_type is
  '@internal Only people who write SQL change processes. Picking books relocations, and knows no reason.';
comment on column ledger.process_type.requires_reason is
  'Whether bookings by this process need a reason. Only stockAdjust, stockSet, stockTransfer, stocktakes and '
  'imports of stock can give one.';
insert into ledger.special_stock_location (technical_name) values ('count_correction') on conflict do nothing;

--! Included ledger/is_count.sql
create or replace function ledger.is_count(process text, source_special text, destination_special text)
returns boolean
language sql immutable parallel safe
return coalesce(process in ('api', 'stocktaking')
  and (source_special = 'stock_correction' or destination_special = 'stock_correction')
  or source_special = 'count_correction' or destination_special = 'count_correction', false);
comment on function ledger.is_count(text, text, text) is
  'Whether a movement of this process, between these special places if any, corrects the ledger after a '
  'count. Then no goods moved. Counts of processes that book other things, too, have a special place of '
  'their own.';
grant execute on function ledger.is_count(text, text, text)
  to service_ledger, service_writer, service_booker;
--! EndIncluded ledger/is_count.sql
--! Included ledger/check_process.sql
create or replace function ledger.check_process(process text, uses text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant text[] := (select t.uses from ledger.process_type t where t.technical_name = process);
  missing constant text := (
    select u.use from unnest(uses) with ordinality u (use, nth) where u.use <> all (coalesce(present, '{}'))
    order by u.nth limit 1);
  fitting text[];
begin
  if process is null or missing is null then
    return;
  end if;
  fitting := array(
    select t.technical_name from ledger.process_type t where missing = any (t.uses)
    order by t.technical_name limit 50);
  perform mutation.refuse(case when present is null then 'NOT_FOUND' else 'INVALID' end,
    format(case when present is null then 'There is no process %s. For %s there are %s.'
      else 'The process %s does not fit. For %s there are %s.' end,
      process, case missing when 'incoming' then 'units that come in' when 'outgoing' then 'units that go out'
        when 'count' then 'counts' when 'relocation' then 'transfers' else 'shipments' end,
      coalesce(nullif(array_to_string(fitting, ', '), ''), 'none')),
    '{process_type}', jsonb_build_object('fitting', fitting));
end
$$;
comment on function ledger.check_process(text, text[]) is
  'Refuses a process that a call names, unless it has all these uses of ledger.process_type. The details '
  'list up to 50 that fit. Null is the process of the call itself. User errors NOT_FOUND, INVALID.';
grant execute on function ledger.check_process(text, text[]) to service_ledger, service_writer;
--! EndIncluded ledger/check_process.sql
--! Included ledger/by_process.sql
create or replace function ledger.by_process(
  drafts ledger.draft[], arriving text, leaving text, is_count boolean
)
returns ledger.draft[]
language sql immutable
return array(
  select row (d.field, d.product_id, d.quantity, d.batch_id, d.source_type,
    case when d.source_type = 'special_stock_location' then p.special else d.source end,
    d.destination_type,
    case when d.destination_type = 'special_stock_location' then p.special else d.destination end,
    p.process)::ledger.draft
  from unnest(drafts) with ordinality d
  cross join lateral (
    select case when d.source_type = 'special_stock_location' then arriving else leaving end
  ) n (process)
  -- Where ledger.is_count finds corrections by counts of any process
  cross join lateral (
    select n.process, case when is_count and not ledger.is_count(n.process, 'stock_correction', null)
      then 'count_correction' else 'stock_correction' end
  ) p (process, special)
  order by d.ordinality
);
comment on function ledger.by_process(ledger.draft[], text, text, boolean) is
  'Returns drafts of stockAdjust, stockSet or stockTransfer with other processes: one for units that arrive '
  'from stock_correction, one for all others. Corrections by counts of a process that does not stand for '
  'counts alone are booked against count_correction, so that they stay recognizable as counts.';
grant execute on function ledger.by_process(ledger.draft[], text, text, boolean) to service_ledger;
--! EndIncluded ledger/by_process.sql
--! Included ledger/adjust_stock.sql
create or replace function ledger.adjust_stock(
  lines ledger.line[], note text, reference text default null, reason text default null,
  process text default null
)
returns ledger.booked
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  drafts ledger.draft[];
begin
  perform ledger.prepare(lines, 'adjust');
  drafts := array(
    select ledger.adjustment_of(mutation.path('lines', l.ordinality, 'delta'), l.product_id, l.quantity,
      l.batch_id, p.type, p.place)
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id,
      l.source_stock_container_id) p
    order by l.ordinality
  );
  if process is not null then
    perform ledger.check_process(process, array(
      select case when l.quantity > 0 then 'incoming' else 'outgoing' end
      from unnest(lines) l group by 1 order by 1));
    drafts := ledger.by_process(drafts, process, process, false);
  end if;
  return ledger.book(drafts, note, '{}', reference, reason);
end
$$;
comment on function ledger.adjust_stock(ledger.line[], text, text, text, text) is
  'Adjusts stock: books additions and removals against stock_correction, by a process that the call names '
  'or by api_incoming and api_outgoing.';
select api_meta.plan_by_index('ledger.adjust_stock(ledger.line[], text, text, text, text)');
select api_meta.give('ledger.adjust_stock(ledger.line[], text, text, text, text)', 'service_ledger');
grant execute on function ledger.adjust_stock(ledger.line[], text, text, text, text) to service_writer;
--! EndIncluded ledger/adjust_stock.sql
--! Included ledger/set_stock.sql
create or replace function ledger.set_stock(
  lines ledger.line[], note text, reference text default null, reason text default null,
  process text default 'api', process_of_missing text default null
)
returns ledger.booked
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  readings ledger.stock_reading[];
  notes jsonb;
  drafts ledger.draft[];
  booked ledger.booked;
begin
  perform ledger.prepare(lines, 'set');
  readings := ledger.read_counts(lines);

  select jsonb_agg(mutation.user_error('INSUFFICIENT_STOCK',
    format('%s were counted, but %s more have left the place since.', r.quantity, - r.moved),
    mutation.path('lines', r.line, 'quantity'),
    jsonb_build_object('available', r.quantity, 'requested', - r.moved)) order by r.line)
  into notes from unnest(readings) r where r.quantity + r.moved < 0;
  perform mutation.refuse(notes);

  drafts := array(
    select ledger.adjustment_of(
      d.field, r.product_id, d.difference::integer, r.batch_id, r.place_type, r.place, true)
    from unnest(readings) r
    cross join lateral (
      select r.quantity + r.moved - r.present, mutation.path('lines', r.line, 'quantity')
    ) d (difference, field)
    where r.newer_counted_at is null and d.difference <> 0 order by r.line
  );
  if process <> 'api' then
    perform ledger.check_process(process, '{count}') where process_of_missing is null;
    drafts := ledger.by_process(drafts, process, coalesce(process_of_missing, process), true);
  end if;
  booked := ledger.book(drafts, note, '{}', reference, reason);
  perform ledger.note_counts(readings, booked.stock_movements);

  select jsonb_agg(mutation.user_error('COUNT_SUPERSEDED',
    'The place has been counted again since then. This count was recorded, but changes nothing.',
    mutation.path('lines', r.line, 'counted_at'),
    jsonb_build_object('quantity', r.newer_quantity, 'countedAt',
      to_char(r.newer_counted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'))) order by r.line)
  into notes from unnest(readings) r where r.newer_counted_at is not null;
  perform mutation.warn(notes);
  -- The result includes stock that was right already
  booked.stocks := array(select r.stock_id from unnest(readings) r group by r.stock_id order by min(r.line));
  return booked;
end
$$;
comment on function ledger.set_stock(ledger.line[], text, text, text, text, text) is
  'Sets stock to a counted quantity: books the difference against stock_correction. With counted_at, '
  'movements after that moment are added to the count. A count that is older than a known one changes '
  'nothing and adds the warning COUNT_SUPERSEDED. Missing units can have a process of their own.';
select api_meta.plan_by_index('ledger.set_stock(ledger.line[], text, text, text, text, text)');
select api_meta.give('ledger.set_stock(ledger.line[], text, text, text, text, text)', 'service_ledger');
grant execute on function ledger.set_stock(ledger.line[], text, text, text, text, text) to service_writer;
--! EndIncluded ledger/set_stock.sql
--! Included ledger/transfer_stock.sql
create or replace function ledger.transfer_stock(
  lines ledger.line[], note text, reference text default null, reason text default null,
  process text default null
)
returns ledger.booked
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  drafts ledger.draft[];
begin
  perform ledger.prepare(lines, 'transfer');
  drafts := array(
    select ledger.relocation_of(mutation.path('lines', l.ordinality, 'quantity'), l.product_id, l.quantity,
      l.batch_id, s.type, s.place, d.type, d.place)
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id,
      l.source_stock_container_id) s
    cross join lateral ledger.place_of(l.destination_warehouse_id, l.destination_bin_location_id,
      l.destination_stock_container_id) d
    order by l.ordinality
  );
  if process is not null then
    perform ledger.check_process(process, '{relocation}');
    drafts := ledger.by_process(drafts, process, process, false);
  end if;
  return ledger.book(drafts, note, '{}', reference, reason);
end
$$;
comment on function ledger.transfer_stock(ledger.line[], text, text, text, text) is
  'Moves stock from one warehouse, bin or container to another, by a process that the call names '
  'or by api_relocation.';
select api_meta.plan_by_index('ledger.transfer_stock(ledger.line[], text, text, text, text)');
select api_meta.give('ledger.transfer_stock(ledger.line[], text, text, text, text)', 'service_ledger');
grant execute on function ledger.transfer_stock(ledger.line[], text, text, text, text) to service_writer;
--! EndIncluded ledger/transfer_stock.sql
--! Included ledger/check_variants.sql
create or replace function ledger.check_variants(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  parents uuid[];
  errors jsonb;
  warnings jsonb;
begin
  parents := erp.those_with_variants(array(
    select d.product_id from unnest(drafts) d
    where d.destination_type in ('warehouse', 'bin_location', 'stock_container')));
  if parents = '{}' then
    return;
  end if;

  with concerned as (
    select d.ordinality, d.field, p.product_number,
      d.source_type = 'special_stock_location' and d.process <> 'stocktaking' as is_refused
    from unnest(drafts) with ordinality d join erp.product p on p.id = d.product_id
    where d.destination_type in ('warehouse', 'bin_location', 'stock_container')
      and d.product_id = any (parents)
  )
  select
    jsonb_agg(mutation.user_error('PRODUCT_HAS_VARIANTS',
      format('Product %s only stands for its variants: book one of them.', c.product_number),
      trim_array(c.field, 1) || '{product_id}') order by c.ordinality) filter (where c.is_refused),
    jsonb_agg(mutation.user_error('PRODUCT_HAS_VARIANTS',
      format('Product %s only stands for its variants: its stock cannot be sold.', c.product_number),
      c.field) order by c.ordinality)
  into errors, warnings
  from concerned c;
  perform mutation.refuse(errors);
  perform mutation.warn(warnings);
end
$$;
comment on function ledger.check_variants(ledger.draft[]) is
  'Checks drafts that bring a product into a place although it only stands for its variants. Counts and '
  'corrections that would add units are refused with the user error PRODUCT_HAS_VARIANTS. Units that '
  'arrive, come back or are moved are booked with a warning of that name, because old stock must be '
  'movable.';
grant execute on function ledger.check_variants(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/check_variants.sql
--! Included ledger/warn_of_promises.sql
create or replace function ledger.warn_of_promises(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  suspects uuid[];
  warnings jsonb;
begin
  -- Shipped units were promised; the promises end with them.
  -- These are the figures after the booking. Usually none is below 0, and there is nothing to warn about.
  suspects := array(
    select distinct d.product_id from unnest(drafts) d join erp.product p on p.id = d.product_id
    where d.source_type in ('warehouse', 'bin_location', 'stock_container') and d.destination_type <> 'order'
      and (p.available_stock < 0 or exists (
        select from ledger.warehouse_stock s
        where s.product_id = d.product_id and s.available_quantity < 0)));
  if suspects = '{}' then
    return;
  end if;
  -- Units that are not sellable, by their batch or bin, were available to nobody
  with moved as (
    select d.* from unnest(drafts) with ordinality d where d.product_id = any (suspects)
      and not exists (select from erp.batch b where b.id = d.batch_id and (b.is_held or b.is_expired))
  ),
  leg (product_id, place_type, place, change, line) as (
    select d.product_id, d.source_type, d.source, - d.quantity, d.ordinality from moved d
    union all
    select d.product_id, d.destination_type, d.destination, d.quantity, d.ordinality from moved d
  ),
  change as (
    select leg.product_id, w.id as warehouse_id, w.code, w.is_stock_available_for_sale as is_for_sale,
      sum(leg.change) as units, min(leg.line) filter (where leg.change < 0) as line
    from leg
    cross join lateral ledger.site_of(leg.place_type, leg.place) t
    join erp.warehouse w on w.id = t.warehouse_id
    where t.is_sellable
    group by leg.product_id, w.id
  ),
  short (product_id, warehouse_id, code, available, reserved, line) as (
    select p.id, null, null, p.available_stock, p.reserved_stock, c.line
    from (
      select change.product_id, min(change.line) as line from change
      group by change.product_id having sum(change.units) filter (where change.is_for_sale) < 0
    ) c join erp.product p on p.id = c.product_id where p.available_stock < 0 and p.reserved_stock > 0
    union all
    select c.product_id, c.warehouse_id, c.code, s.available_quantity, s.reserved_quantity, c.line
    from change c
    join ledger.warehouse_stock s on s.product_id = c.product_id and s.warehouse_id = c.warehouse_id
    where c.units < 0 and s.available_quantity < 0 and s.reserved_quantity > 0
  )
  select jsonb_agg(mutation.user_error('STOCK_PROMISED',
    format('Orders wait for %s units of product %s%s; %s of them are missing now.',
      s.reserved, p.product_number, ' from warehouse ' || s.code, - s.available),
    drafts[s.line].field,
    jsonb_strip_nulls(jsonb_build_object(
      'productId', 'gid://service/Product/' || s.product_id,
      'warehouseId', 'gid://service/Warehouse/' || s.warehouse_id,
      'reserved', s.reserved, 'available', s.available)))
    order by s.line, s.code)
  into warnings
  from (
    -- One warning per product: its shortage makes warnings about its warehouses redundant
    select short.*,
      bool_or(short.warehouse_id is null) over (partition by short.product_id) as is_short_everywhere
    from short
  ) s join erp.product p on p.id = s.product_id
  where s.warehouse_id is null or not s.is_short_everywhere;
  perform mutation.warn(warnings);
end
$$;
comment on function ledger.warn_of_promises(ledger.draft[]) is
  'Warns if movements, which have been booked, took units that orders wait for: the available stock of the '
  'product, or of a warehouse, is below 0 and lower than before. Adds one warning STOCK_PROMISED for the '
  'product or, if the product itself is not short, one for each warehouse that is. Units that are not '
  'sellable are available to nobody, so they don''t count; what is moved to them is missing.';
grant execute on function ledger.warn_of_promises(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/warn_of_promises.sql
--! Included ledger/epcis_step.sql
create or replace function ledger.epcis_step(
  source_type text, destination_type text, special text, process text
) returns text[]
language sql immutable parallel safe
return case
  when destination_type = 'order' then array['shipping', 'OBSERVE', 'in_transit']
  when source_type = 'order' and process = 'cancelled_fulfillment' then array['void_shipping', 'OBSERVE']
  when source_type in ('order', 'return_order') then array['receiving', 'OBSERVE', 'returned']
  when source_type = 'special_stock_location' and destination_type = 'goods_receipt'
    then array['receiving', 'OBSERVE', 'in_progress']
  when source_type = 'special_stock_location'
      and special in ('initialization', 'import', 'stock_correction', 'count_correction')
    then array['stock_taking', 'OBSERVE', 'available']
  when source_type = 'goods_receipt' and special = 'stock_correction'
    then array['destroying', 'DELETE', 'destroyed']
  when source_type = 'goods_receipt' and special is not null then array['shipping', 'OBSERVE', 'returned']
  when destination_type = 'special_stock_location'
      and special in ('import', 'stock_correction', 'count_correction')
    then array['stock_taking', 'OBSERVE', 'unknown']
  when special is not null then array['other', 'OBSERVE']
  else array['storing', 'OBSERVE'] end;
comment on function ledger.epcis_step(text, text, text, text) is
  'Returns bizStep, action and disposition of the event of EPCIS for a movement. They follow from the kinds '
  'of its places, its special place and its process.';
grant execute on function ledger.epcis_step(text, text, text, text) to service_api;
--! EndIncluded ledger/epcis_step.sql
--! Included erp/ship.sql
create or replace function erp.ship(
  order_id uuid, picks ledger.pick[], assigned uuid[], tracking_codes text[], note text,
  process text default null
)
returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Assigned, not selected: an expression takes less than a statement
  booked record;
  made record;
begin
  booked := ledger.ship(order_id, picks, assigned, note, process);
  -- The number is the last lock, because it blocks all other shipping
  made := ledger.write_shipment(
    erp.next_number('fulfillment'), picks, booked.stock_movements, booked.lines);
  if made.turned <> '{}'::uuid[] then
    perform ledger.follow_states(made.turned);
  end if;
  perform erp.settle_order(order_id, tracking_codes);
  return row (order_id, array[made.fulfillment_id], made.fulfillment_orders, booked.stock_movements,
    '{}')::erp.shipment;
end
$$;
comment on function erp.ship(uuid, ledger.pick[], uuid[], text[], text, text) is
  'Ships units of fulfillment orders of one order, some of which may have been assigned for this shipment. '
  'Books them out, records the fulfillment, closes what is fulfilled, and writes each row once. The caller '
  'holds the locks of the order and of ledger.lock_shipment. User errors INSUFFICIENT_STOCK, '
  'BATCH_REQUIRED, INVALID_STATE_TRANSITION.';
grant execute on function erp.ship(uuid, ledger.pick[], uuid[], text[], text, text) to service_writer;
--! EndIncluded erp/ship.sql
--! Included erp/complete_shipment.sql
create or replace function erp.complete_shipment(order_id uuid, tracking_codes text[], documents text[],
  note text,
  warehouse_id uuid default null, process text default null) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present record;
  picks ledger.pick[];
  assignments erp.assignment[];
  planned erp.assignment[];
  assigned uuid[] := '{}';
begin
  if cardinality(tracking_codes) > 0 then
    perform erp.require_tracking_codes(tracking_codes);
  end if;
  if cardinality(documents) > 0 then
    perform erp.require_documents(documents);
  end if;
  perform ledger.check_process(process, '{shipping}');
  present := erp.lock_order_to_ship(order_id);
  if present.is_on_hold then
    perform mutation.refuse('ON_HOLD', 'A fulfillment order of the order is on hold.', '{order_id}');
  end if;

  perform from erp.location l where l.id = any (present.locations) order by l.id for key share;
  picks := erp.open_picks(order_id);
  select p.assignments, p.planned into assignments, planned from erp.plan_uncovered(order_id, warehouse_id) p;
  if cardinality(picks) + cardinality(assignments) = 0 then
    perform erp.require_all_shipped(order_id, present.state);
    perform erp.settle_order(order_id, tracking_codes);
    return row (order_id, '{}', '{}', '{}', '{}')::erp.shipment;
  elsif exists (select from unnest(picks) p where p.warehouse_id is null and p.product_id is not null) then
    perform mutation.refuse('INVALID', 'A fulfillment order has no warehouse to ship from.', '{order_id}');
  end if;
  perform erp.lock_to_ship(picks, assignments);
  perform sourcing.require_same_plan(order_id, planned);
  if cardinality(assignments) > 0 then
    assigned := erp.assign(order_id, assignments, true);
    picks := erp.open_picks(order_id);
  end if;
  return erp.ship(order_id, picks, assigned, tracking_codes, note, process);
end
$$;
comment on function erp.complete_shipment(uuid, text[], text[], text, uuid, text) is
  'Ships everything that is open of an order. Assigned units are shipped from their warehouses, all others '
  'from the warehouses of erp.plan_uncovered, for which a warehouse may be given. External fulfillment '
  'orders stay unchanged. An order with nothing to ship, such as services, is only completed. Documents are '
  'only checked here. User errors NOT_FOUND, INVALID, NOT_UNIQUE, ON_HOLD, EXTERNALLY_MANAGED, '
  'INVALID_STATE_TRANSITION, INSUFFICIENT_STOCK, OUT_OF_RANGE, TOO_MANY_LINES, SOURCING_PLAN_INVALID.';
select api_meta.plan_by_index('erp.complete_shipment(uuid, text[], text[], text, uuid, text)');
grant execute on function erp.complete_shipment(uuid, text[], text[], text, uuid, text) to service_writer;
--! EndIncluded erp/complete_shipment.sql
--! Included erp/create_fulfillment.sql
create or replace function erp.create_fulfillment(fulfillment_order_id uuid, lines erp.shipping_line[],
  places erp.shipping_place[],
  tracking_codes text[], note text, documents text[] default null,
  process text default null) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.fulfillment_order;
  source_id uuid;
  picks ledger.pick[];
begin
  perform erp.require_shipping_lines(lines, places, 'fulfillment_order_line_item_id');
  perform erp.require_tracking_codes(tracking_codes);
  perform erp.require_documents(documents);
  perform ledger.check_process(process, '{shipping}');
  present := erp.lock_fulfillment_order(fulfillment_order_id, '{fulfillment_order_id}');
  perform erp.require_shippable(present);
  picks := erp.picks_of(present, lines, places);

  select l.warehouse_id
  into source_id
  from erp.location l
  where l.id = present.source_warehouse_location_id for key share;
  if source_id is null and exists (select from unnest(picks) p where p.product_id is not null) then
    perform mutation.refuse(
      'INVALID', 'The fulfillment order has no warehouse to ship from.', '{fulfillment_order_id}'
    );
  end if;
  picks := array(
    select row (
      p.field, p.line_id, p.product_id, source_id, p.quantity, p.place_type, p.place, p.batch_id
    )::ledger.pick
    from unnest(picks) with ordinality p order by p.ordinality);
  perform erp.lock_to_ship(picks, '{}',
    array(select p.bin_location_id from unnest(places) p where p.bin_location_id is not null));
  perform erp.require_places(lines, places, source_id);
  return erp.ship(present.destination_order_id, picks, '{}', tracking_codes, note, process);
end
$$;
comment on function
  erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[], text) is
  'Ships some of the open units of a fulfillment order, or all if lines is null. They are taken from the '
  'given places or, by default, in the pick order. Documents are only checked here. User '
  'errors REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, NOT_UNIQUE, NOT_FOUND, INVALID, EXTERNALLY_MANAGED, '
  'ON_HOLD, INVALID_STATE_TRANSITION, OVER_FULFILLMENT, BATCH_MISMATCH, BATCH_HELD, BATCH_EXPIRED, '
  'BATCH_REQUIRED, INSUFFICIENT_STOCK.';
select api_meta.plan_by_index(
  'erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[], text)'
);
grant execute on function erp.create_fulfillment(
  uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[], text
)
  to service_writer;
--! EndIncluded erp/create_fulfillment.sql
create constraint trigger keep_figures_of_counts after insert on ledger.stock_movement
deferrable initially deferred for each row
when (current_user <> 'service_booker' and (new.process_type_technical_name in ('api', 'stocktaking')
  or new.source_special_stock_location_technical_name = 'count_correction'
  or new.destination_special_stock_location_technical_name = 'count_correction'))
execute function ledger.keep_count();
--! Included api/batch_origins.sql
drop type if exists api_unstable.batch_origin_kind cascade;
create type api_unstable.batch_origin_kind as enum (
  'GoodsReceipt', 'OpeningStock', 'Import', 'Correction', 'Other'
);
comment on type api_unstable.batch_origin_kind is
  E'\n'
  '@value GoodsReceipt They arrived with a goods receipt.\n'
  '@value OpeningStock They were there when the ledger began.\n'
  '@value Import They came with an import of stock.\n'
  '@value Correction They were found by a count, or somebody added them.\n'
  '@value Other They came in another way; the movement says more.\n'
  'How units of a batch came into the ledger.';

-- Has no list of all, as its rows are found by their batch.
create view api_unstable.batch_origins with (security_invoker = true) as
select b.stock_movement_id, b.batch_id, b.quantity, m.created_at as moved_at,
  coalesce(case
    when m.destination_location_type_technical_name = 'goods_receipt' then 'GoodsReceipt'
    when m.special = 'initialization' then 'OpeningStock'
    when m.special = 'import' then 'Import'
    when m.special in ('stock_correction', 'count_correction') then 'Correction'
    end::api_unstable.batch_origin_kind, 'Other') as kind,
  m.destination_goods_receipt_id as goods_receipt_id,
  coalesce((
    select d.numbers from ledger.delivered_orders(m.destination_goods_receipt_id, b.batch_id) d
  ), '{}') as supplier_order_numbers
from ledger.stock_movement_batch b
cross join lateral (
  select m.*, m.source_special_stock_location_technical_name as special from ledger.stock_movement m
  where m.id = b.stock_movement_id and m.source_location_type_technical_name = 'special_stock_location'
  offset 0
) m;
comment on view api_unstable.batch_origins is
  E'@primaryKey stock_movement_id,batch_id\n'
  '@requiresScopes allOf: stocks:read batches:read\n'
  '@behavior -query:resource:list -query:resource:connection\n'
  '@hidden stock_movement_id,batch_id\n'
  '@fullLists supplier_order_numbers\n'
  '@foreignKey (stock_movement_id) references stock_movements (id)|@fieldName stockMovement\n'
  '@foreignKey (batch_id) references batches (id)|@fieldName batch|@foreignFieldName origins\n'
  '@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName goodsReceipt\n'
  'Units of a batch that came into the ledger by one movement. Units that came back from an order are no '
  'new ones.';
comment on column api_unstable.batch_origins.moved_at is E'@notNull\nWhen they came.';
comment on column api_unstable.batch_origins.kind is E'@notNull\nHow they came.';
comment on column api_unstable.batch_origins.goods_receipt_id is
  'Goods receipt that they came with; null after it was deleted, and for other kinds.';
comment on column api_unstable.batch_origins.supplier_order_numbers is
  E'@notNull\n@requiresScopes allOf: supplier_orders:read goods_receipts:read\n'
  'Numbers of the supplier orders that the lines of the goods receipt with this batch deliver.';
--! EndIncluded api/batch_origins.sql
--! Included api/batch_removals.sql
drop type if exists api_unstable.batch_removal_kind cascade;
create type api_unstable.batch_removal_kind as enum (
  'Disposal', 'ReturnToSupplier', 'Import', 'Correction', 'Other'
);
comment on type api_unstable.batch_removal_kind is
  E'\n'
  '@value Disposal They were thrown away at a goods receipt.\n'
  '@value ReturnToSupplier They went back by a negative line of a goods receipt.\n'
  '@value Import They were removed by an import of stock.\n'
  '@value Correction They were missing at a count, or somebody removed them.\n'
  '@value Other They left in another way; the movement says more.\n'
  'How units of a batch left the ledger without an order.';

-- Has no list of all, as its rows are found by their batch.
create view api_unstable.batch_removals with (security_invoker = true) as
select b.stock_movement_id, b.batch_id, b.quantity, m.created_at as moved_at,
  coalesce(case
    when m.source_location_type_technical_name = 'goods_receipt' and m.special = 'stock_correction'
      then 'Disposal'
    when m.source_location_type_technical_name = 'goods_receipt' then 'ReturnToSupplier'
    when m.special = 'import' then 'Import'
    when m.special in ('stock_correction', 'count_correction') then 'Correction'
    end::api_unstable.batch_removal_kind, 'Other') as kind,
  m.source_goods_receipt_id as goods_receipt_id
from ledger.stock_movement_batch b
cross join lateral (
  select m.*, m.destination_special_stock_location_technical_name as special from ledger.stock_movement m
  where m.id = b.stock_movement_id and m.destination_location_type_technical_name = 'special_stock_location'
  offset 0
) m;
comment on view api_unstable.batch_removals is
  E'@primaryKey stock_movement_id,batch_id\n'
  '@requiresScopes allOf: stocks:read batches:read\n'
  '@behavior -query:resource:list -query:resource:connection\n'
  '@hidden stock_movement_id,batch_id\n'
  '@foreignKey (stock_movement_id) references stock_movements (id)|@fieldName stockMovement\n'
  '@foreignKey (batch_id) references batches (id)|@fieldName batch|@foreignFieldName removals\n'
  '@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName goodsReceipt\n'
  'Units of a batch that left the ledger by one movement, and not for an order.';
comment on column api_unstable.batch_removals.moved_at is E'@notNull\nWhen they left.';
comment on column api_unstable.batch_removals.kind is E'@notNull\nHow they left.';
comment on column api_unstable.batch_removals.goods_receipt_id is
  'Goods receipt that they left by; null after it was deleted, and for other kinds.';
--! EndIncluded api/batch_removals.sql
--! Included api/stock_adjust.sql
drop type if exists api_unstable.stock_adjust_input cascade;
drop type if exists api_unstable.stock_adjust_line_input cascade;
create type api_unstable.stock_adjust_line_input as (
  product_id uuid, place api_unstable.stock_place_input, delta integer, batch_id uuid,
    expected_quantity integer
);
comment on type api_unstable.stock_adjust_line_input is 'How the stock of a product in a place changes.';
comment on column api_unstable.stock_adjust_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_adjust_line_input.place is
  E'@notNull\n'
  'Place of the stock.';
comment on column api_unstable.stock_adjust_line_input.delta is
  E'@notNull\nUnits that come in; negative for units that go out. Not 0.';
comment on column api_unstable.stock_adjust_line_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
comment on column api_unstable.stock_adjust_line_input.expected_quantity is
  'Units that the caller believes to be there before. When there are others, nothing is booked: '
  'QUANTITY_CHANGED.';

create type api_unstable.stock_adjust_input as (
  lines api_unstable.stock_adjust_line_input[], comment text, reference text, reason text,
    process_type text
);
comment on type api_unstable.stock_adjust_input is 'Units that come in and go out.';
comment on column api_unstable.stock_adjust_input.lines is
  E'@notNull\n'
  'The changes; 1 to 250 lines. Several lines may have the same product and place.';
comment on column api_unstable.stock_adjust_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';
comment on column api_unstable.stock_adjust_input.reference is
  'The caller''s own reference, such as the number of a stocktake, of at most 255 characters. '
  'stockBookings can be filtered by it.';
comment on column api_unstable.stock_adjust_input.reason is
  'Code of one of stockBookingReasons. The merchant may require a reason.';
comment on column api_unstable.stock_adjust_input.process_type is
  'Technical name of the process that books the lines, such as incoming or outgoing. It must fit units '
  'that come in, if there are any, and units that go out. By default api_incoming and api_outgoing. A '
  'refusal lists those that fit.';

create function api_unstable.stock_adjust(input api_unstable.stock_adjust_input)
returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.adjust_stock(array(
    select row (
      l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null, l.delta, l.batch_id,
      l.expected_quantity, null, (l.place).stock_container_id, null
    )::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment, input.reference, input.reason, input.process_type) b
$$;
comment on function api_unstable.stock_adjust(api_unstable.stock_adjust_input) is
  E'@requiresScopes stocks:write\n'
  '@together product_id\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED '
  'QUANTITY_CHANGED INSUFFICIENT_STOCK PRODUCT_HAS_VARIANTS SERIAL_NUMBER_IN_STOCK PICKED_FOR_ORDER\n'
  '@warnings STOCK_PROMISED\n'
  'Adds units to stock or takes them away, against the special place stock_correction, by the processes '
  'api_incoming and api_outgoing unless another is named. All lines are booked, or none; '
  'whether there is enough is asked of all lines together.';
--! EndIncluded api/stock_adjust.sql
--! Included api/stock_set.sql
drop type if exists api_unstable.stock_set_input cascade;
drop type if exists api_unstable.stock_set_line_input cascade;
create type api_unstable.stock_set_line_input as (
  product_id uuid, place api_unstable.stock_place_input, quantity integer, batch_id uuid,
    expected_quantity integer, counted_at timestamptz
);
comment on type api_unstable.stock_set_line_input is 'The stock that a product has in a place.';
comment on column api_unstable.stock_set_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_set_line_input.place is
  E'@notNull\n'
  'Place of the stock.';
comment on column api_unstable.stock_set_line_input.quantity is
  E'@notNull\nUnits that are there; not negative.';
comment on column api_unstable.stock_set_line_input.batch_id is
  E'@gid Batch\n'
  'Id of the batch that was counted. The line then sets the stock of this batch only. Needed for '
  'products that are kept in batches.';
comment on column api_unstable.stock_set_line_input.expected_quantity is
  'Units that the caller believes to be there now. When there are others, nothing is booked: '
  'QUANTITY_CHANGED.';
comment on column api_unstable.stock_set_line_input.counted_at is
  'When the quantity was counted, to the microsecond; a time without decimals is the beginning of its '
  'second. Later movements are added: the stock becomes the quantity plus all later movements, except '
  'corrections by other counts. Counts may arrive late, in any order, and more than once. A count that '
  'is older than another one of the same stock is kept and changes nothing; the warning '
  'COUNT_SUPERSEDED reports it. Of two counts of the same time, the one that arrives later is valid. By '
  'default the quantity was counted now.';

create type api_unstable.stock_set_input as (
  lines api_unstable.stock_set_line_input[], comment text, reference text, reason text,
    process_type text
);
comment on type api_unstable.stock_set_input is 'Stock as it was counted.';
comment on column api_unstable.stock_set_input.lines is
  E'@notNull\nOne line for each product, place and batch; 1 to 250.';
comment on column api_unstable.stock_set_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';
comment on column api_unstable.stock_set_input.reference is
  'The caller''s own reference, such as the number of a stocktake, of at most 255 characters. '
  'stockBookings can be filtered by it.';
comment on column api_unstable.stock_set_input.reason is
  'Code of one of stockBookingReasons. The merchant may require a reason.';
comment on column api_unstable.stock_set_input.process_type is
  'Technical name of the process that books the differences, such as stocktaking. It must be one for '
  'counts; by default api. A refusal lists those that fit.';

create function api_unstable.stock_set(input api_unstable.stock_set_input) returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.set_stock(array(
    select row (l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null,
      l.quantity, l.batch_id, l.expected_quantity, l.counted_at,
      (l.place).stock_container_id, null)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment, input.reference, input.reason, coalesce(input.process_type, 'api')) b
$$;
comment on function api_unstable.stock_set(api_unstable.stock_set_input) is
  E'@requiresScopes stocks:write\n'
  '@together product_id\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_UNIQUE NOT_FOUND BATCH_MISMATCH '
  'BATCH_REQUIRED QUANTITY_CHANGED INSUFFICIENT_STOCK PRODUCT_HAS_VARIANTS SERIAL_NUMBER_IN_STOCK '
  'PICKED_FOR_ORDER\n'
  '@warnings COUNT_SUPERSEDED STOCK_PROMISED\n'
  'Sets stock to what is there, as after a count: books each difference between what the books say and '
  'the line, against the special place stock_correction, by the process api. A count by another process '
  'than api or stocktaking is booked against count_correction. All lines are booked, or none.';
--! EndIncluded api/stock_set.sql
--! Included api/stock_transfer.sql
drop type if exists api_unstable.stock_transfer_input cascade;
drop type if exists api_unstable.stock_transfer_line_input cascade;
create type api_unstable.stock_transfer_line_input as (
  product_id uuid, source api_unstable.stock_place_input, destination api_unstable.stock_place_input,
    quantity integer, batch_id uuid,
  expected_quantity integer
);
comment on type api_unstable.stock_transfer_line_input is 'Units that move from one place to another.';
comment on column api_unstable.stock_transfer_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_transfer_line_input.source is
  E'@notNull\n'
  'Place that the units are taken from.';
comment on column api_unstable.stock_transfer_line_input.destination is
  E'@notNull\n'
  'Place that the units go to.';
comment on column api_unstable.stock_transfer_line_input.quantity is
  E'@notNull\nUnits that move; at least 1.';
comment on column api_unstable.stock_transfer_line_input.batch_id is
  E'@gid Batch\nId of the batch that the units belong to. Needed for products that are kept in batches.';
comment on column api_unstable.stock_transfer_line_input.expected_quantity is
  'Units that the caller believes to be in the source before. When there are others, nothing is booked: '
  'QUANTITY_CHANGED.';

create type api_unstable.stock_transfer_input as (
  lines api_unstable.stock_transfer_line_input[], comment text, reference text, reason text,
    process_type text
);
comment on type api_unstable.stock_transfer_input is 'Units that move within the warehouses.';
comment on column api_unstable.stock_transfer_input.lines is
  E'@notNull\n'
  'The transfers; 1 to 250 lines.';
comment on column api_unstable.stock_transfer_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';
comment on column api_unstable.stock_transfer_input.reference is
  'The caller''s own reference, such as the number of a stocktake, of at most 255 characters. '
  'stockBookings can be filtered by it.';
comment on column api_unstable.stock_transfer_input.reason is
  'Code of one of stockBookingReasons. The merchant may require a reason.';
comment on column api_unstable.stock_transfer_input.process_type is
  'Technical name of the process that books the lines, such as relocation. It must be one for '
  'transfers; by default api_relocation. A refusal lists those that fit.';

create function api_unstable.stock_transfer(input api_unstable.stock_transfer_input)
returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.transfer_stock(array(
    select row (l.product_id, (l.source).warehouse_id, (l.source).bin_location_id,
      (l.destination).warehouse_id, (l.destination).bin_location_id,
      l.quantity, l.batch_id, l.expected_quantity, null,
      (l.source).stock_container_id, (l.destination).stock_container_id)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment, input.reference, input.reason, input.process_type) b
$$;
comment on function api_unstable.stock_transfer(api_unstable.stock_transfer_input) is
  E'@requiresScopes stocks:write\n'
  '@together product_id\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED '
  'QUANTITY_CHANGED INSUFFICIENT_STOCK PICKED_FOR_ORDER\n'
  '@warnings STOCK_PROMISED PRODUCT_HAS_VARIANTS\n'
  'Moves units between warehouses, bins and containers, by the process api_relocation unless another is '
  'named. All lines are booked, or none; whether there is enough is asked of all lines together.';
--! EndIncluded api/stock_transfer.sql
--! Included api/order_shipment_complete.sql
drop type if exists api_unstable.order_shipment_complete_payload cascade;
create type api_unstable.order_shipment_complete_payload as (
  "order" uuid, fulfillments uuid[], fulfillment_orders uuid[], stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.order_shipment_complete_payload is 'The result of shipping an order.';
comment on column api_unstable.order_shipment_complete_payload."order" is
  E'@entity Order\nThe order as it is now; null when it was refused.';
comment on column api_unstable.order_shipment_complete_payload.fulfillments is
  E'@entity Fulfillment\nThe record of what was shipped.';
comment on column api_unstable.order_shipment_complete_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\n'
  'The fulfillment orders that were fulfilled, those that were made for the purpose included.';
comment on column api_unstable.order_shipment_complete_payload.stock_movements is
  E'@entity StockMovement\n'
  'The movements that took the units to the order, in the order in which they were picked.';
comment on column api_unstable.order_shipment_complete_payload.documents is
  E'@entity Document\n'
  '@perLine documents\n'
  'The documents that were created, in the order of the input.';
comment on column api_unstable.order_shipment_complete_payload.user_errors is
  'Why nothing was shipped; empty when all was.';
comment on column api_unstable.order_shipment_complete_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.order_shipment_complete_input cascade;
create type api_unstable.order_shipment_complete_input as (
  order_id uuid, warehouse_id uuid, tracking_codes text[], documents text[], comment text,
    process_type text
);
comment on type api_unstable.order_shipment_complete_input is 'An order to ship.';
comment on column api_unstable.order_shipment_complete_input.order_id is
  E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.order_shipment_complete_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that ships what no open fulfillment order has. Left out, the sourcing rules '
  'decide, and without rules it is the default warehouse. What was called off there, by cancelling a '
  'fulfillment order, is shipped by another warehouse that has all of it.';
comment on column api_unstable.order_shipment_complete_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.order_shipment_complete_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice '
  'over all that was shipped of the order and that no other invoice charges. Others, and what was shipped '
  'without, are made by documentCreate.';
comment on column api_unstable.order_shipment_complete_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';
comment on column api_unstable.order_shipment_complete_input.process_type is
  'Technical name of the process that books the units out, such as shipping or shipped_automatically. It '
  'must be one for shipments; by default api_shipping. A refusal lists those that fit.';

create function api_unstable.order_shipment_complete(input api_unstable.order_shipment_complete_input)
returns api_unstable.order_shipment_complete_payload
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  done constant erp.shipment := erp.complete_shipment(
    input.order_id, input.tracking_codes, input.documents, input.comment, input.warehouse_id,
    input.process_type
  );
begin
  return row (done.order_id, done.fulfillments, done.fulfillment_orders, done.stock_movements,
    erp.create_documents(done.order_id, input.documents, done.fulfillments[1]),
    null, null)::api_unstable.order_shipment_complete_payload;
end
$$;
comment on function api_unstable.order_shipment_complete(api_unstable.order_shipment_complete_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES INVALID_STATE_TRANSITION '
  'ON_HOLD EXTERNALLY_MANAGED INSUFFICIENT_STOCK OVER_FULFILLMENT BATCH_REQUIRED '
  'SOURCING_PLAN_INVALID\n'
  '@warnings DOCUMENT_INCOMPLETE DOCUMENT_NOT_MADE\n'
  'Ships everything that is still open of an order. Open fulfillment orders are shipped from the '
  'warehouse of their location. Everything else is shipped from the named warehouse, or as the '
  'sourcing rules say. The default warehouse ships the units that the rules leave, and all without '
  'rules. Units that were cancelled there are shipped by another warehouse that has all of '
  'them. Units are picked in the pick order of their product; batches on hold, expired ones and those '
  'short of the promised shelf life are left out. Books them out by the process '
  'api_shipping, records the fulfillment, closes the fulfillment orders, and brings the states of the '
  'order up to date. What is fulfilled externally is left alone. All of it is shipped, or nothing. An '
  'order that has nothing left to ship, as one of services alone, is only completed.';
--! EndIncluded api/order_shipment_complete.sql
--! Included api/fulfillment_create.sql
drop type if exists api_unstable.fulfillment_create_payload cascade;
create type api_unstable.fulfillment_create_payload as (
  fulfillment uuid, fulfillment_order uuid, stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_create_payload is 'The result of shipping from a fulfillment order.';
comment on column api_unstable.fulfillment_create_payload.fulfillment is
  E'@entity Fulfillment\nThe record of what was shipped; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.fulfillment_order is
  E'@entity FulfillmentOrder\nThe fulfillment order as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_create_payload.stock_movements is
  E'@entity StockMovement\n'
  'The movements that took the units to the order: first those from places that were named, then those '
  'that were picked.';
comment on column api_unstable.fulfillment_create_payload.documents is
  E'@entity Document\n'
  'The documents that were created, in the order of the input.';
comment on column api_unstable.fulfillment_create_payload.user_errors is
  'Why nothing was shipped; empty when it was.';
comment on column api_unstable.fulfillment_create_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.fulfillment_create_input cascade;
drop type if exists api_unstable.fulfillment_create_line_input cascade;
drop type if exists api_unstable.fulfillment_create_place_input cascade;
create type api_unstable.fulfillment_create_place_input
  as (place api_unstable.stock_place_input, quantity integer, batch_id uuid);
comment on type api_unstable.fulfillment_create_place_input is 'Units that are taken from a place.';
comment on column api_unstable.fulfillment_create_place_input.place is
  E'@notNull\n'
  'The place of the units: the warehouse of the fulfillment order, or one of its bins.';
comment on column api_unstable.fulfillment_create_place_input.quantity is E'@notNull\nHow many; at least 1.';
comment on column api_unstable.fulfillment_create_place_input.batch_id is
  E'@gid Batch\n'
  'Id of the batch that the units belong to. Needed for products that are kept in batches. An expired batch '
  'is refused.';

create type api_unstable.fulfillment_create_line_input as (
  fulfillment_order_line_item_id uuid, quantity integer, places api_unstable.fulfillment_create_place_input[]
);
comment on type api_unstable.fulfillment_create_line_input is 'Units of one line that are shipped.';
comment on column api_unstable.fulfillment_create_line_input.fulfillment_order_line_item_id is
  E'@notNull\n@gid FulfillmentOrderLineItem\nId of the line of the fulfillment order.';
comment on column api_unstable.fulfillment_create_line_input.quantity is
  E'@notNull\nHow many; at least 1, and no more than are open.';
comment on column api_unstable.fulfillment_create_line_input.places is
  'Places that the units are taken from; together they have the whole quantity. By default the service '
  'picks in the pick order of the product. Then it leaves out batches that are on hold, have expired or are '
  'short of the promised shelf life.';

create type api_unstable.fulfillment_create_input as (
  fulfillment_order_id uuid, lines api_unstable.fulfillment_create_line_input[], tracking_codes text[],
    documents text[], comment text,
    process_type text
);
comment on type api_unstable.fulfillment_create_input is 'The lines of a fulfillment order that are shipped.';
comment on column api_unstable.fulfillment_create_input.fulfillment_order_id is
  E'@notNull\n@gid FulfillmentOrder\nId of the fulfillment order.';
comment on column api_unstable.fulfillment_create_input.lines is
  '1 to 250 lines, each of another line of the fulfillment order. Left out, all that is open is shipped.';
comment on column api_unstable.fulfillment_create_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.fulfillment_create_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice '
  'over all that was shipped of the order and that no other invoice charges. Others, and what was shipped '
  'without, are made by documentCreate.';
comment on column api_unstable.fulfillment_create_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';
comment on column api_unstable.fulfillment_create_input.process_type is
  'Technical name of the process that books the units out, such as shipping or shipped_automatically. It '
  'must be one for shipments; by default api_shipping. A refusal lists those that fit.';

create function api_unstable.fulfillment_create(input api_unstable.fulfillment_create_input)
returns api_unstable.fulfillment_create_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders[1], s.stock_movements,
    erp.create_documents(s.order_id, input.documents, s.fulfillments[1]),
    null, null)::api_unstable.fulfillment_create_payload
  from erp.create_fulfillment(
    input.fulfillment_order_id,
    case when input.lines is not null then array(
      select row (l.fulfillment_order_line_item_id, l.quantity)::erp.shipping_line
      from unnest(input.lines) with ordinality l
      order by l.ordinality
    ) end,
    array(
      select row (
        l.ordinality, p.ordinality,
        case when (p.place).stock_container_id is null then (p.place).warehouse_id end,
        case when (p.place).stock_container_id is null then (p.place).bin_location_id end,
        p.quantity, p.batch_id
      )::erp.shipping_place
      from unnest(input.lines) with ordinality l
      cross join unnest(l.places) with ordinality p
      order by l.ordinality, p.ordinality
    ),
    input.tracking_codes, input.comment, input.documents, input.process_type
  ) s
$$;
comment on function api_unstable.fulfillment_create(api_unstable.fulfillment_create_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED ON_HOLD INVALID_STATE_TRANSITION OVER_FULFILLMENT '
  'INSUFFICIENT_STOCK REQUIRED INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES BATCH_MISMATCH BATCH_HELD '
  'BIN_NOT_SELLABLE BATCH_EXPIRED BATCH_REQUIRED\n'
  '@warnings DOCUMENT_INCOMPLETE DOCUMENT_NOT_MADE\n'
  'Ships a part of a fulfillment order, or all that is open of it. Books the units out by the process '
  'api_shipping and records the fulfillment. The fulfillment order is in progress then, and closed when '
  'nothing is open any more; the states of the order follow.';
--! EndIncluded api/fulfillment_create.sql

-- Packs of suppliers
alter table erp.product_supplier_configuration drop column if exists units_per_pack cascade;
alter table erp.product_supplier_configuration add column units_per_pack integer;
alter table erp.product_supplier_configuration add constraint product_supplier_units_per_pack_are_positive
  check (units_per_pack > 0) not valid;
comment on column erp.product_supplier_configuration.units_per_pack is
  'Units of the product in a pack of the supplier; null when it sells single units.';
comment on constraint product_supplier_units_per_pack_are_positive on erp.product_supplier_configuration is
  E'@userError OUT_OF_RANGE units_per_pack\nA pack has at least 1 unit.';
select api_meta.allow('service_writer', 'erp.product_supplier_configuration', 'update (units_per_pack)');

-- Rows of files that book
select api_meta.allow('service_writer', 'ledger.booking', 'select');
--! Included erp/goods_receipt_process.sql
create or replace function erp.goods_receipt_process(type text) returns text
language sql stable parallel safe
return coalesce(nullif(current_setting('service.receipt_process', true), ''), case type
  when 'Supplier' then 'supplier_order'
  when 'Customer' then 'return_order'
  else 'free_goods_receipt' end);
comment on function erp.goods_receipt_process(text) is
  'Returns the process type of the movements of a goods receipt, by its type. While a file is imported, it '
  'is the process in the setting service.receipt_process.';
grant execute on function erp.goods_receipt_process(text) to service_writer;
--! EndIncluded erp/goods_receipt_process.sql
--! Included erp/create_goods_receipt.sql
create or replace function erp.create_goods_receipt(
  given jsonb, lines erp.goods_receipt_line[], supplier_order_ids uuid[]
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made erp.goods_receipt := jsonb_populate_record(null::erp.goods_receipt, given - 'currency_factor');
  wanted_lines constant erp.goods_receipt_line[] := coalesce(lines, '{}');
  orders uuid[];
begin
  made.type := coalesce(made.type, erp.receipt_type(made, wanted_lines, supplier_order_ids));
  made.warehouse_id := coalesce(
    made.warehouse_id, (select w.id from erp.warehouse w where w.is_default_receiving)
  );
  if made.type <> 'Supplier' and supplier_order_ids <> '{}' then
    perform mutation.refuse(
      'INVALID', 'Only receipts of type Supplier deliver supplier orders.', '{supplier_order_ids}'
    );
  end if;
  if exists (
    select from unnest(supplier_order_ids) i
    where not exists (select from erp.supplier_order o where o.id = i)
  ) then
    perform mutation.refuse_missing('supplier order', '{supplier_order_ids}');
  end if;
  -- The supplier orders give supplier, currency and tax status, unless the input does
  orders := case
    when made.type = 'Supplier' then erp.lock_orders_named(wanted_lines, supplier_order_ids)
    else '{}' end;
  made := erp.with_orders(made, orders);
  perform erp.check_goods_receipt(made);
  perform erp.check_receipt_suppliers(made, wanted_lines, supplier_order_ids);
  made := erp.with_currency_factor(made, (given ->> 'currency_factor')::numeric);
  -- A file may have brought a number that the range comes to only now
  while made.number is null
    or not given ? 'number' and exists (select from erp.goods_receipt r where r.number = made.number)
  loop
    made.number := erp.next_number('goods_receipt');
  end loop;
  insert into erp.goods_receipt (number, type, state, warehouse_id, supplier_id, customer_id, currency_id,
    currency_factor,
    currency_factor_origin_type, currency_factor_origin_source, currency_factor_reference_date,
      currency_factor_captured_at, tax_status, comment)
  values (made.number, made.type,
    case when (given ->> 'is_draft')::boolean then 'draft' else 'created' end,
    made.warehouse_id, made.supplier_id, made.customer_id, made.currency_id, made.currency_factor,
      made.currency_factor_origin_type,
    made.currency_factor_origin_source, made.currency_factor_reference_date, made.currency_factor_captured_at,
      made.tax_status, made.comment)
  returning * into made;
  insert into erp.goods_receipt_supplier_order (goods_receipt_id, supplier_order_id) select distinct made.id,
    i
  from unnest(supplier_order_ids) i;
  perform erp.set_goods_receipt_lines(made, wanted_lines);
  return made.id;
end
$$;
comment on function erp.create_goods_receipt(jsonb, erp.goods_receipt_line[], uuid[]) is
  'Creates a goods receipt from the columns in the object (is_draft: as a draft), its lines, and the '
  'supplier orders that it delivers. Omitted values of type, supplier, currency and tax status follow from '
  'the orders that it and its lines name. Returns its id.';
grant execute on function erp.create_goods_receipt(jsonb, erp.goods_receipt_line[], uuid[]) to service_writer;
--! EndIncluded erp/create_goods_receipt.sql
--! Included erp/import_stocks.sql
create or replace function erp.stock_row(given jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_build_object('product_id', p.id, 'quantity', coalesce(given -> 'quantity', given -> 'delta'),
    'source_warehouse_id', coalesce(given #>> '{place,warehouse_id}',
      case when given ->> 'bin_location_code' is null then w.id::text end),
    'source_bin_location_id', coalesce(given #>> '{place,bin_location_id}', (
      select b.id::text from erp.bin_location b
      where b.warehouse_id = w.id and b.code = given ->> 'bin_location_code')),
    'source_stock_container_id', given #>> '{place,stock_container_id}',
    'batch_id', coalesce(given ->> 'batch_id', (
      select b.id::text from erp.batch b
      where b.product_id = p.id and b.number = given ->> 'batch_number')),
    'counted_at', given ->> 'counted_at')
  from (
    select case when given ->> 'product_id' is null
      then (select p.id from erp.product p where p.product_number = given ->> 'product_number')
      else (select p.id from erp.product p where p.id = (given ->> 'product_id')::uuid) end
  ) p (id)
  cross join lateral (
    select (select w.id from erp.warehouse w where w.code = given ->> 'warehouse_code')
  ) w (id);
end;
comment on function erp.stock_row(jsonb) is
  'Returns a row of an import of stock as an object with the fields of ledger.line. Products, places and '
  'batches that it names by number or code are looked up.';
grant execute on function erp.stock_row(jsonb) to service_writer;

create or replace function erp.faults_of_stocks(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with stock as (
    select u.line, u.given g, u.wanted w, num_nonnulls(u.wanted ->> 'source_warehouse_id',
        u.wanted ->> 'source_bin_location_id', u.wanted ->> 'source_stock_container_id') as places,
      row_number() over (partition by u.given ->> 'reference', u.given ? 'delta' order by u.line) as nth,
      row_number() over (
        partition by u.wanted - '{quantity,counted_at}'::text[], u.given ? 'quantity' order by u.line
      ) as nth_there
    from unnest(rows) u
  )
  select array_agg(row (f.line, f.code, f.message, array[f.field], null)::mutation.row_fault)
  from (
    select s.line, case when s.g ?| '{product_id,product_number}' then 'NOT_FOUND' else 'REQUIRED' end,
      case when s.g ?| '{product_id,product_number}' then 'There is no such product.'
        else 'A row needs a product.' end,
      case when s.g ->> 'product_id' is null then 'product_number' else 'product_id' end
    from stock s where s.w ->> 'product_id' is null
    union all
    select s.line, 'INVALID', 'Name the place by its id or by codes.', 'place'
    from stock s where s.g ->> 'place' is not null and s.g ->> 'warehouse_code' is not null
    union all
    select s.line, 'REQUIRED', 'A row needs a place: an id, or the code of a warehouse.', 'place'
    from stock s where s.places = 0 and s.g ->> 'warehouse_code' is null
    union all
    select s.line, 'NOT_FOUND', 'There is no such place.',
      case when s.g ->> 'bin_location_code' is null then 'warehouse_code' else 'bin_location_code' end
    from stock s where s.places = 0 and s.g ->> 'warehouse_code' is not null
    union all
    select s.line, 'NOT_FOUND', 'The product has no batch with this number.', 'batch_number'
    from stock s where s.w ->> 'batch_id' is null and s.g ->> 'batch_number' is not null
    union all
    select s.line, 'INVALID', 'A row has either a counted quantity or a delta.', 'quantity'
    from stock s where num_nonnulls(s.g ->> 'quantity', s.g ->> 'delta') <> 1
    union all
    select s.line, 'REQUIRED', 'A count needs its time, so that it counts once.', 'counted_at'
    from stock s where s.g ->> 'quantity' is not null and s.g ->> 'counted_at' is null
    union all
    select s.line, 'REQUIRED', 'A change needs a reference of its own, so that it is booked once.',
      'reference'
    from stock s where s.g ->> 'delta' is not null and erp.is_blank(coalesce(s.g ->> 'reference', ''))
    union all
    select s.line, 'NOT_UNIQUE', 'An earlier row has this reference.', 'reference'
    from stock s where s.g ->> 'delta' is not null and s.nth > 1
    union all
    select s.line, 'NOT_UNIQUE', 'An earlier row counts the same stock.', 'quantity'
    from stock s where s.g ->> 'quantity' is not null and s.nth_there > 1
  ) f (line, code, message, field);
end;
comment on function erp.faults_of_stocks(mutation.upsert_row[]) is
  'Returns what is wrong with rows of an import of stock, before anything is booked.';
grant execute on function erp.faults_of_stocks(mutation.upsert_row[]) to service_writer;

create or replace function erp.about_rows(faults jsonb, list text, nths bigint[]) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_agg(f.fault || jsonb_build_object('field', case when f.fault -> 'field' ->> 0 = 'lines'
    then jsonb_build_array(list, (nths[(f.fault -> 'field' ->> 1)::integer + 1] - 1)::text)
      || ((f.fault -> 'field') - 0 - 0)
    else jsonb_build_array(list, (nths[1] - 1)::text) || case when f.fault -> 'field' <> '["id"]'
      then coalesce(nullif(f.fault -> 'field', 'null'), '[]') else '[]' end end) order by f.n)
  from jsonb_array_elements(faults) with ordinality f (fault, n);
end;
comment on function erp.about_rows(jsonb, text, bigint[]) is
  'Returns user errors of a call that a mutation of many rows made for these rows: they name the row in the '
  'list, and the field in it.';
grant execute on function erp.about_rows(jsonb, text, bigint[]) to service_writer;

create or replace function erp.booked_stocks(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, u.id, u.is_new and m.id is null, u.given, u.present, u.wanted, false,
    coalesce(u.errors, case when m.is_other then jsonb_build_array(mutation.user_error('NOT_UNIQUE',
      'An earlier import booked something else by this reference.',
      mutation.path('stocks', u.line, 'reference'))) end))::mutation.upsert_row order by u.line)
  from unnest(rows) u
  left join lateral (
    select m.id, (u.wanted ->> 'product_id')::uuid <> m.product_id
        or (u.wanted ->> 'quantity')::integer * d.direction <> m.quantity
        or d.place is distinct from coalesce(u.wanted ->> 'source_warehouse_id',
          u.wanted ->> 'source_bin_location_id', u.wanted ->> 'source_stock_container_id') as is_other
    from ledger.booking b join ledger.stock_movement m on m.id = b.id
    cross join lateral (
      select case when m.source_location_type_technical_name = 'special_stock_location'
        then 1 else - 1 end, coalesce(m.source_warehouse_id, m.source_bin_location_id,
        m.source_stock_container_id, m.destination_warehouse_id, m.destination_bin_location_id,
        m.destination_stock_container_id)::text
    ) d (direction, place)
    where u.given ->> 'delta' is not null and b.reference = u.given ->> 'reference'
      and m.process_type_technical_name in ('csv_import_incoming', 'csv_import_outgoing')
    limit 1
  ) m on true;
end;
comment on function erp.booked_stocks(mutation.upsert_row[]) is
  'Returns rows of an import of stock; changes that an earlier import has booked are no longer new. One '
  'whose reference stands for something else is refused.';
grant execute on function erp.booked_stocks(mutation.upsert_row[]) to service_writer;

create or replace function erp.import_stocks(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  earlier constant jsonb := mutation.warnings();
  rows mutation.upsert_row[];
  changed uuid[] := '{}';
  call record;
begin
  if coalesce(jsonb_array_length(given), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'There must be at least one row.', '{stocks}');
  end if;
  perform mutation.refuse_too_many(jsonb_array_length(given), 250, '{stocks}');
  -- Nobody else books the same references meanwhile
  perform pg_advisory_xact_lock(hashtextextended('erp.import_stocks', 0));
  rows := array(
    select row (e.n, uuidv7(), jsonb_typeof(e.row -> 'delta') = 'number', e.row, null, erp.stock_row(e.row),
      false, null)::mutation.upsert_row
    from jsonb_array_elements(given) with ordinality e (row, n) order by e.n);
  rows := mutation.with_faults(rows, 'stocks', erp.faults_of_stocks(rows));
  rows := erp.booked_stocks(rows);
  perform mutation.require_rows(rows, partial);
  -- All at once, because the calls below come in the order of the file
  perform ledger.lock(
    array(select (u.wanted ->> 'product_id')::uuid from unnest(rows) u where u.errors is null),
    array(select (u.wanted ->> 'source_warehouse_id')::uuid from unnest(rows) u where u.errors is null),
    array(select (u.wanted ->> 'source_bin_location_id')::uuid from unnest(rows) u where u.errors is null),
    array(
      select (u.wanted ->> 'source_stock_container_id')::uuid from unnest(rows) u where u.errors is null));
  for call in
    select array_agg(u.line order by u.line) as nths, array_agg(u.id order by u.line) as ids,
      array_agg(jsonb_populate_record(null::ledger.line, u.wanted) order by u.line) as lines, u.is_new,
      u.given ->> 'reference' as reference, u.given ->> 'reason' as reason, u.given ->> 'comment' as note
    from unnest(rows) u
    where u.errors is null and (u.is_new or u.given ->> 'quantity' is not null)
    group by u.is_new, u.given ->> 'reference', u.given ->> 'reason', u.given ->> 'comment'
    order by min(u.line)
  loop
    changed := changed || erp.import_stock(call.lines, call.nths, call.ids, call.is_new, call.note,
      call.reference, call.reason);
  end loop;
  -- They name lines of these calls
  perform set_config('service.warnings', earlier::text, true);
  return mutation.with_changes(rows, changed);
end
$$;
comment on function erp.import_stocks(jsonb, boolean) is
  'Books rows of a file: counts, and changes with a reference of their own, by csv_import_incoming and '
  'csv_import_outgoing. A repeated row books nothing. Rows that name something unknown are refused each; '
  'what the ledger refuses ends the call. Returns the outcome of each row.';
select api_meta.plan_by_index('erp.import_stocks(jsonb, boolean)');
grant execute on function erp.import_stocks(jsonb, boolean) to service_writer;

create or replace function erp.import_stock(lines ledger.line[], nths bigint[], ids uuid[],
  is_change boolean, note text, reference text, reason text)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  faults text;
  booked ledger.booked;
begin
  begin
    if is_change then
      booked := ledger.adjust_stock(lines, note, reference, reason,
        case when lines[1].quantity > 0 then 'csv_import_incoming' else 'csv_import_outgoing' end);
      return ids;
    end if;
    booked := ledger.set_stock(lines, note, reference, reason, 'csv_import_incoming', 'csv_import_outgoing');
  exception when sqlstate 'UE001' then
    get stacked diagnostics faults = pg_exception_detail;
    perform mutation.refuse(erp.about_rows(faults::jsonb, 'stocks', nths));
  end;
  return array(
    select ids[l.ordinality] from unnest(lines) with ordinality l
    where exists (
      select from ledger.flow f
      left join ledger.stock_movement_batch b on b.stock_movement_id = f.movement_id
      where f.movement_id = any (booked.stock_movements) and f.product_id = l.product_id
        and f.place = coalesce(to_jsonb(l) ->> 'source_warehouse_id',
          to_jsonb(l) ->> 'source_bin_location_id', to_jsonb(l) ->> 'source_stock_container_id')
        and b.batch_id is not distinct from l.batch_id
    )
  );
end
$$;
comment on function erp.import_stock(ledger.line[], bigint[], uuid[], boolean, text, text, text) is
  'Books rows of an import of stock in one call: a change, or counts. Returns the ids whose row booked '
  'something.';
grant execute on function erp.import_stock(ledger.line[], bigint[], uuid[], boolean, text, text, text)
  to service_writer;
--! EndIncluded erp/import_stocks.sql
--! Included erp/import_goods_receipts.sql
create or replace function erp.receipt_row(given jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_build_object('number', given ->> 'number', 'comment', given ->> 'comment',
    'warehouse_id', coalesce(given ->> 'warehouse_id', w.id::text),
    'supplier_id', coalesce(given ->> 'supplier_id', (
      select s.id::text from erp.supplier s where s.number = given ->> 'supplier_number')),
    'currency_id', given ->> 'currency_id', 'tax_status', given ->> 'tax_status',
    'line_items', (
      select jsonb_agg(l.line || jsonb_build_object(
        'product_id', coalesce(l.line ->> 'product_id', (
          select p.id::text from erp.product p where p.product_number = l.line ->> 'product_number')),
        'supplier_order_id', (
          select o.id from erp.supplier_order o where o.number = l.line ->> 'supplier_order_number'),
        'destination_bin_location_id', (
          select b.id from erp.bin_location b
          where b.warehouse_id = w.id and b.code = l.line ->> 'bin_location_code')) order by l.n)
      from jsonb_array_elements(nullif(given -> 'line_items', 'null')) with ordinality l (line, n)))
  from (
    select coalesce((given ->> 'warehouse_id')::uuid,
      (select x.id from erp.warehouse x where x.code = given ->> 'warehouse_code'),
      case when given ->> 'warehouse_code' is null
        then (select x.id from erp.warehouse x where x.is_default_receiving) end)
  ) w (id);
end;
comment on function erp.receipt_row(jsonb) is
  'Returns a row of an import of goods receipts with the ids of what it names by number or code.';
grant execute on function erp.receipt_row(jsonb) to service_writer;

create or replace function erp.faults_of_receipts(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with receipt as (
    select u.line, u.given g, u.wanted w,
      row_number() over (partition by u.given ->> 'number' order by u.line) as nth
    from unnest(rows) u
  ),
  item as (
    select r.line, r.w, l.n, l.line as g from receipt r
    cross join jsonb_array_elements(nullif(r.w -> 'line_items', 'null')) with ordinality l (line, n)
  )
  select array_agg(row (f.line, f.code, f.message, f.field, null)::mutation.row_fault)
  from (
    select r.line, 'REQUIRED', 'A receipt needs a number of its own, so that it is booked once.',
      '{number}'::text[]
    from receipt r where erp.is_blank(coalesce(r.g ->> 'number', ''))
    union all
    select r.line, 'NOT_UNIQUE', 'An earlier row has this number.', '{number}' from receipt r where r.nth > 1
    union all
    select r.line, 'REQUIRED', 'The receipt has no lines.', '{line_items}' from receipt r
    where coalesce(r.w -> 'line_items', 'null') = 'null'
    union all
    select r.line, 'NOT_FOUND', 'There is no such supplier.', '{supplier_number}' from receipt r
    where r.g ->> 'supplier_number' is not null and r.w ->> 'supplier_id' is null
    union all
    select r.line, 'NOT_FOUND', 'There is no such warehouse.', '{warehouse_code}' from receipt r
    where r.g ->> 'warehouse_code' is not null and r.w ->> 'warehouse_id' is null
    union all
    select i.line, 'OUT_OF_RANGE', 'The quantity must be at least 1.',
      array['line_items', (i.n - 1)::text, 'quantity']
    from item i where (i.g ->> 'quantity')::integer < 1
    union all
    select i.line, 'NOT_FOUND', 'There is no such product.',
      array['line_items', (i.n - 1)::text, 'product_number']
    from item i where i.g ->> 'product_id' is null
    union all
    select i.line, 'NOT_FOUND', 'There is no such supplier order.',
      array['line_items', (i.n - 1)::text, 'supplier_order_number']
    from item i where i.g ->> 'supplier_order_number' is not null and i.g ->> 'supplier_order_id' is null
    union all
    select i.line, 'NOT_FOUND', 'The warehouse has no such bin.',
      array['line_items', (i.n - 1)::text, 'bin_location_code']
    from item i
    where i.g ->> 'bin_location_code' is not null and i.g ->> 'destination_bin_location_id' is null
  ) f (line, code, message, field);
end;
comment on function erp.faults_of_receipts(mutation.upsert_row[]) is
  'Returns what is wrong with rows of an import of goods receipts, before anything is booked.';
grant execute on function erp.faults_of_receipts(mutation.upsert_row[]) to service_writer;

create or replace function erp.booked_receipts(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, coalesce(r.id, u.id), r.id is null, u.given, u.present, u.wanted, false,
    coalesce(u.errors, case when r.id is not null and (
      select jsonb_object_agg(x.product_id, x.units) from (
        select l ->> 'product_id' as product_id, sum((l ->> 'quantity')::integer) as units
        from jsonb_array_elements(u.wanted -> 'line_items') l group by 1) x
    ) is distinct from (
      select jsonb_object_agg(x.product_id, x.units) from (
        select i.product_id, sum(i.quantity) as units from erp.goods_receipt_line_item i
        where i.goods_receipt_id = r.id and i.product_id is not null group by 1) x
    ) then jsonb_build_array(mutation.user_error('NOT_EDITABLE',
      'The receipt is there already, with other units. Correct it by another receipt.',
      mutation.path('goods_receipts', u.line, 'number'))) end))::mutation.upsert_row order by u.line)
  from unnest(rows) u
  left join erp.goods_receipt r on r.number = u.given ->> 'number';
end;
comment on function erp.booked_receipts(mutation.upsert_row[]) is
  'Returns rows of an import of goods receipts; those whose number is there already are no longer new. One '
  'with other units than before is refused.';
grant execute on function erp.booked_receipts(mutation.upsert_row[]) to service_writer;

create or replace function erp.import_goods_receipts(given jsonb, partial boolean)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  earlier constant jsonb := mutation.warnings();
  rows mutation.upsert_row[];
  u mutation.upsert_row;
  made uuid;
  faults text;
begin
  if coalesce(jsonb_array_length(given), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'There must be at least one row.', '{goods_receipts}');
  end if;
  perform mutation.refuse_too_many(jsonb_array_length(given), 250, '{goods_receipts}');
  rows := array(
    select row (e.n, null, true, e.row, null, erp.receipt_row(e.row), false, null)::mutation.upsert_row
    from jsonb_array_elements(given) with ordinality e (row, n) order by e.n);
  rows := mutation.with_faults(rows, 'goods_receipts', erp.faults_of_receipts(rows));
  -- All at once, because the calls below come in the order of the file
  perform from erp.supplier_order o where o.id = any (array(
    select (l ->> 'supplier_order_id')::uuid
    from unnest(rows) x cross join jsonb_array_elements(nullif(x.wanted -> 'line_items', 'null')) l
  )) order by o.id for no key update;
  perform ledger.lock(array(
    select (l ->> 'product_id')::uuid
    from unnest(rows) x cross join jsonb_array_elements(nullif(x.wanted -> 'line_items', 'null')) l
    where x.errors is null
  ));
  rows := erp.booked_receipts(rows);
  perform mutation.require_rows(rows, partial);
  perform set_config('service.receipt_process', 'csv_import_incoming', true);
  foreach u in array rows loop
    continue when u.errors is not null or not u.is_new;
    begin
      made := erp.create_goods_receipt(u.wanted - 'line_items', array(
        select jsonb_populate_record(null::erp.goods_receipt_line, l.line)
        from jsonb_array_elements(u.wanted -> 'line_items') with ordinality l (line, n) order by l.n), '{}');
      perform erp.approve_goods_receipt(made);
      perform erp.complete_goods_receipt(made, '{}');
    exception when sqlstate 'UE001' then
      get stacked diagnostics faults = pg_exception_detail;
      perform mutation.refuse(erp.about_rows(faults::jsonb, 'goods_receipts', array[u.line]));
    end;
    u.id := made;
    u.is_changed := true;
    rows[u.line] := u;
  end loop;
  perform set_config('service.receipt_process', '', true),
    set_config('service.warnings', earlier::text, true);
  return rows;
end
$$;
comment on function erp.import_goods_receipts(jsonb, boolean) is
  'Creates goods receipts with the numbers in a file, and books them at once by csv_import_incoming. A '
  'receipt whose number is there already books nothing. Rows that name something unknown are refused each; '
  'what a receipt refuses ends the call. Returns the outcome of each row.';
select api_meta.plan_by_index('erp.import_goods_receipts(jsonb, boolean)');
grant execute on function erp.import_goods_receipts(jsonb, boolean) to service_writer;
--! EndIncluded erp/import_goods_receipts.sql
--! Included api/stocks_upsert.sql
drop type if exists api_unstable.stocks_upsert_input cascade;
drop type if exists api_unstable.stock_upsert_input cascade;
drop type if exists api_unstable.stocks_upsert_payload cascade;

create type api_unstable.stock_upsert_input as (
  product_id uuid, product_number text, place api_unstable.stock_place_input, warehouse_code text,
  bin_location_code text, batch_id uuid, batch_number text, quantity integer, counted_at timestamptz,
  delta integer, reference text, reason text, comment text
);
comment on type api_unstable.stock_upsert_input is
  'A row of a file of stock: a count, or a change. It names product, place and batch by id, or by number '
  'and code.';
comment on column api_unstable.stock_upsert_input.product_id is E'@gid Product\nId of the product.';
comment on column api_unstable.stock_upsert_input.product_number is
  'Number of the product, instead of its id.';
comment on column api_unstable.stock_upsert_input.place is 'Place of the stock, instead of codes.';
comment on column api_unstable.stock_upsert_input.warehouse_code is
  'Code of the warehouse. Without a bin it means what lies outside of bins.';
comment on column api_unstable.stock_upsert_input.bin_location_code is 'Code of the bin in the warehouse.';
comment on column api_unstable.stock_upsert_input.batch_id is
  E'@gid Batch\nId of the batch. Needed for products that are kept in batches.';
comment on column api_unstable.stock_upsert_input.batch_number is 'Number of the batch, instead of its id.';
comment on column api_unstable.stock_upsert_input.quantity is
  'Units that were counted; not negative. The row is a count, as of stockSet.';
comment on column api_unstable.stock_upsert_input.counted_at is
  'When they were counted. Every count needs it: a repeated row then changes nothing.';
comment on column api_unstable.stock_upsert_input.delta is
  'Units that come in, or, negative, go out. The row is a change, as of stockAdjust.';
comment on column api_unstable.stock_upsert_input.reference is
  'Own number of the row, of at most 255 characters. Every change needs one. A row whose reference another '
  'import has booked changes nothing.';
comment on column api_unstable.stock_upsert_input.reason is 'Code of one of stockBookingReasons.';
comment on column api_unstable.stock_upsert_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create type api_unstable.stocks_upsert_input as (stocks api_unstable.stock_upsert_input[], partial boolean);
comment on type api_unstable.stocks_upsert_input is 'Rows of a file of stock.';
comment on column api_unstable.stocks_upsert_input.stocks is E'@notNull\nThe rows; 1 to 250.';
comment on column api_unstable.stocks_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others name something unknown, or are incomplete. What the '
  'ledger refuses, such as missing units, refuses the call. False when left out: all rows, or none.';

create type api_unstable.stocks_upsert_payload as (
  results api_unstable.upsert_result[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.stocks_upsert_payload is 'The result of rows of a file of stock.';
comment on column api_unstable.stocks_upsert_payload.results is
  E'@resultOf Stock\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused. CREATED is a '
  'change that was booked, UPDATED a count that booked a difference. The id is null.';
comment on column api_unstable.stocks_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.stocks_upsert(input api_unstable.stocks_upsert_input, changes jsonb)
returns api_unstable.stocks_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), null
  )::api_unstable.stocks_upsert_payload
  from (
    select jsonb_agg(e.result - 'id' order by e.n) as results
    from mutation.upserted(erp.import_stocks(changes -> 'stocks', input.partial)) u
    cross join jsonb_array_elements(u.results) with ordinality e (result, n)
  ) d
$$;
comment on function api_unstable.stocks_upsert(api_unstable.stocks_upsert_input, jsonb) is
  E'@requiresScopes stocks:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE TOO_MANY_LINES BATCH_MISMATCH '
  'BATCH_REQUIRED INSUFFICIENT_STOCK PRODUCT_HAS_VARIANTS SERIAL_NUMBER_IN_STOCK\n'
  'Books rows of a file of stock, which can be sent again: counts, and changes with a reference of their '
  'own. Differences and changes are booked by csv_import_incoming and csv_import_outgoing. Bulk imports of '
  'stocks run it.';
--! EndIncluded api/stocks_upsert.sql
--! Included api/goods_receipts_upsert.sql
drop type if exists api_unstable.goods_receipts_upsert_input cascade;
drop type if exists api_unstable.goods_receipt_upsert_input cascade;
drop type if exists api_unstable.goods_receipt_line_upsert_input cascade;
drop type if exists api_unstable.goods_receipts_upsert_payload cascade;

create type api_unstable.goods_receipt_line_upsert_input as (
  product_id uuid, product_number text, quantity integer, batch_number text, supplier_order_number text,
  unit_price numeric, tax_rate numeric, bin_location_code text
);
comment on type api_unstable.goods_receipt_line_upsert_input is 'A line of a goods receipt in a file.';
comment on column api_unstable.goods_receipt_line_upsert_input.product_id is
  E'@gid Product\nId of the product.';
comment on column api_unstable.goods_receipt_line_upsert_input.product_number is
  'Number of the product, instead of its id.';
comment on column api_unstable.goods_receipt_line_upsert_input.quantity is
  E'@notNull\nUnits that came; at least 1.';
comment on column api_unstable.goods_receipt_line_upsert_input.batch_number is
  'Number of the batch that came; a new one is made when the product has none of this number.';
comment on column api_unstable.goods_receipt_line_upsert_input.supplier_order_number is
  'Number of the supplier order whose lines with this product are delivered.';
comment on column api_unstable.goods_receipt_line_upsert_input.unit_price is
  'Price of one unit, in the currency of the receipt. By default the price of the supplier order.';
comment on column api_unstable.goods_receipt_line_upsert_input.tax_rate is
  'Tax rate in percent. By default the rate of the supplier order or of the product.';
comment on column api_unstable.goods_receipt_line_upsert_input.bin_location_code is
  'Code of the bin that the units were put into. By default the usual bin of the product, or else the '
  'warehouse.';

create type api_unstable.goods_receipt_upsert_input as (
  number text, warehouse_id uuid, warehouse_code text, supplier_id uuid, supplier_number text,
  currency_id uuid, tax_status text, comment text,
  line_items api_unstable.goods_receipt_line_upsert_input[]
);
comment on type api_unstable.goods_receipt_upsert_input is 'A goods receipt in a file: goods that have come.';
comment on column api_unstable.goods_receipt_upsert_input.number is
  E'@notNull\nNumber of the receipt. A receipt whose number is there already is not booked again.';
comment on column api_unstable.goods_receipt_upsert_input.warehouse_id is
  E'@gid Warehouse\nId of the warehouse. By default the one where goods are received.';
comment on column api_unstable.goods_receipt_upsert_input.warehouse_code is
  'Code of the warehouse, instead of its id.';
comment on column api_unstable.goods_receipt_upsert_input.supplier_id is
  E'@gid Supplier\nId of the supplier. By default the supplier of the orders that the lines name.';
comment on column api_unstable.goods_receipt_upsert_input.supplier_number is
  'Number of the supplier, instead of its id.';
comment on column api_unstable.goods_receipt_upsert_input.currency_id is
  E'@gid Currency\nId of the currency of all prices. By default the currency of the order or the supplier.';
comment on column api_unstable.goods_receipt_upsert_input.tax_status is
  'Whether prices are net, gross or tax-free.';
comment on column api_unstable.goods_receipt_upsert_input.comment is 'Free note.';
comment on column api_unstable.goods_receipt_upsert_input.line_items is E'@notNull\nThe lines, 1 to 250.';

create type api_unstable.goods_receipts_upsert_input
  as (goods_receipts api_unstable.goods_receipt_upsert_input[], partial boolean);
comment on type api_unstable.goods_receipts_upsert_input is 'Goods receipts in a file.';
comment on column api_unstable.goods_receipts_upsert_input.goods_receipts is
  E'@notNull\nThe receipts; 1 to 250 rows.';
comment on column api_unstable.goods_receipts_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others name something unknown, or are incomplete. What else '
  'is refused refuses the call. False when left out: all rows, or none.';

create type api_unstable.goods_receipts_upsert_payload as (
  results api_unstable.upsert_result[], goods_receipts uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.goods_receipts_upsert_payload is 'The result of goods receipts in a file.';
comment on column api_unstable.goods_receipts_upsert_payload.results is
  E'@resultOf GoodsReceipt\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on column api_unstable.goods_receipts_upsert_payload.goods_receipts is
  E'@entity GoodsReceipt\n@perLine goods_receipts\n'
  'The receipts of the rows that were not refused, in their order.';
comment on column api_unstable.goods_receipts_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.goods_receipts_upsert(
  input api_unstable.goods_receipts_upsert_input, changes jsonb
)
returns api_unstable.goods_receipts_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.goods_receipts_upsert_payload
  from mutation.upserted(erp.import_goods_receipts(changes -> 'goods_receipts', input.partial)) d
$$;
comment on function api_unstable.goods_receipts_upsert(api_unstable.goods_receipts_upsert_input, jsonb) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE TOO_MANY_LINES BATCH_MISMATCH '
  'BATCH_REQUIRED SUPPLIER_MISMATCH SERIAL_NUMBER_IN_STOCK\n'
  'Books goods that have come, by rows of a file, which can be sent again. Each receipt is created with its '
  'own number, approved and completed at once, by the process csv_import_incoming. Bulk imports of '
  'goods_receipts run it.';
--! EndIncluded api/goods_receipts_upsert.sql

-- Remedies for what used to be dead ends
drop view if exists api_unstable.product_supplier_configurations;
--! Included erp/units_of_line.sql
create or replace function erp.units_of_line(
  line bigint, product_id uuid, quantity integer, packs integer, supplier_id uuid
)
returns integer
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  pack integer;
begin
  if packs is null and quantity is null then
    perform mutation.refuse('REQUIRED', 'A line needs a quantity, or packs.',
      mutation.path('line_items', line, 'quantity'));
  elsif packs is null then
    return quantity;
  elsif quantity is not null then
    perform mutation.refuse('INVALID', 'A line has either a quantity or packs.',
      mutation.path('line_items', line, 'packs'));
  end if;
  select c.units_per_pack into pack from erp.product_supplier_configuration c
  where c.product_id = units_of_line.product_id and case when units_of_line.supplier_id is null
    then c.supplier_is_default else c.supplier_id = units_of_line.supplier_id end;
  if pack is null then
    perform mutation.refuse('INVALID',
      'How many units are in a pack is unknown: set unitsPerPack of the supplier, or give a quantity.',
      mutation.path('line_items', line, 'packs'));
  end if;
  return packs * pack;
end
$$;
comment on function erp.units_of_line(bigint, uuid, integer, integer, uuid) is
  'Returns the units of a line that has a quantity or packs of a supplier, or of the default supplier of '
  'the product without one. User errors REQUIRED, INVALID.';
grant execute on function erp.units_of_line(bigint, uuid, integer, integer, uuid) to service_writer;

create or replace function erp.supplier_of_line(
  supplier_id uuid, supplier_order_id uuid, supplier_order_line_item_id uuid
)
returns uuid
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce((
    select o.supplier_id from erp.supplier_order o where o.id = coalesce(
      supplier_of_line.supplier_order_id, (
        select i.supplier_order_id from erp.supplier_order_line_item i
        where i.id = supplier_of_line.supplier_order_line_item_id))
  ), supplier_of_line.supplier_id);
end;
comment on function erp.supplier_of_line(uuid, uuid, uuid) is
  'Returns the supplier of the order that a line of a goods receipt names, or else of the receipt.';
grant execute on function erp.supplier_of_line(uuid, uuid, uuid) to service_writer;
--! EndIncluded erp/units_of_line.sql
--! Included erp/create_product_supplier_configuration.sql
create or replace function erp.create_product_supplier_configuration(given jsonb, prices erp.price[])
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made erp.product_supplier_configuration := jsonb_populate_record(
    null::erp.product_supplier_configuration, given
  );
begin
  perform ledger.lock(array[made.product_id]);
  if not exists (select from erp.product p where p.id = made.product_id) then
    perform mutation.refuse_missing('product', '{product_id}');
  end if;
  if not exists (select from erp.supplier s where s.id = made.supplier_id) then
    perform mutation.refuse_missing('supplier', '{supplier_id}');
  end if;
  insert into erp.product_supplier_configuration (
    product_id, supplier_id, supplier_product_number, min_purchase, purchase_steps, units_per_pack,
    delivery_time_days
  )
  values (made.product_id, made.supplier_id, made.supplier_product_number, coalesce(made.min_purchase, 1),
    coalesce(made.purchase_steps, 1), made.units_per_pack,
    made.delivery_time_days)
  returning id into made.id;
  perform erp.set_supplier_prices(made.id, coalesce(prices, '{}'));
  if made.supplier_is_default then
    perform erp.make_default_supplier(made.id);
  end if;
  return made.id;
end
$$;
comment on function erp.create_product_supplier_configuration(jsonb, erp.price[]) is
  'Records that a supplier sells a product, with the terms in the object and these prices. Returns its id.';
grant execute on function erp.create_product_supplier_configuration(jsonb, erp.price[]) to service_writer;
--! EndIncluded erp/create_product_supplier_configuration.sql
--! Included erp/update_product_supplier_configuration.sql
create or replace function erp.update_product_supplier_configuration(
  configuration_id uuid, changes jsonb, prices erp.price[]
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.product_supplier_configuration :=
    erp.lock_product_supplier_configuration(configuration_id);
  wanted constant erp.product_supplier_configuration := jsonb_populate_record(
    present, changes - '{id,purchase_prices}'::text[]
  );
begin
  update erp.product_supplier_configuration c
  set supplier_product_number = wanted.supplier_product_number, min_purchase = wanted.min_purchase,
    purchase_steps = wanted.purchase_steps, units_per_pack = wanted.units_per_pack,
    delivery_time_days = wanted.delivery_time_days
  where c.id = configuration_id;
  if changes ? 'purchase_prices' then
    perform erp.set_supplier_prices(configuration_id, coalesce(prices, '{}'));
  end if;
  return configuration_id;
end
$$;
comment on function erp.update_product_supplier_configuration(uuid, jsonb, erp.price[]) is
  'Changes the terms in the object, and the prices if it contains purchase_prices. Returns the id.';
grant execute on function erp.update_product_supplier_configuration(uuid, jsonb, erp.price[])
  to service_writer;
--! EndIncluded erp/update_product_supplier_configuration.sql
--! Included api/product_supplier_configurations.sql
create view api_unstable.product_supplier_configurations with (security_invoker = true) as
select id, product_id, supplier_id, supplier_product_number, min_purchase, purchase_steps,
  array(
    select row (p.currency_id, p.net, p.gross, p.linked)::api_unstable.price
    from erp.product_supplier_price p where p.product_supplier_configuration_id = c.id order by p.currency_id
  ) as purchase_prices,
  supplier_is_default, delivery_time_days, created_at, updated_at, units_per_pack
from erp.product_supplier_configuration c;
comment on view api_unstable.product_supplier_configurations is
  E'@primaryKey id\n'
  '@requiresScopes product_supplier_configurations:read\n'
  '@filters *\n'
  '@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName '
  'supplierConfigurations\n'
  '@foreignKey (supplier_id) references suppliers (id)|@fieldName supplier|@foreignFieldName '
  'productConfigurations\n'
  'A supplier''s prices and terms for a product.';
comment on column api_unstable.product_supplier_configurations.purchase_prices is
  E'@notNull\n'
  'Prices of the product at this supplier, one per currency.';
--! EndIncluded api/product_supplier_configurations.sql
--! Included api/product_supplier_configuration_create.sql
drop type if exists api_unstable.product_supplier_configuration_create_input cascade;
create type api_unstable.product_supplier_configuration_create_input as (
  product_id uuid, supplier_id uuid, supplier_product_number text, min_purchase integer,
    purchase_steps integer, units_per_pack integer, delivery_time_days integer,
  purchase_prices api_unstable.purchase_price_input[], supplier_is_default boolean
);
comment on type api_unstable.product_supplier_configuration_create_input is 'A supplier of a product.';
comment on column api_unstable.product_supplier_configuration_create_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.product_supplier_configuration_create_input.supplier_id is
  E'@notNull\n@gid Supplier\nId of the supplier.';
comment on column api_unstable.product_supplier_configuration_create_input.supplier_product_number is
  'Number that the supplier knows the product by.';
comment on column api_unstable.product_supplier_configuration_create_input.min_purchase is
  'Least quantity that can be ordered; at least 1.';
comment on column api_unstable.product_supplier_configuration_create_input.purchase_steps is
  'Quantities are ordered in multiples of this; at least 1.';
comment on column api_unstable.product_supplier_configuration_create_input.units_per_pack is
  'Units of the product in a pack of the supplier; at least 1. Orders and receipts may then name packs.';
comment on column api_unstable.product_supplier_configuration_create_input.delivery_time_days is
  'Days from order to delivery.';
comment on column api_unstable.product_supplier_configuration_create_input.purchase_prices is
  'Prices of the product at this supplier, one per currency. They replace all existing prices. Prices '
  'of the default supplier become the purchase prices of the product.';
comment on column api_unstable.product_supplier_configuration_create_input.supplier_is_default is
  'Whether it takes the place of the present default supplier. False when left out.';

create function api_unstable.product_supplier_configuration_create(
  input api_unstable.product_supplier_configuration_create_input, changes jsonb
)
returns api_unstable.product_supplier_configuration_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_product_supplier_configuration(changes - 'purchase_prices', array(
    select row (p.currency_id, p.net, p.gross, p.linked)::erp.price
    from unnest(input.purchase_prices) with ordinality p
    order by p.ordinality
  )), null)::api_unstable.product_supplier_configuration_payload
$$;
comment on function
  api_unstable.product_supplier_configuration_create(
    api_unstable.product_supplier_configuration_create_input, jsonb
  ) is
  E'@requiresScopes product_supplier_configurations:write\n'
  '@userErrors NOT_FOUND NOT_UNIQUE OUT_OF_RANGE\n'
  'Assigns a supplier to a product.';
--! EndIncluded api/product_supplier_configuration_create.sql
--! Included api/product_supplier_configuration_update.sql
drop type if exists api_unstable.product_supplier_configuration_update_input cascade;
create type api_unstable.product_supplier_configuration_update_input as (
  id uuid, supplier_product_number text, min_purchase integer, purchase_steps integer,
    units_per_pack integer, delivery_time_days integer,
  purchase_prices api_unstable.purchase_price_input[]
);
comment on type api_unstable.product_supplier_configuration_update_input is
  'Changes of the terms of a supplier. What is left out stays as it is.';
comment on column api_unstable.product_supplier_configuration_update_input.id is
  E'@notNull\n@gid ProductSupplierConfiguration\nId of the assignment.';
comment on column api_unstable.product_supplier_configuration_update_input.supplier_product_number is
  'Number that the supplier knows the product by.';
comment on column api_unstable.product_supplier_configuration_update_input.min_purchase is
  'Least quantity that can be ordered; at least 1.';
comment on column api_unstable.product_supplier_configuration_update_input.purchase_steps is
  'Quantities are ordered in multiples of this; at least 1.';
comment on column api_unstable.product_supplier_configuration_update_input.units_per_pack is
  'Units of the product in a pack of the supplier; at least 1. Orders and receipts may then name packs.';
comment on column api_unstable.product_supplier_configuration_update_input.delivery_time_days is
  'Days from order to delivery.';
comment on column api_unstable.product_supplier_configuration_update_input.purchase_prices is
  'Prices of the product at this supplier, one per currency. They replace all existing prices. Prices '
  'of the default supplier become the purchase prices of the product.';

create function api_unstable.product_supplier_configuration_update(
  input api_unstable.product_supplier_configuration_update_input, changes jsonb
)
returns api_unstable.product_supplier_configuration_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_product_supplier_configuration(input.id, changes, array(
    select row (p.currency_id, p.net, p.gross, p.linked)::erp.price
    from unnest(input.purchase_prices) with ordinality p
    order by p.ordinality
  )), null)::api_unstable.product_supplier_configuration_payload
$$;
comment on function
  api_unstable.product_supplier_configuration_update(
    api_unstable.product_supplier_configuration_update_input, jsonb
  ) is
  E'@requiresScopes product_supplier_configurations:write\n'
  '@userErrors NOT_FOUND REQUIRED OUT_OF_RANGE NOT_UNIQUE\n'
  'Changes the terms on which a supplier sells a product.';
--! EndIncluded api/product_supplier_configuration_update.sql
--! Included api/supplier_order_line_input.sql
drop type if exists api_unstable.supplier_order_line_input cascade;
create type api_unstable.supplier_order_line_input as (
  id uuid, product_id uuid, quantity integer, unit_price numeric, tax_rate numeric,
    expected_delivery_date timestamptz,
    packs integer
);
comment on type api_unstable.supplier_order_line_input is 'A line of a supplier order.';
comment on column api_unstable.supplier_order_line_input.id is
  E'@gid SupplierOrderLineItem\nId of the line, when it is there already; without it the line is new.';
comment on column api_unstable.supplier_order_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.supplier_order_line_input.quantity is E'Units; at least 1.';
comment on column api_unstable.supplier_order_line_input.unit_price is
  'Price of one unit, with tax if the order''s tax status is gross. When left out, the supplier''s '
  'price in the currency of the order.';
comment on column api_unstable.supplier_order_line_input.tax_rate is
  'Tax rate in percent. By default the rate of the product.';
comment on column api_unstable.supplier_order_line_input.expected_delivery_date is
  'When the units are expected.';
comment on column api_unstable.supplier_order_line_input.packs is
  'Packs instead of a quantity. A pack has unitsPerPack units of the supplier. The price is for one '
  'unit.';
--! EndIncluded api/supplier_order_line_input.sql
--! Included api/goods_receipt_line_input.sql
drop type if exists api_unstable.goods_receipt_line_input cascade;
create type api_unstable.goods_receipt_line_input as (
  id uuid, product_id uuid, quantity integer, batch_id uuid, batch_number text,
    supplier_order_line_item_id uuid, supplier_order_id uuid,
  return_order_id uuid, unit_price numeric, tax_rate numeric, planned_disposal_quantity integer,
    destination_bin_location_id uuid, return_order_line_item_id uuid,
    packs integer
);
comment on type api_unstable.goods_receipt_line_input is 'A line of a goods receipt.';
comment on column api_unstable.goods_receipt_line_input.id is
  E'@gid GoodsReceiptLineItem\nId of the line, when it is there already; without it the line is new.';
comment on column api_unstable.goods_receipt_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.goods_receipt_line_input.quantity is
  'Units that come in. Negative takes back what an earlier receipt brought. Not 0.';
comment on column api_unstable.goods_receipt_line_input.batch_id is
  E'@gid Batch\nId of the batch that comes in.';
comment on column api_unstable.goods_receipt_line_input.batch_number is
  'Number of the batch that comes in; a new one is made when the product has none of this number.';
comment on column api_unstable.goods_receipt_line_input.supplier_order_line_item_id is
  E'@gid SupplierOrderLineItem\nId of the line of a supplier order that is delivered.';
comment on column api_unstable.goods_receipt_line_input.supplier_order_id is
  E'@gid SupplierOrder\nId of the supplier order whose lines with this product are delivered.';
comment on column api_unstable.goods_receipt_line_input.return_order_id is
  E'@gid ReturnOrder\n'
  'Id of the return that the goods come from, if no line of it does; on receipts of type Customer.';
comment on column api_unstable.goods_receipt_line_input.unit_price is
  'Price of one unit, in the currency of the receipt and by its tax status. By default the price of the '
  'supplier order, converted if the order has another currency or tax status.';
comment on column api_unstable.goods_receipt_line_input.tax_rate is
  'Tax rate in percent. By default the rate of the supplier order or of the product.';
comment on column api_unstable.goods_receipt_line_input.planned_disposal_quantity is
  'Units that are to be thrown away instead of stocked. 0 when left out.';
comment on column api_unstable.goods_receipt_line_input.destination_bin_location_id is
  E'@gid BinLocation\nId of the bin that the units are to be put into.';
comment on column api_unstable.goods_receipt_line_input.return_order_line_item_id is
  E'@gid ReturnOrderLineItem\n'
  'Id of the line of a return whose units arrive; on receipts of type Customer. It names the return, too.';
comment on column api_unstable.goods_receipt_line_input.packs is
  'Packs instead of a quantity. A pack has unitsPerPack units of the supplier of the order or the receipt, '
  'or of the default supplier. The price is for one unit.';
--! EndIncluded api/goods_receipt_line_input.sql
--! Included api/goods_receipt_create.sql
drop type if exists api_unstable.goods_receipt_create_input cascade;
create type api_unstable.goods_receipt_create_input as (
  type text, warehouse_id uuid, supplier_id uuid, customer_id uuid, currency_id uuid, currency_factor numeric,
    tax_status text, comment text,
  is_draft boolean, supplier_order_ids uuid[], line_items api_unstable.goods_receipt_line_input[]
);
comment on type api_unstable.goods_receipt_create_input is 'A new goods receipt.';
comment on column api_unstable.goods_receipt_create_input.type is
  E'@enum goods_receipt_type\n'
  'Origin of the goods. By default Supplier if supplier orders are named, Customer if return orders or '
  'a customer are named, and otherwise Free.';
comment on column api_unstable.goods_receipt_create_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that receives the goods. When left out, the one where goods are received by '
  'default.';
comment on column api_unstable.goods_receipt_create_input.supplier_id is
  E'@gid Supplier\n'
  'Id of the supplier. By default the supplier of the supplier orders that are named here or by the '
  'lines. Orders of other suppliers are refused.';
comment on column api_unstable.goods_receipt_create_input.customer_id is
  E'@gid Customer\nId of the customer who sends goods back; on receipts of type Customer only.';
comment on column api_unstable.goods_receipt_create_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts. By default the currency of the first supplier order that is named '
  'here or by a line, or else the supplier''s currency.';
comment on column api_unstable.goods_receipt_create_input.currency_factor is
  'Exchange rate: units of the currency per unit of the default currency. By default the imported rate '
  'of the day, or else the shop''s own rate.';
comment on column api_unstable.goods_receipt_create_input.tax_status is
  'Whether prices are net, gross or tax-free. When left out, as on the first supplier order; net '
  'without one.';
comment on column api_unstable.goods_receipt_create_input.comment is 'Free note.';
comment on column api_unstable.goods_receipt_create_input.is_draft is
  E'@neverNull\nWhether the receipt is only a draft. False when left out.';
comment on column api_unstable.goods_receipt_create_input.supplier_order_ids is
  E'@gid SupplierOrder\n'
  'Ids of the supplier orders that are delivered. Orders that the lines name can be left out.';
comment on column api_unstable.goods_receipt_create_input.line_items is 'The lines, up to 250.';

create function api_unstable.goods_receipt_create(
  input api_unstable.goods_receipt_create_input, changes jsonb
)
returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_goods_receipt(changes - '{line_items,supplier_order_ids}'::text[], array(
    select row (l.id, l.product_id, erp.units_of_line(l.ordinality, l.product_id, l.quantity, l.packs,
        erp.supplier_of_line(input.supplier_id, l.supplier_order_id,
          l.supplier_order_line_item_id)), l.batch_id, l.batch_number, l.supplier_order_line_item_id,
      l.supplier_order_id, coalesce(l.return_order_line_item_id, l.return_order_id),
      l.unit_price, l.tax_rate, l.planned_disposal_quantity,
        l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  ),
    coalesce(input.supplier_order_ids, '{}')), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function api_unstable.goods_receipt_create(api_unstable.goods_receipt_create_input, jsonb) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES '
  'SUPPLIER_MISMATCH\n'
  '@warnings SURPLUS ORDER_CANCELLED PRICE_CONVERTED\n'
  'Makes a goods receipt, with the next number of its range: as a draft, or ready to be approved. '
  'Nothing is booked yet. Its lines say what it is for: what is left out of type, supplier, currency, '
  'tax status and prices follows from the supplier orders that they name.';
--! EndIncluded api/goods_receipt_create.sql
--! Included api/goods_receipt_line_items_set.sql
drop type if exists api_unstable.goods_receipt_line_items_set_input cascade;
create type api_unstable.goods_receipt_line_items_set_input
  as (id uuid, line_items api_unstable.goods_receipt_line_input[]);
comment on type api_unstable.goods_receipt_line_items_set_input is 'The lines of a goods receipt.';
comment on column api_unstable.goods_receipt_line_items_set_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_unstable.goods_receipt_line_items_set_input.line_items is
  E'@notNull\nAll lines that the receipt is to have, up to 250. Lines that are not among them go.';

create function api_unstable.goods_receipt_line_items_set(
  input api_unstable.goods_receipt_line_items_set_input
)
returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.set_lines_of_goods_receipt(input.id, array(
    select row (l.id, l.product_id, erp.units_of_line(l.ordinality, l.product_id, l.quantity, l.packs,
        erp.supplier_of_line((select r.supplier_id from erp.goods_receipt r where r.id = input.id),
          l.supplier_order_id, l.supplier_order_line_item_id)), l.batch_id, l.batch_number,
      l.supplier_order_line_item_id,
      l.supplier_order_id, coalesce(l.return_order_line_item_id, l.return_order_id),
      l.unit_price, l.tax_rate, l.planned_disposal_quantity,
        l.destination_bin_location_id)::erp.goods_receipt_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function
  api_unstable.goods_receipt_line_items_set(api_unstable.goods_receipt_line_items_set_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE INVALID OUT_OF_RANGE NOT_UNIQUE BATCH_MISMATCH TOO_MANY_LINES '
  'SUPPLIER_MISMATCH\n'
  '@warnings SURPLUS ORDER_CANCELLED PRICE_CONVERTED\n'
  'Replaces the lines of a goods receipt that is not approved yet, and recomputes its totals. Lines are '
  'listed in the order of the input, except existing lines that swap places. A receipt without a '
  'supplier takes the supplier of the supplier orders that its lines name.';
--! EndIncluded api/goods_receipt_line_items_set.sql
--! Included erp/with_tracking.sql
create or replace function erp.with_tracking(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, case
      when u.given ->> 'tracking' is not null then jsonb_build_object(
        'is_batch_managed', u.given ->> 'tracking' <> 'none',
        'has_serial_numbers', u.given ->> 'tracking' = 'serial')
      else '{"has_serial_numbers": false}' end)
    from unnest(rows) u
    where u.given ->> 'tracking' is not null or u.given -> 'is_batch_managed' = 'false'
  ));
end;
comment on function erp.with_tracking(mutation.upsert_row[]) is
  'Returns the rows of an upsert of products, with what follows from tracking and from is_batch_managed.';
grant execute on function erp.with_tracking(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_tracking(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with change as (
    select u.line, u.given, u.given ->> 'tracking' as tracking,
      case when u.given ? 'tracking' then 'tracking' else 'is_batch_managed' end as field,
      case
        when u.wanted -> 'has_serial_numbers' <> u.present -> 'has_serial_numbers' then (
          select sum(s.quantity) from ledger.stock s
          where s.product_id = u.id and s.location_type_technical_name
            in ('warehouse', 'bin_location', 'stock_container', 'goods_receipt'))
        when u.wanted -> 'is_batch_managed' <> u.present -> 'is_batch_managed'
          then (u.present ->> 'physical_stock')::integer
      end as units
    from unnest(rows) u
  )
  select array_agg(row (f.line, f.code, f.message, array[f.field], f.details)::mutation.row_fault)
  from (
    select c.line, 'REQUIRED', 'This must not be null.', 'tracking', null::jsonb
    from change c where c.given -> 'tracking' = 'null'
    union all
    select c.line, 'INVALID', 'This contradicts isBatchManaged.', 'tracking', null
    from change c where (c.given ->> 'is_batch_managed')::boolean <> (c.tracking <> 'none')
    union all
    select c.line, 'NOT_EDITABLE', 'This can change only while there is no stock. Count it to 0 by stockSet, '
      'change the product, and count it again.', c.field,
      jsonb_build_object('quantity', c.units)
    from change c where c.units > 0
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_tracking(mutation.upsert_row[]) is
  'Returns what is wrong with the tracking in rows of an upsert of products. Batches can begin or end only '
  'while nothing is in a warehouse. Serial numbers need also goods receipts and containers to be empty, '
  'because units there may share a batch.';
grant execute on function erp.faults_of_tracking(mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/with_tracking.sql
--! Included erp/set_lines_of_goods_receipt.sql
create or replace function erp.set_lines_of_goods_receipt(
  goods_receipt_id uuid, lines erp.goods_receipt_line[]
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
begin
  if present.state not in ('draft', 'created') then
    perform mutation.refuse(
      'NOT_EDITABLE', format('The receipt is %s: its lines cannot be changed any more. Correct units by '
        'a receipt with negative quantities, and prices by goodsReceiptPricesSet.', present.state), '{id}'
    );
  end if;
  if present.type = 'Supplier' then
    present.supplier_id := coalesce(
      present.supplier_id, (erp.with_orders(present, erp.lock_orders_named(lines, '{}'))).supplier_id
    );
    perform erp.check_receipt_suppliers(present, lines, '{}');
    update erp.goods_receipt r set supplier_id = present.supplier_id
    where r.id = present.id and r.supplier_id is distinct from present.supplier_id;
  end if;
  perform erp.set_goods_receipt_lines(present, lines);
  return present.id;
end
$$;
comment on function erp.set_lines_of_goods_receipt(uuid, erp.goods_receipt_line[]) is
  'Sets the lines of a goods receipt that is not approved yet. A receipt without a supplier takes the '
  'supplier of the supplier orders that they name. Returns its id.';
grant execute on function erp.set_lines_of_goods_receipt(uuid, erp.goods_receipt_line[]) to service_writer;
--! EndIncluded erp/set_lines_of_goods_receipt.sql
select api_meta.allow('service_writer', 'erp.document', 'update (sent)');
--! Included erp/mark_document.sql
create or replace function erp.mark_document(document_id uuid, is_sent boolean) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from erp.document d where d.id = document_id) then
    perform mutation.refuse_missing('document', '{id}');
  end if;
  update erp.document d set sent = is_sent where d.id = document_id and d.sent is distinct from is_sent;
  return document_id;
end
$$;
comment on function erp.mark_document(uuid, boolean) is
  'Notes whether a document was sent. Returns its id. User error NOT_FOUND.';
grant execute on function erp.mark_document(uuid, boolean) to service_writer;
--! EndIncluded erp/mark_document.sql
--! Included api/document_update.sql
drop type if exists api_unstable.document_update_input cascade;
create type api_unstable.document_update_input as (id uuid, sent boolean);
comment on type api_unstable.document_update_input is 'Changes of a document. Its content never changes.';
comment on column api_unstable.document_update_input.id is E'@notNull\n@gid Document\nId of the document.';
comment on column api_unstable.document_update_input.sent is
  E'@notNull\nWhether the document was sent to its recipient.';

drop type if exists api_unstable.document_update_payload cascade;
create type api_unstable.document_update_payload
  as (document uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.document_update_payload is 'The result of changing a document.';
comment on column api_unstable.document_update_payload.document is
  E'@entity Document\nThe document as it is now; null when it was refused.';
comment on column api_unstable.document_update_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create function api_unstable.document_update(input api_unstable.document_update_input)
returns api_unstable.document_update_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.mark_document(input.id, input.sent), null)::api_unstable.document_update_payload
$$;
comment on function api_unstable.document_update(api_unstable.document_update_input) is
  E'@requiresScopes documents:write orders:write\n'
  '@userErrors NOT_FOUND\n'
  'Notes that a document was sent, or takes the note back. Nothing else of a document can be changed: an '
  'invoice is corrected by a credit_note or a storno of documentCreate, sent or not.';
--! EndIncluded api/document_update.sql
select api_meta.allow('service_writer', 'erp.bin_location', 'update (warehouse_id)');
--! Included erp/move_bin_location.sql
create or replace function erp.refuse_bin_in_use(bin_location_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  number text;
begin
  select s.number into number from erp.stocktake_line l join erp.stocktake s on s.id = l.stocktake_id
  where l.bin_location_id = refuse_bin_in_use.bin_location_id and l.state not in ('approved', 'cancelled')
  limit 1;
  if found then
    perform mutation.refuse('NOT_EDITABLE',
      format('Stocktake %s counts the bin: approve or cancel it first.', number), '{id}');
  end if;
  select r.number into number from erp.goods_receipt_line_item l
  join erp.goods_receipt r on r.id = l.goods_receipt_id
  where l.destination_bin_location_id = refuse_bin_in_use.bin_location_id and r.state <> 'completed' limit 1;
  if found then
    perform mutation.refuse('NOT_EDITABLE',
      format('Goods receipt %s puts goods into the bin: complete it first, or change its lines.', number),
      '{id}');
  end if;
end
$$;
comment on function erp.refuse_bin_in_use(uuid) is
  'Refuses a bin that an open stocktake counts or an open goods receipt names. User error NOT_EDITABLE.';
select api_meta.plan_by_index('erp.refuse_bin_in_use(uuid)');
grant execute on function erp.refuse_bin_in_use(uuid) to service_writer;

create or replace function erp.move_bin_location(bin_location_id uuid, warehouse_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.bin_location;
  drafts ledger.draft[];
begin
  perform from erp.warehouse w
  where w.id in (warehouse_id, (select b.warehouse_id from erp.bin_location b where b.id = bin_location_id))
  order by w.id for key share;
  if not exists (select from erp.warehouse w where w.id = warehouse_id) then
    perform mutation.refuse_missing('warehouse', '{warehouse_id}');
  end if;
  -- Bookings hold a bin against this lock, so nothing comes or goes meanwhile
  select * into present from erp.bin_location b where b.id = bin_location_id for update;
  if not found then
    perform mutation.refuse_missing('bin', '{id}');
  elsif present.warehouse_id = warehouse_id then
    return bin_location_id;
  end if;
  perform erp.refuse_bin_in_use(bin_location_id);
  drafts := array(
    select row ('{id}', s.product_id, u.quantity, u.batch_id, 'bin_location',
      move_bin_location.bin_location_id::text, 'warehouse', move_bin_location.warehouse_id::text,
      'api_relocation')::ledger.draft
    from ledger.stock s
    cross join lateral (
      select b.batch_id, b.quantity from ledger.batch_stock b where b.stock_id = s.id
      union all
      select null, s.quantity - coalesce(sum(b.quantity), 0)::integer from ledger.batch_stock b
      where b.stock_id = s.id
    ) u
    where s.bin_location_id = move_bin_location.bin_location_id and u.quantity > 0
    order by s.product_id, u.batch_id limit 251
  );
  perform mutation.refuse_too_many(cardinality(drafts), 250, '{id}');
  perform ledger.post(drafts, null) where drafts <> '{}';
  update erp.bin_location b set warehouse_id = move_bin_location.warehouse_id where b.id = bin_location_id;
  perform ledger.post(array(
    select row (d.field, d.product_id, d.quantity, d.batch_id, d.destination_type, d.destination,
      d.source_type, d.source, d.process)::ledger.draft
    from unnest(drafts) with ordinality d order by d.ordinality
  ), null) where drafts <> '{}';
  return bin_location_id;
end
$$;
comment on function erp.move_bin_location(uuid, uuid) is
  'Moves a bin to another warehouse with its goods. They go to the warehouse first, and from there back into '
  'the bin, so that the ledger says of each moment in which warehouse they were. Returns the bin. User '
  'errors NOT_FOUND, NOT_EDITABLE, NOT_UNIQUE, TOO_MANY_LINES; warning STOCK_PROMISED.';
select api_meta.plan_by_index('erp.move_bin_location(uuid, uuid)');
grant execute on function erp.move_bin_location(uuid, uuid) to service_writer;
--! EndIncluded erp/move_bin_location.sql
--! Included api/bin_location_move.sql
drop type if exists api_unstable.bin_location_move_input cascade;
create type api_unstable.bin_location_move_input as (id uuid, warehouse_id uuid);
comment on type api_unstable.bin_location_move_input is 'A bin that moves to another warehouse.';
comment on column api_unstable.bin_location_move_input.id is E'@notNull\n@gid BinLocation\nId of the bin.';
comment on column api_unstable.bin_location_move_input.warehouse_id is
  E'@notNull\n@gid Warehouse\nId of the warehouse in which the bin stands from now on.';

create function api_unstable.bin_location_move(input api_unstable.bin_location_move_input)
returns api_unstable.bin_location_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.move_bin_location(input.id, input.warehouse_id), null, null)
    ::api_unstable.bin_location_payload
$$;
comment on function api_unstable.bin_location_move(api_unstable.bin_location_move_input) is
  E'@requiresScopes warehouses:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE NOT_UNIQUE TOO_MANY_LINES\n'
  '@warnings STOCK_PROMISED PRODUCT_HAS_VARIANTS\n'
  'Moves a bin to another warehouse, with the goods in it: up to 250 products and batches. They are booked '
  'by the process api_relocation. Stock in the past stays in the warehouse in which the bin stood then. '
  'Reservations that name the bin stay in the former warehouse, without a bin.';
--! EndIncluded api/bin_location_move.sql
--! Included valuation/keep_prices.sql
create or replace function valuation.keep_prices() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'UPDATE' and (new.unit_price, new.unit_price_in_default_currency, new.tax_rate)
      is distinct from (old.unit_price, old.unit_price_in_default_currency, old.tax_rate) then
    perform valuation.await_closing(old.goods_receipt_id);
  end if;
  if valuation.is_counted(old.goods_receipt_id)
    or tg_op = 'UPDATE' and new.goods_receipt_id <> old.goods_receipt_id
      and valuation.is_counted(new.goods_receipt_id) then
    perform mutation.refuse('PERIOD_CLOSED',
      'A closed stock valuation report counts with this line of a goods receipt. Book the difference by '
        'landedCostAllocate or stockWriteDown, or void the report.', '{unit_price}');
  end if;
  return case tg_op when 'DELETE' then old else new end;
end
$$;
comment on function valuation.keep_prices() is
  'Trigger before a line of a goods receipt is deleted, or its price, tax rate, quantity or product '
  'changes. Refuses it to every role if a closed stock valuation report counts the receipt. User error '
  'PERIOD_CLOSED.';
--! EndIncluded valuation/keep_prices.sql
--! Included erp/set_prices_of_goods_receipt.sql
create or replace function erp.set_prices_of_goods_receipt(
  goods_receipt_id uuid, lines erp.goods_receipt_line[]
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  discount constant numeric := present.position_price
    - case present.tax_status when 'gross' then present.amount_total else present.amount_net end;
  errors jsonb;
begin
  if coalesce(cardinality(lines), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one line is needed.', '{line_items}');
  end if;
  perform mutation.refuse_too_many(cardinality(lines), 250, '{line_items}');
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('line_items', e.line, e.field)) order by e.line
  )
  into errors
  from (
    select l.ordinality, 'NOT_FOUND', 'The goods receipt has no such line.', 'id'
    from unnest(lines) with ordinality l where not exists (
      select from erp.goods_receipt_line_item i where i.id = l.id and i.goods_receipt_id = present.id)
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line has this id.', 'id'
    from (
      select i.*, row_number() over (partition by i.id order by i.ordinality) as nth
      from unnest(lines) with ordinality i
    ) l where l.nth > 1
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The price must not be negative.', 'unit_price'
    from unnest(lines) with ordinality l where l.unit_price < 0
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'An amount must be less than 1,000,000,000,000,000.', 'unit_price'
    from unnest(lines) with ordinality l where l.unit_price >= 1e15
    union all
    select l.ordinality, 'OUT_OF_RANGE', 'The tax rate is in percent, from 0 to 100.', 'tax_rate'
    from unnest(lines) with ordinality l where l.tax_rate not between 0 and 100
  ) e (line, code, message, field);
  perform mutation.refuse(errors);
  update erp.goods_receipt_line_item i
  set unit_price = l.unit_price, tax_rate = coalesce(l.tax_rate, i.tax_rate)
  from unnest(lines) l
  where i.id = l.id
    and (i.unit_price, i.tax_rate) is distinct from (l.unit_price, coalesce(l.tax_rate, i.tax_rate));
  update erp.goods_receipt r
  set amount_net = a.amount_net, amount_total = a.amount_total, position_price = a.position_price
  from (
    select (erp.amounts(present.tax_status, array_agg(i.total_price), array_agg(i.tax_rate), discount)).*
    from erp.goods_receipt_line_item i where i.goods_receipt_id = present.id
  ) a where r.id = present.id;
  return present.id;
end
$$;
comment on function erp.set_prices_of_goods_receipt(uuid, erp.goods_receipt_line[]) is
  'Sets prices and tax rates of lines of a goods receipt in any state, and its amounts. Values of stock '
  'follow. Returns the receipt. User errors NOT_FOUND, NOT_UNIQUE, OUT_OF_RANGE, PERIOD_CLOSED.';
select api_meta.plan_by_index('erp.set_prices_of_goods_receipt(uuid, erp.goods_receipt_line[])');
grant execute on function erp.set_prices_of_goods_receipt(uuid, erp.goods_receipt_line[]) to service_writer;
--! EndIncluded erp/set_prices_of_goods_receipt.sql
--! Included api/goods_receipt_prices_set.sql
drop type if exists api_unstable.goods_receipt_prices_set_input cascade;
drop type if exists api_unstable.goods_receipt_price_input cascade;
create type api_unstable.goods_receipt_price_input as (id uuid, unit_price numeric, tax_rate numeric);
comment on type api_unstable.goods_receipt_price_input is 'The price of a line of a goods receipt.';
comment on column api_unstable.goods_receipt_price_input.id is
  E'@notNull\n@gid GoodsReceiptLineItem\nId of the line.';
comment on column api_unstable.goods_receipt_price_input.unit_price is
  E'@notNull\nPrice of one unit, in the currency of the receipt and by its tax status.';
comment on column api_unstable.goods_receipt_price_input.tax_rate is
  'Tax rate in percent. Left out, it stays as it is.';

create type api_unstable.goods_receipt_prices_set_input
  as (id uuid, line_items api_unstable.goods_receipt_price_input[]);
comment on type api_unstable.goods_receipt_prices_set_input is 'Prices of a goods receipt.';
comment on column api_unstable.goods_receipt_prices_set_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';
comment on column api_unstable.goods_receipt_prices_set_input.line_items is
  E'@notNull\nThe lines whose price changes, 1 to 250. Others keep theirs.';

create function api_unstable.goods_receipt_prices_set(input api_unstable.goods_receipt_prices_set_input)
returns api_unstable.goods_receipt_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.set_prices_of_goods_receipt(input.id, array(
    select jsonb_populate_record(null::erp.goods_receipt_line, to_jsonb(l) - 'ordinality')
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), null, null)::api_unstable.goods_receipt_payload
$$;
comment on function api_unstable.goods_receipt_prices_set(api_unstable.goods_receipt_prices_set_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND REQUIRED NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES PERIOD_CLOSED\n'
  'Sets prices of a goods receipt, also of a completed one, as when the invoice differs from the order. The '
  'value of the stock and of what has left it follows. Prices that a closed stock valuation report counts '
  'are final.';
--! EndIncluded api/goods_receipt_prices_set.sql
--! Included erp/with_lines_of_batches.sql
create or replace function erp.with_lines_of_batches(stocktake_id uuid, lines uuid[]) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  gone uuid[];
  made uuid[];
begin
  gone := array(
    select l.id from erp.stocktake_line l join erp.product p on p.id = l.product_id
    where l.id = any (lines) and l.batch_id is null and p.is_batch_managed order by l.number);
  if gone = '{}' then
    return lines;
  end if;
  update erp.stocktake_line l set state = 'cancelled' where l.id = any (gone);
  with held as (
    select l.place, l.warehouse_id, l.bin_location_id, l.product_id, b.batch_id, b.quantity,
      row_number() over (order by l.number, b.batch_id) as nth
    from erp.stocktake_line l
    join ledger.stock s on s.product_id = l.product_id and s.place = l.place
    join ledger.batch_stock b on b.stock_id = s.id and b.quantity <> 0
    where l.id = any (gone) and not exists (
      select from erp.stocktake_line o
      where o.stocktake_id = with_lines_of_batches.stocktake_id and o.place = l.place
        and o.product_id = l.product_id and o.batch_id = b.batch_id and o.state <> 'cancelled')
  ), added as (
    insert into erp.stocktake_line (stocktake_id, number, place, warehouse_id, bin_location_id, product_id,
      batch_id, expected_quantity)
    select with_lines_of_batches.stocktake_id, (
        select max(o.number) from erp.stocktake_line o
        where o.stocktake_id = with_lines_of_batches.stocktake_id) + h.nth,
      h.place, h.warehouse_id, h.bin_location_id, h.product_id, h.batch_id, h.quantity
    from held h order by h.nth
    returning id
  )
  select array_agg(a.id) into made from added a;
  return array(select l from unnest(lines) l where l <> all (gone)) || coalesce(made, '{}');
end
$$;
comment on function erp.with_lines_of_batches(uuid, uuid[]) is
  'Returns positions of a stocktake. If a product has come to be kept in batches since, its positions are '
  'cancelled, and each batch that lies there becomes a position instead.';
select api_meta.plan_by_index('erp.with_lines_of_batches(uuid, uuid[])');
grant execute on function erp.with_lines_of_batches(uuid, uuid[]) to service_writer;
--! EndIncluded erp/with_lines_of_batches.sql
--! Included erp/check_found_units.sql
create or replace function erp.check_found_units(
  stocktake erp.stocktake, sheet erp.stocktake_sheet, readings erp.stocktake_reading[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  with reading as (
    select r.*, r.ordinality as line, p.place, s.warehouse_id as site_warehouse_id,
      s.bin_location_id as site_bin_id, s.fulfillment_order_id, t.id as product, t.is_batch_managed,
      t.has_serial_numbers, c.product_id as batch_product_id,
      exists (
        select from erp.stocktake_count n where n.sheet_id = sheet.id and n.place = p.place
          and (r.is_empty or n.product_id = r.product_id and n.batch_id is not distinct from r.batch_id)
      ) as is_on_sheet,
      -- Its product has come to be kept in batches since
      exists (
        select from erp.stocktake_line n where n.stocktake_id = stocktake.id and n.state = 'cancelled'
          and n.place = p.place and n.product_id = r.product_id
      ) as is_replaced
    from unnest(readings) with ordinality r
    cross join lateral ledger.place_of(r.warehouse_id, r.bin_location_id, r.stock_container_id) p
    cross join lateral ledger.site(r.warehouse_id, r.bin_location_id, r.stock_container_id) s
    left join erp.product t on t.id = r.product_id left join erp.batch c on c.id = r.batch_id
  )
  select jsonb_agg(
    mutation.user_error(e.code, e.message, mutation.path('lines', e.line) || e.field) order by e.line)
  into errors
  from reading r
  cross join lateral (
    select r.line, v.* from (values
      (r.has_serial_numbers and r.quantity > 1, 'OUT_OF_RANGE', 'A serial number is one unit.',
        '{quantity}'::text[]),
      (not r.is_on_sheet and not r.is_empty and r.product is null, 'NOT_FOUND', 'There is no such product.',
        '{product_id}'),
      (not r.is_on_sheet and r.is_batch_managed and r.batch_id is null, 'BATCH_REQUIRED',
        'The product is kept in batches: name one.', '{batch_id}'),
      (not r.is_on_sheet and r.batch_id is not null and r.batch_product_id is null, 'NOT_FOUND',
        'There is no such batch.', '{batch_id}'),
      (not r.is_on_sheet and r.batch_product_id <> r.product_id, 'BATCH_MISMATCH',
        'The batch belongs to another product.', '{batch_id}'),
      (not r.is_on_sheet and not r.is_batch_managed and r.batch_id is not null, 'INVALID',
        'The product is not kept in batches.', '{batch_id}'),
      (not r.is_on_sheet and exists (select from erp.product v where v.parent_id = r.product_id),
        'PRODUCT_HAS_VARIANTS', 'The product only stands for its variants: count these.', '{product_id}'),
      (not r.is_on_sheet and not r.is_replaced and sheet.round > 1, 'NOT_ON_SHEET',
        'This recount does not ask for it.', '{}'),
      (not r.is_on_sheet and not r.is_replaced and exists (
        select from erp.stocktake_sheet o join erp.stocktake_count n on n.sheet_id = o.id
        where o.stocktake_id = stocktake.id and o.round = 1 and o.id <> sheet.id and n.place = r.place
      ), 'NOT_ON_SHEET', 'Another sheet has this place.', '{place}'),
      (not r.is_on_sheet and r.site_warehouse_id is distinct from stocktake.warehouse_id,
        'OUT_OF_SCOPE', 'The stocktake is about another warehouse.', '{place}'),
      (not r.is_on_sheet and not stocktake.counts_all_bins and not exists (
        select from erp.stocktake_scope o
        where o.stocktake_id = stocktake.id and o.bin_location_id = r.site_bin_id
      ), 'OUT_OF_SCOPE', 'The stocktake does not include this place.', '{place}'),
      (r.fulfillment_order_id is not null, 'PICKED_FOR_ORDER',
        'What is in it was picked for a fulfillment order.', '{place}'),
      (not r.is_on_sheet and not r.is_empty and not stocktake.counts_all_products and not exists (
        select from erp.stocktake_scope o
        where o.stocktake_id = stocktake.id and (o.product_id = r.product_id or o.batch_id = r.batch_id)
      ), 'OUT_OF_SCOPE', 'The stocktake does not include this product.', '{product_id}')
    ) v (is_wrong, code, message, field)
    where v.is_wrong limit 1
  ) e (line, is_wrong, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_found_units(erp.stocktake, erp.stocktake_sheet, erp.stocktake_reading[]) is
  'Refuses units that cannot be counted on a sheet: what does not exist, what the stocktake does not '
  'include, and places of other sheets. User errors NOT_FOUND, BATCH_REQUIRED, BATCH_MISMATCH, INVALID, '
  'OUT_OF_RANGE, PRODUCT_HAS_VARIANTS, NOT_ON_SHEET, OUT_OF_SCOPE, PICKED_FOR_ORDER.';
grant execute on function erp.check_found_units(
  erp.stocktake, erp.stocktake_sheet, erp.stocktake_reading[]
) to service_writer;
--! EndIncluded erp/check_found_units.sql
--! Included erp/recount_stocktake.sql
create or replace function erp.recount_stocktake(stocktake_id uuid, line_ids uuid[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  maximum constant integer := 1000;
  stocktake constant erp.stocktake := erp.lock_stocktake(stocktake_id);
  next_state constant text := erp.next_state('stocktake', 'recount', stocktake.state);
  lines uuid[];
  made uuid;
begin
  perform mutation.refuse_too_many(cardinality(line_ids), maximum, '{line_ids}');
  if exists (
    select from unnest(line_ids) i where not exists (
      select from erp.stocktake_line l where l.id = i and l.stocktake_id = stocktake.id)
  ) then
    perform mutation.refuse_missing('position of this stocktake', '{line_ids}');
  elsif exists (
    select from erp.stocktake_line l
    where l.id = any (line_ids) and l.state not in ('counted', 'beyond_bound')
  ) then
    perform mutation.refuse('INVALID', 'Only counted positions that nobody approved can be counted again.',
      '{line_ids}');
  end if;
  lines := array(
    select l.id from erp.stocktake_line l
    where l.stocktake_id = stocktake.id
      and case when line_ids is null then l.state = 'beyond_bound' else l.id = any (line_ids) end
    order by l.number limit maximum);
  if lines = '{}' then
    perform mutation.refuse('INVALID', 'No position is beyond a bound.', '{line_ids}');
  end if;
  lines := erp.with_lines_of_batches(stocktake.id, lines);

  insert into erp.stocktake_sheet (stocktake_id, number, round)
  select stocktake.id, max(s.number) + 1, (
    select coalesce(max(l.round), 1) + 1 from erp.stocktake_line l where l.id = any (lines))
  from erp.stocktake_sheet s where s.stocktake_id = stocktake.id
  returning id into made;
  update erp.stocktake_line l
  set state = 'open', round = (select count(*) + 1 from erp.stocktake_count c where c.line_id = l.id),
    earlier_difference = l.difference
  where l.id = any (lines);
  insert into erp.stocktake_count (sheet_id, line_id, number, place, warehouse_id, bin_location_id,
    stock_container_id, product_id, batch_id)
  select made, l.id, l.number, l.place, l.warehouse_id, l.bin_location_id, l.stock_container_id,
    l.product_id, l.batch_id
  from erp.stocktake_line l where l.id = any (lines) order by l.number;
  update erp.stocktake s set state = next_state where s.id = stocktake.id and s.state <> next_state;
  return made;
end
$$;
comment on function erp.recount_stocktake(uuid, uuid[]) is
  'Makes a sheet for another count: of the positions, or of those beyond a bound, 1,000 at a time. '
  'Returns the sheet. User errors NOT_FOUND, INVALID, TOO_MANY_LINES, INVALID_STATE_TRANSITION.';
grant execute on function erp.recount_stocktake(uuid, uuid[]) to service_writer;
--! EndIncluded erp/recount_stocktake.sql
--! Included erp/approve_stocktake.sql
create or replace function erp.approve_stocktake(
  stocktake_id uuid, line_ids uuid[], reason text, comment text, approver_name text,
  out approved_count integer, out remaining_count integer
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  chunk constant integer := 250;
  stocktake constant erp.stocktake := erp.lock_stocktake(stocktake_id);
  lines erp.stocktake_line[];
  next_state text;
begin
  next_state := erp.next_state('stocktake',
    case when line_ids is null then 'approve' else 'approve_lines' end, stocktake.state);
  perform erp.require_approvable(stocktake, line_ids, approver_name);
  lines := array(
    select l from erp.stocktake_line l
    where l.stocktake_id = stocktake.id and l.state = 'counted' and l.product_id is not null
      and (line_ids is null or l.id = any (line_ids))
    order by l.number limit 1000);
  -- All at once, because calls at the same time take the locks in the same order
  perform ledger.lock(array(select l.product_id from unnest(lines) l), array[stocktake.warehouse_id],
    array(select l.bin_location_id from unnest(lines) l),
    array(select l.stock_container_id from unnest(lines) l));
  for n in 0 .. (cardinality(lines) - 1) / chunk loop
    exit when lines = '{}';
    perform erp.book_stocktake_lines(stocktake, lines[n * chunk + 1 : (n + 1) * chunk], line_ids, reason,
      comment);
  end loop;
  -- Bins that were found empty, as expected
  update erp.stocktake_line l
  set state = 'approved', approved_at = date_trunc('second', now()), approved_by = mutation.caller()
  where l.stocktake_id = stocktake.id and l.state = 'counted' and l.product_id is null
    and (line_ids is null or l.id = any (line_ids));

  approved_count := cardinality(lines);
  select count(*) into remaining_count from erp.stocktake_line l
  where l.stocktake_id = stocktake.id and l.state not in ('approved', 'cancelled');
  if remaining_count = 0 and stocktake.state = 'review' then
    update erp.stocktake s
    set state = erp.next_state('stocktake', 'approve', stocktake.state),
      approved_at = date_trunc('second', now())
    where s.id = stocktake.id;
  end if;
end
$$;
comment on function erp.approve_stocktake(uuid, uuid[], text, text, text) is
  'Approves positions of a stocktake and books them: those given, or all, 1,000 at a time. With the last one '
  'the stocktake is approved. Returns how many were booked, and how many remain. User errors of '
  'erp.require_approvable, ledger.set_stock, and INVALID_STATE_TRANSITION.';
grant execute on function erp.approve_stocktake(uuid, uuid[], text, text, text) to service_writer;
--! EndIncluded erp/approve_stocktake.sql
--! Included erp/require_approvable.sql
create or replace function erp.require_approvable(
  stocktake erp.stocktake, line_ids uuid[], approver_name text
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found record;
begin
  perform mutation.refuse_too_many(cardinality(line_ids), 1000, '{line_ids}');
  if exists (
    select from unnest(line_ids) i where not exists (
      select from erp.stocktake_line l where l.id = i and l.stocktake_id = stocktake.id)
  ) then
    perform mutation.refuse_missing('position of this stocktake', '{line_ids}');
  end if;
  select count(*) filter (where l.state = 'open') as open,
    count(*) filter (where l.state = 'beyond_bound') as beyond_bound,
    count(*) filter (where exists (
      select from erp.stocktake_count c
      where c.line_id = l.id and (c.credential_id = mutation.caller()
        or lower(btrim(c.counter_name)) = lower(btrim(approver_name)))
    )) as own
  into found
  from erp.stocktake_line l
  where l.stocktake_id = stocktake.id and l.state not in ('approved', 'cancelled')
    and (line_ids is null or l.id = any (line_ids));
  if found.open > 0 then
    perform mutation.refuse('NOT_COUNTED', format('%s positions are not counted.', found.open),
      '{line_ids}', jsonb_build_object('openCount', found.open));
  elsif found.beyond_bound > 0 then
    perform mutation.refuse('RECOUNT_REQUIRED',
      format('%s differences are beyond a bound: another person has to count.', found.beyond_bound),
      '{line_ids}', jsonb_build_object('count', found.beyond_bound));
  elsif found.own > 0 then
    perform mutation.refuse('SELF_APPROVAL',
      format('The same credential or person counted %s of the positions: another one has to approve.',
        found.own), null, jsonb_build_object('count', found.own));
  end if;
end
$$;
comment on function erp.require_approvable(erp.stocktake, uuid[], text) is
  'Refuses to approve positions that are not counted, need a recount, or were counted by the credential of '
  'the caller or by a person of the approver''s name. User errors NOT_FOUND, TOO_MANY_LINES, NOT_COUNTED, '
  'RECOUNT_REQUIRED, SELF_APPROVAL.';
grant execute on function erp.require_approvable(erp.stocktake, uuid[], text) to service_writer;
--! EndIncluded erp/require_approvable.sql
--! Included erp/about_stocktake_lines.sql
create or replace function erp.about_stocktake_lines(
  notes jsonb, lines erp.stocktake_line[], line_ids uuid[]
)
returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_agg(n.note || case when n.note -> 'field' ->> 0 = 'lines' then jsonb_build_object(
    'field', case when line_ids is not null
      then to_jsonb(mutation.path('line_ids', array_position(line_ids, l.id))) end,
    'details', coalesce(nullif(n.note -> 'details', 'null'), '{}')
      || jsonb_build_object('position', l.number)) else '{}' end || case n.note ->> 'code'
    when 'BATCH_REQUIRED' then jsonb_build_object('message', (n.note ->> 'message')
      || ' Count the position again by stocktakeRecount: it becomes one for each batch.')
    else '{}' end order by n.nth)
  from jsonb_array_elements(notes) with ordinality n (note, nth)
  left join unnest(lines) with ordinality l on l.ordinality = (n.note -> 'field' ->> 1)::integer + 1;
end;
comment on function erp.about_stocktake_lines(jsonb, erp.stocktake_line[], uuid[]) is
  'Returns errors or warnings of ledger.set_stock about positions of a stocktake: they name the id in '
  'line_ids, if the caller gave ids, and the number of the position.';
grant execute on function erp.about_stocktake_lines(jsonb, erp.stocktake_line[], uuid[]) to service_writer;
--! EndIncluded erp/about_stocktake_lines.sql

--! split: 220-picking.sql
-- Picking: waves of fulfillment orders become pick lists, which people work through with scanners.

select api_meta.allow('service_writer', 'erp.stock_container', 'select', 'insert', 'delete',
  'update (number, kind, sscc, warehouse_id, bin_location_id, fulfillment_order_id, updated_at)');

drop function if exists api_unstable.propose_cycle_counts(uuid, integer, integer, integer);

drop type if exists erp.scanned_code cascade;
create type erp.scanned_code as (
  text text, gtin text, batch text, best_before date, serial text, count integer, sscc text
);
comment on type erp.scanned_code is
  'A scanned code, as src/codes reads it: the whole text, and what it contains by the rules of GS1. The '
  'GTIN has 14 digits, or it is null, like everything that the code lacks.';
drop type if exists erp.pick_round cascade;
create type erp.pick_round as (assignee text, stock_container_ids uuid[]);
comment on type erp.pick_round is
  'A pick list to be made: who picks, and the containers on the cart. Without containers the service uses '
  'its own.';
drop type if exists erp.parcel_line cascade;
create type erp.parcel_line as (parcel bigint, nth bigint, id uuid, quantity integer);
comment on type erp.parcel_line is
  'Units of a line of a fulfillment order in a parcel: the numbers of both in the input, the line and the '
  'units.';

--! Included erp/end_pick_task.sql
create or replace function erp.end_pick_task() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update erp.pick_list_line l
  set quantity = case when l.picked_quantity > 0 then l.picked_quantity else l.quantity end,
    state = case when l.picked_quantity > 0 then 'picked' else 'dropped' end
  where l.pick_task_id = new.id and l.state = 'open';
  update erp.stock_container c set fulfillment_order_id = null
  where c.id = new.stock_container_id and c.fulfillment_order_id = new.fulfillment_order_id;
  -- Of two that end at once, the second one sees the first
  perform from erp.pick_list p where p.id = new.pick_list_id for no key update;
  update erp.pick_list p set ended_at = ledger.moment(), state = erp.next_state('pick_list',
    case when exists (select from erp.pick_task t where t.pick_list_id = p.id and t.state = 'packed')
      then 'complete' else 'cancel' end, p.state)
  where p.id = new.pick_list_id and p.state in ('open', 'in_progress')
    and not exists (select from erp.pick_task t where t.pick_list_id = p.id and t.state = 'open');
  return null;
end
$$;
comment on function erp.end_pick_task() is
  'Trigger after a fulfillment order has left its pick list: its open lines are dropped, and its container '
  'is free again, with whatever still lies in it. The last one completes the list, or cancels it if nothing '
  'was packed.';
select api_meta.give('erp.end_pick_task()', 'service_writer');
--! EndIncluded erp/end_pick_task.sql
--! Included erp/settle_pick_task.sql
create or replace function erp.settle_pick_task() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update erp.pick_task t set ended_at = ledger.moment(), state = case when exists (
    select from erp.pick_list_line l where l.pick_task_id = t.id and l.packed_quantity > 0
  ) then 'packed' else 'dropped' end
  where t.id = new.pick_task_id and t.state = 'open' and not exists (
    select from erp.pick_list_line l
    where l.pick_task_id = t.id and (l.state = 'open' or l.picked_quantity > l.packed_quantity));
  return null;
end
$$;
comment on function erp.settle_pick_task() is
  'Trigger after a line of a pick list was changed: its fulfillment order leaves the list when nothing of '
  'it is to be picked or packed any more.';
select api_meta.plan_by_index('erp.settle_pick_task()');
select api_meta.give('erp.settle_pick_task()', 'service_writer');
--! EndIncluded erp/settle_pick_task.sql
--! Included erp/keep_picks_of_order.sql
create or replace function erp.keep_picks_of_order() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update erp.pick_task t set ended_at = ledger.moment(), state = case when exists (
    select from erp.pick_list_line l where l.pick_task_id = t.id and l.packed_quantity > 0
  ) then 'packed' else 'dropped' end
  where t.fulfillment_order_id = new.id and t.state = 'open';
  return null;
end
$$;
comment on function erp.keep_picks_of_order() is
  'Trigger after a fulfillment order was cancelled, or given to another location: it leaves its pick list.';
select api_meta.plan_by_index('erp.keep_picks_of_order()');
select api_meta.give('erp.keep_picks_of_order()', 'service_writer');

create or replace function erp.keep_picks_of_line() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  shipped constant integer := greatest(new.fulfilled_quantity - old.fulfilled_quantity, 0);
begin
  if not exists (
    select from erp.pick_list_line l join erp.pick_task t on t.id = l.pick_task_id and t.state = 'open'
    where l.fulfillment_order_line_item_id = new.id
  ) then
    return null;
  end if;
  update erp.pick_list_line l
  set packed_quantity = l.packed_quantity + x.packed,
    quantity = case when l.state = 'open' and l.picked_quantity + x.stays > 0
      then l.picked_quantity + x.stays else l.quantity end,
    state = case when l.state <> 'open' or x.stays > 0 then l.state
      when l.picked_quantity > 0 then 'picked' else 'dropped' end
  from (
    select n.id, least(n.lying, greatest(0, shipped - n.lying_before)) as packed,
      least(n.wanted, greatest(0, new.quantity - new.fulfilled_quantity
        - greatest(0, n.lying_in_all - shipped) - n.wanted_before)) as stays
    from (
      select l.id, l.picked_quantity - l.packed_quantity as lying,
        case l.state when 'open' then l.quantity - l.picked_quantity else 0 end as wanted,
        sum(l.picked_quantity - l.packed_quantity) over before - (l.picked_quantity - l.packed_quantity)
          as lying_before,
        sum(case l.state when 'open' then l.quantity - l.picked_quantity else 0 end) over before
          - case l.state when 'open' then l.quantity - l.picked_quantity else 0 end as wanted_before,
        sum(l.picked_quantity - l.packed_quantity) over () as lying_in_all
      from erp.pick_list_line l join erp.pick_task t on t.id = l.pick_task_id and t.state = 'open'
      where l.fulfillment_order_line_item_id = new.id
      window before as (order by l.number)
    ) n
  ) x
  where l.id = x.id and (x.packed > 0 or l.state = 'open');
  return null;
end
$$;
comment on function erp.keep_picks_of_line() is
  'Trigger after a line of a fulfillment order has less open: units that were shipped count as packed, '
  'first those that were picked first. What is still to be picked is reduced to what is open, the last '
  'lines first.';
select api_meta.plan_by_index('erp.keep_picks_of_line()');
select api_meta.give('erp.keep_picks_of_line()', 'service_writer');

create or replace function erp.drop_pick_line() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.state := case when new.picked_quantity > 0 then 'picked' else 'dropped' end;
  if new.picked_quantity > 0 then
    new.quantity := new.picked_quantity;
  end if;
  return new;
end
$$;
comment on function erp.drop_pick_line() is
  'Trigger before the line of a fulfillment order goes away: nothing more is picked for it.';
--! EndIncluded erp/keep_picks_of_order.sql
--! Included ledger/place_of.sql
-- Have no settings, so that Postgres inlines them into the calling statement
create or replace function ledger.place_of(warehouse_id uuid, bin_location_id uuid)
returns table (type text, place text)
language sql immutable
begin atomic
  select case when place_of.warehouse_id is null then 'bin_location' else 'warehouse' end,
    coalesce(place_of.warehouse_id, place_of.bin_location_id)::text;
end;
comment on function ledger.place_of(uuid, uuid) is
  'Returns the kind and the key (see ledger.stock.place) of a warehouse or a bin.';
grant execute on function ledger.place_of(uuid, uuid) to service_ledger, service_writer;

create or replace function ledger.place_of(
  warehouse_id uuid, bin_location_id uuid, stock_container_id uuid
)
returns table (type text, place text)
language sql immutable
begin atomic
  select case when place_of.stock_container_id is not null then 'stock_container'
      when place_of.warehouse_id is null then 'bin_location' else 'warehouse' end,
    coalesce(place_of.stock_container_id, place_of.warehouse_id, place_of.bin_location_id)::text;
end;
comment on function ledger.place_of(uuid, uuid, uuid) is
  'Returns the kind and the key (see ledger.stock.place) of a warehouse, a bin or a container.';
grant execute on function ledger.place_of(uuid, uuid, uuid) to service_ledger, service_writer;
--! EndIncluded ledger/place_of.sql
--! Included ledger/take_back.sql
create or replace function ledger.take_back(fulfillment_id uuid, note text) returns uuid[]
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  drafts ledger.draft[];
begin
  perform ledger.lock_way_back(fulfillment_id);
  if exists (
    select from erp.fulfillment_line_item l
    where l.fulfillment_id = take_back.fulfillment_id and l.product_id is not null
      and l.quantity <> coalesce((
      select sum(m.quantity)
      from erp.fulfillment_stock_movement k
      join ledger.stock_movement m on m.id = k.stock_movement_id
      where k.fulfillment_line_item_id = l.id), 0)
  ) then
    perform mutation.refuse(
      'INVALID', 'The ledger does not say where its units came from, so they cannot go back there.', '{id}'
    );
  end if;
  drafts := array(
    select row ('{id}', m.product_id, u.quantity, u.batch_id, 'order', m.destination_order_id::text,
      p.type, p.place, 'cancelled_fulfillment')::ledger.draft
    from erp.fulfillment_line_item l join erp.fulfillment_order f on f.id = l.fulfillment_order_id
    left join erp.location w on w.id = f.source_warehouse_location_id
    join erp.fulfillment_stock_movement k on k.fulfillment_line_item_id = l.id
    join ledger.stock_movement m on m.id = k.stock_movement_id
    cross join lateral ledger.place_of(case when m.source_bin_location_id is null
      then coalesce(m.source_warehouse_id, w.warehouse_id) end, m.source_bin_location_id,
      -- Not into a container that holds picked units of another one by now
      (select c.id from erp.stock_container c where c.id = m.source_stock_container_id
        and coalesce(c.fulfillment_order_id, f.id) = f.id)) p
    cross join lateral (
      select b.batch_id, b.quantity from ledger.stock_movement_batch b where b.stock_movement_id = m.id
      union all
      select null, m.quantity - coalesce(sum(b.quantity), 0)
      from ledger.stock_movement_batch b
      where b.stock_movement_id = m.id
    ) u
    where l.fulfillment_id = take_back.fulfillment_id and u.quantity > 0
    order by l.id, m.id, u.batch_id
  );
  if exists (select from unnest(drafts) d where d.source is null) then
    perform mutation.refuse(
      'INVALID', 'Its order has been deleted, so nothing can come back from there.', '{id}'
    );
  elsif exists (select from unnest(drafts) d where d.destination is null) then
    perform mutation.refuse('INVALID', 'The warehouse that its units came from has been deleted.', '{id}');
  end if;
  return (ledger.post(drafts, note)).stock_movements;
end
$$;
comment on function ledger.take_back(uuid, text) is
  'Books the units of a fulfillment from the order back to the places that they came from. Units from a '
  'deleted bin or container go to the warehouse, outside of any bin. Returns the movements. User '
  'error INVALID, and the user errors of ledger.post.';
select api_meta.plan_by_index('ledger.take_back(uuid, text)');
select api_meta.give('ledger.take_back(uuid, text)', 'service_ledger');
grant execute on function ledger.take_back(uuid, text) to service_writer;
--! EndIncluded ledger/take_back.sql
--! Included ledger/planned_picks.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.planned_picks(
  product_ids uuid[], warehouse_ids uuid[], but_for uuid[], for_plans boolean
)
returns setof ledger.pick
language sql stable
begin atomic
  select '{}'::text[], null::uuid, l.product_id, p.warehouse_id, l.quantity - l.picked_quantity,
    k.type, k.place, l.batch_id
  from erp.pick_list_line l
  cross join lateral (
    select p.warehouse_id from erp.pick_list p where p.id = l.pick_list_id offset 0) p
  cross join lateral (
    select t.fulfillment_order_id from erp.pick_task t where t.id = l.pick_task_id offset 0) t
  cross join lateral ledger.place_of(
    case when num_nonnulls(l.bin_location_id, l.stock_container_id) = 0 then p.warehouse_id end,
    l.bin_location_id, l.stock_container_id) k
  where l.product_id = any (planned_picks.product_ids) and l.state = 'open'
    and p.warehouse_id = any (planned_picks.warehouse_ids)
    and t.fulfillment_order_id <> all (planned_picks.but_for)
  union all
  select '{}', null, l.product_id, p.warehouse_id, 1000000000, s.location_type_technical_name, s.place,
    l.batch_id
  from erp.pick_list_line l
  cross join lateral (
    select p.warehouse_id from erp.pick_list p where p.id = l.pick_list_id offset 0) p
  cross join lateral (
    select s.id, s.place, s.location_type_technical_name from ledger.stock s
    where s.product_id = l.product_id
      and s.place = coalesce(l.stock_container_id, l.bin_location_id, p.warehouse_id)::text offset 0
  ) s
  where planned_picks.for_plans and l.product_id = any (planned_picks.product_ids) and l.state = 'short'
    and l.short_at > now() - interval '30 days' and p.warehouse_id = any (planned_picks.warehouse_ids)
    and not exists (
      select from ledger.stock_count n where n.stock_id = s.id and n.counted_at > l.short_at);
end;
comment on function ledger.planned_picks(uuid[], uuid[], uuid[], boolean) is
  'Returns what pick lists are still to take of products in warehouses, as picks with a place, but not for '
  'given fulfillment orders. For new plans, it also returns places that lacked units in the last 30 days '
  'and were not counted since, with more units than any place has.';
grant execute on function ledger.planned_picks(uuid[], uuid[], uuid[], boolean) to service_ledger;
--! EndIncluded ledger/planned_picks.sql
--! Included ledger/plan_picks.sql
create or replace function ledger.plan_picks(picks ledger.pick[], without ledger.pick[]) returns ledger.pick[]
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return ledger.pick_units(picks || without || array(
    select q from ledger.planned_picks(
      array(select distinct p.product_id from unnest(picks) p),
      array(select distinct p.warehouse_id from unnest(picks) p), '{}', true) q));
end
$$;
comment on function ledger.plan_picks(ledger.pick[], ledger.pick[]) is
  'Returns where people find the units of picks, as ledger.pick_units does, but leaves out what other lines '
  'of pick lists will take, places that lacked units, and given places. Before, ledger.lock_shipment must be '
  'called.';
select api_meta.plan_by_index('ledger.plan_picks(ledger.pick[], ledger.pick[])');
select api_meta.give('ledger.plan_picks(ledger.pick[], ledger.pick[])', 'service_ledger');
grant execute on function ledger.plan_picks(ledger.pick[], ledger.pick[]) to service_writer;
--! EndIncluded ledger/plan_picks.sql
--! Included ledger/planned_units.sql
create or replace function ledger.planned_units(
  product_id uuid, warehouse_id uuid, bin_location_id uuid, batch_id uuid
)
returns bigint
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((
    select sum(l.quantity - l.picked_quantity)
    from erp.pick_list_line l join erp.pick_list p on p.id = l.pick_list_id
    cross join lateral ledger.site(null, l.bin_location_id, l.stock_container_id) t
    where l.product_id = planned_units.product_id and l.state = 'open'
      and p.warehouse_id = planned_units.warehouse_id
      and (planned_units.bin_location_id is null or t.bin_location_id = planned_units.bin_location_id)
      and (planned_units.batch_id is null or l.batch_id = planned_units.batch_id)
  ), 0);
end
$$;
comment on function ledger.planned_units(uuid, uuid, uuid, uuid) is
  'Returns how many units pick lists are still to take of a product in a warehouse, perhaps only from a bin '
  'or of a batch. Callers must be marked by api_meta.plan_by_index.';
grant execute on function ledger.planned_units(uuid, uuid, uuid, uuid) to service_ledger;
--! EndIncluded ledger/planned_units.sql
--! Included ledger/warn_of_picks.sql
create or replace function ledger.warn_of_picks(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Usually no pick list waits for any of these products
  if not exists (
    select from erp.pick_list_line l
    where l.product_id = any (array(select d.product_id from unnest(drafts) d)) and l.state = 'open'
  ) then
    return;
  end if;
  perform mutation.warn((
    select jsonb_agg(mutation.user_error('STOCK_PROMISED',
      format('Pick list %s takes %s units of product %s from there; %s are left.', x.number, x.planned,
        x.product_number, greatest(x.lying, 0)),
      drafts[x.line].field,
      jsonb_build_object('productId', 'gid://service/Product/' || x.product_id, 'pickListNumber', x.number,
        'planned', x.planned, 'left', x.lying))
      order by x.line)
    from (
      select g.product_id, a.product_number, g.line, min(p.number) as number,
        sum(l.quantity - l.picked_quantity) as planned,
        coalesce((
          select case when g.batch_id is null then s.quantity else coalesce((
            select b.quantity from ledger.batch_stock b where b.stock_id = s.id and b.batch_id = g.batch_id
          ), 0) end
          from ledger.stock s where s.product_id = g.product_id and s.place = g.source), 0) as lying
      from (
        select d.product_id, d.source, d.batch_id, min(d.ordinality) as line
        from unnest(drafts) with ordinality d
        where d.source_type in ('warehouse', 'bin_location', 'stock_container')
        group by d.product_id, d.source, d.batch_id
      ) g
      join erp.product a on a.id = g.product_id
      join erp.pick_list_line l on l.product_id = g.product_id and l.state = 'open'
        and (g.batch_id is null or l.batch_id = g.batch_id)
      join erp.pick_list p on p.id = l.pick_list_id
      where coalesce(l.stock_container_id, l.bin_location_id, p.warehouse_id)::text = g.source
      group by g.product_id, a.product_number, g.line, g.source, g.batch_id
    ) x
    where x.lying < x.planned));
end
$$;
comment on function ledger.warn_of_picks(ledger.draft[]) is
  'Warns if movements, which have been booked, left less in a place than pick lists are to take from there: '
  'warning STOCK_PROMISED. The person who picks will report the rest as missing.';
grant execute on function ledger.warn_of_picks(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/warn_of_picks.sql
--! Included ledger/free_units.sql
create or replace function ledger.free_units(line ledger.reservation_line) returns bigint[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  free bigint[] := array[null, null, null, null, null]::bigint[];
begin
  free[1] := coalesce((
    select s.available_quantity from ledger.warehouse_stock s
    where s.product_id = line.product_id and s.warehouse_id = line.warehouse_id), 0);
  if line.order_line_item_id is null then
    free[2] := (select p.available_stock from erp.product p where p.id = line.product_id);
  end if;
  if line.bin_location_id is not null then
    free[3] := ledger.sellable_units(line.product_id, line.warehouse_id, line.bin_location_id, null)
      - coalesce((
        select sum(r.open_quantity) from erp.stock_reservation r
        where r.bin_location_id = line.bin_location_id and r.product_id = line.product_id
          and r.open_quantity > 0), 0)
      - ledger.planned_units(line.product_id, line.warehouse_id, line.bin_location_id, null);
  end if;
  if line.batch_id is not null then
    free[4] := ledger.sellable_units(line.product_id, line.warehouse_id, null, line.batch_id)
      - coalesce((
        select sum(r.open_quantity) from erp.stock_reservation r
        where r.batch_id = line.batch_id and r.product_id = line.product_id
          and r.warehouse_id = line.warehouse_id and r.open_quantity > 0), 0)
      - ledger.planned_units(line.product_id, line.warehouse_id, null, line.batch_id);
  end if;
  if line.bin_location_id is not null and line.batch_id is not null then
    free[5] := ledger.sellable_units(line.product_id, line.warehouse_id, line.bin_location_id, line.batch_id)
      - coalesce((
        select sum(r.open_quantity) from erp.stock_reservation r
        where r.batch_id = line.batch_id and r.product_id = line.product_id
          and r.bin_location_id = line.bin_location_id and r.open_quantity > 0), 0)
      - ledger.planned_units(line.product_id, line.warehouse_id, line.bin_location_id, line.batch_id);
  end if;
  return free;
end
$$;
comment on function ledger.free_units(ledger.reservation_line) is
  'Returns how many units are left to be reserved. The five numbers are for the warehouse, the product in '
  'all, the bin, the batch in the warehouse, and the batch in the bin; null if it does not matter. The '
  'product matters only without an order line: other orders wait for units of any warehouse. Callers must be '
  'marked by api_meta.plan_by_index.';
grant execute on function ledger.free_units(ledger.reservation_line) to service_ledger;
--! EndIncluded ledger/free_units.sql
--! Included ledger/unmet_units.sql
create or replace function ledger.unmet_units(
  product_id uuid, warehouse_id uuid, lines ledger.reservation_line[]
)
returns bigint
language sql stable set search_path = pg_catalog, pg_temp
return (
  with need as materialized (
    select x.bin, x.batch, sum(x.units) as units
    from (
      select r.bin_location_id as bin, r.batch_id as batch, r.open_quantity as units
      from erp.stock_reservation r
      where r.product_id = unmet_units.product_id and r.warehouse_id = unmet_units.warehouse_id
        and r.open_quantity > 0
      union all
      select t.bin_location_id, k.batch_id, k.quantity - k.picked_quantity
      from erp.pick_list_line k join erp.pick_list p on p.id = k.pick_list_id
      cross join lateral ledger.site(null, k.bin_location_id, k.stock_container_id) t
      where k.product_id = unmet_units.product_id and k.state = 'open'
        and p.warehouse_id = unmet_units.warehouse_id
      union all
      select l.bin_location_id, l.batch_id, l.quantity from unnest(unmet_units.lines) l
      where l.product_id = unmet_units.product_id and l.warehouse_id = unmet_units.warehouse_id
    ) x
    where num_nonnulls(x.bin, x.batch) > 0 group by x.bin, x.batch
  ),
  bin as materialized (
    select n.bin, row_number() over (order by n.bin)::integer - 1 as nth from need n
    where n.batch is null and exists (select from need b where b.bin is null)
  ),
  -- Promised units less sellable units, by bin and batch
  lack as materialized (
    select n.bin, n.batch, n.units from need n
    union all
    select t.bin_location_id, u.batch, - u.units
    from ledger.stock s
    cross join lateral ledger.site(s.warehouse_id, s.bin_location_id, s.stock_container_id) t
    cross join lateral (
      select b.id as batch, k.quantity as units
      from ledger.batch_stock k join erp.batch b on b.id = k.batch_id
      where k.stock_id = s.id and not b.is_held
        and coalesce(b.best_before_date >= (select erp.local_date(now())), true)
      union all
      select null, s.quantity - coalesce(sum(k.quantity), 0) from ledger.batch_stock k where k.stock_id = s.id
    ) u
    where s.product_id = unmet_units.product_id
      and s.location_type_technical_name in ('warehouse', 'bin_location', 'stock_container')
      and t.warehouse_id = unmet_units.warehouse_id and t.is_sellable and t.fulfillment_order_id is null
      and exists (select from bin)
  ),
  -- Some bins as a whole, and of each batch what lies elsewhere: for any choice of bins
  chosen as (
    select m.mask, i.is_in, case when not i.is_in then k.batch end as batch, sum(k.units) as units
    from generate_series(0, (1 << (select least(count(*), 10)::integer from bin)) - 1) m (mask)
    cross join lack k left join bin b on b.bin = k.bin
    cross join lateral (values (coalesce(b.nth < 10 and m.mask & (1 << (b.nth % 10)) <> 0, false))) i (is_in)
    where exists (select from bin) and (i.is_in or k.batch in (select n.batch from need n)) group by 1, 2, 3
  )
  select coalesce(max(c.units), 0)
  from (
    select sum(case when c.is_in then c.units else greatest(c.units, 0) end)::bigint as units
    from chosen c group by c.mask
  ) c
);
comment on function ledger.unmet_units(uuid, uuid, ledger.reservation_line[]) is
  'Returns how many units of reservations of a product in a warehouse cannot be had at the same time: '
  'some name a bin, and others a batch that lies there. Counts active reservations, the units that pick '
  'lists will take, and the given lines. By Hall''s theorem, for up to ten bins. Returns 0 unless both kinds '
  'exist.';
select api_meta.plan_by_index('ledger.unmet_units(uuid, uuid, ledger.reservation_line[])');
grant execute on function ledger.unmet_units(uuid, uuid, ledger.reservation_line[]) to service_ledger;
--! EndIncluded ledger/unmet_units.sql
--! Included ledger/plain_place.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.plain_place(
  product_id uuid, place text, special_place text, comes boolean, counted_from timestamptz
)
returns table (
  stock ledger.stock, special_id uuid, product erp.product, is_for_sale boolean, held ledger.warehouse_stock
)
language sql stable
begin atomic
  select s, x.id, p, w.is_stock_available_for_sale, h
  from ledger.stock s
  left join ledger.stock x on x.product_id = s.product_id and x.place = plain_place.special_place
  join erp.product p on p.id = s.product_id
  join erp.warehouse w on w.id = coalesce(s.warehouse_id,
    (select b.warehouse_id from erp.bin_location b
      where b.id = s.bin_location_id and b.stock_state = 'sellable'))
  join ledger.warehouse_stock h on h.product_id = s.product_id and h.warehouse_id = w.id
  where s.product_id = plain_place.product_id and s.place = plain_place.place and not p.is_batch_managed
    and (plain_place.special_place is null or x.id is not null)
    and (plain_place.comes is false
      or not exists (select from erp.product v where v.parent_id = plain_place.product_id))
    and (plain_place.comes is true
      or not exists (select from ledger.batch_stock b where b.stock_id = s.id))
    and (plain_place.comes is true or not exists (
      select from erp.pick_list_line k where k.product_id = plain_place.product_id and k.state = 'open'))
    and not exists (
      select from ledger.stock_count n
      where n.stock_id = s.id and n.counted_at >= plain_place.counted_from and n.batch_id is null
        and n.difference is not null);
end;
comment on function ledger.plain_place(uuid, text, text, boolean, timestamptz) is
  'Returns the rows that change when units come to or leave a warehouse or bin: its stock, the stock in a '
  'special place, if given, and the figures that follow. Returns no row if one of these is missing, or if '
  'batches, variants, pick lists or counts from a moment on need a check, or the bin is not sellable. The '
  'product is locked.';
grant execute on function ledger.plain_place(uuid, text, text, boolean, timestamptz)
  to service_ledger, service_booker;
--! EndIncluded ledger/plain_place.sql
--! Included ledger/plain_singles.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.plain_singles(singles ledger.single[], moment timestamptz)
returns table (
  nth integer, side integer, operation text, note text, cause jsonb, reference text, reason text,
  line ledger.line, change integer, not_for_sale integer, stock ledger.stock, special_id uuid,
  warehouse_id uuid, booked_at timestamptz, movement bigint
)
language sql stable
begin atomic
  select j.nth, j.side, j.operation, j.note, j.cause, j.reference, j.reason, j.line, j.change,
    j.not_for_sale, j.stock, j.special_id, (j.held).warehouse_id,
    -- Later ones have moved since what earlier ones count
    moment + j.nth * interval '1 microsecond',
    case when j.change <> 0 then
      count(*) filter (where j.change <> 0 and j.side = 1) over (order by j.nth) end
  from (
    select r.*,
      bool_and(coalesce(
        (r.stock).quantity + r.stock_change between 0 and 2000000000
        and (r.product).physical_stock + r.product_change <= 2000000000
        -- What was changed before can't be set by what is known here
        and (r.operation <> 'set' or r.nth_there = 1)
        -- A warning is due, unless units come
        and (r.change >= 0
          or (r.held).quantity - (r.held).reserved_quantity - (r.held).held_quantity + r.held_change >= 0
          and (r.product).physical_stock - (r.product).stock_not_available_for_sale
            - (r.product).reserved_stock + r.product_change - r.not_for_sale_change >= 0), false))
        over (partition by (r.line).product_id order by r.nth) as is_plain
    from (
      select s.*, row_number() over there as nth_there, sum(s.change) over there as stock_change,
        sum(s.change) over (partition by (s.held).id order by s.nth) as held_change,
        sum(s.change) over everywhere as product_change,
        sum(s.not_for_sale) over everywhere as not_for_sale_change
      from (
        select c.*, l.side, p.*, x.change, case when p.is_for_sale then 0 else x.change end as not_for_sale
        from unnest(singles) c
        cross join lateral (
          values (1, (c.line).source_warehouse_id, (c.line).source_bin_location_id,
            case c.operation when 'adjust' then 1 when 'transfer' then - 1 end * (c.line).quantity),
          (2, (c.line).destination_warehouse_id, (c.line).destination_bin_location_id, (c.line).quantity)
        ) l (side, warehouse_id, bin_location_id, units)
        left join lateral ledger.plain_place(
          (c.line).product_id, coalesce(l.warehouse_id, l.bin_location_id)::text,
          case when c.operation <> 'transfer' then 'stock_correction' end, l.units > 0, moment) p
          -- Else a warehouse's id would do for a bin's
          on (p.stock).warehouse_id is not distinct from l.warehouse_id
            and (p.stock).bin_location_id is not distinct from l.bin_location_id
        cross join lateral (
          select case c.operation when 'set' then (c.line).quantity - (p.stock).quantity else l.units end
        ) x (change)
        where l.side = 1 or c.operation = 'transfer'
      ) s
      window there as (partition by (s.stock).id order by s.nth),
        everywhere as (partition by (s.line).product_id order by s.nth)
    ) r
  ) j where j.is_plain;
end;
comment on function ledger.plain_singles(ledger.single[], timestamptz) is
  'Returns the mutations of stock with one line each that qualify for the single-line path. For each of '
  'their places, ledger.plain_place must return a row and enough stock must be left. No earlier mutation of '
  'the same product may have been left out. Returns a row for each place: the change there, and the number '
  'of the movement, from 1, if there is one. The products are locked.';
grant execute on function ledger.plain_singles(ledger.single[], timestamptz) to service_ledger;
--! EndIncluded ledger/plain_singles.sql
--! Included ledger/ship.sql
create or replace function ledger.ship(
  order_id uuid, picks ledger.pick[], assigned uuid[], note text, process text default null,
  out stock_movements uuid[], out lines uuid[]
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  found_units ledger.pick[];
begin
  found_units := ledger.pick_units(picks || array(
    select q from ledger.planned_picks(array(select p.product_id from unnest(picks) p),
      array(select p.warehouse_id from unnest(picks) p), array(
        select l.fulfillment_order_id from unnest(picks) p
        join erp.fulfillment_order_line_item l on l.id = p.line_id), false) q));
  perform ledger.require_picked(picks, found_units);
  found_units := array(select p from unnest(picks) p where (p).place is not null) || found_units;
  lines := array(select f.line_id from unnest(found_units) with ordinality f order by f.ordinality);
  stock_movements := (ledger.book(array(
    select row (
      f.field, f.product_id, f.quantity, f.batch_id, f.place_type, f.place, 'order', order_id::text,
      coalesce(process, 'api_shipping')
    )::ledger.draft
    from unnest(found_units) with ordinality f order by f.ordinality
  ), note, ledger.promises_kept(picks, assigned))).stock_movements;
end
$$;
comment on function ledger.ship(uuid, ledger.pick[], uuid[], text, text) is
  'Books units out to an order and ends their promises; fulfillment orders that were assigned for this '
  'shipment have promised nothing. Units of picks without a place are taken by ledger.pick_units, but not '
  'what pick lists take for others. Returns '
  'the movements, each with its line. Before, ledger.lock_shipment must be called. User error '
  'INSUFFICIENT_STOCK, and the user errors of ledger.book.';
select api_meta.plan_by_index('ledger.ship(uuid, ledger.pick[], uuid[], text, text)');
select api_meta.give('ledger.ship(uuid, ledger.pick[], uuid[], text, text)', 'service_ledger');
grant execute on function ledger.ship(uuid, ledger.pick[], uuid[], text, text) to service_writer;
--! EndIncluded ledger/ship.sql
--! Included ledger/book.sql
create or replace function ledger.book(
  drafts ledger.draft[], note text, others ledger.figure_change[] default '{}', reference text default null,
  reason text default null
) returns ledger.booked
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Not the time of the transaction: it may have waited for the locks.
  moment constant timestamptz := ledger.moment();
  calls constant ledger.call[] := array[
    row (moment, note, null, reference, reason)::ledger.call];
  legs ledger.leg[];
  seen record;
  written record;
begin
  if cardinality(drafts) = 0 then
    perform ledger.write(calls, '{}', '{}', others) where others <> '{}';
    return row ('{}', '{}')::ledger.booked;
  end if;
  if reason is not null or exists (select from ledger.process_type t where t.requires_reason) then
    perform ledger.check_reason(reason, drafts);
  end if;
  if cardinality(drafts) = 1 and drafts[1].batch_id is null and (case 'special_stock_location'
    when drafts[1].source_type then drafts[1].destination_type in ('warehouse', 'bin_location')
    when drafts[1].destination_type then drafts[1].source_type in ('warehouse', 'bin_location') end) then
    written := ledger.book_correction(drafts[1], calls[1]);
    if written.lacks then
      perform ledger.warn_of_promises(drafts);
    end if;
    if written.movement_id is not null then
      return row (array[written.movement_id], array[written.stock_id])::ledger.booked;
    end if;
  end if;
  legs := ledger.legs_of(drafts, moment);
  seen := ledger.examine(legs);
  if seen.needs_care then
    perform ledger.check_variants(drafts);
    perform ledger.require_batches(drafts);
    perform ledger.require_stock(drafts);
  end if;

  written := ledger.write(calls, drafts, seen.changes, others);
  if written.lacks then
    perform ledger.warn_of_promises(drafts);
  end if;
  if seen.recounted is not null then
    perform ledger.carry_counts(seen.recounted, null);
  end if;
  -- Without need of care there are no batches
  if seen.needs_care then
    perform ledger.write_batches(drafts, written.movement_ids);
    perform ledger.carry_counts(w.stock_ids, w.batch_id) from ledger.write_batch_figures(legs) w;
  end if;
  perform ledger.warn_of_picks(drafts);
  return row (written.movement_ids, array(
    select c.stock_id from unnest(seen.changes) c where c.place_type <> 'special_stock_location'
  ))::ledger.booked;
end
$$;
comment on function ledger.book(ledger.draft[], text, ledger.figure_change[], text, text) is
  'Books movements whose locks have been taken. Checks that no real place is left with a negative quantity '
  'of a product or a batch, and writes each row once, including other figures that change with the '
  'movements. Returns the movements in the order of the drafts, and the stock that they changed. User '
  'errors INSUFFICIENT_STOCK, BATCH_REQUIRED, PRODUCT_HAS_VARIANTS, the errors of ledger.require_batches and '
  'ledger.check_reason. Callers must be marked by api_meta.plan_by_index.';
grant execute on function ledger.book(ledger.draft[], text, ledger.figure_change[], text, text)
  to service_ledger;
--! EndIncluded ledger/book.sql
--! Included erp/cycle_counts.sql
create or replace function erp.cycle_counts(
  warehouse_id uuid, days_of_a integer, days_of_b integer, days_of_c integer, maximum integer
)
returns table (rank integer, stock_id uuid, product_id uuid, place_warehouse_id uuid, bin_location_id uuid,
  value_class text, last_counted_at timestamptz, due_ratio double precision, difference_count integer)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  with held as materialized (
    select s.* from (
      select s.*, s.warehouse_id as site_id, null::uuid as bin_id from ledger.stock s
      where s.warehouse_id = cycle_counts.warehouse_id
      union all
      select s.*, null, b.id from erp.bin_location b join ledger.stock s on s.bin_location_id = b.id
      where b.warehouse_id = cycle_counts.warehouse_id
      union all
      select s.*, case when c.bin_location_id is null then c.warehouse_id end, c.bin_location_id
      from erp.stock_container c join ledger.stock s on s.stock_container_id = c.id
      where c.warehouse_id = cycle_counts.warehouse_id and c.fulfillment_order_id is null
    ) s
    where s.quantity > 0 and (select auth.has_scope('stocktake_results:read'))
  ), product as materialized (
    select h.product_id, sum(h.quantity) as quantity from held h group by h.product_id
  ), worth as (
    select p.product_id, p.quantity * coalesce(u.unit_value, 0) as value
    from product p
    join erp.unit_values(array(select p.product_id from product p)) u on u.product_id = p.product_id
  ), class as (
    -- The first 80 percent of the value are class A, the next 15 are class B
    select c.product_id, c.value,
      case when c.before < 0.80 * c.total then 'A' when c.before < 0.95 * c.total then 'B' else 'C' end
        as name
    from (
      select w.product_id, w.value, sum(w.value) over () as total,
        sum(w.value) over (order by w.value desc, w.product_id) - w.value as before
      from worth w
    ) c
  ), due as (
    select h.id, h.product_id, h.site_id as warehouse_id, h.bin_id as bin_location_id, c.name, c.value,
      n.counted_at,
      extract(epoch from ledger.moment() - coalesce(n.counted_at, h.created_at)) / 86400
        / case c.name when 'A' then days_of_a when 'B' then days_of_b else days_of_c end
        -- Who picked there found too little
        + case when exists (
          select from erp.pick_list_line l
          where l.product_id = h.product_id and l.state = 'short'
            and l.short_at > coalesce(n.counted_at, '-infinity')
            and (l.bin_location_id = h.bin_location_id or l.stock_container_id = h.stock_container_id
              or num_nonnulls(h.bin_location_id, h.stock_container_id) = 0
              and num_nonnulls(l.bin_location_id, l.stock_container_id) = 0
              and exists (select from erp.pick_list p
                where p.id = l.pick_list_id and p.warehouse_id = h.warehouse_id))
        ) then 1000 else 0 end as ratio
    from held h join class c on c.product_id = h.product_id
    left join lateral (
      select max(n.counted_at) as counted_at from ledger.stock_count n
      where n.stock_id = h.id and n.difference is not null
    ) n on true
    where not exists (
      select from erp.stocktake_line l
      where l.place = h.place and l.product_id = h.product_id and l.state not in ('approved', 'cancelled'))
  ), first as (
    select row_number() over (order by d.ratio desc, d.value desc, d.id) as rank, d.* from due d
    where d.ratio >= 1 order by 1 limit maximum
  )
  select f.rank::integer, f.id, f.product_id, f.warehouse_id, f.bin_location_id, f.name, f.counted_at,
    f.ratio::double precision, (
      select count(*) from ledger.stock_count n where n.stock_id = f.id and n.difference <> 0
    )::integer
  from first f order by f.rank;
end;
comment on function erp.cycle_counts(uuid, integer, integer, integer, integer) is
  'Returns the stock of a warehouse that is due for a count, by how long it is due. The interval in days '
  'depends on the share of the product in the value of the warehouse: class A, B or C. What was never '
  'counted is due since its first movement. Places that lacked units of a pick list come '
  'first. Stock of open stocktakes is left out. Empty without the scope '
  'stocktake_results:read.';
select api_meta.give('erp.cycle_counts(uuid, integer, integer, integer, integer)', 'service_writer');
revoke execute on function erp.cycle_counts(uuid, integer, integer, integer, integer) from public;
grant execute on function erp.cycle_counts(uuid, integer, integer, integer, integer) to service_api;
--! EndIncluded erp/cycle_counts.sql
--! Included api/propose_cycle_counts.sql
create function api_unstable.propose_cycle_counts(
  warehouse_id uuid, days_of_a integer default 30, days_of_b integer default 90,
  days_of_c integer default 365
) returns setof api_unstable.cycle_count_proposals language sql stable
begin atomic
  select c.rank, c.stock_id, c.product_id, c.place_warehouse_id, c.bin_location_id, c.value_class,
    c.last_counted_at, c.due_ratio, c.difference_count
  from erp.cycle_counts(propose_cycle_counts.warehouse_id, greatest(days_of_a, 1), greatest(days_of_b, 1),
    greatest(days_of_c, 1), 1000) c;
end;
comment on function api_unstable.propose_cycle_counts(uuid, integer, integer, integer) is $$
@fieldName cycleCountProposals
@noFilter
@gid warehouse_id Warehouse
@describe warehouse_id The warehouse.
@describe days_of_a Days after which stock of class A is due again.
@describe days_of_b The same for class B.
@describe days_of_c The same for class C.
Stock of a warehouse that is due for a count, the most urgent first, at most 1,000. It depends on the value of
the product and on the last count. Stock that an open stocktake counts is left out.$$;
--! EndIncluded api/propose_cycle_counts.sql
--! Included erp/scanned_products.sql
create or replace function erp.scanned_products(code erp.scanned_code)
returns table (product_id uuid, units bigint)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select g.product_id, g.quantity::bigint * coalesce(code.count, 1)
  from erp.product_gtin g where g.gtin = code.gtin
  union
  select p.id, coalesce(code.count, 1) from erp.product p
  where p.gtin = any (array[code.gtin, substr(code.gtin, 2), substr(code.gtin, 3), substr(code.gtin, 7)])
    and erp.gtin14(p.gtin) = code.gtin
  union
  select p.id, 1 from erp.product p where p.product_number = code.text;
end;
comment on function erp.scanned_products(erp.scanned_code) is
  'Returns the products that a scanned code may mean, by a GTIN or a product number, with the units that it '
  'stands for.';
select api_meta.plan_by_index('erp.scanned_products(erp.scanned_code)');
grant execute on function erp.scanned_products(erp.scanned_code) to service_writer;
--! EndIncluded erp/scanned_products.sql
--! Included erp/place_of_pick.sql
create or replace function erp.place_of_pick(
  line erp.pick_list_line, list erp.pick_list, out type text, out place text
)
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select p.type, p.place from ledger.place_of(
    case when num_nonnulls((line).bin_location_id, (line).stock_container_id) = 0
      then (list).warehouse_id end,
    (line).bin_location_id, (line).stock_container_id) p;
end;
comment on function erp.place_of_pick(erp.pick_list_line, erp.pick_list) is
  'Returns the kind and the key (see ledger.stock.place) of the place that a line of a pick list names.';
grant execute on function erp.place_of_pick(erp.pick_list_line, erp.pick_list) to service_writer;
--! EndIncluded erp/place_of_pick.sql
--! Included erp/lock_pick_line.sql
create or replace function erp.lock_pick_line(
  pick_list_line_id uuid, out line erp.pick_list_line, out task erp.pick_task, out list erp.pick_list
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.fulfillment_order;
begin
  select t.* into task from erp.pick_list_line l join erp.pick_task t on t.id = l.pick_task_id
  where l.id = pick_list_line_id;
  if not found then
    perform mutation.refuse_missing('line of a pick list', '{id}');
  end if;
  present := erp.lock_fulfillment_order(task.fulfillment_order_id, '{id}');
  select * into line from erp.pick_list_line l where l.id = pick_list_line_id for no key update;
  select * into task from erp.pick_task t where t.id = line.pick_task_id;
  select * into list from erp.pick_list p where p.id = line.pick_list_id;
  perform erp.next_state('pick_list', 'pick', list.state);
  if line.state <> 'open' then
    perform mutation.refuse('INVALID_STATE_TRANSITION',
      case line.state when 'picked' then 'All units of the line are picked already.'
        when 'short' then 'The units were reported missing.'
        else 'The fulfillment order does not need these units any more.' end,
      '{id}', jsonb_build_object('state', line.state, 'picked', line.picked_quantity));
  elsif present.state = 'OnHold' then
    perform mutation.refuse('ON_HOLD', format('Fulfillment order %s is on hold.', present.number), '{id}');
  elsif present.state = 'Open' then
    -- It was on hold, or on no list, when the list was started
    update erp.fulfillment_order f set state = erp.next_state('fulfillment_order', 'start', f.state)
    where f.id = present.id;
  end if;
end
$$;
comment on function erp.lock_pick_line(uuid) is
  'Locks an open line of a pick list that is being picked, by the locks of its order and fulfillment order. '
  'Returns it with its fulfillment order on the list, and the list. User errors NOT_FOUND, '
  'EXTERNALLY_MANAGED, INVALID_STATE_TRANSITION, ON_HOLD.';
select api_meta.plan_by_index('erp.lock_pick_line(uuid)');
grant execute on function erp.lock_pick_line(uuid) to service_writer;
--! EndIncluded erp/lock_pick_line.sql
--! Included erp/check_pick_code.sql
create or replace function erp.check_pick_code(
  line erp.pick_list_line, stock_container_id uuid, code erp.scanned_code, container_code erp.scanned_code
)
returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted erp.product;
  batch erp.batch;
  holder erp.stock_container;
  scanned record;
  lot text;
begin
  select * into wanted from erp.product p where p.id = line.product_id;
  -- The product of the line comes first, when several have the code
  select s.product_id, s.units into scanned from erp.scanned_products(code) s
  order by s.product_id <> wanted.id, s.units limit 1;
  if not found then
    perform mutation.refuse('UNKNOWN_CODE', format('No product has this code; product %s is expected.',
      wanted.product_number), '{code}', jsonb_build_object('expected', wanted.product_number));
  elsif scanned.product_id <> wanted.id then
    perform mutation.refuse('WRONG_PRODUCT', format('This is product %s; product %s is expected.', (
      select p.product_number from erp.product p where p.id = scanned.product_id), wanted.product_number),
      '{code}', jsonb_build_object('expected', wanted.product_number));
  end if;
  if line.batch_id is not null then
    select * into batch from erp.batch b where b.id = line.batch_id;
    lot := case when wanted.has_serial_numbers then coalesce(code.serial, code.batch) else code.batch end;
    if lot <> batch.number or code.best_before <> batch.best_before_date then
      perform mutation.refuse('BATCH_MISMATCH', format('Batch %s%s is expected.', batch.number,
        ', best before ' || batch.best_before_date), '{code}',
        jsonb_strip_nulls(
          jsonb_build_object('expected', batch.number, 'bestBefore', batch.best_before_date)));
    end if;
  end if;
  select * into holder from erp.stock_container c where c.id = stock_container_id;
  if not found then
    perform mutation.refuse('INVALID', 'The container was deleted. Cancel the pick list.', '{id}');
  elsif container_code.text is not null and container_code.text <> holder.number
    and holder.sscc is distinct from container_code.sscc then
    perform mutation.refuse('WRONG_CONTAINER', format('The units belong into container %s.', holder.number),
      '{container_code}', jsonb_build_object('expected', holder.number));
  end if;
  return scanned.units;
end
$$;
comment on function erp.check_pick_code(erp.pick_list_line, uuid, erp.scanned_code, erp.scanned_code) is
  'Refuses a scanned product, batch or container that is not the one of a line of a pick list, and says '
  'which is. A code without a batch is accepted for any batch; the code of the container may be null. '
  'Returns the units that the code stands for. User errors UNKNOWN_CODE, WRONG_PRODUCT, BATCH_MISMATCH, '
  'WRONG_CONTAINER, INVALID.';
select api_meta.plan_by_index(
  'erp.check_pick_code(erp.pick_list_line, uuid, erp.scanned_code, erp.scanned_code)');
grant execute on function erp.check_pick_code(erp.pick_list_line, uuid, erp.scanned_code, erp.scanned_code)
  to service_writer;
--! EndIncluded erp/check_pick_code.sql
--! Included erp/check_pick_place.sql
create or replace function erp.check_pick_place(
  batch_ids uuid[], bin_location_id uuid, stock_container_id uuid, warehouse_id uuid
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  batch erp.batch;
  bin erp.bin_location;
begin
  select * into batch from erp.batch b
  where b.id = any (batch_ids) and (b.is_held or b.best_before_date < erp.local_date(now()))
  order by b.number limit 1;
  if batch.is_held then
    perform mutation.refuse('BATCH_HELD', format('Batch %s is on hold.', batch.number), '{id}');
  elsif found then
    perform mutation.refuse('BATCH_EXPIRED', format('Batch %s was best before %s.', batch.number,
      batch.best_before_date), '{id}');
  end if;
  select * into bin from erp.bin_location b where b.id = coalesce(check_pick_place.bin_location_id, (
    select c.bin_location_id from erp.stock_container c where c.id = check_pick_place.stock_container_id));
  if bin.stock_state <> 'sellable' then
    perform mutation.refuse('BIN_NOT_SELLABLE', format('The units in bin %s are %s.', bin.code,
      case bin.stock_state when 'damaged' then 'damaged' else 'in quality control' end), '{id}');
  elsif bin.warehouse_id <> check_pick_place.warehouse_id then
    perform mutation.refuse('INVALID', format('Bin %s stands in another warehouse now. Report the units as '
      'missing.', bin.code), '{id}');
  end if;
end
$$;
comment on function erp.check_pick_place(uuid[], uuid, uuid, uuid) is
  'Refuses units of batches, and of a bin, that may not be sold any more, or a bin that has left the '
  'warehouse. User errors BATCH_HELD, BATCH_EXPIRED, BIN_NOT_SELLABLE, INVALID.';
select api_meta.plan_by_index('erp.check_pick_place(uuid[], uuid, uuid, uuid)');
grant execute on function erp.check_pick_place(uuid[], uuid, uuid, uuid) to service_writer;
--! EndIncluded erp/check_pick_place.sql
--! Included erp/confirm_pick.sql
create or replace function erp.confirm_pick(
  pick_list_line_id uuid, code erp.scanned_code, container_code erp.scanned_code, quantity integer
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant record := erp.lock_pick_line(pick_list_line_id);
  line constant erp.pick_list_line := present.line;
  task constant erp.pick_task := present.task;
  list constant erp.pick_list := present.list;
  scanned constant bigint := erp.check_pick_code(line, task.stock_container_id, code, container_code);
  units constant bigint := coalesce(quantity, scanned);
  source constant record := erp.place_of_pick(line, list);
  open constant integer := line.quantity - line.picked_quantity;
begin
  if units < 1 then
    perform mutation.refuse('OUT_OF_RANGE', 'The quantity must be at least 1.', '{quantity}');
  elsif units > open then
    perform mutation.refuse('OVER_FULFILLMENT',
      format('%s units are to be picked here, not %s.', open, units),
      case when quantity is null then '{code}'::text[] else '{quantity}' end,
      jsonb_build_object('open', open, 'requested', units));
  end if;
  perform erp.check_pick_place(array[line.batch_id], line.bin_location_id, line.stock_container_id,
    list.warehouse_id);
  update erp.pick_list_line l set picked_quantity = l.picked_quantity + units,
    state = case when units = open then 'picked' else 'open' end
  where l.id = line.id;
  perform ledger.post(array[row ('{quantity}', line.product_id, units, line.batch_id, source.type,
    source.place, 'stock_container', task.stock_container_id::text, 'relocation')::ledger.draft], null);
  return line.id;
end
$$;
comment on function erp.confirm_pick(uuid, erp.scanned_code, erp.scanned_code, integer) is
  'Books scanned units of a line of a pick list from their place into the container. Without a quantity, '
  'the code says how many units it stands for. Returns the line. User errors of erp.lock_pick_line, '
  'erp.check_pick_code and erp.check_pick_place, and OUT_OF_RANGE, OVER_FULFILLMENT, INSUFFICIENT_STOCK.';
select api_meta.plan_by_index('erp.confirm_pick(uuid, erp.scanned_code, erp.scanned_code, integer)');
grant execute on function erp.confirm_pick(uuid, erp.scanned_code, erp.scanned_code, integer)
  to service_writer;
--! EndIncluded erp/confirm_pick.sql
--! Included erp/report_short.sql
create or replace function erp.report_short(
  pick_list_line_id uuid, out line_id uuid, out replacements uuid[], out missing integer
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant record := erp.lock_pick_line(pick_list_line_id);
  line constant erp.pick_list_line := present.line;
  list constant erp.pick_list := present.list;
  source constant record := erp.place_of_pick(line, list);
  found_units ledger.pick[];
begin
  missing := line.quantity - line.picked_quantity;
  perform ledger.lock_shipment(array[line.product_id], array[list.warehouse_id]);
  found_units := ledger.plan_picks(
    -- Without the line of the fulfillment order: what is in its container is picked already
    array[row ('{id}', null, line.product_id, list.warehouse_id, missing, null, null, null)::ledger.pick],
    array[row ('{id}', null, line.product_id, list.warehouse_id, 1000000000, source.type, source.place,
      line.batch_id)::ledger.pick]);
  -- Lines of one list get one number after the other
  perform from erp.pick_list p where p.id = list.id for no key update;
  with added as (
    insert into erp.pick_list_line (pick_list_id, number, pick_task_id, fulfillment_order_line_item_id,
      product_id, batch_id, bin_location_id, stock_container_id, quantity)
    select list.id, (select max(n.number) from erp.pick_list_line n where n.pick_list_id = list.id) + f.nth,
      line.pick_task_id, line.fulfillment_order_line_item_id, line.product_id, f.batch_id,
      case f.place_type when 'bin_location' then f.place::uuid end,
      case f.place_type when 'stock_container' then f.place::uuid end, f.quantity
    from unnest(found_units) with ordinality
      f (field, line_id, product_id, warehouse_id, quantity, place_type, place, batch_id, nth)
    order by f.nth
    returning id, quantity
  )
  select array_agg(a.id order by a.id), missing - coalesce(sum(a.quantity), 0)
  into replacements, missing from added a;
  replacements := coalesce(replacements, '{}');
  -- After the replacements: without them, the fulfillment order may have left the list
  update erp.pick_list_line l set state = 'short', short_at = ledger.moment() where l.id = line.id;
  line_id := line.id;
end
$$;
comment on function erp.report_short(uuid) is
  'Records that the place of a line of a pick list lacks the units that are still open, and adds lines for '
  'other places that have them. Nothing more is planned from the place until it is counted. Returns the '
  'line, the added ones, and how many units no place has. User errors of erp.lock_pick_line.';
select api_meta.plan_by_index('erp.report_short(uuid)');
grant execute on function erp.report_short(uuid) to service_writer;
--! EndIncluded erp/report_short.sql
--! Included erp/pick_candidates.sql
create or replace function erp.pick_candidates(warehouse_id uuid, maximum integer) returns uuid[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return array(
    select f.id from erp.location w
    join erp.fulfillment_order f on f.source_warehouse_location_id = w.id
    where w.warehouse_id = pick_candidates.warehouse_id and f.state in ('Open', 'InProgress')
      and f.type = 'WarehouseLocationToOrder'
      and not exists (
        select from erp.pick_task t where t.fulfillment_order_id = f.id and t.state = 'open')
      and exists (
        select from erp.fulfillment_order_line_item l
        where l.fulfillment_order_id = f.id and l.quantity > l.fulfilled_quantity
          and l.product_id is not null and l.destination_order_line_item_id is not null)
    order by f.id limit maximum);
end
$$;
comment on function erp.pick_candidates(uuid, integer) is
  'Returns the oldest fulfillment orders of a warehouse that can be picked and are on no pick list.';
select api_meta.plan_by_index('erp.pick_candidates(uuid, integer)');
grant execute on function erp.pick_candidates(uuid, integer) to service_writer;
--! EndIncluded erp/pick_candidates.sql
--! Included erp/pick_containers.sql
create or replace function erp.pick_containers(warehouse_id uuid, how_many integer) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found_ids uuid[];
  made uuid;
begin
  found_ids := array(
    select c.id from erp.stock_container c
    where c.warehouse_id = pick_containers.warehouse_id and c.number like 'PICK-%'
      and c.fulfillment_order_id is null and not exists (
        select from ledger.stock s where s.stock_container_id = c.id and s.quantity > 0)
    order by c.id limit how_many for update skip locked);
  while cardinality(found_ids) < how_many loop
    insert into erp.stock_container (number, kind, warehouse_id)
    values (erp.next_number('pick_container'), 'tote', pick_containers.warehouse_id)
    returning id into made;
    found_ids := found_ids || made;
  end loop;
  return found_ids;
end
$$;
comment on function erp.pick_containers(uuid, integer) is
  'Returns containers for pick lists without a cart: empty ones that earlier lists used, then new ones.';
select api_meta.plan_by_index('erp.pick_containers(uuid, integer)');
grant execute on function erp.pick_containers(uuid, integer) to service_writer;
--! EndIncluded erp/pick_containers.sql
--! Included erp/lock_pick_containers.sql
create or replace function erp.lock_pick_containers(rounds erp.pick_round[], warehouse_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  perform from erp.stock_container c
  where c.id in (select i from unnest(rounds) r cross join unnest(r.stock_container_ids) i)
  order by c.id for update;
  select jsonb_agg(mutation.user_error(e.code, e.message,
    mutation.path('lists', e.nth) || mutation.path('stock_container_ids', e.position)) order by e.nth,
    e.position)
  into errors
  from (
    select g.nth, g.position,
      case when g.id is null then 'NOT_FOUND' when g.times > 1 then 'NOT_UNIQUE' else 'CONTAINER_IN_USE' end,
      case when g.id is null then 'The warehouse has no such container.'
        when g.times > 1 then 'The container is named twice.'
        when g.fulfillment_order_id is not null then format('Container %s is used by a pick list.', g.number)
        else format('Container %s is not empty.', g.number) end
    from (
      select r.ordinality as nth, i.ordinality as position, c.*,
        row_number() over (partition by i.i) as times,
        exists (select from ledger.stock s where s.stock_container_id = c.id and s.quantity > 0) as is_filled
      from unnest(rounds) with ordinality r
      cross join unnest(r.stock_container_ids) with ordinality i (i)
      left join erp.stock_container c
        on c.id = i.i and c.warehouse_id = lock_pick_containers.warehouse_id
    ) g
    where g.id is null or g.times > 1 or g.fulfillment_order_id is not null or g.is_filled
  ) e (nth, position, code, message);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.lock_pick_containers(erp.pick_round[], uuid) is
  'Locks the containers of carts. Refuses those that are not in the warehouse, not empty, or in use. User '
  'errors NOT_FOUND, NOT_UNIQUE, CONTAINER_IN_USE.';
select api_meta.plan_by_index('erp.lock_pick_containers(erp.pick_round[], uuid)');
grant execute on function erp.lock_pick_containers(erp.pick_round[], uuid) to service_writer;
--! EndIncluded erp/lock_pick_containers.sql
--! Included erp/lock_pick_orders.sql
create or replace function erp.lock_pick_orders(warehouse_id uuid, ids uuid[], are_named boolean)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
  free uuid[];
begin
  perform ledger.lock_orders(array(
    select distinct f.destination_order_id from erp.fulfillment_order f
    where f.id = any (ids) and f.destination_order_id is not null), ids);
  perform from erp.location w where w.warehouse_id = lock_pick_orders.warehouse_id
  order by w.id for key share;
  select jsonb_agg(mutation.user_error(e.code, e.message,
      mutation.path('fulfillment_order_ids', e.nth)) order by e.nth) filter (where e.code is not null),
    array_agg(e.id order by e.nth) filter (where e.code is null)
  into errors, free
  from (
    select i.nth, f.id,
      case when f.id is null then 'NOT_FOUND' when i.times > 1 then 'NOT_UNIQUE'
        when f.type = 'ExternalToOrder' then 'EXTERNALLY_MANAGED'
        when w.id is null then 'INVALID' when f.state = 'OnHold' then 'ON_HOLD'
        when f.state not in ('Open', 'InProgress') then 'INVALID_STATE_TRANSITION'
        when p.number is not null then 'ON_PICK_LIST' end,
      case when f.id is null then 'There is no such fulfillment order.'
        when i.times > 1 then 'The fulfillment order is named twice.'
        when f.type = 'ExternalToOrder' then format('Fulfillment order %s is managed externally.', f.number)
        when w.id is null then format('Another location ships fulfillment order %s.', f.number)
        when f.state = 'OnHold' then format('Fulfillment order %s is on hold.', f.number)
        when f.state not in ('Open', 'InProgress')
          then format('Fulfillment order %s has nothing to pick any more.', f.number)
        else format('Fulfillment order %s is on pick list %s.', f.number, p.number) end
    from (
      select u.id, u.nth, row_number() over (partition by u.id order by u.nth) as times
      from unnest(ids) with ordinality u (id, nth)
    ) i
    left join erp.fulfillment_order f on f.id = i.id
    left join erp.location w on w.id = f.source_warehouse_location_id
      and w.warehouse_id = lock_pick_orders.warehouse_id
    left join erp.pick_task t on t.fulfillment_order_id = f.id and t.state = 'open'
    left join erp.pick_list p on p.id = t.pick_list_id
  ) e (nth, id, code, message);
  if are_named then
    perform mutation.refuse(errors);
  end if;
  return coalesce(free, '{}');
end
$$;
comment on function erp.lock_pick_orders(uuid, uuid[], boolean) is
  'Locks fulfillment orders that are to be picked in a warehouse, with their orders, and returns those that '
  'can be. Refuses others if the caller named them. User errors NOT_FOUND, NOT_UNIQUE, EXTERNALLY_MANAGED, '
  'INVALID, ON_HOLD, INVALID_STATE_TRANSITION, ON_PICK_LIST.';
select api_meta.plan_by_index('erp.lock_pick_orders(uuid, uuid[], boolean)');
grant execute on function erp.lock_pick_orders(uuid, uuid[], boolean) to service_writer;
--! EndIncluded erp/lock_pick_orders.sql
--! Included erp/write_pick_list.sql
create or replace function erp.write_pick_list(
  warehouse_id uuid, assignee text, fulfillment_order_ids uuid[], container_ids uuid[], units ledger.pick[]
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made uuid;
begin
  insert into erp.pick_list (number, warehouse_id, assignee)
  values (erp.next_number('pick_list'), write_pick_list.warehouse_id, write_pick_list.assignee)
  returning id into made;
  insert into erp.pick_task (pick_list_id, number, fulfillment_order_id, stock_container_id)
  select made, o.nth, o.id, container_ids[o.nth]
  from unnest(fulfillment_order_ids) with ordinality o (id, nth) order by o.nth;
  update erp.stock_container c set fulfillment_order_id = t.fulfillment_order_id
  from erp.pick_task t where t.pick_list_id = made and c.id = t.stock_container_id;
  insert into erp.pick_list_line (pick_list_id, number, pick_task_id, fulfillment_order_line_item_id,
    product_id, batch_id, bin_location_id, stock_container_id, quantity)
  select made, row_number() over way, t.id, u.line_id, u.product_id, u.batch_id,
    case u.place_type when 'bin_location' then b.id end, c.id, u.quantity
  from unnest(units) with ordinality
    u (field, line_id, product_id, warehouse_id, quantity, place_type, place, batch_id, nth)
  join erp.fulfillment_order_line_item l on l.id = u.line_id
  join erp.pick_task t on t.fulfillment_order_id = l.fulfillment_order_id and t.pick_list_id = made
  left join erp.stock_container c on c.id = case u.place_type when 'stock_container' then u.place::uuid end
  left join erp.bin_location b
    on b.id = case u.place_type when 'bin_location' then u.place::uuid else c.bin_location_id end
  -- The way through the warehouse, as in ledger.pick_units
  window way as (order by u.place_type = 'warehouse', b."position" nulls last, coalesce(b.code, c.number),
    u.product_id,
    u.batch_id, t.number, u.nth)
  order by row_number() over way;
  return made;
end
$$;
comment on function erp.write_pick_list(uuid, text, uuid[], uuid[], ledger.pick[]) is
  'Writes a pick list of fulfillment orders, each with the container at the same position. Its lines are '
  'the units that are found for them, in the order of bins. Returns its id.';
select api_meta.plan_by_index('erp.write_pick_list(uuid, text, uuid[], uuid[], ledger.pick[])');
grant execute on function erp.write_pick_list(uuid, text, uuid[], uuid[], ledger.pick[]) to service_writer;
--! EndIncluded erp/write_pick_list.sql
--! Included erp/units_to_pick.sql
create or replace function erp.units_to_pick(warehouse_id uuid, fulfillment_order_ids uuid[])
returns ledger.pick[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select row (mutation.path('fulfillment_order_ids', o.nth), l.id, l.product_id,
      units_to_pick.warehouse_id, l.quantity - l.fulfilled_quantity, null, null, null)::ledger.pick
    from unnest(units_to_pick.fulfillment_order_ids) with ordinality o (id, nth)
    join erp.fulfillment_order_line_item l on l.fulfillment_order_id = o.id
    where l.quantity > l.fulfilled_quantity and l.product_id is not null
      and l.destination_order_line_item_id is not null
    order by o.nth, l.id);
end;
comment on function erp.units_to_pick(uuid, uuid[]) is
  'Returns the open units of fulfillment orders, as picks without a place.';
select api_meta.plan_by_index('erp.units_to_pick(uuid, uuid[])');
grant execute on function erp.units_to_pick(uuid, uuid[]) to service_writer;
--! EndIncluded erp/units_to_pick.sql
--! Included erp/warn_of_unplanned.sql
create or replace function erp.warn_of_unplanned(picks ledger.pick[], units ledger.pick[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if (select sum(p.quantity) from unnest(picks) p) = (select sum(u.quantity) from unnest(units) u) then
    return;
  end if;
  perform mutation.warn((
    select jsonb_agg(mutation.user_error('NOT_PLANNED',
      format('The warehouse has %s of %s units of product %s free for fulfillment order %s.', x.found,
        x.wanted, a.product_number, f.number), null,
      jsonb_build_object('fulfillmentOrderId', 'gid://service/FulfillmentOrder/' || f.id,
        'productNumber', a.product_number, 'missing', x.wanted - x.found)) order by x.first)
    from (
      select p.line_id, p.product_id, p.quantity as wanted, p.ordinality as first,
        coalesce((select sum(u.quantity) from unnest(units) u where u.line_id = p.line_id), 0) as found
      from unnest(picks) with ordinality p
    ) x
    join erp.product a on a.id = x.product_id
    join erp.fulfillment_order_line_item l on l.id = x.line_id
    join erp.fulfillment_order f on f.id = l.fulfillment_order_id
    where x.found < x.wanted));
end
$$;
comment on function erp.warn_of_unplanned(ledger.pick[], ledger.pick[]) is
  'Warns about units of fulfillment orders that no place of the warehouse has: warning NOT_PLANNED.';
select api_meta.plan_by_index('erp.warn_of_unplanned(ledger.pick[], ledger.pick[])');
grant execute on function erp.warn_of_unplanned(ledger.pick[], ledger.pick[]) to service_writer;
--! EndIncluded erp/warn_of_unplanned.sql
--! Included erp/create_pick_lists.sql
create or replace function erp.create_pick_lists(
  warehouse_id uuid, fulfillment_order_ids uuid[], rounds erp.pick_round[], orders_per_list integer
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 250;
  are_named constant boolean := fulfillment_order_ids is not null;
  wanted uuid[] := fulfillment_order_ids;
  loose integer;
  held integer;
  share integer;
  picks ledger.pick[];
  units ledger.pick[];
  round erp.pick_round;
  made uuid[] := '{}';
begin
  if coalesce(cardinality(rounds), 0) = 0 then
    rounds := array[row (null, null)::erp.pick_round];
  end if;
  select count(*) filter (where coalesce(cardinality(r.stock_container_ids), 0) = 0),
    coalesce(sum(cardinality(r.stock_container_ids)), 0) into loose, held from unnest(rounds) r;
  perform mutation.refuse_too_many(greatest(cardinality(rounds), held), most, '{lists}');
  perform mutation.refuse_too_many(cardinality(wanted), most, '{fulfillment_order_ids}');
  if orders_per_list not between 1 and most then
    perform mutation.refuse('OUT_OF_RANGE', 'A list has 1 to 250 fulfillment orders.', '{orders_per_list}');
  elsif not exists (select from erp.warehouse w where w.id = create_pick_lists.warehouse_id) then
    perform mutation.refuse_missing('warehouse', '{warehouse_id}');
  end if;
  wanted := erp.lock_pick_orders(warehouse_id, coalesce(wanted,
    erp.pick_candidates(warehouse_id, least(most, held + loose * coalesce(orders_per_list, 20)))), are_named);
  if wanted = '{}' then
    perform mutation.refuse('REQUIRED', 'No fulfillment order waits to be picked in the warehouse.',
      '{fulfillment_order_ids}');
  end if;
  perform erp.lock_pick_containers(rounds, warehouse_id);
  picks := erp.units_to_pick(warehouse_id, wanted);
  perform mutation.refuse_too_many(cardinality(picks), 2000, '{fulfillment_order_ids}');
  perform ledger.lock_shipment(array(select p.product_id from unnest(picks) p), array[warehouse_id]);
  units := ledger.plan_picks(picks, '{}');
  wanted := array(
    select o.id from unnest(wanted) with ordinality o (id, nth)
    where exists (
      select from unnest(units) u join erp.fulfillment_order_line_item l on l.id = u.line_id
      where l.fulfillment_order_id = o.id)
    order by o.nth);
  if wanted = '{}' then
    perform mutation.refuse('INSUFFICIENT_STOCK', 'The warehouse has none of these units free to be picked.',
      '{fulfillment_order_ids}');
  end if;
  share := coalesce(orders_per_list,
    ceil(greatest(cardinality(wanted) - held, 0)::numeric / nullif(loose, 0)));
  if cardinality(wanted) > held + loose * coalesce(share, 0) then
    perform mutation.refuse('INVALID', format('There are %s fulfillment orders, and the lists have room for '
      '%s.', cardinality(wanted), held + loose * coalesce(share, 0)), '{lists}');
  end if;
  foreach round in array rounds loop
    exit when wanted = '{}';
    held := case when cardinality(round.stock_container_ids) > 0 then cardinality(round.stock_container_ids)
      else share end;
    made := made || erp.write_pick_list(warehouse_id, round.assignee, wanted[: held],
      case when cardinality(round.stock_container_ids) > 0 then round.stock_container_ids
        else erp.pick_containers(warehouse_id, cardinality(wanted[: held])) end, units);
    wanted := wanted[held + 1 :];
  end loop;
  perform erp.warn_of_unplanned(picks, units);
  return made;
end
$$;
comment on function erp.create_pick_lists(uuid, uuid[], erp.pick_round[], integer) is
  'Makes pick lists of fulfillment orders of a warehouse: the given ones, or those that wait longest. A list '
  'with containers takes one for each, the others share the rest. Units that no place has are not planned. '
  'Returns the lists. User errors of erp.lock_pick_orders and erp.lock_pick_containers, and TOO_MANY_LINES, '
  'OUT_OF_RANGE, REQUIRED, INSUFFICIENT_STOCK, INVALID.';
select api_meta.plan_by_index('erp.create_pick_lists(uuid, uuid[], erp.pick_round[], integer)');
grant execute on function erp.create_pick_lists(uuid, uuid[], erp.pick_round[], integer) to service_writer;
--! EndIncluded erp/create_pick_lists.sql
--! Included erp/lock_pick_list.sql
create or replace function erp.lock_pick_list(pick_list_id uuid, action text) returns erp.pick_list
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.pick_list;
  ids uuid[];
begin
  ids := array(
    select t.fulfillment_order_id from erp.pick_task t
    where t.pick_list_id = lock_pick_list.pick_list_id and t.state = 'open');
  perform ledger.lock_orders(array(
    select distinct f.destination_order_id from erp.fulfillment_order f
    where f.id = any (ids) and f.destination_order_id is not null), ids);
  select * into present from erp.pick_list p where p.id = pick_list_id;
  if not found then
    perform mutation.refuse_missing('pick list', '{id}');
  end if;
  perform erp.next_state('pick_list', action, present.state);
  return present;
end
$$;
comment on function erp.lock_pick_list(uuid, text) is
  'Locks the fulfillment orders of a pick list, with their orders, for an action of the machine pick_list. '
  'Returns the list. User errors NOT_FOUND, INVALID_STATE_TRANSITION.';
select api_meta.plan_by_index('erp.lock_pick_list(uuid, text)');
grant execute on function erp.lock_pick_list(uuid, text) to service_writer;
--! EndIncluded erp/lock_pick_list.sql
--! Included erp/start_pick_list.sql
create or replace function erp.start_pick_list(pick_list_id uuid, assignee text) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.pick_list := erp.lock_pick_list(pick_list_id, 'start');
begin
  update erp.fulfillment_order f set state = erp.next_state('fulfillment_order', 'start', f.state)
  where f.state = 'Open' and f.id in (
    select t.fulfillment_order_id from erp.pick_task t
    where t.pick_list_id = present.id and t.state = 'open');
  update erp.pick_list p set state = erp.next_state('pick_list', 'start', p.state),
    started_at = ledger.moment(), assignee = coalesce(start_pick_list.assignee, p.assignee)
  where p.id = present.id;
  return present.id;
end
$$;
comment on function erp.start_pick_list(uuid, text) is
  'Begins to pick a list: its open fulfillment orders are in progress. Returns it. User errors NOT_FOUND, '
  'INVALID_STATE_TRANSITION, OUT_OF_RANGE.';
select api_meta.plan_by_index('erp.start_pick_list(uuid, text)');
grant execute on function erp.start_pick_list(uuid, text) to service_writer;
--! EndIncluded erp/start_pick_list.sql
--! Included erp/parcel_picks.sql
create or replace function erp.parcel_picks(
  task erp.pick_task, warehouse_id uuid, parcel_lines erp.parcel_line[]
)
returns table (parcel bigint, pick ledger.pick)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with wanted as (
    select p.parcel, p.nth, p.id, p.quantity, l.product_id,
      sum(p.quantity) over (partition by p.id order by p.parcel, p.nth) as upto
    from unnest(parcel_picks.parcel_lines) p join erp.fulfillment_order_line_item l on l.id = p.id
  ), lying as (
    select l.fulfillment_order_line_item_id as id, l.batch_id, l.picked_quantity - l.packed_quantity as units,
      sum(l.picked_quantity - l.packed_quantity) over (
        partition by l.fulfillment_order_line_item_id order by l.number) as upto
    from erp.pick_list_line l
    where l.pick_task_id = task.id and l.picked_quantity > l.packed_quantity
  ), path as (
    select w.*, mutation.path('parcels', w.parcel) || mutation.path('lines', w.nth) || '{quantity}'::text[]
      as field
    from wanted w
  )
  -- Two rulers side by side, as in ledger.pick_units
  select w.parcel, row (w.field, w.id, w.product_id, parcel_picks.warehouse_id,
    least(w.upto, x.upto) - greatest(w.upto - w.quantity, x.upto - x.units), 'stock_container',
    task.stock_container_id::text, x.batch_id)::ledger.pick
  from path w join lying x on x.id = w.id and x.upto > w.upto - w.quantity and x.upto - x.units < w.upto
  union all
  select w.parcel, row (w.field, w.id, null, parcel_picks.warehouse_id, w.quantity, null, null,
    null)::ledger.pick
  from path w where w.product_id is null;
end;
comment on function erp.parcel_picks(erp.pick_task, uuid, erp.parcel_line[]) is
  'Returns the units of parcels as picks of ledger.ship: out of the container, of the batches that were '
  'picked. Units that were not picked are left out.';
select api_meta.plan_by_index('erp.parcel_picks(erp.pick_task, uuid, erp.parcel_line[])');
grant execute on function erp.parcel_picks(erp.pick_task, uuid, erp.parcel_line[]) to service_writer;
--! EndIncluded erp/parcel_picks.sql
--! Included erp/check_parcels.sql
create or replace function erp.check_parcels(task erp.pick_task, parcel_lines erp.parcel_line[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(mutation.user_error(e.code, e.message,
    mutation.path('parcels', e.parcel) || mutation.path('lines', e.nth) || e.field, e.details)
    order by e.parcel, e.nth)
  into errors
  from (
    select p.parcel, p.nth, 'OUT_OF_RANGE', 'The quantity must be at least 1.', '{quantity}'::text[],
      null::jsonb
    from unnest(parcel_lines) p where p.quantity < 1
    union all
    select p.parcel, p.nth, 'NOT_FOUND', 'The fulfillment order has no such line.',
      '{fulfillment_order_line_item_id}', null
    from unnest(parcel_lines) p where not exists (
      select from erp.fulfillment_order_line_item l
      where l.id = p.id and l.fulfillment_order_id = task.fulfillment_order_id)
    union all
    select p.parcel, p.nth, 'NOT_UNIQUE', 'An earlier line of the parcel has the same id.',
      '{fulfillment_order_line_item_id}', null
    from (
      select q.*, row_number() over (partition by q.parcel, q.id order by q.nth) as times
      from unnest(parcel_lines) q
    ) p where p.times > 1
    union all
    select x.parcel, x.nth, 'OVER_FULFILLMENT',
      format('%s units of the line are picked and not packed, not %s.', x.lying, x.wanted), '{quantity}',
      jsonb_build_object('open', x.lying, 'requested', x.wanted)
    from (
      select max(p.parcel) as parcel, (array_agg(p.nth order by p.parcel desc))[1] as nth,
        sum(p.quantity) as wanted, case when l.product_id is null then l.quantity - l.fulfilled_quantity
          else coalesce((
            select sum(k.picked_quantity - k.packed_quantity) from erp.pick_list_line k
            where k.pick_task_id = task.id and k.fulfillment_order_line_item_id = l.id), 0) end as lying
      from unnest(parcel_lines) p join erp.fulfillment_order_line_item l
        on l.id = p.id and l.fulfillment_order_id = task.fulfillment_order_id
      group by l.id, l.product_id, l.quantity, l.fulfilled_quantity
    ) x where x.wanted > x.lying
  ) e (parcel, nth, code, message, field, details);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.check_parcels(erp.pick_task, erp.parcel_line[]) is
  'Refuses lines of parcels that the fulfillment order does not have, or with more units than were picked. '
  'User errors OUT_OF_RANGE, NOT_FOUND, NOT_UNIQUE, OVER_FULFILLMENT.';
select api_meta.plan_by_index('erp.check_parcels(erp.pick_task, erp.parcel_line[])');
grant execute on function erp.check_parcels(erp.pick_task, erp.parcel_line[]) to service_writer;
--! EndIncluded erp/check_parcels.sql
--! Included erp/require_packable.sql
create or replace function erp.require_packable(task erp.pick_task, present erp.fulfillment_order)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  open_lines bigint;
begin
  if task.state <> 'open' then
    perform mutation.refuse('INVALID_STATE_TRANSITION',
      case task.state when 'packed' then 'The fulfillment order is packed already.'
        else 'The fulfillment order has left the pick list.' end,
      '{pick_task_id}', jsonb_build_object('state', task.state));
  end if;
  perform erp.require_shippable(present);
  select count(*) into open_lines from erp.pick_list_line l
  where l.pick_task_id = task.id and l.state = 'open';
  if open_lines > 0 then
    perform mutation.refuse('INVALID_STATE_TRANSITION',
      format('%s lines are still to be picked. Confirm them, or report their units '
      'as missing.', open_lines), '{pick_task_id}',
      jsonb_build_object('state', task.state, 'openLines', open_lines));
  end if;
end
$$;
comment on function erp.require_packable(erp.pick_task, erp.fulfillment_order) is
  'Refuses to pack a fulfillment order that has left its pick list, may not be shipped, or is not picked. '
  'User errors INVALID_STATE_TRANSITION, ON_HOLD, INVALID.';
select api_meta.plan_by_index('erp.require_packable(erp.pick_task, erp.fulfillment_order)');
grant execute on function erp.require_packable(erp.pick_task, erp.fulfillment_order) to service_writer;
--! EndIncluded erp/require_packable.sql
--! Included erp/lines_of_parcels.sql
create or replace function erp.lines_of_parcels(task erp.pick_task, parcels jsonb) returns erp.parcel_line[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  lines erp.parcel_line[];
begin
  if parcels is null then
    lines := array(
      select row (1, row_number() over (order by l.id), l.id, x.units)::erp.parcel_line
      from erp.fulfillment_order_line_item l
      cross join lateral (
        select case when l.product_id is null then l.quantity - l.fulfilled_quantity else coalesce((
          select sum(k.picked_quantity - k.packed_quantity) from erp.pick_list_line k
          where k.pick_task_id = task.id and k.fulfillment_order_line_item_id = l.id), 0) end::integer
          as units
      ) x
      where l.fulfillment_order_id = task.fulfillment_order_id and x.units > 0
        and l.destination_order_line_item_id is not null order by l.id);
  else
    lines := array(
      select row (p.nth, i.nth, (i.line ->> 'fulfillment_order_line_item_id')::uuid,
        (i.line ->> 'quantity')::integer)::erp.parcel_line
      from jsonb_array_elements(parcels) with ordinality p (parcel, nth)
      cross join lateral jsonb_array_elements(p.parcel -> 'lines') with ordinality i (line, nth)
      order by p.nth, i.nth);
  end if;
  if lines = '{}' or exists (
    select from jsonb_array_elements(parcels) p where jsonb_array_length(p -> 'lines') = 0) then
    perform mutation.refuse('REQUIRED', 'A parcel needs at least one line.', '{parcels}');
  end if;
  perform mutation.refuse_too_many(cardinality(lines), 250, '{parcels}');
  return lines;
end
$$;
comment on function erp.lines_of_parcels(erp.pick_task, jsonb) is
  'Returns the lines of parcels as they are given; without parcels all picked units, and lines without a '
  'product, in one parcel. User errors REQUIRED, TOO_MANY_LINES.';
select api_meta.plan_by_index('erp.lines_of_parcels(erp.pick_task, jsonb)');
grant execute on function erp.lines_of_parcels(erp.pick_task, jsonb) to service_writer;
--! EndIncluded erp/lines_of_parcels.sql
--! Included erp/pack_pick_task.sql
create or replace function erp.pack_pick_task(
  pick_task_id uuid, parcels jsonb, note text
)
returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  task erp.pick_task;
  present erp.fulfillment_order;
  list erp.pick_list;
  parcel_lines erp.parcel_line[];
  picks ledger.pick[];
  codes text[];
  one erp.shipment;
  packed erp.shipment;
begin
  perform mutation.refuse_too_many(jsonb_array_length(parcels), 50, '{parcels}');
  select * into task from erp.pick_task t where t.id = pick_task_id;
  if not found then
    perform mutation.refuse_missing('fulfillment order on a pick list', '{pick_task_id}');
  end if;
  present := erp.lock_fulfillment_order(task.fulfillment_order_id, '{pick_task_id}');
  select * into task from erp.pick_task t where t.id = pick_task_id;
  select * into list from erp.pick_list p where p.id = task.pick_list_id;
  perform erp.require_packable(task, present);
  parcel_lines := erp.lines_of_parcels(task, parcels);
  perform erp.check_parcels(task, parcel_lines);
  perform from erp.location l where l.id = present.source_warehouse_location_id for key share;
  picks := array(select p.pick from erp.parcel_picks(task, list.warehouse_id, parcel_lines) p);
  perform erp.lock_to_ship(picks, '{}');
  perform erp.check_pick_place(array(select p.batch_id from unnest(picks) p), null,
    task.stock_container_id, list.warehouse_id);
  packed := row (present.destination_order_id, '{}', array[present.id], '{}', '{}')::erp.shipment;
  for which in 1 .. greatest(jsonb_array_length(parcels), 1) loop
    picks := array(
      select p.pick from erp.parcel_picks(task, list.warehouse_id, array(
        select l from unnest(parcel_lines) l where l.parcel = which)) p);
    codes := array(select jsonb_array_elements_text(
      case jsonb_typeof(parcels -> which - 1 -> 'tracking_codes') when 'array'
        then parcels -> which - 1 -> 'tracking_codes' end));
    perform erp.require_tracking_codes(codes);
    one := erp.ship(present.destination_order_id, picks, '{}', codes, note);
    packed.fulfillments := packed.fulfillments || one.fulfillments;
    packed.stock_movements := packed.stock_movements || one.stock_movements;
  end loop;
  return packed;
end
$$;
comment on function erp.pack_pick_task(uuid, jsonb, text) is
  'Packs picked units of a fulfillment order into parcels, each of which is a fulfillment, or into one '
  'parcel if parcels is null. The units leave from the container. User errors NOT_FOUND, '
  'EXTERNALLY_MANAGED, ON_HOLD, INVALID_STATE_TRANSITION, INVALID, TOO_MANY_LINES, BATCH_HELD, '
  'BATCH_EXPIRED, INSUFFICIENT_STOCK, the errors of erp.check_parcels and of erp.require_tracking_codes.';
select api_meta.plan_by_index('erp.pack_pick_task(uuid, jsonb, text)');
grant execute on function erp.pack_pick_task(uuid, jsonb, text) to service_writer;
--! EndIncluded erp/pack_pick_task.sql
--! Included erp/cancel_pick_list.sql
create or replace function erp.cancel_pick_list(
  pick_list_id uuid, pick_task_ids uuid[], note text, out list_id uuid, out stock_movements uuid[]
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.pick_list := erp.lock_pick_list(pick_list_id, 'cancel');
  tasks uuid[];
begin
  list_id := present.id;
  if exists (
    select from unnest(pick_task_ids) i where not exists (
      select from erp.pick_task t where t.id = i and t.pick_list_id = present.id)
  ) then
    perform mutation.refuse('NOT_FOUND', 'The pick list has no such fulfillment order.', '{pick_task_ids}');
  end if;
  tasks := array(
    select t.id from erp.pick_task t
    where t.pick_list_id = present.id and t.state = 'open'
      and (pick_task_ids is null or t.id = any (pick_task_ids)));
  stock_movements := (ledger.post(array(
    select row ('{id}', l.product_id, l.picked_quantity - l.packed_quantity, l.batch_id, 'stock_container',
      t.stock_container_id::text, p.type, p.place, 'relocation')::ledger.draft
    from erp.pick_list_line l join erp.pick_task t on t.id = l.pick_task_id
    left join erp.bin_location b on b.id = l.bin_location_id and b.warehouse_id = present.warehouse_id
    left join erp.stock_container c on c.id = l.stock_container_id and c.fulfillment_order_id is null
    cross join lateral ledger.place_of(
      case when num_nonnulls(b.id, c.id) = 0 then present.warehouse_id end, b.id, c.id) p
    where t.id = any (tasks) and l.picked_quantity > l.packed_quantity order by l.number
  ), note)).stock_movements;
  update erp.pick_list_line l set picked_quantity = l.packed_quantity,
    state = case when l.state = 'short' then 'short' else 'dropped' end
  where l.pick_task_id = any (tasks) and (l.state = 'open' or l.picked_quantity > l.packed_quantity);
  update erp.fulfillment_order f set state = erp.next_state('fulfillment_order', 'stop', f.state)
  where f.state = 'InProgress' and not f.is_partially_fulfilled and f.id in (
    select t.fulfillment_order_id from erp.pick_task t where t.id = any (tasks));
end
$$;
comment on function erp.cancel_pick_list(uuid, uuid[], text) is
  'Takes fulfillment orders off a pick list, or all if none are given, and books what was picked for them '
  'back to where it came from. If the place is gone, it goes to the warehouse outside of bins. Fulfillment '
  'orders of which nothing was shipped are open again. Returns the list and the movements. User errors '
  'NOT_FOUND, INVALID_STATE_TRANSITION, INSUFFICIENT_STOCK.';
select api_meta.plan_by_index('erp.cancel_pick_list(uuid, uuid[], text)');
grant execute on function erp.cancel_pick_list(uuid, uuid[], text) to service_writer;
--! EndIncluded erp/cancel_pick_list.sql
--! Included erp/set_product_gtins.sql
create or replace function erp.set_product_gtins(product_id uuid, gtins text[], quantities integer[])
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted text[];
  errors jsonb;
begin
  perform mutation.refuse_too_many(cardinality(gtins), 50, '{gtins}');
  if not ledger.lock(array[product_id]) then
    perform mutation.refuse_missing('product', '{product_id}');
  end if;
  wanted := array(select erp.gtin14(g.gtin) from unnest(gtins) with ordinality g (gtin, nth) order by g.nth);
  select jsonb_agg(mutation.user_error(
    case when g.gtin is null then 'INVALID' else 'NOT_UNIQUE' end,
    case when g.gtin is null then format('%s is not a GTIN: its digits or its check digit are wrong.',
      gtins[g.nth]) when g.times > 1 then 'An earlier element has the same GTIN.'
      else format('Product %s has this GTIN.', g.product_number) end,
    mutation.path('gtins', g.nth) || '{gtin}'::text[]) order by g.nth)
  into errors
  from (
    select w.gtin, w.nth, row_number() over (partition by w.gtin order by w.nth) as times, p.product_number
    from unnest(wanted) with ordinality w (gtin, nth)
    left join lateral (
      select s.product_id from erp.scanned_products(
        row (null, w.gtin, null, null, null, null, null)::erp.scanned_code) s
      where s.product_id <> set_product_gtins.product_id limit 1
    ) o on true
    left join erp.product p on p.id = o.product_id
  ) g
  where g.gtin is null or g.times > 1 or g.product_number is not null;
  perform mutation.refuse(errors);
  delete from erp.product_gtin g
  where g.product_id = set_product_gtins.product_id and g.gtin <> all (wanted);
  update erp.product_gtin g set quantity = quantities[array_position(wanted, g.gtin)]
  where g.product_id = set_product_gtins.product_id
    and g.quantity <> quantities[array_position(wanted, g.gtin)];
  insert into erp.product_gtin (product_id, gtin, quantity)
  select set_product_gtins.product_id, w.gtin, quantities[w.nth]
  from unnest(wanted) with ordinality w (gtin, nth)
  where not exists (select from erp.product_gtin g
    where g.product_id = set_product_gtins.product_id and g.gtin = w.gtin)
  order by w.nth;
  return product_id;
end
$$;
comment on function erp.set_product_gtins(uuid, text[], integer[]) is
  'Replaces the further GTINs of a product; each stands for a quantity. None may be a GTIN of another '
  'product. Returns the product. User errors NOT_FOUND, INVALID, NOT_UNIQUE, OUT_OF_RANGE, TOO_MANY_LINES.';
select api_meta.plan_by_index('erp.set_product_gtins(uuid, text[], integer[])');
grant execute on function erp.set_product_gtins(uuid, text[], integer[]) to service_writer;
--! EndIncluded erp/set_product_gtins.sql
--! Included api/pick_tasks.sql
create view api_unstable.pick_tasks with (security_invoker = true) as
select id, pick_list_id, number, fulfillment_order_id, stock_container_id, state, ended_at
from erp.pick_task;
comment on view api_unstable.pick_tasks is
  E'@primaryKey id\n'
  '@requiresScopes pick_lists:read\n'
  '@filters pick_list_id,fulfillment_order_id,stock_container_id\n'
  '@foreignKey (pick_list_id) references pick_lists (id)|@fieldName pickList|@foreignFieldName tasks\n'
  '@foreignKey (fulfillment_order_id) references fulfillment_orders (id)|@fieldName '
  'fulfillmentOrder|@foreignFieldName pickTasks\n'
  '@foreignKey (stock_container_id) references stock_containers (id)|@fieldName stockContainer\n'
  'A fulfillment order on a pick list, with the container that its units are put into.';
--! EndIncluded api/pick_tasks.sql
--! Included api/pick_list_lines.sql
create view api_unstable.pick_list_lines with (security_invoker = true) as
select id, pick_list_id, number, pick_task_id, fulfillment_order_line_item_id, product_id, batch_id,
  bin_location_id, stock_container_id, quantity, picked_quantity, packed_quantity, state, short_at, updated_at
from erp.pick_list_line;
comment on view api_unstable.pick_list_lines is
  E'@primaryKey id\n'
  '@requiresScopes pick_lists:read\n'
  '@filters pick_list_id,pick_task_id,fulfillment_order_line_item_id,product_id,'
  'bin_location_id,batch_id,number\n'
  '@foreignKey (pick_list_id) references pick_lists (id)|@fieldName pickList|@foreignFieldName lines\n'
  '@foreignKey (pick_task_id) references pick_tasks (id)|@fieldName task|@foreignFieldName lines\n'
  '@foreignKey (fulfillment_order_line_item_id) references fulfillment_order_line_items (id)|@fieldName '
  'fulfillmentOrderLineItem\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  '@foreignKey (batch_id) references batches (id)|@fieldName batch\n'
  '@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation\n'
  '@foreignKey (stock_container_id) references stock_containers (id)|@fieldName stockContainer\n'
  'A line of a pick list: units of a product that are taken from one place for one line of a fulfillment\n'
  'order. The lines are in the order of the bins, and those that replace missing units come last.';
--! EndIncluded api/pick_list_lines.sql
--! Included api/product_gtins.sql
create view api_unstable.product_gtins with (security_invoker = true) as
select id, product_id, gtin, quantity from erp.product_gtin;
comment on view api_unstable.product_gtins is $$
@primaryKey id
@requiresScopes products:read
@filters product_id,gtin
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName gtins
A further GTIN of a product, with the units that it stands for: of a case of 12, or of another
manufacturer.$$;
--! EndIncluded api/product_gtins.sql
--! Included api/pick_lists_progress.sql
drop type if exists api_unstable.pick_list_progress cascade;
create type api_unstable.pick_list_progress as (
  line_count integer, open_line_count integer, units integer, picked_units integer, packed_units integer
);
comment on type api_unstable.pick_list_progress is 'How far people have picked and packed.';
comment on column api_unstable.pick_list_progress.line_count is E'@notNull\nLines of the list.';
comment on column api_unstable.pick_list_progress.open_line_count is
  E'@notNull\nLines that are still to be picked.';
comment on column api_unstable.pick_list_progress.units is
  E'@notNull\nUnits of the lines, without those that are not needed any more.';
comment on column api_unstable.pick_list_progress.picked_units is E'@notNull\nUnits that were picked.';
comment on column api_unstable.pick_list_progress.packed_units is E'@notNull\nUnits in parcels.';
create function api_unstable.pick_lists_progress(list api_unstable.pick_lists)
returns api_unstable.pick_list_progress
language sql stable begin atomic
  select row (count(*), count(*) filter (where l.state = 'open'),
    coalesce(sum(l.quantity) filter (where l.state <> 'dropped'), 0), coalesce(sum(l.picked_quantity), 0),
    coalesce(sum(l.packed_quantity), 0))::api_unstable.pick_list_progress
  from api_unstable.pick_list_lines l where l.pick_list_id = list.id;
end;
comment on function api_unstable.pick_lists_progress(api_unstable.pick_lists) is $$
@requiresScopes pick_lists:read
How far people have picked and packed.$$;
--! EndIncluded api/pick_lists_progress.sql
--! Included api/pick_list_payload.sql
drop type if exists api_unstable.pick_list_payload cascade;
create type api_unstable.pick_list_payload as (
  pick_list uuid, stock_movements uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.pick_list_payload is 'The result of starting or cancelling a pick list.';
comment on column api_unstable.pick_list_payload.pick_list is
  E'@entity PickList\nThe pick list as it is now; null when it was refused.';
comment on column api_unstable.pick_list_payload.stock_movements is
  E'@entity StockMovement\n@atMost 2000\nThe movements that took picked units back.';
comment on column api_unstable.pick_list_payload.user_errors is
  'Why nothing was changed; empty when it was.';
--! EndIncluded api/pick_list_payload.sql
--! Included api/pick_list_line_payload.sql
drop type if exists api_unstable.pick_list_line_payload cascade;
create type api_unstable.pick_list_line_payload as (
  pick_list_line uuid, user_errors api_unstable.user_error[]
);
comment on type api_unstable.pick_list_line_payload is 'The result of confirming a line of a pick list.';
comment on column api_unstable.pick_list_line_payload.pick_list_line is
  E'@entity PickListLine\nThe line as it is now; null when it was refused.';
comment on column api_unstable.pick_list_line_payload.user_errors is
  'Why nothing was changed; empty when it was.';
--! EndIncluded api/pick_list_line_payload.sql
--! Included api/pick_lists_create.sql
drop type if exists api_unstable.pick_lists_create_payload cascade;
create type api_unstable.pick_lists_create_payload as (
  pick_lists uuid[], user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.pick_lists_create_payload is 'The result of planning pick lists.';
comment on column api_unstable.pick_lists_create_payload.pick_lists is
  E'@entity PickList\n@perLine lists\n@atMost 1\n'
  'The pick lists; those that nothing was left for are missing.';
comment on column api_unstable.pick_lists_create_payload.user_errors is
  'Why nothing was planned; empty when it was.';
comment on column api_unstable.pick_lists_create_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.pick_lists_create_input cascade;
drop type if exists api_unstable.pick_lists_create_list_input cascade;
create type api_unstable.pick_lists_create_list_input as (assignee text, stock_container_ids uuid[]);
comment on type api_unstable.pick_lists_create_list_input is 'A pick list: a person, or a cart.';
comment on column api_unstable.pick_lists_create_list_input.assignee is
  'The person who picks, as free text of at most 200 characters.';
comment on column api_unstable.pick_lists_create_list_input.stock_container_ids is
  E'@gid StockContainer\n'
  'Ids of empty containers of the warehouse, one for each fulfillment order. By default the service uses '
  'containers of its own, PICK-1 and so on.';

create type api_unstable.pick_lists_create_input as (
  warehouse_id uuid, fulfillment_order_ids uuid[], lists api_unstable.pick_lists_create_list_input[],
  orders_per_list integer
);
comment on type api_unstable.pick_lists_create_input is 'A wave of fulfillment orders.';
comment on column api_unstable.pick_lists_create_input.warehouse_id is
  E'@notNull\n@gid Warehouse\nId of the warehouse.';
comment on column api_unstable.pick_lists_create_input.fulfillment_order_ids is
  E'@gid FulfillmentOrder\n'
  'Ids of 1 to 250 fulfillment orders. By default those that wait longest: one for each container, and 20 '
  'for each list without containers, unless ordersPerList says otherwise.';
comment on column api_unstable.pick_lists_create_input.lists is
  'The pick lists, up to 250; one by default. One with containers takes a fulfillment order for each, the '
  'others share the rest.';
comment on column api_unstable.pick_lists_create_input.orders_per_list is
  'The maximum number of fulfillment orders on a list without containers; 1 to 250.';

create function api_unstable.pick_lists_create(input api_unstable.pick_lists_create_input)
returns api_unstable.pick_lists_create_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_pick_lists(input.warehouse_id, input.fulfillment_order_ids, array(
    select row (l.assignee, l.stock_container_ids)::erp.pick_round
    from unnest(input.lists) with ordinality l order by l.ordinality
  ), input.orders_per_list), null, null)::api_unstable.pick_lists_create_payload
$$;
comment on function api_unstable.pick_lists_create(api_unstable.pick_lists_create_input) is
  E'@requiresScopes pick_lists:write\n'
  '@userErrors NOT_FOUND NOT_UNIQUE EXTERNALLY_MANAGED INVALID ON_HOLD INVALID_STATE_TRANSITION '
  'ON_PICK_LIST CONTAINER_IN_USE TOO_MANY_LINES OUT_OF_RANGE REQUIRED INSUFFICIENT_STOCK\n'
  '@warnings NOT_PLANNED\n'
  'Plans a wave: pick lists of fulfillment orders of one warehouse. Their lines name bins and batches in '
  'the pick order of each product. No other pick list, shipment or reservation of a bin or a batch gets '
  'these units. Units that the warehouse has not free stay unplanned, with a warning.';
--! EndIncluded api/pick_lists_create.sql
--! Included api/pick_list_start.sql
drop type if exists api_unstable.pick_list_start_input cascade;
create type api_unstable.pick_list_start_input as (id uuid, assignee text);
comment on type api_unstable.pick_list_start_input is 'A pick list that somebody begins to work on.';
comment on column api_unstable.pick_list_start_input.id is E'@notNull\n@gid PickList\nId of the pick list.';
comment on column api_unstable.pick_list_start_input.assignee is
  'The person who picks, as free text of at most 200 characters. By default as it was.';

create function api_unstable.pick_list_start(input api_unstable.pick_list_start_input)
returns api_unstable.pick_list_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.start_pick_list(input.id, input.assignee), '{}', null)::api_unstable.pick_list_payload
$$;
comment on function api_unstable.pick_list_start(api_unstable.pick_list_start_input) is
  E'@requiresScopes pick_lists:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION OUT_OF_RANGE\n'
  'Starts a pick list. Its fulfillment orders are in progress from now on, except those on hold.';
--! EndIncluded api/pick_list_start.sql
--! Included api/pick_list_line_confirm.sql
drop type if exists api_unstable.pick_list_line_confirm_input cascade;
create type api_unstable.pick_list_line_confirm_input as (
  id uuid, code jsonb, container_code jsonb, quantity integer
);
comment on type api_unstable.pick_list_line_confirm_input is 'Units that were picked.';
comment on column api_unstable.pick_list_line_confirm_input.id is
  E'@notNull\n@gid PickListLine\nId of the line of the pick list.';
comment on column api_unstable.pick_list_line_confirm_input.code is
  E'@notNull\n@gs1\n'
  'The scanned code of the product: a GTIN, a product number, or a code with GS1 application identifiers, '
  'as the scanner gives it. The application identifiers are 01 or 02, 10, 15, 21, 30 and 37.';
comment on column api_unstable.pick_list_line_confirm_input.container_code is
  E'@gs1\nThe scanned code of the container: its number or its SSCC. It is not checked when left out.';
comment on column api_unstable.pick_list_line_confirm_input.quantity is
  'How many units; at least 1. By default as many as the code stands for.';

create function api_unstable.pick_list_line_confirm(input api_unstable.pick_list_line_confirm_input)
returns api_unstable.pick_list_line_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.confirm_pick(input.id, jsonb_populate_record(null::erp.scanned_code, input.code),
    jsonb_populate_record(null::erp.scanned_code, input.container_code), input.quantity
  ), null)::api_unstable.pick_list_line_payload
$$;
comment on function api_unstable.pick_list_line_confirm(api_unstable.pick_list_line_confirm_input) is
  E'@requiresScopes pick_lists:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION ON_HOLD EXTERNALLY_MANAGED UNKNOWN_CODE WRONG_PRODUCT '
  'BATCH_MISMATCH WRONG_CONTAINER OVER_FULFILLMENT OUT_OF_RANGE BATCH_HELD BATCH_EXPIRED BIN_NOT_SELLABLE '
  'INVALID INSUFFICIENT_STOCK\n'
  'Confirms units of a line of a pick list by a scanned code. Books them from their place into the container '
  'by the process relocation. Give each scan an idempotency key, so that a repeated call counts once.';
--! EndIncluded api/pick_list_line_confirm.sql
--! Included api/pick_list_line_short.sql
drop type if exists api_unstable.pick_list_line_short_payload cascade;
create type api_unstable.pick_list_line_short_payload as (
  pick_list_line uuid, replacements uuid[], missing_quantity integer, user_errors api_unstable.user_error[]
);
comment on type api_unstable.pick_list_line_short_payload is 'The result of reporting missing units.';
comment on column api_unstable.pick_list_line_short_payload.pick_list_line is
  E'@entity PickListLine\nThe line as it is now; null when it was refused.';
comment on column api_unstable.pick_list_line_short_payload.replacements is
  E'@entity PickListLine\n@atMost 250\nAdded lines: other places that have the units.';
comment on column api_unstable.pick_list_line_short_payload.missing_quantity is
  'Units that no other place has; null when it was refused.';
comment on column api_unstable.pick_list_line_short_payload.user_errors is
  'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.pick_list_line_short_input cascade;
create type api_unstable.pick_list_line_short_input as (id uuid);
comment on type api_unstable.pick_list_line_short_input is 'A place that lacks units.';
comment on column api_unstable.pick_list_line_short_input.id is
  E'@notNull\n@gid PickListLine\nId of the line of the pick list.';

create function api_unstable.pick_list_line_short(input api_unstable.pick_list_line_short_input)
returns api_unstable.pick_list_line_short_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.line_id, s.replacements, s.missing, null)::api_unstable.pick_list_line_short_payload
  from erp.report_short(input.id) s
$$;
comment on function api_unstable.pick_list_line_short(api_unstable.pick_list_line_short_input) is
  E'@requiresScopes pick_lists:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION ON_HOLD EXTERNALLY_MANAGED\n'
  'Reports that a place lacks the units of a line that are still open. Adds lines for other places to the '
  'list. What no place has stays open in the fulfillment order. Until the place is counted, pick lists take '
  'nothing from there, and cycleCountProposals begins with it.';
--! EndIncluded api/pick_list_line_short.sql
--! Included api/pick_list_pack.sql
drop type if exists api_unstable.pick_list_pack_payload cascade;
create type api_unstable.pick_list_pack_payload as (
  pick_task uuid, fulfillments uuid[], fulfillment_order uuid, stock_movements uuid[],
  user_errors api_unstable.user_error[]
);
comment on type api_unstable.pick_list_pack_payload is 'The result of packing a fulfillment order.';
comment on column api_unstable.pick_list_pack_payload.pick_task is
  E'@entity PickTask\nThe fulfillment order on its pick list, as it is now; null when it was refused.';
comment on column api_unstable.pick_list_pack_payload.fulfillments is
  E'@entity Fulfillment\n@perLine parcels\n@atMost 1\nThe parcels, in the order of the input.';
comment on column api_unstable.pick_list_pack_payload.fulfillment_order is
  E'@entity FulfillmentOrder\nThe fulfillment order as it is now; null when it was refused.';
comment on column api_unstable.pick_list_pack_payload.stock_movements is
  E'@entity StockMovement\n@atMost 500\nThe movements that took the units out of the container.';
comment on column api_unstable.pick_list_pack_payload.user_errors is
  'Why nothing was packed; empty when it was.';

drop type if exists api_unstable.pick_list_pack_input cascade;
drop type if exists api_unstable.pick_list_pack_parcel_input cascade;
drop type if exists api_unstable.pick_list_pack_line_input cascade;
create type api_unstable.pick_list_pack_line_input as (
  fulfillment_order_line_item_id uuid, quantity integer
);
comment on type api_unstable.pick_list_pack_line_input is 'Units in a parcel.';
comment on column api_unstable.pick_list_pack_line_input.fulfillment_order_line_item_id is
  E'@notNull\n@gid FulfillmentOrderLineItem\nId of the line of the fulfillment order.';
comment on column api_unstable.pick_list_pack_line_input.quantity is
  E'@notNull\nHow many; at least 1, and no more than were picked.';
create type api_unstable.pick_list_pack_parcel_input as (
  lines api_unstable.pick_list_pack_line_input[], tracking_codes text[]
);
comment on type api_unstable.pick_list_pack_parcel_input is 'A parcel.';
comment on column api_unstable.pick_list_pack_parcel_input.lines is
  E'@notNull\nThe contents; 250 lines in all parcels.';
comment on column api_unstable.pick_list_pack_parcel_input.tracking_codes is
  'Codes to follow the parcel by, of 1 to 255 characters. They join those that the order has.';

create type api_unstable.pick_list_pack_input as (
  pick_task_id uuid, parcels api_unstable.pick_list_pack_parcel_input[], comment text
);
comment on type api_unstable.pick_list_pack_input is 'Parcels of a fulfillment order that was picked.';
comment on column api_unstable.pick_list_pack_input.pick_task_id is
  E'@notNull\n@gid PickTask\nId of the fulfillment order on its pick list.';
comment on column api_unstable.pick_list_pack_input.parcels is
  'Up to 50 parcels. By default one with all that was picked.';
comment on column api_unstable.pick_list_pack_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.pick_list_pack(input api_unstable.pick_list_pack_input)
returns api_unstable.pick_list_pack_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.pick_task_id, s.fulfillments, s.fulfillment_orders[1], s.stock_movements,
    null)::api_unstable.pick_list_pack_payload
  from erp.pack_pick_task(input.pick_task_id, to_jsonb(input.parcels), input.comment) s
$$;
comment on function api_unstable.pick_list_pack(api_unstable.pick_list_pack_input) is
  E'@requiresScopes pick_lists:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED ON_HOLD INVALID_STATE_TRANSITION INVALID OVER_FULFILLMENT '
  'NOT_UNIQUE REQUIRED OUT_OF_RANGE TOO_MANY_LINES BATCH_HELD BATCH_EXPIRED INSUFFICIENT_STOCK\n'
  'Packs what was picked for a fulfillment order into parcels. Each becomes a fulfillment, as by '
  'fulfillmentCreate, and its units leave from the container. When all is packed, the container is free '
  'again. What could not be picked stays open, and can be planned again.';
--! EndIncluded api/pick_list_pack.sql
--! Included api/pick_list_cancel.sql
drop type if exists api_unstable.pick_list_cancel_input cascade;
create type api_unstable.pick_list_cancel_input as (id uuid, pick_task_ids uuid[], comment text);
comment on type api_unstable.pick_list_cancel_input is 'A pick list that is not picked any more.';
comment on column api_unstable.pick_list_cancel_input.id is E'@notNull\n@gid PickList\nId of the pick list.';
comment on column api_unstable.pick_list_cancel_input.pick_task_ids is
  E'@gid PickTask\nIds of fulfillment orders on the list, to take only these off. By default all.';
comment on column api_unstable.pick_list_cancel_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.pick_list_cancel(input api_unstable.pick_list_cancel_input)
returns api_unstable.pick_list_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (c.list_id, c.stock_movements, null)::api_unstable.pick_list_payload
  from erp.cancel_pick_list(input.id, input.pick_task_ids, input.comment) c
$$;
comment on function api_unstable.pick_list_cancel(api_unstable.pick_list_cancel_input) is
  E'@requiresScopes pick_lists:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION OUT_OF_RANGE INSUFFICIENT_STOCK\n'
  'Takes fulfillment orders off a pick list. What was picked for them, and is not packed, is booked back '
  'into the bins that it came from. Fulfillment orders of which nothing was shipped are open again.';
--! EndIncluded api/pick_list_cancel.sql
--! Included api/product_gtins_set.sql
drop type if exists api_unstable.product_gtins_set_payload cascade;
create type api_unstable.product_gtins_set_payload as (
  product uuid, user_errors api_unstable.user_error[]
);
comment on type api_unstable.product_gtins_set_payload is 'The result of setting the GTINs of a product.';
comment on column api_unstable.product_gtins_set_payload.product is
  E'@entity Product\nThe product as it is now; null when it was refused.';
comment on column api_unstable.product_gtins_set_payload.user_errors is
  'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.product_gtins_set_input cascade;
drop type if exists api_unstable.product_gtins_set_gtin_input cascade;
create type api_unstable.product_gtins_set_gtin_input as (gtin text, quantity integer);
comment on type api_unstable.product_gtins_set_gtin_input is 'A further GTIN of a product.';
comment on column api_unstable.product_gtins_set_gtin_input.gtin is
  E'@notNull\nThe GTIN: 8, 12, 13 or 14 digits. It is kept as 14 digits.';
comment on column api_unstable.product_gtins_set_gtin_input.quantity is
  E'@neverNull\nUnits that it stands for, such as 12 for a case of 12. By default 1.';
create type api_unstable.product_gtins_set_input as (
  product_id uuid, gtins api_unstable.product_gtins_set_gtin_input[]
);
comment on type api_unstable.product_gtins_set_input is 'All further GTINs of a product.';
comment on column api_unstable.product_gtins_set_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.product_gtins_set_input.gtins is
  E'@notNull\nUp to 50 GTINs, in addition to the one of the product itself. Others are deleted.';

create function api_unstable.product_gtins_set(input api_unstable.product_gtins_set_input)
returns api_unstable.product_gtins_set_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.set_product_gtins(input.product_id,
    array(select g.gtin from unnest(input.gtins) with ordinality g order by g.ordinality),
    array(select coalesce(g.quantity, 1) from unnest(input.gtins) with ordinality g order by g.ordinality)
  ), null)::api_unstable.product_gtins_set_payload
$$;
comment on function api_unstable.product_gtins_set(api_unstable.product_gtins_set_input) is
  E'@requiresScopes products:write\n'
  '@userErrors NOT_FOUND INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES\n'
  'Replaces the further GTINs of a product, by which pick lists know it when they are scanned.';
--! EndIncluded api/product_gtins_set.sql

create trigger keep_picks after update of state, source_warehouse_location_id on erp.fulfillment_order
for each row when (new.state = 'Cancelled' and old.state <> 'Cancelled'
  or new.source_warehouse_location_id is distinct from old.source_warehouse_location_id)
execute function erp.keep_picks_of_order();
create trigger keep_picks after update of quantity, fulfilled_quantity on erp.fulfillment_order_line_item
for each row when (new.quantity - new.fulfilled_quantity < old.quantity - old.fulfilled_quantity)
execute function erp.keep_picks_of_line();
create trigger keep_line_open before update of fulfillment_order_line_item_id on erp.pick_list_line
for each row when (new.fulfillment_order_line_item_id is null and old.state = 'open')
execute function erp.drop_pick_line();
create trigger settle_task after update of state, packed_quantity on erp.pick_list_line
for each row execute function erp.settle_pick_task();
create trigger end_task after update of state on erp.pick_task
for each row when (old.state = 'open' and new.state <> 'open') execute function erp.end_pick_task();

--! split: 230-labels.sql
-- Labels that clients request and carriers make
drop table if exists erp.shipping_label_file cascade;
drop table if exists erp.shipping_label_work cascade;
drop table if exists erp.carrier cascade;
drop trigger if exists follow_shipping_label on erp.shipping_label;

create table erp.carrier (
  id uuid primary key default uuidv7(),
  technical_name text collate "C" not null unique
    constraint carrier_technical_name_is_a_word check (technical_name ~ '^[a-z][a-z0-9_-]{0,63}$'),
  name text collate "C" not null
    constraint carrier_name_is_filled check (not erp.is_blank(name) and length(name) <= 255),
  url text collate "C" not null
    constraint carrier_url_is_a_web_address check (erp.is_web_address(url) and length(url) <= 2000),
  secret text collate "C" not null,
  is_active boolean not null default true,
  tracking_url_pattern text collate "C"
    constraint carrier_tracking_url_pattern_has_the_code
      check (tracking_url_pattern ~ '^https?://.*\{code\}' and length(tracking_url_pattern) <= 1000),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
alter table erp.carrier enable row level security;
create trigger touch_updated_at before update on erp.carrier
  for each row execute function erp.touch_updated_at();
comment on table erp.carrier is 'Carriers that make shipping labels, by an adapter at an address.';
comment on column erp.carrier.technical_name is 'Stable machine name of the carrier, for example dhl.';
comment on column erp.carrier.name is 'Name of the carrier for people.';
comment on column erp.carrier.url is 'Address of the adapter, to which /labels/{id} is added.';
comment on column erp.carrier.secret is
  'Secret by which the adapter knows the service; encrypted with SECRETS_KEY.';
comment on column erp.carrier.is_active is
  'Whether labels are requested from it. Requests to an inactive carrier wait.';
comment on column erp.carrier.tracking_url_pattern is
  'Address of the page that shows where a parcel is, with {code} in place of the tracking code.';
select api_meta.allow('service_keeper', 'erp.carrier', 'select');
select api_meta.allow('service_writer', 'erp.carrier',
  'select (id, technical_name, name, is_active, tracking_url_pattern)');

alter table erp.shipping_label drop column if exists parcel_number cascade;
alter table erp.shipping_label drop column if exists failure cascade;
alter table erp.shipping_label drop column if exists cancellation_requested_at cascade;
alter table erp.shipping_label drop constraint if exists shipping_label_state_is_known,
  drop constraint if exists shipping_label_tracking_codes_length,
  drop constraint if exists shipping_label_tracking_url_length,
  drop constraint if exists shipping_label_document_url_length;
alter table erp.shipping_label
  add column parcel_number integer,
  add column failure text,
  add column cancellation_requested_at timestamptz(0),
  add constraint shipping_label_state_is_known
    check (state in ('requested', 'created', 'cancelled', 'failed')) not valid,
  add constraint shipping_label_parcel_number_is_positive check (parcel_number > 0) not valid,
  add constraint shipping_label_request_has_a_parcel
    check (state <> 'requested' or parcel_number is not null) not valid,
  add constraint shipping_label_failure_length check (length(failure) <= 1000) not valid,
  add constraint shipping_label_tracking_codes_length check (length(tracking_codes::text) <= 10000) not valid,
  add constraint shipping_label_tracking_url_length check (length(tracking_url) <= 4000) not valid,
  add constraint shipping_label_document_url_length check (length(document_url) <= 4000) not valid;
comment on column erp.shipping_label.state is 'requested, created, cancelled or failed.';
comment on column erp.shipping_label.parcel_number is
  'Number of the parcel within its request, from 1. Null on labels that other programs made.';
comment on column erp.shipping_label.failure is
  'Why the last call to the carrier brought nothing. Null after a success.';
comment on column erp.shipping_label.cancellation_requested_at is
  'When somebody requested the cancellation. The carrier has not confirmed it yet if the state is another '
  'than cancelled.';
comment on constraint shipping_label_state_is_known on erp.shipping_label is
  '@internal Mutations take states from erp.state_transition.';
comment on constraint shipping_label_parcel_number_is_positive on erp.shipping_label is
  '@internal erp.request_shipping_labels checks it.';
comment on constraint shipping_label_request_has_a_parcel on erp.shipping_label is
  '@internal erp.request_shipping_labels numbers parcels.';
comment on constraint shipping_label_failure_length on erp.shipping_label is
  '@internal erp.settle_shipping_label shortens the text.';
comment on constraint shipping_label_tracking_codes_length on erp.shipping_label is
  '@internal The service bounds answers of carriers.';
comment on constraint shipping_label_tracking_url_length on erp.shipping_label is
  '@internal The service bounds answers of carriers.';
comment on constraint shipping_label_document_url_length on erp.shipping_label is
  '@internal The service bounds answers of carriers.';
comment on constraint shipping_label_weight_is_positive on erp.shipping_label is
  '@internal erp.request_shipping_labels checks it.';
comment on constraint shipping_label_type_is_known on erp.shipping_label is
  '@internal erp.request_shipping_labels checks it.';
comment on constraint shipping_label_cancelled_at_when_cancelled on erp.shipping_label is
  '@internal Functions set both together.';
comment on constraint shipping_label_tracking_codes_are_strings on erp.shipping_label is
  '@internal The service reads answers of carriers as strings.';

create table erp.shipping_label_work (
  shipping_label_id uuid primary key references erp.shipping_label on delete cascade,
  carrier_technical_name text collate "C" not null
    references erp.carrier (technical_name) on update cascade on delete restrict,
  attempts integer not null default 0,
  due_at timestamptz not null default clock_timestamp()
);
create index shipping_label_work_carrier_technical_name_due_at_idx
  on erp.shipping_label_work (carrier_technical_name, due_at);
alter table erp.shipping_label_work enable row level security;
comment on table erp.shipping_label_work is
  'Labels about which the service has to call a carrier: to make one, or to cancel it.';
comment on column erp.shipping_label_work.attempts is 'Number of calls that were begun.';
comment on column erp.shipping_label_work.due_at is
  'When the next call is due. While a process calls, the end of its lease.';
comment on constraint shipping_label_work_carrier_technical_name_fkey on erp.shipping_label_work is
  E'@userError NOT_FOUND carrier_technical_name\nThere is no such carrier.';
comment on constraint shipping_label_work_shipping_label_id_fkey on erp.shipping_label_work is
  '@internal The trigger of the label writes it.';
select api_meta.allow('service_writer', 'erp.shipping_label_work', 'select', 'insert', 'delete',
  'update (attempts, due_at)');
select api_meta.allow('service_keeper', 'erp.shipping_label_work', 'select', 'update (attempts, due_at)');

create table erp.shipping_label_file (
  shipping_label_id uuid primary key references erp.shipping_label on delete cascade,
  code text collate "C" not null constraint shipping_label_file_code_is_long check (length(code) >= 32),
  content_type text collate "C" not null
    constraint shipping_label_file_content_type_length check (length(content_type) <= 100),
  content bytea not null
    constraint shipping_label_file_content_length check (octet_length(content) <= 2000000)
);
alter table erp.shipping_label_file enable row level security;
comment on table erp.shipping_label_file is 'Labels to print, as carriers made them.';
comment on column erp.shipping_label_file.code is 'Random code that opens the file without a login.';
comment on column erp.shipping_label_file.content_type is 'Media type, for example application/pdf.';
comment on column erp.shipping_label_file.content is 'The file.';
comment on constraint shipping_label_file_code_is_long on erp.shipping_label_file is
  '@internal erp.keep_label makes the code.';
comment on constraint shipping_label_file_content_type_length on erp.shipping_label_file is
  '@internal The service bounds answers of carriers.';
comment on constraint shipping_label_file_content_length on erp.shipping_label_file is
  '@internal The service bounds answers of carriers.';
comment on constraint shipping_label_file_shipping_label_id_fkey on erp.shipping_label_file is
  '@internal erp.keep_label writes it for a label.';
select api_meta.allow('service_writer', 'erp.shipping_label_file', 'select (shipping_label_id)', 'delete',
  'insert');
select api_meta.allow('service_document', 'erp.shipping_label_file', 'select');
select api_meta.allow('service_document', 'erp.shipping_label', 'select (id, tracking_codes)');

select api_meta.allow('service_writer', 'erp.shipping_label', 'select', 'insert',
  'update (state, tracking_codes, tracking_url, document_url, failure, cancelled_at, '
  'cancellation_requested_at)');
select api_meta.allow('service_keeper', 'erp.shipping_label', 'select');
select api_meta.allow('service_keeper', 'erp.fulfillment_order', 'select (id, number, '
  'source_warehouse_location_id, shipping_method_name, shipping_address)');
select api_meta.allow('service_keeper', 'erp.sales_order', 'select (id, order_number, shipping_address)');
select api_meta.allow('service_keeper', 'erp.location', 'select (id, warehouse_id)');
select api_meta.allow('service_keeper', 'erp.warehouse', 'select (id, is_default, address)');

delete from erp.state_transition where machine = 'shipping_label';
insert into erp.state_transition (machine, action, from_state, to_state, mutation) values
  ('shipping_label', 'create', 'requested', 'created', null),
  ('shipping_label', 'fail', 'requested', 'failed', null),
  ('shipping_label', 'retry', 'failed', 'requested', 'shipping_label_retry'),
  ('shipping_label', 'cancel', 'requested', 'cancelled', 'shipping_label_cancel'),
  ('shipping_label', 'cancel', 'created', 'cancelled', 'shipping_label_cancel'),
  ('shipping_label', 'cancel', 'failed', 'cancelled', 'shipping_label_cancel');

--! Included erp/follow_shipping_label.sql
create or replace function erp.follow_shipping_label() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if new.document_url is null and tg_op = 'UPDATE' then
    delete from erp.shipping_label_file f where f.shipping_label_id = new.id;
  end if;
  if tg_op = 'UPDATE' and new.state = old.state
    and new.cancellation_requested_at is not distinct from old.cancellation_requested_at then
    return null;
  end if;
  if new.state = 'requested' or new.state <> 'cancelled' and new.cancellation_requested_at is not null then
    insert into erp.shipping_label_work as w (shipping_label_id, carrier_technical_name)
    values (new.id, new.carrier_technical_name)
    on conflict on constraint shipping_label_work_pkey do update set attempts = 0, due_at = excluded.due_at;
  else
    delete from erp.shipping_label_work w where w.shipping_label_id = new.id;
  end if;
  return null;
end
$$;
comment on function erp.follow_shipping_label() is
  'Trigger after a shipping label was written: the service has work to do while the label is requested, or '
  'while its cancellation is. A label without an address of its file has no file.';
select api_meta.give('erp.follow_shipping_label()', 'service_writer');
--! EndIncluded erp/follow_shipping_label.sql
create trigger follow_shipping_label
  after insert or update of state, cancellation_requested_at, document_url on erp.shipping_label
  for each row execute function erp.follow_shipping_label();
--! Included erp/queue_label_work.sql
create or replace function erp.queue_label_work() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  first_at constant timestamptz := (select min(n.due_at) from new_rows n);
begin
  if first_at is not null and to_regproc('graphile_worker.add_job') is not null then
    perform graphile_worker.add_job('make_shipping_labels', run_at => first_at);
  end if;
  return null;
end
$$;
comment on function erp.queue_label_work() is
  'Trigger after work on shipping labels was added or put off: queues the job for the first moment at which '
  'some is due. A lease is put off too, so labels of a process that was killed are taken up after it.';
--! EndIncluded erp/queue_label_work.sql
create trigger queue_work_after_insert after insert on erp.shipping_label_work
  referencing new table as new_rows for each statement execute function erp.queue_label_work();
create trigger queue_work_after_update after update on erp.shipping_label_work
  referencing new table as new_rows for each statement execute function erp.queue_label_work();

--! Included erp/lock_shipping_label.sql
create or replace function erp.lock_shipping_label(label_id uuid) returns erp.shipping_label
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.shipping_label;
begin
  -- The order first, as everywhere: its list of tracking codes follows the label
  perform ledger.lock_orders(array(
    select l.order_id from erp.shipping_label l where l.id = label_id and l.order_id is not null));
  select * into present from erp.shipping_label l where l.id = label_id for no key update;
  if not found then
    perform mutation.refuse_missing('shipping label', '{id}');
  end if;
  return present;
end
$$;
comment on function erp.lock_shipping_label(uuid) is
  'Locks the order of a shipping label, then the label, until the end of the transaction. Returns the label. '
  'User error NOT_FOUND.';
grant execute on function erp.lock_shipping_label(uuid) to service_writer;
--! EndIncluded erp/lock_shipping_label.sql
--! Included erp/require_unlabelled_parcel.sql
create or replace function erp.require_unlabelled_parcel(wanted erp.shipping_label, field text[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (
    select from erp.shipping_label l
    where l.fulfillment_order_id = wanted.fulfillment_order_id and l.type = wanted.type
      and l.parcel_number = wanted.parcel_number and l.state in ('requested', 'created')
  ) or wanted.fulfillment_order_id is null and exists (
    select from erp.shipping_label l
    where l.order_id = wanted.order_id and l.fulfillment_order_id is null and l.type = wanted.type
      and l.parcel_number = wanted.parcel_number and l.state in ('requested', 'created')
  ) then
    perform mutation.refuse('NOT_UNIQUE', format('Parcel %s has a label already. Cancel the label, or give '
      'the parcel another number.', wanted.parcel_number), field,
      jsonb_build_object('parcelNumber', wanted.parcel_number));
  end if;
end
$$;
comment on function erp.require_unlabelled_parcel(erp.shipping_label, text[]) is
  'Refuses a second label for a parcel: one with the same fulfillment order, or order, type and number. The '
  'caller has locked the order. User error NOT_UNIQUE.';
select api_meta.plan_by_index('erp.require_unlabelled_parcel(erp.shipping_label, text[])');
grant execute on function erp.require_unlabelled_parcel(erp.shipping_label, text[]) to service_writer;
--! EndIncluded erp/require_unlabelled_parcel.sql
--! Included erp/request_shipping_labels.sql
create or replace function erp.shippable_for_label(
  fulfillment_order_id uuid, order_id uuid, is_return boolean
)
returns erp.shipping_label
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  field constant text[] :=
    case when fulfillment_order_id is not null then '{fulfillment_order_id}' else '{order_id}' end;
  target erp.shipping_label;
  fo erp.fulfillment_order;
  o erp.sales_order;
begin
  if num_nonnulls(fulfillment_order_id, order_id) <> 1 then
    perform mutation.refuse('REQUIRED', 'Name either a fulfillment order or an order.', '{order_id}');
  elsif fulfillment_order_id is not null then
    fo := erp.lock_fulfillment_order(fulfillment_order_id, field);
    if fo.state = 'OnHold' and not is_return then
      perform mutation.refuse('ON_HOLD', 'The fulfillment order is on hold.', field);
    end if;
  else
    perform ledger.lock_orders(array[order_id]);
  end if;
  select * into o from erp.sales_order s where s.id = coalesce(order_id, fo.destination_order_id);
  if not found and order_id is not null then
    perform mutation.refuse_missing('order', field);
  end if;
  if not is_return and (fo.state = 'Cancelled' or o.state = 'cancelled') then
    perform mutation.refuse('INVALID_STATE_TRANSITION', 'It is cancelled, so nothing is shipped.', field,
      jsonb_build_object('state', 'cancelled', 'allowedActions', jsonb_build_array()));
  elsif coalesce(fo.shipping_address, o.shipping_address) is null then
    perform mutation.refuse('REQUIRED', 'It has no shipping address. Give the order one.', field);
  end if;
  target.fulfillment_order_id := fo.id;
  target.order_id := o.id;
  return target;
end
$$;
comment on function erp.shippable_for_label(uuid, uuid, boolean) is
  'Locks the fulfillment order or the order of a new label, and returns a label with both ids. User errors '
  'REQUIRED, NOT_FOUND, EXTERNALLY_MANAGED, ON_HOLD, INVALID_STATE_TRANSITION.';
select api_meta.plan_by_index('erp.shippable_for_label(uuid, uuid, boolean)');
grant execute on function erp.shippable_for_label(uuid, uuid, boolean) to service_writer;

create or replace function erp.request_shipping_labels(
  fulfillment_order_id uuid, order_id uuid, carrier text, type text, numbers integer[], weights integer[]
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted erp.shipping_label;
  called erp.carrier.name%type;
  active boolean;
  found_ids uuid[];
begin
  perform mutation.refuse_too_many(cardinality(numbers), 50, '{parcels}');
  if type not in ('outgoing', 'return') then
    perform mutation.refuse('INVALID', 'The type is outgoing or return.', '{type}');
  end if;
  wanted := erp.shippable_for_label(fulfillment_order_id, order_id, type = 'return');
  select c.name, c.is_active into called, active from erp.carrier c where c.technical_name = carrier;
  if not found then
    perform mutation.refuse_missing('carrier', '{carrier_technical_name}');
  elsif not active then
    perform mutation.refuse('INVALID', 'The carrier is switched off. Choose another.',
      '{carrier_technical_name}');
  end if;
  wanted.type := type;
  for n in 1 .. cardinality(numbers) loop
    if numbers[n] < 1 or weights[n] < 1 then
      perform mutation.refuse('OUT_OF_RANGE', 'It is at least 1.', mutation.path('parcels', n,
        case when numbers[n] < 1 then 'number' else 'weight_in_grams' end));
    elsif array_position(numbers, numbers[n]) < n then
      perform mutation.refuse('INVALID', format('Parcel %s is there twice.', numbers[n]),
        mutation.path('parcels', n, 'number'));
    end if;
    wanted.parcel_number := numbers[n];
    perform erp.require_unlabelled_parcel(wanted, mutation.path('parcels', n, 'number'));
  end loop;
  with made as (
    insert into erp.shipping_label (state, type, carrier_technical_name, carrier_name, weight_in_grams,
      fulfillment_order_id, order_id, parcel_number)
    select 'requested', wanted.type, carrier, called, p.weight, wanted.fulfillment_order_id, wanted.order_id,
      p.number
    from unnest(numbers, weights) with ordinality p (number, weight, n) order by p.n
    returning id
  )
  select array_agg(m.id order by m.id) into found_ids from made m;
  return found_ids;
end
$$;
comment on function erp.request_shipping_labels(uuid, uuid, text, text, integer[], integer[]) is
  'Adds a requested label for each parcel, with its number and its weight in grams. Returns their ids. User '
  'errors REQUIRED, NOT_FOUND, INVALID, OUT_OF_RANGE, NOT_UNIQUE, TOO_MANY_LINES, EXTERNALLY_MANAGED, '
  'ON_HOLD, INVALID_STATE_TRANSITION.';
select api_meta.plan_by_index(
  'erp.request_shipping_labels(uuid, uuid, text, text, integer[], integer[])');
grant execute on function erp.request_shipping_labels(uuid, uuid, text, text, integer[], integer[])
  to service_writer;
--! EndIncluded erp/request_shipping_labels.sql
--! Included erp/cancel_shipping_label.sql
create or replace function erp.cancel_shipping_label(label_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.shipping_label := erp.lock_shipping_label(label_id);
  wanted constant text := erp.next_state('shipping_label', 'cancel', present.state);
  moment constant timestamptz := date_trunc('second', now());
begin
  if present.state = 'requested' and present.failure is null then
    -- A process that takes it now holds this row, and counts its attempt before it calls
    delete from erp.shipping_label_work w where w.shipping_label_id = present.id and w.attempts = 0
      and present.cancellation_requested_at is null;
  end if;
  if found or present.parcel_number is null then
    update erp.shipping_label l
    set state = wanted, cancelled_at = moment, cancellation_requested_at = moment, document_url = null
    where l.id = present.id;
  elsif present.cancellation_requested_at is null then
    update erp.shipping_label l set cancellation_requested_at = moment where l.id = present.id;
  end if;
  return present.id;
end
$$;
comment on function erp.cancel_shipping_label(uuid) is
  'Cancels a shipping label: at once if no carrier knows of it, and otherwise once its carrier has '
  'confirmed. Returns its id. User errors NOT_FOUND, INVALID_STATE_TRANSITION.';
select api_meta.plan_by_index('erp.cancel_shipping_label(uuid)');
grant execute on function erp.cancel_shipping_label(uuid) to service_writer;
--! EndIncluded erp/cancel_shipping_label.sql
--! Included erp/retry_shipping_label.sql
create or replace function erp.retry_shipping_label(label_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.shipping_label := erp.lock_shipping_label(label_id);
  wanted constant text := erp.next_state('shipping_label', 'retry', present.state);
begin
  if present.parcel_number is null then
    perform mutation.refuse('NOT_EDITABLE', 'Another program made the label. Request a new one.', '{id}');
  elsif present.cancellation_requested_at is not null then
    perform mutation.refuse('NOT_EDITABLE', 'The label is being cancelled. Request a new one.', '{id}');
  end if;
  perform erp.require_unlabelled_parcel(present, '{id}');
  update erp.shipping_label l set state = wanted where l.id = present.id;
  return present.id;
end
$$;
comment on function erp.retry_shipping_label(uuid) is
  'Requests a failed label again. The carrier gets the same key, so it never makes a second label. Returns '
  'its id. User errors NOT_FOUND, INVALID_STATE_TRANSITION, NOT_EDITABLE, NOT_UNIQUE.';
select api_meta.plan_by_index('erp.retry_shipping_label(uuid)');
grant execute on function erp.retry_shipping_label(uuid) to service_writer;
--! EndIncluded erp/retry_shipping_label.sql
--! Included erp/shipping_label_request.sql
create or replace function erp.shipping_label_request(label erp.shipping_label) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_build_object(
    'id', label.id, 'type', label.type, 'orderNumber', o.order_number, 'fulfillmentOrderNumber', f.number,
    'parcelNumber', label.parcel_number, 'weightInGrams', label.weight_in_grams,
    'shippingMethodName', f.shipping_method_name,
    'sender', case label.type when 'return' then a.customer else a.merchant end,
    'recipient', case label.type when 'return' then a.merchant else a.customer end)
  from (select label.fulfillment_order_id, label.order_id) l
  left join erp.fulfillment_order f on f.id = l.fulfillment_order_id
  left join erp.sales_order o on o.id = l.order_id
  left join erp.location p on p.id = f.source_warehouse_location_id
  cross join lateral (
    select erp.postal_address(coalesce(f.shipping_address, o.shipping_address)) as customer,
      (
        select erp.postal_address(w.address) from erp.warehouse w
        where w.id = p.warehouse_id or p.warehouse_id is null and w.is_default
      ) as merchant
  ) a;
end;
comment on function erp.shipping_label_request(erp.shipping_label) is
  'Returns the request that a carrier gets: the parcel and both addresses, with the keys of '
  'FulfillmentOrder.shippingAddress. The merchant has the address of the warehouse.';
grant execute on function erp.shipping_label_request(erp.shipping_label) to service_keeper;
grant execute on function erp.postal_address(jsonb) to service_keeper;
grant execute on function erp.address_keys() to service_keeper;
--! EndIncluded erp/shipping_label_request.sql
--! Included erp/claim_shipping_labels.sql
create or replace function erp.carriers_with_work() returns setof text
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select c.technical_name from erp.carrier c
  where c.is_active and exists (
    select from erp.shipping_label_work w
    where w.carrier_technical_name = c.technical_name and w.due_at <= clock_timestamp())
  order by 1;
end;
comment on function erp.carriers_with_work() is
  'Returns the technical names of active carriers that a call is due to.';
select api_meta.give('erp.carriers_with_work()', 'service_keeper');
grant execute on function erp.carriers_with_work() to service_worker;

create or replace function erp.claim_shipping_labels(carrier text, most integer, lease interval)
returns table (
  id uuid, lease_ends_at text, attempts integer, is_cancellation boolean, is_repeated boolean, request jsonb,
  carrier_id uuid, url text, secret text
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := clock_timestamp();
begin
  return query
  with claimed as (
    update erp.shipping_label_work w set attempts = w.attempts + 1, due_at = moment + lease
    where w.shipping_label_id in (
      select d.shipping_label_id from erp.shipping_label_work d
      where d.carrier_technical_name = carrier and d.due_at <= moment
      order by d.due_at limit most for no key update skip locked)
    returning w.shipping_label_id, w.attempts, w.due_at
  )
  select l.id, k.due_at::text, k.attempts, l.cancellation_requested_at is not null,
    k.attempts > 1 or l.failure is not null, erp.shipping_label_request(l), c.id, c.url, c.secret
  from claimed k
  join erp.shipping_label l on l.id = k.shipping_label_id
  join erp.carrier c on c.technical_name = carrier and c.is_active
  order by l.id;
end
$$;
comment on function erp.claim_shipping_labels(text, integer, interval) is
  'Takes due work on labels of a carrier for a lease, the oldest first, and returns what to call the carrier '
  'with. Other processes skip it meanwhile. is_repeated says that an earlier call may have made the label.';
select api_meta.plan_by_index('erp.claim_shipping_labels(text, integer, interval)');
select api_meta.give('erp.claim_shipping_labels(text, integer, interval)', 'service_keeper');
grant execute on function erp.claim_shipping_labels(text, integer, interval) to service_worker;
--! EndIncluded erp/claim_shipping_labels.sql
--! Included erp/settle_shipping_label.sql
create or replace function erp.keep_label(label_id uuid, answer jsonb, content bytea) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  code constant text := replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
begin
  if content is not null then
    insert into erp.shipping_label_file (shipping_label_id, code, content_type, content)
    values (label_id, code, answer ->> 'contentType', content);
  end if;
  update erp.shipping_label l
  set state = erp.next_state('shipping_label', 'create', l.state), failure = null,
    tracking_codes = answer -> 'trackingCodes',
    tracking_url = coalesce(answer ->> 'trackingUrl', (
      select replace(c.tracking_url_pattern, '{code}', erp.in_uri(answer -> 'trackingCodes' ->> 0))
      from erp.carrier c where c.technical_name = l.carrier_technical_name)),
    document_url = case when content is not null then format('/api/_action/document/%s/%s', label_id, code)
      else answer ->> 'documentUrl' end
  where l.id = label_id;
end
$$;
comment on function erp.keep_label(uuid, jsonb, bytea) is
  'Writes what a carrier made for a requested label: tracking codes, addresses and the file.';
select api_meta.plan_by_index('erp.keep_label(uuid, jsonb, bytea)');
grant execute on function erp.keep_label(uuid, jsonb, bytea) to service_writer;
grant execute on function erp.in_uri(text) to service_writer;

create or replace function erp.settle_shipping_label(
  label_id uuid, lease_ends_at timestamptz, outcome text, answer jsonb, content bytea
)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- The last one gives up
  pauses constant interval[] := '{10 s,1 min,5 min,15 min,30 min,1 h,2 h}';
  reason constant text := left(answer ->> 'reason', 1000);
  present constant erp.shipping_label := erp.lock_shipping_label(label_id);
  done integer;
begin
  select w.attempts into done from erp.shipping_label_work w
  where w.shipping_label_id = label_id and w.due_at = lease_ends_at for no key update;
  if not found then
    return false;
  elsif outcome = 'created' and present.state = 'requested' then
    perform erp.keep_label(label_id, answer, content);
  elsif outcome = 'cancelled' then
    update erp.shipping_label l
    set state = erp.next_state('shipping_label', 'cancel', l.state), failure = null, document_url = null,
      cancelled_at = date_trunc('second', now())
    where l.id = label_id;
  elsif outcome = 'kept' or outcome = 'later' and done > cardinality(pauses)
    and present.state <> 'requested' then
    update erp.shipping_label l set cancellation_requested_at = null, failure = reason where l.id = label_id;
  elsif outcome = 'failed' or outcome = 'later' and done > cardinality(pauses) then
    update erp.shipping_label l
    set state = erp.next_state('shipping_label', 'fail', l.state), failure = reason
    where l.id = label_id;
  else
    update erp.shipping_label l set failure = reason where l.id = label_id;
    update erp.shipping_label_work w
    set due_at = clock_timestamp() + greatest(pauses[done],
      least(coalesce((answer ->> 'retryAfterMs')::float8, 0) * interval '1 ms', interval '2 h'))
    where w.shipping_label_id = label_id;
  end if;
  return true;
end
$$;
comment on function erp.settle_shipping_label(uuid, timestamptz, text, jsonb, bytea) is
  'Writes what became of a call to a carrier: created, cancelled, failed for good, kept (the carrier refuses '
  'to cancel), or later. After eight attempts the service gives up. Returns false, and changes nothing, if '
  'the lease is another''s by now, or the work was called off.';
select api_meta.plan_by_index('erp.settle_shipping_label(uuid, timestamptz, text, jsonb, bytea)');
select api_meta.give('erp.settle_shipping_label(uuid, timestamptz, text, jsonb, bytea)', 'service_writer');
grant execute on function erp.settle_shipping_label(uuid, timestamptz, text, jsonb, bytea)
  to service_worker;
--! EndIncluded erp/settle_shipping_label.sql
--! Included erp/label_backlog.sql
create or replace function erp.label_backlog() returns table (labels integer, label_seconds float8)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select count(*)::integer, coalesce(extract(epoch from clock_timestamp() - min(
    greatest(l.created_at, l.cancellation_requested_at))), 0)::float8
  from (
    select w.shipping_label_id
    from erp.shipping_label_work w join erp.carrier c on c.technical_name = w.carrier_technical_name
    where c.is_active limit 10001
  ) w
  join erp.shipping_label l on l.id = w.shipping_label_id;
end;
comment on function erp.label_backlog() is
  'Returns how many calls about labels active carriers have not answered, at most 10,001, and for how many '
  'seconds the oldest has been waiting.';
select api_meta.give('erp.label_backlog()', 'service_keeper');
grant execute on function erp.label_backlog() to service_worker;
--! EndIncluded erp/label_backlog.sql
--! Included erp/open_document.sql
create or replace function erp.open_document(id uuid, presented_hash bytea, format text default 'pdf')
returns table (document_number text, config jsonb, static boolean, content bytea, content_type text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
  code text;
begin
  select d.deep_link_code into code from erp.document d where d.id = open_document.id
  union all
  select f.code from erp.shipping_label_file f where f.shipping_label_id = open_document.id;

  -- As in auth.authenticate_credential: the time of the comparison reveals nothing about the code. An unknown
  -- id takes the same path, with a hash that no code has.
  if sha256(nonce || presented_hash) is distinct from sha256(
    nonce || coalesce(sha256(convert_to(code, 'UTF8')), nonce)
  ) then
    return;
  end if;
  return query select d.document_number,
      d.config || case
        when x.content is not null then jsonb_build_object('xml', convert_from(x.content, 'UTF8'))
        else '{}' end,
      d.static, coalesce(case when open_document.format = 'pdf' then d.content end, f.content),
      coalesce(case when open_document.format = 'pdf' then d.content_type end, f.content_type)
    from erp.document d
    left join erp.document_file f on f.document_id = d.id and f.format = open_document.format
    left join erp.document_file x on x.document_id = d.id and x.format = 'xml' and f.content is null
      and (d.config #>> '{standard,embedsXml}')::boolean
    where d.id = open_document.id
    union all
    select l.tracking_codes ->> 0, '{}', true, f.content, f.content_type
    from erp.shipping_label_file f join erp.shipping_label l on l.id = f.shipping_label_id
    where f.shipping_label_id = open_document.id and open_document.format = 'pdf';
end
$$;
comment on function erp.open_document(uuid, bytea, text) is
  'Returns the document, or the file of the shipping label, with this id and the SHA-256 of this deep link '
  'code, or no row. The '
  'content is the file of a format, pdf or xml. A PDF is null until it is rendered; the config then also '
  'has the XML that the PDF is to contain. Takes a hash, so that no code gets into the log of Postgres, and '
  'any input can be checked.';
select api_meta.give('erp.open_document(uuid, bytea, text)', 'service_document');
--! EndIncluded erp/open_document.sql
--! Included auth/stored_secrets.sql
create or replace function auth.stored_secrets() returns table (kind text, key_id text, count bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select 'signing key', auth.secrets_key_id(k.secret), count(*)
  from auth.signing_key k
  where k.secret is not null and (k.retires_at is null or k.retires_at > now())
  group by 2
  union all
  select 'valuation key', auth.secrets_key_id(k.secret), count(*)
  from valuation.signing_key k
  where k.retired_at is null
  group by 2
  union all
  select 'webhook secret', auth.secrets_key_id(w.secret), count(*)
  from events.webhook_secret w
  where w.expires_at is null or w.expires_at > now()
  group by 2
  union all
  select 'carrier secret', auth.secrets_key_id(c.secret), count(*) from erp.carrier c group by 2;
end;
comment on function auth.stored_secrets() is
  'Returns the number of secrets of each kind, and the keys that they are encrypted with, null for '
  'unencrypted ones. Returns no secret.';
grant execute on function auth.stored_secrets() to service_auth;
--! EndIncluded auth/stored_secrets.sql

drop view if exists api_unstable.carriers cascade;
--! Included api/carriers.sql
create view api_unstable.carriers with (security_invoker = true) as
select id, technical_name, name, is_active, tracking_url_pattern from erp.carrier;
comment on view api_unstable.carriers is $$
@primaryKey id
@requiresScopes shipping_labels:read
@filters technical_name,is_active
A carrier that makes shipping labels. The operator connects carriers.$$;
--! EndIncluded api/carriers.sql
drop view if exists api_unstable.shipping_labels cascade;
--! Included api/shipping_labels.sql
create view api_unstable.shipping_labels with (security_invoker = true) as
select id, state, type, carrier_technical_name, carrier_name, tracking_codes, tracking_url, document_url,
  weight_in_grams, parcel_number, failure, cancellation_requested_at,
  fulfillment_order_id, order_id, cancelled_at, created_at, updated_at
from erp.shipping_label;
comment on view api_unstable.shipping_labels is
  E'@primaryKey id\n'
  '@requiresScopes shipping_labels:read\n'
  '@filters *\n'
  '@foreignKey (fulfillment_order_id) references fulfillment_orders (id)|@fieldName '
  'fulfillmentOrder|@foreignFieldName shippingLabels|@noFilter\n'
  '@foreignKey (order_id) references orders (id)|@fieldName order\n'
  'A label of a parcel: requested from a carrier, or made by it.';
comment on column api_unstable.shipping_labels.document_url is
  'Address of the label as a file to print. One that begins with /api/ is relative to the address of the '
  'service, and opens without a token.';
--! EndIncluded api/shipping_labels.sql
--! Included api/shipping_label_payload.sql
drop type if exists api_unstable.shipping_label_payload cascade;
create type api_unstable.shipping_label_payload as (
  shipping_label uuid, user_errors api_unstable.user_error[]
);
comment on type api_unstable.shipping_label_payload is 'The result of a mutation of a shipping label.';
comment on column api_unstable.shipping_label_payload.shipping_label is
  E'@entity ShippingLabel\nThe label as it is now; null when it was refused.';
comment on column api_unstable.shipping_label_payload.user_errors is
  'Why nothing was changed; empty when it was.';
--! EndIncluded api/shipping_label_payload.sql
--! Included api/shipping_label_request.sql
drop type if exists api_unstable.shipping_label_request_input cascade;
drop type if exists api_unstable.shipping_label_parcel_input cascade;
drop type if exists api_unstable.shipping_label_request_payload cascade;

create type api_unstable.shipping_label_parcel_input as (number integer, weight_in_grams integer);
comment on type api_unstable.shipping_label_parcel_input is 'A parcel that needs a label.';
comment on column api_unstable.shipping_label_parcel_input.number is
  E'@neverNull\n'
  'Number of the parcel, at least 1. When left out, its place in the list. A parcel has one label that is '
  'neither failed nor cancelled.';
comment on column api_unstable.shipping_label_parcel_input.weight_in_grams is
  'Weight in grams, at least 1. Many carriers need it.';

create type api_unstable.shipping_label_request_input as (
  fulfillment_order_id uuid, order_id uuid, carrier_technical_name text, type text,
  parcels api_unstable.shipping_label_parcel_input[]
);
comment on type api_unstable.shipping_label_request_input is 'Labels that a carrier is to make.';
comment on column api_unstable.shipping_label_request_input.fulfillment_order_id is
  E'@gid FulfillmentOrder\nId of the fulfillment order whose parcels they are. Give this or orderId.';
comment on column api_unstable.shipping_label_request_input.order_id is
  E'@gid Order\nId of the order, for parcels of no fulfillment order, such as returns.';
comment on column api_unstable.shipping_label_request_input.carrier_technical_name is
  E'@notNull\nTechnical name of an active carrier. See carriers.';
comment on column api_unstable.shipping_label_request_input.type is
  E'@neverNull\noutgoing for parcels to the customer, which is the default; return for parcels from there.';
comment on column api_unstable.shipping_label_request_input.parcels is
  E'@neverNull\nThe parcels, up to 50. One parcel, number 1, when left out.';

create type api_unstable.shipping_label_request_payload as (
  shipping_labels uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.shipping_label_request_payload is 'The result of requesting labels.';
comment on column api_unstable.shipping_label_request_payload.shipping_labels is
  E'@entity ShippingLabel\n@atMost 50\nThe requested labels, in the order of the parcels.';
comment on column api_unstable.shipping_label_request_payload.user_errors is
  'Why nothing was requested; empty when it was.';

create function api_unstable.shipping_label_request(input api_unstable.shipping_label_request_input)
returns api_unstable.shipping_label_request_payload
language sql set search_path = pg_catalog, pg_temp as $$
  with parcel as (
    select p.n::integer as n, p.number, p.weight_in_grams
    from unnest(input.parcels) with ordinality p (number, weight_in_grams, n)
    union all
    select 1, 1, null where coalesce(cardinality(input.parcels), 0) = 0
  )
  select row (erp.request_shipping_labels(input.fulfillment_order_id, input.order_id,
    input.carrier_technical_name, coalesce(input.type, 'outgoing'),
    array(select coalesce(p.number, p.n) from parcel p order by p.n),
    array(select p.weight_in_grams from parcel p order by p.n)),
    null)::api_unstable.shipping_label_request_payload
$$;
comment on function api_unstable.shipping_label_request(api_unstable.shipping_label_request_input) is
  E'@requiresScopes shipping_labels:write\n'
  '@userErrors REQUIRED NOT_FOUND INVALID OUT_OF_RANGE NOT_UNIQUE TOO_MANY_LINES EXTERNALLY_MANAGED ON_HOLD '
  'INVALID_STATE_TRANSITION\n'
  'Asks a carrier for labels. They are requested at first; the carrier answers within seconds, and the '
  'topics shipping_label.created and shipping_label.failed say so.';
--! EndIncluded api/shipping_label_request.sql
--! Included api/shipping_label_cancel.sql
drop type if exists api_unstable.shipping_label_cancel_input cascade;
create type api_unstable.shipping_label_cancel_input as (id uuid);
comment on type api_unstable.shipping_label_cancel_input is 'A label to cancel.';
comment on column api_unstable.shipping_label_cancel_input.id is
  E'@notNull\n@gid ShippingLabel\nId of the label.';

create function api_unstable.shipping_label_cancel(input api_unstable.shipping_label_cancel_input)
returns api_unstable.shipping_label_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.cancel_shipping_label(input.id), null)::api_unstable.shipping_label_payload
$$;
comment on function api_unstable.shipping_label_cancel(api_unstable.shipping_label_cancel_input) is
  E'@requiresScopes shipping_labels:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION\n'
  'Cancels a label. If its carrier may know of it, the label is cancelled once the carrier has confirmed; '
  'see cancellationRequestedAt. A carrier can refuse; see failure.';
--! EndIncluded api/shipping_label_cancel.sql
--! Included api/shipping_label_retry.sql
drop type if exists api_unstable.shipping_label_retry_input cascade;
create type api_unstable.shipping_label_retry_input as (id uuid);
comment on type api_unstable.shipping_label_retry_input is 'A failed label to request again.';
comment on column api_unstable.shipping_label_retry_input.id is
  E'@notNull\n@gid ShippingLabel\nId of the label.';

create function api_unstable.shipping_label_retry(input api_unstable.shipping_label_retry_input)
returns api_unstable.shipping_label_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.retry_shipping_label(input.id), null)::api_unstable.shipping_label_payload
$$;
comment on function api_unstable.shipping_label_retry(api_unstable.shipping_label_retry_input) is
  E'@requiresScopes shipping_labels:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION NOT_EDITABLE NOT_UNIQUE\n'
  'Requests a failed label again, for example after its address was corrected. There is never a second label '
  'for the request.';
--! EndIncluded api/shipping_label_retry.sql
-- waive event-breaking shipping_label.created.changedFields: null as before, if another program makes it

-- The frozen version knows no requests: labels appear in it once the carrier has answered
create or replace view api_2026_06_unstable.shipping_labels with (security_invoker = true) as
select id, state, type, carrier_technical_name, carrier_name, tracking_codes, tracking_url, document_url,
  weight_in_grams, fulfillment_order_id, order_id, cancelled_at, created_at, updated_at
from erp.shipping_label where state <> 'requested';
select api_meta.record_version('api_2026_06_unstable');

--! split: 240-quotes.sql
-- Quotes that are written, sent and accepted; documents of quotes and supplier orders
drop view if exists api_unstable.quotes, api_unstable.quote_line_items cascade;
drop trigger if exists keep_amounts_after_insert on erp.quote_line_item;
drop trigger if exists keep_amounts_after_update on erp.quote_line_item;
drop trigger if exists keep_amounts_after_delete on erp.quote_line_item;
drop trigger if exists keep_sent on erp.quote_line_item;
drop trigger if exists keep_sent_undeleted on erp.quote_line_item;
drop trigger if exists keep_sent on erp.quote;
drop trigger if exists keep_amounts on erp.quote;
drop function if exists erp.match_order_lines(mutation.upsert_row[]);
-- Removing columns would take the functions of all documents with them, so what is there is kept
alter table erp.quote add column if not exists shipping_address jsonb;
alter table erp.quote add column if not exists billing_address jsonb;
alter table erp.quote add column if not exists revision integer not null default 1;
alter table erp.quote add column if not exists sent_at timestamptz(0);
alter table erp.quote add column if not exists decline_reason text collate "C";
comment on column erp.quote.state is
  'draft, open, sent, accepted, declined or expired. An open quote is complete and waits to be sent: other '
  'programs set it, for example after somebody approved it.';
comment on column erp.quote.valid_until is
  'Until when the customer can accept; null until it is sent, unless somebody has set it.';
comment on column erp.quote.comment is 'Free note, which no document shows.';
comment on column erp.quote.shipping_address is
  'Address that the goods are to go to: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column erp.quote.billing_address is
  'Address that the quote and its invoice go to: an object with the same keys.';
comment on column erp.quote.revision is
  'How often the quote was written: 1, and one more each time that it is changed after it was sent.';
comment on column erp.quote.sent_at is 'When the quote was last sent.';
comment on column erp.quote.decline_reason is 'Why the customer declined; null in other states.';
alter table erp.quote_line_item add column if not exists tax_category text collate "C";
alter table erp.quote_line_item add column if not exists exemption_code text collate "C";
alter table erp.quote_line_item add column if not exists discount_reason text collate "C";
alter table erp.quote_line_item add column if not exists unit_code text collate "C";
comment on column erp.quote_line_item.tax_rate is 'Tax rate in percent.';
comment on column erp.quote_line_item.tax_category is
  'Tax category of UNTDID 5305: S standard or reduced rate, Z zero rate, E exempt, AE reverse charge, K '
  'intra-Community supply, G export. Null follows from the tax rate and the tax status of the quote.';
comment on column erp.quote_line_item.exemption_code is
  'Code of the reason why the line has no tax, of the list VATEX. Null takes the code of the category.';
comment on column erp.quote_line_item.discount_reason is
  'Reason why the total is less than the unit price times the quantity.';
comment on column erp.quote_line_item.unit_code is
  'Unit of the quantity, of UN/ECE Recommendation 20. Null takes the product''s, or else C62: one.';
alter table erp.merchant add column if not exists quote_days integer;
alter table erp.merchant add column if not exists quote_terms jsonb;
alter table erp.merchant add column if not exists supplier_order_terms jsonb;
comment on column erp.merchant.quote_days is
  'Days after a quote is sent during which the customer can accept it, if it has no other date; null if each '
  'quote needs a date.';
comment on column erp.merchant.quote_terms is 'Terms on the documents of quotes, by language.';
comment on column erp.merchant.supplier_order_terms is
  'Terms on the documents of supplier orders, by language.';

-- The rules of orders' lines hold for quotes' lines, because they become such
do $$
declare
  rule record;
begin
  for rule in
    select * from (values
      ('erp.quote', 'quote_number_is_not_blank', 'not erp.is_blank(number)',
        E'INVALID number\nThe number is blank. Leave it out if there is none.'),
      ('erp.quote', 'quote_comment_length', 'length(comment) <= 10000',
        E'OUT_OF_RANGE comment\nThe text has more than 10,000 characters.'),
      ('erp.quote', 'quote_decline_reason_length', 'length(decline_reason) <= 10000',
        E'OUT_OF_RANGE decline_reason\nThe text has more than 10,000 characters.'),
      ('erp.quote', 'quote_shipping_address_is_an_object', $c$jsonb_typeof(shipping_address) = 'object'$c$,
        E'INVALID shipping_address\nThe address must be a JSON object.'),
      ('erp.quote', 'quote_billing_address_is_an_object', $c$jsonb_typeof(billing_address) = 'object'$c$,
        E'INVALID billing_address\nThe address must be a JSON object.'),
      ('erp.quote', 'quote_shipping_address_length', 'length(shipping_address::text) <= 10000',
        E'OUT_OF_RANGE shipping_address\nThis has more than 10,000 characters as JSON.'),
      ('erp.quote', 'quote_billing_address_length', 'length(billing_address::text) <= 10000',
        E'OUT_OF_RANGE billing_address\nThis has more than 10,000 characters as JSON.'),
      ('erp.quote_line_item', 'quote_line_item_identifier_is_not_blank', 'not erp.is_blank(identifier)',
        E'INVALID identifier\nThe identifier is blank. Leave it out if there is none.'),
      ('erp.quote_line_item', 'quote_line_item_identifier_length', 'length(identifier) <= 1000',
        E'OUT_OF_RANGE identifier\nThe text has more than 1,000 characters.'),
      ('erp.quote_line_item', 'quote_line_item_label_length', 'length(label) <= 1000',
        E'OUT_OF_RANGE label\nThe text has more than 1,000 characters.'),
      ('erp.quote_line_item', 'quote_line_item_description_length', 'length(description) <= 10000',
        E'OUT_OF_RANGE description\nThe text has more than 10,000 characters.'),
      ('erp.quote_line_item', 'quote_line_item_type_length', 'length(type) <= 255',
        E'OUT_OF_RANGE type\nThe text has more than 255 characters.'),
      ('erp.quote_line_item', 'quote_line_item_discount_reason_length', 'length(discount_reason) <= 255',
        E'OUT_OF_RANGE discount_reason\nThe text has more than 255 characters.'),
      ('erp.quote_line_item', 'quote_line_item_product_only_on_product_lines',
        $c$product_id is null or type is not distinct from 'product'$c$,
        E'INVALID type\nOnly lines of type product name a product.'),
      ('erp.quote_line_item', 'quote_line_item_unit_price_is_an_amount', 'abs(unit_price) < 1000000000000000',
        E'OUT_OF_RANGE unit_price\nAn amount must be less than 1,000,000,000,000,000.'),
      ('erp.quote_line_item', 'quote_line_item_total_price_is_an_amount',
        'abs(total_price) < 1000000000000000',
        E'OUT_OF_RANGE total_price\nAn amount must be less than 1,000,000,000,000,000.'),
      ('erp.quote_line_item', 'quote_line_item_tax_category_is_known',
        $c$tax_category ~ '^(S|Z|E|AE|K|G)$'$c$,
        E'INVALID tax_category\nThe tax category must be S, Z, E, AE, K or G.'),
      ('erp.quote_line_item', 'quote_line_item_tax_category_matches_rate',
        $c$tax_category !~ '^(S|Z|E|AE|K|G)$' or (tax_category = 'S') = (tax_rate > 0)$c$,
        E'INVALID tax_category\nOnly the tax category S has a tax rate above 0, and it needs one.'),
      ('erp.quote_line_item', 'quote_line_item_exemption_code_has_its_form',
        $c$exemption_code is null or exemption_code ~ '^VATEX-[A-Z]{2}-[A-Z0-9-]{1,40}$'
          and tax_category is not null and tax_category ~ '^(E|AE|K|G)$'$c$,
        E'INVALID exemption_code\nThe code must be of the list VATEX, such as VATEX-EU-AE, with a tax '
        'category of E, AE, K or G.'),
      ('erp.quote_line_item', 'quote_line_item_unit_code_has_its_form', $c$unit_code ~ '^[A-Z0-9]{2,3}$'$c$,
        E'INVALID unit_code\nThe unit must be a code of UN/ECE Recommendation 20, such as C62 or KGM.')
    ) r (relation, name, condition, error)
  loop
    execute format('alter table %s drop constraint if exists %I', rule.relation, rule.name);
    execute format('alter table %s add constraint %I check (%s) not valid', rule.relation, rule.name,
      rule.condition);
    execute format('comment on constraint %I on %s is %L', rule.name, rule.relation,
      '@userError ' || rule.error);
  end loop;
end
$$;
comment on constraint quote_number_is_unique on erp.quote is
  E'@userError NOT_UNIQUE number\nAnother quote has this number.';
comment on constraint quote_tax_status_is_known on erp.quote is
  E'@userError INVALID tax_status\nThis is gross, net or tax-free.';
comment on constraint quote_state_is_known on erp.quote is
  '@internal erp.state_transition has only these states.';
comment on constraint quote_line_item_quantity_is_positive on erp.quote_line_item is
  E'@userError OUT_OF_RANGE quantity\nThe quantity must be at least 1.';
comment on constraint quote_line_item_tax_rate_is_a_percentage on erp.quote_line_item is
  E'@userError OUT_OF_RANGE tax_rate\nThe tax rate is in percent, from 0 to 100.';
alter table erp.merchant drop constraint if exists merchant_quote_days_are_plausible;
alter table erp.merchant add constraint merchant_quote_days_are_plausible
  check (quote_days >= 0 and quote_days <= 365) not valid;
alter table erp.merchant drop constraint if exists merchant_quote_terms_are_localized;
alter table erp.merchant add constraint merchant_quote_terms_are_localized
  check (erp.is_localized_text(quote_terms)) not valid;
alter table erp.merchant drop constraint if exists merchant_supplier_order_terms_are_localized;
alter table erp.merchant add constraint merchant_supplier_order_terms_are_localized
  check (erp.is_localized_text(supplier_order_terms)) not valid;
drop index if exists erp.quote_waits_idx;
-- waive index-blocks-writes: only SQL has made quotes so far
create index quote_waits_idx on erp.quote (valid_until) where state = 'sent';
comment on index erp.quote_waits_idx is 'For erp.expire_quotes.';

update erp.state_transition t set mutation = 'quote_' || t.action
where t.machine = 'quote' and t.action in ('send', 'accept', 'decline');
insert into erp.state_transition (machine, action, from_state, to_state, mutation) values
  ('quote', 'send', 'draft', 'sent', 'quote_send'),
  ('quote', 'accept', 'expired', 'accepted', 'quote_accept'),
  ('quote', 'revise', 'sent', 'draft', 'quote_revise'),
  ('quote', 'revise', 'declined', 'draft', 'quote_revise'),
  ('quote', 'revise', 'expired', 'draft', 'quote_revise')
on conflict do nothing;

-- Documents are about one of three things
alter table erp.document alter column order_id drop not null;
alter table erp.document add column if not exists quote_id uuid;
alter table erp.document add column if not exists supplier_order_id uuid;
comment on table erp.document is
  'Documents of orders, quotes and supplier orders, rendered from their config or uploaded as files.';
comment on column erp.document.order_id is 'Order that the document is about.';
comment on column erp.document.quote_id is 'Quote that the document is about.';
comment on column erp.document.supplier_order_id is 'Supplier order that the document is about.';
alter table erp.document drop constraint if exists document_quote_id_fkey;
alter table erp.document add constraint document_quote_id_fkey
  foreign key (quote_id) references erp.quote on delete cascade not valid;
alter table erp.document drop constraint if exists document_supplier_order_id_fkey;
alter table erp.document add constraint document_supplier_order_id_fkey
  foreign key (supplier_order_id) references erp.supplier_order on delete cascade not valid;
alter table erp.document drop constraint if exists document_is_about_one_thing;
alter table erp.document add constraint document_is_about_one_thing
  check (num_nonnulls(order_id, quote_id, supplier_order_id) = 1) not valid;
comment on constraint document_quote_id_fkey on erp.document is '@internal set by functions';
comment on constraint document_supplier_order_id_fkey on erp.document is '@internal set by functions';
comment on constraint document_is_about_one_thing on erp.document is
  '@internal erp.create_document_of sees to it';
drop index if exists erp.document_quote_id_id_idx, erp.document_supplier_order_id_id_idx;
-- waive index-blocks-writes: no row is in it yet, so that building it reads the table once
create index document_quote_id_id_idx on erp.document (quote_id, id) where quote_id is not null;
-- waive index-blocks-writes: no row is in it yet, so that building it reads the table once
create index document_supplier_order_id_id_idx on erp.document (supplier_order_id, id)
  where supplier_order_id is not null;
insert into erp.document_type (technical_name, name, number_range) values
  ('quote', '{"en-GB": "Quote", "de-DE": "Angebot", "fr-FR": "Devis"}', null),
  ('supplier_order', '{"en-GB": "Purchase order", "de-DE": "Bestellung", "fr-FR": "Bon de commande"}', null)
on conflict do nothing;

select api_meta.allow('service_writer', 'erp.quote', 'select', 'insert',
  'update (number, state, customer_id, sales_channel_id, currency_id, order_id, amount_net, amount_total, '
  'tax_status, valid_until, comment, shipping_address, billing_address, revision, sent_at, decline_reason)');
select api_meta.allow('service_writer', 'erp.quote_line_item', 'select', 'insert', 'delete',
  'update (product_id, type, identifier, label, description, position, quantity, unit_price, total_price, '
  'tax_rate, tax_category, exemption_code, discount_reason, unit_code)');

--! Included api_meta/view_origins.sql
create or replace function api_meta.view_origins(version name) returns table (view regclass, name name,
  column_name name, expression text, relation regclass, attnum smallint, is_never_null boolean,
  is_promised boolean)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with recursive own as materialized (
    select v.view, v.name,
      array(
        select unnest(string_to_array(replace(k, ' ', ''), ','))
        from api_meta.view_tag(v.view, 'primaryKey') k
      ) as key
    from api_meta.api_view v where v.schema = view_origins.version
  ), origin (view, attnum, expression, relation, relation_attnum) as (
    select o.view, t.attnum, t.expression, t.origin, t.origin_attnum
    from own o cross join lateral api_meta.view_targets(o.view) t
    union all
    select o.view, o.attnum, t.expression, t.origin, t.origin_attnum
    from origin o
    -- Only what is a view is read
    cross join lateral api_meta.view_targets(
      (select c.oid from pg_class c where c.oid = o.relation and c.relkind = 'v')) t
    where t.attnum = o.relation_attnum
  ), last as materialized (
    select o.* from origin o
    where not exists (select from pg_class c where c.oid = o.relation and c.relkind = 'v')
  )
  select o.view, o.name, a.attname, l.expression, l.relation, l.relation_attnum,
    -- The condition of a view may keep null out of a column that it shows under its name
    t.is_never_null
      or l.relation is not null
        and pg_get_viewdef(o.view) ~ format('\s+WHERE \(*%I IS NOT NULL\)*;$', a.attname),
    a.attname = any (o.key) or coalesce(col_description(o.view, a.attnum) ~ '(?n)^@notNull$', false)
  from last l
  join own o on o.view = l.view
  join pg_attribute a on a.attrelid = l.view and a.attnum = l.attnum
  left join api_meta.table_column t on t.relation = l.relation and t.attnum = l.relation_attnum;
end;
comment on function api_meta.view_origins(name) is
  'Returns the table column behind each column of a version''s views, also through other views, and '
  'whether it is never null; for other columns the expression alone. Column is_promised: the tag '
  '@notNull or a key promises clients that it is never null. It takes a tenth of a second, because it '
  'reads Postgres'' form of the views, so migrations don''t call it routinely.';
--! EndIncluded api_meta/view_origins.sql
--! Included api_meta/record_promises.sql
create or replace function api_meta.record_promises(version name) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  delete from api_meta.frozen_promise p where p.version = record_promises.version;
  with origin as materialized (
    select o.* from api_meta.view_origins(record_promises.version) o
  ), beneath as materialized (
    -- Columns that an expression reads which is never null or has fields, unless the view shows them itself
    select s.view, s.table_id, s.attnum from api_meta.view_column_source s
    where s.view in (
      select o.view from origin o
      join pg_attribute a on a.attrelid = o.view and a.attname = o.column_name
      join pg_type t on t.oid = a.atttypid left join pg_type e on e.oid = t.typelem
      where o.relation is null and (o.is_promised or 'c' in (t.typtype, e.typtype))
    ) and not exists (
      select from origin o
      where o.view = s.view and o.relation = s.table_id and o.attnum = s.attnum
    )
  )
  insert into api_meta.frozen_promise (version, name, ground, tree)
  select record_promises.version, p.name, g.ground, g.tree
  from (
    select o.name || '.' || o.column_name, o.relation, o.attnum, null::oid, o.is_never_null
    from origin o where o.is_promised and o.relation is not null
    union
    select v.name, b.table_id, b.attnum, null, null
    from beneath b join api_meta.api_view v on v.view = b.view
    union
    select v.name, null, null, c.oid, null
    from beneath b join api_meta.api_view v on v.view = b.view
    join pg_constraint c on c.conrelid = b.table_id and b.attnum = any (c.conkey)
    -- Others, such as bounds of a number, accept null themselves
    where c.contype = 'c' and exists (
      select from pg_attribute a join pg_type t on t.oid = a.atttypid
      where a.attrelid = c.conrelid and a.attnum = b.attnum
        and (t.typcategory = 'A' or t.oid in ('json'::regtype, 'jsonb'::regtype))
    )
  ) p (name, relation, attnum, constraint_id, is_kept)
  join api_meta.promise_ground g
    on g.tree = coalesce(p.constraint_id::text, format('%s.%s', p.relation::oid, p.attnum))
  -- A column that is said never to be null has to be so, by its table or by the condition of the view. An
  -- expression may rest on others than these
  where g.holds or position('.' in p.name) > 0 and not coalesce(p.is_kept, false);
end;
comment on function api_meta.record_promises(name) is
  'Notes on which tables'' columns and checks a frozen version relies where it says that something is never '
  'null.';
--! EndIncluded api_meta/record_promises.sql
--! Included erp/priced_line.sql
create or replace view erp.priced_line with (security_invoker = true) as
select id, order_id as owner_id, product_id, type, label, description, "position", quantity, unit_price,
  total_price, tax_rate, tax_category, exemption_code, discount_reason, unit_code
from erp.sales_order_line_item
union all
select id, quote_id, product_id, type, label, description, "position", quantity, unit_price,
  total_price, tax_rate, tax_category, exemption_code, discount_reason, unit_code
from erp.quote_line_item;
comment on view erp.priced_line is
  'Lines of orders and quotes, whose documents have the same amounts. Column owner_id is the order or quote. '
  'Both tables have the same types, so that Postgres reads each by its index.';
grant select on erp.priced_line to service_writer;
--! EndIncluded erp/priced_line.sql
--! Included erp/order_pieces.sql
-- Prices in erp.priced_line include tax, whatever the tax status of the order or quote. This function,
-- charged_pieces and document_config return rows, because Postgres then inlines them into the calling query.
create or replace function erp.order_pieces(order_id uuid, tax_status text)
returns table (
  line_id uuid, unit_line_id uuid, rated_line_id uuid, rate numeric, total numeric
)
language sql stable
begin atomic
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.id, l.type, l.total_price as total,
      case when tax_status = 'tax-free' then l.tax_rate * 0 else l.tax_rate end as rate
    from erp.priced_line l where l.owner_id = order_pieces.order_id
  ),
  rated as (
    select l.id, l.n, coalesce(l.rate, 0) as rate, l.total
    from line l where l.rate is not null or not exists (select from line where rate is not null)
  ),
  -- The range of each line with a rate when these lines are laid end to end, by amount
  ruler as (
    select r.*,
      coalesce((sum(r.total) over so_far - r.total) / nullif(sum(r.total) over (), 0),
        (row_number() over so_far - 1.0) / count(*) over ()) as starts,
      coalesce(sum(r.total) over so_far / nullif(sum(r.total) over (), 0),
        row_number() over so_far * 1.0 / count(*) over ()) as ends
    from rated r window so_far as (order by r.rate, r.n)
  ),
  -- As in ledger.order_amounts: lines without a rate, such as promotions, are taxed at the average of the
  -- others
  unrated as (
    select l.*, sum(l.total) over (order by l.n) as upto
    from line l where l.rate is null and exists (select from line where rate is not null)
  )
  select r.id, r.id, r.id, r.rate, r.total from rated r
  union all
  -- Sums are rounded, not their parts, so that the parts add up by line and by rate
  select u.id, case when u.type = 'product' then u.id else r.id end, r.id, r.rate,
    erp.rounded(u.upto * r.ends) - erp.rounded((u.upto - u.total) * r.ends)
      - erp.rounded(u.upto * r.starts) + erp.rounded((u.upto - u.total) * r.starts)
  from unrated u cross join ruler r;
end;
comment on function erp.order_pieces(uuid, text) is
  'Returns the amounts of an order''s or quote''s lines with their tax, by rates. A line without a rate, '
  'such as a promotion, is distributed over the lines with one, in proportion to their amounts. Each piece '
  'is charged with the units of a line. That is the piece''s own line, unless it has no rate and is no '
  'product. Then it is the line that the piece is distributed to, which also has the tax category. All '
  'pieces add up exactly to the order.';
grant execute on function erp.order_pieces(uuid, text) to service_writer;
--! EndIncluded erp/order_pieces.sql
--! Included erp/charged_pieces.sql
do $$
begin
  if to_regtype('erp.charged_piece') is null then
    create type erp.charged_piece as (
      line_id uuid, category text, exemption_code text, rate numeric, total numeric, net numeric
    );
  end if;
end
$$;
comment on type erp.charged_piece is
  'A charge for units of an order line at a tax category and rate. It has the line, the category, the code '
  'of the exemption, the rate in percent, and the amount with and without tax.';

create or replace function erp.charged_pieces(
  order_id uuid, tax_status text, exemption text, parts erp.document_part[]
)
returns setof erp.charged_piece
language sql stable
begin atomic
  with
  part as (
    select p.order_line_item_id as id, p.first_unit, p.first_unit + p.quantity as upto from unnest(parts) p
    union all
    select l.id, 0, l.quantity from erp.priced_line l
    where l.owner_id = charged_pieces.order_id and parts is null
  ),
  -- The units' share of each piece, such that the shares of all units add up to the piece
  piece as (
    select c.line_id, c.rate, coalesce(
        case when tax_status <> 'tax-free' or r.tax_category not in ('S', 'Z') then r.tax_category end,
        case when tax_status = 'tax-free' then e.category when c.rate > 0 then 'S' else 'Z' end
      ) as category, r.exemption_code,
      sum(erp.share_of(c.total, p.upto, u.quantity)
        - erp.share_of(c.total, p.first_unit, u.quantity)) as total
    from erp.order_pieces(charged_pieces.order_id, charged_pieces.tax_status) c
    join part p on p.id = c.unit_line_id
    join erp.priced_line u on u.id = c.unit_line_id
    join erp.priced_line r on r.id = c.rated_line_id
    left join erp.tax_reason e on e.technical_name = charged_pieces.exemption
    group by 1, 2, 3, 4
  ),
  by_rate as (
    select array_agg((p.line_id, p.category, p.exemption_code, p.rate, p.total, 0)::erp.charged_piece
        order by l.position, p.line_id, p.exemption_code) as pieces,
      erp.rounded_to(erp.net_amount(sum(p.total), p.rate), array_agg(p.total * 100 / (100 + p.rate)
        order by l.position, p.line_id, p.exemption_code)) as nets
    from piece p join erp.priced_line l on l.id = p.line_id
    group by p.category, p.rate
  )
  select c.line_id, c.category, c.exemption_code, c.rate, c.total, c.exact_net
  from by_rate g
  cross join lateral unnest(g.pieces, g.nets)
    c (line_id, category, exemption_code, rate, total, unset, exact_net);
end;
comment on function erp.charged_pieces(uuid, text, text, erp.document_part[]) is
  'Returns what units of an order''s lines are charged, or all units without parts, by line, tax category '
  'and rate. The amount without tax is rounded once for each category and rate. The cents that the lines '
  'lack go to those with the largest remainders. The exemption is a name of erp.tax_reason; without one, '
  'the category of an order without tax is null.';
grant execute on function erp.charged_pieces(uuid, text, text, erp.document_part[]) to service_writer;
--! EndIncluded erp/charged_pieces.sql
--! Included erp/document_lines.sql
create or replace function erp.document_lines(
  order_id uuid, tax_status text, parts erp.document_part[], pieces erp.charged_piece[]
)
returns jsonb
language sql stable
begin atomic
  with
  line as (
    select row_number() over (order by l.position, l.id) as n, l.*,
      case when parts is null then l.quantity else q.quantity end as charged
    from erp.priced_line l
    left join (
      select p.order_line_item_id as id, sum(p.quantity) as quantity from unnest(parts) p group by 1
    ) q on q.id = l.id
    where l.owner_id = document_lines.order_id
  ),
  shown as (
    select l.*, coalesce(l.charged, l.quantity)::integer as units, c.total, c.net, c.rate, c.category,
      c.rates,
      case when tax_status = 'net' then c.net else c.total end as amount,
      -- This document's share of a discount on the whole order
      l.charged is null and c.total <> l.total_price as is_share
    from line l
    join (
      select p.line_id as id, sum(p.total) as total, sum(p.net) as net, min(p.rate) as rate,
        min(p.category) as category, count(*) as rates
      from unnest(pieces) p group by p.line_id
    ) c on c.id = l.id
  ),
  priced as (
    select s.*, s.is_share or s.total < 0 or s.rates > 1 as is_allowance,
      greatest(0, erp.net_amount(s.unit_price * s.units, s.rate) - s.net) as discount
    from shown s where not s.is_share or s.amount <> 0
  )
  select coalesce(jsonb_agg(jsonb_build_object('position', l.n, 'lineId', l.id, 'label', l.label,
    'description', l.description, 'productNumber', p.product_number, 'quantity', l.units, 'total', l.amount,
    'unitPrice', erp.price_on_document(case
      when l.is_share then null
      when tax_status = 'net'
        then l.unit_price * coalesce(100 / (100 + l.rate), l.net / nullif(l.total, 0), 1)
      else l.unit_price end, l.units, l.amount))
    || case when l.is_share then '{"isShare": true}' else '{}'::jsonb end
    || case
      when l.is_allowance then jsonb_build_object('kind', 'allowance', 'taxRate', l.tax_rate)
      else jsonb_build_object('kind', 'line', 'taxRate', l.rate, 'taxCategory', l.category, 'net', l.net,
        'unitCode', coalesce(l.unit_code, p.unit_code, 'C62'), 'gtin', p.gtin,
        'discount', case when l.discount > 0
          then jsonb_build_object('amount', l.discount, 'reason', l.discount_reason) end)
        || coalesce(erp.net_price(l.net + l.discount, l.units), '{}')
    end order by l.n), '[]')
  from priced l left join erp.product p on p.id = l.product_id;
end;
comment on function erp.document_lines(uuid, text, erp.document_part[], erp.charged_piece[]) is
  'Returns the lines of a document from what is charged. Lines of the kind allowance are discounts, and '
  'other lines that a structured invoice cannot have: those with several rates and those below zero.';
grant execute on function erp.document_lines(uuid, text, erp.document_part[], erp.charged_piece[])
  to service_writer;
--! EndIncluded erp/document_lines.sql
--! Included erp/match_order_lines.sql
create or replace function erp.line_by_key(relation regclass, owner text, keys text[]) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select string_agg(format('when r.%1$I is not null then (select p.id from %2$s p '
    'where p.%3$I = g.owner_id and p.%1$I = r.%1$I order by p.id limit 1)', k.name, relation, owner), ' '
    order by k.n)
  from unnest(keys) with ordinality k (name, n);
end;
comment on function erp.line_by_key(regclass, text, text[]) is
  'Returns SQL for the branches of a case that finds the line with the first key that is given, for '
  'erp.match_order_lines.';
grant execute on function erp.line_by_key(regclass, text, text[]) to service_writer;

create or replace function erp.match_order_lines(
  orders mutation.upsert_row[], relation regclass default 'erp.sales_order_line_item',
  owner text default 'order_id', keys text[] default '{storefront_id,identifier}'
)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found constant text := erp.line_by_key(relation, owner, keys);
  result mutation.upsert_row[];
begin
  execute format($q$
    with given as materialized (
      select row_number() over (order by o.line, l.n) as line, o.id as owner_id, l.value as given,
        %3$s as defaults
      from unnest($1) o
      cross join jsonb_array_elements(nullif(o.given -> 'line_items', 'null')) with ordinality l (value, n)
      where o.errors is null and l.n <= 250
    ),
    matched as (
      select g.*, case
        when r.id is not null
          then (select p.id from %1$s p where p.id = r.id and p.%2$I = g.owner_id)
        %4$s end as id,
        case when g.given ? 'product_number' and g.given ->> 'product_number' is not null
          then (select p.id from erp.product p where p.product_number = g.given ->> 'product_number')
          else r.product_id end as product_id
      from given g cross join lateral jsonb_populate_record(null::%1$s, g.given) r
    ),
    -- Not joins, which would read all of tables that are not large
    known as materialized (
      select m.*, (select p from %1$s p where p.id = m.id) as p,
        (select i from erp.product i where i.id = m.product_id) as i
      from matched m
    ),
    -- Lines without a position come after those that have one
    placed as (
      select k.*, k.place is null as is_last, coalesce(max(k.place) over (partition by k.owner_id), 0) as last
      from (
        select m.*, coalesce((m.given ->> 'position')::integer, (m.p).position) as place from known m
      ) k
    ),
    numbered as (
      select m.*, m.last + row_number() over (partition by m.owner_id, m.is_last order by m.line) as next
      from placed m
    )
    select array_agg(row(m.line, coalesce((m.p).id, (m.defaults ->> 'id')::uuid), (m.p).id is null, m.given,
      to_jsonb(m.p), to_jsonb(w) || jsonb_build_object(%5$L, m.owner_id) || case
        when num_nonnulls(m.product_id, m.given ->> 'product_number') > 0
          then jsonb_build_object('product_id', m.product_id) else '{}' end || case
        when (m.p).id is not null then '{}'
        else jsonb_build_object(
          'position', case when m.given ? 'position' then w.position else m.next end,
          'type', case when m.given ? 'type' then w.type when m.product_id is null then 'custom'
            else 'product' end,
          'label', coalesce(w.label, (m.i).name, (m.i).product_number, m.given ->> 'product_number'),
          'identifier', coalesce(w.identifier,
            case when not erp.is_blank(m.given ->> 'storefront_id') then m.given ->> 'storefront_id' end,
            (m.i).product_number,
            case when not erp.is_blank(w.label) then w.label end, m.defaults ->> 'id')) end || case
        when m.given ? 'total_price' then jsonb_build_object('total_price', erp.rounded(w.total_price))
        when m.given ?| '{unit_price,quantity}' and w.unit_price is not null
          then jsonb_build_object('total_price', erp.rounded(w.unit_price * w.quantity)) else '{}' end,
      false, null)::mutation.upsert_row order by m.line)
    from numbered m cross join lateral jsonb_populate_record(case when (m.p).id is null
      then jsonb_populate_record(null::%1$s, m.defaults) else m.p end, m.given - 'id') w
    $q$, relation, owner, mutation.defaults_of(relation), found, owner)
  into result using orders;
  return result;
end
$$;
comment on function erp.match_order_lines(mutation.upsert_row[], regclass, text, text[]) is
  'Returns the lines in rows of an upsert of orders or quotes as rows of an upsert themselves, numbered '
  'across all of them. A line is identified by its id or a key, within its order: storefrontId or '
  'identifier. A new line without a position comes after the existing ones. Takes the table of the lines, '
  'its column with the order, and the keys.';
grant execute on function erp.match_order_lines(mutation.upsert_row[], regclass, text, text[])
  to service_writer;
--! EndIncluded erp/match_order_lines.sql
--! Included erp/faults_of_named_lines.sql
create or replace function erp.faults_of_named_lines(lines mutation.upsert_row[], owner text)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (f.line, f.code, f.message, f.field, null)::mutation.row_fault)
  from (
    select l.line, 'NOT_FOUND', format('The %s has no such line.', owner), array['id']
    from unnest(lines) l where l.is_new and l.given ->> 'id' is not null
    union all
    select l.line, 'NOT_FOUND', 'There is no product with this number.', array['product_number']
    from unnest(lines) l
    where l.given ->> 'product_number' is not null and l.wanted ->> 'product_id' is null
    union all
    select l.line, 'NOT_UNIQUE', 'An earlier line refers to the same line.', null
    from (
      select x.line, row_number() over (partition by x.id order by x.line) as nth from unnest(lines) x
    ) l
    where l.nth > 1
  ) f (line, code, message, field);
end;
comment on function erp.faults_of_named_lines(mutation.upsert_row[], text) is
  'Returns what is wrong with how lines of an upsert of orders or quotes name lines and products. Takes the '
  'word for what they belong to.';
grant execute on function erp.faults_of_named_lines(mutation.upsert_row[], text) to service_writer;
--! EndIncluded erp/faults_of_named_lines.sql
--! Included erp/faults_of_their_lines.sql
create or replace function erp.faults_of_their_lines(
  rows mutation.upsert_row[], lines mutation.upsert_row[], owner text
)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (f.line, f.code, f.message, f.field, f.details)::mutation.row_fault)
  from (
    -- Errors of lines, with paths that begin at their order
    select o.line, e.error ->> 'code', e.error ->> 'message', array['line_items'] || (
      select array_agg(case when p.n = 1 then (l.nth - 1)::text else p.part end order by p.n)
      from jsonb_array_elements_text((e.error -> 'field') - 0) with ordinality p (part, n)
    ), nullif(e.error -> 'details', 'null')
    from (
      select x.errors, x.owner_id, row_number() over (partition by x.owner_id order by x.line) as nth
      from (
        select u.*, (u.wanted ->> faults_of_their_lines.owner)::uuid as owner_id from unnest(lines) u
      ) x
    ) l join unnest(rows) o on o.id = l.owner_id and o.errors is null
    cross join jsonb_array_elements(l.errors) e (error)
    union all
    select o.line, 'TOO_MANY_LINES',
      format('%s has at most 250 lines.', case owner when 'order_id' then 'An order' else 'A quote' end),
      array['line_items'], null
    from unnest(rows) o where jsonb_array_length(nullif(o.given -> 'line_items', 'null')) > 250
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_their_lines(mutation.upsert_row[], mutation.upsert_row[], text) is
  'Returns the errors of lines as faults of the rows of an upsert that they belong to, and rows with too '
  'many lines. Takes the column of the lines that has their owner.';
grant execute on function erp.faults_of_their_lines(mutation.upsert_row[], mutation.upsert_row[], text)
  to service_writer;
--! EndIncluded erp/faults_of_their_lines.sql
--! Included erp/keep_quote_amounts.sql
create or replace function erp.quote_amounts(quote_id uuid, tax_status text)
returns table (amount_total numeric, amount_net numeric)
language sql stable
begin atomic
  select a.amount_total, a.amount_net
  from (
    select array_agg(l.total_price) as prices, array_agg(l.tax_rate) as tax_rates
    from erp.quote_line_item l where l.quote_id = quote_amounts.quote_id
  ) s
  cross join lateral ledger.amounts_of(s.prices, s.tax_rates, quote_amounts.tax_status) a;
end;
comment on function erp.quote_amounts(uuid, text) is
  'Returns the totals of a quote with and without tax, from its lines, as ledger.order_amounts does for '
  'orders; no row if no line has a price.';
grant execute on function erp.quote_amounts(uuid, text) to service_writer;

create or replace function erp.keep_quote_amounts() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  touched uuid[] := '{}';
begin
  if tg_op <> 'INSERT' then
    touched := array(select distinct l.quote_id from old_rows l);
  end if;
  if tg_op <> 'DELETE' then
    touched := touched || array(select distinct l.quote_id from new_rows l);
  end if;
  update erp.quote q set amount_total = a.amount_total, amount_net = a.amount_net
  from unnest(touched) t (id) join erp.quote present on present.id = t.id
  left join lateral erp.quote_amounts(present.id, present.tax_status) a on true
  where q.id = t.id and (q.amount_total, q.amount_net) is distinct from (a.amount_total, a.amount_net);
  return null;
end
$$;
comment on function erp.keep_quote_amounts() is
  'Trigger after lines of quotes changed, by any writer: updates the amounts of their quotes.';
select api_meta.plan_by_index('erp.keep_quote_amounts()');

create or replace function erp.keep_amounts_of_quote() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  select a.amount_total, a.amount_net into new.amount_total, new.amount_net
  from erp.quote_amounts(new.id, new.tax_status) a;
  return new;
end
$$;
comment on function erp.keep_amounts_of_quote() is
  'Trigger before the tax status of a quote changes: updates its amounts.';
--! EndIncluded erp/keep_quote_amounts.sql
--! Included erp/keep_sent_quotes.sql
create or replace function erp.keep_sent_quotes() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  changed constant uuid := case tg_table_name when 'quote' then to_jsonb(old) ->> 'id'
    else to_jsonb(old) ->> 'quote_id' end;
begin
  -- A quote that is being deleted is gone already
  if exists (select from erp.quote q where q.id = changed and q.state not in ('draft', 'open')) then
    raise exception 'A quote that was sent keeps its lines, its amounts, its tax status and its currency.'
      using errcode = 'restrict_violation', hint = 'Set its state to draft first.';
  end if;
  return coalesce(new, old);
end
$$;
comment on function erp.keep_sent_quotes() is
  'Trigger before quotes or their lines are changed, by any role: what was offered stays as it was sent.';
--! EndIncluded erp/keep_sent_quotes.sql
create trigger keep_amounts_after_insert after insert on erp.quote_line_item
  referencing new table as new_rows for each statement execute function erp.keep_quote_amounts();
create trigger keep_amounts_after_update after update on erp.quote_line_item
  referencing old table as old_rows new table as new_rows
  for each statement execute function erp.keep_quote_amounts();
create trigger keep_amounts_after_delete after delete on erp.quote_line_item
  referencing old table as old_rows for each statement execute function erp.keep_quote_amounts();
create trigger keep_amounts before update of tax_status on erp.quote
  for each row when (old.tax_status is distinct from new.tax_status)
  execute function erp.keep_amounts_of_quote();
create trigger keep_sent_undeleted before delete on erp.quote_line_item
  for each row execute function erp.keep_sent_quotes();
-- Deleting a product leaves the line without it
create trigger keep_sent before update on erp.quote_line_item
  for each row when (
    (old.quote_id, old.type, old.identifier, old.label, old.quantity, old.unit_price, old.total_price,
      old.tax_rate, old.tax_category, old.exemption_code)
    is distinct from (new.quote_id, new.type, new.identifier, new.label, new.quantity, new.unit_price,
      new.total_price, new.tax_rate, new.tax_category, new.exemption_code))
  execute function erp.keep_sent_quotes();
create trigger keep_sent before update of amount_net, amount_total, currency_id, tax_status on erp.quote
  for each row when (old.state = new.state
    and (old.amount_net, old.amount_total, old.currency_id, old.tax_status)
      is distinct from (new.amount_net, new.amount_total, new.currency_id, new.tax_status))
  execute function erp.keep_sent_quotes();
--! Included erp/next_free_number.sql
create or replace function erp.next_free_number(number_range text, relation regclass, name name) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  number text;
  is_taken boolean;
begin
  loop
    number := erp.next_number(number_range);
    execute format('select exists (select from %s t where t.%I = $1)', relation, name)
    into is_taken using number;
    exit when not is_taken;
  end loop;
  return number;
end
$$;
comment on function erp.next_free_number(text, regclass, name) is
  'Returns the next number of a range that no row of a table has in a column yet: clients may give such '
  'numbers, too.';
grant execute on function erp.next_free_number(text, regclass, name) to service_writer;
--! EndIncluded erp/next_free_number.sql
--! Included erp/upsert_quotes.sql
create or replace function erp.faults_of_quotes(quotes mutation.upsert_row[], lines mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (f.line, f.code, f.message, f.field, f.details)::mutation.row_fault)
  from (
    select f.* from unnest(erp.faults_of_their_lines(quotes, lines, 'quote_id')) f
    union all
    select q.line, 'NOT_EDITABLE', case q.present ->> 'state'
      when 'accepted' then 'The quote is accepted: change its order.'
      else format('The quote is %s: make it a draft again by quoteRevise.', q.present ->> 'state') end,
      null, jsonb_build_object('state', q.present -> 'state')
    from unnest(quotes) q
    where q.present ->> 'state' not in ('draft', 'open') and (q.wanted <> q.present
      or exists (
        select from unnest(lines) l
        where (l.wanted ->> 'quote_id')::uuid = q.id and l.wanted is distinct from l.present
      )
      or q.given ? 'line_items' and exists (
        select from erp.quote_line_item i
        where i.quote_id = q.id and i.id <> all (array(select l.id from unnest(lines) l))
      ))
    union all
    select q.line, 'NOT_EDITABLE', 'The quote was sent under its number.', array['number'], null
    from unnest(quotes) q
    where (q.present ->> 'revision')::integer > 1 and q.wanted -> 'number' <> q.present -> 'number'
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_quotes(mutation.upsert_row[], mutation.upsert_row[]) is
  'Returns what is wrong with rows of an upsert of quotes beyond the rules of the table, including the '
  'errors of their lines. A quote that was sent does not change.';
grant execute on function erp.faults_of_quotes(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;

create or replace function erp.write_quote_lines(quotes mutation.upsert_row[], lines mutation.upsert_row[])
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  kept mutation.upsert_row[] := array(
    select l from unnest(lines) l join unnest(quotes) q on q.id = (l.wanted ->> 'quote_id')::uuid
    where q.errors is null order by l.line);
  gone uuid[];
begin
  with deleted as (
    delete from erp.quote_line_item l
    where l.quote_id in (select q.id from unnest(quotes) q where q.errors is null and q.given ? 'line_items')
      and l.id <> all (array(select k.id from unnest(kept) k))
    returning l.quote_id
  )
  select coalesce(array_agg(distinct d.quote_id), '{}') into gone from deleted d;
  kept := mutation.write_rows('erp.quote_line_item', kept);
  return gone || array(select (k.wanted ->> 'quote_id')::uuid from unnest(kept) k where k.is_changed);
end
$$;
comment on function erp.write_quote_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'Writes the lines of an upsert of quotes, and deletes omitted ones. Returns the quotes with a changed '
  'line.';
grant execute on function erp.write_quote_lines(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;

create or replace function erp.upsert_quotes(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.number = r.number}';
  rows mutation.upsert_row[];
  lines mutation.upsert_row[];
begin
  -- A row without id and number is a new quote. Its number is taken last, because others wait for the range
  rows := mutation.match_rows('erp.quote', 'quotes', (
    select jsonb_agg(case when num_nonnulls(e.quote ->> 'id', e.quote ->> 'number') = 0
      then e.quote || jsonb_build_object('number', 'new ' || gen_random_uuid()) else e.quote end order by e.n)
    from jsonb_array_elements(mutation.with_columns('erp.quote', upsert_quotes.given))
      with ordinality e (quote, n)
  ), '{number}', matches);
  rows := mutation.with_faults(rows, 'quotes', mutation.faults_of_fields('erp.quote', rows));
  rows := mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_strip_nulls(jsonb_build_object(
      'tax_status', case when not u.given ? 'tax_status' then 'gross' end,
      'currency_id', case when not u.given ? 'currency_id' then (
        select c.currency_id from erp.sales_channel c where c.id = (u.given ->> 'sales_channel_id')::uuid
      ) end)))
    from unnest(rows) u where u.is_new));
  lines := coalesce(
    erp.match_order_lines(rows, 'erp.quote_line_item', 'quote_id', '{identifier}'), '{}');
  lines := coalesce(mutation.with_faults(lines, 'line_items',
    mutation.row_faults('erp.quote_line_item', lines) || erp.faults_of_named_lines(lines, 'quote')), '{}');
  rows := mutation.with_faults(rows, 'quotes',
    mutation.row_faults('erp.quote', rows, matches) || erp.faults_of_quotes(rows, lines));
  rows := mutation.with_faults_of_taken_keys('erp.quote', rows, 'quotes', partial);
  perform mutation.require_rows(rows, partial);
  rows := mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object(
      'number', erp.next_free_number('quote', 'erp.quote', 'number')))
    from unnest(rows) u
    where u.errors is null and u.is_new
      and num_nonnulls((upsert_quotes.given -> (u.line - 1)::integer) ->> 'number') = 0));
  rows := mutation.write_rows('erp.quote', erp.with_amounts(rows, lines));
  return mutation.with_changes(rows, erp.write_quote_lines(rows, lines));
end
$$;
comment on function erp.upsert_quotes(jsonb, boolean) is
  'Creates and updates quotes, with their lines: the objects in the list, whose fields are named like '
  'columns. Returns the outcome of each.';
grant execute on function erp.upsert_quotes(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_quotes.sql
--! Included erp/lock_quote.sql
create or replace function erp.lock_quote(quote_id uuid, field text default 'id') returns erp.quote
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.quote;
begin
  select * into present from erp.quote q where q.id = quote_id for no key update;
  if not found then
    perform mutation.refuse_missing('quote', array[field]);
  end if;
  return present;
end
$$;
comment on function erp.lock_quote(uuid, text) is
  'Locks a quote until the end of the transaction, and returns it. Takes the field of the input that names '
  'it. User error NOT_FOUND.';
grant execute on function erp.lock_quote(uuid, text) to service_writer;
--! EndIncluded erp/lock_quote.sql
--! Included erp/send_quote.sql
create or replace function erp.send_quote(quote_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.quote := erp.lock_quote(quote_id);
  new_state constant text := erp.next_state('quote', 'send', present.state);
  moment constant timestamptz := ledger.moment();
  until constant timestamptz := coalesce(present.valid_until, date_trunc('second', erp.end_of_day(
    erp.local_date(moment) + (select m.quote_days from erp.merchant m))));
begin
  if not exists (select from erp.quote_line_item l where l.quote_id = present.id) then
    perform mutation.refuse('REQUIRED', 'The quote has no lines.', '{id}');
  elsif present.amount_total is null then
    perform mutation.refuse('PRICE_MISSING', 'No line of the quote has a price.', '{id}');
  elsif until is null then
    perform mutation.refuse('REQUIRED', 'Set validUntil by quotesUpsert: the merchant has no default days.',
      '{id}');
  elsif until <= moment then
    perform mutation.refuse('OUT_OF_RANGE',
      'The day until which the quote is valid has passed. Set another validUntil by quotesUpsert.', '{id}');
  end if;
  update erp.quote q
  set state = new_state, valid_until = until, sent_at = date_trunc('second', moment),
    tax_status = coalesce(q.tax_status, 'gross')
  where q.id = present.id;
  return present.id;
end
$$;
comment on function erp.send_quote(uuid) is
  'Notes that a quote was sent to the customer, who may accept it until validUntil: by default at the end of '
  'the day after the merchant''s days. From then on it does not change. Returns the id. User errors '
  'NOT_FOUND, INVALID_STATE_TRANSITION, REQUIRED, PRICE_MISSING, OUT_OF_RANGE.';
grant execute on function erp.send_quote(uuid) to service_writer;
--! EndIncluded erp/send_quote.sql
--! Included erp/move_quote.sql
create or replace function erp.move_quote(quote_id uuid, action text, reason text default null) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.quote := erp.lock_quote(quote_id);
  new_state constant text := erp.next_state('quote', action, present.state);
begin
  update erp.quote q
  set state = new_state, decline_reason = reason,
    revision = q.revision + case action when 'revise' then 1 else 0 end
  where q.id = present.id;
  return present.id;
end
$$;
comment on function erp.move_quote(uuid, text, text) is
  'Does an action of the machine quote: decline, with a reason, or revise, which makes it a draft again. '
  'Returns the id. User errors NOT_FOUND, INVALID_STATE_TRANSITION, OUT_OF_RANGE.';
grant execute on function erp.move_quote(uuid, text, text) to service_writer;
--! EndIncluded erp/move_quote.sql
--! Included erp/accept_quote.sql
create or replace function erp.order_of_quote(quote_id uuid) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_build_object('sales_channel_id', q.sales_channel_id, 'currency_id', q.currency_id,
    'customer_id', q.customer_id, 'tax_status', coalesce(q.tax_status, 'gross'),
    'shipping_address', q.shipping_address, 'billing_address', q.billing_address,
    'line_items', (
      select jsonb_agg(to_jsonb(l) - '{id,quote_id,created_at,updated_at}'::text[] order by l.position, l.id)
      from erp.quote_line_item l where l.quote_id = q.id
    ))
  from erp.quote q where q.id = order_of_quote.quote_id;
end;
comment on function erp.order_of_quote(uuid) is
  'Returns the order that a quote becomes, in the form of a row of erp.upsert_orders, except its numbers.';
grant execute on function erp.order_of_quote(uuid) to service_writer;

create or replace function erp.accept_quote(
  quote_id uuid, order_number text, purchase_order_number text, revision integer, allow_expired boolean
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.quote := erp.lock_quote(quote_id);
  made mutation.upsert_row;
  new_state text;
begin
  if present.state = 'accepted' and present.order_id is not null then
    return present.order_id;
  end if;
  new_state := erp.next_state('quote', 'accept', present.state);
  if revision <> present.revision then
    perform mutation.refuse('INVALID', format('The quote has revision %s now.', present.revision),
      '{revision}', jsonb_build_object('revision', present.revision));
  elsif not coalesce(allow_expired, false)
    and (present.state = 'expired' or present.valid_until <= ledger.moment()) then
    perform mutation.refuse('QUOTE_EXPIRED', 'The quote has expired. Say allowExpired to accept it anyway, '
      'or make it a draft again by quoteRevise.', '{id}',
      jsonb_build_object('validUntil', present.valid_until));
  end if;
  -- Products come before number ranges
  perform ledger.lock(array(select distinct l.product_id from erp.quote_line_item l
    where l.quote_id = present.id and l.product_id is not null));
  order_number := coalesce(order_number,
    erp.next_free_number('order', 'erp.sales_order', 'order_number'));
  select u.* into made from unnest(erp.upsert_orders(jsonb_build_array(erp.order_of_quote(present.id)
    || jsonb_build_object('order_number', accept_quote.order_number,
      'purchase_order_number', accept_quote.purchase_order_number)), true)) u;
  perform mutation.refuse((
    select jsonb_agg(e || jsonb_build_object('field', (e -> 'field') - 0 - 0))
    from jsonb_array_elements(made.errors) e
  ));
  -- The number has led to an order that exists, whose changes are undone
  if not made.is_new then
    perform mutation.refuse('NOT_UNIQUE', 'Another order has this number.', '{order_number}');
  end if;
  update erp.quote q set state = new_state, order_id = made.id where q.id = present.id;
  return made.id;
end
$$;
comment on function erp.accept_quote(uuid, text, text, integer, boolean) is
  'Makes an order of a quote that was sent, with its prices, taxes, addresses, customer and sales channel, '
  'unless there is one already. The order gets the next free number of its range, if none is given. Returns '
  'the order. User errors NOT_FOUND, INVALID_STATE_TRANSITION, INVALID, QUOTE_EXPIRED, NOT_UNIQUE.';
grant execute on function erp.accept_quote(uuid, text, text, integer, boolean) to service_writer;
--! EndIncluded erp/accept_quote.sql
--! Included erp/expire_quotes.sql
create or replace function erp.expire_quotes(most integer default 500) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := ledger.moment();
  expired integer;
begin
  update erp.quote q set state = 'expired'
  where q.id in (
    select x.id from erp.quote x where x.state = 'sent' and x.valid_until <= moment
    -- One that is being accepted or declined is not waited for
    order by x.valid_until limit most for no key update skip locked
  ) and exists (
    select from erp.state_transition t
    where (t.machine, t.action, t.from_state, t.to_state) = ('quote', 'expire', 'sent', 'expired')
  );
  get diagnostics expired = row_count;
  return expired;
end
$$;
comment on function erp.expire_quotes(integer) is
  'Lets quotes expire that the customer can no longer accept: as many as the argument says, those that have '
  'been over for longest first. Returns how many; call it again until none is left.';
select api_meta.plan_by_index('erp.expire_quotes(integer)');
select api_meta.give('erp.expire_quotes(integer)', 'service_writer');
revoke execute on function erp.expire_quotes(integer) from public;
grant execute on function erp.expire_quotes(integer) to service_worker;
--! EndIncluded erp/expire_quotes.sql
--! Included erp/document_locale.sql
create or replace function erp.locale_of_country(country text, sales_channel_id uuid) returns text
language sql stable
return coalesce(
  (select l.code from erp.language l where split_part(l.code, '-', 2) = country order by l.code limit 1),
  (
    select l.code from erp.language l join erp.sales_channel s on s.id = sales_channel_id
    join erp.country c on c.id = s.country_id
    where split_part(l.code, '-', 2) = c.iso_code order by l.code limit 1
  ),
  'en-GB'
);
comment on function erp.locale_of_country(text, uuid) is
  'Returns the language for documents to somebody in a country: its language, otherwise the language of the '
  'sales channel''s country, if names are stored in it; otherwise en-GB.';
grant execute on function erp.locale_of_country(text, uuid) to service_writer;

create or replace function erp.document_locale(order_id uuid) returns text
language sql stable
return (
  select erp.locale_of_country(o.billing_address ->> 'countryIso', o.sales_channel_id)
  from erp.sales_order o where o.id = document_locale.order_id
);
comment on function erp.document_locale(uuid) is
  'Returns the language for documents to the customer of an order: the language of the billing country, '
  'otherwise of the sales channel, if names are stored in it; otherwise en-GB.';
grant execute on function erp.document_locale(uuid) to service_writer;
--! EndIncluded erp/document_locale.sql
--! Included erp/document_head.sql
create or replace function erp.document_head(
  document_type text, document_date date, locale text, currency_id uuid, sales_channel_id uuid
)
returns jsonb
language sql stable
return (
  select jsonb_build_object(
    'documentType', document_type,
    'title', erp.document_title(document_type, locale),
    'documentDate', to_char(document_date, 'YYYY-MM-DD'),
    'locale', locale,
    'currency', jsonb_build_object('isoCode', u.iso_code, 'symbol', u.symbol, 'position', u.position),
    'sender', jsonb_build_object('name', coalesce(h.name ->> locale, h.name ->> 'en-GB', w.name),
      'address', coalesce(m.address, w.address)))
  from erp.currency u
  left join erp.sales_channel h on h.id = document_head.sales_channel_id
  left join erp.warehouse w on w.is_default
  left join erp.merchant m on true
  where u.id = document_head.currency_id
);
comment on function erp.document_head(text, date, text, uuid, uuid) is
  'Returns what every document of a quote or a supplier order begins with, in the form of '
  'erp.document_config: its title, date, language, currency and sender.';
grant execute on function erp.document_head(text, date, text, uuid, uuid) to service_writer;
--! EndIncluded erp/document_head.sql
--! Included erp/quote_config.sql
create or replace function erp.quote_config(quote_id uuid, document_date date) returns jsonb
language sql stable
begin atomic
  select erp.document_head('quote', document_date, l.locale, q.currency_id, q.sales_channel_id)
    || jsonb_build_object(
      'displayPrices', true,
      'validUntil', to_char(erp.local_date(q.valid_until), 'YYYY-MM-DD'),
      'customerNumber', c.customer_number,
      'customerVatId', v.vat_id,
      'taxStatus', t.status,
      'billingAddress', q.billing_address,
      'shippingAddress', q.shipping_address,
      'seller', erp.seller(l.locale, erp.seller_vat_id(d.destination, v.vat_id, t.status <> 'tax-free')),
      'paymentTerms', (
        select coalesce(m.quote_terms ->> l.locale, m.quote_terms ->> 'en-GB') from erp.merchant m
      ),
      'taxExemption', case when t.status = 'tax-free'
        then coalesce(x.exemption, erp.tax_reason_of(a.amounts #>> '{totals,taxes,0,category}', null)) end)
    || a.amounts
  from erp.quote q
  left join erp.customer c on c.id = q.customer_id
  cross join lateral (
    select erp.locale_of_country(q.billing_address ->> 'countryIso', q.sales_channel_id) as locale
  ) l
  cross join lateral (
    select coalesce(q.shipping_address ->> 'countryIso', q.billing_address ->> 'countryIso') as destination
  ) d
  cross join lateral (select erp.vat_id_for(c.vat_ids, d.destination) as vat_id) v
  cross join lateral (select coalesce(q.tax_status, 'gross') as status) t
  cross join lateral (select erp.tax_exemption(t.status, d.destination, v.vat_id) as exemption) x
  cross join lateral erp.document_amounts(q.id, t.status, x.exemption, l.locale) a (amounts)
  where q.id = quote_config.quote_id;
end;
comment on function erp.quote_config(uuid, date) is
  'Returns everything that the document of a quote shows, except its number, in the form of '
  'erp.document_config. Its amounts are those that an invoice of the whole quote would have.';
grant execute on function erp.quote_config(uuid, date) to service_writer;
--! EndIncluded erp/quote_config.sql
--! Included erp/supplier_order_config.sql
create or replace function erp.supplier_order_lines_config(supplier_order_id uuid) returns jsonb
language sql stable
return (
  select coalesce(jsonb_agg(jsonb_build_object('position', l.n, 'label', l.label,
    'productNumber', coalesce(l.supplier_product_number, l.product_number),
    'description', case when l.supplier_product_number <> l.product_number then l.product_number end,
    'quantity', l.quantity, 'unitPrice', l.unit_price, 'total', l.total_price, 'taxRate', l.tax_rate)
    order by l.n), '[]')
  from (
    select row_number() over (order by i.position, i.id) as n, i.* from erp.supplier_order_line_item i
    where i.supplier_order_id = supplier_order_lines_config.supplier_order_id
  ) l
);
comment on function erp.supplier_order_lines_config(uuid) is
  'Returns the lines of the document of a supplier order. They have the number that the supplier knows a '
  'product by, and below it the shop''s own.';
grant execute on function erp.supplier_order_lines_config(uuid) to service_writer;

create or replace function erp.supplier_order_totals(supplier_order_id uuid) returns jsonb
language sql stable
return (
  select case when o.amount_total is not null then jsonb_build_object(
    'net', o.amount_net, 'total', o.amount_total, 'taxes', coalesce((
      select jsonb_agg(jsonb_build_object('rate', t.rate, 'net', t.net, 'tax', t.tax) order by t.rate)
      from (
        select array_agg(g.rate order by g.rate) as rates,
          array_agg(erp.rounded(g.net) order by g.rate) as nets,
          erp.rounded_to(
            o.amount_total - o.amount_net, array_agg(g.net * g.rate / 100 order by g.rate)) as taxes
        from (
          select coalesce(i.tax_rate, 0) as rate, sum(case
            when o.tax_status = 'gross' then i.total_price / (1 + coalesce(i.tax_rate, 0) / 100)
            else i.total_price end) as net
          from erp.supplier_order_line_item i
          where i.supplier_order_id = o.id and o.tax_status is distinct from 'tax-free'
            and i.total_price is not null
          group by 1
        ) g
      ) a
      cross join lateral unnest(a.rates, a.nets, a.taxes) t (rate, net, tax)
    ), '[]')) end
  from erp.supplier_order o where o.id = supplier_order_totals.supplier_order_id
);
comment on function erp.supplier_order_totals(uuid) is
  'Returns the totals of the document of a supplier order: the order''s, with taxes by rate that add '
  'up to them. Null if it has no prices.';
grant execute on function erp.supplier_order_totals(uuid) to service_writer;

create or replace function erp.supplier_order_config(supplier_order_id uuid, document_date date) returns jsonb
language sql stable
begin atomic
  select erp.document_head('supplier_order', document_date, l.locale, o.currency_id, null)
    || jsonb_build_object(
      'displayPrices', o.amount_total is not null,
      'orderDate', to_char(erp.local_date(o.order_date_time), 'YYYY-MM-DD'),
      'deliverBy', to_char(erp.local_date(o.delivery_date), 'YYYY-MM-DD'),
      'buyerReference', o.supplier_order_number,
      'customerNumber', o.supplier_snapshot ->> 'customerNumber',
      'customerVatId', o.supplier_snapshot ->> 'vatId',
      'taxStatus', coalesce(o.tax_status, 'net'),
      'billingAddress', s.address || jsonb_build_object('company',
        coalesce(s.address ->> 'company', o.supplier_snapshot ->> 'name')),
      'shippingAddress', w.address || jsonb_build_object('company',
        coalesce(w.address ->> 'company', o.warehouse_snapshot ->> 'name')),
      'seller', erp.seller(l.locale, (select m.vat_id from erp.merchant m)),
      'paymentTerms', (
        select coalesce(m.supplier_order_terms ->> l.locale, m.supplier_order_terms ->> 'en-GB')
        from erp.merchant m
      ),
      'lines', erp.supplier_order_lines_config(o.id), 'totals', erp.supplier_order_totals(o.id))
  from erp.supplier_order o
  cross join lateral (
    select coalesce(nullif(o.supplier_snapshot -> 'address', 'null'), '{}') as address
  ) s
  cross join lateral (
    select coalesce(nullif(o.warehouse_snapshot -> 'address', 'null'), '{}') as address
  ) w
  cross join lateral (select erp.locale_of_country(s.address ->> 'countryIso', null) as locale) l
  where o.id = supplier_order_config.supplier_order_id;
end;
comment on function erp.supplier_order_config(uuid, date) is
  'Returns everything that the document of a supplier order shows, except its number, in the form of '
  'erp.document_config.';
grant execute on function erp.supplier_order_config(uuid, date) to service_writer;
--! EndIncluded erp/supplier_order_config.sql
--! Included erp/new_link_code.sql
create or replace function erp.new_link_code() returns text
language sql volatile set search_path = pg_catalog, pg_temp
begin atomic
  -- 244 random bits
  select translate(
    encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64'), '+/=', '-_');
end;
comment on function erp.new_link_code() is 'Returns a random code for the address of a document.';
grant execute on function erp.new_link_code() to service_writer;
--! EndIncluded erp/new_link_code.sql
--! Included erp/insert_document.sql
create or replace function erp.insert_document(
  order_id uuid, document_type text, referenced_document_id uuid, config jsonb
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  code constant text := erp.new_link_code();
  numbered jsonb;
  missing text[];
  new_id uuid;
begin
  numbered := config || jsonb_build_object('documentNumber', erp.next_number((
    select erp.range_of_documents(document_type, o.sales_channel_id)
    from erp.sales_order o where o.id = insert_document.order_id
  )));
  if document_type <> 'delivery_note' then
    perform erp.require_invoice(numbered);
  end if;
  insert into erp.document (
    document_type_id, order_id, referenced_document_id, document_number, deep_link_code, config
  )
  select t.id, insert_document.order_id, insert_document.referenced_document_id,
    numbered ->> 'documentNumber', code, numbered
  from erp.document_type t where t.technical_name = document_type
  returning id into strict new_id;
  if document_type <> 'delivery_note' then
    perform erp.keep_invoice(new_id, numbered);
  end if;
  missing := erp.missing_in_document(numbered);
  if cardinality(missing) > 0 then
    perform mutation.warn('DOCUMENT_INCOMPLETE',
      format('%s lacks details that the law demands: %s.', numbered ->> 'documentNumber',
        array_to_string(missing, ', ')), null,
      jsonb_build_object('documentNumber', numbered -> 'documentNumber', 'documentType', document_type,
        'missing', missing));
  end if;
  return new_id;
end
$$;
comment on function erp.insert_document(uuid, text, uuid, jsonb) is
  'Inserts a document of an order with the next number of its type and a random code for its address. The '
  'config is everything else that it shows, see erp.document_config and erp.reversal_config. User error '
  'INVALID, warning DOCUMENT_INCOMPLETE.';
grant execute on function erp.insert_document(uuid, text, uuid, jsonb) to service_writer;
--! EndIncluded erp/insert_document.sql
--! Included erp/insert_revised_document.sql
create or replace function erp.insert_revised_document(
  document_type text, quote_id uuid, supplier_order_id uuid, number text, config jsonb
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  others constant erp.document[] := array(
    select d from erp.document d where d.quote_id = insert_revised_document.quote_id
    union all
    select d from erp.document d where d.supplier_order_id = insert_revised_document.supplier_order_id
  );
  last erp.document;
  earlier integer;
  new_id uuid;
begin
  select o.* into last from unnest(others) o where not o.static order by o.id desc limit 1;
  if number is not null then
    if last.config - '{documentDate,documentNumber}'::text[] = config - 'documentDate'
      and last.document_number is not null then
      return last.id;
    end if;
    select count(*) into earlier from unnest(others) o where o.document_number is not null and not o.static;
    number := number || case when earlier > 0 then '-' || earlier + 1 else '' end;
    if exists (
      select from erp.document d join erp.document_type t on t.id = d.document_type_id
      where t.technical_name = document_type and d.document_number = number
    ) then
      perform mutation.refuse('NOT_UNIQUE', format('Another document has the number %s.', number),
        array[case when quote_id is null then 'supplier_order_id' else 'quote_id' end]);
    end if;
  end if;
  insert into erp.document (document_type_id, quote_id, supplier_order_id, referenced_document_id,
    document_number, deep_link_code, config)
  select t.id, insert_revised_document.quote_id, insert_revised_document.supplier_order_id, last.id,
    number, erp.new_link_code(), config || jsonb_build_object('documentNumber', number)
  from erp.document_type t where t.technical_name = document_type
  returning id into strict new_id;
  return new_id;
end
$$;
comment on function erp.insert_revised_document(text, uuid, uuid, text, jsonb) is
  'Inserts a document of a quote or supplier order, or returns the newest one if it shows the same. Each '
  'later one replaces the one before, which it refers to, and gets its number with -2, -3 and so on. '
  'Without a number it is a draft. The caller has locked the quote or supplier order. User error '
  'NOT_UNIQUE.';
grant execute on function erp.insert_revised_document(text, uuid, uuid, text, jsonb) to service_writer;
--! EndIncluded erp/insert_revised_document.sql
--! Included erp/create_document_of.sql
create or replace function erp.create_own_document(
  quote_id uuid, supplier_order_id uuid, document_type text
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  today constant date := erp.local_date(now());
  quoted erp.quote;
  ordered erp.supplier_order;
begin
  if document_type <> (case when quote_id is null then 'supplier_order' else 'quote' end) then
    perform mutation.refuse('INVALID', case when quote_id is null
      then 'The type of documents of supplier orders is supplier_order.'
      else 'The type of documents of quotes is quote.' end, '{document_type}');
  elsif quote_id is not null then
    quoted := erp.lock_quote(quote_id, 'quote_id');
    return erp.insert_revised_document(document_type, quoted.id, null,
      case when quoted.state not in ('draft', 'open') then quoted.number end,
      erp.quote_config(quoted.id, today));
  end if;
  select * into ordered from erp.supplier_order o where o.id = supplier_order_id for no key update;
  if not found then
    perform mutation.refuse_missing('supplier order', '{supplier_order_id}');
  elsif ordered.state = 'cancelled' then
    perform mutation.refuse('INVALID', 'The supplier order is cancelled.', '{supplier_order_id}');
  end if;
  return erp.insert_revised_document(document_type, null, ordered.id,
    case when ordered.state <> 'open' then ordered.number end,
    erp.supplier_order_config(ordered.id, today));
end
$$;
comment on function erp.create_own_document(uuid, uuid, text) is
  'Makes the document of a quote or of a supplier order: a draft until it was sent. User errors NOT_FOUND, '
  'INVALID, NOT_UNIQUE.';
grant execute on function erp.create_own_document(uuid, uuid, text) to service_writer;

create or replace function erp.create_document_of(
  order_id uuid, quote_id uuid, supplier_order_id uuid, document_type text, fulfillment_ids uuid[],
  referenced_document_id uuid, lines erp.credit_line[], amount numeric
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if num_nonnulls(order_id, quote_id, supplier_order_id) <> 1 then
    perform mutation.refuse(
      case when num_nonnulls(order_id, quote_id, supplier_order_id) = 0 then 'REQUIRED' else 'INVALID' end,
      'Give one of these: orderId, quoteId, supplierOrderId.');
  elsif order_id is not null then
    return erp.create_order_document(
      order_id, document_type, fulfillment_ids, referenced_document_id, lines, amount);
  elsif num_nonnulls(fulfillment_ids, referenced_document_id, lines, amount) > 0 then
    perform mutation.refuse('INVALID',
      'Only documents of orders have fulfillmentIds, referencedDocumentId, lines or an amount.');
  end if;
  return erp.create_own_document(quote_id, supplier_order_id, document_type);
end
$$;
comment on function
  erp.create_document_of(uuid, uuid, uuid, text, uuid[], uuid, erp.credit_line[], numeric) is
  'Creates a document of an order, see erp.create_order_document, or of a quote or supplier order. User '
  'errors REQUIRED, NOT_FOUND, INVALID, NOT_UNIQUE, OUT_OF_RANGE, TOO_MANY_LINES.';
grant execute on function
  erp.create_document_of(uuid, uuid, uuid, text, uuid[], uuid, erp.credit_line[], numeric) to service_writer;
--! EndIncluded erp/create_document_of.sql
--! Included erp/keep_documents.sql
create or replace function erp.keep_documents() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  last_year integer;
begin
  if tg_op = 'UPDATE' then
    -- Everything except sent and updated_at
    if (new.id, new.document_type_id, new.order_id, new.quote_id, new.supplier_order_id,
        new.referenced_document_id, new.document_number,
        new.deep_link_code, new.config, new.static, new.content, new.content_type, new.created_at)
      is distinct from (old.id, old.document_type_id, old.order_id, old.quote_id,
        old.supplier_order_id, old.referenced_document_id,
        old.document_number, old.deep_link_code, old.config, old.static, old.content, old.content_type,
        old.created_at) then
      raise exception 'Document % has a number and cannot be changed.', old.document_number
        using errcode = 'restrict_violation';
    end if;
    return new;
  end if;
  last_year := extract(year from erp.local_date(old.created_at))
    + coalesce((select m.retention_years from erp.merchant m), 8);
  if extract(year from erp.local_date(now())) <= last_year then
    raise exception 'Document % must be kept until the end of %.', old.document_number, last_year
      using errcode = 'restrict_violation',
        hint = 'The column retention_years of erp.merchant has the number of years.';
  end if;
  return old;
end
$$;
comment on function erp.keep_documents() is
  'Trigger before a numbered document is updated or deleted, by any role. Only the columns sent and '
  'updated_at can be updated. It can be deleted after the years of erp.merchant.retention_years, by default '
  '8 (section 14b UStG).';

create or replace function erp.keep_document_files() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'UPDATE' or exists (select from erp.document d where d.id = old.document_id) then
    raise exception 'Archived files of documents cannot be changed.' using errcode = 'restrict_violation';
  end if;
  return old;
end
$$;
comment on function erp.keep_document_files() is
  'Trigger before an archived file is updated or deleted, by any role. It is only deleted together with its '
  'document.';
--! EndIncluded erp/keep_documents.sql
--! Included erp/delete_supplier_order.sql
create or replace function erp.delete_supplier_order(supplier_order_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.supplier_order := erp.lock_supplier_order(supplier_order_id);
begin
  if present.state not in ('open', 'cancelled') then
    perform mutation.refuse(
      'NOT_EDITABLE', format('The order is %s: cancel it first.', present.state), '{id}'
    );
  end if;
  if exists (select from erp.goods_receipt_line_item i where i.supplier_order_id = present.id)
    or exists (select from erp.goods_receipt_supplier_order r where r.supplier_order_id = present.id) then
    perform mutation.refuse('REFERENCE_IN_USE', 'A goods receipt belongs to this order.', '{id}');
  end if;
  if exists (
    select from erp.document d where d.supplier_order_id = present.id and d.document_number is not null
  ) then
    perform mutation.refuse('REFERENCE_IN_USE', 'A document that was sent belongs to this order.', '{id}');
  end if;
  delete from erp.supplier_order o where o.id = present.id;
  return present.id;
end
$$;
comment on function erp.delete_supplier_order(uuid) is
  'Deletes an open or cancelled supplier order that has no goods receipt and no numbered document. '
  'Returns its id.';
grant execute on function erp.delete_supplier_order(uuid) to service_writer;
--! EndIncluded erp/delete_supplier_order.sql
--! Included erp/about_customer.sql
create or replace function erp.about_customer(customer uuid) returns table (
  customer uuid, number text, email text, orders uuid[], quotes uuid[], fulfillment_orders uuid[],
  fulfillments uuid[], labels uuid[], returns uuid[], receipts uuid[], documents uuid[]
)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with o as (
    select s.id
    from erp.sales_order s
    where s.customer_id = about_customer.customer
  ),
  fo as (
    select f.id
    from erp.fulfillment_order f
    where f.destination_order_id in (select o.id from o)
  )
  select c.id, c.customer_number, c.email, array(select o.id from o order by o.id),
    array(
      select q.id from erp.quote q
      where q.customer_id = c.id or q.order_id in (select o.id from o) order by q.id
    ),
    array(select fo.id from fo order by fo.id),
    array(
      select distinct f.fulfillment_id from erp.fulfillment_order_fulfillment f
      where f.fulfillment_order_id in (select fo.id from fo)
    ),
    array(
      select l.id from erp.shipping_label l
      where l.order_id in (select o.id from o) or l.fulfillment_order_id in (select fo.id from fo)
      order by l.id
    ),
    array(
      select r.id from erp.return_order r
      where r.customer_id = c.id or r.order_id in (select o.id from o) order by r.id
    ),
    array(select g.id from erp.goods_receipt g where g.customer_id = c.id order by g.id),
    array(
      select d.id from erp.document d
      where d.order_id in (select o.id from o) or d.quote_id in (
        select q.id from erp.quote q where q.customer_id = c.id or q.order_id in (select o.id from o)
      )
      order by d.id
    )
  from erp.customer c
  where c.id = about_customer.customer;
end;
comment on function erp.about_customer(uuid) is
  'Returns a customer, and the ids of everything about them. `npx erp customers` exports or anonymizes '
  'that.';
--! EndIncluded erp/about_customer.sql
--! Included erp/personal_values.sql
create or replace function erp.personal_values(customer uuid) returns setof text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with address as (
    select x.address
    from erp.about_customer(personal_values.customer) a
    cross join lateral (
      select o.shipping_address from erp.sales_order o where o.id = any (a.orders)
      union all
      select o.billing_address from erp.sales_order o where o.id = any (a.orders)
      union all
      select q.shipping_address from erp.quote q where q.id = any (a.quotes)
      union all
      select q.billing_address from erp.quote q where q.id = any (a.quotes)
      union all
      select f.shipping_address from erp.fulfillment_order f where f.id = any (a.fulfillment_orders)
    ) x (address)
  ),
  value (value) as (
    select unnest(array[c.email, c.first_name, c.last_name, c.company, c.storefront_id, c.buyer_reference,
      c.electronic_address, c.registration_id])
    from erp.customer c
    where c.id = personal_values.customer
    union
    select jsonb_array_elements_text(c.vat_ids) from erp.customer c where c.id = personal_values.customer
    union
    select unnest(array[o.buyer_reference, o.purchase_order_number])
    from erp.sales_order o where o.customer_id = personal_values.customer
    union
    select v.value #>> '{}'
    from address a cross join jsonb_path_query(a.address, 'strict $.**') v (value)
    where jsonb_typeof(v.value) = 'string' and v.value #>> '{}' is distinct from a.address ->> 'countryName'
  )
  select lower(v.value)
  from value v
  where length(v.value) >= 3 and v.value !~ '@anonymized[.]invalid$'
    and v.value not in ('Anonymized', 'Customer');
end;
comment on function erp.personal_values(uuid) is
  'Returns the values that identify a customer, in lower case, to find them elsewhere: names, numbers, and '
  'their addresses except for the country.';
--! EndIncluded erp/personal_values.sql
--! Included api/quotes.sql
drop view if exists api_unstable.quotes cascade;
create view api_unstable.quotes with (security_invoker = true) as
select id, number, state, customer_id, sales_channel_id, currency_id, order_id, amount_net, amount_total,
  tax_status, valid_until, comment, shipping_address, billing_address, revision, sent_at, decline_reason,
  created_at, updated_at
from erp.quote;
comment on view api_unstable.quotes is $$
@primaryKey id
@requiresScopes quotes:read
@filters *
@foreignKey (customer_id) references customers (id)|@fieldName customer
@foreignKey (sales_channel_id) references sales_channels (id)|@fieldName salesChannel
@foreignKey (currency_id) references currencies (id)|@fieldName currency
@foreignKey (order_id) references orders (id)|@fieldName order
An offer made to a customer.$$;
--! EndIncluded api/quotes.sql
--! Included api/quote_line_items.sql
drop view if exists api_unstable.quote_line_items cascade;
create view api_unstable.quote_line_items with (security_invoker = true) as
select id, quote_id, product_id, type, identifier, label, description, position, quantity, unit_price,
  total_price, tax_rate, tax_category, exemption_code, discount_reason, unit_code,
  created_at, updated_at
from erp.quote_line_item;
comment on view api_unstable.quote_line_items is $$
@primaryKey id
@requiresScopes quotes:read
@filters *
@foreignKey (quote_id) references quotes (id)|@fieldName quote|@foreignFieldName lineItems
@foreignKey (product_id) references products (id)|@fieldName product
A line of a quote.$$;
--! EndIncluded api/quote_line_items.sql
--! Included api/documents.sql
drop view if exists api_unstable.documents cascade;
create view api_unstable.documents with (security_invoker = true) as
select id, document_number, deep_link_code, config, static, sent,
  '/api/_action/document/' || id::text || '/' || deep_link_code as download_url,
  array(
    select f.format
    from (
      select 'pdf'::text where not static or content_type ~* '^application/pdf'
      union all
      select x.format from erp.document_file x where x.document_id = document.id and x.format <> 'pdf'
    ) f (format)
    order by f.format
  ) as formats,
  document_type_id, order_id, quote_id, supplier_order_id, referenced_document_id
from erp.document;
comment on view api_unstable.documents is
  E'@primaryKey id\n'
  '@requiresScopes documents:read\n'
  '@search document_number,order_id\n'
  '@hidden document_type_id,order_id,quote_id,supplier_order_id,referenced_document_id\n'
  '@nullable static,sent\n'
  '@fullLists formats\n'
  '@filters deep_link_code,document_number,sent,static\n'
  '@foreignKey (document_type_id) references document_types (id)|@fieldName '
  'documentType|@foreignFieldName documents\n'
  '@foreignKey (order_id) references orders (id)|@fieldName order|@foreignFieldName documents\n'
  '@foreignKey (quote_id) references quotes (id)|@fieldName quote|@foreignFieldName documents\n'
  '@foreignKey (supplier_order_id) references supplier_orders (id)|@fieldName '
  'supplierOrder|@foreignFieldName documents\n'
  '@foreignKey (referenced_document_id) references documents (id)|@fieldName '
  'referencedDocument|@foreignFieldName dependentDocuments\n'
  'A document of an order, such as an invoice or a delivery note, or of a quote or supplier order.';
comment on column api_unstable.documents.download_url is
  E'@notNull\n'
  'Address that opens the document without a token, relative to the address of the service; stays the '
  'same as long as the document lives.';
comment on column api_unstable.documents.formats is
  E'@notNull\n'
  'Formats of the document: pdf, and xml if it is a structured invoice. Add ?format=xml to downloadUrl to '
  'get the XML. Empty if the document is an uploaded file of another kind.';
--! EndIncluded api/documents.sql
--! Included api/document_create.sql
drop type if exists api_unstable.document_create_payload cascade;
create type api_unstable.document_create_payload as (
  document uuid, "order" uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.document_create_payload is 'The document that was made.';
comment on column api_unstable.document_create_payload.document is
  E'@entity Document\nThe new document; null when it was refused.';
comment on column api_unstable.document_create_payload."order" is
  E'@entity Order\nThe order that it is about; null when it was refused or is about something else.';
comment on column api_unstable.document_create_payload.user_errors is
  'Why nothing was made; empty when it was.';
comment on column api_unstable.document_create_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.document_create_input cascade;
drop type if exists api_unstable.document_create_line_input cascade;
create type api_unstable.document_create_line_input as (
  order_line_item_id uuid, quantity integer, amount numeric
);
comment on type api_unstable.document_create_line_input is
  'A line that a credit note credits, as a whole or in part.';
comment on column api_unstable.document_create_line_input.order_line_item_id is
  E'@notNull\n@gid OrderLineItem\nId of the line of the order, which the invoice charges.';
comment on column api_unstable.document_create_line_input.quantity is
  'Units that are credited, at their price less their share of discounts; at most what is not credited yet. '
  'Left out, only the amount is credited.';
comment on column api_unstable.document_create_line_input.amount is
  'Amount that is credited, in the currency of the order: with tax if the prices of the order include it. '
  'Left out, the price of the units.';

create type api_unstable.document_create_input as (
  order_id uuid, quote_id uuid, supplier_order_id uuid, document_type text, fulfillment_ids uuid[],
  referenced_document_id uuid, lines api_unstable.document_create_line_input[], amount numeric
);
comment on type api_unstable.document_create_input is
  'A document to make of an order, a quote or a supplier order.';
comment on column api_unstable.document_create_input.order_id is
  E'@gid Order\nId of the order. One of orderId, quoteId and supplierOrderId is needed.';
comment on column api_unstable.document_create_input.quote_id is
  E'@gid Quote\nId of the quote, for a document of the type quote.';
comment on column api_unstable.document_create_input.supplier_order_id is
  E'@gid SupplierOrder\nId of the supplier order, for a document of the type supplier_order.';
comment on column api_unstable.document_create_input.document_type is
  E'@notNull\nTechnical name of the type: invoice, delivery_note, credit_note, storno or prepayment of an '
  'order, quote or supplier_order.';
comment on column api_unstable.document_create_input.fulfillment_ids is
  E'@gid Fulfillment\n'
  'Ids of the fulfillments that an invoice charges, 1 to 250, or of the one that a delivery note lists. Left '
  'out, the invoice charges all that was shipped and that no other invoice charges; the delivery note lists '
  'the newest fulfillment.';
comment on column api_unstable.document_create_input.referenced_document_id is
  E'@gid Document\n'
  'Id of the invoice that a credit_note or storno takes back. May be left out when only one is not taken '
  'back yet.';
comment on column api_unstable.document_create_input.lines is
  '1 to 250 lines that a credit_note credits, each of another line of the invoice. Left out, the credit note '
  'credits all that is left of the invoice.';
comment on column api_unstable.document_create_input.amount is
  'Amount of a prepayment with tax, in the currency of the order: at most what is not invoiced yet.';

create function api_unstable.document_create(input api_unstable.document_create_input)
returns api_unstable.document_create_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    erp.create_document_of(
      input.order_id, input.quote_id, input.supplier_order_id, input.document_type, input.fulfillment_ids,
      input.referenced_document_id,
      case when input.lines is not null then array(
        select row (l.order_line_item_id, l.quantity, l.amount)::erp.credit_line
        from unnest(input.lines) with ordinality l order by l.ordinality
      ) end, input.amount
    ),
    input.order_id, null, null
  )::api_unstable.document_create_payload
$$;
comment on function api_unstable.document_create(api_unstable.document_create_input) is
  E'@requiresScopes documents:write orders:write\n'
  '@userErrors NOT_FOUND REQUIRED INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES\n'
  '@warnings DOCUMENT_INCOMPLETE\n'
  'Makes a document of an order after it was shipped, of a quote or of a supplier order. An invoice charges '
  'what was shipped and what no other invoice charges; with the first go the lines that are no products, '
  'such as the costs of shipping. An order without goods is charged as it is. A storno cancels an invoice: '
  'what it charged can be invoiced again. A credit_note gives the money of an invoice back, of the '
  'whole or of lines, and what it charged is not charged again. An invoice is taken back '
  'once: by a storno, or by credit notes up to its total. A '
  'prepayment charges an amount before the shipment; invoices deduct it once it is paid. A quote and a '
  'supplier order have one document for each state in which they were sent; until then it is a draft.';
--! EndIncluded api/document_create.sql
--! Included api/quote_payload.sql
drop type if exists api_unstable.quote_payload cascade;
create type api_unstable.quote_payload as (
  quote uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.quote_payload is 'The result of a mutation of a quote.';
comment on column api_unstable.quote_payload.quote is
  E'@entity Quote\nThe quote as it is now; null when it was refused.';
comment on column api_unstable.quote_payload.user_errors is 'Why nothing was changed; empty when it was.';
comment on column api_unstable.quote_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';
--! EndIncluded api/quote_payload.sql
--! Included api/quote_send.sql
drop type if exists api_unstable.quote_send_input cascade;
create type api_unstable.quote_send_input as (id uuid);
comment on type api_unstable.quote_send_input is 'A quote to send.';
comment on column api_unstable.quote_send_input.id is
  E'@notNull\n@gid Quote\nId of the quote.';

create function api_unstable.quote_send(input api_unstable.quote_send_input)
returns api_unstable.quote_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.send_quote(input.id), null, null)::api_unstable.quote_payload
$$;
comment on function api_unstable.quote_send(api_unstable.quote_send_input) is $$
@requiresScopes quotes:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED PRICE_MISSING OUT_OF_RANGE
Notes that a draft or open quote was sent to the customer. It needs lines with a price, and validUntil or
the days of the merchant. From then on it does not change.$$;
--! EndIncluded api/quote_send.sql
--! Included api/quote_accept.sql
drop type if exists api_unstable.quote_accept_payload cascade;
create type api_unstable.quote_accept_payload as (
  quote uuid, "order" uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.quote_accept_payload is 'The result of accepting a quote.';
comment on column api_unstable.quote_accept_payload.quote is
  E'@entity Quote\nThe quote as it is now; null when it was refused.';
comment on column api_unstable.quote_accept_payload."order" is
  E'@entity Order\nThe order that the quote has become; null when it was refused.';
comment on column api_unstable.quote_accept_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.quote_accept_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.quote_accept_input cascade;
create type api_unstable.quote_accept_input as (
  id uuid, order_number text, purchase_order_number text, revision integer, allow_expired boolean
);
comment on type api_unstable.quote_accept_input is 'A quote that the customer has accepted.';
comment on column api_unstable.quote_accept_input.id is
  E'@notNull\n@gid Quote\nId of the quote.';
comment on column api_unstable.quote_accept_input.order_number is
  'Number of the order, unique; at most 255 characters. By default the next free one of the number range of '
  'orders.';
comment on column api_unstable.quote_accept_input.purchase_order_number is
  'Number of the buyer''s purchase order (BT-13); at most 255 characters.';
comment on column api_unstable.quote_accept_input.revision is
  'Revision that the customer has seen. Another one is refused. Left out, any is accepted.';
comment on column api_unstable.quote_accept_input.allow_expired is
  E'@neverNull\nWhether a quote may be accepted after validUntil. False when left out.';

create function api_unstable.quote_accept(input api_unstable.quote_accept_input)
returns api_unstable.quote_accept_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, erp.accept_quote(input.id, input.order_number, input.purchase_order_number,
    input.revision, input.allow_expired), null, null)::api_unstable.quote_accept_payload
$$;
comment on function api_unstable.quote_accept(api_unstable.quote_accept_input) is $$
@requiresScopes quotes:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION INVALID QUOTE_EXPIRED NOT_UNIQUE OUT_OF_RANGE
Makes an order of a quote that was sent, with its lines, prices, taxes, addresses, customer and sales
channel. Its units are reserved as in other orders. A quote that has become an order
already returns it.$$;
--! EndIncluded api/quote_accept.sql
--! Included api/quote_decline.sql
drop type if exists api_unstable.quote_decline_input cascade;
create type api_unstable.quote_decline_input as (id uuid, decline_reason text);
comment on type api_unstable.quote_decline_input is 'A quote that the customer has declined.';
comment on column api_unstable.quote_decline_input.id is
  E'@notNull\n@gid Quote\nId of the quote.';
comment on column api_unstable.quote_decline_input.decline_reason is
  'Reason that the customer gave; at most 10,000 characters.';

create function api_unstable.quote_decline(input api_unstable.quote_decline_input)
returns api_unstable.quote_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    erp.move_quote(input.id, 'decline', input.decline_reason), null, null
  )::api_unstable.quote_payload
$$;
comment on function api_unstable.quote_decline(api_unstable.quote_decline_input) is $$
@requiresScopes quotes:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION OUT_OF_RANGE
Notes that the customer has declined a quote that was sent.$$;
--! EndIncluded api/quote_decline.sql
--! Included api/quote_revise.sql
drop type if exists api_unstable.quote_revise_input cascade;
create type api_unstable.quote_revise_input as (id uuid);
comment on type api_unstable.quote_revise_input is 'A quote to change after it was sent.';
comment on column api_unstable.quote_revise_input.id is
  E'@notNull\n@gid Quote\nId of the quote.';

create function api_unstable.quote_revise(input api_unstable.quote_revise_input)
returns api_unstable.quote_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.move_quote(input.id, 'revise'), null, null)::api_unstable.quote_payload
$$;
comment on function api_unstable.quote_revise(api_unstable.quote_revise_input) is $$
@requiresScopes quotes:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION
Makes a quote that was sent, declined or has expired a draft again, so that it can change. Its revision
grows by one.$$;
--! EndIncluded api/quote_revise.sql
-- waive event-breaking document.created.data.orderId: only documents of orders cause the event
--! Included events/topics.sql
-- Subjects and topics of events. Everything else is derived from them: the triggers that write events
-- (events.derive_announcements), the scopes to read them, and their JSON schemas (events.schema).
-- Fields are columns, in the API's spelling; after a colon comes the type that an id belongs to. Columns that
-- change with everything, or that give access to something (a document's code), are omitted or don't count.
-- Other schemas declare subjects of their own, so a migration has to remove a subject that is no longer here.
merge into events.subject s
using (values
  ('Order', 'erp.sales_order', 'orders', 'id'),
  ('FulfillmentOrder', 'erp.fulfillment_order', 'fulfillment_orders', 'id'),
  ('Fulfillment', 'erp.fulfillment', 'fulfillments', 'id'),
  ('StockMovement', 'ledger.stock_movement', 'stock_movements', 'product_id'),
  ('Stock', 'ledger.stock', 'stocks', 'product_id'),
  ('Product', 'erp.product', 'products', 'id'),
  ('GoodsReceipt', 'erp.goods_receipt', 'goods_receipts', 'id'),
  ('SupplierOrder', 'erp.supplier_order', 'supplier_orders', 'id'),
  ('ReturnOrder', 'erp.return_order', 'return_orders', 'id'),
  ('Batch', 'erp.batch', 'batches', 'id'),
  ('Customer', 'erp.customer', 'customers', 'id'),
  ('Document', 'erp.document', 'documents', 'id'),
  ('ShippingLabel', 'erp.shipping_label', 'shipping_labels', 'id'),
  ('WebhookSubscription', 'events.webhook_subscription', 'webhook_subscriptions', 'id'),
  ('BulkOperation', 'bulk.operation', 'bulk_operations', 'id'),
  ('StockValuationReport', 'valuation.report', 'stock_valuation_reports', 'id'),
  ('Stocktake', 'erp.stocktake', 'stocktakes', 'id'),
  ('StockValuationHead', 'valuation.head', 'stock_valuation_heads', 'id'),
  ('StockReservation', 'erp.stock_reservation', 'stock_reservations', 'product_id'),
  ('PickList', 'erp.pick_list', 'pick_lists', 'id'),
  ('StockContainer', 'erp.stock_container', 'stock_containers', 'id'),
  ('Quote', 'erp.quote', 'quotes', 'id')
) d (type, relation, view_name, entity_column) on s.type = d.type
when matched then update
set relation = d.relation::regclass, view_name = d.view_name, entity_column = d.entity_column
when not matched
  then insert (type, relation, view_name, entity_column) values (
    d.type, d.relation::regclass, d.view_name, d.entity_column
  );

with d as (
  select d.type, n.name, w.position, split_part(w.word, ':', 1) as column_name,
    nullif(split_part(w.word, ':', 2), '') as id_of
  from (values
    ('Order',
      'id:Order order_number order_date_time state delivery_state payment_state amount_net amount_total
      tracking_codes storefront_id currency_id:Currency sales_channel_id:SalesChannel customer_id:Customer
      buyer_reference purchase_order_number due_date paid_amount exchange_rate exchange_rate_date
      exchange_rate_source created_at updated_at'),
    ('FulfillmentOrder',
      'id:FulfillmentOrder number type state is_partially_fulfilled hold_comment destination_order_id:Order
      source_warehouse_location_id:Location external_location_name shipping_method_id:ShippingMethod
      shipping_method_name shipping_address storefront_id created_at updated_at'),
    ('Fulfillment',
      'id:Fulfillment number state storefront_id created_at'),
    ('StockMovement',
      'id:StockMovement product_id:Product quantity process_type_technical_name comment
      source_location_type_technical_name source_warehouse_id:Warehouse source_bin_location_id:BinLocation
      source_order_id:Order source_return_order_id:ReturnOrder source_goods_receipt_id:GoodsReceipt
      source_stock_container_id:StockContainer source_special_stock_location_technical_name
      destination_location_type_technical_name destination_warehouse_id:Warehouse
      destination_bin_location_id:BinLocation destination_order_id:Order
      destination_return_order_id:ReturnOrder destination_goods_receipt_id:GoodsReceipt
      destination_stock_container_id:StockContainer destination_special_stock_location_technical_name
      created_at'),
    ('Stock',
      'id:Stock product_id:Product quantity location_type_technical_name warehouse_id:Warehouse
      bin_location_id:BinLocation order_id:Order return_order_id:ReturnOrder goods_receipt_id:GoodsReceipt
      stock_container_id:StockContainer created_at updated_at'),
    ('StockContainer',
      'id:StockContainer number sscc kind warehouse_id:Warehouse bin_location_id:BinLocation
      fulfillment_order_id:FulfillmentOrder created_at updated_at'),
    ('Product',
      'id:Product product_number parent_id:Product canonical_product_id:Product name description gtin
      manufacturer_number unit_code physical_stock stock_not_available_for_sale reserved_stock available_stock
      open_supplier_order_quantity last_supplier_order_at reorder_point target_maximum_quantity
      storefront_variants'),
    ('GoodsReceipt',
      'id:GoodsReceipt number type state goods_receipt_date_time warehouse_id:Warehouse
      supplier_id:Supplier customer_id:Customer user_id:User currency_id:Currency currency_factor
      currency_factor_origin_type currency_factor_origin_source currency_factor_reference_date
      currency_factor_captured_at tax_status amount_net amount_total position_price comment'),
    ('SupplierOrder',
      'id:SupplierOrder number supplier_order_number state payment_state supplier_id:Supplier
      warehouse_id:Warehouse currency_id:Currency amount_net amount_total position_price tax_status
      order_date_time due_date delivery_date actual_delivery_date comment created_at updated_at'),
    ('ReturnOrder',
      'id:ReturnOrder number state order_id:Order customer_id:Customer reference comment withdrawal_date
      requested_at closed_at refusal_reason replacement_order_id:Order refund_amount refunded_at created_at
      updated_at'),
    ('Batch',
      'id:Batch product_id:Product number comment best_before_date production_date supplier_lot
      physical_stock is_held held_at hold_reason stock_state is_expired'),
    ('Customer',
      'id:Customer customer_number account_type email first_name last_name title company vat_ids active
      guest group_id:CustomerGroup sales_channel_id:SalesChannel bound_sales_channel_id:SalesChannel
      requested_group_id:CustomerGroup default_payment_method_id:PaymentMethod salutation_id:Salutation
      invoice_form buyer_reference electronic_address electronic_address_scheme registration_id
      storefront_id created_at updated_at'),
    ('Document',
      'id:Document document_number static sent document_type_id:DocumentType order_id:Order
      referenced_document_id:Document'),
    ('ShippingLabel',
      'id:ShippingLabel state type carrier_technical_name carrier_name tracking_codes tracking_url
      document_url weight_in_grams fulfillment_order_id:FulfillmentOrder order_id:Order cancelled_at
      created_at updated_at parcel_number failure'),
    ('WebhookSubscription',
      'id:WebhookSubscription topic api_version created_at'),
    ('BulkOperation',
      'id:BulkOperation kind state resource row_count done_count created_count updated_count refused_count
      error_code error_message created_at started_at finished_at'),
    ('StockValuationReport',
      'id:StockValuationReport number reference_date sequence method currency_code quantity value hash
      previous_hash lines_hash state_hash closed_at voided_at void_reason'),
    ('Stocktake',
      'id:Stocktake number state warehouse_id:Warehouse counts_all_bins counts_all_products recount_units
      recount_percent recount_value comment created_at reviewed_at approved_at cancelled_at'),
    ('StockValuationHead',
      'id:StockValuationHead day report_number report_hash previous_hash
      signing_key_id:StockValuationSigningKey signature signed_at'),
    ('StockReservation',
      'id:StockReservation product_id:Product warehouse_id:Warehouse bin_location_id:BinLocation
      batch_id:Batch order_line_item_id:OrderLineItem quantity open_quantity state expires_at reference note
      created_at updated_at'),
    ('PickList',
      'id:PickList number state warehouse_id:Warehouse assignee created_at started_at ended_at'),
    ('Quote',
      'id:Quote number state customer_id:Customer sales_channel_id:SalesChannel currency_id:Currency
      order_id:Order amount_net amount_total tax_status valid_until comment revision sent_at decline_reason
      created_at updated_at')
  ) d (type, fields)
  cross join lateral regexp_split_to_table(d.fields, '\s+') with ordinality w (word, position)
  cross join lateral (
    select lower(left(c.camel, 1)) || substr(c.camel, 2)
    from (select replace(initcap(replace(split_part(w.word, ':', 1), '_', ' ')), ' ', '')) c (camel)
  ) n (name)
)
merge into events.field f
using d on f.subject_type = d.type and f.name = d.name
when matched then update set position = d.position, column_name = d.column_name, id_of = d.id_of
when not matched
  then insert (subject_type, name, position, column_name, id_of) values (
    d.type, d.name, d.position, d.column_name, d.id_of
  )
when not matched by source and f.subject_type in (select type from d) then delete;

with d as (
  select d.*, scope from (values
    ('order.created', 'Order', 'An order was created.', null::text[]),
    ('order.updated', 'Order', 'An order was changed.', null),
    (
      'order.state_changed', 'Order', 'The state of an order, of its delivery or of its payment was changed.',
      null
    ),
    ('fulfillment_order.created', 'FulfillmentOrder', 'A fulfillment order was created.', null),
    ('fulfillment_order.held', 'FulfillmentOrder', 'A fulfillment order was put on hold.', null),
    ('fulfillment_order.released', 'FulfillmentOrder', 'A fulfillment order is no longer on hold.', null),
    ('fulfillment_order.closed', 'FulfillmentOrder', 'A fulfillment order was fulfilled completely.', null),
    ('fulfillment_order.cancelled', 'FulfillmentOrder', 'A fulfillment order was cancelled.', null),
    ('fulfillment_order.moved', 'FulfillmentOrder', 'Another location ships a fulfillment order now.', null),
    (
      'fulfillment_order.divided', 'FulfillmentOrder',
      'Units of a fulfillment order were put into others.', null
    ),
    ('fulfillment.created', 'Fulfillment', 'Something was shipped.', null),
    ('fulfillment.cancelled', 'Fulfillment', 'A fulfillment was cancelled.', null),
    ('stock_movement.created', 'StockMovement', 'Stock was moved.', null),
    (
      'stock.changed', 'Stock', 'The quantity of a product changed in a place that is not special.', null
    ),
    ('product.created', 'Product', 'A product was created.', null),
    (
      'product.updated', 'Product',
      'A product or a figure of its stock was changed.', null
    ),
    ('product.deleted', 'Product', 'A product was deleted.', '{id,productNumber}'),
    ('goods_receipt.created', 'GoodsReceipt', 'A goods receipt was created.', null),
    ('goods_receipt.approved', 'GoodsReceipt', 'A goods receipt was approved: the goods are there.', null),
    (
      'goods_receipt.completed', 'GoodsReceipt',
      'A goods receipt was completed: the goods have been put away.', null
    ),
    ('goods_receipt.deleted', 'GoodsReceipt', 'A goods receipt was deleted.', '{id,number}'),
    ('supplier_order.created', 'SupplierOrder', 'An order to a supplier was created.', null),
    ('supplier_order.sent', 'SupplierOrder', 'An order was sent to its supplier.', null),
    ('supplier_order.confirmed', 'SupplierOrder', 'A supplier confirmed an order.', null),
    (
      'supplier_order.delivered', 'SupplierOrder', 'Everything of an order to a supplier has been received.',
      null
    ),
    (
      'supplier_order.reopened', 'SupplierOrder',
      'A correction took back part of a delivered order: it waits for goods again.', null
    ),
    ('supplier_order.completed', 'SupplierOrder', 'An order to a supplier was completed.', null),
    ('supplier_order.cancelled', 'SupplierOrder', 'An order to a supplier was cancelled.', null),
    ('return_order.created', 'ReturnOrder', 'A return was created.', null),
    ('return_order.approved', 'ReturnOrder', 'A return was approved.', null),
    ('return_order.refused', 'ReturnOrder', 'A return was refused.', null),
    ('return_order.cancelled', 'ReturnOrder', 'A return was cancelled.', null),
    (
      'return_order.received', 'ReturnOrder', 'Goods of a return arrived, not necessarily all of them.', null
    ),
    ('return_order.closed', 'ReturnOrder', 'A return was closed.', null),
    ('return_order.refunded', 'ReturnOrder', 'A refund was recorded for a return.', null),
    ('batch.created', 'Batch', 'A batch was created.', null),
    ('batch.updated', 'Batch', 'A batch or its stock was changed.', null),
    ('customer.created', 'Customer', 'A customer was created.', null),
    ('customer.updated', 'Customer', 'A customer was changed.', null),
    ('customer.deleted', 'Customer', 'A customer was deleted.', '{id,customerNumber}'),
    ('document.created', 'Document', 'A document of an order was created.', null),
    ('shipping_label.created', 'ShippingLabel', 'A shipping label was bought.', null),
    ('shipping_label.cancelled', 'ShippingLabel', 'A shipping label was cancelled.', null),
    ('shipping_label.failed', 'ShippingLabel', 'A requested shipping label could not be made.', null),
    (
      'bulk_operation.finished', 'BulkOperation',
      'A bulk operation has ended: it is completed, has failed or was cancelled.', null
    ),
    (
      'stock_valuation_report.closed', 'StockValuationReport', 'A stock valuation report was closed.', null
    ),
    (
      'stock_valuation_report.voided', 'StockValuationReport',
      'The newest stock valuation report was declared void: its period is open again.', null
    ),
    ('stocktake.created', 'Stocktake', 'A stocktake was created.', null),
    ('stocktake.reviewed', 'Stocktake', 'All sheets of a stocktake are complete: its review begins.', null),
    ('stocktake.approved', 'Stocktake', 'All positions of a stocktake are approved and booked.', null),
    ('stocktake.cancelled', 'Stocktake', 'A stocktake was cancelled.', null),
    (
      'stock_valuation_head.signed', 'StockValuationHead',
      'The head of the chain of stock valuation reports was signed for a day.', null
    ),
    ('stock_reservation.created', 'StockReservation', 'Units were reserved.', null),
    (
      'stock_reservation.updated', 'StockReservation',
      'A reservation was changed: for example, some of its units were consumed.', null
    ),
    (
      'stock_reservation.consumed', 'StockReservation',
      'Fulfillment orders have got all units of a reservation.', null
    ),
    ('stock_reservation.released', 'StockReservation', 'A reservation was released.', null),
    ('stock_reservation.expired', 'StockReservation', 'The time of a reservation is over.', null),
    ('pick_list.created', 'PickList', 'A pick list was planned.', null),
    ('pick_list.started', 'PickList', 'Somebody began to work on a pick list.', null),
    (
      'pick_list.completed', 'PickList', 'All fulfillment orders of a pick list are packed or have left it.',
      null
    ),
    ('pick_list.cancelled', 'PickList', 'A pick list has ended without a parcel.', null),
    ('stock_container.moved', 'StockContainer', 'A container stands in another bin or warehouse.', null),
    ('quote.created', 'Quote', 'A quote was created.', null),
    ('quote.sent', 'Quote', 'A quote was sent to the customer.', null),
    ('quote.accepted', 'Quote', 'The customer accepted a quote: it has become an order.', null),
    ('quote.declined', 'Quote', 'The customer declined a quote.', null),
    ('quote.expired', 'Quote', 'The time to accept a quote is over.', null),
    (
      'webhook_subscription.test', 'WebhookSubscription',
      'A test whether deliveries arrive. It is not in the log, and has no sequence.', null
    )
  ) d (name, subject_type, description, fields)
  join events.subject s on s.type = d.subject_type
  -- A scope is declared on the view and nowhere else
  cross join lateral api_meta.view_tag(
    format('api_unstable.%I', s.view_name)::regclass, 'requiresScopes'
  ) scope
)
merge into events.topic t
using d on t.name = d.name
when matched then update
set subject_type = d.subject_type, description = d.description, fields = d.fields, scope = d.scope,
  subscribable = d.name <> 'webhook_subscription.test'
when not matched then insert (name, subject_type, description, fields, scope, subscribable)
  values (d.name, d.subject_type, d.description, d.fields, d.scope, d.name <> 'webhook_subscription.test')
when not matched by source and t.subject_type in (select subject_type from d) then delete;

with d (topic, operation, columns, condition) as (values
  ('order.created', 'insert', null::text[], null),
  ('order.updated', 'update', null, null),
  ('order.state_changed', 'update', '{state,delivery_state,payment_state}', null),
  ('fulfillment_order.created', 'insert', null, null),
  ('fulfillment_order.held', 'update', '{state}', $$n.state = 'OnHold'$$),
  ('fulfillment_order.released', 'update', '{state}',
    $$o.state = 'OnHold' and n.state in ('Open', 'InProgress')$$),
  ('fulfillment_order.closed', 'update', '{state}', $$n.state = 'Closed'$$),
  ('fulfillment_order.cancelled', 'update', '{state}', $$n.state = 'Cancelled'$$),
  ('fulfillment_order.moved', 'update', '{source_warehouse_location_id}', null),
  ('fulfillment_order.divided', 'update', '{division_count}', null),
  ('fulfillment.created', 'insert', null, null),
  ('fulfillment.cancelled', 'update', '{state}', $$n.state = 'Cancelled'$$),
  ('stock_movement.created', 'insert', null, null),
  ('stock_container.moved', 'update', '{warehouse_id,bin_location_id}', null),
  ('stock_reservation.created', 'insert', null, null),
  ('stock_reservation.updated', 'update', null, null),
  ('stock_reservation.consumed', 'update', '{state}', $$n.state = 'consumed'$$),
  ('stock_reservation.released', 'update', '{state}', $$n.state = 'released'$$),
  ('stock_reservation.expired', 'update', '{state}', $$n.state = 'expired'$$),
  ('pick_list.created', 'insert', null, null),
  ('pick_list.started', 'update', '{state}', $$n.state = 'in_progress'$$),
  ('pick_list.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('pick_list.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('stock.changed', 'insert', null, 'n.quantity <> 0 and n.special_stock_location_technical_name is null'),
  ('stock.changed', 'update', '{quantity}', 'n.special_stock_location_technical_name is null'),
  ('product.created', 'insert', null, null),
  ('product.updated', 'update', null, null),
  ('product.deleted', 'delete', null, null),
  ('goods_receipt.created', 'insert', null, null),
  ('goods_receipt.approved', 'update', '{state}', $$n.state = 'approved'$$),
  ('goods_receipt.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('goods_receipt.deleted', 'delete', null, null),
  ('supplier_order.created', 'insert', null, null),
  ('supplier_order.sent', 'update', '{state}', $$n.state = 'sent'$$),
  ('supplier_order.confirmed', 'update', '{state}',
    $$n.state = 'confirmed' and o.state in ('open', 'sent')$$),
  ('supplier_order.delivered', 'update', '{state}', $$n.state = 'delivered'$$),
  ('supplier_order.reopened', 'update', '{state}',
    $$o.state = 'delivered' and n.state in ('partially_delivered', 'confirmed')$$),
  ('supplier_order.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('supplier_order.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('return_order.created', 'insert', null, null),
  ('return_order.approved', 'update', '{state}',
    $$n.state = 'approved' and o.state in ('requested', 'open')$$),
  ('return_order.refused', 'update', '{state}', $$n.state = 'refused'$$),
  ('return_order.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('return_order.received', 'update', '{state}', $$n.state in ('received_partially', 'received')$$),
  ('return_order.closed', 'update', '{state}', $$n.state = 'closed'$$),
  ('return_order.refunded', 'update', '{refund_amount}', null),
  ('stocktake.created', 'insert', null, null),
  ('stocktake.reviewed', 'update', '{state}', $$n.state = 'review'$$),
  ('stocktake.approved', 'update', '{state}', $$n.state = 'approved'$$),
  ('stocktake.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('batch.created', 'insert', null, null),
  ('batch.updated', 'update', null, null),
  ('customer.created', 'insert', null, null),
  ('customer.updated', 'update', null, null),
  ('customer.deleted', 'delete', null, null),
  -- The orderId of these events is never null
  ('document.created', 'insert', null, 'n.order_id is not null'),
  ('shipping_label.created', 'insert', null, $$n.state = 'created'$$),
  ('shipping_label.created', 'update', '{state}', $$n.state = 'created'$$),
  ('shipping_label.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('shipping_label.failed', 'update', '{state}', $$n.state = 'failed'$$),
  ('bulk_operation.finished', 'update', '{state}', $$n.state in ('completed', 'failed', 'cancelled')$$),
  ('stock_valuation_report.closed', 'update', '{closed_at}', 'n.closed_at is not null'),
  ('stock_valuation_report.voided', 'update', '{voided_at}', 'n.voided_at is not null'),
  ('stock_valuation_head.signed', 'insert', null, null),
  ('quote.created', 'insert', null, null),
  ('quote.sent', 'update', '{state}', $$n.state = 'sent'$$),
  ('quote.accepted', 'update', '{state}', $$n.state = 'accepted'$$),
  ('quote.declined', 'update', '{state}', $$n.state = 'declined'$$),
  ('quote.expired', 'update', '{state}', $$n.state = 'expired'$$)
)
merge into events.occasion o
using d on o.topic = d.topic and o.operation = d.operation
when matched then update set columns = d.columns, condition = d.condition
when not matched
  then insert (topic, operation, columns, condition) values (d.topic, d.operation, d.columns, d.condition)
when not matched by source and o.topic in (select topic from d) then delete;
--! EndIncluded events/topics.sql

-- Money is a Float, as in the types around it
do $$
declare
  words text;
begin
  select string_agg(w, ' ' order by w collate "C") into words from (
    select regexp_split_to_table(
      substring(obj_description('api_unstable'::regnamespace, 'pg_namespace')
        from '(?n)^@floats +(.*)$'), ' +')
    union values ('products'), ('quote_line_upsert_input')
  ) f (w);
  execute format('comment on schema api_unstable is %L', regexp_replace(
    obj_description('api_unstable'::regnamespace, 'pg_namespace'), '(?n)^@floats.*$', '@floats ' || words));
end
$$;

-- The frozen version promises that a document has an order, so it shows no others
create or replace view api_2026_06_unstable.documents with (security_invoker = true) as
select id, document_number, deep_link_code, config, static, sent,
  '/api/_action/document/' || id::text || '/' || deep_link_code as download_url,
  document_type_id, order_id, referenced_document_id
from erp.document
where order_id is not null;
select api_meta.record_version('api_2026_06_unstable');

--! split: 250-reorder.sql
-- What to buy: proposals, and supplier orders of them
drop function if exists api_unstable.propose_reorders(uuid, uuid, uuid, integer);
drop view if exists api_unstable.reorder_proposals cascade;
drop function if exists api_unstable.supplier_orders_create_from_proposals cascade;
drop function if exists administration.report_reorder(text, text, integer);
drop function if exists erp.reorder_proposals(uuid, uuid, uuid, integer, integer);
drop function if exists erp.supplier_terms(uuid[], uuid[]) cascade;
drop type if exists erp.reorder_line cascade;
create type erp.reorder_line as (
  product_id uuid, warehouse_id uuid, quantity integer, on_order_quantity integer, supplier_id uuid
);
comment on type erp.reorder_line is 'A proposal that is to be ordered, and what it said was on order.';
--! Included api/user_error_code.sql
do $$
begin
  if to_regtype('api_unstable.user_error_code') is null then
    create type api_unstable.user_error_code as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.user_error_code',
  'REQUIRED', 'INVALID', 'NOT_FOUND', 'NOT_UNIQUE', 'OUT_OF_RANGE', 'INVALID_STATE_TRANSITION',
  'NOT_EDITABLE', 'INSUFFICIENT_STOCK', 'QUANTITY_CHANGED', 'OVER_RECEIPT', 'OVER_FULFILLMENT',
  'BATCH_REQUIRED', 'BATCH_MISMATCH', 'WAREHOUSE_NOT_EMPTY', 'REFERENCE_IN_USE', 'CURRENCY_FACTOR_LOCKED',
  'EXTERNALLY_MANAGED', 'ON_HOLD', 'IDEMPOTENCY_KEY_MISMATCH', 'TOO_MANY_LINES', 'URL_FORBIDDEN',
  'SCOPE_MISSING', 'PRODUCT_HAS_VARIANTS', 'SUPPLIER_MISMATCH', 'SUPPLIER_INACTIVE',
  'TOO_MANY_SUBSCRIPTIONS', 'BATCH_HELD', 'BATCH_EXPIRED', 'SERIAL_NUMBER_IN_STOCK', 'PERIOD_CLOSED',
  'PRICE_MISSING', 'METHOD_CHANGE_IN_CLOSED_PERIOD', 'BIN_NOT_SELLABLE', 'EXCEEDS_SHIPPED', 'RETURN_EXISTS',
  'SOURCING_PLAN_INVALID', 'NOT_ON_SHEET', 'OUT_OF_SCOPE', 'IN_OTHER_STOCKTAKE', 'NOT_COUNTED',
  'RECOUNT_REQUIRED', 'SAME_PERSON', 'SELF_APPROVAL', 'PERIOD_TOO_LONG', 'ON_PICK_LIST',
  'CONTAINER_IN_USE', 'UNKNOWN_CODE', 'WRONG_PRODUCT', 'WRONG_CONTAINER', 'PICKED_FOR_ORDER',
  'QUOTE_EXPIRED', 'PROPOSAL_STALE');
comment on type api_unstable.user_error_code is
  E'@value REQUIRED A value is missing, or null.\n'
  '@value INVALID The value is not valid here; the message says why.\n'
  '@value NOT_FOUND There is no object with this id.\n'
  '@value NOT_UNIQUE Another object has this value.\n'
  '@value OUT_OF_RANGE A number, date or text length is outside the allowed range.\n'
  '@value INVALID_STATE_TRANSITION The state does not allow this. Field details names the actions that '
  'it allows.\n'
  '@value NOT_EDITABLE The state, or where it comes from, does not allow changes.\n'
  '@value INSUFFICIENT_STOCK A place would be left with less than nothing. Field details has what is '
  'available and requested.\n'
  '@value QUANTITY_CHANGED The stock is not what expectedQuantity says. Field details has what is '
  'expected and actual.\n'
  '@value OVER_RECEIPT More would be received than can be. No longer given: what is more than was '
  'ordered becomes a line without an order.\n'
  '@value OVER_FULFILLMENT More would be fulfilled than is open.\n'
  '@value BATCH_REQUIRED The units are kept in batches: a batch must be named.\n'
  '@value BATCH_MISMATCH The batch is of another product, or was not shipped in the order that comes back.\n'
  '@value WAREHOUSE_NOT_EMPTY The warehouse, bin or container still holds stock. Field details has the '
  'quantity.\n'
  '@value REFERENCE_IN_USE Another object still refers to it, and can''t exist without it.\n'
  '@value CURRENCY_FACTOR_LOCKED The exchange rate is part of a stock valuation report.\n'
  '@value EXTERNALLY_MANAGED Another system manages it; it is read-only here.\n'
  '@value ON_HOLD It is on hold.\n'
  '@value IDEMPOTENCY_KEY_MISMATCH The idempotency key was used for something else in the last 24 '
  'hours.\n'
  '@value TOO_MANY_LINES The input has more lines than are allowed at once.\n'
  '@value URL_FORBIDDEN The address may not be called.\n'
  '@value SCOPE_MISSING The access token lacks a scope that depends on the input.\n'
  '@value PRODUCT_HAS_VARIANTS The product only stands for its variants: they are kept in stock, it is '
  'not.\n'
  '@value SUPPLIER_MISMATCH A goods receipt delivers orders of one supplier, its own. Field details '
  'names the order or the receipt that is of another.\n'
  '@value SUPPLIER_INACTIVE The shop no longer orders from the supplier. Earlier orders can still be '
  'received.\n'
  '@value TOO_MANY_SUBSCRIPTIONS The maximum number of webhook subscriptions is reached. Field details '
  'has the number.\n'
  '@value BATCH_HELD The batch is on hold: nothing of it is shipped until it is released.\n'
  '@value SERIAL_NUMBER_IN_STOCK There is one unit of each serial number, and it is in stock already. Field '
  'details has the serialNumber.\n'
  '@value BIN_NOT_SELLABLE The bin holds damaged goods, or goods in quality control: nothing is shipped from '
  'there.\n'
  '@value BATCH_EXPIRED The best-before date of the batch has passed. Field details has it.\n'
  '@value PERIOD_CLOSED A closed stock valuation report counts it.\n'
  '@value PRICE_MISSING Units in stock have no value: a price is missing. Field details has the first '
  'ones.\n'
  '@value METHOD_CHANGE_IN_CLOSED_PERIOD A closed stock valuation report covers the day. Field details has '
  'its number and day.\n'
  '@value EXCEEDS_SHIPPED More units would come back than were shipped. Field details has the units that '
  'are returnable.\n'
  '@value RETURN_EXISTS Units come back by a return. Field details has its number.\n'
  '@value SOURCING_PLAN_INVALID The function sourcing.plan of this service gave an answer that is not '
  'possible. The message says what is wrong with it.\n'
  '@value NOT_ON_SHEET Another sheet of the stocktake has this place, or the recount does not include it.\n'
  '@value OUT_OF_SCOPE The stocktake does not include this place or product.\n'
  '@value IN_OTHER_STOCKTAKE Another stocktake that is not finished counts the same stock.\n'
  '@value NOT_COUNTED Positions are not counted yet. Field details has their openCount.\n'
  '@value RECOUNT_REQUIRED Differences beyond a bound need a second count. Field details has their count.\n'
  '@value SAME_PERSON The person made the first count; another one has to recount.\n'
  '@value SELF_APPROVAL The same person or credential counted it: another one has to approve. Field details '
  'has the count of such positions.\n'
  '@value PERIOD_TOO_LONG The period has too many stock movements to be calculated at once. Field details '
  'has the referenceDate of an earlier day to close first.\n'
  '@value ON_PICK_LIST The fulfillment order is on a pick list that is not finished.\n'
  '@value CONTAINER_IN_USE The container is not empty, or another pick list uses it.\n'
  '@value UNKNOWN_CODE No product has the scanned code. Field details has the expected product number.\n'
  '@value WRONG_PRODUCT The scanned code belongs to another product. Field details has the expected '
  'product number.\n'
  '@value WRONG_CONTAINER The scanned code belongs to another container. Field details has the expected '
  'number.\n'
  '@value PICKED_FOR_ORDER The units in the container were picked for a fulfillment order. Field details '
  'names it.\n'
  '@value QUOTE_EXPIRED The customer could accept the quote until validUntil, which has passed.\n'
  '@value PROPOSAL_STALE More is on order than the proposal says, or there is enough. Field details has the '
  'present figures.\n'
  'The code of a user error. A version only shows codes that it lists: later ones appear as INVALID.';
--! EndIncluded api/user_error_code.sql
--! Included api/reorder_reason.sql
do $$
begin
  if to_regtype('api_unstable.reorder_reason') is null then
    create type api_unstable.reorder_reason as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.reorder_reason', 'reorder_point', 'shortage');
comment on type api_unstable.reorder_reason is
  E'@value reorder_point Units that can be sold or are on order are at or below the reorder point.\n'
  '@value shortage More units are promised or kept back than can be sold or are on order.\n'
  'Why units are to be bought.';
--! EndIncluded api/reorder_reason.sql
--! Included ledger/unassigned_units.sql
create or replace function ledger.unassigned_units(product_ids uuid[])
returns table (product_id uuid, units integer)
language sql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
begin atomic
  select x.product_id, sum(x.units)::integer
  from (
    select p.id as product_id, p.reserved_stock as units from erp.product p
    where p.reserved_stock > 0 and (product_ids is null or p.id = any (product_ids))
    union all
    select s.product_id, - s.reserved_quantity from ledger.warehouse_stock s
    where s.reserved_quantity > 0 and (product_ids is null or s.product_id = any (product_ids))
    union all
    select i.product_id, i.fulfilled_quantity - i.quantity
    from erp.fulfillment_order f join erp.fulfillment_order_line_item i on i.fulfillment_order_id = f.id
    left join erp.location l on l.id = f.source_warehouse_location_id
    where f.state in ('Open', 'InProgress', 'OnHold') and l.warehouse_id is null
      and (product_ids is null or i.product_id = any (product_ids))
  ) x group by x.product_id having sum(x.units) > 0;
end;
comment on function ledger.unassigned_units(uuid[]) is
  'Returns the units of products that orders wait for, and that neither a warehouse nor an external location '
  'has promised. Of the given products, or of all if null; those without such units are left out.';
grant execute on function ledger.unassigned_units(uuid[]) to service_writer;
--! EndIncluded ledger/unassigned_units.sql
--! Included ledger/shipped_units.sql
create or replace function ledger.shipped_units(product_ids uuid[], since timestamptz)
returns table (product_id uuid, warehouse_id uuid, units bigint)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select p.id, coalesce(f.warehouse_id, l.warehouse_id, b.warehouse_id, c.warehouse_id),
    sum(case when m.destination_location_type_technical_name = 'order' then m.quantity else - m.quantity end)
  from (select distinct unnest(product_ids)) p (id)
  cross join lateral (
    select m.* from ledger.stock_movement m
    where m.product_id = p.id and m.created_at >= since
      and (m.destination_location_type_technical_name = 'order')
        <> (m.source_location_type_technical_name = 'order')
    offset 0
  ) m
  cross join lateral (
    select case when m.destination_location_type_technical_name = 'order' then -1 else 1 end as direction,
      coalesce(m.source_warehouse_id, m.destination_warehouse_id) as warehouse_id,
      coalesce(m.source_bin_location_id, m.destination_bin_location_id) as bin_id,
      coalesce(m.source_stock_container_id, m.destination_stock_container_id) as container_id
  ) l
  left join ledger.former_place f on f.movement_id = m.id and f.direction = l.direction
  left join erp.bin_location b on b.id = l.bin_id
  left join erp.stock_container c on c.id = l.container_id
  group by 1, 2
  having sum(case when m.destination_location_type_technical_name = 'order' then m.quantity
    else - m.quantity end) <> 0;
end;
comment on function ledger.shipped_units(uuid[], timestamptz) is
  'Returns the units of products that were booked out to orders since a moment, by warehouse, less those '
  'that came back because a shipment was cancelled. The warehouse is the one in which the place stood then, '
  'null if nobody knows it any more.';
select api_meta.plan_by_index('ledger.shipped_units(uuid[], timestamptz)');
grant execute on function ledger.shipped_units(uuid[], timestamptz) to service_writer;
--! EndIncluded ledger/shipped_units.sql
--! Included erp/supplier_terms.sql
create or replace function erp.supplier_terms(product_ids uuid[], supplier_ids uuid[])
returns table (nth bigint, product_id uuid, supplier_id uuid, currency_id uuid, unit_price numeric,
  min_purchase integer, purchase_steps integer, lead_time_days integer)
language sql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
begin atomic
  with offer as (
    select distinct on (w.nth) w.nth, w.product_id, s.id as supplier_id, c.id, c.min_purchase,
      c.purchase_steps, coalesce(c.delivery_time_days, s.default_delivery_time_days) as days,
      coalesce(s.currency_id, (select d.id from erp.currency d where d.is_default_currency)) as currency_id
    from unnest(product_ids, supplier_ids) with ordinality w (product_id, supplier_id, nth)
    left join erp.product_supplier_configuration c on c.product_id = w.product_id
      and (w.supplier_id is null or c.supplier_id = w.supplier_id)
    join erp.supplier s on s.id = coalesce(w.supplier_id, c.supplier_id)
    where s.active or w.supplier_id is not null
    order by w.nth, c.supplier_is_default desc nulls last,
      coalesce(c.delivery_time_days, s.default_delivery_time_days), s.number
  )
  select o.nth, o.product_id, o.supplier_id, coalesce(p.currency_id, o.currency_id), p.net,
    coalesce(o.min_purchase, 1), coalesce(o.purchase_steps, 1), o.days
  from offer o
  left join lateral (
    select p.currency_id, p.net from erp.product_supplier_price p join erp.currency d on d.id = p.currency_id
    where p.product_supplier_configuration_id = o.id
    order by p.currency_id = o.currency_id desc, d.is_default_currency desc, d.iso_code limit 1
  ) p on true;
end;
comment on function erp.supplier_terms(uuid[], uuid[]) is
  'Returns at what terms products are bought, by their places in the list. The other list has their '
  'suppliers in the same places. Null stands for the proposed one: the default supplier, or else the '
  'fastest. Inactive ones are not proposed. The price is net. Its currency is the supplier''s, or another if '
  'there is no price in it.';
grant execute on function erp.supplier_terms(uuid[], uuid[]) to service_writer;
--! EndIncluded erp/supplier_terms.sql
--! Included erp/reorder_quantity.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function erp.reorder_quantity(
  "position" integer, fill_up_to bigint, min_purchase integer, purchase_steps integer
)
returns integer
language sql immutable
return least(
  (greatest(fill_up_to - "position"::bigint, coalesce(min_purchase, 1), 1) + coalesce(purchase_steps, 1) - 1)
    / coalesce(purchase_steps, 1) * coalesce(purchase_steps, 1), 2147483647
)::integer;
comment on function erp.reorder_quantity(integer, bigint, integer, integer) is
  'Returns how many units to buy: from the position up to a quantity, at least the least purchase, rounded '
  'up to whole steps.';
grant execute on function erp.reorder_quantity(integer, bigint, integer, integer) to service_writer;
--! EndIncluded erp/reorder_quantity.sql
--! Included erp/reorder_positions.sql
create or replace function erp.reorder_positions(product_ids uuid[], due_only boolean)
returns table (product_id uuid, warehouse_id uuid, spans_warehouses boolean, stock integer,
  held_quantity integer, promised_quantity integer, safety_stock integer, on_order_quantity integer,
  "position" integer, reorder_point integer, target_maximum_quantity integer)
language sql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
  set work_mem = '32MB'
begin atomic
  with usual as materialized (
    select (select w.id from erp.warehouse w where w.is_default) as shipping,
      (select w.id from erp.warehouse w where w.is_default_receiving) as receiving
  ), rule as materialized (
    select c.product_id, c.warehouse_id, c.reorder_point, c.target_maximum_quantity
    from erp.product_warehouse_configuration c
    where (c.reorder_point > 0 or c.target_maximum_quantity is not null)
      and (product_ids is null or c.product_id = any (product_ids))
  ), ruled as materialized (
    select distinct r.product_id from rule r
  ), figure (product_id, warehouse_id, stock, held, promised, safety, on_order, reorder_point, target) as (
    select s.product_id, s.warehouse_id, s.quantity, s.held_quantity, s.reserved_quantity, s.safety_stock, 0,
      null::integer, null::integer
    from ledger.warehouse_stock s where product_ids is null or s.product_id = any (product_ids)
    union all
    select l.product_id, coalesce(o.warehouse_id, (select u.receiving from usual u)), 0, 0, 0, 0,
      l.open_quantity, null, null
    from erp.supplier_order o join erp.supplier_order_line_item l on l.supplier_order_id = o.id
    where erp.awaits_goods(o.state) and l.open_quantity > 0
      and (product_ids is null or l.product_id = any (product_ids))
    union all
    select p.product_id, (select coalesce(u.shipping, u.receiving) from usual u), 0, 0, p.units, 0, 0, null,
      null
    from ledger.unassigned_units(product_ids) p
    union all
    select r.product_id, r.warehouse_id, 0, 0, 0, 0, 0, r.reorder_point, r.target_maximum_quantity
    from rule r
    union all
    select p.id, (select u.receiving from usual u), 0, 0, 0, 0, 0, p.reorder_point, p.target_maximum_quantity
    from erp.product p
    where num_nonnulls(p.reorder_point, p.target_maximum_quantity) > 0
      and p.id not in (select r.product_id from ruled r)
      and (product_ids is null or p.id = any (product_ids))
  ), total as (
    select f.product_id, case when r.product_id is null then (select u.receiving from usual u)
        else f.warehouse_id end as warehouse_id,
      bool_and(r.product_id is null) as spans, sum(f.stock) as stock, sum(f.held) as held,
      sum(f.promised) as promised, sum(f.safety) as safety, sum(f.on_order) as on_order,
      max(f.reorder_point) as reorder_point, max(f.target) as target
    from figure f left join ruled r on r.product_id = f.product_id
    where r.product_id is not null or f.warehouse_id in (select w.id from erp.warehouse w
      where w.is_stock_available_for_sale or w.is_default or w.is_default_receiving)
    group by 1, 2
  )
  select t.product_id, t.warehouse_id, t.spans, t.stock::integer, t.held::integer, t.promised::integer,
    t.safety::integer, t.on_order::integer, x."position", t.reorder_point, t.target
  from total t cross join lateral (values (least(greatest(
    t.stock - t.held - t.promised - t.safety + t.on_order, -2147483648), 2147483647)::integer
  )) x ("position")
  where t.warehouse_id is not null
    and (not due_only or x."position" <= coalesce(t.reorder_point, -1))
    and not exists (select from erp.product v where v.parent_id = t.product_id);
end;
comment on function erp.reorder_positions(uuid[], boolean) is
  'Returns what there is and what is on order of products: of the given ones, or of all if null. If a '
  'warehouse has a reorder point or a target for the product, each warehouse has a row of its own. '
  'Otherwise one row, of the warehouse where goods are received, has all warehouses that sell and the '
  'default ones. Each unit counts in one row once. The position is the stock less what is held, promised and '
  'kept back, and with what is on order. Promised units that no warehouse promises yet count at the default '
  'warehouse. With due_only, rows above their reorder point are left out; without one, rows that lack '
  'nothing. Parents of variants have no rows.';
grant execute on function erp.reorder_positions(uuid[], boolean) to service_writer;
--! EndIncluded erp/reorder_positions.sql
--! Included erp/reorder_proposals.sql
create or replace function erp.reorder_proposals(
  of_warehouse uuid, of_supplier uuid, of_product uuid, days integer, maximum integer
)
returns table (rank integer, product_id uuid, warehouse_id uuid, spans_warehouses boolean, reason text,
  quantity integer, supplier_id uuid, currency_id uuid, unit_price numeric, order_until date,
  runs_out_on date, "position" integer, stock integer, held_quantity integer, promised_quantity integer,
  safety_stock integer, on_order_quantity integer, returning_quantity integer, reorder_point integer,
  fill_up_to integer, min_purchase integer, purchase_steps integer, lead_time_days integer,
  shipped_quantity integer)
language sql stable security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan
begin atomic
  with today as materialized (
    select erp.local_date(ledger.moment_of_statement()) as day
  ), due as materialized (
    select d.*, d."position"::float8 / greatest(d.reorder_point, 1) as share
    from erp.reorder_positions(case
      when of_product is not null then array[of_product]
      when of_supplier is not null then array(
        select c.product_id from erp.product_supplier_configuration c where c.supplier_id = of_supplier)
      end, true) d
    where (select auth.has_scope('supplier_orders:read') and auth.has_scope('stocks:read'))
      and (of_warehouse is null or d.warehouse_id = of_warehouse)
  ), first as materialized (
    select row_number() over (order by d.share, d."position", d.product_id, d.warehouse_id) as rank, d.*
    from due d
    where of_supplier is null or d.product_id in (
      select t.product_id from erp.supplier_terms(array(select n.product_id from due n), null) t
      where t.supplier_id = of_supplier)
    order by rank limit maximum
  ), shipped as materialized (
    select u.* from today t cross join lateral ledger.shipped_units(
      array(select f.product_id from first f), erp.end_of_day(t.day - days)) u
  ), term as materialized (
    select t.* from erp.supplier_terms(array(select f.product_id from first f order by f.rank), null) t
  ), forecast as (
    select f.*, t.supplier_id, t.currency_id, t.unit_price, t.min_purchase, t.purchase_steps,
      t.lead_time_days, greatest(s.units, 0) as units,
      -- Above the reorder point, so that what was ordered is not proposed again
      least(greatest(coalesce(f.reorder_point, -1) + 1::bigint, coalesce(f.target_maximum_quantity,
        coalesce(f.reorder_point, 0) + ceil(greatest(s.units, 0) * coalesce(t.lead_time_days, 0)
          / days::numeric))), 2147483647)::integer as fill_up_to
    from first f left join term t on t.nth = f.rank
    cross join lateral (
      select coalesce(sum(u.units), 0) as units from shipped u
      where u.product_id = f.product_id and (f.spans_warehouses or u.warehouse_id = f.warehouse_id)
    ) s
  )
  select f.rank::integer, f.product_id, f.warehouse_id, f.spans_warehouses,
    case when f."position" < 0 then 'shortage' else 'reorder_point' end,
    erp.reorder_quantity(f."position", f.fill_up_to, f.min_purchase, f.purchase_steps),
    f.supplier_id, f.currency_id, f.unit_price, o.runs_out_on - f.lead_time_days, o.runs_out_on,
    f."position", f.stock, f.held_quantity, f.promised_quantity, f.safety_stock, f.on_order_quantity,
    (
      select coalesce(sum(greatest(l.quantity - l.received_quantity, 0)), 0)
      from erp.return_order_line_item l join erp.return_order r on r.id = l.return_order_id
      where l.product_id = f.product_id and r.state in ('open', 'approved', 'received_partially')
    )::integer,
    f.reorder_point, f.fill_up_to, f.min_purchase, f.purchase_steps, f.lead_time_days,
    least(f.units, 2147483647)::integer
  from forecast f cross join today t cross join lateral (
    select t.day + floor(least(greatest(f."position", 0) * days::numeric / nullif(f.units, 0),
      case when f.units > 0 then 36500 end))::integer
  ) o (runs_out_on)
  order by f.rank;
end;
comment on function erp.reorder_proposals(uuid, uuid, uuid, integer, integer) is
  'Returns what to buy, the most urgent first: the rows of erp.reorder_positions that are due, with '
  'supplier, quantity and dates. The forecast takes the shipments of the given number of days. Empty without '
  'the scopes supplier_orders:read and stocks:read.';
select api_meta.give('erp.reorder_proposals(uuid, uuid, uuid, integer, integer)', 'service_writer');
revoke execute on function erp.reorder_proposals(uuid, uuid, uuid, integer, integer) from public;
grant execute on function erp.reorder_proposals(uuid, uuid, uuid, integer, integer) to service_api;
--! EndIncluded erp/reorder_proposals.sql
grant execute on function erp.reorder_proposals(uuid, uuid, uuid, integer, integer) to service_registrar;
--! Included erp/reorder_faults.sql
create or replace function erp.reorder_faults(lines erp.reorder_line[]) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with line as materialized (
    select l.*, p.product_number, t.supplier_id as seller, d."position", d.reorder_point as due_at,
      d.on_order_quantity as present,
      count(*) over (partition by l.product_id, l.warehouse_id order by l.nth) > 1 as is_repeated
    from unnest(lines) with ordinality
      l (product_id, warehouse_id, quantity, on_order_quantity, supplier_id, nth)
    left join erp.product p on p.id = l.product_id
    left join erp.supplier_terms(array(select n.product_id from unnest(lines) n),
      array(select n.supplier_id from unnest(lines) n)) t on t.nth = l.nth
    left join erp.reorder_positions(array(select n.product_id from unnest(lines) n), false) d
      on d.product_id = l.product_id and d.warehouse_id = l.warehouse_id
  )
  select jsonb_agg(
    mutation.user_error(f.code, f.message, mutation.path('lines', f.nth, f.field), f.details) order by f.nth)
  from (
    select l.nth, 'NOT_FOUND', 'There is no such product.', 'product_id', null::jsonb from line l
    where l.product_number is null
    union all
    select l.nth, 'NOT_FOUND', 'There is no such warehouse.', 'warehouse_id', null from line l
    where not exists (select from erp.warehouse w where w.id = l.warehouse_id)
    union all
    select l.nth, 'NOT_UNIQUE', 'An earlier line has this product and warehouse.', 'product_id', null
    from line l where l.is_repeated
    union all
    select l.nth, 'OUT_OF_RANGE', 'The quantity must be at least 1.', 'quantity', null from line l
    where l.quantity < 1
    union all
    select l.nth, 'NOT_FOUND', 'There is no such supplier.', 'supplier_id', null from line l
    where l.supplier_id is not null and l.seller is null
    union all
    select l.nth, 'SUPPLIER_INACTIVE', 'The shop no longer orders from this supplier.', 'supplier_id', null
    from line l join erp.supplier s on s.id = l.supplier_id where not s.active
    union all
    select l.nth, 'REQUIRED', 'No active supplier sells this product: name one.', 'supplier_id', null
    from line l where l.supplier_id is null and l.seller is null and l.product_number is not null
    union all
    select l.nth, 'PROPOSAL_STALE',
      case when l.present > l.on_order_quantity
        then format('%s units are on order already, not %s. Read the proposals again.', l.present,
          l.on_order_quantity)
      else 'There is enough: this product is not to be bought for this warehouse. Read the proposals again.'
      end, 'on_order_quantity',
      jsonb_build_object('productNumber', l.product_number, 'position', l."position",
        'reorderPoint', l.due_at, 'onOrderQuantity', coalesce(l.present, 0))
    from line l where l.product_number is not null
      and exists (select from erp.warehouse w where w.id = l.warehouse_id)
      and (l.present > l.on_order_quantity or l."position" is null
        or l."position" > coalesce(l.due_at, -1))
  ) f (nth, code, message, field, details);
end;
comment on function erp.reorder_faults(erp.reorder_line[]) is
  'Returns what is wrong with proposals that are to be ordered, as user errors, or null. A proposal is stale '
  'if more is on order than it says, or if the product is above its reorder point. User errors NOT_FOUND, '
  'NOT_UNIQUE, OUT_OF_RANGE, REQUIRED, SUPPLIER_INACTIVE, PROPOSAL_STALE.';
grant execute on function erp.reorder_faults(erp.reorder_line[]) to service_writer;
--! EndIncluded erp/reorder_faults.sql
--! Included erp/create_supplier_order.sql
create or replace function erp.create_supplier_order(given jsonb, lines erp.supplier_order_line[])
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made erp.supplier_order;
  seller erp.supplier;
begin
  made := jsonb_populate_record(null::erp.supplier_order, given);
  select * into seller from erp.supplier s where s.id = made.supplier_id;
  if not found then
    perform mutation.refuse_missing('supplier', '{supplier_id}');
  end if;
  perform erp.require_active_supplier(seller.id, '{supplier_id}');
  made.warehouse_id := coalesce(
    made.warehouse_id, (select w.id from erp.warehouse w where w.is_default_receiving)
  );
  if not exists (select from erp.warehouse w where w.id = made.warehouse_id) then
    perform mutation.refuse_missing('warehouse', '{warehouse_id}');
  end if;
  made.currency_id := coalesce(
    made.currency_id, seller.currency_id, (select c.id from erp.currency c where c.is_default_currency)
  );
  if not exists (select from erp.currency c where c.id = made.currency_id) then
    perform mutation.refuse_missing('currency', '{currency_id}');
  end if;
  -- Before the number: who orders several times holds products and then takes numbers
  perform ledger.lock(array(select l.product_id from unnest(lines) l));
  insert into erp.supplier_order (number, supplier_order_number, supplier_id, warehouse_id, supplier_snapshot,
    warehouse_snapshot, currency_id,
    tax_status, order_date_time, due_date, delivery_date, comment)
  values (erp.next_number('supplier_order'), made.supplier_order_number, made.supplier_id, made.warehouse_id,
    erp.supplier_snapshot(made.supplier_id),
    erp.warehouse_snapshot(made.warehouse_id), made.currency_id, coalesce(made.tax_status, 'net'),
    coalesce(made.order_date_time, date_trunc('second', now())), made.due_date, made.delivery_date,
      made.comment)
  returning * into made;
  perform erp.set_supplier_order_lines(made, coalesce(lines, '{}'));
  return made.id;
end
$$;
comment on function erp.create_supplier_order(jsonb, erp.supplier_order_line[]) is
  'Creates an open supplier order from the columns in the object, with its lines. By default, the currency '
  'is the supplier''s, and the warehouse is the default for receiving. Returns its id.';
grant execute on function erp.create_supplier_order(jsonb, erp.supplier_order_line[]) to service_writer;
--! EndIncluded erp/create_supplier_order.sql
--! Included erp/warn_of_purchase.sql
create or replace function erp.warn_of_purchase(supplier_order_id uuid, list text, nths bigint[] default null)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  warnings jsonb;
begin
  select jsonb_agg(w.warning order by w.nth) into warnings
  from (
    select i."position" as nth, mutation.user_error('PURCHASE_QUANTITY',
      format('%s is ordered from %s units on, in multiples of %s.', i.product_number, i.min_purchase,
        i.purchase_steps),
      mutation.path(list, coalesce(nths[i."position"], i."position"), 'quantity'),
      jsonb_build_object('productNumber', i.product_number, 'quantity', i.quantity,
        'minPurchase', i.min_purchase, 'purchaseSteps', i.purchase_steps))
    from erp.supplier_order_line_item i
    where i.supplier_order_id = warn_of_purchase.supplier_order_id
      and (i.quantity < i.min_purchase or i.quantity % i.purchase_steps <> 0)
    union all
    select 0, mutation.user_error('MINIMUM_ORDER_VALUE',
      format('%s takes orders from %s %s on.', s.name, s.minimum_order_value, c.iso_code), null,
      jsonb_build_object('supplierOrderNumber', o.number, 'amountNet', o.amount_net,
        'minimumOrderValue', s.minimum_order_value))
    from erp.supplier_order o join erp.supplier s on s.id = o.supplier_id
    join erp.currency c on c.id = o.currency_id
    where o.id = warn_of_purchase.supplier_order_id and o.amount_net < s.minimum_order_value
      and c.id = coalesce(s.currency_id,
        (select d.id from erp.currency d where d.is_default_currency))
  ) w (nth, warning);
  perform mutation.warn(warnings);
  return supplier_order_id;
end
$$;
comment on function erp.warn_of_purchase(uuid, text, bigint[]) is
  'Warns about a supplier order: quantities that its supplier does not sell, and less than its minimum order '
  'value, in the currency of the supplier. Takes the list of the input that has the lines, and which of them '
  'they are if not all in order. Returns the id of the order. Warnings PURCHASE_QUANTITY, '
  'MINIMUM_ORDER_VALUE.';
grant execute on function erp.warn_of_purchase(uuid, text, bigint[]) to service_writer;
--! EndIncluded erp/warn_of_purchase.sql
--! Included erp/order_proposals.sql
create or replace function erp.order_proposals(lines erp.reorder_line[], note text) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made uuid[] := '{}';
  planned record;
begin
  if cardinality(lines) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one line is needed.', '{lines}');
  end if;
  perform mutation.refuse_too_many(cardinality(lines), 250, '{lines}');
  -- Who orders the same products at the same time waits here, and then sees what is on order
  perform ledger.lock(array(select l.product_id from unnest(lines) l),
    array(select l.warehouse_id from unnest(lines) l));
  perform mutation.refuse(erp.reorder_faults(lines));
  for planned in
    select t.supplier_id, l.warehouse_id, t.currency_id,
      array_agg(row (null, l.product_id, l.quantity, null, null, null)::erp.supplier_order_line
        order by l.nth) as items,
      array_agg(l.nth order by l.nth) as nths
    from unnest(lines) with ordinality
      l (product_id, warehouse_id, quantity, on_order_quantity, supplier_id, nth)
    join erp.supplier_terms(array(select n.product_id from unnest(lines) n),
      array(select n.supplier_id from unnest(lines) n)) t on t.nth = l.nth
    group by t.supplier_id, l.warehouse_id, t.currency_id order by min(l.nth)
  loop
    made := made || erp.create_supplier_order(jsonb_build_object('supplier_id', planned.supplier_id,
      'warehouse_id', planned.warehouse_id, 'currency_id', planned.currency_id, 'comment', note),
      planned.items);
    perform erp.warn_of_purchase(made[cardinality(made)], 'lines', planned.nths);
  end loop;
  return made;
end
$$;
comment on function erp.order_proposals(erp.reorder_line[], text) is
  'Makes open supplier orders of proposals, one for each supplier, warehouse and currency, in the order of '
  'the lines. Returns their ids. User errors REQUIRED and TOO_MANY_LINES, and user errors of '
  'erp.reorder_faults. '
  'Warnings PURCHASE_QUANTITY, MINIMUM_ORDER_VALUE.';
grant execute on function erp.order_proposals(erp.reorder_line[], text) to service_writer;
--! EndIncluded erp/order_proposals.sql
--! Included api/reorder_proposals.sql
-- Has no rows by itself: api_unstable.propose_reorders fills it
create view api_unstable.reorder_proposals with (security_invoker = true) as
select 0 as rank, l.id as product_id, l.supplier_order_id as warehouse_id, false as spans_warehouses,
  ''::text as reason, 0 as quantity, null::uuid as supplier_id, null::uuid as currency_id,
  null::numeric as unit_price, null::date as order_until, null::date as runs_out_on, 0 as "position",
  0 as stock, 0 as held_quantity, 0 as promised_quantity, 0 as safety_stock, 0 as on_order_quantity,
  0 as returning_quantity, null::integer as reorder_point, 0 as fill_up_to, null::integer as min_purchase,
  null::integer as purchase_steps, null::integer as lead_time_days, 0 as shipped_quantity
from erp.supplier_order_line_item l where false;
comment on view api_unstable.reorder_proposals is $$
@primaryKey rank,product_id,warehouse_id
@requiresScopes allOf: supplier_orders:read stocks:read
@behavior -query:resource:connection -node
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse
@foreignKey (supplier_id) references suppliers (id)|@fieldName supplier
@foreignKey (currency_id) references currencies (id)|@fieldName currency
Units of a product that are to be bought, and why.$$;
comment on column api_unstable.reorder_proposals.rank is E'@notNull\nThe place in the list, from 1.';
comment on column api_unstable.reorder_proposals.product_id is E'@notNull\nThe product.';
comment on column api_unstable.reorder_proposals.warehouse_id is
  E'@notNull\nThe warehouse that the units are to come to.';
comment on column api_unstable.reorder_proposals.spans_warehouses is
  E'@notNull\nWhether all figures are of all warehouses that sell together. They are unless a warehouse has '
  'a reorder point or a target for the product.';
comment on column api_unstable.reorder_proposals.reason is
  E'@notNull\n@enum reorder_reason\nWhy the units are to be bought.';
comment on column api_unstable.reorder_proposals.quantity is
  E'@notNull\nUnits to buy: from position up to fillUpTo, at least minPurchase, in purchaseSteps.';
comment on column api_unstable.reorder_proposals.supplier_id is
  'The default supplier, or else the active one that delivers fastest. Null if no active supplier sells it.';
comment on column api_unstable.reorder_proposals.currency_id is 'The currency of the price.';
comment on column api_unstable.reorder_proposals.unit_price is
  'The supplier''s net price of one unit; null if there is none.';
comment on column api_unstable.reorder_proposals.order_until is
  'The last day to order, so that the goods come before runsOutOn. A past day says that they come too late. '
  'Null without shipments, or without a lead time.';
comment on column api_unstable.reorder_proposals.runs_out_on is
  'The day until which position lasts, if as much is shipped each day as lately. Null without shipments.';
comment on column api_unstable.reorder_proposals."position" is
  E'@notNull\nUnits that can be sold or are on order: stock less heldQuantity, promisedQuantity and '
  'safetyStock, and with onOrderQuantity.';
comment on column api_unstable.reorder_proposals.stock is E'@notNull\nUnits that are there.';
comment on column api_unstable.reorder_proposals.held_quantity is
  E'@notNull\nUnits of them that cannot be sold.';
comment on column api_unstable.reorder_proposals.promised_quantity is
  E'@notNull\nUnits that orders, fulfillment orders and reservations wait for, each once.';
comment on column api_unstable.reorder_proposals.safety_stock is E'@notNull\nUnits that are kept back.';
comment on column api_unstable.reorder_proposals.on_order_quantity is
  E'@notNull\nOpen units of supplier orders, drafts included. They count until their goods receipt is '
  'completed.';
comment on column api_unstable.reorder_proposals.returning_quantity is
  E'@notNull\nUnits of the product that customers are sending back. They are not part of position, because '
  'nobody knows yet whether they can be sold.';
comment on column api_unstable.reorder_proposals.reorder_point is
  'The reorder point, of the warehouse or of the product; null if there is none.';
comment on column api_unstable.reorder_proposals.fill_up_to is
  E'@notNull\nThe target, or else the reorder point and what is shipped within the lead time. At least one '
  'unit above the reorder point.';
comment on column api_unstable.reorder_proposals.min_purchase is 'Least quantity that can be ordered.';
comment on column api_unstable.reorder_proposals.purchase_steps is
  'Quantities are ordered in multiples of this.';
comment on column api_unstable.reorder_proposals.lead_time_days is
  'Days from order to delivery: the product''s at this supplier, or else the supplier''s. Null if unknown.';
comment on column api_unstable.reorder_proposals.shipped_quantity is
  E'@notNull\nUnits that were shipped in the period of the forecast.';
--! EndIncluded api/reorder_proposals.sql
--! Included api/propose_reorders.sql
create function api_unstable.propose_reorders(
  warehouse_id uuid default null, supplier_id uuid default null, product_id uuid default null,
  days integer default 90
) returns setof api_unstable.reorder_proposals language sql stable
begin atomic
  select r.* from erp.reorder_proposals(propose_reorders.warehouse_id, propose_reorders.supplier_id,
    propose_reorders.product_id, least(greatest(days, 1), 365), 1000) r;
end;
comment on function api_unstable.propose_reorders(uuid, uuid, uuid, integer) is $$
@fieldName reorderProposals
@noFilter
@cost 100
@gid warehouse_id Warehouse
@gid supplier_id Supplier
@gid product_id Product
@describe warehouse_id Only what is to come to this warehouse.
@describe supplier_id Only what is proposed to be bought from this supplier.
@describe product_id Only this product.
@describe days Days of shipments that the forecast takes, today included. From 1 to 365.
Proposals of what to buy, where, from whom, how much and by when, at most 1,000. The product with the
smallest part of its reorder point left comes first. supplierOrdersCreateFromProposals makes supplier orders
of them.$$;
--! EndIncluded api/propose_reorders.sql
--! Included api/supplier_order_create.sql
drop type if exists api_unstable.supplier_order_create_input cascade;
create type api_unstable.supplier_order_create_input as (
  supplier_id uuid, warehouse_id uuid, currency_id uuid, tax_status text, supplier_order_number text,
    order_date_time timestamptz,
  due_date timestamptz, delivery_date timestamptz, comment text,
    line_items api_unstable.supplier_order_line_input[]
);
comment on type api_unstable.supplier_order_create_input is 'A new supplier order.';
comment on column api_unstable.supplier_order_create_input.supplier_id is
  E'@notNull\n@gid Supplier\nId of the supplier.';
comment on column api_unstable.supplier_order_create_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that the goods are to come to. When left out, the one where goods are received '
  'by default.';
comment on column api_unstable.supplier_order_create_input.currency_id is
  E'@gid Currency\nId of the currency of all amounts. When left out, the one that the supplier is paid in.';
comment on column api_unstable.supplier_order_create_input.tax_status is
  'Whether prices are net, gross or tax-free. Net when left out.';
comment on column api_unstable.supplier_order_create_input.supplier_order_number is
  'Number that the supplier gave the order.';
comment on column api_unstable.supplier_order_create_input.order_date_time is
  'When the order was placed. Now, when left out.';
comment on column api_unstable.supplier_order_create_input.due_date is 'When the invoice is due.';
comment on column api_unstable.supplier_order_create_input.delivery_date is 'When the goods are expected.';
comment on column api_unstable.supplier_order_create_input.comment is 'Free note.';
comment on column api_unstable.supplier_order_create_input.line_items is 'The lines, up to 250.';

create function api_unstable.supplier_order_create(
  input api_unstable.supplier_order_create_input, changes jsonb
)
returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.warn_of_purchase(erp.create_supplier_order(changes - 'line_items', array(
    select row (
      l.id, l.product_id,
      erp.units_of_line(l.ordinality, l.product_id, l.quantity, l.packs, input.supplier_id),
      l.unit_price, l.tax_rate, l.expected_delivery_date
    )::erp.supplier_order_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), 'line_items'), null, null)::api_unstable.supplier_order_payload
$$;
comment on function api_unstable.supplier_order_create(api_unstable.supplier_order_create_input, jsonb) is
  E'@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND OUT_OF_RANGE INVALID TOO_MANY_LINES SUPPLIER_INACTIVE\n'
  '@warnings PURCHASE_QUANTITY MINIMUM_ORDER_VALUE\n'
  'Makes an open supplier order, with the next number of its range. Prices, tax rates and product '
  'numbers come from the terms of the supplier unless they are given.';
--! EndIncluded api/supplier_order_create.sql
--! Included api/supplier_order_line_items_set.sql
drop type if exists api_unstable.supplier_order_line_items_set_input cascade;
create type api_unstable.supplier_order_line_items_set_input
  as (id uuid, line_items api_unstable.supplier_order_line_input[]);
comment on type api_unstable.supplier_order_line_items_set_input is 'The lines of a supplier order.';
comment on column api_unstable.supplier_order_line_items_set_input.id is
  E'@notNull\n@gid SupplierOrder\nId of the supplier order.';
comment on column api_unstable.supplier_order_line_items_set_input.line_items is
  E'@notNull\nAll lines that the order is to have, up to 250. Lines that are not among them go.';

create function api_unstable.supplier_order_line_items_set(
  input api_unstable.supplier_order_line_items_set_input
)
returns api_unstable.supplier_order_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.warn_of_purchase(erp.set_lines_of_supplier_order(input.id, array(
    select row (
      l.id, l.product_id, erp.units_of_line(l.ordinality, l.product_id, l.quantity, l.packs,
        erp.supplier_of_line(null, input.id, null)), l.unit_price, l.tax_rate, l.expected_delivery_date
    )::erp.supplier_order_line
    from unnest(input.line_items) with ordinality l order by l.ordinality
  )), 'line_items'), null, null)::api_unstable.supplier_order_payload
$$;
comment on function
  api_unstable.supplier_order_line_items_set(api_unstable.supplier_order_line_items_set_input) is
  E'@requiresScopes supplier_orders:write\n'
  '@userErrors NOT_FOUND NOT_EDITABLE OUT_OF_RANGE NOT_UNIQUE TOO_MANY_LINES\n'
  '@warnings PURCHASE_QUANTITY MINIMUM_ORDER_VALUE\n'
  'Replaces the lines of an open supplier order, and recomputes its totals. Lines are listed in the '
  'order of the input, except existing lines that swap places. The position is always the one of the '
  'input.';
--! EndIncluded api/supplier_order_line_items_set.sql
--! Included api/supplier_orders_create_from_proposals.sql
drop type if exists api_unstable.supplier_orders_create_from_proposals_input cascade;
drop type if exists api_unstable.reorder_line_input cascade;
create type api_unstable.reorder_line_input as (
  product_id uuid, warehouse_id uuid, quantity integer, on_order_quantity integer, supplier_id uuid
);
comment on type api_unstable.reorder_line_input is 'A proposal that is to be ordered.';
comment on column api_unstable.reorder_line_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.reorder_line_input.warehouse_id is
  E'@notNull\n@gid Warehouse\nId of the warehouse of the proposal.';
comment on column api_unstable.reorder_line_input.quantity is
  E'@notNull\nUnits to order; at least 1. It may differ from the proposal.';
comment on column api_unstable.reorder_line_input.on_order_quantity is
  E'@notNull\nThe onOrderQuantity of the proposal. If more is on order now, nothing is ordered: '
  'PROPOSAL_STALE.';
comment on column api_unstable.reorder_line_input.supplier_id is
  E'@gid Supplier\nId of the supplier, if not the one of the proposal.';

create type api_unstable.supplier_orders_create_from_proposals_input as (
  lines api_unstable.reorder_line_input[], comment text
);
comment on type api_unstable.supplier_orders_create_from_proposals_input is
  'Proposals that are to be ordered.';
comment on column api_unstable.supplier_orders_create_from_proposals_input.lines is
  E'@notNull\nThe proposals; 1 to 250. Each names another product or warehouse.';
comment on column api_unstable.supplier_orders_create_from_proposals_input.comment is
  'Free note on all the orders.';

drop type if exists api_unstable.supplier_orders_payload cascade;
create type api_unstable.supplier_orders_payload as (
  supplier_orders uuid[], user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.supplier_orders_payload is 'The result of ordering proposals.';
comment on column api_unstable.supplier_orders_payload.supplier_orders is
  E'@entity SupplierOrder\n@perLine lines\nThe new orders, open, in the order of their first lines.';
comment on column api_unstable.supplier_orders_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.supplier_orders_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

create function api_unstable.supplier_orders_create_from_proposals(
  input api_unstable.supplier_orders_create_from_proposals_input
)
returns api_unstable.supplier_orders_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.order_proposals(array(
    select row (l.product_id, l.warehouse_id, l.quantity, l.on_order_quantity,
      l.supplier_id)::erp.reorder_line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment), null, null)::api_unstable.supplier_orders_payload
$$;
comment on function api_unstable.supplier_orders_create_from_proposals(
  api_unstable.supplier_orders_create_from_proposals_input) is $$
@requiresScopes supplier_orders:write
@userErrors REQUIRED TOO_MANY_LINES NOT_FOUND NOT_UNIQUE OUT_OF_RANGE SUPPLIER_INACTIVE PROPOSAL_STALE
@warnings PURCHASE_QUANTITY MINIMUM_ORDER_VALUE
Makes supplier orders of reorderProposals: an open one for each supplier, warehouse and currency. Earlier
orders stay as they are. All lines are ordered, or none.$$;
--! EndIncluded api/supplier_orders_create_from_proposals.sql
select api_meta.allow('service_registrar', 'erp.supplier', 'select (id, number, name, minimum_order_value)');
select api_meta.allow('service_registrar', 'erp.currency', 'select (id, iso_code)');
select api_meta.allow('service_registrar', 'erp.product', 'select (name, parent_id)');
--! Included administration/report_reorder.sql
create or replace function administration.report_reorder(
  warehouse text, supplier_number text, how_many integer
)
returns table (supplier text, product text, name text, "to" text, quantity bigint, amount numeric,
  currency text, order_until date, reason text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  of_warehouse constant uuid := (select w.id from erp.warehouse w where w.code = warehouse);
  of_supplier constant uuid := (select s.id from erp.supplier s where s.number = supplier_number);
begin
  perform administration.require_administrator();
  -- Functions for API clients need scopes
  perform set_config('service.scopes', 'supplier_orders:read stocks:read', true);
  return query
    with proposal as materialized (
      select r.*, coalesce(s.name || ' (' || s.number || ')', 'No active supplier') as seller,
        s.minimum_order_value as least_value, c.iso_code, r.quantity * r.unit_price as value
      from erp.reorder_proposals(of_warehouse, of_supplier, null, 90, 1000) r
      left join erp.supplier s on s.id = r.supplier_id left join erp.currency c on c.id = r.currency_id
      where num_nulls(warehouse, of_warehouse) <> 1 and num_nulls(supplier_number, of_supplier) <> 1
    )
    select x.seller, x.product_number, x.name, x.code, x.quantity, erp.rounded(x.value), x.iso_code,
      x.order_until, x.reason
    from (
      select t.seller, t.iso_code, 0 as rank, t.supplier_id, 'Total' as product_number, null as name,
        null as code, sum(t.quantity) as quantity, sum(t.value) as value, min(t.order_until) as order_until,
        concat(count(*), case count(*) when 1 then ' proposal' else ' proposals' end, case
          when sum(t.value) < min(t.least_value)
            then format(', less than the minimum order value of %s', min(t.least_value)) end) as reason
      from proposal t group by t.seller, t.iso_code, t.supplier_id
      union all
      select t.seller, t.iso_code, t.rank, t.supplier_id, p.product_number, coalesce(p.name, parent.name),
        w.code, t.quantity, t.value, t.order_until, concat(
          case t.reason when 'shortage' then 'Short of ' || - t."position" || ': ' end,
          t.stock - t.held_quantity, ' sellable, ', nullif(t.promised_quantity, 0)
            || ' promised, ', nullif(t.safety_stock, 0) || ' kept back, ', t.on_order_quantity, ' on order',
          '; reorder point ' || t.reorder_point, ', up to ', t.fill_up_to,
          '; ' || nullif(t.shipped_quantity, 0) || ' shipped in 90 days')
      from proposal t join erp.product p on p.id = t.product_id
      left join erp.product parent on parent.id = p.parent_id
      join erp.warehouse w on w.id = t.warehouse_id
    ) x
    order by x.supplier_id is null, x.seller, x.iso_code, x.rank limit how_many;
end
$$;
comment on function administration.report_reorder(text, text, integer) is $$
@title What to buy
@hint warehouse The code of a warehouse. Empty: all warehouses.
@hint supplier_number The number of a supplier. Empty: all suppliers.
The 1,000 most urgent proposals, by supplier, with their reasons. The first row of each supplier has the
totals. Amounts are net.$$;
select api_meta.give('administration.report_reorder(text, text, integer)', 'service_registrar');
grant execute on function administration.report_reorder(text, text, integer) to service_administration;
--! EndIncluded administration/report_reorder.sql

--! split: 260-masters.sql
-- Masters: tags, customer groups, payment methods, sales channels, shipping methods, locations, and
-- configurations of products can be written
drop view if exists api_unstable.customer_groups, api_unstable.payment_methods, api_unstable.sales_channels,
  api_unstable.countries, api_unstable.shipping_methods,
  api_unstable.product_stock_location_configurations cascade;
drop trigger if exists sales_channel_offers_its_defaults on erp.sales_channel;
drop trigger if exists sales_channel_has_an_active_payment_method on erp.sales_channel;
drop trigger if exists payment_method_of_a_sales_channel_is_active on erp.payment_method;
drop trigger if exists sales_channel_country_is_kept on erp.sales_channel_country;
drop trigger if exists sales_channel_currency_is_kept on erp.sales_channel_currency;
drop trigger if exists sales_channel_payment_method_is_kept on erp.sales_channel_payment_method;

alter table erp.customer_group drop column if exists technical_name cascade;
-- waive constraint-builds-index: a handful of rows
alter table erp.customer_group add column technical_name text collate "C"
  constraint customer_group_technical_name_is_unique unique;
alter table erp.customer_group add constraint customer_group_technical_name_is_not_blank
  check (not erp.is_blank(technical_name)) not valid;
alter table erp.sales_channel drop column if exists technical_name cascade;
-- waive constraint-builds-index: a handful of rows
alter table erp.sales_channel add column technical_name text collate "C"
  constraint sales_channel_technical_name_is_unique unique;
alter table erp.sales_channel add constraint sales_channel_technical_name_is_not_blank
  check (not erp.is_blank(technical_name)) not valid;
alter table erp.payment_method drop constraint if exists payment_method_technical_name_is_not_blank;
alter table erp.payment_method add constraint payment_method_technical_name_is_not_blank
  check (not erp.is_blank(technical_name)) not valid;
alter table erp.shipping_method drop constraint if exists shipping_method_technical_name_is_not_blank;
alter table erp.shipping_method add constraint shipping_method_technical_name_is_not_blank
  check (not erp.is_blank(technical_name)) not valid;
alter table erp.location drop constraint if exists location_storefront_id_is_unique,
  drop constraint if exists location_storefront_id_is_not_blank,
  drop constraint if exists location_name_is_not_blank;
-- waive constraint-builds-index: a handful of rows
alter table erp.location add constraint location_storefront_id_is_unique unique (storefront_id),
  add constraint location_storefront_id_is_not_blank check (not erp.is_blank(storefront_id)) not valid,
  add constraint location_name_is_not_blank check (not erp.is_blank(name)) not valid;

comment on constraint customer_group_technical_name_is_unique on erp.customer_group is
  E'@userError NOT_UNIQUE technical_name\nAnother customer group has this technical name.';
comment on constraint customer_group_technical_name_is_not_blank on erp.customer_group is
  E'@userError INVALID technical_name\nThe technical name is blank.';
comment on constraint sales_channel_technical_name_is_unique on erp.sales_channel is
  E'@userError NOT_UNIQUE technical_name\nAnother sales channel has this technical name.';
comment on constraint sales_channel_technical_name_is_not_blank on erp.sales_channel is
  E'@userError INVALID technical_name\nThe technical name is blank.';
comment on constraint payment_method_technical_name_key on erp.payment_method is
  E'@userError NOT_UNIQUE technical_name\nAnother payment method has this technical name.';
comment on constraint payment_method_technical_name_is_not_blank on erp.payment_method is
  E'@userError INVALID technical_name\nThe technical name is blank.';
comment on constraint payment_method_means_code_has_its_form on erp.payment_method is
  E'@userError INVALID means_code\nA code of UNTDID 4461 has one or two digits, or is ZZZ.';
comment on constraint shipping_method_technical_name_key on erp.shipping_method is
  E'@userError NOT_UNIQUE technical_name\nAnother shipping method has this technical name.';
comment on constraint shipping_method_technical_name_is_not_blank on erp.shipping_method is
  E'@userError INVALID technical_name\nThe technical name is blank.';
comment on constraint location_has_one_per_warehouse on erp.location is
  E'@userError NOT_UNIQUE warehouse_id\nThe warehouse has another location already.';
comment on constraint location_storefront_id_is_unique on erp.location is
  E'@userError NOT_UNIQUE storefront_id\nAnother location has this id of the storefront.';
comment on constraint location_storefront_id_is_not_blank on erp.location is
  E'@userError INVALID storefront_id\nThe id is blank. Leave it out, or send null.';
comment on constraint location_name_is_not_blank on erp.location is
  E'@userError INVALID name\nThe name is blank.';
comment on constraint product_stock_location_configuration_is_unique
  on erp.product_stock_location_configuration is
  E'@userError NOT_UNIQUE product_id\nAn earlier row configures the same product and place.';
comment on constraint product_stock_location_configuration_has_one_place
  on erp.product_stock_location_configuration is
  E'@userError INVALID warehouse_id\nA row has either a warehouse or a bin.';
comment on constraint product_stock_location_configuration_reorder_point_not_negative
  on erp.product_stock_location_configuration is
  E'@userError OUT_OF_RANGE reorder_point\nThe reorder point must not be negative.';
comment on constraint product_stock_location_configuration_target_is_not_negative
  on erp.product_stock_location_configuration is
  E'@userError OUT_OF_RANGE target_maximum_quantity\nThe target must not be negative.';
comment on constraint product_warehouse_configuration_is_unique on erp.product_warehouse_configuration is
  E'@userError NOT_UNIQUE product_id\nAn earlier row configures the same product and warehouse.';

comment on column erp.customer_group.technical_name is
  'Stable machine name, for example retail; unique, and null where there is none.';
comment on column erp.customer_group.display_gross is
  'Whether members see prices with tax. True by default.';
comment on column erp.sales_channel.technical_name is
  'Stable machine name, for example web_shop_de; unique, and null where there is none.';
comment on column erp.shipping_method.technical_name is 'Stable machine name, for example parcel; unique.';
comment on column erp.shipping_method.name is 'Name of the way to ship, in the language of the request.';
comment on column erp.shipping_method.active is 'Whether customers are offered it.';
comment on column erp.country.iso_code is 'Two-letter code of ISO 3166-1.';
comment on column erp.product_stock_location_configuration.product_id is 'Product that the settings are for.';
comment on column erp.product_stock_location_configuration.warehouse_id is
  'Warehouse, if it is the place: its part that has no bin.';
comment on column erp.product_stock_location_configuration.bin_location_id is 'Bin, if it is the place.';

select api_meta.allow('service_writer', 'erp.tag', 'update (name)', 'delete');
select api_meta.allow('service_writer', 'erp.customer_group', 'insert',
  'update (technical_name, name, display_gross)');
select api_meta.allow('service_writer', 'erp.payment_method', 'insert',
  'update (technical_name, name, description, active, position, after_order_enabled, means_code)');
select api_meta.allow('service_writer', 'erp.shipping_method', 'insert',
  'update (technical_name, name, active)');
select api_meta.allow('service_writer', 'erp.sales_channel', 'insert',
  'update (technical_name, name, country_id, currency_id, customer_group_id, payment_method_id)');
select api_meta.allow('service_writer', 'erp.sales_channel_country', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.sales_channel_currency', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.sales_channel_payment_method', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.sales_channel_registration_group', 'select', 'insert', 'delete');
select api_meta.allow('service_writer', 'erp.location', 'update (name, active, storefront_id)');
select api_meta.allow('service_writer', 'erp.product_stock_location_configuration', 'select', 'insert',
  'update (reorder_point, target_maximum_quantity)');

-- Sales channels offer what they begin with, whoever writes
insert into erp.sales_channel_country (sales_channel_id, country_id)
select id, country_id from erp.sales_channel on conflict do nothing;
insert into erp.sales_channel_currency (sales_channel_id, currency_id)
select id, currency_id from erp.sales_channel on conflict do nothing;
insert into erp.sales_channel_payment_method (sales_channel_id, payment_method_id)
select id, payment_method_id from erp.sales_channel on conflict do nothing;
--! Included erp/keep_channel_defaults.sql
create or replace function erp.keep_channel_defaults() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into erp.sales_channel_country (sales_channel_id, country_id)
  select c.id, c.country_id from erp.sales_channel c where c.id = new.id on conflict do nothing;
  insert into erp.sales_channel_currency (sales_channel_id, currency_id)
  select c.id, c.currency_id from erp.sales_channel c where c.id = new.id on conflict do nothing;
  insert into erp.sales_channel_payment_method (sales_channel_id, payment_method_id)
  select c.id, c.payment_method_id from erp.sales_channel c where c.id = new.id on conflict do nothing;
  return null;
end
$$;
comment on function erp.keep_channel_defaults() is
  'Trigger: adds the country, currency and payment method that a sales channel begins with to those that it '
  'offers.';

create or replace function erp.keep_offered_defaults() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  member constant text := tg_argv[0];
begin
  if exists (
    select from erp.sales_channel c
    where c.id = old.sales_channel_id and to_jsonb(c) ->> member = to_jsonb(old) ->> member
  ) then
    raise exception 'The sales channel begins with it. Give the sales channel another one first.'
      using errcode = 'restrict_violation', schema = tg_table_schema, table = tg_table_name,
        constraint = tg_name;
  end if;
  return null;
end
$$;
comment on function erp.keep_offered_defaults() is
  'Trigger: refuses to take the country, currency or payment method from a sales channel that it begins '
  'with, the column in the argument of the trigger.';

create or replace function erp.keep_default_active() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_table_name = 'payment_method' then
    if exists (select from erp.sales_channel c where c.payment_method_id = new.id) then
      raise exception 'A sales channel begins with this payment method. Give it another one first.'
        using errcode = 'restrict_violation', schema = tg_table_schema, table = tg_table_name,
          constraint = tg_name;
    end if;
  else
    -- A change of the payment method waits, and then finds the sales channel
    perform from erp.payment_method p where p.id = new.payment_method_id and p.active for share;
    if not found then
      raise exception 'The payment method is not active.'
        using errcode = 'check_violation', schema = tg_table_schema, table = tg_table_name,
          constraint = tg_name;
    end if;
  end if;
  return null;
end
$$;
comment on function erp.keep_default_active() is
  'Trigger: refuses a sales channel that begins with an inactive payment method, and to deactivate the '
  'payment method that one begins with.';
--! EndIncluded erp/keep_channel_defaults.sql
create constraint trigger sales_channel_offers_its_defaults
  after insert or update of country_id, currency_id, payment_method_id on erp.sales_channel
  deferrable initially deferred for each row execute function erp.keep_channel_defaults();
create constraint trigger sales_channel_has_an_active_payment_method
  after insert or update of payment_method_id on erp.sales_channel
  for each row execute function erp.keep_default_active();
create constraint trigger payment_method_of_a_sales_channel_is_active
  after update of active on erp.payment_method
  for each row when (old.active and not new.active) execute function erp.keep_default_active();
create constraint trigger sales_channel_country_is_kept after delete on erp.sales_channel_country
  deferrable initially deferred for each row execute function erp.keep_offered_defaults('country_id');
create constraint trigger sales_channel_currency_is_kept after delete on erp.sales_channel_currency
  deferrable initially deferred for each row execute function erp.keep_offered_defaults('currency_id');
create constraint trigger sales_channel_payment_method_is_kept after delete
  on erp.sales_channel_payment_method
  deferrable initially deferred for each row execute function erp.keep_offered_defaults('payment_method_id');

-- What all upserts share
--! Included mutation/nil_id.sql
create or replace function mutation.nil_id() returns uuid
language sql immutable parallel safe return '00000000-0000-0000-0000-000000000000'::uuid;
comment on function mutation.nil_id() is 'Returns the id that no row has.';
grant execute on function mutation.nil_id() to service_writer;
--! EndIncluded mutation/nil_id.sql
--! Included mutation/references_of.sql
create or replace function mutation.references_of(relation regclass)
returns table (field text, column_name name, target regclass, key name)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select case when k.attname like r.stem || '\_%' then k.attname else r.stem || '_' || k.attname end,
    r.attname, r.confrelid::regclass, k.attname
  from (
    select a.attname, c.confrelid, regexp_replace(a.attname, '_id$', '') as stem
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.conrelid = relation and c.contype = 'f' and cardinality(c.conkey) = 1 and a.attname like '%\_id'
  ) r
  join pg_index i on i.indrelid = r.confrelid and i.indisunique and i.indnkeyatts = 1 and i.indpred is null
  join pg_attribute k on k.attrelid = r.confrelid and k.attnum = i.indkey[0] and k.atttypid = 'text'::regtype;
end;
comment on function mutation.references_of(regclass) is
  'Returns the fields by which rows of an upsert name others without an id. Say sales_channel.currency_id '
  'refers to erp.currency, with the unique text iso_code: then the field currency_iso_code names the row.';
grant execute on function mutation.references_of(regclass) to service_writer;
--! EndIncluded mutation/references_of.sql
--! Included mutation/localized_columns.sql
create or replace function mutation.localized_columns(relation regclass) returns setof name
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select a.attname from pg_attribute a
  where a.attrelid = relation and a.atttypid = 'erp.localized_text'::regtype and a.attnum > 0;
end;
comment on function mutation.localized_columns(regclass) is
  'Returns the columns of a table with texts in several languages. In upserts the field name_by_locale '
  'stands for the column name.';
grant execute on function mutation.localized_columns(regclass) to service_writer;
--! EndIncluded mutation/localized_columns.sql
--! Included mutation/with_columns.sql
create or replace function mutation.with_columns(relation regclass, given jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  fields constant text := (
    select string_agg(f.sql, ' || ') from (
      -- The nil id stands for a row that is not there
      select format('coalesce((select jsonb_build_object(%1$L, x.id) || case when not e.value ? %2$L '
        'then jsonb_build_object(%2$L, x.id) else %3$L end from (select case when e.value ->> %4$L is not '
        'null then coalesce((select o.id from %5$s o where o.%6$I = e.value ->> %4$L), %7$L) end) x (id) '
        'where e.value ? %4$L), %3$L)',
        '@' || r.field, r.column_name, '{}', r.field, r.target, r.key, mutation.nil_id())
      from mutation.references_of(relation) r
      union all
      select format('case when erp.is_localized_text(e.value -> %1$L) or e.value -> %1$L = %2$L '
        'then jsonb_build_object(%3$L, e.value -> %1$L) else %4$L end', c || '_by_locale', 'null', c, '{}')
      from mutation.localized_columns(relation) c
    ) f (sql));
  result jsonb := given;
begin
  if fields is not null then
    execute format('select jsonb_agg(e.value || %s order by e.n) '
      'from jsonb_array_elements($1) with ordinality e (value, n)', fields) into result using given;
  end if;
  return result;
end
$$;
comment on function mutation.with_columns(regclass, jsonb) is
  'Returns the rows that a caller gave to an upsert, with columns for fields that are named otherwise. These '
  'are ids of rows that are named by a key, and texts in several languages. The id of a field is also '
  'under its name after an @, where mutation.faults_of_fields looks for it.';
select api_meta.plan_by_index('mutation.with_columns(regclass, jsonb)');
grant execute on function mutation.with_columns(regclass, jsonb) to service_writer;
--! EndIncluded mutation/with_columns.sql
--! Included mutation/faults_of_texts.sql
create or replace function mutation.faults_of_texts(texts jsonb) returns table (code text, message text)
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  with found as materialized (
    select case when jsonb_typeof(texts) = 'object' then texts end as texts
  )
  select 'INVALID', 'This is an object from locale to text, such as {"en-GB": "Invoice"}.'
  from found f where f.texts is null and jsonb_typeof(faults_of_texts.texts) <> 'null'
  union all
  select 'REQUIRED', 'The text in en-GB is missing, which stands in for those that a language lacks.'
  from found f where not f.texts ? 'en-GB'
  union all
  select 'TOO_MANY_LINES', 'There are more than 100 languages.'
  from found f where (select count(*) from jsonb_each(f.texts)) > 100
  union all
  (
    select x.code, format(x.message, t.key)
    from found f cross join lateral jsonb_each(f.texts) t
    cross join lateral (
      select 'INVALID', 'A locale is a language, optionally script and region: de, de-AT, zh-Hant-TW; not %s.'
      where not erp.is_locale(t.key)
      union all
      select 'INVALID', 'The text in %s is blank, or no text.'
      where jsonb_typeof(t.value) <> 'string' or erp.is_blank(t.value #>> '{}')
      union all
      select 'OUT_OF_RANGE', 'The text in %s has more than 1000 characters.'
      where length(t.value #>> '{}') > 1000
    ) x (code, message)
    limit 10
  );
end;
comment on function mutation.faults_of_texts(jsonb) is
  'Returns what is wrong with a text in several languages, up to ten faults of single ones. JSON null is '
  'right.';
grant execute on function mutation.faults_of_texts(jsonb) to service_writer;
--! EndIncluded mutation/faults_of_texts.sql
--! Included mutation/faults_of_fields.sql
create or replace function mutation.faults_of_fields(relation regclass, rows mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with reference as materialized (
    select * from mutation.references_of(relation)
  ), localized (name, field, is_required) as materialized (
    select a.attname, a.attname || '_by_locale', a.attnotnull
    from mutation.localized_columns(relation) c
    join pg_attribute a on a.attrelid = relation and a.attname = c
  ), fixed (name, is_required) as materialized (
    select a.attname, a.attnotnull and exists (
      select from pg_constraint c
      where c.conrelid = relation and c.contype = 'f' and c.conkey = array[a.attnum])
    from pg_attribute a
    where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
      and not has_column_privilege(relation, a.attnum, 'update')
  )
  select array_agg(row (f.line, f.code, f.message, f.field, null)::mutation.row_fault)
  from (
    select u.line, 'NOT_FOUND', format('There is no such %s.', mutation.thing(r.target)), array[r.field]
    from unnest(rows) u cross join reference r
    where u.given ->> ('@' || r.field) = mutation.nil_id()::text
    union all
    select u.line, 'INVALID', format('The id names another %s.', mutation.thing(r.target)), array[r.field]
    from unnest(rows) u cross join reference r
    where u.given ->> ('@' || r.field) not in (mutation.nil_id()::text, u.given ->> r.column_name)
    union all
    select u.line, 'NOT_EDITABLE', 'This can be set for a new row only.', array[coalesce((
      select r.field from reference r where r.column_name = c.name and u.given ? r.field limit 1), c.name)]
    from unnest(rows) u cross join fixed c
    where not u.is_new and u.given ? c.name and u.wanted -> c.name is distinct from u.present -> c.name
    union all
    select u.line, 'REQUIRED', format('A new row needs a %s.', replace(c.name, '_id', '')), array[c.name]
    from unnest(rows) u cross join fixed c
    where u.is_new and c.is_required and coalesce(u.wanted -> c.name, 'null') = 'null'
    union all
    select u.line, t.code, t.message, array[c.field]
    from unnest(rows) u cross join localized c cross join mutation.faults_of_texts(u.given -> c.field) t
    union all
    select u.line, 'REQUIRED', 'This must not be null.', array[c.field]
    from unnest(rows) u cross join localized c
    where c.is_required and coalesce(u.wanted -> c.name, 'null') = 'null'
      and coalesce(u.given -> c.field, 'null') = 'null'
  ) f (line, code, message, field);
end;
comment on function mutation.faults_of_fields(regclass, mutation.upsert_row[]) is
  'Returns what is wrong with rows of an upsert before the rules of the table are checked. It finds keys '
  'that name nothing, and malformed texts in several languages. Columns that service_writer may not update '
  'are set in new rows only.';
grant execute on function mutation.faults_of_fields(regclass, mutation.upsert_row[]) to service_writer;
--! EndIncluded mutation/faults_of_fields.sql
--! Included mutation/match_rows.sql
create or replace function mutation.match_rows(
  relation regclass, list text, given jsonb, keys text[], matches text[]
)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  named constant text := format('jsonb_array_elements($1) with ordinality e (value, line) '
    'cross join lateral jsonb_populate_record(null::%s, e.value) r', relation);
  found constant text := mutation.match_of(relation, matches, '$2');
  leaving uuid[] := '{}';
  result mutation.upsert_row[];
begin
  if coalesce(jsonb_array_length(given), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'There must be at least one row.', array[list]);
  end if;
  perform mutation.refuse_too_many(jsonb_array_length(given), 250, array[list]);
  -- Rows that are named by their id and get another key: their present key becomes free
  execute format('select array(select g.id from (select (e ->> %L)::uuid as id, e from '
    'jsonb_array_elements($1) e where e ?| $2) g where (select %s from %s o where o.id = g.id))', 'id',
    (select string_agg(format('g.e ? %1$L and o.%1$I::text is distinct from g.e ->> %1$L', k), ' or ')
      from unnest(keys) k), relation)
  into leaving using given, keys;
  execute format('select from %s t where t.id = any (array(select %s from %s)) order by t.id '
    'for no key update', relation, found, named) using given, leaving;
  execute format($q$
    with matched as materialized (
      select e.line, e.value as given, r.id as given_id, %2$s as id,
        num_nonnulls(r.id, %5$s) > 0 as is_named, %4$s as defaults
      from %3$s
    ),
    -- Not a join, which would read all of a table that is not large
    counted as materialized (
      select m.*, row_number() over (partition by m.id order by m.line) as nth,
        (select o from %1$s o where o.id = m.id) as present
      from matched m
    )
    select array_agg(row(c.line, coalesce(c.id, (c.defaults ->> 'id')::uuid), (c.present).id is null, c.given,
      case when (c.present).id is not null then to_jsonb(c.present) end,
      to_jsonb(jsonb_populate_record(case when (c.present).id is null
        then jsonb_populate_record(null::%1$s, c.defaults) else c.present end, c.given - 'id')), false,
      case
        when not c.is_named then jsonb_build_array(mutation.user_error('REQUIRED', $4,
          mutation.path($3, c.line)))
        when c.given_id is not null and c.id is null then jsonb_build_array(mutation.user_error('NOT_FOUND',
          $5, mutation.path($3, c.line, 'id')))
        when c.id is not null and c.nth > 1 then jsonb_build_array(mutation.user_error('NOT_UNIQUE',
          'An earlier row refers to the same object.', mutation.path($3, c.line)))
      end)::mutation.upsert_row order by c.line)
    from counted c
    $q$, relation, found, named, mutation.defaults_of(relation),
    (select string_agg(format('r.%I', k), ', ') from unnest(keys) k))
  into result
  using given, leaving, list, format('A row needs one of these: id, %s.',
      (select string_agg(lower(left(c.camel, 1)) || substr(c.camel, 2), ', ' order by k.n)
        from unnest(keys) with ordinality k (name, n)
        cross join lateral (select replace(initcap(replace(k.name, '_', ' ')), ' ', '')) c (camel))),
    format('There is no such %s.', mutation.thing(relation));
  return result;
end
$$;
comment on function mutation.match_rows(regclass, text, jsonb, text[], text[]) is
  'Returns the rows of an upsert into a table, each with the table''s row that it refers to. That is the '
  'row with its id, else the first that fulfills a match, a condition on a row o of the table and the given '
  'row r. A row is not matched if another row of the call names it by id and gives it another key. Omitted '
  'fields keep their value, or get their default. Locks the table''s rows, by id. Keys are columns that can '
  'identify a row instead of its id. User errors REQUIRED and TOO_MANY_LINES; rows are refused with '
  'REQUIRED, NOT_FOUND and NOT_UNIQUE.';
grant execute on function mutation.match_rows(regclass, text, jsonb, text[], text[]) to service_writer;
--! EndIncluded mutation/match_rows.sql
--! Included mutation/upsert.sql
create or replace function mutation.upsert(
  relation regclass, list text, given jsonb, partial boolean, keys text[], matches text[] default null,
  faults regproc default null
)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found constant text[] := coalesce(matches, array(select format('o.%1$I = r.%1$I', k) from unnest(keys) k));
  rows mutation.upsert_row[] := mutation.match_rows(
    relation, list, mutation.with_columns(relation, given), keys, found);
begin
  rows := mutation.with_faults(rows, list, mutation.faults_of_fields(relation, rows));
  if faults is not null then
    execute format('select mutation.with_faults($1, $2, %s($1))', faults) into rows using rows, list;
  end if;
  rows := mutation.with_faults(rows, list, mutation.row_faults(relation, rows, found));
  rows := mutation.with_faults_of_taken_keys(relation, rows, list, partial);
  perform mutation.require_rows(rows, partial);
  return mutation.write_rows(relation, rows);
end
$$;
comment on function mutation.upsert(regclass, text, jsonb, boolean, text[], text[], regproc) is
  'Creates and updates rows of a table: the objects in the list, whose fields are named like columns, '
  'mutation.references_of and mutation.localized_columns. Rows are known by their id or else by a key; '
  'matches are its conditions (mutation.match_rows), by default the equality of each. The function faults '
  'returns what is wrong beyond the rules of the table. Returns the outcome of each row.';
grant execute on function mutation.upsert(regclass, text, jsonb, boolean, text[], text[], regproc)
  to service_writer;
--! EndIncluded mutation/upsert.sql
--! Included mutation/links_of.sql
create or replace function mutation.links_of(
  links regclass, member name, field text, rows mutation.upsert_row[]
)
returns table (line bigint, id uuid, member_id uuid, path text[], n bigint)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return query execute (
    select format('select u.line, u.id, x.* from unnest($1) u cross join lateral (%s) x',
      string_agg(format('select (select o.id from %s o where o.%I = e.value%s), '
        'array[%4$L, (e.n - 1)::text], e.n from jsonb_array_elements_text(nullif(u.given -> %4$L, %5$L)) '
        'with ordinality e (value, n)', k.target, k.key, k.cast, k.field, 'null'), ' union all '))
    from (
      select r.target, r.key, '' as cast, format('%s_%ss', links_of.field, r.key) as field
      from mutation.references_of(links) r where r.column_name = member
      union all
      select c.confrelid::regclass, 'id', '::uuid', links_of.field || '_ids'
      from pg_constraint c join pg_attribute a on a.attrelid = links and a.attnum = c.conkey[1]
      where c.conrelid = links and c.contype = 'f' and a.attname = member
    ) k) using rows;
end
$$;
comment on function mutation.links_of(regclass, name, text, mutation.upsert_row[]) is
  'Returns the things that rows of an upsert name in lists, by id or by a unique key, to be linked in a '
  'table. For the field country these are the lists country_ids and country_iso_codes. Null stands for a '
  'thing that is not there. Also returns the path and the place in the list, from 1.';
grant execute on function mutation.links_of(regclass, name, text, mutation.upsert_row[]) to service_writer;

create or replace function mutation.names_links(given jsonb, field text) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp
return exists (select from jsonb_object_keys(given) k where k like replace(field, '_', '\_') || '\_%s');
comment on function mutation.names_links(jsonb, text) is
  'Whether the caller gave a list of mutation.links_of in a row of an upsert.';
grant execute on function mutation.names_links(jsonb, text) to service_writer;
--! EndIncluded mutation/links_of.sql
--! Included mutation/set_links.sql
create or replace function mutation.set_links(
  links regclass, owner name, member name, field text, rows mutation.upsert_row[]
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  changed uuid[];
begin
  execute format($q$
    with wanted as materialized (
      select distinct l.id, l.member_id from mutation.links_of($1, $2, $3, $4) l
      where l.id = any (array(select u.id from unnest($4) u where u.errors is null))
    ),
    gone as (
      delete from %1$s x using unnest($4) u
      where x.%2$I = u.id and u.errors is null and mutation.names_links(u.given, $3) and not exists (
        select from wanted w where w.id = x.%2$I and w.member_id = x.%3$I)
      returning x.%2$I as id
    ),
    made as (
      insert into %1$s as x (%2$I, %3$I) select w.id, w.member_id from wanted w order by w.id, w.member_id
      on conflict do nothing returning x.%2$I as id
    )
    select array(select id from gone union select id from made)
    $q$, links, owner, member) into changed using links, member, field, rows;
  return changed;
end
$$;
comment on function mutation.set_links(regclass, name, name, text, mutation.upsert_row[]) is
  'Links the objects in rows of an upsert, in a table, to the things of mutation.links_of that they name, '
  'and to no others. Rows without such a list keep their links. Returns the ids of objects with a changed '
  'link.';
grant execute on function mutation.set_links(regclass, name, name, text, mutation.upsert_row[])
  to service_writer;
--! EndIncluded mutation/set_links.sql
--! Included api_meta/upsert_name.sql
create or replace function api_meta.upsert_name(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
return (select regexp_replace(c.relname, '^sales_order', 'order') from pg_class c where c.oid = relation);
comment on function api_meta.upsert_name(regclass) is
  'Returns the name of a row of a table in the names of its upsert, such as order for erp.sales_order.';
--! EndIncluded api_meta/upsert_name.sql
--! Included api_meta/upsert_type.sql
create or replace function api_meta.upsert_type(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
return replace(initcap(replace(api_meta.upsert_name(relation), '_', ' ')), ' ', '');
comment on function api_meta.upsert_type(regclass) is
  'Returns the name of the GraphQL type of a table''s rows, for its upsert.';
--! EndIncluded api_meta/upsert_type.sql
--! Included api_meta/upsert_field_note.sql
create or replace function api_meta.upsert_field_note(relation regclass, known_by text, field name)
returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(
    case when field = 'id' then format(E'@gid %s\nId of the %s. Without it, the %2$s is known by its %s.',
      api_meta.upsert_type(relation), mutation.thing(relation), known_by) end,
    (
      select format(E'@gid %s\nId of the %s.', api_meta.upsert_type(c.confrelid), mutation.thing(c.confrelid))
      from pg_constraint c join pg_attribute a on a.attrelid = relation and a.attnum = c.conkey[1]
      where c.conrelid = relation and c.contype = 'f' and cardinality(c.conkey) = 1 and a.attname = field
    ),
    (
      select format('%s of the %s, instead of its id.',
        regexp_replace(replace(upper(left(k.name, 1)) || substr(k.name, 2), 'Iso', 'ISO'), '_', ' '),
        mutation.thing(r.target))
      from mutation.references_of(relation) r
      cross join lateral (select replace(r.key, api_meta.upsert_name(r.target) || '_', '')) k (name)
      where r.field = upsert_field_note.field
    ),
    (
      select format('%s An object from locale to text, with en-GB at least; it replaces all present texts.',
        regexp_replace(col_description(relation, a.attnum), ', in the language of the request.$',
          ', in each language.'))
      from mutation.localized_columns(relation) l
      join pg_attribute a on a.attrelid = relation and a.attname = l
      where field = l || '_by_locale'
    ),
    (
      select col_description(relation, a.attnum) from pg_attribute a
      where a.attrelid = relation and a.attname = field
    ));
end;
comment on function api_meta.upsert_field_note(regclass, text, name) is
  'Returns the description of a field of a row of an upsert into a table, from the catalog. The id, '
  'references and texts in several languages have their own; others take the comment of the column. Null '
  'if there is none.';
--! EndIncluded api_meta/upsert_field_note.sql
--! Included api_meta/add_upsert.sql
create or replace function api_meta.add_upsert(
  mutation text, relation regclass, known_by text, note text, keys text[] default null,
  errors text default null, warnings text default null, resource text default null
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  home constant text := split_part(mutation, '.', 1);
  list constant text := substring(mutation from '\.(\w+)_upsert$');
  things constant text := replace(list, '_', ' ');
  row_type constant text := format('%s.%s_upsert_input', home, api_meta.upsert_name(relation));
  change record;
begin
  execute format('drop type if exists %1$s_input, %1$s_payload cascade', mutation);
  execute format('create type %1$s_input as (%2$I %3$s[], partial boolean);
    create type %1$s_payload
      as (results %4$s.upsert_result[], %2$I uuid[], user_errors %4$s.user_error[]%5$s)',
    mutation, list, row_type, home, ', warnings ' || home || case when warnings > '' then '.warning[]' end);
  execute format($q$create function %1$s(input %1$s_input, changes jsonb) returns %1$s_payload
language sql set search_path = pg_catalog, pg_temp as $f$
  select row (
    array(select r from jsonb_populate_recordset(null::%2$s.upsert_result, d.results) r), d.ids, null%3$s
  )::%1$s_payload
  from mutation.upserted(%4$s) d
$f$
$q$, mutation, home, case when warnings > '' then ', null' end, case
    when keys is null then format('erp.upsert_%s(changes -> %1$L, input.partial)', list)
    else format('mutation.upsert(%L, %L, changes -> %2$L, input.partial, %L)', relation, list, keys) end);
  for change in
    select format('column %s.%I', row_type, a.attname) as object,
      api_meta.upsert_field_note(relation, known_by, a.attname) as text
    from pg_attribute a
    where a.attrelid = (select t.typrelid from pg_type t where t.oid = row_type::regtype)
      and col_description(a.attrelid, a.attnum) is null
    union all
    select c.object, c.text from (values
      ('type ' || row_type, case when obj_description(row_type::regtype, 'pg_type') is null then format(
        'A %s as it is to be. Omitted fields keep their value; null clears them.',
        mutation.thing(relation)) end),
      (format('type %s_input', mutation),
        format('%s as they are to be.', upper(left(things, 1)) || substr(things, 2))),
      (format('column %s_input.%I', mutation, list), format(E'@notNull\nThe %s; 1 to 250 rows.', things)),
      (format('column %s_input.partial', mutation), E'@neverNull\nWhether rows are done although others are '
        'refused. False when left out: all rows, or none.'),
      (format('type %s_payload', mutation), format('The result of upserting %s.', things)),
      (format('column %s_payload.results', mutation), format(E'@resultOf %s\nThe outcome of each row, in the '
        'order of the input; empty when the whole call was refused.', api_meta.upsert_type(relation))),
      (format('column %s_payload.%I', mutation, list), format(E'@entity %s\n@perLine %s\nThe %s of the rows '
        'that were not refused, in their order.', api_meta.upsert_type(relation), list, things)),
      (format('column %s_payload.user_errors', mutation), 'Why nothing was done at all; empty when something '
        'was, or could be. The path names the row.'),
      (format('column %s_payload.warnings', mutation), case when warnings > ''
        then 'Warnings about a call that succeeded; empty if there are none.' end),
      (format('function %1$s(%1$s_input, jsonb)', mutation), format(
        E'@requiresScopes %s:write\n@userErrors %sTOO_MANY_LINES%s\n%s',
        coalesce(resource, list),
        'REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE ' || coalesce(errors || ' ', ''),
        E'\n@warnings ' || warnings, note))
    ) c (object, text)
    where c.text is not null
  loop
    execute format('comment on %s is %L', change.object, change.text);
  end loop;
end
$$;
comment on function api_meta.add_upsert(text, regclass, text, text, text[], text, text, text) is
  'Makes the mutation <list>_upsert of an API schema, with its input and payload, over the type of a row, '
  '<thing>_upsert_input, which must be there. Fields of the row that have no comment get one from the '
  'catalog (api_meta.upsert_field_note); known_by says by what a row is known without an id. With keys, '
  'mutation.upsert writes the table; without, the function erp.upsert_<list>(jsonb, boolean) does. The note '
  'describes the mutation; errors and warnings are further codes for its tags. The scope is '
  '<resource>:write, by default <list>:write.';
--! EndIncluded api_meta/add_upsert.sql
--! Included bulk/import_chunk.sql
create or replace function bulk.import_chunk(operation_id uuid, claim uuid, number integer, version name,
  operation name, list text, rows jsonb, lines integer[], faults jsonb, lease_ms integer,
  traceparent text default null)
returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present bulk.operation;
  results jsonb := '[]';
begin
  select * into present from bulk.operation o
  where o.id = operation_id and o.claim = import_chunk.claim and o.state = 'running'
    and o.next_chunk = import_chunk.number;
  if not found then
    return 'gone';
  elsif (select p.name from auth.current_plan() p) is distinct from 'full' then
    return 'FORBIDDEN';
  end if;
  perform set_config('service.scopes',
    coalesce(array_to_string(bulk.scopes_of(operation_id), ' '), ''), true),
    set_config('service.credential_id', present.credential_id::text, true),
    set_config('service.request_id', operation_id::text, true),
    set_config('service.traceparent', coalesce(traceparent, ''), true);
  -- Mutations name their scope in their comment
  if not auth.has_scope((
    select substring(obj_description(p.oid, 'pg_proc') from '(?n)^@requiresScopes (\S+)') from pg_proc p
    where p.pronamespace = to_regnamespace(quote_ident(version)) and p.proname = operation
  )) then
    return 'SCOPE_MISSING';
  end if;
  if jsonb_array_length(rows) > 0 then
    results := bulk.upsert(version, operation, list, rows);
  end if;
  insert into bulk.refusal (operation_id, line, number, code, message, field, details)
  select operation_id, f.line, row_number() over (partition by f.line order by f.n), f.error ->> 'code',
    f.error ->> 'message', f.field, nullif(f.error -> 'details', 'null')
  from (
    select lines[r.place], e.error, e.n,
      -- Without the list and the place in it
      (array(select jsonb_array_elements_text(nullif(e.error -> 'field', 'null'))))[3:]
    from jsonb_array_elements(results) with ordinality r (result, place)
    cross join jsonb_array_elements(r.result -> 'user_errors') with ordinality e (error, n)
    union all
    select (e.error ->> 'line')::integer, e.error, e.n,
      array(select jsonb_array_elements_text(e.error -> 'field'))
    from jsonb_array_elements(faults) with ordinality e (error, n)
  ) f (line, error, n, field);
  update bulk.operation o
  set next_chunk = o.next_chunk + 1, attempts = 0, claimed_until = now() + lease_ms * interval '1 ms',
    created_count = o.created_count + c.created, updated_count = o.updated_count + c.updated,
    done_count = o.done_count + c.done,
    refused_count = o.refused_count + c.refused + (
      select count(distinct f -> 'line') from jsonb_array_elements(faults) f),
    stored_bytes = o.stored_bytes - (
      select length(k.content) from bulk.chunk k
      where k.operation_id = o.id and k.number = import_chunk.number)
  from (
    select count(*) filter (where r ->> 'outcome' = 'CREATED') as created,
      count(*) filter (where r ->> 'outcome' = 'UPDATED') as updated,
      count(*) filter (where r ->> 'outcome' <> 'REFUSED') as done,
      count(*) filter (where r ->> 'outcome' = 'REFUSED') as refused
    from jsonb_array_elements(results) r
  ) c
  where o.id = operation_id and o.claim = import_chunk.claim and o.state = 'running'
    and o.next_chunk = import_chunk.number;
  if not found then
    -- Cancelled, or taken by another process meanwhile: then nothing of this is to be done
    raise exception 'The bulk operation is no longer ours.' using errcode = 'serialization_failure';
  end if;
  delete from bulk.chunk k
  where k.operation_id = import_chunk.operation_id and k.number = import_chunk.number;
  return 'done';
end
$$;
comment on function
  bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer, text) is
  'Imports the rows of a chunk, with the present rights of the credential, records refusals, and marks the '
  'chunk as done. It does so in one transaction, so that no row is imported twice. Faults are rows that '
  'cannot be parsed. Returns done, or gone if another process works on it, or it was cancelled. Returns '
  'FORBIDDEN if the plan allows no mutations, and SCOPE_MISSING if the credential lacks the scope by now.';
select api_meta.give(
  'bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer, text)',
  'service_writer'
);
grant execute on function
  bulk.import_chunk(uuid, uuid, integer, name, name, text, jsonb, integer[], jsonb, integer, text)
  to service_worker;
--! EndIncluded bulk/import_chunk.sql
--! Included api/warning_code.sql
do $$
begin
  if to_regtype('api_unstable.warning_code') is null then
    create type api_unstable.warning_code as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.warning_code',
  'OTHER', 'COUNT_SUPERSEDED', 'STOCK_PROMISED', 'PRODUCT_HAS_VARIANTS', 'SURPLUS', 'ORDER_CANCELLED',
  'PRICE_CONVERTED', 'DOCUMENT_INCOMPLETE', 'DOCUMENT_NOT_MADE', 'FULFILLMENT_ORDERS_OPEN', 'NOT_PLANNED',
  'PURCHASE_QUANTITY', 'MINIMUM_ORDER_VALUE');
comment on type api_unstable.warning_code is
  E'@value OTHER A warning that this version has no code for; the message describes it.\n'
  '@value COUNT_SUPERSEDED A count was kept and changes nothing, because a later one exists. Field '
  'details has its countedAt and quantity.\n'
  '@value STOCK_PROMISED Units that orders wait for were booked out or put on hold. Field details has the '
  'productId, the reserved stock and the available stock, which is negative now; and the warehouseId if '
  'only that warehouse is short. Call fulfillmentOrderMove without warehouseId to plan a fulfillment order '
  'again. If it is a pick list that takes the units, field details has its pickListNumber, the planned '
  'units, and those that are left.\n'
  '@value PRODUCT_HAS_VARIANTS The product only stands for its variants, and its stock cannot be sold. '
  'After productsUpsert, field details has its number, stock and reserved stock.\n'
  '@value SURPLUS More units arrive than the supplier order or the return has open, or go back than it '
  'received. When the receipt is completed, the surplus of a supplier order becomes a line without an '
  'order. Field details has the quantity, the product, the order and then the line.\n'
  '@value ORDER_CANCELLED The supplier order is cancelled. When the receipt is completed, its units '
  'become a line without an order. Field details is the same as for SURPLUS.\n'
  '@value PRICE_CONVERTED Prices of a supplier order were converted from another currency. Field '
  'details names the order and both currencies.\n'
  '@value DOCUMENT_INCOMPLETE A document was created without data that the law demands. Field details '
  'lists it in missing, for example merchant.vatId, and has the documentNumber.\n'
  '@value DOCUMENT_NOT_MADE The goods were shipped, but the invoice was refused for the reason in the '
  'message. Field details has the documentType, the orderNumber, and the rule and the field to mend; then '
  'documentCreate makes the invoice.\n'
  '@value FULFILLMENT_ORDERS_OPEN A location became inactive while fulfillment orders are open there. They '
  'stay, and can be shipped. Field details has the locationId and their count. Call fulfillmentOrderMove '
  'without warehouseId to plan one again.\n'
  '@value NOT_PLANNED The warehouse has not all units of a fulfillment order free to be picked. Field '
  'details has the fulfillmentOrderId, the productNumber and how many are missing.\n'
  '@value PURCHASE_QUANTITY The supplier sells at least a quantity, in multiples. Field details has '
  'minPurchase and purchaseSteps.\n'
  '@value MINIMUM_ORDER_VALUE The order is worth less than the supplier takes. Field details has its '
  'supplierOrderNumber, amountNet and the minimumOrderValue.\n'
  'The code of a warning. A version only shows codes that it lists: later ones appear as OTHER.';
--! EndIncluded api/warning_code.sql

--! Included api/countries.sql
create view api_unstable.countries with (security_invoker = true) as
select id, erp.localized(name) as name, iso_code from erp.country;
comment on view api_unstable.countries is $$
@primaryKey id
@rootField countrys
@requiresScopes countries:read
@nullable name
@filters id,iso_code
@ref salesChannels to:SalesChannel plural
@refVia salesChannels via:(id)->sales_channel_countries(country_id);(sales_channel_id)->sales_channels(id)
A country that the shop delivers to.$$;
--! EndIncluded api/countries.sql
--! Included api/customer_groups.sql
create view api_unstable.customer_groups with (security_invoker = true) as
select id, erp.localized(name) as name, technical_name, name as name_by_locale, display_gross
from erp.customer_group;
comment on view api_unstable.customer_groups is
  E'@primaryKey id\n'
  '@requiresScopes customer_groups:read\n'
  '@nullable name\n'
  '@filters id,technical_name\n'
  '@ref registrationSalesChannels to:SalesChannel plural\n'
  '@refVia registrationSalesChannels '
  'via:(id)->sales_channel_registration_groups(customer_group_id);(sales_channel_id)->sales_channels(id)\n'
  '@describe registrationSalesChannels Sales channels where customers can ask to join the group, oldest '
  'first.\n'
  'A group of customers with common terms.';
comment on column api_unstable.customer_groups.name_by_locale is
  E'@notNull\nThe name in each language: an object from locale to text.';
--! EndIncluded api/customer_groups.sql
--! Included api/payment_methods.sql
create view api_unstable.payment_methods with (security_invoker = true) as
select id, technical_name, erp.localized(name) as name, erp.localized(description) as description, active,
  position,
  after_order_enabled, created_at, updated_at, means_code, name as name_by_locale,
  description as description_by_locale
from erp.payment_method;
comment on view api_unstable.payment_methods is
  E'@primaryKey id\n'
  '@requiresScopes payment_methods:read\n'
  '@filters technical_name,active,position,after_order_enabled,created_at,updated_at\n'
  '@ref salesChannels to:SalesChannel plural\n'
  '@refVia salesChannels '
  'via:(id)->sales_channel_payment_methods(payment_method_id);(sales_channel_id)->sales_channels(id)\n'
  'A way to pay.';
comment on column api_unstable.payment_methods.name_by_locale is
  'The name in each language: an object from locale to text.';
comment on column api_unstable.payment_methods.description_by_locale is
  'The description in each language: an object from locale to text.';
--! EndIncluded api/payment_methods.sql
--! Included api/sales_channels.sql
create view api_unstable.sales_channels with (security_invoker = true) as
select id, erp.localized(name) as name, country_id, currency_id, customer_group_id, payment_method_id,
  technical_name, name as name_by_locale
from erp.sales_channel;
comment on view api_unstable.sales_channels is
  E'@primaryKey id\n'
  '@requiresScopes sales_channels:read\n'
  '@hidden country_id,currency_id,customer_group_id,payment_method_id\n'
  '@nullable name\n'
  '@filters id,technical_name\n'
  '@foreignKey (country_id) references countries (id)|@fieldName country|@foreignFieldName '
  'salesChannelDefaultAssignments\n'
  '@foreignKey (currency_id) references currencies (id)|@fieldName currency|@foreignFieldName '
  'salesChannelDefaultAssignments\n'
  '@foreignKey (customer_group_id) references customer_groups (id)|@fieldName '
  'customerGroup|@foreignFieldName salesChannels\n'
  '@foreignKey (payment_method_id) references payment_methods (id)|@fieldName paymentMethod\n'
  '@ref countries to:Country plural\n'
  '@refVia countries via:(id)->sales_channel_countries(sales_channel_id);(country_id)->countries(id)\n'
  '@ref currencies to:Currency plural\n'
  '@refVia currencies '
  'via:(id)->sales_channel_currencies(sales_channel_id);(currency_id)->currencies(id)\n'
  '@ref customerGroupsRegistrations to:CustomerGroup plural\n'
  '@refVia customerGroupsRegistrations '
  'via:(id)->sales_channel_registration_groups(sales_channel_id);(customer_group_id)->customer_groups(id)\n'
  '@describe customerGroupsRegistrations Customer groups that customers can ask to join here, oldest '
  'first.\n'
  '@ref paymentMethods to:PaymentMethod plural\n'
  '@refVia paymentMethods '
  'via:(id)->sales_channel_payment_methods(sales_channel_id);(payment_method_id)->payment_methods(id)\n'
  'A place where the shop sells: a web shop, a market place, a till.';
comment on column api_unstable.sales_channels.name_by_locale is
  E'@notNull\nThe name in each language: an object from locale to text.';
--! EndIncluded api/sales_channels.sql
--! Included api/shipping_methods.sql
create view api_unstable.shipping_methods with (security_invoker = true) as
select id, technical_name, erp.localized(name) as name, name as name_by_locale, active, created_at, updated_at
from erp.shipping_method;
comment on view api_unstable.shipping_methods is $$
@primaryKey id
@requiresScopes shipping_methods:read
@nullable name
@filters technical_name,active,created_at,updated_at
A way to ship.$$;
comment on column api_unstable.shipping_methods.name_by_locale is
  E'@notNull\nThe name in each language: an object from locale to text.';
--! EndIncluded api/shipping_methods.sql
--! Included api/product_stock_location_configurations.sql
create view api_unstable.product_stock_location_configurations with (security_invoker = true) as
select id, reorder_point, stock_below_reorder_point, target_maximum_quantity, product_id,
  warehouse_id, bin_location_id
from erp.product_stock_location_configuration;
comment on view api_unstable.product_stock_location_configurations is
  E'@primaryKey id\n'
  '@requiresScopes product_stock_location_configurations:read\n'
  '@nullable stock_below_reorder_point\n'
  '@filters *\n'
  '@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName '
  'stockLocationConfigurations|@noFilter\n'
  '@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse\n'
  '@foreignKey (bin_location_id) references bin_locations (id)|@fieldName binLocation\n'
  'When to refill a product at one place: a bin, or the part of a warehouse that has no bin.';
--! EndIncluded api/product_stock_location_configurations.sql

--! Included api/tags_upsert.sql
drop type if exists api_unstable.tag_upsert_input cascade;
create type api_unstable.tag_upsert_input as (id uuid, name text);
select api_meta.add_upsert('api_unstable.tags_upsert', 'erp.tag', 'name',
  'Creates tags and renames those that are there, known by their id or name.', '{name}');
--! EndIncluded api/tags_upsert.sql
--! Included erp/delete_tags.sql
create or replace function erp.delete_tags(ids uuid[]) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  missing integer;
begin
  if cardinality(ids) = 0 then
    perform mutation.refuse('REQUIRED', 'There must be at least one id.', '{ids}');
  end if;
  perform mutation.refuse_too_many(cardinality(ids), 250, '{ids}');
  perform from erp.tag t where t.id = any (ids) order by t.id for update;
  missing := (
    select min(i.n) from unnest(ids) with ordinality i (id, n)
    where not exists (select from erp.tag t where t.id = i.id));
  if missing is not null then
    perform mutation.refuse_missing('tag', mutation.path('ids', missing));
  end if;
  delete from erp.tag t where t.id = any (ids);
  return ids;
end
$$;
comment on function erp.delete_tags(uuid[]) is
  'Deletes tags, and with them their links to everything that has them. Returns their ids.';
select api_meta.plan_by_index('erp.delete_tags(uuid[])');
grant execute on function erp.delete_tags(uuid[]) to service_writer;
--! EndIncluded erp/delete_tags.sql
--! Included api/tags_delete.sql
drop type if exists api_unstable.tags_delete_input cascade;
create type api_unstable.tags_delete_input as (ids uuid[]);
comment on type api_unstable.tags_delete_input is 'Tags to delete.';
comment on column api_unstable.tags_delete_input.ids is E'@notNull\n@gid Tag\nIds of the tags; 1 to 250.';

drop type if exists api_unstable.tags_delete_payload cascade;
create type api_unstable.tags_delete_payload
  as (deleted_tag_ids uuid[], user_errors api_unstable.user_error[]);
comment on type api_unstable.tags_delete_payload is 'The result of deleting tags.';
comment on column api_unstable.tags_delete_payload.deleted_tag_ids is
  E'@gid Tag\n@perLine ids\nIds of the tags that are gone; empty when they were refused.';
comment on column api_unstable.tags_delete_payload.user_errors is
  'Why none was deleted; empty when all were.';

create function api_unstable.tags_delete(input api_unstable.tags_delete_input)
returns api_unstable.tags_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_tags(input.ids), null)::api_unstable.tags_delete_payload
$$;
comment on function api_unstable.tags_delete(api_unstable.tags_delete_input) is $$
@requiresScopes tags:write
@userErrors REQUIRED NOT_FOUND TOO_MANY_LINES
Deletes tags, and takes them from everything that has them. All, or none.$$;
--! EndIncluded api/tags_delete.sql
--! Included api/customer_groups_upsert.sql
drop type if exists api_unstable.customer_group_upsert_input cascade;
create type api_unstable.customer_group_upsert_input
  as (id uuid, technical_name text, name_by_locale jsonb, display_gross boolean);
select api_meta.add_upsert('api_unstable.customer_groups_upsert', 'erp.customer_group', 'technicalName',
  'Creates and updates customer groups, known by their id or technicalName.', '{technical_name}');
--! EndIncluded api/customer_groups_upsert.sql
--! Included erp/upsert_payment_methods.sql
create or replace function erp.faults_of_payment_methods(rows mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, 'REFERENCE_IN_USE',
    'A sales channel begins with this payment method. Give the sales channel another one first.',
    array['active'], null)::mutation.row_fault)
  from unnest(rows) u
  where u.errors is null and u.wanted ->> 'active' = 'false' and u.present ->> 'active' = 'true'
    and exists (select from erp.sales_channel c where c.payment_method_id = u.id);
end;
comment on function erp.faults_of_payment_methods(mutation.upsert_row[]) is
  'Refuses rows of an upsert that deactivate the default of a sales channel.';
grant execute on function erp.faults_of_payment_methods(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_payment_methods(given jsonb, partial boolean)
returns mutation.upsert_row[]
language sql set search_path = pg_catalog, pg_temp
return mutation.upsert('erp.payment_method', 'payment_methods', given, partial, '{technical_name}',
  faults => 'erp.faults_of_payment_methods');
comment on function erp.upsert_payment_methods(jsonb, boolean) is
  'Creates and updates payment methods. Returns the outcome of each row.';
grant execute on function erp.upsert_payment_methods(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_payment_methods.sql
--! Included api/payment_methods_upsert.sql
drop type if exists api_unstable.payment_method_upsert_input cascade;
create type api_unstable.payment_method_upsert_input as (
  id uuid, technical_name text, name_by_locale jsonb, description_by_locale jsonb, active boolean,
  position integer, after_order_enabled boolean, means_code text
);
select api_meta.add_upsert('api_unstable.payment_methods_upsert', 'erp.payment_method', 'technicalName',
  'Creates and updates payment methods, known by their id or technicalName. The default of a sales channel '
  'stays active.', errors => 'REFERENCE_IN_USE');
--! EndIncluded api/payment_methods_upsert.sql
--! Included api/shipping_methods_upsert.sql
drop type if exists api_unstable.shipping_method_upsert_input cascade;
create type api_unstable.shipping_method_upsert_input
  as (id uuid, technical_name text, name_by_locale jsonb, active boolean);
select api_meta.add_upsert('api_unstable.shipping_methods_upsert', 'erp.shipping_method', 'technicalName',
  'Creates and updates shipping methods, known by their id or technicalName.', '{technical_name}');
--! EndIncluded api/shipping_methods_upsert.sql
--! Included erp/upsert_sales_channels.sql
create or replace function erp.lists_of_channels()
returns table (links regclass, member name, field text, is_default boolean)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  values ('erp.sales_channel_country'::regclass, 'country_id'::name, 'country', true),
    ('erp.sales_channel_currency', 'currency_id', 'currency', true),
    ('erp.sales_channel_payment_method', 'payment_method_id', 'payment_method', true),
    ('erp.sales_channel_registration_group', 'customer_group_id', 'registration_group', false);
end;
comment on function erp.lists_of_channels() is
  'Returns the lists of a sales channel: the table of links, its column, and the beginning of the names of '
  'fields. A sales channel begins with one entry of a default list, in its column of the same name.';
grant execute on function erp.lists_of_channels() to service_writer;

create or replace function erp.faults_of_sales_channels(rows mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with link as materialized (
    select l.field, l.member, k.line, k.member_id, k.path, k.n
    from erp.lists_of_channels() l cross join mutation.links_of(l.links, l.member, l.field, rows) k
  )
  select array_agg(row (f.line, f.code, f.message, f.field, null)::mutation.row_fault)
  from (
    select k.line, 'NOT_FOUND', format('There is no such %s.', replace(k.field, '_', ' ')), k.path
    from link k where k.member_id is null
    union all
    select k.line, 'TOO_MANY_LINES', 'There are more than 250 entries.', k.path[1:1]
    from link k where k.n = 251
    union all
    select u.line, 'INVALID', format('The list lacks the %s that the sales channel begins with.',
      replace(l.field, '_', ' ')), array[(select min(k) from jsonb_object_keys(u.given) k
        where mutation.names_links(jsonb_build_object(k, null), l.field))]
    from unnest(rows) u cross join erp.lists_of_channels() l
    where u.errors is null and l.is_default and mutation.names_links(u.given, l.field) and not exists (
      select from link k
      where k.line = u.line and k.field = l.field and k.member_id::text = u.wanted ->> l.member::text)
    union all
    select u.line, 'INVALID', 'The payment method is not active.', array['payment_method_id']
    from unnest(rows) u join erp.payment_method p on p.id::text = u.wanted ->> 'payment_method_id'
    where u.errors is null and not p.active
      and u.wanted -> 'payment_method_id' is distinct from u.present -> 'payment_method_id'
  ) f (line, code, message, field);
end;
comment on function erp.faults_of_sales_channels(mutation.upsert_row[]) is
  'Returns what is wrong with the lists and the payment method in rows of an upsert of sales channels.';
grant execute on function erp.faults_of_sales_channels(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_sales_channels(given jsonb, partial boolean)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  rows mutation.upsert_row[] := mutation.upsert('erp.sales_channel', 'sales_channels', given, partial,
    '{technical_name}', faults => 'erp.faults_of_sales_channels');
begin
  return mutation.with_changes(rows, array(
    select unnest(mutation.set_links(l.links, 'sales_channel_id', l.member, l.field, rows))
    from erp.lists_of_channels() l));
end
$$;
comment on function erp.upsert_sales_channels(jsonb, boolean) is
  'Creates and updates sales channels, with the countries, currencies and payment methods that they offer, '
  'and the groups that customers can ask to join. Returns the outcome of each row.';
grant execute on function erp.upsert_sales_channels(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_sales_channels.sql
--! Included api/sales_channels_upsert.sql
drop type if exists api_unstable.sales_channel_upsert_input cascade;
create type api_unstable.sales_channel_upsert_input as (
  id uuid, technical_name text, name_by_locale jsonb,
  country_id uuid, country_iso_code text, currency_id uuid, currency_iso_code text,
  customer_group_id uuid, customer_group_technical_name text,
  payment_method_id uuid, payment_method_technical_name text,
  country_ids uuid[], country_iso_codes text[], currency_ids uuid[], currency_iso_codes text[],
  payment_method_ids uuid[], payment_method_technical_names text[],
  registration_group_ids uuid[], registration_group_technical_names text[]
);
comment on column api_unstable.sales_channel_upsert_input.country_ids is
  E'@gid Country\nIds of all countries that the sales channel delivers to, among them its own. A new one '
  'delivers to its own by default.';
comment on column api_unstable.sales_channel_upsert_input.country_iso_codes is
  'ISO codes of these countries, instead of or beside their ids.';
comment on column api_unstable.sales_channel_upsert_input.currency_ids is
  E'@gid Currency\nIds of all currencies that the sales channel takes, among them its own. A new one takes '
  'its own by default.';
comment on column api_unstable.sales_channel_upsert_input.currency_iso_codes is
  'ISO codes of these currencies, instead of or beside their ids.';
comment on column api_unstable.sales_channel_upsert_input.payment_method_ids is
  E'@gid PaymentMethod\nIds of all payment methods that the sales channel offers, among them its own. A new '
  'one offers its own by default.';
comment on column api_unstable.sales_channel_upsert_input.payment_method_technical_names is
  'Technical names of these payment methods, instead of or beside their ids.';
comment on column api_unstable.sales_channel_upsert_input.registration_group_ids is
  E'@gid CustomerGroup\nIds of all customer groups that customers can ask to join in the sales channel.';
comment on column api_unstable.sales_channel_upsert_input.registration_group_technical_names is
  'Technical names of these customer groups, instead of or beside their ids.';
select api_meta.add_upsert('api_unstable.sales_channels_upsert', 'erp.sales_channel', 'technicalName',
  'Creates and updates sales channels, known by their id or technicalName. The country, currency and payment '
  'method that a sales channel begins with are always among those that it offers.');
--! EndIncluded api/sales_channels_upsert.sql
--! Included erp/upsert_locations.sql
create or replace function erp.warnings_of_locations(rows mutation.upsert_row[]) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_agg(mutation.user_error('FULFILLMENT_ORDERS_OPEN',
    format('%s fulfillment orders are still open at location %s.', o.count, u.wanted ->> 'name'),
    mutation.path('locations', u.line, 'active'),
    jsonb_build_object('locationId', 'gid://service/Location/' || u.id, 'count', o.count)) order by u.line)
  from unnest(rows) u
  cross join lateral (
    select count(*) from erp.fulfillment_order f
    where f.source_warehouse_location_id = u.id and f.state in ('Open', 'InProgress', 'OnHold')
  ) o (count)
  where u.errors is null and u.wanted ->> 'active' = 'false' and u.present ->> 'active' = 'true'
    and o.count > 0;
end;
comment on function erp.warnings_of_locations(mutation.upsert_row[]) is
  'Warns about locations that become inactive while fulfillment orders are open there.';
grant execute on function erp.warnings_of_locations(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_locations(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  rows mutation.upsert_row[];
begin
  rows := mutation.upsert('erp.location', 'locations', given, partial, '{storefront_id,warehouse_id}',
    '{o.storefront_id = r.storefront_id,o.warehouse_id = r.warehouse_id}');
  perform mutation.warn(erp.warnings_of_locations(rows));
  return rows;
end
$$;
comment on function erp.upsert_locations(jsonb, boolean) is
  'Creates and updates locations that orders are fulfilled from. Returns the outcome of each row.';
select api_meta.plan_by_index('erp.upsert_locations(jsonb, boolean)');
grant execute on function erp.upsert_locations(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_locations.sql
--! Included api/locations_upsert.sql
drop type if exists api_unstable.location_upsert_input cascade;
create type api_unstable.location_upsert_input as (
  id uuid, storefront_id text, warehouse_id uuid, warehouse_code text, name text, active boolean
);
comment on column api_unstable.location_upsert_input.storefront_id is
  'Id of the location in the external storefront platform, unique; at most 255 characters.';
comment on column api_unstable.location_upsert_input.warehouse_id is
  E'@gid Warehouse\nId of the warehouse behind the location. A warehouse has one location, which keeps it; '
  'without storefrontId or id the location is known by it.';
comment on column api_unstable.location_upsert_input.name is
  'Name of the location; 1 to 255 characters. A new one needs it.';
comment on column api_unstable.location_upsert_input.active is
  'Whether orders may be assigned to it. An inactive location keeps its fulfillment orders, which can be '
  'shipped or moved. True when left out of a new one.';
select api_meta.add_upsert('api_unstable.locations_upsert', 'erp.location', 'storefrontId or warehouse',
  'Creates and updates locations that orders are fulfilled from, of warehouses and external ones.',
  errors => 'NOT_EDITABLE', warnings => 'FULFILLMENT_ORDERS_OPEN');
--! EndIncluded api/locations_upsert.sql
--! Included erp/with_bins_by_code.sql
create or replace function erp.with_bins_by_code(relation regclass, field text, given jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  code constant text := field || '_code';
  result jsonb;
begin
  execute format($q$
    select jsonb_agg(e.value || coalesce((
      select jsonb_build_object('@' || %1$L, x.id)
        || case when e.value ? %2$L then '{}' else jsonb_build_object(%2$L, x.id) end
      from (
        select case when e.value ->> %1$L is not null then coalesce((
          select b.id from erp.bin_location b
          where b.code = e.value ->> %1$L and b.warehouse_id = coalesce((e.value ->> 'warehouse_id')::uuid,
            (select w.id from erp.warehouse w where w.code = e.value ->> 'warehouse_code'),
            (select o.warehouse_id from %3$s o where o.id = (e.value ->> 'id')::uuid))
        ), mutation.nil_id()) end
      ) x (id)
      where e.value ? %1$L
    ), '{}') order by e.n)
    from jsonb_array_elements($1) with ordinality e (value, n)
    $q$, code, field || '_id', relation) into result using given;
  return mutation.with_columns(relation, result);
end
$$;
comment on function erp.with_bins_by_code(regclass, text, jsonb) is
  'Returns the rows that a caller gave to an upsert of configurations, as mutation.with_columns does, also '
  'with the ids of bins that rows name by code within a warehouse.';
select api_meta.plan_by_index('erp.with_bins_by_code(regclass, text, jsonb)');
grant execute on function erp.with_bins_by_code(regclass, text, jsonb) to service_writer;

create or replace function erp.faults_of_bins(field text, rows mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with bin as (
    select u.line, u.wanted ->> 'warehouse_id' as warehouse_id,
      (u.wanted ->> (faults_of_bins.field || '_id'))::uuid as id,
      (u.given ->> ('@' || faults_of_bins.field || '_code'))::uuid as coded_id
    from unnest(rows) u where u.errors is null
  )
  select array_agg(row (f.line, f.code, f.message, array[faults_of_bins.field || f.suffix],
    null)::mutation.row_fault)
  from (
    select b.line, 'NOT_FOUND', 'The warehouse has no bin with this code.', '_code'
    from bin b where b.coded_id = mutation.nil_id()
    union all
    select b.line, 'INVALID', 'The id names another bin.', '_code'
    from bin b where b.coded_id not in (b.id, mutation.nil_id())
    union all
    select b.line, 'INVALID', 'The warehouse has no such bin.', '_id'
    from bin b where b.warehouse_id is not null and b.coded_id is null and b.id is not null and not exists (
      select from erp.bin_location o where o.id = b.id and o.warehouse_id::text = b.warehouse_id)
  ) f (line, code, message, suffix);
end;
comment on function erp.faults_of_bins(text, mutation.upsert_row[]) is
  'Returns what is wrong with bins in rows of an upsert of configurations.';
grant execute on function erp.faults_of_bins(text, mutation.upsert_row[]) to service_writer;

create or replace function erp.lock_configurations(relation regclass, field text, given jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  products uuid[];
begin
  execute format('select array(select coalesce((e ->> %L)::uuid, (select o.product_id from %s o '
    'where o.id = (e ->> %L)::uuid)) from jsonb_array_elements($1) e)', 'product_id', relation, 'id')
  into products using given;
  perform ledger.lock(array_remove(products, null),
    array(select (e ->> 'warehouse_id')::uuid from jsonb_array_elements(given) e),
    array(select (e ->> (field || '_id'))::uuid from jsonb_array_elements(given) e));
end
$$;
comment on function erp.lock_configurations(regclass, text, jsonb) is
  'Locks the products and places that rows of an upsert of configurations name, as a booking does. So '
  'their figures are right, and nobody deletes one meanwhile.';
select api_meta.plan_by_index('erp.lock_configurations(regclass, text, jsonb)');
grant execute on function erp.lock_configurations(regclass, text, jsonb) to service_writer;
--! EndIncluded erp/with_bins_by_code.sql
--! Included erp/upsert_product_stock_location_configurations.sql
create or replace function erp.faults_of_stock_location_configurations(rows mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
return erp.faults_of_bins('bin_location', rows);
comment on function erp.faults_of_stock_location_configurations(mutation.upsert_row[]) is
  'Returns what is wrong with the bins in rows of an upsert.';
grant execute on function erp.faults_of_stock_location_configurations(mutation.upsert_row[])
  to service_writer;

create or replace function erp.upsert_product_stock_location_configurations(given jsonb, partial boolean)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  relation constant regclass := 'erp.product_stock_location_configuration';
  named constant jsonb := (
    -- A bin that is named by its code has the warehouse in its name only
    select jsonb_agg(case when e.value ->> 'bin_location_code' is not null
      then e.value - '{warehouse_id,warehouse_code,@warehouse_code}'::text[] else e.value end order by e.n)
    from jsonb_array_elements(erp.with_bins_by_code(relation, 'bin_location', given))
      with ordinality e (value, n)
  );
begin
  perform erp.lock_configurations(relation, 'bin_location', named);
  return mutation.upsert(relation, 'product_stock_location_configurations', named, partial,
    '{product_id,warehouse_id,bin_location_id}', array['o.product_id = r.product_id and '
    '(o.warehouse_id = r.warehouse_id or o.bin_location_id = r.bin_location_id)'],
    'erp.faults_of_stock_location_configurations');
end
$$;
comment on function erp.upsert_product_stock_location_configurations(jsonb, boolean) is
  'Sets when to refill products at single places. Returns the outcome of each row.';
select api_meta.plan_by_index('erp.upsert_product_stock_location_configurations(jsonb, boolean)');
grant execute on function erp.upsert_product_stock_location_configurations(jsonb, boolean)
  to service_writer;
--! EndIncluded erp/upsert_product_stock_location_configurations.sql
--! Included api/product_stock_location_configurations_upsert.sql
drop type if exists api_unstable.product_stock_location_configuration_upsert_input cascade;
create type api_unstable.product_stock_location_configuration_upsert_input as (
  id uuid, product_id uuid, product_number text, warehouse_id uuid, warehouse_code text,
  bin_location_id uuid, bin_location_code text, reorder_point integer, target_maximum_quantity integer
);
comment on column api_unstable.product_stock_location_configuration_upsert_input.warehouse_id is
  E'@gid Warehouse\nId of the warehouse, for its part that has no bin.';
comment on column api_unstable.product_stock_location_configuration_upsert_input.bin_location_id is
  E'@gid BinLocation\nId of the bin. A row has either a warehouse or a bin.';
comment on column api_unstable.product_stock_location_configuration_upsert_input.bin_location_code is
  'Code of the bin within warehouseCode, instead of its id.';
comment on column api_unstable.product_stock_location_configuration_upsert_input.reorder_point is
  'Stock at the place at which it is to be refilled; not negative. 0 when left out of a new one.';
select api_meta.add_upsert('api_unstable.product_stock_location_configurations_upsert',
  'erp.product_stock_location_configuration', 'product and place',
  'Sets when to refill products at single places: bins, or parts of warehouses that have no bin. A '
  'configuration stays with its product and place.', errors => 'NOT_EDITABLE');
--! EndIncluded api/product_stock_location_configurations_upsert.sql
--! Included erp/upsert_product_warehouse_configurations.sql
create or replace function erp.faults_of_product_warehouse_configurations(rows mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
return erp.faults_of_bins('default_bin_location', rows);
comment on function erp.faults_of_product_warehouse_configurations(mutation.upsert_row[]) is
  'Returns what is wrong with the usual bins in rows of an upsert.';
grant execute on function erp.faults_of_product_warehouse_configurations(mutation.upsert_row[])
  to service_writer;

create or replace function erp.upsert_product_warehouse_configurations(given jsonb, partial boolean)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  relation constant regclass := 'erp.product_warehouse_configuration';
  named constant jsonb := erp.with_bins_by_code(relation, 'default_bin_location', given);
begin
  perform erp.lock_configurations(relation, 'default_bin_location', named);
  return mutation.upsert(relation, 'product_warehouse_configurations', named, partial,
    '{product_id,warehouse_id}', '{o.product_id = r.product_id and o.warehouse_id = r.warehouse_id}',
    'erp.faults_of_product_warehouse_configurations');
end
$$;
comment on function erp.upsert_product_warehouse_configurations(jsonb, boolean) is
  'Sets how products are kept in warehouses. Returns the outcome of each row.';
select api_meta.plan_by_index('erp.upsert_product_warehouse_configurations(jsonb, boolean)');
grant execute on function erp.upsert_product_warehouse_configurations(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_product_warehouse_configurations.sql
--! Included api/product_warehouse_configurations_upsert.sql
drop type if exists api_unstable.product_warehouse_configuration_upsert_input cascade;
create type api_unstable.product_warehouse_configuration_upsert_input as (
  id uuid, product_id uuid, product_number text, warehouse_id uuid, warehouse_code text,
  default_bin_location_id uuid, default_bin_location_code text, reorder_point integer,
  target_maximum_quantity integer, safety_stock integer
);
comment on column api_unstable.product_warehouse_configuration_upsert_input.default_bin_location_id is
  E'@gid BinLocation\nId of the bin of this warehouse that the product is put in unless something else says '
  'otherwise; null for none.';
comment on column api_unstable.product_warehouse_configuration_upsert_input.default_bin_location_code is
  'Code of this bin, instead of its id.';
comment on column api_unstable.product_warehouse_configuration_upsert_input.safety_stock is
  'Units in the warehouse that are not offered for sale; 0 to 10,000,000. 0 when left out of a new one.';
select api_meta.add_upsert('api_unstable.product_warehouse_configurations_upsert',
  'erp.product_warehouse_configuration', 'product and warehouse',
  'Sets how products are kept in warehouses: the usual bin, when to refill, and what to keep back.',
  errors => 'NOT_EDITABLE');
--! EndIncluded api/product_warehouse_configurations_upsert.sql

-- The same for the upserts that were there
--! Included erp/upsert_suppliers.sql
create or replace function erp.upsert_suppliers(given jsonb, partial boolean) returns mutation.upsert_row[]
language sql set search_path = pg_catalog, pg_temp
return mutation.upsert('erp.supplier', 'suppliers', given, partial, '{number}',
  faults => 'erp.faults_of_addresses');
comment on function erp.upsert_suppliers(jsonb, boolean) is
  'Creates and updates suppliers: the objects in the list, whose fields are named like columns. Returns the '
  'outcome of each.';
grant execute on function erp.upsert_suppliers(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_suppliers.sql
--! Included api/warehouses_upsert.sql
drop type if exists api_unstable.warehouses_upsert_input cascade;
drop type if exists api_unstable.warehouse_upsert_input cascade;
drop type if exists api_unstable.warehouses_upsert_payload cascade;

create type api_unstable.warehouse_upsert_input as (
  id uuid, code text, name text, is_default boolean, is_default_receiving boolean,
  is_stock_available_for_sale boolean, address jsonb, gln text
);
comment on type api_unstable.warehouse_upsert_input is
  'A warehouse as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.warehouse_upsert_input.id is
  E'@gid Warehouse\nId of the warehouse. Without it, the warehouse is known by its code.';
comment on column api_unstable.warehouse_upsert_input.code is
  'Short name, unique; 1 to 100 characters. Beside an id it is the code that the warehouse gets.';
comment on column api_unstable.warehouse_upsert_input.name is
  'Name; 1 to 255 characters. A new one needs it.';
comment on column api_unstable.warehouse_upsert_input.is_default is
  'Whether it takes the place of the warehouse that is the default now.';
comment on column api_unstable.warehouse_upsert_input.is_default_receiving is
  'Whether it takes the place of the warehouse where goods are received by default now.';
comment on column api_unstable.warehouse_upsert_input.is_stock_available_for_sale is
  'Whether its stock may be sold. True when left out of a new one.';
comment on column api_unstable.warehouse_upsert_input.address is
  'Postal address: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_unstable.warehouse_upsert_input.gln is
  'Global Location Number of GS1: 13 digits with the right check digit.';

select api_meta.add_upsert('api_unstable.warehouses_upsert', 'erp.warehouse', null,
  'Makes warehouses, with the locations that orders are fulfilled from, and changes those that are '
  'there, known by their id or code. Rows that say nothing new change nothing.');
--! EndIncluded api/warehouses_upsert.sql

--! split: 270-roundtrip.sql
-- What upserts set can be read, and rows name others by what they have in every shop

-- A Float since the migration of quotes, as in productsUpsert, so that lines of an export can be its rows
-- waive api-breaking Product.grossWeight: it isn't released yet

drop view if exists api_unstable.products, api_unstable.orders, api_unstable.order_line_items cascade;
drop function if exists api_unstable.product_supplier_configurations_currency_purchase_prices(
    api_unstable.product_supplier_configurations),
  api_unstable.product_stock_location_configurations_warehouse_code(
    api_unstable.product_stock_location_configurations);
--! Included api/products.sql
create view api_unstable.products with (security_invoker = true) as
select id, product_number, parent_id, name, description, gtin, manufacturer_number, unit_code,
  gross_weight,
  array(
    select row (p.currency_id, p.net, p.gross, p.linked)::api_unstable.price
    from erp.product_price p where p.product_id = product.id order by p.currency_id
  ) as price,
  nullif(array(
    select row (p.currency_id, p.net, p.gross, p.linked)::api_unstable.price
    from erp.product_purchase_price p where p.product_id = product.id order by p.currency_id
  ), '{}') as purchase_prices,
  physical_stock, stock_not_available_for_sale, reserved_stock, available_stock, open_supplier_order_quantity,
  last_supplier_order_at, reorder_point, target_maximum_quantity, storefront_variants, canonical_product_id,
  coalesce(case when has_serial_numbers then 'serial' when is_batch_managed then 'batch' end, 'none')
    as tracking,
  minimum_remaining_shelf_life_days, pick_order,
  array(
    select row (t.key, t.value ->> 'name', t.value ->> 'description')::api_unstable.product_translation
    from jsonb_each(product.translations) t order by t.key collate "C"
  ) as translations,
  tax_rate, is_batch_managed
from erp.product;
comment on view api_unstable.products is $$
@primaryKey id
@requiresScopes products:read
@aggregates physical_stock,available_stock,reserved_stock
@groupBy parent_id
@search product_number,name,gtin,manufacturer_number in erp.product_words
@hidden canonical_product_id
@nullable physical_stock,stock_not_available_for_sale,reserved_stock,available_stock
@columnEnum tracking product_tracking
@columnEnum pick_order pick_order
@filters parent_id,available_stock,gtin,manufacturer_number,product_number
@foreignKey (parent_id) references products (id)|@fieldName parent|@foreignFieldName children
@foreignKey (canonical_product_id) references products (id)|@fieldName canonicalProduct
@ref tags to:Tag plural
@refVia tags via:(id)->product_tags(product_id);(tag_id)->tags(id)
@describe images The images of the product, in their order. The first is shown where there is room for one.
A product of the catalog, or a variant of one.$$;
comment on column api_unstable.products.tracking is E'@notNull\nHow units of the product are told apart.';
comment on column api_unstable.products.price is
  E'@notNull\n'
  'Sales prices, one per currency. Tiered prices and prices of customer groups are not among them.';
comment on column api_unstable.products.purchase_prices is
  'Purchase prices, one per currency. Kept in step with the default supplier''s: both ways while that '
  'supplier is paid in the default currency; otherwise only copied from it, converted by the rate of '
  'the moment. Prices of other suppliers stand on their configuration only. Null when there are none.';
comment on column api_unstable.products.translations is
  E'@notNull\nName and description in other languages, in the order of their locales.';
comment on column api_unstable.products.tax_rate is E'@notNull\nTax rate in percent.';
--! EndIncluded api/products.sql
--! Included api/products_allows_backorders.sql
create function api_unstable.products_allows_backorders(product api_unstable.products) returns boolean
language sql stable
return ledger.allows_backorders(product.id);
comment on function api_unstable.products_allows_backorders(api_unstable.products) is $$
@notNull
Whether units may be reserved that are not there yet.$$;
--! EndIncluded api/products_allows_backorders.sql
--! Included api/products_available_to_promise.sql
create function api_unstable.products_available_to_promise(
  product api_unstable.products, day date default null
)
returns integer language sql stable
return product.available_stock + ledger.expected_units(product.id, null, day);
comment on function api_unstable.products_available_to_promise(api_unstable.products, date) is $$
@notNull
@requiresScopes supplier_orders:read
@describe day The day on which the units are needed. By default today.
Units that can be promised for a day: what is available now, and what open supplier orders bring until then.
A line counts from its expected date on, or else from the delivery date of its order. Overdue lines count
from today on, and lines without a date never.$$;
--! EndIncluded api/products_available_to_promise.sql
--! Included api/products_physical_stock_as_of.sql
create function api_unstable.products_physical_stock_as_of(
  product api_unstable.products, sequence float default null, moment timestamptz default null
) returns integer language sql stable
return ledger.quantity_as_of(product.id, null, null, sequence::bigint, moment);
comment on function api_unstable.products_physical_stock_as_of(
  api_unstable.products, float, timestamptz
) is $$
@notNull
@describe sequence The number of a stock movement: all with this number or a smaller one count.
@describe moment A moment in the past: what had happened by then counts, also if it was booked later.
How many units all warehouses held then, also in places that were deleted since. Give either sequence or
moment.$$;
--! EndIncluded api/products_physical_stock_as_of.sql
--! Included api/products_safety_stock.sql
create function api_unstable.products_safety_stock(product api_unstable.products) returns integer
language sql stable
return ledger.safety_stock_of(product.id);
comment on function api_unstable.products_safety_stock(api_unstable.products) is $$
@notNull
Units that are kept back: the safety stock of all warehouses that sell their stock together. The available
stock is reduced by them, at most to 0.$$;
--! EndIncluded api/products_safety_stock.sql
--! Included api/products_stock_card.sql
drop type if exists api_unstable.stock_card cascade;
create type api_unstable.stock_card as (
  opening_balance integer, incoming integer, outgoing integer, closing_balance integer
);
comment on type api_unstable.stock_card is 'Units that came, that left, and that were there, in a period.';
comment on column api_unstable.stock_card.opening_balance is
  E'@notNull\nUnits that were there before the period.';
comment on column api_unstable.stock_card.incoming is E'@notNull\nUnits that came in the period.';
comment on column api_unstable.stock_card.outgoing is E'@notNull\nUnits that left in the period.';
comment on column api_unstable.stock_card.closing_balance is
  E'@notNull\nUnits that were there at the end of the period.';

create function api_unstable.products_stock_card(
  product api_unstable.products, since timestamptz, until timestamptz default null,
  warehouse_id uuid default null, bin_location_id uuid default null, batch_id uuid default null
) returns api_unstable.stock_card language sql stable
begin atomic
  select row (c.opening, c.incoming, c.outgoing, c.opening + c.incoming - c.outgoing)::api_unstable.stock_card
  from (
    select min(c.balance) filter (where c.movement_id is null) as opening,
      coalesce(sum(c.quantity) filter (where c.quantity > 0), 0) as incoming,
      coalesce(- sum(c.quantity) filter (where c.quantity < 0), 0) as outgoing
    from ledger.stock_card(product.id, products_stock_card.bin_location_id::text,
      products_stock_card.warehouse_id, products_stock_card.batch_id, since, until) c
  ) c
  where products_stock_card.batch_id is null
    or exists (select from api_unstable.batches b where b.id = products_stock_card.batch_id);
end;
comment on function api_unstable.products_stock_card(
  api_unstable.products, timestamptz, timestamptz, uuid, uuid, uuid
) is $$
@cost 10
@requiresScopes stocks:read
@gid warehouse_id Warehouse
@gid bin_location_id BinLocation
@gid batch_id Batch
@describe since The beginning of the period.
@describe until The end of the period, which is not part of it; without it, the period reaches to now.
@describe warehouse_id Only this warehouse, with the bins that stood in it then; by default, all warehouses.
@describe bin_location_id Only this bin.
@describe batch_id Only units of this batch.
The balances of the stock card; stockCardLines has its lines. Null for a batch that you may not read.$$;
--! EndIncluded api/products_stock_card.sql
--! Included api/products_stock_card_lines.sql
create function api_unstable.products_stock_card_lines(
  product api_unstable.products, since timestamptz, until timestamptz default null,
  warehouse_id uuid default null, bin_location_id uuid default null, batch_id uuid default null
) returns setof api_unstable.stock_card_lines language sql stable
begin atomic
  select c.movement_id, c.direction, c.moment, c.booked_at,
    c.quantity, c.balance::integer, c.warehouse_id, c.bin_location_id, c.former_place
  from ledger.stock_card(product.id, products_stock_card_lines.bin_location_id::text,
    products_stock_card_lines.warehouse_id, products_stock_card_lines.batch_id, since, until) c
  where c.movement_id is not null and (products_stock_card_lines.batch_id is null
    or exists (select from api_unstable.batches b where b.id = products_stock_card_lines.batch_id));
end;
comment on function api_unstable.products_stock_card_lines(
  api_unstable.products, timestamptz, timestamptz, uuid, uuid, uuid
) is $$
@cost 10
@noFilter
@gid warehouse_id Warehouse
@gid bin_location_id BinLocation
@gid batch_id Batch
@describe since The beginning of the period.
@describe until The end of the period, which is not part of it; without it, all lines up to now.
@describe warehouse_id Only this warehouse, with the bins that stood in it then; by default, all warehouses.
@describe bin_location_id Only this bin.
@describe batch_id Only units of this batch.
The lines of the stock card: arrivals and departures of a period, in the order in which they happened. Each
has the balance after it.$$;
--! EndIncluded api/products_stock_card_lines.sql
--! Included api/products_stock_value.sql
create function api_unstable.products_stock_value(
  product api_unstable.products, day date default null, sequence double precision default null,
  warehouse_id uuid default null, method api_unstable.valuation_method default null
)
returns api_unstable.stock_value
language sql stable begin atomic
  select row (v.method::api_unstable.valuation_method, v.sequence, v.quantity, v.value, v.fault_count)
    ::api_unstable.stock_value
  from valuation.product_value(
    product.id, day, products_stock_value.sequence::bigint, products_stock_value.method::text, warehouse_id
  ) v;
end;
comment on function api_unstable.products_stock_value(
  api_unstable.products, date, double precision, uuid, api_unstable.valuation_method
) is $$
@cost 10
@requiresScopes valuation:read
@gid warehouse_id Warehouse
@describe day The day at whose end the stock is valued. By default now.
@describe sequence The number of the last movement that counts. Give it or a day, and not both.
@describe warehouse_id Only what lies in this warehouse: its share of the value.
@describe method The method, if not the one of the day.
The value of the stock of the product.$$;
--! EndIncluded api/products_stock_value.sql
--! Included api/products_currency_prices.sql
create function api_unstable.products_currency_prices(product api_unstable.products)
returns jsonb
language sql stable
return (
  select coalesce(jsonb_agg(jsonb_build_object(
    'currencyIsoCode', c.iso_code, 'net', p.net, 'gross', p.gross, 'linked', p.linked) order by c.iso_code),
    '[]')
  from unnest(product.price) p join api_unstable.currencies c on c.id = p.currency_id
);
comment on function api_unstable.products_currency_prices(api_unstable.products) is $$
@notNull
@requiresScopes currencies:read
The prices of price, with the codes of their currencies instead of ids: a list of objects in the form
that upserts take.$$;
--! EndIncluded api/products_currency_prices.sql
--! Included api/products_currency_purchase_prices.sql
create function api_unstable.products_currency_purchase_prices(product api_unstable.products)
returns jsonb
language sql stable
return (
  select coalesce(jsonb_agg(jsonb_build_object(
    'currencyIsoCode', c.iso_code, 'net', p.net, 'gross', p.gross, 'linked', p.linked) order by c.iso_code),
    '[]')
  from unnest(product.purchase_prices) p join api_unstable.currencies c on c.id = p.currency_id
);
comment on function api_unstable.products_currency_purchase_prices(api_unstable.products) is $$
@notNull
@requiresScopes currencies:read
The prices of purchasePrices, with the codes of their currencies instead of ids: a list of objects in the
form that upserts take.$$;
--! EndIncluded api/products_currency_purchase_prices.sql
--! Included api/orders.sql
create view api_unstable.orders with (security_invoker = true) as
select id, order_number, order_date_time, state, delivery_state, payment_state, amount_net, amount_total,
  currency_id,
  tracking_codes, storefront_id, created_at, updated_at, sales_channel_id, customer_id, buyer_reference,
  purchase_order_number, due_date, paid_amount, exchange_rate, exchange_rate_date, exchange_rate_source,
  tax_status, shipping_address, billing_address, payment_method_id, shipping_method_id
from erp.sales_order;
comment on view api_unstable.orders is
  E'@primaryKey id\n'
  '@requiresScopes orders:read\n'
  '@aggregates amount_net,amount_total,order_date_time\n'
  '@groupBy state,delivery_state,payment_state,currency_id,order_date_time\n'
  '@search order_number,storefront_id,tracking_codes,customer_id\n'
  '@filters amount_net,amount_total,created_at,order_date_time,updated_at,currency_id,order_number,state,'
  'delivery_state,payment_state,customer_id,sales_channel_id\n'
  '@foreignKey (currency_id) references currencies (id)|@fieldName currency|@foreignFieldName orders\n'
  '@foreignKey (sales_channel_id) references sales_channels (id)|@fieldName '
  'salesChannel|@foreignFieldName orders\n'
  '@foreignKey (customer_id) references customers (id)|@fieldName customer|@foreignFieldName orders\n'
  '@foreignKey (payment_method_id) references payment_methods (id)|@fieldName paymentMethod\n'
  '@foreignKey (shipping_method_id) references shipping_methods (id)|@fieldName shippingMethod\n'
  '@ref tags to:Tag plural\n'
  '@refVia tags via:(id)->order_tags(order_id);(tag_id)->tags(id)\n'
  'An order of a customer.';
comment on column api_unstable.orders.tax_status is E'@notNull\nWhether prices are gross, net or tax-free.';
comment on column api_unstable.orders.shipping_address is
  'Shipping address: an object with the keys of FulfillmentOrder.shippingAddress, as the order was given it.';
comment on column api_unstable.orders.billing_address is 'Billing address: an object with the same keys.';
comment on column api_unstable.orders.payment_method_id is 'Id of the way to pay.';
comment on column api_unstable.orders.shipping_method_id is 'Id of the way to ship.';
--! EndIncluded api/orders.sql
--! Included api/orders_cost_of_goods.sql
create function api_unstable.orders_cost_of_goods("order" api_unstable.orders) returns double precision
language sql stable
return valuation.cost_of_order("order".id)::double precision;
comment on function api_unstable.orders_cost_of_goods(api_unstable.orders) is $$
@cost 10
@requiresScopes valuation:read
The cost of the goods that the order has received and kept, in the default currency. Null while a price is
missing, and in the moment after a shipment.$$;
--! EndIncluded api/orders_cost_of_goods.sql
--! Included api/orders_margin.sql
create function api_unstable.orders_margin("order" api_unstable.orders) returns double precision
language sql stable
return valuation.margin_of_order("order".id)::double precision;
comment on function api_unstable.orders_margin(api_unstable.orders) is $$
@cost 10
@requiresScopes valuation:read
The net amount of the order less the cost of its goods, in the default currency. Null until all products are
shipped and their cost is known.$$;
--! EndIncluded api/orders_margin.sql
--! Included api/order_line_items.sql
create view api_unstable.order_line_items with (security_invoker = true) as
select id, order_id, product_id, type, identifier, label, description, quantity, shipped_quantity, unit_price,
  total_price,
  storefront_id, parent_id, position, tax_category, exemption_code, discount_reason, unit_code,
  tax_rate
from erp.sales_order_line_item;
comment on view api_unstable.order_line_items is $$
@primaryKey id
@requiresScopes orders:read
@aggregates quantity,shipped_quantity,total_price
@groupBy product_id,order_id,type
@hidden parent_id
@nullable shipped_quantity
@filters order_id,product_id,description,identifier,label,type,quantity,total_price,unit_price
@foreignKey (order_id) references orders (id)|@fieldName order|@foreignFieldName lineItems
@foreignKey (parent_id) references order_line_items (id)|@fieldName parent|@foreignFieldName children
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName orderLineItems
A line of an order: a product, a custom item, a promotion or a credit. Lines can have lines below them.$$;
comment on column api_unstable.order_line_items.tax_rate is 'Tax rate in percent.';
--! EndIncluded api/order_line_items.sql
--! Included api/order_line_items_returned_quantity.sql
create function api_unstable.order_line_items_returned_quantity(line api_unstable.order_line_items)
returns integer
language sql stable
begin atomic
  select coalesce(sum(r.received_quantity), 0)::integer
  from api_unstable.return_order_line_items r where r.order_line_item_id = line.id;
end;
comment on function api_unstable.order_line_items_returned_quantity(api_unstable.order_line_items) is $$
@notNull
Units of the line that have come back by returns.$$;
--! EndIncluded api/order_line_items_returned_quantity.sql
--! Included api/product_supplier_configurations_currency_purchase_prices.sql
create function api_unstable.product_supplier_configurations_currency_purchase_prices(
  configuration api_unstable.product_supplier_configurations
)
returns jsonb
language sql stable
return (
  select coalesce(jsonb_agg(jsonb_build_object(
    'currencyIsoCode', c.iso_code, 'net', p.net, 'gross', p.gross, 'linked', p.linked) order by c.iso_code),
    '[]')
  from unnest(configuration.purchase_prices) p join api_unstable.currencies c on c.id = p.currency_id
);
comment on function api_unstable.product_supplier_configurations_currency_purchase_prices(
  api_unstable.product_supplier_configurations
) is $$
@notNull
@requiresScopes currencies:read
The prices of purchasePrices, with the codes of their currencies instead of ids: a list of objects in the
form that upserts take.$$;
--! EndIncluded api/product_supplier_configurations_currency_purchase_prices.sql
--! Included api/product_stock_location_configurations_warehouse_code.sql
create function api_unstable.product_stock_location_configurations_warehouse_code(
  configuration api_unstable.product_stock_location_configurations
)
returns text
language sql stable
return (
  select w.code from api_unstable.warehouses w
  where w.id = coalesce(configuration.warehouse_id,
    (select b.warehouse_id from api_unstable.bin_locations b where b.id = configuration.bin_location_id))
);
comment on function api_unstable.product_stock_location_configurations_warehouse_code(
  api_unstable.product_stock_location_configurations
) is $$
@requiresScopes warehouses:read
Code of the warehouse, also of a bin.$$;
--! EndIncluded api/product_stock_location_configurations_warehouse_code.sql

--! Included erp/with_currencies.sql
create or replace function erp.with_currencies(given jsonb, list text) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select case when not given @? format('$[*].%s[*].currency_iso_code', list)::jsonpath then given else (
    select jsonb_agg(case when jsonb_typeof(e.row -> list) <> 'array' then e.row
      else e.row || jsonb_build_object(list, (
        select coalesce(jsonb_agg(p.price || case when p.price ->> 'currency_iso_code' is null then '{}'
          else jsonb_build_object('currency_id', (
            select c.id from erp.currency c where c.iso_code = p.price ->> 'currency_iso_code'
          )) end order by p.n), '[]')
        from jsonb_array_elements(e.row -> list) with ordinality p (price, n)
      )) end order by e.n)
    from jsonb_array_elements(given) with ordinality e (row, n)
  ) end;
end;
comment on function erp.with_currencies(jsonb, text) is
  'Returns rows of an upsert whose prices in a list have the ids of currencies that they name by code. The '
  'id of an unknown code is null.';
grant execute on function erp.with_currencies(jsonb, text) to service_writer;
--! EndIncluded erp/with_currencies.sql
--! Included erp/with_holds.sql
create or replace function erp.with_holds(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, case when u.wanted ->> 'stock_state' = 'sellable'
      then '{"is_held": false, "held_at": null, "hold_reason": null}'::jsonb else '{"is_held": true}' end)
    from unnest(rows) u where u.given ->> 'stock_state' is not null
  ));
end;
comment on function erp.with_holds(mutation.upsert_row[]) is
  'Returns the rows of an upsert of batches, with what follows from their state: whether they are held. A '
  'sellable batch has no reason.';
grant execute on function erp.with_holds(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_holds(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (f.line, f.code, f.message, array['hold_reason'], null)::mutation.row_fault)
  from (
    select u.line, 'INVALID', 'Only a held batch has a reason. Give stockState, too.'
    from unnest(rows) u
    where u.given ->> 'hold_reason' is not null and not coalesce((u.wanted ->> 'is_held')::boolean, false)
    union all
    select u.line, 'OUT_OF_RANGE', 'The reason has more than 1,000 characters.'
    from unnest(rows) u where length(u.given ->> 'hold_reason') > 1000
  ) f (line, code, message);
end;
comment on function erp.faults_of_holds(mutation.upsert_row[]) is
  'Returns what is wrong with the reasons of holds in rows of an upsert of batches.';
grant execute on function erp.faults_of_holds(mutation.upsert_row[]) to service_writer;
--! EndIncluded erp/with_holds.sql
--! Included erp/set_prices.sql
create or replace function erp.faults_of_prices(rows mutation.upsert_row[], list text)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with price as (
    select u.line, p.n, p.value ? 'currency_iso_code' as has_code, r.*,
      row_number() over (partition by u.line, r.currency_id order by p.n) as nth
    from unnest(rows) u
    cross join jsonb_array_elements(nullif(u.given -> list, 'null')) with ordinality p (value, n)
    cross join lateral jsonb_populate_record(null::erp.price, p.value) r
  )
  select array_agg(
    row (f.line, f.code, f.message, array[list, (f.n - 1)::text, f.field], null)::mutation.row_fault
  )
  from (
    select p.line, p.n, 'NOT_FOUND', 'There is no such currency.',
      case when p.has_code then 'currency_iso_code' else 'currency_id' end
    from price p where not exists (select from erp.currency c where c.id = p.currency_id)
    union all
    select p.line, p.n, 'OUT_OF_RANGE', 'The price must not be negative.',
      case when p.net < 0 then 'net' else 'gross' end
    from price p where p.net < 0 or p.gross < 0
    union all
    select p.line, p.n, 'OUT_OF_RANGE', 'An amount must be less than 1,000,000,000,000,000.',
      case when p.net >= 1e15 then 'net' else 'gross' end
    from price p where p.net >= 1e15 or p.gross >= 1e15
    union all
    select p.line, p.n, 'NOT_UNIQUE', 'An earlier price is in this currency.', 'currency_id'
    from price p where p.nth > 1 and p.currency_id is not null
    union all
    select u.line, 251, 'TOO_MANY_LINES', 'There are more than 250 prices.', 'currency_id'
    from unnest(rows) u
    where jsonb_array_length(nullif(u.given -> list, 'null')) > 250
  ) f (line, n, code, message, field);
end;
comment on function erp.faults_of_prices(mutation.upsert_row[], text) is
  'Returns what is wrong with the prices in a list of rows of an upsert.';
grant execute on function erp.faults_of_prices(mutation.upsert_row[], text) to service_writer;

drop function if exists erp.set_prices(regclass, mutation.upsert_row[], text);
create or replace function erp.set_prices(
  relation regclass, rows mutation.upsert_row[], list text, owner name default 'product_id'
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  changed uuid[];
begin
  -- One statement, so that a supplier never copies half of the change
  execute format($q$
    with given as (
      select u.id, u.given -> $2 as prices from unnest($1) u where u.errors is null and u.given ? $2
    ),
    wanted as (
      select g.id, r.currency_id, r.net, r.gross, coalesce(r.linked, true) as linked
      from given g
      cross join jsonb_array_elements(nullif(g.prices, 'null')) p (v)
      cross join lateral jsonb_populate_record(null::erp.price, p.v) r
    ),
    gone as (
      delete from %1$s p using given g where p.%2$I = g.id and not exists (
        select from wanted w where w.id = p.%2$I and w.currency_id = p.currency_id)
      returning p.%2$I as id
    ),
    made as (
      insert into %1$s as p (%2$I, currency_id, net, gross, linked)
      select w.id, w.currency_id, w.net, w.gross, w.linked from wanted w order by w.id, w.currency_id
      on conflict (%2$I, currency_id) do update
      set net = excluded.net, gross = excluded.gross, linked = excluded.linked
      where (p.net, p.gross, p.linked) is distinct from (excluded.net, excluded.gross, excluded.linked)
      returning p.%2$I as id
    )
    select array(select id from gone union select id from made)
    $q$, relation, owner) into changed using rows, list;
  return changed;
end
$$;
comment on function erp.set_prices(regclass, mutation.upsert_row[], text, name) is
  'Sets prices to the lists in rows of an upsert, in a table of prices of products or of others: the '
  'owner is its column. Returns the ids of those with a changed price.';
grant execute on function erp.set_prices(regclass, mutation.upsert_row[], text, name) to service_writer;
--! EndIncluded erp/set_prices.sql
--! Included erp/upsert_products.sql
create or replace function erp.with_parents(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  -- The product may be in the same call, whose numbers come before present ones
  select mutation.with_values(rows, (
    select jsonb_object_agg(n.line, n.ids)
    from (
      select u.line, jsonb_object_agg(f.id, coalesce(
        (
          select r.id from unnest(rows) r
          where r.wanted ->> 'product_number' = u.given ->> f.number limit 1
        ),
        (
          select o.id from erp.product o
          where o.product_number = u.given ->> f.number
            and o.id <> all (array(select r.id from unnest(rows) r))
        )
      )) as ids
      from unnest(rows) u
      join (
        values ('parent_product_number', 'parent_id'), ('canonical_product_number', 'canonical_product_id')
      ) f (number, id) on u.given ? f.number
      group by u.line
    ) n
  ));
end;
comment on function erp.with_parents(mutation.upsert_row[]) is
  'Returns the rows of an upsert of products, with the ids of parents and of canonical products that they '
  'name by number.';
grant execute on function erp.with_parents(mutation.upsert_row[]) to service_writer;

create or replace function erp.with_storefront_variants(rows mutation.upsert_row[])
returns mutation.upsert_row[]
language sql immutable set search_path = pg_catalog, pg_temp
begin atomic
  -- Clients are promised both keys. Other values than lists of objects are refused later
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('storefront_variants', (
      select coalesce(jsonb_agg('{"variantId": null}' || e.entry order by e.n), '[]')
      from jsonb_array_elements(u.given -> 'storefront_variants') with ordinality e (entry, n)
    )))
    from unnest(rows) u
    where jsonb_typeof(u.given -> 'storefront_variants') = 'array'
      and not u.given @? '$.storefront_variants[*] ? (@.type() != "object")'
  ));
end;
comment on function erp.with_storefront_variants(mutation.upsert_row[]) is
  'Returns the rows of an upsert of products, with a variantId in each entry of storefront_variants, null '
  'if it was omitted.';
grant execute on function erp.with_storefront_variants(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_products(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with product as (
    select u.line, u.id, u.given, u.present, (u.wanted ->> 'parent_id')::uuid as parent_id,
      case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end as field
    from unnest(rows) u
  ),
  -- Products that stand for variants after the call
  parent as (
    select p.parent_id as id from product p
    union
    select v.parent_id
    from erp.product v
    where v.parent_id = any (array(select p.id from product p))
      and v.id <> all (array(select p.id from product p))
  )
  select array_agg(row (f.line, f.code, f.message, array[f.field], f.details)::mutation.row_fault)
  from (
    select p.line, 'NOT_FOUND', 'There is no product with this number.', p.field, null::jsonb
    from product p where p.given ->> 'parent_product_number' is not null and p.parent_id is null
    union all
    select u.line, 'NOT_FOUND', 'There is no product with this number.', 'canonical_product_number',
      null
    from unnest(rows) u
    where u.given ->> 'canonical_product_number' is not null and u.wanted ->> 'canonical_product_id' is null
    union all
    -- Otherwise a scan of the other product's case would be taken for one unit of this one
    select u.line, 'NOT_UNIQUE', format('The GTIN stands for units of product %s.', o.product_number),
      'gtin', null
    from unnest(rows) u join erp.product_gtin g on g.gtin = erp.gtin14(u.wanted ->> 'gtin')
    join erp.product o on o.id = g.product_id
    where g.product_id <> u.id and u.wanted -> 'gtin' is distinct from u.present -> 'gtin'
    union all
    select p.line, 'INVALID', 'A product with variants cannot be a variant itself.', p.field, null
    from product p where p.parent_id <> p.id and p.id in (select x.id from parent x)
    union all
    select p.line, 'INVALID', 'The parent is a variant itself.', p.field, null
    from product p join erp.product o on o.id = p.parent_id
    where o.parent_id is not null and o.id <> all (array(select x.id from product x))
    union all
    select p.line, 'INVALID', 'Each entry has a productId, perhaps a variantId, and nothing else.',
      'storefront_variants', null
    from product p
    where erp.are_storefront_variants(p.given -> 'storefront_variants') and p.given @? ('strict '
      || '$.storefront_variants[*].keyvalue() ? (@.key != "productId" && @.key != "variantId" '
      || '|| @.value == "")')::jsonpath
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_products(mutation.upsert_row[]) is
  'Returns what is wrong with rows of an upsert of products beyond the rules of the table. Finds variants '
  'of variants, further GTINs of other products, and unknown keys in storefront_variants.';
grant execute on function erp.faults_of_products(mutation.upsert_row[]) to service_writer;

create or replace function erp.faults_of_orphans(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (u.line, 'NOT_FOUND', 'The row of its parent is refused.',
    array[case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end],
    null)::mutation.row_fault)
  from unnest(rows) u
  join unnest(rows) p on p.id = (u.wanted ->> 'parent_id')::uuid and p.errors is not null
    and (p.is_new or p.present ->> 'product_number' <> u.given ->> 'parent_product_number')
  where u.errors is null;
end;
comment on function erp.faults_of_orphans(mutation.upsert_row[]) is
  'Refuses rows of an upsert of products whose parent, or its number, comes from a refused row.';
grant execute on function erp.faults_of_orphans(mutation.upsert_row[]) to service_writer;

create or replace function erp.warnings_of_parents(rows mutation.upsert_row[]) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_agg(mutation.user_error('PRODUCT_HAS_VARIANTS',
    format('Product %s only stands for its variants now: %s units of it in stock cannot be sold, and open '
      'orders promise %s.', p.product_number, p.physical_stock, p.reserved_stock),
    mutation.path('products', f.line, f.field), jsonb_build_object('productNumber', p.product_number,
      'physicalStock', p.physical_stock, 'reservedStock', p.reserved_stock)) order by f.line)
  from (
    select (u.wanted ->> 'parent_id')::uuid as id, min(u.line) as line,
      min(case when u.given ? 'parent_product_number' then 'parent_product_number' else 'parent_id' end)
        as field
    from unnest(rows) u
    where u.errors is null and u.wanted ->> 'parent_id' is distinct from u.present ->> 'parent_id'
    group by 1
  ) f
  join erp.product p on p.id = f.id
  where p.physical_stock > 0 or p.reserved_stock > 0;
end;
comment on function erp.warnings_of_parents(mutation.upsert_row[]) is
  'Warns about products that get variants while they are in stock or on open orders themselves.';
grant execute on function erp.warnings_of_parents(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_products(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.product_number = r.product_number}';
  named constant jsonb := erp.with_currencies(erp.with_currencies(given, 'price'), 'purchase_prices');
  rows mutation.upsert_row[];
  refused integer;
begin
  rows := erp.with_storefront_variants(erp.with_translations(erp.with_tracking(erp.with_parents(
    mutation.match_rows('erp.product', 'products', named, '{product_number}', matches)))));
  rows := mutation.with_faults(rows, 'products', mutation.row_faults('erp.product', rows, matches)
    || erp.faults_of_products(rows) || erp.faults_of_tracking(rows) || erp.faults_of_prices(rows, 'price')
    || erp.faults_of_prices(rows, 'purchase_prices') || erp.faults_of_translations(rows)
    || erp.faults_of_images(rows) || erp.faults_of_tags(rows));
  loop
    refused := (select count(*) from unnest(rows) u where u.errors is not null);
    rows := mutation.with_faults(rows, 'products', erp.faults_of_orphans(rows));
    rows := mutation.with_faults_of_taken_keys('erp.product', rows, 'products', partial);
    exit when refused = (select count(*) from unnest(rows) u where u.errors is not null);
  end loop;
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.product', rows);
  perform mutation.warn(erp.warnings_of_parents(rows));
  rows := mutation.with_changes(rows, erp.set_prices('erp.product_price', rows, 'price')
    || erp.set_prices('erp.product_purchase_price', rows, 'purchase_prices') || erp.set_images(rows));
  return mutation.with_changes(rows, erp.set_tags('erp.product_tag', 'product_id', rows));
end
$$;
comment on function erp.upsert_products(jsonb, boolean) is
  'Creates and updates products, with their prices, images and tags: the objects in the list, whose fields '
  'are named like columns. Returns the outcome of each.';
grant execute on function erp.upsert_products(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_products.sql
--! Included erp/upsert_customers.sql
create or replace function erp.with_terms_of_channel(rows mutation.upsert_row[])
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  unnumbered constant bigint := count(*) from unnest(rows) u
    where u.is_new and u.errors is null and not u.given ? 'customer_number';
  last_number bigint;
  pattern text;
begin
  if unnumbered > 0 then
    update erp.number_range r set last_number = r.last_number + unnumbered
    where r.technical_name = 'customer'
    returning r.last_number, r.pattern into strict last_number, pattern;
  end if;
  return mutation.with_values(rows, (
    select jsonb_object_agg(n.line, jsonb_strip_nulls(jsonb_build_object('customer_number', n.number,
      'group_id', case when not n.given ? 'group_id' then c.customer_group_id end)))
    from (
      select u.line, u.given, u.wanted, case when not u.given ? 'customer_number' then replace(pattern, '{n}',
        (last_number + 1 - row_number() over (
          partition by u.given ? 'customer_number' order by u.line desc))::text) end as number
      from unnest(rows) u where u.is_new and u.errors is null
    ) n
    left join erp.sales_channel c on c.id = (n.wanted ->> 'sales_channel_id')::uuid));
end
$$;
comment on function erp.with_terms_of_channel(mutation.upsert_row[]) is
  'Returns the rows of an upsert of customers. New ones get the next number of their range, if they have '
  'none, and the group of their sales channel, if they have no group.';
grant execute on function erp.with_terms_of_channel(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_customers(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := array[
    'o.storefront_id = r.storefront_id and o.sales_channel_id = r.sales_channel_id',
    'o.customer_number = r.customer_number and (r.storefront_id is null '
    'or coalesce(o.storefront_id, r.storefront_id) = r.storefront_id)'];
  rows mutation.upsert_row[];
begin
  -- By its number, a customer is found who is not imported yet
  rows := mutation.match_rows('erp.customer', 'customers', mutation.with_columns('erp.customer', given),
    '{storefront_id,customer_number}', matches);
  rows := erp.with_terms_of_channel(mutation.with_faults(rows, 'customers',
    mutation.faults_of_fields('erp.customer', rows)));
  rows := mutation.with_faults(rows, 'customers',
    mutation.row_faults('erp.customer', rows, matches) || erp.faults_of_tags(rows));
  rows := mutation.with_faults_of_taken_keys('erp.customer', rows, 'customers', partial);
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.customer', rows);
  return mutation.with_changes(rows, erp.set_tags('erp.customer_tag', 'customer_id', rows));
end
$$;
comment on function erp.upsert_customers(jsonb, boolean) is
  'Creates and updates customers, with their tags: the objects in the list, whose fields are named like '
  'columns. Returns the outcome of each.';
grant execute on function erp.upsert_customers(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_customers.sql
--! Included erp/upsert_orders.sql
create or replace function erp.with_amounts(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select mutation.with_values(orders, (
    select jsonb_object_agg(o.line,
      jsonb_build_object('amount_total', a.amount_total, 'amount_net', a.amount_net))
    from unnest(orders) o
    join (
      select coalesce(l.wanted ->> 'order_id', l.wanted ->> 'quote_id')::uuid as order_id,
        array_agg((l.wanted ->> 'total_price')::numeric) as prices,
        array_agg((l.wanted ->> 'tax_rate')::numeric) as tax_rates
      from unnest(lines) l group by 1
    ) l on l.order_id = o.id
    cross join lateral ledger.amounts_of(l.prices, l.tax_rates, o.wanted ->> 'tax_status') a
    where o.is_new and o.errors is null
  ));
end;
comment on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) is
  'Returns the rows of an upsert of orders or quotes, new ones with the totals of their lines. So these '
  'need not be '
  'written, and reported, as a later change.';
grant execute on function erp.with_amounts(mutation.upsert_row[], mutation.upsert_row[]) to service_writer;

create or replace function erp.write_order_lines(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  kept mutation.upsert_row[] := array(
    select l from unnest(lines) l join unnest(orders) o on o.id = (l.wanted ->> 'order_id')::uuid
    where o.errors is null order by l.line);
  listed constant uuid[] := array(
    select o.id from unnest(orders) o where o.errors is null and o.given ? 'line_items');
  gone uuid[];
begin
  -- Locks the products of old and new lines together, in one order
  perform ledger.lock(array(
    select l.product_id from erp.sales_order_line_item l
    where l.order_id = any (listed) and l.product_id is not null
    union
    select (k.wanted ->> 'product_id')::uuid from unnest(kept) k
    where k.wanted ->> 'product_id' is not null
  ));
  with deleted as (
    delete from erp.sales_order_line_item l
    where l.order_id = any (listed) and l.id <> all (array(select k.id from unnest(kept) k))
    returning l.order_id
  )
  select coalesce(array_agg(distinct d.order_id), '{}') into gone from deleted d;
  kept := mutation.write_rows('erp.sales_order_line_item', kept);
  -- Less may be wanted than was, so that everything is shipped
  perform erp.settle_order(o.id) from unnest(orders) o
  where o.id = any (listed) and o.present ->> 'state' = 'in_progress'
    and o.present ->> 'delivery_state' in ('shipped_partially', 'returned_partially') and not exists (
      select from erp.sales_order_line_item l
      where l.order_id = o.id and l.type = 'product' and l.shipped_quantity < l.quantity);
  return gone || array(select (k.wanted ->> 'order_id')::uuid from unnest(kept) k where k.is_changed);
end
$$;
comment on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'Writes the lines of an upsert of orders, and deletes omitted ones. Returns the orders with a changed '
  'line.';
grant execute on function erp.write_order_lines(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;

create or replace function erp.upsert_orders(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := array[
    'o.storefront_id = r.storefront_id and o.sales_channel_id = r.sales_channel_id',
    'o.order_number = r.order_number and (r.storefront_id is null '
    'or coalesce(o.storefront_id, r.storefront_id) = r.storefront_id)'];
  rows mutation.upsert_row[];
  lines mutation.upsert_row[];
begin
  rows := mutation.match_rows('erp.sales_order', 'orders', mutation.with_columns('erp.sales_order', given),
    '{storefront_id,order_number}', matches);
  rows := mutation.with_faults(rows, 'orders', mutation.faults_of_fields('erp.sales_order', rows));
  rows := mutation.with_values(rows, (
    select jsonb_object_agg(u.line, case
      when u.is_new then jsonb_build_object('delivery_state', 'open')
        || jsonb_strip_nulls(jsonb_build_object('currency_id', case when not u.given ? 'currency_id' then (
          select c.currency_id from erp.sales_channel c where c.id = (u.given ->> 'sales_channel_id')::uuid
        ) end))
      else '{}' end || jsonb_strip_nulls(jsonb_build_object(
        'paid_amount', erp.rounded((u.given ->> 'paid_amount')::numeric))))
    from unnest(rows) u where u.is_new or u.given ? 'paid_amount'));
  lines := coalesce(erp.match_order_lines(rows), '{}');
  lines := coalesce(mutation.with_faults(lines, 'line_items',
    mutation.row_faults('erp.sales_order_line_item', lines) || erp.faults_of_order_lines(rows, lines)), '{}');
  rows := mutation.with_faults(rows, 'orders', mutation.row_faults('erp.sales_order', rows, matches)
    || erp.faults_of_orders(rows, lines) || erp.faults_of_tags(rows));
  rows := mutation.with_faults_of_taken_keys('erp.sales_order', rows, 'orders', partial);
  perform mutation.require_rows(rows, partial);
  rows := mutation.write_rows('erp.sales_order', erp.with_amounts(rows, lines));
  rows := mutation.with_changes(rows, erp.write_order_lines(rows, lines));
  return mutation.with_changes(rows, erp.set_tags('erp.order_tag', 'order_id', rows));
end
$$;
comment on function erp.upsert_orders(jsonb, boolean) is
  'Creates and updates orders, with their lines and tags: the objects in the list, whose fields are named '
  'like columns. Returns the outcome of each.';
grant execute on function erp.upsert_orders(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_orders.sql
--! Included ledger/warn_of_hold.sql
drop function if exists ledger.warn_of_hold(uuid[]);
create or replace function ledger.warn_of_hold(batch_ids uuid[], list text default 'ids') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Orders miss the units as if a booking had taken them away
  perform ledger.warn_of_promises(array(
    select row (mutation.path(list, i.n), u.product_id, u.quantity, null, 'warehouse', u.warehouse_id::text,
      'special_stock_location', 'stock_correction', 'api')::ledger.draft
    from unnest(batch_ids) with ordinality i (id, n)
    join ledger.units_of_batches(batch_ids) u on u.batch_id = i.id
    order by i.n, u.warehouse_id
  ));
end
$$;
comment on function ledger.warn_of_hold(uuid[], text) is
  'Warns if orders wait for units of batches that have been put on hold: warning STOCK_PROMISED, as of '
  'ledger.warn_of_promises. Nulls among the batches are ignored. The list is '
  'the field of the input that has the batches.';
select api_meta.plan_by_index('ledger.warn_of_hold(uuid[], text)');
select api_meta.give('ledger.warn_of_hold(uuid[], text)', 'service_ledger');
grant execute on function ledger.warn_of_hold(uuid[], text) to service_writer;
--! EndIncluded ledger/warn_of_hold.sql
--! Included erp/upsert_batches.sql
create or replace function erp.with_products_by_number(given jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_agg(e.batch || jsonb_strip_nulls(jsonb_build_object('product_id', (
    select p.id from erp.product p
    where p.product_number = e.batch ->> 'product_number'
      and coalesce(e.batch ->> 'id', e.batch ->> 'product_id') is null
  ))) order by e.n)
  from jsonb_array_elements(given) with ordinality e (batch, n);
end;
comment on function erp.with_products_by_number(jsonb) is
  'Returns the input of an upsert of batches, with the ids of products that rows without an id name by '
  'number.';
grant execute on function erp.with_products_by_number(jsonb) to service_writer;

create or replace function erp.faults_of_batches(rows mutation.upsert_row[]) returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with batch as (
    select u.line, u.is_new, (u.wanted ->> 'product_id')::uuid as product_id,
      (u.present ->> 'product_id')::uuid as present_id, u.given ->> 'product_number' as number,
      (select p.id from erp.product p where p.product_number = u.given ->> 'product_number') as numbered_id
    from unnest(rows) u where u.errors is null
  )
  select array_agg(row (f.line, f.code, f.message, array[f.field], null)::mutation.row_fault)
  from (
    select b.line, 'NOT_FOUND', 'There is no product with this number.', 'product_number'
    from batch b where b.number is not null and b.numbered_id is null
    union all
    select b.line, 'INVALID', 'The product has another number.', 'product_number'
    from batch b where b.is_new and b.numbered_id <> b.product_id
    union all
    select b.line, 'REQUIRED', 'A new batch needs a product.', 'product_id'
    from batch b where b.is_new and b.product_id is null and b.number is null
    union all
    select b.line, 'NOT_EDITABLE', 'A batch stays with its product.', 'product_id'
    from batch b where not b.is_new and b.product_id is distinct from b.present_id
    union all
    select b.line, 'NOT_EDITABLE', 'A batch stays with its product.', 'product_number'
    from batch b where not b.is_new and b.numbered_id <> b.present_id
    union all
    select b.line, 'INVALID', 'The product is not managed in batches.',
      case when b.number is null then 'product_id' else 'product_number' end
    from batch b join erp.product p on p.id = b.product_id
    where b.is_new and not p.is_batch_managed and (b.number is null or b.numbered_id = b.product_id)
  ) f (line, code, message, field);
end;
comment on function erp.faults_of_batches(mutation.upsert_row[]) is
  'Returns what is wrong with the products in rows of an upsert of batches.';
grant execute on function erp.faults_of_batches(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_batches(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.product_id = r.product_id and o.number = r.number}';
  named constant jsonb := erp.with_products_by_number(given);
  rows mutation.upsert_row[];
  turned uuid[];
begin
  -- Bookings update batches under the lock of their product, which comes first here, too
  perform from erp.product p
  where p.id = any (array(
    select coalesce((select b.product_id from erp.batch b where b.id = (e ->> 'id')::uuid),
      (e ->> 'product_id')::uuid)
    from jsonb_array_elements(named) e))
  order by p.id for no key update;
  rows := erp.with_holds(mutation.match_rows('erp.batch', 'batches', named, '{number}', matches));
  rows := mutation.with_faults(rows, 'batches', erp.faults_of_batches(rows));
  rows := mutation.with_faults(rows, 'batches',
    mutation.row_faults('erp.batch', rows, matches) || erp.faults_of_tags(rows)
    || erp.faults_of_holds(rows));
  rows := mutation.with_faults_of_taken_keys('erp.batch', rows, 'batches', partial);
  perform mutation.require_rows(rows, partial);
  turned := array(select b.id from unnest(rows) u
    left join erp.batch b on b.id = u.id and u.errors is null and not (b.is_held or b.is_expired)
      and u.wanted ->> 'stock_state' <> 'sellable'
    order by u.line);
  rows := mutation.write_rows('erp.batch', rows);
  if array_remove(turned, null) <> '{}' then
    perform ledger.warn_of_hold(turned, 'batches');
  end if;
  return mutation.with_changes(rows, erp.set_tags('erp.batch_tag', 'batch_id', rows));
end
$$;
comment on function erp.upsert_batches(jsonb, boolean) is
  'Creates and updates batches, with their tags: the objects in the list, whose fields are named like '
  'columns. Returns the outcome of each.';
select api_meta.plan_by_index('erp.upsert_batches(jsonb, boolean)');
grant execute on function erp.upsert_batches(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_batches.sql
select api_meta.allow('service_writer', 'erp.bin_location_tag', 'select', 'insert', 'delete');
comment on constraint bin_location_tag_tag_id_fkey on erp.bin_location_tag is
  '@internal erp.set_tags() creates missing tags';
--! Included erp/upsert_bin_locations.sql
create or replace function erp.upsert_bin_locations(given jsonb, partial boolean)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  relation constant regclass := 'erp.bin_location';
  matches constant text[] := '{o.warehouse_id = r.warehouse_id and o.code = r.code}';
  named constant jsonb := mutation.with_columns(relation, given);
  rows mutation.upsert_row[];
  turned uuid[];
begin
  -- Warehouses are locked before their bins
  perform from erp.warehouse w
  where w.id = any (array(
    select coalesce((select b.warehouse_id from erp.bin_location b where b.id = (e ->> 'id')::uuid),
      (e ->> 'warehouse_id')::uuid)
    from jsonb_array_elements(named) e))
  order by w.id for key share;
  rows := mutation.match_rows(relation, 'bin_locations', named, '{code}', matches);
  rows := mutation.with_faults(rows, 'bin_locations', mutation.faults_of_fields(relation, rows));
  -- Their goods would be elsewhere without a movement
  rows := mutation.with_faults(rows, 'bin_locations', (
    select array_agg(row (u.line, 'NOT_EDITABLE', 'Call binLocationMove: it takes the goods along.',
      array[case when u.given ? 'warehouse_code' then 'warehouse_code' else 'warehouse_id' end], null
    )::mutation.row_fault)
    from unnest(rows) u where not u.is_new and u.wanted -> 'warehouse_id' <> u.present -> 'warehouse_id'));
  rows := mutation.with_faults(rows, 'bin_locations',
    mutation.row_faults(relation, rows, matches) || erp.faults_of_tags(rows));
  rows := mutation.with_faults_of_taken_keys(relation, rows, 'bin_locations', partial);
  perform mutation.require_rows(rows, partial);
  turned := array(
    select u.id from unnest(rows) u
    where u.errors is null and not u.is_new
      and (u.wanted ->> 'stock_state' = 'sellable') <> (u.present ->> 'stock_state' = 'sellable'));
  -- As bookings do: bins, then all their products
  perform from erp.bin_location b where b.id = any (turned) order by b.id for update;
  perform ledger.lock(array(
    select distinct s.product_id from unnest(turned) b cross join ledger.stock_of_bin(b) s
    where s.quantity <> 0));
  rows := mutation.write_rows(relation, rows);
  perform ledger.warn_of_lost_stock(array(
    select s.id from ledger.stock_of_bin(u.id) s where s.quantity > 0
  ), mutation.path('bin_locations', u.line, 'stock_state'))
  from unnest(rows) u where u.id = any (turned) and u.wanted ->> 'stock_state' <> 'sellable';
  return mutation.with_changes(rows, erp.set_tags('erp.bin_location_tag', 'bin_location_id', rows));
end
$$;
comment on function erp.upsert_bin_locations(jsonb, boolean) is
  'Creates and updates bins, with their tags: the objects in the list, whose fields are named like columns. '
  'Returns the outcome of each. Warning STOCK_PROMISED.';
select api_meta.plan_by_index('erp.upsert_bin_locations(jsonb, boolean)');
grant execute on function erp.upsert_bin_locations(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_bin_locations.sql
--! Included erp/upsert_product_supplier_configurations.sql
create or replace function erp.faults_of_default_suppliers(rows mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array_agg(row (t.line, 'NOT_UNIQUE', 'An earlier row is the default supplier of the product.',
    '{supplier_is_default}', null)::mutation.row_fault)
  from (
    select u.line, row_number() over (partition by u.wanted ->> 'product_id' order by u.line) as nth
    from unnest(rows) u where u.errors is null and u.given -> 'supplier_is_default' = 'true'
  ) t
  where t.nth > 1;
end;
comment on function erp.faults_of_default_suppliers(mutation.upsert_row[]) is
  'Returns the rows of an upsert that make a second supplier the default of a product.';
grant execute on function erp.faults_of_default_suppliers(mutation.upsert_row[]) to service_writer;

create or replace function erp.upsert_product_supplier_configurations(given jsonb, partial boolean)
returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  relation constant regclass := 'erp.product_supplier_configuration';
  list constant text := 'product_supplier_configurations';
  matches constant text[] := '{o.product_id = r.product_id and o.supplier_id = r.supplier_id}';
  named constant jsonb := mutation.with_columns(relation, erp.with_currencies(given, 'purchase_prices'));
  rows mutation.upsert_row[];
  takers uuid[];
begin
  -- Only one supplier of a product is changed at a time, because one of them is the default
  perform ledger.lock(array(
    select coalesce((
      select c.product_id from erp.product_supplier_configuration c where c.id = (e ->> 'id')::uuid
    ), (e ->> 'product_id')::uuid)
    from jsonb_array_elements(named) e));
  rows := mutation.match_rows(relation, list, named, '{product_id,supplier_id}', matches);
  rows := mutation.with_faults(rows, list, mutation.faults_of_fields(relation, rows));
  rows := mutation.with_faults(rows, list, mutation.row_faults(relation, rows, matches)
    || erp.faults_of_prices(rows, 'purchase_prices') || erp.faults_of_default_suppliers(rows));
  rows := mutation.with_faults_of_taken_keys(relation, rows, list, partial);
  perform mutation.require_rows(rows, partial);
  -- New defaults take their place when they have their prices, which the product gets
  takers := array(
    select u.id from unnest(rows) u
    where u.errors is null and u.given -> 'supplier_is_default' = 'true'
      and u.present -> 'supplier_is_default' is distinct from 'true');
  rows := mutation.write_rows(relation, mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('supplier_is_default',
      u.id <> all (takers) and not exists (
        select from unnest(rows) t
        where t.id = any (takers) and t.wanted -> 'product_id' = u.wanted -> 'product_id')))
    from unnest(rows) u where u.wanted -> 'supplier_is_default' = 'true'
  )));
  rows := mutation.with_changes(rows, erp.set_prices('erp.product_supplier_price', rows, 'purchase_prices',
    'product_supplier_configuration_id'));
  perform erp.make_default_supplier(t) from unnest(takers) t;
  return mutation.with_changes(rows, takers);
end
$$;
comment on function erp.upsert_product_supplier_configurations(jsonb, boolean) is
  'Sets how suppliers sell products, with their prices: the objects in the list, whose fields are named like '
  'columns. Returns the outcome of each.';
select api_meta.plan_by_index('erp.upsert_product_supplier_configurations(jsonb, boolean)');
grant execute on function erp.upsert_product_supplier_configurations(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_product_supplier_configurations.sql

--! Included api/products_upsert.sql
drop type if exists api_unstable.products_upsert_input cascade;
drop type if exists api_unstable.product_upsert_input cascade;
drop type if exists api_unstable.product_price_input cascade;
drop type if exists api_unstable.products_upsert_payload cascade;
drop type if exists api_unstable.product_upsert_image_input cascade;
drop type if exists api_unstable.product_upsert_image_translation_input cascade;
drop type if exists api_unstable.product_upsert_translation_input cascade;

create type api_unstable.product_price_input
  as (currency_id uuid, currency_iso_code text, net numeric, gross numeric, linked boolean);
comment on type api_unstable.product_price_input is 'A price in one currency.';
comment on column api_unstable.product_price_input.currency_id is
  E'@gid Currency\nId of the currency. A price needs it, or the code.';
comment on column api_unstable.product_price_input.currency_iso_code is
  'ISO code of the currency, instead of its id.';
comment on column api_unstable.product_price_input.net is E'@notNull\nAmount without tax; not negative.';
comment on column api_unstable.product_price_input.gross is E'@notNull\nAmount with tax; not negative.';
comment on column api_unstable.product_price_input.linked is
  'Whether one of the amounts follows from the other by the tax rate. True when left out.';

create type api_unstable.product_upsert_translation_input as (locale text, name text, description text);
comment on type api_unstable.product_upsert_translation_input is
  'Texts of a product in another language. Without a text it counts as left out.';
comment on column api_unstable.product_upsert_translation_input.locale is
  E'@notNull\nThe language, perhaps with script and region: de, de-AT, zh-Hant-TW.';
comment on column api_unstable.product_upsert_translation_input.name is
  'Name of the product; at most 255 characters.';
comment on column api_unstable.product_upsert_translation_input.description is
  'Text that describes the product to buyers.';

create type api_unstable.product_upsert_image_translation_input as (locale text, alt_text text);
comment on type api_unstable.product_upsert_image_translation_input is
  'The alternative text of an image in another language. Without a text it counts as left out.';
comment on column api_unstable.product_upsert_image_translation_input.locale is
  E'@notNull\nThe language, perhaps with script and region: de, de-AT, zh-Hant-TW.';
comment on column api_unstable.product_upsert_image_translation_input.alt_text is
  'Description of the image; at most 1,000 characters.';

create type api_unstable.product_upsert_image_input
  as (url text, alt_text text, translations api_unstable.product_upsert_image_translation_input[]);
comment on type api_unstable.product_upsert_image_input is 'An image of a product.';
comment on column api_unstable.product_upsert_image_input.url is
  E'@notNull\n'
  'Address of the image, which begins with https:// or http://; at most 2048 characters, without a user. '
  'It is kept, and not fetched.';
comment on column api_unstable.product_upsert_image_input.alt_text is
  'Description of the image for people who can''t see it; at most 1,000 characters.';
comment on column api_unstable.product_upsert_image_input.translations is
  'The alternative text in other languages, each of them once; at most 250.';

create type api_unstable.product_upsert_input as (
  id uuid, product_number text, parent_id uuid, parent_product_number text, canonical_product_id uuid,
  canonical_product_number text,
  name text, description text, gtin text, manufacturer_number text, unit_code text, gross_weight numeric,
  tax_rate numeric,
  is_batch_managed boolean, tracking api_unstable.product_tracking,
  minimum_remaining_shelf_life_days integer, pick_order api_unstable.pick_order, allows_backorders boolean,
  reorder_point integer, target_maximum_quantity integer,
  storefront_variants jsonb, price api_unstable.product_price_input[],
  purchase_prices api_unstable.product_price_input[], tags text[],
  translations api_unstable.product_upsert_translation_input[],
  images api_unstable.product_upsert_image_input[]
);
comment on type api_unstable.product_upsert_input is
  'A product as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.product_upsert_input.id is
  E'@gid Product\nId of the product. Without it, the product is known by its number.';
comment on column api_unstable.product_upsert_input.product_number is
  'Stock keeping unit (SKU), unique; 1 to 255 characters. Beside an id it is the number that the product '
  'gets.';
comment on column api_unstable.product_upsert_input.parent_id is
  E'@gid Product\nId of the product that this one is a variant of.';
comment on column api_unstable.product_upsert_input.parent_product_number is
  'Number of the product that this one is a variant of, instead of its id. It may be a row of the same call, '
  'before or after this one.';
comment on column api_unstable.product_upsert_input.canonical_product_id is
  E'@gid Product\nId of the product that stands for this one where only one is shown.';
comment on column api_unstable.product_upsert_input.canonical_product_number is
  'Number of this product, instead of its id. It may be a row of the same call.';
comment on column api_unstable.product_upsert_input.name is 'Name of the product.';
comment on column api_unstable.product_upsert_input.description is
  'Text that describes the product to buyers.';
comment on column api_unstable.product_upsert_input.gtin is
  'Global Trade Item Number (EAN, UPC); at most 255 characters.';
comment on column api_unstable.product_upsert_input.manufacturer_number is
  'Number that the manufacturer gave the product; at most 255 characters.';
comment on column api_unstable.product_upsert_input.unit_code is
  'Unit that the product is counted in, of UN/ECE Recommendation 20, such as C62 for pieces or KGM for '
  'kilograms. Invoices show C62 by default.';
comment on column api_unstable.product_upsert_input.gross_weight is
  'Weight of one unit with its packaging, in kilograms; more than 0, with at most six decimals.';
comment on column api_unstable.product_upsert_input.tax_rate is
  'Tax rate in percent, from 0 to 100. 19 when left out of a new product.';
comment on column api_unstable.product_upsert_input.is_batch_managed is
  'Whether every movement of the product must name batches. It can''t change while there is stock. Field '
  'tracking says the same, and whether batches are serial numbers: true keeps these, and false ends them.';
comment on column api_unstable.product_upsert_input.tracking is
  'How units are told apart: not at all when left out of a new product. It can''t change while there is '
  'stock.';
comment on column api_unstable.product_upsert_input.minimum_remaining_shelf_life_days is
  'Days of shelf life that customers are promised, from 0 to 36,500. A batch is sold until so many days '
  'before its best-before date. Later it is shipped only if it is named.';
comment on column api_unstable.product_upsert_input.pick_order is
  'Order in which units are picked. Null leaves it to the merchant.';
comment on column api_unstable.product_upsert_input.allows_backorders is
  'Whether units may be reserved that are not there yet. False when left out of a new product.';
comment on column api_unstable.product_upsert_input.reorder_point is
  'Stock, over all warehouses, at which the product is to be ordered again; not negative.';
comment on column api_unstable.product_upsert_input.target_maximum_quantity is
  'Stock to fill up to when the product is ordered again; not negative.';
comment on column api_unstable.product_upsert_input.storefront_variants is
  'Counterparts in the external storefront platform: a list of objects with productId and variantId.';
comment on column api_unstable.product_upsert_input.price is
  'Sales prices, one per currency. They take the place of all present ones.';
comment on column api_unstable.product_upsert_input.purchase_prices is
  'Purchase prices, one per currency. They take the place of all present ones, also of the default '
  'supplier''s '
  'while that is paid in the default currency.';
comment on column api_unstable.product_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';
comment on column api_unstable.product_upsert_input.translations is
  'Name and description in other languages, each of them once, which take the place of all present ones; at '
  'most 250.';
comment on column api_unstable.product_upsert_input.images is
  'Images in their order, each address once, which take the place of all present ones; at most 250.';

select api_meta.add_upsert('api_unstable.products_upsert', 'erp.product', null,
  'Makes products and changes those that are there, known by their id or number: with prices, translations, '
  'images, tags, and variants. Rows that say nothing new change nothing.', errors => 'NOT_EDITABLE',
  warnings => 'PRODUCT_HAS_VARIANTS');
--! EndIncluded api/products_upsert.sql
--! Included api/customers_upsert.sql
drop type if exists api_unstable.customers_upsert_input cascade;
drop type if exists api_unstable.customer_upsert_input cascade;
drop type if exists api_unstable.customers_upsert_payload cascade;

create type api_unstable.customer_upsert_input as (
  id uuid, storefront_id text, sales_channel_id uuid, customer_number text,
  account_type api_unstable.customer_account_type, email text, first_name text, last_name text, title text,
  company text, vat_ids jsonb, active boolean, guest boolean, group_id uuid, requested_group_id uuid,
  bound_sales_channel_id uuid, default_payment_method_id uuid, salutation_id uuid,
  invoice_form api_unstable.invoice_form, buyer_reference text, electronic_address text,
  electronic_address_scheme text, registration_id text, tags text[],
  sales_channel_technical_name text, group_technical_name text, requested_group_technical_name text,
  bound_sales_channel_technical_name text, default_payment_method_technical_name text, salutation_key text
);
comment on type api_unstable.customer_upsert_input is
  'A customer as they are to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.customer_upsert_input.id is
  E'@gid Customer\nId of the customer. Without it, the customer is known by storefrontId and '
  'salesChannelId, or else by customerNumber.';
comment on column api_unstable.customer_upsert_input.storefront_id is
  'Id in the external storefront platform, unique in the sales channel; at most 255 characters.';
comment on column api_unstable.customer_upsert_input.sales_channel_id is
  E'@gid SalesChannel\nId of the sales channel where the account was made. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.customer_number is
  'Number that the shop knows the customer by, unique; at most 255 characters. When left out of a new '
  'one, the next of its range.';
comment on column api_unstable.customer_upsert_input.account_type is
  'Whether a person or a company buys. Private when left out of a new one.';
comment on column api_unstable.customer_upsert_input.email is
  'E-mail address, unique within the sales channel and the channel that the account is bound to; at '
  'most 255 characters. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.first_name is
  'Given name. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.last_name is
  'Family name. A new customer needs it.';
comment on column api_unstable.customer_upsert_input.title is
  'Academic or honorary title.';
comment on column api_unstable.customer_upsert_input.company is
  'Name of the company, for business customers.';
comment on column api_unstable.customer_upsert_input.vat_ids is
  'VAT identification numbers: a list of strings.';
comment on column api_unstable.customer_upsert_input.active is
  'Whether the account may log in and buy. True when left out of a new one.';
comment on column api_unstable.customer_upsert_input.guest is
  'Whether the customer bought without opening an account. False when left out of a new one.';
comment on column api_unstable.customer_upsert_input.group_id is
  E'@gid CustomerGroup\n'
  'Id of the customer group whose terms apply. A new customer gets the group of the sales channel by '
  'default.';
comment on column api_unstable.customer_upsert_input.requested_group_id is
  E'@gid CustomerGroup\nId of the group that the customer wants to belong to.';
comment on column api_unstable.customer_upsert_input.bound_sales_channel_id is
  E'@gid SalesChannel\nId of the only sales channel where the account is valid; null for all.';
comment on column api_unstable.customer_upsert_input.default_payment_method_id is
  E'@gid PaymentMethod\nId of the way to pay that the customer prefers.';
comment on column api_unstable.customer_upsert_input.salutation_id is
  E'@gid Salutation\nId of the form of address.';
comment on column api_unstable.customer_upsert_input.invoice_form is
  'Form of the customer''s invoices. A new customer gets pdf by default.';
comment on column api_unstable.customer_upsert_input.buyer_reference is
  'Reference that the customer wants on invoices, such as a Leitweg-ID (BT-10); at most 255 characters. '
  'XRechnung needs one.';
comment on column api_unstable.customer_upsert_input.electronic_address is
  'Electronic address that the customer receives invoices at (BT-49); at most 255 characters. It needs its '
  'scheme.';
comment on column api_unstable.customer_upsert_input.electronic_address_scheme is
  'Kind of the electronic address: EM for an e-mail address, otherwise a code of the list EAS, such as 0204 '
  'for a Leitweg-ID.';
comment on column api_unstable.customer_upsert_input.registration_id is
  'Number of the company in an official register (BT-47); at most 255 characters.';
comment on column api_unstable.customer_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';

select api_meta.add_upsert('api_unstable.customers_upsert', 'erp.customer', null,
  'Creates and updates customers. A row is matched by id, by storefrontId and sales channel, or by '
  'number. A customer who was matched by number and has no storefrontId yet gets the one of the row. '
  'Rows without a change write nothing.');
--! EndIncluded api/customers_upsert.sql
--! Included api/orders_upsert.sql
drop type if exists api_unstable.orders_upsert_input cascade;
drop type if exists api_unstable.order_upsert_input cascade;
drop type if exists api_unstable.orders_upsert_payload cascade;

drop type if exists api_unstable.order_line_upsert_input cascade;

create type api_unstable.order_line_upsert_input as (
  id uuid, storefront_id text, identifier text, type text, product_id uuid, product_number text, label text,
  description text, quantity integer, unit_price numeric, total_price numeric, tax_rate numeric,
  tax_category text, exemption_code text, discount_reason text, unit_code text, position integer
);
comment on type api_unstable.order_line_upsert_input is
  'A line of an order as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.order_line_upsert_input.id is
  E'@gid OrderLineItem\nId of the line. Without it, the line is known by its storefrontId, or else by '
  'its identifier.';
comment on column api_unstable.order_line_upsert_input.storefront_id is
  'Id of the line in the external storefront platform.';
comment on column api_unstable.order_line_upsert_input.identifier is
  'Identifier taken over from the cart. When left out of a new line, its storefrontId, number of the '
  'product or label.';
comment on column api_unstable.order_line_upsert_input.type is
  'Kind of the line: product, custom, promotion, credit or another word. A new line is product or '
  'custom by default.';
comment on column api_unstable.order_line_upsert_input.product_id is
  E'@gid Product\nId of the product that was ordered.';
comment on column api_unstable.order_line_upsert_input.product_number is
  'Number of the product, instead of its id.';
comment on column api_unstable.order_line_upsert_input.label is
  'Text shown for the line. When left out of a new line, the name of the product.';
comment on column api_unstable.order_line_upsert_input.description is
  'Second line of text.';
comment on column api_unstable.order_line_upsert_input.quantity is
  'Units ordered; at least 1. A new line needs it.';
comment on column api_unstable.order_line_upsert_input.unit_price is
  'Price of one unit with tax, in the currency of the order.';
comment on column api_unstable.order_line_upsert_input.total_price is
  'Price of the line with tax, in cents: more decimals are rounded. When left out beside a unit price or a '
  'quantity, their product.';
comment on column api_unstable.order_line_upsert_input.tax_rate is
  'Tax rate in percent, from 0 to 100.';
comment on column api_unstable.order_line_upsert_input.tax_category is
  'Tax category of UNTDID 5305: S standard or reduced rate, Z zero rate, E exempt, AE reverse charge, K '
  'intra-Community supply, G export. S needs a tax rate above 0, the others one of 0. By default it follows '
  'from the tax rate and the tax status of the order.';
comment on column api_unstable.order_line_upsert_input.exemption_code is
  'Code of the reason why the line has no tax, of the list VATEX, such as VATEX-EU-AE. It needs a tax '
  'category of E, AE, K or G. By default the code of the category.';
comment on column api_unstable.order_line_upsert_input.discount_reason is
  'Reason why the total is less than the unit price times the quantity (BT-139); at most 255 characters.';
comment on column api_unstable.order_line_upsert_input.unit_code is
  'Unit of the quantity, of UN/ECE Recommendation 20 (BT-130), such as C62 for pieces or KGM for kilograms. '
  'By default the unit of the product.';
comment on column api_unstable.order_line_upsert_input.position is
  'Place of the line within its order, by which documents list lines. When left out of a new line, it '
  'comes after those that are there, in the order of the call.';

create type api_unstable.order_upsert_input as (
  id uuid, storefront_id text, sales_channel_id uuid, order_number text, order_date_time timestamptz,
  payment_state text, tax_status text, currency_id uuid, customer_id uuid, shipping_method_id uuid,
  payment_method_id uuid, shipping_address jsonb, billing_address jsonb,
  buyer_reference text, purchase_order_number text, due_date date, paid_amount numeric, exchange_rate numeric,
  exchange_rate_date date, exchange_rate_source text,
  line_items api_unstable.order_line_upsert_input[], tags text[],
  sales_channel_technical_name text, currency_iso_code text, customer_number text,
  shipping_method_technical_name text, payment_method_technical_name text
);
comment on type api_unstable.order_upsert_input is
  'An order as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.order_upsert_input.id is
  E'@gid Order\nId of the order. Without it, the order is known by storefrontId and salesChannelId, or '
  'else by orderNumber.';
comment on column api_unstable.order_upsert_input.storefront_id is
  'Id in the external storefront platform, unique in the sales channel; at most 255 characters. It '
  'needs the sales channel.';
comment on column api_unstable.order_upsert_input.sales_channel_id is
  E'@gid SalesChannel\nId of the sales channel where it was ordered.';
comment on column api_unstable.order_upsert_input.order_number is
  'Number that the customer knows the order by, unique; at most 255 characters.';
comment on column api_unstable.order_upsert_input.order_date_time is
  'When the customer ordered. Now, when left out of a new one.';
comment on column api_unstable.order_upsert_input.payment_state is
  'State of the primary payment, for example open, paid or refunded.';
comment on column api_unstable.order_upsert_input.tax_status is
  'Whether prices are gross, net or tax-free. Gross when left out of a new one.';
comment on column api_unstable.order_upsert_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts. A new one gets the currency of the sales channel by default.';
comment on column api_unstable.order_upsert_input.customer_id is
  E'@gid Customer\nId of the customer.';
comment on column api_unstable.order_upsert_input.shipping_method_id is
  E'@gid ShippingMethod\nId of the way to ship.';
comment on column api_unstable.order_upsert_input.payment_method_id is
  E'@gid PaymentMethod\nId of the way to pay.';
comment on column api_unstable.order_upsert_input.shipping_address is
  'Shipping address: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_unstable.order_upsert_input.billing_address is
  'Billing address: an object with the same keys.';
comment on column api_unstable.order_upsert_input.buyer_reference is
  'Reference that the buyer wants on invoices of this order (BT-10); at most 255 characters. By default the '
  'customer''s.';
comment on column api_unstable.order_upsert_input.purchase_order_number is
  'Number of the buyer''s purchase order (BT-13); at most 255 characters.';
comment on column api_unstable.order_upsert_input.due_date is
  'Day on which invoices of the order are due (BT-9). By default it follows from the merchant''s days for '
  'payment.';
comment on column api_unstable.order_upsert_input.paid_amount is
  'Amount that the customer has paid already (BT-113), in the currency of the order and in cents: more '
  'decimals are rounded. Invoices deduct it.';
comment on column api_unstable.order_upsert_input.exchange_rate is
  'Units of the order''s currency per unit of the default currency, for the tax on invoices. It needs its '
  'date and source. By default the rate of the day of delivery.';
comment on column api_unstable.order_upsert_input.exchange_rate_date is
  'Day on which the exchange rate was published.';
comment on column api_unstable.order_upsert_input.exchange_rate_source is
  'Publisher of the exchange rate, for example ecb; at most 255 characters.';
comment on column api_unstable.order_upsert_input.line_items is
  'All lines that the order is to have, up to 250. Lines that are not among them go.';
comment on column api_unstable.order_upsert_input.tags is
  'Names of tags, which take the place of all present ones. A tag that does not exist is made.';

select api_meta.add_upsert('api_unstable.orders_upsert', 'erp.sales_order', null,
  'Creates and updates orders. A row is matched by id, by storefrontId and sales channel, or by number. '
  'Units that are shipped, assigned to a fulfillment order or invoiced stay: a line keeps at least '
  'these units, and its product. Lines of completed and cancelled orders don''t change. Rows without a '
  'change write nothing.', errors => 'NOT_EDITABLE OVER_FULFILLMENT');
--! EndIncluded api/orders_upsert.sql
--! Included api/suppliers_upsert.sql
drop type if exists api_unstable.suppliers_upsert_input cascade;
drop type if exists api_unstable.supplier_upsert_input cascade;
drop type if exists api_unstable.suppliers_upsert_payload cascade;

create type api_unstable.supplier_upsert_input as (
  id uuid, number text, name text, customer_number text, currency_id uuid, currency_iso_code text,
  language_code text, email text,
  phone text, address jsonb, default_delivery_time_days integer, minimum_order_value numeric, vat_id text,
  active boolean
);
comment on type api_unstable.supplier_upsert_input is
  'A supplier as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.supplier_upsert_input.id is
  E'@gid Supplier\nId of the supplier. Without it, the supplier is known by the number.';
comment on column api_unstable.supplier_upsert_input.number is
  'Number of the supplier, unique; 1 to 255 characters. Beside an id it is the number that the supplier '
  'gets.';
comment on column api_unstable.supplier_upsert_input.name is
  'Name of the supplier; 1 to 255 characters. A new one needs it.';
comment on column api_unstable.supplier_upsert_input.customer_number is
  'Number that the supplier knows the shop by.';
comment on column api_unstable.supplier_upsert_input.currency_id is
  E'@gid Currency\nId of the currency that the supplier is paid in; null for the default currency.';
comment on column api_unstable.supplier_upsert_input.language_code is
  'Locale that the supplier is written to in, for example de-DE.';
comment on column api_unstable.supplier_upsert_input.email is
  'E-mail address that orders are sent to.';
comment on column api_unstable.supplier_upsert_input.phone is
  'Telephone number.';
comment on column api_unstable.supplier_upsert_input.address is
  'Postal address: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_unstable.supplier_upsert_input.default_delivery_time_days is
  'Days from order to delivery, unless a product says otherwise; not negative.';
comment on column api_unstable.supplier_upsert_input.minimum_order_value is
  'Least value of an order, in the currency of the supplier; not negative.';
comment on column api_unstable.supplier_upsert_input.vat_id is
  'VAT identification number.';
comment on column api_unstable.supplier_upsert_input.active is
  'Whether the shop still orders there. True when left out of a new one.';

select api_meta.add_upsert('api_unstable.suppliers_upsert', 'erp.supplier', null,
  'Makes suppliers and changes those that are there, known by their id or number. Rows that say nothing '
  'new change nothing.');
--! EndIncluded api/suppliers_upsert.sql
--! Included api/batches_upsert.sql
drop type if exists api_unstable.batches_upsert_input cascade;
drop type if exists api_unstable.batch_upsert_input cascade;
drop type if exists api_unstable.batches_upsert_payload cascade;

create type api_unstable.batch_upsert_input as (
  id uuid, product_id uuid, product_number text, number text, comment text, best_before_date date,
  production_date date, supplier_lot text, tags text[],
  stock_state api_unstable.stock_state, hold_reason text
);
comment on type api_unstable.batch_upsert_input is
  'A batch as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.batch_upsert_input.id is
  E'@gid Batch\nId of the batch. Without it, the batch is known by its product and number.';
comment on column api_unstable.batch_upsert_input.product_id is
  E'@gid Product\nId of the product. A batch stays with its product. New batches need one that is managed '
  'in batches.';
comment on column api_unstable.batch_upsert_input.product_number is
  'Number of the product, instead of its id.';
comment on column api_unstable.batch_upsert_input.number is
  'Number of the batch, unique for its product; 1 to 255 characters. Beside an id it is the number that the '
  'batch gets.';
comment on column api_unstable.batch_upsert_input.comment is 'Free note; at most 10,000 characters.';
comment on column api_unstable.batch_upsert_input.best_before_date is
  'Day until which the goods keep their quality; from the year 1900 to 9999.';
comment on column api_unstable.batch_upsert_input.production_date is
  'Day on which the goods were made, not after the best-before date; from the year 1900 to 9999.';
comment on column api_unstable.batch_upsert_input.supplier_lot is
  'The supplier''s number of the lot; at most 255 characters.';
comment on column api_unstable.batch_upsert_input.tags is
  'Names of tags, which replace all present ones. Missing tags are created.';
comment on column api_unstable.batch_upsert_input.stock_state is
  'Whether the units may leave. Sellable when left out of a new batch. Another state than sellable holds the '
  'batch.';
comment on column api_unstable.batch_upsert_input.hold_reason is
  'Why the batch is held; at most 1,000 characters. A batch that is not held has none.';

select api_meta.add_upsert('api_unstable.batches_upsert', 'erp.batch', null,
  'Makes batches and changes those that are there, known by their id, or by product and number. Rows that '
  'say nothing new change nothing.', errors => 'NOT_EDITABLE',
  warnings => 'STOCK_PROMISED');
--! EndIncluded api/batches_upsert.sql
--! Included api/bin_locations_upsert.sql
drop type if exists api_unstable.bin_location_upsert_input cascade;
create type api_unstable.bin_location_upsert_input as (
  id uuid, warehouse_id uuid, warehouse_code text, code text, position integer,
  stock_state api_unstable.stock_state, tags text[]
);
comment on column api_unstable.bin_location_upsert_input.warehouse_id is
  E'@gid Warehouse\nId of the warehouse. A bin stays in its warehouse.';
comment on column api_unstable.bin_location_upsert_input.code is
  'Label, unique in the warehouse; 1 to 100 characters. Beside an id it is the code that the bin gets.';
comment on column api_unstable.bin_location_upsert_input.position is
  'Place on the pick route; lower is visited first. Null takes it off the route.';
comment on column api_unstable.bin_location_upsert_input.stock_state is
  'State of the units in the bin, also of those that are there already. Sellable when left out of a new bin.';
comment on column api_unstable.bin_location_upsert_input.tags is
  'Names of tags, which replace all present ones. Missing tags are created.';
select api_meta.add_upsert('api_unstable.bin_locations_upsert', 'erp.bin_location', 'warehouse and code',
  'Creates and updates bins. The call succeeds even if orders wait for units in a bin that is no longer '
  'sellable, and then has the warning STOCK_PROMISED.',
  errors => 'NOT_EDITABLE', warnings => 'STOCK_PROMISED', resource => 'warehouses');
--! EndIncluded api/bin_locations_upsert.sql
--! Included api/product_supplier_configurations_upsert.sql
drop type if exists api_unstable.product_supplier_configuration_upsert_input cascade;
create type api_unstable.product_supplier_configuration_upsert_input as (
  id uuid, product_id uuid, product_number text, supplier_id uuid, supplier_number text,
  supplier_product_number text, min_purchase integer, purchase_steps integer, units_per_pack integer,
  delivery_time_days integer, supplier_is_default boolean, purchase_prices api_unstable.product_price_input[]
);
comment on column api_unstable.product_supplier_configuration_upsert_input.min_purchase is
  'Least quantity that can be ordered; at least 1. 1 when left out of a new one.';
comment on column api_unstable.product_supplier_configuration_upsert_input.purchase_steps is
  'Quantities are ordered in multiples of this; at least 1. 1 when left out of a new one.';
comment on column api_unstable.product_supplier_configuration_upsert_input.units_per_pack is
  'Units of the product in a pack of the supplier; at least 1. Null says that it is sold in single units.';
comment on column api_unstable.product_supplier_configuration_upsert_input.supplier_is_default is
  'Whether it takes the place of the present default supplier. False when left out of a new one.';
comment on column api_unstable.product_supplier_configuration_upsert_input.purchase_prices is
  'Prices of the product at this supplier, one per currency, which replace all present ones. Prices of the '
  'default supplier become the purchase prices of the product.';
select api_meta.add_upsert('api_unstable.product_supplier_configurations_upsert',
  'erp.product_supplier_configuration', 'product and supplier',
  'Sets how suppliers sell products: their numbers, quantities, times and prices, and which supplier is the '
  'default of a product.', errors => 'NOT_EDITABLE');
--! EndIncluded api/product_supplier_configurations_upsert.sql

-- What callers noted on reservations for orders goes when their customer is anonymized
--! Included erp/reservations_about.sql
create or replace function erp.reservations_about(orders uuid[]) returns setof uuid
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select r.id
  from erp.sales_order_line_item l join erp.stock_reservation r on r.order_line_item_id = l.id
  where l.order_id = any (orders) order by r.id;
end;
comment on function erp.reservations_about(uuid[]) is
  'Returns the reservations for lines of orders, also those that have ended.';
--! EndIncluded erp/reservations_about.sql
--! Included erp/subjects_about.sql
create or replace function erp.subjects_about(customer uuid) returns uuid[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select a.customer || a.orders || a.fulfillment_orders || a.fulfillments || a.labels || a.returns
    || a.receipts || a.documents || a.quotes || array(select erp.reservations_about(a.orders))
  from erp.about_customer(subjects_about.customer) a;
end;
comment on function erp.subjects_about(uuid) is 'Returns the ids whose events are about a customer.';
--! EndIncluded erp/subjects_about.sql
--! Included erp/export_customer.sql
create or replace function erp.export_customer(customer uuid) returns table (kind text, content jsonb)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with about as (
    select a.*
    from erp.about_customer(export_customer.customer) a
  )
  select 'customer', to_jsonb(r) || jsonb_build_object('tags', array(
    select t.name from erp.customer_tag c join erp.tag t on t.id = c.tag_id
    where c.customer_id = r.id order by t.name))
  from erp.customer r
  where r.id = export_customer.customer
  union all
  select 'orders', to_jsonb(r) || jsonb_build_object('line_items', array(
    select to_jsonb(l) from erp.sales_order_line_item l where l.order_id = r.id order by l.id))
  from about a join erp.sales_order r on r.id = any (a.orders)
  union all
  select 'quotes', to_jsonb(r) || jsonb_build_object('line_items', array(
    select to_jsonb(l) from erp.quote_line_item l where l.quote_id = r.id order by l.id))
  from about a join erp.quote r on r.id = any (a.quotes)
  union all
  select 'fulfillment_orders', to_jsonb(r) || jsonb_build_object('line_items', array(
    select to_jsonb(l)
    from erp.fulfillment_order_line_item l
    where l.fulfillment_order_id = r.id order by l.id))
  from about a join erp.fulfillment_order r on r.id = any (a.fulfillment_orders)
  union all
  select 'fulfillments', to_jsonb(r) from about a join erp.fulfillment r on r.id = any (a.fulfillments)
  union all
  select 'labels', to_jsonb(r) from about a join erp.shipping_label r on r.id = any (a.labels)
  union all
  select 'returns', to_jsonb(r) || jsonb_build_object('line_items', array(
    select to_jsonb(l) from erp.return_order_line_item l where l.return_order_id = r.id order by l.id))
  from about a join erp.return_order r on r.id = any (a.returns)
  union all
  select 'reservations', to_jsonb(r)
  from about a cross join erp.reservations_about(a.orders) i (id) join erp.stock_reservation r on r.id = i.id
  union all
  select 'receipts', to_jsonb(r) from about a join erp.goods_receipt r on r.id = any (a.receipts)
  union all
  (select 'events', to_jsonb(e) || jsonb_build_object('deliveries', array(
    select to_jsonb(d) || jsonb_build_object('attempts', array(
      select to_jsonb(t) from events.delivery_attempt t where t.delivery_id = d.id order by t.number))
    from events.delivery d where d.sequence = e.sequence order by d.id))
  from events.sequences_about(erp.subjects_about(export_customer.customer)) s (sequence)
  join events.event e on e.sequence = s.sequence
  order by e.sequence)
  union all
  (select 'events_to_be_numbered', to_jsonb(r)
  from events.outbox r
  where r.subject_id = any (array(select unnest(erp.subjects_about(export_customer.customer))))
  order by r.position)
  union all
  select 'answers_of_idempotency_keys', to_jsonb(r) - 'request'
  from mutation.answers_about(export_customer.customer) a
  join mutation.idempotency_key r on r.credential_id = a.credential_id and r.key = a.key
  union all
  (select 'audit', to_jsonb(r)
  from auth.audit_event r
  where r.action ~ '^customer[.]' and r.subject = export_customer.customer::text
  order by r.id);
end;
comment on function erp.export_customer(uuid) is
  'Returns the rows about a customer, each with what belongs to it, except documents and files of bulk '
  'operations.';
--! EndIncluded erp/export_customer.sql
--! Included erp/anonymize_rows.sql
create or replace function erp.anonymize_notes(quotes uuid[], returns uuid[], orders uuid[], receipts uuid[])
returns table (what text, changed bigint)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return query with done as (
    update erp.quote q
    set comment = null, decline_reason = null, shipping_address = erp.country_alone(q.shipping_address),
      billing_address = erp.country_alone(q.billing_address)
    where q.id = any (anonymize_notes.quotes) and (num_nonnulls(q.comment, q.decline_reason) > 0
      or q.shipping_address is distinct from erp.country_alone(q.shipping_address)
      or q.billing_address is distinct from erp.country_alone(q.billing_address))
    returning 1
  ) select 'quotes', count(*) from done;
  return query with done as (
    update erp.return_order r set comment = null, reference = null, refusal_reason = null
    where r.id = any (anonymize_notes.returns) and num_nonnulls(r.comment, r.reference, r.refusal_reason) > 0
    returning 1
  ) select 'returns', count(*) from done;
  return query with done as (
    update erp.stock_reservation r set reference = null, note = null
    where r.id = any (array(select erp.reservations_about(anonymize_notes.orders)))
      and num_nonnulls(r.reference, r.note) > 0
    returning 1
  ) select 'reservations', count(*) from done;
  return query with done as (
    update erp.goods_receipt g set comment = null
    where g.id = any (anonymize_notes.receipts) and g.comment is not null
    returning 1
  ) select 'goods receipts', count(*) from done;
end
$$;
comment on function erp.anonymize_notes(uuid[], uuid[], uuid[], uuid[]) is
  'Removes notes and addresses from quotes, returns, reservations for orders, and goods receipts, for '
  'erp.anonymize_rows.';

create or replace function erp.anonymize_rows(customer uuid) returns table (what text, changed bigint)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  about record;
begin
  select * into about from erp.about_customer(anonymize_rows.customer);
  return query with done as (
    update erp.customer c
    set email = c.id || '@anonymized.invalid', first_name = 'Anonymized', last_name = 'Customer',
      title = null, company = null, vat_ids = null, storefront_id = null, salutation_id = null,
      buyer_reference = null, electronic_address = null, electronic_address_scheme = null,
      registration_id = null, active = false
    where c.id = about.customer and (c.email <> c.id || '@anonymized.invalid'
      or c.first_name <> 'Anonymized' or c.last_name <> 'Customer' or c.active
      or num_nonnulls(c.title, c.company, c.vat_ids, c.storefront_id, c.salutation_id, c.buyer_reference,
        c.electronic_address, c.registration_id) > 0)
    returning 1
  ) select 'customer', count(*) from done;
  return query with done as (
    delete from erp.customer_tag t where t.customer_id = about.customer returning 1
  ) select 'tags', count(*) from done;
  -- Also changes the tracking codes of orders
  return query with done as (
    update erp.shipping_label l
    set tracking_codes = '[]', tracking_url = null, document_url = null, failure = null
    where l.id = any (about.labels)
      and (l.tracking_codes <> '[]' or num_nonnulls(l.tracking_url, l.document_url, l.failure) > 0)
    returning 1
  ) select 'shipping labels', count(*) from done;
  return query with done as (
    update erp.sales_order o
    set shipping_address = erp.country_alone(o.shipping_address),
      billing_address = erp.country_alone(o.billing_address), entered_tracking_codes = '{}',
      tracking_codes = null, buyer_reference = null, purchase_order_number = null
    where o.id = any (about.orders)
      and (o.shipping_address is distinct from erp.country_alone(o.shipping_address)
        or o.billing_address is distinct from erp.country_alone(o.billing_address)
        or cardinality(o.entered_tracking_codes) > 0
        or num_nonnulls(o.buyer_reference, o.purchase_order_number) > 0)
    returning 1
  ) select 'orders', count(*) from done;
  return query with done as (
    update erp.fulfillment_order f
    set shipping_address = erp.postal_address(erp.country_alone(f.shipping_address)), hold_comment = null
    where f.id = any (about.fulfillment_orders) and (f.hold_comment is not null
      or f.shipping_address is distinct from erp.postal_address(erp.country_alone(f.shipping_address)))
    returning 1
  ) select 'fulfillment orders', count(*) from done;
  return query select n.what, n.changed from erp.anonymize_notes(about.quotes, about.returns, about.orders,
    about.receipts) n;
end
$$;
comment on function erp.anonymize_rows(uuid) is
  'Replaces personal values in the tables of a shop, for erp.anonymize_customer.';
--! EndIncluded erp/anonymize_rows.sql
--! Included events/anonymous_data.sql
create or replace function events.anonymous_data(topic text, subject_id uuid, data jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select anonymous_data.data || coalesce(jsonb_object_agg(f.field, case
    when f.field = 'email' then to_jsonb(anonymous_data.subject_id || '@anonymized.invalid')
    when f.field = 'shippingAddress' then
      coalesce(case when jsonb_typeof(anonymous_data.data -> f.field) = 'object'
        then erp.postal_address(erp.country_alone(anonymous_data.data -> f.field)) end, 'null')
    -- Of orders null, of labels a list
    when f.field = 'trackingCodes' then
      case jsonb_typeof(anonymous_data.data -> f.field) when 'array' then '[]' else 'null' end::jsonb
    else f.value end), '{}')
  from events.topic t
  join (values
    ('Customer', 'email', 'null'::jsonb), ('Customer', 'firstName', '"Anonymized"'),
    ('Customer', 'lastName', '"Customer"'), ('Customer', 'title', 'null'), ('Customer', 'company', 'null'),
    ('Customer', 'vatIds', 'null'), ('Customer', 'storefrontId', 'null'),
    ('Customer', 'salutationId', 'null'), ('Customer', 'buyerReference', 'null'),
    ('Customer', 'electronicAddress', 'null'), ('Customer', 'electronicAddressScheme', 'null'),
    ('Customer', 'registrationId', 'null'), ('Order', 'trackingCodes', 'null'),
    ('Order', 'buyerReference', 'null'), ('Order', 'purchaseOrderNumber', 'null'),
    ('FulfillmentOrder', 'holdComment', 'null'), ('FulfillmentOrder', 'shippingAddress', 'null'),
    ('ShippingLabel', 'trackingCodes', 'null'), ('ShippingLabel', 'trackingUrl', 'null'),
    ('ShippingLabel', 'documentUrl', 'null'), ('GoodsReceipt', 'comment', 'null'),
    ('ReturnOrder', 'comment', 'null'), ('ReturnOrder', 'reference', 'null'),
    ('ReturnOrder', 'refusalReason', 'null'), ('Quote', 'comment', 'null'),
    ('Quote', 'declineReason', 'null'), ('StockReservation', 'reference', 'null'),
    ('StockReservation', 'note', 'null')
  ) f (subject_type, field, value) on f.subject_type = t.subject_type and anonymous_data.data ? f.field
  where t.name = anonymous_data.topic;
end;
comment on function events.anonymous_data(text, uuid, jsonb) is
  'Returns the data of an event without what identifies a customer. Data that is anonymous already stays '
  'the same.';
--! EndIncluded events/anonymous_data.sql
--! Included events/sequences_about.sql
create or replace function events.sequences_about(subjects uuid[], after bigint default 0)
returns setof bigint
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select e.sequence
  from events.topic t join events.event e on e.topic = t.name
  where t.subject_type in (
      'Customer', 'Order', 'FulfillmentOrder', 'Fulfillment', 'ShippingLabel', 'GoodsReceipt', 'Document',
      'ReturnOrder', 'StockReservation', 'Quote')
    and e.subject_id = any (subjects) and e.sequence > after
  order by e.sequence;
end;
comment on function events.sequences_about(uuid[], bigint) is
  'Returns the events about subjects that belong to customers, by the index of topics, because most events '
  'are about stock.';
--! EndIncluded events/sequences_about.sql

-- Exports whose lines are rows of upserts
comment on column bulk.operation.format is 'Format of the file: jsonl, csv, csv_raw, import or import_csv.';
--! Included bulk/run_export.sql
create or replace function bulk.run_export(query text, variables jsonb, format text) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most_waiting constant integer := 10;
  id uuid;
begin
  -- Concurrent exports count each other: from here on, everything committed is visible
  perform pg_advisory_xact_lock(hashtextextended('bulk.run_export ' || mutation.caller(), 0));
  -- PHP writes an empty object as an empty list
  if variables = '[]' then
    variables := '{}';
  end if;
  if format not in ('jsonl', 'csv', 'csv_raw', 'import', 'import_csv') then
    perform mutation.refuse('INVALID', 'The format must be jsonl, csv, csv_raw, import or import_csv.',
      '{format}');
  elsif length(query) > 10000 then
    perform mutation.refuse('OUT_OF_RANGE', 'A query can have up to 10,000 characters.', '{query}');
  elsif jsonb_typeof(variables) <> 'object' then
    perform mutation.refuse('INVALID', 'The variables must be an object.', '{variables}');
  elsif not auth.may_send(mutation.caller(), query) then
    perform mutation.refuse('INVALID',
      'The credential may only send stored operations, and this query is not stored for it.', '{query}');
  elsif most_waiting <= (
    select count(*) from bulk.operation o
    where o.credential_id = mutation.caller() and o.state in ('uploading', 'queued', 'running')
  ) then
    perform mutation.refuse('OUT_OF_RANGE',
      format('%s bulk operations have not ended. Wait until one has.', most_waiting));
  end if;
  insert into bulk.operation as o (credential_id, scopes, kind, state, resource, format, query, variables,
    locale, traceparent)
  values (mutation.caller(), string_to_array(current_setting('service.scopes', true), ' '), 'export',
    'queued', 'list', format, query, variables, nullif(current_setting('service.locale', true), ''),
    nullif(current_setting('service.traceparent', true), ''))
  returning o.id into id;
  return id;
end
$$;
comment on function bulk.run_export(text, jsonb, text) is
  'Requests an export: the list of a query is written to a file. User errors INVALID, OUT_OF_RANGE.';
grant execute on function bulk.run_export(text, jsonb, text) to service_writer;
--! EndIncluded bulk/run_export.sql
--! Included api/bulk_operation_run.sql
drop type if exists api_unstable.bulk_operation_run_input cascade;
create type api_unstable.bulk_operation_run_input as (query text, variables jsonb, format text);
comment on type api_unstable.bulk_operation_run_input is 'A list to be written to a file.';
comment on column api_unstable.bulk_operation_run_input.query is
  E'@notNull\n'
  'A GraphQL document with one query of one list, up to 10,000 characters. Page sizes are ignored, also '
  'in nested lists: all rows are exported.';
comment on column api_unstable.bulk_operation_run_input.variables is
  'Values of the variables of the query: an object.';
comment on column api_unstable.bulk_operation_run_input.format is
  'Format of the file: jsonl, which is meant when it is left out, or csv. In csv, an apostrophe stands'
  ' before texts that a spreadsheet would run as formulas; in csv_raw it does not. The formats import '
  '(JSON lines) and import_csv have the form that bulk imports take. Each line is a row with its nested '
  'lists. Ids are there only if the query requests them. An object or row of one field is the value of this '
  'field.';

drop type if exists api_unstable.bulk_operation_run_payload cascade;
create type api_unstable.bulk_operation_run_payload
  as (bulk_operation uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.bulk_operation_run_payload is 'The result of requesting an export.';
comment on column api_unstable.bulk_operation_run_payload.bulk_operation is
  E'@entity BulkOperation\nThe bulk operation; null when it was refused.';
comment on column api_unstable.bulk_operation_run_payload.user_errors is
  'Why it was refused; empty when it was not.';

create function api_unstable.bulk_operation_run(input api_unstable.bulk_operation_run_input)
returns api_unstable.bulk_operation_run_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (bulk.run_export(input.query, coalesce(input.variables, '{}'), coalesce(input.format, 'jsonl')),
    null)::api_unstable.bulk_operation_run_payload
$$;
comment on function api_unstable.bulk_operation_run(api_unstable.bulk_operation_run_input) is
  E'@requiresScopes bulk_operations:write\n'
  '@userErrors INVALID OUT_OF_RANGE SCOPE_MISSING\n'
  'Exports all rows of a list to a file, in the background. The file is a snapshot of one moment. It '
  'has a line for each row, and a line with __parentId for each row of nested lists, unless the format '
  'is import or import_csv.';
--! EndIncluded api/bulk_operation_run.sql
--! Included api/quotes_upsert.sql
drop type if exists api_unstable.quote_upsert_input cascade;
drop type if exists api_unstable.quote_line_upsert_input cascade;

create type api_unstable.quote_line_upsert_input as (
  id uuid, identifier text, type text, product_id uuid, product_number text, label text, description text,
  quantity integer, unit_price numeric, total_price numeric, tax_rate numeric, tax_category text,
  exemption_code text, discount_reason text, unit_code text, position integer
);
comment on type api_unstable.quote_line_upsert_input is
  'A line of a quote as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.quote_line_upsert_input.id is
  E'@gid QuoteLineItem\nId of the line. Without it, the line is known by its identifier.';
comment on column api_unstable.quote_line_upsert_input.identifier is
  'Identifier of the line. When left out of a new line, the number of the product or the label.';
comment on column api_unstable.quote_line_upsert_input.type is
  'Kind of the line: product, custom, promotion, credit or another word. A new line is product or '
  'custom by default.';
comment on column api_unstable.quote_line_upsert_input.product_id is
  E'@gid Product\nId of the product that is offered.';
comment on column api_unstable.quote_line_upsert_input.product_number is
  'Number of the product, instead of its id.';
comment on column api_unstable.quote_line_upsert_input.label is
  'Text shown for the line. When left out of a new line, the name of the product.';
comment on column api_unstable.quote_line_upsert_input.description is 'Second line of text.';
comment on column api_unstable.quote_line_upsert_input.quantity is
  'Units offered; at least 1. A new line needs it.';
comment on column api_unstable.quote_line_upsert_input.unit_price is
  'Price of one unit with tax, in the currency of the quote.';
comment on column api_unstable.quote_line_upsert_input.total_price is
  'Price of the line with tax, in cents: more decimals are rounded. When left out beside a unit price or a '
  'quantity, their product.';
comment on column api_unstable.quote_line_upsert_input.tax_rate is 'Tax rate in percent, from 0 to 100.';
comment on column api_unstable.quote_line_upsert_input.tax_category is
  'Tax category of UNTDID 5305: S standard or reduced rate, Z zero rate, E exempt, AE reverse charge, K '
  'intra-Community supply, G export. S needs a tax rate above 0, the others one of 0. By default it follows '
  'from the tax rate and the tax status of the quote.';
comment on column api_unstable.quote_line_upsert_input.exemption_code is
  'Code of the reason why the line has no tax, of the list VATEX, such as VATEX-EU-AE. It needs a tax '
  'category of E, AE, K or G.';
comment on column api_unstable.quote_line_upsert_input.discount_reason is
  'Reason why the total is less than the unit price times the quantity; at most 255 characters.';
comment on column api_unstable.quote_line_upsert_input.unit_code is
  'Unit of the quantity, of UN/ECE Recommendation 20, such as C62 for pieces or KGM for kilograms. By '
  'default the unit of the product.';
comment on column api_unstable.quote_line_upsert_input.position is
  'Place of the line within its quote. When left out of a new line, it comes after those that are there, in '
  'the order of the call.';

create type api_unstable.quote_upsert_input as (
  id uuid, number text, customer_id uuid, sales_channel_id uuid, currency_id uuid, tax_status text,
  valid_until timestamptz, comment text, shipping_address jsonb, billing_address jsonb,
  line_items api_unstable.quote_line_upsert_input[], customer_number text, sales_channel_technical_name text,
  currency_iso_code text
);
comment on type api_unstable.quote_upsert_input is
  'A quote as it is to be. Omitted fields keep their value; null clears them.';
comment on column api_unstable.quote_upsert_input.id is
  E'@gid Quote\nId of the quote. Without it, the quote is known by its number. Without both, it is a new '
  'one.';
comment on column api_unstable.quote_upsert_input.number is
  'Number of the quote, unique; at most 255 characters. When left out of a new one, the next free one of '
  'the number range of quotes.';
comment on column api_unstable.quote_upsert_input.customer_id is E'@gid Customer\nId of the customer.';
comment on column api_unstable.quote_upsert_input.sales_channel_id is
  E'@gid SalesChannel\nId of the sales channel that its order is to belong to.';
comment on column api_unstable.quote_upsert_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of all amounts. A new one gets the currency of the sales channel by default.';
comment on column api_unstable.quote_upsert_input.tax_status is
  'Whether prices are gross, net or tax-free. Gross when left out of a new one.';
comment on column api_unstable.quote_upsert_input.valid_until is
  'Until when the customer can accept. Without it, quoteSend sets it by the merchant''s days.';
comment on column api_unstable.quote_upsert_input.comment is
  'Free note, which no document shows; at most 10,000 characters.';
comment on column api_unstable.quote_upsert_input.shipping_address is
  'Shipping address: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_unstable.quote_upsert_input.billing_address is
  'Billing address: an object with the same keys.';
comment on column api_unstable.quote_upsert_input.line_items is
  'All lines that the quote is to have, up to 250. Lines that are not among them go.';

select api_meta.add_upsert('api_unstable.quotes_upsert', 'erp.quote', null,
  'Creates and updates quotes. A row is matched by id or by number. A quote changes while it is a draft or '
  'open; afterwards quoteRevise makes it a draft again. Rows without a change write nothing.',
  errors => 'NOT_EDITABLE');
--! EndIncluded api/quotes_upsert.sql

--! split: 280-month.sql
-- The first warehouses of a database may name their defaults. Stocktakes begin by the clock of the movements.
--! Included erp/upsert_warehouses.sql
create or replace function erp.faults_of_defaults(rows mutation.upsert_row[], mark text)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with taker as (
    select u.line, row_number() over (order by u.line) as nth from unnest(rows) u
    where u.errors is null and u.given ->> mark = 'true'
  )
  select array_agg(row (f.line, f.code, f.message, array[mark], null)::mutation.row_fault)
  from (
    select t.line, 'NOT_UNIQUE', 'An earlier row takes this default already.' from taker t where t.nth > 1
    union all
    select u.line, 'INVALID', 'One warehouse must be this default. Make another one the default instead.'
    from unnest(rows) u
    where u.present ->> mark = 'true' and u.wanted ->> mark = 'false' and not exists (select from taker)
  ) f (line, code, message);
end;
comment on function erp.faults_of_defaults(mutation.upsert_row[], text) is
  'Returns what is wrong with rows of an upsert of warehouses that take or give up the mark of a default: '
  'exactly one warehouse has each.';
grant execute on function erp.faults_of_defaults(mutation.upsert_row[], text) to service_writer;

create or replace function erp.upsert_warehouses(given jsonb, partial boolean) returns mutation.upsert_row[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  matches constant text[] := '{o.code = r.code}';
  rows mutation.upsert_row[];
begin
  -- A new default affects all warehouses
  lock table erp.warehouse in share row exclusive mode;
  rows := mutation.match_rows('erp.warehouse', 'warehouses', given, '{code}', matches);
  rows := mutation.with_faults(rows, 'warehouses', mutation.row_faults('erp.warehouse', rows, matches));
  rows := mutation.with_faults(rows, 'warehouses', erp.faults_of_addresses(rows)
    || erp.faults_of_defaults(rows, 'is_default') || erp.faults_of_defaults(rows, 'is_default_receiving'));
  rows := mutation.with_faults_of_taken_keys('erp.warehouse', rows, 'warehouses', partial);
  perform mutation.require_rows(rows, partial);
  if not exists (select from erp.warehouse) then
    rows := mutation.with_values(rows, (
      select jsonb_build_object(min(u.line), jsonb_object_agg(m.mark, true))
      from unnest(rows) u cross join unnest('{is_default,is_default_receiving}'::text[]) m (mark)
      where u.errors is null and not exists (
        select from unnest(rows) t where t.errors is null and t.wanted ->> m.mark = 'true')
      having count(*) > 0));
  end if;
  perform erp.hand_over_defaults(u.id, (u.wanted ->> 'is_default')::boolean,
    (u.wanted ->> 'is_default_receiving')::boolean)
  from unnest(rows) u
  where u.errors is null and exists (
    select from unnest('{is_default,is_default_receiving}'::text[]) m (mark)
    where u.wanted -> m.mark = 'true' and u.present -> m.mark is distinct from 'true');
  rows := mutation.write_rows('erp.warehouse', rows);
  insert into erp.location (name, warehouse_id)
  select u.wanted ->> 'name', u.id from unnest(rows) u where u.errors is null and u.is_new order by u.line;
  -- A location with its own name keeps it
  update erp.location l set name = u.wanted ->> 'name'
  from unnest(rows) u
  where u.errors is null and l.warehouse_id = u.id and l.name = u.present ->> 'name'
    and l.name <> u.wanted ->> 'name';
  return rows;
end
$$;
comment on function erp.upsert_warehouses(jsonb, boolean) is
  'Creates and updates warehouses, with the locations that orders are fulfilled from: the objects in the '
  'list, whose fields are named like columns. The first warehouse is the default for everything, unless a '
  'row says otherwise. Returns the outcome of each.';
grant execute on function erp.upsert_warehouses(jsonb, boolean) to service_writer;
--! EndIncluded erp/upsert_warehouses.sql
--! Included erp/create_stocktake.sql
create or replace function erp.create_stocktake(
  made erp.stocktake, bins uuid[], products uuid[], batches uuid[], sheets integer, lines_per_sheet integer,
  includes_empty_bins boolean
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  lines integer;
begin
  perform mutation.refuse_too_many(cardinality(bins), 1000, '{bin_location_ids}');
  perform mutation.refuse_too_many(cardinality(products), 1000, '{product_ids}');
  perform mutation.refuse_too_many(cardinality(batches), 1000, '{batch_ids}');
  if sheets not between 1 and 250 then
    perform mutation.refuse('OUT_OF_RANGE', 'A stocktake has 1 to 250 sheets.', '{sheets}');
  elsif lines_per_sheet < 1 then
    perform mutation.refuse('OUT_OF_RANGE', 'A sheet has at least one line.', '{lines_per_sheet}');
  elsif not exists (select from erp.warehouse w where w.id = made.warehouse_id) then
    perform mutation.refuse_missing('warehouse', '{warehouse_id}');
  elsif exists (select from unnest(bins) i where not exists (
    select from erp.bin_location b where b.id = i and b.warehouse_id = made.warehouse_id)) then
    perform mutation.refuse('NOT_FOUND', 'The warehouse has no such bin.', '{bin_location_ids}');
  elsif exists (
    select from unnest(products) i where not exists (select from erp.product p where p.id = i)) then
    perform mutation.refuse_missing('product', '{product_ids}');
  elsif exists (
    select from unnest(batches) i where not exists (select from erp.batch b where b.id = i)) then
    perform mutation.refuse_missing('batch', '{batch_ids}');
  end if;
  made.counts_all_bins := coalesce(cardinality(bins), 0) = 0;
  made.counts_all_products := coalesce(cardinality(products), 0) + coalesce(cardinality(batches), 0) = 0;
  -- By the clock of the movements, because counts are compared with both
  insert into erp.stocktake (number, warehouse_id, counts_all_bins, counts_all_products, recount_units,
    recount_percent, recount_value, comment, created_at)
  values (erp.next_number('stocktake'), made.warehouse_id, made.counts_all_bins, made.counts_all_products,
    made.recount_units, made.recount_percent, made.recount_value, made.comment,
    date_trunc('second', ledger.moment()))
  returning * into made;
  insert into erp.stocktake_scope (stocktake_id, bin_location_id, product_id, batch_id)
  select distinct made.id, i, null::uuid, null::uuid from unnest(bins) i
  union all select distinct made.id, null::uuid, i, null::uuid from unnest(products) i
  union all select distinct made.id, null::uuid, null::uuid, i from unnest(batches) i
  order by 2, 3, 4;

  lines := erp.add_stocktake_lines(made, includes_empty_bins);
  if lines = 0 then
    perform mutation.refuse('INVALID', 'There is nothing to count there.', '{warehouse_id}');
  end if;
  sheets := coalesce(sheets, greatest(1, ceil(lines::numeric / lines_per_sheet)), 1);
  perform mutation.refuse_too_many(sheets, 250, '{lines_per_sheet}');
  perform erp.add_stocktake_sheets(made.id, sheets);
  return made.id;
end
$$;
comment on function erp.create_stocktake(
  erp.stocktake, uuid[], uuid[], uuid[], integer, integer, boolean
) is
  'Creates a stocktake with its positions and sheets. Returns its id. User errors NOT_FOUND, OUT_OF_RANGE, '
  'TOO_MANY_LINES, IN_OTHER_STOCKTAKE, and INVALID if there is nothing to count.';
grant execute on function erp.create_stocktake(
  erp.stocktake, uuid[], uuid[], uuid[], integer, integer, boolean
) to service_writer;
--! EndIncluded erp/create_stocktake.sql
--! Included erp/faults_of_order_lines.sql
create or replace function erp.units_at_work(order_ids uuid[])
returns table (id uuid, order_id uuid, label text, shipped integer, assigned integer, invoiced integer)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select l.id, l.order_id, l.label, l.shipped_quantity, coalesce((
    select sum(a.quantity - a.fulfilled_quantity)
    from erp.fulfillment_order_line_item a join erp.fulfillment_order f on f.id = a.fulfillment_order_id
    where a.destination_order_line_item_id = l.id and f.state in ('Open', 'InProgress', 'OnHold')
  ), 0), l.invoiced_quantity
  from erp.sales_order_line_item l where l.order_id = any (order_ids);
end;
comment on function erp.units_at_work(uuid[]) is
  'Returns for each line of orders the units that are shipped, that open fulfillment orders have, and that '
  'are invoiced.';
grant execute on function erp.units_at_work(uuid[]) to service_writer;

create or replace function erp.faults_of_order_lines(
  orders mutation.upsert_row[], lines mutation.upsert_row[]
)
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with line as (
    select l.*, o.present ->> 'state' as state, w.shipped + w.assigned as taken, w.shipped, w.assigned,
      w.invoiced,
      array(
        select c.key from jsonb_each(l.wanted) c
        where not l.is_new and c.value <> l.present -> c.key
      ) as changes
    from unnest(lines) l
    join unnest(orders) o on o.id = (l.wanted ->> 'order_id')::uuid and o.errors is null
    left join erp.units_at_work(array(select x.id from unnest(orders) x where not x.is_new)) w on w.id = l.id
  )
  select array_agg(row (f.line, f.code, f.message, f.field, f.details)::mutation.row_fault)
  from (
    select f.* from unnest(erp.faults_of_named_lines(lines, 'order')) f
    union all
    select l.line, 'NOT_EDITABLE', format('The order is %s: its lines cannot change.', l.state), null,
      jsonb_build_object('state', l.state)
    from line l where l.state = 'cancelled' and (l.is_new or l.changes <> '{}')
      -- An invoice that was refused for such data is made after the shipment
      or l.state = 'completed' and (l.is_new
        or not l.changes <@ '{tax_category,exemption_code,discount_reason,unit_code}')
    union all
    select l.line, 'NOT_EDITABLE',
      format('%s units are shipped or assigned: cancel their fulfillment orders first.', l.taken),
      array['quantity'], jsonb_build_object('shipped', l.shipped, 'assigned', l.assigned)
    from line l where (l.wanted ->> 'quantity')::int < l.taken and (l.wanted ->> 'quantity')::int >= l.shipped
    union all
    select l.line, 'NOT_EDITABLE', 'Units of the line are shipped, assigned or invoiced.',
      array[c.name], jsonb_build_object('shipped', l.shipped, 'assigned', l.assigned, 'invoiced', l.invoiced)
    from line l cross join unnest(l.changes) c (name)
    where c.name in ('product_id', 'type') and l.taken + l.invoiced > 0
    union all
    select l.line, 'NOT_EDITABLE', 'Units of the line are invoiced.', array[c.name],
      jsonb_build_object('invoiced', l.invoiced)
    from line l cross join unnest(l.changes) c (name)
    where c.name in ('unit_price', 'tax_rate', 'tax_category', 'exemption_code') and l.invoiced > 0
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_order_lines(mutation.upsert_row[], mutation.upsert_row[]) is
  'Returns what is wrong with lines of an upsert of orders: shipped, assigned or invoiced units must not '
  'change.';
grant execute on function erp.faults_of_order_lines(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;

create or replace function erp.faults_of_orders(orders mutation.upsert_row[], lines mutation.upsert_row[])
returns mutation.row_fault[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with work as (
    select w.*, o.line, o.present ->> 'state' as state,
      o.given ? 'line_items' and not exists (select from unnest(lines) l where l.id = w.id) as is_left_out
    from unnest(orders) o join erp.units_at_work(array(
      select x.id from unnest(orders) x where not x.is_new
    )) w on w.order_id = o.id
    where not o.is_new
  )
  select array_agg(row (f.line, f.code, f.message, f.field, f.details)::mutation.row_fault)
  from (
    select f.* from unnest(erp.faults_of_their_lines(orders, lines, 'order_id')) f
    union all
    select o.line, 'REQUIRED', 'A storefrontId needs the sales channel.', array['sales_channel_id'], null
    from unnest(orders) o
    where o.wanted ->> 'storefront_id' is not null and o.wanted ->> 'sales_channel_id' is null
    union all
    select w.line, 'NOT_EDITABLE', case when w.state in ('completed', 'cancelled')
      then format('The order is %s: its line "%s" cannot be left out.', w.state, w.label)
      else format('Units of the line "%s" are shipped, assigned or invoiced.', w.label) end,
      array['line_items'], jsonb_build_object('id', 'gid://service/OrderLineItem/' || w.id,
      'shipped', w.shipped, 'assigned', w.assigned, 'invoiced', w.invoiced)
    from work w
    where w.is_left_out and (w.shipped + w.assigned + w.invoiced > 0 or w.state in ('completed', 'cancelled'))
    union all
    select o.line, 'NOT_EDITABLE', 'The order is closed, or parts of it are shipped or invoiced.',
      array[c.name], null
    from unnest(orders) o cross join unnest('{currency_id,tax_status}'::text[]) c (name)
    where not o.is_new and o.wanted -> c.name <> o.present -> c.name
      and (o.present ->> 'state' in ('completed', 'cancelled')
        or exists (select from work w where w.order_id = o.id and w.shipped + w.invoiced > 0))
  ) f (line, code, message, field, details);
end;
comment on function erp.faults_of_orders(mutation.upsert_row[], mutation.upsert_row[]) is
  'Returns what is wrong with rows of an upsert of orders beyond the rules of the table, including the '
  'errors of their lines. Shipped, assigned or invoiced units must not change, nor closed orders.';
grant execute on function erp.faults_of_orders(mutation.upsert_row[], mutation.upsert_row[])
  to service_writer;
--! EndIncluded erp/faults_of_order_lines.sql

--! split: 290-pairs.sql
-- What was found where the parts of this issue meet
--! Included erp/call_off_labels.sql
create or replace function erp.call_off_labels() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform erp.cancel_shipping_label(l.id)
  from erp.shipping_label l
  where l.type = 'outgoing' and l.state = 'requested' and l.cancellation_requested_at is null
    and case tg_table_name when 'sales_order' then l.order_id = new.id
      else l.fulfillment_order_id = new.id end;
  return null;
end
$$;
comment on function erp.call_off_labels() is
  'Trigger after an order or a fulfillment order was cancelled: calls off the labels of its parcels that are '
  'requested, because nothing is shipped. Labels of returns stay.';
select api_meta.plan_by_index('erp.call_off_labels()');
select api_meta.give('erp.call_off_labels()', 'service_writer');
--! EndIncluded erp/call_off_labels.sql
drop trigger if exists call_off_labels on erp.fulfillment_order;
create trigger call_off_labels after update of state on erp.fulfillment_order
for each row when (new.state = 'Cancelled' and old.state <> 'Cancelled')
  execute function erp.call_off_labels();
drop trigger if exists call_off_labels on erp.sales_order;
create trigger call_off_labels after update of state on erp.sales_order
for each row when (new.state = 'cancelled' and old.state <> 'cancelled')
  execute function erp.call_off_labels();

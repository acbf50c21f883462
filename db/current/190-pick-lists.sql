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
--!include api/pick_lists.sql

--! Previous: sha1:960826ddbcd4556b6c5611ea82b8c312bc630bbb
--! Hash: sha1:fd4d539ad073135dcbf833b76a56e2fe477b1f23
--! Message: trace time and value

--! split: 090-tracking-columns.sql
--! Message: trace time and value

--! Message: trace time and value

--! Message: trace time and value

-- Columns for serial numbers, shelf life, and pick order. Functions that 100-hold.sql includes read them

alter table erp.product
  drop column if exists has_serial_numbers cascade,
  drop column if exists minimum_remaining_shelf_life_days cascade,
  drop column if exists pick_order cascade;
-- Beside is_batch_managed, and not a column with three values: so no row of products has to be filled, and
-- bookings read what they did
alter table erp.product
  add column has_serial_numbers boolean not null default false,
  add column minimum_remaining_shelf_life_days integer,
  add column pick_order text collate "C";
alter table erp.product
  add constraint product_serial_numbers_are_batches
    check (is_batch_managed or not has_serial_numbers) not enforced,
  add constraint product_minimum_remaining_shelf_life_is_plausible
    check (minimum_remaining_shelf_life_days between 0 and 36500) not enforced,
  add constraint product_pick_order_is_known
    check (pick_order in ('bin', 'first_expired', 'first_in')) not enforced;
comment on column erp.product.has_serial_numbers is
  'Whether each unit has a serial number: a batch of its own, of one unit. Such products are managed in '
  'batches.';
comment on column erp.product.minimum_remaining_shelf_life_days is
  'Days of shelf life that customers are promised: a batch is sold until so many days before its '
  'best-before date. Later it is shipped only if it is named. Null promises none: a batch is sold until '
  'its best-before date.';
comment on column erp.product.pick_order is
  'Order in which units are picked. Null leaves it to the merchant, in erp.merchant.pick_order.';
comment on constraint product_serial_numbers_are_batches on erp.product is
  '@internal erp.with_tracking() sets both';
comment on constraint product_minimum_remaining_shelf_life_is_plausible on erp.product is
  E'@userError OUT_OF_RANGE minimum_remaining_shelf_life_days\nThe days must be from 0 to 36,500.';
comment on constraint product_pick_order_is_known on erp.product is
  '@internal an enum in the API';
select api_meta.allow('service_writer', 'erp.product',
  'update (has_serial_numbers, minimum_remaining_shelf_life_days, pick_order)');

alter table erp.merchant drop column if exists pick_order cascade;
alter table erp.merchant add column pick_order text collate "C" not null default 'bin';
alter table erp.merchant add constraint merchant_pick_order_is_known
  check (pick_order in ('bin', 'first_expired', 'first_in')) not valid;
comment on column erp.merchant.pick_order is
  'Order in which units are picked, of products that have none themselves: bin, first_expired or first_in.';
comment on constraint merchant_pick_order_is_known on erp.merchant is
  '@internal mutations do not change the merchant';

--! Included api/product_tracking.sql
do $$
begin
  if to_regtype('api_unstable.product_tracking') is null then
    create type api_unstable.product_tracking as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.product_tracking', 'none', 'batch', 'serial');
comment on type api_unstable.product_tracking is
  E'@value none Movements name only the product.\n'
  '@value batch Movements name batches (lots).\n'
  '@value serial Movements name units by their serial numbers. Each serial number is a batch of one unit.\n'
  'How units of a product are told apart.';
--! EndIncluded api/product_tracking.sql
--! Included api/pick_order.sql
do $$
begin
  if to_regtype('api_unstable.pick_order') is null then
    create type api_unstable.pick_order as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.pick_order', 'bin', 'first_expired', 'first_in');
comment on type api_unstable.pick_order is
  E'@value bin By the position of bins, then by code; stock outside of bins last. Of products in batches, '
  'the oldest batch first.\n'
  '@value first_expired The batch with the earliest best-before date first (FEFO), then by first_in.\n'
  '@value first_in The batch that was recorded first (FIFO). Units without a batch are picked where the '
  'product was put first.\n'
  'Order in which units are picked. Units of the same batch are picked by bin.';
--! EndIncluded api/pick_order.sql
drop view if exists api_unstable.products;

--! split: 100-hold.sql
-- Batches on hold: what is held is not picked, not promised and not available

alter table erp.batch
  drop column if exists is_held cascade,
  drop column if exists held_at cascade,
  drop column if exists hold_reason cascade;
alter table erp.batch
  add column is_held boolean not null default false,
  add column held_at timestamptz(0),
  add column hold_reason text collate "C";
alter table erp.batch
  add constraint batch_is_held_since_a_moment check (is_held = (held_at is not null)) not enforced,
  add constraint batch_has_a_reason_only_on_hold check (is_held or hold_reason is null) not enforced,
  add constraint batch_hold_reason_length check (length(hold_reason) <= 1000) not enforced;
-- waive index-blocks-writes: it is built under the lock of the new columns, in about 0.1 s for 100,000 batches
create index batch_held_at_id_idx on erp.batch (held_at, id);
comment on column erp.batch.is_held is
  'Whether the batch is on hold: its units are not picked, not promised and not available.';
comment on column erp.batch.held_at is 'When the batch was put on hold; null when it is not on hold.';
comment on column erp.batch.hold_reason is 'Why the batch is on hold.';
comment on constraint batch_is_held_since_a_moment on erp.batch is
  '@internal erp.hold_batches() sets both';
comment on constraint batch_has_a_reason_only_on_hold on erp.batch is
  '@internal erp.hold_batches() clears the reason';
comment on constraint batch_hold_reason_length on erp.batch is
  '@internal erp.hold_batches() refuses longer ones';

alter table ledger.warehouse_stock drop column if exists held_quantity cascade;
alter table ledger.warehouse_stock add column held_quantity integer not null default 0;
alter table ledger.warehouse_stock
  drop constraint if exists warehouse_stock_held_quantity_is_not_negative,
  drop constraint if exists warehouse_stock_available_quantity_follows;
alter table ledger.warehouse_stock
  add constraint warehouse_stock_held_quantity_is_not_negative check (held_quantity >= 0) not enforced,
  add constraint warehouse_stock_available_quantity_follows
    check (available_quantity = quantity - reserved_quantity - held_quantity) not enforced;
comment on column ledger.warehouse_stock.held_quantity is
  'Units of batches that are on hold, in the warehouse and all its bins.';
comment on column ledger.warehouse_stock.available_quantity is
  'Quantity less reserved and held quantity. Negative when more was promised than there is.';
comment on constraint warehouse_stock_available_quantity_follows
  on ledger.warehouse_stock is E'@internal\n@keeps available_quantity';
comment on constraint warehouse_stock_held_quantity_is_not_negative on ledger.warehouse_stock is
  '@internal batches have no negative stock';
select api_meta.allow('service_booker', 'ledger.warehouse_stock', 'update (held_quantity)');
select api_meta.allow('service_ledger', 'ledger.warehouse_stock', 'update (held_quantity)');
select api_meta.allow('service_writer', 'erp.batch', 'update (is_held, held_at, hold_reason)');

-- Movements that are inserted in SQL are counted before their batches are, so held units may exceed the stock
-- for a moment. ledger.proof compares the figure with the ledger.
alter table erp.product
  drop constraint if exists product_stock_not_for_sale_is_part_of_physical_stock,
  drop constraint if exists product_stock_not_for_sale_is_not_negative;
alter table erp.product add constraint product_stock_not_for_sale_is_not_negative
  check (stock_not_available_for_sale >= 0) not enforced;
comment on constraint product_stock_not_for_sale_is_not_negative on erp.product is
  '@internal The figure follows from the ledger.';

drop view if exists api_unstable.batches, api_unstable.warehouse_stocks;
--! Included api/warehouse_stocks.sql
create view api_unstable.warehouse_stocks with (security_invoker = true) as
select id, product_id, warehouse_id, quantity, reserved_quantity, held_quantity, available_quantity,
  created_at, updated_at
from ledger.warehouse_stock;
comment on view api_unstable.warehouse_stocks is $$
@primaryKey id
@requiresScopes stocks:read
@filters *
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName warehouseStocks
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse|@foreignFieldName warehouseStocks
How much of a product a warehouse holds, its bins included.$$;
--! EndIncluded api/warehouse_stocks.sql

-- Figures
--! Included ledger/place_change.sql
drop type if exists ledger.place_change cascade;
create type ledger.place_change as (
  "position" bigint, call integer, product_id uuid, place_type text, place text, warehouse_id uuid,
  stock_id uuid, is_new boolean, change bigint, not_for_sale bigint, on_hold bigint
);
comment on type ledger.place_change is
  'A change of the stock in a place by a booking, or by one call of a group commit. The column place is a '
  'key as in ledger.stock.place, and warehouse_id the warehouse of the place, if any. The column is_new '
  'says that the stock must be created first. The column not_for_sale is the part of the change that is not '
  'for sale, and on_hold the part that belongs to held batches.';
--! EndIncluded ledger/place_change.sql
--! Included ledger/examine.sql
create or replace function ledger.examine(
  legs ledger.leg[], out changes ledger.place_change[], out needs_care boolean, out recounted uuid[]
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  select array_agg(row (g.position, null, g.product_id, g.place_type, g.place, w.id, coalesce(s.id, uuidv7()),
      s.id is null, g.change, case when w.is_stock_available_for_sale then g.on_hold else g.change end,
      g.on_hold)::ledger.place_change order by g.position),
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
        and (select b.is_held from erp.batch b where b.id = l.batch_id)), 0) as on_hold,
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
  left join erp.bin_location b on b.id = case g.place_type when 'bin_location' then g.place::uuid end
  left join erp.warehouse w
    on w.id = case g.place_type when 'warehouse' then g.place::uuid else b.warehouse_id end;
end
$$;
comment on function ledger.examine(ledger.leg[]) is
  'Returns the changes that legs of movements make, one for each product and place. The result needs_care '
  'says that they may have to be refused or warned about. That is rare: batches or variants are involved, '
  'or a place has too little. The result recounted is stock with a known count after the moment of a leg. '
  'The products are locked. Callers must be marked by api_meta.plan_by_index.';
grant execute on function ledger.examine(ledger.leg[]) to service_ledger;
--! EndIncluded ledger/examine.sql
--! Included ledger/changed_parts.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.changed_parts(
  changes ledger.place_change[], others ledger.figure_change[]
)
returns table (
  product_id uuid, warehouse_id uuid, change integer, not_for_sale integer, on_hold integer,
  promised integer, reserved integer, awaited integer, "position" bigint
)
language sql stable
begin atomic
  select x.product_id, x.warehouse_id, sum(x.change)::integer, sum(x.not_for_sale)::integer,
    sum(x.on_hold)::integer, sum(x.promised)::integer, sum(x.reserved)::integer, sum(x.awaited)::integer,
    min(x."position")
  from (
    select c.product_id, c.warehouse_id, c.change, c.not_for_sale, c.on_hold, 0, 0, 0, c."position"
    from unnest(changes) c where c.warehouse_id is not null
    union all
    select o.product_id, o.warehouse_id, 0, 0, 0, o.promised, o.reserved, o.awaited, null
    from unnest(others) o
  ) x (product_id, warehouse_id, change, not_for_sale, on_hold, promised, reserved, awaited, "position")
  group by x.product_id, x.warehouse_id;
end;
comment on function ledger.changed_parts(ledger.place_change[], ledger.figure_change[]) is
  'Returns how much a booking, and the changes that accompany it, change the figures of each product: by '
  'warehouse, and without a warehouse.';
grant execute on function ledger.changed_parts(ledger.place_change[], ledger.figure_change[])
  to service_booker;
--! EndIncluded ledger/changed_parts.sql
--! Included ledger/lock_stock.sql
create or replace function ledger.lock_stock(changes ledger.place_change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found_rows bigint;
begin
  perform from ledger.stock s where s.id in (select c.stock_id from unnest(changes) c)
  order by s.id for key share;
  get diagnostics found_rows = row_count;
  if found_rows <> cardinality(changes) then
    raise serialization_failure using message = 'A place of the booking has been deleted: try again.';
  end if;
end
$$;
comment on function ledger.lock_stock(ledger.place_change[]) is
  'Locks the stock of each place of a booking, and fails if some is missing. Stock refers to its product '
  'and place, so these exist, too; nothing else checks that for the movements of a booking '
  '(api_meta.derive_references). Only for ledger.write_missing: most bookings find out by an update.';
grant execute on function ledger.lock_stock(ledger.place_change[]) to service_booker;
--! EndIncluded ledger/lock_stock.sql
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
    and s.location_type_technical_name in ('warehouse', 'bin_location')
  join ledger.batch_stock u on u.stock_id = s.id and u.batch_id = b.id and u.quantity > 0
  join erp.warehouse w on w.id = coalesce(s.warehouse_id,
    (select l.warehouse_id from erp.bin_location l where l.id = s.bin_location_id))
  where b.id = any (batch_ids)
  group by b.id, w.id;
end;
comment on function ledger.units_of_batches(uuid[]) is
  'Returns how many units of batches each warehouse has, with its bins. Callers must be marked by '
  'api_meta.plan_by_index.';
grant execute on function ledger.units_of_batches(uuid[]) to service_ledger;
--! EndIncluded ledger/units_of_batches.sql
--! Included ledger/change_held_stock.sql
create or replace function ledger.change_held_stock(changes ledger.change[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  today constant timestamptz := date_trunc('second', now());
begin
  if changes = '{}' then
    return;
  end if;
  changes := array(
    select row (c.owner_id, c.item_id, sum(c.quantity))::ledger.change
    from unnest(changes) c group by c.owner_id, c.item_id having sum(c.quantity) <> 0
  );
  -- Missing only if somebody inserts batches of movements whose figures are not written yet
  insert into ledger.warehouse_stock (product_id, warehouse_id)
  select c.item_id, c.owner_id from unnest(changes) c where c.quantity > 0 order by 1, 2
  on conflict (product_id, warehouse_id) do nothing;
  update ledger.warehouse_stock s set held_quantity = s.held_quantity + c.quantity, updated_at = today
  from unnest(changes) c where s.product_id = c.item_id and s.warehouse_id = c.owner_id;
  update erp.product p
  set stock_not_available_for_sale = p.stock_not_available_for_sale + c.quantity, updated_at = today
  from (
    select c.item_id, sum(c.quantity) as quantity
    from unnest(changes) c join erp.warehouse w on w.id = c.owner_id
    where w.is_stock_available_for_sale group by c.item_id having sum(c.quantity) <> 0
  ) c
  where p.id = c.item_id;
end
$$;
comment on function ledger.change_held_stock(ledger.change[]) is
  'Adds to the held quantities of the items, which are products, in the warehouses that own the changes. '
  'Adds the same to the stock not available for sale of each product, where the warehouse sells its stock: '
  'elsewhere no unit is for sale anyway. The products are locked. Callers must be marked by '
  'api_meta.plan_by_index.';
grant execute on function ledger.change_held_stock(ledger.change[]) to service_ledger;
--! EndIncluded ledger/change_held_stock.sql
--! Included ledger/keep_held_stock.sql
create or replace function ledger.keep_held_stock() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  turned constant uuid[] := array(
    select n.id from new_rows n join old_rows o on o.id = n.id where o.is_held <> n.is_held);
begin
  if turned = '{}' then
    return null;
  end if;
  perform ledger.lock(array(select distinct n.product_id from new_rows n where n.id = any (turned)));
  perform ledger.change_held_stock(array(
    select row (
      u.warehouse_id, u.product_id, case when n.is_held then u.quantity else - u.quantity end)::ledger.change
    from ledger.units_of_batches(turned) u join new_rows n on n.id = u.batch_id
  ));
  return null;
end
$$;
comment on function ledger.keep_held_stock() is
  'Trigger after batches were put on hold or released: updates the held stock of their warehouses and the '
  'stock not available for sale of their products.';
select api_meta.plan_by_index('ledger.keep_held_stock()');
select api_meta.give('ledger.keep_held_stock()', 'service_ledger');
--! EndIncluded ledger/keep_held_stock.sql
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
    join erp.batch b on b.id = l.batch_id and b.is_held
    left join erp.bin_location p on p.id = case l.place_type when 'bin_location' then l.place::uuid end
    join erp.warehouse w
      on w.id = case l.place_type when 'warehouse' then l.place::uuid else p.warehouse_id end
  ));
  return null;
end
$$;
comment on function ledger.keep_batch_figures() is
  'Trigger after batches of movements were inserted by anyone but ledger.book: updates the stock of '
  'batches, in each place and in total, and the figures of held ones.';
select api_meta.plan_by_index('ledger.keep_batch_figures()');
select api_meta.give('ledger.keep_batch_figures()', 'service_ledger');
--! EndIncluded ledger/keep_batch_figures.sql
--! Included ledger/keep_saleable_stock.sql
create or replace function ledger.keep_saleable_stock() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_when = 'BEFORE' then
    -- Waits for bookings that use the old value; later ones wait for this change.
    perform from erp.warehouse w where w.id = old.id for update;
    return new;
  end if;
  perform ledger.lock(array(select s.product_id from ledger.warehouse_stock s where s.warehouse_id = new.id));
  update erp.product p
  set stock_not_available_for_sale = p.stock_not_available_for_sale
    + case when new.is_stock_available_for_sale then -1 else 1 end * (s.quantity - s.held_quantity)
  from ledger.warehouse_stock s
  where s.warehouse_id = new.id and s.product_id = p.id and s.quantity <> s.held_quantity;
  return null;
end
$$;
comment on function ledger.keep_saleable_stock() is
  'Triggers before and after a warehouse starts or stops selling its stock: moves it into or out of the '
  'products'' stock not available for sale. Held batches belong to it in any warehouse.';
select api_meta.plan_by_index('ledger.keep_saleable_stock()');
select api_meta.give('ledger.keep_saleable_stock()', 'service_ledger');
--! EndIncluded ledger/keep_saleable_stock.sql
create or replace trigger keep_figures after update on erp.batch
  referencing old table as old_rows new table as new_rows for each statement
  when (current_user <> 'service_booker') execute function ledger.keep_held_stock();

-- Putting batches on hold
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
  'PRICE_CONVERTED', 'DOCUMENT_INCOMPLETE', 'DOCUMENT_NOT_MADE');
comment on type api_unstable.warning_code is
  E'@value OTHER A warning that this version has no code for; the message describes it.\n'
  '@value COUNT_SUPERSEDED A count was kept and changes nothing, because a later one exists. Field '
  'details has its countedAt and quantity.\n'
  '@value STOCK_PROMISED Units that orders wait for were booked out or put on hold. Field details has the '
  'productId, the reserved stock and the available stock, which is negative now; and the warehouseId if '
  'only that warehouse is short.\n'
  '@value PRODUCT_HAS_VARIANTS The product only stands for its variants, and its stock cannot be sold. '
  'After productsUpsert, field details has its number, stock and reserved stock.\n'
  '@value SURPLUS More units arrive than the supplier order has open, or go back than it received. When '
  'the receipt is completed, the surplus becomes a line without an order. Field details has the '
  'quantity, the product, the order and then the line.\n'
  '@value ORDER_CANCELLED The supplier order is cancelled. When the receipt is completed, its units '
  'become a line without an order. Field details is the same as for SURPLUS.\n'
  '@value PRICE_CONVERTED Prices of a supplier order were converted from another currency. Field '
  'details names the order and both currencies.\n'
  '@value DOCUMENT_INCOMPLETE A document was created without data that the law demands. Field details '
  'lists it in missing, for example merchant.vatId, and has the documentNumber.\n'
  '@value DOCUMENT_NOT_MADE The goods were shipped, but the invoice was refused for the reason in the '
  'message. Field details has the documentType, the orderNumber, and the rule and the field to mend; then '
  'documentCreate makes the invoice.\n'
  'The code of a warning. A version only shows codes that it lists: later ones appear as OTHER.';
--! EndIncluded api/warning_code.sql
--! Included ledger/warn_of_promises.sql
create or replace function ledger.warn_of_promises(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Shipped units were promised; the promises end with them
  shipping constant text := 'api_shipping';
  suspects uuid[];
  warnings jsonb;
begin
  -- These are the figures after the booking. Usually none is below 0, and there is nothing to warn about.
  suspects := array(
    select distinct d.product_id from unnest(drafts) d join erp.product p on p.id = d.product_id
    where d.source_type in ('warehouse', 'bin_location') and d.process <> shipping
      and (p.available_stock < 0 or exists (
        select from ledger.warehouse_stock s
        where s.product_id = d.product_id and s.available_quantity < 0)));
  if suspects = '{}' then
    return;
  end if;

  -- Units of held batches were available to nobody
  with moved as (
    select d.* from unnest(drafts) with ordinality d where d.product_id = any (suspects)
      and not exists (select from erp.batch b where b.id = d.batch_id and b.is_held)
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
    left join erp.bin_location b on b.id = case leg.place_type when 'bin_location' then leg.place::uuid end
    join erp.warehouse w
      on w.id = case leg.place_type when 'warehouse' then leg.place::uuid else b.warehouse_id end
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
  'product or, if the product itself is not short, one for each warehouse that is. Units of held batches are '
  'available to nobody, so they don''t count.';
grant execute on function ledger.warn_of_promises(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/warn_of_promises.sql
--! Included ledger/warn_of_hold.sql
create or replace function ledger.warn_of_hold(batch_ids uuid[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Orders miss the units as if a booking had taken them away
  perform ledger.warn_of_promises(array(
    select row (mutation.path('ids', i.n), u.product_id, u.quantity, null, 'warehouse', u.warehouse_id::text,
      'special_stock_location', 'stock_correction', 'api')::ledger.draft
    from unnest(batch_ids) with ordinality i (id, n)
    join ledger.units_of_batches(batch_ids) u on u.batch_id = i.id
    order by i.n, u.warehouse_id
  ));
end
$$;
comment on function ledger.warn_of_hold(uuid[]) is
  'Warns if orders wait for units of batches that have been put on hold: warning STOCK_PROMISED, as of '
  'ledger.warn_of_promises.';
select api_meta.plan_by_index('ledger.warn_of_hold(uuid[])');
select api_meta.give('ledger.warn_of_hold(uuid[])', 'service_ledger');
grant execute on function ledger.warn_of_hold(uuid[]) to service_writer;
--! EndIncluded ledger/warn_of_hold.sql
--! Included erp/hold_batches.sql
create or replace function erp.hold_batches(batch_ids uuid[], held boolean, reason text default null)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  if coalesce(cardinality(batch_ids), 0) = 0 then
    perform mutation.refuse('REQUIRED', 'At least one batch is needed.', '{ids}');
  end if;
  perform mutation.refuse_too_many(cardinality(batch_ids), 250, '{ids}');
  if length(reason) > 1000 then
    perform mutation.refuse('OUT_OF_RANGE', 'The reason has more than 1,000 characters.', '{reason}');
  end if;
  -- Bookings update batches under the lock of their product, which comes first here, too
  perform ledger.lock(array(select distinct b.product_id from erp.batch b where b.id = any (batch_ids)));
  perform from erp.batch b where b.id = any (batch_ids) order by b.id for no key update;
  select jsonb_agg(mutation.user_error(
    case when i.nth > 1 then 'NOT_UNIQUE' when b.id is null then 'NOT_FOUND'
      else 'INVALID_STATE_TRANSITION' end,
    case when i.nth > 1 then 'This batch is in the list already.'
      when b.id is null then 'There is no such batch.'
      else format('Batch %s is%s on hold.', b.number, case when held then ' already' else ' not' end) end,
    mutation.path('ids', i.n), case when i.nth = 1 and b.id is not null then
      jsonb_build_object('allowedActions', array[case when held then 'release' else 'hold' end])
    end) order by i.n)
  into errors
  from (
    select u.id, u.n, row_number() over (partition by u.id order by u.n) as nth
    from unnest(batch_ids) with ordinality u (id, n)
  ) i
  left join erp.batch b on b.id = i.id
  where i.nth > 1 or b.is_held is not distinct from held or b.id is null;
  perform mutation.refuse(errors);
  update erp.batch b
  set is_held = held, held_at = case when held then date_trunc('second', now()) end, hold_reason = reason
  where b.id = any (batch_ids);
  if held then
    perform ledger.warn_of_hold(batch_ids);
  end if;
  return batch_ids;
end
$$;
comment on function erp.hold_batches(uuid[], boolean, text) is
  'Puts batches on hold, for a reason, or releases them. Returns their ids. User errors REQUIRED, '
  'TOO_MANY_LINES, OUT_OF_RANGE, NOT_UNIQUE, NOT_FOUND, INVALID_STATE_TRANSITION; warning STOCK_PROMISED.';
select api_meta.plan_by_index('erp.hold_batches(uuid[], boolean, text)');
grant execute on function erp.hold_batches(uuid[], boolean, text) to service_writer;
--! EndIncluded erp/hold_batches.sql
--! Included api/batch_hold.sql
drop type if exists api_unstable.batch_hold_payload cascade;
create type api_unstable.batch_hold_payload as (
  batches uuid[], user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.batch_hold_payload is
  'The result of putting batches on hold, or of releasing them.';
comment on column api_unstable.batch_hold_payload.batches is
  E'@entity Batch\n@perLine ids\nThe batches as they are now, in the order of the input; empty when refused.';
comment on column api_unstable.batch_hold_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.batch_hold_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.batch_hold_input cascade;
create type api_unstable.batch_hold_input as (ids uuid[], reason text);
comment on type api_unstable.batch_hold_input is 'Batches to put on hold.';
comment on column api_unstable.batch_hold_input.ids is
  E'@notNull\n@gid Batch\nIds of the batches; 1 to 250. They may belong to several products.';
comment on column api_unstable.batch_hold_input.reason is
  'Why they have to wait, in at most 1,000 characters. Kept until the hold is released.';

create function api_unstable.batch_hold(input api_unstable.batch_hold_input)
returns api_unstable.batch_hold_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.hold_batches(input.ids, true, input.reason), null, null)::api_unstable.batch_hold_payload
$$;
comment on function api_unstable.batch_hold(api_unstable.batch_hold_input) is
  E'@requiresScopes batches:write\n'
  '@userErrors NOT_FOUND REQUIRED NOT_UNIQUE INVALID_STATE_TRANSITION OUT_OF_RANGE TOO_MANY_LINES\n'
  '@warnings STOCK_PROMISED\n'
  'Puts batches on hold: all of them, or none. Their units are no longer available, and no shipment takes '
  'them. They can still be counted, moved by name and disposed of. The call succeeds even if orders wait '
  'for the units, and then has the warning STOCK_PROMISED.';
--! EndIncluded api/batch_hold.sql
--! Included api/batch_release.sql
drop type if exists api_unstable.batch_release_input cascade;
create type api_unstable.batch_release_input as (ids uuid[]);
comment on type api_unstable.batch_release_input is 'Batches to release from their hold.';
comment on column api_unstable.batch_release_input.ids is
  E'@notNull\n@gid Batch\nIds of the batches; 1 to 250. They may belong to several products.';

create function api_unstable.batch_release(input api_unstable.batch_release_input)
returns api_unstable.batch_hold_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.hold_batches(input.ids, false), null, null)::api_unstable.batch_hold_payload
$$;
comment on function api_unstable.batch_release(api_unstable.batch_release_input) is
  E'@requiresScopes batches:write\n'
  '@userErrors NOT_FOUND REQUIRED NOT_UNIQUE INVALID_STATE_TRANSITION TOO_MANY_LINES\n'
  'Releases batches from their hold: all of them, or none. Their units are available again where the '
  'warehouse sells its stock.';
--! EndIncluded api/batch_release.sql

-- What shipping reads
--! Included erp/other_location.sql
create or replace function erp.other_location(order_id uuid, lines ledger.change[]) returns uuid
language sql stable
begin atomic
  select l.id from erp.location l join erp.warehouse w on w.id = l.warehouse_id
  where l.active and w.is_stock_available_for_sale
    and not exists (select from unnest(lines) u where erp.is_called_off(u.owner_id, l.id))
    and not exists (
      select from (
        select u.item_id as product_id, sum(u.quantity) as quantity
        from unnest(lines) u
        where u.item_id is not null
        group by 1
      ) n
      left join ledger.warehouse_stock s on s.product_id = n.product_id and s.warehouse_id = w.id
      where coalesce(s.available_quantity, 0) < n.quantity)
  order by not exists (
      select from erp.fulfillment_order f where f.destination_order_id = other_location.order_id
        and f.source_warehouse_location_id = l.id and f.state in ('Open', 'InProgress')),
    w.code, l.id
  limit 1;
end;
comment on function erp.other_location(uuid, ledger.change[]) is
  'Returns a location that can ship units of lines whose shipping was cancelled elsewhere. Its warehouse '
  'sells its stock, and has all of the units in addition to what it ships already. Locations that ship '
  'something of the order already come first, then the code of the warehouse decides. Null if there is '
  'none.';
grant execute on function erp.other_location(uuid, ledger.change[]) to service_writer;
--! EndIncluded erp/other_location.sql

--! split: 110-tracking.sql
-- Tracking of products, serial numbers, shelf life, and pick order

-- Picking reads the pick order and the time zone
select api_meta.allow('service_ledger', 'erp.merchant', 'select');
--! Included erp/local_date.sql
create or replace function erp.local_date(moment timestamptz) returns date
language sql stable
return (moment at time zone coalesce((select m.time_zone from erp.merchant m), 'UTC'))::date;
comment on function erp.local_date(timestamptz) is
  'Returns the day of a moment in the merchant''s time zone, by which documents are dated.';
grant execute on function erp.local_date(timestamptz) to service_writer, service_ledger;
--! EndIncluded erp/local_date.sql

drop view if exists api_unstable.batches;
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
    documents text[], comment text
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
        l.ordinality, p.ordinality, (p.place).warehouse_id, (p.place).bin_location_id, p.quantity, p.batch_id
      )::erp.shipping_place
      from unnest(input.lines) with ordinality l
      cross join unnest(l.places) with ordinality p
      order by l.ordinality, p.ordinality
    ),
    input.tracking_codes, input.comment, input.documents
  ) s
$$;
comment on function api_unstable.fulfillment_create(api_unstable.fulfillment_create_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED ON_HOLD INVALID_STATE_TRANSITION OVER_FULFILLMENT '
  'INSUFFICIENT_STOCK REQUIRED INVALID NOT_UNIQUE OUT_OF_RANGE TOO_MANY_LINES BATCH_MISMATCH BATCH_HELD '
  'BATCH_EXPIRED BATCH_REQUIRED\n'
  '@warnings DOCUMENT_INCOMPLETE DOCUMENT_NOT_MADE\n'
  'Ships a part of a fulfillment order, or all that is open of it. Books the units out by the process '
  'api_shipping and records the fulfillment. The fulfillment order is in progress then, and closed when '
  'nothing is open any more; the states of the order follow.';
--! EndIncluded api/fulfillment_create.sql
--! Included api/fulfillment_cancel.sql
drop type if exists api_unstable.fulfillment_cancel_payload cascade;
create type api_unstable.fulfillment_cancel_payload as (
  fulfillment uuid, fulfillment_orders uuid[], stock_movements uuid[], documents uuid[],
  user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.fulfillment_cancel_payload is 'The result of cancelling a fulfillment.';
comment on column api_unstable.fulfillment_cancel_payload.fulfillment is
  E'@entity Fulfillment\nThe fulfillment as it is now; null when it was refused.';
comment on column api_unstable.fulfillment_cancel_payload.fulfillment_orders is
  E'@entity FulfillmentOrder\nThe fulfillment orders whose quantities are open again.';
comment on column api_unstable.fulfillment_cancel_payload.stock_movements is
  E'@entity StockMovement\nThe movements that brought the units back.';
comment on column api_unstable.fulfillment_cancel_payload.documents is
  E'@entity Document\n'
  'The cancellation of the invoice over the fulfillment, and a new invoice over what else it charged; '
  'empty when it was not invoiced.';
comment on column api_unstable.fulfillment_cancel_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.fulfillment_cancel_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

drop type if exists api_unstable.fulfillment_cancel_input cascade;
create type api_unstable.fulfillment_cancel_input as (id uuid, comment text);
comment on type api_unstable.fulfillment_cancel_input is 'A fulfillment to cancel.';
comment on column api_unstable.fulfillment_cancel_input.id is
  E'@notNull\n@gid Fulfillment\nId of the fulfillment.';
comment on column api_unstable.fulfillment_cancel_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.fulfillment_cancel(input api_unstable.fulfillment_cancel_input)
returns api_unstable.fulfillment_cancel_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (s.fulfillments[1], s.fulfillment_orders, s.stock_movements, s.documents,
    null, null)::api_unstable.fulfillment_cancel_payload
  from erp.cancel_fulfillment(input.id, input.comment) s
$$;
comment on function api_unstable.fulfillment_cancel(api_unstable.fulfillment_cancel_input) is
  E'@requiresScopes orders:write\n'
  '@userErrors NOT_FOUND EXTERNALLY_MANAGED INVALID_STATE_TRANSITION INVALID INSUFFICIENT_STOCK '
  'BATCH_REQUIRED OUT_OF_RANGE SERIAL_NUMBER_IN_STOCK\n'
  '@warnings DOCUMENT_INCOMPLETE DOCUMENT_NOT_MADE\n'
  'Cancels a fulfillment: books its units back to where they came from, by the process '
  'cancelled_fulfillment, or to the warehouse when a bin is gone. Its quantities are open again, closed '
  'fulfillment orders too, and the states of the order go back. Tracking codes stay. An invoice over it '
  'is cancelled by a document of its own (storno); what it charged of other parcels is charged by a new '
  'invoice. An invoice that a credit note has taken back needs none.';
--! EndIncluded api/fulfillment_cancel.sql
--! Included api/goods_receipt_approve.sql
drop type if exists api_unstable.goods_receipt_approve_input cascade;
create type api_unstable.goods_receipt_approve_input as (id uuid);
comment on type api_unstable.goods_receipt_approve_input is 'A goods receipt to approve.';
comment on column api_unstable.goods_receipt_approve_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

create function api_unstable.goods_receipt_approve(input api_unstable.goods_receipt_approve_input)
returns api_unstable.goods_receipt_booking_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, b.stock_movements, b.stocks,
    null, null)::api_unstable.goods_receipt_booking_payload from erp.approve_goods_receipt(input.id) b
$$;
comment on function api_unstable.goods_receipt_approve(api_unstable.goods_receipt_approve_input) is
  E'@requiresScopes goods_receipts:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION REQUIRED BATCH_REQUIRED INSUFFICIENT_STOCK '
  'OUT_OF_RANGE SERIAL_NUMBER_IN_STOCK\n'
  '@warnings PRODUCT_HAS_VARIANTS STOCK_PROMISED\n'
  'Approves a goods receipt: the goods have arrived. Books the lines to the place of the receipt: from '
  'the return orders for receipts of type Customer, and otherwise from the special place unknown. Lines '
  'with a negative quantity are booked from the place of the goods.';
--! EndIncluded api/goods_receipt_approve.sql
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
  order_id uuid, warehouse_id uuid, tracking_codes text[], documents text[], comment text
);
comment on type api_unstable.order_shipment_complete_input is 'An order to ship.';
comment on column api_unstable.order_shipment_complete_input.order_id is
  E'@notNull\n@gid Order\nId of the order.';
comment on column api_unstable.order_shipment_complete_input.warehouse_id is
  E'@gid Warehouse\n'
  'Id of the warehouse that ships what no open fulfillment order has. Left out, it is the default '
  'warehouse; and what was called off there, by cancelling a fulfillment order, is shipped by another '
  'warehouse that has all of it.';
comment on column api_unstable.order_shipment_complete_input.tracking_codes is
  'Codes to follow the parcels by, of 1 to 255 characters. They join those that the order has.';
comment on column api_unstable.order_shipment_complete_input.documents is
  'Documents to make, by technical names of document types: a delivery_note of this parcel, an invoice '
  'over all that was shipped of the order and that no other invoice charges. Others, and what was shipped '
  'without, are made by documentCreate.';
comment on column api_unstable.order_shipment_complete_input.comment is
  'Note that is kept with the movements, of at most 1,000 characters.';

create function api_unstable.order_shipment_complete(input api_unstable.order_shipment_complete_input)
returns api_unstable.order_shipment_complete_payload
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  done constant erp.shipment := erp.complete_shipment(
    input.order_id, input.tracking_codes, input.documents, input.comment, input.warehouse_id
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
  'ON_HOLD EXTERNALLY_MANAGED INSUFFICIENT_STOCK OVER_FULFILLMENT BATCH_REQUIRED\n'
  '@warnings DOCUMENT_INCOMPLETE DOCUMENT_NOT_MADE\n'
  'Ships everything that is still open of an order. Open fulfillment orders are shipped from the '
  'warehouse of their location. Everything else is shipped from the named warehouse, or else from the '
  'default warehouse. Units that were cancelled there are shipped by another warehouse that has all of '
  'them. Units are picked in the pick order of their product; batches on hold, expired ones and those '
  'short of the promised shelf life are left out. Books them out by the process '
  'api_shipping, records the fulfillment, closes the fulfillment orders, and brings the states of the '
  'order up to date. What is fulfilled externally is left alone. All of it is shipped, or nothing. An '
  'order that has nothing left to ship, as one of services alone, is only completed.';
--! EndIncluded api/order_shipment_complete.sql

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
    select c.line, 'NOT_EDITABLE', 'This can change only while there is no stock.', c.field,
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
--! Included erp/upsert_products.sql
create or replace function erp.with_parents(rows mutation.upsert_row[]) returns mutation.upsert_row[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  -- The parent may be in the same call, whose numbers come before present ones
  select mutation.with_values(rows, (
    select jsonb_object_agg(u.line, jsonb_build_object('parent_id', coalesce(
      (
        select r.id from unnest(rows) r
        where r.wanted ->> 'product_number' = u.given ->> 'parent_product_number' limit 1
      ),
      (
        select o.id from erp.product o
        where o.product_number = u.given ->> 'parent_product_number'
          and o.id <> all (array(select r.id from unnest(rows) r))
      )
    )))
    from unnest(rows) u where u.given ? 'parent_product_number'
  ));
end;
comment on function erp.with_parents(mutation.upsert_row[]) is
  'Returns the rows of an upsert of products, with the ids of parents that they name by number.';
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
  'of variants, and unknown keys in storefront_variants.';
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
  rows mutation.upsert_row[];
  refused integer;
begin
  rows := erp.with_storefront_variants(erp.with_translations(erp.with_tracking(erp.with_parents(
    mutation.match_rows('erp.product', 'products', given, '{product_number}', matches)))));
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
--! Included erp/faults_of_things_named.sql
create or replace function erp.faults_of_things_named(
  target erp.goods_receipt, lines erp.goods_receipt_line[]
)
returns table (line bigint, code text, message text, field text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return query
    select l.ordinality, case when b.id is null then 'NOT_FOUND' else 'BATCH_MISMATCH' end,
      case
        when b.id is null then 'There is no such batch.'
        else format('Batch %s belongs to another product.', b.number) end,
      'batch_id'
    from unnest(lines) with ordinality l left join erp.batch b on b.id = l.batch_id
    where l.batch_id is not null and b.product_id is distinct from l.product_id
    union all
    select l.ordinality, 'INVALID', 'The batch has another number.', 'batch_number'
    from unnest(lines) with ordinality l
    join erp.batch b on b.id = l.batch_id
    where l.batch_number <> b.number
    union all
    select l.ordinality, 'OUT_OF_RANGE',
      'Each unit has a serial number: a line has one unit, or -1 to take it back.', 'quantity'
    from unnest(lines) with ordinality l join erp.product p on p.id = l.product_id
    where p.has_serial_numbers and abs(l.quantity) > 1
    union all
    select l.ordinality, 'INVALID', 'Only receipts of type Customer name return orders.', 'return_order_id'
    from unnest(lines) with ordinality l where target.type <> 'Customer' and l.return_order_id is not null
    union all
    select l.ordinality, 'NOT_FOUND', 'There is no such return order.', 'return_order_id'
    from unnest(lines) with ordinality l where l.return_order_id is not null
      and not exists (select from erp.return_order r where r.id = l.return_order_id)
    union all
    select l.ordinality, 'INVALID', 'The warehouse of the receipt has no such bin.',
      'destination_bin_location_id'
    from unnest(lines) with ordinality l where l.destination_bin_location_id is not null and not exists (
      select from erp.bin_location b
      where b.id = l.destination_bin_location_id and b.warehouse_id = target.warehouse_id);
end
$$;
comment on function erp.faults_of_things_named(erp.goods_receipt, erp.goods_receipt_line[]) is
  'Returns what is wrong with the batches, serial numbers, return orders and bins that lines of a goods '
  'receipt name.';
grant execute on function erp.faults_of_things_named(erp.goods_receipt, erp.goods_receipt_line[])
  to service_writer;
--! EndIncluded erp/faults_of_things_named.sql
--! Included erp/require_places.sql
create or replace function erp.require_places(
  lines erp.shipping_line[], places erp.shipping_place[], source_id uuid
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
begin
  select jsonb_agg(
    mutation.user_error(
      e.code, e.message, mutation.path('lines', e.line) || mutation.path('places', e.nth) || e.field
    ) order by e.line,
    e.nth
  )
  into errors
  from (
    select p.line, p.nth, 'NOT_FOUND', 'There is no such warehouse.', '{place,warehouse_id}'::text[]
    from unnest(places) p
    where p.warehouse_id is not null and not exists (select from erp.warehouse w where w.id = p.warehouse_id)
    union all
    select p.line, p.nth, 'NOT_FOUND', 'There is no such bin.', '{place,bin_location_id}'
    from unnest(places) p
    where p.bin_location_id is not null
      and not exists (select from erp.bin_location b where b.id = p.bin_location_id)
    union all
    select p.line, p.nth, 'INVALID', 'This place is not in the warehouse that is to ship.', '{place}'
    from unnest(places) p
    left join erp.bin_location b on b.id = p.bin_location_id
    left join erp.warehouse w on w.id = p.warehouse_id
    where coalesce(b.warehouse_id, w.id) <> source_id
    union all
    select p.line, p.nth, 'INVALID', 'The line has no product that could be taken from a place.', '{place}'
    from unnest(places) p
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where l.product_id is null
    union all
    select p.line, p.nth, 'NOT_FOUND', 'There is no such batch.', '{batch_id}'
    from unnest(places) p
    where p.batch_id is not null and not exists (select from erp.batch b where b.id = p.batch_id)
    union all
    select p.line, p.nth, 'BATCH_MISMATCH', format('Batch %s belongs to another product.', b.number),
      '{batch_id}'
    from unnest(places) p
    join erp.batch b on b.id = p.batch_id
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.product_id <> l.product_id
    union all
    select p.line, p.nth, 'BATCH_HELD', format('Batch %s is on hold.', b.number), '{batch_id}'
    from unnest(places) p
    join erp.batch b on b.id = p.batch_id
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.is_held and b.product_id = l.product_id
    union all
    select p.line, p.nth, 'BATCH_EXPIRED', format('Batch %s was best before %s.', b.number,
      b.best_before_date), '{batch_id}'
    from unnest(places) p
    join erp.batch b on b.id = p.batch_id
    join erp.fulfillment_order_line_item l on l.id = lines[p.line].id
    where b.best_before_date < erp.local_date(now()) and b.product_id = l.product_id
  ) e (line, nth, code, message, field);
  perform mutation.refuse(errors);
end
$$;
comment on function erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid) is
  'Refuses places and batches that a warehouse cannot take units of lines from. Batches that are short of '
  'the promised shelf life may be named. User errors NOT_FOUND, INVALID, BATCH_MISMATCH, BATCH_HELD, '
  'BATCH_EXPIRED.';
grant execute on function erp.require_places(erp.shipping_line[], erp.shipping_place[], uuid)
  to service_writer;
--! EndIncluded erp/require_places.sql
--! Included erp/create_fulfillment.sql
create or replace function erp.create_fulfillment(fulfillment_order_id uuid, lines erp.shipping_line[],
  places erp.shipping_place[],
  tracking_codes text[], note text, documents text[] default null) returns erp.shipment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.fulfillment_order;
  source_id uuid;
  picks ledger.pick[];
begin
  perform erp.require_shipping_lines(lines, places, 'fulfillment_order_line_item_id');
  perform erp.require_tracking_codes(tracking_codes);
  perform erp.require_documents(documents);
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
  return erp.ship(present.destination_order_id, picks, '{}', tracking_codes, note);
end
$$;
comment on function
  erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[]) is
  'Ships some of the open units of a fulfillment order, or all if lines is null. They are taken from the '
  'given places or, by default, in the pick order. Documents are only checked here. User '
  'errors REQUIRED, TOO_MANY_LINES, OUT_OF_RANGE, NOT_UNIQUE, NOT_FOUND, INVALID, EXTERNALLY_MANAGED, '
  'ON_HOLD, INVALID_STATE_TRANSITION, OVER_FULFILLMENT, BATCH_MISMATCH, BATCH_HELD, BATCH_EXPIRED, '
  'BATCH_REQUIRED, INSUFFICIENT_STOCK.';
select api_meta.plan_by_index(
  'erp.create_fulfillment(uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[])'
);
grant execute on function erp.create_fulfillment(
  uuid, erp.shipping_line[], erp.shipping_place[], text[], text, text[]
)
  to service_writer;
--! EndIncluded erp/create_fulfillment.sql
--! Included ledger/require_serial_numbers.sql
create or replace function ledger.require_serial_numbers(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  own constant text[] := '{warehouse,bin_location,stock_container,goods_receipt}';
  errors jsonb;
begin
  with flow as (
    select d.field, d.batch_id, d.quantity, d.ordinality as line,
      (d.destination_type = any (own))::integer - (d.source_type = any (own))::integer as direction
    from unnest(drafts) with ordinality d
    -- Offset: looked up one by one
    cross join lateral (
      select p.has_serial_numbers from erp.product p where p.id = d.product_id offset 0) p
    where p.has_serial_numbers
  ),
  -- By all lines together, so that their order does not matter
  arrival as (
    select f.batch_id, sum(f.quantity * f.direction) as change,
      max(f.line) filter (where f.direction > 0) as line
    from flow f group by f.batch_id having sum(f.quantity * f.direction) > 0
  ),
  fault (line, error) as (
    select f.line, mutation.user_error('OUT_OF_RANGE',
      format('A serial number is one unit, not %s.', f.quantity), f.field)
    from flow f where f.quantity > 1
    union all
    select a.line, mutation.user_error('SERIAL_NUMBER_IN_STOCK',
      format(case when s.units > 0 then 'The unit with the serial number %s is in stock already.'
        else 'Another line brings the unit with the serial number %s.' end, b.number),
      case when cardinality(drafts[a.line].field) > 1
        then trim_array(drafts[a.line].field, 1) || '{batch_id}' else drafts[a.line].field end,
      jsonb_build_object('serialNumber', b.number))
    from arrival a
    cross join lateral (select b.number from erp.batch b where b.id = a.batch_id offset 0) b
    cross join lateral (
      select coalesce(sum(x.quantity), 0) as units
      from ledger.batch_stock x join ledger.stock s on s.id = x.stock_id
      where x.batch_id = a.batch_id and s.location_type_technical_name = any (own)
    ) s
    where s.units + a.change > 1 and not exists (
      select from flow f where f.batch_id = a.batch_id and f.quantity > 1)
  )
  select jsonb_agg(fault.error order by fault.line) into errors from fault;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_serial_numbers(ledger.draft[]) is
  'Refuses movements that would leave more than one unit of a serial number with the merchant: in '
  'warehouses, bins, containers and goods receipts together. A unit that was sold may come back. The '
  'products are locked, so bookings at the same time see each other. User errors OUT_OF_RANGE, '
  'SERIAL_NUMBER_IN_STOCK.';
grant execute on function ledger.require_serial_numbers(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/require_serial_numbers.sql
--! Included ledger/require_batches.sql
create or replace function ledger.require_batches(drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  errors jsonb;
  have_serial_numbers boolean;
begin
  select (
      select jsonb_agg(mutation.user_error('BATCH_REQUIRED',
        format('Product %s is kept in batches: name one.', p.product_number),
        trim_array(d.field, 1) || '{batch_id}') order by d.ordinality)
      from unnest(drafts) with ordinality d join erp.product p on p.id = d.product_id
      where p.is_batch_managed and d.batch_id is null
    ),
    -- Not a join with each line: many lines may have one product
    exists (
      select from erp.product p
      where p.id = any (array(select d.product_id from unnest(drafts) d)) and p.has_serial_numbers
    )
  into errors, have_serial_numbers;
  perform mutation.refuse(errors);
  if have_serial_numbers then
    perform ledger.require_serial_numbers(drafts);
  end if;
end
$$;
comment on function ledger.require_batches(ledger.draft[]) is
  'Refuses movements of products that are kept in batches but name no batch, and units whose serial number '
  'is in stock already. User errors BATCH_REQUIRED, OUT_OF_RANGE, SERIAL_NUMBER_IN_STOCK.';
grant execute on function ledger.require_batches(ledger.draft[]) to service_ledger;
--! EndIncluded ledger/require_batches.sql
--! Included ledger/pick_units.sql
create or replace function ledger.pick_units(picks ledger.pick[]) returns ledger.pick[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- The wanted units and the stored units form two rulers, side by side. Where stretches of both overlap,
  -- these units go to that line.
  return array(
    with wanted as (
      select p.ordinality as line, p.field, p.line_id, p.product_id, p.warehouse_id, p.quantity,
        sum(p.quantity) over (partition by p.product_id, p.warehouse_id order by p.ordinality) as upto
      from unnest(picks) with ordinality p where p.place is null and p.product_id is not null
    ),
    named as (
      select p.product_id, p.place, p.batch_id, sum(p.quantity) as quantity
      from unnest(picks) p where p.place is not null group by p.product_id, p.place, p.batch_id
    ),
    lying as (
      select w.product_id, w.warehouse_id, s.id, s.place, s.location_type_technical_name as place_type,
        s.quantity, b."position", b.code, a.is_batch_managed,
        coalesce(a.minimum_remaining_shelf_life_days, 0) as days,
        coalesce(a.pick_order, (select m.pick_order from erp.merchant m), 'bin') as pick_order
      from (select distinct wanted.product_id, wanted.warehouse_id from wanted) w
      join erp.product a on a.id = w.product_id
      join ledger.stock s on s.product_id = w.product_id
        and s.location_type_technical_name in ('warehouse', 'bin_location') and s.quantity > 0
      left join erp.bin_location b on b.id = s.bin_location_id
      where coalesce(s.warehouse_id, b.warehouse_id) = w.warehouse_id
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
          f.place_type = 'warehouse', f."position" nulls last, f.code, f.batch_id nulls first
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
  'Returns the places to take the units of picks from that name no place, in the pick order of their '
  'product. Batches that are on hold, have expired or are short of the promised shelf life are left out. '
  'Returns fewer units if there are not enough.';
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
      u.expired || ' have expired',
      u.short || ' are short of the promised shelf life, unless you name their batches'), '') || '.', '')
    || case when e.units > 0
      then format(' Other warehouses hold %s: assign units to them by fulfillmentOrderCreate.', e.units)
      else '' end,
    picks[t.line].field,
    jsonb_strip_nulls(jsonb_build_object(
      'available', t.available, 'requested', t.requested, 'productNumber', p.product_number, 'held', u.held,
      'expired', u.expired, 'short', u.short
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
    select sum(b.quantity) filter (where x.is_held) as held,
      sum(b.quantity) filter (where not x.is_held and x.best_before_date < d.today) as expired,
      sum(b.quantity) filter (where not x.is_held and x.best_before_date >= d.today) as short
    from ledger.stock s left join erp.bin_location l on l.id = s.bin_location_id
    join ledger.batch_stock b on b.stock_id = s.id and b.quantity > 0
    join erp.batch x on x.id = b.batch_id
    cross join (select erp.local_date(now()) as today) d
    where s.product_id = t.product_id and coalesce(s.warehouse_id, l.warehouse_id) = t.warehouse_id
      and (x.is_held or x.best_before_date - coalesce(p.minimum_remaining_shelf_life_days, 0) < d.today)
  ) u;
  perform mutation.refuse(errors);
end
$$;
comment on function ledger.require_picked(ledger.pick[], ledger.pick[]) is
  'Refuses picks for which not enough units were found. Says how many lie there that are not picked. User '
  'error INSUFFICIENT_STOCK.';
grant execute on function ledger.require_picked(ledger.pick[], ledger.pick[]) to service_ledger;
--! EndIncluded ledger/require_picked.sql
--! Included ledger/ship.sql
create or replace function ledger.ship(
  order_id uuid, picks ledger.pick[], assigned uuid[], note text, out stock_movements uuid[],
  out lines uuid[]
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  found_units ledger.pick[];
begin
  found_units := ledger.pick_units(picks);
  perform ledger.require_picked(picks, found_units);
  found_units := array(select p from unnest(picks) p where (p).place is not null) || found_units;
  lines := array(select f.line_id from unnest(found_units) with ordinality f order by f.ordinality);
  stock_movements := (ledger.book(array(
    select row (
      f.field, f.product_id, f.quantity, f.batch_id, f.place_type, f.place, 'order', order_id::text,
      'api_shipping'
    )::ledger.draft
    from unnest(found_units) with ordinality f order by f.ordinality
  ), note, ledger.promises_kept(picks, assigned))).stock_movements;
end
$$;
comment on function ledger.ship(uuid, ledger.pick[], uuid[], text) is
  'Books units out to an order and ends their promises; fulfillment orders that were assigned for this '
  'shipment have promised nothing. Units of picks without a place are taken by ledger.pick_units. Returns '
  'the movements, each with its line. Before, ledger.lock_shipment must be called. User error '
  'INSUFFICIENT_STOCK, and the user errors of ledger.book.';
select api_meta.plan_by_index('ledger.ship(uuid, ledger.pick[], uuid[], text)');
select api_meta.give('ledger.ship(uuid, ledger.pick[], uuid[], text)', 'service_ledger');
grant execute on function ledger.ship(uuid, ledger.pick[], uuid[], text) to service_writer;
--! EndIncluded ledger/ship.sql

--! split: 120-booking.sql
-- Bookings: one row for each call that books, which its movements name. One clock of bookings.

do $$
begin
  -- Until now, a type had the name, which is ledger.booked now
  if (select c.relkind from pg_class c where c.oid = to_regclass('ledger.booking')) = 'c' then
    drop type ledger.booking cascade;
  end if;
end
$$;
drop function if exists api_unstable.stock_bookings_stock_movements;
drop view if exists api_unstable.stock_bookings, api_unstable.stock_booking_reasons,
  api_unstable.stock_movements cascade;
drop trigger if exists booker_is_kept on auth.credential;
drop trigger if exists booker_is_kept on auth.administrator;
drop table if exists ledger.booking, ledger.booker, ledger.booking_reason cascade;
alter table ledger.process_type drop column if exists requires_reason cascade;
alter table ledger.stock_movement drop column if exists booking_id cascade;

create table ledger.booking_reason (
  code text collate "C" primary key
    constraint booking_reason_is_a_machine_name check (code ~ '^[a-z][a-z0-9_]{0,62}$'),
  description text not null constraint booking_reason_description_length check (length(description) <= 255),
  is_active boolean not null default true
);
alter table ledger.booking_reason enable row level security;
comment on table ledger.booking_reason is
  'Reasons that bookings can give. The merchant changes the list in SQL; a reason that is no longer wanted '
  'becomes inactive.';
comment on column ledger.booking_reason.code is 'The reason, as bookings name it.';
comment on column ledger.booking_reason.description is 'Meaning of the reason, for people.';
comment on column ledger.booking_reason.is_active is 'Whether new bookings may give it.';
insert into ledger.booking_reason (code, description) values
  ('counting_error', 'An earlier count or booking was wrong.'),
  ('damaged', 'The units were damaged and cannot be sold.'),
  ('expired', 'The units are past their best-before date.'),
  ('theft', 'The units were stolen.'),
  ('lost', 'The units cannot be found.'),
  ('found', 'The units were found again.'),
  ('internal_use', 'The company used the units itself.'),
  ('sample', 'The units were given away as samples.'),
  ('production', 'The units were made or used up in production.'),
  ('replenishment', 'The units were moved to where they are picked.');

-- waive constraint-scans: two dozen rows that only merchants change
alter table ledger.process_type add column requires_reason boolean not null default false
  constraint process_type_can_require_a_reason check (
    not requires_reason or technical_name in ('api', 'api_incoming', 'api_outgoing', 'api_relocation'));
-- waive index-blocks-writes: two dozen rows that only merchants change
create index process_type_requires_reason on ledger.process_type (technical_name) where requires_reason;
comment on index ledger.process_type_requires_reason is
  'For bookings without a reason: usually it is empty.';
comment on column ledger.process_type.requires_reason is
  'Whether bookings by this process need a reason. Only stockAdjust, stockSet and stockTransfer can give '
  'one.';

create table ledger.booker (
  id uuid primary key,
  name text not null constraint booker_name_length check (length(name) <= 255)
);
alter table ledger.booker enable row level security;
comment on table ledger.booker is
  'Names of all API credentials and administrators, kept after their deletion for the bookings that they '
  'did.';
comment on column ledger.booker.id is 'Id of the credential or the administrator.';
comment on column ledger.booker.name is 'The latest name.';
insert into ledger.booker (id, name)
select id, name from auth.credential union all select id, name from auth.administrator;
select api_meta.allow('service_registrar', 'ledger.booker', 'select', 'insert', 'update (name)');
grant usage on schema ledger to service_registrar;
--! Included ledger/keep_booker.sql
create or replace function ledger.keep_booker() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into ledger.booker (id, name) values (new.id, new.name)
  on conflict (id) do update set name = excluded.name;
  return null;
end
$$;
comment on function ledger.keep_booker() is
  'Trigger after a credential or an administrator was created or renamed: keeps the name for bookings, which '
  'need it after the deletion, too.';
--! EndIncluded ledger/keep_booker.sql
create trigger booker_is_kept after insert or update of name on auth.credential
for each row execute function ledger.keep_booker();
create trigger booker_is_kept after insert or update of name on auth.administrator
for each row execute function ledger.keep_booker();

create table ledger.booking (
  -- The id of its first movement
  id uuid primary key,
  last_movement_id uuid not null,
  booked_at timestamptz not null,
  credential_id uuid,
  administrator_id uuid,
  request_id text,
  reference text collate "C" constraint booking_reference_length
    check (length(reference) <= 255) not enforced,
  reason text collate "C",
  note text
);
create index on ledger.booking (reference, id) where reference is not null;
create index on ledger.booking (reason, id) where reason is not null;
create index on ledger.booking (credential_id, id) where credential_id is not null;
alter table ledger.booking enable row level security;
comment on table ledger.booking is
  'One row for each call that books movements, which name it. Rows are only ever inserted. They stay when '
  'their movements go with a product.';
comment on column ledger.booking.id is 'Id of the first movement.';
comment on column ledger.booking.last_movement_id is
  'Id of the last movement. Ids between belong to this booking alone.';
comment on column ledger.booking.booked_at is 'When the movements were booked, to the microsecond.';
comment on column ledger.booking.credential_id is
  'Credential that made the call; null for bookings in SQL. The credential may have been deleted since.';
comment on column ledger.booking.administrator_id is 'Administrator who acted; null if a client did.';
comment on column ledger.booking.request_id is 'Id of the request, as in its response and in the log.';
comment on column ledger.booking.reference is 'The caller''s own reference.';
comment on column ledger.booking.reason is 'Code of the reason, as ledger.booking_reason had it.';
comment on column ledger.booking.note is
  'Note of the call. Its movements have it, too, and bound its length.';
comment on constraint booking_reference_length on ledger.booking is
  E'@userError OUT_OF_RANGE reference\nThe reference has more than 255 characters.';
select api_meta.allow('service_booker', 'ledger.booking', 'select', 'insert');
select api_meta.allow('service_ledger', 'ledger.booking_reason', 'select');
select api_meta.allow('service_ledger', 'ledger.process_type', 'select');
select api_meta.allow('service_writer', 'ledger.booking_reason', 'select');
select api_meta.allow('service_writer', 'ledger.process_type', 'select');
grant usage on schema auth to service_booker;

alter table ledger.stock_movement add column booking_id uuid;
comment on column ledger.stock_movement.booking_id is
  'Booking that the movement belongs to; null for movements that were inserted in SQL, and for those from '
  'before bookings were kept.';

drop function if exists ledger.book(ledger.draft[], text, ledger.figure_change[]),
  ledger.book_correction(ledger.draft, ledger.call[]),
  ledger.adjust_stock(ledger.line[], text), ledger.set_stock(ledger.line[], text),
  ledger.transfer_stock(ledger.line[], text);
--! Included ledger/moment.sql
-- Have no settings, so that Postgres inlines them into the calling expression
create or replace function ledger.moment() returns timestamptz
language sql volatile
return clock_timestamp();
comment on function ledger.moment() is
  'The clock of the ledger: the moment of what is booked or counted now. Only the owner can move it, by '
  'replacing the function, for a test or for demonstration data; db/health finds a moved clock.';
grant execute on function ledger.moment() to service_ledger, service_booker, service_writer;

create or replace function ledger.moment_of_statement() returns timestamptz
language sql stable
return statement_timestamp();
comment on function ledger.moment_of_statement() is
  'The clock of the ledger when the statement began, for functions that must not be volatile. Move it '
  'together with ledger.moment().';
grant execute on function ledger.moment_of_statement() to service_ledger, service_booker, service_writer;
--! EndIncluded ledger/moment.sql
--! Included ledger/booked.sql
drop type if exists ledger.booked cascade;
create type ledger.booked as (stock_movements uuid[], stocks uuid[]);
comment on type ledger.booked is 'The result of a booking: its movements, and the stock that they changed.';
--! EndIncluded ledger/booked.sql
--! Included ledger/call.sql
drop type if exists ledger.call cascade;
create type ledger.call as (moment timestamptz, note text, cause jsonb, reference text, reason text);
comment on type ledger.call is
  'One booking, alone or in a group commit: the moment and the note of its movements, the cause of its '
  'events, and the caller''s reference and reason.';
--! EndIncluded ledger/call.sql
--! Included ledger/single.sql
drop type if exists ledger.single cascade;
create type ledger.single as (nth integer, operation text, line ledger.line, note text, cause jsonb,
  reference text, reason text);
comment on type ledger.single is
  'A mutation of stock with one line, in a group commit. It has the operation (set, adjust or transfer), the '
  'line, the note, the cause of its events, the reference and the reason. One without an operation is '
  'skipped.';
--! EndIncluded ledger/single.sql
--! Included auth/acting_administrator.sql
create or replace function auth.acting_administrator() returns uuid
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select session.administrator_id from auth.live_session as session
  where session.token_hash = decode(current_setting('service.session', true), 'hex');
end;
comment on function auth.acting_administrator() is
  'Returns the administrator to whose session the transaction belongs: the setting service.session has the '
  'SHA-256 of the session''s token, in hex. Null without a session that has not ended.';
select api_meta.give('auth.acting_administrator()', 'service_registrar');
grant execute on function auth.acting_administrator() to service_booker;
--! EndIncluded auth/acting_administrator.sql
--! Included ledger/bookings_of.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.bookings_of(calls ledger.call[], ids uuid[]) returns setof ledger.booking
language sql stable
begin atomic
  select ids[c.nth], ids[case when cardinality(calls) = 1 then cardinality(ids) else c.nth end], c.moment,
    substr(c.cause ->> 'credentialId', length('gid://service/Credential/') + 1)::uuid,
    -- Only the administration has sessions
    (select auth.acting_administrator() where current_setting('service.session', true) <> ''),
    c.cause ->> 'requestId', c.reference, c.reason, c.note
  from unnest(calls) with ordinality c (moment, note, cause, reference, reason, nth);
end;
comment on function ledger.bookings_of(ledger.call[], uuid[]) is
  'Returns the rows of ledger.booking of calls that book movements with these ids. All movements belong to '
  'one call, or each to a call of its own.';
grant execute on function ledger.bookings_of(ledger.call[], uuid[]) to service_booker;
--! EndIncluded ledger/bookings_of.sql
--! Included ledger/check_reason.sql
create or replace function ledger.check_reason(reason text, drafts ledger.draft[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_active constant boolean := (select r.is_active from ledger.booking_reason r where r.code = reason);
begin
  if reason is not null and is_active is null then
    perform mutation.refuse_missing('reason', '{reason}');
  elsif not is_active then
    perform mutation.refuse('INVALID', 'This reason is no longer in use.', '{reason}');
  elsif reason is null and exists (
    select from unnest(drafts) d join ledger.process_type t on t.technical_name = d.process
    where t.requires_reason
  ) then
    perform mutation.refuse('REQUIRED', 'The merchant requires a reason for such bookings.', '{reason}');
  end if;
end
$$;
comment on function ledger.check_reason(text, ledger.draft[]) is
  'Refuses an unknown or inactive reason, and drafts of a process that requires a reason if there is none. '
  'User errors NOT_FOUND, INVALID, REQUIRED.';
grant execute on function ledger.check_reason(text, ledger.draft[]) to service_ledger;
--! EndIncluded ledger/check_reason.sql
--! Included ledger/movements_of.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function ledger.movements_of(calls ledger.call[], drafts ledger.draft[], ids uuid[])
returns setof ledger.stock_movement
language sql stable
begin atomic
  select ids[d.ordinality], date_trunc('second', (c.call).moment), d.product_id, d.quantity,
    d.source_type, s.warehouse_id, s.bin_location_id, s.order_id, s.return_order_id, s.goods_receipt_id,
    s.stock_container_id, s.special_place,
    d.destination_type, t.warehouse_id, t.bin_location_id, t.order_id, t.return_order_id, t.goods_receipt_id,
    t.stock_container_id, t.special_place,
    d.process, (c.call).note, pg_current_xact_id()::text::bigint, ledger.microseconds((c.call).moment),
    ids[case when cardinality(calls) = 1 then 1 else d.ordinality end]
  from unnest(drafts) with ordinality d
  cross join lateral (select calls[least(d.ordinality, cardinality(calls))]) c (call)
  cross join lateral ledger.place_columns(d.source_type, d.source) s
  cross join lateral ledger.place_columns(d.destination_type, d.destination) t
  order by d.ordinality;
end;
comment on function ledger.movements_of(ledger.call[], ledger.draft[], uuid[]) is
  'Returns drafts as rows of the ledger with these ids. All drafts belong to one call, or each to a call of '
  'its own. The booking has the id of its first movement.';
grant execute on function ledger.movements_of(ledger.call[], ledger.draft[], uuid[]) to service_booker;
--! EndIncluded ledger/movements_of.sql
--! Included ledger/write_rows.sql
create or replace function ledger.write_rows(
  calls ledger.call[], drafts ledger.draft[], movement_ids uuid[], changes ledger.place_change[],
  others ledger.figure_change[], out lacks boolean, out is_incomplete boolean
)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  today constant timestamptz := date_trunc('second', now());
begin
  with booked as (
    insert into ledger.stock_movement select m.* from ledger.movements_of(calls, drafts, movement_ids) m
    returning stock_movement as n
  ),
  in_place as (
    update ledger.stock s set quantity = s.quantity + c.change, updated_at = today
    from unnest(changes) c where s.id = c.stock_id and c.change <> 0 and not c.is_new
    returning with (old as o, new as n) o, n, c.position
  ),
  configured_place as (
    update erp.product_stock_location_configuration s set stock = s.stock + c.change, updated_at = today
    from unnest(changes) c
    where c.warehouse_id is not null and c.change <> 0 and s.product_id = c.product_id
      and coalesce(s.warehouse_id, s.bin_location_id)::text = c.place
  ),
  part as materialized (select * from ledger.changed_parts(changes, others)),
  in_warehouse as (
    update ledger.warehouse_stock s set quantity = s.quantity + h.change,
      reserved_quantity = s.reserved_quantity + h.promised, held_quantity = s.held_quantity + h.on_hold,
      updated_at = today
    from part h
    where s.product_id = h.product_id and s.warehouse_id = h.warehouse_id
      and (h.change, h.promised, h.on_hold) <> (0, 0, 0)
    returning s.available_quantity
  ),
  configured as (
    update erp.product_warehouse_configuration c set stock = c.stock + h.change, updated_at = today
    from part h where c.product_id = h.product_id and c.warehouse_id = h.warehouse_id and h.change <> 0
  ),
  in_product as (
    update erp.product p set physical_stock = p.physical_stock + h.change, updated_at = today,
      stock_not_available_for_sale = p.stock_not_available_for_sale + h.not_for_sale,
      reserved_stock = p.reserved_stock + h.reserved,
      open_supplier_order_quantity = p.open_supplier_order_quantity + h.awaited
    from (
      select f.product_id, sum(f.change)::integer as change, sum(f.not_for_sale)::integer as not_for_sale,
        sum(f.reserved)::integer as reserved, sum(f.awaited)::integer as awaited, min(f.position) as position
      from part f group by f.product_id
      having bool_or((f.change, f.not_for_sale, f.reserved, f.awaited) <> (0, 0, 0, 0))
    ) h where p.id = h.product_id
    returning with (old as o, new as n) o, n, h.position
  ),
  told as (
    insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
    select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (calls[1]).cause from (
      select 1 as kind, array_position(movement_ids, (b.n).id)::bigint as position, e.*
      from booked b cross join lateral events.stock_movement_insert_events(b.n) e
      union all
      select 2, p.position, e.* from in_place p cross join lateral events.stock_update_events(p.o, p.n) e
      union all
      select 3, p.position, e.* from in_product p cross join lateral events.product_update_events(p.o, p.n) e
    ) e where cardinality(calls) = 1 order by e.kind, e.position
  )
  select exists (select from in_product p where (p.n).available_stock < 0)
      or exists (select from in_warehouse w where w.available_quantity < 0),
    (select count(*) from in_place) < cardinality(changes)
      or (select count(*) from in_warehouse)
        < (select count(*) from part h
          where h.warehouse_id is not null and (h.change, h.promised, h.on_hold) <> (0, 0, 0))
  into lacks, is_incomplete;
end
$$;
comment on function ledger.write_rows(
  ledger.call[], ledger.draft[], uuid[], ledger.place_change[], ledger.figure_change[]
) is
  'Adds movements with these ids, updates stock, warehouse stock, products and their configurations, and '
  'emits events if there is one call. Returns whether available stock is below 0 now, and whether rows were '
  'missing. Add a new figure here. Add it to ledger.book_correction, too, if mutations of stock change it, '
  'and to ledger.product_after if it belongs to products. Only for ledger.write.';
grant execute on function ledger.write_rows(
  ledger.call[], ledger.draft[], uuid[], ledger.place_change[], ledger.figure_change[]
) to service_booker;
--! EndIncluded ledger/write_rows.sql
--! Included ledger/write_missing.sql
create or replace function ledger.write_missing(
  calls ledger.call[], changes ledger.place_change[], others ledger.figure_change[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with opened as (
    insert into ledger.stock (id, product_id, quantity, location_type_technical_name, warehouse_id,
      bin_location_id, order_id, return_order_id, goods_receipt_id, stock_container_id,
      special_stock_location_technical_name)
    select c.stock_id, c.product_id, c.change, c.place_type, p.*
    from unnest(changes) c cross join lateral ledger.place_columns(c.place_type, c.place) p
    where c.is_new order by c.position
    returning stock as n
  )
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (calls[1]).cause
  from opened o cross join lateral events.stock_insert_events(o.n) e order by (o.n).id;
  perform ledger.lock_stock(changes);
  insert into ledger.warehouse_stock (product_id, warehouse_id, quantity, reserved_quantity, held_quantity)
  select p.product_id, p.warehouse_id, p.change, p.promised, p.on_hold
  from ledger.changed_parts(changes, others) p
  where p.warehouse_id is not null and p.position is not null and not exists (
    select from ledger.warehouse_stock h
    where h.product_id = p.product_id and h.warehouse_id = p.warehouse_id)
  order by p.position;
end
$$;
comment on function
  ledger.write_missing(ledger.call[], ledger.place_change[], ledger.figure_change[]) is
  'Inserts missing rows of stock and warehouse stock, with their figures, and emits their events; in a '
  'group commit no row is missing. Refuses a booking that names a deleted place. Only for ledger.write.';
grant execute on function
  ledger.write_missing(ledger.call[], ledger.place_change[], ledger.figure_change[]) to service_booker;
--! EndIncluded ledger/write_missing.sql
--! Included ledger/tell_steps.sql
create or replace function ledger.tell_steps(
  calls ledger.call[], movement_ids uuid[], steps ledger.place_change[]
)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with in_place as (
    select c.stock_id, c.call, c.position, c.change, (sum(c.change) over onwards)::bigint as onwards
    from unnest(steps) c where c.change <> 0 and c.place_type <> 'special_stock_location'
    window onwards as (partition by c.stock_id order by c.call
      rows between current row and unbounded following)
  ),
  in_product as (
    select c.product_id, c.call, sum(c.change)::bigint as change, sum(c.not_for_sale)::bigint as not_for_sale,
      (sum(sum(c.change)) over onwards)::bigint as onwards,
      (sum(sum(c.not_for_sale)) over onwards)::bigint as not_for_sale_onwards
    from unnest(steps) c where c.warehouse_id is not null group by c.product_id, c.call
    window onwards as (partition by c.product_id order by c.call
      rows between current row and unbounded following)
  )
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (calls[e.call]).cause
  from (
    select 1 as kind, i.call, 0::bigint as position, e.*
    from unnest(movement_ids) with ordinality i (id, call) join ledger.stock_movement m on m.id = i.id
    cross join lateral events.stock_movement_insert_events(m) e
    union all
    select 2, p.call, p.position, e.*
    from in_place p join ledger.stock s on s.id = p.stock_id
    cross join lateral (
      select jsonb_populate_record(s, jsonb_build_object('quantity', s.quantity - p.onwards)),
        jsonb_populate_record(s, jsonb_build_object('quantity', s.quantity - p.onwards + p.change))
      offset 0
    ) r (o, n) cross join lateral events.stock_update_events(r.o, r.n) e
    union all
    select 3, p.call, 0, e.*
    from in_product p join erp.product q on q.id = p.product_id
    cross join lateral (
      select ledger.product_after(q, - p.onwards, - p.not_for_sale_onwards),
        ledger.product_after(q, p.change - p.onwards, p.not_for_sale - p.not_for_sale_onwards)
      offset 0
    ) r (o, n) cross join lateral events.product_update_events(r.o, r.n) e
  ) e order by e.call, e.kind, e.position;
end
$$;
comment on function ledger.tell_steps(ledger.call[], uuid[], ledger.place_change[]) is
  'Emits the events of several calls, call by call, with the figures as they were after each. Only for '
  'ledger.write, which has written the figures after all calls.';
grant execute on function ledger.tell_steps(ledger.call[], uuid[], ledger.place_change[]) to service_booker;
--! EndIncluded ledger/tell_steps.sql
--! Included ledger/write.sql
create or replace function ledger.write(
  calls ledger.call[], drafts ledger.draft[], changes ledger.place_change[],
  others ledger.figure_change[] default '{}', steps ledger.place_change[] default '{}',
  out movement_ids uuid[], out lacks boolean
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- The number of the transaction is drawn before the ids (ledger.next_movement_id)
  number constant xid8 := pg_current_xact_id();
  written record;
begin
  if calls[1].cause is null then
    calls[1].cause := events.cause();
  end if;
  movement_ids := ledger.next_movement_ids(cardinality(drafts));
  if cardinality(drafts) > 0 then
    insert into ledger.booking select b.* from ledger.bookings_of(calls, movement_ids) b;
  end if;
  written := ledger.write_rows(calls, drafts, movement_ids, changes, others);
  if written.is_incomplete then
    perform ledger.write_missing(calls, changes, others);
  end if;
  if cardinality(calls) > 1 then
    perform ledger.tell_steps(calls, movement_ids, steps);
  end if;
  lacks := written.lacks;
end
$$;
comment on function ledger.write(
  ledger.call[], ledger.draft[], ledger.place_change[], ledger.figure_change[], ledger.place_change[]
) is
  'Writes bookings of one call or several: adds a row for each call, and movements to the ledger in the '
  'order of their drafts. Updates all figures that change, each row once, and emits events. The drafts '
  'belong to one call, or each to a call of its own. Then steps are the changes of each call, and the result '
  'is the same as one call after the other. Events of a call without a cause get the running mutation as '
  'their cause. Returns the movements, and whether available stock that it changed is below 0 now. '
  'Everything has been checked and locked before. Callers must be marked by api_meta.plan_by_index.';
select api_meta.give('ledger.write(ledger.call[], ledger.draft[], ledger.place_change[], '
  'ledger.figure_change[], ledger.place_change[])', 'service_booker');
grant execute on function ledger.write(
  ledger.call[], ledger.draft[], ledger.place_change[], ledger.figure_change[], ledger.place_change[]
) to service_ledger;
--! EndIncluded ledger/write.sql
--! Included ledger/book_correction.sql
create or replace function ledger.book_correction(
  d ledger.draft, entry ledger.call, out movement_id uuid, out stock_id uuid, out lacks boolean
)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  today constant timestamptz := date_trunc('second', now());
  -- The number of the transaction is drawn before the id (ledger.next_movement_id)
  number constant xid8 := pg_current_xact_id();
  comes constant boolean := d.source_type = 'special_stock_location';
  change constant integer := case when comes then d.quantity else - d.quantity end;
  place constant text := case when comes then d.destination else d.source end;
  seen record;
  credential_id constant uuid := nullif(current_setting('service.credential_id', true), '')::uuid;
  administrator_id uuid;
  m ledger.stock_movement;
  stock ledger.stock;
  product record;
begin
  select p.stock, p.special_id, p.is_for_sale, (p.held).id as held_id, (p.held).warehouse_id into seen
  from ledger.plain_place(d.product_id, place, case when comes then d.source else d.destination end, comes,
    case when not ledger.is_count(d.process, d.source, d.destination) then entry.moment end) p
  where (p.stock).quantity + change >= 0;
  if not found then
    return;
  end if;
  -- Not in the statement: one with a volatile argument would not become part of it
  movement_id := ledger.next_movement_id();
  if credential_id is null then
    administrator_id := auth.acting_administrator();
  end if;
  -- As ledger.bookings_of. Few expressions, because each is compiled again in each transaction
  insert into ledger.booking (id, last_movement_id, booked_at, credential_id, administrator_id, request_id,
    reference, reason, note)
  values (movement_id, movement_id, entry.moment, credential_id, administrator_id,
    nullif(current_setting('service.request_id', true), ''), entry.reference, entry.reason, entry.note);
  insert into ledger.stock_movement
  select n.* from ledger.movements_of(array[entry], array[d], array[movement_id]) n returning * into m;
  stock := seen.stock;
  stock_id := stock.id;
  update ledger.stock s set updated_at = today,
    quantity = s.quantity + case when s.id = stock_id then change else - change end
  where s.id = any (array[stock_id, seen.special_id]);
  stock.quantity := stock.quantity + change;
  stock.updated_at := today;
  update ledger.warehouse_stock s set quantity = s.quantity + change, updated_at = today
  where s.id = seen.held_id returning s.available_quantity < 0 into lacks;
  update erp.product p set physical_stock = p.physical_stock + change, updated_at = today,
    stock_not_available_for_sale = p.stock_not_available_for_sale
      + case when seen.is_for_sale then 0 else change end
  where p.id = d.product_id returning with (old as o, new as n) o, n into product;
  update erp.product_warehouse_configuration c set stock = c.stock + change, updated_at = today
  where c.product_id = d.product_id and c.warehouse_id = seen.warehouse_id;
  update erp.product_stock_location_configuration c set stock = c.stock + change, updated_at = today
  where c.product_id = d.product_id and coalesce(c.warehouse_id, c.bin_location_id)::text = place;
  insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
  select e.topic, e.subject_id, e.entity_id, e.data, e.changed_fields, (select events.cause()) from (
    select * from events.stock_movement_insert_events(m)
    union all select * from events.stock_update_events(seen.stock, stock)
    union all select * from events.product_update_events(product.o, product.n)
  ) e;
  lacks := lacks or (product.n).available_stock < 0;
end
$$;
comment on function ledger.book_correction(ledger.draft, ledger.call) is
  'Books one movement between a warehouse or bin and a special place by simple statements. They take two '
  'thirds of the time of ledger.write, with the same result. Returns the movement, the stock, and whether '
  'available stock is below 0 now. Returns nulls, and books nothing, if ledger.plain_place returns no row '
  'or the place has too little stock. The product is locked. Callers must be marked by '
  'api_meta.plan_by_index.';
select api_meta.give('ledger.book_correction(ledger.draft, ledger.call)', 'service_booker');
grant execute on function ledger.book_correction(ledger.draft, ledger.call) to service_ledger;
--! EndIncluded ledger/book_correction.sql
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
--! Included ledger/post.sql
create or replace function ledger.post(
  drafts ledger.draft[], note text, others ledger.figure_change[] default '{}'
) returns ledger.booked
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.lock_places(drafts);
  return ledger.book(drafts, note, others);
end
$$;
comment on function ledger.post(ledger.draft[], text, ledger.figure_change[]) is
  'Books movements: takes the locks, then calls ledger.book. User errors INSUFFICIENT_STOCK, '
  'BATCH_REQUIRED, PRODUCT_HAS_VARIANTS.';
select api_meta.plan_by_index('ledger.post(ledger.draft[], text, ledger.figure_change[])');
select api_meta.give('ledger.post(ledger.draft[], text, ledger.figure_change[])', 'service_ledger');
grant execute on function ledger.post(ledger.draft[], text, ledger.figure_change[]) to service_writer;
--! EndIncluded ledger/post.sql
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
        and (r.change >= 0 or (r.held).available_quantity + r.held_change >= 0
          and (r.product).available_stock + r.product_change - r.not_for_sale_change >= 0), false))
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
--! Included ledger/book_singles.sql
create or replace function ledger.book_singles(singles ledger.single[])
returns table (nth integer, movement_ids uuid[], stock_ids uuid[])
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  moment timestamptz;
  seen record;
  ids uuid[];
begin
  perform ledger.lock_lines(array(select s.line from unnest(singles) s where s.operation is not null));
  moment := ledger.moment();
  with plain as materialized (select * from ledger.plain_singles(singles, moment))
  select array_agg(row (p.booked_at, p.note, p.cause, p.reference, p.reason)::ledger.call order by p.movement)
      filter (where p.movement is not null and p.side = 1) as calls,
    array_agg(ledger.draft_of_single(p.operation, p.line, p.change) order by p.movement)
      filter (where p.movement is not null and p.side = 1) as drafts,
    (
      select array_agg(row (p.nth * 4 + x.nth, p.movement, (p.line).product_id, x.place_type, x.place,
        x.warehouse_id, x.stock_id, false, x.change, x.not_for_sale, 0)::ledger.place_change)
      from plain p cross join lateral (
        values (p.side, (p.stock).location_type_technical_name, (p.stock).place, p.warehouse_id,
          (p.stock).id, p.change, p.not_for_sale),
        (3, 'special_stock_location', 'stock_correction', null, p.special_id, - p.change, 0)
      ) x (nth, place_type, place, warehouse_id, stock_id, change, not_for_sale)
      where p.movement is not null and x.stock_id is not null
    ) as steps,
    array_agg(row (p.nth, (p.stock).id, null, null, (p.line).product_id, null, (p.line).quantity,
      p.booked_at, 0, (p.stock).quantity, null, null)::ledger.stock_reading order by p.nth)
      filter (where p.operation = 'set') as readings,
    array_agg(p.movement order by p.nth) filter (where p.operation = 'set' and p.movement is not null)
      as corrections,
    array_agg(p.nth order by p.nth, p.side) as nths,
    array_agg(p.movement order by p.nth, p.side) as movements,
    array_agg((p.stock).id order by p.nth, p.side) as stocks
  into seen from plain p;
  if seen.calls is not null then
    ids := (ledger.write(seen.calls, seen.drafts, array(
      select row (min(s.position), null, s.product_id, s.place_type, s.place, s.warehouse_id, s.stock_id,
        false, sum(s.change), sum(s.not_for_sale), 0)::ledger.place_change
      from unnest(seen.steps) s
      group by s.product_id, s.place_type, s.place, s.warehouse_id, s.stock_id
    ), '{}', seen.steps)).movement_ids;
  end if;
  if seen.readings is not null then
    perform ledger.note_counts(seen.readings,
      array(select ids[c.nth] from unnest(seen.corrections) with ordinality c (nth, line) order by c.line));
  end if;
  return query
  select m.nth, case when m.movement is null then '{}' else array[ids[m.movement]] end,
    array_agg(m.stock_id order by m.place)
  from unnest(seen.nths, seen.movements, seen.stocks) with ordinality m (nth, movement, stock_id, place)
  group by m.nth, m.movement;
end
$$;
comment on function ledger.book_singles(ledger.single[]) is
  'Books mutations of stock with one line each in a group commit, as if one came after the other. Takes the '
  'locks, then writes movements and counts of all that qualify for the single-line path. Returns the '
  'mutations that it booked.';
select api_meta.plan_by_index('ledger.book_singles(ledger.single[])');
select api_meta.give('ledger.book_singles(ledger.single[])', 'service_ledger');
grant execute on function ledger.book_singles(ledger.single[]) to service_writer;
--! EndIncluded ledger/book_singles.sql
--! Included ledger/read_counts.sql
create or replace function ledger.read_counts(lines ledger.line[]) returns ledger.stock_reading[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Later than all bookings of these products, because they are locked
  moment constant timestamptz := ledger.moment();
begin
  if exists (
    select from unnest(lines) l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
    where not exists (select from ledger.stock s where s.product_id = l.product_id and s.place = p.place)
  ) then
    insert into ledger.stock (product_id, location_type_technical_name, warehouse_id, bin_location_id)
    select l.product_id, p.type, l.source_warehouse_id, l.source_bin_location_id
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
    group by l.product_id, p.type, l.source_warehouse_id, l.source_bin_location_id
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
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
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
    select p.line, 'INVALID', 'Name either a warehouse or a bin.', array[p.name]
    from unnest(places) p where num_nonnulls(p.warehouse_id, p.bin_location_id) <> 1
    union all
    select l.ordinality, 'INVALID', 'Source and destination are the same place.', '{destination}'
    from unnest(lines) with ordinality l
    where l.source_warehouse_id = l.destination_warehouse_id
      or l.source_bin_location_id = l.destination_bin_location_id
    union all
    select l.ordinality, 'NOT_UNIQUE', 'An earlier line sets the same stock.', '{}'
    from (
      select l.*, row_number() over (
        partition by l.product_id, l.source_warehouse_id, l.source_bin_location_id, l.batch_id
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
--! Included ledger/is_malformed.sql
-- Has no settings, so that Postgres inlines it into the calling expression
create or replace function ledger.is_malformed(l ledger.line, operation text) returns boolean
language sql stable
return case operation when 'set' then (l).quantity < 0 when 'adjust' then (l).quantity = 0
    else (l).quantity < 1
      or num_nonnulls((l).destination_warehouse_id, (l).destination_bin_location_id) <> 1 end
  or num_nonnulls((l).source_warehouse_id, (l).source_bin_location_id) <> 1
  or (l).source_warehouse_id = (l).destination_warehouse_id
  or (l).source_bin_location_id = (l).destination_bin_location_id
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
      group by l.product_id, l.source_warehouse_id, l.source_bin_location_id, l.batch_id having count(*) > 1);
end
$$;
comment on function ledger.is_malformed(ledger.line[], text) is
  'Whether ledger.check_form finds a fault; a cheap test, because faults are rare.';
grant execute on function ledger.is_malformed(ledger.line[], text) to service_ledger;
--! EndIncluded ledger/is_malformed.sql
--! Included ledger/require_movement_places.sql
create or replace function ledger.require_movement_places() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Imported movements keep their own moment
  if new.created_at is null then
    select date_trunc('second', t), ledger.microseconds(t)
    into new.created_at, new.microseconds
    from ledger.moment() t;
  end if;
  if num_nonnulls(new.source_warehouse_id, new.source_bin_location_id, new.source_order_id,
    new.source_return_order_id,
      new.source_goods_receipt_id, new.source_stock_container_id,
        new.source_special_stock_location_technical_name)
        <> 1
    or num_nonnulls(new.destination_warehouse_id, new.destination_bin_location_id, new.destination_order_id,
      new.destination_return_order_id, new.destination_goods_receipt_id, new.destination_stock_container_id,
      new.destination_special_stock_location_technical_name) <> 1 then
    raise exception 'A movement names exactly one source and one destination.'
      using errcode = 'check_violation', constraint = 'stock_movement_names_its_places', schema = 'ledger',
        table = 'stock_movement';
  end if;
  if new.id is not null then
    raise exception 'The ledger gives movements their ids: omit the id, and read it with returning.'
      using errcode = 'check_violation', constraint = 'stock_movement_id_is_given', schema = 'ledger',
        table = 'stock_movement';
  end if;
  if new.booking_id is not null then
    raise exception 'Only calls of the API have bookings: omit the booking, and leave a comment.'
      using errcode = 'check_violation', constraint = 'stock_movement_booking_is_given', schema = 'ledger',
        table = 'stock_movement';
  end if;
  -- The number must be drawn before the id
  new.transaction_id := pg_current_xact_id()::text::bigint;
  new.id := ledger.next_movement_id();
  return new;
end
$$;
comment on function ledger.require_movement_places() is
  'Trigger: requires both places of a new movement, sets its moment to now unless it has one, and sets its '
  'transaction and its id (ledger.next_movement_id). Refuses an id and a booking. A constraint cannot '
  'require the places, because they become null when the place is deleted.';
--! EndIncluded ledger/require_movement_places.sql
--! Included ledger/adjust_stock.sql
create or replace function ledger.adjust_stock(
  lines ledger.line[], note text, reference text default null, reason text default null
)
returns ledger.booked
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.prepare(lines, 'adjust');
  return ledger.book(array(
    select ledger.adjustment_of(mutation.path('lines', l.ordinality, 'delta'), l.product_id, l.quantity,
      l.batch_id, p.type, p.place)
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) p
    order by l.ordinality
  ), note, '{}', reference, reason);
end
$$;
comment on function ledger.adjust_stock(ledger.line[], text, text, text) is
  'Adjusts stock: books additions and removals against stock_correction.';
select api_meta.plan_by_index('ledger.adjust_stock(ledger.line[], text, text, text)');
select api_meta.give('ledger.adjust_stock(ledger.line[], text, text, text)', 'service_ledger');
grant execute on function ledger.adjust_stock(ledger.line[], text, text, text) to service_writer;
--! EndIncluded ledger/adjust_stock.sql
--! Included ledger/set_stock.sql
create or replace function ledger.set_stock(
  lines ledger.line[], note text, reference text default null, reason text default null
)
returns ledger.booked
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  readings ledger.stock_reading[];
  notes jsonb;
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

  booked := ledger.book(array(
    select ledger.adjustment_of(
      d.field, r.product_id, d.difference::integer, r.batch_id, r.place_type, r.place, true)
    from unnest(readings) r
    cross join lateral (
      select r.quantity + r.moved - r.present, mutation.path('lines', r.line, 'quantity')
    ) d (difference, field)
    where r.newer_counted_at is null and d.difference <> 0 order by r.line
  ), note, '{}', reference, reason);
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
comment on function ledger.set_stock(ledger.line[], text, text, text) is
  'Sets stock to a counted quantity: books the difference against stock_correction. With counted_at, '
  'movements after that moment are added to the count. A count that is older than a known one changes '
  'nothing and adds the warning COUNT_SUPERSEDED.';
select api_meta.plan_by_index('ledger.set_stock(ledger.line[], text, text, text)');
select api_meta.give('ledger.set_stock(ledger.line[], text, text, text)', 'service_ledger');
grant execute on function ledger.set_stock(ledger.line[], text, text, text) to service_writer;
--! EndIncluded ledger/set_stock.sql
--! Included ledger/transfer_stock.sql
create or replace function ledger.transfer_stock(
  lines ledger.line[], note text, reference text default null, reason text default null
)
returns ledger.booked
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform ledger.prepare(lines, 'transfer');
  return ledger.book(array(
    select ledger.relocation_of(mutation.path('lines', l.ordinality, 'quantity'), l.product_id, l.quantity,
      l.batch_id, s.type, s.place, d.type, d.place)
    from unnest(lines) with ordinality l
    cross join lateral ledger.place_of(l.source_warehouse_id, l.source_bin_location_id) s
    cross join lateral ledger.place_of(l.destination_warehouse_id, l.destination_bin_location_id) d
    order by l.ordinality
  ), note, '{}', reference, reason);
end
$$;
comment on function ledger.transfer_stock(ledger.line[], text, text, text) is
  'Moves stock from one warehouse or bin to another.';
select api_meta.plan_by_index('ledger.transfer_stock(ledger.line[], text, text, text)');
select api_meta.give('ledger.transfer_stock(ledger.line[], text, text, text)', 'service_ledger');
grant execute on function ledger.transfer_stock(ledger.line[], text, text, text) to service_writer;
--! EndIncluded ledger/transfer_stock.sql
--! Included ledger/keep_figures.sql
create or replace function ledger.keep_figures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  seen record;
begin
  perform ledger.lock(array(select distinct product_id from booked));
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
--! Included erp/approve_goods_receipt.sql
create or replace function erp.approve_goods_receipt(goods_receipt_id uuid) returns ledger.booked
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  new_state constant text := erp.next_state('goods_receipt', 'approve', present.state);
  errors jsonb;
  booked ledger.booked;
begin
  if present.warehouse_id is null then
    perform mutation.refuse('REQUIRED', 'The receipt has no warehouse any more.', '{id}');
  end if;
  select jsonb_agg(e.error order by e.id) into errors
  from (
    select l.id,
      mutation.user_error('BATCH_REQUIRED',
        format('Product %s is kept in batches: its line must name one.', p.product_number), '{id}',
      jsonb_build_object('productNumber', p.product_number)) as error
    from erp.goods_receipt_line_item l join erp.product p on p.id = l.product_id
    where l.goods_receipt_id = present.id and p.is_batch_managed and l.batch_id is null
    union all
    select l.id,
      mutation.user_error('REQUIRED',
        format('The line of product %s must name its return order.', p.product_number), '{id}',
      jsonb_build_object('productNumber', p.product_number))
    from erp.goods_receipt_line_item l join erp.product p on p.id = l.product_id
    where l.goods_receipt_id = present.id and present.type = 'Customer' and l.quantity > 0
      and l.return_order_id is null
  ) e;
  perform mutation.refuse(errors);
  if not exists (select from erp.goods_receipt_line_item l where l.goods_receipt_id = present.id) then
    perform mutation.refuse('REQUIRED', 'The receipt has no lines.', '{id}');
  end if;

  booked := ledger.post(array(
    select row ('{id}', l.product_id, abs(l.quantity), l.batch_id,
      case
        when l.quantity < 0 then p.type
        when present.type = 'Customer' then 'return_order'
        else 'special_stock_location' end,
      case
        when l.quantity < 0 then p.place
        when present.type = 'Customer' then l.return_order_id::text
        else 'unknown' end,
      'goods_receipt', present.id::text, erp.goods_receipt_process(present.type))::ledger.draft
    from erp.goods_receipt_line_item l cross join lateral erp.put_away_place(present, l) p
    where l.goods_receipt_id = present.id and l.product_id is not null order by l.id
  ), null);
  update erp.goods_receipt r set state = new_state where r.id = present.id;
  return booked;
end
$$;
comment on function erp.approve_goods_receipt(uuid) is
  'Approves a goods receipt: books its lines to the place of the receipt, from the return order or from '
  'unknown, and negative lines from where the units are.';
grant execute on function erp.approve_goods_receipt(uuid) to service_writer;
--! EndIncluded erp/approve_goods_receipt.sql
--! Included erp/complete_goods_receipt.sql
create or replace function erp.complete_goods_receipt(goods_receipt_id uuid, placements erp.placement[])
returns ledger.booked
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := date_trunc('second', ledger.moment());
  present constant erp.goods_receipt := erp.lock_goods_receipt(goods_receipt_id);
  new_state constant text := erp.next_state('goods_receipt', 'complete', present.state);
  parts erp.receipt_part[];
  deliveries erp.delivery[];
  booked ledger.booked;
begin
  -- After the receipt and before the stock, always in this order. From here on no other transaction delivers
  -- these orders
  perform from erp.supplier_order o where o.id = any (array(
    select coalesce(i.supplier_order_id, l.supplier_order_id) from erp.goods_receipt_line_item l
    left join erp.supplier_order_line_item i on i.id = l.supplier_order_line_item_id
    where l.goods_receipt_id = present.id
  )) order by o.id for no key update;
  if cardinality(placements) > 0 then
    perform erp.check_placements(present, placements);
  end if;
  parts := array(
    select row (case when a.nth = 1 then l.id else uuidv7() end, l.id, a.nth, l.supplier_order_id,
      a.supplier_order_id, a.supplier_order_line_item_id, a.quantity)::erp.receipt_part
    from erp.allotment(present.id) a join erp.goods_receipt_line_item l on l.id = a.goods_receipt_line_item_id
    order by l.id, a.nth
  );
  deliveries := erp.deliveries(present.id, parts);
  booked := ledger.post(erp.put_away_drafts(present, placements), null, array(
    select row (d.product_id, null, 0, 0, d.awaited)::ledger.figure_change
    from unnest(deliveries) d where d.product_id is not null and d.awaited <> 0
  ));

  update erp.goods_receipt r set state = new_state, goods_receipt_date_time = moment where r.id = present.id;
  perform erp.settle_receipt_lines(present.id, parts);
  perform ledger.write_deliveries(deliveries, moment);
  update erp.supplier_order o
  set state = d.new_state,
    -- If a person completed it, its delivery date no longer follows from its lines
    actual_delivery_date = case when d.is_complete then coalesce(o.actual_delivery_date, moment)
      when o.state = 'completed' then o.actual_delivery_date end
  from (select distinct d.supplier_order_id, d.new_state, d.is_complete from unnest(deliveries) d) d
  where o.id = d.supplier_order_id;
  return booked;
end
$$;
comment on function erp.complete_goods_receipt(uuid, erp.placement[]) is
  'Completes a goods receipt. Books its lines from the place of the receipt to where they are put away, and '
  'units to be thrown away to stock_correction, and records what arrived of supplier orders. A line without '
  'placements goes to its own bin, the usual bin, or the warehouse. All units are booked, including units '
  'that no order has open: these become lines of their own.';
select api_meta.plan_by_index('erp.complete_goods_receipt(uuid, erp.placement[])');
grant execute on function erp.complete_goods_receipt(uuid, erp.placement[]) to service_writer;
--! EndIncluded erp/complete_goods_receipt.sql
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
      j.line ->> f.quantity, null, null, null)::ledger.line offset 0) l (line)
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
--! Included mutation/run_together.sql
create or replace function mutation.run_together(calls jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  joint mutation.joint_call[];
  answers jsonb;
begin
  if (select p.name from auth.current_plan() p) = 'full' then
    joint := mutation.take_keys(mutation.joint_calls(calls));
  end if;
  with booked as materialized (
    select * from ledger.book_singles(array(
      -- A call that doesn't fit isn't made, and none that comes after it for its product
      select row (c.nth, case when c.fits then c.kind end, c.line, c.input ->> 'comment', c.cause,
        c.input ->> 'reference', c.input ->> 'reason')::ledger.single
      from unnest(joint) c
      where not (c.fits and c.repeated is not null) order by c.nth
    ))
  ),
  done as materialized (
    select c.nth, c.caller, c.key, c.digest, b.nth is not null as is_new,
      coalesce(c.repeated, jsonb_build_object('stock_movements', b.movement_ids,
        'stocks', b.stock_ids, 'user_errors', null, 'warnings', '[]'::jsonb)) as payload
    from unnest(joint) c left join booked b on b.nth = c.nth
    where c.fits and c.repeated is not null or b.nth is not null
  ),
  kept as (
    insert into mutation.idempotency_key (credential_id, key, request, payload)
    select d.caller, d.key, d.digest, d.payload from done d where d.key is not null and d.is_new
  )
  select jsonb_agg(case when d.nth is not null then jsonb_build_object('payload', d.payload,
    'userErrors', '[]'::jsonb, 'warnings', coalesce(d.payload -> 'warnings', '[]')) end order by n.nth)
  into answers
  from generate_series(1, jsonb_array_length(calls)) n (nth) left join done d on d.nth = n.nth;
  if exists (select from unnest(joint) c where c.key is not null) then
    perform mutation.forget_keys();
    -- As in mutation.take_key
    perform pg_logical_emit_message(true, 'service', '')
    from unnest(joint) c where c.repeated is not null limit 1;
  end if;
  return coalesce(answers, '[]');
end
$$;
comment on function mutation.run_together(jsonb) is
  'Runs calls of mutations in a group commit, as if mutation.run ran one after the other. Takes an array of '
  'objects with version, operation, input, key, credential_id, request_id, scopes and traceparent. Returns '
  'an array: for each call the result of mutation.run, or null if the caller must use mutation.run. Null is '
  'returned for calls that do not fit the single-line path, may be refused, or would wait for an '
  'idempotency key, and for later calls of the same product.';
select api_meta.give('mutation.run_together(jsonb)', 'service_writer');
grant execute on function mutation.run_together(jsonb) to service_api;
--! EndIncluded mutation/run_together.sql

--! Included api/stock_movements.sql
create view api_unstable.stock_movements with (security_invoker = true) as
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
  '@gid source_return_order_id ReturnOrder\n'
  '@gid destination_return_order_id ReturnOrder\n'
  '@gid source_stock_container_id StockContainer\n'
  '@gid destination_stock_container_id StockContainer\n'
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
  '@foreignKey (source_goods_receipt_id) references goods_receipts (id)|@fieldName '
  'sourceGoodsReceipt|@foreignFieldName sourceStockMovements\n'
  '@foreignKey (destination_goods_receipt_id) references goods_receipts (id)|@fieldName '
  'destinationGoodsReceipt|@foreignFieldName destinationStockMovements\n'
  '@foreignKey (booking_id) references stock_bookings (id)|@fieldName booking|@noFilter\n'
  'An entry in the ledger of stock: a positive quantity that moved from one place to another. '
  'Movements are never changed; they go only with their product.';
--! EndIncluded api/stock_movements.sql
--! Included api/stock_bookings.sql
create view api_unstable.stock_bookings with (security_invoker = true) as
select b.id, b.booked_at, b.credential_id, c.name as credential_name, b.administrator_id,
  a.name as administrator_name, b.request_id, b.reference, b.reason, b.note, b.last_movement_id
from ledger.booking b
left join ledger.booker c on c.id = b.credential_id
left join ledger.booker a on a.id = b.administrator_id;
comment on view api_unstable.stock_bookings is
  E'@primaryKey id\n'
  '@requiresScopes stocks:read\n'
  '@gid credential_id Credential\n'
  '@gid administrator_id Administrator\n'
  '@gid last_movement_id StockMovement\n'
  '@nullable credential_name,administrator_name\n'
  '@hidden last_movement_id\n'
  '@filters credential_id,reason,reference\n'
  'One call that moved stock, and the caller. It is kept as long as its movements, or longer.';
comment on column api_unstable.stock_bookings.credential_name is
  'Name of the credential, also after the credential was deleted.';
comment on column api_unstable.stock_bookings.administrator_name is 'Name of the administrator.';
--! EndIncluded api/stock_bookings.sql
--! Included api/stock_bookings_stock_movements.sql
create function api_unstable.stock_bookings_stock_movements(booking api_unstable.stock_bookings)
returns setof api_unstable.stock_movements
language sql stable
begin atomic
  -- By their primary key: an index of bookings would make each movement larger
  select m.* from api_unstable.stock_movements m
  where m.id >= booking.id and m.id <= booking.last_movement_id and m.booking_id = booking.id;
end;
comment on function api_unstable.stock_bookings_stock_movements(api_unstable.stock_bookings) is
  E'@fieldName stockMovements\nThe movements that were booked. Movements of deleted products are left out.';
--! EndIncluded api/stock_bookings_stock_movements.sql
--! Included api/stock_booking_reasons.sql
create view api_unstable.stock_booking_reasons with (security_invoker = true) as
select code, description, is_active from ledger.booking_reason;
comment on view api_unstable.stock_booking_reasons is $$
@primaryKey code
@requiresScopes stocks:read
@filters code,is_active
A reason that bookings can give.$$;
--! EndIncluded api/stock_booking_reasons.sql
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
  lines api_unstable.stock_adjust_line_input[], comment text, reference text, reason text
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

create function api_unstable.stock_adjust(input api_unstable.stock_adjust_input)
returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.adjust_stock(array(
    select row (
      l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null, l.delta, l.batch_id,
      l.expected_quantity, null
    )::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment, input.reference, input.reason) b
$$;
comment on function api_unstable.stock_adjust(api_unstable.stock_adjust_input) is
  E'@requiresScopes stocks:write\n'
  '@together product_id\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED '
  'QUANTITY_CHANGED INSUFFICIENT_STOCK PRODUCT_HAS_VARIANTS SERIAL_NUMBER_IN_STOCK\n'
  '@warnings STOCK_PROMISED\n'
  'Adds units to stock or takes them away, against the special place stock_correction, by the processes '
  'api_incoming and api_outgoing. All lines are booked, or none; whether there is enough is asked of '
  'all lines together.';
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
  lines api_unstable.stock_set_line_input[], comment text, reference text, reason text
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

create function api_unstable.stock_set(input api_unstable.stock_set_input) returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.set_stock(array(
    select row (l.product_id, (l.place).warehouse_id, (l.place).bin_location_id, null, null,
      l.quantity, l.batch_id, l.expected_quantity, l.counted_at)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment, input.reference, input.reason) b
$$;
comment on function api_unstable.stock_set(api_unstable.stock_set_input) is
  E'@requiresScopes stocks:write\n'
  '@together product_id\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_UNIQUE NOT_FOUND BATCH_MISMATCH '
  'BATCH_REQUIRED QUANTITY_CHANGED INSUFFICIENT_STOCK PRODUCT_HAS_VARIANTS SERIAL_NUMBER_IN_STOCK\n'
  '@warnings COUNT_SUPERSEDED STOCK_PROMISED\n'
  'Sets stock to what is there, as after a count: books each difference between what the books say and '
  'the line, against the special place stock_correction, by the process api. All lines are booked, or '
  'none.';
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
  lines api_unstable.stock_transfer_line_input[], comment text, reference text, reason text
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

create function api_unstable.stock_transfer(input api_unstable.stock_transfer_input)
returns api_unstable.stock_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (b.stock_movements, b.stocks, null, null)::api_unstable.stock_payload
  from ledger.transfer_stock(array(
    select row (l.product_id, (l.source).warehouse_id, (l.source).bin_location_id,
      (l.destination).warehouse_id, (l.destination).bin_location_id,
      l.quantity, l.batch_id, l.expected_quantity, null)::ledger.line
    from unnest(input.lines) with ordinality l order by l.ordinality
  ), input.comment, input.reference, input.reason) b
$$;
comment on function api_unstable.stock_transfer(api_unstable.stock_transfer_input) is
  E'@requiresScopes stocks:write\n'
  '@together product_id\n'
  '@userErrors REQUIRED TOO_MANY_LINES OUT_OF_RANGE INVALID NOT_FOUND BATCH_MISMATCH BATCH_REQUIRED '
  'QUANTITY_CHANGED INSUFFICIENT_STOCK\n'
  '@warnings STOCK_PROMISED PRODUCT_HAS_VARIANTS\n'
  'Moves units between warehouses and bins, by the process api_relocation. All lines are booked, or '
  'none; whether there is enough is asked of all lines together.';
--! EndIncluded api/stock_transfer.sql

--! split: 125-trace.sql
-- Traces of batches, recall lists, and events of EPCIS

drop view if exists api_unstable.batch_shipments, api_unstable.batch_origins, api_unstable.batch_removals,
  api_unstable.batch_traces, api_unstable.epcis_records;
drop function if exists ledger.shipment_parcels(uuid, uuid);
drop function if exists ledger.delivered_orders(uuid, uuid);
drop function if exists ledger.epcis_step(text, text, text, text);
drop function if exists ledger.epcis_site(uuid, uuid, uuid);
drop function if exists ledger.epcis_quantities(uuid, text, integer);
drop function if exists ledger.epcis_transactions(text, uuid, uuid, uuid, uuid, uuid, uuid);

--! Included erp/is_gs1_number.sql
-- Identifiers of GS1. Codes with a check digit are counted from the right, alternately by 3 and 1.
create or replace function erp.is_gs1_number(code text) returns boolean
language sql immutable strict parallel safe
return code ~ '^\d{8,14}$' and (
  select sum(d.digit::integer * case when d.n % 2 = 0 then 3 else 1 end) % 10 = 0
  from string_to_table(reverse(code), null) with ordinality d (digit, n));
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
grant execute on function erp.gtin14(text) to service_api;

-- The standard knows 82 characters, and allows 20 of them in numbers of lots and names of places
create or replace function erp.is_gs1_text(value text) returns boolean
language sql immutable strict parallel safe
return value ~ '^[!"%&''()*+,./0-9:;<=>?A-Z_a-z-]{1,20}$';
comment on function erp.is_gs1_text(text) is
  'Whether GS1 allows a text as the number of a lot, or as the name of a part of a place.';
grant execute on function erp.is_gs1_text(text) to service_api;
--! EndIncluded erp/is_gs1_number.sql
--! Included erp/in_uri.sql
create or replace function erp.in_uri(value text) returns text
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp as $$
begin
  if value ~ '^[A-Za-z0-9._~-]*$' then
    return value;
  end if;
  return (
    select string_agg(
      case
        when c.letter ~ '^[A-Za-z0-9._~-]$' then c.letter
        else regexp_replace(upper(encode(convert_to(c.letter, 'UTF8'), 'hex')), '(..)', '%\1', 'g')
      end, '' order by c.n)
    from string_to_table(value, null) with ordinality c (letter, n));
end
$$;
comment on function erp.in_uri(text) is 'Returns a text as a part of a URI: with other characters as %XX.';
grant execute on function erp.in_uri(text) to service_api;
--! EndIncluded erp/in_uri.sql

alter table erp.warehouse drop column if exists gln cascade;
alter table erp.warehouse add column gln text collate "C";
alter table erp.warehouse add constraint warehouse_gln_has_its_check_digit
  check (length(gln) = 13 and erp.is_gs1_number(gln)) not valid;
comment on column erp.warehouse.gln is
  'Global Location Number of GS1: 13 digits, of which the last one is the check digit.';
comment on constraint warehouse_gln_has_its_check_digit on erp.warehouse is
  E'@userError INVALID gln\nA GLN has 13 digits, and the last one must be the check digit of the others.';
select api_meta.allow('service_writer', 'erp.warehouse', 'update (gln)');

drop function if exists erp.create_warehouse(text, text, boolean, boolean, boolean, jsonb);
--! Included erp/create_warehouse.sql
create or replace function erp.create_warehouse(code text, name text, is_default boolean,
  is_default_receiving boolean,
  is_stock_available_for_sale boolean, address jsonb, gln text default null) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  made constant uuid := uuidv7();
  is_first boolean;
begin
  perform erp.require_address(address);
  -- A new default affects all warehouses
  lock table erp.warehouse in share row exclusive mode;
  is_first := not exists (select from erp.warehouse);
  perform erp.hand_over_defaults(made, is_default, is_default_receiving);
  insert into erp.warehouse (
    id, code, name, is_default, is_default_receiving, is_stock_available_for_sale, address, gln
  )
  values (made, code, name, is_first or coalesce(is_default, false), is_first
    or coalesce(is_default_receiving, false),
    coalesce(is_stock_available_for_sale, true), address, gln);
  insert into erp.location (name, warehouse_id) values (name, made);
  return made;
end
$$;
comment on function erp.create_warehouse(text, text, boolean, boolean, boolean, jsonb, text) is
  'Creates a warehouse with the location that orders are fulfilled from. The first one is the default for '
  'everything. Returns its id.';
grant execute on function erp.create_warehouse(text, text, boolean, boolean, boolean, jsonb, text)
  to service_writer;
--! EndIncluded erp/create_warehouse.sql
--! Included erp/update_warehouse.sql
create or replace function erp.update_warehouse(warehouse_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present erp.warehouse;
  wanted erp.warehouse;
begin
  perform erp.require_address(changes -> 'address');
  lock table erp.warehouse in share row exclusive mode;
  select * into present from erp.warehouse w where w.id = warehouse_id;
  if not found then
    perform mutation.refuse_missing('warehouse', '{id}');
  end if;
  wanted := jsonb_populate_record(present, changes - '{id,created_at,updated_at}'::text[]);
  perform erp.hand_over_defaults(wanted.id, wanted.is_default, wanted.is_default_receiving);
  update erp.warehouse w
  set code = wanted.code, name = wanted.name, is_default = wanted.is_default,
    is_default_receiving = wanted.is_default_receiving,
    is_stock_available_for_sale = wanted.is_stock_available_for_sale, address = wanted.address,
    gln = wanted.gln
  where w.id = present.id;
  -- A location with its own name keeps it
  update erp.location l
  set name = wanted.name
  where l.warehouse_id = present.id and l.name = present.name and l.name <> wanted.name;
  return present.id;
end
$$;
comment on function erp.update_warehouse(uuid, jsonb) is
  'Changes the columns of a warehouse in the object, and its location''s name along with its own. Returns '
  'its id.';
grant execute on function erp.update_warehouse(uuid, jsonb) to service_writer;
--! EndIncluded erp/update_warehouse.sql
drop view if exists api_unstable.warehouses;
--! Included api/warehouses.sql
create view api_unstable.warehouses with (security_invoker = true) as
select id, code, name, is_default, is_default_receiving, is_stock_available_for_sale, address, gln,
  created_at, updated_at
from erp.warehouse;
comment on view api_unstable.warehouses is $$
@primaryKey id
@requiresScopes warehouses:read
@search code,name
@filters *
A building that holds stock.$$;
--! EndIncluded api/warehouses.sql
--! Included api/warehouse_create.sql
drop type if exists api_unstable.warehouse_create_input cascade;
create type api_unstable.warehouse_create_input as (
  code text, name text, is_default boolean, is_default_receiving boolean, is_stock_available_for_sale boolean,
    address jsonb, gln text
);
comment on type api_unstable.warehouse_create_input is 'A new warehouse.';
comment on column api_unstable.warehouse_create_input.code is
  E'@notNull\nShort name, unique; 1 to 100 characters.';
comment on column api_unstable.warehouse_create_input.name is E'@notNull\nName; 1 to 255 characters.';
comment on column api_unstable.warehouse_create_input.is_default is
  'Whether it takes the place of the warehouse that is the default now. False when left out.';
comment on column api_unstable.warehouse_create_input.is_default_receiving is
  'Whether it takes the place of the warehouse where goods are received by default now. False when left out.';
comment on column api_unstable.warehouse_create_input.is_stock_available_for_sale is
  E'@neverNull\nWhether its stock may be sold. True when left out.';
comment on column api_unstable.warehouse_create_input.address is
  'Postal address: an object with the keys of FulfillmentOrder.shippingAddress.';
comment on column api_unstable.warehouse_create_input.gln is
  'Global Location Number of GS1: 13 digits with the right check digit.';

create function api_unstable.warehouse_create(input api_unstable.warehouse_create_input)
returns api_unstable.warehouse_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.create_warehouse(input.code, input.name, input.is_default, input.is_default_receiving,
    input.is_stock_available_for_sale,
    input.address, input.gln), null)::api_unstable.warehouse_payload
$$;
comment on function api_unstable.warehouse_create(api_unstable.warehouse_create_input) is
  E'@requiresScopes warehouses:write\n'
  '@userErrors REQUIRED NOT_UNIQUE INVALID OUT_OF_RANGE\n'
  'Makes a warehouse, and the location that orders are fulfilled from there. The first warehouse is the '
  'default for everything.';
--! EndIncluded api/warehouse_create.sql
--! Included api/warehouse_update.sql
drop type if exists api_unstable.warehouse_update_input cascade;
create type api_unstable.warehouse_update_input as (
  id uuid, code text, name text, is_default boolean, is_default_receiving boolean,
    is_stock_available_for_sale boolean, address jsonb, gln text
);
comment on type api_unstable.warehouse_update_input is
  'Changes of a warehouse. What is left out stays as it is.';
comment on column api_unstable.warehouse_update_input.id is E'@notNull\n@gid Warehouse\nId of the warehouse.';
comment on column api_unstable.warehouse_update_input.code is 'Short name, unique; 1 to 100 characters.';
comment on column api_unstable.warehouse_update_input.name is 'Name; 1 to 255 characters.';
comment on column api_unstable.warehouse_update_input.is_default is
  'True makes it take the place of the warehouse that is the default now. To make one no longer the '
  'default, make another one it.';
comment on column api_unstable.warehouse_update_input.is_default_receiving is
  'The same for the warehouse where goods are received by default.';
comment on column api_unstable.warehouse_update_input.is_stock_available_for_sale is
  'Whether its stock may be sold.';
comment on column api_unstable.warehouse_update_input.address is
  'Postal address: an object with the keys of FulfillmentOrder.shippingAddress. It replaces the old one '
  'as a whole; null removes it.';
comment on column api_unstable.warehouse_update_input.gln is
  'Global Location Number of GS1: 13 digits with the right check digit. Null removes it.';

create function api_unstable.warehouse_update(input api_unstable.warehouse_update_input, changes jsonb)
returns api_unstable.warehouse_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.update_warehouse(input.id, changes), null)::api_unstable.warehouse_payload
$$;
comment on function api_unstable.warehouse_update(api_unstable.warehouse_update_input, jsonb) is $$
@requiresScopes warehouses:write
@userErrors NOT_FOUND REQUIRED NOT_UNIQUE INVALID OUT_OF_RANGE
Changes a warehouse.$$;
--! EndIncluded api/warehouse_update.sql
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

create type api_unstable.warehouses_upsert_input
  as (warehouses api_unstable.warehouse_upsert_input[], partial boolean);
comment on type api_unstable.warehouses_upsert_input is 'Warehouses as they are to be.';
comment on column api_unstable.warehouses_upsert_input.warehouses is
  E'@notNull\nThe warehouses; 1 to 250 rows.';
comment on column api_unstable.warehouses_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or '
  'none.';

create type api_unstable.warehouses_upsert_payload as (
  results api_unstable.upsert_result[], warehouses uuid[],
  user_errors api_unstable.user_error[]
);
comment on type api_unstable.warehouses_upsert_payload is 'The result of upserting warehouses.';
comment on column api_unstable.warehouses_upsert_payload.results is
  E'@resultOf Warehouse\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on column api_unstable.warehouses_upsert_payload.warehouses is
  E'@entity Warehouse\n@perLine warehouses\nThe warehouses of the rows that were not refused, in their '
  'order.';
comment on column api_unstable.warehouses_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';

create function api_unstable.warehouses_upsert(input api_unstable.warehouses_upsert_input, changes jsonb)
returns api_unstable.warehouses_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids, null
  )::api_unstable.warehouses_upsert_payload
  from mutation.upserted(erp.upsert_warehouses(changes -> 'warehouses', input.partial)) d
$$;
comment on function api_unstable.warehouses_upsert(api_unstable.warehouses_upsert_input, jsonb) is
  E'@requiresScopes warehouses:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE TOO_MANY_LINES\n'
  'Makes warehouses, with the locations that orders are fulfilled from, and changes those that are '
  'there, known by their id or code. Rows that say nothing new change nothing.';
--! EndIncluded api/warehouses_upsert.sql

--! Included ledger/shipment_parcels.sql
-- Has no settings, so that Postgres inlines it, and makes only the lists that a request selects
create or replace function ledger.shipment_parcels(order_id uuid, batch_id uuid)
returns table (fulfillment_numbers text[], tracking_codes text[], address jsonb)
language sql stable rows 1
begin atomic
  -- Each step looks up the few rows of the one before: offset 0 keeps Postgres from joining whole tables
  select array(
      select distinct f.number
      from ledger.stock_movement m
      cross join lateral (
        select l.fulfillment_id from ledger.stock_movement_batch b
        join erp.fulfillment_stock_movement k on k.stock_movement_id = m.id
        join erp.fulfillment_line_item l on l.id = k.fulfillment_line_item_id
        where b.stock_movement_id = m.id and b.batch_id = shipment_parcels.batch_id offset 0
      ) l
      cross join lateral (select f.number from erp.fulfillment f where f.id = l.fulfillment_id offset 0) f
      where m.destination_order_id = order_id order by 1),
    array(
      select distinct c.code
      from ledger.stock_movement m
      cross join lateral (
        select o.fulfillment_order_id from ledger.stock_movement_batch b
        join erp.fulfillment_stock_movement k on k.stock_movement_id = m.id
        join erp.fulfillment_line_item l on l.id = k.fulfillment_line_item_id
        join erp.fulfillment_order_line_item o on o.id = l.fulfillment_order_line_item_id
        where b.stock_movement_id = m.id and b.batch_id = shipment_parcels.batch_id offset 0
      ) o
      cross join lateral (
        select s.tracking_codes from erp.shipping_label s
        where s.fulfillment_order_id = o.fulfillment_order_id and s.state = 'created' offset 0
      ) s
      cross join lateral jsonb_array_elements_text(s.tracking_codes) c (code)
      where m.destination_order_id = order_id order by 1),
    (
      select f.shipping_address from erp.fulfillment_order f
      where f.destination_order_id = order_id and f.shipping_address is not null
      order by f.id desc limit 1);
end;
comment on function ledger.shipment_parcels(uuid, uuid) is
  'Returns the numbers of the fulfillments that shipped a batch to an order, the tracking codes of their '
  'fulfillment orders, and the newest address that the order is shipped to. What the caller may not read is '
  'left out.';
grant execute on function ledger.shipment_parcels(uuid, uuid) to service_api;
--! EndIncluded ledger/shipment_parcels.sql
--! Included ledger/delivered_orders.sql
-- Has no settings, so that Postgres inlines it
create or replace function ledger.delivered_orders(goods_receipt_id uuid, batch_id uuid)
returns table (numbers text[])
language sql stable rows 1
begin atomic
  select array(
    select distinct o.number
    from erp.goods_receipt_line_item l join erp.supplier_order o on o.id = l.supplier_order_id
    where l.goods_receipt_id = delivered_orders.goods_receipt_id
      and l.batch_id = delivered_orders.batch_id order by 1);
end;
comment on function ledger.delivered_orders(uuid, uuid) is
  'Returns the numbers of the supplier orders that the lines of a goods receipt with this batch deliver. '
  'Orders that the caller may not read are left out.';
grant execute on function ledger.delivered_orders(uuid, uuid) to service_api;
--! EndIncluded ledger/delivered_orders.sql
--! Included api/batch_traces.sql
-- Has no list of all, because each row reads all movements of its batch.
create view api_unstable.batch_traces with (security_invoker = true) as
select b.id as batch_id, t.received_quantity, t.shipped_quantity, t.returned_quantity, t.removed_quantity,
  t.received_quantity - t.shipped_quantity + t.returned_quantity - t.removed_quantity as remaining_quantity
from erp.batch b
cross join lateral (
  select
    coalesce(sum(p.quantity) filter (
      where m.source_location_type_technical_name = 'special_stock_location'), 0)::integer
      as received_quantity,
    coalesce(sum(p.quantity) filter (
      where m.destination_location_type_technical_name = 'order'), 0)::integer as shipped_quantity,
    coalesce(sum(p.quantity) filter (
      where m.source_location_type_technical_name = 'order'), 0)::integer as returned_quantity,
    coalesce(sum(p.quantity) filter (
      where m.destination_location_type_technical_name = 'special_stock_location'), 0)::integer
      as removed_quantity
  from ledger.stock_movement_batch p join ledger.stock_movement m on m.id = p.stock_movement_id
  where p.batch_id = b.id
) t;
comment on view api_unstable.batch_traces is
  E'@primaryKey batch_id\n'
  '@requiresScopes allOf: stocks:read batches:read\n'
  '@behavior -query:resource:list -query:resource:connection\n'
  '@hidden batch_id\n'
  '@foreignKey (batch_id) references batches (id)|@fieldName batch|@foreignFieldName trace\n'
  'The sums of all movements of a batch.';
comment on column api_unstable.batch_traces.received_quantity is
  E'@notNull\nUnits that came into the ledger: the sum of the field origins.';
comment on column api_unstable.batch_traces.shipped_quantity is
  E'@notNull\nUnits that left for orders, also for orders that were deleted.';
comment on column api_unstable.batch_traces.returned_quantity is
  E'@notNull\nUnits that came back from orders, also by cancelled fulfillments.';
comment on column api_unstable.batch_traces.removed_quantity is
  E'@notNull\nUnits that left the ledger without an order: the sum of the field removals.';
comment on column api_unstable.batch_traces.remaining_quantity is
  E'@notNull\nUnits that must still be there, as none of the others has them: in warehouses, containers, '
  'goods receipts and returns.';
--! EndIncluded api/batch_traces.sql
--! Included api/batch_shipments.sql
-- Has no list of all, as its rows are found by their batch. A page reads the movements of its own rows only.
-- For this each row looks up the other tables, and of the first table only the index is read, in its order.
create view api_unstable.batch_shipments with (security_invoker = true) as
select b.stock_movement_id, b.batch_id, m.order_id, u.shipped_quantity, u.returned_quantity,
  u.shipped_quantity - u.returned_quantity as kept_quantity, u.first_moved_at, u.last_moved_at,
  coalesce((
    select d.fulfillment_numbers from ledger.shipment_parcels(m.order_id, b.batch_id) d
  ), '{}') as fulfillment_numbers,
  coalesce((
    select d.tracking_codes from ledger.shipment_parcels(m.order_id, b.batch_id) d
  ), '{}') as tracking_codes,
  (select d.address from ledger.shipment_parcels(m.order_id, b.batch_id) d) as shipping_address
from ledger.stock_movement_batch b
cross join lateral (
  select m.destination_order_id as order_id, m.created_at,
    m.destination_location_type_technical_name = 'order' as is_shipment
  from ledger.stock_movement m
  where m.id = b.stock_movement_id and (m.destination_location_type_technical_name = 'order'
    or m.source_location_type_technical_name = 'order' and m.source_order_id is null)
  offset 0
) m
cross join lateral (
  select coalesce(sum(x.quantity) filter (where x.is_shipment), 0)::integer as shipped_quantity,
    coalesce(sum(x.quantity) filter (where not x.is_shipment), 0)::integer as returned_quantity,
    min(x.created_at) as first_moved_at, max(x.created_at) as last_moved_at
  from (
    select p.quantity, o.created_at, true as is_shipment
    from ledger.stock_movement o
    join ledger.stock_movement_batch p on p.stock_movement_id = o.id and p.batch_id = b.batch_id
    where o.destination_order_id = m.order_id
    union all
    select p.quantity, o.created_at, false
    from ledger.stock_movement o
    join ledger.stock_movement_batch p on p.stock_movement_id = o.id and p.batch_id = b.batch_id
    where o.source_order_id = m.order_id
    union all
    select p.quantity, m.created_at, m.is_shipment
    from ledger.stock_movement_batch p
    where m.order_id is null and p.stock_movement_id = b.stock_movement_id and p.batch_id = b.batch_id
  ) x
) u
where m.order_id is null or not exists (
  select from ledger.stock_movement o
  join ledger.stock_movement_batch p on p.stock_movement_id = o.id and p.batch_id = b.batch_id
  where o.destination_order_id = m.order_id and o.id < b.stock_movement_id
);
comment on view api_unstable.batch_shipments is
  E'@primaryKey stock_movement_id,batch_id\n'
  '@requiresScopes allOf: stocks:read batches:read\n'
  '@behavior -query:resource:list -query:resource:connection\n'
  '@hidden stock_movement_id,batch_id\n'
  '@fullLists fulfillment_numbers,tracking_codes\n'
  '@foreignKey (stock_movement_id) references stock_movements (id)|@fieldName firstStockMovement\n'
  '@foreignKey (batch_id) references batches (id)|@fieldName batch|@foreignFieldName shipments\n'
  '@foreignKey (order_id) references orders (id)|@fieldName order\n'
  'The units of a batch that were shipped to one order. After the order was deleted, each of its '
  'movements is a row of its own, without an order.';
comment on column api_unstable.batch_shipments.order_id is
  'Order that got the units; null after it was deleted.';
comment on column api_unstable.batch_shipments.shipped_quantity is
  E'@notNull\nUnits that left for the order, all shipments together.';
comment on column api_unstable.batch_shipments.returned_quantity is
  E'@notNull\nUnits that came back, also by cancelled fulfillments.';
comment on column api_unstable.batch_shipments.kept_quantity is
  E'@notNull\nShipped less returned: the units that the customer has.';
comment on column api_unstable.batch_shipments.first_moved_at is
  E'@notNull\nWhen its first units left; for a deleted order, when the units moved.';
comment on column api_unstable.batch_shipments.last_moved_at is
  E'@notNull\nWhen its units last moved, out or back.';
comment on column api_unstable.batch_shipments.fulfillment_numbers is
  E'@notNull\n@requiresScopes allOf: fulfillment_orders:read stocks:read batches:read\n'
  'Numbers of the parcels that had units of the batch in them, also of those that were cancelled.';
comment on column api_unstable.batch_shipments.tracking_codes is
  E'@notNull\n'
  '@requiresScopes allOf: shipping_labels:read fulfillment_orders:read stocks:read batches:read\n'
  'Tracking codes of the fulfillment orders that shipped units of the batch.';
comment on column api_unstable.batch_shipments.shipping_address is
  E'@requiresScopes fulfillment_orders:read\n'
  'Address that the newest fulfillment order of the order ships to.';
--! EndIncluded api/batch_shipments.sql
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
    when m.special = 'stock_correction' then 'Correction'
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
    when m.special = 'stock_correction' then 'Correction'
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
  when source_type = 'special_stock_location' and special in ('initialization', 'import', 'stock_correction')
    then array['stock_taking', 'OBSERVE', 'available']
  when source_type = 'goods_receipt' and special = 'stock_correction'
    then array['destroying', 'DELETE', 'destroyed']
  when source_type = 'goods_receipt' and special is not null then array['shipping', 'OBSERVE', 'returned']
  when destination_type = 'special_stock_location' and special in ('import', 'stock_correction')
    then array['stock_taking', 'OBSERVE', 'unknown']
  when special is not null then array['other', 'OBSERVE']
  else array['storing', 'OBSERVE'] end;
comment on function ledger.epcis_step(text, text, text, text) is
  'Returns bizStep, action and disposition of the event of EPCIS for a movement. They follow from the kinds '
  'of its places, its special place and its process.';
grant execute on function ledger.epcis_step(text, text, text, text) to service_api;
--! EndIncluded ledger/epcis_step.sql
--! Included ledger/epcis_site.sql
-- This function and the others of EPCIS that return a table have no settings, so that Postgres inlines them.
create or replace function ledger.epcis_site(warehouse_id uuid, bin_location_id uuid, goods_receipt_id uuid)
returns table (id uuid, gln text, bin_code text)
language sql stable rows 1
begin atomic
  select w.id, w.gln, b.code
  from (select) one
  left join erp.bin_location b on b.id = bin_location_id
  left join erp.goods_receipt r on r.id = goods_receipt_id
  join erp.warehouse w on w.id = coalesce(epcis_site.warehouse_id, b.warehouse_id, r.warehouse_id);
end;
comment on function ledger.epcis_site(uuid, uuid, uuid) is
  'Returns the warehouse of a place with its GLN, and the code of the bin if it is one. The place is a '
  'warehouse, a bin or a goods receipt; no row for others.';
grant execute on function ledger.epcis_site(uuid, uuid, uuid) to service_api;
--! EndIncluded ledger/epcis_site.sql
--! Included ledger/epcis_quantities.sql
create or replace function ledger.epcis_quantities(movement_id uuid, gtin14 text, quantity integer)
returns table (list jsonb)
language sql stable rows 1
begin atomic
  select jsonb_agg(jsonb_build_object(
    'epcClass', 'https://id.gs1.org/01/' || gtin14 || coalesce('/10/' || erp.in_uri(c.lot), ''),
    'quantity', c.quantity) order by c.lot)
  from (
    select b.number, p.quantity
    from ledger.stock_movement_batch p join erp.batch b on b.id = p.batch_id
    where p.stock_movement_id = movement_id
    union all
    select null, epcis_quantities.quantity - coalesce(sum(p.quantity), 0)
    from ledger.stock_movement_batch p where p.stock_movement_id = movement_id
  ) c (lot, quantity)
  where c.quantity > 0;
end;
comment on function ledger.epcis_quantities(uuid, text, integer) is
  'Returns the units of a movement by batch, as classes of EPCIS with their quantities. Units without a '
  'batch have the class of their product.';
grant execute on function ledger.epcis_quantities(uuid, text, integer) to service_api;
--! EndIncluded ledger/epcis_quantities.sql
--! Included ledger/epcis_transactions.sql
create or replace function ledger.epcis_transactions(
  gln text, movement_id uuid, product_id uuid, source_order_id uuid, destination_order_id uuid,
  source_goods_receipt_id uuid, destination_goods_receipt_id uuid
) returns table (list jsonb)
language sql stable rows 1
begin atomic
  select jsonb_agg(jsonb_build_object('type', t.type,
    'bizTransaction', 'urn:epcglobal:cbv:bt:' || gln || ':' || erp.in_uri(t.number))
    order by t.type, t.number)
  from (
    select 'poc', o.order_number
    from (values (source_order_id), (destination_order_id)) v (id) join erp.sales_order o on o.id = v.id
    union
    select 'desadv', f.number
    from erp.fulfillment_stock_movement k
    join erp.fulfillment_line_item l on l.id = k.fulfillment_line_item_id
    join erp.fulfillment f on f.id = l.fulfillment_id
    where k.stock_movement_id = movement_id
    union
    select 'recadv', r.number
    from (values (source_goods_receipt_id), (destination_goods_receipt_id)) v (id)
    join erp.goods_receipt r on r.id = v.id
    union
    select 'po', s.number
    from (values (source_goods_receipt_id), (destination_goods_receipt_id)) v (id)
    join erp.goods_receipt_line_item l on l.goods_receipt_id = v.id
      and l.product_id = epcis_transactions.product_id
    join erp.supplier_order s on s.id = l.supplier_order_id
  ) t (type, number)
  where t.number is not null;
end;
comment on function
  ledger.epcis_transactions(text, uuid, uuid, uuid, uuid, uuid, uuid) is
  'Returns the documents behind a movement as business transactions of EPCIS, numbered by the party of this '
  'GLN. These are purchase order (po), receipt (recadv), order (poc) and fulfillment (desadv).';
grant execute on function ledger.epcis_transactions(text, uuid, uuid, uuid, uuid, uuid, uuid) to service_api;
--! EndIncluded ledger/epcis_transactions.sql
--! Included api/epcis_records.sql
drop type if exists api_unstable.epcis_problem cascade;
create type api_unstable.epcis_problem as enum (
  'ProductWithoutGtin', 'BatchNumberNotAllowed', 'PlaceUnknown', 'WarehouseWithoutGln'
);
comment on type api_unstable.epcis_problem is
  E'\n'
  '@value ProductWithoutGtin The product has no GTIN, or one with a wrong check digit.\n'
  '@value BatchNumberNotAllowed The number of a batch is longer than 20 characters, or has characters that '
  'GS1 does not allow.\n'
  '@value PlaceUnknown The warehouse is not known: the place was deleted, or is a container or a return.\n'
  '@value WarehouseWithoutGln The warehouse has no GLN.\n'
  'A reason why a movement is no event of EPCIS.';

-- Has no list of all: movements have filters, numbers and cursors to follow.
create view api_unstable.epcis_records with (security_invoker = true) as
select m.id,
  case when p.problems = '{}' then jsonb_strip_nulls(jsonb_build_object(
    'type', 'ObjectEvent',
    'eventID', 'urn:uuid:' || m.id,
    'eventTime', to_char(m.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
    'eventTimeZoneOffset', '+00:00',
    'bizStep', s.words[1], 'action', s.words[2], 'disposition', s.words[3],
    'readPoint', jsonb_build_object('id', 'https://id.gs1.org/414/' || site.gln
      || case when erp.is_gs1_text(site.bin_code) then '/254/' || erp.in_uri(site.bin_code) else '' end),
    'bizLocation', case when s.is_inside
      then jsonb_build_object('id', 'https://id.gs1.org/414/' || site.gln) end,
    'bizTransactionList', (select t.list from ledger.epcis_transactions(site.gln, m.id,
      m.product_id, m.source_order_id, m.destination_order_id, m.source_goods_receipt_id,
      m.destination_goods_receipt_id) t),
    'sourceList', case when site.came_from_gln <> site.gln then jsonb_build_array(jsonb_build_object(
      'type', 'location', 'source', 'https://id.gs1.org/414/' || site.came_from_gln)) end,
    'destinationList', case when site.came_from_gln <> site.gln then jsonb_build_array(jsonb_build_object(
      'type', 'location', 'destination', 'https://id.gs1.org/414/' || site.gln)) end,
    'quantityList', (select q.list from ledger.epcis_quantities(m.id, erp.gtin14(product.gtin), m.quantity) q)
  )) end as event,
  p.problems
from ledger.stock_movement m
left join erp.product product on product.id = m.product_id
cross join lateral (
  select ledger.epcis_step(m.source_location_type_technical_name, m.destination_location_type_technical_name,
      coalesce(m.source_special_stock_location_technical_name,
        m.destination_special_stock_location_technical_name), m.process_type_technical_name) as words,
    m.destination_location_type_technical_name not in ('order', 'special_stock_location') as is_inside
) s
left join lateral ledger.epcis_site(m.source_warehouse_id, m.source_bin_location_id,
  m.source_goods_receipt_id) source on true
left join lateral ledger.epcis_site(m.destination_warehouse_id, m.destination_bin_location_id,
  m.destination_goods_receipt_id) destination on true
-- The units are where they arrive; when they leave, or go into a container, they are where they were
cross join lateral (
  select coalesce(destination.id, source.id) as id, source.gln as came_from_gln,
    case when destination.id is null then source.gln else destination.gln end as gln,
    case when destination.id is null then source.bin_code else destination.bin_code end as bin_code
) site
cross join lateral (
  select array_remove(array[
    case when erp.gtin14(product.gtin) is null then 'ProductWithoutGtin' end,
    case when exists (
      select from ledger.stock_movement_batch l join erp.batch b on b.id = l.batch_id
      where l.stock_movement_id = m.id and not erp.is_gs1_text(b.number)
    ) then 'BatchNumberNotAllowed' end,
    case when site.id is null then 'PlaceUnknown' when site.gln is null then 'WarehouseWithoutGln' end
  ]::api_unstable.epcis_problem[], null) as problems
) p;
comment on view api_unstable.epcis_records is
  E'@primaryKey id\n'
  '@requiresScopes allOf: stocks:read batches:read products:read warehouses:read goods_receipts:read '
  'supplier_orders:read orders:read fulfillment_orders:read\n'
  '@behavior -query:resource:list -query:resource:connection\n'
  '@foreignKey (id) references stock_movements (id)|@fieldName stockMovement|@foreignFieldName epcis\n'
  'A movement in the words of EPCIS 2.0, the standard of GS1 for partners who trace goods.';
comment on column api_unstable.epcis_records.event is
  'The ObjectEvent as JSON-LD; null if there are problems.';
comment on column api_unstable.epcis_records.problems is
  E'@notNull\nReasons why there is no event; empty if there is one.';
--! EndIncluded api/epcis_records.sql

-- A text with a check of its length needs no second refusal for its index
--! Included mutation/faults_of_columns.sql
create or replace function mutation.faults_of_columns(relation regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select string_agg(f.query, ' union all ')
  from (
    select format($q$select 'REQUIRED', 'This must not be null.', array[%1$L] where w.%1$I is null$q$,
      a.attname)
    from pg_attribute a
    where a.attrelid = relation and a.attnum > 0 and a.attnotnull and not a.attisdropped
      and has_column_privilege(relation, a.attnum, 'update')
    union all
    select format($q$select 'OUT_OF_RANGE', 'The text has more than 255 characters.', array[%1$L]
      where length(w.%1$I) > 255$q$, a.attname)
    from pg_attribute a
    where a.attrelid = relation and a.atttypid = 'text'::regtype and exists (
      select from pg_index i where i.indrelid = relation and a.attnum = any (i.indkey::smallint[])
    ) and not exists (
      select from pg_constraint c
      where c.conrelid = relation and c.contype = 'c' and a.attnum = any (c.conkey)
        and pg_get_expr(c.conbin, c.conrelid) like '%length(%'
    )
    union all
    select format($q$select 'NOT_FOUND', 'There is no such %3$s.', array[%1$L]
      where w._given ? %1$L and w.%1$I is not null
        and not exists (select from %2$s o where o.%4$I = w.%1$I)$q$,
      a.attname, c.confrelid::regclass, mutation.thing(c.confrelid), r.attname)
    from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    join pg_attribute r on r.attrelid = c.confrelid and r.attnum = c.confkey[1]
    where c.conrelid = relation and c.contype = 'f' and cardinality(c.conkey) = 1
    union all
    select format('select %L, %L, %L::text[] where not (%s)', e.error ->> 'code',
      e.error ->> 'message', array(select jsonb_array_elements_text(nullif(e.error -> 'field', 'null'))),
      pg_get_expr(c.conbin, c.conrelid))
    from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
    cross join mutation.violation(n.nspname, t.relname, c.conname) e (error)
    where c.conrelid = relation and c.contype = 'c' and e.error is not null
  ) f (query);
end;
comment on function mutation.faults_of_columns(regclass) is
  'Returns SQL that finds the faults of a row w of mutation.row_faults by itself. It finds nulls in '
  'required columns that mutations change, violated checks, foreign keys to missing rows, and texts that '
  'are too long for an index. A text that has a check of its length is refused once, by the check. It runs '
  'row by row, because reading many long rows again for each rule takes seconds.';
grant execute on function mutation.faults_of_columns(regclass) to service_writer;
--! EndIncluded mutation/faults_of_columns.sql
drop index if exists erp.batch_best_before_date_id_idx;
drop index if exists erp.batch_supplier_lot_id_idx;
-- waive index-blocks-writes: 100,000 batches take a tenth of a second
create index batch_best_before_date_id_idx on erp.batch (best_before_date, id);
-- waive index-blocks-writes: 100,000 batches take a tenth of a second
create index batch_supplier_lot_id_idx on erp.batch (supplier_lot, id);
drop view if exists api_unstable.batches;
--! Included api/batches.sql
create view api_unstable.batches with (security_invoker = true) as
select id, product_id, number, comment, best_before_date, production_date, supplier_lot, physical_stock,
  is_held, held_at, hold_reason
from erp.batch;
comment on view api_unstable.batches is $$
@primaryKey id
@requiresScopes batches:read
@search number,product_id
@nullable number
@filters best_before_date,comment,held_at,number,physical_stock,product_id,supplier_lot
@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName batches
@ref tags to:Tag plural
@refVia tags via:(id)->batch_tags(batch_id);(tag_id)->tags(id)
A batch (lot) of a product. Product and number together are unique.$$;
--! EndIncluded api/batches.sql

--! split: 127-valuation.sql
-- The value of the stock: methods, values given by people, and the calculation

drop function if exists api_unstable.valuation_method_set, api_unstable.stock_opening_values_set,
  api_unstable.landed_cost_allocate, api_unstable.stock_write_down;
drop schema if exists valuation cascade;
create schema valuation;
comment on schema valuation is
  'The value of the stock. It is calculated from movements, prices and a method, and kept in reports that '
  'close a period.';
grant usage on schema valuation to service_api, service_writer;
select api_meta.expose('valuation');
select api_meta.allow('service_writer', 'ledger.movement_sequence', 'select');

create table valuation.method (
  id uuid primary key default uuidv7(),
  starts_on date not null constraint method_starts_on_is_unique unique
    constraint method_starts_on_is_plausible check (starts_on between '1900-01-01' and '9999-12-31'),
  method text not null constraint method_is_known
    check (method in ('moving_average', 'period_average', 'fifo')),
  created_at timestamptz(0) not null default date_trunc('second', now())
);
comment on table valuation.method is
  'Methods by which the stock is valued, each from a day on. Before the first, the method is the moving '
  'average.';
comment on column valuation.method.starts_on is 'First day that is valued by the method.';
comment on column valuation.method.method is
  'The method: moving_average, period_average or fifo (first in, first out).';
comment on constraint method_starts_on_is_unique on valuation.method is
  '@internal valuation.set_method changes the one that is there.';
comment on column valuation.method.created_at is 'When the method was set.';
comment on constraint method_starts_on_is_plausible on valuation.method is
  E'@userError OUT_OF_RANGE starts_on\nThe year must be between 1900 and 9999.';
comment on constraint method_is_known on valuation.method is '@internal An enum of the API has these values.';

create table valuation.opening_value (
  id uuid primary key default uuidv7(),
  stock_movement_id uuid not null references ledger.stock_movement on delete cascade
    constraint opening_value_is_one_per_movement unique,
  product_id uuid not null references erp.product on delete cascade,
  unit_value numeric not null constraint opening_value_is_an_amount
    check (unit_value >= 0 and unit_value < 1000000000 and scale(unit_value) <= 6),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0)
);
create index on valuation.opening_value (product_id, id);
comment on constraint opening_value_is_one_per_movement on valuation.opening_value is
  '@internal valuation.set_opening_values changes the one that is there.';
comment on table valuation.opening_value is
  'Values of units that came in without a goods receipt: from initialization, import or a count.';
comment on column valuation.opening_value.stock_movement_id is 'The movement that brought the units.';
comment on column valuation.opening_value.product_id is 'Product of the movement.';
comment on column valuation.opening_value.unit_value is
  'Value of one unit without deductible tax, in the default currency.';
comment on column valuation.opening_value.created_at is 'When the value was first set.';
comment on column valuation.opening_value.updated_at is 'When the value was last changed.';
comment on constraint opening_value_is_an_amount on valuation.opening_value is
  '@internal valuation.set_opening_values checks it for each line.';
comment on constraint opening_value_stock_movement_id_fkey on valuation.opening_value is
  '@internal valuation.set_opening_values looks it up.';
comment on constraint opening_value_product_id_fkey on valuation.opening_value is
  '@internal It is the product of the movement.';

create table valuation.landed_cost (
  id uuid primary key default uuidv7(),
  goods_receipt_id uuid not null references erp.goods_receipt on delete restrict,
  product_id uuid not null references erp.product on delete cascade,
  amount numeric not null constraint landed_cost_is_an_amount
    check (amount <> 0 and abs(amount) < 1000000000000 and scale(amount) <= 6),
  day date not null,
  sequence bigint not null,
  note text constraint landed_cost_note_length check (length(note) <= 1000),
  created_at timestamptz(0) not null default date_trunc('second', now())
);
create index on valuation.landed_cost (goods_receipt_id, id);
create index on valuation.landed_cost (product_id, id);
create index landed_cost_sequence_idx on valuation.landed_cost (sequence);
comment on index valuation.landed_cost_sequence_idx is 'Finds what belongs to the open period.';
comment on table valuation.landed_cost is
  'Freight, customs and other costs of purchase that belong to the goods of a receipt.';
comment on column valuation.landed_cost.goods_receipt_id is 'Goods receipt that the costs belong to.';
comment on column valuation.landed_cost.product_id is 'Product of the receipt that bears the costs.';
comment on column valuation.landed_cost.amount is
  'Costs of the product in the default currency; negative when earlier ones are taken back.';
comment on column valuation.landed_cost.day is
  'Day in the time zone of the merchant at whose end the costs count.';
comment on column valuation.landed_cost.sequence is
  'Number of the movement in the ledger after which the costs count.';
comment on column valuation.landed_cost.note is 'Free note, for example the number of the invoice.';
comment on column valuation.landed_cost.created_at is 'When the costs were booked.';
comment on constraint landed_cost_is_an_amount on valuation.landed_cost is
  '@internal valuation.allocate_landed_cost checks the total before it is split.';
comment on constraint landed_cost_note_length on valuation.landed_cost is
  E'@userError OUT_OF_RANGE note\nThe text has more than 1,000 characters.';
comment on constraint landed_cost_goods_receipt_id_fkey on valuation.landed_cost is
  '@internal valuation.allocate_landed_cost looks it up.';
comment on constraint landed_cost_product_id_fkey on valuation.landed_cost is
  '@internal valuation.allocate_landed_cost takes it from a line of the receipt.';

create table valuation.write_down (
  id uuid primary key default uuidv7(),
  product_id uuid not null references erp.product on delete cascade,
  amount numeric not null constraint write_down_is_an_amount
    check (amount <> 0 and abs(amount) < 1000000000000 and scale(amount) <= 6),
  day date not null,
  sequence bigint not null,
  reason text not null constraint write_down_reason_length check (length(reason) <= 1000)
    constraint write_down_reason_is_not_blank check (not erp.is_blank(reason)),
  created_at timestamptz(0) not null default date_trunc('second', now())
);
create index on valuation.write_down (product_id, id);
create index write_down_sequence_idx on valuation.write_down (sequence);
comment on index valuation.write_down_sequence_idx is 'Finds what belongs to the open period.';
comment on table valuation.write_down is 'Bookings that lower the value of a product without moving units.';
comment on column valuation.write_down.product_id is 'Product whose value falls.';
comment on column valuation.write_down.amount is
  'Amount by which the value falls, in the default currency; negative when it rises again.';
comment on column valuation.write_down.day is
  'Day in the time zone of the merchant at whose end the write-down counts.';
comment on column valuation.write_down.sequence is
  'Number of the movement in the ledger after which the write-down counts.';
comment on column valuation.write_down.reason is 'Why the value fell, or rose again.';
comment on column valuation.write_down.created_at is 'When it was booked.';
comment on constraint write_down_is_an_amount on valuation.write_down is
  '@internal valuation.write_down checks it.';
comment on constraint write_down_reason_length on valuation.write_down is
  E'@userError OUT_OF_RANGE reason\nThe text has more than 1,000 characters.';
comment on constraint write_down_reason_is_not_blank on valuation.write_down is
  E'@userError INVALID reason\nA write-down needs a reason.';
comment on constraint write_down_product_id_fkey on valuation.write_down is
  E'@userError NOT_FOUND product_id\nThere is no such product.';

-- Reports outlive products and places, and so have no foreign keys to them
create table valuation.report (
  id uuid primary key default uuidv7(),
  number integer,
  reference_date date not null,
  sequence bigint not null,
  method text not null constraint report_method_is_known
    check (method in ('moving_average', 'period_average', 'fifo')),
  closed_at timestamptz(0),
  voided_at timestamptz(0),
  voided_by uuid references valuation.report
);
create index on valuation.report (voided_by);
comment on table valuation.report is
  'Valuations of the stock at the end of a day. A closed one never changes.';
comment on column valuation.report.number is 'Number of the report, without gaps; null while it is a draft.';
comment on column valuation.report.reference_date is
  'Day in the time zone of the merchant at whose end the stock is valued.';
comment on column valuation.report.sequence is 'Number of the last movement that is counted.';
comment on column valuation.report.method is 'Method by which the stock is valued.';
comment on column valuation.report.closed_at is 'When the report was closed; null for a draft.';
comment on column valuation.report.voided_at is 'When the report was declared void; null while it is valid.';
comment on column valuation.report.voided_by is 'Report that replaces it, if it is void.';
comment on constraint report_method_is_known on valuation.report is
  '@internal It comes from valuation.method.';
comment on constraint report_voided_by_fkey on valuation.report is '@internal Functions set it.';

create table valuation.report_product (
  report_id uuid not null references valuation.report on delete cascade,
  product_id uuid not null,
  product_number text not null,
  quantity bigint not null,
  value numeric not null,
  last_unit_cost numeric,
  layers jsonb,
  landed_expense numeric not null,
  variance numeric not null,
  primary key (report_id, product_id)
);
comment on table valuation.report_product is 'Units and value of a product at the end of a report''s day.';
comment on column valuation.report_product.report_id is 'The report.';
comment on column valuation.report_product.product_id is 'The product, which may have been deleted since.';
comment on column valuation.report_product.product_number is
  'Number of the product when the report was made.';
comment on column valuation.report_product.quantity is 'Units in all warehouses.';
comment on column valuation.report_product.value is 'Value of these units in the default currency.';
comment on column valuation.report_product.last_unit_cost is
  'Value of one unit when it was last known; null if it never was.';
comment on column valuation.report_product.layers is
  'Units and value by arrival, the oldest first; null unless the method is first in, first out.';
comment on column valuation.report_product.landed_expense is
  'Costs of purchase of the period whose goods had left before, and so are cost of goods sold.';
comment on column valuation.report_product.variance is
  'Write-downs of the period that found no value to lower; negative for write-ups without units.';

create table valuation.report_outside (
  report_id uuid not null references valuation.report on delete cascade,
  place_type text not null,
  place text not null,
  product_id uuid not null,
  quantity bigint not null,
  value numeric not null,
  primary key (report_id, place, product_id)
);
create index report_outside_place_product_id_idx on valuation.report_outside (place, product_id);
comment on index valuation.report_outside_place_product_id_idx is
  'Finds the value that goods had when they left.';
comment on table valuation.report_outside is
  'Goods in orders, return orders and goods receipts, with the value at which they left the stock. Of a '
  'period, only places that changed.';
comment on column valuation.report_outside.report_id is 'The report.';
comment on column valuation.report_outside.place_type is
  'Kind of place: order, return_order or goods_receipt.';
comment on column valuation.report_outside.place is 'Id of the place, which may have been deleted since.';
comment on column valuation.report_outside.product_id is 'The product, which may have been deleted since.';
comment on column valuation.report_outside.quantity is 'Units in the place that came with a value.';
comment on column valuation.report_outside.value is 'Value of these units in the default currency.';

create table valuation.report_cost (
  report_id uuid not null references valuation.report on delete cascade,
  stock_movement_id uuid not null,
  product_id uuid not null,
  order_id uuid,
  kind text not null,
  quantity integer not null,
  value numeric not null,
  primary key (report_id, stock_movement_id)
);
comment on table valuation.report_cost is
  'Values that movements of a period brought to the stock, or took from it.';
comment on column valuation.report_cost.report_id is 'The report.';
comment on column valuation.report_cost.stock_movement_id is
  'The movement, which may have been deleted since.';
comment on column valuation.report_cost.product_id is 'The product, which may have been deleted since.';
comment on column valuation.report_cost.order_id is
  'Order that the units went to or came from; null for others.';
comment on column valuation.report_cost.kind is 'Kind of the other place, or the name of a special one.';
comment on column valuation.report_cost.quantity is 'Units that came in; negative for units that went out.';
comment on column valuation.report_cost.value is 'Value that came in; negative for value that went out.';

create table valuation.report_warehouse (
  report_id uuid not null references valuation.report on delete cascade,
  product_id uuid not null,
  warehouse_id uuid,
  warehouse_code text,
  quantity bigint not null,
  value numeric not null
);
create index on valuation.report_warehouse (report_id);
comment on table valuation.report_warehouse is 'The share of each warehouse in the value of a product.';
comment on column valuation.report_warehouse.report_id is 'The report.';
comment on column valuation.report_warehouse.product_id is 'The product, which may have been deleted since.';
comment on column valuation.report_warehouse.warehouse_id is
  'The warehouse, which may have been deleted since; null for units in no warehouse.';
comment on column valuation.report_warehouse.warehouse_code is
  'Code of the warehouse when the report was made.';
comment on column valuation.report_warehouse.quantity is 'Units in the warehouse.';
comment on column valuation.report_warehouse.value is 'Value of these units in the default currency.';

alter table valuation.method enable row level security;
alter table valuation.opening_value enable row level security;
alter table valuation.landed_cost enable row level security;
alter table valuation.write_down enable row level security;
alter table valuation.report enable row level security;
alter table valuation.report_product enable row level security;
alter table valuation.report_outside enable row level security;
alter table valuation.report_cost enable row level security;
alter table valuation.report_warehouse enable row level security;
select api_meta.allow('service_writer', 'valuation.method', 'select', 'insert', 'update (method)');
select api_meta.allow('service_writer', 'valuation.opening_value', 'select', 'insert',
  'update (unit_value, updated_at)');
select api_meta.allow('service_writer', 'valuation.landed_cost', 'select', 'insert');
select api_meta.allow('service_writer', 'valuation.write_down', 'select', 'insert');
select api_meta.allow('service_writer', 'valuation.report', 'select');
select api_meta.allow('service_writer', 'valuation.report_product', 'select');
select api_meta.allow('service_writer', 'valuation.report_outside', 'select');
select api_meta.allow('service_writer', 'valuation.report_cost', 'select');
select api_meta.allow('service_writer', 'valuation.report_warehouse', 'select');

alter table erp.product drop column if exists gross_weight cascade;
alter table erp.product add column gross_weight numeric,
  add constraint product_gross_weight_is_plausible
    check (gross_weight > 0 and gross_weight <= 1000000 and scale(gross_weight) <= 6) not enforced;
comment on constraint product_gross_weight_is_plausible on erp.product is
  E'@userError OUT_OF_RANGE gross_weight\nThe weight must be more than 0 and at most 1,000,000 kilograms, '
  'with at most six decimals.';
comment on column erp.product.gross_weight is 'Weight of one unit with its packaging, in kilograms.';
select api_meta.allow('service_writer', 'erp.product', 'update (gross_weight)');

create type valuation.opening_line as (stock_movement_id uuid, unit_value numeric);
comment on type valuation.opening_line is 'Value of the units of a movement.';
-- The calculation
create type valuation.run as (
  method text, report_id uuid, report_number integer, after bigint, after_day date, upto bigint, day date,
  products uuid[]
);
comment on type valuation.run is
  'A calculation: the method, the closed report that it starts from, and up to where it goes.';
create type valuation.pool as (
  product_id uuid, method text, quantity bigint, value bigint, unit_cost bigint, first_unit_cost bigint,
  landed_expense bigint, variance bigint, lowered bigint, gone bigint, came bigint, worth bigint,
  all_came bigint, all_worth bigint, moved bigint, is_unvalued boolean, quantities bigint[],
  amounts bigint[], receipts uuid[]
);
comment on type valuation.pool is
  'The stock of a product in the course of a calculation, in millionths. For a period average: what came and '
  'its worth, what has gone, what was written down, and all that comes in the period. For first in, first '
  'out: units, value and receipt of each layer. The field moved is the value of the units that moved last. '
  'The field is_unvalued says whether some of them came without one.';
create type valuation.entry as (
  type text, product_id uuid, sequence bigint, stock_movement_id uuid, kind text, quantity bigint,
  value bigint, pool_quantity bigint, pool_value bigint, last_unit_cost bigint, layers jsonb,
  landed_expense bigint, variance bigint, goods_receipt_id uuid
);
comment on type valuation.entry is
  'A result of the calculation: the state of a product, the cost of a movement, a movement between places '
  'outside of the stock, or a fault. Amounts are in millionths of the default currency.';

--! Included erp/end_of_day.sql
create or replace function erp.end_of_day(day date) returns timestamptz
language sql stable
return (day + 1)::timestamp at time zone coalesce((select m.time_zone from erp.merchant m), 'UTC')
  - interval '1 microsecond';
comment on function erp.end_of_day(date) is
  'Returns the last moment of a day in the merchant''s time zone (erp.local_date).';
grant execute on function erp.end_of_day(date) to service_registrar, service_writer;
--! EndIncluded erp/end_of_day.sql
--! Included erp/rounded.sql
-- The rules of rounding. Amounts are paid in cents, and rounded once, half away from zero; prices of a unit
-- keep more decimals. These functions have no settings, so that Postgres inlines them.
create or replace function erp.rounded(amount numeric) returns numeric
language sql immutable parallel safe
return round(amount, 2);
comment on function erp.rounded(numeric) is
  'Rounds an amount to cents: half a cent is rounded away from zero.';

create or replace function erp.rounded_price(price numeric) returns numeric
language sql immutable parallel safe
-- A quotient has infinitely many digits, and a rate four to six significant ones. With six decimals of a
-- price, the rounding on a line of 10,000 units is still below a cent.
return round(price, 6);
comment on function erp.rounded_price(numeric) is 'Rounds a calculated price of one unit to six decimals.';

create or replace function erp.net_amount(amount numeric, tax_rate numeric) returns numeric
language sql immutable parallel safe
return round(amount * 100 / (100 + tax_rate), 2);
comment on function erp.net_amount(numeric, numeric) is
  'Returns an amount without its tax, in cents; the rate is in percent. Null without a rate.';

create or replace function erp.share_of(amount numeric, units integer, quantity integer) returns numeric
language sql immutable parallel safe
return case units when quantity then amount else round(amount * units / quantity, 2) end;
comment on function erp.share_of(numeric, integer, integer) is
  'Returns the amount of the first units of a quantity, in cents. The difference between two shares is the '
  'amount of the units between them, so that the amounts of all units add up.';

create or replace function erp.in_default_currency(amount numeric, currency_factor numeric) returns numeric
language sql immutable strict parallel safe
return round(amount / currency_factor, 6);
comment on function erp.in_default_currency(numeric, numeric) is
  'Converts a price to the default currency: divides it by the units of its currency per unit of the '
  'default currency. The result has six decimals.';

create or replace function erp.amount_in_default_currency(amount numeric, currency_factor numeric)
returns numeric
language sql immutable strict parallel safe
return round(amount / currency_factor, 2);
comment on function erp.amount_in_default_currency(numeric, numeric) is
  'Returns an amount in the default currency, in cents. The amount is a price times a quantity, so that no '
  'rounded price is multiplied.';

create or replace function erp.price_on_document(price numeric, quantity integer, amount numeric)
returns numeric
language sql immutable parallel safe
return coalesce(
  (
    select round(price, d)
    from generate_series(4, 12) d
    where round(round(price, d) * quantity, 2) = amount
    order by d
    limit 1
  ),
  -- So many that the quantity makes less than half a cent of what is left out
  round(amount / quantity, 2 + length(quantity::text)));
comment on function erp.price_on_document(numeric, integer, numeric) is
  'Returns the price of one unit as a document shows it. It has at least four decimals, and as many as are '
  'needed for the price times the quantity to give the amount in cents. If no number of decimals does, as '
  'with a line that has a discount of its own, it is the amount divided by the quantity.';

create or replace function erp.net_price(amount numeric, quantity numeric) returns jsonb
language sql immutable parallel safe
return (
  select case
    when round(round(p.price, 2) * quantity, 2) = amount
      then jsonb_build_object('netPrice', round(p.price, 2), 'baseQuantity', 1)
    when round(round(p.price, 4) * quantity, 2) = amount
      then jsonb_build_object('netPrice', round(p.price, 4), 'baseQuantity', 1)
    else jsonb_build_object('netPrice', amount, 'baseQuantity', quantity) end
  from (select amount / quantity as price) p
);
comment on function erp.net_price(numeric, numeric) is
  'Returns the price without tax of one unit, with two or four decimals. If neither times the quantity '
  'gives the amount in cents, it is the price of all units, with their number as baseQuantity (BT-149).';

create or replace function erp.rounded_to(total numeric, amounts numeric[]) returns numeric[]
language sql immutable parallel safe
return (
  select array_agg(
    r.cents + case when r.nth <= (rounded_to.total - r.sum) * 100 then 0.01 else 0 end order by r.n
  )
  from (
    select a.n, floor(a.amount * 100) / 100 as cents, sum(floor(a.amount * 100) / 100) over () as sum,
      row_number() over (order by a.amount * 100 - floor(a.amount * 100) desc, a.n) as nth
    from unnest(amounts) with ordinality a (amount, n)
  ) r
);
comment on function erp.rounded_to(numeric, numeric[]) is
  'Rounds amounts to cents such that they add up to a total, by largest remainder: all are rounded down, '
  'and those that lose most get a cent more. Without rounding they must add up to the total already, except '
  'for half a cent.';

create or replace function erp.shares(amount numeric, weights bigint[]) returns numeric[]
language sql immutable parallel safe
return (
  select array_agg(
    sign(shares.amount) * (r.part + case when r.nth <= r.rest then 1 else 0 end) * 0.000001 order by r.n
  )
  from (
    select p.n, p.part, round(abs(shares.amount) * 1000000) - sum(p.part) over () as rest,
      row_number() over (order by p.lost desc, p.n) as nth
    from (
      select w.n, div(round(abs(shares.amount) * 1000000) * w.weight, a.weight) as part,
        mod(round(abs(shares.amount) * 1000000) * w.weight, a.weight) as lost
      from unnest(weights) with ordinality w (weight, n)
      cross join (select nullif(sum(v), 0) as weight from unnest(weights) v) a
    ) p
  ) r
);
comment on function erp.shares(numeric, bigint[]) is
  'Divides an amount by weights, by largest remainder: all shares are rounded down to six decimals, and '
  'those that lose most get a millionth more, the first of equal ones. So they add up to the amount. The '
  'weights are not negative, and not all zero: otherwise the shares are null.';

grant execute on function erp.rounded(numeric), erp.rounded_price(numeric), erp.net_amount(numeric, numeric),
  erp.share_of(numeric, integer, integer), erp.in_default_currency(numeric, numeric),
  erp.amount_in_default_currency(numeric, numeric), erp.price_on_document(numeric, integer, numeric),
  erp.net_price(numeric, numeric), erp.rounded_to(numeric, numeric[]), erp.shares(numeric, bigint[])
  to service_ledger, service_keeper, service_writer;
--! EndIncluded erp/rounded.sql
--! Included valuation/lock.sql
create or replace function valuation.lock() returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select pg_advisory_xact_lock(hashtextextended('valuation', 41));
end;
comment on function valuation.lock() is
  'Waits until no other transaction closes a report or books value. Held until the end of the transaction.';
grant execute on function valuation.lock() to service_writer;

create or replace function valuation.lock_shared() returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  select pg_advisory_xact_lock_shared(hashtextextended('valuation', 41));
end;
comment on function valuation.lock_shared() is
  'Keeps reports from being closed until the end of the transaction, and waits for one that is.';
grant execute on function valuation.lock_shared() to service_writer;
--! EndIncluded valuation/lock.sql
--! Included valuation/part_of.sql
-- Has no settings, so that Postgres inlines it into the calling expression
create or replace function valuation.part_of(value bigint, units bigint, all_units bigint) returns bigint
language sql immutable parallel safe
return case
  when units = 0 then 0
  when units = all_units then value
  -- Half of the divisor is added before the division, which cuts off. Beyond these bounds, twice the product
  -- might not be a bigint
  when abs(value) < 2000000000000 and abs(units) < 2000000 and all_units < 1000000000000000000 then
    (2 * value * units + case when (value < 0) = (units < 0) then all_units else - all_units end)
      / (2 * all_units)
  else (sign(value::numeric) * sign(units::numeric)
    * div(2 * abs(value::numeric * units) + all_units, 2 * all_units::numeric))::bigint end;
comment on function valuation.part_of(bigint, bigint, bigint) is
  'Returns the value of some of several units in millionths, half a millionth rounded away from zero; of all '
  'units all of the value. Computes with whole numbers, because a quotient of numeric is rounded before it '
  'could be rounded right.';
grant execute on function valuation.part_of(bigint, bigint, bigint) to service_writer;

-- Has no settings, so that Postgres inlines it into the calling expression
create or replace function valuation.period_cost(worth bigint, came bigint, unit_cost bigint, units bigint)
returns bigint
language sql immutable parallel safe
return case when came > 0 then valuation.part_of(worth, units, came) else coalesce(unit_cost, 0) * units end;
comment on function valuation.period_cost(bigint, bigint, bigint, bigint) is
  'Returns what so many units cost by the average of a period: the part of the value of all units that were '
  'there or came. Without such units, by the last known value of one.';
grant execute on function valuation.period_cost(bigint, bigint, bigint, bigint) to service_writer;
--! EndIncluded valuation/part_of.sql
--! Included valuation/method_on.sql
create or replace function valuation.method_on(day date) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(
    (select m.method from valuation.method m where m.starts_on <= day order by m.starts_on desc limit 1),
    'moving_average');
end;
comment on function valuation.method_on(date) is 'Returns the method by which the stock is valued on a day.';
grant execute on function valuation.method_on(date) to service_writer;
--! EndIncluded valuation/method_on.sql
--! Included valuation/cut.sql
create or replace function valuation.cut(day date) returns bigint
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce(
    (
      select min(s.sequence) - 1
      from ledger.stock_movement m join ledger.movement_sequence s on s.movement_id = m.id
      where m.created_at > erp.end_of_day(day)
    ),
    (select s.sequence from ledger.movement_sequence s order by s.sequence desc limit 1),
    0);
end;
comment on function valuation.cut(date) is
  'Returns the number of the ledger up to which the value of the stock at the end of a day counts. Every '
  'movement up to it was booked on that day or before, in the time zone of the merchant. Movements of the '
  'day with a later number were numbered after one of the next day.';
grant execute on function valuation.cut(date) to service_writer;
--! EndIncluded valuation/cut.sql
--! Included valuation/run_of.sql
create or replace function valuation.run_of(method text, upto bigint, products uuid[], day date)
returns valuation.run
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select row (run_of.method, r.id, r.number, coalesce(r.sequence, 0), r.reference_date, run_of.upto,
    run_of.day, run_of.products)::valuation.run
  from (select) one
  left join lateral (
    select v.id, v.number, v.sequence, v.reference_date from valuation.report v
    where v.closed_at is not null and v.voided_at is null and v.sequence <= run_of.upto
      and (run_of.day is null or v.reference_date <= run_of.day)
    order by v.number desc limit 1
  ) r on true;
end;
comment on function valuation.run_of(text, bigint, uuid[], date) is
  'Returns what is to be calculated: from the newest closed report that counts no later movement or day, '
  'up to a number of the ledger. Values that were booked without a movement count up to a day, or all.';
grant execute on function valuation.run_of(text, bigint, uuid[], date) to service_writer;
--! EndIncluded valuation/run_of.sql
--! Included valuation/received_of.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function valuation.received_of(goods_receipt_id uuid, product_id uuid, upto bigint)
returns bigint
language sql stable
return (
  select sum(case when m.destination_location_type_technical_name
    in ('warehouse', 'bin_location', 'stock_container') then m.quantity else 0 end)
  from ledger.stock_movement m join ledger.movement_sequence s on s.movement_id = m.id
  where m.source_goods_receipt_id = received_of.goods_receipt_id
    and m.product_id = received_of.product_id and s.sequence <= upto
);
comment on function valuation.received_of(uuid, uuid, bigint) is
  'Returns how many units of a product came into stock from a goods receipt, up to a number of the ledger. '
  'Null while nothing has left the receipt; 0 if all of it was thrown away.';
grant execute on function valuation.received_of(uuid, uuid, bigint) to service_writer;
--! EndIncluded valuation/received_of.sql
--! Included valuation/pool_at.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function valuation.line_value(receipt erp.goods_receipt, line erp.goods_receipt_line_item)
returns numeric
language sql immutable parallel safe
-- More decimals than the quotient of numeric has by itself, which would be rounded twice
return round((line).unit_price * (line).quantity * 100.00000000000000000000
  / ((receipt).currency_factor
    * (100 + case when (receipt).tax_status = 'gross' then coalesce((line).tax_rate, 0) else 0 end)), 6);
comment on function valuation.line_value(erp.goods_receipt, erp.goods_receipt_line_item) is
  'Returns the value of a line of a goods receipt in the default currency, without deductible tax, rounded '
  'once to six decimals. Null without a price or an exchange rate.';
grant execute on function valuation.line_value(erp.goods_receipt, erp.goods_receipt_line_item)
  to service_writer;

-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function valuation.pool_at(
  report_number integer, place uuid, receipt_id uuid, product_id uuid
)
returns table (quantity bigint, value bigint, is_unpriced boolean, is_supply boolean)
language sql stable
begin atomic
  select coalesce(o.quantity, l.quantity, 0),
    (coalesce(o.value, case when l.is_unpriced then 0 else coalesce(l.value, 0) end
      + case when l.quantity is not null then coalesce(c.amount, 0) else 0 end) * 1000000)::bigint,
    o.quantity is null and coalesce(l.is_unpriced, false), l.quantity is not null
  from (select) one
  left join lateral (
    select s.quantity, s.value
    from valuation.report_outside s join valuation.report r on r.id = s.report_id
    where s.place = pool_at.place::text and s.product_id = pool_at.product_id
      and r.closed_at is not null and r.voided_at is null and r.number <= pool_at.report_number
    order by r.number desc limit 1
  ) o on true
  left join lateral (
    select sum(i.quantity) as quantity, sum(valuation.line_value(g, i)) as value,
      bool_or(i.unit_price is null or g.currency_factor is null) as is_unpriced
    from erp.goods_receipt g join erp.goods_receipt_line_item i on i.goods_receipt_id = g.id
    where g.id = pool_at.receipt_id and g.type <> 'Customer' and i.product_id = pool_at.product_id
      and i.quantity > 0
  ) l on true
  left join lateral (
    select sum(d.amount) as amount from valuation.landed_cost d
    where d.goods_receipt_id = pool_at.receipt_id and d.product_id = pool_at.product_id
      and valuation.received_of(d.goods_receipt_id, d.product_id, d.sequence) is null
  ) c on true;
end;
comment on function valuation.pool_at(integer, uuid, uuid, uuid) is
  'Returns the units of a product in an order, return order or goods receipt, with their value in '
  'millionths, as of a closed report. A receipt of goods that were bought has its lines, and the costs that '
  'were allocated before the goods came. The place of a receipt is given twice.';
grant execute on function valuation.pool_at(integer, uuid, uuid, uuid) to service_writer;
--! EndIncluded valuation/pool_at.sql
--! Included valuation/movements.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function valuation.movements(run valuation.run)
returns table (
  id uuid, product_id uuid, sequence bigint, quantity integer, leaves boolean, arrives boolean,
  from_place uuid, to_place uuid, from_receipt_id uuid, special_place text, kind text
)
language sql stable
begin atomic
  select m.id, m.product_id, m.sequence, m.quantity, m.leaves, m.arrives, m.from_place, m.to_place,
    m.source_goods_receipt_id, m.source_special_stock_location_technical_name,
    case when m.leaves
      then coalesce(m.destination_special_stock_location_technical_name,
        m.destination_location_type_technical_name)
      else coalesce(m.source_special_stock_location_technical_name,
        m.source_location_type_technical_name) end
  from (
    select v.*, s.sequence,
      v.source_location_type_technical_name in ('warehouse', 'bin_location', 'stock_container') as leaves,
      v.destination_location_type_technical_name in ('warehouse', 'bin_location', 'stock_container')
        as arrives,
      coalesce(v.source_order_id, v.source_return_order_id, v.source_goods_receipt_id) as from_place,
      coalesce(v.destination_order_id, v.destination_return_order_id, v.destination_goods_receipt_id)
        as to_place
    from ledger.movement_sequence s join ledger.stock_movement v on v.id = s.movement_id
    where s.sequence > run.after and s.sequence <= run.upto
      and (run.products is null or v.product_id = any (run.products))
  ) m
  where m.leaves <> m.arrives or not m.leaves and m.from_place is not null;
end;
comment on function valuation.movements(valuation.run) is
  'Returns the movements that change a value: into stock, out of it, and between orders, return orders and '
  'goods receipts. Movements within the stock change none.';
grant execute on function valuation.movements(valuation.run) to service_writer;
--! EndIncluded valuation/movements.sql
--! Included valuation/bookings.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function valuation.bookings(run valuation.run)
returns table (
  id uuid, product_id uuid, sequence bigint, kind text, amount numeric, goods_receipt_id uuid,
  received bigint
)
language sql stable
begin atomic
  select b.id, b.product_id, b.sequence, b.kind, b.amount, b.goods_receipt_id, b.received
  from (
    select c.id, c.product_id, c.sequence, c.day, 'landed_cost' as kind, c.amount, c.goods_receipt_id,
      valuation.received_of(c.goods_receipt_id, c.product_id, c.sequence) as received
    from valuation.landed_cost c
    union all
    select w.id, w.product_id, w.sequence, w.day, 'write_down', w.amount, null, null
    from valuation.write_down w
  ) b
  where b.sequence <= run.upto and (b.sequence > run.after or b.day > run.after_day)
    and (run.day is null or b.day <= run.day)
    and (run.products is null or b.product_id = any (run.products))
    -- Costs allocated before the goods arrive come in with the goods
    and (b.kind <> 'landed_cost' or b.received is not null);
end;
comment on function valuation.bookings(valuation.run) is
  'Returns the costs of purchase and write-downs of the open period. received has the units of the receipt '
  'that had come into stock.';
grant execute on function valuation.bookings(valuation.run) to service_writer;
--! EndIncluded valuation/bookings.sql
--! Included valuation/events.sql
-- Has no settings, so that Postgres inlines it into the calling statement
create or replace function valuation.events(run valuation.run)
returns table (
  product_id uuid, sequence bigint, step integer, id uuid, type text, kind text, quantity bigint,
  value bigint, last_unit_cost bigint, layers jsonb, from_slot integer, to_slot integer,
  is_unvalued boolean, is_unpriced boolean, is_supply boolean, goods_receipt_id uuid
)
language sql stable
begin atomic
  with movement as (select m.* from valuation.movements(run) m),
  -- Only places that something comes back from need a memory of what they hold
  pool as (
    select p.product_id, p.place, p.receipt_id,
      row_number() over (order by p.product_id, p.place)::integer as slot
    from (
      select distinct m.product_id, m.from_place as place, m.from_receipt_id as receipt_id from movement m
      where m.from_place is not null
    ) p
  )
  select s.product_id, -1, 0, null::uuid, 'state', null::text, s.quantity, (s.value * 1000000)::bigint,
    (s.last_unit_cost * 1000000)::bigint, s.layers, null::integer, null::integer, false, false, false,
    null::uuid
  from valuation.report_product s join erp.product p on p.id = s.product_id
  where s.report_id = run.report_id and (run.products is null or s.product_id = any (run.products))
  union all
  select p.product_id, -1, p.slot, null, 'pool', null, a.quantity, a.value, null, null, p.slot, null, false,
    a.is_unpriced, a.is_supply, null
  from pool p cross join lateral valuation.pool_at(run.report_number, p.place, p.receipt_id, p.product_id) a
  union all
  select m.product_id, m.sequence, 0, m.id,
    case when m.leaves then 'out' when m.arrives then 'in' else 'carry' end, m.kind, m.quantity,
    (o.unit_value * m.quantity * 1000000)::bigint, null, null, f.slot, t.slot,
    coalesce(m.special_place in ('initialization', 'import', 'unknown'), false), false, false,
    m.from_receipt_id
  from movement m
  left join pool f on f.product_id = m.product_id and f.place = m.from_place
  left join pool t on t.product_id = m.product_id and t.place = m.to_place
  left join valuation.opening_value o on o.stock_movement_id = m.id
  union all
  select b.product_id, b.sequence, 1, b.id, b.kind, null, b.received, (b.amount * 1000000)::bigint, null,
    null, null, null, false, false, false, b.goods_receipt_id
  from valuation.bookings(run) b;
end;
comment on function valuation.events(valuation.run) is
  'Returns everything that values follow from: movements, bookings of value alone, the states of a closed '
  'report, and the content of places that something comes back from. Amounts are in '
  'millionths. The order is product, sequence, step and id.';
grant execute on function valuation.events(valuation.run) to service_writer;
--! EndIncluded valuation/events.sql
--! Included valuation/pool_of.sql
create or replace function valuation.pool_of(
  product_id uuid, method text, quantity bigint, value bigint, unit_cost bigint, layers jsonb, came bigint,
  worth bigint
)
returns valuation.pool
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  pool valuation.pool := row (product_id, method, quantity, value, unit_cost, unit_cost, 0, 0, 0, 0, quantity,
    value, coalesce(came, 0), coalesce(worth, 0), 0, false, null, null, null);
begin
  if method = 'fifo' and layers is not null then
    select array_agg((l.layer ->> 'quantity')::bigint order by l.n),
      array_agg(((l.layer ->> 'value')::numeric * 1000000)::bigint order by l.n),
      array_agg((l.layer ->> 'goods_receipt_id')::uuid order by l.n)
    into pool.quantities, pool.amounts, pool.receipts
    from jsonb_array_elements(layers) with ordinality l (layer, n);
  elsif method = 'fifo' and quantity > 0 then
    pool.quantities := array[quantity];
    pool.amounts := array[value];
    pool.receipts := array[null::uuid];
  end if;
  return pool;
end
$$;
comment on function valuation.pool_of(uuid, text, bigint, bigint, bigint, jsonb, bigint, bigint) is
  'Returns the stock of a product at the beginning of a calculation, with the layers that a report stored. '
  'Of a report by averages, all units are one layer.';
grant execute on function valuation.pool_of(uuid, text, bigint, bigint, bigint, jsonb, bigint, bigint)
  to service_writer;

create or replace function valuation.with_units(
  pool valuation.pool, units bigint, value bigint, goods_receipt_id uuid
)
returns valuation.pool
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  pool.quantity := pool.quantity + units;
  pool.value := pool.value + value;
  if pool.method = 'period_average' then
    pool.came := pool.came + units;
    pool.worth := pool.worth + value;
  elsif pool.method = 'fifo' then
    pool.quantities := pool.quantities || units;
    pool.amounts := pool.amounts || value;
    pool.receipts := pool.receipts || goods_receipt_id;
  end if;
  return pool;
end
$$;
comment on function valuation.with_units(valuation.pool, bigint, bigint, uuid) is
  'Adds units with their value to the stock of a product. The receipt is the one that they came by.';
grant execute on function valuation.with_units(valuation.pool, bigint, bigint, uuid) to service_writer;

create or replace function valuation.with_found_units(pool valuation.pool, units bigint)
returns valuation.pool
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if pool.method = 'period_average' then
    pool := valuation.without_units(pool, - units);
    pool.moved := - pool.moved;
    return pool;
  end if;
  pool.moved := case when pool.quantity > 0 then valuation.part_of(pool.value, units, pool.quantity)
    else coalesce(pool.unit_cost, 0) * units end;
  return valuation.with_units(pool, units, pool.moved, null);
end
$$;
comment on function valuation.with_found_units(valuation.pool, bigint) is
  'Adds units whose value nobody knows to the stock of a product: at its average, or at the last known '
  'value of a unit. The field moved has their value.';
grant execute on function valuation.with_found_units(valuation.pool, bigint) to service_writer;

create or replace function valuation.without_units(pool valuation.pool, units bigint)
returns valuation.pool
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if pool.method = 'fifo' then
    pool := valuation.without_oldest(pool, units);
  elsif pool.method = 'moving_average' then
    pool.moved := case when units >= pool.quantity then pool.value
      else valuation.part_of(pool.value, units, pool.quantity) end;
  else
    pool.moved := valuation.period_cost(pool.all_worth, pool.all_came, pool.first_unit_cost,
      pool.gone + units)
      - valuation.period_cost(pool.all_worth, pool.all_came, pool.first_unit_cost, pool.gone);
    pool.gone := pool.gone + units;
  end if;
  if units = pool.quantity and pool.value > 0 and pool.method <> 'period_average' then
    pool.unit_cost := valuation.part_of(pool.value, 1, pool.quantity);
  end if;
  pool.quantity := pool.quantity - units;
  pool.value := pool.value - pool.moved;
  return pool;
end
$$;
comment on function valuation.without_units(valuation.pool, bigint) is
  'Takes units from the stock of a product. The field moved has their value.';
grant execute on function valuation.without_units(valuation.pool, bigint) to service_writer;

create or replace function valuation.without_oldest(pool valuation.pool, units bigint)
returns valuation.pool
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  n integer := 1;
  part bigint;
begin
  pool.moved := 0;
  while units >= pool.quantities[n] loop
    pool.moved := pool.moved + pool.amounts[n];
    units := units - pool.quantities[n];
    n := n + 1;
  end loop;
  if units > 0 and pool.quantities[n] is not null then
    part := valuation.part_of(pool.amounts[n], units, pool.quantities[n]);
    pool.moved := pool.moved + part;
    pool.quantities[n] := pool.quantities[n] - units;
    pool.amounts[n] := pool.amounts[n] - part;
  end if;
  if n > 1 then
    pool.quantities := pool.quantities[n:];
    pool.amounts := pool.amounts[n:];
    pool.receipts := pool.receipts[n:];
  end if;
  return pool;
end
$$;
comment on function valuation.without_oldest(valuation.pool, bigint) is
  'Takes units from the oldest layers of a product. The field moved has their value.';
grant execute on function valuation.without_oldest(valuation.pool, bigint) to service_writer;
--! EndIncluded valuation/pool_of.sql
--! Included valuation/with_booking.sql
create or replace function valuation.with_amount(pool valuation.pool, amount bigint, goods_receipt_id uuid)
returns valuation.pool
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  by_value constant boolean := goods_receipt_id is null and pool.value > 0;
  weights bigint[];
begin
  pool.value := pool.value + amount;
  if pool.method = 'fifo' then
    weights := array(
      select case
          when by_value then l.amount
          when with_amount.goods_receipt_id is distinct from l.receipt
            and with_amount.goods_receipt_id is not null then 0
          else l.quantity end
      from unnest(pool.quantities, pool.amounts, pool.receipts) with ordinality
        l (quantity, amount, receipt, n)
      order by l.n
    );
    pool.amounts := array(
      select l.amount + (l.share * 1000000)::bigint
      from unnest(pool.amounts, erp.shares(with_amount.amount * 0.000001, weights)) with ordinality
        l (amount, share, n)
      order by l.n
    );
  end if;
  return pool;
end
$$;
comment on function valuation.with_amount(valuation.pool, bigint, uuid) is
  'Adds an amount to the value of a product; a negative one lowers it. It goes to the layers of a goods '
  'receipt by their units, otherwise to all by their value, or by their units if they have none.';
grant execute on function valuation.with_amount(valuation.pool, bigint, uuid) to service_writer;

create or replace function valuation.with_booking(
  pool valuation.pool, kind text, amount bigint, goods_receipt_id uuid, received bigint
)
returns valuation.pool
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  units bigint;
  part bigint;
begin
  if kind = 'landed_cost' then
    units := case when pool.method <> 'fifo' then least(pool.quantity, received)
      else (
        select coalesce(sum(l.quantity), 0)::bigint
        from unnest(pool.quantities, pool.receipts) l (quantity, receipt)
        where l.receipt = with_booking.goods_receipt_id
      ) end;
    part := valuation.part_of(amount, greatest(units, 0), received);
    if pool.method = 'period_average' then
      pool.worth := pool.worth + part;
    else
      -- Costs that are taken back lower the value to zero at most
      part := greatest(part, - pool.value);
    end if;
    pool.landed_expense := pool.landed_expense + amount - part;
    return case when part = 0 then pool else valuation.with_amount(pool, part, goods_receipt_id) end;
  elsif pool.method = 'period_average' then
    pool.lowered := pool.lowered + amount;
    return pool;
  end if;
  part := case when pool.quantity > 0 then least(amount, pool.value) else 0 end;
  pool.variance := pool.variance + amount - part;
  return case when part = 0 then pool else valuation.with_amount(pool, - part, null) end;
end
$$;
comment on function valuation.with_booking(valuation.pool, text, bigint, uuid, bigint) is
  'Books costs of purchase or a write-down. Of costs, the part of units that are still there joins the '
  'value, and the rest becomes an expense. A write-down takes no more than the value; the rest is variance.';
grant execute on function valuation.with_booking(valuation.pool, text, bigint, uuid, bigint)
  to service_writer;
--! EndIncluded valuation/with_booking.sql
--! Included valuation/with_arrival.sql
create or replace function valuation.with_arrival(
  pool valuation.pool, quantity bigint, known bigint, value bigint, own bigint, is_priced boolean,
  is_unpriced boolean, is_unvalued boolean, goods_receipt_id uuid
)
returns valuation.pool
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  found bigint := quantity - known - own;
  lost bigint := 0;
begin
  if known > 0 then
    pool := valuation.with_units(pool, known, value, goods_receipt_id);
    if is_priced then
      pool.unit_cost := valuation.part_of(value, 1, known);
    end if;
  end if;
  if is_unvalued or pool.quantity = 0 and own = 0 and pool.unit_cost is null then
    lost := found;
  end if;
  if lost > 0 then
    pool := valuation.with_units(pool, lost, 0, null);
  end if;
  pool.moved := 0;
  if own + found > lost then
    pool := valuation.with_found_units(pool, own + found - lost);
  end if;
  pool.moved := value + pool.moved;
  pool.is_unvalued := lost > 0 or known > 0 and is_unpriced;
  return pool;
end
$$;
comment on function valuation.with_arrival(
  valuation.pool, bigint, bigint, bigint, bigint, boolean, boolean, boolean, uuid) is
  'Adds units to the stock of a product: some with a known value, own ones that left in the same period, '
  'and others. The others get the average or the last known value of a unit, unless they need an opening '
  'value. The field moved has the value of all.';
grant execute on function valuation.with_arrival(
  valuation.pool, bigint, bigint, bigint, bigint, boolean, boolean, boolean, uuid) to service_writer;
--! EndIncluded valuation/with_arrival.sql
--! Included valuation/entries.sql
create or replace function valuation.state_of(pool valuation.pool) returns valuation.entry
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  excess bigint := case when pool.quantity = 0 then pool.lowered
    else greatest(pool.lowered - pool.value, 0) end;
  layers jsonb;
begin
  -- Of a period average, only the end of the period knows what the units cost that went
  if pool.method = 'period_average' and pool.quantity = 0 and pool.came > 0 then
    pool.unit_cost := valuation.part_of(pool.worth, 1, pool.came);
  elsif pool.method = 'fifo' then
    layers := (
      select coalesce(jsonb_agg(jsonb_build_object('quantity', l.quantity, 'value', l.amount * 0.000001,
        'goods_receipt_id', l.receipt) order by l.n), '[]')
      from unnest(pool.quantities, pool.amounts, pool.receipts) with ordinality
        l (quantity, amount, receipt, n)
    );
  end if;
  return row ('state', pool.product_id, null, null, null, pool.quantity, pool.value - pool.lowered + excess,
    pool.came, pool.worth, pool.unit_cost, layers, pool.landed_expense, pool.variance + excess,
    null)::valuation.entry;
end
$$;
comment on function valuation.state_of(valuation.pool) is
  'Returns the state of a product at the end of a calculation. The layers are an array, the oldest first, '
  'of {quantity, value, goods_receipt_id}.';
grant execute on function valuation.state_of(valuation.pool) to service_writer;

create or replace function valuation.entries(
  run valuation.run, details boolean, counts bigint[] default null, worths bigint[] default null
)
returns setof valuation.entry
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
set work_mem = '32MB' as $$
declare
  is_period constant boolean := run.method = 'period_average';
  e record; p valuation.pool; n integer := 0; f integer; t integer;
  -- Units that move between places: from this period, from before; and their value
  own bigint; old bigint; own_part bigint; part bigint; entered bigint;
  -- Places outside by slot: units and value from before, and from this period
  old_q bigint[]; old_v bigint[]; own_q bigint[]; own_v bigint[]; supply boolean[]; unpriced boolean[];
begin
  if is_period and counts is null then
    -- Units leave at the average of all units of the period, so a first pass calculates the average
    select array_agg(x.pool_quantity order by x.product_id), array_agg(x.pool_value order by x.product_id)
    into counts, worths from valuation.entries(run, false, '{}', '{}') x where x.type = 'state';
  end if;
  for e in select x.* from valuation.events(run) x order by x.product_id, x.sequence, x.step, x.id loop
    if e.product_id is distinct from p.product_id then
      if p.product_id is not null then return next valuation.state_of(p); end if;
      n := n + 1;
      -- The state of a closed report is the first event of its product
      p := valuation.pool_of(e.product_id, run.method, case e.type when 'state' then e.quantity else 0 end,
        case e.type when 'state' then e.value else 0 end, e.last_unit_cost, e.layers, counts[n], worths[n]);
    end if;
    f := e.from_slot; t := e.to_slot; own := 0; old := 0; own_part := 0; part := 0;
    if e.type = 'out' then
      p := valuation.without_units(p, e.quantity);
      entered := - p.moved;
      if is_period then own := e.quantity; own_part := p.moved;
      else old := e.quantity; part := p.moved;
      end if;
    elsif e.type = 'pool' then
      old_q[f] := e.quantity; old_v[f] := e.value; own_q[f] := 0; own_v[f] := 0;
      supply[f] := e.is_supply; unpriced[f] := e.is_unpriced;
    elsif e.type in ('landed_cost', 'write_down') then
      p := valuation.with_booking(p, e.type, e.value, e.goods_receipt_id, e.quantity);
    elsif f is not null then
      own := least(e.quantity, own_q[f]); own_part := valuation.part_of(own_v[f], own, own_q[f]);
      old := least(e.quantity - own, old_q[f]); part := valuation.part_of(old_v[f], old, old_q[f]);
      own_q[f] := own_q[f] - own; own_v[f] := own_v[f] - own_part;
      old_q[f] := old_q[f] - old; old_v[f] := old_v[f] - part;
    end if;
    if e.type = 'in' then
      if e.value is not null then old := e.quantity; part := e.value; end if;
      p := valuation.with_arrival(p, e.quantity, old, part, own,
        e.value is not null or supply[f] and not unpriced[f], unpriced[f], e.is_unvalued,
        e.goods_receipt_id);
      entered := p.moved;
      if p.is_unvalued then
        return next row ('fault', e.product_id, e.sequence, e.id, 'PRICE_MISSING', e.quantity, null, null,
          null, null, null, null, null, e.goods_receipt_id)::valuation.entry;
      end if;
    elsif t is not null then
      own_q[t] := own_q[t] + own; own_v[t] := own_v[t] + own_part;
      old_q[t] := old_q[t] + old; old_v[t] := old_v[t] + part;
    end if;
    if details and e.type in ('in', 'out', 'carry') then
      return next row (case when e.type = 'carry' then 'carry' else 'cost' end, e.product_id, e.sequence,
        e.id, e.kind, case when e.type = 'out' then - e.quantity else e.quantity end,
        case when e.type <> 'carry' then entered end, own + old,
        own_part + part, null, null, null, null, e.goods_receipt_id)::valuation.entry;
    end if;
  end loop;
  if p.product_id is not null then return next valuation.state_of(p); end if;
end
$$;
comment on function valuation.entries(valuation.run, boolean, bigint[], bigint[]) is
  'Calculates the value of products, event after event: states and faults, with details also costs of '
  'movements. Of a period average, counts and worths have the units and the value of all that was there or '
  'came, by product; they are calculated if they are null.';
grant execute on function valuation.entries(valuation.run, boolean, bigint[], bigint[]) to service_writer;
--! EndIncluded valuation/entries.sql
--! Included valuation/states.sql
create or replace function valuation.states(
  method text, upto bigint, products uuid[] default null, day date default null
)
returns table (
  product_id uuid, quantity bigint, value numeric, last_unit_cost numeric, layers jsonb,
  landed_expense numeric, variance numeric
)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select e.product_id, e.quantity, e.value * 0.000001, e.last_unit_cost * 0.000001, e.layers,
    e.landed_expense * 0.000001, e.variance * 0.000001
  from valuation.entries(valuation.run_of(method, upto, products, day), false) e
  where e.type = 'state';
end;
comment on function valuation.states(text, bigint, uuid[], date) is
  'Returns units and value of products by a method, up to a number of the ledger, from the newest closed '
  'report on. Values that were booked without a movement count up to a day, or all. landed_expense and '
  'variance are of the open period. Products that nothing ever happened to are left out.';
grant execute on function valuation.states(text, bigint, uuid[], date) to service_writer;
--! EndIncluded valuation/states.sql
--! Included valuation/costs.sql
create or replace function valuation.costs(
  method text, upto bigint, products uuid[] default null, day date default null
)
returns table (
  product_id uuid, stock_movement_id uuid, sequence bigint, kind text, quantity integer, value numeric
)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select e.product_id, e.stock_movement_id, e.sequence, e.kind, e.quantity::integer, e.value * 0.000001
  from valuation.entries(valuation.run_of(method, upto, products, day), true) e
  where e.type = 'cost';
end;
comment on function valuation.costs(text, bigint, uuid[], date) is
  'Returns what each movement since the newest closed report brought to the stock, or, negative, took from '
  'it. The kind is the type of the other place: order, return_order or goods_receipt, or the name of a '
  'special place.';
grant execute on function valuation.costs(text, bigint, uuid[], date) to service_writer;
--! EndIncluded valuation/costs.sql
--! Included valuation/outside.sql
create or replace function valuation.outside_of(run valuation.run)
returns table (place_type text, place text, product_id uuid, quantity bigint, value numeric)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select c.type, c.place::text, c.product_id, a.quantity + c.quantity, (a.value + c.value) * 0.000001
  from (
    select e.product_id, p.place, sum(p.sign * e.pool_quantity)::bigint as quantity,
      sum(p.sign * e.pool_value)::bigint as value, min(p.type) as type
    from valuation.entries(run, true) e
    join ledger.stock_movement m on m.id = e.stock_movement_id
    cross join lateral (values
      (coalesce(m.source_order_id, m.source_return_order_id, m.source_goods_receipt_id),
        m.source_location_type_technical_name, -1),
      (coalesce(m.destination_order_id, m.destination_return_order_id, m.destination_goods_receipt_id),
        m.destination_location_type_technical_name, 1)
    ) p (place, type, sign)
    where e.type in ('cost', 'carry') and p.place is not null
    group by e.product_id, p.place
  ) c
  cross join lateral valuation.pool_at(run.report_number, c.place,
    case when c.type = 'goods_receipt' then c.place end, c.product_id) a;
end;
comment on function valuation.outside_of(valuation.run) is
  'Returns the content of orders, return orders and goods receipts that changed in the open period.';
grant execute on function valuation.outside_of(valuation.run) to service_writer;

create or replace function valuation.outside(
  method text, upto bigint, products uuid[] default null, day date default null
)
returns table (place_type text, place text, product_id uuid, quantity bigint, value numeric)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select o.* from valuation.outside_of(valuation.run_of(method, upto, products, day)) o;
end;
comment on function valuation.outside(text, bigint, uuid[], date) is
  'Returns orders, return orders and goods receipts whose content changed since the newest closed report: '
  'units that came with a value, and this value. A receipt of goods '
  'that were bought has its lines until they are put away.';
grant execute on function valuation.outside(text, bigint, uuid[], date) to service_writer;
--! EndIncluded valuation/outside.sql
--! Included valuation/faults.sql
create or replace function valuation.faults(
  method text, upto bigint, products uuid[] default null, day date default null
)
returns table (
  product_id uuid, stock_movement_id uuid, goods_receipt_id uuid, code text, quantity bigint, sequence bigint
)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select e.product_id, e.stock_movement_id, e.goods_receipt_id, e.kind, e.quantity, e.sequence
  from valuation.entries(valuation.run_of(method, upto, products, day), false) e
  where e.type = 'fault';
end;
comment on function valuation.faults(text, bigint, uuid[], date) is
  'Returns movements since the newest closed report whose units have no value, with the code PRICE_MISSING. '
  'A line of the goods receipt has no price or exchange rate, or the units need an opening value. Such '
  'units count with a value of zero.';
grant execute on function valuation.faults(text, bigint, uuid[], date) to service_writer;
--! EndIncluded valuation/faults.sql
--! Included valuation/position_of.sql
create or replace function valuation.position_of(day date) returns bigint
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  today constant date := erp.local_date(now());
  newest constant valuation.run := valuation.run_of(null, 9223372036854775807, null, null);
begin
  if day > today then
    perform mutation.refuse('OUT_OF_RANGE', 'The day is in the future.', '{day}');
  elsif day <= newest.after_day then
    perform mutation.refuse('PERIOD_CLOSED',
      format('Report %s closed the period up to %s.', newest.report_number, newest.after_day), '{day}',
      jsonb_build_object('number', newest.report_number, 'referenceDate', newest.after_day));
  end if;
  return greatest(newest.after, case when day < today then valuation.cut(day)
    else coalesce((select s.sequence from ledger.movement_sequence s order by s.sequence desc limit 1), 0)
    end);
end
$$;
comment on function valuation.position_of(date) is
  'Returns the number of the last movement before a booking of value at the end of a day. Call it under '
  'valuation.lock(). User errors OUT_OF_RANGE, PERIOD_CLOSED.';
grant execute on function valuation.position_of(date) to service_writer;
--! EndIncluded valuation/position_of.sql
--! Included valuation/refuse_unpriced.sql
create or replace function valuation.refuse_unpriced(method text, upto bigint, products uuid[], day date)
returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  perform mutation.refuse(jsonb_build_array(mutation.user_error('PRICE_MISSING',
    format('Units of product %s came into stock without a price.', p.product_number), '{product_id}',
    jsonb_build_object('stockMovementId', f.stock_movement_id, 'goodsReceiptId', f.goods_receipt_id))))
  from valuation.faults(method, upto, products, day) f join erp.product p on p.id = f.product_id
  limit 1;
end
$$;
comment on function valuation.refuse_unpriced(text, bigint, uuid[], date) is
  'Refuses to go on if units of a product have no value. User error PRICE_MISSING.';
grant execute on function valuation.refuse_unpriced(text, bigint, uuid[], date) to service_writer;
--! EndIncluded valuation/refuse_unpriced.sql
--! Included valuation/cost_weights.sql
create or replace function valuation.cost_weights(receipt erp.goods_receipt, basis text, products uuid[])
returns table (product_id uuid, product_number text, weight bigint)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select p.id, p.product_number, case when bool_and(w.weight is not null) then sum(w.weight)::bigint end
  from erp.goods_receipt_line_item i
  join erp.product p on p.id = i.product_id
  cross join lateral (
    select case basis
      when 'by_quantity' then i.quantity
      when 'by_weight' then i.quantity * p.gross_weight * 1000000
      else valuation.line_value(receipt, i) * 1000000 end as weight
  ) w
  where i.goods_receipt_id = (receipt).id and i.quantity > 0
    and (products is null or p.id = any (products))
  group by p.id
  order by p.id;
end;
comment on function valuation.cost_weights(erp.goods_receipt, text, uuid[]) is
  'Returns the products of a goods receipt, with the weights by which costs are divided among them: value, '
  'quantity or weight. Null if one is unknown.';
grant execute on function valuation.cost_weights(erp.goods_receipt, text, uuid[]) to service_writer;
--! EndIncluded valuation/cost_weights.sql
--! Included valuation/set_method.sql
create or replace function valuation.set_method(method text, starts_on date) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  newest valuation.run;
  id uuid;
begin
  perform valuation.lock();
  newest := valuation.run_of(null, 9223372036854775807, null, null);
  if starts_on <= newest.after_day then
    perform mutation.refuse('METHOD_CHANGE_IN_CLOSED_PERIOD',
      format('Report %s closed the period up to %s.', newest.report_number, newest.after_day),
      '{starts_on}', jsonb_build_object('number', newest.report_number, 'referenceDate', newest.after_day));
  end if;
  insert into valuation.method as m (method, starts_on) values (set_method.method, set_method.starts_on)
  on conflict on constraint method_starts_on_is_unique do update set method = excluded.method
  returning m.id into id;
  return id;
end
$$;
comment on function valuation.set_method(text, date) is
  'Sets the method by which the stock is valued from a day on. Returns its id. User error '
  'METHOD_CHANGE_IN_CLOSED_PERIOD.';
grant execute on function valuation.set_method(text, date) to service_writer;
--! EndIncluded valuation/set_method.sql
--! Included valuation/set_opening_values.sql
create or replace function valuation.set_opening_values(lines valuation.opening_line[]) returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  newest valuation.run;
  errors jsonb;
  ids uuid[];
begin
  if cardinality(lines) = 0 then
    perform mutation.refuse('REQUIRED', 'There is no line.', '{lines}');
  end if;
  perform mutation.refuse_too_many(cardinality(lines), 250, '{lines}');
  perform valuation.lock_shared();
  newest := valuation.run_of(null, 9223372036854775807, null, null);
  select jsonb_agg(mutation.user_error(f.code, f.message, mutation.path('lines', l.n, f.field)) order by l.n)
  into errors
  from unnest(lines) with ordinality l (stock_movement_id, unit_value, n)
  left join ledger.stock_movement m on m.id = l.stock_movement_id
  left join ledger.movement_sequence s on s.movement_id = m.id
  cross join lateral (
    select 'NOT_FOUND', 'There is no such stock movement.', 'stock_movement_id' where m.id is null
    union all
    select 'INVALID', 'The movement did not bring units into stock from a special place.',
      'stock_movement_id'
    where m.source_special_stock_location_technical_name is null
      or m.destination_location_type_technical_name not in ('warehouse', 'bin_location', 'stock_container')
    union all
    select 'PERIOD_CLOSED', format('Report %s counts the movement.', newest.report_number),
      'stock_movement_id'
    where s.sequence <= newest.after
    union all
    select 'OUT_OF_RANGE', 'The value must be from 0 to 999,999,999, with at most six decimals.',
      'unit_value'
    where not (l.unit_value >= 0 and l.unit_value < 1000000000 and scale(l.unit_value) <= 6)
    union all
    select 'NOT_UNIQUE', 'Another line has this movement.', 'stock_movement_id'
    where exists (select from unnest(lines) with ordinality o (id, unit_value, n)
      where o.id = l.stock_movement_id and o.n < l.n)
  ) f (code, message, field)
  where m.id is not null or f.code in ('NOT_FOUND', 'OUT_OF_RANGE');
  perform mutation.refuse(errors);

  with written as (
    insert into valuation.opening_value as v (stock_movement_id, product_id, unit_value)
    select m.id, m.product_id, l.unit_value
    from unnest(lines) l join ledger.stock_movement m on m.id = l.stock_movement_id
    order by m.id
    on conflict (stock_movement_id) do update
    set unit_value = excluded.unit_value,
      updated_at = case when v.unit_value = excluded.unit_value then v.updated_at
        else date_trunc('second', now()) end
    returning v.id, v.stock_movement_id
  )
  select array_agg(w.id order by l.n) into ids
  from unnest(lines) with ordinality l (stock_movement_id, unit_value, n)
  join written w on w.stock_movement_id = l.stock_movement_id;
  return ids;
end
$$;
comment on function valuation.set_opening_values(valuation.opening_line[]) is
  'Sets what units are worth that came into stock from a special place. Returns the ids of the values. User '
  'errors REQUIRED, TOO_MANY_LINES, NOT_FOUND, INVALID, PERIOD_CLOSED, OUT_OF_RANGE, NOT_UNIQUE.';
select api_meta.plan_by_index('valuation.set_opening_values(valuation.opening_line[])');
grant execute on function valuation.set_opening_values(valuation.opening_line[]) to service_writer;
--! EndIncluded valuation/set_opening_values.sql
--! Included valuation/allocate_landed_cost.sql
create or replace function valuation.refuse_weights(receipt erp.goods_receipt, basis text, products uuid[])
returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  stranger uuid;
begin
  stranger := (
    select p from unnest(products) p
    where not exists (select from valuation.cost_weights(receipt, basis, array[p])) limit 1
  );
  if stranger is not null then
    perform mutation.refuse('INVALID', 'The receipt brought none of this product.',
      mutation.path('product_ids', array_position(products, stranger)));
  end if;
  perform mutation.refuse(jsonb_agg(
    case basis
      when 'by_weight' then mutation.user_error('INVALID',
        format('Product %s has no weight.', w.product_number), '{basis}',
        jsonb_build_object('productNumber', w.product_number))
      else mutation.user_error('PRICE_MISSING',
        format('A line of product %s has no price.', w.product_number), '{basis}',
        jsonb_build_object('productNumber', w.product_number)) end order by w.product_number))
  from valuation.cost_weights(receipt, basis, products) w where w.weight is null;
  if not exists (select from valuation.cost_weights(receipt, basis, products) w where w.weight > 0) then
    perform mutation.refuse('INVALID', 'The receipt brought nothing that costs can be divided by.',
      '{basis}');
  end if;
end
$$;
comment on function valuation.refuse_weights(erp.goods_receipt, text, uuid[]) is
  'Refuses to divide costs among products if weights are unknown, or all zero. User errors INVALID, '
  'PRICE_MISSING.';
grant execute on function valuation.refuse_weights(erp.goods_receipt, text, uuid[]) to service_writer;

create or replace function valuation.allocate_landed_cost(
  goods_receipt_id uuid, amount numeric, currency_id uuid, basis text, products uuid[], note text, day date
)
returns uuid[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  booked_on constant date := coalesce(day, erp.local_date(now()));
  receipt erp.goods_receipt;
  costs numeric;
  at bigint;
  ids uuid[];
begin
  perform valuation.lock();
  select * into receipt from erp.goods_receipt r where r.id = allocate_landed_cost.goods_receipt_id;
  if not found then
    perform mutation.refuse_missing('goods receipt', '{goods_receipt_id}');
  elsif receipt.type = 'Customer' then
    perform mutation.refuse('INVALID', 'Goods that come back from customers bear no costs.',
      '{goods_receipt_id}');
  elsif receipt.state in ('draft', 'created') then
    perform mutation.refuse('INVALID_STATE_TRANSITION',
      format('The receipt is %s: approve it first.', receipt.state), '{goods_receipt_id}');
  end if;
  perform mutation.refuse_too_many(cardinality(products), 250, '{product_ids}');
  costs := case when currency_id is null then amount
    else erp.in_default_currency(amount, (
      select case when c.id = receipt.currency_id then receipt.currency_factor else f.factor end
      from erp.currency c
      cross join lateral erp.currency_factor_at(c.id, booked_on::timestamp at time zone 'UTC') f
      where c.id = allocate_landed_cost.currency_id)) end;
  if costs is null then
    perform mutation.refuse_missing('currency', '{currency_id}');
  elsif costs = 0 or abs(costs) >= 1000000000 or scale(costs) > 6 then
    perform mutation.refuse('OUT_OF_RANGE',
      'The amount is zero, or as much as a billion, or has more than six decimals.', '{amount}');
  end if;
  perform valuation.refuse_weights(receipt, basis, products);
  at := valuation.position_of(booked_on);
  with share as (
    select w.product_ids[s.n] as product_id, s.share
    from (
      select array_agg(c.product_id order by c.product_id) as product_ids,
        array_agg(c.weight order by c.product_id) as weights
      from valuation.cost_weights(receipt, basis, products) c
    ) w
    cross join lateral unnest(erp.shares(costs, w.weights)) with ordinality s (share, n)
  ), booked as (
    insert into valuation.landed_cost as l (goods_receipt_id, product_id, amount, day, sequence, note)
    select receipt.id, s.product_id, s.share, booked_on, at, allocate_landed_cost.note
    from share s where s.share <> 0 order by s.product_id returning l.id
  )
  select array_agg(b.id order by b.id) into ids from booked b;
  if exists (select from valuation.landed_cost l where l.goods_receipt_id = receipt.id
    group by l.product_id having sum(l.amount) < 0) then
    perform mutation.refuse('OUT_OF_RANGE', 'More would be taken back than was allocated.', '{amount}');
  end if;
  return ids;
end
$$;
comment on function valuation.allocate_landed_cost(uuid, numeric, uuid, text, uuid[], text, date) is
  'Divides costs of purchase among the products of a goods receipt by value, quantity or weight. A foreign '
  'currency is converted by the rate of the receipt if it has this currency, otherwise by the rate of the '
  'day. Returns the ids of the parts. User errors NOT_FOUND, INVALID, INVALID_STATE_TRANSITION, '
  'OUT_OF_RANGE, PRICE_MISSING, TOO_MANY_LINES, PERIOD_CLOSED.';
select api_meta.plan_by_index(
  'valuation.allocate_landed_cost(uuid, numeric, uuid, text, uuid[], text, date)');
grant execute on function valuation.allocate_landed_cost(uuid, numeric, uuid, text, uuid[], text, date)
  to service_writer;
--! EndIncluded valuation/allocate_landed_cost.sql
--! Included valuation/write_down.sql
create or replace function valuation.write_down(
  product_id uuid, amount numeric, unit_value numeric, reason text, day date
)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  booked_on constant date := coalesce(day, erp.local_date(now()));
  method constant text := valuation.method_on(booked_on);
  field constant text[] := array[case when amount is null then 'unit_value' else 'amount' end];
  at bigint;
  stock record;
  earlier numeric;
  fall numeric;
  id uuid;
begin
  if num_nonnulls(amount, unit_value) <> 1 then
    perform mutation.refuse('INVALID', 'Give either an amount or the value of a unit.', field);
  elsif scale(coalesce(amount, unit_value)) > 6 or unit_value < 0 then
    perform mutation.refuse('OUT_OF_RANGE', 'The number is negative, or has more than six decimals.', field);
  end if;
  perform from erp.product p where p.id = write_down.product_id;
  if not found then
    perform mutation.refuse_missing('product', '{product_id}');
  end if;
  perform valuation.lock();
  at := valuation.position_of(booked_on);
  perform valuation.refuse_unpriced(method, at, array[write_down.product_id], booked_on);
  select coalesce(sum(s.quantity), 0) as quantity, coalesce(sum(s.value), 0) as value into stock
  from valuation.states(method, at, array[write_down.product_id], booked_on) s;
  earlier := (select coalesce(sum(w.amount), 0) from valuation.write_down w
    where w.product_id = write_down.product_id);
  fall := coalesce(amount, stock.value - unit_value * stock.quantity);
  if fall = 0 then
    perform mutation.refuse('INVALID', 'The value would stay what it is.', field);
  elsif fall > stock.value then
    perform mutation.refuse('OUT_OF_RANGE', 'The value would fall below zero.', field,
      jsonb_build_object('value', stock.value, 'quantity', stock.quantity));
  elsif - fall > earlier or fall < 0 and stock.quantity = 0 then
    perform mutation.refuse('OUT_OF_RANGE', 'Only what was written down can rise again.', field,
      jsonb_build_object('writtenDown', earlier, 'quantity', stock.quantity));
  end if;
  insert into valuation.write_down as w (product_id, amount, day, sequence, reason)
  values (write_down.product_id, fall, booked_on, at, write_down.reason) returning w.id into id;
  return id;
end
$$;
comment on function valuation.write_down(uuid, numeric, numeric, text, date) is
  'Lowers the value of a product by an amount, or to a value of a unit; raises it again at most by what was '
  'written down. Returns the id. User errors INVALID, OUT_OF_RANGE, NOT_FOUND, PERIOD_CLOSED, '
  'PRICE_MISSING.';
grant execute on function valuation.write_down(uuid, numeric, numeric, text, date) to service_writer;
--! EndIncluded valuation/write_down.sql

--! Included api/valuation_method.sql
do $$
begin
  if to_regtype('api_unstable.valuation_method') is null then
    create type api_unstable.valuation_method as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.valuation_method', 'moving_average', 'period_average', 'fifo');
comment on type api_unstable.valuation_method is
  E'@value moving_average Units that leave cost the average of what is there at that moment.\n'
  '@value period_average Units that leave cost the average of all that was there or came in the period.\n'
  '@value fifo First in, first out: units that leave cost what the oldest ones cost.\n'
  'How the stock is valued.';
--! EndIncluded api/valuation_method.sql
--! Included api/landed_cost_basis.sql
do $$
begin
  if to_regtype('api_unstable.landed_cost_basis') is null then
    create type api_unstable.landed_cost_basis as enum ();
  end if;
end
$$;
select api_meta.add_values('api_unstable.landed_cost_basis', 'by_value', 'by_quantity', 'by_weight');
comment on type api_unstable.landed_cost_basis is
  E'@value by_value By the net price of the lines.\n'
  '@value by_quantity By the units.\n'
  '@value by_weight By the gross weight of the products.\n'
  'By what costs are divided among the products of a goods receipt.';
--! EndIncluded api/landed_cost_basis.sql
drop view if exists api_unstable.products cascade;
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
  ) as translations
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
--! EndIncluded api/products.sql
--! Included api/products_upsert.sql
drop type if exists api_unstable.products_upsert_input cascade;
drop type if exists api_unstable.product_upsert_input cascade;
drop type if exists api_unstable.product_price_input cascade;
drop type if exists api_unstable.products_upsert_payload cascade;
drop type if exists api_unstable.product_upsert_image_input cascade;
drop type if exists api_unstable.product_upsert_image_translation_input cascade;
drop type if exists api_unstable.product_upsert_translation_input cascade;

create type api_unstable.product_price_input
  as (currency_id uuid, net numeric, gross numeric, linked boolean);
comment on type api_unstable.product_price_input is 'A price in one currency.';
comment on column api_unstable.product_price_input.currency_id is
  E'@notNull\n@gid Currency\nId of the currency.';
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
  name text, description text, gtin text, manufacturer_number text, unit_code text, gross_weight numeric,
  tax_rate numeric,
  is_batch_managed boolean, tracking api_unstable.product_tracking,
  minimum_remaining_shelf_life_days integer, pick_order api_unstable.pick_order,
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

create type api_unstable.products_upsert_input
  as (products api_unstable.product_upsert_input[], partial boolean);
comment on type api_unstable.products_upsert_input is 'Products as they are to be.';
comment on column api_unstable.products_upsert_input.products is E'@notNull\nThe products; 1 to 250 rows.';
comment on column api_unstable.products_upsert_input.partial is
  E'@neverNull\nWhether rows are done although others are refused. False when left out: all rows, or none.';

create type api_unstable.products_upsert_payload as (
  results api_unstable.upsert_result[], products uuid[], user_errors api_unstable.user_error[],
  warnings api_unstable.warning[]
);
comment on type api_unstable.products_upsert_payload is 'The result of upserting products.';
comment on column api_unstable.products_upsert_payload.results is
  E'@resultOf Product\n'
  'The outcome of each row, in the order of the input; empty when the whole call was refused.';
comment on column api_unstable.products_upsert_payload.products is
  E'@entity Product\n@perLine products\nThe products of the rows that were not refused, in their order.';
comment on column api_unstable.products_upsert_payload.user_errors is
  'Why nothing was done at all; empty when something was, or could be. The path names the row.';
comment on column api_unstable.products_upsert_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

create function api_unstable.products_upsert(input api_unstable.products_upsert_input, changes jsonb)
returns api_unstable.products_upsert_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    array(select r from jsonb_populate_recordset(null::api_unstable.upsert_result, d.results) r), d.ids,
    null, null
  )::api_unstable.products_upsert_payload
  from mutation.upserted(erp.upsert_products(changes -> 'products', input.partial)) d
$$;
comment on function api_unstable.products_upsert(api_unstable.products_upsert_input, jsonb) is
  E'@requiresScopes products:write\n'
  '@userErrors REQUIRED NOT_FOUND NOT_UNIQUE INVALID OUT_OF_RANGE NOT_EDITABLE TOO_MANY_LINES\n'
  '@warnings PRODUCT_HAS_VARIANTS\n'
  'Makes products and changes those that are there, known by their id or number: with prices, translations, '
  'images, tags, and variants. Rows that say nothing new change nothing.';
--! EndIncluded api/products_upsert.sql
drop view if exists api_unstable.valuation_method_settings, api_unstable.stock_opening_values,
  api_unstable.landed_costs, api_unstable.write_downs;
--! Included api/valuation_method_settings.sql
create view api_unstable.valuation_method_settings with (security_invoker = true) as
select id, starts_on, method, created_at from valuation.method;
comment on view api_unstable.valuation_method_settings is $$
@primaryKey id
@requiresScopes valuation:read
@columnEnum method valuation_method
@filters starts_on
A method by which the stock is valued from a day on.$$;
--! EndIncluded api/valuation_method_settings.sql
--! Included api/stock_opening_values.sql
create view api_unstable.stock_opening_values with (security_invoker = true) as
select id, stock_movement_id, product_id, unit_value, created_at, updated_at from valuation.opening_value;
comment on view api_unstable.stock_opening_values is $$
@primaryKey id
@requiresScopes valuation:read
@filters stock_movement_id,product_id
@foreignKey (stock_movement_id) references stock_movements (id)|@fieldName stockMovement
@foreignKey (product_id) references products (id)|@fieldName product
The value of units that came into stock without a goods receipt.$$;
--! EndIncluded api/stock_opening_values.sql
--! Included api/landed_costs.sql
create view api_unstable.landed_costs with (security_invoker = true) as
select id, goods_receipt_id, product_id, amount, day, note, created_at from valuation.landed_cost;
comment on view api_unstable.landed_costs is $$
@primaryKey id
@requiresScopes valuation:read
@filters goods_receipt_id,product_id
@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName goodsReceipt
@foreignKey (product_id) references products (id)|@fieldName product
Freight, customs and other costs of purchase of a product in a goods receipt.$$;
--! EndIncluded api/landed_costs.sql
--! Included api/write_downs.sql
create view api_unstable.write_downs with (security_invoker = true) as
select id, product_id, amount, day, reason, created_at from valuation.write_down;
comment on view api_unstable.write_downs is $$
@primaryKey id
@requiresScopes valuation:read
@filters product_id
@foreignKey (product_id) references products (id)|@fieldName product
A booking that lowers the value of a product, or raises it again, without moving units.$$;
--! EndIncluded api/write_downs.sql
--! Included api/valuation_method_set.sql
drop type if exists api_unstable.valuation_method_set_input cascade;
create type api_unstable.valuation_method_set_input as (
  method api_unstable.valuation_method, starts_on date
);
comment on type api_unstable.valuation_method_set_input is
  'The method by which the stock is valued from a day on.';
comment on column api_unstable.valuation_method_set_input.method is E'@notNull\nThe method.';
comment on column api_unstable.valuation_method_set_input.starts_on is
  E'@notNull\nFirst day that is valued by it; after the day of the newest closed report.';

drop type if exists api_unstable.valuation_method_set_payload cascade;
create type api_unstable.valuation_method_set_payload as (
  valuation_method_setting uuid, user_errors api_unstable.user_error[]
);
comment on type api_unstable.valuation_method_set_payload is 'The result of setting the method.';
comment on column api_unstable.valuation_method_set_payload.valuation_method_setting is
  E'@entity ValuationMethodSetting\nThe setting; null when it was refused.';
comment on column api_unstable.valuation_method_set_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create function api_unstable.valuation_method_set(input api_unstable.valuation_method_set_input)
returns api_unstable.valuation_method_set_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (
    valuation.set_method(input.method::text, input.starts_on), null
  )::api_unstable.valuation_method_set_payload
$$;
comment on function api_unstable.valuation_method_set(api_unstable.valuation_method_set_input) is
  E'@requiresScopes valuation:write\n'
  '@userErrors OUT_OF_RANGE METHOD_CHANGE_IN_CLOSED_PERIOD\n'
  'Sets the method by which the stock is valued from a day on, or another one for a day that has one. '
  'Values of closed reports stay as they are: their state is what the new method begins with.';
--! EndIncluded api/valuation_method_set.sql
--! Included api/stock_opening_values_set.sql
drop type if exists api_unstable.stock_opening_values_set_input cascade;
drop type if exists api_unstable.stock_opening_value_line_input cascade;
create type api_unstable.stock_opening_value_line_input as (stock_movement_id uuid, unit_value numeric);
comment on type api_unstable.stock_opening_value_line_input is 'The value of the units of a movement.';
comment on column api_unstable.stock_opening_value_line_input.stock_movement_id is
  E'@notNull\n@gid StockMovement\nId of a movement that brought units into stock from a special place.';
comment on column api_unstable.stock_opening_value_line_input.unit_value is
  E'@notNull\nValue of one unit without deductible tax, in the default currency. It may be 0.';

create type api_unstable.stock_opening_values_set_input
  as (lines api_unstable.stock_opening_value_line_input[]);
comment on type api_unstable.stock_opening_values_set_input is
  'Values of units that came into stock without a goods receipt.';
comment on column api_unstable.stock_opening_values_set_input.lines is
  E'@notNull\nThe values; 1 to 250 lines.';

drop type if exists api_unstable.stock_opening_values_set_payload cascade;
create type api_unstable.stock_opening_values_set_payload as (
  stock_opening_values uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.stock_opening_values_set_payload is 'The result of setting opening values.';
comment on column api_unstable.stock_opening_values_set_payload.stock_opening_values is
  E'@entity StockOpeningValue\n@perLine lines\n'
  'The values in the order of the lines; empty when they were refused.';
comment on column api_unstable.stock_opening_values_set_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create function api_unstable.stock_opening_values_set(input api_unstable.stock_opening_values_set_input)
returns api_unstable.stock_opening_values_set_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (valuation.set_opening_values(array(
    select row (l.stock_movement_id, l.unit_value)::valuation.opening_line
    from unnest(input.lines) with ordinality l order by l.ordinality
  )), null)::api_unstable.stock_opening_values_set_payload
$$;
comment on function api_unstable.stock_opening_values_set(api_unstable.stock_opening_values_set_input) is
  E'@requiresScopes valuation:write\n'
  '@userErrors REQUIRED TOO_MANY_LINES NOT_FOUND INVALID NOT_UNIQUE OUT_OF_RANGE PERIOD_CLOSED\n'
  'Says what units are worth that came into stock without a goods receipt: from initialization, from an '
  'import, or because a count found them. A value that is there is replaced.';
--! EndIncluded api/stock_opening_values_set.sql
--! Included api/landed_cost_allocate.sql
drop type if exists api_unstable.landed_cost_allocate_input cascade;
create type api_unstable.landed_cost_allocate_input as (
  goods_receipt_id uuid, amount numeric, currency_id uuid, basis api_unstable.landed_cost_basis,
  product_ids uuid[], note text, day date
);
comment on type api_unstable.landed_cost_allocate_input is 'Costs of purchase of a goods receipt.';
comment on column api_unstable.landed_cost_allocate_input.goods_receipt_id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt that the costs belong to.';
comment on column api_unstable.landed_cost_allocate_input.amount is
  E'@notNull\nThe costs without deductible tax. Negative, they take back what was allocated before.';
comment on column api_unstable.landed_cost_allocate_input.currency_id is
  E'@gid Currency\n'
  'Id of the currency of the amount. When left out, the default currency. The currency of the receipt is '
  'converted by its rate, others by the rate of the day.';
comment on column api_unstable.landed_cost_allocate_input.basis is
  E'@notNull\nBy what the costs are divided among the products.';
comment on column api_unstable.landed_cost_allocate_input.product_ids is
  E'@gid Product\nIds of the products that bear the costs, at most 250. When left out, all of the receipt.';
comment on column api_unstable.landed_cost_allocate_input.note is
  'Free note, for example the number of the invoice; at most 1,000 characters.';
comment on column api_unstable.landed_cost_allocate_input.day is
  'Day at whose end the costs count, in the time zone of the merchant. Today when left out.';

drop type if exists api_unstable.landed_cost_allocate_payload cascade;
create type api_unstable.landed_cost_allocate_payload as (
  landed_costs uuid[], user_errors api_unstable.user_error[]
);
comment on type api_unstable.landed_cost_allocate_payload is 'The result of allocating costs of purchase.';
comment on column api_unstable.landed_cost_allocate_payload.landed_costs is
  E'@entity LandedCost\n@atMost 250\nThe costs of each product; empty when they were refused.';
comment on column api_unstable.landed_cost_allocate_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create function api_unstable.landed_cost_allocate(input api_unstable.landed_cost_allocate_input)
returns api_unstable.landed_cost_allocate_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (valuation.allocate_landed_cost(
    input.goods_receipt_id, input.amount, input.currency_id, input.basis::text, input.product_ids, input.note,
    input.day
  ), null)::api_unstable.landed_cost_allocate_payload
$$;
comment on function api_unstable.landed_cost_allocate(api_unstable.landed_cost_allocate_input) is
  E'@requiresScopes valuation:write\n'
  '@userErrors NOT_FOUND INVALID INVALID_STATE_TRANSITION OUT_OF_RANGE PRICE_MISSING TOO_MANY_LINES '
  'PERIOD_CLOSED\n'
  'Divides freight, customs or other costs of purchase among the products of a goods receipt. What is still '
  'in stock becomes worth more; the part of units that have left is cost of goods of the open period.';
--! EndIncluded api/landed_cost_allocate.sql
--! Included api/stock_write_down.sql
drop type if exists api_unstable.stock_write_down_input cascade;
create type api_unstable.stock_write_down_input as (
  product_id uuid, amount numeric, unit_value numeric, reason text, day date
);
comment on type api_unstable.stock_write_down_input is
  'How the value of a product falls. Give either an amount or the value of a unit.';
comment on column api_unstable.stock_write_down_input.product_id is
  E'@notNull\n@gid Product\nId of the product.';
comment on column api_unstable.stock_write_down_input.amount is
  'Amount in the default currency by which the value falls. Negative, it raises the value, at most by what '
  'was written down before.';
comment on column api_unstable.stock_write_down_input.unit_value is
  'Value of one unit to which the value falls, in the default currency.';
comment on column api_unstable.stock_write_down_input.reason is
  E'@notNull\nWhy the value falls; 1 to 1,000 characters.';
comment on column api_unstable.stock_write_down_input.day is
  'Day at whose end the write-down counts, in the time zone of the merchant. Today when left out.';

drop type if exists api_unstable.stock_write_down_payload cascade;
create type api_unstable.stock_write_down_payload as (
  write_down uuid, user_errors api_unstable.user_error[]
);
comment on type api_unstable.stock_write_down_payload is 'The result of writing the value of a product down.';
comment on column api_unstable.stock_write_down_payload.write_down is
  E'@entity WriteDown\nThe write-down; null when it was refused.';
comment on column api_unstable.stock_write_down_payload.user_errors is
  'Why nothing was changed; empty when it was.';

create function api_unstable.stock_write_down(input api_unstable.stock_write_down_input)
returns api_unstable.stock_write_down_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (valuation.write_down(
    input.product_id, input.amount, input.unit_value, input.reason, input.day
  ), null)::api_unstable.stock_write_down_payload
$$;
comment on function api_unstable.stock_write_down(api_unstable.stock_write_down_input) is
  E'@requiresScopes valuation:write\n'
  '@userErrors NOT_FOUND INVALID OUT_OF_RANGE PRICE_MISSING PERIOD_CLOSED\n'
  'Lowers the value of a product to what it can be sold for, without moving units. A negative amount takes '
  'a write-down back.';
--! EndIncluded api/stock_write_down.sql

--! split: 130-as-of.sql
-- Stock as of a moment or of the number of a movement, and stock cards, in the version unstable.
drop function if exists api_unstable.stocks_quantity_as_of, api_unstable.batch_stocks_quantity_as_of,
  api_unstable.warehouse_stocks_quantity_as_of, api_unstable.products_physical_stock_as_of,
  api_unstable.batches_physical_stock_as_of, api_unstable.warehouses_stocks_as_of,
  api_unstable.products_stock_card_lines, api_unstable.products_stock_card;
drop view if exists api_unstable.stock_card_lines;
drop function if exists ledger.batch_quantity_as_of, ledger.note_numbers, ledger.write_closing,
  ledger.bound_closings, ledger.next_month_end;
drop trigger if exists keep_former_place on erp.warehouse;
drop trigger if exists keep_former_place on erp.bin_location;
drop trigger if exists keep_former_place_of_moved on erp.bin_location;
drop trigger if exists keep_former_place on erp.goods_receipt;
drop trigger if exists keep_former_place on erp.return_order;
drop trigger if exists keep_former_place on erp.stock_container;
drop table if exists ledger.closing_batch_balance, ledger.closing_balance, ledger.closing,
  ledger.former_place, ledger.writing_since cascade;

create table ledger.former_place (
  movement_id uuid not null constraint former_place_movement_id_fkey
    references ledger.stock_movement on delete cascade not enforced,
  direction integer not null,
  place text collate "C" not null,
  warehouse_id uuid,
  code text collate "C",
  counted_at timestamptz,
  constraint former_place_pkey primary key (movement_id, direction)
);
alter table ledger.former_place enable row level security;
comment on table ledger.former_place is
  'Places of movements that were deleted since, or that are bins and were moved to another warehouse.';
comment on column ledger.former_place.movement_id is 'The movement.';
comment on column ledger.former_place.direction is
  '1 if the place was its destination, -1 if it was its source.';
comment on column ledger.former_place.place is 'Key of the place, as in ledger.stock.place.';
comment on column ledger.former_place.warehouse_id is
  'The warehouse, or the one in which the bin stood then. It may have been deleted, too.';
comment on column ledger.former_place.code is
  'Code of the bin or warehouse, or number of the goods receipt, return order or container.';
comment on column ledger.former_place.counted_at is
  'Moment of the count that the movement corrected, which was deleted with the place.';
select api_meta.allow('service_ledger', 'ledger.former_place', 'select', 'insert');
select api_meta.allow('service_recorder', 'ledger.former_place', 'select');

create table ledger.closing (
  id integer constraint closing_pkey primary key,
  sequence bigint not null constraint closing_sequence_key unique,
  least_id uuid,
  least_moment timestamptz,
  greatest_id uuid not null,
  greatest_moment timestamptz not null,
  least_id_after uuid not null default 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  least_moment_after timestamptz not null default 'infinity',
  closed_at timestamptz not null default clock_timestamp()
);
alter table ledger.closing enable row level security;
comment on table ledger.closing is
  'Closings of the ledger: its balances as of the number of a movement. Bounds say which movements can have '
  'been numbered, or have happened, before and after it.';
comment on column ledger.closing.id is 'Id of the closing.';
comment on column ledger.closing.sequence is
  'The last number that it includes (ledger.movement_sequence). Numbers do not change, so closings do not.';
comment on column ledger.closing.least_id is
  'The least id of the movements that it includes and the one before does not; null if there are none.';
comment on column ledger.closing.least_moment is 'The earliest moment of these movements.';
comment on column ledger.closing.greatest_id is 'The greatest id of the movements that it includes.';
comment on column ledger.closing.greatest_moment is 'The latest moment of the movements that it includes.';
comment on column ledger.closing.least_id_after is
  'The least id of the movements with later numbers; numbering lowers it.';
comment on column ledger.closing.least_moment_after is
  'The earliest moment of the movements with later numbers; numbering lowers it, for counts arrive late.';
comment on column ledger.closing.closed_at is 'When it was written.';
select api_meta.allow('service_ledger', 'ledger.closing', 'select');
select api_meta.allow('service_recorder', 'ledger.closing', 'select', 'insert',
  'update (least_id_after, least_moment_after)');

create table ledger.closing_balance (
  closing_id integer not null
    constraint closing_balance_closing_id_fkey references ledger.closing on delete cascade not enforced,
  product_id uuid not null
    constraint closing_balance_product_id_fkey references erp.product on delete cascade not enforced,
  place text collate "C" not null,
  location_type text collate "C" not null,
  warehouse_id uuid,
  quantity integer not null,
  constraint closing_balance_pkey primary key (closing_id, product_id, place)
);
create index closing_balance_product_id_idx on ledger.closing_balance (product_id);
alter table ledger.closing_balance enable row level security;
comment on table ledger.closing_balance is
  'Units of a product in a physical place at a closing; no row for none. Not in orders and special places. '
  'Goes with its product, stays when the place is deleted.';
comment on column ledger.closing_balance.closing_id is 'The closing.';
comment on column ledger.closing_balance.product_id is 'The product.';
comment on column ledger.closing_balance.place is
  'Key of the place, as in ledger.stock.place. It may have been deleted since.';
comment on column ledger.closing_balance.location_type is
  'Kind of place: warehouse, bin_location, return_order, goods_receipt or stock_container.';
comment on column ledger.closing_balance.warehouse_id is
  'The warehouse, or the one in which the bin stood. It may have been deleted since.';
comment on column ledger.closing_balance.quantity is 'Units in the place.';
select api_meta.allow('service_ledger', 'ledger.closing_balance', 'select');
select api_meta.allow('service_recorder', 'ledger.closing_balance', 'select', 'insert');

create table ledger.closing_batch_balance (
  closing_id integer not null
    constraint closing_batch_balance_closing_id_fkey references ledger.closing on delete cascade not enforced,
  batch_id uuid not null
    constraint closing_batch_balance_batch_id_fkey references erp.batch on delete cascade not enforced,
  place text collate "C" not null,
  location_type text collate "C" not null,
  warehouse_id uuid,
  quantity integer not null,
  constraint closing_batch_balance_pkey primary key (closing_id, batch_id, place)
);
create index closing_batch_balance_batch_id_idx on ledger.closing_batch_balance (batch_id);
alter table ledger.closing_batch_balance enable row level security;
comment on table ledger.closing_batch_balance is
  'Units of a batch in a physical place at a closing; no row for none.';
comment on column ledger.closing_batch_balance.closing_id is 'The closing.';
comment on column ledger.closing_batch_balance.batch_id is 'The batch.';
comment on column ledger.closing_batch_balance.place is
  'Key of the place, as in ledger.stock.place. It may have been deleted since.';
comment on column ledger.closing_batch_balance.location_type is
  'Kind of place: warehouse, bin_location, return_order, goods_receipt or stock_container.';
comment on column ledger.closing_batch_balance.warehouse_id is
  'The warehouse, or the one in which the bin stood. It may have been deleted since.';
comment on column ledger.closing_batch_balance.quantity is 'Units of the batch in the place.';
select api_meta.allow('service_ledger', 'ledger.closing_batch_balance', 'select');
select api_meta.allow('service_recorder', 'ledger.closing_batch_balance', 'select', 'insert');

create table ledger.writing_since (
  transaction_id bigint constraint writing_since_pkey primary key,
  moment timestamptz not null
);
create index writing_since_moment_idx on ledger.writing_since (moment);
comment on index ledger.writing_since_moment_idx is 'For ledger.note_writing.';
alter table ledger.writing_since enable row level security;
comment on table ledger.writing_since is
  'When transactions began to write, a few an hour: to say up to which moment no open transaction can have '
  'booked. Rows older than a week are deleted.';
comment on column ledger.writing_since.transaction_id is 'Number of a transaction.';
comment on column ledger.writing_since.moment is
  'Before it was given this number. So transactions with the same number, or a greater one, began to write '
  'later.';
select api_meta.allow('service_ledger', 'ledger.writing_since', 'select');
select api_meta.allow('service_recorder', 'ledger.writing_since', 'select', 'insert', 'delete');

select api_meta.allow('service_ledger', 'ledger.movement_sequence', 'select');
select api_meta.allow('service_recorder', 'ledger.stock_count', 'select (stock_movement_id, counted_at)');
select api_meta.allow('service_recorder', 'ledger.stock_movement_batch', 'select');
select api_meta.allow('service_recorder', 'erp.bin_location', 'select (id, warehouse_id)');
grant select on ledger.flow to service_recorder;
grant execute on function ledger.is_count(text, text, text) to service_recorder;
grant usage on schema erp to service_recorder;
grant usage on schema ledger to service_worker;

grant usage on schema auth to service_ledger;
--! Included auth/has_scope.sql
create or replace function auth.has_scope(variadic scopes text[]) returns boolean
language sql stable parallel safe
return coalesce(
  pg_catalog.string_to_array(pg_catalog.current_setting('service.scopes', true), ' ') && scopes, false
);
comment on function auth.has_scope(text[]) is
  'Whether the caller has at least one of the scopes. Policies call it in a sub-select, (select '
  'auth.has_scope(''products:read'')), so that it runs once per statement and not once per row.';
grant execute on function auth.has_scope(text[]) to service_api, service_searcher, service_writer,
  service_ledger;
--! EndIncluded auth/has_scope.sql
--! Included ledger/past_leg.sql
-- Arrivals and departures at physical places, deleted ones too. Whatever takes a look-up is only computed for
-- queries that use it, so single legs are found by index.
create or replace view ledger.past_leg with (security_invoker = true) as
select f.movement_id, f.product_id, f.direction, f.quantity, f.created_at, f.booked_at, f.is_count,
  f.location_type_technical_name as location_type,
  coalesce(f.place, p.place, f.location_type_technical_name) as place,
  coalesce(p.warehouse_id, f.warehouse_id,
    (select b.warehouse_id from erp.bin_location b where b.id = f.bin_location_id)) as warehouse_id,
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
  'deleted before ledger.former_place existed. The column warehouse_id is the warehouse in which a bin stood '
  'then. The column moment is when it happened: the moment of the count that a correction follows from, else '
  'the moment of the booking. It is never later than booked_at. The column sequence is null until the '
  'movement is numbered.';
grant select on ledger.past_leg to service_ledger, service_recorder, service_writer;
grant select on ledger.former_place to service_writer;
--! EndIncluded ledger/past_leg.sql
--! Included ledger/keep_former_place.sql
create or replace function ledger.keep_former_place() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into ledger.former_place (movement_id, direction, place, warehouse_id, code, counted_at)
  select f.movement_id, f.direction, old.id::text,
    case tg_table_name when 'bin_location' then (to_jsonb(old) ->> 'warehouse_id')::uuid
      when 'warehouse' then old.id end,
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
create trigger keep_former_place before delete on erp.warehouse
  for each row execute function ledger.keep_former_place();
create trigger keep_former_place before delete on erp.bin_location
  for each row execute function ledger.keep_former_place();
create trigger keep_former_place_of_moved before update of warehouse_id on erp.bin_location
  for each row when (old.warehouse_id <> new.warehouse_id) execute function ledger.keep_former_place();
create trigger keep_former_place before delete on erp.goods_receipt
  for each row execute function ledger.keep_former_place();
create trigger keep_former_place before delete on erp.return_order
  for each row execute function ledger.keep_former_place();
create trigger keep_former_place before delete on erp.stock_container
  for each row execute function ledger.keep_former_place();

--! Included ledger/note_writing.sql
create or replace function ledger.note_writing(every interval) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  insert into ledger.writing_since (transaction_id, moment)
  select pg_current_xact_id()::text::bigint, now()
  where not exists (
    select from ledger.writing_since w
    where w.moment > now() - note_writing.every and w.moment <= now()
  )
  on conflict (transaction_id) do nothing;
end;
comment on function ledger.note_writing(interval) is
  'Notes that transactions with the number of this one, or a greater one, began to write after now, unless '
  'that was noted within the interval.';
grant execute on function ledger.note_writing(interval) to service_recorder;
--! EndIncluded ledger/note_writing.sql
--! Included ledger/note_numbers.sql
create or replace function ledger.note_numbers(after_sequence bigint, least_id uuid, least_moment timestamptz)
returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  update ledger.closing c
  set least_id_after = least(c.least_id_after, note_numbers.least_id),
    least_moment_after = least(c.least_moment_after, note_numbers.least_moment)
  where c.sequence <= note_numbers.after_sequence
    and (c.least_id_after > note_numbers.least_id or c.least_moment_after > note_numbers.least_moment);
end;
comment on function ledger.note_numbers(bigint, uuid, timestamptz) is
  'Lowers the bounds of closings to the least id and moment of movements that were numbered after them.';
grant execute on function ledger.note_numbers(bigint, uuid, timestamptz) to service_recorder;
--! EndIncluded ledger/note_numbers.sql
--! Included ledger/number_movements.sql
create or replace function ledger.number_movements(movement_ids uuid[] default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp
-- The plan must stay right while the table of former places grows
set enable_material = off as $$
declare
  last_number bigint;
  given bigint;
begin
  -- Only one transaction at a time numbers movements.
  perform from events.log_head h for no key update;
  last_number := coalesce(
    (select s.sequence from ledger.movement_sequence s order by s.sequence desc limit 1), 0
  );
  if movement_ids is null then
    insert into ledger.movement_sequence (sequence, movement_id)
    select last_number + row_number() over (order by m.id), m.id from ledger.stock_movement m
    where not exists (select from ledger.movement_sequence s where s.movement_id = m.id) order by m.id;
  else
    insert into ledger.movement_sequence (sequence, movement_id)
    select last_number + row_number() over (order by n.ordinality), n.id
    from unnest(movement_ids) with ordinality n (id)
    where not exists (select from ledger.movement_sequence s where s.movement_id = n.id)
    order by n.ordinality;
  end if;
  get diagnostics given = row_count;
  perform ledger.note_writing('1 minute');
  if exists (select from ledger.closing) then
    perform ledger.note_numbers(last_number, n.id, n.moment) from (
      select min(l.movement_id::text collate "C")::uuid as id, min(l.moment) as moment
      from ledger.movement_sequence s join ledger.past_leg l on l.movement_id = s.movement_id
      where s.sequence > last_number
    ) n;
  end if;
  return given;
end
$$;
comment on function ledger.number_movements(uuid[]) is
  'Numbers committed movements that have no number yet: the given ones in this order, or, if none are '
  'given, all in the order of their ids. The latter is for movements that were written while triggers were '
  'switched off. The sequencer of events calls it after commits. Returns how many it numbered.';
select api_meta.plan_by_index('ledger.number_movements(uuid[])');
select api_meta.give('ledger.number_movements(uuid[])', 'service_recorder');
--! EndIncluded ledger/number_movements.sql
--! Included ledger/next_month_end.sql
create or replace function ledger.next_month_end(last ledger.closing) returns timestamptz
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select (date_trunc('month', greatest(m.created_at, last.greatest_moment) at time zone 'UTC')
    + interval '1 month') at time zone 'UTC'
  from ledger.movement_sequence s join ledger.stock_movement m on m.id = s.movement_id
  where s.sequence > last.sequence order by s.sequence limit 1;
end;
comment on function ledger.next_month_end(ledger.closing) is
  'Returns the end, in UTC, of the month in which the first movement after a closing is; null if there is '
  'none. No closing before has a movement of this month or a later one, so a month has one closing at most, '
  'whatever the order of moments.';
grant execute on function ledger.next_month_end(ledger.closing) to service_recorder;
--! EndIncluded ledger/next_month_end.sql
--! Included ledger/bound_closings.sql
create or replace function ledger.bound_closings(made ledger.closing) returns void
language plpgsql set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan set random_page_cost = 1.1 as $$
declare
  known bigint := made.sequence;
  part record;
  first_id uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  first_moment timestamptz := 'infinity';
begin
  -- The next closing will find bounds that are as close as they can be
  if ledger.next_month_end(made) <= now() then
    first_id := '00000000-0000-0000-0000-000000000000';
    first_moment := '-infinity';
    perform from events.log_head h for no key update;
  else
    -- Most numbers are read before numbering has to wait, the last few while it does
    for n in 1..2 loop
      if n = 2 then
        perform from events.log_head h for no key update;
      end if;
      select min(l.movement_id::text collate "C")::uuid as id, min(l.moment) as moment,
        max(s.sequence) as number into part
      from ledger.movement_sequence s join ledger.past_leg l on l.movement_id = s.movement_id
      where s.sequence > known;
      first_id := least(first_id, part.id);
      first_moment := least(first_moment, part.moment);
      known := coalesce(part.number, known);
    end loop;
  end if;
  update ledger.closing c
  set least_id_after = least(first_id, n.id), least_moment_after = least(first_moment, n.moment)
  from (
    select o.id as closing_id, min(l.least_id::text collate "C")::uuid as id, min(l.least_moment) as moment
    from ledger.closing o left join ledger.closing l on l.sequence > o.sequence group by o.id
  ) n where n.closing_id = c.id;
end
$$;
comment on function ledger.bound_closings(ledger.closing) is
  'Sets the bounds of all closings to the movements after them, when the last one has been written. Only for '
  'ledger.write_closing.';
grant execute on function ledger.bound_closings(ledger.closing) to service_recorder;
--! EndIncluded ledger/bound_closings.sql
--! Included ledger/write_closing.sql
create or replace function ledger.write_closing(last ledger.closing, sequence bigint) returns integer
language plpgsql set search_path = pg_catalog, pg_temp
-- The closed movements are new, so most of their pages are in memory
set plan_cache_mode = force_custom_plan set random_page_cost = 1.1 as $$
declare
  written ledger.closing;
begin
  with leg as materialized (
    select l.movement_id, l.product_id, l.place, l.location_type, l.warehouse_id, l.direction, l.quantity,
      l.moment
    from ledger.movement_sequence s join ledger.past_leg l on l.movement_id = s.movement_id
    where s.sequence > last.sequence and s.sequence <= write_closing.sequence
  ),
  made as (
    insert into ledger.closing (id, sequence, least_id, least_moment, greatest_id, greatest_moment)
    select coalesce(last.id, 0) + 1, write_closing.sequence, min(l.movement_id::text collate "C")::uuid,
      min(l.moment),
      greatest(max(l.movement_id::text collate "C")::uuid, last.greatest_id),
      greatest(max(l.moment), last.greatest_moment)
    from leg l
    returning *
  ),
  balance as (
    insert into ledger.closing_balance (
      closing_id, product_id, place, location_type, warehouse_id, quantity
    )
    select m.id, x.product_id, x.place, x.location_type, x.warehouse_id, sum(x.quantity)
    from made m cross join (
      select b.product_id, b.place, b.location_type, b.warehouse_id, b.quantity
      from ledger.closing_balance b where b.closing_id = last.id
      union all
      select l.product_id, l.place, l.location_type, l.warehouse_id, l.quantity from leg l
    ) x
    group by m.id, x.product_id, x.place, x.location_type, x.warehouse_id having sum(x.quantity) <> 0
    order by x.product_id, x.place
  ),
  batch_balance as (
    insert into ledger.closing_batch_balance (
      closing_id, batch_id, place, location_type, warehouse_id, quantity
    )
    select m.id, x.batch_id, x.place, x.location_type, x.warehouse_id, sum(x.quantity)
    from made m cross join (
      select b.batch_id, b.place, b.location_type, b.warehouse_id, b.quantity
      from ledger.closing_batch_balance b where b.closing_id = last.id
      union all
      select b.batch_id, l.place, l.location_type, l.warehouse_id, l.direction * b.quantity
      from leg l join ledger.stock_movement_batch b on b.stock_movement_id = l.movement_id
    ) x
    group by m.id, x.batch_id, x.place, x.location_type, x.warehouse_id having sum(x.quantity) <> 0
    order by x.batch_id, x.place
  )
  select m.* into written from made m;
  perform ledger.bound_closings(written);
  return written.id;
end
$$;
comment on function ledger.write_closing(ledger.closing, bigint) is
  'Writes the balances as of a number: the balances of the last closing, and what was numbered since. Only '
  'for ledger.close_next. Returns the id of the closing.';
grant execute on function ledger.write_closing(ledger.closing, bigint) to service_recorder;
--! EndIncluded ledger/write_closing.sql
--! Included ledger/close_next.sql
create or replace function ledger.close_next(most bigint default 250000) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan as $$
declare
  last ledger.closing;
  due bigint;
  newest bigint;
  month_end timestamptz;
begin
  perform ledger.note_writing('0');
  delete from ledger.writing_since w where w.moment < now() - interval '7 days';
  if not pg_try_advisory_xact_lock(hashtextextended('ledger.close_next', 0)) then
    return false;
  end if;
  select * into last from ledger.closing c order by c.sequence desc limit 1;
  if not found then
    last.sequence := 0;
    last.greatest_id := '00000000-0000-0000-0000-000000000000';
    last.greatest_moment := '-infinity';
  end if;
  select max(s.sequence) into newest from ledger.movement_sequence s;
  newest := least(newest, last.sequence + most);
  month_end := ledger.next_month_end(last);
  if month_end > now() and newest = last.sequence + most then
    due := newest;
  elsif month_end <= now() then
    select s.sequence - 1 into due
    from ledger.movement_sequence s join ledger.stock_movement m on m.id = s.movement_id
    where s.sequence > last.sequence and s.sequence <= newest and m.created_at >= month_end
    order by s.sequence limit 1;
    due := coalesce(due, newest);
  else
    return false;
  end if;
  perform ledger.write_closing(last, due);
  return true;
end
$$;
comment on function ledger.close_next(bigint) is
  'Closes the ledger up to the last number of the next month that has ended, in UTC, or after this many '
  'movements. Returns whether there was anything to close; then there may be more. The background work '
  'calls it every hour.';
select api_meta.give('ledger.close_next(bigint)', 'service_recorder');
revoke execute on function ledger.close_next(bigint) from public;
grant execute on function ledger.close_next(bigint) to service_worker;
--! EndIncluded ledger/close_next.sql
--! Included ledger/closing_proof.sql
-- Balances of closings beside what the ledger says. Empty while they are right.
create or replace view ledger.closing_proof with (security_invoker = true) as
with
step as (
  select c.*, lead(c.id) over w as next_id, coalesce(lag(c.sequence) over w, 0) as after_sequence
  from ledger.closing c window w as (order by c.sequence)
),
leg as materialized (
  select c.id as closing_id, l.movement_id, l.direction, l.product_id, l.place, l.warehouse_id, l.quantity,
    l.moment
  from step c
  join ledger.movement_sequence s on s.sequence > c.after_sequence and s.sequence <= c.sequence
  join ledger.past_leg l on l.movement_id = s.movement_id
  where exists (select from ledger.closing)
),
-- The difference of each closing to the one before, and the sum of the movements numbered between the two
difference as (
  select x.closing_id, x.key, x.place, sum(x.stored) as stored, sum(x.expected) as expected
  from (
    select b.closing_id, b.product_id || coalesce(' ' || b.warehouse_id, '') as key, b.place,
      b.quantity as stored, 0 as expected from ledger.closing_balance b
    union all
    select c.next_id, b.product_id || coalesce(' ' || b.warehouse_id, ''), b.place, - b.quantity, 0
    from ledger.closing_balance b join step c on c.id = b.closing_id where c.next_id is not null
    union all
    select l.closing_id, l.product_id || coalesce(' ' || l.warehouse_id, ''), l.place, 0, l.quantity
    from leg l
    union all
    select b.closing_id, b.batch_id || coalesce(' ' || b.warehouse_id, ''), b.place, b.quantity, 0
    from ledger.closing_batch_balance b
    union all
    select c.next_id, b.batch_id || coalesce(' ' || b.warehouse_id, ''), b.place, - b.quantity, 0
    from ledger.closing_batch_balance b join step c on c.id = b.closing_id where c.next_id is not null
    union all
    select l.closing_id, b.batch_id || coalesce(' ' || l.warehouse_id, ''), l.place, 0,
      l.direction * b.quantity
    from leg l join ledger.stock_movement_batch b on b.stock_movement_id = l.movement_id
  ) x
  group by x.closing_id, x.key, x.place
)
select 'closing_balance.quantity' as figure, concat_ws(' ', d.closing_id, d.key, d.place) as id,
  d.stored::text as stored, d.expected::text as expected
from difference d where d.stored <> d.expected
union all
select 'closing.bounds', c.id::text, concat_ws(' ', c.least_id_after, c.greatest_id), l.movement_id::text
from leg l join step s on s.id = l.closing_id
join step c on c.sequence >= s.sequence and (l.movement_id > c.greatest_id or l.moment > c.greatest_moment)
  or c.sequence < s.sequence and (l.movement_id < c.least_id_after or l.moment < c.least_moment_after);
comment on view ledger.closing_proof is
  'Balances of closings that differ from what the movements with numbers up to theirs give, and bounds that '
  'a movement breaks. Must always be empty; part of ledger.proof.';
--! EndIncluded ledger/closing_proof.sql
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
  select id::text as place, id as warehouse_id from erp.warehouse
  union all select id::text, warehouse_id from erp.bin_location
),
held as (
  select b.product_id, p.warehouse_id, sum(b.quantity) as quantity
  from balance b join building p using (place) group by b.product_id, p.warehouse_id
),
-- Of batches that are on hold
on_hold as (
  select t.product_id, p.warehouse_id, sum(f.direction * b.quantity) as quantity
  from erp.batch t join ledger.stock_movement_batch b on b.batch_id = t.id
  join ledger.flow f on f.movement_id = b.stock_movement_id join building p on p.place = f.place
  where t.is_held group by t.product_id, p.warehouse_id
),
physical as (
  select h.product_id, sum(h.quantity) as quantity,
    sum(case when w.is_stock_available_for_sale then coalesce(b.quantity, 0) else h.quantity end)
      as not_for_sale
  from held h join erp.warehouse w on w.id = h.warehouse_id
  left join on_hold b on b.product_id = h.product_id and b.warehouse_id = h.warehouse_id
  group by h.product_id
),
reserved as (
  select l.product_id, sum(l.quantity - l.shipped_quantity) as quantity
  from erp.sales_order_line_item l join erp.sales_order o on o.id = l.order_id
  where o.state in ('open', 'in_progress') and l.product_id is not null group by l.product_id
),
promised as (
  select l.product_id, w.warehouse_id, sum(l.quantity - l.fulfilled_quantity) as quantity
  from erp.fulfillment_order_line_item l
  join erp.fulfillment_order f on f.id = l.fulfillment_order_id
    and f.state in ('Open', 'InProgress', 'OnHold')
  join erp.location w on w.id = f.source_warehouse_location_id
  where l.product_id is not null and w.warehouse_id is not null group by l.product_id, w.warehouse_id
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
  select b.batch_id, s.id as stock_id, f.location_type_technical_name in ('warehouse', 'bin_location')
    and f.place is not null as is_held, f.direction * b.quantity as quantity
  from ledger.stock_movement_batch b join ledger.flow f on f.movement_id = b.stock_movement_id
  left join ledger.stock s on s.product_id = f.product_id and s.place = f.place
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
  union all select b.rule, b.id, 'broken', 'upheld' from ledger.broken_rules() b
  union all select n.figure, n.id, n.stored, n.expected from erp.number_proof n
  union all select c.figure, c.id, c.stored, c.expected from ledger.closing_proof c
  union all select 'movement_sequence.sequence', 'last', coalesce(max(s.sequence), 0)::text, count(*)::text
    from ledger.movement_sequence s
)
select figure, id, stored, expected from figures where stored is distinct from expected;
comment on view ledger.proof is
  'Stored figures that differ from what the ledger and the documents give. Must always be empty.';
--! EndIncluded ledger/proof.sql

--! Included ledger/settled_until.sql
create or replace function ledger.settled_until(seen pg_snapshot) returns timestamptz
-- Volatile, to look at what was committed after the snapshot. Not in parallel, because it makes a setting
language plpgsql parallel unsafe set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  known constant text := current_setting('service.settled_until', true);
  oldest constant bigint := pg_snapshot_xmin(seen)::text::bigint;
  settled timestamptz := now();
begin
  if known <> '' then
    return known::timestamptz;
  end if;
  -- Bookings lock their products before they draw their moments. A standby does not know who writes, and in
  -- another isolation nothing tells what has been committed since
  if pg_is_in_recovery() or current_setting('transaction_isolation') <> 'read committed' or exists (
    select from pg_locks l
    where l.relation in ('erp.product'::regclass, 'ledger.stock_movement'::regclass)
      and l.mode in ('RowShareLock', 'RowExclusiveLock') and l.pid <> pg_backend_pid()
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
  ) then
    settled := coalesce((
      select w.moment from ledger.writing_since w
      where w.transaction_id <= oldest order by w.transaction_id desc limit 1
    ), '-infinity');
  end if;
  -- Bookings that were open then, and have ended since
  settled := least(settled, (
    select min(m.created_at) - interval '1 microsecond' from (
      select m.created_at from ledger.stock_movement m
      where m.transaction_id >= oldest and not pg_visible_in_snapshot(m.transaction_id::text::xid8, seen)
      -- Not by the index of moments, which would be read from its beginning
      offset 0
    ) m
  ));
  perform set_config('service.settled_until', settled::text, true);
  return settled;
end
$$;
comment on function ledger.settled_until(pg_snapshot) is
  'Returns the moment up to which no booking is missing in a snapshot: no transaction that was open then can '
  'have booked earlier. It is the beginning of the reader''s own transaction while nobody writes stock. '
  'Otherwise it is the latest moment of ledger.writing_since that is older than all open transactions. Late '
  'counts, and movements that are inserted with a moment of their own, can still come. The answer holds for '
  'the whole transaction.';
grant execute on function ledger.settled_until(pg_snapshot) to service_ledger;
--! EndIncluded ledger/settled_until.sql
--! Included ledger/span_of.sql
drop type if exists ledger.span cascade;
create type ledger.span as (
  closing_id integer, after_sequence bigint, from_id uuid, sure_id uuid, to_id uuid
);
comment on type ledger.span is
  'Rows to read for the stock as of a number or a moment: the balances of a closing, and movements after its '
  'number with ids between two bounds. Movements with ids above sure_id are all after its number.';

create or replace function ledger.span_of(sequence bigint, moment timestamptz) returns ledger.span
language plpgsql stable parallel unsafe set search_path = pg_catalog, pg_temp as $$
declare
  span ledger.span;
begin
  if num_nonnulls(sequence, moment) <> 1 then
    raise exception 'Either a number or a moment is required.' using errcode = 'UE010';
  elsif sequence > coalesce(
    (select s.sequence from ledger.movement_sequence s order by s.sequence desc limit 1), 0
  ) or moment is not null and moment > ledger.settled_until(pg_current_snapshot()) then
    raise exception 'The past is asked for beyond what is settled.' using errcode = 'UE011';
  end if;
  select c.id, c.sequence, c.least_id_after, c.greatest_id
  into span.closing_id, span.after_sequence, span.from_id, span.sure_id
  from ledger.closing c where c.sequence <= span_of.sequence or c.greatest_moment <= span_of.moment
  order by c.sequence desc limit 1;
  select c.greatest_id into span.to_id
  from ledger.closing c where c.sequence >= span_of.sequence or c.least_moment_after > span_of.moment
  order by c.sequence limit 1;
  span.after_sequence := coalesce(span.after_sequence, 0);
  span.from_id := coalesce(span.from_id, '00000000-0000-0000-0000-000000000000');
  span.sure_id := coalesce(span.sure_id, '00000000-0000-0000-0000-000000000000');
  span.to_id := coalesce(span.to_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  return span;
end
$$;
comment on function ledger.span_of(bigint, timestamptz) is
  'Returns what to read for the stock as of the number of a movement, or as of a moment. Refuses both, or '
  'none, by SQLSTATE UE010; and by UE011 a number that no movement has yet, and a moment before which a '
  'booking may still appear (ledger.settled_until). Callers must be marked by api_meta.plan_by_index.';
grant execute on function ledger.span_of(bigint, timestamptz) to service_ledger;
--! EndIncluded ledger/span_of.sql
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
      else x.location_type in ('warehouse', 'bin_location') end
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
      else x.location_type in ('warehouse', 'bin_location') end
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
      else l.location_type in ('warehouse', 'bin_location') end;
end
$$;
comment on function ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz) is
  'Returns the stock card of a product, or of a batch of it, in a place, in a warehouse with its bins, or in '
  'all warehouses. The first line has the opening balance and no movement. Then each arrival and departure '
  'from a moment on follows, up to but without another, in the order in which they happened. Empty without '
  'the scopes stocks:read and, for a batch, batches:read.';
select api_meta.plan_by_index('ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz)');
select api_meta.give('ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz)', 'service_ledger');
revoke execute on function ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz) from public;
grant execute on function ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz)
  to service_api, service_writer;
--! EndIncluded ledger/stock_card.sql
--! Included api/stocks_quantity_as_of.sql
create function api_unstable.stocks_quantity_as_of(
  stock api_unstable.stocks, sequence float default null, moment timestamptz default null
) returns integer language sql stable
return case when coalesce(stock.order_id::text, stock.special_stock_location_technical_name) is null
  then ledger.quantity_as_of(stock.product_id, coalesce(stock.warehouse_id, stock.bin_location_id,
    stock.goods_receipt_id, stock.return_order_id, stock.stock_container_id)::text, null, sequence::bigint,
    moment) end;
comment on function api_unstable.stocks_quantity_as_of(api_unstable.stocks, float, timestamptz) is $$
@describe sequence The number of a stock movement: all with this number or a smaller one count.
@describe moment A moment in the past: what had happened by then counts, also if it was booked later.
How many units lay in the place then; null for orders and special places. Give either sequence or moment.$$;
--! EndIncluded api/stocks_quantity_as_of.sql
--! Included api/batch_stocks_quantity_as_of.sql
create function api_unstable.batch_stocks_quantity_as_of(
  batch_stock api_unstable.batch_stocks, sequence float default null, moment timestamptz default null
) returns integer language sql stable
return (
  select case when coalesce(s.order_id::text, s.special_stock_location_technical_name) is null
    then ledger.batch_quantity_as_of(batch_stock.batch_id, coalesce(s.warehouse_id, s.bin_location_id,
      s.goods_receipt_id, s.return_order_id, s.stock_container_id)::text, sequence::bigint, moment) end
  from api_unstable.stocks s where s.id = batch_stock.stock_id
);
comment on function api_unstable.batch_stocks_quantity_as_of(
  api_unstable.batch_stocks, float, timestamptz
) is $$
@describe sequence The number of a stock movement: all with this number or a smaller one count.
@describe moment A moment in the past: what had happened by then counts, also if it was booked later.
How many units of the batch lay in the place then; null for orders and special places. Give either
sequence or moment.$$;
--! EndIncluded api/batch_stocks_quantity_as_of.sql
--! Included api/warehouse_stocks_quantity_as_of.sql
create function api_unstable.warehouse_stocks_quantity_as_of(
  stock api_unstable.warehouse_stocks, sequence float default null, moment timestamptz default null
) returns integer language sql stable
return ledger.quantity_as_of(stock.product_id, null, stock.warehouse_id, sequence::bigint, moment);
comment on function api_unstable.warehouse_stocks_quantity_as_of(
  api_unstable.warehouse_stocks, float, timestamptz
) is $$
@notNull
@describe sequence The number of a stock movement: all with this number or a smaller one count.
@describe moment A moment in the past: what had happened by then counts, also if it was booked later.
How many units the warehouse held then, with the bins that stood there. Give either sequence or moment.$$;
--! EndIncluded api/warehouse_stocks_quantity_as_of.sql
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
--! Included api/batches_physical_stock_as_of.sql
create function api_unstable.batches_physical_stock_as_of(
  batch api_unstable.batches, sequence float default null, moment timestamptz default null
) returns integer language sql stable
return ledger.batch_quantity_as_of(batch.id, null, sequence::bigint, moment);
comment on function api_unstable.batches_physical_stock_as_of(
  api_unstable.batches, float, timestamptz
) is $$
@notNull
@describe sequence The number of a stock movement: all with this number or a smaller one count.
@describe moment A moment in the past: what had happened by then counts, also if it was booked later.
How many units of the batch all warehouses held then. Give either sequence or moment.$$;
--! EndIncluded api/batches_physical_stock_as_of.sql
--! Included api/warehouses_stocks_as_of.sql
create function api_unstable.warehouses_stocks_as_of(
  warehouse api_unstable.warehouses, sequence float default null, moment timestamptz default null
) returns setof api_unstable.warehouse_stocks language sql stable
begin atomic
  select s.* from api_unstable.warehouse_stocks s
  where s.warehouse_id = warehouse.id
    and ledger.quantity_as_of(s.product_id, null, s.warehouse_id, sequence::bigint, moment) <> 0;
end;
comment on function api_unstable.warehouses_stocks_as_of(
  api_unstable.warehouses, float, timestamptz
) is $$
@describe sequence The number of a stock movement: all with this number or a smaller one count.
@describe moment A moment in the past: what had happened by then counts, also if it was booked later.
The stocks of which the warehouse held units then. Their field quantityAsOf says how many; the other fields
say what it holds now. Give either sequence or moment.$$;
--! EndIncluded api/warehouses_stocks_as_of.sql
-- waive unique-key api_unstable.stock_card_lines: a movement has at most one line for each direction
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

--! split: 160-valuation-reports.sql
-- Stock valuation reports that close periods; values, costs and margins in the API

drop index if exists valuation.report_number_is_unique, valuation.report_has_one_draft;
drop function if exists api_unstable.stock_valuation_report_create, api_unstable.stock_valuation_report_close,
  api_unstable.stock_valuation_report_void, api_unstable.orders_cost_of_goods, api_unstable.orders_margin,
  api_unstable.fulfillments_cost_of_goods;
drop view if exists api_unstable.stock_valuation_report_lines, api_unstable.stock_valuation_report_faults,
  api_unstable.stock_valuation_report_late_entries, api_unstable.stock_valuation_reports cascade;

-- What reports have beside what values are calculated from

alter table valuation.report drop column if exists currency_code cascade,
  drop column if exists quantity cascade, drop column if exists value cascade,
  drop column if exists fault_count cascade, drop column if exists late_entry_count cascade,
  drop column if exists created_at cascade, drop column if exists void_reason cascade,
  drop column if exists hash cascade,
  drop column if exists previous_hash cascade, drop column if exists lines_hash cascade,
  drop column if exists state_hash cascade;
alter table valuation.report
  add column currency_code text not null default 'XXX',
  add column quantity bigint not null default 0,
  add column value numeric not null default 0,
  add column fault_count bigint not null default 0,
  add column late_entry_count bigint not null default 0,
  add column created_at timestamptz(0) not null default date_trunc('second', now()),
  add column void_reason text constraint report_void_reason_length check (length(void_reason) <= 1000),
  add column hash text,
  add column previous_hash text,
  add column lines_hash text,
  add column state_hash text,
  add constraint report_closed_is_complete check ((closed_at is null) = (number is null)
    and (closed_at is null) = (hash is null) and (closed_at is null) = (lines_hash is null)
    and (closed_at is null) = (state_hash is null)),
  add constraint report_void_has_a_reason check ((voided_at is null) = (void_reason is null)),
  add constraint report_void_was_closed check (voided_at is null or closed_at is not null);
create unique index report_number_is_unique on valuation.report (number);
create unique index report_has_one_draft on valuation.report ((true)) where closed_at is null;
comment on constraint report_void_reason_length on valuation.report is
  '@internal valuation.void_report refuses longer ones.';
comment on constraint report_closed_is_complete on valuation.report is
  '@internal valuation.close_report sets all of them.';
comment on constraint report_void_has_a_reason on valuation.report is
  '@internal valuation.void_report sets both.';
comment on constraint report_void_was_closed on valuation.report is
  '@internal valuation.void_report refuses drafts.';
comment on index valuation.report_number_is_unique is 'Reports are closed one after another.';
comment on index valuation.report_has_one_draft is 'There is one draft at most.';
comment on column valuation.report.currency_code is 'Currency of all amounts: the default one, as ISO code.';
comment on column valuation.report.quantity is 'Units in stock.';
comment on column valuation.report.value is
  'Value of the stock in cents: the sum of the products, rounded once.';
comment on column valuation.report.fault_count is
  'How often units came in without a price; with faults, a draft cannot be closed.';
comment on column valuation.report.late_entry_count is
  'Movements that belong to days that were closed before.';
comment on column valuation.report.created_at is 'When the draft was made.';
comment on column valuation.report.void_reason is 'Why the report was declared void.';
comment on column valuation.report.hash is
  'SHA-256 of the content, with the hash of the report before, as hexadecimal digits; null for drafts.';
comment on column valuation.report.previous_hash is
  'Hash of the report with the number before, also if it is void; null for the first.';
comment on column valuation.report.lines_hash is 'SHA-256 of the lines, which is part of the hash.';
comment on column valuation.report.state_hash is
  'SHA-256 of what later reports continue from, which is part of the hash.';

-- The lines of people: product by warehouse
alter table valuation.report_warehouse drop column if exists id cascade,
  drop column if exists product_number cascade, drop column if exists unit_cost cascade,
  drop column if exists amount cascade;
alter table valuation.report_warehouse
  add column id uuid primary key default uuidv7(),
  add column product_number text not null,
  add column unit_cost numeric not null,
  add column amount numeric not null;
drop index if exists valuation.report_warehouse_report_id_idx;
create index report_warehouse_report_id_id_idx on valuation.report_warehouse (report_id, id);
create index report_warehouse_product_id_idx on valuation.report_warehouse (product_id);
create index report_warehouse_warehouse_id_idx on valuation.report_warehouse (warehouse_id);
comment on column valuation.report_warehouse.product_number is
  'Number of the product when the report was made.';
comment on column valuation.report_warehouse.unit_cost is
  'Value of a unit of the product in all warehouses, rounded to six decimals.';
comment on column valuation.report_warehouse.amount is
  'The value in cents. The lines of a report add up to its value, by largest remainder.';
drop index if exists valuation.report_product_product_id_idx, valuation.report_cost_stock_movement_id_idx;
create index report_product_product_id_idx on valuation.report_product (product_id);
create index report_cost_stock_movement_id_idx on valuation.report_cost (stock_movement_id);
comment on index valuation.report_product_product_id_idx is 'For valuation.keep_counted.';
comment on index valuation.report_cost_stock_movement_id_idx is 'For valuation.cost_of_fulfillment.';

drop table if exists valuation.report_fault, valuation.report_late_entry, valuation.counted_receipt;
create table valuation.report_fault (
  id uuid primary key default uuidv7(),
  report_id uuid not null references valuation.report on delete cascade,
  code text not null,
  product_id uuid not null,
  stock_movement_id uuid not null,
  goods_receipt_id uuid
);
create index report_fault_report_id_id_idx on valuation.report_fault (report_id, id);
create index report_fault_product_id_idx on valuation.report_fault (product_id);
create index report_fault_goods_receipt_id_idx on valuation.report_fault (goods_receipt_id);
alter table valuation.report_fault enable row level security;
comment on table valuation.report_fault is
  'Units that had no value when the draft of a report was made, at most 10,000 of a draft.';
comment on column valuation.report_fault.report_id is 'The draft.';
comment on column valuation.report_fault.code is 'Code of what is missing: PRICE_MISSING.';
comment on column valuation.report_fault.product_id is 'Product of the units.';
comment on column valuation.report_fault.stock_movement_id is 'Movement by which the units came in.';
comment on column valuation.report_fault.goods_receipt_id is
  'Goods receipt of which a line has no price; null for other movements.';

create table valuation.report_late_entry (
  id uuid primary key default uuidv7(),
  report_id uuid not null references valuation.report on delete cascade,
  stock_movement_id uuid not null,
  product_id uuid not null,
  day date not null,
  quantity integer not null,
  value numeric not null
);
create index report_late_entry_report_id_id_idx on valuation.report_late_entry (report_id, id);
create index report_late_entry_product_id_idx on valuation.report_late_entry (product_id);
alter table valuation.report_late_entry enable row level security;
comment on table valuation.report_late_entry is
  'Movements that a report counts although they belong to a day that was closed before: they were numbered '
  'late, or correct a count of such a day.';
comment on column valuation.report_late_entry.report_id is 'The report that counts the movement.';
comment on column valuation.report_late_entry.stock_movement_id is 'The movement.';
comment on column valuation.report_late_entry.product_id is 'Product of the movement.';
comment on column valuation.report_late_entry.day is
  'Day to which it belongs: of the count, else of the booking, in the time zone of the merchant.';
comment on column valuation.report_late_entry.quantity is 'Units of the movement.';
comment on column valuation.report_late_entry.value is 'Value of the units; negative when they went out.';

create table valuation.counted_receipt (
  goods_receipt_id uuid primary key references erp.goods_receipt on delete cascade,
  report_id uuid references valuation.report on delete cascade
);
create index counted_receipt_report_id_idx on valuation.counted_receipt (report_id);
alter table valuation.counted_receipt enable row level security;
comment on table valuation.counted_receipt is
  'Goods receipts that a valid closed report counts: their prices and exchange rates are final.';
comment on column valuation.counted_receipt.goods_receipt_id is 'The goods receipt.';
comment on column valuation.counted_receipt.report_id is
  'The first report that counts it; null if another program made that report.';

comment on constraint report_product_report_id_fkey on valuation.report_product is
  '@internal valuation.fill_report names the report.';
comment on constraint report_warehouse_report_id_fkey on valuation.report_warehouse is
  '@internal valuation.fill_report names the report.';
comment on constraint report_cost_report_id_fkey on valuation.report_cost is
  '@internal valuation.fill_report names the report.';
comment on constraint report_outside_report_id_fkey on valuation.report_outside is
  '@internal valuation.keep_places names the report.';
comment on constraint report_outside_pkey on valuation.report_outside is
  '@internal valuation.keep_places takes places from movements.';
comment on constraint report_fault_report_id_fkey on valuation.report_fault is
  '@internal valuation.fill_report names the report.';
comment on constraint report_late_entry_report_id_fkey on valuation.report_late_entry is
  '@internal valuation.fill_report names the report.';
comment on constraint counted_receipt_goods_receipt_id_fkey on valuation.counted_receipt is
  '@internal valuation.keep_state looks for the receipts.';
comment on constraint counted_receipt_report_id_fkey on valuation.counted_receipt is
  '@internal valuation.keep_state names the report.';

do $$
begin
  if to_regclass('erp.stock_valuation_report_goods_receipt') is not null then
    insert into valuation.counted_receipt (goods_receipt_id)
    select distinct r.goods_receipt_id from erp.stock_valuation_report_goods_receipt r;
  end if;
end
$$;

select api_meta.allow('service_writer', t.name::regclass, 'select', 'insert', 'update', 'delete')
from unnest('{valuation.report,valuation.report_product,valuation.report_warehouse,
  valuation.report_outside,valuation.report_cost,valuation.report_fault,
  valuation.report_late_entry,valuation.counted_receipt}'::text[])
  t (name);

select api_meta.allow('service_writer', 'erp.stock_container', 'select');
select api_meta.allow('service_writer', 'ledger.stock_count', 'select');
-- Fills in prices, which the triggers below look at
grant usage on schema valuation to service_keeper;
select api_meta.allow('service_keeper', 'valuation.counted_receipt', 'select');
select api_meta.allow('service_keeper', 'valuation.report', 'select');
select api_meta.allow('service_keeper', 'erp.goods_receipt', 'select (id, state)');

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
    select l.product_id, coalesce(l.warehouse_id, c.warehouse_id), l.quantity
    from ledger.movement_sequence s
    join ledger.past_leg l on l.movement_id = s.movement_id
    left join erp.stock_container c on c.id::text = l.place and l.location_type = 'stock_container'
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
--! Included valuation/newest_report.sql
create or replace function valuation.newest_report() returns valuation.report
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select r from valuation.report r where r.closed_at is not null and r.voided_at is null
  order by r.number desc limit 1;
end;
comment on function valuation.newest_report() is
  'Returns the closed report that the open period follows; null before the first. Reports that are void do '
  'not count.';
grant execute on function valuation.newest_report() to service_writer;
--! EndIncluded valuation/newest_report.sql
--! Included valuation/day_of.sql
create or replace function valuation.day_of(stock_movement_id uuid) returns date
language sql stable
return (
  select (least(m.created_at, min(c.counted_at)) at time zone
    coalesce((select r.time_zone from erp.merchant r), 'UTC'))::date
  from ledger.stock_movement m left join ledger.stock_count c on c.stock_movement_id = m.id
  where m.id = day_of.stock_movement_id group by m.created_at
);
comment on function valuation.day_of(uuid) is
  'Returns the day to which a movement belongs in the time zone of the merchant: of the count that it '
  'corrects, else of its booking.';
grant execute on function valuation.day_of(uuid) to service_writer;
--! EndIncluded valuation/day_of.sql
--! Included valuation/keep_places.sql
create or replace function valuation.keep_places(report_id uuid, run valuation.run) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  insert into valuation.report_outside (report_id, place_type, place, product_id, quantity, value)
  select keep_places.report_id, o.place_type, o.place, o.product_id, o.quantity, o.value
  from valuation.outside_of(run) o;

  insert into valuation.counted_receipt (goods_receipt_id, report_id)
  select distinct r.id, keep_places.report_id
  from valuation.report_outside o join erp.goods_receipt r on r.id = o.place::uuid
  where o.report_id = keep_places.report_id and o.place_type = 'goods_receipt'
  on conflict do nothing;
end;
comment on function valuation.keep_places(uuid, valuation.run) is
  'Stores the goods in orders, returns and receipts that changed in the period of a report, with the value '
  'that comes back with them. Locks the goods receipts that it counts.';
grant execute on function valuation.keep_places(uuid, valuation.run) to service_writer;
--! EndIncluded valuation/keep_places.sql
--! Included valuation/digest.sql
create or replace function valuation.digest(content text) returns text
language sql immutable parallel safe
return pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(content, 'UTF8')), 'hex');
comment on function valuation.digest(text) is 'SHA-256 of a text in UTF-8, as hexadecimal digits.';
grant execute on function valuation.digest(text) to service_writer;
--! EndIncluded valuation/digest.sql
--! Included valuation/lines_hash.sql
create or replace function valuation.lines_hash(report_id uuid) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select valuation.digest(coalesce(string_agg(l.line, '' order by l.line collate "C"), ''))
  from (
    select '[' || to_json(w.product_number) || ',' || coalesce(to_json(w.warehouse_code)::text, 'null')
      || ',"' || w.quantity || '","' || round(w.amount, 2) || E'"]\n' as line
    from valuation.report_warehouse w where w.report_id = lines_hash.report_id
  ) l;
end;
comment on function valuation.lines_hash(uuid) is
  'Hash of the lines of a report. Each line is a JSON array without spaces: number of the product, code of '
  'the warehouse or null, quantity and amount as strings; then a line feed. The lines are sorted by bytes.';
grant execute on function valuation.lines_hash(uuid) to service_writer;
--! EndIncluded valuation/lines_hash.sql
--! Included valuation/state_hash.sql
create or replace function valuation.state_hash(report_id uuid) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select encode(sha256(coalesce(string_agg(h.hash, '' order by h.hash), '')), 'hex')
  from (
    select sha256(convert_to('["P","' || p.product_id || '",' || to_json(p.product_number) || ',"'
      || p.quantity || '","' || round(p.value, 6) || '",'
      || coalesce('"' || round(p.last_unit_cost, 6) || '"', 'null') || ',"' || round(p.landed_expense, 6)
      || '","' || round(p.variance, 6) || '",' || coalesce(to_json(p.layers::text)::text, 'null') || ']',
      'UTF8')) as hash
    from valuation.report_product p where p.report_id = state_hash.report_id
    union all
    select sha256(convert_to('["O","' || o.product_id || '","' || o.place_type || '",' || to_json(o.place)
      || ',"' || o.quantity || '","' || round(o.value, 6) || '"]', 'UTF8'))
    from valuation.report_outside o where o.report_id = state_hash.report_id
    union all
    select sha256(convert_to('["C","' || c.product_id || '","' || c.stock_movement_id || '",'
      || coalesce('"' || c.order_id || '"', 'null') || ',"' || c.kind || '","' || c.quantity || '","'
      || round(c.value, 6) || '"]', 'UTF8'))
    from valuation.report_cost c where c.report_id = state_hash.report_id
    union all
    select sha256(convert_to('["L","' || e.product_id || '","' || e.stock_movement_id || '","' || e.day
      || '"]', 'UTF8'))
    from valuation.report_late_entry e where e.report_id = state_hash.report_id
  ) h;
end;
comment on function valuation.state_hash(uuid) is
  'Hash of what later reports continue from: states of products, goods in orders and receipts, costs of '
  'movements, late entries. Each row is a JSON array without spaces; all values are strings or null. The '
  'SHA-256 of the rows, 32 bytes each and sorted, make the text that is hashed.';
grant execute on function valuation.state_hash(uuid) to service_writer;
--! EndIncluded valuation/state_hash.sql
--! Included valuation/report_hash.sql
create or replace function valuation.report_hash(report valuation.report) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select valuation.digest('["stock valuation report 1","' || (report).number || '","'
    || to_char((report).reference_date, 'YYYY-MM-DD') || '","' || (report).sequence || '","'
    || (report).method || '",' || to_json((report).currency_code) || ',"' || (report).quantity || '","'
    || round((report).value, 2) || '","'
    || to_char((report).closed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '",'
    || coalesce((
      select '"' || v.number || '"' from valuation.report v where v.voided_by = (report).id
    ), 'null') || ',"' || (report).lines_hash || '","' || (report).state_hash || '",'
    || coalesce('"' || (report).previous_hash || '"', 'null') || ']');
end;
comment on function valuation.report_hash(valuation.report) is
  'Hash of a closed report: of a JSON array without spaces, of strings or null. The first is "stock '
  'valuation report 1". Number, day, number of the ledger, method, currency, quantity and value follow. '
  'Then come the moment of closing in UTC and the number of the void report that it replaces. The last are '
  'the hashes of the lines, of the state, and of the report before.';
grant execute on function valuation.report_hash(valuation.report) to service_writer;
--! EndIncluded valuation/report_hash.sql
--! Included valuation/total_report.sql
create or replace function valuation.total_report(report_id uuid) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  with total as (
    select sum(p.quantity) as quantity, erp.rounded(sum(p.value)) as value
    from valuation.report_product p where p.report_id = total_report.report_id
  ),
  line as (
    select array_agg(w.id order by w.id) as ids, array_agg(w.value order by w.id) as amounts
    from valuation.report_warehouse w where w.report_id = total_report.report_id
  ),
  rounded as (
    update valuation.report_warehouse w set amount = r.amount
    from line l cross join total t
    cross join lateral unnest(l.ids, erp.rounded_to(t.value, l.amounts)) r (id, amount)
    where w.id = r.id
  )
  update valuation.report r
  set quantity = coalesce(t.quantity, 0), value = coalesce(t.value, 0),
    fault_count = (select count(*) from valuation.report_fault f where f.report_id = r.id),
    late_entry_count = (select count(*) from valuation.report_late_entry e where e.report_id = r.id)
  from total t where r.id = total_report.report_id;
end;
comment on function valuation.total_report(uuid) is
  'Sets the totals of a report. Rounds its lines to cents, such that they add up to its value. All are '
  'rounded down, and those that lose most get a cent more; of equal ones, the one that stands earlier.';
grant execute on function valuation.total_report(uuid) to service_writer;
--! EndIncluded valuation/total_report.sql
--! Included valuation/fill_report.sql
create or replace function valuation.fill_report(target valuation.report, closes boolean) returns void
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  run constant valuation.run :=
    valuation.run_of(target.method, target.sequence, null, target.reference_date);
begin
  with entry as materialized (select e.* from valuation.entries(run, true) e),
  product as (
    insert into valuation.report_product (report_id, product_id, product_number, quantity, value,
      last_unit_cost, layers, landed_expense, variance)
    select target.id, e.product_id, p.product_number, e.quantity, e.value * 0.000001,
      e.last_unit_cost * 0.000001, e.layers, e.landed_expense * 0.000001, e.variance * 0.000001
    from entry e join erp.product p on p.id = e.product_id where e.type = 'state'
  ),
  fault as (
    insert into valuation.report_fault (report_id, product_id, stock_movement_id, goods_receipt_id, code)
    select target.id, e.product_id, e.stock_movement_id, e.goods_receipt_id, e.kind
    from entry e where e.type = 'fault' order by e.product_id, e.sequence limit 10000
  ),
  cost as (
    insert into valuation.report_cost (report_id, stock_movement_id, product_id, order_id, kind, quantity,
      value)
    select target.id, e.stock_movement_id, e.product_id,
      coalesce(m.destination_order_id, m.source_order_id), e.kind, e.quantity, e.value * 0.000001
    from entry e join ledger.stock_movement m on m.id = e.stock_movement_id
    where e.type = 'cost' and closes
  )
  insert into valuation.report_late_entry (report_id, stock_movement_id, product_id, quantity, value, day)
  select target.id, e.stock_movement_id, e.product_id, e.quantity, e.value * 0.000001, l.day
  from entry e cross join lateral valuation.day_of(e.stock_movement_id) l (day)
  where e.type = 'cost' and l.day <= run.after_day
  order by e.sequence;

  insert into valuation.report_warehouse (report_id, product_id, product_number, warehouse_id,
    warehouse_code, quantity, unit_cost, value, amount)
  select target.id, p.product_id, p.product_number, w.warehouse_id, c.code, w.quantity,
    erp.rounded_price(p.value / p.quantity), w.value, 0
  from (
    select u.product_id, array_agg(u.warehouse_id order by u.warehouse_id) as warehouse_ids,
      array_agg(u.quantity order by u.warehouse_id) as quantities
    from valuation.held_units(run) u group by u.product_id
  ) u
  join valuation.report_product p on p.report_id = target.id and p.product_id = u.product_id
  cross join lateral unnest(u.warehouse_ids, u.quantities, erp.shares(p.value, u.quantities))
    w (warehouse_id, quantity, value)
  left join erp.warehouse c on c.id = w.warehouse_id
  order by p.product_number, w.warehouse_id;
  if closes then
    perform valuation.keep_places(target.id, run);
  end if;
  perform valuation.total_report(target.id);
end
$$;
comment on function valuation.fill_report(valuation.report, boolean) is
  'Calculates a report that is not closed: states of products, lines by warehouse, faults, late entries and '
  'totals. When it closes, also costs of movements and goods in other places.';
grant execute on function valuation.fill_report(valuation.report, boolean) to service_writer;
--! EndIncluded valuation/fill_report.sql
--! Included valuation/empty_report.sql
create or replace function valuation.empty_report(report_id uuid) returns void
language sql set search_path = pg_catalog, pg_temp
begin atomic
  delete from valuation.report_product p where p.report_id = empty_report.report_id;
  delete from valuation.report_warehouse w where w.report_id = empty_report.report_id;
  delete from valuation.report_fault f where f.report_id = empty_report.report_id;
  delete from valuation.report_late_entry e where e.report_id = empty_report.report_id;
end;
comment on function valuation.empty_report(uuid) is 'Deletes what a draft has calculated.';
grant execute on function valuation.empty_report(uuid) to service_writer;
--! EndIncluded valuation/empty_report.sql
--! Included valuation/refuse_faults.sql
create or replace function valuation.refuse_faults(report_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  count bigint;
begin
  count := (select count(*) from valuation.report_fault f where f.report_id = refuse_faults.report_id);
  if count > 0 then
    perform mutation.refuse('PRICE_MISSING',
      'Units have no value: give the receipt lines a price, or the movements an opening value.', '{id}',
      jsonb_build_object('count', count, 'faults', (
        select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('productNumber', f.product_number,
          'goodsReceiptNumber', f.number, 'stockMovementId', f.stock_movement_id)))
        from (
          select p.product_number, g.number, f.stock_movement_id
          from valuation.report_fault f
          left join valuation.report_product p on p.report_id = f.report_id and p.product_id = f.product_id
          left join erp.goods_receipt g on g.id = f.goods_receipt_id
          where f.report_id = refuse_faults.report_id order by f.id limit 25
        ) f
      )));
  end if;
end
$$;
comment on function valuation.refuse_faults(uuid) is
  'Ends the mutation if units of a report have no value. The details have their count, and the first 25. '
  'User error PRICE_MISSING.';
grant execute on function valuation.refuse_faults(uuid) to service_writer;
--! EndIncluded valuation/refuse_faults.sql
--! Included valuation/create_report.sql
create or replace function valuation.create_report(reference_date date) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  newest valuation.report;
  draft valuation.report;
begin
  perform valuation.lock();
  newest := valuation.newest_report();
  if reference_date >= erp.local_date(now()) then
    perform mutation.refuse('INVALID',
      format('The day must be over: it is %s in the time zone of the merchant.', erp.local_date(now())),
      '{reference_date}');
  elsif reference_date <= newest.reference_date then
    perform mutation.refuse('PERIOD_CLOSED',
      format('Report %s closed the period up to %s.', newest.number, newest.reference_date),
      '{reference_date}', jsonb_build_object('number', newest.number,
        'referenceDate', newest.reference_date));
  end if;
  delete from valuation.report r where r.closed_at is null;
  insert into valuation.report as r (reference_date, sequence, method, currency_code)
  select create_report.reference_date,
    greatest(valuation.cut(create_report.reference_date), newest.sequence),
    valuation.method_on(create_report.reference_date),
    coalesce((select c.iso_code from erp.currency c where c.is_default_currency), 'XXX')
  returning r.* into draft;
  perform valuation.fill_report(draft, false);
  return draft.id;
end
$$;
comment on function valuation.create_report(date) is
  'Makes the draft of a stock valuation report for a day that is over and that no report has closed. It '
  'replaces the draft that is there. Returns its id. User errors INVALID, PERIOD_CLOSED.';
grant execute on function valuation.create_report(date) to service_writer;
--! EndIncluded valuation/create_report.sql
--! Included valuation/close_report.sql
create or replace function valuation.close_report(report_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  target valuation.report;
  newest valuation.report;
begin
  perform valuation.lock();
  select * into target from valuation.report r where r.id = report_id;
  if not found then
    perform mutation.refuse_missing('stock valuation report', '{id}');
  elsif target.closed_at is not null then
    perform mutation.refuse('PERIOD_CLOSED', format('Report %s is closed already.', target.number), '{id}');
  end if;
  -- Prices may have changed since the draft was made, and movements may have been numbered
  newest := valuation.newest_report();
  target.sequence := greatest(valuation.cut(target.reference_date), newest.sequence);
  target.method := valuation.method_on(target.reference_date);
  perform valuation.empty_report(target.id);
  perform valuation.fill_report(target, true);
  perform valuation.refuse_faults(target.id);

  target.number := coalesce((select max(r.number) from valuation.report r), 0) + 1;
  target.closed_at := date_trunc('second', now());
  target.previous_hash := (select r.hash from valuation.report r where r.number = target.number - 1);
  update valuation.report r set voided_by = target.id where r.voided_at is not null and r.voided_by is null;
  select r.quantity, r.value into target.quantity, target.value
  from valuation.report r where r.id = target.id;
  target.lines_hash := valuation.lines_hash(target.id);
  target.state_hash := valuation.state_hash(target.id);
  update valuation.report r
  set number = target.number, sequence = target.sequence, method = target.method,
    closed_at = target.closed_at, previous_hash = target.previous_hash, lines_hash = target.lines_hash,
    state_hash = target.state_hash, hash = valuation.report_hash(target)
  where r.id = target.id;
  return target.id;
end
$$;
comment on function valuation.close_report(uuid) is
  'Closes the draft of a stock valuation report: calculates it again, keeps the state that the next one '
  'continues from, numbers it and chains its hash to the report before. Locks the prices and exchange '
  'rates of the goods receipts that it counts. Returns its id. User errors NOT_FOUND, PERIOD_CLOSED, '
  'PRICE_MISSING.';
grant execute on function valuation.close_report(uuid) to service_writer;
--! EndIncluded valuation/close_report.sql
--! Included valuation/void_report.sql
create or replace function valuation.void_report(report_id uuid, reason text) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present valuation.report;
begin
  perform valuation.lock();
  select * into present from valuation.report r where r.id = report_id;
  if not found then
    perform mutation.refuse_missing('stock valuation report', '{id}');
  elsif present.closed_at is null then
    perform mutation.refuse('INVALID_STATE_TRANSITION', 'The report is a draft: make another one instead.',
      '{id}');
  elsif present.voided_at is not null then
    perform mutation.refuse('INVALID_STATE_TRANSITION', 'The report is void already.', '{id}');
  elsif exists (select from valuation.report r where r.number > present.number) then
    perform mutation.refuse('PERIOD_CLOSED',
      'Only the newest report can be declared void: later ones continue from this one.', '{id}');
  elsif erp.is_blank(reason) then
    perform mutation.refuse('REQUIRED', 'Say why the report is void.', '{reason}');
  elsif length(reason) > 1000 then
    perform mutation.refuse('OUT_OF_RANGE', 'The reason has 1,000 characters at most.', '{reason}');
  end if;
  delete from valuation.counted_receipt c where c.report_id = present.id;
  delete from valuation.report r where r.closed_at is null;
  update valuation.report r set voided_at = date_trunc('second', now()), void_reason = reason
  where r.id = present.id;
  return present.id;
end
$$;
comment on function valuation.void_report(uuid, text) is
  'Declares the newest closed report void, so that its period is open again and the prices of its receipts '
  'can be corrected. The report stays readable, and the next one names it. Deletes the draft, which '
  'continued from it. Returns the id. User errors NOT_FOUND, INVALID_STATE_TRANSITION, PERIOD_CLOSED, '
  'REQUIRED, OUT_OF_RANGE.';
grant execute on function valuation.void_report(uuid, text) to service_writer;
--! EndIncluded valuation/void_report.sql
--! Included valuation/is_binding.sql
create or replace function valuation.is_binding(report valuation.report) returns boolean
language sql stable
return (report).closed_at is not null and (report).voided_at is null
  and extract(year from (report).reference_date) + 10 >= extract(year from now());
comment on function valuation.is_binding(valuation.report) is
  'Whether what a report counts must be kept: it is closed and not void, and the ten years after the year '
  'of its day have not passed (section 147 AO).';
grant execute on function valuation.is_binding(valuation.report) to service_writer, service_keeper;
--! EndIncluded valuation/is_binding.sql
--! Included valuation/is_counted.sql
create or replace function valuation.is_counted(goods_receipt_id uuid) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select exists (
    select from valuation.counted_receipt c left join valuation.report r on r.id = c.report_id
    where c.goods_receipt_id = is_counted.goods_receipt_id
      and (c.report_id is null or valuation.is_binding(r))
  );
end;
comment on function valuation.is_counted(uuid) is
  'Whether a closed stock valuation report counts a goods receipt, so that its prices are final.';
grant execute on function valuation.is_counted(uuid) to service_writer, service_keeper;
--! EndIncluded valuation/is_counted.sql
--! Included valuation/await_closing.sql
create or replace function valuation.await_closing(goods_receipt_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (
    select from erp.goods_receipt r
    where r.id = goods_receipt_id and r.state not in ('draft', 'created')
  ) then
    perform valuation.lock_shared();
  end if;
end
$$;
comment on function valuation.await_closing(uuid) is
  'Waits while a stock valuation report is being closed, which may count the receipt, and keeps others from '
  'closing one until the end of the transaction. Receipts whose goods are not there yet wait for nothing.';
grant execute on function valuation.await_closing(uuid) to service_writer, service_keeper;
--! EndIncluded valuation/await_closing.sql
--! Included valuation/keep_report.sql
create or replace function valuation.keep_report() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    if extract(year from old.reference_date) + 10 >= extract(year from now()) then
      raise exception 'Report % must be kept until the end of %.', old.number,
        extract(year from old.reference_date) + 10 using errcode = 'restrict_violation';
    end if;
    return old;
  end if;
  if old.voided_by is not null
    or to_jsonb(new) - '{voided_at,void_reason,voided_by}'::text[]
      is distinct from to_jsonb(old) - '{voided_at,void_reason,voided_by}'::text[]
    or old.voided_at is not null and (new.voided_at, new.void_reason)
      is distinct from (old.voided_at, old.void_reason) then
    raise exception 'Report % is closed and cannot be changed.', old.number
      using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
comment on function valuation.keep_report() is
  'Trigger before a closed report is updated or deleted, by any role. It can only become void, once. It can '
  'be deleted ten years after the year of its day.';
--! EndIncluded valuation/keep_report.sql
--! Included valuation/keep_report_parts.sql
create or replace function valuation.keep_report_parts() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (
    select from (select distinct c.report_id from changed c) c
    join valuation.report r on r.id = c.report_id where r.closed_at is not null
  ) then
    raise exception 'A closed report cannot be changed.' using errcode = 'restrict_violation';
  end if;
  return null;
end
$$;
comment on function valuation.keep_report_parts() is
  'Trigger after parts of reports were inserted, updated or deleted, by any role: refuses it if their '
  'report is closed.';
--! EndIncluded valuation/keep_report_parts.sql
--! Included valuation/keep_counted.sql
create or replace function valuation.keep_counted() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  counted integer;
begin
  -- Orders, returns and receipts are places that goods went to
  execute format('select max(r.number) from valuation.%s c join valuation.report r on r.id = c.report_id '
    'where c.%s and valuation.is_binding(r)', case tg_table_name when 'product' then 'report_product'
    when 'warehouse' then 'report_warehouse' else 'report_outside' end,
    case tg_table_name when 'product' then 'product_id = $1' when 'warehouse' then 'warehouse_id = $1'
    else 'place = $1::text' end)
  into counted using old.id;
  if counted is not null then
    perform mutation.refuse('REFERENCE_IN_USE',
      format('Stock valuation report %s counts it, and must stay comprehensible.', counted), '{id}');
  end if;
  return old;
end
$$;
comment on function valuation.keep_counted() is
  'Trigger before a product, warehouse, order, return order or goods receipt is deleted, by any role: '
  'refuses it if a closed stock valuation report counts it. User error REFERENCE_IN_USE.';
--! EndIncluded valuation/keep_counted.sql
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
      'A closed stock valuation report counts with this line of a goods receipt.', '{unit_price}');
  end if;
  return case tg_op when 'DELETE' then old else new end;
end
$$;
comment on function valuation.keep_prices() is
  'Trigger before a line of a goods receipt is deleted, or its price, tax rate, quantity or product '
  'changes. Refuses it to every role if a closed stock valuation report counts the receipt. User error '
  'PERIOD_CLOSED.';
--! EndIncluded valuation/keep_prices.sql
--! Included valuation/keep_lines.sql
create or replace function valuation.keep_lines() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if exists (
    select from (select distinct c.goods_receipt_id from changed c) c
    where valuation.is_counted(c.goods_receipt_id)
  ) then
    perform mutation.refuse('PERIOD_CLOSED',
      'A closed stock valuation report counts this goods receipt.', '{goods_receipt_id}');
  end if;
  return null;
end
$$;
comment on function valuation.keep_lines() is
  'Trigger after lines of goods receipts were inserted, by any role: refuses it if a closed stock valuation '
  'report counts the receipt. User error PERIOD_CLOSED.';
--! EndIncluded valuation/keep_lines.sql
--! Included valuation/keep_tax_status.sql
create or replace function valuation.keep_tax_status() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform valuation.await_closing(old.id);
  if valuation.is_counted(old.id) then
    perform mutation.refuse('PERIOD_CLOSED',
      'A closed stock valuation report counts with the prices of this goods receipt.', '{tax_status}');
  end if;
  return new;
end
$$;
comment on function valuation.keep_tax_status() is
  'Trigger before the tax status or type of a goods receipt changes, by any role: refuses it if a closed '
  'stock valuation report counts the receipt. User error PERIOD_CLOSED.';
--! EndIncluded valuation/keep_tax_status.sql
--! Included erp/keep_currency_factor.sql
create or replace function erp.keep_currency_factor() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform valuation.await_closing(new.id);
  if valuation.is_counted(new.id) then
    perform mutation.refuse(
      'CURRENCY_FACTOR_LOCKED', 'A stock valuation report uses this exchange rate.',
      '{currency_factor}'
    );
  end if;
  update erp.goods_receipt_line_item l
  set unit_price_in_default_currency = erp.in_default_currency(l.unit_price, new.currency_factor)
  where l.goods_receipt_id = new.id and l.unit_price is not null;
  return null;
end
$$;
comment on function erp.keep_currency_factor() is
  'Trigger after the exchange rate of a goods receipt changed: refuses the change if a stock valuation '
  'report uses the rate, and converts the lines again.';
--! EndIncluded erp/keep_currency_factor.sql

create or replace trigger keep_report before update or delete on valuation.report
for each row when (old.closed_at is not null) execute function valuation.keep_report();
do $$
declare
  part text;
  operation text;
begin
  foreach part in array array['report_product', 'report_warehouse', 'report_outside', 'report_cost',
    'report_late_entry'] loop
    foreach operation in array array['insert', 'update', 'delete'] loop
      execute format('create or replace trigger keep_report_parts_on_%s after %1$s on valuation.%I '
        'referencing %s table as changed for each statement execute function valuation.keep_report_parts()',
        operation, part, case operation when 'delete' then 'old' else 'new' end);
    end loop;
  end loop;
end
$$;
create or replace trigger keep_counted before delete on erp.product
for each row execute function valuation.keep_counted();
create or replace trigger keep_counted before delete on erp.warehouse
for each row execute function valuation.keep_counted();
create or replace trigger keep_counted before delete on erp.sales_order
for each row execute function valuation.keep_counted();
create or replace trigger keep_counted before delete on erp.return_order
for each row execute function valuation.keep_counted();
create or replace trigger keep_counted before delete on erp.goods_receipt
for each row execute function valuation.keep_counted();

create or replace trigger keep_prices_on_update before update of unit_price, unit_price_in_default_currency,
  tax_rate, quantity, product_id, goods_receipt_id on erp.goods_receipt_line_item
for each row when ((new.unit_price, new.tax_rate, new.quantity, new.product_id, new.goods_receipt_id)
  is distinct from (old.unit_price, old.tax_rate, old.quantity, old.product_id, old.goods_receipt_id)
  or new.unit_price_in_default_currency <> old.unit_price_in_default_currency)
execute function valuation.keep_prices();
create or replace trigger keep_prices_on_delete before delete on erp.goods_receipt_line_item
for each row execute function valuation.keep_prices();
create or replace trigger keep_prices_on_insert after insert on erp.goods_receipt_line_item
referencing new table as changed for each statement execute function valuation.keep_lines();
create or replace trigger keep_tax_status before update of tax_status, type on erp.goods_receipt
for each row when ((new.tax_status, new.type) is distinct from (old.tax_status, old.type))
execute function valuation.keep_tax_status();

-- waive drops-data: valuation.counted_receipt has the receipts; only a trigger read them, which is replaced
drop table if exists erp.stock_valuation_report_goods_receipt, erp.stock_valuation_report;

-- Money is a Float, as in the types around it
do $$
declare
  words text;
begin
  select string_agg(w, ' ' order by w collate "C") into words from (
    select regexp_split_to_table(
      substring(obj_description('api_unstable'::regnamespace, 'pg_namespace')
        from '(?n)^@floats +(.*)$'), ' +')
    union select unnest('{stock_valuation_reports,stock_valuation_report_lines,stock_value,
      stock_valuation_report_late_entries}'::text[])
  ) f (w);
  execute format('comment on schema api_unstable is %L', regexp_replace(
    obj_description('api_unstable'::regnamespace, 'pg_namespace'), '(?n)^@floats.*$', '@floats ' || words));
end
$$;
--! Included valuation/proof.sql
-- Figures of closed reports beside what follows from their lines, from the report before and from the ledger.
-- Empty while they are right.
create or replace view valuation.proof with (security_invoker = true) as
with
report as (
  select r.id, r.number, r.sequence, r.voided_at is null as is_valid, r as stored,
    row_number() over (order by r.number) as place, lag(r.hash) over (order by r.number) as hash_before,
    row (r.method, b.id, b.number, coalesce(b.sequence, 0), b.reference_date, r.sequence, r.reference_date,
      null)::valuation.run as run
  from valuation.report r
  left join lateral (
    select b.* from valuation.report b
    where b.closed_at is not null and b.voided_at is null and b.number < r.number
    order by b.number desc limit 1
  ) b on true
  where r.closed_at is not null
),
entry as materialized (
  select r.id as report_id, e.*
  from report r cross join lateral valuation.entries(r.run, true) e
  where r.is_valid and e.type in ('state', 'cost')
),
-- Without what was deleted since, which is only possible long after
product as (
  select s.* from valuation.report_product s
  join report r on r.id = s.report_id and r.is_valid join erp.product p on p.id = s.product_id
),
cost as (
  select c.* from valuation.report_cost c
  join report r on r.id = c.report_id and r.is_valid
  join ledger.stock_movement m on m.id = c.stock_movement_id
),
newest as (select r.id, r.sequence from report r where r.is_valid order by r.number desc limit 1),
balance as (
  select f.product_id, sum(f.quantity) as quantity
  from newest n
  join ledger.movement_sequence s on s.sequence <= n.sequence
  join ledger.flow f on f.movement_id = s.movement_id
  where f.location_type_technical_name in ('warehouse', 'bin_location', 'stock_container')
  group by f.product_id
),
figures (figure, id, stored, expected) as (
  select 'report.number', r.id::text, r.number::text, r.place::text from report r
  union all select 'report.previous_hash', r.id::text, (r.stored).previous_hash, r.hash_before from report r
  union all select 'report.lines_hash', r.id::text, (r.stored).lines_hash, valuation.lines_hash(r.id)
    from report r
  union all select 'report.state_hash', r.id::text, (r.stored).state_hash, valuation.state_hash(r.id)
    from report r
  union all select 'report.hash', r.id::text, (r.stored).hash, valuation.report_hash(r.stored) from report r
  union all select 'report.value', r.id::text, round((r.stored).value, 2)::text,
    round(coalesce(sum(w.amount), 0), 2)::text
    from report r left join valuation.report_warehouse w on w.report_id = r.id group by r.id, r.stored
  union all select 'report.quantity', r.id::text, (r.stored).quantity::text,
    coalesce(sum(w.quantity), 0)::text
    from report r left join valuation.report_warehouse w on w.report_id = r.id group by r.id, r.stored
  union all select 'report_product.shares', p.report_id || ' ' || p.product_id, round(p.value, 6)::text,
    round(sum(w.value), 6)::text
    from product p join valuation.report_warehouse w on w.report_id = p.report_id
      and w.product_id = p.product_id
    group by p.report_id, p.product_id, p.value
  union all select 'report_product.quantity', coalesce(p.product_id, b.product_id)::text,
    coalesce(p.quantity, 0)::text, coalesce(b.quantity, 0)::text
    from (select p.* from product p join newest n on n.id = p.report_id) p
    full join balance b on b.product_id = p.product_id
  union all select 'report_product.value',
    coalesce(p.report_id, e.report_id) || ' ' || coalesce(p.product_id, e.product_id),
    concat_ws(' ', coalesce(p.quantity, 0), round(coalesce(p.value, 0), 6), p.layers),
    concat_ws(' ', coalesce(e.quantity, 0), round(coalesce(e.value, 0) / 1000000.0, 6), e.layers)
    from product p
    full join (select e.* from entry e where e.type = 'state') e
      on e.report_id = p.report_id and e.product_id = p.product_id
  union all select 'report_cost.value',
    coalesce(c.report_id, e.report_id) || ' ' || coalesce(c.stock_movement_id, e.stock_movement_id),
    round(coalesce(c.value, 0), 6)::text, round(coalesce(e.value, 0) / 1000000.0, 6)::text
    from cost c
    full join (select e.* from entry e where e.type = 'cost') e
      on e.report_id = c.report_id and e.stock_movement_id = c.stock_movement_id
)
select figure, id, stored, expected from figures where stored is distinct from expected;
comment on view valuation.proof is
  'Figures of closed reports that differ from their lines, from the ledger, from the report before and what '
  'happened since, and hashes that do not fit. Must always be empty.';
--! EndIncluded valuation/proof.sql
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
    'NOT_EDITABLE',
  'INSUFFICIENT_STOCK', 'QUANTITY_CHANGED', 'OVER_RECEIPT', 'OVER_FULFILLMENT', 'BATCH_REQUIRED',
    'BATCH_MISMATCH',
  'WAREHOUSE_NOT_EMPTY', 'REFERENCE_IN_USE', 'CURRENCY_FACTOR_LOCKED', 'EXTERNALLY_MANAGED', 'ON_HOLD',
  'IDEMPOTENCY_KEY_MISMATCH', 'TOO_MANY_LINES', 'URL_FORBIDDEN', 'SCOPE_MISSING',
  'PRODUCT_HAS_VARIANTS', 'SUPPLIER_MISMATCH', 'SUPPLIER_INACTIVE', 'TOO_MANY_SUBSCRIPTIONS', 'BATCH_HELD',
  'BATCH_EXPIRED', 'SERIAL_NUMBER_IN_STOCK', 'PERIOD_CLOSED', 'PRICE_MISSING',
  'METHOD_CHANGE_IN_CLOSED_PERIOD');
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
  '@value BATCH_MISMATCH The batch is of another product.\n'
  '@value WAREHOUSE_NOT_EMPTY The warehouse or bin still holds stock. Field details has the quantity.\n'
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
  '@value BATCH_EXPIRED The best-before date of the batch has passed. Field details has it.\n'
  '@value PERIOD_CLOSED A closed stock valuation report counts it.\n'
  '@value PRICE_MISSING Units in stock have no value: a price is missing. Field details has the first '
  'ones.\n'
  '@value METHOD_CHANGE_IN_CLOSED_PERIOD A closed stock valuation report covers the day. Field details has '
  'its number and day.\n'
  'The code of a user error. A version only shows codes that it lists: later ones appear as INVALID.';
--! EndIncluded api/user_error_code.sql
--! Included api/stock_valuation_reports.sql
create view api_unstable.stock_valuation_reports with (security_invoker = true) as
select id, number, reference_date, sequence, method, currency_code, quantity, value, fault_count,
  late_entry_count, created_at, closed_at, voided_at, void_reason, voided_by, hash, previous_hash,
  lines_hash, state_hash
from valuation.report;
comment on view api_unstable.stock_valuation_reports is $$
@primaryKey id
@requiresScopes valuation:read
@columnEnum method valuation_method
@filters number,reference_date,closed_at,voided_at
@foreignKey (voided_by) references stock_valuation_reports (id)|@fieldName successor
The value of the stock at the end of a day. A report without closedAt is a draft. A closed one is never
changed; it can become void.$$;
--! EndIncluded api/stock_valuation_reports.sql
--! Included api/stock_valuation_report_lines.sql
create view api_unstable.stock_valuation_report_lines with (security_invoker = true) as
select id, report_id, product_id, product_number, warehouse_id, warehouse_code, quantity, unit_cost,
  amount as value
from valuation.report_warehouse;
comment on view api_unstable.stock_valuation_report_lines is $$
@primaryKey id
@requiresScopes valuation:read
@filters report_id,product_id,warehouse_id
@foreignKey (report_id) references stock_valuation_reports (id)|@fieldName report|@foreignFieldName lines
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (warehouse_id) references warehouses (id)|@fieldName warehouse
The units of a product in a warehouse, and their part of the value of the product.$$;
comment on column api_unstable.stock_valuation_report_lines.value is
  E'@notNull\nValue in cents. The lines add up to the value of the report: all are rounded down, and those '
  'that lose most get a cent more.';
--! EndIncluded api/stock_valuation_report_lines.sql
--! Included api/stock_valuation_report_faults.sql
create view api_unstable.stock_valuation_report_faults with (security_invoker = true) as
select id, report_id, code, product_id, stock_movement_id, goods_receipt_id from valuation.report_fault;
comment on view api_unstable.stock_valuation_report_faults is $$
@primaryKey id
@requiresScopes valuation:read
@filters report_id,product_id,goods_receipt_id
@foreignKey (report_id) references stock_valuation_reports (id)|@fieldName report|@foreignFieldName faults
@foreignKey (product_id) references products (id)|@fieldName product
@foreignKey (stock_movement_id) references stock_movements (id)|@fieldName stockMovement
@foreignKey (goods_receipt_id) references goods_receipts (id)|@fieldName goodsReceipt
Units without a value, which keep a draft from being closed. A draft lists 10,000 at most.$$;
--! EndIncluded api/stock_valuation_report_faults.sql
--! Included api/stock_valuation_report_late_entries.sql
create view api_unstable.stock_valuation_report_late_entries with (security_invoker = true) as
select id, report_id, product_id, stock_movement_id, day, quantity, value from valuation.report_late_entry;
comment on view api_unstable.stock_valuation_report_late_entries is
  E'@primaryKey id\n'
  '@requiresScopes valuation:read\n'
  '@filters report_id,product_id\n'
  '@foreignKey (report_id) references stock_valuation_reports (id)|@fieldName report|'
  '@foreignFieldName lateEntries\n'
  '@foreignKey (product_id) references products (id)|@fieldName product\n'
  '@foreignKey (stock_movement_id) references stock_movements (id)|@fieldName stockMovement\n'
  'A movement that this report counts although it belongs to a day that was closed before.';
--! EndIncluded api/stock_valuation_report_late_entries.sql
--! Included api/stock_valuation_report_payload.sql
drop type if exists api_unstable.stock_valuation_report_payload cascade;
create type api_unstable.stock_valuation_report_payload
  as (stock_valuation_report uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.stock_valuation_report_payload is
  'The result of a mutation of a stock valuation report.';
comment on column api_unstable.stock_valuation_report_payload.stock_valuation_report is
  E'@entity StockValuationReport\nThe report; null when it was refused.';
comment on column api_unstable.stock_valuation_report_payload.user_errors is
  'Why nothing was changed; empty when it was.';
--! EndIncluded api/stock_valuation_report_payload.sql
--! Included api/stock_valuation_report_create.sql
drop type if exists api_unstable.stock_valuation_report_create_input cascade;
create type api_unstable.stock_valuation_report_create_input as (reference_date date);
comment on type api_unstable.stock_valuation_report_create_input is 'A draft to make.';
comment on column api_unstable.stock_valuation_report_create_input.reference_date is
  E'@notNull\nThe day at whose end the stock is valued, in the time zone of the merchant. It is over, and '
  'comes after the day of the newest closed report.';

create function api_unstable.stock_valuation_report_create(
  input api_unstable.stock_valuation_report_create_input
)
returns api_unstable.stock_valuation_report_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (valuation.create_report(input.reference_date), null)
    ::api_unstable.stock_valuation_report_payload
$$;
comment on function api_unstable.stock_valuation_report_create(
  api_unstable.stock_valuation_report_create_input
) is
  E'@requiresScopes valuation:write\n'
  '@userErrors INVALID PERIOD_CLOSED\n'
  'Makes the draft of a stock valuation report. There is one draft at most: it replaces the one before. A '
  'draft shows values and faults as of when it was made; make it again after you corrected prices.';
--! EndIncluded api/stock_valuation_report_create.sql
--! Included api/stock_valuation_report_close.sql
drop type if exists api_unstable.stock_valuation_report_close_input cascade;
create type api_unstable.stock_valuation_report_close_input as (id uuid);
comment on type api_unstable.stock_valuation_report_close_input is 'A draft to close.';
comment on column api_unstable.stock_valuation_report_close_input.id is
  E'@notNull\n@gid StockValuationReport\nId of the draft.';

create function api_unstable.stock_valuation_report_close(
  input api_unstable.stock_valuation_report_close_input
)
returns api_unstable.stock_valuation_report_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (valuation.close_report(input.id), null)::api_unstable.stock_valuation_report_payload
$$;
comment on function api_unstable.stock_valuation_report_close(
  api_unstable.stock_valuation_report_close_input
) is
  E'@requiresScopes valuation:write\n'
  '@userErrors NOT_FOUND PERIOD_CLOSED PRICE_MISSING\n'
  'Closes a draft, after it was calculated again. The report gets a number and a hash, and is never changed '
  'again. Prices and exchange rates of the goods receipts that it counts can no longer be changed, and '
  'products, warehouses, orders and receipts that it counts can no longer be deleted.';
--! EndIncluded api/stock_valuation_report_close.sql
--! Included api/stock_valuation_report_void.sql
drop type if exists api_unstable.stock_valuation_report_void_input cascade;
create type api_unstable.stock_valuation_report_void_input as (id uuid, reason text);
comment on type api_unstable.stock_valuation_report_void_input is 'A closed report to declare void.';
comment on column api_unstable.stock_valuation_report_void_input.id is
  E'@notNull\n@gid StockValuationReport\nId of the newest closed report.';
comment on column api_unstable.stock_valuation_report_void_input.reason is
  E'@notNull\nWhy it is void; at most 1,000 characters.';

create function api_unstable.stock_valuation_report_void(
  input api_unstable.stock_valuation_report_void_input
)
returns api_unstable.stock_valuation_report_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (valuation.void_report(input.id, input.reason), null)
    ::api_unstable.stock_valuation_report_payload
$$;
comment on function api_unstable.stock_valuation_report_void(
  api_unstable.stock_valuation_report_void_input
) is
  E'@requiresScopes valuation:write\n'
  '@userErrors NOT_FOUND INVALID_STATE_TRANSITION PERIOD_CLOSED REQUIRED OUT_OF_RANGE\n'
  'Declares the newest report void, so that its period is open again. Prices that only it counted can be '
  'corrected, and then a successor is closed. The report stays readable, with its hash.';
--! EndIncluded api/stock_valuation_report_void.sql
--! Included valuation/stock_value.sql
create or replace function valuation.stock_value(
  day date, upto bigint, wanted text, warehouse_id uuid, products uuid[],
  out method text, out sequence bigint, out quantity bigint, out value numeric, out fault_count bigint
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan as $$
declare
  last_day constant date := coalesce(day, erp.local_date(now()));
  run valuation.run;
begin
  if not auth.has_scope('valuation:read') then
    return;
  end if;
  run := valuation.run_of(coalesce(wanted, valuation.method_on(last_day)),
    coalesce(upto, valuation.cut(last_day)), products, case when upto is null then last_day end);
  method := run.method;
  sequence := run.upto;
  select coalesce(sum(e.quantity) filter (where e.type = 'state'), 0),
    coalesce(sum(e.value) filter (where e.type = 'state'), 0) * 0.000001,
    count(*) filter (where e.type = 'fault')
  into quantity, value, fault_count from valuation.entries(run, false) e;
  if warehouse_id is not null then
    select coalesce(sum(s.quantity), 0), coalesce(sum(s.value), 0) into quantity, value
    from valuation.shares(run.method, run.upto, run.products, run.day) s
    where s.warehouse_id = stock_value.warehouse_id;
  end if;
end
$$;
comment on function valuation.stock_value(date, bigint, text, uuid, uuid[]) is
  'Returns the units and their value at the end of a day, or up to a number of the ledger; by default now. '
  'Of one warehouse if it is given, and of the given products, or all. Without a method, the day has its '
  'own. Empty without the scope valuation:read.';
select api_meta.give('valuation.stock_value(date, bigint, text, uuid, uuid[])', 'service_writer');
revoke execute on function valuation.stock_value(date, bigint, text, uuid, uuid[]) from public;
grant execute on function valuation.stock_value(date, bigint, text, uuid, uuid[]) to service_api;
--! EndIncluded valuation/stock_value.sql
--! Included valuation/product_value.sql
create or replace function valuation.product_value(
  product_id uuid, day date, upto bigint, wanted text, warehouse_id uuid,
  out method text, out sequence bigint, out quantity bigint, out value numeric, out fault_count bigint
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  select v.* into method, sequence, quantity, value, fault_count
  from valuation.stock_value(day, upto, wanted, warehouse_id, array[product_id]) v;
end
$$;
comment on function valuation.product_value(uuid, date, bigint, text, uuid) is
  'Returns the same as valuation.stock_value of one product, whose movements are looked up by index.';
select api_meta.give('valuation.product_value(uuid, date, bigint, text, uuid)', 'service_writer');
select api_meta.plan_by_index('valuation.product_value(uuid, date, bigint, text, uuid)');
revoke execute on function valuation.product_value(uuid, date, bigint, text, uuid) from public;
grant execute on function valuation.product_value(uuid, date, bigint, text, uuid) to service_api;
--! EndIncluded valuation/product_value.sql
--! Included valuation/cost_of_order.sql
create or replace function valuation.cost_of_order(order_id uuid) returns numeric
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  method constant text := valuation.method_on(erp.local_date(now()));
  upto constant bigint := (
    select s.sequence from ledger.movement_sequence s order by s.sequence desc limit 1
  );
  products constant uuid[] := array(
    select s.product_id from ledger.stock s where s.order_id = cost_of_order.order_id
  );
begin
  if not auth.has_scope('valuation:read') or exists (
    select from ledger.stock_movement m where m.destination_order_id = cost_of_order.order_id
      and not exists (select from ledger.movement_sequence s where s.movement_id = m.id)
  ) or exists (select from valuation.faults(method, upto, products)) then
    return null;
  end if;
  return (
    select coalesce(sum(coalesce(o.value, c.value)), 0)
    from (
      select * from valuation.outside(method, upto, products) o where o.place = cost_of_order.order_id::text
    ) o
    full join (
      select distinct on (c.product_id) c.product_id, c.value
      from valuation.report_outside c join valuation.report r on r.id = c.report_id and r.voided_at is null
      where c.place = cost_of_order.order_id::text
      order by c.product_id, r.number desc
    ) c using (product_id)
  );
end
$$;
comment on function valuation.cost_of_order(uuid) is
  'Returns the value of the goods that an order has received and kept, in the default currency. Null while '
  'units have no value yet, or were shipped a moment ago and have no number in the ledger, and without the '
  'scope valuation:read.';
select api_meta.give('valuation.cost_of_order(uuid)', 'service_writer');
select api_meta.plan_by_index('valuation.cost_of_order(uuid)');
revoke execute on function valuation.cost_of_order(uuid) from public;
grant execute on function valuation.cost_of_order(uuid) to service_api;
--! EndIncluded valuation/cost_of_order.sql
--! Included valuation/margin_of_order.sql
create or replace function valuation.margin_of_order(order_id uuid) returns numeric
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  present erp.sales_order;
  factor numeric;
begin
  select * into present from erp.sales_order o where o.id = order_id;
  if present.amount_net is null or exists (
    select from erp.sales_order_line_item l
    where l.order_id = present.id and l.product_id is not null and l.shipped_quantity < l.quantity
  ) then
    return null;
  end if;
  select r.factor into factor
  from erp.exchange_rate_of(present.id, erp.local_date(present.order_date_time)) r;
  return erp.in_default_currency(present.amount_net, factor) - valuation.cost_of_order(present.id);
end
$$;
comment on function valuation.margin_of_order(uuid) is
  'Returns the net amount of an order less the cost of its goods, in the default currency. Null until all '
  'its products are shipped, and while the cost is not known.';
select api_meta.give('valuation.margin_of_order(uuid)', 'service_writer');
select api_meta.plan_by_index('valuation.margin_of_order(uuid)');
revoke execute on function valuation.margin_of_order(uuid) from public;
grant execute on function valuation.margin_of_order(uuid) to service_api;
--! EndIncluded valuation/margin_of_order.sql
--! Included valuation/cost_of_fulfillment.sql
create or replace function valuation.cost_of_fulfillment(fulfillment_id uuid) returns numeric
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  method constant text := valuation.method_on(erp.local_date(now()));
  upto constant bigint := (
    select s.sequence from ledger.movement_sequence s order by s.sequence desc limit 1
  );
  movements uuid[];
  products uuid[];
  closed numeric;
  is_complete boolean;
begin
  if not auth.has_scope('valuation:read') then
    return null;
  end if;
  select array_agg(m.id) filter (where c.value is null), array_agg(distinct m.product_id), sum(- c.value)
  into movements, products, closed
  from erp.fulfillment_line_item l
  join erp.fulfillment_stock_movement f on f.fulfillment_line_item_id = l.id
  join ledger.stock_movement m on m.id = f.stock_movement_id
  left join lateral (
    select c.value from valuation.report_cost c join valuation.report r on r.id = c.report_id
    where c.stock_movement_id = m.id and r.closed_at is not null and r.voided_at is null
  ) c on true
  where l.fulfillment_id = cost_of_fulfillment.fulfillment_id;
  if movements is null then
    return closed;
  elsif exists (select from valuation.faults(method, upto, products)) then
    return null;
  end if;
  select coalesce(closed, 0) - sum(c.value), count(*) = cardinality(movements)
  into closed, is_complete
  from valuation.costs(method, upto, products) c where c.stock_movement_id = any (movements);
  return case when is_complete then closed end;
end
$$;
comment on function valuation.cost_of_fulfillment(uuid) is
  'Returns the value at which the goods of a fulfillment left the stock, in the default currency. Null for '
  'fulfillments without movements, while units have no value yet, and without the scope valuation:read.';
select api_meta.give('valuation.cost_of_fulfillment(uuid)', 'service_writer');
select api_meta.plan_by_index('valuation.cost_of_fulfillment(uuid)');
revoke execute on function valuation.cost_of_fulfillment(uuid) from public;
grant execute on function valuation.cost_of_fulfillment(uuid) to service_api;
--! EndIncluded valuation/cost_of_fulfillment.sql
--! Included api/stock_valuation.sql
drop type if exists api_unstable.stock_value cascade;
create type api_unstable.stock_value as (
  method api_unstable.valuation_method, sequence bigint, quantity bigint, value numeric, fault_count bigint
);
comment on type api_unstable.stock_value is
  'Units in stock and what they are worth, in the default currency.';
comment on column api_unstable.stock_value.method is E'@notNull\nThe method by which they are valued.';
comment on column api_unstable.stock_value.sequence is
  E'@notNull\nThe number of the ledger up to which movements are counted.';
comment on column api_unstable.stock_value.quantity is
  E'@notNull\nUnits in warehouses, bins and containers.';
comment on column api_unstable.stock_value.value is E'@notNull\nTheir value, with six decimals.';
comment on column api_unstable.stock_value.fault_count is
  E'@notNull\nHow often units came in without a price. Unless it is 0, the value is too low.';

create function api_unstable.stock_valuation(
  day date default null, sequence double precision default null, warehouse_id uuid default null,
  method api_unstable.valuation_method default null
)
returns api_unstable.stock_value
language sql stable begin atomic
  select row (v.method::api_unstable.valuation_method, v.sequence, v.quantity, v.value, v.fault_count)
    ::api_unstable.stock_value
  from valuation.stock_value(
    day, stock_valuation.sequence::bigint, stock_valuation.method::text, warehouse_id, null
  ) v;
end;
comment on function api_unstable.stock_valuation(
  date, double precision, uuid, api_unstable.valuation_method
) is $$
@requiresScopes valuation:read
@gid warehouse_id Warehouse
@describe day The day at whose end the stock is valued. By default now.
@describe sequence The number of the last movement that counts, instead of a day.
@describe warehouse_id Only what lies in this warehouse: its share of the value of each product.
@describe method The method, if not the one of the day.
The value of the whole stock. For lists by product and warehouse, make the draft of a report.$$;
--! EndIncluded api/stock_valuation.sql
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
@requiresScopes valuation:read
@gid warehouse_id Warehouse
@describe day The day at whose end the stock is valued. By default now.
@describe sequence The number of the last movement that counts, instead of a day.
@describe warehouse_id Only what lies in this warehouse: its share of the value.
@describe method The method, if not the one of the day.
The value of the stock of the product.$$;
--! EndIncluded api/products_stock_value.sql
--! Included api/orders_cost_of_goods.sql
create function api_unstable.orders_cost_of_goods("order" api_unstable.orders) returns double precision
language sql stable
return valuation.cost_of_order("order".id)::double precision;
comment on function api_unstable.orders_cost_of_goods(api_unstable.orders) is $$
@requiresScopes valuation:read
The cost of the goods that the order has received and kept, in the default currency. Null while a price is
missing, and in the moment after a shipment.$$;
--! EndIncluded api/orders_cost_of_goods.sql
--! Included api/orders_margin.sql
create function api_unstable.orders_margin("order" api_unstable.orders) returns double precision
language sql stable
return valuation.margin_of_order("order".id)::double precision;
comment on function api_unstable.orders_margin(api_unstable.orders) is $$
@requiresScopes valuation:read
The net amount of the order less the cost of its goods, in the default currency. Null until all products are
shipped and their cost is known.$$;
--! EndIncluded api/orders_margin.sql
--! Included api/fulfillments_cost_of_goods.sql
create function api_unstable.fulfillments_cost_of_goods(fulfillment api_unstable.fulfillments)
returns double precision
language sql stable
return valuation.cost_of_fulfillment(fulfillment.id)::double precision;
comment on function api_unstable.fulfillments_cost_of_goods(api_unstable.fulfillments) is $$
@requiresScopes valuation:read
The cost of the goods that were shipped, in the default currency, also if the fulfillment was cancelled
later. Null while a price is missing, and in the moment after the shipment.$$;
--! EndIncluded api/fulfillments_cost_of_goods.sql
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
  ('Batch', 'erp.batch', 'batches', 'id'),
  ('Customer', 'erp.customer', 'customers', 'id'),
  ('Document', 'erp.document', 'documents', 'id'),
  ('ShippingLabel', 'erp.shipping_label', 'shipping_labels', 'id'),
  ('WebhookSubscription', 'events.webhook_subscription', 'webhook_subscriptions', 'id'),
  ('BulkOperation', 'bulk.operation', 'bulk_operations', 'id'),
  ('StockValuationReport', 'valuation.report', 'stock_valuation_reports', 'id')
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
    ('Batch',
      'id:Batch product_id:Product number comment best_before_date production_date supplier_lot
      physical_stock is_held held_at hold_reason'),
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
      created_at updated_at'),
    ('WebhookSubscription',
      'id:WebhookSubscription topic api_version created_at'),
    ('BulkOperation',
      'id:BulkOperation kind state resource row_count done_count created_count updated_count refused_count
      error_code error_message created_at started_at finished_at'),
    ('StockValuationReport',
      'id:StockValuationReport number reference_date sequence method currency_code quantity value hash
      previous_hash lines_hash state_hash closed_at voided_at void_reason')
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
    ('batch.created', 'Batch', 'A batch was created.', null),
    ('batch.updated', 'Batch', 'A batch or its stock was changed.', null),
    ('customer.created', 'Customer', 'A customer was created.', null),
    ('customer.updated', 'Customer', 'A customer was changed.', null),
    ('customer.deleted', 'Customer', 'A customer was deleted.', '{id,customerNumber}'),
    ('document.created', 'Document', 'A document of an order was created.', null),
    ('shipping_label.created', 'ShippingLabel', 'A shipping label was bought.', null),
    ('shipping_label.cancelled', 'ShippingLabel', 'A shipping label was cancelled.', null),
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
  ('fulfillment.created', 'insert', null, null),
  ('fulfillment.cancelled', 'update', '{state}', $$n.state = 'Cancelled'$$),
  ('stock_movement.created', 'insert', null, null),
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
  ('batch.created', 'insert', null, null),
  ('batch.updated', 'update', null, null),
  ('customer.created', 'insert', null, null),
  ('customer.updated', 'update', null, null),
  ('customer.deleted', 'delete', null, null),
  ('document.created', 'insert', null, null),
  ('shipping_label.created', 'insert', null, $$n.state = 'created'$$),
  ('shipping_label.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('bulk_operation.finished', 'update', '{state}', $$n.state in ('completed', 'failed', 'cancelled')$$),
  ('stock_valuation_report.closed', 'update', '{closed_at}', 'n.closed_at is not null'),
  ('stock_valuation_report.voided', 'update', '{voided_at}', 'n.voided_at is not null')
)
merge into events.occasion o
using d on o.topic = d.topic and o.operation = d.operation
when matched then update set columns = d.columns, condition = d.condition
when not matched
  then insert (topic, operation, columns, condition) values (d.topic, d.operation, d.columns, d.condition)
when not matched by source and o.topic in (select topic from d) then delete;
--! EndIncluded events/topics.sql
--! Included api/goods_receipt_delete.sql
drop type if exists api_unstable.goods_receipt_delete_input cascade;
create type api_unstable.goods_receipt_delete_input as (id uuid);
comment on type api_unstable.goods_receipt_delete_input is 'A goods receipt to delete.';
comment on column api_unstable.goods_receipt_delete_input.id is
  E'@notNull\n@gid GoodsReceipt\nId of the goods receipt.';

drop type if exists api_unstable.goods_receipt_delete_payload cascade;
create type api_unstable.goods_receipt_delete_payload as (
  deleted_goods_receipt_id uuid, user_errors api_unstable.user_error[], warnings api_unstable.warning[]
);
comment on type api_unstable.goods_receipt_delete_payload is 'The result of deleting a goods receipt.';
comment on column api_unstable.goods_receipt_delete_payload.deleted_goods_receipt_id is
  E'@gid GoodsReceipt\nId of the goods receipt that is gone; null when it was refused.';
comment on column api_unstable.goods_receipt_delete_payload.user_errors is
  'Why nothing was changed; empty when it was.';
comment on column api_unstable.goods_receipt_delete_payload.warnings is
  'Warnings about a call that succeeded; empty if there are none.';

create function api_unstable.goods_receipt_delete(input api_unstable.goods_receipt_delete_input)
returns api_unstable.goods_receipt_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (erp.delete_goods_receipt(input.id), null, null)::api_unstable.goods_receipt_delete_payload
$$;
comment on function api_unstable.goods_receipt_delete(api_unstable.goods_receipt_delete_input) is $$
@requiresScopes goods_receipts:write
@userErrors NOT_FOUND REFERENCE_IN_USE NOT_EDITABLE INSUFFICIENT_STOCK
Deletes a goods receipt that no stock has left yet; what was approved goes back to where it came from.$$;
--! EndIncluded api/goods_receipt_delete.sql

--! split: 170-reports.sql
-- Reports for merchants
grant usage on schema erp, ledger, valuation to service_registrar;
select api_meta.allow('service_registrar', 'erp.product', 'select (id, product_number, name)');
select api_meta.allow('service_registrar', t, 'select')
from unnest('{erp.warehouse, erp.batch, erp.goods_receipt, erp.supplier, erp.sales_order, erp.bin_location,
  erp.merchant, ledger.stock, ledger.batch_stock, ledger.warehouse_stock, ledger.stock_movement,
  ledger.stock_movement_batch, valuation.report}'::text[]) t;
--! Included valuation/product_values.sql
create or replace function valuation.product_values(day date, products uuid[])
returns table (product_id uuid, quantity bigint, value numeric, is_complete boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
  if not auth.has_scope('valuation:read') then
    return;
  end if;
  return query
  select e.product_id, coalesce(sum(e.quantity) filter (where e.type = 'state'), 0)::bigint,
    coalesce(sum(e.value) filter (where e.type = 'state'), 0) * 0.000001, bool_and(e.type <> 'fault')
  from valuation.entries(
    valuation.run_of(valuation.method_on(day), valuation.cut(day), products, day), false) e
  where e.type in ('state', 'fault') group by e.product_id;
end
$$;
comment on function valuation.product_values(date, uuid[]) is
  'Returns the units of products and their value at the end of a day, by the method of the day. A value is '
  'complete if no price is missing. Empty without the scope valuation:read.';
select api_meta.give('valuation.product_values(date, uuid[])', 'service_writer');
revoke execute on function valuation.product_values(date, uuid[]) from public;
grant execute on function valuation.product_values(date, uuid[]) to service_registrar;
--! EndIncluded valuation/product_values.sql
--! Included ledger/place_name.sql
create or replace function ledger.place_name(
  warehouse_id uuid, bin_location_id uuid, order_id uuid, goods_receipt_id uuid, special text, type text
) returns text
language sql stable
begin atomic
  select coalesce(
    (select w.code from erp.warehouse w where w.id = place_name.warehouse_id),
    (
      select w.code || ' ' || b.code from erp.bin_location b join erp.warehouse w on w.id = b.warehouse_id
      where b.id = place_name.bin_location_id
    ),
    (select 'Order ' || o.order_number from erp.sales_order o where o.id = place_name.order_id),
    (select 'Receipt ' || r.number from erp.goods_receipt r where r.id = place_name.goods_receipt_id),
    initcap(replace(special, '_', ' ')), initcap(replace(type, '_', ' ')));
end;
comment on function ledger.place_name(uuid, uuid, uuid, uuid, text, text) is
  'Returns the name of a place in reports: the code of a warehouse or bin, or the number of an order or '
  'receipt. For special and deleted places it returns their kind.';
grant execute on function ledger.place_name(uuid, uuid, uuid, uuid, text, text) to service_registrar;
--! EndIncluded ledger/place_name.sql
--! Included administration/reports.sql
create or replace function administration.reports()
returns table (name text, title text, description text, picture text, parameters jsonb, columns jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select substring(p.proname from '^report_(.*)$'), t.title,
    regexp_replace(d.description, '(?n)^@.*$\n?', '', 'g'), t.picture, c.parameters, c.columns
  from pg_proc p
  join pg_description d on d.objoid = p.oid and d.classoid = 'pg_proc'::regclass
  cross join lateral (select (regexp_match(d.description, '(?n)^@title (.*)$'))[1],
    (regexp_match(d.description, '(?n)^@picture (.*)$'))[1]) t (title, picture)
  cross join lateral (
    select coalesce(jsonb_agg(a.argument order by a.nth)
        filter (where a.mode = 'i' and a.argument ->> 'name' <> 'how_many'), '[]'),
      jsonb_agg(a.argument order by a.nth) filter (where a.mode = 't')
    from (
      select n.nth, n.mode::text as mode,
        jsonb_build_object('name', p.proargnames[n.nth], 'type', format_type(p.proallargtypes[n.nth], null),
          'hint', (regexp_match(d.description, '(?n)^@hint ' || p.proargnames[n.nth] || ' (.*)$'))[1])
      from unnest(p.proargmodes) with ordinality n (mode, nth)
    ) a (nth, mode, argument)
  ) c (parameters, columns)
  where p.pronamespace = 'administration'::regnamespace and p.proname like 'report\_%'
  order by t.title;
end
$$;
comment on function administration.reports() is
  'The reports for merchants: functions administration.report_…, with their titles, parameters and columns. '
  'Their comments have the tags @title, @hint (a parameter and its hint) and @picture (lines or flow). The '
  'last parameter, how_many, is the maximum number of rows.';
select api_meta.give('administration.reports()', 'service_registrar');
grant execute on function administration.reports() to service_administration;
--! EndIncluded administration/reports.sql
--! Included administration/report_stock.sql
create or replace function administration.report_stock(product_number text, day date, how_many integer)
returns table (product text, name text, warehouse text, units integer, units_then integer)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  moment constant timestamptz := case when day is not null then
    least(erp.end_of_day(day), ledger.settled_until(pg_current_snapshot())) end;
begin
  perform administration.require_administrator();
  -- Functions for API clients need a scope
  perform set_config('service.scopes', 'stocks:read', true);
  return query select p.product_number, p.name, w.code, s.quantity,
    case when moment is not null then ledger.quantity_as_of(p.id, null, w.id, null, moment) end
  from erp.product p join ledger.warehouse_stock s on s.product_id = p.id
  join erp.warehouse w on w.id = s.warehouse_id
  where p.product_number collate "C" ^@ coalesce(report_stock.product_number, '')
  order by p.product_number, w.code limit how_many;
end
$$;
comment on function administration.report_stock(text, date, integer) is $$
@title Stock now and then
@hint product_number The number of a product, or its beginning. Empty: all products.
@hint day A day in the past: the report adds the units at its end.
Units of products in each warehouse, now and at the end of a day.$$;
select api_meta.give('administration.report_stock(text, date, integer)', 'service_registrar');
grant execute on function administration.report_stock(text, date, integer) to service_administration;
--! EndIncluded administration/report_stock.sql
--! Included administration/report_stock_card.sql
create or replace function administration.report_stock_card(
  product_number text, warehouse_code text, batch_number text, since date, until date, how_many integer
)
returns table (
  happened_at timestamptz, process text, source text, destination text, note text, quantity integer,
  balance bigint
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  found_product constant uuid := (
    select p.id from erp.product p where p.product_number = report_stock_card.product_number
  );
  found_batch constant uuid := (
    select b.id from erp.batch b
    where b.product_id = found_product and b.number = report_stock_card.batch_number
  );
  found_warehouse constant uuid := (select w.id from erp.warehouse w where w.code = warehouse_code);
begin
  perform administration.require_administrator();
  -- Functions for API clients need a scope
  perform set_config('service.scopes', 'stocks:read batches:read', true);
  if found_product is null or num_nulls(warehouse_code, found_warehouse) = 1
    or num_nulls(batch_number, found_batch) = 1 then
    return;
  end if;
  return query select c.moment, m.process_type_technical_name,
    ledger.place_name(m.source_warehouse_id, m.source_bin_location_id, m.source_order_id,
      m.source_goods_receipt_id, m.source_special_stock_location_technical_name,
      m.source_location_type_technical_name),
    ledger.place_name(m.destination_warehouse_id, m.destination_bin_location_id,
      m.destination_order_id, m.destination_goods_receipt_id,
      m.destination_special_stock_location_technical_name, m.destination_location_type_technical_name),
    m.comment, c.quantity, c.balance
  from ledger.stock_card(found_product, null, found_warehouse, found_batch,
    (erp.end_of_day(coalesce(since, current_date - 90) - 1) + interval '1 microsecond'),
    erp.end_of_day(until) + interval '1 microsecond') c
  left join ledger.stock_movement m on m.id = c.movement_id
  order by c.moment, c.movement_id nulls first, c.direction limit how_many;
end
$$;
comment on function administration.report_stock_card(text, text, text, date, date, integer) is $$
@title Stock card
@picture lines
@hint product_number The number of the product.
@hint warehouse_code The code of a warehouse. Empty: all warehouses.
@hint batch_number The number of a batch. Empty: all units.
@hint since The first day; the first row is the balance before it. Empty: 90 days ago.
@hint until The last day. Empty: today.
Movements of a product in a period, with the balance after each.$$;
select api_meta.give('administration.report_stock_card(text, text, text, date, date, integer)',
  'service_registrar');
grant execute on function administration.report_stock_card(text, text, text, date, date, integer)
  to service_administration;
--! EndIncluded administration/report_stock_card.sql
--! Included administration/report_trace.sql
create or replace function administration.report_trace(
  product_number text, batch_number text, how_many integer
)
returns table (source text, destination text, units bigint, first_moved_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  batch erp.batch;
begin
  perform administration.require_administrator();
  select b.* into batch from erp.batch b join erp.product p on p.id = b.product_id
  where p.product_number = report_trace.product_number and b.number = report_trace.batch_number;
  if not found then
    return;
  end if;
  return query
  with leg as (
    select m.*, b.quantity as units,
      m.destination_location_type_technical_name as destination_type,
      m.source_location_type_technical_name as source_type
    from ledger.stock_movement_batch b join ledger.stock_movement m on m.id = b.stock_movement_id
    where b.batch_id = batch.id
  ),
  step (source, destination, units, moved_at) as (
    select coalesce('Receipt ' || r.number || coalesce(', ' || s.name, ''),
        initcap(replace(l.source_special_stock_location_technical_name, '_', ' '))),
      'Batch ' || batch.number, l.units, l.created_at
    from leg l left join erp.goods_receipt r on r.id = l.destination_goods_receipt_id
    left join erp.supplier s on s.id = r.supplier_id where l.source_type = 'special_stock_location'
    union all
    select 'Batch ' || batch.number, coalesce('Order ' || o.order_number, 'An order that was deleted'),
      case when l.destination_type = 'order' then l.units else - l.units end, l.created_at
    from leg l left join erp.sales_order o on o.id = coalesce(l.destination_order_id, l.source_order_id)
    where (l.destination_type = 'order') <> (l.source_type = 'order')
    union all
    select 'Batch ' || batch.number,
      case when l.source_type = 'goods_receipt' then 'Disposed of or returned'
        else initcap(replace(l.destination_special_stock_location_technical_name, '_', ' '))
          || ' (removed)' end,
      l.units, l.created_at
    from leg l where l.destination_type = 'special_stock_location'
    union all
    select 'Batch ' || batch.number, coalesce(w.code || ' ' || n.code, v.code || ', no bin',
      initcap(replace(s.location_type_technical_name, '_', ' '))), h.quantity, null
    from ledger.batch_stock h join ledger.stock s on s.id = h.stock_id
    left join erp.bin_location n on n.id = s.bin_location_id
    left join erp.warehouse w on w.id = n.warehouse_id
    left join erp.warehouse v on v.id = s.warehouse_id
    where h.batch_id = batch.id and h.quantity > 0 and s.order_id is null
  )
  select s.source, s.destination, sum(s.units), min(s.moved_at)::timestamptz
  from step s group by s.source, s.destination having sum(s.units) > 0
  order by s.source = 'Batch ' || batch.number, sum(s.units) desc, s.destination limit how_many;
end
$$;
comment on function administration.report_trace(text, text, integer) is $$
@title Trace of a batch
@picture flow
@hint product_number The number of the product.
@hint batch_number The number of the batch, or the serial number.
Receipts that the units of a batch came with, orders that got them, and places that still have some.$$;
select api_meta.give('administration.report_trace(text, text, integer)', 'service_registrar');
grant execute on function administration.report_trace(text, text, integer) to service_administration;
--! EndIncluded administration/report_trace.sql
--! Included administration/report_value.sql
create or replace function administration.report_value(product_number text, day date, how_many integer)
returns table (product text, name text, units bigint, value numeric, unit_cost numeric, prices text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  last_day constant date := coalesce(day, erp.local_date(now()));
  products uuid[];
begin
  perform administration.require_administrator();
  -- Functions for API clients need a scope
  perform set_config('service.scopes', 'valuation:read', true);
  products := array(
    select p.id from erp.product p
    where p.product_number collate "C" ^@ coalesce(report_value.product_number, '')
    order by p.product_number limit how_many
  );
  return query select p.product_number, p.name, v.quantity, erp.rounded(v.value),
    case when v.quantity > 0 then erp.rounded_price(v.value / v.quantity) end,
    case when not v.is_complete then 'missing' end
  from valuation.product_values(last_day, products) v join erp.product p on p.id = v.product_id
  where v.quantity <> 0 or v.value <> 0 or not v.is_complete
  order by p.product_number;
end
$$;
comment on function administration.report_value(text, date, integer) is $$
@title Value of the stock
@hint product_number The number of a product, or its beginning. Empty: all products.
@hint day The day at whose end the stock is valued. Empty: today, up to now.
Units of products and their value in the default currency, by the valuation method of the day.$$;
select api_meta.give('administration.report_value(text, date, integer)', 'service_registrar');
grant execute on function administration.report_value(text, date, integer) to service_administration;
--! EndIncluded administration/report_value.sql
--! Included administration/report_closed_periods.sql
create or replace function administration.report_closed_periods(how_many integer)
returns table (
  number integer, day date, method text, units bigint, value numeric, currency text, late_entries integer,
  closed_at timestamptz, voided_at timestamptz, hash text
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform administration.require_administrator();
  return query select r.number, r.reference_date, replace(r.method, '_', ' '), r.quantity::bigint, r.value,
    r.currency_code, r.late_entry_count::integer, r.closed_at::timestamptz, r.voided_at::timestamptz,
    r.hash::text
  from valuation.report r where r.closed_at is not null order by r.number desc limit how_many;
end
$$;
comment on function administration.report_closed_periods(integer) is $$
@title Closed periods
Stock valuation reports that are closed or void, with their total value, newest first.$$;
select api_meta.give('administration.report_closed_periods(integer)', 'service_registrar');
grant execute on function administration.report_closed_periods(integer) to service_administration;
--! EndIncluded administration/report_closed_periods.sql
grant execute on function ledger.quantity_as_of(uuid, text, uuid, bigint, timestamptz) to service_registrar;
grant execute on function ledger.stock_card(uuid, text, uuid, uuid, timestamptz, timestamptz)
  to service_registrar;
grant execute on function ledger.settled_until(pg_snapshot) to service_registrar;
grant execute on function erp.local_date(timestamptz) to service_registrar;
grant execute on function erp.rounded(numeric) to service_registrar;
grant execute on function erp.rounded_price(numeric) to service_registrar;

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

--!include api/product_tracking.sql
--!include api/pick_order.sql
drop view if exists api_unstable.products;

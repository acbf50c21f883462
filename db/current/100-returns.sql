-- Returns: what customers send back, line by line

drop view if exists ledger.proof;
drop view if exists erp.return_proof;
drop view if exists api_unstable.return_orders, api_unstable.return_order_line_items,
  api_unstable.return_order_documents, api_unstable.return_reasons cascade;
drop view if exists api_unstable.stock_movements, api_unstable.stocks, api_unstable.goods_receipt_line_items
  cascade;
drop trigger if exists keep_figures_of_returns on erp.return_order;
drop trigger if exists keep_figures_of_returns on erp.goods_receipt;
drop trigger if exists keep_figures_of_returns_insert on erp.goods_receipt_line_item;
drop trigger if exists keep_figures_of_returns_update on erp.goods_receipt_line_item;
drop trigger if exists keep_figures_of_returns_delete on erp.goods_receipt_line_item;
drop trigger if exists fill_return_line on erp.goods_receipt_line_item;
drop trigger if exists touch_updated_at on erp.return_order;
alter table erp.goods_receipt_line_item drop column if exists return_order_line_item_id cascade,
  drop column if exists quarantined_quantity cascade, drop column if exists disposed_quantity cascade;
drop table if exists erp.return_order_document, erp.return_order_charge, erp.return_order_line_item,
  erp.return_reason cascade;
alter table erp.return_order drop constraint if exists return_order_state_length;
drop index if exists erp.return_order_state_id_idx;
alter table erp.return_order drop column if exists reference cascade, drop column if exists comment cascade,
  drop column if exists withdrawal_date cascade, drop column if exists requested_at cascade,
  drop column if exists closed_at cascade, drop column if exists refusal_reason cascade,
  drop column if exists replacement_order_id cascade, drop column if exists refund_amount cascade,
  drop column if exists refunded_at cascade, drop column if exists updated_at cascade;
alter table erp.sales_order_line_item drop column if exists returned_quantity cascade;
drop type if exists erp.return_order_line cascade;
drop type if exists erp.refund_line cascade;
drop type if exists erp.refunded_line cascade;

-- Reasons
create table erp.return_reason (
  code text collate "C" primary key
    constraint return_reason_is_a_machine_name check (code ~ '^[a-z][a-z0-9_]{0,62}$'),
  description text not null constraint return_reason_description_length check (length(description) <= 255),
  is_active boolean not null default true
);
alter table erp.return_reason enable row level security;
comment on table erp.return_reason is
  'Reasons for which customers send goods back. The merchant changes the list in SQL; a reason that is no '
  'longer wanted becomes inactive.';
comment on column erp.return_reason.code is 'The reason, as lines of returns name it.';
comment on column erp.return_reason.description is 'Meaning of the reason, for people.';
comment on column erp.return_reason.is_active is 'Whether new lines may give it.';
insert into erp.return_reason (code, description) values
  ('changed_mind', 'The customer no longer wants the goods.'),
  ('withdrawal', 'A consumer has withdrawn from the contract.'),
  ('does_not_fit', 'The goods do not fit, or look different.'),
  ('wrong_item', 'The shop sent something else than was ordered.'),
  ('damaged', 'The goods arrived damaged.'),
  ('defective', 'The goods do not work.'),
  ('too_late', 'The goods arrived too late.'),
  ('undeliverable', 'The carrier could not deliver the parcel.');
select api_meta.allow('service_writer', 'erp.return_reason', 'select');

-- The return as a whole
alter table erp.return_order add column reference text collate "C";
alter table erp.return_order add column comment text collate "C";
alter table erp.return_order add column withdrawal_date date;
alter table erp.return_order add column requested_at timestamptz(0) not null
  default date_trunc('second', now());
alter table erp.return_order add column closed_at timestamptz(0);
alter table erp.return_order add column refusal_reason text collate "C";
alter table erp.return_order add column replacement_order_id uuid;
alter table erp.return_order add column refund_amount numeric not null default 0;
alter table erp.return_order add column refunded_at timestamptz(0);
alter table erp.return_order add column updated_at timestamptz(0);
alter table erp.return_order add constraint return_order_reference_length
  check (length(reference) <= 255) not valid;
alter table erp.return_order add constraint return_order_comment_length
  check (length(comment) <= 1000) not valid;
alter table erp.return_order add constraint return_order_refusal_reason_length
  check (length(refusal_reason) <= 1000) not valid;
alter table erp.return_order add constraint return_order_state_length check (length(state) <= 63) not valid;
alter table erp.return_order add constraint return_order_refund_is_not_negative
  check (refund_amount >= 0) not valid;
alter table erp.return_order add constraint return_order_is_not_replaced_by_its_order
  check (replacement_order_id <> order_id) not valid;
alter table erp.return_order add constraint return_order_replacement_order_id_fkey
  foreign key (replacement_order_id) references erp.sales_order on delete set null not valid;
-- waive index-blocks-writes: only SQL has made returns so far
create index return_order_replacement_order_id_idx on erp.return_order (replacement_order_id)
  where replacement_order_id is not null;
-- waive index-blocks-writes: only SQL has made returns so far
create index return_order_state_id_idx on erp.return_order (state, id);
-- waive index-blocks-writes: only SQL has made returns so far
create index return_order_requested_at_id_idx on erp.return_order (requested_at, id);
-- waive index-blocks-writes: only SQL has made returns so far
create index return_order_withdrawal_date_id_idx on erp.return_order (withdrawal_date, id)
  where withdrawal_date is not null;
-- waive index-blocks-writes: only SQL has made returns so far
create index return_order_reference_idx on erp.return_order (reference) where reference is not null;
comment on table erp.return_order is 'Goods that a customer sends back, or wants to.';
comment on column erp.return_order.number is 'Number of the return.';
comment on column erp.return_order.state is
  'Progress of the return: requested, approved, received_partially, received, closed, refused or cancelled. '
  'Returns that were made in SQL may be open, which is like approved.';
comment on column erp.return_order.order_id is
  'Order that the goods were shipped for; null while nobody knows it.';
comment on column erp.return_order.customer_id is 'Customer who sends the goods back.';
comment on column erp.return_order.reference is
  'Reference of the return in another system, such as the shop''s or the carrier''s.';
comment on column erp.return_order.comment is 'Free note.';
comment on column erp.return_order.withdrawal_date is
  'Day on which a consumer declared the withdrawal from the contract.';
comment on column erp.return_order.requested_at is 'When the customer made the request.';
comment on column erp.return_order.closed_at is 'When it was closed; null while it is not.';
comment on column erp.return_order.refusal_reason is 'Why it was refused; null when it was not.';
comment on column erp.return_order.replacement_order_id is 'Order that replaces the goods.';
comment on column erp.return_order.refund_amount is
  'Amount with tax that the customer gets back, in the currency of the order: for lines, and for other '
  'charges such as shipping. It is recorded here, and paid elsewhere.';
comment on column erp.return_order.refunded_at is 'When a refund was recorded last; null when none was.';
comment on column erp.return_order.created_at is 'When the return was recorded.';
comment on column erp.return_order.updated_at is 'When the return was last changed.';
comment on constraint return_order_reference_length on erp.return_order is
  E'@userError OUT_OF_RANGE reference\nThe text has more than 255 characters.';
comment on constraint return_order_comment_length on erp.return_order is
  E'@userError OUT_OF_RANGE comment\nThe text has more than 1,000 characters.';
comment on constraint return_order_refusal_reason_length on erp.return_order is
  E'@userError OUT_OF_RANGE refusal_reason\nThe text has more than 1,000 characters.';
comment on constraint return_order_state_length on erp.return_order is
  '@internal States are those of erp.state_transition.';
comment on constraint return_order_refund_is_not_negative on erp.return_order is
  '@internal erp.refund_return adds amounts above 0.';
comment on constraint return_order_is_not_replaced_by_its_order on erp.return_order is
  E'@userError INVALID replacement_order_id\nAn order does not replace its own goods.';
comment on constraint return_order_number_key on erp.return_order is
  '@internal next_number() gives each number once';
create trigger touch_updated_at before update on erp.return_order
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.return_order', 'select', 'insert', 'update (
  state, order_id, customer_id, reference, comment, withdrawal_date, closed_at, refusal_reason,
  replacement_order_id, refund_amount, refunded_at)');
select api_meta.allow('service_ledger', 'erp.return_order', 'select', 'update (state)');

-- Its lines
create table erp.return_order_line_item (
  id uuid primary key default uuidv7(),
  return_order_id uuid not null references erp.return_order on delete cascade,
  fulfillment_line_item_id uuid references erp.fulfillment_line_item on delete set null,
  order_line_item_id uuid references erp.sales_order_line_item on delete set null,
  product_id uuid references erp.product on delete set null,
  batch_id uuid,
  quantity integer not null constraint return_order_line_item_quantity_is_positive check (quantity > 0),
  reason text collate "C" references erp.return_reason on update cascade,
  wanted_outcome text collate "C" constraint return_order_line_item_outcome_is_known
    check (wanted_outcome in ('refund', 'replacement', 'repair', 'credit')),
  received_quantity integer not null default 0,
  restocked_quantity integer not null default 0,
  quarantined_quantity integer not null default 0,
  disposed_quantity integer not null default 0,
  missing_quantity integer not null default 0,
  refunded_quantity integer not null default 0,
  refund_amount numeric not null default 0,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  updated_at timestamptz(0),
  constraint return_order_line_item_batch_is_of_the_product
    foreign key (product_id, batch_id) references erp.batch (product_id, id) on delete set null (batch_id),
  constraint return_order_line_item_arrives_before_it_is_put_away
    check (restocked_quantity + quarantined_quantity + disposed_quantity <= received_quantity),
  constraint return_order_line_item_refund_is_in_range check (
    refund_amount >= 0 and refunded_quantity between 0 and greatest(quantity, received_quantity))
);
create index on erp.return_order_line_item (return_order_id, id);
create index on erp.return_order_line_item (fulfillment_line_item_id)
  where fulfillment_line_item_id is not null;
create index on erp.return_order_line_item (order_line_item_id, id);
create index on erp.return_order_line_item (product_id, id);
create index on erp.return_order_line_item (batch_id, id) where batch_id is not null;
create index on erp.return_order_line_item (product_id, batch_id);
create index on erp.return_order_line_item (reason, id) where reason is not null;
alter table erp.return_order_line_item enable row level security;
comment on table erp.return_order_line_item is
  'A line of a return: units of a product that come back, and what became of them.';
comment on column erp.return_order_line_item.return_order_id is 'The return.';
comment on column erp.return_order_line_item.fulfillment_line_item_id is
  'Line of the fulfillment that shipped the units; null when only the order is known, or nothing.';
comment on column erp.return_order_line_item.order_line_item_id is
  'Line of the order that the units were shipped for; null while nobody knows it.';
comment on column erp.return_order_line_item.product_id is 'Product that comes back.';
comment on column erp.return_order_line_item.batch_id is
  'Batch that comes back, or serial number; null when nobody has announced it.';
comment on column erp.return_order_line_item.quantity is 'Units that were announced.';
comment on column erp.return_order_line_item.reason is
  'Why they come back: a code of the reasons of returns.';
comment on column erp.return_order_line_item.wanted_outcome is
  'The customer''s wish: refund, replacement, repair or credit.';
comment on column erp.return_order_line_item.received_quantity is
  'Units that arrived, by approved goods receipts.';
comment on column erp.return_order_line_item.restocked_quantity is
  'Units that completed goods receipts have put where they can be sold.';
comment on column erp.return_order_line_item.quarantined_quantity is
  'Units that completed goods receipts have put where they wait for a decision. Later movements of the '
  'stock do not change it.';
comment on column erp.return_order_line_item.disposed_quantity is
  'Units that completed goods receipts have thrown away.';
comment on column erp.return_order_line_item.missing_quantity is
  'Units that had not arrived when the return was closed.';
comment on column erp.return_order_line_item.refunded_quantity is 'Units that refunds are for.';
comment on column erp.return_order_line_item.refund_amount is
  'Amount with tax that the customer gets back for the line, in the currency of the order.';
comment on column erp.return_order_line_item.created_at is 'When the line was recorded.';
comment on column erp.return_order_line_item.updated_at is 'When the line was last changed.';
comment on constraint return_order_line_item_quantity_is_positive on erp.return_order_line_item is
  '@internal erp.resolve_return_lines refuses such lines.';
comment on constraint return_order_line_item_outcome_is_known on erp.return_order_line_item is
  E'@userError INVALID wanted_outcome\nThe customer can want refund, replacement, repair or credit.';
comment on constraint return_order_line_item_reason_fkey on erp.return_order_line_item is
  '@internal erp.resolve_return_lines refuses unknown reasons.';
comment on constraint return_order_line_item_batch_is_of_the_product on erp.return_order_line_item is
  '@internal erp.resolve_return_lines refuses batches of other products.';
comment on constraint return_order_line_item_arrives_before_it_is_put_away on erp.return_order_line_item is
  '@internal The figures follow from goods receipts.';
comment on constraint return_order_line_item_refund_is_in_range on erp.return_order_line_item is
  E'@userError OUT_OF_RANGE quantity\nMore units of a line would be refunded than come back.';
create trigger touch_updated_at before update on erp.return_order_line_item
  for each row execute function erp.touch_updated_at();
select api_meta.allow('service_writer', 'erp.return_order_line_item', 'select', 'insert', 'update (
  fulfillment_line_item_id, order_line_item_id, product_id, batch_id, quantity, reason, wanted_outcome,
  refunded_quantity, refund_amount)', 'delete');
select api_meta.allow('service_ledger', 'erp.return_order_line_item', 'select', 'update (
  received_quantity, restocked_quantity, quarantined_quantity, disposed_quantity, missing_quantity)');

-- What else is refunded, and the credit notes
create table erp.return_order_charge (
  return_order_id uuid not null references erp.return_order on delete cascade,
  order_line_item_id uuid not null references erp.sales_order_line_item on delete cascade,
  refund_amount numeric not null constraint return_order_charge_is_positive check (refund_amount > 0),
  primary key (return_order_id, order_line_item_id)
);
create index on erp.return_order_charge (order_line_item_id);
alter table erp.return_order_charge enable row level security;
comment on table erp.return_order_charge is
  'Refunds of lines that are no products, such as the costs of shipping.';
comment on column erp.return_order_charge.return_order_id is 'The return.';
comment on column erp.return_order_charge.order_line_item_id is 'Line of the order that charged it.';
comment on column erp.return_order_charge.refund_amount is 'Amount with tax, in the currency of the order.';
comment on constraint return_order_charge_is_positive on erp.return_order_charge is
  '@internal erp.refund_return refuses such amounts.';
select api_meta.allow('service_writer', 'erp.return_order_charge', 'select', 'insert',
  'update (refund_amount)');

create table erp.return_order_document (
  return_order_id uuid not null references erp.return_order on delete cascade,
  document_id uuid not null references erp.document on delete cascade,
  primary key (return_order_id, document_id)
);
create index on erp.return_order_document (document_id);
alter table erp.return_order_document enable row level security;
comment on table erp.return_order_document is 'Credit notes, and the returns that they belong to.';
comment on column erp.return_order_document.return_order_id is 'The return.';
comment on column erp.return_order_document.document_id is 'The credit note.';
comment on constraint return_order_document_document_id_fkey on erp.return_order_document is
  '@internal erp.refund_return names credit notes that it has just made.';
select api_meta.allow('service_writer', 'erp.return_order_document', 'select', 'insert');

-- Lines of orders know how much of them comes back
alter table erp.sales_order_line_item add column returned_quantity integer not null default 0;
alter table erp.sales_order_line_item add constraint order_line_item_returns_no_more_than_shipped
  check (returned_quantity between 0 and shipped_quantity) not enforced;
comment on column erp.sales_order_line_item.returned_quantity is
  'Units that returns claim: announced ones until the return is closed, and those that arrived. Follows '
  'from the lines of returns.';
comment on constraint order_line_item_returns_no_more_than_shipped on erp.sales_order_line_item is
  E'@userError EXCEEDS_SHIPPED\nMore of a line would come back than was shipped.';
select api_meta.allow('service_ledger', 'erp.sales_order_line_item',
  'select', 'update (shipped_quantity, invoiced_quantity, returned_quantity)');
select api_meta.allow('service_ledger', 'erp.sales_order', 'select', 'update (
  amount_net, amount_total, tracking_codes, entered_tracking_codes, delivery_state)');
select api_meta.allow('service_ledger', 'erp.goods_receipt_line_item', 'select');
select api_meta.allow('service_ledger', 'erp.goods_receipt', 'select');

-- Lines of goods receipts name the line of a return, and keep what became of their units
alter table erp.goods_receipt_line_item add column return_order_line_item_id uuid;
alter table erp.goods_receipt_line_item add column quarantined_quantity integer not null default 0;
alter table erp.goods_receipt_line_item add column disposed_quantity integer not null default 0;
alter table erp.goods_receipt_line_item add constraint goods_receipt_line_item_return_order_line_item_id_fkey
  foreign key (return_order_line_item_id) references erp.return_order_line_item on delete set null not valid;
alter table erp.goods_receipt_line_item add constraint goods_receipt_line_item_has_what_it_lost
  check (quarantined_quantity >= 0 and disposed_quantity >= 0
    and quarantined_quantity + disposed_quantity <= greatest(quantity, 0)) not valid;
-- waive index-blocks-writes: receipts are written rarely, and no row is in the index yet
create index goods_receipt_line_item_return_order_line_item_id_idx
  on erp.goods_receipt_line_item (return_order_line_item_id, id) where return_order_line_item_id is not null;
comment on column erp.goods_receipt_line_item.return_order_line_item_id is
  'Line of the return whose units arrive; on receipts of type Customer.';
comment on column erp.goods_receipt_line_item.quarantined_quantity is
  'Units of a return that were put where they wait for a decision, when the receipt was completed.';
comment on column erp.goods_receipt_line_item.disposed_quantity is
  'Units of a return that were thrown away when the receipt was completed.';
comment on constraint goods_receipt_line_item_has_what_it_lost on erp.goods_receipt_line_item is
  '@internal erp.complete_goods_receipt checks it.';
select api_meta.allow('service_writer', 'erp.goods_receipt_line_item',
  'select', 'insert', 'update (
    product_id, batch_id, return_order_id, return_order_line_item_id, supplier_order_id,
    supplier_order_line_item_id, destination_bin_location_id, quantity, planned_disposal_quantity,
    quarantined_quantity, disposed_quantity, unit_price, unit_price_in_default_currency, tax_rate)',
  'delete');

-- Types of the functions
-- Frozen versions make values of the types goods_receipt_line and placement, so these keep their attributes
comment on type erp.goods_receipt_line is
  'A line of a goods receipt as it is to be; with the id of one that is there, or without. The return may be '
  'given by its line: return_order_id is the id of either.';

create type erp.return_order_line as (
  id uuid, fulfillment_line_item_id uuid, order_line_item_id uuid, product_id uuid, batch_id uuid,
  quantity integer, reason text, wanted_outcome text
);
comment on type erp.return_order_line is
  'A line of a return as it is to be; with the id of one that is there, or without.';
create type erp.refund_line as (return_order_line_item_id uuid, quantity integer, amount numeric);
comment on type erp.refund_line is
  'A wish to refund a line of a return: units, an amount with tax, or both.';
create type erp.refunded_line as (
  n bigint, return_order_line_item_id uuid, order_line_item_id uuid, quantity integer, amount numeric,
  is_given boolean
);
comment on type erp.refunded_line is
  'A refund of a line of a return, or of another line of its order: units and an amount with tax. '
  'is_given says that the caller named the amount.';

-- States
alter table erp.state_transition drop constraint state_transition_machine_is_known;
alter table erp.state_transition add constraint state_transition_machine_is_known
  check (machine in ('goods_receipt', 'order', 'order_delivery', 'fulfillment_order', 'fulfillment',
    'supplier_order', 'quote', 'shipping_label', 'return_order', 'stocktake')) not valid;
delete from erp.state_transition t where t.machine = 'return_order'
  or t.machine = 'order_delivery'
    and t.action in ('return', 'return_partially', 'unreturn', 'unreturn_partially')
  or t.machine = 'order_delivery' and 'returned_partially' in (t.from_state, t.to_state)
  or t.machine = 'order' and t.action = 'return';
insert into erp.state_transition (machine, action, from_state, to_state, mutation)
select m.machine, m.action, f.from_state, coalesce(m.to_state, f.from_state), m.mutation
from (values
  ('return_order', 'approve', '{requested,open}'::text[], 'approved', 'return_order_approve'),
  ('return_order', 'refuse', '{requested,open,approved}', 'refused', 'return_order_refuse'),
  ('return_order', 'cancel', '{requested,open,approved}', 'cancelled', 'return_order_cancel'),
  ('return_order', 'receive_partially', '{requested,open,approved,received,received_partially,closed}',
    'received_partially', 'goods_receipt_approve'),
  ('return_order', 'receive', '{requested,open,approved,received_partially,received,closed}', 'received',
    'goods_receipt_approve'),
  ('return_order', 'take_back', '{received,received_partially}', 'approved', null),
  ('return_order', 'close', '{open,approved,received_partially,received}', 'closed', 'return_order_close'),
  ('return_order', 'refund', '{open,approved,received_partially,received,closed}', null,
    'return_order_refund'),
  ('return_order', 'update', '{requested,open,approved,received_partially,received}', null,
    'return_order_update'),
  ('order_delivery', 'return_partially', '{shipped,shipped_partially,returned_partially,returned}',
    'returned_partially', 'goods_receipt_approve'),
  ('order_delivery', 'return', '{shipped,shipped_partially,returned_partially,returned}', 'returned',
    'goods_receipt_approve'),
  ('order_delivery', 'unreturn', '{returned_partially,returned}', 'shipped', null),
  ('order_delivery', 'unreturn_partially', '{returned_partially,returned}', 'shipped_partially', null),
  ('order_delivery', 'ship', '{returned_partially,returned}', 'returned_partially',
    'order_shipment_complete'),
  ('order_delivery', 'ship_partially', '{returned_partially,returned}', 'returned_partially',
    'fulfillment_create'),
  ('order_delivery', 'unship_partially', '{returned_partially}', 'returned_partially', null),
  ('order', 'return', '{in_progress,completed}', null, 'return_order_create')
) m (machine, action, from_states, to_state, mutation)
cross join lateral unnest(m.from_states) f (from_state);

grant execute on function erp.next_state(text, text, text), erp.is_all_shipped(uuid), erp.has_open_lines(uuid)
  to service_ledger;
--!include erp/follow_returns.sql
--!include erp/keep_returns.sql
create trigger keep_figures_of_returns_insert after insert on erp.return_order_line_item
  referencing new table as new_rows for each statement execute function erp.keep_returns();
create trigger keep_figures_of_returns_update after update on erp.return_order_line_item
  referencing old table as old_rows new table as new_rows
  for each statement execute function erp.keep_returns();
create trigger keep_figures_of_returns_delete after delete on erp.return_order_line_item
  referencing old table as old_rows for each statement execute function erp.keep_returns();
--!include erp/keep_return.sql
create trigger keep_figures_of_returns after update of state on erp.return_order
  for each row when (old.state is distinct from new.state) execute function erp.keep_return();
--!include erp/keep_return_receipts.sql
create trigger keep_figures_of_returns_insert after insert on erp.goods_receipt_line_item
  referencing new table as new_rows for each statement execute function erp.keep_return_receipts();
create trigger keep_figures_of_returns_update after update on erp.goods_receipt_line_item
  referencing old table as old_rows new table as new_rows
  for each statement execute function erp.keep_return_receipts();
create trigger keep_figures_of_returns_delete after delete on erp.goods_receipt_line_item
  referencing old table as old_rows for each statement execute function erp.keep_return_receipts();
create trigger keep_figures_of_returns after update of state on erp.goods_receipt
  for each row when (old.state is distinct from new.state and new.type = 'Customer')
  execute function erp.keep_return_receipt();
--!include erp/fill_return_line.sql
create trigger fill_return_line before insert or update of order_line_item_id,
  fulfillment_line_item_id on erp.return_order_line_item
  for each row execute function erp.fill_return_line();
create trigger fill_return_line before insert or update of product_id, return_order_id,
  return_order_line_item_id on erp.goods_receipt_line_item
  for each row when (new.return_order_line_item_id is not null)
  execute function erp.fill_returned_line();

select api_meta.allow('service_writer', 'ledger.batch_stock', 'select');
--!include erp/placed_state.sql
--!include erp/lock_returns_of.sql
--!include erp/check_return_lines.sql
--!include erp/check_return_order.sql
--!include erp/set_return_lines.sql
--!include erp/lock_return_order.sql
--!include erp/create_return_order.sql
--!include erp/update_return_order.sql
--!include erp/end_return_order.sql
--!include erp/return_drafts.sql
--!include erp/require_returns.sql
--!include erp/keep_outcomes.sql
--!include erp/paid_lines.sql
--!include erp/credit_refunds.sql
--!include erp/refund_return.sql
--!include erp/require_no_returns.sql
--!include erp/cancel_fulfillment.sql

-- Goods receipts
--!include erp/resolve_goods_receipt_lines.sql
--!include erp/set_goods_receipt_lines.sql
--!include erp/faults_of_things_named.sql
drop function if exists erp.put_away_drafts(erp.goods_receipt, erp.placement[]);
--!include erp/put_away_drafts.sql
drop function if exists erp.check_placements(erp.goods_receipt, erp.placement[]);
--!include erp/check_placements.sql
--!include erp/approve_goods_receipt.sql
drop function if exists erp.complete_goods_receipt(uuid, erp.placement[]);
--!include erp/complete_goods_receipt.sql
--!include erp/delete_goods_receipt.sql

-- The API
--!include api/goods_receipt_line_input.sql
--!include api/goods_receipt_create.sql
--!include api/goods_receipt_line_items_set.sql
--!include api/put_away_input.sql
--!include api/goods_receipt_complete.sql
--!include api/goods_receipt_approve.sql
--!include api/fulfillment_cancel.sql
--!include api/return_reasons.sql
--!include api/return_orders.sql
--!include api/return_order_line_items.sql
--!include api/return_order_documents.sql
--!include api/goods_receipt_line_items.sql
--!include api/stock_movements.sql
--!include api/stock_bookings_stock_movements.sql
--!include api/stocks.sql
--!include api/stocks_quantity_as_of.sql
drop function if exists api_unstable.batch_stocks_quantity_as_of;
--!include api/batch_stocks_quantity_as_of.sql
drop function if exists api_unstable.order_line_items_returned_quantity;
--!include api/order_line_items_returned_quantity.sql
--!include api/return_orders_goods_receipts.sql
--!include api/return_order_payload.sql
--!include api/return_order_line_input.sql
--!include api/return_order_create.sql
--!include api/return_order_update.sql
--!include api/return_order_approve.sql
--!include api/return_order_refuse.sql
--!include api/return_order_cancel.sql
--!include api/return_order_close.sql
--!include api/return_order_refund.sql
--!include erp/return_proof.sql

-- Events and people
--!include erp/export_customer.sql
--!include erp/anonymize_rows.sql
--!include erp/subjects_about.sql
--!include events/anonymous_data.sql

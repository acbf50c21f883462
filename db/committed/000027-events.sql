--! Previous: sha1:ff5b9680f01e9ed76f92bb61d8d5d252f8f1b0c4
--! Hash: sha1:69a469630db9b896d203815a7d762cb2b4542c3c
--! Message: events

--! split: 1-current.sql
-- Enter migration here

--! split: 0300-events.sql
-- Events: what may happen (subject, field, topic, occasion), what has (outbox, event), and who is told (subscription,
-- delivery, lane, attempt).

create table if not exists events.subject (
  type text primary key constraint subject_type_is_a_type_name check (type ~ '^[A-Z][A-Za-z]*$'),
  relation regclass not null unique,
  view_name text not null,
  entity_column text not null default 'id'
);
comment on table events.subject is 'What events are about: types of the API. db/fixtures/functions/events/topics.sql declares them.';
comment on column events.subject.relation is 'Table whose changes are events.';
comment on column events.subject.view_name is 'View of the type in the head of the API. Its scope opens the events.';
comment on column events.subject.entity_column is 'Column with the id that events are kept in order by.';

create table if not exists events.field (
  subject_type text not null references events.subject on delete cascade,
  name text not null constraint field_name_is_camel_case check (name ~ '^[a-z][A-Za-z]*$'),
  position integer not null,
  column_name text not null,
  id_of text,
  primary key (subject_type, name)
);
comment on table events.field is 'What the data of an event says about its subject.';
comment on column events.field.name is 'Name, as in the API.';
comment on column events.field.id_of is 'Type of what a column with an id points to.';

create table if not exists events.topic (
  name text collate "C" primary key constraint topic_name_has_a_resource check (name ~ '^[a-z_]+\.[a-z_]+$'),
  subject_type text not null references events.subject on delete cascade,
  scope text not null,
  fields text[],
  description text not null,
  subscribable boolean not null default true
);
create index if not exists topic_subject_type_idx on events.topic (subject_type);
comment on table events.topic is 'What may happen, and which scope lets one know of it.';
comment on column events.topic.scope is 'Scope that reads the subject: that of its view.';
comment on column events.topic.fields is 'Fields that the data has; null for all fields of the subject.';
comment on column events.topic.subscribable is 'Whether a webhook can be subscribed to it. Only the topic of tests cannot.';

create table if not exists events.occasion (
  topic text collate "C" not null references events.topic on delete cascade,
  operation text not null constraint occasion_operation_is_known check (operation in ('insert', 'update', 'delete')),
  columns text[],
  condition text,
  primary key (topic, operation)
);
comment on table events.occasion is 'Which changes of its subject make a topic happen. events.derive_announcements makes triggers of it.';
comment on column events.occasion.columns is 'Columns of which one must have changed; null for any that the data shows.';
comment on column events.occasion.condition is 'Condition in SQL on the row as it is, n, and, for an update, as it was, o; null for none.';

create table if not exists events.outbox (
  position bigint generated always as identity primary key,
  topic text collate "C" not null,
  subject_id uuid not null,
  entity_id uuid not null,
  data jsonb not null,
  changed_fields text[],
  cause jsonb not null,
  occurred_at timestamptz(3) not null default clock_timestamp()
);
comment on table events.outbox is
  'What has happened, written in the transaction in which it did. The sequencer takes it from here into the log; nothing stays. No keys and indexes but one: each would make every booking slower.';
comment on column events.outbox.position is 'Taken while the entity is locked: of two events of one entity, the earlier one has the lower position.';
comment on column events.outbox.entity_id is 'What events are kept in order by: the subject itself, or the product of stock.';
comment on column events.outbox.data is 'The subject as it was then, in the names and ids of the API.';
comment on column events.outbox.changed_fields is 'Which fields of the data an update changed; null for what is no update.';
comment on column events.outbox.cause is 'Which request of which credential it was.';
-- It is always nearly empty, however much passes through
alter table events.outbox set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 5000);

create table if not exists events.event (
  sequence bigint primary key,
  id uuid not null constraint event_id_is_unique unique,
  topic text collate "C" not null,
  subject_id uuid not null,
  entity_id uuid not null,
  data jsonb not null,
  changed_fields text[],
  cause jsonb not null,
  occurred_at timestamptz(3) not null,
  recorded_at timestamptz(3) not null default clock_timestamp()
);
create index if not exists event_topic_idx on events.event (topic, id);
create index if not exists event_occurred_at_idx on events.event (occurred_at);
comment on table events.event is 'The log: everything that happened in the last 30 days, in the order in which it was committed.';
comment on column events.event.sequence is 'Number in the log, without gaps.';
comment on column events.event.id is 'Begins with the sequence, so that ids sort as the log does.';
comment on column events.event.topic is 'What happened, as resource.event.';
comment on column events.event.data is 'What it happened to, as it was then.';
comment on column events.event.changed_fields is 'Fields that were changed; null when it was no update.';
comment on column events.event.cause is
  'Which request it was: an object with credentialId, requestId and idempotencyKey, each null for what other programs did.';
comment on column events.event.occurred_at is 'When it happened.';

create table if not exists events.log_head (
  singleton boolean primary key default true constraint log_head_is_one_row check (singleton),
  last_sequence bigint not null default 0
);
insert into events.log_head (singleton) values (true) on conflict do nothing;
comment on table events.log_head is 'The end of the log. Whoever has locked the one row may write to the log.';

alter table events.webhook_subscription
  add column if not exists last_sequence bigint,
  add column if not exists failing_since timestamptz(0),
  add column if not exists consecutive_failures integer not null default 0,
  add column if not exists last_delivered_at timestamptz(0),
  add column if not exists next_probe_at timestamptz(3),
  add column if not exists disabled_at timestamptz(0);
create index if not exists webhook_subscription_topic_idx on events.webhook_subscription (topic);
comment on column events.webhook_subscription.credential_id is
  'Credential that made or last changed it, and whose scopes decide what is sent; null when an administrator did, who may know everything.';
comment on column events.webhook_subscription.last_sequence is 'The newest event that was meant for it; null when none was yet.';
comment on column events.webhook_subscription.failing_since is 'First failure after the last success; null while all is well.';
comment on column events.webhook_subscription.consecutive_failures is 'Attempts that failed since the last success.';
comment on column events.webhook_subscription.last_delivered_at is 'When an event was last delivered.';
comment on column events.webhook_subscription.next_probe_at is
  'When it is tried again whether deliveries arrive, with a single one; null while it is not suspended.';
comment on column events.webhook_subscription.disabled_at is 'When it was disabled; null while it is enabled.';
-- Progress is no change of a subscription
create or replace trigger touch_updated_at before update of topic, url, api_version, fields, payload_query, enabled
  on events.webhook_subscription for each row execute function erp.touch_updated_at();

create table if not exists events.webhook_secret (
  id uuid primary key default uuidv7(),
  subscription_id uuid not null references events.webhook_subscription on delete cascade,
  secret text not null constraint webhook_secret_has_its_form check (secret ~ '^whsec_[A-Za-z0-9+/]{32,}=*$'),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  expires_at timestamptz(0)
);
create unique index if not exists webhook_secret_is_one_without_end on events.webhook_secret (subscription_id) where expires_at is null;
create index if not exists webhook_secret_subscription_id_idx on events.webhook_secret (subscription_id, id);
comment on table events.webhook_secret is
  'What deliveries are signed with: the secret of each subscription, and for 24 hours the ones before. Only service_delivery reads them.';
comment on column events.webhook_secret.expires_at is 'When it stops to sign; null for the one in use.';

create table if not exists events.delivery (
  id uuid primary key default uuidv7(),
  subscription_id uuid not null references events.webhook_subscription on delete cascade,
  sequence bigint references events.event on delete cascade,
  event_id uuid not null,
  entity_id uuid not null,
  previous_sequence bigint,
  state text not null default 'pending' constraint delivery_state_is_known check (state in ('pending', 'delivered', 'failed', 'cancelled')),
  attempts integer not null default 0,
  next_attempt_at timestamptz(3),
  delivered_at timestamptz(0),
  created_at timestamptz(0) not null default date_trunc('second', now()),
  constraint delivery_is_one_per_event_and_subscription unique (sequence, subscription_id)
);
create index if not exists delivery_subscription_id_idx on events.delivery (subscription_id, id);
create index if not exists delivery_pending_idx on events.delivery (subscription_id, entity_id, sequence nulls first, id) where state = 'pending';
create index if not exists delivery_test_idx on events.delivery (created_at) where sequence is null;
comment on table events.delivery is 'An event on its way to a subscriber. Kept as long as the event is.';
comment on column events.delivery.subscription_id is 'Subscription that it is for.';
comment on column events.delivery.sequence is 'Number of the event in the log; null for a test, which is not in it.';
comment on column events.delivery.event_id is 'Id of the event: what receivers know repetitions by.';
comment on column events.delivery.entity_id is 'What deliveries are kept in order by.';
comment on column events.delivery.previous_sequence is
  'The event before it that was meant for the subscription; null for the first one. A receiver that has not seen that one has missed something.';
comment on column events.delivery.state is 'What became of it: pending, delivered, failed or cancelled.';
comment on column events.delivery.attempts is 'How often it was tried.';
comment on column events.delivery.next_attempt_at is 'When it is tried again after a failure.';
comment on column events.delivery.delivered_at is 'When the receiver took it.';

create table if not exists events.lane (
  subscription_id uuid not null references events.webhook_subscription on delete cascade,
  entity_id uuid not null,
  pending integer not null constraint lane_pending_is_not_negative check (pending >= 0),
  attempts integer not null default 0,
  next_attempt_at timestamptz(3) not null default clock_timestamp(),
  claimed_until timestamptz(3),
  claimed_by text,
  due_at timestamptz(3) not null generated always as (greatest(next_attempt_at, claimed_until)) stored,
  primary key (subscription_id, entity_id)
);
comment on table events.lane is
  'What is delivered one after the other: the pending deliveries of one entity to one subscription. A lane whose first delivery fails holds up only itself. There is a lane as long as something is pending in it.';
comment on column events.lane.pending is 'How many deliveries wait in it.';
comment on column events.lane.attempts is 'How often its first delivery has failed.';
comment on column events.lane.next_attempt_at is 'When to go on; infinity while the subscription is disabled.';
comment on column events.lane.claimed_until is 'A lease: until then nobody else takes it.';
comment on column events.lane.claimed_by is 'Who took it.';
comment on column events.lane.due_at is 'From when on it may be taken: neither waiting nor leased.';

create table if not exists events.delivery_attempt (
  delivery_id uuid not null references events.delivery on delete cascade,
  number integer not null constraint delivery_attempt_number_is_positive check (number > 0),
  at timestamptz(3) not null default clock_timestamp(),
  duration_ms integer,
  status integer,
  error text,
  request_headers jsonb not null default '{}',
  response_headers jsonb,
  response_body text constraint delivery_attempt_response_body_is_short check (length(response_body) <= 4096),
  primary key (delivery_id, number)
);
comment on table events.delivery_attempt is 'What came of each attempt to deliver.';
comment on column events.delivery_attempt.number is 'Counts the attempts of a delivery, from 1.';
comment on column events.delivery_attempt.at is 'When the request was sent.';
comment on column events.delivery_attempt.duration_ms is 'How long it took, in milliseconds.';
comment on column events.delivery_attempt.status is 'HTTP status of the answer; null when there was none.';
comment on column events.delivery_attempt.error is 'Why it failed, in words; null when it succeeded.';
comment on column events.delivery_attempt.request_headers is 'Headers that were sent.';
comment on column events.delivery_attempt.response_headers is 'Headers of the answer.';
comment on column events.delivery_attempt.response_body is 'Beginning of the answer, 4,096 characters at most.';

do $$
declare t regclass;
begin
  for t in select c.oid::regclass from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'events' and c.relkind = 'r' and not c.relrowsecurity
  loop
    execute format('alter table %s enable row level security', t);
  end loop;
end
$$;

--! Included functions/events/topics.sql
-- What events are about, and what may happen to it. Everything else follows from this: the triggers that write events
-- down (events.derive_announcements), who may know of them, and the JSON schemas of their bodies (events.schema).
-- Fields are columns, in the API's spelling; behind a colon stands the type that an id belongs to. Columns that change
-- with everything, or that open something to whoever has them (a document's code), are left out or don't count.
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
  ('WebhookSubscription', 'events.webhook_subscription', 'webhook_subscriptions', 'id')
) d (type, relation, view_name, entity_column) on s.type = d.type
when matched then update set relation = d.relation::regclass, view_name = d.view_name, entity_column = d.entity_column
when not matched then insert (type, relation, view_name, entity_column) values (d.type, d.relation::regclass, d.view_name, d.entity_column)
when not matched by source then delete;

merge into events.field f
using (
  select d.type, n.name, w.position, split_part(w.word, ':', 1) as column_name, nullif(split_part(w.word, ':', 2), '') as id_of
  from (values
    ('Order', 'id:Order order_number order_date_time state delivery_state payment_state amount_net amount_total tracking_codes storefront_id
      currency_id:Currency sales_channel_id:SalesChannel customer_id:Customer created_at updated_at'),
    ('FulfillmentOrder', 'id:FulfillmentOrder number type state is_partially_fulfilled hold_comment destination_order_id:Order
      source_warehouse_location_id:Location external_location_name shipping_method_id:ShippingMethod shipping_method_name
      shipping_address storefront_id created_at updated_at'),
    ('Fulfillment', 'id:Fulfillment number state storefront_id created_at'),
    ('StockMovement', 'id:StockMovement product_id:Product quantity process_type_technical_name comment
      source_location_type_technical_name source_warehouse_id:Warehouse source_bin_location_id:BinLocation source_order_id:Order
      source_return_order_id:ReturnOrder source_goods_receipt_id:GoodsReceipt source_stock_container_id:StockContainer
      source_special_stock_location_technical_name
      destination_location_type_technical_name destination_warehouse_id:Warehouse destination_bin_location_id:BinLocation
      destination_order_id:Order destination_return_order_id:ReturnOrder destination_goods_receipt_id:GoodsReceipt
      destination_stock_container_id:StockContainer destination_special_stock_location_technical_name created_at'),
    ('Stock', 'id:Stock product_id:Product quantity location_type_technical_name warehouse_id:Warehouse bin_location_id:BinLocation
      order_id:Order return_order_id:ReturnOrder goods_receipt_id:GoodsReceipt stock_container_id:StockContainer created_at updated_at'),
    ('Product', 'id:Product product_number parent_id:Product canonical_product_id:Product name description gtin manufacturer_number
      physical_stock stock_not_available_for_sale reserved_stock available_stock open_supplier_order_quantity last_supplier_order_at
      reorder_point target_maximum_quantity storefront_variants'),
    ('GoodsReceipt', 'id:GoodsReceipt number type state goods_receipt_date_time warehouse_id:Warehouse supplier_id:Supplier
      customer_id:Customer user_id:User currency_id:Currency currency_factor currency_factor_origin_type currency_factor_origin_source
      currency_factor_reference_date currency_factor_captured_at tax_status amount_net amount_total position_price comment'),
    ('SupplierOrder', 'id:SupplierOrder number supplier_order_number state payment_state supplier_id:Supplier warehouse_id:Warehouse
      currency_id:Currency amount_net amount_total position_price tax_status order_date_time due_date delivery_date
      actual_delivery_date comment created_at updated_at'),
    ('Batch', 'id:Batch product_id:Product number comment physical_stock'),
    ('Customer', 'id:Customer customer_number account_type email first_name last_name title company vat_ids active guest
      group_id:CustomerGroup sales_channel_id:SalesChannel bound_sales_channel_id:SalesChannel requested_group_id:CustomerGroup
      default_payment_method_id:PaymentMethod salutation_id:Salutation storefront_id created_at updated_at'),
    ('Document', 'id:Document document_number static sent document_type_id:DocumentType order_id:Order referenced_document_id:Document'),
    ('ShippingLabel', 'id:ShippingLabel state type carrier_technical_name carrier_name tracking_codes tracking_url document_url
      weight_in_grams fulfillment_order_id:FulfillmentOrder order_id:Order cancelled_at created_at updated_at'),
    ('WebhookSubscription', 'id:WebhookSubscription topic api_version created_at')
  ) d (type, fields)
  cross join lateral regexp_split_to_table(d.fields, '\s+') with ordinality w (word, position)
  cross join lateral (
    select lower(left(c.camel, 1)) || substr(c.camel, 2) from (select replace(initcap(replace(split_part(w.word, ':', 1), '_', ' ')), ' ', '')) c (camel)
  ) n (name)
) d on f.subject_type = d.type and f.name = d.name
when matched then update set position = d.position, column_name = d.column_name, id_of = d.id_of
when not matched then insert (subject_type, name, position, column_name, id_of) values (d.type, d.name, d.position, d.column_name, d.id_of)
when not matched by source then delete;

merge into events.topic t
using (
  select d.*, scope from (values
    ('order.created', 'Order', 'An order was made.', null::text[]),
    ('order.updated', 'Order', 'Something about an order was changed.', null),
    ('order.state_changed', 'Order', 'The state of an order, of its delivery or of its payment was changed.', null),
    ('fulfillment_order.created', 'FulfillmentOrder', 'A fulfillment order was made.', null),
    ('fulfillment_order.held', 'FulfillmentOrder', 'A fulfillment order was put on hold.', null),
    ('fulfillment_order.released', 'FulfillmentOrder', 'A fulfillment order is no longer on hold.', null),
    ('fulfillment_order.closed', 'FulfillmentOrder', 'A fulfillment order was fulfilled completely.', null),
    ('fulfillment_order.cancelled', 'FulfillmentOrder', 'A fulfillment order was cancelled.', null),
    ('fulfillment.created', 'Fulfillment', 'Something was shipped.', null),
    ('fulfillment.cancelled', 'Fulfillment', 'A fulfillment was cancelled.', null),
    ('stock_movement.created', 'StockMovement', 'Stock was moved.', null),
    ('stock.changed', 'Stock', 'A place that is not a special one holds another quantity of a product.', null),
    ('product.created', 'Product', 'A product was made.', null),
    ('product.updated', 'Product', 'Something about a product was changed, be it only a figure of its stock.', null),
    ('product.deleted', 'Product', 'A product was deleted.', '{id,productNumber}'),
    ('goods_receipt.created', 'GoodsReceipt', 'A goods receipt was made.', null),
    ('goods_receipt.approved', 'GoodsReceipt', 'A goods receipt was approved: the goods are there.', null),
    ('goods_receipt.completed', 'GoodsReceipt', 'A goods receipt was completed: the goods are in their places.', null),
    ('goods_receipt.deleted', 'GoodsReceipt', 'A goods receipt was deleted.', '{id,number}'),
    ('supplier_order.created', 'SupplierOrder', 'An order to a supplier was made.', null),
    ('supplier_order.sent', 'SupplierOrder', 'An order was sent to its supplier.', null),
    ('supplier_order.confirmed', 'SupplierOrder', 'A supplier confirmed an order.', null),
    ('supplier_order.delivered', 'SupplierOrder', 'All that was ordered from a supplier has been received.', null),
    ('supplier_order.completed', 'SupplierOrder', 'An order to a supplier was completed.', null),
    ('supplier_order.cancelled', 'SupplierOrder', 'An order to a supplier was cancelled.', null),
    ('batch.created', 'Batch', 'A batch was made.', null),
    ('batch.updated', 'Batch', 'Something about a batch was changed, be it only its stock.', null),
    ('customer.created', 'Customer', 'A customer was made.', null),
    ('customer.updated', 'Customer', 'Something about a customer was changed.', null),
    ('customer.deleted', 'Customer', 'A customer was deleted.', '{id,customerNumber}'),
    ('document.created', 'Document', 'A document of an order was made.', null),
    ('shipping_label.created', 'ShippingLabel', 'A shipping label was bought.', null),
    ('shipping_label.cancelled', 'ShippingLabel', 'A shipping label was cancelled.', null),
    ('webhook_subscription.test', 'WebhookSubscription', 'Somebody tries whether deliveries arrive. It stands in no log, and has no sequence.', null)
  ) d (name, subject_type, description, fields)
  join events.subject s on s.type = d.subject_type
  -- A scope is declared on the view and nowhere else
  cross join lateral api_meta.view_tag(format('api_unstable.%I', s.view_name)::regclass, 'requiresScopes') scope
) d on t.name = d.name
when matched then update set subject_type = d.subject_type, description = d.description, fields = d.fields, scope = d.scope,
  subscribable = d.name <> 'webhook_subscription.test'
when not matched then insert (name, subject_type, description, fields, scope, subscribable)
  values (d.name, d.subject_type, d.description, d.fields, d.scope, d.name <> 'webhook_subscription.test')
when not matched by source then delete;

merge into events.occasion o
using (values
  ('order.created', 'insert', null::text[], null),
  ('order.updated', 'update', null, null),
  ('order.state_changed', 'update', '{state,delivery_state,payment_state}', null),
  ('fulfillment_order.created', 'insert', null, null),
  ('fulfillment_order.held', 'update', '{state}', $$n.state = 'OnHold'$$),
  ('fulfillment_order.released', 'update', '{state}', $$o.state = 'OnHold' and n.state in ('Open', 'InProgress')$$),
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
  ('supplier_order.confirmed', 'update', '{state}', $$n.state = 'confirmed'$$),
  ('supplier_order.delivered', 'update', '{state}', $$n.state = 'delivered'$$),
  ('supplier_order.completed', 'update', '{state}', $$n.state = 'completed'$$),
  ('supplier_order.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$),
  ('batch.created', 'insert', null, null),
  ('batch.updated', 'update', null, null),
  ('customer.created', 'insert', null, null),
  ('customer.updated', 'update', null, null),
  ('customer.deleted', 'delete', null, null),
  ('document.created', 'insert', null, null),
  ('shipping_label.created', 'insert', null, $$n.state = 'created'$$),
  ('shipping_label.cancelled', 'update', '{state}', $$n.state = 'cancelled'$$)
) d (topic, operation, columns, condition) on o.topic = d.topic and o.operation = d.operation
when matched then update set columns = d.columns, condition = d.condition
when not matched then insert (topic, operation, columns, condition) values (d.topic, d.operation, d.columns, d.condition)
when not matched by source then delete;
--! EndIncluded functions/events/topics.sql
do $$
begin
  if not exists (select from pg_constraint where conname = 'webhook_subscription_topic_is_known' and conrelid = 'events.webhook_subscription'::regclass) then
    alter table events.webhook_subscription add constraint webhook_subscription_topic_is_known
      foreign key (topic) references events.topic on delete restrict on update cascade;
  end if;
end
$$;

--! Included functions/events/announcements.sql
-- In a form that becomes part of the statement that calls it, since every booking does
create or replace function events.cause() returns jsonb
language sql stable
return pg_catalog.jsonb_build_object(
  'credentialId', 'gid://service/Credential/' || nullif(pg_catalog.current_setting('service.credential_id', true), ''),
  'requestId', nullif(pg_catalog.current_setting('service.request_id', true), ''),
  'idempotencyKey', nullif(pg_catalog.current_setting('service.idempotency_key', true), ''));
comment on function events.cause() is
  'Whom what happens now goes back to: credential, request and idempotency key of the mutation that runs; nulls outside of one.';

create or replace function events.value_expression(field events.field, relation regclass, alias text) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select case
    when field.id_of is not null then format('%L || %I.%I', 'gid://service/' || field.id_of || '/', alias, field.column_name)
    when a.atttypid = 'timestamptz'::regtype then
      format($$to_char(%I.%I at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"')$$, alias, field.column_name)
    else format('%I.%I', alias, field.column_name)
  end
  from pg_attribute a where a.attrelid = relation and a.attname = field.column_name;
end;
comment on function events.value_expression(events.field, regclass, text) is 'SQL for the value of a field, in the spelling of the API, from a row with an alias.';

create or replace function events.data_expression(subject events.subject, fields text[], alias text) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select format('jsonb_build_object(%s)',
    string_agg(format('%L, %s', f.name, events.value_expression(f, subject.relation, alias)), ', ' order by f.position))
  from events.field f where f.subject_type = subject.type and (fields is null or f.name = any (fields));
end;
comment on function events.data_expression(events.subject, text[], text) is 'SQL for the data of an event: the fields, or all, from a row with an alias.';

create or replace function events.announcement(subject events.subject, operation text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  alias constant text := case operation when 'delete' then 'o' else 'n' end;
  source constant text := case operation
    when 'insert' then 'new_rows n'
    when 'delete' then 'old_rows o'
    else format('new_rows n join old_rows o on o.id = n.id cross join lateral (select array_remove(array[%s], null)) c (changed)', (
      select string_agg(format('case when n.%1$I is distinct from o.%1$I then %2$L end', f.column_name, f.name), ', ' order by f.position)
      from events.field f where f.subject_type = subject.type and f.column_name <> all ('{id,created_at,updated_at}')))
  end;
begin
  return (
    select string_agg(format('select %s, %I.id, %I.%I, %s, %s from %s where %s', t.topics, alias, alias, subject.entity_column,
      events.data_expression(subject, t.fields, alias), case operation when 'update' then 'c.changed' else 'null::text[]' end, source, t.condition), ' union all ')
    from (
      -- Topics with the same data share a pass over the rows
      select t.fields, format('unnest(array_remove(array[%s], null))', string_agg(format('case when %s then %L end', c.condition, t.name), ', '
          order by o.columns is not null, t.name)) as topics, string_agg(format('(%s)', c.condition), ' or ') as condition
      from events.topic t join events.occasion o on o.topic = t.name and o.operation = announcement.operation
      cross join lateral (select concat_ws(' and ',
        case when announcement.operation = 'update' then case
          when o.columns is null then 'c.changed <> ''{}''' else format('(%s)', (
            select string_agg(format('n.%1$I is distinct from o.%1$I', name), ' or ') from unnest(o.columns) name)) end end,
        '(' || coalesce(o.condition, 'true') || ')') as condition) c
      where t.subject_type = subject.type group by t.fields
    ) t
  );
end
$$;
comment on function events.announcement(events.subject, text) is
  'SQL for the events of a subject that one statement makes: topic, subject, entity, data, changed fields, from the transition tables new_rows and old_rows. Null when there are none.';

create or replace function events.derive_announcements() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  item record;
begin
  for item in
    select s.relation, e.operation, e.tables, events.announcement(s, e.operation) as rows, 'announce_' || e.operation as name,
      format('events.announce_%s_%s', c.relname, e.operation) as routine
    from events.subject s join pg_class c on c.oid = s.relation
    cross join (values ('insert', 'new table as new_rows'), ('update', 'old table as old_rows new table as new_rows'), ('delete', 'old table as old_rows'))
      e (operation, tables)
  loop
    if item.rows is null then
      execute format('drop trigger if exists %I on %s', item.name, item.relation);
      execute format('drop function if exists %s()', item.routine);
      continue;
    end if;
    -- A plan is kept for all later calls: one that suits a single row must not meet a thousand
    execute format($f$create or replace function %s() returns trigger
      language plpgsql security definer set search_path = pg_catalog, pg_temp%s as $b$
      begin
        insert into events.outbox (topic, subject_id, entity_id, data, changed_fields, cause)
        select e.*, (select events.cause()) from (%s) e (topic, subject_id, entity_id, data, changed_fields);
        return null;
      end
      $b$ $f$, item.routine, case item.operation when 'update' then ' set enable_nestloop = off set enable_hashjoin = on' end, item.rows);
    execute format('comment on function %s() is %L', item.routine, 'Trigger, made by events.derive_announcements: writes the events of '
      || item.operation || 's of ' || item.relation || ' into the outbox.');
    perform api_meta.give(format('%s()', item.routine)::regprocedure, 'service_recorder');
    if not exists (select from pg_trigger t where t.tgrelid = item.relation and t.tgname = item.name) then
      -- By its name it comes before the triggers that keep figures, and so before the events of these
      execute format('create trigger %I after %s on %s referencing %s for each statement execute function %s()',
        item.name, item.operation, item.relation, item.tables, item.routine);
    end if;
  end loop;
end
$$;
comment on function events.derive_announcements() is
  'Makes the triggers that write events down out of what is declared. Runs after each migration.';
--! EndIncluded functions/events/announcements.sql
--! Included functions/events/sequence_events.sql
create or replace function events.sequence_events(batch integer default 1000) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
-- Plans are kept while the tables grow: they must be good for large ones from the first call on
set enable_seqscan = off as $$
declare
  head bigint;
  moved integer;
begin
  select h.last_sequence into head from events.log_head h for no key update skip locked;
  if not found then
    return null;
  end if;

  with taken as (
    delete from events.outbox o
    where o.position = any (array(select w.position from events.outbox w order by w.position limit batch))
    returning o.*
  ), numbered as (
    select head + row_number() over (order by t.position) as sequence, t.* from taken t
  )
  insert into events.event (sequence, id, topic, subject_id, entity_id, data, changed_fields, cause, occurred_at)
  select n.sequence, events.event_id(n.sequence), n.topic, n.subject_id, n.entity_id, n.data, n.changed_fields, n.cause, n.occurred_at
  from numbered n order by n.sequence;
  get diagnostics moved = row_count;
  if moved > 0 then
    update events.log_head h set last_sequence = head + moved;
    perform events.fan_out(head, head + moved);
  end if;
  return moved;
end
$$;
comment on function events.sequence_events(integer) is
  'Moves what has been committed since the last time from the outbox into the log, as much as a batch, and makes deliveries of it. What becomes visible later gets a later number, so readers of the log miss nothing, and events of one entity keep their order. One process at a time: answers null when another one is at it, else how many events it moved.';

create or replace function events.event_id(sequence bigint) returns uuid
language sql volatile
-- Version 8 of RFC 9562: 48 bits of our own first, the rest random
return overlay(overlay(gen_random_uuid()::text
  placing lpad(to_hex(sequence >> 16), 8, '0') || '-' || lpad(to_hex(sequence & 65535), 4, '0') from 1) placing '8' from 15)::uuid;
comment on function events.event_id(bigint) is 'A new id for the event with this number. Ids sort as the numbers do.';

create or replace function events.fan_out(after bigint, up_to bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- Whoever changes subscriptions, deliveries and lanes locks them in this order, and subscriptions by their ids
  perform from events.webhook_subscription s
  where s.enabled and s.topic in (select e.topic from events.event e where e.sequence > after and e.sequence <= up_to)
  order by s.id for no key update;

  with made as (
    insert into events.delivery (subscription_id, sequence, event_id, entity_id, previous_sequence)
    select s.id, e.sequence, e.id, e.entity_id,
      coalesce(lag(e.sequence) over (partition by s.id order by e.sequence), s.last_sequence)
    from events.event e join events.webhook_subscription s on s.topic = e.topic
    where e.sequence > after and e.sequence <= up_to and s.enabled and events.concerns(s.fields, e.changed_fields)
    order by e.sequence, s.id
    returning subscription_id, sequence, entity_id
  ), noted as (
    update events.webhook_subscription s set last_sequence = m.last_sequence, backlog_count = s.backlog_count + m.count
    from (select made.subscription_id, max(made.sequence) as last_sequence, count(*) as count from made group by made.subscription_id) m
    where s.id = m.subscription_id
  )
  insert into events.lane (subscription_id, entity_id, pending)
  select made.subscription_id, made.entity_id, count(*) from made
  group by made.subscription_id, made.entity_id order by made.subscription_id, made.entity_id
  on conflict (subscription_id, entity_id) do update set pending = lane.pending + excluded.pending;
end
$$;
comment on function events.fan_out(bigint, bigint) is 'Makes deliveries of new events of the log, one for each enabled subscription that they concern.';

create or replace function events.concerns(fields text[], changed_fields text[]) returns boolean
language sql immutable parallel safe
return fields is null or changed_fields is null or fields && changed_fields;
comment on function events.concerns(text[], text[]) is
  'Whether a subscription to changes of some fields wants an event. What is no update always concerns it.';
--! EndIncluded functions/events/sequence_events.sql
--! Included functions/events/prune.sql
create or replace function events.prune(batch integer default 500) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lifetime constant interval := interval '30 days';
  old bigint[];
  old_tests uuid[];
begin
  -- The log is in the order of time, so what is old stands at its beginning
  old := array(
    select e.sequence from (select x.sequence, x.recorded_at from events.event x order by x.sequence limit batch) e
    where e.recorded_at < now() - lifetime);
  old_tests := array(
    select d.id from events.delivery d where d.sequence is null and d.created_at < now() - lifetime order by d.created_at limit batch);
  perform events.cancel_deliveries(array(
    select d.id from events.delivery d where d.sequence = any (old) and d.state = 'pending'
    union all select d.id from events.delivery d where d.id = any (old_tests) and d.state = 'pending'));
  delete from events.delivery d where d.id = any (old_tests);
  -- Deliveries and their attempts go with it
  delete from events.event e where e.sequence = any (old);
  delete from events.webhook_secret s where s.expires_at < now();
  return cardinality(old) + cardinality(old_tests);
end
$$;
comment on function events.prune(integer) is
  'Deletes events that were recorded more than 30 days ago, with their deliveries, at most as many as the batch; tests likewise; and secrets that have expired. Answers how many: to be called again until that is 0.';

create or replace function events.cancel_deliveries(delivery_ids uuid[]) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  cancelled integer;
begin
  perform from events.webhook_subscription s
  where s.id in (select d.subscription_id from events.delivery d where d.id = any (delivery_ids)) order by s.id for no key update;
  with ended as (
    update events.delivery d set state = 'cancelled', next_attempt_at = null
    where d.id = any (delivery_ids) and d.state = 'pending' returning d.subscription_id, d.entity_id
  ), noted as (
    update events.webhook_subscription s set backlog_count = greatest(s.backlog_count - e.count, 0)
    from (select ended.subscription_id, count(*) as count from ended group by ended.subscription_id) e where s.id = e.subscription_id
  ), shortened as (
    update events.lane l set pending = l.pending - e.count
    from (select ended.subscription_id, ended.entity_id, count(*) as count from ended group by ended.subscription_id, ended.entity_id) e
    where l.subscription_id = e.subscription_id and l.entity_id = e.entity_id
  )
  select count(*) into cancelled from ended;
  delete from events.lane l using events.delivery d
  where d.id = any (delivery_ids) and l.subscription_id = d.subscription_id and l.entity_id = d.entity_id and l.pending = 0;
  return cancelled;
end
$$;
comment on function events.cancel_deliveries(uuid[]) is 'Takes pending deliveries out of their lanes: they are not sent any more. Answers how many.';
--! EndIncluded functions/events/prune.sql
--! Included functions/events/schema.sql
create or replace function events.value_schema(field events.field, relation regclass) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  with col as (
    select a.attname, format_type(a.atttypid, null) as type, a.attnotnull as not_null, col_description(a.attrelid, a.attnum) as note,
      (select string_agg(pg_get_constraintdef(c.oid), ' ') from pg_constraint c where c.conrelid = a.attrelid and c.conkey = array[a.attnum] and c.contype = 'c') as checks
    from pg_attribute a where a.attrelid = relation and a.attname = field.column_name
  ), described as (
    select case
        when field.id_of is not null then jsonb_build_object('type', 'string', 'pattern', format('^gid://service/%s/[0-9a-f-]{36}$', field.id_of))
        when type = 'timestamp with time zone' then '{"type": "string", "format": "date-time"}'
        when type in ('smallint', 'integer', 'bigint') then '{"type": "integer"}'
        when type = 'numeric' then '{"type": "number"}'
        when type = 'boolean' then '{"type": "boolean"}'
        when type = 'text[]' or checks like '%is_string_array%' then '{"type": "array", "items": {"type": "string"}}'
        when type = 'jsonb' and checks like $$%jsonb_typeof(%) = 'object'%$$ then '{"type": "object"}'
        when type = 'jsonb' and checks like $$%jsonb_typeof(%) = 'array'%$$ then '{"type": "array"}'
        when type in ('text', 'character varying') then '{"type": "string"}'
      end as base, not_null, coalesce(note, case
        when attname = 'id' then 'Global id.'
        when attname = 'created_at' then 'When it was made.'
        when attname = 'updated_at' then 'When it was last changed; null when it never was.'
        when field.id_of is not null then 'Global id of the ' || lower(regexp_replace(field.id_of, '(?<=[a-z])(?=[A-Z])', ' ', 'g')) || '.'
      end) as note
    from col
  )
  select case when not_null then base else base || jsonb_build_object('type', jsonb_build_array(base ->> 'type', 'null')) end
    || jsonb_strip_nulls(jsonb_build_object('description', note))
  from described;
end;
comment on function events.value_schema(events.field, regclass) is 'JSON Schema of a field, from the column that it shows.';

create or replace function events.schema(topic text) returns json
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select json_build_object(
    '$schema', 'https://json-schema.org/draft/2020-12/schema',
    'title', t.name,
    'description', t.description,
    'type', 'object',
    'required', '["type", "timestamp", "sequence", "previousSequence", "apiVersion", "changedFields", "cause", "data"]'::json,
    'properties', json_build_object(
      'type', json_build_object('const', t.name),
      'timestamp', '{"type": "string", "format": "date-time", "description": "When it happened."}'::json,
      'sequence', json_build_object('type', case when t.subscribable then 'integer' else 'null' end, 'description', 'Number in the log, which has no gaps.'),
      'previousSequence', json_build_object('type', case when t.subscribable then '["integer", "null"]'::json else '"null"' end,
        'description', 'Number of the event before it that was meant for the same subscription; null for the first one.'),
      'apiVersion', '{"type": "string", "description": "Version of the API that the subscription is set to."}'::json,
      'changedFields', case when o.operations @> '{update}'
        then json_build_object('type', case when o.operations = '{update}' then '"array"'::json else '["array", "null"]' end,
          'items', json_build_object('enum', changeable.names), 'description', 'Fields of data that were changed.')
        else '{"type": "null"}' end,
      'cause', '{"type": "object", "required": ["credentialId", "requestId", "idempotencyKey"],
        "description": "Which request it was; nulls for what another program did.", "properties": {
        "credentialId": {"type": ["string", "null"], "pattern": "^gid://service/Credential/[0-9a-f-]{36}$"},
        "requestId": {"type": ["string", "null"]}, "idempotencyKey": {"type": ["string", "null"]}}}'::json,
      'data', json_build_object(
        'title', t.subject_type, 'type', 'object', 'required', shown.names, 'properties', shown.properties,
        'description', case when o.operations = '{delete}' then 'What is gone.' else 'What it happened to, as it was then.' end)
    ))
  from events.topic t join events.subject s on s.type = t.subject_type
  cross join lateral (
    select json_agg(f.name order by f.position) as names, json_object_agg(f.name, events.value_schema(f, s.relation) order by f.position) as properties
    from events.field f where f.subject_type = t.subject_type and (t.fields is null or f.name = any (t.fields))
  ) shown
  cross join lateral (
    select json_agg(f.name order by f.position) as names
    from events.field f where f.subject_type = t.subject_type and f.column_name <> all ('{id,created_at,updated_at}')
  ) changeable
  cross join lateral (select coalesce(array_agg(o.operation order by o.operation), '{}') as operations from events.occasion o where o.topic = t.name) o
  where t.name = schema.topic;
end;
comment on function events.schema(text) is
  'JSON Schema of the bodies of a topic. `npm run schema` writes them to docs/events. Fields may be added without notice, so the schema allows more than it names.';
--! EndIncluded functions/events/schema.sql
--! Included functions/events/scopes_of_subscription.sql
create or replace function events.scopes_of_subscription(subscription_id uuid) returns text[]
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select case when s.credential_id is null then array(select auth.known_scopes()) else c.scopes end
  from events.webhook_subscription s join events.topic t on t.name = s.topic
  left join auth.credential c on c.id = s.credential_id and c.deactivated_at is null
  where s.id = scopes_of_subscription.subscription_id and (s.credential_id is null or t.scope = any (c.scopes));
end;
comment on function events.scopes_of_subscription(uuid) is
  'What may be sent to a subscriber, to be asked at every attempt: the scopes that the credential behind the subscription has now; all of them where an administrator made it. Null when the credential is gone or deactivated, or has lost the scope of the topic: then nothing may be sent.';
--! EndIncluded functions/events/scopes_of_subscription.sql
--! Included functions/events/forbidden_host.sql
create or replace function events.host_of(url text) returns text
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp
begin atomic
  select lower(coalesce(m[1], m[2])) from regexp_match(url, '^https?://(?:\[([0-9a-fA-F:.]+)\]|([^/:?#\[\]@]+))(?::\d+)?(?:[/?#]|$)') m;
end;
comment on function events.host_of(text) is 'The name or the address in a URL of the web, without the brackets of IPv6; null when it has none, or has a user name.';

create or replace function events.is_private_address(address inet) returns boolean
language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp
begin atomic
  select case family(address)
    when 4 then address <<= any (array['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12',
      '192.0.0.0/24', '192.0.2.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3']::inet[])
    -- What is not given out for the public internet, and what carries an address of IPv4 within
    else not address <<= inet '2000::/3' or address <<= any (array['2001::/32', '2001:db8::/32', '2002::/16']::inet[])
  end;
end;
comment on function events.is_private_address(inet) is 'Whether an address is none of the public internet: private, of this machine, link-local, shared, reserved or multicast.';

create or replace function events.is_forbidden_host(host text) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  allowed constant text[] := regexp_split_to_array(btrim(lower(coalesce(current_setting('service.webhook_allow', true), ''))), '[\s,]+');
  address inet;
begin
  if host is null or host = any (allowed) then
    -- An address without a host is wrong, which a constraint says
    return false;
  end if;
  if host ~ '^\d{1,3}(\.\d{1,3}){3}$' or host ~ ':' then
    if not pg_input_is_valid(host, 'inet') then
      return true;
    end if;
    address := host::inet;
    return events.is_private_address(address)
      and not exists (select from unnest(allowed) a where pg_input_is_valid(a, 'inet') and address <<= a::inet);
  end if;
  -- Other spellings of addresses, such as 0x7f.1 and 2130706433, end in a number; names do not
  return host ~ '(^|\.)(\d+|0x[0-9a-f]*)\.?$' or host ~ '(^|\.)(localhost|local|internal|home\.arpa)\.?$';
end
$$;
comment on function events.is_forbidden_host(text) is
  'Whether webhooks may not be sent to a host, as far as its name tells: addresses that are none of the public internet, and names that lead to such by custom. The operator allows names, addresses and ranges by the setting service.webhook_allow. Where a name leads is checked at each delivery.';
--! EndIncluded functions/events/forbidden_host.sql
--! Included functions/events/webhook_subscription.sql
create or replace function events.require_scope(topic text, field text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  needed constant text := (select t.scope from events.topic t where t.name = topic);
begin
  if not auth.has_scope(needed) then
    perform mutation.refuse('SCOPE_MISSING', format('Whoever is told of %s must be allowed to read it: the scope %s is missing.', topic, needed),
      field, jsonb_build_object('scope', needed));
  end if;
end
$$;
comment on function events.require_scope(text, text[]) is 'Sees to it that the caller may read what a topic is about. User error SCOPE_MISSING.';

create or replace function events.require_settings(subscription events.webhook_subscription) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  known constant text[] := array(
    select f.name from events.topic t
    join events.occasion o on o.topic = t.name and o.operation = 'update'
    join events.field f on f.subject_type = t.subject_type and f.column_name <> all ('{id,created_at,updated_at}')
    where t.name = subscription.topic order by f.position);
  unknown constant text[] := array(select unnest(subscription.fields) except select unnest(known) order by 1);
begin
  if to_regnamespace('api_' || replace(subscription.api_version, '-', '_')) is null or subscription.api_version !~ '^(unstable|\d[\w-]*)$' then
    perform mutation.refuse('INVALID', 'There is no such version of the API.', '{api_version}');
  elsif subscription.fields = '{}' then
    perform mutation.refuse('INVALID', 'Name fields, or leave them out to be told of every change.', '{fields}');
  elsif unknown <> '{}' then
    perform mutation.refuse('INVALID', format('Events of the topic %s tell of no changes of %s.', subscription.topic, array_to_string(unknown, ', ')), '{fields}',
      jsonb_build_object('fields', known));
  elsif erp.is_blank(subscription.payload_query) then
    perform mutation.refuse('INVALID', 'The query is empty.', '{payload_query}');
  elsif subscription.url ~ '^https?://' and events.is_forbidden_host(events.host_of(subscription.url)) then
    perform mutation.refuse('URL_FORBIDDEN', 'Nothing is sent to this host: it is none of the public internet.', '{url}');
  end if;
end
$$;
comment on function events.require_settings(events.webhook_subscription) is
  'Checks what was entered about a subscription, beyond its constraints. User errors INVALID, URL_FORBIDDEN.';

create or replace function events.caller() returns uuid
language sql stable set search_path = pg_catalog, pg_temp
return nullif(pg_catalog.current_setting('service.credential_id', true), '')::pg_catalog.uuid;
comment on function events.caller() is 'The credential of the request.';

create or replace function events.lock_subscription(subscription_id uuid) returns events.webhook_subscription
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present events.webhook_subscription;
begin
  select * into present from events.webhook_subscription s where s.id = subscription_id for no key update;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such webhook subscription.', '{id}');
  end if;
  perform events.require_scope(present.topic, '{id}');
  return present;
end
$$;
comment on function events.lock_subscription(uuid) is
  'A subscription to work on. Every way to make one send something, or send it elsewhere, needs the scope of its topic. User errors NOT_FOUND, SCOPE_MISSING.';

create or replace function events.require_enabled(subscription events.webhook_subscription) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not subscription.enabled then
    perform mutation.refuse('INVALID_STATE_TRANSITION', 'The subscription is disabled. Enable it first.', '{id}',
      '{"state": "DISABLED", "allowedActions": ["enable"]}');
  end if;
end
$$;
comment on function events.require_enabled(events.webhook_subscription) is 'Refuses to send for a disabled subscription. User error INVALID_STATE_TRANSITION.';

create or replace function events.new_secret(subscription_id uuid) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Three times 122 bits out of the strong source of Postgres, mixed into 256
  secret constant text := 'whsec_' || encode(sha256(
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64');
begin
  update events.webhook_secret s set expires_at = date_trunc('second', now()) + interval '24 hours'
  where s.subscription_id = new_secret.subscription_id and s.expires_at is null;
  insert into events.webhook_secret (subscription_id, secret) values (new_secret.subscription_id, secret);
  return secret;
end
$$;
comment on function events.new_secret(uuid) is
  'Gives a subscription a secret, and answers it, once. The one before signs too for 24 hours more.';

create or replace function events.create_webhook_subscription(topic text, url text, api_version text, fields text[], payload_query text, enabled boolean)
returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  wanted events.webhook_subscription;
begin
  if not exists (select from events.topic t where t.name = create_webhook_subscription.topic and t.subscribable) then
    perform mutation.refuse('INVALID', 'There is no such topic.', '{topic}',
      jsonb_build_object('topics', (select jsonb_agg(t.name order by t.name) from events.topic t where t.subscribable)));
  end if;
  perform events.require_scope(topic, '{topic}');
  wanted.topic := topic; wanted.url := url; wanted.api_version := api_version; wanted.fields := fields; wanted.payload_query := payload_query;
  perform events.require_settings(wanted);
  insert into events.webhook_subscription as s (credential_id, topic, url, api_version, fields, payload_query)
  values (events.caller(), wanted.topic, wanted.url, wanted.api_version, wanted.fields, wanted.payload_query) returning s.id into wanted.id;
  if not enabled then
    perform events.disable_webhook_subscription(wanted.id);
  end if;
  return wanted.id;
end
$$;
comment on function events.create_webhook_subscription(text, text, text, text[], text, boolean) is
  'Subscribes the caller to a topic. Answers the id; a secret is yet to be made. User errors INVALID, SCOPE_MISSING, URL_FORBIDDEN.';

create or replace function events.update_webhook_subscription(subscription_id uuid, changes jsonb) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant events.webhook_subscription := events.lock_subscription(subscription_id);
  wanted constant events.webhook_subscription := jsonb_populate_record(present,
    (select coalesce(jsonb_object_agg(c.key, c.value), '{}') from jsonb_each(changes) c where c.key in ('url', 'api_version', 'fields', 'payload_query', 'enabled')));
begin
  perform events.require_settings(wanted);
  -- What it sends from now on is on the account of whoever says so
  update events.webhook_subscription s
  set url = wanted.url, api_version = wanted.api_version, fields = wanted.fields, payload_query = wanted.payload_query,
    credential_id = events.caller()
  where s.id = present.id;
  if wanted.enabled is null then
    perform mutation.refuse('REQUIRED', 'This must not be null.', '{enabled}');
  elsif present.enabled and not wanted.enabled then
    perform events.disable_webhook_subscription(present.id);
  elsif wanted.enabled and not present.enabled then
    perform events.enable_webhook_subscription(present.id);
  end if;
  return present.id;
end
$$;
comment on function events.update_webhook_subscription(uuid, jsonb) is
  'Changes of a subscription what the object names. Its topic stays: deliveries of it may be waiting. Answers its id.';

create or replace function events.disable_webhook_subscription(subscription_id uuid) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update events.webhook_subscription s
  set enabled = false, health = 'DISABLED', health_reason = 'It was disabled through the API.', disabled_at = now()
  where s.id = subscription_id;
  update events.lane l set next_attempt_at = 'infinity' where l.subscription_id = disable_webhook_subscription.subscription_id;
end
$$;
comment on function events.disable_webhook_subscription(uuid) is
  'Stops a subscription. What waits to be delivered waits until it is enabled again; what happens in between is not meant for it.';

create or replace function events.enable_webhook_subscription(subscription_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant events.webhook_subscription := events.lock_subscription(subscription_id);
begin
  perform events.require_settings(present);
  update events.webhook_subscription s
  set enabled = true, health = 'HEALTHY', health_reason = null, failing_since = null, consecutive_failures = 0,
    next_probe_at = null, disabled_at = null, credential_id = events.caller()
  where s.id = present.id;
  update events.lane l set next_attempt_at = clock_timestamp(), attempts = 0 where l.subscription_id = present.id;
  return present.id;
end
$$;
comment on function events.enable_webhook_subscription(uuid) is
  'Lets a subscription go on, on the account of the caller: what waits is delivered at once, and troubles are forgotten. Answers its id.';

create or replace function events.rotate_webhook_secret(subscription_id uuid) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform events.lock_subscription(subscription_id);
  return events.new_secret(subscription_id);
end
$$;
comment on function events.rotate_webhook_secret(uuid) is 'Gives a subscription a new secret, and answers it.';

create or replace function events.delete_webhook_subscription(subscription_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from events.webhook_subscription s where s.id = subscription_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such webhook subscription.', '{id}');
  end if;
  return subscription_id;
end
$$;
comment on function events.delete_webhook_subscription(uuid) is 'Deletes a subscription with its secrets and deliveries. Answers its id.';
--! EndIncluded functions/events/webhook_subscription.sql
--! Included functions/events/webhook_delivery.sql
create or replace function events.enqueue(delivery_ids uuid[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update events.webhook_subscription s set backlog_count = s.backlog_count + d.count
  from (select d.subscription_id, count(*) as count from events.delivery d where d.id = any (delivery_ids) group by d.subscription_id) d
  where s.id = d.subscription_id;
  insert into events.lane (subscription_id, entity_id, pending)
  select d.subscription_id, d.entity_id, count(*) from events.delivery d where d.id = any (delivery_ids)
  group by d.subscription_id, d.entity_id order by d.subscription_id, d.entity_id
  on conflict (subscription_id, entity_id) do update
  set pending = lane.pending + excluded.pending, next_attempt_at = excluded.next_attempt_at, attempts = 0;
end
$$;
comment on function events.enqueue(uuid[]) is
  'Puts deliveries that have just become pending into their lanes, which are tried at once. The caller has locked the subscriptions.';

create or replace function events.test_webhook_subscription(subscription_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  present constant events.webhook_subscription := events.lock_subscription(subscription_id);
  made uuid;
begin
  perform events.require_enabled(present);
  insert into events.delivery as d (subscription_id, event_id, entity_id) values (present.id, gen_random_uuid(), present.id) returning d.id into made;
  perform events.enqueue(array[made]);
  return made;
end
$$;
comment on function events.test_webhook_subscription(uuid) is 'Sends a test to a subscriber: an event of the topic webhook_subscription.test. Answers the delivery.';

create or replace function events.retry_delivery(delivery_id uuid) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  subscription events.webhook_subscription;
  present events.delivery;
begin
  select * into present from events.delivery d where d.id = delivery_id;
  if not found then
    perform mutation.refuse('NOT_FOUND', 'There is no such delivery, or no longer.', '{id}');
  end if;
  subscription := events.lock_subscription(present.subscription_id);
  perform events.require_enabled(subscription);
  update events.delivery d set state = 'pending', next_attempt_at = null, delivered_at = null where d.id = delivery_id and d.state <> 'pending';
  if found then
    perform events.enqueue(array[delivery_id]);
  else
    update events.lane l set next_attempt_at = clock_timestamp(), attempts = 0
    where l.subscription_id = present.subscription_id and l.entity_id = present.entity_id;
  end if;
  return delivery_id;
end
$$;
comment on function events.retry_delivery(uuid) is
  'Delivers something again, whatever became of it, or at once what was to be tried later. Answers its id.';

create or replace function events.replay_deliveries(subscription_id uuid, from_sequence numeric, to_sequence numeric,
  from_time timestamptz, to_time timestamptz, only_undelivered boolean) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  most constant integer := 10000;
  present constant events.webhook_subscription := events.lock_subscription(subscription_id);
  wanted bigint[];
  queued uuid[];
begin
  perform events.require_enabled(present);
  if num_nonnulls(from_sequence, from_time) <> 1 then
    perform mutation.refuse('REQUIRED', 'Say where to begin: by a sequence or by a time.', '{from_sequence}');
  elsif num_nonnulls(to_sequence, to_time) > 1 then
    perform mutation.refuse('INVALID', 'Say where to end by a sequence or by a time, not both.', '{to_sequence}');
  end if;
  wanted := array(
    select e.sequence from events.event e left join events.delivery d on d.sequence = e.sequence and d.subscription_id = present.id
    where e.topic = present.topic and events.concerns(present.fields, e.changed_fields)
      and (from_sequence is null or e.sequence >= ceil(least(greatest(from_sequence, 0), 9e18))::bigint)
      and (to_sequence is null or e.sequence <= floor(least(greatest(to_sequence, 0), 9e18))::bigint)
      and (from_time is null or e.occurred_at >= from_time) and (to_time is null or e.occurred_at <= to_time)
      and (d.id is null or d.state <> 'pending' and not (d.state = 'delivered' and coalesce(only_undelivered, false)))
    order by e.sequence limit most + 1);
  if cardinality(wanted) > most then
    perform mutation.refuse('OUT_OF_RANGE', format('These are more than %s events. Take a part at a time.', most),
      array[case when to_time is null then 'to_sequence' else 'to_time' end], jsonb_build_object('maximum', most, 'lastSequence', wanted[most]));
  end if;
  with again as (
    update events.delivery d set state = 'pending', next_attempt_at = null, delivered_at = null
    where d.subscription_id = present.id and d.sequence = any (wanted) returning d.id, d.sequence
  ), missed as (
    -- What happened before it was there, while it was disabled, or did not concern it then
    insert into events.delivery as n (subscription_id, sequence, event_id, entity_id, previous_sequence)
    select present.id, e.sequence, e.id, e.entity_id, coalesce(lag(e.sequence) over (order by e.sequence),
      (select max(p.sequence) from events.delivery p where p.subscription_id = present.id and p.sequence < e.sequence))
    from events.event e
    where e.sequence = any (wanted) and not exists (select from events.delivery d where d.subscription_id = present.id and d.sequence = e.sequence)
    order by e.sequence
    returning n.id
  )
  select array(select id from again union all select id from missed) into queued;
  perform events.enqueue(queued);
  update events.webhook_subscription s set last_sequence = greatest(s.last_sequence, wanted[cardinality(wanted)])
  where s.id = present.id and cardinality(wanted) > 0;
  return cardinality(queued);
end
$$;
comment on function events.replay_deliveries(uuid, numeric, numeric, timestamptz, timestamptz, boolean) is
  'Delivers the events of a part of the log again, or for the first time, that concern a subscription. What waits anyway stays as it is. Answers how many.';
--! EndIncluded functions/events/webhook_delivery.sql
--! Included functions/mutation/run.sql
create or replace function mutation.run(version name, operation name, input jsonb, idempotency_key text, validate_only boolean) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  lifetime constant interval := interval '24 hours';
  nobody constant text := '00000000-0000-0000-0000-000000000000';
  caller constant uuid := coalesce(nullif(current_setting('service.credential_id', true), ''), nobody)::uuid;
  digest constant bytea := sha256(convert_to(operation || ' ' || input::text, 'UTF8'));
  target record;
  earlier record;
  result jsonb;
  errors jsonb;
  state text; message text; detail text; violated_schema text; violated_table text; violated_column text; violated_constraint text;
begin
  select p.oid::regproc as routine, p.proargtypes[0]::regtype as input_type, p.pronargs > 1 as takes_changes,
    regexp_split_to_array(substring(obj_description(p.oid, 'pg_proc') from '(?n)^@requiresScopes +(.*)$'), ' +') as scopes,
    p.prorettype as payload_type
  into target
  from pg_proc p where p.pronamespace = to_regnamespace(quote_ident(version)) and p.proname = operation and version ~ '^api_(unstable|\d)';
  if target.scopes is null then
    raise exception 'There is no mutation %.%.', version, operation using errcode = 'undefined_function';
  end if;
  if not auth.has_scope(variadic target.scopes) then
    raise exception '%.% needs the scope %.', version, operation, array_to_string(target.scopes, ' or ') using errcode = 'insufficient_privilege';
  end if;

  -- The first fence stands before GraphQL, and may not have heard yet
  if (select p.name from auth.current_plan() p) is distinct from 'full' then
    raise exception 'The plan allows no mutations.' using errcode = 'UE003';
  end if;

  begin
    if idempotency_key is not null then
      if length(idempotency_key) not between 1 and 255 then
        perform mutation.refuse('OUT_OF_RANGE', 'An idempotency key has 1 to 255 characters.', '{idempotency_key}');
      end if;
      -- Whoever comes with the same key at the same time waits here until the first has committed or failed.
      insert into mutation.idempotency_key as k (credential_id, key, request) values (caller, idempotency_key, digest)
      on conflict (credential_id, key) do update set request = excluded.request, payload = null, created_at = excluded.created_at
        where k.created_at < now() - lifetime;
      if not found then
        select k.request, k.payload into strict earlier
        from mutation.idempotency_key k where k.credential_id = caller and k.key = idempotency_key;
        if earlier.request <> digest then
          perform mutation.refuse('IDEMPOTENCY_KEY_MISMATCH', 'The key was used for another input in the last 24 hours.', '{idempotency_key}');
        end if;
        return jsonb_build_object('payload', case when not validate_only then earlier.payload end, 'userErrors', '[]'::jsonb);
      end if;
    end if;
    -- Events say what caused them
    perform set_config('service.idempotency_key', coalesce(idempotency_key, ''), true);

    execute format('select to_jsonb(r) from %s(jsonb_populate_record(null::%s, $1)%s) r',
      target.routine, target.input_type, case when target.takes_changes then ', $1' end)
    into result using input;
    set constraints all immediate;

    if validate_only then
      raise exception 'It would have worked.' using errcode = 'UE002';
    end if;
    if idempotency_key is not null then
      update mutation.idempotency_key k set payload = result - mutation.secrets_of(target.payload_type) where k.credential_id = caller and k.key = idempotency_key;
      -- Old keys go a few at a time, so that no call pays for many.
      delete from mutation.idempotency_key k where k.ctid = any (array(
        select o.ctid from mutation.idempotency_key o where o.created_at < now() - lifetime
        order by o.created_at limit 5 for update skip locked));
    end if;
    return jsonb_build_object('payload', result, 'userErrors', '[]'::jsonb);
  exception
    when sqlstate 'UE002' then
      errors := '[]';
    when sqlstate 'UE001' then
      get stacked diagnostics detail = pg_exception_detail;
      errors := detail::jsonb;
    when numeric_value_out_of_range then
      errors := jsonb_build_array(mutation.user_error('OUT_OF_RANGE', 'A quantity or an amount would become larger than can be kept.'));
    when integrity_constraint_violation then
      get stacked diagnostics state = returned_sqlstate, message = message_text, violated_schema = schema_name, violated_table = table_name,
        violated_column = column_name, violated_constraint = constraint_name;
      errors := jsonb_build_array(case
        -- The caller gave null for what must not be null
        when state = '23502' and input ? violated_column then
          mutation.user_error('REQUIRED', 'This must not be null.', array[violated_column])
        -- A foreign key says: on delete restrict
        when state = '23001' then
          mutation.user_error('REFERENCE_IN_USE', 'Something else still refers to it.')
        else mutation.violation(violated_schema, violated_table, violated_constraint)
      end);
      if errors -> 0 = 'null' then raise; end if;
  end;
  return jsonb_build_object('payload', null, 'userErrors', errors);
end
$$;
comment on function mutation.run(name, name, jsonb, text, boolean) is
  'Runs a mutation: the function of that name in the API schema of a version, with its input as JSON. The only way in for service_api: needs the scope in the tag @requiresScopes of the function''s comment. Answers {payload, userErrors}; with user errors nothing has been changed. A key makes a repetition within 24 hours answer the first payload again. With validate_only everything is undone. Other errors are raised: UE003 when the plan allows no mutations, faults, and collisions that are worth another try.';

create or replace function mutation.secrets_of(payload_type oid) returns text[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
  select array(
    select a.attname::text from pg_type t join pg_attribute a on a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
    where t.oid = payload_type and col_description(a.attrelid, a.attnum) ~ '(?n)^@secret$');
end;
comment on function mutation.secrets_of(oid) is
  'The columns of a payload with the tag @secret. They are shown once: not when a mutation is repeated, so they are not stored.';
grant execute on function mutation.secrets_of(oid) to service_writer;
--! EndIncluded functions/mutation/run.sql

grant usage on schema events to service_recorder, service_delivery;
-- Without the position, which nobody chooses
select api_meta.allow('service_recorder', 'events.outbox', 'select', 'insert', 'delete');
select api_meta.allow('service_recorder', 'events.event', 'select', 'insert', 'delete');
select api_meta.allow('service_recorder', 'events.log_head', 'select', 'update (last_sequence)');
select api_meta.allow('service_recorder', 'events.webhook_subscription', 'select', 'update (last_sequence, backlog_count)');
select api_meta.allow('service_recorder', 'events.delivery', 'select', 'insert', 'delete', 'update (state, next_attempt_at)');
select api_meta.allow('service_recorder', 'events.lane', 'select', 'insert', 'delete', 'update (pending)');
grant execute on function events.cause(), events.event_id(bigint), events.fan_out(bigint, bigint), events.concerns(text[], text[]) to service_recorder;
select api_meta.allow('service_recorder', 'events.webhook_secret', 'select (expires_at)', 'delete');
grant execute on function events.cancel_deliveries(uuid[]) to service_recorder;
select api_meta.give(routine, 'service_recorder') from unnest(array['events.sequence_events(integer)', 'events.prune(integer)']::regprocedure[]) routine;
grant execute on function events.sequence_events(integer), events.prune(integer), events.scopes_of_subscription(uuid)
  to service_delivery;

select api_meta.allow('service_delivery', 'events.webhook_subscription', 'select',
  'update (enabled, health, health_reason, backlog_count, failing_since, consecutive_failures, last_delivered_at, next_probe_at, disabled_at)');
select api_meta.allow('service_delivery', 'events.webhook_secret', 'select');
select api_meta.allow('service_delivery', 'events.event', 'select');
select api_meta.allow('service_delivery', 'events.topic', 'select');
select api_meta.allow('service_delivery', 'events.delivery', 'select', 'update (state, attempts, next_attempt_at, delivered_at)');
select api_meta.allow('service_delivery', 'events.lane', 'select', 'delete',
  'update (pending, attempts, next_attempt_at, claimed_until, claimed_by)');
select api_meta.allow('service_delivery', 'events.delivery_attempt', 'select', 'insert');

-- Mutations
do $$
begin
  alter table events.webhook_subscription drop constraint if exists webhook_subscription_url_is_web,
    drop constraint if exists webhook_subscription_url_is_short, drop constraint if exists webhook_subscription_payload_query_is_short;
  alter table events.webhook_subscription
    add constraint webhook_subscription_url_is_web
      check (url ~ '^https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?([/?][^#[:space:][:cntrl:]]*)?$'),
    add constraint webhook_subscription_url_is_short check (length(url) <= 2000),
    add constraint webhook_subscription_payload_query_is_short check (length(payload_query) <= 10000);
end
$$;
comment on constraint webhook_subscription_url_is_web on events.webhook_subscription is
  E'@userError INVALID url\nThis is no address of the web: it begins with https:// or http://, and has no user name, fragment or spaces.';
comment on constraint webhook_subscription_url_is_short on events.webhook_subscription is
  E'@userError OUT_OF_RANGE url\nAn address has 2,000 characters at most.';
comment on constraint webhook_subscription_payload_query_is_short on events.webhook_subscription is
  E'@userError OUT_OF_RANGE payload_query\nA query has 10,000 characters at most.';
comment on constraint webhook_subscription_topic_has_a_subject on events.webhook_subscription is '@internal Topics are declared.';
comment on constraint webhook_subscription_health_is_known on events.webhook_subscription is '@internal Set by functions.';
comment on constraint webhook_subscription_backlog_is_not_negative on events.webhook_subscription is '@internal Counted by functions.';
comment on constraint lane_pending_is_not_negative on events.lane is '@internal Counted by functions.';
comment on constraint delivery_state_is_known on events.delivery is '@internal Set by functions.';

grant usage on schema events to service_writer;
select api_meta.allow('service_writer', 'events.topic', 'select');
select api_meta.allow('service_writer', 'events.field', 'select');
select api_meta.allow('service_writer', 'events.occasion', 'select');
select api_meta.allow('service_writer', 'events.event', 'select (sequence, id, topic, entity_id, changed_fields, occurred_at)');
select api_meta.allow('service_writer', 'events.webhook_subscription', 'select', 'insert', 'delete',
  'update (credential_id, url, api_version, fields, payload_query, enabled, health, health_reason, backlog_count, last_sequence, failing_since,
    consecutive_failures, next_probe_at, disabled_at)');
-- Writes secrets, and never reads one
select api_meta.allow('service_writer', 'events.webhook_secret', 'select (subscription_id, expires_at)', 'insert (subscription_id, secret)', 'update (expires_at)');
select api_meta.allow('service_writer', 'events.delivery', 'select', 'insert (subscription_id, sequence, event_id, entity_id, previous_sequence)',
  'update (state, next_attempt_at, delivered_at)');
select api_meta.allow('service_writer', 'events.lane', 'select', 'insert (subscription_id, entity_id, pending)', 'update (pending, attempts, next_attempt_at)');
grant execute on function auth.has_scope(text[]) to service_writer;
grant usage on schema auth to service_writer;
do $$
declare routine regprocedure;
begin
  for routine in select p.oid from pg_proc p where p.pronamespace = 'events'::regnamespace and p.proname = any ('{require_scope,require_settings,caller,
    lock_subscription,require_enabled,new_secret,create_webhook_subscription,update_webhook_subscription,disable_webhook_subscription,
    enable_webhook_subscription,rotate_webhook_secret,delete_webhook_subscription,enqueue,test_webhook_subscription,retry_delivery,replay_deliveries,
    host_of,is_private_address,is_forbidden_host,concerns}'::name[]) loop
    execute format('grant execute on function %s to service_writer', routine);
  end loop;
end
$$;

--! Included functions/api/webhook_subscription.sql
-- The secret is in the payload once: the tag @secret keeps it out of what is remembered under an idempotency key.
drop type if exists api_unstable.webhook_subscription_secret_payload cascade;
create type api_unstable.webhook_subscription_secret_payload as (webhook_subscription uuid, secret text, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_secret_payload is 'What subscribing and a new secret answer.';
comment on column api_unstable.webhook_subscription_secret_payload.webhook_subscription is E'@entity WebhookSubscription\nThe subscription as it is now; null when it was refused.';
comment on column api_unstable.webhook_subscription_secret_payload.secret is E'@secret\nWhat deliveries are signed with, by Standard Webhooks: whsec_ and the key in Base64. Shown this once: null when the mutation is repeated with its idempotency key.';
comment on column api_unstable.webhook_subscription_secret_payload.user_errors is 'Why nothing was changed; empty when it was.';
drop type if exists api_unstable.webhook_subscription_payload cascade;
create type api_unstable.webhook_subscription_payload as (webhook_subscription uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_payload is 'What changing a webhook subscription answers.';
comment on column api_unstable.webhook_subscription_payload.webhook_subscription is E'@entity WebhookSubscription\nThe subscription as it is now; null when it was refused.';
comment on column api_unstable.webhook_subscription_payload.user_errors is 'Why nothing was changed; empty when it was.';

drop type if exists api_unstable.webhook_subscription_create_input cascade;
create type api_unstable.webhook_subscription_create_input as (topic text, url text, api_version text, fields text[], payload_query text, enabled boolean);
comment on type api_unstable.webhook_subscription_create_input is 'A new webhook subscription.';
comment on column api_unstable.webhook_subscription_create_input.topic is E'@notNull\nWhat to be told of, for example order.created. Subscribing needs the scope that reads it.';
comment on column api_unstable.webhook_subscription_create_input.url is E'@notNull\nAddress that events are sent to by POST: https or http, a host of the public internet, 2,000 characters at most.';
comment on column api_unstable.webhook_subscription_create_input.api_version is E'@notNull\nVersion of the API that payloadQuery is written for, for example 2026-06-unstable.';
comment on column api_unstable.webhook_subscription_create_input.fields is 'Fields, as the data of the topic names them, of which one must have changed. Only for topics that tell of changes; without it, every change is told.';
comment on column api_unstable.webhook_subscription_create_input.payload_query is 'GraphQL query whose answer is the data of each message; the variable $id is the id of what the event is about. 10,000 characters at most.';
comment on column api_unstable.webhook_subscription_create_input.enabled is 'Whether events are sent from now on. True when left out.';

create function api_unstable.webhook_subscription_create(input api_unstable.webhook_subscription_create_input)
returns api_unstable.webhook_subscription_secret_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (made.id, events.new_secret(made.id), null)::api_unstable.webhook_subscription_secret_payload
  from events.create_webhook_subscription(input.topic, input.url, input.api_version, input.fields, input.payload_query,
    coalesce(input.enabled, true)) made (id)
$$;
comment on function api_unstable.webhook_subscription_create(api_unstable.webhook_subscription_create_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors INVALID OUT_OF_RANGE SCOPE_MISSING URL_FORBIDDEN
Has events of a topic sent to an address. Needs the scope that reads what the topic is about, now and as long as events are sent.$$;

drop type if exists api_unstable.webhook_subscription_update_input cascade;
create type api_unstable.webhook_subscription_update_input as (id uuid, url text, api_version text, fields text[], payload_query text, enabled boolean);
comment on type api_unstable.webhook_subscription_update_input is 'Changes of a webhook subscription. What is left out stays as it is. Its topic stays.';
comment on column api_unstable.webhook_subscription_update_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';
comment on column api_unstable.webhook_subscription_update_input.url is 'Address that events are sent to by POST: https or http, a host of the public internet, 2,000 characters at most.';
comment on column api_unstable.webhook_subscription_update_input.api_version is 'Version of the API that payloadQuery is written for, for example 2026-06-unstable.';
comment on column api_unstable.webhook_subscription_update_input.fields is 'Fields, as the data of the topic names them, of which one must have changed. Only for topics that tell of changes; without it, every change is told. Null for every change.';
comment on column api_unstable.webhook_subscription_update_input.payload_query is 'GraphQL query whose answer is the data of each message; the variable $id is the id of what the event is about. 10,000 characters at most. Null for none.';
comment on column api_unstable.webhook_subscription_update_input.enabled is 'False stops it: what waits is kept until it is enabled again, and what happens in between is not sent.';

create function api_unstable.webhook_subscription_update(input api_unstable.webhook_subscription_update_input, changes jsonb)
returns api_unstable.webhook_subscription_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.update_webhook_subscription(input.id, changes), null)::api_unstable.webhook_subscription_payload
$$;
comment on function api_unstable.webhook_subscription_update(api_unstable.webhook_subscription_update_input, jsonb) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE SCOPE_MISSING URL_FORBIDDEN
Changes a webhook subscription. From then on the scopes of the credential that changed it decide what is sent.$$;

drop type if exists api_unstable.webhook_subscription_delete_payload cascade;
create type api_unstable.webhook_subscription_delete_payload as (deleted_webhook_subscription_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_delete_payload is 'What deleting a webhook subscription answers.';
comment on column api_unstable.webhook_subscription_delete_payload.deleted_webhook_subscription_id is E'@gid WebhookSubscription\nId of the subscription that is gone; null when it was refused.';
comment on column api_unstable.webhook_subscription_delete_payload.user_errors is 'Why it was not deleted; empty when it was.';
drop type if exists api_unstable.webhook_subscription_delete_input cascade;
create type api_unstable.webhook_subscription_delete_input as (id uuid);
comment on type api_unstable.webhook_subscription_delete_input is 'A webhook subscription to delete.';
comment on column api_unstable.webhook_subscription_delete_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_delete(input api_unstable.webhook_subscription_delete_input) returns api_unstable.webhook_subscription_delete_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.delete_webhook_subscription(input.id), null)::api_unstable.webhook_subscription_delete_payload
$$;
comment on function api_unstable.webhook_subscription_delete(api_unstable.webhook_subscription_delete_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND
Deletes a webhook subscription with all that waits to be delivered, and the record of what was.$$;

drop type if exists api_unstable.webhook_subscription_rotate_secret_input cascade;
create type api_unstable.webhook_subscription_rotate_secret_input as (id uuid);
comment on type api_unstable.webhook_subscription_rotate_secret_input is 'A webhook subscription that gets a new secret.';
comment on column api_unstable.webhook_subscription_rotate_secret_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_rotate_secret(input api_unstable.webhook_subscription_rotate_secret_input) returns api_unstable.webhook_subscription_secret_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, events.rotate_webhook_secret(input.id), null)::api_unstable.webhook_subscription_secret_payload
$$;
comment on function api_unstable.webhook_subscription_rotate_secret(api_unstable.webhook_subscription_rotate_secret_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND SCOPE_MISSING
Gives a webhook subscription a new secret. For 24 hours deliveries are signed with the old one too, so that receivers can change over.$$;

drop type if exists api_unstable.webhook_subscription_enable_input cascade;
create type api_unstable.webhook_subscription_enable_input as (id uuid);
comment on type api_unstable.webhook_subscription_enable_input is 'A webhook subscription to enable.';
comment on column api_unstable.webhook_subscription_enable_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_enable(input api_unstable.webhook_subscription_enable_input) returns api_unstable.webhook_subscription_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.enable_webhook_subscription(input.id), null)::api_unstable.webhook_subscription_payload
$$;
comment on function api_unstable.webhook_subscription_enable(api_unstable.webhook_subscription_enable_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND INVALID SCOPE_MISSING URL_FORBIDDEN
Lets a webhook subscription go on that was disabled, and has what waits delivered at once, also where it was only failing. From then on the scopes of the credential that enabled it decide what is sent. What happened while it was disabled can be had by webhookDeliveriesReplay.$$;

drop type if exists api_unstable.webhook_subscription_test_payload cascade;
create type api_unstable.webhook_subscription_test_payload as (webhook_delivery_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_subscription_test_payload is 'What a test of a webhook subscription answers.';
comment on column api_unstable.webhook_subscription_test_payload.webhook_delivery_id is E'@gid WebhookDelivery\nId of the delivery; null when it was refused.';
comment on column api_unstable.webhook_subscription_test_payload.user_errors is 'Why nothing is sent; empty when it is.';
drop type if exists api_unstable.webhook_subscription_test_input cascade;
create type api_unstable.webhook_subscription_test_input as (id uuid);
comment on type api_unstable.webhook_subscription_test_input is 'A webhook subscription to test.';
comment on column api_unstable.webhook_subscription_test_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';

create function api_unstable.webhook_subscription_test(input api_unstable.webhook_subscription_test_input) returns api_unstable.webhook_subscription_test_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.test_webhook_subscription(input.id), null)::api_unstable.webhook_subscription_test_payload
$$;
comment on function api_unstable.webhook_subscription_test(api_unstable.webhook_subscription_test_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION SCOPE_MISSING
Sends an event of the type webhook_subscription.test, signed like any other. It is in no log and has no sequence.$$;
--! EndIncluded functions/api/webhook_subscription.sql
--! Included functions/api/webhook_delivery.sql
drop type if exists api_unstable.webhook_delivery_retry_payload cascade;
create type api_unstable.webhook_delivery_retry_payload as (webhook_delivery_id uuid, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_delivery_retry_payload is 'What trying a delivery again answers.';
comment on column api_unstable.webhook_delivery_retry_payload.webhook_delivery_id is E'@gid WebhookDelivery\nId of the delivery; null when it was refused.';
comment on column api_unstable.webhook_delivery_retry_payload.user_errors is 'Why it is not tried again; empty when it is.';
drop type if exists api_unstable.webhook_delivery_retry_input cascade;
create type api_unstable.webhook_delivery_retry_input as (id uuid);
comment on type api_unstable.webhook_delivery_retry_input is 'A delivery to try again.';
comment on column api_unstable.webhook_delivery_retry_input.id is E'@notNull\n@gid WebhookDelivery\nId of the delivery.';

create function api_unstable.webhook_delivery_retry(input api_unstable.webhook_delivery_retry_input) returns api_unstable.webhook_delivery_retry_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (events.retry_delivery(input.id), null)::api_unstable.webhook_delivery_retry_payload
$$;
comment on function api_unstable.webhook_delivery_retry(api_unstable.webhook_delivery_retry_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND INVALID_STATE_TRANSITION SCOPE_MISSING
Delivers an event again, whatever became of it before, or at once when it was to be tried later. Receivers know it by its webhook-id.$$;

drop type if exists api_unstable.webhook_deliveries_replay_payload cascade;
create type api_unstable.webhook_deliveries_replay_payload as (webhook_subscription uuid, replayed_count integer, user_errors api_unstable.user_error[]);
comment on type api_unstable.webhook_deliveries_replay_payload is 'What replaying answers.';
comment on column api_unstable.webhook_deliveries_replay_payload.webhook_subscription is E'@entity WebhookSubscription\nThe subscription as it is now; null when it was refused.';
comment on column api_unstable.webhook_deliveries_replay_payload.replayed_count is 'How many events are sent; those that waited anyway are not counted. Null when it was refused.';
comment on column api_unstable.webhook_deliveries_replay_payload.user_errors is 'Why nothing is sent; empty when it is.';
drop type if exists api_unstable.webhook_deliveries_replay_input cascade;
create type api_unstable.webhook_deliveries_replay_input as (id uuid, from_sequence numeric, to_sequence numeric, from_time timestamptz, to_time timestamptz, only_undelivered boolean);
comment on type api_unstable.webhook_deliveries_replay_input is 'A part of the log to be sent to a subscriber, 10,000 events at most.';
comment on column api_unstable.webhook_deliveries_replay_input.id is E'@notNull\n@gid WebhookSubscription\nId of the subscription.';
comment on column api_unstable.webhook_deliveries_replay_input.from_sequence is 'Sequence of the first event. This or fromTime must be given.';
comment on column api_unstable.webhook_deliveries_replay_input.to_sequence is 'Sequence of the last event; without it, up to the newest.';
comment on column api_unstable.webhook_deliveries_replay_input.from_time is 'When the first event happened.';
comment on column api_unstable.webhook_deliveries_replay_input.to_time is 'When the last event happened.';
comment on column api_unstable.webhook_deliveries_replay_input.only_undelivered is 'Leaves out what the receiver has taken already. False when left out.';

create function api_unstable.webhook_deliveries_replay(input api_unstable.webhook_deliveries_replay_input)
returns api_unstable.webhook_deliveries_replay_payload
language sql set search_path = pg_catalog, pg_temp as $$
  select row (input.id, events.replay_deliveries(input.id, input.from_sequence, input.to_sequence, input.from_time, input.to_time,
    input.only_undelivered), null)::api_unstable.webhook_deliveries_replay_payload
$$;
comment on function api_unstable.webhook_deliveries_replay(api_unstable.webhook_deliveries_replay_input) is $$
@requiresScopes webhook_subscriptions:write
@userErrors NOT_FOUND REQUIRED INVALID OUT_OF_RANGE INVALID_STATE_TRANSITION SCOPE_MISSING
Sends the events of a part of the log to a subscriber, again or for the first time: those of its topic, and with the fields that concern it. For receivers that were down, lost something, or were disabled. The log goes back 30 days.$$;
--! EndIncluded functions/api/webhook_delivery.sql
select api_meta.clone_types('api_unstable', 'api_2026_06_unstable');
select api_meta.clone_functions('api_unstable', 'api_2026_06_unstable');

-- What can be read, beyond what the specification says: in the head only
--! Included functions/events/readable_topics.sql
create or replace function events.readable_topics() returns text[]
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select array(select t.name from events.topic t where auth.has_scope(t.scope));
end;
comment on function events.readable_topics() is 'The topics whose subjects the caller may read. The policy of the log asks it, once per statement.';
--! EndIncluded functions/events/readable_topics.sql
grant execute on function events.readable_topics() to service_api;
do $$
begin
  if not exists (select from pg_policy where polname = 'event_is_of_a_readable_topic') then
    create policy event_is_of_a_readable_topic on events.event as restrictive for select to service_api
      using (topic = any ((select events.readable_topics())::text[]));
  end if;
end
$$;
drop view if exists api_unstable.webhook_subscriptions;
--! Included views/api/webhook_subscriptions.sql
create view api_unstable.webhook_subscriptions with (security_invoker = true) as
select id, topic, url, api_version, fields, payload_query, enabled, health, health_reason, backlog_count, created_at, updated_at,
  last_sequence, last_delivered_at, failing_since, disabled_at
from events.webhook_subscription;
comment on view api_unstable.webhook_subscriptions is $$
@primaryKey id
@requiresScopes webhook_subscriptions:read
@filters *
Who is told when something happens.$$;
--! EndIncluded views/api/webhook_subscriptions.sql
drop view if exists api_unstable.webhook_deliveries;
drop type if exists api_unstable.webhook_delivery_attempt;
drop type if exists api_unstable.webhook_delivery_state;
--! Included views/api/webhook_deliveries.sql
create type api_unstable.webhook_delivery_attempt as (
  number integer, at timestamptz, duration_ms integer, status integer, error text, request_headers jsonb, response_headers jsonb, response_body text
);
comment on type api_unstable.webhook_delivery_attempt is E'@name WebhookDeliveryAttempt\nWhat came of an attempt to deliver an event.';
comment on column api_unstable.webhook_delivery_attempt.number is E'@notNull\nCounts the attempts, from 1.';
comment on column api_unstable.webhook_delivery_attempt.at is E'@notNull\nWhen the request was sent.';
comment on column api_unstable.webhook_delivery_attempt.duration_ms is 'How long it took, in milliseconds.';
comment on column api_unstable.webhook_delivery_attempt.status is 'HTTP status of the answer; null when there was none.';
comment on column api_unstable.webhook_delivery_attempt.error is 'Why it failed, in words; null when it succeeded.';
comment on column api_unstable.webhook_delivery_attempt.request_headers is 'Headers that were sent.';
comment on column api_unstable.webhook_delivery_attempt.response_headers is 'Headers of the answer; null when there was none.';
comment on column api_unstable.webhook_delivery_attempt.response_body is 'Beginning of the answer, 4,096 characters at most.';

create type api_unstable.webhook_delivery_state as enum ('pending', 'delivered', 'failed', 'cancelled');
comment on type api_unstable.webhook_delivery_state is $$
@value pending It waits for its turn, or to be tried again.
@value delivered The receiver took it.
@value failed It was given up.
@value cancelled It is no longer to be sent.
State of a delivery.$$;

create view api_unstable.webhook_deliveries with (security_invoker = true) as
select id, subscription_id, event_id, sequence, previous_sequence, state, attempts, next_attempt_at, delivered_at, created_at,
  array(
    select row (a.number, a.at, a.duration_ms, a.status, a.error, a.request_headers, a.response_headers, a.response_body)::api_unstable.webhook_delivery_attempt
    from events.delivery_attempt a where a.delivery_id = delivery.id order by a.number
  ) as history
from events.delivery;
comment on view api_unstable.webhook_deliveries is $$
@primaryKey id
@requiresScopes webhook_subscriptions:read
@gid event_id Event
@columnEnum state webhook_delivery_state
@filters event_id,sequence,state,created_at
@behavior -query:resource:connection
@foreignKey (subscription_id) references webhook_subscriptions (id)|@fieldName subscription|@foreignFieldName deliveries
@foreignKey (event_id) references events (id)|@fieldName event
An event on its way to a subscriber. Deliveries are kept 30 days.$$;
comment on column api_unstable.webhook_deliveries.history is E'@notNull\nThe attempts to deliver it, oldest first.';
--! EndIncluded views/api/webhook_deliveries.sql
drop view if exists api_unstable.events;
--! Included views/api/events.sql
create view api_unstable.events with (security_invoker = true) as
select id, sequence, topic, occurred_at, changed_fields, cause, data from events.event;
comment on view api_unstable.events is $$
@primaryKey id
@requiresScopes orders:read fulfillment_orders:read stocks:read products:read goods_receipts:read supplier_orders:read batches:read customers:read documents:read shipping_labels:read
@filters topic,sequence,occurred_at
Something that happened, as the log has it: in the order in which it was committed, without gaps, for 30 days. Shown are the events whose subjects the caller may read.$$;
--! EndIncluded views/api/events.sql

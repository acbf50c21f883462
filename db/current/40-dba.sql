drop table if exists api_meta.frozen_promise cascade;
create table api_meta.frozen_promise (
  version name not null references api_meta.frozen_version on delete cascade,
  name text not null,
  ground text not null,
  tree text not null,
  primary key (version, name, ground)
);
alter table api_meta.frozen_promise enable row level security;
comment on table api_meta.frozen_promise is
  'What keeps null out of the columns of frozen versions that are never null, as far as that lies in tables.';
comment on column api_meta.frozen_promise.name is
  'view.column; or the view, of whose expressions nobody knows which of its columns they rely on.';
comment on column api_meta.frozen_promise.ground is
  'The column of a table that is not null, or the check, by name.';
comment on column api_meta.frozen_promise.tree is
  'The same by object ids, which renaming does not change, as restoring a dump does.';
--!include api_meta/table_column.sql
--!include api_meta/view_targets.sql
--!include api_meta/has_null_elements.sql
--!include api_meta/describe.sql
--!include api_meta/index_tag.sql
--!include api_meta/derive_searches.sql
--!include api_meta/view_origins.sql
--!include api_meta/promise_ground.sql
--!include api_meta/record_promises.sql
--!include api_meta/record_version.sql
--!include api_meta/version_faults.sql
--!include api_meta/require_frozen_versions.sql
select api_meta.record_promises(name) from api_meta.frozen_version;
--!include mutation/broken_rule.sql
--!include events/data_columns.sql
--!include api/events.sql
drop view if exists api_unstable.webhook_subscriptions;
--!include api/webhook_subscriptions.sql

comment on policy event_is_of_a_readable_topic on events.event is
  'A scope opens the log, and of it the events of its own topics.';
comment on policy operation_of_caller on bulk.operation is 'A credential sees its own bulk operations.';

-- The columns of these are not in inputs: functions set them to what they have just read or written
do $$
declare
  own record;
begin
  for own in select * from (values
    ('erp.customer_tag', 'customer_tag_tag_id_fkey'),
    ('erp.customer', 'customer_last_payment_method_id_fkey'),
    ('erp.product_tag', 'product_tag_tag_id_fkey'),
    ('erp.order_tag', 'order_tag_tag_id_fkey'),
    ('erp.fulfillment_order', 'fulfillment_order_destination_order_id_fkey'),
    ('erp.fulfillment_order', 'fulfillment_order_source_warehouse_location_id_fkey'),
    ('erp.fulfillment_order_line_item', 'fulfillment_order_line_item_destination_order_line_item_id_fkey'),
    ('erp.fulfillment_line_item', 'fulfillment_line_item_pair_is_known'),
    ('erp.product_supplier_price', 'product_supplier_price_product_supplier_configuration_id_fkey'),
    ('erp.goods_receipt', 'goods_receipt_user_id_fkey'),
    ('erp.goods_receipt_line_item', 'goods_receipt_line_item_goods_receipt_id_fkey'),
    ('erp.goods_receipt_supplier_order', 'goods_receipt_supplier_order_goods_receipt_id_fkey'),
    ('erp.document', 'document_document_type_id_fkey'),
    ('erp.document', 'document_referenced_document_id_fkey'),
    ('erp.document_fulfillment', 'document_fulfillment_document_id_fkey'),
    ('erp.document_fulfillment', 'document_fulfillment_fulfillment_id_fkey'),
    ('erp.invoice', 'invoice_document_id_fkey'),
    ('erp.invoice', 'invoice_cancellation_id_fkey'),
    ('erp.invoice_line_item', 'invoice_line_item_document_id_fkey'),
    ('erp.fulfillment_order_fulfillment', 'fulfillment_order_fulfillment_fulfillment_id_fkey'),
    ('erp.fulfillment_line_item', 'fulfillment_line_item_fulfillment_id_fkey'),
    ('erp.fulfillment_stock_movement', 'fulfillment_stock_movement_fulfillment_line_item_id_fkey'),
    ('erp.fulfillment_stock_movement', 'fulfillment_stock_movement_stock_movement_id_fkey'),
    ('events.delivery', 'delivery_sequence_fkey'),
    ('events.webhook_secret', 'webhook_secret_subscription_id_fkey'),
    ('events.delivery', 'delivery_subscription_id_fkey'),
    ('events.delivery_queue', 'delivery_queue_subscription_id_fkey'),
    ('bulk.chunk', 'chunk_operation_id_fkey'),
    ('bulk.refusal', 'refusal_operation_id_fkey')
  ) c (place, name)
  loop
    execute format('comment on constraint %I on %s is %L', own.name, own.place, '@internal set by functions');
  end loop;
end
$$;

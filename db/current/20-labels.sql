-- Files of shipping labels are deleted by age, and their addresses say why
drop index if exists erp.shipping_label_file_kept_idx;
alter table erp.shipping_label_file drop column if exists created_at, drop column if exists deleted_because,
  alter column content drop not null;
alter table erp.shipping_label_file
  -- The age of older files begins now
  add column created_at timestamptz(0) not null default date_trunc('second', now()),
  add column deleted_because text,
  add constraint shipping_label_file_is_there_or_has_a_reason
    check (num_nonnulls(content, deleted_because) = 1
      and deleted_because in ('LABEL_CANCELLED', 'FILE_EXPIRED', 'FILE_ERASED')) not valid;
comment on column erp.shipping_label_file.content is 'The file. Null after it was deleted.';
comment on column erp.shipping_label_file.created_at is 'When the carrier made the file.';
comment on column erp.shipping_label_file.deleted_because is
  'Error code that says why the file was deleted: LABEL_CANCELLED, FILE_EXPIRED or FILE_ERASED.';
comment on constraint shipping_label_file_is_there_or_has_a_reason on erp.shipping_label_file is
  '@internal erp.follow_shipping_label writes the reason.';
-- waive index-blocks-writes: files are kept since the same release
create index shipping_label_file_kept_idx on erp.shipping_label_file (created_at)
  where deleted_because is null;
comment on index erp.shipping_label_file_kept_idx is 'For erp.prune_label_files.';
revoke delete on erp.shipping_label_file from service_writer;
drop policy if exists shipping_label_file_delete_writer on erp.shipping_label_file;
select api_meta.allow('service_writer', 'erp.shipping_label_file', 'select (created_at, deleted_because)',
  'update (content, deleted_because)');
--!include erp/label_file_lifetime.sql
--!include erp/prune_label_files.sql
--!include erp/follow_shipping_label.sql
--!include erp/open_document.sql
--!include erp/export_customer.sql
--!include erp/upsert_orders.sql
--!include api/warning_code.sql
--!include api/orders_upsert.sql
--!include events/anonymous_data.sql

-- Dates and the supplier's lot of batches, and mutations of batches

alter table erp.batch
  add column if not exists best_before_date date,
  add column if not exists production_date date,
  add column if not exists supplier_lot text collate "C";
alter table erp.batch
  drop constraint if exists batch_comment_length,
  drop constraint if exists batch_supplier_lot_length,
  drop constraint if exists batch_best_before_date_is_plausible,
  drop constraint if exists batch_production_date_is_plausible,
  drop constraint if exists batch_is_produced_before_it_expires;
alter table erp.batch
  add constraint batch_comment_length check (length(comment) <= 10000) not enforced,
  add constraint batch_supplier_lot_length check (length(supplier_lot) <= 255) not enforced,
  add constraint batch_best_before_date_is_plausible
    check (best_before_date between '1900-01-01' and '9999-12-31') not enforced,
  add constraint batch_production_date_is_plausible
    check (production_date between '1900-01-01' and '9999-12-31') not enforced,
  add constraint batch_is_produced_before_it_expires check (production_date <= best_before_date) not enforced;
comment on column erp.batch.best_before_date is 'Day until which the goods keep their quality.';
comment on column erp.batch.production_date is 'Day on which the goods were made.';
comment on column erp.batch.supplier_lot is 'The supplier''s number of the lot.';
comment on constraint batch_number_is_not_blank on erp.batch is
  E'@userError INVALID number\nA batch needs a number.';
comment on constraint batch_number_is_unique_per_product on erp.batch is
  E'@userError NOT_UNIQUE number\nAnother batch of the product has this number.';
comment on constraint batch_comment_length on erp.batch is
  E'@userError OUT_OF_RANGE comment\nThe text has more than 10,000 characters.';
comment on constraint batch_supplier_lot_length on erp.batch is
  E'@userError OUT_OF_RANGE supplier_lot\nThe text has more than 255 characters.';
comment on constraint batch_best_before_date_is_plausible on erp.batch is
  E'@userError OUT_OF_RANGE best_before_date\nThe year must be between 1900 and 9999.';
comment on constraint batch_production_date_is_plausible on erp.batch is
  E'@userError OUT_OF_RANGE production_date\nThe year must be between 1900 and 9999.';
comment on constraint batch_is_produced_before_it_expires on erp.batch is
  E'@userError INVALID production_date\nThe production date is after the best-before date.';
comment on constraint batch_tag_tag_id_fkey on erp.batch_tag is
  '@internal erp.set_tags() creates missing tags';
comment on column bulk.operation.resource is
  'The kind of rows: products, customers, suppliers, warehouses, orders or batches; for an export, the field '
  'of the query.';

select api_meta.allow('service_writer', 'erp.batch',
  'update (number, comment, best_before_date, production_date, supplier_lot)');
select api_meta.allow('service_writer', 'erp.batch_tag', 'select', 'insert', 'delete');

--!include erp/update_batch.sql
--!include erp/upsert_batches.sql

drop view if exists api_unstable.batches;
--!include api/batches.sql
--!include api/batch_update.sql
--!include api/batches_upsert.sql
--!include events/topics.sql

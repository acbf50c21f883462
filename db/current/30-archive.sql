-- Documents are archived: what has a number stays as it is

--!include erp/is_time_zone.sql
alter table erp.merchant
  drop column if exists time_zone, drop column if exists retention_years;
alter table erp.merchant
  add column time_zone text collate "C" not null default 'UTC',
  add column retention_years integer not null default 8;
alter table erp.merchant
  add constraint merchant_time_zone_is_known check (erp.is_time_zone(time_zone)) not valid,
  add constraint merchant_retention_years_are_plausible check (retention_years between 0 and 100) not valid;
comment on column erp.merchant.time_zone is
  'Time zone that decides the dates on documents, for example Europe/Berlin.';
comment on column erp.merchant.retention_years is
  'Full years that numbered documents are kept after the year in which they were created. In Germany 8 years '
  '(section 14b UStG).';
--!include erp/local_date.sql
--!include erp/delivery_date.sql
--!include erp/insert_document.sql

drop table if exists erp.document_file;
create table erp.document_file (
  document_id uuid not null references erp.document on delete cascade,
  format text collate "C" not null
    constraint document_file_format_is_known check (format in ('pdf', 'xml')),
  content_type text collate "C" not null,
  content bytea not null,
  sha256 bytea not null generated always as (sha256(content)) stored,
  created_at timestamptz(0) not null default date_trunc('second', now()),
  primary key (document_id, format)
);
alter table erp.document_file enable row level security;
-- Files are compressed already, and are read in parts
alter table erp.document_file alter column content set storage external;
comment on table erp.document_file is
  'The archive: files of numbered documents as they were first rendered. They never change.';
comment on column erp.document_file.format is 'Format of the file: pdf or xml.';
comment on column erp.document_file.content_type is 'Media type of the file.';
comment on column erp.document_file.content is 'The file.';
comment on column erp.document_file.sha256 is 'SHA-256 of the file.';
comment on constraint document_file_format_is_known on erp.document_file is
  '@internal No mutation chooses the format.';

--!include erp/open_document.sql
--!include erp/keep_pdf.sql
--!include erp/keep_documents.sql
select api_meta.allow('service_document', 'erp.document_file', 'select',
  'insert (document_id, format, content_type, content)');

alter table erp.document
  drop constraint document_order_id_fkey,
  drop constraint document_referenced_document_id_fkey;
alter table erp.document
  add constraint document_order_id_fkey
    foreign key (order_id) references erp.sales_order on delete restrict not valid,
  add constraint document_referenced_document_id_fkey
    foreign key (referenced_document_id) references erp.document not valid;
comment on constraint document_referenced_document_id_fkey on erp.document is '@internal set by functions';
create or replace trigger keep_documents before update or delete on erp.document
  for each row when (old.document_number is not null) execute function erp.keep_documents();
create or replace trigger keep_document_files before update or delete on erp.document_file
  for each row execute function erp.keep_document_files();

-- In Germany, "Gutschrift" is the name of an invoice that the buyer issues (section 14 UStG)
update erp.document_type t set name = t.name || '{"de-DE": "Rechnungskorrektur"}'
where t.technical_name = 'credit_note' and t.name ->> 'de-DE' = 'Gutschrift';

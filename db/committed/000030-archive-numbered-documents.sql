--! Previous: sha1:071c28dc59fc957c313e3dfe440db61bee646f5f
--! Hash: sha1:975232d49129ba11ec09b68b1db24922a90f0bf9
--! Message: Archive numbered documents

--! split: 30-archive.sql
-- Documents are archived: what has a number stays as it is

--! Included erp/is_time_zone.sql
create or replace function erp.is_time_zone(name text) returns boolean
language plpgsql immutable strict set search_path = pg_catalog, pg_temp as $$
begin
  perform '2000-01-01 00:00+00'::timestamptz at time zone name;
  return true;
exception when invalid_parameter_value then
  return false;
end
$$;
comment on function erp.is_time_zone(text) is
  'Whether a text names a time zone that Postgres knows, for example Europe/Berlin.';
--! EndIncluded erp/is_time_zone.sql
alter table erp.merchant
  add column if not exists time_zone text collate "C" not null default 'UTC',
  add column if not exists retention_years integer not null default 8;
alter table erp.merchant
  drop constraint if exists merchant_time_zone_is_known,
  drop constraint if exists merchant_retention_years_are_plausible;
alter table erp.merchant
  add constraint merchant_time_zone_is_known check (erp.is_time_zone(time_zone)) not valid,
  add constraint merchant_retention_years_are_plausible check (retention_years between 0 and 100) not valid;
comment on column erp.merchant.time_zone is
  'Time zone that decides the dates on documents, for example Europe/Berlin.';
comment on column erp.merchant.retention_years is
  'Full years that numbered documents are kept after the year in which they were created. In Germany 8 years '
  '(section 14b UStG).';
--! Included erp/local_date.sql
create or replace function erp.local_date(moment timestamptz) returns date
language sql stable
return (moment at time zone coalesce((select m.time_zone from erp.merchant m), 'UTC'))::date;
comment on function erp.local_date(timestamptz) is
  'Returns the day of a moment in the merchant''s time zone, by which documents are dated.';
grant execute on function erp.local_date(timestamptz) to service_writer;
--! EndIncluded erp/local_date.sql
--! Included erp/delivery_date.sql
create or replace function erp.delivery_date(fulfillments uuid[], order_state text, document_date date)
returns jsonb
language sql stable
return (
  select case
    when min(f.created_at) is not null then jsonb_build_object(
      'from', to_char(erp.local_date(min(f.created_at)), 'YYYY-MM-DD'),
      'to', to_char(erp.local_date(max(f.created_at)), 'YYYY-MM-DD'))
    when order_state = 'completed' then jsonb_build_object(
      'from', to_char(document_date, 'YYYY-MM-DD'), 'to', to_char(document_date, 'YYYY-MM-DD')) end
  from erp.fulfillment f where f.id = any (fulfillments));
comment on function erp.delivery_date(uuid[], text, date) is
  'Returns the first and the last day on which shipments went out. Units delivered without a shipment count '
  'on the day of the document; null if nothing was delivered yet.';
grant execute on function erp.delivery_date(uuid[], text, date) to service_writer;
--! EndIncluded erp/delivery_date.sql
--! Included erp/insert_document.sql
create or replace function erp.insert_document(order_id uuid, document_type text, referenced erp.document,
  parts erp.document_part[],
  fulfillments uuid[]) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- 244 random bits
  code constant text := translate(
    encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64'), '+/=', '-_'
  );
  kind erp.document_type;
  number text;
  snapshot jsonb;
  missing text[];
  new_id uuid;
begin
  select * into strict kind from erp.document_type t where t.technical_name = document_type;
  number := erp.next_number(kind.number_range);
  select c.config
  into strict snapshot
  from erp.document_config(order_id, document_type, number, erp.local_date(now()),
    erp.document_locale(order_id), referenced.document_number, referenced.config, parts, fulfillments) c;
  if jsonb_path_exists(snapshot, '$.lines[*] ? (@.total == null || @.unitPrice == null)') then
    perform mutation.refuse('INVALID', 'The order has lines without a price.');
  end if;
  insert into erp.document (
    document_type_id, order_id, referenced_document_id, document_number, deep_link_code, config
  )
  values (kind.id, insert_document.order_id, referenced.id, number, code, snapshot)
  returning id into new_id;
  missing := erp.missing_in_document(snapshot);
  if cardinality(missing) > 0 then
    perform mutation.warn('DOCUMENT_INCOMPLETE',
      format('%s lacks details that the law demands: %s.', number, array_to_string(missing, ', ')), null,
      jsonb_build_object('documentNumber', number, 'documentType', document_type, 'missing', missing));
  end if;
  return new_id;
end
$$;
comment on function erp.insert_document(uuid, text, erp.document, erp.document_part[], uuid[]) is
  'Inserts a document of an order: with the next number of its type, a random code for its address, and '
  'everything that it shows, see erp.document_config. Warning DOCUMENT_INCOMPLETE.';
grant execute on function erp.insert_document(uuid, text, erp.document, erp.document_part[], uuid[])
  to service_writer;
--! EndIncluded erp/insert_document.sql

drop table if exists erp.document_file;
create table erp.document_file (
  document_id uuid not null references erp.document on delete cascade,
  format text collate "C" not null
    constraint document_file_format_is_a_word check (format ~ '^[a-z]{1,10}$'),
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
comment on column erp.document_file.format is 'Format of the file, for example pdf.';
comment on column erp.document_file.content_type is 'Media type of the file.';
comment on column erp.document_file.content is 'The file.';
comment on column erp.document_file.sha256 is 'SHA-256 of the file.';
comment on constraint document_file_format_is_a_word on erp.document_file is
  '@internal No mutation chooses the format.';

--! Included erp/open_document.sql
create or replace function erp.open_document(id uuid, presented_hash bytea)
returns table (document_number text, config jsonb, static boolean, content bytea, content_type text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  nonce constant bytea := uuid_send(gen_random_uuid());
  code text;
begin
  select d.deep_link_code into code from erp.document d where d.id = open_document.id;

  -- As in auth.authenticate_credential: the time of the comparison reveals nothing about the code. An unknown
  -- id takes the same path, with a hash that no code has.
  if sha256(nonce || presented_hash) is distinct from sha256(
    nonce || coalesce(sha256(convert_to(code, 'UTF8')), nonce)
  ) then
    return;
  end if;
  return query select d.document_number, d.config, d.static, coalesce(d.content, f.content),
      coalesce(d.content_type, f.content_type)
    from erp.document d
    left join erp.document_file f on f.document_id = d.id and f.format = 'pdf'
    where d.id = open_document.id;
end
$$;
comment on function erp.open_document(uuid, bytea) is
  'Returns the document with this id and the SHA-256 of this deep link code, or no row. The '
  'content is null until the document is rendered. Takes a hash, so that no code gets into the log of '
  'Postgres, and any input can be checked.';
select api_meta.give('erp.open_document(uuid, bytea)', 'service_document');
--! EndIncluded erp/open_document.sql
--! Included erp/keep_pdf.sql
create or replace function erp.keep_pdf(id uuid, presented_hash bytea, pdf bytea) returns bytea
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  archived bytea;
begin
  perform from erp.open_document(keep_pdf.id, presented_hash) o
  where not o.static and o.document_number is not null;
  if not found then
    return pdf;
  end if;
  insert into erp.document_file (document_id, format, content_type, content)
  values (keep_pdf.id, 'pdf', 'application/pdf', pdf) on conflict do nothing;
  select f.content into strict archived from erp.document_file f
  where f.document_id = keep_pdf.id and f.format = 'pdf';
  return archived;
end
$$;
comment on function erp.keep_pdf(uuid, bytea, bytea) is
  'Archives the rendered PDF of a document, unless another process did so first. Returns the archived PDF. '
  'Drafts, which have no number, are not archived. Takes the SHA-256 of the deep link code, as '
  'erp.open_document does.';
select api_meta.give('erp.keep_pdf(uuid, bytea, bytea)', 'service_document');
--! EndIncluded erp/keep_pdf.sql
--! Included erp/keep_documents.sql
create or replace function erp.keep_documents() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  last_year integer;
begin
  if tg_op = 'UPDATE' then
    -- Everything except sent and updated_at
    if (new.id, new.document_type_id, new.order_id, new.referenced_document_id, new.document_number,
        new.deep_link_code, new.config, new.static, new.content, new.content_type, new.created_at)
      is distinct from (old.id, old.document_type_id, old.order_id, old.referenced_document_id,
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

alter table bulk.operation add column if not exists content_sha256 bytea;
comment on column bulk.operation.content_sha256 is
  'SHA-256 of the text of an uploaded file, in UTF-8: another file with the same key is refused. Null of '
  'exports, and of files that have arrived before this was kept.';

drop function if exists bulk.begin_upload(uuid, text[], text, text, text, uuid, text);
--!include bulk/begin_upload.sql
drop function if exists bulk.end_upload(uuid, uuid);
--!include bulk/end_upload.sql
--!include bulk/run_export.sql

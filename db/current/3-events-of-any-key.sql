-- Events of rows whose key is no uuid, and numbers that lose no digit in the events of new views
--!include events/key_uuid.sql
--!include events/key_columns.sql
--!include events/entity_columns.sql
--!include events/uuid_expression.sql
--!include events/is_exact.sql
--!include events/value_expression.sql
--!include events/value_schema.sql
--!include events/announcement.sql
--!include events/derive_announcements.sql
comment on column events.outbox.entity_id is
  'What events are kept in order by: the subject itself, or the product of stock. Of a key that is no uuid, '
  'what events.key_uuid makes of it.';
comment on column events.field.column_name is
  'The column, or those of an id that is made of several, with commas between them.';

-- What follows from topics of events is derived in half the time: values of fields in one query per subject
-- and topic, and no settings around functions that are bound to their objects.
--!include events/is_exact.sql
--!include events/key_columns.sql
--!include events/entity_columns.sql
--!include events/uuid_expression.sql
--!include events/data_columns.sql
--!include events/announcement.sql
drop function if exists events.data_expression(events.subject, text[], text);
drop function if exists events.value_expression(events.field, regclass, text);

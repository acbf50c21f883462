-- What the documentation tells of events.
drop function if exists auth.documented_topics();
drop function if exists auth.documented_schema(text);
--!include auth/documented_topics.sql
--!include auth/documented_schema.sql

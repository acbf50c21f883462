-- What the documentation tells of events.
drop function if exists auth.documented_topics();
--!include auth/documented_topics.sql

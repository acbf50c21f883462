-- What follows from the views of the API, derived in a third of the time: what is as it should be stays
--!include api_meta/table_column.sql
--!include api_meta/view_tag.sql
--!include api_meta/view_column_source.sql
--!include api_meta/index_tag.sql
--!include events/value_schema.sql
--!include api_meta/searched_view.sql
--!include api_meta/derive_searches.sql
--!include api_meta/current_parts.sql
--!include api_meta/describe.sql
--!include api_meta/grant_reads.sql
--!include api_meta/uphold.sql
--!include mutation/derive_operations.sql
--!include events/changed_expression.sql
--!include events/derive_announcements.sql
drop function if exists api_meta.is_never_null(oid, smallint);
drop function if exists api_meta.search_routine(api_meta.searched_view);

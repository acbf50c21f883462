-- What migrations derive takes less: the checks of all tables are read at once, and what is the same is left
--!include api_meta/table_column.sql
--!include api_meta/upheld_rule.sql
--!include events/changed_expression.sql
drop function if exists api_meta.uphold(regclass, text, smallint[]);
drop function if exists api_meta.upheld_rules(regclass);
drop function if exists api_meta.upholder(regclass, text);
--!include api_meta/upholding.sql
--!include api_meta/uphold.sql
--!include api_meta/derive_rules.sql
--!include events/derive_announcements.sql
--!include api_meta/grant_mutations.sql
--!include mutation/derive_operations.sql
--!include api_meta/current_parts.sql
--!include api_meta/index_tag.sql
--!include api_meta/index_use.sql
--!include api_meta/finish_migration.sql

-- What indexes do for views of the API
drop view if exists api_meta.index_tag;
--!include api_meta/index_tag.sql
--!include api_meta/describe.sql

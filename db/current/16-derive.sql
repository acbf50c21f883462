-- What follows from a migration is derived sooner: its locks hold up others for less time

--!include api_meta/index_tag.sql
--!include api_meta/describe.sql
--!include api_meta/derive_searches.sql

-- Documents are downloaded in each of their formats; a PDF may contain the XML

drop function if exists erp.open_document(uuid, bytea);
--!include erp/open_document.sql

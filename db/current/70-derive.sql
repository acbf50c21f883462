-- What is derived changes only what differs

--!include api_meta/describe.sql

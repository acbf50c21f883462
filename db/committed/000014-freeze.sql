--! Previous: sha1:625e2b37f47319243c81d3a670fe78e7b7351dee
--! Hash: sha1:898bc1fe76608880b5f409b2a38370800cbed4dc
--! Message: freeze

--! split: 1-current.sql
-- Enter migration here

--! split: 0900-freeze.sql
select api_meta.derive();
select api_meta.freeze('api_unstable', 'api_2026_06_unstable');
select api_meta.derive();

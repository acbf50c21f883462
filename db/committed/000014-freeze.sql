--! Previous: sha1:4a0122658368b40bc022e7ad7079162f46e88e3d
--! Hash: sha1:035f54dd824acac16c12a00b7ccc4fdefc903ba3
--! Message: freeze

--! split: 1-current.sql
-- Enter migration here

--! split: 0900-freeze.sql
select api_meta.derive();
select api_meta.freeze('api_unstable', 'api_2026_06_unstable');
select api_meta.derive();

-- Runs after every migration: what follows from the API views is never forgotten.
select api_meta.derive();

-- Ends all other connections of this database, so that it can be dropped. The service opens its own again.
select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid();

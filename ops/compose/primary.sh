#!/bin/sh
# Run once by the image of Postgres, when the primary is made. `erp db setup` makes all other roles, and gives
# service_api_login the same password.
set -eu
psql --set=ON_ERROR_STOP=1 --set=service="$SERVICE_PASSWORD" --set=replication="$REPLICATION_PASSWORD" \
  --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
create role service_login login noinherit password :'service';
create role standby login replication password :'replication';
select pg_create_physical_replication_slot('replica');
SQL
echo 'host replication standby all scram-sha-256' >> "$PGDATA/pg_hba.conf"

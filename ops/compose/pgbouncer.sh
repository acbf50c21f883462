#!/bin/sh
# The two roles of the service have one password.
set -eu
umask 077
for role in service_login service_api_login; do
  echo "\"$role\" \"$SERVICE_PASSWORD\""
done > /tmp/users.txt
exec pgbouncer /etc/pgbouncer/service.ini

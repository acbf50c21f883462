#!/bin/sh
# Copies the primary at the first start, then follows it.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  # What a copy that was cut off has left
  find "$PGDATA" -mindepth 1 -delete
  pg_basebackup --host=primary --username=standby --pgdata="$PGDATA" --slot=replica --write-recovery-conf
  chmod 700 "$PGDATA"
fi
# As the primary's, at least
exec postgres -c max_connections=200 -c shared_buffers=1GB

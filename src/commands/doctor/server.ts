import { error, megabytes, note, warning } from "./finding.ts";
import type { Examination, Finding } from "./finding.ts";

/** Bytes of log that a standby may lack, or a slot may keep. */
const lagBytes = 1 << 30;

interface Slot {
  name: string;
  active: boolean;
  status: string | null;
  bytes: number;
}

/** Slots, standbys, and the archive of the write-ahead log. */
export const replication: Examination = {
  name: "replication",
  async find({ client }) {
    const found: Finding[] = [];
    const { rows: recovering } = await client.query<{ is: boolean }>("select pg_is_in_recovery() as is");
    if (recovering[0]!.is)
      return [
        warning(
          "This is a standby: nothing can be written.",
          "Examine the primary; after its loss, promote this one.",
        ),
      ];
    const { rows: slots } = await client.query<Slot>(
      `select slot_name as name, active, wal_status as status,
         coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::float8 as bytes
       from pg_replication_slots where not temporary`,
    );
    for (const { name, active, status, bytes } of slots) {
      const drop = `Start what uses it, or: select pg_drop_replication_slot('${name}').`;
      if (status === "lost")
        found.push(error(`The replication slot ${name} is lost.`, `Make its standby anew. ${drop}`));
      else if (bytes > lagBytes)
        found.push(
          error(
            `The replication slot ${name} keeps ${megabytes(bytes)} of log, until the disk is full.`,
            drop,
          ),
        );
      else if (!active)
        found.push(warning(`Nobody uses the replication slot ${name}, which keeps log.`, drop));
    }
    const { rows: standbys } = await client.query<{ name: string; bytes: number }>(
      `select application_name as name, coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::float8 as bytes
       from pg_stat_replication`,
    );
    for (const { name, bytes } of standbys.filter((standby) => standby.bytes > lagBytes))
      found.push(
        warning(
          `The standby ${name} lacks ${megabytes(bytes)} of log.`,
          "Look at its log, disk and network.",
        ),
      );
    const { rows: archive } = await client.query<{ name: string }>(
      `select last_failed_wal as name from pg_stat_archiver
       where last_failed_time > coalesce(last_archived_time, '-infinity') and current_setting('archive_mode') <> 'off'`,
    );
    for (const { name } of archive)
      found.push(
        error(
          `Postgres can't archive its log since ${name}.`,
          "Its log (server.log) says why; the disk fills until it can.",
        ),
      );
    return found;
  },
};

interface Given {
  name: string;
  value: string;
  logins: string;
}

/** Settings that the service's logins get: their own in this database, their own everywhere, the database's, the server's. */
const givenQuery = `
  with given as (
    select s.setrole, s.setdatabase, lower(split_part(c, '=', 1)) as name, substr(c, strpos(c, '=') + 1) as value
    from pg_db_role_setting s cross join unnest(s.setconfig) c
    where s.setdatabase in (0, (select oid from pg_database where datname = current_database())))
  select lower(p.name) as name, coalesce(g.value, p.reset_val) as value, string_agg(r.rolname, ', ' order by r.rolname) as logins
  from pg_settings p
  join pg_roles r on r.rolname ~ '^service_' and r.rolcanlogin
  left join lateral (
    select g.value from given g where g.name = lower(p.name) and g.setrole in (0, r.oid)
    order by g.setrole = 0, g.setdatabase = 0 limit 1) g on true
  where p.name in ('fsync', 'full_page_writes', 'synchronous_commit', 'track_counts', 'TimeZone')
  group by 1, 2 order by 1, 2`;

/** The harm that each setting does when it is off. */
const whenOff: Record<string, string> = {
  fsync: "a crash of the machine may destroy all data",
  full_page_writes: "a crash of the machine may leave torn pages, which nothing mends",
  synchronous_commit: "a crash may lose bookings that were confirmed",
  track_counts: "autovacuum doesn't know which tables need it, so these only grow",
};

/** Settings by which data are lost, or days begin at another hour. */
export const serverSettings: Examination = {
  name: "Postgres' settings",
  async find({ client }) {
    const { rows } = await client.query<Given>(givenQuery);
    return rows.flatMap(({ name, value, logins }) => {
      const where = `for ${logins}; \`\\drds\` of psql shows whether a role or the database has it, else postgresql.conf does.`;
      if (whenOff[name] !== undefined && /^(off|false|no|0)$/i.test(value))
        return [error(`${name} is off: ${whenOff[name]}.`, `Switch it on, ${where}`)];
      if (name !== "timezone" || /^(Etc\/)?(UTC|UCT|GMT|Zulu|Universal)$/i.test(value)) return [];
      return [
        warning(
          `The time zone is ${value}: days begin at another hour where a pooler keeps the service from setting its own.`,
          `Set timezone to UTC, ${where}`,
        ),
      ];
    });
  },
};

interface Index {
  index: string;
  table: string;
  bytes: number;
  valid: boolean;
}

/** Bytes from which on an index that nobody uses is worth a thought, and days of statistics that tell it. */
const unused = { bytes: 8e6, days: 30 };

const indexQuery = `
  select i.indexrelid::regclass::text as index, i.indrelid::regclass::text as table, i.indisvalid as valid,
    pg_relation_size(i.indexrelid)::float8 as bytes
  from pg_index i join pg_class c on c.oid = i.indexrelid join api_meta.own_schema s on s.oid = c.relnamespace
  left join pg_stat_user_indexes u on u.indexrelid = i.indexrelid
  where not i.indisvalid
    or not i.indisunique and u.idx_scan = 0 and pg_relation_size(i.indexrelid) > $1
      and (select coalesce(stats_reset, pg_postmaster_start_time()) from pg_stat_database where datname = current_database())
        < now() - make_interval(days => $2)`;

/** Rows that a table has at least, and that a reading of the whole table costs often. */
const scanned = { rows: 50_000, scans: 1_000 };

export const indexes: Examination = {
  name: "indexes",
  async find({ client }) {
    const { rows } = await client.query<Index>(indexQuery, [unused.bytes, unused.days]);
    const found = rows.map(({ index, table, bytes, valid }) =>
      valid
        ? note(
            `Nobody has used the index ${index} of ${table} (${megabytes(bytes)}) for ${unused.days} days.`,
            "`select * from api_meta.index_use` says what needs it; drop it in a migration if nothing does.",
          )
        : error(
            `The index ${index} of ${table} is invalid: making it has failed, and every write still pays for it.`,
            `drop index concurrently ${index}, and make it again.`,
          ),
    );
    const { rows: tables } = await client.query<{ table: string; scans: number; live: number }>(
      `select relid::regclass::text as table, seq_scan::float8 as scans, n_live_tup::float8 as live
       from pg_stat_user_tables u join api_meta.own_schema s on s.name = u.schemaname
       where n_live_tup > $1 and seq_scan > $2 and seq_scan > idx_scan`,
      [scanned.rows, scanned.scans],
    );
    for (const { table, scans, live } of tables)
      found.push(
        note(
          `${table} with its ${live} rows was read whole ${scans} times, oftener than by an index.`,
          "`npx erp db slow` finds the operation, and the index that it lacks.",
        ),
      );
    return found;
  },
};

/** Dead rows that autovacuum should have removed, and transaction ids after which Postgres is in danger. */
const bloat = { rows: 100_000, share: 0.4, ids: 1_000_000_000 };

interface Table {
  table: string;
  dead: number;
  live: number;
}

interface Vacuum {
  age: number;
  enabled: boolean;
  oldest: string | null;
}

export const vacuum: Examination = {
  name: "bloat",
  async find({ client }) {
    const { rows } = await client.query<Table>(
      `select relid::regclass::text as table, n_dead_tup::float8 as dead, n_live_tup::float8 as live
       from pg_stat_user_tables where n_dead_tup > $1 and n_dead_tup > $2::float8 * (n_live_tup + n_dead_tup)`,
      [bloat.rows, bloat.share],
    );
    const found = rows.map(({ table, dead, live }) =>
      warning(
        `${table} has ${dead} dead rows beside ${live}.`,
        `vacuum (analyze) ${table}; and see what keeps autovacuum from it.`,
      ),
    );
    const { rows: state } = await client.query<Vacuum>(
      `select age(datfrozenxid)::float8 as age, current_setting('autovacuum')::boolean as enabled,
         (select format('process %s (%s)', pid, application_name) from pg_stat_activity
          where datname = current_database() and xact_start < now() - interval '1 hour' order by xact_start limit 1) as oldest
       from pg_database where datname = current_database()`,
    );
    const { age, enabled, oldest } = state[0]!;
    if (!enabled) found.push(error("autovacuum is off: tables only grow.", "Switch it on."));
    if (age > bloat.ids)
      found.push(
        error(
          `The oldest transaction id is ${age} ids old; at 2 billion Postgres stops writing.`,
          "vacuum (freeze), as superuser.",
        ),
      );
    if (oldest !== null)
      found.push(
        warning(
          `A transaction is open for more than an hour: ${oldest}. Nothing can be cleared up meanwhile.`,
          "select pg_terminate_backend(pid), if nobody needs it.",
        ),
      );
    return found;
  },
};

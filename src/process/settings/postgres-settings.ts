import { defaultLockLimits } from "../../migrations/retry-locked.ts";
import { flag, hosts, optional, seconds, setting, text, url, urls, wholeNumber } from "./setting.ts";

/** The Postgres, and how it is used. */
export const database = {
  databaseUrl: optional(
    "DATABASE_URL",
    url(/^postgres(ql)?$/, "a URL that begins with `postgres:` or `postgresql:`"),
    {
      example: "postgres://service_login:password@localhost:5432/erp",
      secret: true,
      doc: "An existing Postgres, 18 or newer, set up by `npx erp db setup`. Without it the service runs a Postgres of its own. Clients' operations connect as service_api_login, with the same password.",
    },
  ),
  merchants: optional("MERCHANTS", text("a folder"), {
    example: "/etc/erp/merchants",
    doc: "A folder with a file for each merchant, where one service has many: docs/guides/merchants.md. Each has a database of its own; DATABASE_URL is then an administrator's, for commands only.",
  }),
  fromDatabaseUrl: optional(
    "FROM_DATABASE_URL",
    url(/^postgres(ql)?$/, "a URL that begins with `postgres:` or `postgresql:`"),
    {
      example: "postgres://postgres:password@db1.example:5432/postgres",
      secret: true,
      doc: "The cluster that `npx erp merchants move` takes a merchant from, as its superuser.",
    },
  ),
  merchantConnections: setting("MERCHANT_CONNECTIONS", wholeNumber(8, 10_000), 100, {
    doc: "Most connections of one process to Postgres for all merchants together; background work may have a quarter of them. One merchant has up to DATABASE_POOL_SIZE and two more of them, and none while it has no requests.",
  }),
  sharedHosts: setting("SHARED_HOSTS", hosts, "", {
    example: "api.example.com",
    doc: "Host names at which several merchants are served, separated by commas: each is known by its client, see docs/guides/merchants.md.",
  }),
  merchantStatements: setting("MERCHANT_STATEMENTS", wholeNumber(1, 500), 2, {
    doc: "Most statements of one merchant at a time, beside quick reads, while other merchants of the process have some, too: as many as leave processors of the databases to others. One of them is kept for clients whose statements are quick.",
  }),
  readDatabaseUrls: optional(
    "READ_DATABASE_URLS",
    urls(/^postgres(ql)?$/, "URLs that begin with `postgres:` or `postgresql:`"),
    {
      example: "postgres://service_login:password@replica:5432/erp",
      secret: true,
      doc: "Standbys of that Postgres that answer reads, see docs/guides/replicas.md. Clients' operations connect as service_api_login there, too. Each has DATABASE_POOL_SIZE connections of a process.",
    },
  ),
  readMaxLagMs: setting("READ_MAX_LAG", seconds(), 5, {
    doc: "How far a standby may be behind. One that is farther isn't used until it has caught up. Clients always see their own writes at once.",
  }),
  databaseWaitMs: setting("DATABASE_WAIT", seconds(0), 60, {
    doc: "How long a start waits for that Postgres if it is away or still starting.",
  }),
  databasePoolSize: setting("DATABASE_POOL_SIZE", wholeNumber(1, 500), 10, {
    doc: "Most connections of one process to Postgres for clients' operations; up to four of them stay open. Tokens, documents and the administration have up to four more. Background work, notifications and the readiness have their own.",
  }),
  dataDirectory: setting("DATA_DIRECTORY", text("a folder"), ".data", {
    doc: "The folder for the data of the service's own Postgres.",
  }),
  backupDirectory: optional("BACKUP_DIRECTORY", text("a folder"), {
    example: "/var/backups/erp",
    doc: "A folder for backups of the service's own Postgres, best on another disk. `npx erp backup` puts them there. docs/guides/backups.md says more.",
  }),
  fastReads: setting("FAST_READS", flag, true, {
    doc: "Whether reads use the fast paths of docs/internals/fast-paths.md. `false` gives the same answers more slowly; set it if you suspect a fault in them.",
  }),
  preparedStatements: setting("PREPARED_STATEMENTS", flag, true, {
    doc: "Whether statements stay prepared on connections. `false` for PgBouncer in transaction mode that doesn't track them: before 1.21, or without `max_prepared_statements`. Any PgBouncer needs `ignore_startup_parameters = options,extra_float_digits`; the time-outs are then those of the role service_login. Background work needs a direct connection: leave it to a process that has one (WORKER_CONCURRENCY=0 and WEBHOOK_CONCURRENCY=0 here).",
  }),
  timeoutsMs: {
    statement: setting("STATEMENT_TIMEOUT", seconds(), 5, {
      doc: "Time limit of Postgres for a statement.",
    }),
    mutation: setting("MUTATION_TIMEOUT", seconds(), 15, {
      doc: "Time limit of Postgres for a mutation.",
    }),
    lock: setting("LOCK_TIMEOUT", seconds(), 3, { doc: "Time limit of Postgres for waiting for a lock." }),
  },
  migrationLocks: {
    lockTimeoutMs: setting("MIGRATION_LOCK_TIMEOUT", seconds(), defaultLockLimits.lockTimeoutMs / 1000, {
      doc: "How long a migration waits for a lock, while later transactions on the same table wait behind it. Then it releases all its locks and begins again after a pause. A migration that must wait longer sets its own limit: `set local lock_timeout = '10s';`",
    }),
    attempts: setting("MIGRATION_LOCK_ATTEMPTS", wholeNumber(1, 10_000), defaultLockLimits.attempts, {
      doc: "How often a migration is begun before it fails.",
    }),
  },
};

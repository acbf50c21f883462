import { defaultLockLimits } from "../../migrations/retry-locked.ts";
import { flag, hosts, optional, seconds, setting, text, url, urls, wholeNumber } from "./setting.ts";

/** Settings of Postgres and its connections. */
export const database = {
  databaseUrl: optional(
    "DATABASE_URL",
    url(/^postgres(ql)?$/, "a URL that begins with `postgres:` or `postgresql:`"),
    {
      example: "postgres://service_login:password@localhost:5432/erp",
      secret: true,
      doc: "The URL of an existing Postgres, 18 or newer, that `npx erp db setup` has prepared. Without it the service runs its own Postgres. Clients' operations connect as service_api_login, with the same password.",
    },
  ),
  merchants: optional("MERCHANTS", text("a folder"), {
    example: "/etc/erp/merchants",
    doc: "A folder with a file for each merchant, if one service serves many (docs/guides/merchants.md). Each merchant has its own database. DATABASE_URL is then the URL of an administrator, for commands only.",
  }),
  fromDatabaseUrl: optional(
    "FROM_DATABASE_URL",
    url(/^postgres(ql)?$/, "a URL that begins with `postgres:` or `postgresql:`"),
    {
      example: "postgres://postgres:password@db1.example:5432/postgres",
      secret: true,
      doc: "The URL of the cluster from which `npx erp merchants move` moves a merchant, as superuser.",
    },
  ),
  merchantConnections: setting("MERCHANT_CONNECTIONS", wholeNumber(8, 10_000), 100, {
    doc: "The maximum number of connections of one process to Postgres, for all merchants together. Background work may use a quarter of them. A merchant may use DATABASE_POOL_SIZE plus two, and uses none while it has no requests.",
  }),
  sharedHosts: setting("SHARED_HOSTS", hosts, "", {
    example: "api.example.com",
    doc: "Host names that several merchants share, separated by commas. The client of a request determines its merchant (docs/guides/merchants.md).",
  }),
  merchantStatements: setting("MERCHANT_STATEMENTS", wholeNumber(1, 500), 2, {
    doc: "The maximum number of statements that a merchant may run at a time while other merchants run some too. Quick reads don't count. Choose it so that the database server has processors left for others. One statement is reserved for clients whose statements are quick.",
  }),
  readDatabaseUrls: optional(
    "READ_DATABASE_URLS",
    urls(/^postgres(ql)?$/, "URLs that begin with `postgres:` or `postgresql:`"),
    {
      example: "postgres://service_login:password@replica:5432/erp",
      secret: true,
      doc: "The URLs of standbys that answer reads (docs/guides/replicas.md). Clients' operations connect as service_api_login there too. A process opens up to DATABASE_POOL_SIZE connections to each standby.",
    },
  ),
  readMaxLagMs: setting("READ_MAX_LAG", seconds(), 5, {
    doc: "How far a standby may lag behind. A standby that lags further isn't used until it has caught up. Clients always see their own writes at once.",
  }),
  databaseWaitMs: setting("DATABASE_WAIT", seconds(0), 60, {
    doc: "How long a start waits for the Postgres of DATABASE_URL if it can't be reached or is still starting.",
  }),
  databasePoolSize: setting("DATABASE_POOL_SIZE", wholeNumber(1, 500), 10, {
    doc: "The maximum number of connections of one process to Postgres for clients' operations. Up to four of them stay open. Tokens, documents and the administration use up to four more. Background work, notifications and the readiness check have their own.",
  }),
  dataDirectory: setting("DATA_DIRECTORY", text("a folder"), ".data", {
    doc: "The folder for the data of the service's own Postgres.",
  }),
  backupDirectory: optional("BACKUP_DIRECTORY", text("a folder"), {
    example: "/var/backups/erp",
    doc: "The folder into which `npx erp backup` puts backups of the service's own Postgres (docs/guides/backups.md). It should be on another disk.",
  }),
  fastReads: setting("FAST_READS", flag, true, {
    doc: "Whether reads use the fast paths of docs/internals/fast-paths.md. `false` gives the same results more slowly. Set it if you suspect a fault in them.",
  }),
  preparedStatements: setting("PREPARED_STATEMENTS", flag, true, {
    doc: "Whether connections keep prepared statements. Set `false` for a PgBouncer in transaction mode that doesn't track them: before 1.21, or without `max_prepared_statements`. Every PgBouncer needs `ignore_startup_parameters = options,extra_float_digits`. The role service_login then determines the time-outs. Background work needs a direct connection: set WORKER_CONCURRENCY=0 and WEBHOOK_CONCURRENCY=0 here, and leave it to another process.",
  }),
  timeoutsMs: {
    statement: setting("STATEMENT_TIMEOUT", seconds(), 5, {
      doc: "The time limit of a statement in Postgres.",
    }),
    mutation: setting("MUTATION_TIMEOUT", seconds(), 15, {
      doc: "The time limit of a mutation in Postgres.",
    }),
    lock: setting("LOCK_TIMEOUT", seconds(), 3, {
      doc: "The time limit for waiting for a lock in Postgres.",
    }),
  },
  migrationLocks: {
    lockTimeoutMs: setting("MIGRATION_LOCK_TIMEOUT", seconds(), defaultLockLimits.lockTimeoutMs / 1000, {
      doc: "How long a migration waits for a lock; later transactions on the same table wait behind it. Then it releases all its locks and starts again after a pause. A migration that must wait longer sets its own limit: `set local lock_timeout = '10s';`",
    }),
    attempts: setting("MIGRATION_LOCK_ATTEMPTS", wholeNumber(1, 10_000), defaultLockLimits.attempts, {
      doc: "The number of times that a migration is tried before it fails.",
    }),
  },
};

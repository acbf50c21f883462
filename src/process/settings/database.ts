import { defaultLockLimits } from "../../database/migrations/retry-locked.ts";
import { flag, optional, seconds, setting, text, url, wholeNumber } from "./setting.ts";

/** The Postgres, and how it is used. */
export const database = {
  databaseUrl: optional(
    "DATABASE_URL",
    url(/^postgres(ql)?$/, "a URL that begins with `postgres:` or `postgresql:`"),
    {
      example: "postgres://service_login:password@localhost:5432/erp",
      secret: true,
      doc: "An existing Postgres, 18 or newer, set up by `npm run db:setup`. Without it the service runs a Postgres of its own. Operations of clients connect there as service_api_login, with the same password.",
    },
  ),
  databaseWaitMs: setting("DATABASE_WAIT", seconds(0), 60, {
    doc: "How long a start waits for that Postgres when it is away or still starting.",
  }),
  databasePoolSize: setting("DATABASE_POOL_SIZE", wholeNumber(1, 500), 10, {
    doc: "Connections to Postgres that one process holds at most for operations of clients, up to four of them all the time. Tokens, documents and the administration have four more, and background work, the listening for changes and the readiness have their own.",
  }),
  dataDirectory: setting("DATA_DIRECTORY", text("a folder"), ".data", {
    doc: "The folder for the data of the service's own Postgres.",
  }),
  fastReads: setting("FAST_READS", flag, true, {
    doc: "Whether reads take the short ways that docs/performance.md describes. `false` answers the same more slowly; set it when you suspect them of a fault.",
  }),
  preparedStatements: setting("PREPARED_STATEMENTS", flag, true, {
    doc: "Whether statements stay prepared on connections. `false` for PgBouncer before 1.21 in transaction mode. Any PgBouncer needs `ignore_startup_parameters = options,extra_float_digits`; the time-outs are those of the role service_login then. Background work and RATE_LIMITS_IN=database need a direct connection: leave them to a process that has one (WORKER_CONCURRENCY=0 and WEBHOOK_CONCURRENCY=0 here).",
  }),
  timeoutsMs: {
    statement: setting("STATEMENT_TIMEOUT", seconds(), 5, {
      doc: "How long Postgres works on a statement at most.",
    }),
    mutation: setting("MUTATION_TIMEOUT", seconds(), 15, {
      doc: "How long Postgres works on a mutation at most.",
    }),
    lock: setting("LOCK_TIMEOUT", seconds(), 3, { doc: "How long Postgres waits for a lock at most." }),
  },
  migrationLocks: {
    lockTimeoutMs: setting("MIGRATION_LOCK_TIMEOUT", seconds(), defaultLockLimits.lockTimeoutMs / 1000, {
      doc: "How long a migration waits for one lock. Transactions that come after it for the same table wait behind it for so long at most. Then it lets go of all its locks and is begun again after a pause. A migration that must wait longer says so itself: `set local lock_timeout = '10s';`",
    }),
    attempts: setting("MIGRATION_LOCK_ATTEMPTS", wholeNumber(1, 10_000), defaultLockLimits.attempts, {
      doc: "How often a migration is begun before it is given up.",
    }),
  },
};

import pg from "pg";
import { copyDatabase, requireDumpPrograms } from "../cluster/pg-dump.ts";
import { getDatabaseName, formatAddress, withClient } from "../postgres/client.ts";
import { retryLocked } from "../migrations/retry-locked.ts";
import type { LockRetryOptions } from "../migrations/retry-locked.ts";
import { urlOfDatabase } from "../migrations/templates.ts";
import { dropDatabase, dropOwn, markSql } from "../migrations/own-databases.ts";
import { requireVersion } from "../migrations/requirements.ts";
import { ensureRoles } from "../postgres/roles.ts";
import { UserError } from "../errors/user-error.ts";
import { pause } from "../lib/retry.ts";
import { merchantDatabaseName, listRoles, assignToMerchant } from "./merchant-database.ts";

/** The mark of an unfinished copy, which another attempt drops. */
const unfinished = "npx erp merchants move makes this copy";
/** Postgres settings whose values are lists of names. */
const listSettings = [
  "local_preload_libraries",
  "search_path",
  "session_preload_libraries",
  "temp_tablespaces",
];

/** A merchant to move. Both URLs have superusers. */
export interface Move {
  merchant: string;
  /** Its present database. */
  fromUrl: string;
  /** A database of the cluster that it moves to. */
  adminUrl: string;
  /** Limits for waiting, the same as for migrations. */
  locks: LockRetryOptions;
  /** Checks that the merchant should still be moved, now that writes are blocked. */
  onLocked: () => Promise<void>;
  /** Switches the service to the copy. The old database can no longer be used. */
  onCopied: (databaseUrl: string) => Promise<void>;
}

/**
 * Moves a merchant's database to another cluster. Reads continue meanwhile, and writes wait for locks. The locks end with
 * their connection, so if the move is interrupted, the merchant is served from where it was.
 */
export async function moveMerchantDatabase({
  merchant,
  fromUrl,
  adminUrl,
  locks,
  onLocked,
  onCopied,
}: Move): Promise<void> {
  const name = merchantDatabaseName(merchant);
  const url = urlOfDatabase(adminUrl, name);
  // Uses new connections, because one that is idle during the copy may be dropped
  const onTarget = <T>(work: (admin: pg.Client) => Promise<T>) => withClient(adminUrl, work);
  await withClient(fromUrl, async (from) => {
    await onTarget(requireVersion);
    await requireDumpPrograms(await majorVersion(from), [fromUrl, adminUrl]);
    await onTarget(async (admin) => {
      await requireNoOtherDatabase(admin, adminUrl, name);
      await ensureRoles(admin);
    });
    await lockTables(from, locks);
    await onLocked();
    await onTarget((admin) => createLike(from, admin, name));
    let isServed = false;
    try {
      await assignToMerchant(url, merchant);
      await onTarget((admin) => copySettings(from, admin, name));
      await copyDatabase(fromUrl, url);
      const databaseUrl = await assignToMerchant(url, merchant, { renewPassword: true });
      // From now on no other attempt drops it
      await onTarget((admin) => admin.query(markSql(name, null)));
      await switchOver(fromUrl, merchant, async () => {
        // Fails if the locks are gone: a client may then have written something
        await from.query("select");
        await onCopied(databaseUrl);
        isServed = true;
      });
    } catch (error) {
      if (!isServed) await onTarget((admin) => dropDatabase(admin, name)).catch(() => {});
      throw error;
    }
  });
}

async function majorVersion(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    "select current_setting('server_version_num')::int / 10000 as version",
  );
  return rows[0]!.version;
}

/** Drops the copy of an interrupted attempt. @throws {UserError} when the database isn't such a copy */
async function requireNoOtherDatabase(admin: pg.Client, adminUrl: string, name: string): Promise<void> {
  if (await dropOwn(admin, name, unfinished)) return;
  throw new UserError(
    `There is already a database ${name} at ${formatAddress(adminUrl)}. If it isn't needed, drop it and start again: drop database "${name}";`,
  );
}

/** Blocks writes until the connection ends. It waits for running writes, without delaying others for long. */
async function lockTables(client: pg.Client, limits: LockRetryOptions): Promise<void> {
  const { rows } = await client.query<{ names: string }>(
    `select string_agg(format('%I.%I', n.nspname, c.relname), ', ' order by c.oid) as names
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and c.relpersistence <> 't' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`,
  );
  const take = async () => {
    try {
      await client.query("begin");
      await client.query(
        `set local lock_timeout = ${limits.lockTimeoutMs}; set local statement_timeout = 0;
         set local idle_in_transaction_session_timeout = 0; set local transaction_timeout = 0;
         -- A client that vanished holds locks for a minute at most
         set local tcp_keepalives_idle = 20; set local tcp_keepalives_interval = 10; set local tcp_keepalives_count = 3;
         lock table only ${rows[0]!.names.replaceAll(", ", ", only ")} in exclusive mode`,
      );
    } catch (error) {
      await client.query("rollback");
      throw error;
    }
  };
  await retryLocked(take, { ...limits, name: "The move", holders: () => "", onWait: () => {} });
}

/** Creates an empty database with the locale of another. */
async function createLike(from: pg.Client, admin: pg.Client, name: string): Promise<void> {
  const { rows } = await from.query<{ made: string }>(
    `select format('encoding %L locale_provider %s lc_collate %L lc_ctype %L', pg_encoding_to_char(d.encoding),
         case d.datlocprovider when 'i' then 'icu' when 'b' then 'builtin' else 'libc' end, d.datcollate, d.datctype)
       || case d.datlocprovider when 'i' then format(' icu_locale %L', d.datlocale)
            when 'b' then format(' builtin_locale %L', d.datlocale) else '' end as made
     from pg_database d where d.datname = current_database()`,
  );
  const database = pg.escapeIdentifier(name);
  await admin.query(`create database ${database} owner service_owner template template0 ${rows[0]!.made}`);
  await admin.query(markSql(name, unfinished));
}

/** Copies the settings of a database to another: settings for all roles and for single roles. */
async function copySettings(from: pg.Client, admin: pg.Client, name: string): Promise<void> {
  const { rows } = await from.query<{ role: string | null; key: string; value: string }>(
    `select r.rolname as role, split_part(setting, '=', 1) as key, substr(setting, strpos(setting, '=') + 1) as value
     from pg_db_role_setting s
     join pg_database d on d.oid = s.setdatabase
     left join pg_roles r on r.oid = s.setrole
     cross join unnest(s.setconfig) setting
     where d.datname = current_database()`,
  );
  for (const { role, key, value } of rows) {
    const whose = role === null ? "" : `role ${pg.escapeIdentifier(role)} in `;
    const values = listSettings.includes(key) ? parseNames(value) : [value];
    await admin.query(
      `alter ${whose}database ${pg.escapeIdentifier(name)} set ${pg.escapeIdentifier(key)} = ${values.map(pg.escapeLiteral).join(", ")}`,
    );
  }
}

/** Parses the list of names in a setting, some of which may be quoted. */
function parseNames(list: string): string[] {
  const names = Array.from(list.matchAll(/"((?:""|[^"])*)"|[^\s,]+/g), ([plain, quoted]) =>
    quoted === undefined ? plain.toLowerCase() : quoted.replaceAll('""', '"'),
  );
  return names.length === 0 ? [""] : names;
}

/** Ends the service's access to the old database for good, before the merchant is served from the new one. */
async function switchOver(fromUrl: string, merchant: string, onCopied: () => Promise<void>): Promise<void> {
  const roles = listRoles(merchant);
  const names = roles.map((role) => pg.escapeIdentifier(role)).join(", ");
  const database = pg.escapeIdentifier(getDatabaseName(fromUrl));
  const grant = `grant connect on database ${database} to ${names}`;
  try {
    await withClient(fromUrl, async (client) => {
      await client.query(`revoke connect on database ${database} from ${names}`);
      await endSessions(client, roles);
      await onCopied();
    });
  } catch (error) {
    // The connection itself may have failed
    await withClient(fromUrl, (client) => client.query(grant)).catch((cause: Error) => {
      const { message } = error as Error;
      throw new UserError(
        `${message}\nThe merchant's roles can no longer connect to its database, and the right can't be restored (${cause.message}). ` +
          `Restore it as superuser at ${formatAddress(fromUrl)}: ${grant};`,
        { cause: error },
      );
    });
    throw error;
  }
}

/** Milliseconds in which sessions must end. Writes wait meanwhile. */
const endsWithinMs = 30_000;

/** Ends all sessions of some roles. A session that has just begun may not be visible yet, so it checks twice. */
async function endSessions(client: pg.Client, roles: readonly string[]): Promise<void> {
  const deadline = performance.now() + endsWithinMs;
  for (let emptyRounds = 0; emptyRounds < 2; await pause(20)) {
    if (performance.now() > deadline)
      throw new UserError(
        "Sessions in the old database don't end. Look for them in pg_stat_activity, and move the merchant later.",
      );
    const { rowCount } = await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = any ($1)",
      [roles],
    );
    emptyRounds = rowCount === 0 ? emptyRounds + 1 : 0;
  }
}

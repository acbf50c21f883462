import pg from "pg";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Counter } from "prom-client";
import { readFirstRights } from "../../auth/first-rights.ts";
import type { FirstRights } from "../../auth/first-rights.ts";
import type { ConnectionBudget } from "../../postgres/connection-budget.ts";
import { serverOf } from "../../database/merchant-database.ts";
import { migrationsWanted } from "../../migrations/migrations.ts";
import type { ListeningPlaces } from "../../postgres/occasional-listener.ts";
import { createPool } from "../../postgres/pool.ts";
import type { PoolOptions } from "../../postgres/pool.ts";
import { keepSettings } from "../../jobs/retention-periods.ts";
import { asApiLogin } from "../../postgres/roles.ts";
import type { SharedDocumentation } from "../../documentation/documentation.ts";
import { UserError } from "../../errors/user-error.ts";
import type { SchemaThread } from "../../graphql/schema-thread.ts";
import { Closing } from "../../lib/closing.ts";
import type { LoopTurns } from "../../lib/loop-turns.ts";
import type { Renderer } from "../../pdf/renderer.ts";
import type { Tracing } from "../../tracing/tracing.ts";
import type { SharedVersions } from "../../versions/shared-versions.ts";
import type { Version } from "../../versions/versions.ts";
import { openApp } from "../open-app.ts";
import type { App } from "../open-app.ts";
import type { Settings } from "../settings.ts";
import type { Lane } from "./lane.ts";
import type { Merchant } from "./merchant.ts";

/** Most connections of a merchant for tokens, documents and the administration. */
const servicePoolSize = 2;

/** What all merchants of a process share. */
export interface Common {
  settings: Settings;
  logger: Logger;
  budget: ConnectionBudget;
  versions: SharedVersions;
  /** Those that are offered, also while one can't be built. */
  offered: readonly Version[];
  now: () => number;
  loop: LoopTurns;
  thread: SchemaThread;
  renderer: Renderer;
  documentation: SharedDocumentation;
  places: ListeningPlaces;
  tracing: Tracing | null;
  pruned: Counter;
  /** Called when counts of use of a merchant have been written, with the number of rows. */
  onCounted: (merchant: string, rows: number) => void;
  /** States of migrations that lack none. */
  migrated: Set<string>;
  /** Merchants whose counts are being written, or wait for it. */
  counting: Lane;
}

/** A merchant whose requests can be answered. It holds no connection while there are none. */
export interface OpenMerchant {
  merchant: Merchant;
  app: App;
  /** Connections for tokens, documents and the administration. */
  pool: Pool;
  /** The migrations of its database, as they were when it was opened. */
  state: string;
  close(): Promise<void>;
}

/**
 * Opens a merchant: a few statements, unless the migrations of its database are not known yet.
 *
 * @param forOperation whether it is opened for an operation, so that a connection for that is opened meanwhile
 * @param onState called with the state of its migrations, as it is at later requests
 * @throws {UserError} when its database lacks migrations
 */
export async function openMerchant(
  merchant: Merchant,
  common: Common,
  { forOperation, onState }: { forOperation: boolean; onState: (state: string) => void },
): Promise<OpenMerchant> {
  const closing = new Closing();
  const { name, databaseUrl } = merchant;
  const { settings, budget, tracing, offered, now, onCounted, counting, migrated, ...shared } = common;
  const allotment = budget.allot(name);
  closing.add(() => allotment.close());
  const session = { timeoutsMs: settings.timeoutsMs, prepare: settings.preparedStatements, allotment };
  const open = (url: string, max: number, others: Partial<PoolOptions> = {}) => {
    const opened = createPool(url, { max, ...session, ...others });
    closing.add(() => opened.end());
    return opened;
  };
  try {
    const pool = open(databaseUrl, servicePoolSize);
    const apiPool = open(asApiLogin(databaseUrl) ?? databaseUrl, settings.databasePoolSize, {
      settings: keepSettings(settings.keep),
    });
    const limiterPool = settings.sharedRates ? open(databaseUrl, 2) : null;
    const ahead = forOperation ? apiPool.connect().then((client) => client.release()) : null;
    // Who needs it finds out why it can't be opened
    const [firstRights] = await Promise.all([readRights(pool, migrated), ahead?.catch(() => {})]);
    const { state } = firstRights;
    const app = await openApp({
      settings: {
        ...settings,
        ...{ hosts: merchant.hosts, publicUrl: publicUrlOf(merchant, settings.publicUrl) },
      },
      ...{ pool, apiPool, limiterPool, tracing: tracing?.of(name) ?? null, versions: offered, now },
      logger: common.logger.child({ merchant: name }),
      shared: {
        ...{ ...shared, merchant: name, firstRights, onState, share: allotment },
        onCounted: (rows) => onCounted(name, rows),
        inTurn: (write) => counting.run(name, write, serverOf(databaseUrl)),
      },
    });
    closing.add(() => app.close());
    return { merchant, app, pool, state, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}

/**
 * What requests need of rights, of a database that has all migrations.
 *
 * @param migrated states of migrations that are known to lack none
 * @throws {UserError} when it lacks some
 */
async function readRights(pool: Pool, migrated: Set<string>): Promise<FirstRights> {
  try {
    const rights = await readFirstRights(pool);
    if (!migrated.has(rights.state)) await requireMigrations(pool);
    migrated.add(rights.state);
    return rights;
  } catch (error) {
    // It may lack what is asked for
    if (error instanceof pg.DatabaseError) await requireMigrations(pool);
    throw error;
  }
}

async function requireMigrations(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ count: number }>("select api_meta.migration_count() as count");
  if (rows[0]!.count < (await migrationsWanted()))
    throw new UserError("The database lacks migrations: run `npm run merchants -- migrate`.");
}

/** The address that clients of a merchant use, by its first host. */
function publicUrlOf({ hosts: [host] }: Merchant, publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined || host === undefined) return undefined;
  return Object.assign(new URL(publicUrl), { hostname: host }).origin;
}

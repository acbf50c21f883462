import pg from "pg";
import type { Pool } from "pg";
import { issuerFor } from "../auth/access-token.ts";
import { readInitialRights } from "../auth/rights-now.ts";
import type { InitialRights } from "../auth/rights-now.ts";
import { countRequiredMigrations } from "../migrations/migrations.ts";
import { createPool } from "../postgres/pool.ts";
import type { PoolOptions } from "../postgres/pool.ts";
import { retentionSettings } from "../jobs/retention-periods.ts";
import { toApiLoginUrl } from "../postgres/roles.ts";
import { UserError } from "../errors/user-error.ts";
import { EventLoopQueue } from "../lib/event-loop-queue.ts";
import { openApp } from "../process/open-app.ts";
import type { App } from "../process/open-app.ts";
import type { ProcessParts } from "../process/shared.ts";
import { serverAddress } from "./merchant-database.ts";
import type { SharedParts } from "./common.ts";
import type { Merchant } from "./merchant.ts";

/** The maximum number of connections of a merchant for tokens, documents and the administration. */
const servicePoolSize = 2;
/**
 * Maximum milliseconds until a merchant's usage counts are written. A write takes a connection and as much work in Postgres
 * as two requests.
 */
const countsMs = 120_000;

/** A merchant that can handle requests. It holds no connections while there are no requests. */
export interface OpenMerchant {
  merchant: Merchant;
  app: App;
  /** Connections for tokens, documents and the administration. */
  pool: Pool;
  /** The state of its database's migrations when it was opened. */
  state: string;
  close(): Promise<void>;
}

interface OpenOptions {
  /** Whether it is opened for an operation. Then a connection for operations is opened meanwhile. */
  forOperation: boolean;
  /** Called at later requests with the state of its migrations. */
  onState: ProcessParts["onState"];
  /** Called when usage counts have been written, with the number of rows. */
  onCounted: (rows: number) => void;
}

/**
 * Opens a merchant: a few statements, unless the migrations of its database are not known yet.
 *
 * @throws {UserError} when its database lacks migrations
 */
export async function openMerchant(
  merchant: Merchant,
  common: SharedParts,
  { forOperation, onState, onCounted }: OpenOptions,
): Promise<OpenMerchant> {
  await using opened = new AsyncDisposableStack();
  const { name, databaseUrl, hosts } = merchant;
  const { settings, tracing } = common;
  const allotment = common.budget.allot(name);
  opened.defer(() => allotment.close());
  const session = { timeoutsMs: settings.timeoutsMs, prepare: settings.preparedStatements, allotment };
  const open = (url: string, max: number, others: Partial<PoolOptions> = {}) => {
    const pool = createPool(url, { max, ...session, ...others });
    opened.defer(() => pool.end());
    return pool;
  };
  const pool = open(databaseUrl, servicePoolSize);
  const apiPool = open(toApiLoginUrl(databaseUrl) ?? databaseUrl, settings.databasePoolSize, {
    settings: retentionSettings(settings.keep),
  });
  const limiterPool = settings.sharedRates ? open(databaseUrl, 2) : null;
  const warmUp = forOperation ? apiPool.connect().then((client) => client.release()) : null;
  // If this connection fails, the operation gets the error
  const [firstRights] = await Promise.all([readRights(pool, common.migrated), warmUp?.catch(() => {})]);
  const app = await openApp({
    settings: { ...settings, hosts, publicUrl: buildPublicUrl(merchant, settings.publicUrl) },
    pool,
    apiPool,
    limiterPool,
    tracing: tracing?.forMerchant(name) ?? null,
    versions: common.offered,
    logger: common.logger.child({ merchant: name }),
    shared: createProcessParts(merchant, common, { share: allotment, firstRights, onState }, onCounted),
  });
  opened.defer(() => app.close());
  const closing = opened.move();
  return { merchant, app, pool, state: firstRights.state, close: () => closing.disposeAsync() };
}

/** Returns the parts of the process for the service of one merchant. */
function createProcessParts(
  { name, databaseUrl }: Merchant,
  common: SharedParts,
  own: Pick<ProcessParts, "share" | "onState"> & { firstRights: InitialRights },
  onCounted: (rows: number) => void,
): ProcessParts {
  const { versions, places, loop, thread, renderer, documentation, counting } = common;
  return {
    ...own,
    issuer: issuerFor(name),
    labelMetrics: (registry) => registry.setDefaultLabels({ merchant: name }),
    serveVersions: (parts) => versions.for(own.firstRights.state, parts),
    listen: places.listen,
    listenWhileUsed: places.listenWhileUsed,
    usage: {
      intervalMs: countsMs,
      onWritten: onCounted,
      inTurn: (write) => counting.run(name, write, serverAddress(databaseUrl)),
    },
    turns: new EventLoopQueue({ queue: loop, owner: name }),
    schemaWork: (onWorked) => thread.forMerchant(name, onWorked),
    renderer: { render: (config) => renderer.render(config, name) },
    documentation,
  };
}

/**
 * Reads the rights that requests need from a database with all migrations.
 *
 * @param migrated states that are known to have all migrations
 * @throws {UserError} when the database lacks some
 */
async function readRights(pool: Pool, migrated: Set<string>): Promise<InitialRights> {
  try {
    const rights = await readInitialRights(pool);
    if (!migrated.has(rights.state)) await requireMigrations(pool);
    migrated.add(rights.state);
    return rights;
  } catch (error) {
    // A migration with the queried objects may be missing
    if (error instanceof pg.DatabaseError) await requireMigrations(pool);
    throw error;
  }
}

async function requireMigrations(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ count: number }>("select api_meta.migration_count() as count");
  if (rows[0]!.count < (await countRequiredMigrations()))
    throw new UserError("The database lacks migrations: run `npx erp merchants migrate`.");
}

/** Returns the address that clients of a merchant use, with its first host. */
function buildPublicUrl({ hosts: [host] }: Merchant, publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined || host === undefined) return undefined;
  return Object.assign(new URL(publicUrl), { hostname: host }).origin;
}

import pg from "pg";
import type { Size } from "../report/growth.ts";
import { fillDemo } from "../../src/commands/demo.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { withClient } from "../../src/postgres/client.ts";
import { hasCurrentMigration, runCurrentMigration } from "../../src/migrations/migrations.ts";
import { setUpDatabase } from "../../src/migrations/open-database.ts";
import { urlAsOwner } from "../../src/postgres/roles.ts";
import { enableStatistics, statisticsModule } from "../../src/plans/statement-statistics.ts";
import { extendLedger } from "./ledger.ts";

/** The folder of the benchmark's cluster, with one database for each scale. Databases are kept for the next run. */
const directory = ".data/bench";

/** The comment on a database that has all of its data. */
const filled = "filled";

/** Settings that speed up creating data. The data don't survive a crash, but can be created again. */
export const fastSettings = {
  fsync: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "16GB",
};

/** The scale of the shop whose ledger is extended. */
const scaleOfLedgers = 10;

/** The benchmark's Postgres. */
export interface BenchCluster {
  /** Existing scales. */
  filledScales(): Promise<number[]>;
  /** Opens the database of a scale, which is created if it is missing. */
  open(scale: number, onProgress: (step: string) => void): Promise<BenchDatabase>;
  /** Existing ledgers, by their requested number of movements. */
  filledLedgers(): Promise<number[]>;
  /** Opens a small shop with that many movements, which is created if it is missing. `drop` removes it. */
  openLedger(movements: number, onProgress: (step: string) => void): Promise<DroppableDatabase>;
  stop(): Promise<void>;
}

export interface BenchDatabase {
  scale: number;
  /** URL with the superuser. */
  adminUrl: string;
  /** URL with the owner of all tables. */
  ownerUrl: string;
  /** URL with the service's login role. */
  loginUrl: string;
  /** Reads the amounts of data. */
  size(): Promise<Size>;
  /** Makes a copy for writing. `drop` removes it. */
  copy(): Promise<DroppableDatabase>;
  /** Opens another database on the same server, which is created if it is missing. @returns its URL with the superuser */
  beside(name: string): Promise<string>;
}

export type DroppableDatabase = BenchDatabase & { drop(): Promise<void> };

/** Starts the cluster of the measurements, with the settings of the service's own. */
export async function openBenchCluster(flags: Record<string, string> = {}): Promise<BenchCluster> {
  const cluster = await startCluster({
    directory,
    flags: { shared_preload_libraries: statisticsModule, ...flags },
  });
  await enableStatistics(cluster.adminUrl("postgres"));
  const admin = new pg.Client({ connectionString: cluster.adminUrl("postgres") });
  admin.on("error", () => {});
  await admin.connect();
  const passwords: { login?: string } = {};
  const benchCluster: BenchCluster = {
    filledScales: () => filledSizes(admin, nameOf),
    filledLedgers: () => filledSizes(admin, nameOfLedger),
    async open(scale, onProgress) {
      const name = nameOf(scale);
      const isFilled = (await benchCluster.filledScales()).includes(scale);
      if (!isFilled) {
        // An existing database is incomplete: its creation was interrupted
        await admin.query(`drop database if exists ${name} with (force)`);
        await admin.query(`create database ${name}`);
      }
      const loginUrl = await migrate(cluster, name, passwords, onProgress);
      if (!isFilled) await fill(cluster.adminUrl(name), scale, onProgress);
      if (!isFilled) await admin.query(`comment on database ${name} is '${filled}'`);
      return describe(cluster, admin, scale, name, loginUrl);
    },
    async openLedger(movements, onProgress) {
      const name = nameOfLedger(movements);
      const drop = async () => void (await admin.query(`drop database if exists ${name} with (force)`));
      if (!(await benchCluster.filledLedgers()).includes(movements)) {
        await benchCluster.open(scaleOfLedgers, onProgress);
        await drop();
        await admin.query(`create database ${name} template ${nameOf(scaleOfLedgers)} strategy file_copy`);
        await extendLedger(cluster.adminUrl(name), movements, onProgress);
        await admin.query(`comment on database ${name} is '${filled}'`);
      }
      const loginUrl = await migrate(cluster, name, passwords, onProgress);
      return { ...describe(cluster, admin, scaleOfLedgers, name, loginUrl), drop };
    },
    async stop() {
      await admin.end();
      await cluster.stop();
    },
  };
  return benchCluster;
}

const nameOf = (scale: number | string): string => `scale_${scale}`;
const nameOfLedger = (movements: number | string): string => `ledger_${movements}`;

/** Reads the sizes of filled databases of a kind, in order. */
async function filledSizes(admin: pg.Client, name: (size: number | string) => string): Promise<number[]> {
  const { rows } = await admin.query<{ name: string }>(
    "select datname as name from pg_database where shobj_description(oid, 'pg_database') = $1",
    [filled],
  );
  const form = new RegExp(`^${name("(\\d+)")}$`);
  const sizes = rows.flatMap((row) => form.exec(row.name)?.slice(1) ?? []);
  return sizes.map(Number).sort((one, other) => one - other);
}

/** @returns the URL for the service */
async function migrate(
  cluster: Cluster,
  name: string,
  passwords: { login?: string },
  onProgress: (step: string) => void,
): Promise<string> {
  const url = cluster.adminUrl(name);
  // The login role belongs to the cluster: a new password for one database would lock out services on another
  const loginUrl = await setUpDatabase(url, { renewPassword: passwords.login === undefined, onProgress });
  if (loginUrl !== null) passwords.login = new URL(loginUrl).password;
  if (await hasCurrentMigration()) await runCurrentMigration(url);
  return Object.assign(new URL(url), { username: "service_login", password: passwords.login }).href;
}

async function fill(adminUrl: string, scale: number, onProgress: (step: string) => void): Promise<void> {
  await fillDemo({ connectionString: urlAsOwner(adminUrl), scale, onProgress });
  onProgress("Demonstration data: Vacuuming, so that it need not happen while we measure");
  await withClient(adminUrl, (client) => client.query("vacuum analyze"));
}

function describe(
  cluster: Cluster,
  admin: pg.Client,
  scale: number,
  name: string,
  loginUrl: string,
): BenchDatabase {
  const adminUrl = cluster.adminUrl(name);
  return {
    scale,
    adminUrl,
    ownerUrl: urlAsOwner(adminUrl),
    loginUrl,
    size: () => sizeOf(adminUrl, scale),
    async copy() {
      const copied = `${name}_copy`;
      await admin.query(`drop database if exists ${copied} with (force)`);
      await admin.query(`create database ${copied} template ${name} strategy file_copy`);
      const inCopy = Object.assign(new URL(loginUrl), { pathname: `/${copied}` }).href;
      return {
        ...describe(cluster, admin, scale, copied, inCopy),
        drop: async () => void (await admin.query(`drop database if exists ${copied} with (force)`)),
      };
    },
    async beside(other) {
      const found = await admin.query("select from pg_database where datname = $1", [other]);
      if (found.rowCount === 0) await admin.query(`create database ${other}`);
      return cluster.adminUrl(other);
    },
  };
}

function sizeOf(adminUrl: string, scale: number): Promise<Size> {
  return withClient(adminUrl, async (client) => {
    const { rows } = await client.query<Record<keyof Size, string>>(`
      select (select count(*) from erp.product) as products, (select count(*) from erp.sales_order) as orders,
        (select count(*) from ledger.stock_movement) as movements,
        pg_database_size(current_database()) / 1e9 as gigabytes`);
    const { products, orders, movements, gigabytes } = rows[0]!;
    return {
      scale,
      products: Number(products),
      orders: Number(orders),
      movements: Number(movements),
      gigabytes: Number(gigabytes),
    };
  });
}

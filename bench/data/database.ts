import pg from "pg";
import type { Size } from "../report/growth.ts";
import { fillDemo } from "../../src/commands/demo.ts";
import { startCluster } from "../../src/database/cluster/cluster.ts";
import type { Cluster } from "../../src/database/cluster/cluster.ts";
import { withClient } from "../../src/database/client.ts";
import { hasCurrentMigration, runCurrentMigration } from "../../src/database/migrations/migrations.ts";
import { setUpDatabase } from "../../src/database/open.ts";
import { urlAsOwner } from "../../src/database/roles.ts";

/** The cluster of the measurements, with one database for each scale. They are kept for the next run. */
const directory = ".data/bench";

/** The comment on a database that has all of its data. */
const filled = "filled";

/** The Postgres of the measurements. */
export interface BenchCluster {
  /** Existing scales. */
  filledScales(): Promise<number[]>;
  /** The database of a scale, which is made if it is missing. */
  open(scale: number, onProgress: (step: string) => void): Promise<BenchDatabase>;
  stop(): Promise<void>;
}

export interface BenchDatabase {
  scale: number;
  /** As superuser. */
  adminUrl: string;
  /** As the owner of all tables. */
  ownerUrl: string;
  /** With the role that services log in as. */
  loginUrl: string;
  /** The amounts of data in it. */
  size(): Promise<Size>;
  /** A copy for writing; `drop` removes it. */
  copy(): Promise<BenchDatabase & { drop(): Promise<void> }>;
}

/** Starts the cluster of the measurements, with the settings of the service's own. */
export async function openBenchCluster(): Promise<BenchCluster> {
  const cluster = await startCluster({ directory });
  const admin = new pg.Client({ connectionString: cluster.adminUrl("postgres") });
  admin.on("error", () => {});
  await admin.connect();
  const passwords: { login?: string } = {};
  return {
    filledScales: () => filledScales(admin),
    async open(scale, onProgress) {
      const name = nameOf(scale);
      const isFilled = (await filledScales(admin)).includes(scale);
      if (!isFilled) {
        // An existing one is incomplete: making it was interrupted
        await admin.query(`drop database if exists ${name} with (force)`);
        await admin.query(`create database ${name}`);
      }
      const loginUrl = await migrate(cluster, name, passwords, onProgress);
      if (!isFilled) await fill(cluster.adminUrl(name), scale, onProgress);
      if (!isFilled) await admin.query(`comment on database ${name} is '${filled}'`);
      return describe(cluster, admin, scale, name, loginUrl);
    },
    async stop() {
      await admin.end();
      await cluster.stop();
    },
  };
}

const nameOf = (scale: number): string => `scale_${scale}`;

async function filledScales(admin: pg.Client): Promise<number[]> {
  const { rows } = await admin.query<{ name: string }>(
    "select datname as name from pg_database where shobj_description(oid, 'pg_database') = $1",
    [filled],
  );
  return rows.map(({ name }) => Number(name.slice(nameOf(0).length - 1))).sort((one, other) => one - other);
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

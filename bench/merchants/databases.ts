import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ClientCredentials } from "../../src/auth/credentials.ts";
import { createCredential } from "../../src/auth/credentials.ts";
import { withClient } from "../../src/postgres/client.ts";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import {
  addMerchantDatabase,
  merchantDatabaseName,
  dropMerchantDatabase,
} from "../../src/merchants/merchant-database.ts";
import { urlOfDatabase, readCommittedKeys } from "../../src/migrations/templates.ts";
import { urlAsOwner } from "../../src/postgres/roles.ts";
import { readDirectory, storeMerchant } from "../../src/merchants/directory.ts";
import type { Merchant } from "../../src/merchants/merchant.ts";
import type { Cleanup } from "../cleanup.ts";

/** The cluster of many merchants, and their files. */
const home = ".data/bench-merchants";
const folder = join(home, "merchants");

/** Databases that are made at the same time. */
const atOnce = 2;
/** The merchant whose database is the template of all others. */
const model = "model";
/** Clients of each merchant. */
const clients = 4;

/** Settings without disk synchronisation, while databases are created. */
const unsafe = {
  ...{ fsync: "off", synchronous_commit: "off", full_page_writes: "off", autovacuum: "off" },
  ...{ wal_level: "minimal", max_wal_senders: "0", max_wal_size: "4GB" },
};
/** Settings that docs/explanation/scale.md recommends for many databases. */
export const flags = { autovacuum_naptime: "10min" };

/** Merchants with a few rows each, and their cluster. */
export interface Merchants {
  all: Merchant[];
  /** Their files. */
  folder: string;
  /** API credentials, the same for each merchant. */
  credentials: ClientCredentials[];
  adminUrl: string;
  /** Bytes of a merchant's database. */
  bytes: number;
  /** Milliseconds for creating each merchant; empty if all existed. */
  made: number[];
}

/**
 * Starts a cluster with merchants. Missing ones are created.
 *
 * @param keep whether to keep them for the next run
 */
export async function openMerchants(
  count: number,
  { keep, cleanup, say }: { keep: boolean; cleanup: Cleanup; say: (step: string) => void },
): Promise<Merchants> {
  cleanup.add(async () => keep || rm(home, { recursive: true, force: true }));
  const key = (await readCommittedKeys()).at(-1)!;
  if ((await readFile(join(home, "key"), "utf8").catch(() => "")) !== key)
    await rm(home, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const making = await start(unsafe, cleanup);
  const made: number[] = [];
  const file = join(home, "credentials.json");
  try {
    const adminUrl = making.adminUrl("postgres");
    if (!(await readFile(join(home, "key"), "utf8").catch(() => null))) {
      await writeFile(file, JSON.stringify(await makeModel(adminUrl)));
      await writeFile(join(home, "key"), key);
    }
    const there = new Set((await readDirectory(folder)).merchants.map(({ name }) => name));
    const missing = namesOf(count).filter((name) => !there.has(name));
    const next = missing.values();
    const work = async () => {
      for (const name of next) {
        made.push(await addMerchant(adminUrl, name));
        if (made.length % 50 === 0 || made.length === missing.length)
          say(`Databases of merchants: ${count - missing.length + made.length} of ${count}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    await making.stop();
  }
  const adminUrl = (await start(flags, cleanup)).adminUrl("postgres");
  const wanted = new Set(namesOf(count));
  const all = (await readDirectory(folder)).merchants.filter(({ name }) => wanted.has(name));
  const credentials = JSON.parse(await readFile(file, "utf8")) as ClientCredentials[];
  return { all, folder, credentials, adminUrl, bytes: await bytesOf(adminUrl), made };
}

async function start(settings: Record<string, string>, cleanup: Cleanup): Promise<Cluster> {
  const cluster = await startCluster({ directory: home, flags: settings });
  cleanup.add(() => cluster.stop());
  return cluster;
}

const namesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `m${String(n + 1).padStart(5, "0")}`);

/** @returns the credentials, which all copies have */
async function makeModel(adminUrl: string): Promise<ClientCredentials[]> {
  await addMerchantDatabase(adminUrl, model);
  const ownerUrl = urlAsOwner(urlOfDatabase(adminUrl, merchantDatabaseName(model)));
  return withClient(ownerUrl, async (client) => {
    await client.query(someProducts);
    const credentials: ClientCredentials[] = [];
    for (let n = 0; n < clients; n++)
      credentials.push(
        await createCredential(client, { name: `Measurements ${n}`, read: "all", write: "all" }),
      );
    return credentials;
  });
}

const someProducts = `insert into erp.product (product_number, name, available_stock)
  select 'P' || n, 'Product ' || n, 0 from generate_series(1, 20) n`;

/** @returns milliseconds that it took */
async function addMerchant(adminUrl: string, name: string): Promise<number> {
  // Removes the database of an interrupted run
  await dropMerchantDatabase(adminUrl, name, merchantDatabaseName(name));
  const begin = performance.now();
  const databaseUrl = await addMerchantDatabase(adminUrl, name, { template: merchantDatabaseName(model) });
  await storeMerchant(folder, { name, databaseUrl, hosts: [], hasPath: true, state: "active" });
  return performance.now() - begin;
}

function bytesOf(adminUrl: string): Promise<number> {
  return withClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ bytes: string }>("select pg_database_size($1) as bytes", [
      merchantDatabaseName(model),
    ]);
    return Number(rows[0]!.bytes);
  });
}

/** Gives a merchant so many products that searching them takes long. */
export async function makeBusy(adminUrl: string, { name }: Merchant): Promise<void> {
  await withClient(urlAsOwner(urlOfDatabase(adminUrl, merchantDatabaseName(name))), (client) =>
    client.query(manyProducts),
  );
}

const manyProducts = `
  alter table erp.product disable trigger user;
  insert into erp.product (product_number, name, manufacturer_number, available_stock)
  select 'F' || n, 'Product ' || n, 'M' || n, 0 from generate_series(1, 100000) n
  on conflict (product_number) do nothing;
  alter table erp.product enable trigger user;
  analyze erp.product`;

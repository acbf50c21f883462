import { getDatabaseName } from "../postgres/client.ts";
import { urlOfDatabase } from "../migrations/templates.ts";
import { urlAsOwner } from "../postgres/roles.ts";
import { UserError } from "../errors/user-error.ts";
import { forgetMerchant, readDirectory, storeMerchant } from "../merchants/directory.ts";
import {
  addMerchantDatabase,
  merchantDatabaseName,
  dropMerchantDatabase,
  migrateMerchantDatabase,
  findOpenDatabases,
  findOtherDatabases,
  serverAddress,
} from "../merchants/merchant-database.ts";
import type { Merchant } from "../merchants/merchant.ts";
import { requireName } from "../merchants/merchant.ts";
import { readSettings } from "../process/settings.ts";
import { makeFirstSecrets } from "./first-secrets.ts";
import {
  requireAdminUrl,
  changeMerchant,
  withFilesLocked,
  hasInvalidFile,
  readMerchant,
  requireFree,
} from "./merchants/files.ts";
import type { MerchantFolder } from "./merchants/files.ts";
import { move, moveToCopy } from "./merchants/move.ts";
import { say, UsageError } from "./terminal.ts";

/** Gives a command the settings and the folder of the merchants. */
function readMerchantFolder(): MerchantFolder {
  const settings = readSettings();
  if (settings.merchants === undefined) throw new UserError("Set MERCHANTS to the folder of the merchants.");
  return { settings, folder: settings.merchants };
}

export async function addMerchant(
  name: string,
  { host = [], path = false }: { host?: string[]; path?: boolean },
): Promise<void> {
  const { settings, folder } = readMerchantFolder();
  const hosts = host.map((one) => one.toLowerCase());
  requireName(name);
  const adminUrl = requireAdminUrl(settings);
  await requireFree(folder, name, hosts);
  if (hosts.length === 0 && !path) throw new UsageError("A merchant needs --host, or --path.");
  const databaseUrl = await addMerchantDatabase(adminUrl, name);
  const { credential, password } = await makeFirstSecrets(
    urlAsOwner(urlOfDatabase(adminUrl, merchantDatabaseName(name))),
  );
  const { clientId, clientSecret } = credential!;
  const store = async () => {
    await requireFree(folder, name, hosts);
    await storeMerchant(folder, { name, databaseUrl, hosts, hasPath: path, state: "active" });
  };
  await withFilesLocked(folder, store).catch(async (error: unknown) => {
    await dropMerchantDatabase(adminUrl, name, merchantDatabaseName(name));
    throw error;
  });
  say(`${name} is served within a second. These secrets are shown only now:

  administrator  admin
  password       ${password}
  client_id      ${clientId}
  client_secret  ${clientSecret}`);
  await reportOpenDatabases(adminUrl, name);
}

/** Says which databases beside its own a merchant could open, and how to close them. */
async function reportOpenDatabases(adminUrl: string, name: string): Promise<void> {
  const open = await findOpenDatabases(adminUrl, name);
  if (open.length === 0) return;
  say(
    `\nEvery role of this cluster may connect to these databases, so that of ${name} may, too. Unless they are empty:\n`,
  );
  for (const database of open) say(`  revoke connect on database "${database}" from public;`);
}

export async function listMerchants(): Promise<void> {
  const { merchants, wrong } = await readDirectory(readMerchantFolder().folder);
  for (const { name, state, hosts, hasPath, databaseUrl } of merchants) {
    const ways = [...hosts, ...(hasPath ? [`/m/${name}`] : [])].join(" ");
    console.log([name, state, ways, serverAddress(databaseUrl) + new URL(databaseUrl).pathname].join("\t"));
  }
  for (const { name, fault } of wrong) console.log([name, "wrong", fault].join("\t"));
}

/** Migrates some at a time. One that fails doesn't stop the others. */
export async function migrateMerchants(
  names: readonly string[],
  { atOnce }: { atOnce: number },
): Promise<void> {
  const { settings, folder } = readMerchantFolder();
  const adminUrl = requireAdminUrl(settings);
  const { merchants, wrong } = await readDirectory(folder);
  const isWanted = ({ name }: { name: string }) => names.length === 0 || names.includes(name);
  const unknown = names.find((name) => ![...merchants, ...wrong].some((each) => each.name === name));
  if (unknown !== undefined) throw new UserError(`There is no merchant “${unknown}” in ${folder}.`);
  const wanted = merchants.filter(isWanted);
  const here = wanted.filter(({ databaseUrl }) => serverAddress(databaseUrl) === serverAddress(adminUrl));
  if (here.length < wanted.length)
    say(`${wanted.length - here.length} are on other clusters: run this with the DATABASE_URL of each.`);
  const failed = wrong.filter(isWanted).map(({ name, fault }) => {
    say(`${name}: ${fault}`);
    return name;
  });
  let done = 0;
  const next = here.values();
  const work = async () => {
    for (const { name, databaseUrl } of next) {
      const url = Object.assign(new URL(adminUrl), { pathname: new URL(databaseUrl).pathname }).href;
      try {
        await migrateMerchantDatabase(url, name, { locks: settings.migrationLocks });
      } catch (error) {
        failed.push(name);
        say(`${name}: ${(error as Error).message}`);
      }
      say(`${++done} of ${here.length}: ${name}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failed.length > 0)
    throw new UserError(`${failed.length} failed. The others are done: run it again for ${failed.join(" ")}`);
}

export async function setMerchantState(name: string, state: Merchant["state"]): Promise<void> {
  await changeMerchant(readMerchantFolder(), name, (now) => ({ ...now, state }));
  say(`${name} is ${state} within a second.`);
}

export const moveMerchant = (name: string, { copied }: { copied?: true }): Promise<void> =>
  (copied ? moveToCopy : move)(readMerchantFolder(), name);

export async function removeMerchant(
  name: string,
  { drop: isToDrop = false }: { drop?: boolean },
): Promise<void> {
  const here = readMerchantFolder();
  const { folder, settings } = here;
  if (!isToDrop && (await hasInvalidFile(here, name))) {
    await withFilesLocked(folder, () => forgetMerchant(folder, name));
    return say(`${name} is served no more. Its file was wrong; its database, if it has one, is still there.`);
  }
  const { databaseUrl } = await readMerchant(here, name);
  const adminUrl = isToDrop ? requireAdminUrl(settings) : null;
  if (adminUrl !== null && serverAddress(adminUrl) !== serverAddress(databaseUrl))
    throw new UserError(
      `The database of ${name} is at ${serverAddress(databaseUrl)}, DATABASE_URL's at another place.`,
    );
  const database = getDatabaseName(databaseUrl);
  if (adminUrl !== null) await refuseOthers(adminUrl, name, database);
  await withFilesLocked(folder, async () => {
    if ((await readMerchant(here, name)).databaseUrl !== databaseUrl)
      throw new UserError(`${name} is served from another database meanwhile: nothing was removed.`);
    await forgetMerchant(folder, name);
  });
  if (adminUrl !== null) await dropMerchantDatabase(adminUrl, name, database);
  say(
    isToDrop ? `${name} and its data are gone.` : `${name} is served no more. Its database is still there.`,
  );
}

/** @throws {UserError} when there is another database of the merchant, which may have its data */
async function refuseOthers(adminUrl: string, name: string, database: string): Promise<void> {
  const others = await findOtherDatabases(adminUrl, name, database);
  if (others.length === 0) return;
  const drops = others.map((other) => `drop database "${other}";`).join("\n  ");
  throw new UserError(
    `Nothing was removed: ${name} has rights in other databases, as it has where it was moved from. ` +
      `Drop those first, if nobody needs them:\n\n  ${drops}`,
  );
}

import { createAdministrator } from "../auth/administrators.ts";
import { createCredential } from "../auth/credentials.ts";
import { randomPassword } from "../auth/passwords.ts";
import { databaseIn, withClient } from "../postgres/client.ts";
import {
  addMerchantDatabase,
  databaseOf,
  dropMerchantDatabase,
  migrateMerchantDatabase,
  openDatabases,
  otherDatabasesOf,
  serverOf,
} from "../database/merchant-database.ts";
import { besides } from "../migrations/templates.ts";
import { urlAsOwner } from "../postgres/roles.ts";
import { UserError } from "../errors/user-error.ts";
import { forgetMerchant, readDirectory, storeMerchant } from "../process/merchants/directory.ts";
import type { Merchant } from "../process/merchants/merchant.ts";
import { requireName } from "../process/merchants/merchant.ts";
import { readSettings } from "../process/settings.ts";
import { atTheCommandLine } from "./command-line.ts";
import { adminOf, change, inTurn, isWrong, merchantNamed, requireFree } from "./merchants/files.ts";
import type { Place } from "./merchants/files.ts";
import { move, moveToCopy } from "./merchants/move.ts";
import { say, UsageError } from "./terminal.ts";

const usage = `The merchants of a service that has many, in the folder that MERCHANTS names. Commands that make, migrate or remove
databases need DATABASE_URL: an administrator's, of the cluster that they are on.

Usage: npm run merchants -- <command>

  add NAME --host HOST… [--path]   a new database with its roles, an administrator and a credential for the merchant
  list                             all merchants: state, hosts, where the database is; and files that are wrong
  migrate [NAME…] [--at-once N]    the committed migrations in all databases of the cluster, or in some; may be repeated
  suspend NAME | resume NAME       refuses all its requests; serves it again
  move NAME                        copies its database to DATABASE_URL's cluster from FROM_DATABASE_URL's, and serves it there
  move NAME --copied               serves it from DATABASE_URL's database, to which its data have been copied otherwise
  remove NAME [--drop]             serves it no more; --drop erases its database and roles, too
`;

const options = {
  host: { type: "string", multiple: true },
  path: { type: "boolean" },
  "at-once": { type: "string", default: "4" },
  copied: { type: "boolean" },
  drop: { type: "boolean" },
} as const;

async function add(
  { settings, folder }: Place,
  name: string,
  hosts: string[],
  hasPath: boolean,
): Promise<void> {
  requireName(name);
  const adminUrl = adminOf(settings);
  await requireFree(folder, name, hosts);
  if (hosts.length === 0 && !hasPath) throw new UsageError("A merchant needs --host, or --path.");
  const databaseUrl = await addMerchantDatabase(adminUrl, name);
  const password = randomPassword();
  const { clientId, clientSecret } = await withClient(
    urlAsOwner(besides(adminUrl, databaseOf(name))),
    async (client) => {
      await createAdministrator(client, "admin", password);
      return createCredential(client, { name: "First credential", read: "all", write: "all" });
    },
  );
  const store = async () => {
    await requireFree(folder, name, hosts);
    await storeMerchant(folder, { name, databaseUrl, hosts, hasPath, state: "active" });
  };
  await inTurn(folder, store).catch(async (error: unknown) => {
    await dropMerchantDatabase(adminUrl, name, databaseOf(name));
    throw error;
  });
  say(`${name} is served within a second. These secrets are shown only now:

  administrator  admin
  password       ${password}
  client_id      ${clientId}
  client_secret  ${clientSecret}`);
  await tellOpen(adminUrl, name);
}

/** Says which databases beside its own a merchant could open, and how to close them. */
async function tellOpen(adminUrl: string, name: string): Promise<void> {
  const open = await openDatabases(adminUrl, name);
  if (open.length === 0) return;
  say(
    `\nEvery role of this cluster may connect to these databases, so that of ${name} may, too. Unless they are empty:\n`,
  );
  for (const database of open) say(`  revoke connect on database "${database}" from public;`);
}

async function list({ folder }: Place): Promise<void> {
  const { merchants, wrong } = await readDirectory(folder);
  for (const { name, state, hosts, hasPath, databaseUrl } of merchants) {
    const ways = [...hosts, ...(hasPath ? [`/m/${name}`] : [])].join(" ");
    console.log([name, state, ways, serverOf(databaseUrl) + new URL(databaseUrl).pathname].join("\t"));
  }
  for (const { name, fault } of wrong) console.log([name, "wrong", fault].join("\t"));
}

/** Migrates some at a time. One that fails doesn't stop the others. */
async function migrate({ settings, folder }: Place, names: readonly string[], atOnce: number): Promise<void> {
  const adminUrl = adminOf(settings);
  const { merchants, wrong } = await readDirectory(folder);
  const isWanted = ({ name }: { name: string }) => names.length === 0 || names.includes(name);
  const unknown = names.find((name) => ![...merchants, ...wrong].some((each) => each.name === name));
  if (unknown !== undefined) throw new UserError(`There is no merchant “${unknown}” in ${folder}.`);
  const wanted = merchants.filter(isWanted);
  const here = wanted.filter(({ databaseUrl }) => serverOf(databaseUrl) === serverOf(adminUrl));
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

async function setState(place: Place, name: string, state: Merchant["state"]): Promise<void> {
  await change(place, name, (now) => ({ ...now, state }));
  say(`${name} is ${state} within a second.`);
}

async function remove(place: Place, name: string, isToDrop: boolean): Promise<void> {
  if (!isToDrop && (await isWrong(place, name))) {
    await inTurn(place.folder, () => forgetMerchant(place.folder, name));
    return say(`${name} is served no more. Its file was wrong; its database, if it has one, is still there.`);
  }
  const { databaseUrl } = await merchantNamed(place, name);
  const adminUrl = isToDrop ? adminOf(place.settings) : null;
  if (adminUrl !== null && serverOf(adminUrl) !== serverOf(databaseUrl))
    throw new UserError(
      `The database of ${name} is at ${serverOf(databaseUrl)}, DATABASE_URL's at another place.`,
    );
  const database = databaseIn(databaseUrl);
  if (adminUrl !== null) await refuseOthers(adminUrl, name, database);
  await inTurn(place.folder, async () => {
    if ((await merchantNamed(place, name)).databaseUrl !== databaseUrl)
      throw new UserError(`${name} is served from another database meanwhile: nothing was removed.`);
    await forgetMerchant(place.folder, name);
  });
  if (adminUrl !== null) await dropMerchantDatabase(adminUrl, name, database);
  say(
    isToDrop ? `${name} and its data are gone.` : `${name} is served no more. Its database is still there.`,
  );
}

/** @throws {UserError} when there is another database of the merchant, which may have its data */
async function refuseOthers(adminUrl: string, name: string, database: string): Promise<void> {
  const others = await otherDatabasesOf(adminUrl, name, database);
  if (others.length === 0) return;
  const drops = others.map((other) => `drop database "${other}";`).join("\n  ");
  throw new UserError(
    `Nothing was removed: ${name} has rights in other databases, as it has where it was moved from. ` +
      `Drop those first, if nobody needs them:\n\n  ${drops}`,
  );
}

await atTheCommandLine({ usage, options, arguments: Infinity }, async (values, positionals) => {
  const [command = "", ...names] = positionals;
  const settings = readSettings();
  if (settings.merchants === undefined) throw new UserError("Set MERCHANTS to the folder of the merchants.");
  const place = { settings, folder: settings.merchants };
  const [name = ""] = names;
  const isForOne = ["add", "suspend", "resume", "move", "remove"].includes(command);
  if (isForOne && names.length !== 1) throw new UsageError(`Say which merchant: ${command} NAME`);
  const hosts = (values.host ?? []).map((host) => host.toLowerCase());
  if (command === "add") await add(place, name, hosts, values.path === true);
  else if (command === "list") await list(place);
  else if (command === "migrate") await migrate(place, names, Math.max(1, Number(values["at-once"]) || 1));
  else if (command === "suspend") await setState(place, name, "suspended");
  else if (command === "resume") await setState(place, name, "active");
  else if (command === "move") await (values.copied === true ? moveToCopy : move)(place, name);
  else if (command === "remove") await remove(place, name, values.drop === true);
  else throw new UsageError(`There is no command “${command}”.`);
});

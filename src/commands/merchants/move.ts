import { getDatabaseName, withClient } from "../../postgres/client.ts";
import { urlOfDatabase } from "../../migrations/templates.ts";
import { UserError } from "../../errors/user-error.ts";
import {
  merchantDatabaseName,
  listRoles,
  serverAddress,
  assignToMerchant,
} from "../../merchants/merchant-database.ts";
import type { Merchant } from "../../merchants/merchant.ts";
import { moveMerchantDatabase } from "../../merchants/move-merchant.ts";
import { reportProof } from "../proof.ts";
import { say } from "../terminal.ts";
import { requireAdminUrl, changeMerchant, readMerchant } from "./files.ts";
import type { MerchantFolder } from "./files.ts";

/** Moves a merchant to another cluster. Its file changes in one step, so each request finds one or the other. */
export async function move(place: MerchantFolder, name: string): Promise<void> {
  const merchant = await readMerchant(place, name);
  const adminUrl = requireAdminUrl(place.settings);
  const { fromDatabaseUrl } = place.settings;
  if (fromDatabaseUrl === undefined)
    throw new UserError("Set FROM_DATABASE_URL to the cluster where it is, as a superuser.");
  const [before, after] = [serverAddress(merchant.databaseUrl), serverAddress(adminUrl)];
  if (serverAddress(fromDatabaseUrl) !== before)
    throw new UserError(
      `${name} is at ${before}, and FROM_DATABASE_URL names ${serverAddress(fromDatabaseUrl)}.`,
    );
  if (before === after) throw new UserError(`${name} is at ${after} already.`);
  const fromUrl = urlOfDatabase(fromDatabaseUrl, getDatabaseName(merchant.databaseUrl));
  say(
    `Copying ${getDatabaseName(fromUrl)} from ${before} to ${after}. Reads go on, writes wait or are to be repeated.`,
  );
  // Other commands may have changed its file
  const requireThere = ({ databaseUrl }: Merchant) => {
    if (databaseUrl !== merchant.databaseUrl)
      throw new UserError(`${name} is served from another database meanwhile: nothing was moved.`);
  };
  await moveMerchantDatabase({
    merchant: name,
    fromUrl,
    adminUrl,
    locks: place.settings.migrationLocks,
    onLocked: async () => requireThere(await readMerchant(place, name)),
    onCopied: (databaseUrl) =>
      changeMerchant(place, name, (now) => {
        requireThere(now);
        return { ...now, databaseUrl };
      }),
  });
  say(`${name} is served from ${after} within a second.`);
  await withClient(urlOfDatabase(adminUrl, merchantDatabaseName(name)), reportProof);
  say(`
At ${before} its old database is left, which its roles can't open any more:

  drop database "${getDatabaseName(fromUrl)}";
${listRoles(name)
  .map((role) => `  drop role "${role}";`)
  .join("\n")}`);
}

/** Serves a merchant from another database, which is there. */
export async function moveToCopy(place: MerchantFolder, name: string): Promise<void> {
  const adminUrl = requireAdminUrl(place.settings);
  await changeMerchant(place, name, async (now) => {
    if (now.state !== "suspended")
      throw new UserError(
        `Suspend ${name} first, then copy its data: what is written meanwhile would be lost.`,
      );
    return { ...now, databaseUrl: await assignToMerchant(adminUrl, name, { renewPassword: true }) };
  });
  say(`${name} is at ${serverAddress(adminUrl)} now. Resume it when you have looked at it.`);
}

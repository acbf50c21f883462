import { databaseIn, withClient } from "../../postgres/client.ts";
import { adoptDatabase, databaseOf, rolesOf, serverOf } from "../../database/merchant-database.ts";
import { besides } from "../../migrations/templates.ts";
import { moveMerchantDatabase } from "../../database/move-merchant.ts";
import { UserError } from "../../errors/user-error.ts";
import type { Merchant } from "../../process/merchants/merchant.ts";
import { tellProof } from "../proof.ts";
import { say } from "../terminal.ts";
import { adminOf, change, merchantNamed } from "./files.ts";
import type { Place } from "./files.ts";

/** Moves a merchant to another cluster. Its file changes in one step, so each request finds one or the other. */
export async function move(place: Place, name: string): Promise<void> {
  const merchant = await merchantNamed(place, name);
  const adminUrl = adminOf(place.settings);
  const { fromDatabaseUrl } = place.settings;
  if (fromDatabaseUrl === undefined)
    throw new UserError("Set FROM_DATABASE_URL to the cluster where it is, as a superuser.");
  const [before, after] = [serverOf(merchant.databaseUrl), serverOf(adminUrl)];
  if (serverOf(fromDatabaseUrl) !== before)
    throw new UserError(`${name} is at ${before}, and FROM_DATABASE_URL names ${serverOf(fromDatabaseUrl)}.`);
  if (before === after) throw new UserError(`${name} is at ${after} already.`);
  const fromUrl = besides(fromDatabaseUrl, databaseIn(merchant.databaseUrl));
  say(
    `Copying ${databaseIn(fromUrl)} from ${before} to ${after}. Reads go on, writes wait or are to be repeated.`,
  );
  // Other commands may have changed its file
  const requireThere = ({ databaseUrl }: Merchant) => {
    if (databaseUrl !== merchant.databaseUrl)
      throw new UserError(`${name} is served from another database meanwhile: nothing was moved.`);
  };
  await moveMerchantDatabase({
    ...{ merchant: name, fromUrl, adminUrl, locks: place.settings.migrationLocks },
    onLocked: async () => requireThere(await merchantNamed(place, name)),
    onCopied: (databaseUrl) =>
      change(place, name, (now) => {
        requireThere(now);
        return { ...now, databaseUrl };
      }),
  });
  say(`${name} is served from ${after} within a second.`);
  await withClient(besides(adminUrl, databaseOf(name)), tellProof);
  say(`
At ${before} its old database is left, which its roles can't open any more:

  drop database "${databaseIn(fromUrl)}";
${rolesOf(name)
  .map((role) => `  drop role "${role}";`)
  .join("\n")}`);
}

/** Serves a merchant from another database, which is there. */
export async function moveToCopy(place: Place, name: string): Promise<void> {
  const adminUrl = adminOf(place.settings);
  await change(place, name, async (now) => {
    if (now.state !== "suspended")
      throw new UserError(
        `Suspend ${name} first, then copy its data: what is written meanwhile would be lost.`,
      );
    return { ...now, databaseUrl: await adoptDatabase(adminUrl, name) };
  });
  say(`${name} is at ${serverOf(adminUrl)} now. Resume it when you have looked at it.`);
}

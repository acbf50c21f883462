import { UserError } from "../../errors/user-error.ts";
import { withDirectoryLock } from "../../merchants/directory-lock.ts";
import { readDirectory, storeMerchant } from "../../merchants/directory.ts";
import type { Merchant } from "../../merchants/merchant.ts";
import type { Settings } from "../../process/settings.ts";
import { say } from "../terminal.ts";

/** The settings and folder of the merchants. */
export interface MerchantFolder {
  settings: Settings;
  folder: string;
}

/** @throws {UserError} when there is no administrator's URL */
export function requireAdminUrl({ databaseUrl }: Settings): string {
  if (databaseUrl !== undefined) return databaseUrl;
  throw new UserError("Set DATABASE_URL to a database of the cluster, as an administrator.");
}

/** @throws {UserError} when there is none, or its file is wrong */
export async function readMerchant({ folder }: MerchantFolder, name: string): Promise<Merchant> {
  const { merchants, wrong } = await readDirectory(folder);
  const merchant = merchants.find((each) => each.name === name);
  if (merchant) return merchant;
  const fault = wrong.find((each) => each.name === name)?.fault;
  if (fault === undefined) throw new UserError(`There is no merchant “${name}” in ${folder}.`);
  throw new UserError(
    `${fault} Mend its file in ${folder}; or have it served no more, and keep its database: npx erp merchants remove ${name}`,
  );
}

/** Whether a merchant's file is there, but wrong. */
export const hasInvalidFile = async ({ folder }: MerchantFolder, name: string): Promise<boolean> =>
  (await readDirectory(folder)).wrong.some((each) => each.name === name);

/** @throws {UserError} when a merchant has the name or a host already */
export async function requireFree(folder: string, name: string, hosts: readonly string[]): Promise<void> {
  const { merchants, wrong } = await readDirectory(folder);
  if ([...merchants, ...wrong].some((each) => each.name === name))
    throw new UserError(`There is a merchant “${name}” already.`);
  const taken = merchants.find((each) => each.hosts.some((host) => hosts.includes(host)));
  if (taken) throw new UserError(`A host of these is that of ${taken.name} already.`);
}

/** Does something with the files of merchants, while no other command does. */
export const withFilesLocked = <T>(folder: string, work: () => Promise<T>): Promise<T> =>
  withDirectoryLock(folder, work, {
    onWait: () => say("Waiting for another command that changes the merchants."),
  });

/** Changes a merchant's file, while no other command does. */
export const changeMerchant = (
  place: MerchantFolder,
  name: string,
  make: (now: Merchant) => Merchant | Promise<Merchant>,
) =>
  withFilesLocked(place.folder, async () =>
    storeMerchant(place.folder, await make(await readMerchant(place, name))),
  );

import { mkdtemp, rename, rm } from "node:fs/promises";
import { UserError } from "../errors/user-error.ts";
import { newPassword, passwordFile, savePassword } from "./password.ts";
import { removeRemains } from "./place.ts";
import type { Place } from "./place.ts";

// C.UTF-8 lets prefix searches use plain indexes, and sorts the same everywhere
const initdbOptions = [
  ...["--username=postgres", "--auth=scram-sha-256", "--encoding=UTF8"],
  ...["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"],
];

/**
 * Creates a cluster in a folder without one.
 *
 * @throws {UserError} when initdb fails
 */
export async function makeCluster({ home, user, data, program }: Place): Promise<void> {
  // In a temporary folder, because an interrupted initdb leaves something that looks like a cluster. Its name is new each
  // time, because initdb may outlive the process that started it
  await removeRemains(data);
  const temporary = await mkdtemp(`${data}.new-`);
  await user.own(temporary);
  const password = newPassword();
  const file = `${data}.password`;
  try {
    await savePassword(file, password, user);
    await user.execute(program("initdb"), ["-D", temporary, ...initdbOptions, `--pwfile=${file}`]);
    // Late, because the file indicates that there were data
    await savePassword(passwordFile(home), password, user);
    await rename(temporary, data);
  } catch (cause) {
    await rm(temporary, { recursive: true, force: true });
    const reason = (cause as { stderr?: string }).stderr ?? String(cause);
    throw new UserError(`Postgres could not be set up in ${data}: ${reason}`, { cause });
  } finally {
    await rm(file, { force: true });
  }
}

import { randomBytes } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../errors/user-error.ts";
import type { Place } from "./place.ts";
import type { PostgresUser } from "./postgres-user.ts";

/** Returns the path of the file with the superuser's password. */
export const passwordFile = (home: string): string => join(home, "password");

export const newPassword = (): string => randomBytes(24).toString("base64url");

/** Writes a password to a file that only the user of Postgres may read. */
export async function savePassword(file: string, password: string, user: PostgresUser): Promise<void> {
  await writeFile(file, password, { mode: 0o600 });
  await user.own(file);
}

/**
 * Returns the superuser's password; null when its file is missing or empty.
 *
 * @throws {UserError} when another user owns it
 */
export async function passwordIn(home: string): Promise<string | null> {
  try {
    return (await readFile(passwordFile(home), "utf8")) || null;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    if (code !== "EACCES") throw cause;
    throw new UserError(
      `${home} belongs to another user. Start as that user, or set DATA_DIRECTORY to another folder.`,
      { cause },
    );
  }
}

/** Sets a new superuser password in a cluster that isn't running. */
export async function renewPassword(place: Place, data: string): Promise<string> {
  const { user, home, program } = place;
  const password = newPassword();
  const script = join(data, "password.sql");
  await savePassword(script, `alter role postgres password '${password}'\n`, user);
  const line = `exec "$1" --single -c exit_on_error=on -D "$2" postgres < "$3"`;
  await user.execute("/bin/sh", ["-c", line, "sh", program("postgres"), data, script]);
  await rm(script);
  await savePassword(passwordFile(home), password, user);
  return password;
}

import { text as textOf } from "node:stream/consumers";
import * as administrators from "../auth/administrators.ts";
import type { Administrator } from "../auth/administrators.ts";
import { randomPassword } from "../auth/passwords.ts";
import { inSnakeCase } from "./terminal.ts";
import type { Result } from "./terminal.ts";
import { asOwner } from "./with-database.ts";

interface PasswordOptions {
  /** Whether standard input has the password, else it is made. */
  passwordStdin?: true;
}

export async function createAdmin(name: string, { passwordStdin }: PasswordOptions): Promise<Result> {
  const given = passwordStdin ? await readPassword() : null;
  const password = given ?? randomPassword();
  await asOwner((connection) => administrators.createAdministrator(connection, name, password));
  return withPassword(name, `Made the administrator “${name}”.`, given, password);
}

export async function resetAdminPassword(name: string, { passwordStdin }: PasswordOptions): Promise<Result> {
  const given = passwordStdin ? await readPassword() : null;
  const password = given ?? randomPassword();
  await asOwner((connection) => administrators.resetPassword(connection, name, password));
  return withPassword(name, `“${name}” has a new password. Old sessions have ended.`, given, password);
}

export async function deactivateAdmin(name: string): Promise<Result> {
  await asOwner((connection) => administrators.deactivateAdministrator(connection, name));
  return { json: { name, active: false }, text: `Deactivated “${name}”.` };
}

export async function listAdmins(): Promise<Result> {
  const all = await asOwner(administrators.listAdministrators);
  return { json: all.map(inSnakeCase), text: all.map(describe).join("\n") || "There are no administrators." };
}

function withPassword(name: string, text: string, given: string | null, password: string): Result {
  if (given !== null) return { json: { name }, text };
  return { json: { name, password }, text: `${text}\n\n  password  ${password}   (shown only now)` };
}

function describe({ name, active, lastLogInAt }: Administrator): string {
  const seen = lastLogInAt ? `last logged in ${lastLogInAt.toISOString()}` : "never logged in";
  return `${name}  ${active ? "active" : "deactivated"}, ${seen}`;
}

const readPassword = async (): Promise<string> => (await textOf(process.stdin)).replace(/\r?\n$/, "");

import { text as textOf } from "node:stream/consumers";
import * as administrators from "../auth/administrators.ts";
import type { Administrator } from "../auth/administrators.ts";
import { randomPassword } from "../auth/passwords.ts";
import { toSnakeCase } from "./terminal.ts";
import type { Result } from "./terminal.ts";
import { asOwner } from "./with-database.ts";

interface PasswordOptions {
  /** Whether standard input has the password, else it is made. */
  passwordStdin?: true;
}

/** Stores a password, which is given or made, and says so. */
const createPasswordCommand =
  (store: typeof administrators.createAdministrator, text: (name: string) => string) =>
  async (name: string, { passwordStdin }: PasswordOptions): Promise<Result> => {
    const given = passwordStdin ? await readPassword() : null;
    const password = given ?? randomPassword();
    await asOwner((connection) => store(connection, name, password));
    if (given !== null) return { json: { name }, text: text(name) };
    return {
      json: { name, password },
      text: `${text(name)}\n\n  password  ${password}   (shown only now)`,
    };
  };

export const createAdmin = createPasswordCommand(
  administrators.createAdministrator,
  (name) => `Made the administrator “${name}”.`,
);

export const resetAdminPassword = createPasswordCommand(
  administrators.resetPassword,
  (name) => `“${name}” has a new password. Old sessions have ended.`,
);

export async function deactivateAdmin(name: string): Promise<Result> {
  await asOwner((connection) => administrators.deactivateAdministrator(connection, name));
  return { json: { name, active: false }, text: `Deactivated “${name}”.` };
}

export async function listAdmins(): Promise<Result> {
  const all = await asOwner(administrators.listAdministrators);
  return { json: all.map(toSnakeCase), text: all.map(describe).join("\n") || "There are no administrators." };
}

function describe({ name, active, lastLogInAt }: Administrator): string {
  const seen = lastLogInAt ? `last logged in ${lastLogInAt.toISOString()}` : "never logged in";
  return `${name}  ${active ? "active" : "deactivated"}, ${seen}`;
}

const readPassword = async (): Promise<string> => (await textOf(process.stdin)).replace(/\r?\n$/, "");

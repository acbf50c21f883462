import type pg from "pg";
import * as administrators from "../auth/administrators.ts";
import type { Administrator } from "../auth/administrators.ts";
import { randomPassword } from "../auth/passwords.ts";
import { atTheCommandLine } from "./command-line.ts";
import { withOwner } from "./owner.ts";
import { UsageError } from "./terminal.ts";

const usage = `Manages administrators, who may use the administration in the browser, at /admin.

Usage: npm run admin -- <command> [options]

  create NAME          make an administrator: a user name or an e-mail address
  list                 show all administrators
  reset-password NAME  give an administrator a new password; this ends their sessions, and reactivates
                       them if they were deactivated
  deactivate NAME      end all sessions of an administrator and refuse further log-ins

Options:
  --password-stdin     take the password from standard input, instead of generating one
  --json               print one line of JSON instead of text
  --help               print this

A generated password is shown once; the database has only its hash. Works on the embedded Postgres, whether the
service runs or not, or on DATABASE_URL, which then must be an administrator's. Exit code 0: done, 1: refused or
failed, 2: invalid arguments.
`;

const options = {
  "password-stdin": { type: "boolean", default: false },
  json: { type: "boolean", default: false },
} as const;

interface Result {
  json: unknown;
  text: string;
}

type Command = (connection: pg.Client, name: string, given: string | null) => Promise<Result>;

const commands: Record<string, Command> = {
  async create(connection, name, given) {
    const password = given ?? randomPassword();
    await administrators.createAdministrator(connection, name, password);
    return withPassword(name, `Made the administrator “${name}”.`, given, password);
  },
  async "reset-password"(connection, name, given) {
    const password = given ?? randomPassword();
    await administrators.resetPassword(connection, name, password);
    return withPassword(name, `“${name}” has a new password. Old sessions have ended.`, given, password);
  },
  async deactivate(connection, name) {
    await administrators.deactivateAdministrator(connection, name);
    return { json: { name, active: false }, text: `Deactivated “${name}”.` };
  },
  async list(connection) {
    const all = await administrators.listAdministrators(connection);
    return { json: all.map(toJson), text: all.map(describe).join("\n") || "There are no administrators." };
  },
};

function withPassword(name: string, text: string, given: string | null, password: string): Result {
  if (given !== null) return { json: { name }, text };
  return { json: { name, password }, text: `${text}\n\n  password  ${password}   (shown only now)` };
}

function toJson({ name, active, createdAt, lastLogInAt }: Administrator) {
  return { name, active, created_at: createdAt, last_log_in_at: lastLogInAt };
}

function describe({ name, active, lastLogInAt }: Administrator): string {
  const seen = lastLogInAt ? `last logged in ${lastLogInAt.toISOString()}` : "never logged in";
  return `${name}  ${active ? "active" : "deactivated"}, ${seen}`;
}

async function readPassword(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin) text += String(chunk);
  return text.replace(/\r?\n$/, "");
}

await atTheCommandLine({ usage, options, arguments: 2 }, async (values, positionals) => {
  const [command, name] = positionals;
  if (command === undefined) throw new UsageError("Which command?");
  if (!Object.hasOwn(commands, command)) throw new UsageError(`There is no command “${command}”.`);
  if ((command !== "list") !== (name !== undefined)) {
    throw new UsageError(command === "list" ? `list takes no “${name}”.` : `${command} needs one NAME.`);
  }
  const given = values["password-stdin"] ? await readPassword() : null;
  const { json, text } = await withOwner((connection) => commands[command]!(connection, name ?? "", given));
  process.stdout.write(`${values.json ? JSON.stringify(json) : text}\n`);
});

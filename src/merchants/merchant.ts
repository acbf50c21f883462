import { UserError } from "../errors/user-error.ts";

/** An entry of the directory of merchants. */
export interface Merchant {
  /** The name, which is also the name of its file. */
  name: string;
  /** The URL of its database, with the service's login role. */
  databaseUrl: string;
  /** Host names by which clients reach it, in lower case and without a port. */
  hosts: readonly string[];
  /** Whether clients can also reach it at `/m/<name>` of any host. */
  hasPath: boolean;
  state: "active" | "suspended";
}

/** The form of a merchant's name, which is part of host names, roles and databases. */
const nameForm = /^[a-z][a-z0-9-]{0,39}$/;
const hostForm = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/** Checks a merchant's name. @throws {UserError} when it is invalid */
export function requireName(name: string): void {
  if (!nameForm.test(name))
    throw new UserError(
      `“${name}” can't be a merchant's name: use a lower-case letter, then up to 39 lower-case letters, digits and hyphens.`,
    );
}

/**
 * Reads a merchant from the variables in its file.
 *
 * @throws {UserError} when a variable is missing or invalid
 */
export function readMerchant(name: string, variables: Record<string, string | undefined>): Merchant {
  requireName(name);
  const {
    DATABASE_URL: databaseUrl = "",
    HOSTS: hosts = "",
    BY_PATH: byPath = "",
    STATE: state = "active",
  } = variables;
  const wrong = (what: string) => new UserError(`The merchant ${name} has an invalid ${what}.`);
  if (!/^postgres(ql)?:/.test(databaseUrl) || !URL.canParse(databaseUrl)) throw wrong("DATABASE_URL");
  const names = hosts
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  if (!names.every((host) => hostForm.test(host))) throw wrong("HOSTS");
  if (byPath !== "" && byPath !== "true" && byPath !== "false") throw wrong("BY_PATH");
  if (state !== "active" && state !== "suspended") throw wrong("STATE");
  return { name, databaseUrl, hosts: names, hasPath: byPath === "true", state };
}

/** Returns the text of a merchant's file. */
export function printMerchant({ databaseUrl, hosts, hasPath, state }: Merchant): string {
  const lines = [
    `DATABASE_URL="${databaseUrl}"`,
    `HOSTS=${hosts.join(",")}`,
    `BY_PATH=${hasPath}`,
    `STATE=${state}`,
  ];
  return `${lines.join("\n")}\n`;
}

import { UserError } from "../errors/user-error.ts";

/** An entry of the directory of merchants. */
export interface Merchant {
  /** Also the name of its file. */
  name: string;
  /** Its database, with the role that the service logs in as. */
  databaseUrl: string;
  /** Host names by which clients reach it, in small letters and without a port. */
  hosts: readonly string[];
  /** Whether it is reached at `/m/<name>` of any host, too. */
  hasPath: boolean;
  state: "active" | "suspended";
}

/** A part of host names and of names of roles and databases. */
const nameForm = /^[a-z][a-z0-9-]{0,39}$/;
const hostForm = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/** @throws {UserError} when it is none */
export function requireName(name: string): void {
  if (!nameForm.test(name))
    throw new UserError(
      `“${name}” can't be a merchant's name: a small letter, and up to 39 more, digits and hyphens.`,
    );
}

/**
 * A merchant, from the variables in its file.
 *
 * @throws {UserError} when something is missing or wrong
 */
export function readMerchant(name: string, variables: Record<string, string | undefined>): Merchant {
  requireName(name);
  const {
    DATABASE_URL: databaseUrl = "",
    HOSTS: hosts = "",
    BY_PATH: byPath = "",
    STATE: state = "active",
  } = variables;
  const wrong = (what: string) => new UserError(`The merchant ${name} has a wrong ${what}.`);
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

/** The text of a merchant's file. */
export function printMerchant({ databaseUrl, hosts, hasPath, state }: Merchant): string {
  const lines = [
    `DATABASE_URL="${databaseUrl}"`,
    `HOSTS=${hosts.join(",")}`,
    `BY_PATH=${hasPath}`,
    `STATE=${state}`,
  ];
  return `${lines.join("\n")}\n`;
}

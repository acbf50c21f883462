import { existsSync } from "node:fs";
import { loadEnvFile } from "node:process";
import { UserError } from "../errors/user-error.ts";
import { bulk } from "./settings/bulk-settings.ts";
import { labels } from "./settings/label-settings.ts";
import { database } from "./settings/postgres-settings.ts";
import { limits } from "./settings/limit-settings.ts";
import { retention } from "./settings/retention-settings.ts";
import { service } from "./settings/service-settings.ts";
import type { Setting } from "./settings/setting.ts";
import { tracing } from "./settings/tracing-settings.ts";
import { webhooks } from "./settings/webhook-settings.ts";

type Group = { [key: string]: Setting<unknown> | Group };
type Values<Declared> = {
  [Key in keyof Declared]: Declared[Key] extends Setting<infer Value> ? Value : Values<Declared[Key]>;
};

const declared = {
  ...service,
  ...database,
  ...webhooks,
  ...labels,
  ...bulk,
  ...retention,
  ...limits,
  ...tracing,
};

/** All settings, by topic. */
export const settingsByTopic: Record<string, Setting<unknown>[]> = {
  Service: [...listSettings(service)],
  Postgres: [...listSettings(database)],
  Webhooks: [...listSettings(webhooks)],
  "Shipping labels": [...listSettings(labels)],
  "Bulk operations": [...listSettings(bulk)],
  Retention: [...listSettings(retention)],
  Limits: [...listSettings(limits)],
  Traces: [...listSettings(tracing)],
};

/** The settings of a process, read once at its start. src/process/settings/ declares and describes them. */
export interface Settings extends Values<Omit<typeof declared, "explorer" | "trustProxy">> {
  /** Whether to serve the explorer. By default only in development. */
  explorer: boolean;
  /** The proxies whose statement of the client's address is trusted, as for Express; false for none. */
  trustProxy: string | number | false;
}

/**
 * Reads the settings from environment variables and the file `.env`.
 *
 * @throws {UserError} when a value is invalid
 */
export function readSettings(): Settings {
  if (existsSync(".env")) loadEnvFile(".env");
  return parseSettings(process.env);
}

/** Parses the settings in environment variables. Blank ones count as not set. */
export function parseSettings(variables: Record<string, string | undefined>): Settings {
  const errors: string[] = [];
  const values = parseValues(declared, variables, errors);
  if (errors.length > 0)
    throw new UserError(`These settings are invalid (see docs/reference/settings.md):\n${errors.join("\n")}`);
  return {
    ...values,
    explorer: values.explorer ?? !values.production,
    trustProxy: values.trustProxy ?? false,
  };
}

/** Parses the values of a group. For each invalid one it adds a line with the reason to `wrong`. */
function parseValues<Declared extends Group>(
  group: Declared,
  variables: Record<string, string | undefined>,
  wrong: string[],
): Values<Declared> {
  const values = Object.entries(group).map(([key, member]) => {
    if (!isSetting(member)) return [key, parseValues(member, variables, wrong)];
    const { name, kind, fallback, secret } = member;
    const text = variables[name]?.trim() ? variables[name] : undefined;
    if (text === undefined && fallback === undefined) return [key, undefined];
    const { success, data } = kind.schema.safeParse(text ?? fallback);
    if (!success) wrong.push(`  ${name}: expected ${kind.expected}${secret ? "" : `, not “${text}”`}`);
    return [key, data];
  });
  return Object.fromEntries(values) as Values<Declared>;
}

function* listSettings(group: Group): Iterable<Setting<unknown>> {
  for (const member of Object.values(group)) {
    if (isSetting(member)) yield member;
    else yield* listSettings(member);
  }
}

function isSetting(member: Setting<unknown> | Group): member is Setting<unknown> {
  return typeof member.name === "string";
}

import type { parseArgs } from "node:util";
import type pg from "pg";
import * as credentials from "../auth/credentials.ts";
import type { CredentialOverview, ClientCredentials, Resources } from "../auth/credentials.ts";
import { atTheCommandLine } from "./command-line.ts";
import { withOwner } from "./owner.ts";
import { UsageError } from "./terminal.ts";

const usage = `Manages API credentials: a key and a secret, which clients exchange for access tokens.

Usage: npm run token -- <command> [options]

  create --name NAME [--read all|a,b] [--write all|a,b] [--no-access] [--operations stored]
                    make a credential; it may read and write the resources that are named,
                    such as products or stocks, and writing includes reading; --no-access
                    makes one that may do nothing yet
  list              show all credentials
  rotate ID [--overlap 24h]
                    give a credential a new key and secret; the old ones and their tokens stop after
                    the overlap, in hours (h) or days (d) up to 30d, and without one at once
  deactivate ID     stop a credential and its tokens at once; it stays in the list
  change ID --operations stored|all
                    let it send only operations that \`npm run operations\` has stored for it, or all
  activate ID       let a deactivated credential work again, with the same key and secret
  delete ID         remove a credential; its tokens stop at once

Options:
  --json            print one line of JSON instead of text
  --help            print this

ID is what list shows: the id, or the client_id. The secret is shown once, by create and rotate; the database has only its hash.
Works on the embedded Postgres, whether the service runs or not, or on DATABASE_URL, which then must be an
administrator's. Exit code 0: done, 1: refused or failed, 2: invalid arguments.
`;

const options = {
  name: { type: "string" },
  read: { type: "string", multiple: true },
  write: { type: "string", multiple: true },
  "no-access": { type: "boolean", default: false },
  overlap: { type: "string" },
  operations: { type: "string" },
  json: { type: "boolean", default: false },
} as const;

type Options = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];
type Command = (
  connection: pg.Client,
  id: string,
  options: Options,
) => Promise<{ json: unknown; text: string }>;

const withoutId: Record<string, Command> = {
  async create(connection, _id, { name = "", read, write, operations }) {
    const request = { name, read: parseResources(read), write: parseResources(write) };
    const { scopes, ...issued } = await credentials.createCredential(connection, request);
    if (operations === "stored") await credentials.restrictOperations(connection, issued.id, true);
    return {
      json: { id: issued.id, name, client_id: issued.clientId, client_secret: issued.clientSecret, scopes },
      text: `Made “${name}”.\n\n${describeCredentials(issued)}\n  scopes         ${scopes.join(" ") || "none"}`,
    };
  },
  async list(connection) {
    const all = await credentials.listCredentials(connection);
    return { json: all.map(toJson), text: all.map(describe).join("\n\n") || "There are no credentials." };
  },
};

const withId: Record<string, Command> = {
  async rotate(connection, id, { overlap }) {
    const hours = hoursOf(overlap);
    const issued = await credentials.rotateCredential(connection, id, hours);
    const old = hours === 0 ? "The old key has stopped." : `The old key stops in ${hours} hours.`;
    return {
      json: { id, client_id: issued.clientId, client_secret: issued.clientSecret },
      text: `${old} Here is the new one.\n\n${describeCredentials(issued)}`,
    };
  },
  async change(connection, id, { operations }) {
    await credentials.restrictOperations(connection, id, operations === "stored");
    return { json: { id, operations }, text: `${id} may send ${operations} operations.` };
  },
  async activate(connection, id) {
    await credentials.activateCredential(connection, id);
    return { json: { id, active: true }, text: `Activated ${id}.` };
  },
  async deactivate(connection, id) {
    await credentials.deactivateCredential(connection, id);
    return { json: { id, active: false }, text: `Deactivated ${id}.` };
  },
  async delete(connection, id) {
    await credentials.deleteCredential(connection, id);
    return { json: { id, deleted: true }, text: `Deleted ${id}.` };
  },
};

/** @throws {UsageError} when it isn't said what to make */
function checkRequest({ name, read, write, "no-access": noAccess }: Options): void {
  if (name === undefined) throw new UsageError("create needs --name.");
  const isEmpty = [read, write].map(parseResources).every((resources) => resources.length === 0);
  if (isEmpty && !noAccess)
    throw new UsageError(
      "create needs --read or --write, such as --read all. For a credential that may do nothing, say --no-access.",
    );
  if (!isEmpty && noAccess) throw new UsageError("--no-access goes with neither --read nor --write.");
}

/** Hours of an overlap such as 24h or 7d; 0 without one. */
function hoursOf(overlap: string | undefined): number {
  if (overlap === undefined) return 0;
  const [, amount, unit] = /^(\d{1,3})(h|d)$/.exec(overlap) ?? [];
  const hours = Number(amount) * (unit === "d" ? 24 : 1);
  if (!(hours <= 30 * 24)) throw new UsageError("--overlap is a number of hours or days up to 30d: 24h, 7d.");
  return hours;
}

function parseResources(values: string[] = []): Resources {
  const names = values.flatMap((value) => value.split(",")).map((name) => name.trim());
  return names.includes("all") ? "all" : names.filter((name) => name !== "");
}

function describeCredentials({ id, clientId, clientSecret }: ClientCredentials): string {
  return [
    `  id             ${id}`,
    `  client_id      ${clientId}`,
    `  client_secret  ${clientSecret}   (shown only now)`,
  ].join("\n");
}

function describe({
  id,
  name,
  clientId,
  scopes,
  active,
  lastUsedAt,
  deactivatedAt,
  oldKeyEndsAt,
  expiresAt,
  storedOperationsOnly,
}: CredentialOverview): string {
  const end = expiresAt?.toISOString();
  const state = active
    ? `active${end ? ` until ${end}` : ""}`
    : deactivatedAt
      ? `deactivated since ${deactivatedAt.toISOString()}`
      : `expired since ${end}`;
  const old = oldKeyEndsAt ? `, an older one until ${oldKeyEndsAt.toISOString()}` : "";
  return [
    `${id}  ${name}`,
    `  client_id  ${clientId ?? "none"}${old}`,
    `  state      ${state}, ${lastUsedAt ? `last used ${lastUsedAt.toISOString()}` : "never used"}`,
    `  scopes     ${scopes.join(" ") || "none"}${storedOperationsOnly ? "\n  operations stored ones only" : ""}`,
  ].join("\n");
}

function toJson({ id, name, clientId, scopes, active, storedOperationsOnly, ...times }: CredentialOverview) {
  const { createdAt, lastUsedAt, rotatedAt, deactivatedAt, oldKeyEndsAt, expiresAt } = times;
  return {
    ...{ id, name, client_id: clientId, scopes, active, stored_operations_only: storedOperationsOnly },
    ...{
      created_at: createdAt,
      last_used_at: lastUsedAt,
      rotated_at: rotatedAt,
      deactivated_at: deactivatedAt,
      old_key_ends_at: oldKeyEndsAt,
      expires_at: expiresAt,
    },
  };
}

await atTheCommandLine({ usage, options, arguments: 2 }, async (values, positionals) => {
  const [name, id] = positionals;
  if (name === undefined) throw new UsageError("Which command?");
  const command = withoutId[name] ?? withId[name];
  if (!command) throw new UsageError(`There is no command “${name}”.`);
  if (name in withId !== (id !== undefined)) {
    throw new UsageError(name in withId ? `${name} needs one ID.` : `${name} takes no “${id}”.`);
  }
  if (name === "create") checkRequest(values);
  const { operations } = values;
  if (!["stored", "all", ...(name === "change" ? [] : [undefined])].includes(operations))
    throw new UsageError("--operations is stored or all.");
  hoursOf(values.overlap);
  const { json, text } = await withOwner(async (connection) =>
    command(connection, id === undefined ? "" : await credentials.findCredential(connection, id), values),
  );
  process.stdout.write(`${values.json ? JSON.stringify(json) : text}\n`);
});

import type pg from "pg";
import * as credentials from "../auth/credentials.ts";
import type { CredentialOverview, ClientCredentials, Resources } from "../auth/credentials.ts";
import { toSnakeCase, UsageError } from "./terminal.ts";
import type { Result } from "./terminal.ts";
import { asOwner } from "./with-database.ts";

interface NewCredential {
  name: string;
  read?: string[];
  write?: string[];
  /** False for a credential that may do nothing. */
  access: boolean;
  operations?: "stored" | "all";
}

export async function createCredential({
  name,
  operations,
  access,
  ...wanted
}: NewCredential): Promise<Result> {
  const [read, write] = [parseResources(wanted.read), parseResources(wanted.write)];
  const isEmpty = read.length + write.length === 0;
  if (isEmpty && access)
    throw new UsageError(
      "create needs --read or --write, such as --read all. For a credential that may do nothing, say --no-access.",
    );
  if (!isEmpty && !access) throw new UsageError("--no-access goes with neither --read nor --write.");
  const { scopes, ...issued } = await asOwner(async (connection) => {
    const made = await credentials.createCredential(connection, { name, read, write });
    if (operations === "stored") await credentials.restrictOperations(connection, made.id, true);
    return made;
  });
  return {
    json: { id: issued.id, name, client_id: issued.clientId, client_secret: issued.clientSecret, scopes },
    text: `Made “${name}”.\n\n${describeCredentials(issued)}\n  scopes         ${scopes.join(" ") || "none"}`,
  };
}

export async function listCredentials(): Promise<Result> {
  const all = await asOwner(credentials.listCredentials);
  return { json: all.map(toSnakeCase), text: all.map(describe).join("\n\n") || "There are no credentials." };
}

/** Does something with a credential, given its id or a client_id. */
const withCredential = <T>(
  given: string,
  work: (connection: pg.Client, id: string) => Promise<T>,
): Promise<T> =>
  asOwner(async (connection) => work(connection, await credentials.findCredential(connection, given)));

/** @param overlap hours for which the old key still works */
export async function rotateCredential(given: string, overlap: number): Promise<Result> {
  const issued = await withCredential(given, (connection, id) =>
    credentials.rotateCredential(connection, id, overlap),
  );
  const old = overlap === 0 ? "The old secret has stopped." : `The old secret stops in ${overlap} hours.`;
  return {
    json: { id: issued.id, client_id: issued.clientId, client_secret: issued.clientSecret },
    text: `${old} Here is the new one.\n\n${describeCredentials(issued)}`,
  };
}

export const changeCredential = (given: string, operations: "stored" | "all"): Promise<Result> =>
  withCredential(given, async (connection, id) => {
    await credentials.restrictOperations(connection, id, operations === "stored");
    return { json: { id, operations }, text: `${id} may send ${operations} operations.` };
  });

/** The result of each action: a verb in the past, and what is so now. */
const states = {
  activate: { verb: "Activated", state: { active: true } },
  deactivate: { verb: "Deactivated", state: { active: false } },
  delete: { verb: "Deleted", state: { deleted: true } },
};

export const setState = (given: string, action: keyof typeof states): Promise<Result> =>
  withCredential(given, async (connection, id) => {
    await credentials[`${action}Credential`](connection, id);
    const { verb, state } = states[action];
    return { json: { id, ...state }, text: `${verb} ${id}.` };
  });

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

import { randomBytes } from "node:crypto";
import type { OwnerConnection } from "../postgres/client.ts";
import { errorCodeOf } from "../errors/postgres-errors.ts";
import { UserError } from "../errors/user-error.ts";
import { isUuid } from "../lib/uuid.ts";
import { hashSecret } from "../lib/hash-secret.ts";

/** The resources that an API credential may read or write: all, or a list of names such as `products`. */
export type Resources = "all" | readonly string[];

export interface CredentialRequest {
  name: string;
  read?: Resources;
  /** Writing a resource includes reading it. */
  write?: Resources;
}

/** A client ID with its client secret. The secret is known only now: the database has its hash. */
export interface ClientCredentials {
  /** The id of the API credential. */
  id: string;
  /** The client ID, which is safe to log. */
  clientId: string;
  clientSecret: string;
}

export interface CredentialOverview {
  id: string;
  name: string;
  clientId: string | null;
  scopes: string[];
  active: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
  rotatedAt: Date | null;
  deactivatedAt: Date | null;
  /** When the previous client ID ends, after a rotation with an overlap. */
  oldKeyEndsAt: Date | null;
  /** When the credential ends or ended; null without an end. */
  expiresAt: Date | null;
  /** Whether its tokens may send stored operations only. */
  storedOperationsOnly: boolean;
}

/** The columns of auth.credential_overview and administration.credentials, with the names of {@link CredentialOverview}. */
export const credentialColumns = `id, name, access_keys[1] as "clientId", scopes, active,
  stored_operations_only as "storedOperationsOnly", created_at as "createdAt", last_used_at as "lastUsedAt",
  rotated_at as "rotatedAt", deactivated_at as "deactivatedAt", old_key_ends_at as "oldKeyEndsAt", expires_at as "expiresAt"`;

/** A request about API credentials that can't be met. Its message is for the caller. */
export class CredentialError extends UserError {}

/**
 * Creates an API credential.
 *
 * @param known all existing scopes, if they have been read before
 * @throws {CredentialError} when a resource doesn't exist
 */
export async function createCredential(
  connection: OwnerConnection,
  { name, read = [], write = [] }: CredentialRequest,
  known?: readonly string[],
): Promise<ClientCredentials & { scopes: string[] }> {
  if (name.trim() === "" || name.length > 100)
    throw new CredentialError("The name must have 1 to 100 characters.");
  const scopes = resolveScopes(known ?? (await knownScopes(connection)), read, write);
  const issued = createClientCredentials();
  const { rows } = await connection.query<{ id: string }>(
    "select auth.create_credential($1, $2, $3, $4) as id",
    [name.trim(), scopes, issued.clientId, hashSecret(issued.clientSecret)],
  );
  return { id: rows[0]!.id, ...issued, scopes };
}

/** Returns all API credentials, oldest first. */
export async function listCredentials(connection: OwnerConnection): Promise<CredentialOverview[]> {
  const { rows } = await connection.query<CredentialOverview>(
    `select ${credentialColumns} from auth.credential_overview order by id`,
  );
  return rows;
}

/**
 * Gives an API credential a new client ID and secret. The old ones become invalid, with the tokens issued for them.
 *
 * @param overlapHours hours for which the old ones stay valid; 0 ends them at once
 * @throws {CredentialError} when there is no such credential, or it is deactivated or has ended
 */
export async function rotateCredential(
  connection: OwnerConnection,
  id: string,
  overlapHours = 0,
): Promise<ClientCredentials> {
  const issued = createClientCredentials();
  const values = [issued.clientId, hashSecret(issued.clientSecret), overlapHours];
  await change(
    connection,
    id,
    "select auth.rotate_credential($1, $2, $3, make_interval(hours => $4))",
    values,
  );
  return { id, ...issued };
}

/** Reactivates an API credential, with its client ID and secret. @throws {CredentialError} if missing or ended */
export const activateCredential = (connection: OwnerConnection, id: string): Promise<void> =>
  change(connection, id, "select auth.activate_credential($1)");

/** Deactivates an API credential and its tokens; it stays in lists. @throws {CredentialError} when there is none */
export const deactivateCredential = (connection: OwnerConnection, id: string): Promise<void> =>
  change(connection, id, "select auth.deactivate_credential($1)");

/** Deletes an API credential. Its tokens become invalid at once. @throws {CredentialError} when there is none */
export const deleteCredential = (connection: OwnerConnection, id: string): Promise<void> =>
  change(connection, id, "select auth.delete_credential($1)");

/** Restricts an API credential to stored operations, or lifts that. @throws {CredentialError} when there is none */
export const restrictOperations = (
  connection: OwnerConnection,
  id: string,
  storedOnly: boolean,
): Promise<void> => change(connection, id, "select auth.restrict_operations($1, $2)", [storedOnly]);

/** Returns every scope that an API credential can have. */
export async function knownScopes(connection: OwnerConnection): Promise<string[]> {
  const { rows } = await connection.query<{ scope: string }>("select auth.known_scopes() as scope");
  return rows.map(({ scope }) => scope);
}

/**
 * Returns the id of an API credential, given its id or one of its client IDs.
 *
 * @throws {CredentialError} when it is neither
 */
export async function findCredential(connection: OwnerConnection, name: string): Promise<string> {
  if (isUuid(name.toLowerCase())) return name;
  const { rows } = await connection.query<{ id: string }>(
    "select id from auth.credential_overview where $1 = any (access_keys)",
    [name],
  );
  if (!rows[0])
    throw new CredentialError(`“${name}” is neither the id nor the client_id of an API credential.`);
  return rows[0].id;
}

async function change(
  connection: OwnerConnection,
  id: string,
  statement: string,
  values: unknown[] = [],
): Promise<void> {
  if (!isUuid(id.toLowerCase())) throw new CredentialError(`“${id}” is not the id of an API credential.`);
  try {
    await connection.query(statement, [id, ...values]);
  } catch (error) {
    // no_data_found
    throw errorCodeOf(error) === "P0002" ? new CredentialError((error as Error).message) : error;
  }
}

/** Returns the scopes for resources that may be read or written. */
export function resolveScopes(known: readonly string[], read: Resources, write: Resources): string[] {
  const resources = new Set(known.map((scope) => scope.split(":")[0]!));
  const isIn = (wanted: Resources, resource: string) => wanted === "all" || wanted.includes(resource);
  const unknown = [read, write]
    .flatMap((wanted) => (wanted === "all" ? [] : wanted))
    .filter((name) => !resources.has(name));
  if (unknown.length > 0) {
    throw new CredentialError(
      `There is no resource “${unknown.join("”, “")}”. The resources are: ${[...resources].join(", ")}.`,
    );
  }
  const unwritten = write === "all" ? [] : write.filter((name) => !known.includes(`${name}:write`));
  if (unwritten.length > 0)
    throw new CredentialError(`No mutation writes “${unwritten.join("”, “")}”: it can only be read.`);
  return known.filter((scope) => {
    const [resource = "", level] = scope.split(":");
    return isIn(write, resource) || (level === "read" && isIn(read, resource));
  });
}

/** Generates a client ID and a client secret. */
export function createClientCredentials(): { clientId: string; clientSecret: string } {
  // The prefixes distinguish ID and secret, and let scanners find leaked secrets
  return {
    clientId: `ak_${randomBytes(15).toString("hex")}`,
    clientSecret: `sk_${randomBytes(32).toString("base64url")}`,
  };
}

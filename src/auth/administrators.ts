import { checkNewPassword, hashPassword } from "./passwords.ts";
import type { OwnerConnection } from "../postgres/client.ts";
import { errorCodeOf } from "../errors/postgres-errors.ts";
import { UserError } from "../errors/user-error.ts";

export interface Administrator {
  name: string;
  active: boolean;
  createdAt: Date;
  lastLogInAt: Date | null;
}

/**
 * Creates an administrator.
 *
 * @throws {UserError} when the name or the password is not acceptable
 */
export async function createAdministrator(
  connection: OwnerConnection,
  name: string,
  password: string,
): Promise<void> {
  if (!/^[^\s\p{Cc}]{1,100}$/u.test(name))
    throw new UserError(
      "The name must have 1 to 100 characters without spaces: a user name or an e-mail address.",
    );
  const hash = await hashNew(name, password);
  try {
    await connection.query("select auth.create_administrator($1, $2)", [name, hash]);
  } catch (error) {
    // unique_violation
    throw errorCodeOf(error) === "23505"
      ? new UserError(`There is already an administrator “${name}”.`)
      : error;
  }
}

/**
 * Sets an administrator's password, ends their sessions, and reactivates a deactivated one.
 *
 * @throws {UserError} when there is no such administrator, or the password is not acceptable
 */
export async function resetPassword(
  connection: OwnerConnection,
  name: string,
  password: string,
): Promise<void> {
  await change(connection, "select auth.reset_administrator_password($1, $2)", [
    name,
    await hashNew(name, password),
  ]);
}

/**
 * Ends all sessions of an administrator and refuses further log-ins.
 *
 * @throws {UserError} when there is no such administrator
 */
export async function deactivateAdministrator(connection: OwnerConnection, name: string): Promise<void> {
  await change(connection, "select auth.deactivate_administrator($1)", [name]);
}

/** Returns all administrators, by name. */
export async function listAdministrators(connection: OwnerConnection): Promise<Administrator[]> {
  const { rows } = await connection.query<Administrator>(
    `select name, deactivated_at is null as active, created_at as "createdAt", last_log_in_at as "lastLogInAt"
     from auth.administrator order by lower(name)`,
  );
  return rows;
}

function hashNew(name: string, password: string): Promise<string> {
  const complaint = checkNewPassword(password, name);
  if (complaint !== null) throw new UserError(complaint);
  return hashPassword(password);
}

async function change(connection: OwnerConnection, statement: string, values: string[]): Promise<void> {
  try {
    await connection.query(statement, values);
  } catch (error) {
    throw errorCodeOf(error) === "P0002" ? new UserError((error as Error).message) : error; // no_data_found
  }
}

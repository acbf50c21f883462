import { randomUUID } from "node:crypto";
import { after, before } from "node:test";
import pg from "pg";
import { asApiLogin, urlAsOwner } from "../../src/database/roles.ts";

/** A database of a test file's own, dropped at its end. */
export interface TestDatabase {
  /** As superuser. */
  adminUrl: string;
  /** As the role that owns every object. */
  ownerUrl: string;
  /** As the role that the service logs in with. */
  loginUrl: string;
  /** As the role that clients' operations run by. */
  apiUrl: string;
  close(): Promise<void>;
}

/** What a test database starts from: nothing, the migrated schema, or the schema with demonstration data. */
export type Template = "template0" | "template_schema" | "template_demo";

/** Clones a template of the test cluster (see global-setup.ts). */
export async function openTestDatabase(template: Template): Promise<TestDatabase> {
  const { TEST_ADMIN_URL: server, TEST_LOGIN_URL: login } = process.env;
  if (server === undefined || login === undefined) {
    throw new Error("No test cluster: run `npm test`, or `npm run test:only -- <file>` for one file.");
  }
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  await admin.query(`create database ${name} template ${template} owner service_owner`);
  // What a database lets PUBLIC do isn't cloned
  await admin.query(`revoke temporary on database ${name} from public`);
  const inDatabase = (url: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  return {
    adminUrl: inDatabase(server),
    ownerUrl: urlAsOwner(inDatabase(server)),
    loginUrl: inDatabase(login),
    apiUrl: asApiLogin(inDatabase(login))!,
    async close() {
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

/**
 * A database for the tests of the suite that calls this, with one connection: there from their beginning to their end.
 *
 * @param role who the connection logs in as
 */
export function useDatabase(
  template: Template,
  role: "owner" | "login" | "api" = "owner",
): { database: TestDatabase; client: pg.Client } {
  const used = {} as { database: TestDatabase; client: pg.Client };
  before(async () => {
    used.database = await openTestDatabase(template);
    used.client = new pg.Client({ connectionString: used.database[`${role}Url`] });
    await used.client.connect();
  });
  after(async () => {
    await used.client.end();
    await used.database.close();
  });
  return used;
}

/** Runs SQL by a connection, which may be opened later, and answers the rows. */
export const rowsOf =
  (client: () => pg.ClientBase | pg.Pool) =>
  async (text: string, values: unknown[] = []): Promise<any[]> =>
    (await client().query(text, values)).rows;

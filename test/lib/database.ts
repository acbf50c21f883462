import { randomUUID } from "node:crypto";
import { after, before } from "node:test";
import pg from "pg";
import { toApiLoginUrl, urlAsOwner } from "../../src/postgres/roles.ts";
import { until } from "./until.ts";

/** The database of a test file, dropped at its end. */
export interface TestDatabase {
  /** URL with the superuser. */
  adminUrl: string;
  /** URL with the role that owns every object. */
  ownerUrl: string;
  /** URL with the service's login role. */
  loginUrl: string;
  /** URL with the role of clients' operations. */
  apiUrl: string;
  close(): Promise<void>;
}

/**
 * The initial content of a test database: nothing; the committed migrations; also db/current; also the demonstration data.
 */
export type Template = "template0" | "template_committed" | "template_schema" | "template_demo";

/** Clones a template of the test cluster (see global-setup.ts). */
export async function openTestDatabase(template: Template): Promise<TestDatabase> {
  const { TEST_ADMIN_URL: server, TEST_LOGIN_URL: login } = process.env;
  if (server === undefined || login === undefined) {
    throw new Error("No test cluster: run `npm test`, or `npm run test:only -- <file>` for one file.");
  }
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  // Copying files costs a third of what writing them through the log does
  await admin.query(`create database ${name} template ${template} owner service_owner strategy file_copy`);
  // Rights of PUBLIC in a database aren't cloned
  await admin.query(`revoke temporary on database ${name} from public`);
  const inDatabase = (url: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  return {
    adminUrl: inDatabase(server),
    ownerUrl: urlAsOwner(inDatabase(server)),
    loginUrl: inDatabase(login),
    apiUrl: toApiLoginUrl(inDatabase(login))!,
    async close() {
      // Connections end a moment after their clients. Cutting them would cause errors in the test
      const open = "select from pg_stat_activity where datname = $1";
      await until(async () => (await admin.query(open, [name])).rowCount === 0, 500).catch(() => {});
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

/**
 * Opens a database with one connection for the tests of the calling suite.
 *
 * @param role the role of the connection
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

/** Runs SQL on a connection, which may be opened later, and returns the rows. */
export const queryRows =
  (client: () => pg.ClientBase | pg.Pool) =>
  async (text: string, values: unknown[] = []): Promise<any[]> =>
    (await client().query(text, values)).rows;

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import type { Logger } from "pino";
import pg from "pg";
import { openApp } from "../../src/process/open-app.ts";
import { parseSettings } from "../../src/process/settings.ts";
import type { App } from "../../src/process/open-app.ts";
import type { AppOptions } from "../../src/process/open-parts.ts";
import { readCatalog } from "../../plugins/catalog.ts";
import { createCredential, knownScopes } from "../../src/auth/credentials.ts";
import type { CredentialRequest, ClientCredentials } from "../../src/auth/credentials.ts";
import { createPool } from "../../src/postgres/pool.ts";
import type { PoolOptions } from "../../src/postgres/pool.ts";
import { defaultLimits } from "../../src/graphql/limits.ts";
import { toApiLoginUrl } from "../../src/postgres/roles.ts";
import { keepSchemas } from "../../src/versions/built-schema.ts";
import { versions as everyVersion } from "../../src/versions/versions.ts";
import { openTestDatabase } from "./database.ts";
import { catalogOf, scopesOf } from "./catalogs.ts";
import { emptyTables } from "./empty-tables.ts";
import { ledgerDifferences } from "./proof.ts";
import type { Template } from "./database.ts";

/** One process of the service on its own port. */
export interface TestProcess {
  app: App;
  url: string;
  /** Connections of service_login. */
  pool: pg.Pool;
  /** Connections for clients' operations. */
  apiPool: pg.Pool;
  /** Its log entries. */
  log: Record<string, unknown>[];
  /** Exchanges a client ID and secret for an access token. */
  tokenFor(credentials: ClientCredentials): Promise<string>;
  /** Sends a GraphQL request. */
  ask(token: string | null, body: unknown, init?: AskOptions): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export interface AskOptions {
  headers?: Record<string, string>;
  version?: string;
  method?: string;
}

export interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** The body, if it is JSON. */
  body: any;
  /** Error codes in the body. */
  codes: string[];
}

/** A database with one process of the service, and a connection of its owner. */
export interface TestService extends TestProcess {
  owner: pg.Pool;
  /** URL of the database with the superuser. */
  adminUrl: string;
  /** URL of the database with its owner. */
  ownerUrl: string;
  /** URL of the database with the login role. */
  loginUrl: string;
  /** Deletes all rows of some tables, and of tables that reference them. */
  emptyTables(...tables: string[]): Promise<void>;
  /** Creates an API credential, by default with all scopes for reading. */
  credential(request?: Partial<CredentialRequest>): Promise<ClientCredentials & { scopes: string[] }>;
  /** Gets an access token of a new API credential. */
  token(request?: Partial<CredentialRequest>): Promise<string>;
  /** Starts another process on the same database. */
  another(options?: ProcessOptions): Promise<TestProcess>;
}

export interface ProcessOptions extends Partial<Omit<AppOptions, "settings" | "pool" | "apiPool">> {
  settings?: Partial<AppOptions["settings"]>;
  /** The URL to use instead of the database's own. */
  loginUrl?: string;
  /** Maximum number of connections. */
  poolSize?: number;
  /** Whether connections use named prepared statements. */
  prepare?: boolean;
  /** Timeouts of the connections. */
  timeoutsMs?: PoolOptions["timeoutsMs"];
}

export interface ServiceOptions extends ProcessOptions {
  /** Initial content of the database. */
  template?: Template;
  /** Changes the database before the service starts. */
  before?: (owner: pg.Pool) => Promise<void>;
}

/** All scopes for reading that tests here need. */
export const query = "{ countrys { edges { node { id name } } } }";

/** Starts the service on its own database, by default an empty one. */
export async function startService({
  template = "template_schema",
  before,
  ...options
}: ServiceOptions = {}): Promise<TestService> {
  const database = await openTestDatabase(template);
  const owner = quietPool({ connectionString: database.ownerUrl, max: 3 });
  const admin = quietPool({ connectionString: database.adminUrl, max: 1, idleTimeoutMillis: 0 });
  await before?.(owner);
  const firstCatalog = before ? readCatalog : catalogOf(template);
  const first = await startProcess({ loginUrl: database.loginUrl, firstCatalog, ...options });
  const processes = [first];
  let scopes: Promise<string[]> | undefined;
  const readScopes = () => (before ? knownScopes(owner) : scopesOf(template, owner));
  const credential = async ({ name = "test", read = "all", write = [] }: Partial<CredentialRequest> = {}) =>
    createCredential(owner, { name, read, write }, await (scopes ??= readScopes()));
  return {
    ...first,
    owner,
    adminUrl: database.adminUrl,
    ownerUrl: database.ownerUrl,
    loginUrl: database.loginUrl,
    emptyTables: (...tables) => emptyTables(admin, ...tables),
    credential,
    token: async (request) => first.tokenFor(await credential(request)),
    async another(more = {}) {
      const process = await startProcess({ loginUrl: database.loginUrl, ...more });
      processes.push(process);
      return process;
    },
    async close() {
      await Promise.all(processes.map((process) => process.close()));
      const found = await ledgerDifferences(owner);
      await Promise.all([owner.end(), admin.end()]);
      await database.close();
      // After each test file, the ledger's proof must be empty
      assert.deepEqual(found, []);
    },
  };
}

// Some tests change their database's catalog. Later tests in the same process need the usual one again
keepSchemas(3);

/** Higher limits than the default: tests use more points than a client may in the same time. */
const limits = { ...defaultLimits, cost: 100_000, bucket: 1_000_000_000, refill: 1_000_000_000 };

/** The version that most tests use. A version takes a second to build, so tests of other versions name them. */
const head = everyVersion.filter(({ kind }) => kind === "floating");

/**
 * Longer timeouts than the service's own: while other test files keep the machine busy, any statement may be slow, and so may
 * waiting for a connection.
 */
const patientMs = { statement: 30_000, lock: 3_000 };
const connectionTimeoutMillis = 30_000;

/** Starts one process of the service on a database, by default for unstable alone. */
export async function startProcess({
  loginUrl,
  poolSize = 5,
  prepare = true,
  timeoutsMs = patientMs,
  settings,
  versions = head,
  ...options
}: ProcessOptions & { loginUrl: string }): Promise<TestProcess> {
  const poolOptions = { max: poolSize, prepare, timeoutsMs };
  const pool = createPool(loginUrl, poolOptions);
  const apiPool = createPool(toApiLoginUrl(loginUrl)!, poolOptions);
  for (const each of [pool, apiPool]) Object.assign(each.options, { connectionTimeoutMillis });
  const log: Record<string, unknown>[] = [];
  const app = await openApp({
    settings: { ...parseSettings({}), hosts: [], explorer: false, limits, ...settings },
    pool,
    apiPool,
    logger: loggerInto(log),
    versions,
    ...options,
  });
  const server = createServer(app.listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let closing: Promise<void> | undefined;
  return {
    app,
    url,
    ...{ pool, apiPool },
    log,
    tokenFor: (credentials) => exchange(url, credentials),
    ask: (token, body, init) => ask(url, token, body, init),
    close: () =>
      (closing ??= stop(server)
        .then(app.close)
        .then(() => Promise.all([pool.end(), apiPool.end()]))
        .then(() => {})),
  };
}

async function exchange(url: string, { clientId, clientSecret }: ClientCredentials): Promise<string> {
  const response = await fetch(`${url}/api/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret,
    }),
  });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`no token: ${response.status}`);
  return token;
}

async function ask(
  url: string,
  token: string | null,
  body: unknown,
  options: AskOptions = {},
): Promise<HttpAnswer> {
  const { headers = {}, version = "unstable", method = "POST" } = options;
  const response = await fetch(`${url}/api/graphql/${version}`, {
    method,
    headers: {
      "content-type": "application/json",
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return read(response);
}

/** Reads the body of a response. */
export async function read(response: Response): Promise<HttpAnswer> {
  const text = await response.text();
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const codes = (body?.errors ?? []).map((error: any) => error.extensions?.code ?? error.code);
  return { status: response.status, headers: response.headers, text, body, codes };
}

/** Makes a pool that ignores cut connections, because tests cut them. */
function quietPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config);
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

function loggerInto(log: Record<string, unknown>[]): Logger {
  return pino({ level: "info" }, { write: (line: string) => void log.push(JSON.parse(line)) });
}

async function stop(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  if (server.listening) await once(server, "close");
}

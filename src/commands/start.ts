import "../graphile-env.ts";
import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import type { Logger } from "pino";
import { createApp } from "../app.ts";
import type { App } from "../app.ts";
import { createCredential } from "../auth/credentials.ts";
import { withClient } from "../database/client.ts";
import { openDatabase } from "../database/open.ts";
import type { OpenDatabase } from "../database/open.ts";
import { createPool } from "../database/pool.ts";
import { asOwner } from "../database/roles.ts";
import { readSettings } from "../settings.ts";
import type { Settings } from "../settings.ts";
import { pathOf, versions } from "../versions/versions.ts";
import { UserError } from "../user-error.ts";
import { crontabOf } from "../worker/crontab.ts";
import { startWorker } from "../worker/start.ts";
import type { Worker } from "../worker/start.ts";
import { tasksAtStart, tasksOf } from "../worker/tasks.ts";
import { fillDemo } from "./demo.ts";
import { atTheTerminal, say, untilStopped } from "./terminal.ts";

/** The service as it runs: everything that `npm start` brings up. */
export interface RunningService {
  address: string;
  app: App;
  database: OpenDatabase;
  /** Lets requests end, then stops everything, the database last. */
  stop(): Promise<void>;
}

/**
 * Brings up the service: database, demonstration data and a first credential where there are none, HTTP,
 * background work.
 *
 * @param stopping when aborted, the start breaks off at its next step, and stops what it has started
 * @throws {UserError} when the database can't be used, or the port is taken
 */
export async function startService(settings: Settings, stopping: AbortSignal): Promise<RunningService> {
  const onProgress = (step: string) => {
    stopping.throwIfAborted();
    say(step);
  };
  const logger = pino({ level: settings.logLevel });
  const database = await openDatabase(settings, onProgress);
  for (const warning of database.warnings) say(`Warning: ${warning}`);
  const pool = createPool(database.url, { max: settings.databasePoolSize, timeouts: settings.timeouts });
  const limiterPool = settings.sharedRates
    ? createPool(database.url, { max: 2, role: "service_limiter" })
    : null;
  const closing: (() => Promise<unknown>)[] = [
    () => database.close(),
    () => pool.end(),
    async () => limiterPool?.end(),
  ];
  const stop = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    stopping.throwIfAborted();
    const ownerUrl = database.adminUrl === null ? null : asOwner(database.adminUrl);
    if (ownerUrl !== null) await fillFirst(ownerUrl, onProgress);
    const app = await createApp({ settings, pool, limiterPool, logger });
    closing.push(() => app.close());
    const server = createServer(app.express);
    await listen(server, settings);
    closing.push(() => closeServer(server));
    if (settings.workerConcurrency > 0) {
      const worker = startBackgroundWork(database.url, settings, logger);
      closing.push(() => worker.stop());
    }
    const { port } = server.address() as AddressInfo;
    stopping.throwIfAborted();
    // The last step, for the secret is shown only once: nothing may fail between making and showing it.
    const first = ownerUrl === null ? null : await makeFirstCredential(ownerUrl);
    const address = settings.publicUrl ?? `http://${settings.host}:${port}`;
    announce(address, settings, first);
    return { address, app, database, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface FirstCredential {
  clientId: string;
  clientSecret: string;
}

/** Fills an empty database of the service's own with demonstration data. */
async function fillFirst(ownerUrl: string, onProgress: (step: string) => void): Promise<void> {
  const isEmpty = await withClient(ownerUrl, async (client) => {
    const { rowCount } = await client.query("select from erp.currency limit 1");
    return rowCount === 0;
  });
  if (isEmpty) await fillDemo({ connectionString: ownerUrl, scale: 1, onProgress });
}

/** Makes a credential to try the service with, when there is none. */
function makeFirstCredential(ownerUrl: string): Promise<FirstCredential | null> {
  return withClient(ownerUrl, async (client) => {
    const { rowCount } = await client.query("select from auth.credential_overview limit 1");
    if (rowCount !== 0) return null;
    return createCredential(client, { name: "First credential", read: "all", write: "all" });
  });
}

function startBackgroundWork(url: string, settings: Settings, logger: Logger): Worker {
  return startWorker({
    url,
    concurrency: settings.workerConcurrency,
    logger,
    tasks: tasksOf(settings),
    crontab: crontabOf(settings),
    atStart: tasksAtStart,
  });
}

async function listen(server: Server, { host, port }: Settings): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === "EADDRINUSE" ? "another program uses it. Set PORT to another one" : message;
    throw new UserError(`Can't listen on ${host}:${port}: ${reason}.`, { cause });
  }
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  const patience = setTimeout(() => server.closeAllConnections(), 3_000);
  await closed;
  clearTimeout(patience);
}

function announce(address: string, { explorer }: Settings, first: FirstCredential | null): void {
  say(`\nThe API is at ${address}${pathOf(versions[0]!)}`);
  if (explorer) say(`An explorer is at ${address}/`);
  if (first === null) return;
  const { clientId, clientSecret } = first;
  say(`
Here is a credential that may read and write everything. Its secret is shown only now;
\`npm run token -- create --help\` makes more.

  client_id      ${clientId}
  client_secret  ${clientSecret}

Get an access token, then ask something:

TOKEN=$(curl -s ${address}/api/oauth/token -H 'content-type: application/json' \\
  -d '{"grant_type":"client_credentials","client_id":"${clientId}","client_secret":"${clientSecret}"}' \\
  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

curl -s ${address}${pathOf(versions[0]!)} -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\
  -d '{"query":"{ products(first: 3) { edges { node { id productNumber name availableStock } } } }"}'
`);
}

if (import.meta.main) {
  await atTheTerminal(() =>
    untilStopped(async (stopping) => (await startService(readSettings(), stopping)).stop),
  );
}

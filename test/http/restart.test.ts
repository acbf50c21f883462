import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { after, before, test } from "node:test";
import pg from "pg";
import { createCredential, deactivateCredential } from "../../src/auth/credentials.ts";
import type { ClientCredentials } from "../../src/auth/credentials.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { urlAsOwner } from "../../src/postgres/roles.ts";
import { startOwnPostgres, unsafe } from "../lib/prepared.ts";
import { query, startProcess } from "../lib/service.ts";
import type { TestProcess } from "../lib/service.ts";
import { until } from "../lib/until.ts";

// Its own Postgres, because other tests are using theirs
const directory = `.data/restart-${randomUUID()}`;
let cluster: Cluster;
let adminUrl: string;
let process: TestProcess;
before(async () => {
  let loginUrl: string;
  ({ cluster, adminUrl, loginUrl } = await startOwnPostgres({ directory, flags: unsafe }));
  process = await startProcess({ loginUrl });
});
after(async () => {
  await process?.close();
  await cluster?.stop();
  await rm(directory, { recursive: true, force: true });
});

async function asAdministrator<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: urlAsOwner(adminUrl) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

test("when Postgres is restarted, requests fail with SERVICE_UNAVAILABLE, and then all works as before", async () => {
  const credentials: ClientCredentials = await asAdministrator((client) =>
    createCredential(client, { name: "test", read: "all" }),
  );
  const token = await process.tokenFor(credentials);
  const codesNow = async () => (await process.ask(token, { query })).codes;
  assert.deepEqual(await codesNow(), []);

  await cluster.stop();
  assert.deepEqual(await codesNow(), ["SERVICE_UNAVAILABLE"]);
  assert.equal((await fetch(`${process.url}/healthz`)).status, 503);

  cluster = await startCluster({ directory, flags: unsafe });
  await until(async () => (await codesNow()).length === 0);
  assert.equal((await fetch(`${process.url}/healthz`)).status, 200);

  await asAdministrator((client) => deactivateCredential(client, credentials.id));
  await until(async () => (await codesNow()).includes("UNAUTHORIZED"));
  assert.deepEqual(
    process.log.filter(({ level }) => (level as number) >= 50),
    [],
  );
});

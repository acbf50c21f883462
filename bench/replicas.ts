import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCredential } from "../src/auth/credentials.ts";
import { say } from "../src/commands/terminal.ts";
import { withClient } from "../src/postgres/client.ts";
import { startCluster } from "../src/cluster/cluster.ts";
import type { Cluster } from "../src/cluster/cluster.ts";
import { setUpDatabase } from "../src/migrations/open-database.ts";
import { urlAsOwner } from "../src/postgres/roles.ts";
import { copyPrepared, prepare } from "../test/lib/prepared.ts";
import { startStandby } from "../test/lib/standby.ts";
import type { Cleanup } from "./cleanup.ts";
import { serviceContestant } from "./contestants/service.ts";
import { findServer } from "./data/server.ts";
import { tokensFrom } from "./data/token.ts";
import type { Child } from "./measure/child.ts";
import { startChild } from "./measure/child.ts";
import { load } from "./measure/load.ts";
import type { PreparedRequest } from "./measure/load.ts";
import { postgresCpu } from "./measure/postgres-cpu.ts";
import { median, quantile } from "./measure/statistics.ts";
import type { BenchOptions } from "./options.ts";
import { describeMachine } from "./report/machine.ts";
import type { ReadRound, Standby, WriteRound } from "./report/replicas.ts";
import { replicaFiles } from "./report/replicas.ts";
import { writeResults } from "./report/write.ts";

/** Number of clients, each with its own access token, and connections of each. */
const [clients, connectionsEach] = [8, 4];
const path = "/api/graphql/unstable";

/**
 * Measures how much load replicas take off the primary, and the cost of reading one's own writes.
 *
 * @returns whether all responses were correct, and showed their clients' writes
 */
export async function replicas(options: BenchOptions, cleanup: Cleanup): Promise<boolean> {
  const { servers, loginUrl, ownerUrl } = await startServers(cleanup);
  const [primary] = servers;
  const services = [];
  for (const count of [0, 1, 2]) {
    const urls = servers
      .slice(1, 1 + count)
      .map(({ host }) => Object.assign(new URL(loginUrl), { host }).href);
    const environment = {
      ...serviceContestant.environment,
      ...(count > 0 && { READ_DATABASE_URLS: urls.join() }),
    };
    services.push({ count, child: await startService(loginUrl, environment, cleanup) });
  }
  const tokens: string[] = [];
  for (let client = 0; client < clients; client++) {
    const credential = await withClient(ownerUrl, (owner) =>
      createCredential(owner, { name: `Measurements ${client}`, read: "all", write: "all" }),
    );
    tokens.push(await tokensFrom(services[0]!.child.url, credential)());
  }
  const products = await productIds(services[0]!.child.url, tokens[0]!);
  const reads: ReadRound[] = [];
  const writes: WriteRound[] = [];
  // The first round warms everything up
  for (let round = -1; round < options.rounds; round++)
    for (const { count, child } of services) {
      const read = await readRound(count, child, { tokens, products, servers, seconds: options.seconds });
      const write = await writeRound(count, child, { tokens, seconds: options.seconds });
      if (round < 0) continue;
      reads.push(read);
      writes.push(write);
      say(
        `${count} replicas: ${Math.round(read.perSecond)} reads/s, primary ${Math.round(read.primaryCpu)} µs; a read after a write ${write.readMs.toFixed(1)} ms`,
      );
    }
  const machine = describeMachine(primary.version);
  const files = await writeResults(replicaFiles({ reads, writes, machine, options }));
  say(`Written: ${files.join(", ")}`);
  return reads.every(({ failures }) => failures === 0) && writes.every(({ stale }) => stale === 0);
}

/** A primary with demonstration data and two standbys. */
async function startServers(cleanup: Cleanup) {
  const folder = await mkdtemp(join(tmpdir(), "replicas-"));
  await chmod(folder, 0o755);
  cleanup.add(() => rm(folder, { recursive: true, force: true }));
  await prepare();
  const from = join(folder, "primary");
  await copyPrepared(from);
  const keep = async (cluster: Cluster): Promise<Standby> => {
    cleanup.add(() => cluster.stop());
    const adminUrl = cluster.adminUrl("erp");
    return { host: new URL(adminUrl).host, adminUrl, ...(await findServer(adminUrl)) };
  };
  const cluster = await startCluster({ directory: from });
  const servers: [Standby, ...Standby[]] = [await keep(cluster)];
  const loginUrl = (await setUpDatabase(cluster.adminUrl("erp"), { renewPassword: true }))!;
  for (const name of ["one", "two"])
    servers.push(await keep(await startStandby(cluster, from, join(folder, name), {})));
  return { servers, loginUrl, ownerUrl: urlAsOwner(cluster.adminUrl("erp")) };
}

async function startService(
  databaseUrl: string,
  environment: Record<string, string>,
  cleanup: Cleanup,
): Promise<Child> {
  const child = await startChild({
    program: serviceContestant.program,
    execArgv: serviceContestant.execArgv ?? [],
    environment: {
      ...environment,
      ...{
        NODE_ENV: "production",
        GRAPHILE_ENV: "production",
        HOST: "127.0.0.1",
        PORT: "0",
        LOG_LEVEL: "error",
      },
      ...{ DATABASE_URL: databaseUrl, WORKER_CONCURRENCY: "0", WEBHOOK_CONCURRENCY: "0" },
    },
  });
  cleanup.add(() => child.stop());
  return child;
}

async function ask<Data>(url: string, token: string, query: string, variables = {}): Promise<Data> {
  const answer = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
  });
  return ((await answer.json()) as { data: Data }).data;
}

async function productIds(url: string, token: string): Promise<string[]> {
  const query = "{ products(first: 200) { edges { node { id } } } }";
  const { products } = await ask<{ products: { edges: { node: { id: string } }[] } }>(url, token, query);
  return products.edges.map(({ node }) => node.id);
}

const product = `query ($id: ID!) { product(id: $id) { id name productNumber availableStock
  stocks(first: 10) { edges { node { quantity warehouse { name } } } } } }`;

interface ReadOptions {
  tokens: readonly string[];
  products: readonly string[];
  servers: readonly Standby[];
  seconds: number;
}

async function readRound(
  count: number,
  child: Child,
  { tokens, products, servers, seconds }: ReadOptions,
): Promise<ReadRound> {
  const requests: PreparedRequest[] = products.map((id) => ({
    path,
    body: JSON.stringify({ query: product, variables: { id } }),
    isRight: (status, body) => status === 200 && body.includes(`"id":"${id}"`),
  }));
  const cpu = () =>
    Promise.all(servers.map(async ({ postmaster }) => (await postgresCpu(postmaster)) ?? NaN));
  const [before, node] = [await cpu(), await child.usage()];
  const results = await Promise.all(
    tokens.map((token) => load({ url: child.url, token, connections: connectionsEach, requests, seconds })),
  );
  const [after, nodeAfter] = [await cpu(), await child.usage()];
  const total = results.reduce((sum, result) => sum + result.requests, 0);
  const used = after.map((value, index) => (value - before[index]!) / total);
  const latencies = results.flatMap((result) => result.latencies);
  return {
    count,
    perSecond: results.reduce((sum, result) => sum + result.requests / result.seconds, 0),
    primaryCpu: used[0]!,
    replicaCpu: used.slice(1).reduce((sum, value) => sum + value, 0),
    nodeCpu: (nodeAfter.cpu - node.cpu) / total,
    p50: median(latencies),
    p99: quantile(latencies, 0.99),
    failures: results.reduce((sum, result) => sum + result.failures, 0),
  };
}

const rename = `mutation ($number: String!, $name: String!) {
  suppliersUpsert(input: { suppliers: [{ number: $number, name: $name }] }) { suppliers { id } } }`;

interface Renamed {
  suppliersUpsert: { suppliers: [{ id: string }] };
}

/** Each client renames a supplier of its own, and reads it at once. */
async function writeRound(
  count: number,
  { url }: Child,
  { tokens, seconds }: Pick<ReadOptions, "tokens" | "seconds">,
): Promise<WriteRound> {
  const end = performance.now() + seconds * 1_000;
  const times: number[] = [];
  let stale = 0;
  await Promise.all(
    tokens.map(async (token, client) => {
      for (let n = 0; performance.now() < end; n++) {
        const name = `${count} ${n}`;
        const { suppliersUpsert } = await ask<Renamed>(url, token, rename, { number: `M-${client}`, name });
        const [{ id }] = suppliersUpsert.suppliers;
        const begin = performance.now();
        const { supplier } = await ask<{ supplier: { name: string } }>(
          url,
          token,
          "query ($id: ID!) { supplier(id: $id) { name } }",
          { id },
        );
        times.push(performance.now() - begin);
        if (supplier.name !== name) stale++;
      }
    }),
  );
  return { count, readMs: median(times), readP99: quantile(times, 0.99), reads: times.length, stale };
}

import { readFileSync } from "node:fs";
import { copyFile, readFile, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { withClient } from "../../src/postgres/client.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { temporaryFolder } from "../commands/process.ts";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import type { CuttableProxy } from "../lib/cuttable-proxy.ts";
import { hasBouncer, startBouncer } from "../lib/pgbouncer.ts";
import type { Bouncer } from "../lib/pgbouncer.ts";
import { prepare, startOwnPostgres } from "../lib/prepared.ts";
import { processesIn } from "../lib/processes.ts";
import { startStandby } from "../lib/standby.ts";
import { until } from "../lib/until.ts";
import { Service } from "./service.ts";

const flags = {
  ...{ max_connections: "150", shared_buffers: "64MB" },
  // A standby that was away has to find what it has missed
  wal_keep_size: "512MB",
  wal_retrieve_retry_interval: "500ms",
  // A stop in order waits for a standby, which may be cut off silently
  ...{ wal_sender_timeout: "10s", wal_receiver_timeout: "10s" },
};

/** Milliseconds in which Postgres recovers from a crash. */
const comesBackMs = 20_000;

/** A Postgres with its folder, which can be killed and started again. */
export class Server {
  readonly folder: string;
  #cluster: Cluster;

  constructor(folder: string, cluster: Cluster) {
    this.folder = folder;
    this.#cluster = cluster;
  }

  get cluster(): Cluster {
    return this.#cluster;
  }

  /** The service's database as superuser. */
  get adminUrl(): string {
    return this.#cluster.adminUrl("empty");
  }

  async query(text: string): Promise<Record<string, any>[]> {
    return withClient(this.adminUrl, async (client) => (await client.query(text)).rows);
  }

  async #postmaster(): Promise<number> {
    const data = await realpath(join(this.folder, "postgres"));
    return Number.parseInt(await readFile(join(data, "postmaster.pid"), "utf8"));
  }

  /** Ends it by a signal to its first process, and waits until all have ended. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const data = await realpath(join(this.folder, "postgres"));
    process.kill(await this.#postmaster(), signal);
    await until(async () => (await processesIn(data)).length === 0);
  }

  /** Sends a signal to all of its processes. */
  async signalAll(signal: NodeJS.Signals): Promise<void> {
    for (const id of await processesIn(join(this.folder, "postgres")))
      try {
        process.kill(id, signal);
      } catch {
        // It has ended
      }
  }

  async copyLog(path: string): Promise<void> {
    await copyFile(join(this.folder, "postgres/server.log"), path).catch(() => {});
  }

  /** Sends a signal to its first process, if it runs. */
  signalAtOnce(signal: NodeJS.Signals): void {
    try {
      process.kill(
        Number.parseInt(readFileSync(join(this.folder, "postgres/postmaster.pid"), "utf8")),
        signal,
      );
    } catch {
      // It has ended
    }
  }

  async start(): Promise<void> {
    const before = this.adminUrl;
    this.#cluster = await startCluster({ directory: this.folder, flags });
    if (this.adminUrl !== before)
      throw new Error("Another program took the port of a Postgres that was away.");
  }

  /** Waits until it answers again. When it doesn't, it is ended, if it still runs, and started, as operators do. */
  async comeBack(): Promise<void> {
    const data = await realpath(join(this.folder, "postgres"));
    const answers = () => this.query("select").then(Boolean, () => false);
    const hasEnded = async () => (await processesIn(data)).length === 0;
    await until(async () => (await answers()) || (await hasEnded()), comesBackMs).catch(() => {});
    if (await answers()) return;
    if (!(await hasEnded())) await this.end("SIGKILL");
    await this.start();
  }

  async stop(): Promise<void> {
    await this.signalAll("SIGCONT");
    await this.#cluster.stop();
  }
}

/** Everything that runs: a primary, a replica, PgBouncer where it is installed, two services, and the network between them. */
export interface World {
  primary: Server;
  replica: Server;
  /** Null where it isn't installed. */
  bouncer: Bouncer | null;
  services: [Service, Service];
  network: {
    /** From each service to its Postgres. */
    toPrimary: [CuttableProxy, CuttableProxy];
    toReplica: CuttableProxy;
    /** From the replica to the primary. */
    replication: CuttableProxy;
  };
  /** Promotes the replica after the primary was lost, and makes a new replica. */
  failOver(): Promise<void>;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  await prepare();
  const folder = await temporaryFolder();
  const opened: (() => Promise<unknown>)[] = [() => folder.remove()];
  const close = async () => {
    for (const end of opened.splice(0).reverse()) await end().catch((error: unknown) => console.error(error));
  };
  try {
    return await build(folder.path, (end) => opened.push(end), close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function build(
  folder: string,
  later: (end: () => Promise<unknown>) => unknown,
  close: () => Promise<void>,
): Promise<World> {
  const proxy = async (url: string) => {
    const made = await openCuttableProxy(url);
    later(() => made.close());
    return made;
  };
  const directory = join(folder, "server-1");
  const own = await startOwnPostgres({ directory, flags });
  const primary = new Server(directory, own.cluster);
  const replication = await proxy(primary.adminUrl);
  const standbyOf = async (server: Server, number: number) => {
    const home = join(folder, `server-${number}`);
    const { cluster } = server;
    const { host } = new URL(replication.url);
    const adminUrl = (name: string) => Object.assign(new URL(cluster.adminUrl(name)), { host }).href;
    return new Server(home, await startStandby({ ...cluster, adminUrl }, server.folder, home, flags));
  };
  const world = { primary, replica: await standbyOf(primary, 2), close } as World;
  let count = 2;
  later(() => world.primary.stop());
  later(() => world.replica.stop());

  const direct = await proxy(own.loginUrl);
  const toBouncer = hasBouncer ? await proxy(own.loginUrl) : null;
  const settings = `default_pool_size = 20
server_login_retry = 1
ignore_startup_parameters = options,extra_float_digits`;
  world.bouncer = toBouncer && (await startBouncer(toBouncer.url, { folder, settings }));
  later(() => world.bouncer?.stop() ?? Promise.resolve());
  const second = await proxy(world.bouncer?.url ?? own.loginUrl);
  const toReplica = await proxy(at(own.loginUrl, world.replica));
  world.network = { toPrimary: [direct, second], toReplica, replication };

  const read = { READ_DATABASE_URLS: toReplica.url };
  // What needs a session of Postgres doesn't work behind PgBouncer
  const behind = { WEBHOOK_CONCURRENCY: "0", WORKER_CONCURRENCY: "0", BULK_CONCURRENCY: "0" };
  world.services = [
    await Service.open("service 1", 2, { ...read, DATABASE_URL: direct.url, WEBHOOK_CONCURRENCY: "8" }),
    await Service.open("service 2", 1, {
      ...{ ...read, DATABASE_URL: second.url, PREPARED_STATEMENTS: "false" },
      ...(world.bouncer ? behind : { WEBHOOK_CONCURRENCY: "8" }),
    }),
  ];
  for (const service of world.services) later(() => service.end("SIGKILL"));
  // When this process ends otherwise, nothing stays behind
  process.once("exit", () => {
    for (const service of world.services) service.signal("SIGKILL");
    for (const server of [world.primary, world.replica]) server.signalAtOnce("SIGQUIT");
    world.bouncer?.signal("SIGKILL");
  });
  await Promise.all(world.services.map((service) => service.start()));

  world.failOver = async () => {
    const lost = world.primary;
    await world.replica.query("select pg_promote()");
    world.primary = world.replica;
    const { primary: promoted } = world;
    replication.redirectTo(promoted.adminUrl);
    for (const each of [direct, toBouncer ?? second]) each.redirectTo(promoted.adminUrl);
    await rm(lost.folder, { recursive: true, force: true });
    world.replica = await standbyOf(promoted, ++count);
    toReplica.redirectTo(world.replica.adminUrl);
  };
  return world;
}

const at = (url: string, server: Server): string =>
  Object.assign(new URL(url), { host: new URL(server.adminUrl).host }).href;

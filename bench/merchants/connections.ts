import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { merchantDatabaseName } from "../../src/merchants/merchant-database.ts";

const everyMs = 250;

const counted = `select count(*)::integer as count from pg_stat_activity
  where starts_with(datname, '${merchantDatabaseName("")}') and backend_type = 'client backend'`;

const busy = `select from pg_stat_activity
  where starts_with(datname, '${merchantDatabaseName("")}') and backend_type = 'client backend' and state = 'active'`;

/** Counts connections to merchants' databases at intervals. */
export class ConnectionCounter {
  readonly #client: pg.Client;
  readonly #timer: NodeJS.Timeout;
  #counts: number[] = [];

  private constructor(client: pg.Client) {
    this.#client = client;
    this.#timer = setInterval(() => void this.now().catch(() => {}), everyMs).unref();
  }

  static async start(adminUrl: string): Promise<ConnectionCounter> {
    const client = new pg.Client({ connectionString: adminUrl });
    client.on("error", () => {});
    await client.connect();
    return new ConnectionCounter(client);
  }

  async now(): Promise<number> {
    const { rows } = await this.#client.query<{ count: number }>(counted);
    const { count } = rows[0]!;
    this.#counts.push(count);
    return count;
  }

  /** Waits until no statement of a merchant is running. */
  async untilQuiet(): Promise<void> {
    while ((await this.#client.query(busy)).rowCount! > 0) await sleep(everyMs);
  }

  /** Returns the maximum since the last call. */
  takeMost(): number {
    const most = Math.max(0, ...this.#counts);
    this.#counts = [];
    return most;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#client.end();
  }
}

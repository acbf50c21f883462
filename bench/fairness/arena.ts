import pg from "pg";
import flags from "../../bin/flags.json" with { type: "json" };
import { createCredential } from "../../src/auth/credentials.ts";
import type { Child } from "../measure/child.ts";
import { startChild } from "../measure/child.ts";
import { peakMemory, resetPeakMemory } from "../measure/peak-memory.ts";
import type { Attack } from "./attack.ts";
import { duringAttack } from "./beside-attack.ts";
import type { ClientResults, NormalClient } from "./normal-clients.ts";
import { measureClients, normalClients } from "./normal-clients.ts";

/** Result of an attack. */
export interface AttackOutcome {
  beside: ClientResults;
  /** Number of responses to the attacker by kind. */
  answers: Record<string, number>;
  /** Peak memory of the service in bytes, see `isOfAttack`. */
  memory: number;
  /** Whether this is the peak of the attack. Some systems only know the peak since the start. */
  isOfAttack: boolean;
}

export interface ArenaOptions {
  /** A database with demonstration data, which is changed. */
  database: { ownerUrl: string; loginUrl: string };
  /** Additional environment variables of the service. Its limits are the defaults. */
  environment?: Record<string, string>;
}

/** The service in its own process, with ordinary clients and attacks. */
export class Arena {
  readonly #owner: pg.Client;
  readonly #service: Child;

  private constructor(owner: pg.Client, service: Child) {
    this.#owner = owner;
    this.#service = service;
  }

  static async open({ database, environment = {} }: ArenaOptions): Promise<Arena> {
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    await emptySubscriptions(owner);
    const starting = startChild({
      program: new URL("../contestants/service-server.ts", import.meta.url),
      // As `erp start` has them
      execArgv: [...flags.all, ...flags.service, "--import=./bin/preload.js"],
      environment: {
        NODE_ENV: "production",
        GRAPHILE_ENV: "production",
        DATABASE_URL: database.loginUrl,
        HOST: "127.0.0.1",
        PORT: "0",
        WEBHOOK_ALLOW: "127.0.0.1",
        TRUST_PROXY: "loopback",
        ...environment,
      },
    });
    const [service] = await Promise.all([starting, owner.query(manyCustomers)]);
    const arena = new Arena(owner, service);
    // Loading and compiling at the first requests must not count for an attack
    await arena.measureBaseline(1);
    return arena;
  }

  /** Measures ordinary clients without an attack. */
  async measureBaseline(seconds: number): Promise<ClientResults> {
    const tokens = await this.#normalTokens();
    await this.#introduce(tokens);
    return measureClients(this.#clients(tokens), seconds);
  }

  /** Measures ordinary clients during an attack. */
  async measureDuring({ name }: Attack, seconds: number): Promise<AttackOutcome> {
    const { url, pid } = this.#service;
    const normal = await this.#normalTokens();
    const token = await this.#token(`${name}, rich`, "all");
    const poor = await this.#token(`${name}, poor`, ["tags"]);
    await this.#introduce(normal);
    const isOfAttack = await resetPeakMemory(pid);
    try {
      const { done, answers } = await duringAttack(name, { url, token, poor }, async () => {
        const beside = await measureClients(this.#clients(normal), seconds);
        return { beside, memory: await peakMemory(pid) };
      });
      return { ...done, answers, isOfAttack };
    } finally {
      await this.#tidy();
    }
  }

  async close(): Promise<void> {
    await this.#service.stop();
    await this.#owner.end();
  }

  /** Removes what an attack has left behind, and waits until the database has finished. */
  async #tidy(): Promise<void> {
    await emptySubscriptions(this.#owner);
    await this.#owner.query("delete from bulk.operation");
    const busy =
      "select from pg_stat_activity where datname = current_database() and state = 'active' and pid <> pg_backend_pid()";
    while ((await this.#owner.query(busy)).rowCount! > 0) await this.#owner.query("select pg_sleep(0.1)");
  }

  async #normalTokens(): Promise<string[]> {
    const tokens: string[] = [];
    for (let n = 0; n < normalClients.clients; n++) tokens.push(await this.#token(`normal ${n}`, "all"));
    return tokens;
  }

  /**
   * Lets ordinary clients send a request, so that their rights are cached when an attack begins. For a new API
   * credential, the service has to read them.
   */
  async #introduce(tokens: readonly string[]): Promise<void> {
    await measureClients(this.#clients(tokens), 0.2);
  }

  #clients(tokens: readonly string[]): NormalClient[] {
    return tokens.map((token) => ({ url: this.#service.url, token }));
  }

  async #token(name: string, scopes: string[] | "all"): Promise<string> {
    const write = scopes === "all" ? scopes : [];
    const { clientId, clientSecret } = await createCredential(this.#owner, { name, read: scopes, write });
    const response = await fetch(`${this.#service.url}/api/oauth/token`, {
      method: "POST",
      // Another address than the attacker's, which may get no access tokens for some time
      headers: { "x-forwarded-for": "192.0.2.1" },
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: clientId,
        client_secret: clientSecret,
      }),
    });
    if (!response.ok) throw new Error(`No token: HTTP ${response.status} ${await response.text()}`);
    return ((await response.json()) as { access_token: string }).access_token;
  }
}

const manyCustomers = `
  alter table erp.customer disable trigger user;
  insert into erp.customer (customer_number, email, first_name, last_name, group_id, sales_channel_id, account_type)
  select 'F' || n, 'f' || n || '@example.com', 'Fair', 'Customer ' || n, c.group_id, c.sales_channel_id, c.account_type
  from generate_series(1, 100000) n, (select * from erp.customer limit 1) c;
  alter table erp.customer enable trigger user;
  analyze erp.customer`;

// The demonstration shop's receivers are on the internet
async function emptySubscriptions(owner: pg.Client): Promise<void> {
  for (;;) {
    try {
      await owner.query("truncate events.webhook_subscription, events.outbox, events.event cascade");
      return;
    } catch (error) {
      // The service is sending messages that are being deleted
      if ((error as pg.DatabaseError).code !== "40P01") throw error;
    }
  }
}

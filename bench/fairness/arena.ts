import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import packageJson from "../../package.json" with { type: "json" };
import { createCredential } from "../../src/auth/credentials.ts";
import type { Child } from "../measure/child.ts";
import { startChild } from "../measure/child.ts";
import type { Attack } from "./attack.ts";
import type { Experience } from "./normal-clients.ts";
import { experience, normalClients } from "./normal-clients.ts";

/** How it went beside an attack. */
export interface Outcome {
  beside: Experience;
  /** What the attacker was answered, and how often. */
  answers: Record<string, number>;
  /** Bytes that the service has held at most, see `isOfAttack`. */
  memory: number;
  /** Whether that was during the attack; otherwise, where the system can't tell, since the service has started. */
  isOfAttack: boolean;
}

export interface ArenaOptions {
  /** A database with demonstration data, which is changed. */
  database: { ownerUrl: string; loginUrl: string };
  /** Environment variables of the service, beside those that it needs. Its limits are as they are by default. */
  environment?: Record<string, string>;
}

/** The service in a process of its own, with usual clients, beside which attacks are played. */
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
    await owner.query(manyCustomers);
    await owner.query(withoutSubscriptions);
    const service = await startChild({
      program: new URL("../contestants/service-server.ts", import.meta.url),
      // As `npm start` has it: node <options> <program>
      execArgv: packageJson.scripts.start.split(" ").slice(1, -1),
      environment: {
        NODE_ENV: "production",
        GRAPHILE_ENV: "production",
        DATABASE_URL: database.loginUrl,
        HOST: "127.0.0.1",
        PORT: "0",
        WEBHOOK_ALLOW: "127.0.0.1",
        ...environment,
      },
    });
    const arena = new Arena(owner, service);
    // What is loaded and compiled at the first requests is no attack's doing
    await arena.quiet(1);
    return arena;
  }

  /** How it goes for usual clients when nobody else asks for anything. */
  async quiet(seconds: number): Promise<Experience> {
    const tokens = await this.#normalTokens();
    await this.#introduce(tokens);
    return experience(this.#service.url, tokens, seconds);
  }

  /** How it goes for them beside an attack. */
  async beside({ name }: Attack, seconds: number): Promise<Outcome> {
    const { url, pid } = this.#service;
    const normal = await this.#normalTokens();
    const token = await this.#token(`${name}, rich`, "all");
    const poor = await this.#token(`${name}, poor`, ["tags"]);
    await this.#introduce(normal);
    const isOfAttack = await resetPeakMemory(pid);
    const told = JSON.stringify({ name, target: { url, token, poor } });
    const attacker = fork(fileURLToPath(new URL("attacker.ts", import.meta.url)), [told]);
    const ended = once(attacker, "exit");
    const isLost = ended.then(() => Promise.reject(new Error(`The attacker “${name}” has ended`)));
    isLost.catch(() => {});
    const message = async () => ((await Promise.race([once(attacker, "message"), isLost])) as unknown[])[0];
    try {
      await message();
      const beside = await Promise.race([experience(url, normal, seconds), isLost]);
      const memory = await peakMemory(pid);
      const counted = message();
      attacker.send("end");
      return { beside, answers: (await counted) as Record<string, number>, memory, isOfAttack };
    } finally {
      attacker.kill("SIGKILL");
      await ended;
      await this.#tidy();
    }
  }

  async close(): Promise<void> {
    await this.#service.stop();
    await this.#owner.end();
  }

  /** Removes what an attack has left behind, and waits until the database has done with it. */
  async #tidy(): Promise<void> {
    await this.#owner.query(withoutSubscriptions);
    const busy =
      "select from pg_stat_activity where datname = current_database() and state = 'active' and pid <> pg_backend_pid()";
    while ((await this.#owner.query(busy)).rowCount! > 0) await this.#owner.query("select pg_sleep(0.1)");
  }

  async #normalTokens(): Promise<string[]> {
    const tokens: string[] = [];
    for (let n = 0; n < normalClients.clients; n++) tokens.push(await this.#token(`normal ${n}`, "all"));
    return tokens;
  }

  /** Lets usual clients ask once: they are known already when an attack begins. A new credential has all looked up anew. */
  async #introduce(tokens: readonly string[]): Promise<void> {
    await experience(this.#service.url, tokens, 0.2);
  }

  async #token(name: string, scopes: string[] | "all"): Promise<string> {
    const write = scopes === "all" ? scopes : [];
    const { clientId, clientSecret } = await createCredential(this.#owner, { name, read: scopes, write });
    const response = await fetch(`${this.#service.url}/api/oauth/token`, {
      method: "POST",
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

// Those of the demonstration shop are on the internet
const withoutSubscriptions = "truncate events.webhook_subscription, events.outbox, events.event cascade";

/** Bytes that a process has held at most. */
async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) * 1_024;
}

/** Lets a process' peak of memory begin anew. @returns whether the system can do that */
async function resetPeakMemory(pid: number): Promise<boolean> {
  // 5: reset the peak, see proc(5)
  return writeFile(`/proc/${pid}/clear_refs`, "5").then(
    () => true,
    () => false,
  );
}

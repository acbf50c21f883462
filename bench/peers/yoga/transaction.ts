import type { Pool, PoolClient } from "pg";
import type { Claims } from "../../child/token.ts";

/** A transaction that begins with its first statement, with the caller's rights. */
export class Transaction {
  readonly #pool: Pool;
  readonly #claims: Claims;
  #client: Promise<PoolClient> | undefined;

  constructor(pool: Pool, claims: Claims) {
    this.#pool = pool;
    this.#claims = claims;
  }

  /** Runs a prepared statement. */
  async query<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
    const client = await (this.#client ??= this.#begin());
    const { rows } = await client.query<Row>({ name: nameOf(text), text, values });
    return rows;
  }

  async end(): Promise<void> {
    const client = await this.#client;
    if (!client) return;
    await client.query("commit");
    client.release();
  }

  async #begin(): Promise<PoolClient> {
    const client = await this.#pool.connect();
    await client.query("begin");
    const entries = Object.entries(this.#claims);
    const calls = entries.map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, true)`);
    await client.query({ name: "claims", text: `select ${calls.join(", ")}`, values: entries.flat() });
    return client;
  }
}

const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (!name) names.set(text, (name = `statement ${names.size}`));
  return name;
}

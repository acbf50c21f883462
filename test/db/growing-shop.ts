import type pg from "pg";

/** A shop whose calls all come by one connection, which keeps its plans. */
export class GrowingShop {
  readonly #client: pg.Client;
  /** Looks things up, and isn't counted. */
  readonly #admin: pg.Client;
  #calls = 0;
  /** Numbers of rows that tables had read until then. */
  #before = new Map<string, number>();
  readonly #afterEach: (kind: string, reads: Map<string, number>) => void;

  /** @param afterEach is told what each kind of call has read, of which tables */
  constructor(
    client: pg.Client,
    admin: pg.Client,
    afterEach: (kind: string, reads: Map<string, number>) => void,
  ) {
    this.#client = client;
    this.#admin = admin;
    this.#afterEach = afterEach;
  }

  /** The first value that a query answers, which isn't counted. */
  async ask(text: string, ...values: unknown[]): Promise<any> {
    const { rows } = await this.#admin.query(text, values);
    return Object.values(rows[0] ?? {})[0];
  }

  /** Runs a statement as a role of the service, and counts what that reads. */
  async counted(kind: string, role: string, text: string, values: unknown[]): Promise<any[]> {
    await this.#client.query(`set role ${role}`);
    const { rows } = await this.#client.query(text, values);
    await this.#client.query("reset role");
    await this.#client.query("select pg_stat_force_next_flush()");
    const now = await this.#reads();
    const read = [...now].map(([name, count]) => [name, count - (this.#before.get(name) ?? 0)] as const);
    this.#afterEach(kind, new Map(read.filter(([, count]) => count > 0)));
    this.#before = now;
    return rows;
  }

  /** Rows and entries of indexes that were read, by table. */
  async #reads(): Promise<Map<string, number>> {
    const { rows } = await this.#admin.query<{ name: string; count: number }>(`
      select t.relid::regclass::text as name, (t.seq_tup_read + coalesce(i.read, 0))::integer as count
      from pg_stat_user_tables t
      left join (select relid, sum(idx_tup_read) as read from pg_stat_user_indexes group by 1) i using (relid)`);
    return new Map(rows.map(({ name, count }) => [name, count]));
  }

  /** A mutation by itself, mostly with a key. Its payload. */
  async run(operation: string, input: object): Promise<any> {
    const key = this.#calls++ % 4 === 0 ? null : `key ${this.#calls}`;
    const text = "select mutation.run('api_unstable', $1, $2, $3, false) as result";
    const [row] = await this.counted(operation, "service_api", text, [operation, input, key]);
    const { payload, userErrors } = row.result;
    if (userErrors.length > 0) throw new Error(`${operation}: ${JSON.stringify(userErrors)}`);
    return payload;
  }
}

import pg from "pg";
import { until } from "../lib/until.ts";

/** A committed change, as its transaction noted it. */
export interface Change {
  product: string;
  version: number;
  transaction: string;
}

export const products = 200;

const scene = `
  create schema truth;
  create table truth.change (product text not null, version integer not null, transaction text not null, primary key (product, version));
  insert into erp.product (product_number, name) select 'p-' || n, '0' from generate_series(1, ${products}) n;`;

/** Makes the products, and a table in which each transaction notes its changes. */
export async function fillWebhookShop(client: pg.Client): Promise<void> {
  await client.query(scene);
}

/** Gives products the next version, and notes it. They are locked in one order, to prevent deadlocks. */
const write = `
  with chosen as (
    select id, name::integer + 1 as version from erp.product where product_number = any ($1) order by id for update
  ), changed as (
    update erp.product p set name = c.version::text, description = $2 from chosen c where c.id = p.id
    returning p.product_number, c.version
  )
  insert into truth.change (product, version, transaction) select product_number, version, $2 from changed`;

export interface WriterOptions {
  url: string;
  name: string;
  random: () => number;
  isEnough: () => boolean;
  onWritten: (changes: number) => void;
}

/** Writes in transactions of many sizes, and rolls back every tenth. Continues when the database comes back. */
export async function beWriter({ url, name, random, isEnough, onWritten }: WriterOptions): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 2_000 });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  for (let n = 1; !isEnough(); n++) {
    const count = 1 + Math.floor(random() * 40);
    const chosen = Array.from({ length: count }, () => `p-${1 + Math.floor(random() * products)}`);
    const isDropped = random() < 0.1;
    let client: pg.PoolClient | undefined;
    try {
      client = await pool.connect();
      await client.query("begin");
      const { rowCount } = await client.query(write, [chosen, `${name} ${n}${isDropped ? " dropped" : ""}`]);
      await client.query(isDropped ? "rollback" : "commit");
      client.release();
      if (!isDropped) onWritten(rowCount!);
    } catch {
      client?.release(true);
      const isBack = () =>
        pool.query("select").then(
          () => true,
          () => false,
        );
      await until(isBack);
    }
  }
  await pool.end();
}

import { readFile } from "node:fs/promises";
import { withClient } from "../../src/postgres/client.ts";

/** Reads the products of the measured database. A variant without a name gets its parent's, because peers need one. */
const measured = `
  select jsonb_agg(jsonb_build_object('id', id, 'number', product_number, 'name', coalesce(name, ''), 'gtin', gtin,
    'physical', physical_stock, 'reserved', physical_stock - available_stock) order by id) as products
  from erp.product`;

/**
 * Replaces the products in a peer's own database by copies of the measured ones.
 *
 * @param statements a file of SQL that reads them from the temporary table `measured`
 */
export async function copyProducts(statements: URL): Promise<void> {
  const products = await withClient(process.env.MEASURED_DATABASE_URL!, async (client) => {
    const { rows } = await client.query<{ products: object[] }>(measured);
    return JSON.stringify(rows[0]!.products);
  });
  await withClient(process.env.DATABASE_URL!, async (client) => {
    await client.query(`create temporary table measured
      (id uuid, number text, name text, gtin text, physical integer, reserved integer)`);
    await client.query("insert into measured select * from jsonb_populate_recordset(null::measured, $1)", [
      products,
    ]);
    await client.query(await readFile(statements, "utf8"));
    await client.query("vacuum analyze");
  });
}

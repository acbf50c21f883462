import type pg from "pg";

/**
 * Tables that no upsert fills. Each has the columns that are copied, and the columns that refer to others: their tables and
 * what identifies a row in every shop.
 */
const tables: [table: string, columns: string, references?: Record<string, [table: string, key: string]>][] =
  [
    ["currency", "iso_code, symbol, name, short_name, factor, position, is_default_currency"],
    ["country", "iso_code, name"],
    ["salutation", "salutation_key, display_name, letter_name"],
    ["customer_group", "name, display_gross"],
    [
      "payment_method",
      "technical_name, name, description, active, position, after_order_enabled, means_code",
    ],
    ["shipping_method", "technical_name, name, active"],
    [
      "sales_channel",
      "name",
      {
        country_id: ["country", "iso_code"],
        currency_id: ["currency", "iso_code"],
        customer_group_id: ["customer_group", "name"],
        payment_method_id: ["payment_method", "technical_name"],
      },
    ],
  ];

/** Copies the reference data of a shop into another one, where it gets other ids. */
export async function copyReferenceData(from: pg.Pool, to: pg.Pool): Promise<void> {
  for (const [table, columns, references = {}] of tables) {
    const links = Object.entries(references);
    const keys = links.map(
      ([column, [other, key]]) =>
        `(select o.${key} from erp.${other} o where o.id = t.${column}) as ${column}`,
    );
    const { rows } = await from.query(
      `select jsonb_agg(r order by r.id) as rows from (select ${["id", columns, ...keys].join()} from erp.${table} t) r`,
    );
    const found = links.map(
      ([column, [other, key]]) =>
        `(select o.id from erp.${other} o where to_jsonb(o.${key}) = v.row -> '${column}')`,
    );
    const names = [columns, ...links.map(([column]) => column)].join();
    const values = columns.split(", ").map((column) => `r.${column}`);
    const populated = `jsonb_populate_record(null::erp.${table}, v.row - '{${["id", ...links.map(([column]) => column)].join()}}'::text[]) r`;
    await to.query(
      `insert into erp.${table} (${names}) select ${[...values, ...found].join()}
       from jsonb_array_elements($1) with ordinality v (row, n) cross join lateral ${populated} order by v.n`,
      [JSON.stringify(rows[0].rows)],
    );
  }
}

import type pg from "pg";

/** Tables that no upsert fills, and their columns. */
const tables = {
  currency: "iso_code, symbol, name, short_name, factor, position, is_default_currency",
  country: "iso_code, name",
  salutation: "salutation_key, display_name, letter_name",
};

/** Copies the reference data of a shop into another one, where it gets other ids. */
export async function copyReferenceData(from: pg.Pool, to: pg.Pool): Promise<void> {
  for (const [table, columns] of Object.entries(tables)) {
    const { rows } = await from.query(`select jsonb_agg(t order by t.id) as rows from erp.${table} t`);
    await to.query(
      `insert into erp.${table} (${columns}) select ${columns} from jsonb_populate_recordset(null::erp.${table}, $1)`,
      [JSON.stringify(rows[0].rows)],
    );
  }
}

import type { NumberShop } from "./number-shop.ts";

interface Numbered {
  channel?: string;
  at?: string;
}

/** Documents in a transaction that is rolled back. Nothing protects them there. */
export interface NumberRehearsal {
  sql(text: string, ...values: unknown[]): Promise<any[]>;
  /** Makes documents of a type, each with the next number. */
  make(type: string, count: number, options?: Numbered): Promise<void>;
  /** Makes a document with a number from elsewhere. */
  insert(type: string, number: string, options?: Numbered): Promise<void>;
  remove(...numbers: string[]): Promise<void>;
  /** Reads the faults, without "number_range.". */
  faults(): Promise<string[]>;
}

/** Works on 1 May 2031, on a shop with orders of each sales channel. */
export async function rehearseNumbers(
  { owner }: Pick<NumberShop, "owner">,
  work: (it: NumberRehearsal) => Promise<void>,
): Promise<void> {
  const client = await owner.connect();
  const sql = async (text: string, ...values: unknown[]) => (await client.query(text, values)).rows;
  const insert = (type: string, count: number, number: string, { channel, at = "now" }: Numbered) =>
    sql(
      `insert into erp.document (document_type_id, order_id, document_number, deep_link_code, created_at)
       select t.id, o.id, ${number}, gen_random_uuid(), $4 from erp.document_type t, generate_series(1, $3) n,
         (select id, sales_channel_id from erp.sales_order
          where $2::uuid is null or sales_channel_id = $2 order by sales_channel_id, id limit 1) o
       where t.technical_name = $1 order by n`,
      type,
      channel,
      count,
      at,
    );
  try {
    await client.query("begin");
    await client.query("alter table erp.document disable trigger user");
    await client.query(`create or replace function erp.local_date(moment timestamptz) returns date language sql stable
      return case when moment = now() then '2031-05-01' else (moment at time zone 'UTC')::date end`);
    await work({
      sql,
      make: async (type, count, options = {}) => {
        await insert(type, count, "erp.next_number(erp.range_of_documents($1, o.sales_channel_id))", options);
      },
      insert: async (type, number, options = {}) => {
        await insert(type, 1, `'${number}'`, options);
      },
      remove: async (...numbers) => {
        await sql("delete from erp.document where document_number = any ($1)", numbers);
      },
      faults: async () =>
        (await sql("select * from erp.number_proof order by figure, id, expected")).map(
          ({ figure, id, stored, expected }) =>
            `${figure.replace("number_range.", "")} of ${id}: ${stored}, not ${expected}`,
        ),
    });
  } finally {
    await client.query("rollback");
    client.release();
  }
}

import assert from "node:assert/strict";
import { after } from "node:test";
import { queryRows, useDatabase } from "../lib/database.ts";
import type { Template } from "../lib/database.ts";
import { ledgerDifferences } from "../lib/proof.ts";

export interface Movement {
  quantity: number;
  process?: string;
  /** The time that the insert gives; null for now. */
  created_at?: string;
  batch?: string;
}

export interface Place {
  product: string;
  bin: string;
}
/** With two batches of the product. */
export interface Scene extends Place {
  a: string;
  b: string;
}

/**
 * A database whose ledger is written to by hand, in transactions that are undone. The books must be right after each.
 */
export function useLedger(template: Template) {
  // Before the database goes. Each piece of work has proved itself, and most of it is undone
  after(() => assertProof());
  const used = useDatabase(template);

  const rows = queryRows(() => used.client);
  const proof = () => ledgerDifferences(used.client);
  const assertProof = async () => assert.deepEqual(await proof(), []);

  /** Works as the owner in a transaction that is undone, after running its deferred triggers. */
  const undone = async (work: (scene: Scene) => Promise<void>) => {
    await used.client.query("begin");
    try {
      const [scene] = await rows(
        `with p as (insert into erp.product (product_number) values ('counted') returning id),
           hall as (insert into erp.warehouse (code, name, is_default, is_default_receiving)
             select 'C', 'Counted', n, n from (select not exists (select from erp.warehouse) as n) returning id),
           bin as (insert into erp.bin_location (warehouse_id, code) select id, 'C-1' from hall returning id),
           a as (insert into erp.batch (product_id, number) select id, 'A' from p returning id),
           b as (insert into erp.batch (product_id, number) select id, 'B' from p returning id)
         select p.id as product, bin.id as bin, a.id as a, b.id as b from p, bin, a, b`,
      );
      await work(scene as Scene);
      await settle();
      await assertProof();
    } finally {
      await used.client.query("rollback");
    }
  };
  /** As at the end of a transaction. */
  const settle = () => used.client.query("set constraints all immediate; set constraints all deferred");

  /** Inserts movements by hand into the bin, or out of it, with one statement. */
  const move = async (scene: Place, ...moves: Movement[]) => {
    const movements = moves.map(({ quantity, process = null, created_at = null }) => {
      const [inside, outside] = quantity > 0 ? ["destination", "source"] : ["source", "destination"];
      return {
        product_id: scene.product,
        quantity: Math.abs(quantity),
        process_type_technical_name: process,
        created_at,
        [`${inside}_location_type_technical_name`]: "bin_location",
        [`${inside}_bin_location_id`]: scene.bin,
        [`${outside}_location_type_technical_name`]: "special_stock_location",
        [`${outside}_special_stock_location_technical_name`]: "stock_correction",
      };
    });
    const columns = `product_id, quantity, process_type_technical_name, created_at, source_location_type_technical_name,
      source_bin_location_id, source_special_stock_location_technical_name, destination_location_type_technical_name,
      destination_bin_location_id, destination_special_stock_location_technical_name`;
    const inserted = await rows(
      `insert into ledger.stock_movement (${columns})
       select ${columns} from jsonb_populate_recordset(null::ledger.stock_movement, $1) returning id`,
      [JSON.stringify(movements)],
    );
    const batches = moves.flatMap(({ quantity, batch: batch_id }, index) =>
      batch_id === undefined ? [] : [{ ...inserted[index], batch_id, quantity: Math.abs(quantity) }],
    );
    await rows(
      `insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
       select id, batch_id, quantity from jsonb_to_recordset($1) m (id uuid, batch_id uuid, quantity integer)`,
      [JSON.stringify(batches)],
    );
    await settle();
    await assertProof();
  };
  /** Sets stock as stockSet does. */
  const count = async ({ product, bin }: Place, quantity: number, age?: string, batch?: string) => {
    await rows(
      `select ledger.set_stock(array[row($1, null, $2, null, null, $3, $5, null,
         clock_timestamp() - $4::interval, null, null)::ledger.line], null)`,
      [product, bin, quantity, age, batch],
    );
    await settle();
    await assertProof();
  };
  const stockOf = async (product: string) =>
    (
      await rows(
        `select s.quantity, (select string_agg(n.number || b.quantity, ' ' order by n.number) from ledger.batch_stock b
           join erp.batch n on n.id = b.batch_id where b.stock_id = s.id) as batches
         from ledger.stock s where product_id = $1 and bin_location_id is not null`,
        [product],
      )
    )[0];
  const countsOf = (product: string) =>
    rows(
      `select c.quantity, c.difference, n.number as batch from ledger.stock_count c
       join ledger.stock s on s.id = c.stock_id left join erp.batch n on n.id = c.batch_id
       where s.product_id = $1 order by c.id`,
      [product],
    );
  const inThePast = (age: string) =>
    rows("select now() - $1::interval as at", [age]).then(([row]) => row!.at);
  return { used, rows, proof, undone, settle, move, count, stockOf, countsOf, inThePast, assertProof };
}

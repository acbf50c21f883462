import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { queryRows, useDatabase } from "../lib/database.ts";

// These functions plan their own statements, so plans of the calling operations don't show them. Postgres counts what
// each transaction has read.
describe("the past of stock is read by index", () => {
  const used = useDatabase("template_demo");
  const rows = queryRows(() => used.client);
  let newest: number;
  before(async () => {
    await rows("select set_config('service.scopes', 'stocks:read batches:read', false)");
    await rows("analyze ledger.stock_movement, ledger.closing_balance, ledger.movement_sequence");
    [{ newest }] = (await rows("select max(sequence)::int as newest from ledger.movement_sequence")) as [any];
  });

  interface Reads {
    name: string;
    scans: number;
    fetched: number;
  }
  /** What a statement reads of each table: by how many sequential scans, and how many rows by index. */
  async function readsOf(statement: string, values: unknown[]): Promise<Reads[]> {
    const count = (): Promise<Reads[]> =>
      rows(
        `select relname as name, coalesce(seq_scan, 0)::int as scans, coalesce(idx_tup_fetch, 0)::int as fetched
         from pg_stat_xact_user_tables where schemaname in ('ledger', 'erp')`,
      );
    const earlier = new Map((await count()).map((table) => [table.name, table]));
    await rows(statement, values);
    return (await count()).map(({ name, scans, fetched }) => {
      const { scans: oldScans, fetched: oldFetched } = earlier.get(name)!;
      return { name, scans: scans - oldScans, fetched: fetched - oldFetched };
    });
  }

  const product = "(select product_id from ledger.stock_movement group by 1 order by count(*) desc limit 1)";
  const batch =
    "(select batch_id from ledger.stock_movement_batch group by 1 order by count(*) desc limit 1)";
  const warehouse = "(select id from erp.warehouse order by code limit 1)";
  const place = "(select place from ledger.stock order by quantity desc limit 1)";
  const moment = "timestamptz '2025-05-20 18:30Z'";
  const calls: [what: string, call: string][] = [
    ["a product at a moment", `quantity_as_of(${product}, null, null, null, ${moment})`],
    ["a product at a number", `quantity_as_of(${product}, null, null, $1, null)`],
    ["a product in a warehouse", `quantity_as_of(${product}, null, ${warehouse}, null, ${moment})`],
    ["a product in a place", `quantity_as_of(${product}, ${place}, null, $1, null)`],
    ["a batch at a moment", `batch_quantity_as_of(${batch}, null, null, ${moment})`],
    ["a batch in a place, at a number", `batch_quantity_as_of(${batch}, ${place}, $1, null)`],
    [
      "a stock card",
      `stock_card(${product}, null, ${warehouse}, null, ${moment}, ${moment} + interval '1 week')`,
    ],
  ];
  for (const [what, call] of calls)
    it(`of ${what}`, async () => {
      // The sub-selects come first, for they read whole tables
      const args = call.slice(call.indexOf("(") + 1, -1);
      const number = Math.floor(newest / 2);
      const [{ values }] = (await rows(
        `select array(select v::text from json_each_text(to_json(row (${args.replaceAll("$1", String(number))}))) j (k, v)) as values`,
      )) as [any];
      const types = call.startsWith("quantity")
        ? ["uuid", "text", "uuid", "bigint", "timestamptz"]
        : call.startsWith("batch")
          ? ["uuid", "text", "bigint", "timestamptz"]
          : ["uuid", "text", "uuid", "uuid", "timestamptz", "timestamptz"];
      const given = types.map((type, index) => `$${index + 1}::${type}`).join(", ");
      const found = await readsOf(
        `select * from ledger.${call.slice(0, call.indexOf("("))}(${given})`,
        values,
      );
      assert.deepEqual(
        found.filter(({ scans }) => scans > 0),
        [],
      );
      const [{ all }] = (await rows("select count(*)::int as all from ledger.stock_movement")) as [any];
      const fetched = found.find(({ name }) => name === "stock_movement")!.fetched;
      assert.ok(fetched < all / 20, `${fetched} of ${all} movements`);
    });

  it("from the closing before: without closings, all movements of the product are read", async () => {
    const [{ id }] = (await rows(`select ${product} as id`)) as [any];
    const readWith = async (prepare: string): Promise<number> => {
      await rows("begin");
      await rows(prepare);
      const found = await readsOf("select ledger.quantity_as_of($1, null, null, $2, null)", [id, newest - 5]);
      await rows("rollback");
      return found.find(({ name }) => name === "stock_movement")!.fetched;
    };
    const [withClosings, without] = [await readWith("select"), await readWith("delete from ledger.closing")];
    assert.ok(withClosings < without / 2, `${withClosings}, ${without}`);
  });
});

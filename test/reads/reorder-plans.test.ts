import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { queryRows, useDatabase } from "../lib/database.ts";

// The functions plan their own statements. Postgres counts what each transaction has read
describe("proposals of what to buy", () => {
  const used = useDatabase("template_demo");
  const rows = queryRows(() => used.client);
  before(async () => {
    await rows("select set_config('service.scopes', 'stocks:read supplier_orders:read', false)");
    await rows("analyze ledger.stock_movement, ledger.warehouse_stock, erp.product");
  });

  /** What a statement reads of each table: by how many sequential scans, and how many rows by index. */
  async function readsOf(statement: string, values: unknown[] = []) {
    const count = () =>
      rows(
        `select relname as name, coalesce(seq_scan, 0)::int as scans, coalesce(idx_tup_fetch, 0)::int as fetched
         from pg_stat_xact_user_tables where schemaname in ('ledger', 'erp')`,
      ) as Promise<{ name: string; scans: number; fetched: number }[]>;
    const earlier = new Map((await count()).map((table) => [table.name, table]));
    await rows(statement, values);
    const reads = (await count()).map(({ name, scans, fetched }) => {
      const { scans: oldScans, fetched: oldFetched } = earlier.get(name)!;
      return [name, { scans: scans - oldScans, fetched: fetched - oldFetched }] as const;
    });
    return new Map(reads);
  }

  it("read the ledger by index, and only what was shipped lately", async () => {
    const days =
      "select extract(day from now() - max(created_at))::int + 10 as days from ledger.stock_movement";
    const [{ days: recent }] = (await rows(days)) as [any];
    const reads = await readsOf(
      `select ledger.shipped_units(array(select id from erp.product), now() - $1 * interval '1 day')`,
      [recent],
    );
    const [{ all }] = (await rows("select count(*)::int as all from ledger.stock_movement")) as [any];
    const { scans, fetched } = reads.get("stock_movement")!;
    assert.equal(scans, 0);
    assert.ok(fetched > 0 && fetched < all / 4, `${fetched} of ${all} movements`);
    const proposed = await readsOf("select erp.reorder_proposals(null, null, null, 365, 1000)");
    assert.equal(proposed.get("stock_movement")!.scans, 0);
  });

  it("read each table a few times, however many there are", async () => {
    const all = await readsOf("select erp.reorder_proposals(null, null, null, 90, 1000)");
    const few = await readsOf("select erp.reorder_proposals(null, null, null, 90, 3)");
    for (const table of ["warehouse_stock", "product_warehouse_configuration", "supplier_order", "product"])
      assert.ok(all.get(table)!.scans <= 4, table);
    for (const [table, { scans }] of few) assert.ok(scans <= all.get(table)!.scans, table);
  });
});

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import pg from "pg";
import { queryRows, useDatabase } from "../lib/database.ts";
import { assertProof } from "../lib/proof.ts";
import { until } from "../lib/until.ts";

// Calls of one line read and lock what they name by one statement. What is changed meanwhile is seen all the same, and
// whatever the way, the booking holds the lock of its product.

describe("what changes while a call of one line waits for it", () => {
  const used = useDatabase("template_demo");
  const rows = queryRows(() => used.client);
  let product: string;
  let bin: string, from: string, to: string;

  before(async () => {
    const [found] = await rows(
      `select p.id as product from erp.product p where not is_batch_managed and physical_stock > 0
         and not exists (select from erp.product v where v.parent_id = p.id) order by p.id limit 1`,
    );
    ({ product } = found);
  });

  /** A new bin, in one of two new warehouses. */
  const newPlaces = async () => {
    const [made] = await rows(
      `with w as (insert into erp.warehouse (code, name, is_stock_available_for_sale)
         values (left(uuidv7()::text || random(), 50), 'From', true), (left(uuidv7()::text || random(), 50), 'To', false) returning id, name),
       b as (insert into erp.bin_location (warehouse_id, code) select id, '1' from w where name = 'From' returning id)
       select b.id as bin, f.id as from, t.id as to from b, w f, w t where f.name = 'From' and t.name = 'To'`,
    );
    ({ bin, from, to } = made);
  };
  const call = (name: "set" | "adjust", place: Record<string, string>, quantity: number) => `
    select from ledger.${name}_stock(array[jsonb_populate_record(null::ledger.line,
      '${JSON.stringify({ product_id: product, quantity, ...place })}')], null)`;

  /** Runs a call while a change is not committed yet, and another one that has begun with the product's lock. */
  const meanwhile = async (change: string, waiting: string, holding?: string) => {
    const [second, third] = [0, 1].map(() => new pg.Client({ connectionString: used.database.ownerUrl })) as [
      pg.Client,
      pg.Client,
    ];
    await Promise.all([second.connect(), third.connect()]);
    try {
      const pidOf = async (client: pg.Client) =>
        (await client.query("select pg_backend_pid() as pid")).rows[0].pid as number;
      const pids = [await pidOf(second), await pidOf(third), await pidOf(used.client)];
      const isBlockedBy = async (pid: number) =>
        (await rows("select pg_blocking_pids($1) as by", [pids[0]]))[0].by.includes(pid);
      await rows("begin");
      await rows(change);
      if (holding !== undefined) {
        await third.query("begin");
        await third.query("select from erp.product where id = $1 for no key update", [product]);
      }
      const done = second.query(waiting).then(
        () => undefined,
        (error: pg.DatabaseError) => error,
      );
      await until(() => isBlockedBy(pids[2]!));
      await rows("commit");
      if (holding !== undefined) {
        await until(() => isBlockedBy(pids[1]!));
        await third.query(holding);
        await third.query("commit");
      }
      return await done;
    } finally {
      await rows("rollback");
      await Promise.all([second.end(), third.end()]);
    }
  };
  const held = () =>
    rows(
      "select warehouse_id, quantity from ledger.warehouse_stock where product_id = $1 and warehouse_id = any ($2) and quantity <> 0",
      [product, [from, to]],
    );

  for (const name of ["set", "adjust"] as const) {
    it(`a bin that goes to another warehouse, by ${name}`, async () => {
      await newPlaces();
      const move = `update erp.bin_location set warehouse_id = '${to}' where id = '${bin}'`;
      const error = await meanwhile(move, call(name, { source_bin_location_id: bin }, 5));
      assert.equal(error, undefined);
      assert.deepEqual(await held(), [{ warehouse_id: to, quantity: 5 }]);
      await assertProof(used.client);
    });

    it(`a bin whose warehouse goes away after it, by ${name}`, async () => {
      await newPlaces();
      await rows(call("set", { source_bin_location_id: bin }, 0));
      const error = await meanwhile(
        `update erp.bin_location set warehouse_id = '${to}' where id = '${bin}';
         delete from erp.warehouse where id = '${from}'`,
        call(name, { source_bin_location_id: bin }, 5),
        call("adjust", { source_bin_location_id: bin }, 3),
      );
      assert.equal(error, undefined);
      assert.deepEqual(await held(), [{ warehouse_id: to, quantity: name === "set" ? 5 : 8 }]);
      await assertProof(used.client);
    });

    it(`a warehouse that stops to sell, by ${name}`, async () => {
      await newPlaces();
      for (const quantity of [3, 4]) {
        await rows(`update erp.warehouse set is_stock_available_for_sale = true where id = '${from}'`);
        const stop = `update erp.warehouse set is_stock_available_for_sale = false where id = '${from}'`;
        const place: Record<string, string> =
          quantity === 3 ? { source_warehouse_id: from } : { source_bin_location_id: bin };
        const error = await meanwhile(stop, call(name, place, quantity));
        assert.equal(error, undefined);
        await assertProof(used.client);
      }
      await rows(`update erp.warehouse set is_stock_available_for_sale = true where id = '${from}'`);
      await rows(call(name, { source_warehouse_id: from }, 5));
      const stop = `update erp.warehouse set is_stock_available_for_sale = false where id = '${from}'`;
      assert.equal(await meanwhile(stop, call(name, { source_warehouse_id: from }, 9)), undefined);
      await assertProof(used.client);
    });

    it(`a place that is deleted, by ${name}`, async () => {
      await newPlaces();
      for (const [change, place] of [
        [`delete from erp.bin_location where id = '${bin}'`, { source_bin_location_id: bin }],
        [`delete from erp.warehouse where id = '${from}'`, { source_warehouse_id: from }],
      ] as const) {
        const error = await meanwhile(change, call(name, place, 5));
        assert.equal(error?.code, "UE001");
      }
      await assertProof(used.client);
    });

    it(`a product that is kept in batches, by ${name}`, async () => {
      await newPlaces();
      const usual = product;
      const [made] = await rows(
        "insert into erp.product (product_number, name) values ('b' || uuidv7(), jsonb_build_object('en-GB', 'B')) returning id",
      );
      product = made.id;
      await rows(call(name, { source_warehouse_id: from }, 5));
      await rows(call("set", { source_warehouse_id: from }, 0));
      const change = `update erp.product set is_batch_managed = true where id = '${product}'`;
      const error = await meanwhile(change, call(name, { source_warehouse_id: from }, 5));
      assert.equal(error?.code, "UE001");
      assert.match(error.detail!, /BATCH_REQUIRED/);
      await assertProof(used.client);
      product = usual;
    });

    it(`a count that comes, by ${name}`, async () => {
      await newPlaces();
      await rows(call(name, { source_bin_location_id: bin }, 5));
      const error = await meanwhile(
        call("set", { source_bin_location_id: bin }, 2),
        call(name, { source_bin_location_id: bin }, 7),
      );
      assert.equal(error, undefined);
      assert.deepEqual(await held(), [{ warehouse_id: from, quantity: name === "set" ? 7 : 9 }]);
      await assertProof(used.client);
    });
  }
});

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { queryRows, useDatabase } from "../lib/database.ts";
import { assertProof } from "../lib/proof.ts";
import { voidReports } from "../lib/void-reports.ts";

type Place = [type: "warehouse" | "bin_location" | "special_stock_location", id: string];
type Move = [quantity: number, source: Place, destination: Place, batch?: string];

const unknown: Place = ["special_stock_location", "unknown"];
const special = "special_stock_location_technical_name";
const columns = ["source", "destination"]
  .flatMap((side) =>
    ["location_type_technical_name", "warehouse_id", "bin_location_id", special].map(
      (name) => `${side}_${name}`,
    ),
  )
  .join();

const end = (side: string, [type, id]: Place) => ({
  [`${side}_location_type_technical_name`]: type,
  [type === "special_stock_location" ? `${side}_${special}` : `${side}_${type}_id`]: id,
});

// The ledger chooses ids in the order in which movements are inserted
const movements = `insert into ledger.stock_movement (product_id, quantity, ${columns})
  select product_id, quantity, ${columns} from jsonb_populate_recordset(null::ledger.stock_movement, $1) returning id`;
const batches = `insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
  select id, batch_id, quantity from jsonb_to_recordset($1) m (id uuid, batch_id uuid, quantity integer) where batch_id is not null`;

describe("figures that follow from the ledger", () => {
  // Before the database goes, in which nothing stays
  after(() => prove());
  const used = useDatabase("template_demo");

  const rows = queryRows(() => used.client);
  const prove = () => assertProof(used.client);

  /** Works as the owner in a transaction that is undone. The books must be right before that, too. */
  const undone = async (work: () => Promise<void>) => {
    await used.client.query("begin");
    try {
      await work();
      await prove();
    } finally {
      await used.client.query("rollback");
    }
  };

  const asRows = (product_id: string, moves: Move[]) =>
    moves.map(([quantity, source, destination, batch_id]) => {
      const ends = { ...end("source", source), ...end("destination", destination) };
      return { product_id, quantity, batch_id, ...ends };
    });

  /** Inserts movements by hand, all in one statement, then their batches in another. */
  const move = async (product: string, ...moves: Move[]) => {
    const moved = asRows(product, moves);
    const ids = await rows(movements, [JSON.stringify(moved)]);
    await rows(batches, [JSON.stringify(moved.map((row, index) => ({ ...row, ...ids[index] })))]);
    await prove();
  };

  /** A product with two batches, a warehouse that sells its stock and one that keeps it, each with a bin. */
  const scene = async () => {
    const [row] = await rows(
      `with p as (insert into erp.product (product_number) values ('by-hand') returning id),
         sells as (insert into erp.warehouse (code, name) values ('S', 'Sells') returning id),
         keeps as (insert into erp.warehouse (code, name, is_stock_available_for_sale) values ('K', 'Keeps', false) returning id),
         a as (insert into erp.batch (product_id, number) select id, 'A' from p returning id),
         b as (insert into erp.batch (product_id, number) select id, 'B' from p returning id),
         bin as (insert into erp.bin_location (warehouse_id, code) select id, '1' from sells returning id),
         far as (insert into erp.bin_location (warehouse_id, code) select id, '2' from keeps returning id),
         there as (insert into erp.product_warehouse_configuration (product_id, warehouse_id, reorder_point)
           select p.id, sells.id, 9 from p, sells),
         here as (insert into erp.product_stock_location_configuration (product_id, bin_location_id) select p.id, bin.id from p, bin)
       select p.id as product, sells.id as sells, keeps.id as keeps, a.id as a, b.id as b, bin.id as bin, far.id as far
       from p, sells, keeps, a, b, bin, far`,
    );
    return row as Record<"product" | "sells" | "keeps" | "a" | "b" | "bin" | "far", string>;
  };

  /** The same, with 11 units in the four places. */
  const loaded = async () => {
    const ids = await scene();
    const { product, sells, keeps, a, b, bin, far } = ids;
    await move(
      product,
      [5, unknown, ["bin_location", bin], a],
      [3, unknown, ["bin_location", far], b],
      [2, unknown, ["warehouse", sells]],
      [1, unknown, ["warehouse", keeps]],
    );
    return ids;
  };

  const figuresOf = async (product: string) => {
    const [row] = await rows(
      `select p.physical_stock as held, p.stock_not_available_for_sale as kept, p.available_stock as free,
         (select string_agg(number || physical_stock, ' ' order by number) from erp.batch where product_id = p.id) as batches,
         (select string_agg(w.code || s.quantity, ' ' order by w.code) from ledger.warehouse_stock s
          join erp.warehouse w on w.id = s.warehouse_id where s.product_id = p.id) as warehouses,
         (select stock_below_reorder_point from erp.product_warehouse_configuration where product_id = p.id) as below,
         (select stock from erp.product_stock_location_configuration where product_id = p.id) as here
       from erp.product p where p.id = $1`,
      [product],
    );
    return row!;
  };

  it("follow movements that are inserted by hand, one or several, with batches", () =>
    undone(async () => {
      const { product, sells, bin, far, a, b } = await loaded();
      const first = { held: 11, kept: 4, free: 7, batches: "A5 B3", warehouses: "K4 S7", below: 2, here: 5 };
      assert.deepEqual(await figuresOf(product), first);
      await move(product, [2, ["bin_location", bin], ["bin_location", far], a]);
      const then = { ...first, kept: 6, free: 5, warehouses: "K6 S5", below: 4, here: 3 };
      assert.deepEqual(await figuresOf(product), then);
      // Into another place and out, in one statement: only the sums count
      await move(
        product,
        [3, ["bin_location", bin], ["warehouse", sells], a],
        [3, ["warehouse", sells], ["bin_location", bin], a],
        [1, ["bin_location", far], unknown, b],
      );
      const last = { ...then, held: 10, kept: 5, batches: "A5 B2", warehouses: "K5 S5" };
      assert.deepEqual(await figuresOf(product), last);
    }));

  it("follow movements that are inserted with their batches by one statement", () =>
    undone(async () => {
      const { product, a, bin } = await scene();
      await rows(
        `with moved as (${movements}) insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
         select moved.id, m.batch_id, m.quantity from moved, jsonb_to_recordset($1) m (batch_id uuid, quantity integer)`,
        [JSON.stringify(asRows(product, [[5, unknown, ["bin_location", bin], a]]))],
      );
      assert.equal((await figuresOf(product)).batches, "A5 B0");
    }));

  it("are not changed by movements that would leave less than nothing", () =>
    undone(async () => {
      const { product, bin, far, a, b } = await loaded();
      const before = await figuresOf(product);
      for (const [constraint, ...moves] of [
        ["stock_quantity_is_not_negative", [6, ["bin_location", bin], unknown]],
        ["batch_stock_quantity_is_not_negative", [4, ["bin_location", bin], ["bin_location", far], b]],
        [
          "stock_quantity_is_not_negative",
          [5, ["bin_location", bin], unknown, a],
          [1, ["bin_location", bin], unknown],
        ],
      ] as [string, ...Move[]][]) {
        await rows("savepoint before");
        await assert.rejects(move(product, ...moves), { constraint });
        await rows("rollback to before");
      }
      assert.deepEqual(await figuresOf(product), before);
    }));

  it("follow a warehouse that stops or starts to sell, by hand, one or all", () =>
    undone(async () => {
      const { product, sells } = await loaded();
      await rows("update erp.warehouse set is_stock_available_for_sale = false where id = $1", [sells]);
      for (const [condition, kept] of [
        ["is_stock_available_for_sale", 11],
        ["true", 0],
        ["code <> 'K'", 4],
        ["code <> 'S'", 7],
      ] as const) {
        await rows(`update erp.warehouse set is_stock_available_for_sale = (${condition})`);
        assert.equal((await figuresOf(product)).kept, kept, condition);
        await prove();
      }
    }));

  it("let no bin or warehouse go that holds stock, nor a bin into another warehouse", () =>
    undone(async () => {
      const { product, sells, keeps, bin, a } = await loaded();
      for (const [statement, id] of [
        [`update erp.bin_location set warehouse_id = '${keeps}' where id = $1`, bin],
        ["delete from erp.bin_location where id = $1", bin],
        ["delete from erp.warehouse where id = $1", sells],
      ] as const) {
        await rows("savepoint before");
        await assert.rejects(rows(statement, [id]), { code: "UE001", detail: /"WAREHOUSE_NOT_EMPTY"/ });
        await rows("rollback to before");
      }
      await move(product, [5, ["bin_location", bin], unknown, a]);
      await rows("update erp.bin_location set warehouse_id = $1 where id = $2", [keeps, bin]);
      assert.equal((await figuresOf(product)).warehouses, "K4 S2");
    }));

  it("stay as they are when an empty place is deleted; its movements keep the type and lose the id", () =>
    undone(async () => {
      const { product, sells, bin, a } = await loaded();
      await move(product, [2, ["warehouse", sells], unknown], [5, ["bin_location", bin], unknown, a]);
      const ends = () =>
        rows(
          `select location_type_technical_name as type, count(*)::int as ends, count(place)::int as named from ledger.flow
           where product_id = $1 and location_type_technical_name <> 'special_stock_location' group by 1 order by 1`,
          [product],
        );
      assert.deepEqual(await ends(), [
        { type: "bin_location", ends: 3, named: 3 },
        { type: "warehouse", ends: 3, named: 3 },
      ]);
      await rows("delete from erp.bin_location where id = $1", [bin]);
      await prove();
      await rows("delete from erp.warehouse where id = $1", [sells]);
      assert.deepEqual(await ends(), [
        { type: "bin_location", ends: 3, named: 1 },
        { type: "warehouse", ends: 3, named: 1 },
      ]);
      assert.equal((await figuresOf(product)).warehouses, "K4");
    }));

  const assertGone = async (...ids: string[]) => {
    const left = "select from ledger.stock_movement where product_id = any ($1)";
    assert.ok((await rows(left, [ids])).length > 0);
    await rows("delete from erp.product where id = any ($1)", [ids]);
    assert.equal((await rows(left, [ids])).length, 0);
    await prove();
  };

  it("go with products that are deleted, as their movements do", () =>
    undone(async () => {
      await rows(voidReports);
      const [one, ...others] = await rows(
        `select id from erp.product p where exists (select from ledger.stock_movement where product_id = p.id)
         and not exists (select from erp.batch where product_id = p.id)`,
      );
      await assertGone(one!.id);
      await assertGone(...others.map(({ id }) => id));
    }));

  it("go with products that were moved in batches", () =>
    undone(async () => {
      await assertGone((await loaded()).product);
    }));
});

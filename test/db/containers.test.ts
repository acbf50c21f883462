import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { queryRows, useDatabase } from "../lib/database.ts";
import { assertProof } from "../lib/proof.ts";

// The rules about containers hold for people who write SQL, too.

describe("containers in SQL", () => {
  const used = useDatabase("template_demo");
  const rows = queryRows(() => used.client);
  let nth = 0;

  /** New places, in a transaction that is rolled back after the work. */
  const inPlaces = async (work: (ids: Record<string, string>) => Promise<void>) => {
    await rows("begin");
    try {
      const [made] = await rows(
        `with w as (insert into erp.warehouse (code, name, is_stock_available_for_sale)
           values ('one-${++nth}', 'One', true), ('two-${nth}', 'Two', false) returning id, name),
         b as (insert into erp.bin_location (warehouse_id, code, stock_state)
           select w.id, v.code, v.state from w join (values ('One', 'good', 'sellable'), ('One', 'bad', 'damaged'), ('Two', 'far', 'sellable'))
             v (name, code, state) using (name) returning id, code),
         p as (insert into erp.product (product_number) values ('in containers ${nth}') returning id)
         select (select id from w where name = 'One') as one, (select id from w where name = 'Two') as two,
           (select id from b where code = 'good') as good, (select id from b where code = 'bad') as bad,
           (select id from b where code = 'far') as far, (select id from p) as product`,
      );
      await work(made);
    } finally {
      await rows("rollback");
    }
  };
  const make = async (warehouse: string | null, bin: string | null = null) =>
    (
      await rows(
        "insert into erp.stock_container (number, warehouse_id, bin_location_id) values ($1, $2, $3) returning id",
        [`sql-${++nth}`, warehouse, bin],
      )
    )[0].id as string;
  const put = (product: string, container: string, quantity: number) =>
    rows(
      `insert into ledger.stock_movement (product_id, quantity, process_type_technical_name, source_location_type_technical_name,
         source_special_stock_location_technical_name, destination_location_type_technical_name, destination_stock_container_id)
       values ($1, $3, 'incoming', 'special_stock_location', 'import', 'stock_container', $2)`,
      [product, container, quantity],
    );
  const figures = async (product: string) => {
    const [row] = await rows(
      `select array[p.physical_stock, p.stock_not_available_for_sale, sum(s.quantity), sum(s.held_quantity)]::int[] as figures
       from erp.product p left join ledger.warehouse_stock s on s.product_id = p.id where p.id = $1 group by p.id`,
      [product],
    );
    return row.figures;
  };
  /** Asserts that a statement is refused, and leaves the transaction as it was before. */
  const refused = async (message: RegExp, statement: string, ...values: unknown[]) => {
    await rows("savepoint before");
    await assert.rejects(rows(statement, values), message);
    await rows("rollback to before");
  };

  it("need a warehouse, and a bin of it", () =>
    inPlaces(async ({ one, good, far }) => {
      const insert =
        "insert into erp.stock_container (number, warehouse_id, bin_location_id) values ('x', $1, $2)";
      await refused(/needs a warehouse/, insert, null, null);
      await refused(/not in the warehouse/, insert, one, far);
      const id = await make(one!, good);
      await refused(
        /not in the warehouse/,
        "update erp.stock_container set bin_location_id = $2 where id = $1",
        id,
        far,
      );
      await refused(
        /needs a warehouse/,
        "update erp.stock_container set warehouse_id = null where id = $1",
        id,
      );
      for (const sscc of ["", "395210000000000011", "39521000000000001"])
        await refused(/sscc_is_valid/, "update erp.stock_container set sscc = $2 where id = $1", id, sscc);
    }));

  it("change the figures with their movements, their bin, and its state", () =>
    inPlaces(async ({ one, good, bad, product }) => {
      const id = await make(one!, good);
      await put(product!, id, 5);
      assert.deepEqual(await figures(product!), [5, 0, 5, 0]);
      await rows("update erp.stock_container set bin_location_id = $2 where id = $1", [id, bad]);
      assert.deepEqual(await figures(product!), [5, 5, 5, 5]);
      await rows("update erp.bin_location set stock_state = 'sellable' where id = $1", [bad]);
      assert.deepEqual(await figures(product!), [5, 0, 5, 0]);
      await rows("update erp.bin_location set stock_state = 'quality_control' where id = $1", [bad]);
      await put(product!, id, 2);
      assert.deepEqual(await figures(product!), [7, 7, 7, 7]);
      await rows("update erp.stock_container set bin_location_id = null where id = $1", [id]);
      assert.deepEqual(await figures(product!), [7, 0, 7, 0]);
      await assertProof(used.client);
    }));

  it("stay in the warehouse where they have held goods, which stays, too", () =>
    inPlaces(async ({ one, two, good, product }) => {
      const id = await make(two!);
      await rows("update erp.stock_container set warehouse_id = $2, bin_location_id = $3 where id = $1", [
        id,
        one,
        good,
      ]);
      await put(product!, id, 5);
      const move = "update erp.stock_container set warehouse_id = $2, bin_location_id = null where id = $1";
      await refused(/stays in its warehouse/, move, id, two);
      await refused(/still holds stock/, "delete from erp.stock_container where id = $1", id);
      await refused(/Containers stand in bin/, "delete from erp.bin_location where id = $1", good);
      await refused(
        /Containers stand in bin/,
        "update erp.bin_location set warehouse_id = $2 where id = $1",
        good,
        two,
      );
      await refused(/still holds stock/, "delete from erp.warehouse where id = $1", one);
      await rows(
        `insert into ledger.stock_movement (product_id, quantity, process_type_technical_name, source_location_type_technical_name,
           source_stock_container_id, destination_location_type_technical_name, destination_warehouse_id)
         values ($1, 5, 'relocation', 'stock_container', $2, 'warehouse', $3)`,
        [product, id, two],
      );
      assert.deepEqual(await figures(product!), [5, 5, 5, 0]);
      await refused(/stays in its warehouse/, move, id, two);
      // Past stock knows where it was after it is gone
      await rows("delete from erp.stock_container where id = $1", [id]);
      const [past] = await rows(
        "select sum(quantity)::int as units, count(*)::int as legs from ledger.past_leg where product_id = $1 and warehouse_id = $2",
        [product, one],
      );
      assert.deepEqual(past, { units: 0, legs: 2 });
      await rows("delete from erp.bin_location where id = $1", [good]);
      await assertProof(used.client);
    }));

  it("are found by the proof when they are not in the warehouse of their bin", () =>
    inPlaces(async ({ one, good, two }) => {
      const id = await make(one!, good);
      await rows("alter table erp.stock_container disable trigger keep_place");
      await rows("update erp.stock_container set warehouse_id = $2 where id = $1", [id, two]);
      const found = await rows("select figure, id from ledger.proof");
      assert.deepEqual(found, [{ figure: "stock_container.warehouse_id", id }]);
    }));
});

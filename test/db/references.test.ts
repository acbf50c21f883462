import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import pg from "pg";
import { queryRows, useDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";
import { voidReports } from "../lib/void-reports.ts";

// Foreign keys of movements are declared as not enforced: triggers ask for what movements by hand refer to, and bookings
// lock it. In whichever order that happens, no movement is left that names what is gone.

describe("what movements refer to", () => {
  const used = useDatabase("template_demo");
  const rows = queryRows(() => used.client);
  const nobody = "00000000-0000-7000-8000-000000000000";
  let product: string;

  before(async () => {
    const [found] = await rows(
      `select p.id from erp.product p where not is_batch_managed and not exists (select from erp.product v where v.parent_id = p.id)
         and exists (select from ledger.stock s where s.product_id = p.id and s.place = 'stock_correction') order by p.id limit 1`,
    );
    product = found.id;
  });

  /** A movement by hand, from nowhere to a place. */
  const byHand = (column: string, place: string, of = product) => `
    insert into ledger.stock_movement (product_id, quantity, process_type_technical_name, source_location_type_technical_name,
      source_special_stock_location_technical_name, destination_location_type_technical_name, destination_${column})
    values ('${of}', 1, 'incoming', 'special_stock_location', 'unknown',
      '${column === "special_stock_location_technical_name" ? "special_stock_location" : column.slice(0, -3)}', '${place}')
    returning id`;
  const booking = (type: string, place: string, from = "stock_correction") => `
    select (ledger.post(array[row ('{id}', '${product}', 1, null, 'special_stock_location', '${from}', '${type}', '${place}',
      'incoming')::ledger.draft], null)).stock_movements[1] as id`;
  const undone = async (work: () => Promise<void>) => {
    await rows("begin");
    try {
      await work();
    } finally {
      await rows("rollback");
    }
  };

  for (const [column, constraint] of [
    ["warehouse_id", "stock_movement_destination_warehouse_id_fkey"],
    ["bin_location_id", "stock_movement_destination_bin_location_id_fkey"],
    ["order_id", "stock_movement_destination_order_id_fkey"],
    ["return_order_id", "stock_movement_destination_return_order_id_fkey"],
    ["goods_receipt_id", "stock_movement_destination_goods_receipt_id_fkey"],
    ["stock_container_id", "stock_movement_destination_stock_container_id_fkey"],
    [
      "special_stock_location_technical_name",
      "stock_movement_destination_special_stock_location_technica_fkey",
    ],
  ] as const)
    it(`has to be there: ${column}`, async () => {
      await assert.rejects(rows(byHand(column, nobody)), { code: "23503", constraint });
    });

  it("has to be there: the product, also where a booking names it", async () => {
    const order = (await rows("select id from erp.sales_order order by id limit 1"))[0].id;
    await assert.rejects(rows(byHand("order_id", order, nobody)), {
      code: "23503",
      constraint: "stock_movement_product_id_fkey",
    });
    await assert.rejects(rows(booking("order", order).replace(product, nobody)), { code: "23503" });
    await assert.rejects(rows(booking("order", nobody)), { code: "23503" });
  });

  it("has to be there, as what fulfillments consist of", () =>
    undone(async () => {
      const [line] = await rows("select * from erp.fulfillment_line_item order by id limit 1");
      for (const [text, constraint] of [
        [
          `insert into erp.fulfillment_order_fulfillment (fulfillment_order_id, fulfillment_id) values ('${nobody}', '${line.fulfillment_id}')`,
          "fulfillment_order_fulfillment_fulfillment_order_id_fkey",
        ],
        [
          `insert into erp.fulfillment_stock_movement (fulfillment_line_item_id, stock_movement_id) values ('${line.id}', '${nobody}')`,
          "fulfillment_stock_movement_stock_movement_id_fkey",
        ],
      ] as const) {
        await rows("savepoint before");
        await assert.rejects(rows(text), { code: "23503", constraint });
        await rows("rollback to savepoint before");
      }
      await rows("delete from erp.fulfillment where id = $1", [line.fulfillment_id]);
      assert.deepEqual(
        await rows(
          `select id from erp.fulfillment_line_item where fulfillment_id = $1
           union all select fulfillment_order_id from erp.fulfillment_order_fulfillment where fulfillment_id = $1
           union all select stock_movement_id from erp.fulfillment_stock_movement where fulfillment_line_item_id = $2`,
          [line.fulfillment_id, line.id],
        ),
        [],
      );
      assert.deepEqual(await rows("select * from ledger.proof limit 5"), []);
    }));

  it("stays what it is", () =>
    undone(async () => {
      const [movement] = await rows(byHand("special_stock_location_technical_name", "import"));
      await assert.rejects(
        rows(
          "update ledger.stock_movement set product_id = (select id from erp.product where id <> $1 limit 1) where id = $2",
          [product, movement.id],
        ),
        { code: "23503" },
      );
    }));

  it("keeps its key", async () => {
    await assert.rejects(
      rows("update erp.sales_order set id = uuidv7() where id = (select id from erp.sales_order limit 1)"),
      { code: "23503", message: /erp\.sales_order/ },
    );
  });

  it("is forgotten with what is deleted; movements go with their product, and a place that is in use stays", async () => {
    const named = "select destination_order_id as place from ledger.stock_movement where id = $1";
    await undone(async () => {
      const [order] = await rows("select id from erp.sales_order order by id desc limit 1");
      const [movement] = await rows(booking("order", order.id));
      await rows("delete from erp.sales_order where id = $1", [order.id]);
      assert.deepEqual(await rows(named, [movement.id]), [{ place: null }]);
      assert.deepEqual(await rows("select * from ledger.proof limit 5"), []);
      await assert.rejects(
        rows("delete from ledger.special_stock_location where technical_name = 'stock_correction'"),
        { code: "23001" },
      );
    });
    await undone(async () => {
      const [movement] = await rows(byHand("special_stock_location_technical_name", "import"));
      await rows(voidReports);
      await rows("delete from erp.product where id = $1", [product]);
      assert.deepEqual(await rows(named, [movement.id]), []);
    });
  });

  it("isn't deleted by a transaction that can't see what was booked meanwhile", async () => {
    await rows("begin isolation level repeatable read");
    await assert.rejects(
      rows(`delete from erp.sales_order where id = (select id from erp.sales_order o
         where not exists (select from erp.document d where d.order_id = o.id) limit 1)`),
      { code: "0A000" },
    );
    await rows("rollback");
  });

  it("is found missing by the proof, where triggers were switched off", () =>
    undone(async () => {
      await rows("alter table ledger.stock_movement disable trigger user");
      await rows(
        `insert into ledger.stock_movement (id, created_at, transaction_id, product_id, quantity, source_location_type_technical_name,
           source_special_stock_location_technical_name, destination_location_type_technical_name, destination_order_id)
         values (uuidv7(), now(), 1, $1, 1, 'special_stock_location', 'unknown', 'order', $2)`,
        [product, nobody],
      );
      const found = await rows("select figure from ledger.proof where stored = 'broken'");
      assert.deepEqual(found, [{ figure: "stock_movement_destination_order_id_fkey" }]);
    }));

  describe("while somebody else deletes it", () => {
    /** Runs the second statement while the first one's transaction is open, and then ends that. */
    const oneAfterTheOther = async (first: string, second: string) => {
      const other = new pg.Client({ connectionString: used.database.ownerUrl });
      await other.connect();
      try {
        const [{ pid }] = (await other.query("select pg_backend_pid() as pid")).rows;
        await rows("begin");
        const [done] = await rows(first);
        const waiting = other.query(second).then(
          ({ rows: [row] }) => ({ row }),
          (error: pg.DatabaseError) => ({ error }),
        );
        await until(async () => (await rows("select pg_blocking_pids($1) as by", [pid]))[0].by.length > 0);
        await rows("commit");
        return { done, ...((await waiting) as { row?: any; error?: pg.DatabaseError }) };
      } finally {
        await rows("rollback");
        await other.end();
      }
    };
    const newOrder = async () => {
      const [order] = await rows(
        "select id from erp.sales_order o where not exists (select from erp.document d where d.order_id = o.id) order by id limit 1",
      );
      // So that there is stock in its place already
      await rows(booking("order", order.id));
      return order.id as string;
    };
    const dangling = () => rows("select * from ledger.proof limit 5");

    // It changes no stock, and so waits for nobody who deletes that
    describe("a count that finds the books right", () => {
      let stock: string;
      let count: string;
      before(async () => {
        const [bin] = await rows(
          `select b.id from erp.bin_location b
           where not exists (select from ledger.stock s where s.bin_location_id = b.id) order by b.id limit 1`,
        );
        stock = `select id from ledger.stock where product_id = '${product}' and bin_location_id = '${bin.id}'`;
        count = `select from ledger.set_stock(array[jsonb_populate_record(null::ledger.line,
          '{"product_id": "${product}", "source_bin_location_id": "${bin.id}", "quantity": 0}')], null)`;
      });
      const deletion = () => `delete from ledger.stock where id = (${stock})`;

      it("and comes first", async () => {
        await rows(count);
        const { error } = await oneAfterTheOther(count, deletion());
        assert.equal(error, undefined);
        assert.deepEqual(await rows(stock), []);
        assert.deepEqual(await dangling(), []);
      });

      it("and comes second", async () => {
        await rows(count);
        const { error } = await oneAfterTheOther(deletion(), count);
        assert.equal(error, undefined);
        assert.equal((await rows(stock)).length, 1);
        assert.deepEqual(await dangling(), []);
      });
    });

    for (const [name, write] of [
      ["a booking", booking],
      ["an insert", (_: string, id: string) => byHand("order_id", id)],
    ] as const) {
      it(`${name} that comes first`, async () => {
        const order = await newOrder();
        const { done, error } = await oneAfterTheOther(
          write("order", order),
          `delete from erp.sales_order where id = '${order}'`,
        );
        assert.equal(error, undefined);
        const left = await rows(
          "select destination_order_id as place from ledger.stock_movement where id = $1",
          [done.id],
        );
        assert.deepEqual(left, [{ place: null }]);
        assert.deepEqual(await dangling(), []);
      });

      it(`${name} that comes second`, async () => {
        const order = await newOrder();
        const { error } = await oneAfterTheOther(
          `delete from erp.sales_order where id = '${order}'`,
          write("order", order),
        );
        assert.match(error!.code!, /^(40001|23503)$/);
        assert.deepEqual(await dangling(), []);
      });
    }
  });
});

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import fc from "fast-check";
import { queryRows, useDatabase } from "../lib/database.ts";
import { assertProof } from "../lib/proof.ts";
import { seed } from "../lib/seed.ts";
import { folded, state, writeByHand } from "./written-by-hand.ts";

// A shipment and a receipt write each row once, with all that changes of it; for the same by hand, table after
// table, triggers do it. Random ones are done in both ways, and must leave the same rows and tell the same.

describe("shipments and receipts, directly and by triggers", () => {
  const used = useDatabase("template_demo");
  const rows = queryRows(() => used.client);
  let products: string[];
  let batches: string[];
  /** Warehouses with a location, and a bin of the first one. */
  let warehouses: { id: string; location: string }[];
  let bin: string;
  let supplier: string;

  before(async () => {
    await rows(
      "select set_config('service.scopes', $1, false), set_config('service.request_id', 'both ways', false)",
      ["orders:write goods_receipts:write supplier_orders:write"],
    );
    await rows("update erp.number_range set pattern = '#{n}'");
    const kept =
      "from erp.product p where is_batch_managed = $1 and not exists (select from erp.product v where v.parent_id = p.id)";
    products = (await rows(`select id ${kept} order by id limit 3`, [false])).map(({ id }) => id);
    const [lot] = await rows(
      `select id, array(select b.id from erp.batch b where b.product_id = p.id order by id limit 2) as batches
      ${kept} and exists (select from erp.batch b where b.product_id = p.id) order by id limit 1`,
      [true],
    );
    products.push(lot.id);
    batches = lot.batches;
    warehouses = await rows(
      "select w.id, l.id as location from erp.warehouse w join erp.location l on l.warehouse_id = w.id where l.active order by w.is_default desc, w.id limit 2",
    );
    [{ id: bin }] = (await rows(
      "select id from erp.bin_location where warehouse_id = $1 order by id limit 1",
      [warehouses[0]!.id],
    )) as [{ id: string }];
    [{ id: supplier }] = (await rows("select id from erp.supplier where active order by id limit 1")) as [
      { id: string },
    ];
    for (const [nth, product] of products.entries())
      for (const [type, place] of [
        ["warehouse", warehouses[0]!.id],
        ["warehouse", warehouses[1]!.id],
        ["bin_location", bin],
      ])
        await rows(
          `select ledger.post(array[row ('{x}', $1, 40, $2, 'special_stock_location', 'unknown', $3, $4, 'api_relocation')::ledger.draft], null)`,
          [product, nth === 3 ? batches[nth % batches.length] : null, type, place],
        );
  });

  const run = async (operation: string, input: object) => {
    const [row] = await rows("select mutation.run('api_unstable', $1, $2, null, false) as answer", [
      operation,
      input,
    ]);
    return row.answer as { payload: any; userErrors: { code: string }[] };
  };
  const done = async (operation: string, input: object) => {
    const { payload, userErrors } = await run(operation, input);
    assert.deepEqual(userErrors, [], operation);
    return payload;
  };

  /** Does something from the present state on; answers what it leaves behind and tells, and undoes it unless it is to stay. */
  const resultOf = async (work: () => Promise<unknown>, stays = false) => {
    const [from] = await rows(
      `select coalesce((select max(id::text) from ledger.stock_movement), '00000000-0000-0000-0000-000000000000') as movement,
         coalesce((select max(position) from events.outbox), 0) as position`,
    );
    await rows("savepoint before");
    await work();
    await rows("set constraints all immediate");
    await rows("set constraints all deferred");
    const [row] = await rows(state, [products, from.movement]);
    const events = await rows(
      "select topic, subject_id as subject, changed_fields as fields, data from events.outbox where position > $1 order by position",
      [from.position],
    );
    // What stays has to be equal to what has been proved
    if (!stays) {
      await assertProof(used.client);
      await rows("rollback to before");
    }
    return { left: row.state, events };
  };

  /** @returns whether it was done, and not refused */
  const bothWays = async (operation: string, input: object): Promise<boolean> => {
    let errors: unknown[] = [];
    const directly = await resultOf(async () => ({ userErrors: errors } = await run(operation, input)));
    if (errors.length > 0) return false;
    const byTriggers = await resultOf(() => writeByHand(rows, directly.left), true);
    assert.deepEqual(byTriggers.left, directly.left);
    const [told, byOthers] = [folded(directly.events), folded(byTriggers.events)];
    assert.equal(told.isRepeated, false, "something is told twice");
    const data = ({ news }: typeof told) => [...news].map(([thing, { data }]) => [thing, data]);
    assert.deepEqual(data(byOthers), data(told));
    // Triggers may tell of a field that has changed, and then that it has changed back. By hand a fulfillment order is closed
    // by itself, and what is partially fulfilled changes before.
    for (const [thing, { fields, topic }] of told.news)
      if (topic !== "fulfillment_order.closed")
        assert.deepEqual(new Set(fields).difference(new Set(byOthers.news.get(thing)!.fields)), new Set());
    return true;
  };

  type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;
  const order = fc.record({
    lines: fc.array(fc.record({ product: fc.nat(3), quantity: fc.integer({ min: 1, max: 5 }) }), {
      minLength: 1,
      maxLength: 4,
    }),
    /** By fulfillment order: units of each line, as far as they are open. */
    assigned: fc.array(fc.array(fc.nat(5), { minLength: 4, maxLength: 4 }), { maxLength: 2 }),
    /** Units of the lines of the first fulfillment order to be shipped first. */
    part: fc.option(fc.array(fc.nat(3), { minLength: 4, maxLength: 4 })),
    codes: fc.boolean(),
  });

  /** Makes an order, and answers it and the lines of its fulfillment orders. */
  const makeOrder = async ({ lines, assigned }: ValueOf<typeof order>, nth: number) => {
    const [{ id }] = (await rows(
      `insert into erp.sales_order (order_number, currency_id, state, delivery_state)
       select $1, id, 'in_progress', 'open' from erp.currency where is_default_currency returning id`,
      [`#${nth}`],
    )) as [{ id: string }];
    const made: string[] = [];
    for (const { product, quantity } of lines)
      made.push(
        (
          await rows(
            `insert into erp.sales_order_line_item (order_id, product_id, identifier, label, quantity) values ($1, $2, '#', '', $3) returning id`,
            [id, products[product], quantity],
          )
        )[0].id,
      );
    const open = lines.map(({ quantity }) => quantity);
    const fulfillmentOrders: { id: string; lines: { id: string; quantity: number }[] }[] = [];
    for (const [k, units] of assigned.entries()) {
      const [source] = await rows(
        `insert into erp.fulfillment_order (number, destination_order_id, source_warehouse_location_id) values ($1, $2, $3) returning id`,
        [`#${nth}-${k}`, id, warehouses[k % 2]!.location],
      );
      const own = [];
      for (const [line, item] of made.entries()) {
        const quantity = Math.min(units[line]!, open[line]!);
        if (quantity === 0) continue;
        open[line]! -= quantity;
        const [row] = await rows(
          `insert into erp.fulfillment_order_line_item (fulfillment_order_id, destination_order_line_item_id, product_id, quantity)
           values ($1, $2, $3, $4) returning id`,
          [source.id, item, products[lines[line]!.product], quantity],
        );
        own.push({ id: row.id, quantity });
      }
      fulfillmentOrders.push({ id: source.id, lines: own });
    }
    return { id, fulfillmentOrders };
  };

  it(`shipments, seed ${seed}`, async () => {
    let shipped = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(order, { minLength: 1, maxLength: 2 }), async (orders) => {
        await rows("begin");
        try {
          for (const [nth, each] of orders.entries()) {
            const { id, fulfillmentOrders } = await makeOrder(each, nth);
            const [first] = fulfillmentOrders;
            const lines = first?.lines.flatMap((line, index) => {
              const quantity = Math.min(each.part?.[index] ?? 0, line.quantity);
              return quantity > 0 ? [{ fulfillment_order_line_item_id: line.id, quantity }] : [];
            });
            if (
              lines?.length &&
              (await bothWays("fulfillment_create", { fulfillment_order_id: first!.id, lines }))
            )
              shipped++;
            const tracking_codes = each.codes ? [`T-${nth}`] : null;
            if (await bothWays("order_shipment_complete", { order_id: id, tracking_codes })) shipped++;
          }
        } finally {
          await rows("rollback");
        }
      }),
      { seed, numRuns: Number(process.env.BOOKINGS ?? 6), endOnFailure: true },
    );
    assert.ok(shipped >= 5, `${shipped} were shipped`);
  });

  const receipt = fc.array(
    fc.record({
      /** Of which ordered line, and of how many of it; or of which order, or of none. */
      line: fc.nat(5),
      quantity: fc.integer({ min: -2, max: 7 }).filter((quantity) => quantity !== 0),
      names: fc.constantFrom("line", "order", "nothing"),
      disposed: fc.nat(1),
    }),
    { minLength: 1, maxLength: 6 },
  );

  it(`receipts, seed ${seed}`, async () => {
    let received = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(receipt, { minLength: 1, maxLength: 3 }), async (receipts) => {
        await rows("begin");
        try {
          const ordered: { id: string; order: string; product: string }[] = [];
          for (const own of [products.slice(0, 3), products.slice(1, 4)]) {
            const line_items = own.map((product_id) => ({ product_id, quantity: 4, unit_price: 2 }));
            const { supplier_order: id } = await done("supplier_order_create", {
              supplier_id: supplier,
              line_items,
            });
            await done("supplier_order_confirm", { id });
            ordered.push(
              ...(await rows(
                `select id, supplier_order_id as order, product_id as product from erp.supplier_order_line_item where supplier_order_id = $1 order by id`,
                [id],
              )),
            );
          }
          for (const lines of receipts) {
            const line_items = lines.map(({ line, quantity, names, disposed }) => {
              const { id, order, product } = ordered[line]!;
              return {
                product_id: product,
                quantity,
                unit_price: 2,
                ...(product === products[3] && { batch_id: batches[0] }),
                ...(names === "line" && { supplier_order_line_item_id: id }),
                ...(names === "order" && { supplier_order_id: order }),
                planned_disposal_quantity: Math.min(disposed, Math.max(quantity, 0)),
              };
            });
            const { payload, userErrors } = await run("goods_receipt_create", {
              warehouse_id: warehouses[0]!.id,
              line_items,
            });
            if (userErrors.length > 0) continue;
            await done("goods_receipt_approve", { id: payload.goods_receipt });
            if (await bothWays("goods_receipt_complete", { id: payload.goods_receipt })) received++;
          }
        } finally {
          await rows("rollback");
        }
      }),
      { seed, numRuns: Number(process.env.BOOKINGS ?? 6), endOnFailure: true },
    );
    assert.ok(received >= 5, `${received} were received`);
  });

  it("reserve again what is left of an order that a transition of one's own takes back into progress", async () => {
    await rows("begin");
    try {
      const [line] = await rows(
        `select l.id, l.order_id, l.product_id from erp.sales_order_line_item l join erp.sales_order o on o.id = l.order_id
         where o.state = 'completed' and l.product_id = any ($1) order by l.id limit 1`,
        [products],
      );
      const reserved = async () =>
        (await rows("select reserved_stock from erp.product where id = $1", [line.product_id]))[0]
          .reserved_stock;
      await rows("insert into erp.state_transition values ('order', 'process', 'completed', 'in_progress')");
      await rows("update erp.sales_order_line_item set quantity = quantity + 2 where id = $1", [line.id]);
      await rows("update erp.sales_order set delivery_state = 'open' where id = $1", [line.order_id]);
      const before = await reserved();
      await rows("select erp.settle_order($1)", [line.order_id]);
      assert.equal(await reserved(), before + 2);
      assert.deepEqual(await rows("select * from ledger.proof limit 5"), []);
    } finally {
      await rows("rollback");
    }
  });
});

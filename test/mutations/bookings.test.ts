import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import pg from "pg";
import { moveClock } from "../lib/clock.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";
import type { MutateOptions, Shop } from "../lib/shop.ts";
import { until } from "../lib/until.ts";

// Who booked: one row for each call that moves stock, which its movements name.

let shop: Shop;
let credential: string;
let token: string;
before(async () => {
  shop = await openShop({ poolSize: 8 });
  const credentials = await shop.credential({ name: "Terminal 7", read: "all", write: "all" });
  token = await shop.tokenFor(credentials);
  const { rows } = await shop.owner.query("select id from auth.credential where name = 'Terminal 7'");
  credential = rows[0].id;
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const fields = "id bookedAt credentialId credentialName administratorName requestId reference reason note";
const select = `stockMovements { id quantity bookingId booking { ${fields} } } stocks { quantity }`;
const change = (name: string, input: object, options: MutateOptions = {}) =>
  shop.mutate(name, input, { token, select, ...options });
const adjust = (product: string, delta: number, more: object = {}, options?: MutateOptions) =>
  change("stockAdjust", { lines: [shop.line(product, "A-1", { delta })], ...more }, options);
const count = (product: string, quantity: number, more: object = {}) =>
  change("stockSet", { lines: [shop.line(product, "A-1", { quantity })], ...more });
const read = async (query: string, variables: object = {}) => {
  const { body, text } = await shop.ask(token, { query, variables });
  assert.equal(body.errors, undefined, text);
  return body.data;
};
const bookings = async (filter: object) => {
  const query = `query ($filter: StockBookingFilterInput) { stockBookings(filter: $filter, first: 50) { edges { node {
    id reference reason stockMovements { edges { node { id } } } } } } }`;
  return (await read(query, { filter })).stockBookings.edges.map(({ node }: any) => node);
};
const countBookings = async () => {
  const { rows } = await shop.owner.query("select count(*)::integer as n from ledger.booking");
  return rows[0].n as number;
};
/** Has a process require reasons until the work is done. */
const requiring = async (process: string, work: () => Promise<unknown>) => {
  const set = "update ledger.process_type set requires_reason = $1 where technical_name = $2";
  await shop.owner.query(set, [true, process]);
  try {
    await work();
  } finally {
    await shop.owner.query(set, [false, process]);
  }
};

describe("a booking", () => {
  it("says who made the call, by which request, and what for; all movements of the call name it", async () => {
    const answer = await change(
      "stockAdjust",
      {
        lines: [
          shop.line("hammer", "A-1", { delta: 20 }),
          shop.line("nail", "A-1", { delta: 300 }),
          shop.line("glue", "hall", { delta: 5, batchId: shop.id.G1 }),
        ],
        comment: "Behind the shelf",
        reference: "ST-1",
        reason: "found",
      },
      { headers: { "x-request-id": "bookings-1" } },
    );
    const [{ booking }] = answer.stockMovements;
    const { id, bookedAt, ...rest } = booking;
    assert.deepEqual(rest, {
      credentialId: `gid://service/Credential/${credential}`,
      credentialName: "Terminal 7",
      administratorName: null,
      requestId: "bookings-1",
      reference: "ST-1",
      reason: "found",
      note: "Behind the shelf",
    });
    assert.ok(Math.abs(Date.parse(bookedAt) - Date.now()) < 60_000, bookedAt);
    assert.deepEqual(
      answer.stockMovements.map((movement: any) => movement.bookingId),
      [id, id, id],
    );
    const [found, ...others] = await bookings({ reference: { equals: "ST-1" } });
    assert.deepEqual([found.id, others], [id, []]);
    assert.deepEqual(
      found.stockMovements.edges.map(({ node }: any) => node.id),
      answer.stockMovements.map((movement: any) => movement.id),
    );
  });

  it("is one for each kind of call that moves stock", async () => {
    const counted = await count("hammer", 18, { reason: "counting_error" });
    const moved = await change("stockTransfer", {
      lines: [shop.move("hammer", "A-1", "A-2", { quantity: 3 })],
      reference: "R 1",
      reason: "replenishment",
    });
    for (const [answer, reason] of [
      [counted, "counting_error"],
      [moved, "replenishment"],
    ] as const)
      assert.deepEqual(
        answer.stockMovements.map(({ booking }: any) => booking.reason),
        [reason],
      );
    assert.notEqual(counted.stockMovements[0].bookingId, moved.stockMovements[0].bookingId);
    const before = await countBookings();
    assert.deepEqual((await count("hammer", 15, { reference: "same" })).stockMovements, []);
    assert.equal(await countBookings(), before, "A count that changes nothing is no booking");
    const trial = { select: "userErrors { code }" };
    await shop.mutate(
      "stockAdjust",
      { lines: [shop.line("hammer", "A-1", { delta: 1 })], validateOnly: true },
      trial,
    );
    assert.equal(await countBookings(), before, "A trial is no booking");
  });

  it("of a goods receipt and of its deletion names the caller", async () => {
    const made = await shop.mutate(
      "goodsReceiptCreate",
      { warehouseId: shop.id.hall, type: "Free", lineItems: [{ productId: shop.id.nail, quantity: 7 }] },
      { token, select: "goodsReceipt { id }" },
    );
    assert.deepEqual(made.userErrors, []);
    const before = await countBookings();
    const { id } = made.goodsReceipt;
    assert.deepEqual((await shop.mutate("goodsReceiptApprove", { id }, { token })).userErrors, []);
    assert.deepEqual((await shop.mutate("goodsReceiptDelete", { id }, { token })).userErrors, []);
    assert.equal(await countBookings(), before + 2);
    const { rows } = await shop.owner.query(
      "select credential_id, reference, reason from ledger.booking order by id desc limit 2",
    );
    const expected = { credential_id: credential, reference: null, reason: null };
    assert.deepEqual(rows, [expected, expected]);
  });

  it("is the same in the answer to a repetition", async () => {
    const input = { idempotencyKey: "bookings twice", reference: "twice" };
    const [first, second] = [await adjust("nail", 2, input), await adjust("nail", 2, input)];
    assert.deepEqual(second.stockMovements, first.stockMovements);
    assert.equal((await bookings({ reference: { equals: "twice" } })).length, 1);
  });

  it("of each call in a group commit has its own reference, reason and request", async () => {
    const { rows } = await shop.owner.query(
      `insert into erp.product (product_number) select 'part ' || n from generate_series(0, 14) n
       returning product_number as name, 'gid://service/Product/' || id as id`,
    );
    for (const { name, id } of rows) shop.id[name] = id;
    const names = rows.map(({ name }) => name);
    await change("stockAdjust", { lines: names.map((name) => shop.line(name, "A-1", { delta: 50 })) });
    const crowd = new pg.Client({ connectionString: shop.adminUrl });
    await crowd.connect();
    await crowd.query("begin; select from erp.product where product_number = 'hammer' for update");
    // Three that wait, so that the others go together
    const held = [1, 2, 3].map(() => adjust("hammer", -1_000_000));
    await until(async () => {
      const { rowCount } = await crowd.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rowCount! > 0;
    });
    let answers: any[];
    try {
      answers = await Promise.all(
        names.map((name, n) =>
          adjust(
            name,
            -1,
            { reference: `group ${n}`, ...(n % 2 ? { reason: "sample" } : {}) },
            { headers: { "x-request-id": `group-${n}` } },
          ),
        ),
      );
    } finally {
      await crowd.end();
    }
    await Promise.all(held);
    assert.deepEqual(
      answers.map(({ stockMovements: [{ booking }] }) => [
        booking.reference,
        booking.reason,
        booking.requestId,
      ]),
      names.map((_, n) => [`group ${n}`, n % 2 ? "sample" : null, `group-${n}`]),
    );
    const ids = answers.map(({ stockMovements: [movement] }) => movement.bookingId);
    assert.equal(new Set(ids).size, names.length);
    const { rows: groups } = await shop.owner.query(
      `select count(distinct m.transaction_id)::integer as n from ledger.booking b
       join ledger.stock_movement m on m.booking_id = b.id where b.reference ^@ 'group '`,
    );
    assert.ok(groups[0].n < names.length, "No call was in a group commit");
  });
});

describe("reasons and references", () => {
  it("are listed, and filter bookings", async () => {
    const { stockBookingReasons } = await read(
      "{ stockBookingReasons(first: 50, filter: { isActive: { equals: true } }) { edges { node { code description } } } }",
    );
    const codes = stockBookingReasons.edges.map(({ node }: any) => node.code);
    for (const code of ["damaged", "expired", "theft", "counting_error", "internal_use", "found", "sample"])
      assert.ok(codes.includes(code), code);
    await adjust("nail", -3, { reason: "theft", reference: "F-100" });
    assert.deepEqual(
      (await bookings({ reason: { equals: "theft" } })).map(({ reference }: any) => reference),
      ["F-100"],
    );
    const [only, ...rest] = await bookings({ reference: { startsWith: "F-1" } });
    assert.deepEqual([only.reason, rest], ["theft", []]);
  });

  it("are refused when they are unknown, no longer in use, or too long", async () => {
    await shop.owner.query(
      "insert into ledger.booking_reason (code, description, is_active) values ('flood', 'Water came in.', false)",
    );
    const before = await countBookings();
    const mistakes: [input: object, code: string, field: string][] = [
      [{ reason: "none" }, "NOT_FOUND", "reason"],
      [{ reason: "" }, "NOT_FOUND", "reason"],
      [{ reason: "flood" }, "INVALID", "reason"],
      [{ reference: "r".repeat(256) }, "OUT_OF_RANGE", "reference"],
    ];
    const transfer = { lines: [shop.move("nail", "A-1", "A-2", { quantity: 1 })] };
    for (const [input, code, field] of mistakes) {
      assert.deepEqual(refusals(await adjust("nail", 1, input)), [[code, field]], JSON.stringify(input));
      assert.deepEqual(refusals(await count("nail", 1, input)), [[code, field]]);
      assert.deepEqual(refusals(await change("stockTransfer", { ...transfer, ...input })), [[code, field]]);
    }
    assert.equal(await countBookings(), before);
    assert.deepEqual((await adjust("nail", 1, { reference: "r".repeat(255) })).userErrors, []);
  });

  it("are required where the merchant says so, and nowhere else", async () => {
    await requiring("api_outgoing", async () => {
      assert.deepEqual(refusals(await adjust("nail", -1)), [["REQUIRED", "reason"]]);
      assert.deepEqual(refusals(await adjust("nail", -1, { reason: null })), [["REQUIRED", "reason"]]);
      const both = [shop.line("nail", "A-1", { delta: 1 }), shop.line("nail", "A-1", { delta: -1 })];
      assert.deepEqual(refusals(await change("stockAdjust", { lines: both })), [["REQUIRED", "reason"]]);
      assert.deepEqual(refusals(await adjust("nail", -1, { reason: "damaged" })), []);
      assert.deepEqual(refusals(await adjust("nail", 1)), []);
      assert.deepEqual(refusals(await count("nail", 100)), []);
    });
    await requiring("api", async () => {
      assert.deepEqual(refusals(await count("nail", 90)), [["REQUIRED", "reason"]]);
      assert.deepEqual(refusals(await count("nail", 100)), [], "Nothing is booked");
      assert.deepEqual(refusals(await count("nail", 90, { reason: "lost" })), []);
    });
    assert.deepEqual(refusals(await adjust("nail", -1)), []);
  });

  it("can't be required of calls that take none", async () => {
    for (const process of ["api_shipping", "supplier_order"])
      await assert.rejects(
        requiring(process, () => Promise.resolve()),
        /process_type_can_require_a_reason/,
      );
  });
});

describe("bookings", () => {
  it("keep the names of credentials that were renamed and deleted", async () => {
    const other = await shop.tokenFor(await shop.credential({ name: "Guest", read: "all", write: "all" }));
    await adjust("nail", 1, { reference: "guest" }, { token: other });
    await shop.owner.query("update auth.credential set name = 'Visitor' where name = 'Guest'");
    await shop.owner.query("select auth.delete_credential(id) from auth.credential where name = 'Visitor'");
    const [{ id }] = await bookings({ reference: { equals: "guest" } });
    const { stockBooking } = await read("query ($id: ID!) { stockBooking(id: $id) { credentialName } }", {
      id,
    });
    assert.equal(stockBooking.credentialName, "Visitor");
  });

  it("name an administrator whose session books", async () => {
    const client = await shop.owner.connect();
    try {
      await client.query("begin");
      await client.query(
        `insert into auth.administrator_session (administrator_id, token_hash)
         select auth.create_administrator('h.meyer', '$argon2id$x'), sha256('a token')`,
      );
      await client.query(
        `select set_config('service.session', encode(sha256('a token'), 'hex'), true), ledger.adjust_stock(array[
           row (p.id, w.id, null, null, null, 4, null, null, null, null, null)::ledger.line], null, 'by hand', 'found')
         from erp.product p, erp.warehouse w where p.product_number = 'nail' and w.code = 'hall'`,
      );
      await client.query("commit");
    } finally {
      client.release();
    }
    const query = `{ stockBookings(filter: { reference: { equals: "by hand" } }) { edges { node {
      administratorId administratorName credentialId credentialName } } } }`;
    const [{ node }] = (await read(query)).stockBookings.edges;
    assert.match(node.administratorId, /^gid:\/\/service\/Administrator\//);
    assert.deepEqual(
      [node.administratorName, node.credentialId, node.credentialName],
      ["h.meyer", null, null],
    );
  });

  it("stay when a product is deleted with its movements; movements in SQL have none", async () => {
    const { rows } = await shop.owner.query(
      "insert into erp.product (product_number) values ('gone') returning 'gid://service/Product/' || id as id",
    );
    shop.id.gone = rows[0].id;
    const lines = ["gone", "nail"].map((product) => shop.line(product, "A-1", { delta: 6 }));
    await change("stockAdjust", { lines, reference: "two" });
    await shop.owner.query("delete from erp.product where product_number = 'gone'");
    const [{ stockMovements }] = await bookings({ reference: { equals: "two" } });
    assert.equal(stockMovements.edges.length, 1);
    await shop.owner.query("delete from erp.product where product_number = 'part 0'");
    assert.deepEqual((await bookings({ reference: { equals: "group 0" } }))[0].stockMovements.edges, []);
    const insert = (columns: string, values: string) =>
      shop.owner.query(
        `insert into ledger.stock_movement (product_id, quantity, source_location_type_technical_name,
           source_special_stock_location_technical_name, destination_location_type_technical_name,
           destination_warehouse_id${columns})
         select p.id, 1, 'special_stock_location', 'unknown', 'warehouse', w.id${values}
         from erp.product p, erp.warehouse w where p.product_number = 'nail' and w.code = 'hall' returning booking_id`,
      );
    assert.deepEqual((await insert("", "")).rows, [{ booking_id: null }]);
    await assert.rejects(
      insert(", booking_id", ", (select id from ledger.booking limit 1)"),
      /stock_movement_booking_is_given|Only calls of the API/,
    );
  });

  it("are booked at the moment of the clock, which only the owner can move", async (t) => {
    t.after(() => moveClock(shop.owner, "0"));
    await adjust("nail", 5);
    await moveClock(shop.owner, "-40 days");
    const fortyDaysAgo = Date.now() - 40 * 86_400_000;
    const close = (moment: string) => assert.ok(Math.abs(Date.parse(moment) - fortyDaysAgo) < 60_000, moment);
    const moments = "stockMovements { createdAt booking { bookedAt } }";
    for (const answer of [
      await adjust("nail", 5, {}, { select: moments }),
      await change("stockSet", { lines: [shop.line("nail", "A-2", { quantity: 4 })] }, { select: moments }),
      await change(
        "stockAdjust",
        { lines: ["nail", "hammer"].map((name) => shop.line(name, "A-1", { delta: 1 })) },
        { select: moments },
      ),
    ]) {
      close(answer.stockMovements[0].createdAt);
      close(answer.stockMovements[0].booking.bookedAt);
    }
    const tooLate = {
      lines: [shop.line("nail", "A-2", { quantity: 4, countedAt: await shop.ago("1 day") })],
    };
    assert.deepEqual(refusals(await change("stockSet", tooLate)), [["OUT_OF_RANGE", "lines.0.countedAt"]]);
    const { rows } = await shop.owner.query(
      "select quantity from ledger.stock_count where counted_at < now() - interval '39 days'",
    );
    assert.deepEqual(rows, [{ quantity: 4 }]);
  });
});

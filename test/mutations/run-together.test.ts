import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import pg from "pg";
import { queryRows, useDatabase } from "../lib/database.ts";

// Calls that are run together by one statement. That they do the same as one after the other is shown in
// test/db/bookings-both-ways.test.ts; here is what makes a call wait for nobody, and what is left to mutation.run.

const credential = "018fd2d0-081f-73dc-8edd-7c7360cdaaf2";

describe("calls that are run together", () => {
  const used = useDatabase("template_demo", "login");
  const rows = queryRows(() => used.client);
  let places: { product: string; bin: string }[];
  let outside: { product: string; warehouse: string };

  before(async () => {
    const admin = new pg.Client({ connectionString: used.database.adminUrl });
    await admin.connect();
    ({ rows: places } = await admin.query(
      `select distinct on (s.product_id) s.product_id as product, s.bin_location_id as bin
       from ledger.stock s join erp.product p on p.id = s.product_id
       where s.bin_location_id is not null and s.quantity > 0 and not p.is_batch_managed
         and exists (select from ledger.stock x where x.product_id = p.id and x.place = 'stock_correction')
         and not exists (select from erp.product v where v.parent_id = p.id)
         and not exists (select from erp.pick_list_line l where l.product_id = p.id and l.state = 'open')
       order by s.product_id, s.id limit 4`,
    ));
    const found = await admin.query(
      `select s.product_id as product, s.warehouse_id as warehouse
       from ledger.stock s join erp.product p on p.id = s.product_id
       where s.warehouse_id is not null and s.quantity > 0 and not p.is_batch_managed
         and not exists (select from erp.product v where v.parent_id = p.id)
       order by s.product_id, s.id limit 1`,
    );
    outside = found.rows[0];
    await admin.end();
    await rows("set role service_api");
  });

  const adjust = (nth: number, delta: unknown, others: object = {}) => ({
    version: "api_unstable",
    operation: "stock_adjust",
    input: {
      lines: [{ product_id: places[nth]!.product, place: { bin_location_id: places[nth]!.bin }, delta }],
    },
    key: null as string | null,
    credential_id: credential,
    request_id: "together",
    scopes: "stocks:write",
    ...others,
  });
  type Call = ReturnType<typeof adjust>;
  const withLine = (nth: number, operation: string, line: object): Call =>
    adjust(nth, 0, { operation, input: { lines: [{ product_id: places[nth]!.product, ...line }] } });
  const count = (nth: number, quantity: number) =>
    withLine(nth, "stock_set", { place: { bin_location_id: places[nth]!.bin }, quantity });
  const transfer = (nth: number, to: string, quantity: number) => {
    const [source, destination] = [places[nth]!.bin, to].map((bin_location_id) => ({ bin_location_id }));
    return withLine(nth, "stock_transfer", { source, destination, quantity });
  };
  const run = async (...calls: Call[]): Promise<any[]> =>
    (await rows("select mutation.run_together($1) as answers", [JSON.stringify(calls)]))[0].answers;
  const done = (answers: unknown[]) => answers.map((answer) => answer !== null);
  const alone = async ({ version, operation, input, key, scopes }: Call, client: pg.Client) => {
    await client.query(
      "select set_config('service.scopes', $1, false), set_config('service.credential_id', $2, false)",
      [scopes, credential],
    );
    const { rows } = await client.query("select mutation.run($1, $2, $3, $4, false) as answer", [
      version,
      operation,
      input,
      key,
    ]);
    return rows[0].answer;
  };

  it("leave to mutation.run what it may refuse, and later calls of the same product", async () => {
    const answers = await run(
      adjust(0, 1),
      adjust(1, -1_000_000),
      adjust(1, 5),
      adjust(2, 1, { scopes: "stocks:read" }),
      adjust(3, 1, { key: "" }),
      adjust(0, 2),
    );
    assert.deepEqual(done(answers), [true, false, false, false, false, true]);
    assert.deepEqual(answers[0].userErrors, []);
  });

  it("leave other mutations, several lines, and fields that are seldom used to mutation.run", async () => {
    const two = adjust(0, 1);
    two.input.lines.push(two.input.lines[0]!);
    const expecting = adjust(1, 1);
    Object.assign(expecting.input.lines[0]!, { expected_quantity: 3 });
    const answers = await run(
      two,
      expecting,
      adjust(2, 1, { operation: "stock_set" }),
      adjust(2, 1, { operation: "warehouse_create" }),
      adjust(3, 1, { version: "api_1999" }),
    );
    assert.deepEqual(done(answers), [false, false, false, false, false]);
    assert.deepEqual(await run(), []);
  });

  it("count and move, and leave what is refused, and counts of what was changed just before", async () => {
    const [counted, adjusted, first] = await run(count(0, 1_200), adjust(0, -2), count(1, 300));
    assert.deepEqual(
      [counted, adjusted, first].map((answer) => answer.payload.stock_movements.length),
      [1, 1, 1],
    );
    const [again, ...others] = await run(count(0, 1_198), adjust(1, 1), count(1, 500), adjust(1, 1));
    assert.deepEqual([again.payload.stock_movements, again.payload.stocks], [[], counted.payload.stocks]);
    assert.deepEqual(done(others), [true, false, false]);
    assert.deepEqual(
      done(await run(count(0, -1), transfer(1, places[1]!.bin, 1), transfer(2, places[3]!.bin, 1_000_000))),
      [false, false, false],
    );
    await rows("select set_config('service.scopes', 'stocks:read', false)");
    const [stock] = await rows(
      "select quantity from api_unstable.stocks where id = $1",
      counted.payload.stocks,
    );
    assert.equal(stock.quantity, 1_198);
  });

  it("leave places that are named as what they aren't: a warehouse as a bin, a bin as a warehouse", async () => {
    const { product, warehouse } = outside;
    const wrong = (operation: string, line: object) =>
      adjust(0, 0, { operation, input: { lines: [{ product_id: product, ...line }] } });
    const [there, inBin] = [{ warehouse_id: warehouse }, { bin_location_id: warehouse }];
    assert.deepEqual(done(await run(wrong("stock_adjust", { place: there, delta: 1 }))), [true]);
    const calls = [
      wrong("stock_adjust", { place: inBin, delta: 1 }),
      wrong("stock_set", { place: inBin, quantity: 7 }),
      wrong("stock_transfer", { source: there, destination: inBin, quantity: 1 }),
      wrong("stock_transfer", { source: inBin, destination: there, quantity: 1 }),
      withLine(1, "stock_adjust", { place: { warehouse_id: places[1]!.bin }, delta: 1 }),
    ];
    for (const call of calls) {
      assert.deepEqual(await run(call), [null]);
      assert.equal((await alone(call, used.client)).userErrors[0].code, "NOT_FOUND");
    }
  });

  it("answer a repetition again, and leave a key that stands for something else", async () => {
    const [first] = await run(adjust(0, 1, { key: "again" }));
    const [repeated, other] = await run(adjust(0, 1, { key: "again" }), adjust(1, 1, { key: "again" }));
    assert.deepEqual(repeated.payload.stock_movements, first.payload.stock_movements);
    assert.equal(other, null);
    assert.deepEqual(
      (await alone(adjust(0, 1, { key: "again" }), used.client)).payload.stock_movements,
      first.payload.stock_movements,
    );
    const answer = await alone(adjust(1, 1, { key: "again" }), used.client);
    assert.equal(answer.userErrors[0].code, "IDEMPOTENCY_KEY_MISMATCH");
  });

  it("repeat what was run alone", async () => {
    const call = adjust(0, 3, { key: "alone first" });
    const first = await alone(call, used.client);
    const [repeated] = await run(call);
    assert.deepEqual(repeated.payload.stock_movements, first.payload.stock_movements);
  });

  it("wait for no key that another transaction is taking", async () => {
    const other = new pg.Client({ connectionString: used.database.loginUrl });
    await other.connect();
    await other.query("set role service_api");
    try {
      await other.query("begin");
      await alone(adjust(0, 1, { key: "taken" }), other);
      // A statement that waited would end with an error
      await rows("set statement_timeout = '5s'");
      assert.deepEqual(done(await run(adjust(1, 1, { key: "taken" }), adjust(2, 1))), [false, true]);
      await other.query("rollback");
      assert.deepEqual(done(await run(adjust(1, 1, { key: "taken" }))), [true]);
    } finally {
      await rows("reset statement_timeout");
      await other.end();
    }
  });

  it("book all or nothing when the statement fails", async () => {
    const before = await run(adjust(0, 1));
    await assert.rejects(run(adjust(0, 1), adjust(1, "not a number")), { code: "22P02" });
    await rows("select set_config('service.scopes', 'stocks:read', false)");
    const since = await rows("select id from api_unstable.stock_movements where id >= $1", [
      before[0].payload.stock_movements[0],
    ]);
    assert.equal(since.length, 1);
  });
});

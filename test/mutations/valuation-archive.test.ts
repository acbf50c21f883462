import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sequence } from "../events/support.ts";
import { missingId, uuidOf } from "../lib/ids.ts";
import { refusals } from "../lib/shop.ts";
import { until } from "../lib/until.ts";
import type { ValuationShop } from "../lib/valuation-shop.ts";
import { openValuationShop } from "../lib/valuation-shop.ts";

/** What the proof of values finds. */
const proof = (shop: ValuationShop) => shop.sql("select * from valuation.proof");

describe("what a closed report counts", () => {
  let shop: ValuationShop;
  let sold: { order: string };
  let receipt: string;
  let report: any;
  before(async () => {
    shop = await openValuationShop();
    receipt = await shop.buy("hammer", 10, 2);
    await shop.buy("nail", 4, 1, { warehouseId: shop.id.shed });
    sold = await shop.sell("hammer", 10);
    await shop.passDays(5);
    report = await shop.report(2);
    const out = shop.line("nail", "shed", { delta: -4 });
    assert.deepEqual((await shop.mutate("stockAdjust", { lines: [out] })).userErrors, []);
  });
  after(() => shop.close());

  it("can't be deleted by the API", async () => {
    assert.equal(await shop.stockAt("nail", "shed"), 0);
    const { deletedWarehouseId, userErrors } = await shop.mutate(
      "warehouseDelete",
      { id: shop.id.shed },
      { select: "deletedWarehouseId" },
    );
    assert.deepEqual([deletedWarehouseId, refusals({ userErrors })], [null, [["REFERENCE_IN_USE", "id"]]]);
    const other = await shop.mutate("warehouseDelete", { id: shop.id.returns });
    assert.deepEqual(other.userErrors, [], "the report doesn't count this one");
  });

  it("can't be deleted in SQL: products, warehouses, orders and receipts", async () => {
    const deletions: [table: string, id: string][] = [
      ["erp.product", shop.id.hammer!],
      ["erp.warehouse", shop.id.shed!],
      ["erp.sales_order", sold.order],
      ["erp.goods_receipt", receipt],
    ];
    for (const [table, id] of deletions)
      await assert.rejects(
        () => shop.sql(`delete from ${table} where id = $1`, id),
        /report 1 counts it/,
        table,
      );
    await shop.sql("delete from erp.product where id = $1", shop.id.glue!);
  });

  it("can be deleted when nothing binds it: the report is void, or older than ten years", async () => {
    const client = await shop.owner.connect();
    const remove = "delete from erp.product where product_number = 'hammer'";
    try {
      await client.query("begin");
      await client.query("update valuation.report set voided_at = now(), void_reason = 'Test'");
      assert.equal((await client.query(remove)).rowCount, 1);
      await client.query("rollback; begin; alter table valuation.report disable trigger user");
      await client.query("update valuation.report set reference_date = reference_date - interval '11 years'");
      await client.query("alter table valuation.report enable trigger user");
      assert.equal((await client.query(remove)).rowCount, 1);
      assert.equal((await client.query("delete from valuation.report")).rowCount, 1);
      const parts = await client.query("select from valuation.report_product");
      assert.equal(parts.rowCount, 0);
    } finally {
      await client.query("rollback");
      client.release();
    }
  });

  it("keeps the report as it is, for every role", async () => {
    for (const change of [
      "update valuation.report set value = 1",
      "update valuation.report set closed_at = null",
      "delete from valuation.report",
      "update valuation.report_product set value = 1",
      "update valuation.report_warehouse set amount = 1",
      "delete from valuation.report_cost",
      "delete from valuation.report_outside",
      `insert into valuation.report_product (report_id, product_id, product_number, quantity, value, landed_expense, variance)
       select id, uuidv7(), 'x', 1, 1, 0, 0 from valuation.report`,
    ])
      await assert.rejects(() => shop.sql(change), /closed|must be kept/, change);
  });

  it("stands in the report by number and code, whatever they are called later", async () => {
    await shop.sql("update erp.product set product_number = 'mallet' where product_number = 'hammer'");
    await shop.sql("update erp.warehouse set code = 'barn' where code = 'shed'");
    const { stockValuationReport: now } = await shop.read(
      `query ($id: ID!) { stockValuationReport(id: $id) { hash lines { edges { node { productNumber warehouseCode warehouse { code } } } } } }`,
      { id: report.id },
    );
    assert.deepEqual(
      now.lines.edges.map(({ node }: any) => node),
      [{ productNumber: "nail", warehouseCode: "shed", warehouse: { code: "barn" } }],
    );
    assert.equal(now.hash, report.hash);
    assert.deepEqual(await proof(shop), []);
  });

  it("is proven: a row that was changed behind the triggers is found", async () => {
    const client = await shop.owner.connect();
    const tampered: [change: string, figure: RegExp][] = [
      ["update valuation.report_warehouse set amount = amount + 1", /report\.(lines_hash|value)/],
      ["update valuation.report_product set value = value + 1", /report\.state_hash/],
      ["update valuation.report_cost set value = value + 1", /report\.state_hash/],
      ["update valuation.report_outside set quantity = quantity + 1", /report\.state_hash/],
      ["update valuation.report set value = value + 1", /report\.hash/],
      ["update valuation.report set previous_hash = 'x'", /report\.previous_hash/],
      ["update valuation.report set number = 2", /report\.number/],
      ["update erp.goods_receipt_line_item set unit_price = 3", /report_product\.value/],
      [
        "delete from ledger.movement_sequence using ledger.stock_movement m where m.id = movement_id and m.source_goods_receipt_id is not null",
        /report_product\.quantity/,
      ],
    ];
    try {
      for (const [change, figure] of tampered) {
        const [, table] = /(?:update|from) (\S+)/.exec(change)!;
        await client.query(`begin; alter table ${table} disable trigger user; ${change}`);
        const { rows } = await client.query("select figure from valuation.proof");
        assert.ok(
          rows.some((row) => figure.test(row.figure)),
          `${change}: ${JSON.stringify(rows)}`,
        );
        await client.query("rollback");
      }
    } finally {
      await client.query("rollback");
      client.release();
    }
  });
});

describe("at once", () => {
  let shop: ValuationShop;
  before(async () => {
    shop = await openValuationShop();
    await shop.buy("hammer", 10, 2);
    await shop.passDays(9);
  });
  after(() => shop.close());

  it("one of several closes the report, and the others are refused", async () => {
    const { stockValuationReport: draft } = await shop.draft(5);
    const answers = await Promise.all([1, 2, 3, 4].map(() => shop.closeReport(draft.id)));
    const codes = answers.map(({ userErrors }) => userErrors[0]?.code ?? "done").sort();
    assert.deepEqual(codes, ["PERIOD_CLOSED", "PERIOD_CLOSED", "PERIOD_CLOSED", "done"]);
    const made = await Promise.all([4, 4, 3].map((daysAgo) => shop.draft(daysAgo)));
    assert.deepEqual(
      made.flatMap(({ userErrors }) => userErrors),
      [],
    );
    const rows = await shop.sql("select from valuation.report where closed_at is null");
    assert.equal(rows.length, 1);
  });

  it("bookings go on while a report is closed, and it counts none of them", async () => {
    const { stockValuationReport: draft } = await shop.draft(2);
    const line = shop.line("hammer", "hall", { delta: -1 });
    const answers = await Promise.all([
      ...[1, 2, 3].map(() => shop.mutate("stockAdjust", { lines: [line] })),
      shop.closeReport(draft.id),
    ]);
    assert.deepEqual(
      answers.flatMap(({ userErrors }) => userErrors),
      [],
    );
    assert.equal(answers[3].stockValuationReport.quantity, 10);
    await sequence(shop.owner);
    assert.deepEqual(await proof(shop), []);
  });

  it("a price that is being changed is waited for", async () => {
    const receipt = await shop.buy("nail", 1, 1);
    await shop.passDays(2);
    const { stockValuationReport: draft } = await shop.draft(1);
    const client = await shop.owner.connect();
    try {
      await client.query("begin");
      await client.query(
        "update erp.goods_receipt_line_item set unit_price = 7 where goods_receipt_id = $1",
        [uuidOf(receipt)],
      );
      const closing = shop.closeReport(draft.id);
      await until(async () => {
        const { rows } = await shop.owner.query("select from pg_locks where not granted");
        return rows.length > 0;
      });
      await client.query("commit");
      const { stockValuationReport: closed, userErrors } = await closing;
      assert.deepEqual(userErrors, []);
      const nail = closed.lines.edges.find(({ node }: any) => node.productNumber === "nail").node;
      assert.equal(nail.unitCost, 7);
    } finally {
      client.release();
    }
  });
});

describe("the scope valuation:write", () => {
  let shop: ValuationShop;
  before(async () => (shop = await openValuationShop()));
  after(() => shop.close());
  const id = missingId("StockValuationReport");
  const calls: [name: string, input: object][] = [
    ["stockValuationReportCreate", { referenceDate: "2026-01-01" }],
    ["stockValuationReportClose", { id }],
    ["stockValuationReportVoid", { id, reason: "x" }],
  ];
  for (const [name, input] of calls)
    it(`is needed by ${name}`, async () => {
      const select = "stockValuationReport { number }";
      const others = await shop.token({ read: "all", write: ["stocks", "goods_receipts"] });
      assert.deepEqual((await shop.tryMutate(name, input, { token: others, select })).codes, ["FORBIDDEN"]);
      const own = await shop.token({ read: ["valuation"], write: ["valuation"] });
      assert.deepEqual((await shop.tryMutate(name, input, { token: own, select })).codes, []);
    });
});

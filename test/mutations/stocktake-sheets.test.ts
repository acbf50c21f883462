import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { missingId } from "../lib/ids.ts";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";
import { Stocktakes } from "../lib/stocktakes.ts";

let shop: Shop;
let takes: Stocktakes;
before(async () => {
  shop = await openShop();
  await shop.owner.query(
    `insert into erp.product (product_number, is_batch_managed, has_serial_numbers) values ('drill', true, true);
     insert into erp.product (product_number) values ('boots');
     insert into erp.product (product_number, parent_id) select 'boots 42', id from erp.product where product_number = 'boots';
     insert into erp.batch (product_id, number) select p.id, n.number from erp.product p
       join (values ('S1'), ('S2')) n (number) on p.product_number = 'drill'`,
  );
  const { rows } = await shop.owner.query(
    `select product_number as name, 'Product' as type, id from erp.product where product_number ~ '^(drill|boots)'
     union all select number, 'Batch', id from erp.batch where number ~ '^S'`,
  );
  for (const { name, type, id } of rows) shop.id[name] = `gid://service/${type}/${id}`;
  takes = await Stocktakes.open(shop);
});
after(() => shop.close());
beforeEach(async () => {
  await shop.emptyTables("erp.stocktake");
  await shop.empty();
  await shop.mutate("stockSet", {
    lines: [
      shop.line("hammer", "A-1", { quantity: 10 }),
      shop.line("nail", "A-1", { quantity: 500 }),
      shop.line("hammer", "A-2", { quantity: 4 }),
      shop.line("drill", "A-2", { quantity: 1, batchId: shop.id.S1 }),
    ],
  });
});

/** A stocktake with one sheet. */
async function one(input: object = {}): Promise<{ id: string; sheet: string }> {
  const id = await takes.make(input);
  const [sheet] = await takes.sheets(id);
  return { id, sheet: sheet!.id };
}
const position = async (id: string, product: string, place: string) =>
  (await takes.positions(id)).find((p) => p.product === product && p.place === place)!;
const rest = () => [
  takes.line("A-1", "nail", 500),
  takes.line("A-2", "hammer", 4),
  takes.line("A-2", "drill", 1, { batchId: shop.id.S1 }),
];

describe("sheets are blind", () => {
  it("hide what is expected, differences, and the counts of other credentials", async () => {
    const { id, sheet } = await one();
    await takes.submit(sheet, "Ada", [takes.line("A-1", "hammer", 9)]);
    const hidden = ["lines", "lineValues"].map(
      (list) => `{ stocktakes { edges { node { ${list} { edges { node {
      difference } } } } } } }`,
    );
    for (const query of [
      ...hidden,
      "{ stocktakeLines { edges { node { expectedQuantity } } } }",
      "{ stocktakeLineValues { edges { node { value } } } }",
    ])
      assert.deepEqual((await shop.ask(takes.counter, { query })).codes, ["FORBIDDEN"], query);
    const other = await shop.token({ read: ["products", "warehouses", "batches", "stocktakes"] });
    const counts = async (token: string) => (await takes.sheets(id, token))[0]!.counts.map((c) => c.quantity);
    assert.deepEqual(await counts(takes.counter), [9, null, null, null]);
    assert.deepEqual(await counts(other), [null, null, null, null]);
    assert.deepEqual(await counts(takes.manager), [9, null, null, null]);
  });

  it("show values only with the scope of valuation", async () => {
    await shop.owner.query(
      `insert into erp.product_purchase_price (product_id, currency_id, net, gross)
       select p.id, c.id, 2.5, 2.975 from erp.product p, erp.currency c
       where p.product_number = 'hammer' and c.is_default_currency`,
    );
    const { id, sheet } = await one({ recountValue: 10 });
    await takes.submit(sheet, "Ada", [takes.line("A-1", "hammer", 6), takes.line("A-2", "hammer", 9)]);
    const query = `query ($id: ID!) { stocktake(id: $id) { lineValues { edges { node { difference unitValue value state } } } } }`;
    const withoutValues = await shop.token({
      read: ["products"],
      write: ["stocktake_results", "stocktakes"],
    });
    assert.deepEqual((await shop.ask(withoutValues, { query, variables: { id } })).codes, ["FORBIDDEN"]);
    const { body } = await shop.ask(takes.manager, { query, variables: { id } });
    assert.deepEqual(
      body.data.stocktake.lineValues.edges.map(({ node }: any) => Object.values(node).map(String).join(" ")),
      ["-4 2.5 -10.00 counted", "5 2.5 12.50 beyond_bound"],
    );
  });
});

describe("stocktakeSheetSubmit", () => {
  it("takes counts in parts, and the latest of a position", async () => {
    const { id, sheet } = await one();
    const [early, late] = [await shop.ago("0 seconds"), await shop.ago("0 seconds")];
    const submit = (quantity: number, countedAt: string) =>
      takes.submit(sheet, "Ada", [takes.line("A-1", "hammer", quantity, { countedAt })]);
    assert.deepEqual((await submit(8, late)).stocktakeSheet.openCount, 3);
    const superseded = await submit(7, early);
    assert.deepEqual(superseded.warnings, [{ code: "COUNT_SUPERSEDED", field: ["lines", "0", "countedAt"] }]);
    assert.equal((await position(id, "hammer", "A-1")).counted, 8);
    assert.deepEqual((await submit(9, late)).warnings, []);
    assert.deepEqual((await takes.state(id)).state, "counting");
    const open = await takes.submit(sheet, "Ada", [], { isComplete: true });
    assert.deepEqual(refusals(open), [["NOT_COUNTED", "isComplete"]]);
    assert.deepEqual(open.userErrors[0].details, { openCount: 3 });
    const done = await takes.submit(sheet, "Ada", rest(), { isComplete: true });
    assert.notEqual(done.stocktakeSheet.completedAt, null);
    assert.deepEqual(await takes.state(id), {
      state: "review",
      progress: { sheetCount: 1, completedSheetCount: 1, openCount: 0 },
    });
    // An offline scanner repeats itself
    assert.deepEqual((await submit(9, late)).userErrors, []);
    assert.deepEqual((await submit(7, early)).userErrors, []);
    const news = await takes.submit(sheet, "Ada", [takes.line("A-1", "hammer", 10)]);
    assert.deepEqual(refusals(news), [["NOT_EDITABLE", "sheetId"]]);
    assert.equal((await position(id, "hammer", "A-1")).counted, 9);
  });

  it("compares each count with the stock of its moment", async () => {
    const { id, sheet } = await one();
    const countedAt = await shop.ago("0 seconds");
    await shop.mutate("stockTransfer", { lines: [shop.move("hammer", "A-1", "A-2", { quantity: 3 })] });
    await takes.submit(sheet, "Ada", [
      takes.line("A-1", "hammer", 10, { countedAt }),
      takes.line("A-2", "hammer", 7),
    ]);
    const places = await Promise.all(["A-1", "A-2"].map((place) => position(id, "hammer", place)));
    assert.deepEqual(
      places.map(({ expected, difference }) => [expected, difference]),
      [
        [10, 0],
        [7, 0],
      ],
    );
  });

  it("adds what nobody expected, and takes empty places", async () => {
    const { id, sheet } = await one();
    const found = await takes.submit(sheet, "Ada", [
      takes.line("A-1", null, null),
      takes.line("A-2", "drill", 1, { batchId: shop.id.S2 }),
      takes.line("A-2", "nail", 20),
      takes.line("A-2", null, null),
      takes.line("hall", "nail", 6),
      takes.line("hall", "hammer", 0),
    ]);
    assert.deepEqual([found.userErrors, found.stocktakeSheet.openCount], [[], 0]);
    await takes.submit(sheet, "Ada", [takes.line("A-2", "hammer", 3)], { isComplete: true });
    assert.equal((await takes.approve(id)).stocktake.state, "approved");
    assert.deepEqual(
      (await takes.positions(id)).map((p) => [p.product, p.place, p.batch, p.isFound, p.booked].join(" ")),
      [
        "hammer A-1  false -10",
        "nail A-1  false -500",
        "drill A-2 S1 false -1",
        "hammer A-2  false -1",
        "drill A-2 S2 true 1",
        "nail A-2  true 20",
        "nail hall  true 6",
      ],
    );
    assert.deepEqual([await shop.stockAt("nail", "A-1"), await shop.stockAt("nail", "A-2")], [0, 20]);
    await assertLedgerIsRight(shop);
  });

  it("refuses mistakes", async () => {
    const id = await takes.make({
      binLocationIds: [shop.id["A-1"], shop.id["A-2"]],
      productIds: [shop.id.hammer, shop.id.drill, shop.id.boots],
      sheets: 2,
    });
    const [sheet] = await takes.sheets(id);
    const future = new Date(Date.now() + 3_600_000).toISOString();
    const serial = (more: object) => takes.line("A-1", "drill", 1, more);
    const mistakes: [line: object, code: string, field: string][] = [
      [{ place: {}, productId: shop.id.hammer, quantity: 1 }, "INVALID", "place"],
      [takes.line("A-1", "hammer", -1), "OUT_OF_RANGE", "quantity"],
      [takes.line("A-1", "hammer", null), "REQUIRED", "quantity"],
      [{ place: { binLocationId: shop.id["A-1"] }, quantity: 1 }, "REQUIRED", "productId"],
      [takes.line("A-1", "hammer", 1, { isEmpty: true }), "INVALID", "isEmpty"],
      [takes.line("A-1", "hammer", 1, { countedAt: future }), "OUT_OF_RANGE", "countedAt"],
      [takes.line("A-1", "hammer", 1, { countedAt: "2020-01-01T00:00:00Z" }), "OUT_OF_RANGE", "countedAt"],
      [takes.line("A-1", "hammer", 1, { productId: missingId("Product") }), "NOT_FOUND", "productId"],
      [serial({}), "BATCH_REQUIRED", "batchId"],
      [serial({ batchId: missingId("Batch") }), "NOT_FOUND", "batchId"],
      [serial({ batchId: shop.id.G1 }), "BATCH_MISMATCH", "batchId"],
      [serial({ batchId: shop.id.S2, quantity: 2 }), "OUT_OF_RANGE", "quantity"],
      [takes.line("A-1", "hammer", 1, { batchId: shop.id.N1 }), "BATCH_MISMATCH", "batchId"],
      [takes.line("A-1", "boots", 1), "PRODUCT_HAS_VARIANTS", "productId"],
      [takes.line("A-2", "hammer", 4), "NOT_ON_SHEET", "place"],
      [takes.line("B-1", "hammer", 4), "OUT_OF_SCOPE", "place"],
      [takes.line("hall", "hammer", 4), "OUT_OF_SCOPE", "place"],
      [takes.line("A-1", "nail", 4), "OUT_OF_SCOPE", "productId"],
    ];
    for (const [line, code, field] of mistakes)
      assert.deepEqual(
        refusals(await takes.submit(sheet!.id, "Ada", [line])),
        [[code, `lines.0.${field}`]],
        JSON.stringify(line),
      );
    const twice = takes.line("A-1", "hammer", 1);
    const calls: [call: Promise<any>, code: string, field: string | null][] = [
      [takes.submit(sheet!.id, "Ada", [twice, twice]), "NOT_UNIQUE", "lines.1"],
      [
        takes.submit(
          sheet!.id,
          "Ada",
          Array.from({ length: 251 }, () => twice),
        ),
        "TOO_MANY_LINES",
        "lines",
      ],
      [takes.submit(missingId("StocktakeSheet"), "Ada", [twice]), "NOT_FOUND", "sheetId"],
      [takes.submit(sheet!.id, " ", [twice]), "INVALID", "counterName"],
      [takes.submit(sheet!.id, "n".repeat(256), [twice]), "OUT_OF_RANGE", "counterName"],
    ];
    for (const [call, code, field] of calls) assert.deepEqual(refusals(await call), [[code, field]]);
    assert.equal((await takes.state(id)).state, "open");
    await takes.cancel(id);
    const cancelled = await takes.submit(sheet!.id, "Ada", [twice]);
    assert.deepEqual(refusals(cancelled), [["INVALID_STATE_TRANSITION", null]]);
  });
});

describe("stocktakeRecount", () => {
  it("asks another person for differences beyond a bound, before they can be approved", async () => {
    const { id, sheet } = await one({ recountUnits: 5, recountPercent: 20 });
    const first = [
      takes.line("A-1", "hammer", 7),
      takes.line("A-1", "nail", 494),
      takes.line("A-2", "hammer", 4),
    ];
    await takes.submit(sheet, "Ada", [...first, ...rest().slice(2)], { isComplete: true });
    const states = async () => (await takes.positions(id)).map(({ state }) => state).join(" ");
    assert.equal(await states(), "beyond_bound beyond_bound counted counted");
    assert.deepEqual(refusals(await takes.approve(id)), [["RECOUNT_REQUIRED", "lineIds"]]);
    const { stocktakeSheet: again } = await takes.recount(id);
    assert.equal(again.round, 2);
    assert.deepEqual((await takes.state(id)).state, "counting");
    const [, second] = await takes.sheets(id);
    assert.deepEqual(
      second!.counts.map(({ product, quantity }) => [product, quantity]),
      [
        ["hammer", null],
        ["nail", null],
      ],
    );
    const counts = [takes.line("A-1", "hammer", 7), takes.line("A-1", "nail", 499)];
    assert.deepEqual(refusals(await takes.submit(again.id, " ada", counts)), [
      ["SAME_PERSON", "counterName"],
    ]);
    assert.deepEqual(refusals(await takes.submit(again.id, "Bob", [takes.line("A-2", "hammer", 4)])), [
      ["NOT_ON_SHEET", "lines.0"],
    ]);
    await takes.submit(again.id, "Bob", counts, { isComplete: true });
    assert.equal(await states(), "counted counted counted counted");
    // The approver doesn't believe one
    const nails = await position(id, "nail", "A-1");
    const { stocktakeSheet: third } = await takes.recount(id, { lineIds: [nails.id] });
    assert.equal(third.round, 3);
    assert.deepEqual(refusals(await takes.recount(id, { lineIds: [nails.id] })), [["INVALID", "lineIds"]]);
    assert.deepEqual(refusals(await takes.recount(id)), [["INVALID", "lineIds"]]);
    assert.deepEqual(refusals(await takes.recount(id, { lineIds: [missingId("StocktakeLine")] })), [
      ["NOT_FOUND", "lineIds"],
    ]);
    await takes.submit(third.id, "Cem", [takes.line("A-1", "nail", 500)], { isComplete: true });
    assert.equal((await takes.approve(id, { approverName: "Dee" })).stocktake.state, "approved");
    assert.deepEqual([await shop.stockAt("hammer", "A-1"), await shop.stockAt("nail", "A-1")], [7, 500]);
    await assertLedgerIsRight(shop);
  });

  it("makes late counts of the first round obsolete", async () => {
    const { id, sheet } = await one({ recountUnits: 0 });
    await takes.submit(sheet, "Ada", [takes.line("A-1", "hammer", 7)]);
    const { stocktakeSheet: again } = await takes.recount(id);
    const late = await takes.submit(sheet, "Ada", [takes.line("A-1", "hammer", 8)]);
    assert.deepEqual([late.userErrors, late.warnings.length], [[], 1]);
    assert.equal((await position(id, "hammer", "A-1")).state, "open");
    await takes.submit(again.id, "Bob", [takes.line("A-1", "hammer", 9)], { isComplete: true });
    assert.equal((await position(id, "hammer", "A-1")).counted, 9);
    await assertLedgerIsRight(shop);
  });
});

describe("cycleCountProposals", () => {
  it("lists what is due by value and last count, without what is being counted", async () => {
    await shop.owner.query(
      `insert into erp.product_purchase_price (product_id, currency_id, net, gross)
       select p.id, c.id, case p.product_number when 'hammer' then 100 else 0.01 end, 1 from erp.product p, erp.currency c
       where p.product_number in ('hammer', 'nail') and c.is_default_currency on conflict do nothing;
       update erp.product_purchase_price set net = 100 where product_id = (select id from erp.product where product_number = 'hammer');
       update ledger.stock_count c set counted_at = c.counted_at - interval '40 days'`,
    );
    const query = `query ($id: ID!, $c: Int) { cycleCountProposals(warehouseId: $id, daysOfC: $c) { edges { node { rank
      valueClass dueRatio differenceCount lastCountedAt product { productNumber } binLocation { code } } } } }`;
    const ask = async (c: number) => {
      const { body, text } = await shop.ask(takes.manager, { query, variables: { id: shop.id.hall, c } });
      assert.equal(body.errors, undefined, text);
      return body.data.cycleCountProposals.edges.map(({ node }: any) =>
        [node.rank, node.valueClass, node.product.productNumber, node.binLocation.code].join(" "),
      );
    };
    const names = (rows: string[]) => rows.map((row) => row.slice(2)).sort();
    assert.deepEqual(names(await ask(365)), ["A hammer A-1", "A hammer A-2"]);
    const sooner = await ask(10);
    assert.deepEqual(names(sooner.slice(2)), ["A hammer A-1", "A hammer A-2"]);
    assert.deepEqual(
      sooner
        .slice(0, 2)
        .map((row: string) => row.slice(2))
        .sort(),
      ["C drill A-2", "C nail A-1"],
    );
    await takes.make({ binLocationIds: [shop.id["A-1"]] });
    assert.deepEqual(await ask(10), ["1 C drill A-2", "2 A hammer A-2"]);
    const refused = await shop.ask(takes.counter, { query, variables: { id: shop.id.hall, c: 1 } });
    assert.deepEqual(refused.codes, ["FORBIDDEN"]);
  });
});

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import { missingId, uuidOf } from "../lib/ids.ts";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";
import { Stocktakes } from "../lib/stocktakes.ts";

let shop: Shop;
let takes: Stocktakes;
before(async () => {
  shop = await openShop();
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
      shop.line("nail", "hall", { quantity: 7 }),
      shop.line("glue", "A-2", { quantity: 3, batchId: shop.id.G1 }),
      shop.line("hammer", "B-1", { quantity: 9 }),
    ],
  });
});

/** Counts what the ledger says, but for some positions, on all sheets, and completes them. */
async function count(id: string, found: Record<string, number> = {}, counterName = "Ada"): Promise<void> {
  for (const sheet of await takes.sheets(id)) {
    if (sheet.completedAt !== null) continue;
    const lines = await Promise.all(
      sheet.counts.map(async ({ product, place, batch }) => {
        const expected = product === "glue" ? 3 : await shop.stockAt(product!, place);
        return takes.line(place, product, found[`${product} ${place}`] ?? expected, {
          ...(batch && { batchId: shop.id[batch] }),
        });
      }),
    );
    const { userErrors } = await takes.submit(sheet.id, counterName, lines, { isComplete: true });
    assert.deepEqual(userErrors, []);
  }
}
const differences = async (id: string) =>
  (await takes.positions(id)).map(({ product, place, state, difference, booked }) =>
    [product, place, state, difference, booked].join(" "),
  );

describe("stocktakeCreate", () => {
  it("makes positions of what is there, in the order of the walk, and divides them by places", async () => {
    const { userErrors, stocktake } = await takes.create({ sheets: 2 });
    assert.deepEqual([userErrors, stocktake.state], [[], "open"]);
    assert.match(stocktake.number, /^STK-\d+$/);
    assert.deepEqual(
      (await takes.positions(stocktake.id)).map((p) => [p.product, p.place, p.batch, p.expected, p.state]),
      [
        ["nail", "hall", null, 7, "open"],
        ["hammer", "A-1", null, 10, "open"],
        ["nail", "A-1", null, 500, "open"],
        ["glue", "A-2", "G1", 3, "open"],
        ["hammer", "A-2", null, 4, "open"],
      ],
    );
    const sheets = await takes.sheets(stocktake.id);
    assert.deepEqual(
      sheets.map(({ counts, openCount }) => [openCount, ...counts.map(({ place }) => place)]),
      [
        [3, "hall", "A-1", "A-1"],
        [2, "A-2", "A-2"],
      ],
    );
    assert.deepEqual(await takes.state(stocktake.id), {
      state: "open",
      progress: { sheetCount: 2, completedSheetCount: 0, openCount: 5 },
    });
  });

  it("is limited to bins, products and batches", async () => {
    const positions = async (input: object) =>
      (await takes.positions(await takes.make(input))).map((p) => `${p.product} ${p.place}`);
    assert.deepEqual(await positions({ binLocationIds: [shop.id["A-1"]], productIds: [shop.id.nail] }), [
      "nail A-1",
    ]);
    assert.deepEqual(await positions({ batchIds: [shop.id.G1, shop.id.G1] }), ["glue A-2"]);
    assert.deepEqual(await positions({ productIds: [shop.id.hammer] }), ["hammer A-1", "hammer A-2"]);
  });

  it("visits empty bins on request, and divides by the number of lines", async () => {
    await shop.owner.query(
      `insert into erp.bin_location (warehouse_id, code) values ('${uuidOf(shop.id.hall!)}', 'A-9')`,
    );
    const id = await takes.make({ includesEmptyBins: true, linesPerSheet: 3 });
    const sheets = await takes.sheets(id);
    assert.deepEqual(
      sheets.map(({ counts }) => counts.map(({ product, place }) => `${product} ${place}`)),
      [
        ["nail hall", "hammer A-1", "nail A-1"],
        ["glue A-2", "hammer A-2", "null A-9"],
      ],
    );
    const bin = (await shop.owner.query("select id from erp.bin_location where code = 'A-9'")).rows[0].id;
    shop.id["A-9"] = `gid://service/BinLocation/${bin}`;
    // Empty, as expected
    await takes.submit(sheets[1]!.id, "Ada", [takes.line("A-9", null, null)]);
    const [empty] = (await takes.positions(id)).slice(-1);
    assert.deepEqual([empty!.counted, empty!.state], [0, "counted"]);
    const refused = await shop.mutate("binLocationDelete", { id: shop.id["A-9"] });
    assert.deepEqual(refusals(refused), [["REFERENCE_IN_USE", "id"]]);
    // Then somebody looks again
    const found = await takes.submit(sheets[1]!.id, "Bob", [takes.line("A-9", "hammer", 2)]);
    assert.deepEqual(found.userErrors, []);
    const last = (await takes.positions(id)).slice(-1)[0]!;
    assert.deepEqual([last.product, last.isFound, last.difference], ["hammer", true, 2]);
    await takes.cancel(id);
    await shop.emptyTables("erp.stocktake");
    await shop.mutate("binLocationDelete", { id: shop.id["A-9"] });
  });

  it("refuses mistakes", async () => {
    const many = Array.from({ length: 1001 }, () => shop.id.hammer);
    const mistakes: [input: object, code: string, field: string][] = [
      [{ warehouseId: missingId("Warehouse") }, "NOT_FOUND", "warehouseId"],
      [{ warehouseId: shop.id.returns }, "INVALID", "warehouseId"],
      [{ binLocationIds: [shop.id["B-1"]] }, "NOT_FOUND", "binLocationIds"],
      [{ productIds: [missingId("Product")] }, "NOT_FOUND", "productIds"],
      [{ batchIds: [missingId("Batch")] }, "NOT_FOUND", "batchIds"],
      [{ productIds: many }, "TOO_MANY_LINES", "productIds"],
      [{ sheets: 0 }, "OUT_OF_RANGE", "sheets"],
      [{ sheets: 251 }, "OUT_OF_RANGE", "sheets"],
      [{ linesPerSheet: 0 }, "OUT_OF_RANGE", "linesPerSheet"],
      [{ recountUnits: -1 }, "OUT_OF_RANGE", "recountUnits"],
      [{ recountPercent: -1 }, "OUT_OF_RANGE", "recountPercent"],
      [{ recountValue: -1 }, "OUT_OF_RANGE", "recountValue"],
      [{ comment: "c".repeat(1001) }, "OUT_OF_RANGE", "comment"],
    ];
    for (const [input, code, field] of mistakes)
      assert.deepEqual(
        refusals(await takes.create(input)),
        [[code, field]],
        JSON.stringify(input).slice(0, 80),
      );
  });

  it("counts a position in one stocktake at a time", async () => {
    const first = await takes.make({ binLocationIds: [shop.id["A-1"]] });
    assert.deepEqual(refusals(await takes.create()), [["IN_OTHER_STOCKTAKE", null]]);
    const second = await takes.make({ binLocationIds: [shop.id["A-2"]] });
    // Nobody expected nails there, and both would count them
    await shop.mutate("stockAdjust", { lines: [shop.line("nail", "A-2", { delta: 1 })] });
    const third = await takes.make({ productIds: [shop.id.nail], binLocationIds: [shop.id["A-2"]] });
    const [sheet] = await takes.sheets(second);
    const found = await takes.submit(sheet!.id, "Ada", [takes.line("A-2", "nail", 1)]);
    assert.deepEqual(refusals(found), [["IN_OTHER_STOCKTAKE", null]]);
    for (const id of [first, second, third])
      assert.equal((await takes.cancel(id)).stocktake.state, "cancelled");
    assert.deepEqual((await takes.create()).userErrors, []);
  });
});

describe("stocktakeApprove", () => {
  it("books differences as counts of the process stocktaking, and keeps what moved since", async () => {
    const { stocktake } = await takes.create();
    await count(stocktake.id, { "hammer A-1": 8, "nail A-1": 503, "glue A-2": 2 });
    await shop.mutate("stockTransfer", { lines: [shop.move("hammer", "A-1", "A-2", { quantity: 5 })] });
    await shop.mutate("stockAdjust", { lines: [shop.line("nail", "A-1", { delta: -100 })] });
    const { userErrors, ...approved } = await takes.approve(stocktake.id, {
      reason: "damaged",
      comment: "Yearly",
    });
    assert.deepEqual(userErrors, []);
    assert.deepEqual(
      [approved.stocktake.state, approved.approvedCount, approved.remainingCount],
      ["approved", 5, 0],
    );
    assert.deepEqual(await differences(stocktake.id), [
      "nail hall approved 0 0",
      "hammer A-1 approved -2 -2",
      "nail A-1 approved 3 3",
      "glue A-2 approved -1 -1",
      "hammer A-2 approved 0 0",
    ]);
    assert.deepEqual(
      await Promise.all(
        [
          ["hammer", "A-1"],
          ["hammer", "A-2"],
          ["nail", "A-1"],
          ["glue", "A-2"],
        ].map(([product, place]) => shop.stockAt(product!, place!)),
      ),
      [3, 9, 403, 2],
    );
    const query = `query ($filter: StockBookingFilterInput) { stockBookings(filter: $filter) { edges { node { reason note
      stockMovements { edges { node { quantity processTypeTechnicalName } } } } } } }`;
    const filter = { reference: { equals: stocktake.number } };
    const { body } = await shop.ask(takes.manager, { query, variables: { filter } });
    const [{ node: booking }] = body.data.stockBookings.edges;
    assert.deepEqual([booking.reason, booking.note], ["damaged", "Yearly"]);
    assert.deepEqual(
      booking.stockMovements.edges.map(({ node }: any) => [node.processTypeTechnicalName, node.quantity]),
      [
        ["stocktaking", 2],
        ["stocktaking", 3],
        ["stocktaking", 1],
      ],
    );
    await assertLedgerIsRight(shop);
    assert.deepEqual(refusals(await takes.approve(stocktake.id)), [["INVALID_STATE_TRANSITION", null]]);
    assert.deepEqual(refusals(await takes.cancel(stocktake.id)), [["INVALID_STATE_TRANSITION", null]]);
  });

  it("is refused for the credential that counted, and for a person of the same name", async () => {
    const id = await takes.make();
    await count(id, {}, "Ada ");
    const both = await shop.token({ read: "all", write: "all" });
    assert.deepEqual(refusals(await takes.approve(id, { approverName: "ADA" })), [["SELF_APPROVAL", null]]);
    const other = await takes.make({ warehouseId: shop.id.shed });
    const [sheet] = await takes.sheets(other);
    await takes.submit(
      sheet!.id,
      "Bob",
      [takes.line("B-1", "hammer", 9)],
      { isComplete: true },
      { token: both },
    );
    assert.deepEqual(refusals(await takes.approve(other, {}, { token: both })), [["SELF_APPROVAL", null]]);
    assert.equal((await takes.approve(other, { approverName: "Ada" })).stocktake.state, "approved");
    assert.equal((await takes.approve(id, { approverName: "Bob" })).stocktake.state, "approved");
  });

  it("approves given positions while others are counted", async () => {
    const id = await takes.make();
    const [sheet] = await takes.sheets(id);
    await takes.submit(sheet!.id, "Ada", [takes.line("A-1", "hammer", 9), takes.line("A-1", "nail", 500)]);
    const [, hammers, nails, glue] = await takes.positions(id);
    assert.deepEqual(refusals(await takes.approve(id)), [["INVALID_STATE_TRANSITION", null]]);
    assert.deepEqual(refusals(await takes.approve(id, { lineIds: [hammers!.id, glue!.id] })), [
      ["NOT_COUNTED", "lineIds"],
    ]);
    assert.deepEqual(refusals(await takes.approve(id, { lineIds: [missingId("StocktakeLine")] })), [
      ["NOT_FOUND", "lineIds"],
    ]);
    const approved = await takes.approve(id, { lineIds: [hammers!.id] });
    assert.deepEqual([approved.stocktake.state, approved.remainingCount], ["counting", 4]);
    assert.equal(await shop.stockAt("hammer", "A-1"), 9);
    const late = await takes.submit(sheet!.id, "Ada", [takes.line("A-1", "hammer", 8)]);
    assert.deepEqual(refusals(late), [["NOT_EDITABLE", "lines"]]);
    assert.deepEqual(refusals(await takes.recount(id, { lineIds: [hammers!.id] })), [["INVALID", "lineIds"]]);
    // Dropping the rest leaves what is booked
    await takes.cancel(id);
    assert.equal((await takes.positions(id))[1]!.state, "approved");
    assert.equal((await takes.positions(id))[2]!.id, nails!.id);
    await assertLedgerIsRight(shop);
  });

  it("is refused for a place that lost more than was counted, and says which", async () => {
    const id = await takes.make({ binLocationIds: [shop.id["A-1"]] });
    await count(id, { "hammer A-1": 2 });
    await shop.mutate("stockTransfer", { lines: [shop.move("hammer", "A-1", "A-2", { quantity: 5 })] });
    const hammers = (await takes.positions(id))[0]!;
    const { userErrors } = await takes.approve(id);
    assert.deepEqual(
      userErrors.map(({ code, field, details }: any) => [code, field, details]),
      [["INSUFFICIENT_STOCK", null, { available: 2, requested: 5, position: 1 }]],
    );
    assert.deepEqual(refusals(await takes.approve(id, { lineIds: [hammers.id] })), [
      ["INSUFFICIENT_STOCK", "lineIds.0"],
    ]);
    assert.equal(await shop.stockAt("hammer", "A-1"), 5);
  });

  it("leaves stock that was counted again since, and warns", async () => {
    const id = await takes.make({ binLocationIds: [shop.id["A-1"]] });
    await count(id, { "hammer A-1": 8 });
    await shop.mutate("stockSet", { lines: [shop.line("hammer", "A-1", { quantity: 12 })] });
    const { warnings, stocktake } = await takes.approve(id);
    assert.equal(stocktake.state, "approved");
    assert.deepEqual(
      warnings.map(({ code, field, details }: any) => [code, field, details.position, details.quantity]),
      [["COUNT_SUPERSEDED", null, 1, 12]],
    );
    assert.equal(await shop.stockAt("hammer", "A-1"), 12);
    assert.equal((await takes.positions(id))[0]!.booked, null);
    await assertLedgerIsRight(shop);
  });

  it("needs a reason if the merchant says so, and a known one", async () => {
    const id = await takes.make({ binLocationIds: [shop.id["A-1"]] });
    await count(id, { "hammer A-1": 8 });
    const require = (is: boolean) =>
      shop.owner.query(
        `update ledger.process_type set requires_reason = ${is} where technical_name = 'stocktaking'`,
      );
    await require(true);
    try {
      assert.deepEqual(refusals(await takes.approve(id)), [["REQUIRED", "reason"]]);
      assert.deepEqual(refusals(await takes.approve(id, { reason: "none" })), [["NOT_FOUND", "reason"]]);
      assert.deepEqual((await takes.approve(id, { reason: "damaged" })).userErrors, []);
    } finally {
      await require(false);
    }
  });
});

it("is proven: figures that SQL changes are found", async () => {
  const id = await takes.make({ binLocationIds: [shop.id["A-1"]] });
  await count(id, { "hammer A-1": 8 });
  await takes.approve(id);
  await assertLedgerIsRight(shop);
  await shop.owner.query("update erp.stocktake_line set booked_difference = -3 where booked_difference = -2");
  await shop.owner.query("update erp.stocktake_count set quantity = 7 where quantity = 8");
  const { rows } = await shop.owner.query("select figure from ledger.proof order by 1");
  assert.deepEqual(
    rows.map(({ figure }) => figure),
    ["stocktake_line.booked_difference", "stocktake_line.counted_quantity"],
  );
});

it("tells of its steps, tries, and repeats by key", async () => {
  await sequence(shop.owner);
  const end = await endOfLog(shop.owner);
  assert.deepEqual(await takes.create({ validateOnly: true }), { stocktake: null, userErrors: [] });
  const keyed = () => takes.create({ idempotencyKey: "stocktake" });
  const [first, second] = [await keyed(), await keyed()];
  assert.equal(first.stocktake.id, second.stocktake.id);
  const { id } = first.stocktake;
  await count(id, { "hammer A-1": 8 });
  assert.equal((await takes.approve(id, { validateOnly: true })).stocktake, null);
  assert.equal(await shop.stockAt("hammer", "A-1"), 10);
  for (const time of ["first", "again"])
    assert.equal((await takes.approve(id, { idempotencyKey: "approve" })).stocktake.state, "approved", time);
  await takes.cancel(await takes.make());
  await sequence(shop.owner);
  const told = (await logAfter(shop.owner, end)).filter(({ topic }) => topic.startsWith("stocktake."));
  assert.deepEqual(
    told.map(({ topic, data }) => [topic, data.state]),
    [
      ["stocktake.created", "open"],
      ["stocktake.reviewed", "review"],
      ["stocktake.approved", "approved"],
      ["stocktake.created", "open"],
      ["stocktake.cancelled", "cancelled"],
    ],
  );
});

it("forbids to plan, approve and cancel with the scope of people who count", async () => {
  const id = await takes.make();
  for (const [name, input] of Object.entries({
    stocktakeCreate: { warehouseId: shop.id.shed },
    stocktakeRecount: { id },
    stocktakeApprove: { id },
    stocktakeCancel: { id },
  }))
    assert.deepEqual(
      (await shop.tryMutate(name, input, { token: takes.counter, select: "__typename" })).codes,
      ["FORBIDDEN"],
      name,
    );
});

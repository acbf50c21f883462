import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ended, linesAt, startTestBulk, upload } from "../bulk/support.ts";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import { missingId, uuidOf } from "../lib/ids.ts";
import type { Shop } from "../lib/shop.ts";
import { openShop, refusals } from "../lib/shop.ts";

let shop: Shop;
before(async () => (shop = await openShop()));
after(() => shop.close());

const fields = `id number comment bestBeforeDate productionDate supplierLot physicalStock product { productNumber }
  tags { edges { node { name } } }`;
const upsert = (rows: object[], more = {}) =>
  shop.mutate(
    "batchesUpsert",
    { batches: rows, ...more },
    {
      select: `results { index outcome id userErrors { code field } } batches { ${fields} }`,
    },
  );
const update = (input: object, options = {}) =>
  shop.mutate("batchUpdate", input, { select: `batch { ${fields} }`, ...options });
const outcomes = ({ results }: any) => results.map(({ outcome }: any) => outcome).join(" ");
const tagsOf = (batch: any) => batch.tags.edges.map(({ node }: any) => node.name).sort();
/** Makes a batch of glue, and returns its id. */
const make = async (number: string, more = {}): Promise<string> => {
  const made = await upsert([{ productId: shop.id.glue, number, ...more }]);
  assert.deepEqual([made.userErrors, outcomes(made)], [[], "CREATED"]);
  return made.batches[0].id;
};

const all = {
  comment: "Keep cool",
  bestBeforeDate: "2027-03-31",
  productionDate: "2026-03-01",
  supplierLot: "LOT 7/26",
};

describe("batchesUpsert", () => {
  it("makes and changes batches, known by id, or by product and number", async () => {
    const row = { productNumber: "glue", number: "U1", ...all, tags: ["cold", "new"] };
    const made = await upsert([row, { productId: shop.id.glue, number: "G1", supplierLot: "S" }]);
    assert.deepEqual([made.userErrors, outcomes(made)], [[], "CREATED UPDATED"]);
    const [{ id, ...first }, g1] = made.batches;
    assert.deepEqual(
      { ...first, tags: tagsOf(first) },
      { ...all, number: "U1", physicalStock: 0, product: { productNumber: "glue" }, tags: ["cold", "new"] },
    );
    assert.deepEqual([g1.id, g1.supplierLot, g1.bestBeforeDate], [shop.id.G1, "S", null]);
    assert.equal(outcomes(await upsert([row])), "UNCHANGED");
    assert.equal(
      outcomes(await upsert([{ productId: null, productNumber: "glue", number: "U1" }])),
      "UNCHANGED",
    );
    const changed = await upsert([{ id, number: "U2", bestBeforeDate: null, tags: ["cold"] }]);
    assert.equal(outcomes(changed), "UPDATED");
    const [batch] = changed.batches;
    assert.deepEqual(
      [batch.number, batch.bestBeforeDate, batch.productionDate, tagsOf(batch)],
      ["U2", null, "2026-03-01", ["cold"]],
    );
    assert.equal(outcomes(await upsert([{ id, tags: ["cold", "x"] }])), "UPDATED");
  });

  it("knows batches of the same number apart by their product", async () => {
    await shop.owner.query(
      "insert into erp.product (product_number, is_batch_managed) values ('paint', true)",
    );
    const made = await upsert([
      { productNumber: "paint", number: "SAME" },
      { productNumber: "glue", number: "SAME" },
    ]);
    assert.equal(outcomes(made), "CREATED CREATED");
    const [paint, glue] = made.batches;
    const answer = await upsert([{ productNumber: "paint", number: "SAME", comment: "Red" }]);
    assert.deepEqual([answer.batches[0].id, answer.batches[0].comment], [paint.id, "Red"]);
    assert.equal((await update({ id: glue.id })).batch.comment, null);
  });

  it("lets batches exchange their numbers, and tells of each once", async () => {
    const [a, b] = [await make("X1"), await make("X2")];
    await sequence(shop.owner);
    const end = await endOfLog(shop.owner);
    const answer = await upsert([
      { id: a, number: "X2", bestBeforeDate: "2027-01-01" },
      { id: b, number: "X1" },
    ]);
    assert.equal(outcomes(answer), "UPDATED UPDATED");
    await sequence(shop.owner);
    const told = await logAfter(shop.owner, end);
    assert.deepEqual(
      told
        .map(({ topic, data, changed_fields: changed }) => [topic, data.number, data.bestBeforeDate, changed])
        .sort(),
      [
        ["batch.updated", "X1", null, ["number"]],
        ["batch.updated", "X2", "2027-01-01", ["number", "bestBeforeDate"]],
      ],
    );
  });

  it("refuses each mistake by its row and field", async () => {
    const glue = { productNumber: "glue" };
    const mistakes: [row: object, code: string, field: string][] = [
      [{ productNumber: "glue" }, "REQUIRED", ""],
      [{ number: "M1" }, "REQUIRED", "productId"],
      [{ number: "M2", productId: null }, "REQUIRED", "productId"],
      [{ number: "M3", productNumber: "none" }, "NOT_FOUND", "productNumber"],
      [{ number: "M4", productId: missingId("Product") }, "NOT_FOUND", "productId"],
      [{ number: "M5", productId: shop.id.nail, productNumber: "glue" }, "INVALID", "productNumber"],
      [{ number: "M6", productId: shop.id.hammer }, "INVALID", "productId"],
      [{ number: "M7", productNumber: "hammer" }, "INVALID", "productNumber"],
      [{ number: "", ...glue }, "INVALID", "number"],
      [{ number: "n".repeat(256), ...glue }, "OUT_OF_RANGE", "number"],
      [{ id: missingId("Batch") }, "NOT_FOUND", "id"],
      [{ id: shop.id.G1, number: "G2" }, "NOT_UNIQUE", "number"],
      [{ id: shop.id.N1, productId: shop.id.glue }, "NOT_EDITABLE", "productId"],
      [{ number: "M8", ...glue, bestBeforeDate: "1899-12-31" }, "OUT_OF_RANGE", "bestBeforeDate"],
      [{ number: "M9", ...glue, productionDate: "1899-12-31" }, "OUT_OF_RANGE", "productionDate"],
      [
        { number: "M10", ...glue, productionDate: "2026-02-02", bestBeforeDate: "2026-02-01" },
        "INVALID",
        "productionDate",
      ],
      [{ number: "M11", ...glue, supplierLot: "l".repeat(256) }, "OUT_OF_RANGE", "supplierLot"],
      [{ number: "M12", ...glue, comment: "c".repeat(10_001) }, "OUT_OF_RANGE", "comment"],
      [{ number: "M13", ...glue, tags: [" "] }, "INVALID", "tags.0"],
    ];
    const expected = mistakes.map(([, code, field], n) => [code, `batches.${n}${field && `.${field}`}`]);
    const rows = mistakes.map(([row]) => row);
    assert.deepEqual(refusals(await upsert(rows)), expected);
    const left = { productNumber: "nail", id: shop.id.G2 };
    assert.deepEqual(refusals(await upsert([left])), [["NOT_EDITABLE", "batches.0.productNumber"]]);
    const partial = await upsert([...rows, { number: "M14", ...glue }], { partial: true });
    assert.equal(outcomes(partial), `${"REFUSED ".repeat(rows.length)}CREATED`);
    const { rows: found } = await shop.owner.query("select number from erp.batch where number ~ '^M'");
    assert.deepEqual(found, [{ number: "M14" }]);
  });

  it("takes batches of products that are no longer managed in batches, but no new ones", async () => {
    const answer = await upsert(
      [
        { productNumber: "nail", number: "N1", supplierLot: "old" },
        { productNumber: "nail", number: "N2" },
      ],
      { partial: true },
    );
    assert.equal(outcomes(answer), "UPDATED REFUSED");
  });

  it("takes 1 to 250 rows", async () => {
    const rows = Array.from({ length: 251 }, (_, n) => ({
      productNumber: "glue",
      number: `R${n}`,
      tags: ["r"],
    }));
    assert.deepEqual(refusals(await upsert(rows)), [["TOO_MANY_LINES", "batches"]]);
    assert.deepEqual(refusals(await upsert([])), [["REQUIRED", "batches"]]);
    const made = await upsert(rows.slice(1));
    assert.deepEqual(made.userErrors, []);
    assert.equal(made.batches.length, 250);
  });

  it("lets callers make the same batch at once, and repeats by key", async () => {
    const row = { productNumber: "glue", number: "RACE" };
    const answers = await Promise.all([1, 2, 3].map(() => upsert([row])));
    assert.deepEqual(
      answers.flatMap(({ userErrors }) => userErrors),
      [],
    );
    assert.equal(new Set(answers.map(({ batches }) => batches[0].id)).size, 1);
    const keyed = () => upsert([{ productNumber: "glue", number: "KEY" }], { idempotencyKey: "batch key" });
    assert.deepEqual([outcomes(await keyed()), outcomes(await keyed())], ["CREATED", "CREATED"]);
  });

  it("takes files", async () => {
    const token = await shop.token({ read: "all", write: "all" });
    const bulk = startTestBulk(shop);
    try {
      const csv =
        "productNumber,number,bestBeforeDate\nglue,F1,2028-01-31\nhammer,F2,\nglue,F3,soon\nglue,F1,2028-02-29\n";
      const { status, body, text } = await upload(shop, token, "batches", csv, { type: "text/csv" });
      assert.equal(status, 202, text);
      const done = await ended(shop, token, body.bulkOperation.id);
      assert.deepEqual([done.createdCount, done.updatedCount], [1, 1]);
      const errors = await linesAt(shop, done.errorsUrl);
      assert.deepEqual(
        errors.map(({ line, code, field }) => [line, code, field.join(".")]),
        [
          [3, "INVALID", "productNumber"],
          [4, "INVALID", "bestBeforeDate"],
        ],
      );
    } finally {
      await bulk.stop();
    }
  });
});

describe("batchUpdate", () => {
  it("changes what is given, and clears what is null", async () => {
    const id = await make("B1");
    const changed = await update({ id, ...all, tags: ["b", "a"] });
    assert.deepEqual(changed.userErrors, []);
    const { comment, bestBeforeDate, productionDate, supplierLot, ...rest } = changed.batch;
    assert.deepEqual({ comment, bestBeforeDate, productionDate, supplierLot }, all);
    assert.deepEqual([rest.number, tagsOf(rest)], ["B1", ["a", "b"]]);
    const cleared = (await update({ id, comment: null, tags: null })).batch;
    assert.deepEqual([cleared.comment, cleared.supplierLot, tagsOf(cleared)], [null, all.supplierLot, []]);
  });

  it("changes the number after bookings, and tells what changed", async () => {
    const id = await make("B2");
    await shop.mutate("stockAdjust", { lines: [shop.line("glue", "A-1", { delta: 3, batchId: id })] });
    await sequence(shop.owner);
    const end = await endOfLog(shop.owner);
    const { batch } = await update({ id, number: "B2b", supplierLot: "L" });
    assert.deepEqual([batch.number, batch.physicalStock], ["B2b", 3]);
    await update({ id, number: "B2b" });
    await sequence(shop.owner);
    const told = await logAfter(shop.owner, end);
    assert.deepEqual(
      told.map(({ topic, data, changed_fields: changed }) => [topic, data.supplierLot, changed]),
      [["batch.updated", "L", ["number", "supplierLot"]]],
    );
  });

  it("refuses mistakes", async () => {
    const id = await make("B3", { bestBeforeDate: "2026-06-30" });
    const mistakes: [changes: object, code: string, field: string][] = [
      [{ id: missingId("Batch"), comment: "x" }, "NOT_FOUND", "id"],
      [{ number: "G1" }, "NOT_UNIQUE", "number"],
      [{ number: null }, "REQUIRED", "number"],
      [{ number: " " }, "INVALID", "number"],
      [{ number: "n".repeat(256) }, "OUT_OF_RANGE", "number"],
      [{ productionDate: "2026-07-01" }, "INVALID", "productionDate"],
      [{ productionDate: "1899-12-31" }, "OUT_OF_RANGE", "productionDate"],
      [{ bestBeforeDate: "1899-12-31" }, "OUT_OF_RANGE", "bestBeforeDate"],
      [{ supplierLot: "l".repeat(256) }, "OUT_OF_RANGE", "supplierLot"],
      [{ comment: "c".repeat(10_001) }, "OUT_OF_RANGE", "comment"],
      [{ tags: ["ok", ""] }, "INVALID", "tags.1"],
    ];
    for (const [changes, code, field] of mistakes)
      assert.deepEqual(
        refusals(await update({ id, ...changes })),
        [[code, field]],
        JSON.stringify(changes).slice(0, 80),
      );
    const {
      rows: [row],
    } = await shop.owner.query(
      `select number, comment, updated_at from erp.batch where id = '${uuidOf(id)}'`,
    );
    assert.deepEqual(row, { number: "B3", comment: null, updated_at: null });
  });

  it("leaves batches of goods receipts to be filled in later", async () => {
    const { goodsReceipt } = await shop.mutate(
      "goodsReceiptCreate",
      {
        type: "Free",
        warehouseId: shop.id.hall,
        lineItems: [{ productId: shop.id.glue, quantity: 2, batchNumber: "GR1" }],
      },
      { select: "goodsReceipt { id lineItems { edges { node { batch { id bestBeforeDate } } } } }" },
    );
    const { batch } = goodsReceipt.lineItems.edges[0].node;
    assert.equal(batch.bestBeforeDate, null);
    assert.equal((await update({ id: batch.id, bestBeforeDate: "2027-01-01" })).batch.number, "GR1");
    const long = {
      type: "Free",
      lineItems: [{ productId: shop.id.glue, quantity: 1, batchNumber: "n".repeat(256) }],
    };
    const refused = await shop.mutate("goodsReceiptCreate", long);
    assert.deepEqual(refusals(refused), [["OUT_OF_RANGE", "lineItems.0.batchNumber"]]);
  });
});

for (const [name, input] of Object.entries({
  batchesUpsert: () => ({ batches: [{ productNumber: "glue", number: "scope" }] }),
  batchUpdate: () => ({ id: shop.id.G1, comment: "scope" }),
}))
  it(`${name} is forbidden without its scope`, async () => {
    const token = await shop.token({ read: "all", write: ["products", "stocks", "goods_receipts"] });
    assert.deepEqual((await shop.tryMutate(name, input(), { token })).codes, ["FORBIDDEN"]);
    const own = await shop.token({ read: ["batches"], write: ["batches"] });
    const { codes } = await shop.tryMutate(name, input(), { token: own });
    assert.deepEqual(codes ?? [], []);
  });

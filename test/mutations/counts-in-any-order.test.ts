import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import fc from "fast-check";
import { seed } from "../lib/seed.ts";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";

// Counts at the same time: of batches and of their place, in any order, by many clients
let shop: Shop;
before(async () => {
  shop = await openShop({ poolSize: 12 });
});
after(() => shop.close());
beforeEach(() => shop.empty());
afterEach(() => assertLedgerIsRight(shop));

const select = "warnings { code message field details } stocks { quantity }";
const set = (...lines: object[]) => shop.mutate("stockSet", { lines }, { select, version: "unstable" });
const adjust = (...lines: object[]) => shop.mutate("stockAdjust", { lines });
const line: Shop["line"] = (...line) => shop.line(...line);
const ago = (interval: string) => shop.ago(interval);
const now = () => ago("0");
/** Counts nails in a bin. */
const count = (quantity: number, countedAt?: string, rest = {}) =>
  set(line("nail", "A-1", { quantity, countedAt, ...rest }));
const nails = () => shop.stockAt("nail", "A-1");
const warned = ({ warnings }: any) => warnings.map(({ code, field }: any) => [code, field.join(".")]);
const superseded = [["COUNT_SUPERSEDED", "lines.0.countedAt"]];

describe("counts of batches", () => {
  const glue = (batch: string, quantity: number, countedAt?: string) =>
    set(line("glue", "A-1", { quantity, countedAt, batchId: shop.id[batch] }));
  const ofBatch = (quantity: number, countedAt?: string) =>
    count(quantity, countedAt, { batchId: shop.id.N1 });

  it("stand each for its own batch", async () => {
    const [first, second] = [await ago("2 minutes"), await ago("1 minute")];
    await glue("G1", 5, second);
    assert.deepEqual((await glue("G2", 3, first)).warnings, []);
    assert.deepEqual(warned(await glue("G1", 9, first)), superseded);
    assert.equal(await shop.stockAt("glue", "A-1"), 8);
  });

  it("know what moved of their batch only", async () => {
    const countedAt = await now();
    await glue("G1", 5);
    await glue("G2", 5);
    await adjust(line("glue", "A-1", { delta: -2, batchId: shop.id.G2 }));
    await glue("G1", 7, await now());
    assert.equal(await shop.stockAt("glue", "A-1"), 10);
    assert.deepEqual(warned(await glue("G2", 1, countedAt)), superseded);
    assert.equal(await shop.stockAt("glue", "A-1"), 10);
  });

  it("are not made of the sum of all, where that is right", async () => {
    const earlier = await ago("1 minute");
    await glue("G1", 5, earlier);
    const { userErrors } = await set(line("glue", "A-1", { quantity: 5 }));
    assert.deepEqual(userErrors, []);
    assert.deepEqual((await glue("G1", 4, await ago("1 second"))).warnings, []);
    assert.deepEqual(refusals(await set(line("glue", "A-1", { quantity: 5 }))), [
      ["BATCH_REQUIRED", "lines.0.batchId"],
    ]);
  });

  it("that are newer than one of the place come on top of it, in either order", async () => {
    for (const order of [
      ["place", "batch"],
      ["batch", "place"],
    ]) {
      await shop.empty();
      await adjust(line("nail", "A-1", { delta: 8 }), line("nail", "A-1", { delta: 5, batchId: shop.id.N1 }));
      const [first, second] = [await ago("0"), await now()];
      for (const what of order) await (what === "place" ? count(10, first) : ofBatch(7, second));
      assert.equal(await nails(), 12, order.join());
    }
  });

  it("that are older than one of the place change nothing", async () => {
    const [first, second] = [await ago("2 minutes"), await ago("1 minute")];
    await ofBatch(5, first);
    await count(10, second);
    for (const countedAt of [first, await ago("90 seconds")])
      assert.deepEqual(warned(await ofBatch(7, countedAt)), superseded);
    assert.equal(await nails(), 10);
  });
});

describe("counts and bookings", () => {
  const kinds = [
    { product: "nail", place: "A-1", batchId: () => undefined },
    { product: "nail", place: "hall", batchId: () => shop.id.N1 },
    { product: "glue", place: "B-1", batchId: () => shop.id.G1 },
  ];
  const booking = fc.record({ delta: fc.constantFrom(-3, -2, -1, 1, 2, 3) });
  // Sent so many events later, and perhaps repeated as many later again
  const counting = fc.record({
    quantity: fc.integer({ min: 50, max: 99 }),
    delays: fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 2 }),
  });
  const events = fc.array(fc.oneof(booking, counting), { minLength: 3, maxLength: 9 });

  it(`give the same figure in any order of arrival, seed ${seed}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...kinds), events, async ({ product, place, batchId }, happened) => {
        await shop.empty();
        const at = (rest: object) => line(product, place, { ...rest, batchId: batchId() });
        await adjust(at({ delta: 100 }));
        let expected = 100;
        const under_way: { due: number; line: object }[] = [];
        const deliver = async (until: number) => {
          for (const { line } of under_way.filter(({ due }) => due <= until)) {
            const { userErrors } = await set(line);
            assert.deepEqual(userErrors, []);
          }
          under_way.splice(0, under_way.length, ...under_way.filter(({ due }) => due > until));
        };
        for (const [index, event] of happened.entries()) {
          if ("delta" in event) {
            await adjust(at(event));
            expected += event.delta;
          } else {
            const counted = at({ quantity: event.quantity, countedAt: await now() });
            for (const delay of event.delays) under_way.push({ due: index + delay, line: counted });
            expected = event.quantity;
          }
          await deliver(index);
        }
        await deliver(Infinity);
        assert.equal(await shop.stockAt(product, place), expected);
        await assertLedgerIsRight(shop);
      }),
      { seed, numRuns: 15 },
    );
  });

  it("of many clients at once come to the latest count and what was booked", async () => {
    await adjust(line("nail", "A-1", { delta: 100 }));
    const times: string[] = [];
    for (let n = 0; n < 12; n++) times.push(await now());
    const sent = times.map((countedAt, n) => count(40 + n, countedAt));
    const sold = times.map(() => adjust(line("nail", "A-1", { delta: -1 })));
    for (const { userErrors } of await Promise.all([...sent, ...sold])) assert.deepEqual(userErrors, []);
    assert.equal(await nails(), 51 - 12);
    const { rows } = await shop.owner.query("select count(*)::int as count from ledger.stock_count");
    assert.equal(rows[0].count, 12);
  });
});

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import type { MutateOptions, Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";
import { until } from "../lib/until.ts";

// Counts by stockSet that are late, repeated, or out of order
let shop: Shop;
before(async () => {
  shop = await openShop({ versions });
});
after(() => shop.close());
beforeEach(() => shop.empty());
afterEach(() => assertLedgerIsRight(shop));

const frozen = { version: "2026-06-unstable" };
const select = "warnings { code message field details } stockMovements { id quantity } stocks { quantity }";
const set = (...lines: object[]) => shop.mutate("stockSet", { lines }, { select });
const adjust = (...lines: object[]) => shop.mutate("stockAdjust", { lines });
const line: Shop["line"] = (...line) => shop.line(...line);

const ago = (interval: string) => shop.ago(interval);
const now = () => ago("0");
/** When the outgoing movement was booked, and counts earlier or later than that. */
const saleOf = async (quantity: number, difference = "0") => {
  const { rows } = await shop.owner.query(
    `select to_char((booked_at + $1::interval) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') as moment
     from ledger.flow where quantity = $2`,
    [difference, -quantity],
  );
  return rows[0].moment;
};
const counts = async () =>
  (await shop.owner.query("select quantity, difference from ledger.stock_count order by id")).rows;
/** Counts nails in a bin. */
const count = (quantity: number, countedAt?: string, rest = {}) =>
  set(line("nail", "A-1", { quantity, countedAt, ...rest }));
const nails = () => shop.stockAt("nail", "A-1");
const warned = ({ warnings }: any) => warnings.map(({ code, field }: any) => [code, field.join(".")]);
const superseded = [["COUNT_SUPERSEDED", "lines.0.countedAt"]];

describe("a count", () => {
  it("leaves what was booked after it on top", async () => {
    await adjust(line("nail", "A-1", { delta: 10 }), line("nail", "A-2", { delta: 1 }));
    const countedAt = await now();
    await adjust(line("nail", "A-1", { delta: -3 }));
    await shop.mutate("stockTransfer", { lines: [shop.move("nail", "A-1", "A-2", { quantity: 1 })] });
    // 12 units were there at the count, two more than booked; 4 have left since
    const { stocks, stockMovements } = await count(12, countedAt);
    assert.deepEqual([stocks[0].quantity, stockMovements[0].quantity], [8, 2]);
    // The correction is no later movement: the same count, repeated, changes nothing
    const again = await count(12, countedAt);
    assert.deepEqual([again.stocks[0].quantity, again.stockMovements, again.warnings], [8, [], []]);
    assert.deepEqual(await counts(), [{ quantity: 12, difference: 2 }]);
  });

  it("is compared with bookings by microseconds", async () => {
    await adjust(line("nail", "A-1", { delta: 10 }));
    await adjust(line("nail", "A-1", { delta: -2 }));
    await count(20, await saleOf(2, "-1 microsecond"));
    assert.equal(await nails(), 18);
    await count(20, await saleOf(2));
    assert.equal(await nails(), 20);
  });

  it("that says no more than the second is of its beginning", async () => {
    await adjust(line("nail", "A-1", { delta: 10 }));
    await adjust(line("nail", "A-1", { delta: -2 }));
    const second = (await saleOf(2)).replace(/\.\d+/, "");
    await count(20, second);
    const [{ movedAfter }] = (
      await shop.owner.query(
        `select coalesce(sum(quantity), 0)::int as "movedAfter" from ledger.flow
         where bin_location_id is not null and not is_count and booked_at > $1`,
        [second],
      )
    ).rows;
    assert.ok(movedAfter === 8 || movedAfter === -2, String(movedAfter));
    assert.equal(await nails(), 20 + movedAfter);
  });

  it("that is less than has left since is refused", async () => {
    await adjust(line("nail", "A-1", { delta: 10 }));
    const countedAt = await now();
    await adjust(line("nail", "A-1", { delta: -5 }));
    assert.deepEqual(refusals(await count(4, countedAt)), [["INSUFFICIENT_STOCK", "lines.0.quantity"]]);
    assert.equal(await nails(), 5);
    assert.deepEqual(await counts(), []);
  });

  it("that is still to come is refused, be it by less than a second", async () => {
    const refused = [["OUT_OF_RANGE", "lines.0.countedAt"]];
    assert.deepEqual(refusals(await count(4, await ago("-1 hour"))), refused);
    await until(async () => {
      const moment = await ago("-900 milliseconds");
      const answer = await count(4, moment);
      // A busy machine may have taken so long that it wasn't still to come
      if (refusals(answer).length === 0) return (assert.ok((await now()) > moment), false);
      assert.deepEqual(refusals(answer), refused);
      return true;
    });
  });

  it("of nothing, where nothing ever was, is one too", async () => {
    assert.deepEqual((await count(0, await ago("1 minute"))).stocks, [{ quantity: 0 }]);
    assert.deepEqual(warned(await count(5, await ago("2 minutes"))), superseded);
    assert.equal(await nails(), 0);
    assert.equal(await shop.movements(), 0);
  });

  it("without a moment is of now, and stands over all earlier ones", async () => {
    await count(8);
    assert.deepEqual(warned(await count(5, await ago("1 second"))), superseded);
    assert.deepEqual((await count(3)).warnings, []);
    assert.equal(await nails(), 3);
  });

  it("goes with its place", async () => {
    const { rows } = await shop.owner.query(
      "insert into erp.bin_location (warehouse_id, code) select id, 'X-1' from erp.warehouse where code = 'hall' returning id",
    );
    shop.id["X-1"] = `gid://service/BinLocation/${rows[0].id}`;
    await set(line("nail", "X-1", { quantity: 5 }), line("hammer", "X-1", { quantity: 0 }));
    await set(line("nail", "X-1", { quantity: 0 }));
    assert.equal((await counts()).length, 3);
    const payload = await shop.mutate("binLocationDelete", { id: shop.id["X-1"] });
    assert.deepEqual(payload.userErrors, []);
    assert.deepEqual(await counts(), []);
  });
});

describe("a count that is older than one that is known", () => {
  const older = (options: MutateOptions) => async () => {
    const mutate = (name: string, line: object) => shop.mutate(name, { lines: [line] }, options);
    await mutate("stockAdjust", line("nail", "A-1", { delta: 10 }));
    const [first, second] = [await ago("60 seconds"), await now()];
    await mutate("stockSet", line("nail", "A-1", { quantity: 8, countedAt: second }));
    await mutate("stockAdjust", line("nail", "A-1", { delta: -1 }));
    const late = await mutate("stockSet", line("nail", "A-1", { quantity: 5, countedAt: first }));
    assert.deepEqual(late.userErrors, []);
    assert.deepEqual(late.stockMovements, []);
    assert.deepEqual(
      late.stocks.map(({ quantity }: any) => quantity),
      [await nails()],
    );
    assert.equal(await nails(), 7);
    return { late, second };
  };

  it("changes nothing", async () => {
    const { late, second } = await older({ select })();
    assert.deepEqual(late.warnings, [
      {
        code: "COUNT_SUPERSEDED",
        message: "The place has been counted again since then. This count was recorded, but changes nothing.",
        field: ["lines", "0", "countedAt"],
        details: { quantity: 8, countedAt: second },
      },
    ]);
  });

  it("changes nothing in the frozen version either", async () => {
    await older(frozen)();
  });

  it("is kept, once", async () => {
    const first = await ago("1 minute");
    await count(8);
    assert.deepEqual(warned(await count(5, first)), superseded);
    assert.deepEqual(warned(await count(5, first)), superseded);
    assert.deepEqual(await counts(), [
      { quantity: 8, difference: 8 },
      { quantity: 5, difference: null },
    ]);
  });

  it("holds up no other line, and is not asked whether enough is left", async () => {
    await adjust(line("nail", "A-1", { delta: 10 }));
    const countedAt = await now();
    await adjust(line("nail", "A-1", { delta: -5 }));
    await count(5);
    const payload = await set(
      line("hammer", "A-1", { quantity: 4, countedAt }),
      line("nail", "A-1", { quantity: 4, countedAt }),
      line("hammer", "A-2", { quantity: 6 }),
    );
    assert.deepEqual(payload.userErrors, []);
    assert.deepEqual(warned(payload), [["COUNT_SUPERSEDED", "lines.1.countedAt"]]);
    assert.deepEqual(payload.stocks, [{ quantity: 4 }, { quantity: 5 }, { quantity: 6 }]);
  });

  it("is still compared with the quantity that it expects", async () => {
    const countedAt = await ago("1 minute");
    await count(8);
    const payload = await count(5, countedAt, { expectedQuantity: 3 });
    assert.deepEqual(refusals(payload), [["QUANTITY_CHANGED", "lines.0.expectedQuantity"]]);
    assert.deepEqual(warned(await count(5, countedAt, { expectedQuantity: 8 })), superseded);
  });

  it("is foretold by validateOnly, and not kept", async () => {
    await count(8);
    const lines = [line("nail", "A-1", { quantity: 5, countedAt: await ago("1 minute") })];
    const payload = await shop.mutate("stockSet", { lines, validateOnly: true }, { select });
    assert.deepEqual(warned(payload), superseded);
    assert.equal((await counts()).length, 1);
  });
});

describe("the same count again", () => {
  for (const key of [undefined, "count of nails"])
    it(`changes nothing, a newer one in between, ${key ? "with" : "without"} a key`, async () => {
      const [first, second] = [await ago("2 minutes"), await ago("1 minute")];
      const send = () => {
        const lines = [line("nail", "A-1", { quantity: 5, countedAt: first })];
        return shop.mutate("stockSet", { lines, ...(key && { idempotencyKey: key }) }, { select });
      };
      await send();
      await count(8, second);
      const { userErrors, warnings } = await send();
      assert.deepEqual(userErrors, []);
      assert.equal(warnings.length, key ? 0 : 1);
      assert.equal(await nails(), 8);
      assert.equal((await counts()).length, 2);
    });

  it("with another quantity corrects a typing error", async () => {
    const countedAt = await ago("1 minute");
    await count(80, countedAt);
    await adjust(line("nail", "A-1", { delta: -1 }));
    assert.deepEqual((await count(8, countedAt)).warnings, []);
    assert.equal(await nails(), 7);
  });
});

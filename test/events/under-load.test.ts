import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Shop } from "../lib/shop.ts";
import { openShop } from "../lib/shop.ts";
import { endOfLog, logAfter, sequence, subscribeToTopic } from "./support.ts";

describe("the log of events under load", () => {
  let shop: Shop;
  before(async () => {
    shop = await openShop({ poolSize: 20 });
  });
  after(() => shop.close());

  it("tells of 50 bookings at once each, in the order of each product, and of no refused one", async () => {
    await subscribeToTopic(shop.owner, "stock.changed");
    await sequence(shop.owner);
    const start = await endOfLog(shop.owner);
    let isBooking = true;
    const sequencing = [1, 2].map(async () => {
      while (isBooking) await shop.owner.query("select events.sequence_events(20)");
    });
    const places = [{ warehouseId: shop.id.hall }, { binLocationId: shop.id["A-1"] }];
    const calls = Array.from({ length: 50 }, (_, index) => {
      const lines = [
        {
          productId: shop.id[index % 2 ? "hammer" : "nail"],
          place: places[index % 2],
          delta: 1 + (index % 3),
        },
        { productId: shop.id[index % 2 ? "nail" : "hammer"], place: places[0], delta: 1 },
      ];
      // Every tenth asks for more than there is
      if (index % 10 === 0) lines[0]!.delta = -10_000;
      return shop.mutate("stockAdjust", { lines, idempotencyKey: `call ${index}` });
    });
    const payloads = await Promise.all(calls);
    isBooking = false;
    await Promise.all(sequencing);
    await sequence(shop.owner);

    const log = await logAfter(shop.owner, start);
    assert.deepEqual(
      log.map((event) => event.sequence),
      log.map((_, index) => start + 1 + index),
    );
    const done = payloads.filter(({ userErrors }) => userErrors.length === 0);
    assert.equal(done.length, 45);
    const movements = log.filter(({ topic }) => topic === "stock_movement.created");
    assert.deepEqual(
      movements.map(({ data }) => data.id).sort(),
      done.flatMap(({ stockMovements }) => stockMovements.map(({ id }: any) => id)).sort(),
    );
    const keys = new Set(movements.map(({ cause }) => cause.idempotencyKey));
    assert.equal(keys.size, 45);

    // The quantity in a place only grew, so in the log it must grow too, up to the present one
    const { rows: held } = await shop.owner.query(
      "select 'gid://service/Stock/' || id as id, quantity from ledger.stock where special_stock_location_technical_name is null",
    );
    for (const { id, quantity } of held) {
      const told = log
        .filter(({ topic, data }) => topic === "stock.changed" && data.id === id)
        .map(({ data }) => data.quantity);
      assert.ok(told.length > 5);
      assert.deepEqual(
        told,
        told.toSorted((a, b) => a - b),
      );
      assert.equal(told.at(-1), quantity);
    }
    const { rows: deliveries } = await shop.owner.query(
      "select previous_sequence::int as previous, sequence::int from events.delivery order by sequence",
    );
    assert.deepEqual(
      deliveries.map(({ previous }) => previous),
      [null, ...deliveries.slice(0, -1).map(({ sequence }) => sequence)],
    );
  });
});

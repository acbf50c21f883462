// A day in the warehouse, under load, while connections to the database are lost: goods are booked, moved, shipped,
// taken back and received; bins come and go; counts arrive late and in any order; calls are repeated after their places
// are gone; clients follow the ledger. At the end the books must equal the shelves. The actions are random; SEED
// makes others, DAY_SECONDS sets the duration:
//
//     DAY_SECONDS=600 npm run test:only -- test/end-to-end/warehouse-day.long.ts
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import { seed } from "../lib/seed.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";
import { versions } from "../../src/versions/versions.ts";
import { cutConnections, overAfter } from "./stock-load.ts";
import { MovementFollower } from "./warehouse-day/follower.ts";
import { People } from "./warehouse-day/people.ts";
import { orderCount, products, tasks } from "./warehouse-day/tasks.ts";

// Has a process of its own: it simulates many clients at once.

const seconds = Math.min(Number(process.env.DAY_SECONDS ?? 2), 86_400);

describe(`a day in the warehouse, seed ${seed}`, () => {
  let shop: ShippingShop;
  let people: People;
  let followers: MovementFollower[];
  const lost = { ended: 0, cuts: 0 };

  before(async () => {
    shop = await openShippingShop({ versions });
    const quantities = fc.sample(fc.integer({ min: 1, max: 4 }), { seed, numRuns: orderCount * 2 });
    const orders = [];
    for (let n = 0; n < orderCount; n++) {
      const lines = products.map((product, line) => ({ product, quantity: quantities[n * 2 + line]! }));
      orders.push(await shop.order(n % 2 ? lines : lines.toReversed()));
    }
    const proxy = await openCuttableProxy(shop.loginUrl);
    const cuttable = await shop.another({ loginUrl: proxy.url, poolSize: 12 });
    people = new People(shop, orders, cuttable);
    const token = await shop.token();
    followers = versions.map(
      ({ slug }, n) => new MovementFollower(shop, token, slug, n % 2 ? [100, 1, 7] : [250]),
    );

    const day = fc.sample(tasks, { seed, numRuns: seconds * 1_000 });
    let isOver = false;
    const following = Promise.all(followers.map((follower) => follower.follow(() => isOver)));
    const metAll = () => people.outcomes["sent again"]! > 0 && lost.ended > 0 && lost.cuts > 0;
    const isEnough = overAfter(seconds, metAll);
    const cutting = cutConnections(shop.adminUrl, proxy, lost, () => isOver || isEnough());
    try {
      await people.run(day, 50, isEnough);
    } finally {
      isOver = true;
      await cutting;
      await following;
    }
    for (const follower of followers) await follower.readToEnd();
    await cuttable.close();
    await proxy.close();
  });
  after(() => shop.close());

  it("was a load", (context) => {
    const outcomes = Object.entries(people.outcomes)
      .sort()
      .map(([name, count]) => `${count} ${name}`);
    context.diagnostic(
      `${outcomes.join(", ")}; ${lost.ended} connections ended, all cut ${lost.cuts} times; ${people.told.size} movements`,
    );
    const done = [
      "stockSet",
      "stockAdjust",
      "orderShipmentComplete",
      "fulfillmentCancel",
      "goodsReceiptComplete",
    ];
    for (const name of [...done, "binLocationDelete"]) assert.ok(people.outcomes[`${name} done`]! > 0, name);
    assert.ok(people.outcomes["sent again"]! > 0 && lost.ended > 0 && lost.cuts > 0);
  });

  it("the books say what really lies on the shelves", async () => {
    const rows = await shop.sql(`
      select p.product_number || ' ' || coalesce(w.code, b.code) as shelf, s.quantity
      from ledger.stock s join erp.product p on p.id = s.product_id
      left join erp.warehouse w on w.id = s.warehouse_id left join erp.bin_location b on b.id = s.bin_location_id
      where s.location_type_technical_name in ('warehouse', 'bin_location')`);
    const books = new Map(rows.map(({ shelf, quantity }) => [shelf, quantity]));
    assert.ok(books.size > 0);
    for (const [shelf, units] of people.reality.entries()) assert.equal(books.get(shelf) ?? 0, units, shelf);
    for (const shelf of books.keys())
      assert.ok(
        people.reality.entries().some(([known]) => known === shelf),
        shelf,
      );
  });

  it("every movement that an answer told of is in the ledger", async () => {
    const rows = await shop.sql("select id from ledger.stock_movement");
    const booked = new Set(rows.map(({ id }) => id));
    assert.deepEqual(
      [...people.told].filter((id) => !booked.has(id)),
      [],
    );
  });

  it("who follows the ledger has seen each movement, once, in every version", async () => {
    const rows = await shop.sql("select id from ledger.stock_movement order by id");
    for (const { seen } of followers) {
      assert.equal(new Set(seen).size, seen.length);
      assert.deepEqual(
        seen.toSorted(),
        rows.map(({ id }) => id),
      );
    }
  });

  it("the books are right", () => assertLedgerIsRight(shop));
});

// Many clients change the stock of few products at the same time, while connections to the database are lost. The calls
// are random; SEED makes others, STOCK_LOAD_SECONDS sets the duration:
//
//     STOCK_LOAD_SECONDS=600 npm run test:only -- test/end-to-end/stock-under-load.long.ts
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop } from "../lib/shop.ts";
import { versions } from "../../src/versions/versions.ts";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import { seed } from "../lib/seed.ts";
import { sequence } from "../events/support.ts";
import type { RunningFollower } from "./followers.ts";
import { followByCursor, followBySequence } from "./followers.ts";
import { calls } from "./stock-calls.ts";
import { Clients, cutConnections, overAfter } from "./stock-load.ts";

// Has a process of its own: it simulates many clients at once.

const seconds = Math.min(Number(process.env.STOCK_LOAD_SECONDS ?? 3), 86_400);

interface Movement {
  id: string;
  comment: string;
  product: string;
  quantity: number;
  source: string;
  destination: string;
}

describe(`stock under load, seed ${seed}`, () => {
  let shop: Shop;
  let clients: Clients;
  let byComment: Map<string, Movement[]>;
  let followers: Map<string, RunningFollower>;
  const lost = { ended: 0, cuts: 0 };

  before(async () => {
    shop = await openShop();
    const proxy = await openCuttableProxy(shop.loginUrl);
    clients = new Clients(shop, await shop.another({ loginUrl: proxy.url, poolSize: 10 }));
    const reader = await shop.another({ versions });
    const token = await shop.token();
    let size = 0;
    const pageSize = () => 1 + ((size += 37) % 100);
    followers = new Map([
      ...versions.map(({ slug }): [string, RunningFollower] => [
        `${slug} by cursor`,
        followByCursor(reader, token, slug, pageSize),
      ]),
      ["unstable by sequence", followBySequence(reader, token)],
    ]);
    let isOver = false;
    const numbering = (async () => {
      while (!isOver) {
        await shop.owner.query("select events.sequence_events(50)");
        await sleep(20); // The service numbers now and then, too
      }
      await sequence(shop.owner);
    })();
    const load = fc.sample(calls, { seed, numRuns: seconds * 1_000 });
    const cutting = cutConnections(shop.adminUrl, proxy, lost, () => isOver);
    const isEnough = overAfter(seconds, () => lost.ended > 0 && lost.cuts > 0);
    await clients.run(load, 50, isEnough);
    isOver = true;
    await cutting;
    await numbering;
    await Promise.all([...followers.values()].map((follower) => follower.stop()));
    await clients.process.close();
    await proxy.close();
    const { rows } = await shop.owner.query<Movement>(`
      select m.id, m.comment, p.product_number as product, m.quantity,
        coalesce(sw.code, sb.code, m.source_special_stock_location_technical_name) as source,
        coalesce(dw.code, db.code, m.destination_special_stock_location_technical_name) as destination
      from ledger.stock_movement m join erp.product p on p.id = m.product_id
      left join erp.warehouse sw on sw.id = m.source_warehouse_id left join erp.bin_location sb on sb.id = m.source_bin_location_id
      left join erp.warehouse dw on dw.id = m.destination_warehouse_id left join erp.bin_location db on db.id = m.destination_bin_location_id
      order by m.id`);
    byComment = Map.groupBy(rows, ({ comment }) => comment);
  });
  after(() => shop.close());

  it("was a load", (context) => {
    const results = Object.groupBy(clients.outcomes, ({ result }) => result);
    const counts = Object.entries(results).map(([result, outcomes]) => `${outcomes.length} ${result}`);
    const codes = [...clients.codes].map(([code, count]) => `${count} ${code}`);
    context.diagnostic(
      `${counts.join(", ")}; ${codes.join(", ")}; ${lost.ended} connections ended, all cut ${lost.cuts} times`,
    );
    assert.ok(clients.outcomes.length > 200);
    assert.ok(results.booked!.length > 0 && results.refused!.length > 0 && lost.ended > 0 && lost.cuts > 0);
  });

  it("no fault and no deadlock reached a client", () => {
    const faults = ["INTERNAL_SERVER_ERROR", "CONFLICT_RETRY", "BAD_USER_INPUT", "OUT_OF_RANGE"];
    assert.deepEqual(
      faults.filter((code) => clients.codes.has(code)),
      [],
    );
  });

  it("every answered success is in the ledger, once, and every answer about it is the same", () => {
    for (const { answers, id, call, result } of clients.outcomes) {
      if (result !== "booked") continue;
      const movements = byComment.get(id) ?? [];
      for (const answer of answers)
        assert.deepEqual(answer.toSorted(), movements.map((movement) => movement.id).toSorted(), id);
      if (call.name === "stockSet") continue;
      assert.deepEqual(
        movements.map(({ product, quantity, source, destination }) => [
          product,
          quantity,
          source,
          destination,
        ]),
        call.lines.map(({ product, quantity, place, destination }) => {
          if (call.name === "stockTransfer") return [product, quantity, place, destination];
          const [from, to] = quantity > 0 ? ["stock_correction", place] : [place, "stock_correction"];
          return [product, Math.abs(quantity), from, to];
        }),
      );
    }
  });

  it("what was refused or only tried left nothing, and what is uncertain is there as a whole or not at all", () => {
    const known = new Set<string>();
    for (const { id, call, result } of clients.outcomes) {
      const count = byComment.get(id)?.length ?? 0;
      if (result === "booked") known.add(id);
      else if (result !== "uncertain") assert.equal(count, 0, id);
      else if (count > 0) {
        known.add(id);
        if (call.name !== "stockSet") assert.equal(count, call.lines.length, id);
      }
    }
    const strangers = [...byComment.keys()].filter((comment) => !known.has(comment));
    assert.deepEqual(strangers, []);
  });

  it("the stock is the sum of what was booked, and nowhere less than nothing", async () => {
    const sums = new Map<string, number>();
    const add = (product: string, place: string, quantity: number) =>
      sums.set(`${product} ${place}`, (sums.get(`${product} ${place}`) ?? 0) + quantity);
    for (const { product, quantity, source, destination } of [...byComment.values()].flat()) {
      add(product, source, -quantity);
      add(product, destination, quantity);
    }
    const { rows } = await shop.owner.query(`
      select p.product_number || ' ' || coalesce(w.code, b.code, s.special_stock_location_technical_name) as name, s.quantity
      from ledger.stock s join erp.product p on p.id = s.product_id
      left join erp.warehouse w on w.id = s.warehouse_id left join erp.bin_location b on b.id = s.bin_location_id`);
    assert.ok(rows.length > 0);
    for (const { name, quantity } of rows) {
      assert.equal(quantity, sums.get(name) ?? 0, name);
      assert.ok(quantity >= 0 || name.endsWith("stock_correction"), `${name}: ${quantity}`);
    }
  });

  it("followers have seen each movement exactly once, in every version", (context) => {
    const all = [...byComment.values()].flat().map(({ id }) => `gid://service/StockMovement/${id}`);
    for (const [name, { seen, failures }] of followers) {
      const inOrder = seen.every((id, index) => index === 0 || id > seen[index - 1]!);
      context.diagnostic(`${name}: ${failures()} failures, ${inOrder ? "none" : "some"} came late`);
      assert.equal(seen.length, new Set(seen).size, `${name}: none twice`);
      assert.deepEqual(seen.toSorted(), all.toSorted(), name);
    }
  });

  it("movements have numbers without gaps", async () => {
    const { rows } = await shop.owner.query(
      `select count(*)::int as count, min(sequence)::int as first, max(sequence)::int as last,
         count(*) filter (where movement_id in (select id from ledger.stock_movement))::int as present from ledger.movement_sequence`,
    );
    const count = await shop.movements();
    assert.deepEqual(rows, [{ count, first: 1, last: count, present: count }]);
  });

  it("the books are right", () => assertLedgerIsRight(shop));
});

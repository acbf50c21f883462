import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import pg from "pg";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";
import type { Shop } from "../lib/shop.ts";
import { until } from "../lib/until.ts";

// Calls that arrive together are booked by one statement: each must be answered as if it had been alone.
let shop: Shop;
let admin: pg.Client;
const products = Array.from({ length: 12 }, (_, n) => `part ${n}`);
const plugs = ["plug 0", "plug 1", "plug 2"];
before(async () => {
  shop = await openShop({ poolSize: 8 });
  const { rows } = await shop.owner.query(
    `insert into erp.product (product_number, name) select name, name from unnest($1::text[]) name
     returning product_number as name, 'gid://service/Product/' || id as id`,
    [[...products, ...plugs]],
  );
  for (const { name, id } of rows) shop.id[name] = id;
  await shop.mutate("stockAdjust", {
    lines: products.map((product) => shop.line(product, "A-1", { delta: 100 })),
  });
  admin = new pg.Client({ connectionString: shop.adminUrl });
  await admin.connect();
});
after(async () => {
  await admin.end();
  await shop.close();
});
afterEach(() => assertLedgerIsRight(shop));

const one = (product: string, delta: number, more: object = {}) => ({
  lines: [shop.line(product, "A-1", { delta })],
  ...more,
});
const select = "stockMovements { id quantity product { productNumber } } stocks { quantity }";
const book = (product: string, delta: number, more: object = {}, token?: string) =>
  shop.mutate("stockAdjust", one(product, delta, more), { select, ...(token ? { token } : {}) });
/** Makes calls while three others are under way: as few as that are made alone. These wait for a lock, and are refused at last. */
const inACrowd = async <T>(calls: () => Promise<T>): Promise<T> => {
  const crowd = new pg.Client({ connectionString: shop.adminUrl });
  await crowd.connect();
  await crowd.query(
    `begin; select from erp.product where product_number = any('${`{${plugs.join()}}`}') for update`,
  );
  const held = plugs.map((plug) => book(plug, -1_000_000));
  try {
    await until(async () => {
      const { rowCount } = await crowd.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rowCount! > 0;
    });
    return await calls();
  } finally {
    await crowd.end();
    await Promise.all(held);
  }
};
/** How many transactions have added the movements since a number of them. */
const transactionsSince = async (count: number) => {
  const { rows } = await shop.owner.query(
    "select count(distinct xmin::text)::integer as n from (select xmin from ledger.stock_movement order by id offset $1) m",
    [count],
  );
  return rows[0].n as number;
};

describe("calls that arrive together", () => {
  it("are booked by few statements, and answered each with its own movement and stock", async () => {
    const before = await shop.movements();
    const answers = await inACrowd(() =>
      Promise.all(
        Array.from({ length: 60 }, async (_, n) => {
          const product = products[n % products.length]!;
          return { product, delta: n + 1, ...(await book(product, n + 1)) };
        }),
      ),
    );
    for (const { product, delta, stockMovements, stocks, userErrors } of answers) {
      assert.deepEqual(userErrors, []);
      const [{ quantity, product: shown }] = stockMovements;
      assert.deepEqual([stockMovements.length, quantity, shown.productNumber], [1, delta, product]);
      assert.ok(stocks[0].quantity > 100);
    }
    const ids = answers.map(({ stockMovements: [{ id }] }) => id);
    assert.equal(new Set(ids).size, 60);
    assert.equal(await shop.movements(), before + 60);
    // How many depends on how busy the machine is: group-commit.test.ts says how they are made
    assert.ok((await transactionsSince(before)) < 60);
  });

  it("may be counts, transfers and adjustments of the same products", async () => {
    const round = (n: number) => {
      const here = (product: string, quantity: number) => shop.line(product, "A-2", { quantity });
      const ofProduct = (product: string) => [
        shop.mutate("stockSet", { lines: [here(product, n)] }, { select }),
        shop.mutate(
          "stockTransfer",
          { lines: [shop.move(product, "A-1", "B-1", { quantity: 2 })] },
          { select },
        ),
        book(product, 1),
      ];
      return inACrowd(() => Promise.all(products.flatMap(ofProduct)));
    };
    // Where nothing has lain yet, each is booked alone
    await round(10);
    const before = await shop.movements();
    const [here, there] = await Promise.all(["A-1", "B-1"].map((place) => shop.stockAt("part 0", place)));
    const answers = await round(20);
    answers.forEach(({ stockMovements, stocks, userErrors }, n) => {
      assert.deepEqual(userErrors, []);
      assert.deepEqual(
        stockMovements.map(({ quantity }: any) => quantity),
        [[10], [2], [1]][n % 3],
      );
      assert.equal(stockMovements[0].product.productNumber, products[Math.floor(n / 3)]);
      assert.equal(stocks.length, n % 3 === 1 ? 2 : 1);
      if (n % 3 === 0) assert.equal(stocks[0].quantity, 20);
    });
    const quantities = ["A-1", "A-2", "B-1"].map((place) => shop.stockAt("part 0", place));
    assert.deepEqual(await Promise.all(quantities), [here! - 1, 20, there! + 2]);
    assert.ok((await transactionsSince(before)) < answers.length);
  });

  it("are refused alone: what comes with them is booked", async () => {
    const before = await shop.movements();
    const wanted = Array.from({ length: 40 }, (_, n) => ({
      product: n % 10 === 3 ? products[0]! : products[n % products.length]!,
      delta: n % 10 === 3 ? -1_000_000 : 1,
    }));
    const answers = await inACrowd(() =>
      Promise.all(wanted.map(({ product, delta }) => book(product, delta))),
    );
    answers.forEach((answer, n) => {
      const expected = wanted[n]!.delta < 0 ? [["INSUFFICIENT_STOCK", "lines.0.delta"]] : [];
      assert.deepEqual(refusals(answer), expected);
      assert.equal(answer.stockMovements.length, expected.length === 0 ? 1 : 0);
    });
    assert.equal(await shop.movements(), before + 36);
  });

  it("can't take more than is there, however many try", async () => {
    await shop.mutate("stockSet", { lines: [shop.line("part 1", "A-1", { quantity: 7 })] });
    const answers = await inACrowd(() => Promise.all(Array.from({ length: 40 }, () => book("part 1", -1))));
    const done = answers.filter(({ userErrors }) => userErrors.length === 0);
    assert.equal(done.length, 7);
    assert.equal(await shop.stockAt("part 1", "A-1"), 0);
    await book("part 1", 100);
  });

  it("are each done once by their keys, also when the same key comes several times at once", async () => {
    const before = await shop.movements();
    const ask = (n: number) => book(products[n % 5]!, 1, { idempotencyKey: `key ${n % 10}` });
    const answers = await inACrowd(() => Promise.all(Array.from({ length: 50 }, (_, n) => ask(n))));
    assert.equal(await shop.movements(), before + 10);
    answers.forEach(({ stockMovements }, n) =>
      assert.equal(stockMovements[0].id, answers[n % 10].stockMovements[0].id),
    );
    const other = await Promise.all(
      Array.from({ length: 10 }, (_, n) => book("part 7", 2, { idempotencyKey: `key ${n}` })),
    );
    for (const answer of other) assert.equal(refusals(answer)[0]![0], "IDEMPOTENCY_KEY_MISMATCH");
    assert.equal(await shop.movements(), before + 10);
  });

  it("are done once by their keys also when two processes get them at once, on one product", async () => {
    const other = await shop.another({ poolSize: 4 });
    const before = await shop.movements();
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, n) => {
        const input = one(n % 2 ? "part 3" : products[n % 4]!, 1, { idempotencyKey: `shared ${n >> 1}` });
        return Promise.all(
          [shop, other].map((process) => shop.mutate("stockAdjust", input, { select, process })),
        );
      }),
    );
    for (const [mine, theirs] of answers) {
      if (mine.userErrors.length + theirs.userErrors.length > 0) continue;
      assert.deepEqual(mine.stockMovements[0].id, theirs.stockMovements[0].id);
    }
    const refused = answers.flat().flatMap(refusals);
    for (const [code] of refused) assert.equal(code, "IDEMPOTENCY_KEY_MISMATCH");
    assert.equal(await shop.movements(), before + 40);
    await other.close();
  });

  it("have the rights of their own callers, and their events name these", async () => {
    const tokens = await Promise.all([1, 2, 3].map(() => shop.token({ read: "all", write: ["stocks"] })));
    const reader = await shop.token();
    const before = await shop.movements();
    const ask = (n: number) => {
      const token = n % 4 === 3 ? reader : tokens[n % 4]!;
      const input = one(products[n % 6]!, 1, { comment: `by ${n % 4}` });
      return shop.tryMutate("stockAdjust", input, { token, select });
    };
    const answers = await inACrowd(() => Promise.all(Array.from({ length: 36 }, (_, n) => ask(n))));
    answers.forEach(({ codes }, n) => assert.deepEqual(codes, n % 4 === 3 ? ["FORBIDDEN"] : []));
    assert.equal(await shop.movements(), before + 27);
    const { rows } = await shop.owner.query(`
      select m.comment, count(distinct o.cause ->> 'credentialId')::integer as callers, count(distinct o.cause ->> 'requestId')::integer as requests
      from ledger.stock_movement m join events.outbox o on o.subject_id = m.id where m.comment like 'by %' group by 1 order by 1`);
    assert.deepEqual(
      rows,
      ["by 0", "by 1", "by 2"].map((comment) => ({ comment, callers: 1, requests: 9 })),
    );
  });
});

describe("what goes wrong for one", () => {
  it("doesn't hold up others: a product that is locked by something else", async () => {
    await admin.query("begin; select from erp.product where product_number = 'part 2' for update");
    try {
      const locked = [book("part 2", 1), book("part 2", 2)];
      let isDone = false;
      void Promise.all(locked).then(() => (isDone = true));
      const others = Array.from({ length: 40 }, (_, n) => book(products[3 + (n % 9)]!, 1));
      for (const { userErrors } of await Promise.all(others)) assert.deepEqual(userErrors, []);
      assert.equal(isDone, false);
      await admin.query("commit");
      for (const { userErrors } of await Promise.all(locked)) assert.deepEqual(userErrors, []);
    } finally {
      await admin.query("rollback");
    }
  });

  /** Books several products while one of them is locked, and ends what waits for the lock in a group. */
  const whileLocked = async (end: string, more: (n: number) => object) => {
    // The group itself doesn't wait for long, so what it waits for is slowed down
    await shop.owner.query(`
      create function public.dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(0.3); return null; end $$;
      create trigger dawdle after insert on ledger.stock_movement for each statement execute function public.dawdle()`);
    try {
      const answers = Promise.all(
        Array.from({ length: 24 }, (_, n) =>
          shop.tryMutate("stockAdjust", one(products[n % 8]!, 1, more(n)), { select }),
        ),
      );
      await until(async () => {
        const { rowCount } = await admin.query(
          `select ${end}(pid) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'
             and query like '%run_together%'`,
        );
        return rowCount! > 0;
      });
      await shop.owner.query("drop function public.dawdle cascade");
      return await answers;
    } finally {
      await shop.owner.query("drop function if exists public.dawdle cascade");
    }
  };

  it("a group that is cancelled is done again one by one", async () => {
    const before = await shop.movements();
    for (const { body } of await whileLocked("pg_cancel_backend", () => ({})))
      assert.deepEqual(body.data.stockAdjust.userErrors, []);
    assert.equal(await shop.movements(), before + 24);
  });

  it("a backend that is killed leaves open what was done; with keys all is done once", async () => {
    const before = await shop.movements();
    const key = (n: number) => (n % 2 ? { idempotencyKey: `killed ${n}` } : {});
    const answers = await whileLocked("pg_terminate_backend", key);
    let lost = 0;
    answers.forEach(({ body, codes }, n) => {
      if (n % 2) return assert.deepEqual(body.data.stockAdjust.userErrors, []);
      if (codes.length === 0) return;
      lost++;
      assert.deepEqual(codes, ["SERVICE_UNAVAILABLE"]);
      assert.equal(body.errors[0].extensions.retryable, false);
    });
    assert.ok(lost > 0);
    assert.equal(await shop.movements(), before + 24 - lost);
  });
});

import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";
import type { Shop } from "../lib/shop.ts";
import type { TestProcess } from "../lib/service.ts";

// Mutations whose payload is read within the same message to Postgres.
let shop: Shop;
/** The same with FAST_READS=false. */
let grafastOnly: TestProcess;
before(async () => {
  shop = await openShop();
  grafastOnly = await shop.another({ settings: { fastReads: false } });
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const add = (delta: number, more: object = {}) => ({ lines: [shop.line("nail", "A-1", { delta })], ...more });
const readBy = ({ headers }: { headers: Headers }) => headers.get("x-read-by");

describe("a mutation and its payload", () => {
  const selects = [
    "stockMovements { id quantity product { productNumber } } warnings { code }",
    "__typename stocks { id quantity binLocation { id stocks(first: 2) { edges { cursor node { quantity } } pageInfo { hasNextPage } } } }",
    "again: stocks { ...one @include(if: true) } stocks { id @skip(if: true) __typename }",
    "",
  ];
  for (const select of selects) {
    it(`are answered as PostGraphile would: ${select}`, async () => {
      const fragment = select.includes("...one") ? "fragment one on Stock { quantity }" : "";
      const query = `mutation ($input: StockAdjustInput!) { done: stockAdjust(input: $input) { ${select} userErrors { code } } } ${fragment}`;
      const ask = async (process: TestProcess, key: string) => {
        const token = await shop.token({ read: "all", write: ["stocks"] });
        const answer = await process.ask(token, {
          query,
          variables: { input: add(1, { idempotencyKey: key }) },
        });
        // The same answer again, by its key
        const again = await process.ask(token, {
          query,
          variables: { input: add(1, { idempotencyKey: key }) },
        });
        assert.deepEqual(again.body.data, answer.body.data);
        return answer;
      };
      const [fast, usual] = [await ask(shop, `fast ${select}`), await ask(grafastOnly, `usual ${select}`)];
      assert.deepEqual([readBy(fast), readBy(usual)], ["sql", null]);
      const comparable = ({ body }: any) =>
        JSON.stringify(body.data)
          .replace(/StockMovement\/[-0-9a-f]+/g, "")
          .replace(/"quantity":\d+/g, "");
      assert.equal(comparable(fast), comparable(usual));
      assert.deepEqual(fast.body.extensions.cost, usual.body.extensions.cost);
    });
  }

  it("take one message to Postgres", async () => {
    const proxy = await openCuttableProxy(shop.loginUrl);
    const one = await shop.another({ loginUrl: proxy.url, poolSize: 1 });
    try {
      const book = () =>
        shop.tryMutate("stockAdjust", add(1), {
          process: one,
          select: "stockMovements { id product { id } }",
        });
      await book();
      await book();
      const before = proxy.countMessages("service_api_login");
      assert.equal(readBy(await book()), "sql");
      assert.equal(proxy.countMessages("service_api_login") - before, 1);
    } finally {
      await one.close();
      await proxy.close();
    }
  });

  it("that is refused says why, and shows nothing of the mutation before it", async () => {
    await shop.mutate("stockAdjust", add(1));
    const refused = await shop.mutate("stockAdjust", add(-1_000_000));
    assert.deepEqual(refusals(refused), [["INSUFFICIENT_STOCK", "lines.0.delta"]]);
    assert.deepEqual([refused.stockMovements, refused.stocks], [[], []]);
    const validated = await shop.mutate("stockAdjust", add(1, { validateOnly: true }));
    assert.deepEqual([validated.stockMovements, validated.stocks, validated.userErrors], [[], [], []]);
  });

  it("shows rows by the caller's own rights, not those of the connection's user before", async () => {
    const single = await shop.another({ poolSize: 1 });
    const query = `mutation ($input: StockAdjustInput!) { stockAdjust(input: $input) {
      stocks { quantity } userErrors { code } } }`;
    const [all, other] = await Promise.all([
      shop.token({ read: "all", write: ["stocks"] }),
      shop.token({ read: [], write: ["stocks"] }),
    ]);
    await shop.owner.query(
      "create policy hidden on ledger.stock as restrictive to service_api using (auth.has_scope('products:read'))",
    );
    try {
      for (let i = 0; i < 3; i++) {
        const seen = await single.ask(all, { query, variables: { input: add(1) } });
        assert.equal(seen.body.data.stockAdjust.stocks.length, 1);
        const unseen = await single.ask(other, { query, variables: { input: add(1) } });
        assert.deepEqual(unseen.body.data.stockAdjust, { stocks: [], userErrors: [] });
        assert.equal(readBy(unseen), "sql");
      }
    } finally {
      await shop.owner.query("drop policy hidden on ledger.stock");
      await single.close();
    }
  });
});

import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { uuidOf } from "../lib/ids.ts";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";

// What counts as the same request, and what null means
let shop: Shop;
before(async () => {
  shop = await openShop({ versions });
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

let key = 0;
const line = (more: object = {}) => ({
  productId: shop.id.nail,
  place: { binLocationId: shop.id["A-1"] },
  delta: 1,
  ...more,
});

/** Sends two inputs with one key. Returns whether the second was taken for a repetition of the first. */
async function areTheSame(
  name: string,
  first: object,
  second: object,
  { from, to }: { from?: string; to?: string } = {},
): Promise<boolean> {
  const idempotencyKey = `same ${++key}`;
  const call = (input: object, version: string | undefined) =>
    shop.mutate(
      name,
      { ...input, idempotencyKey },
      { select: "__typename", ...(version ? { version } : {}) },
    );
  assert.deepEqual((await call(first, from)).userErrors, [], name);
  const { userErrors } = await call(second, to);
  if (userErrors.length === 0) return true;
  assert.deepEqual(refusals({ userErrors }), [["IDEMPOTENCY_KEY_MISMATCH", "idempotencyKey"]]);
  return false;
}

describe("an input with an idempotency key is the same", () => {
  it("with nulls spelled out, at every depth", async () => {
    const before = await shop.movements();
    assert.ok(
      await areTheSame(
        "stockAdjust",
        { lines: [line()] },
        {
          comment: null,
          lines: [
            line({
              batchId: null,
              expectedQuantity: null,
              place: { binLocationId: shop.id["A-1"], warehouseId: null },
            }),
          ],
        },
      ),
    );
    assert.equal(await shop.movements(), before + 1);
  });

  it("with the same moment in another spelling", async () => {
    const count = (more: object) => ({ lines: [{ ...line(more), delta: undefined, quantity: 3 }] });
    const countedAt = "2026-01-02T03:04:05Z";
    assert.ok(
      await areTheSame(
        "stockSet",
        count({ countedAt }),
        count({ countedAt: "2026-01-02T05:04:05.000+02:00" }),
      ),
    );
  });

  it("in another version", async () => {
    const [frozen, head] = versions.map(({ slug }) => slug);
    const input = { lines: [line()] };
    const spelled = { comment: null, lines: [line({ batchId: null })] };
    assert.ok(await areTheSame("stockAdjust", input, spelled, { from: frozen!, to: head! }));
    assert.ok(await areTheSame("stockAdjust", spelled, input, { from: head!, to: frozen! }));
  });

  it("when a later version has more fields, or has them in another order", async () => {
    const digest = async (type: string, input: object) => {
      const { rows } = await shop.owner.query("select mutation.digest('m', $1, $2, false) as digest", [
        type,
        input,
      ]);
      return rows[0].digest.toString("hex");
    };
    await shop.owner.query(`
      create type public.line_input as (product_id uuid, quantity numeric);
      create type public.now_input as (lines public.line_input[], comment text);
      create type public.later_line_input as (reason text, quantity numeric, place public.line_input, product_id uuid);
      create type public.later_input as (flag boolean, comment text, lines public.later_line_input[])`);
    const input = {
      comment: "0.50",
      lines: [{ product_id: shop.id.nail!.split("/").at(-1), quantity: 1.5 }],
    };
    assert.equal(await digest("public.now_input", input), await digest("public.later_input", input));
    const other = { ...input, comment: "0.5" };
    assert.notEqual(await digest("public.now_input", input), await digest("public.now_input", other));
  });

  it("with a key that was stored before meanings were compared", async () => {
    const input = { lines: [line()], idempotencyKey: "older" };
    await shop.mutate("stockAdjust", input);
    const uuid = (name: string) => uuidOf(shop.id[name]!);
    const stored = {
      lines: [{ product_id: uuid("nail"), place: { bin_location_id: uuid("A-1") }, delta: 1 }],
    };
    await shop.owner.query(
      `update mutation.idempotency_key set request = sha256(convert_to('stock_adjust ' || $1::jsonb::text, 'UTF8'))
       where key = 'older'`,
      [stored],
    );
    const before = await shop.movements();
    assert.deepEqual((await shop.mutate("stockAdjust", input)).userErrors, []);
    assert.equal(await shop.movements(), before);
  });
});

describe("an input with an idempotency key is another one", () => {
  it("with another value, line or empty list", async () => {
    const input = { lines: [line()] };
    for (const other of [
      { lines: [line({ delta: 2 })] },
      { lines: [line(), line()] },
      { lines: [] },
      { ...input, comment: "" },
    ])
      assert.equal(await areTheSame("stockAdjust", input, other), false, JSON.stringify(other));
  });

  it("where null empties what left out stays as it is", async () => {
    const create = { supplierId: shop.id.forge, comment: "Soon", lineItems: [] };
    const { supplierOrder } = await shop.mutate("supplierOrderCreate", create, {
      select: "supplierOrder { id }",
    });
    const { id } = supplierOrder;
    assert.equal(await areTheSame("supplierOrderUpdate", { id }, { id, comment: null }), false);
    assert.ok(await areTheSame("supplierOrderUpdate", { id, comment: null }, { comment: null, id }));
  });
});

describe("null for what holds something back", () => {
  for (const { slug: version } of versions) {
    it(`validateOnly: null is refused, and nothing is done (${version})`, async () => {
      const before = await shop.movements();
      const input = { lines: [line()], validateOnly: null };
      const payload = await shop.mutate("stockAdjust", input, { version });
      assert.deepEqual(refusals(payload), [["REQUIRED", "validateOnly"]]);
      const keyed = await shop.mutate("stockAdjust", { ...input, idempotencyKey: version }, { version });
      assert.deepEqual(refusals(keyed), [["REQUIRED", "validateOnly"]]);
      const query = `mutation ($only: Boolean) { stockAdjust(input: { lines: [], validateOnly: $only }) {
        userErrors { code field } } }`;
      const token = await shop.token({ write: ["stocks"] });
      const { body } = await shop.ask(token, { query, variables: { only: null } }, { version });
      assert.deepEqual(body.data.stockAdjust.userErrors, [{ code: "REQUIRED", field: ["validateOnly"] }]);
      assert.equal(await shop.movements(), before);
    });
  }

  it("switches whose default does more than the other value take no null either", async () => {
    const id = (type: string) => `gid://service/${type}/01980000-0000-7000-8000-000000000000`;
    const hook = { topic: "order.created", url: "https://shop.example/hooks", apiVersion: "unstable" };
    const inputs: [name: string, field: string, input: object][] = [
      ["goodsReceiptCreate", "isDraft", { type: "Supplier", lineItems: [] }],
      ["goodsReceiptUpdate", "isDraft", { id: id("GoodsReceipt") }],
      ["warehouseCreate", "isStockAvailableForSale", { code: "N", name: "New" }],
      ["webhookSubscriptionCreate", "enabled", hook],
      ["webhookDeliveriesReplay", "onlyUndelivered", { id: id("WebhookSubscription"), fromSequence: 1 }],
    ];
    for (const [name, field, input] of inputs) {
      const payload = await shop.mutate(name, { ...input, [field]: null });
      assert.deepEqual(refusals(payload), [["REQUIRED", field]], name);
    }
  });
});

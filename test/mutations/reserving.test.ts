import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { makeCrontab } from "../../src/jobs/crontab.ts";
import { makeTasks } from "../../src/jobs/tasks.ts";
import { Queue, startTestJobs } from "../jobs/support.ts";
import { uuidOf } from "../lib/ids.ts";
import { reservingIn } from "../lib/reserving.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import { until } from "../lib/until.ts";

// stockReserve and stockRelease as calls: refusals, keys, scopes, time, lists, releases
let shop: ShippingShop;
let calls: ReturnType<typeof reservingIn>;
before(async () => {
  shop = await openShippingShop();
  calls = reservingIn(shop);
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

let made = 0;
let product: string;
beforeEach(async () => {
  product = await calls.newProduct(`reserved-${++made}`, "A-1", 10);
});

describe("releasing", () => {
  it("gives units back, in parts and all, and once", async () => {
    const id = await calls.reserve(product, "hall", 5);
    const part = await calls.release({ id, quantity: 2 });
    assert.deepEqual(
      part.stockReservations.map(({ state, openQuantity }: any) => [state, openQuantity]),
      [["active", 3]],
    );
    assert.equal((await calls.figures(product)).available, 7);
    assert.deepEqual(refusals(await calls.release({ id, quantity: 4 })), [
      ["OUT_OF_RANGE", "lines.0.quantity"],
    ]);
    assert.deepEqual(refusals(await calls.release({ id, quantity: 0 })), [
      ["OUT_OF_RANGE", "lines.0.quantity"],
    ]);
    assert.deepEqual(refusals(await calls.release({ id }, { id })), [["NOT_UNIQUE", "lines.1.id"]]);
    assert.deepEqual((await calls.release({ id })).userErrors, []);
    assert.deepEqual(await calls.kept(id), ["0 released"]);
    const again = await calls.release({ id });
    assert.deepEqual(refusals(again), [["INVALID_STATE_TRANSITION", "lines.0.id"]]);
    assert.deepEqual(again.userErrors[0].details, { state: "released", allowedActions: [] });
    const unknown = "gid://service/StockReservation/018fd2d0-0801-74b9-8625-bd7ccb460907";
    assert.deepEqual(refusals(await calls.release({ id: unknown })), [["NOT_FOUND", "lines.0.id"]]);
    assert.deepEqual(refusals(await calls.release()), [["REQUIRED", "lines"]]);
  });
});

describe("stockReserve", () => {
  it("refuses what is malformed or unknown", async () => {
    const unknown = (type: string) => `gid://service/${type}/018fd2d0-0801-74b9-8625-bd7ccb460907`;
    shop.id.nowhere = unknown("Warehouse");
    shop.id["no-bin"] = unknown("BinLocation");
    shop.id.nothing = unknown("Product");
    for (const [wanted, refusal] of [
      [
        [product, "hall", 0],
        ["OUT_OF_RANGE", "lines.0.quantity"],
      ],
      [
        [product, "hall", 1_000_000_001],
        ["OUT_OF_RANGE", "lines.0.quantity"],
      ],
      [
        [product, "hall", 1, { place: {} }],
        ["INVALID", "lines.0.place"],
      ],
      [
        ["nothing", "hall", 1],
        ["NOT_FOUND", "lines.0.productId"],
      ],
      [
        [product, "nowhere", 1],
        ["NOT_FOUND", "lines.0.place.warehouseId"],
      ],
      [
        [product, "no-bin", 1],
        ["NOT_FOUND", "lines.0.place.binLocationId"],
      ],
      [
        [product, "hall", 1, { batchId: unknown("Batch") }],
        ["NOT_FOUND", "lines.0.batchId"],
      ],
      [
        [product, "hall", 1, { batchId: shop.id.G1 }],
        ["BATCH_MISMATCH", "lines.0.batchId"],
      ],
      [
        [product, "hall", 1, { orderLineItemId: unknown("OrderLineItem") }],
        ["NOT_FOUND", "lines.0.orderLineItemId"],
      ],
    ] as const)
      assert.deepEqual(refusals(await calls.tryReserve([wanted as any])), [refusal]);
    assert.deepEqual(refusals(await calls.tryReserve([])), [["REQUIRED", "lines"]]);
    const many = Array.from({ length: 251 }, () => [product, "hall", 1] as [string, string, number]);
    assert.deepEqual(refusals(await calls.tryReserve(many)), [["TOO_MANY_LINES", "lines"]]);
    for (const [rest, field] of [
      [{ expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt"],
      [{ reference: "x".repeat(256) }, "reference"],
      [{ note: "x".repeat(1001) }, "note"],
    ] as const)
      assert.deepEqual(refusals(await calls.tryReserve([[product, "hall", 1]], rest)), [
        ["OUT_OF_RANGE", field],
      ]);
  });

  it("promises once when it is repeated with its key, and nothing when it is only tried", async () => {
    const tried = await calls.tryReserve([[product, "hall", 4]], { validateOnly: true });
    assert.deepEqual(tried.userErrors, []);
    assert.equal((await calls.figures(product)).reserved, 0);
    const key = { idempotencyKey: `reserve ${product}` };
    const first = await calls.tryReserve([[product, "hall", 4]], key);
    assert.deepEqual(await calls.tryReserve([[product, "hall", 4]], key), first);
    assert.equal((await calls.figures(product)).reserved, 4);
  });

  it("needs stocks:write; the order line of a reservation needs orders:read", async () => {
    const reader = await shop.token({ read: ["stocks"] });
    const { codes } = await shop.tryMutate("stockReserve", calls.inputOf([[product, "hall", 1]]), {
      token: reader,
      select: "stockReservations { id }",
    });
    assert.deepEqual(codes, ["FORBIDDEN"]);
    const query = "{ stockReservations(first: 1) { edges { node { id orderLineItem { id } } } } }";
    assert.deepEqual((await shop.ask(reader, { query })).codes, ["FORBIDDEN"]);
  });

  it("gives the units of those whose time is over to the next caller at once", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { stockReservations } = await calls.tryReserve([[product, "hall", 10]], { expiresAt });
    const { id } = stockReservations[0];
    assert.deepEqual(refusals(await calls.tryReserve([[product, "hall", 1]])), [
      ["INSUFFICIENT_STOCK", "lines.0.quantity"],
    ]);
    await calls.outdate(id);
    await calls.reserve(product, "hall", 10);
    assert.deepEqual(await calls.kept(id), ["0 expired"]);
  });

  it("ends by a job within a minute, if nobody calls", async () => {
    const id = await calls.reserve(product, "hall", 10);
    await calls.outdate(id);
    const queue = new Queue(shop.ownerUrl);
    const worker = startTestJobs(shop.loginUrl, makeTasks({ exchangeRatesFrom: undefined }));
    await queue.add("expire_reservations");
    await until(async () => (await calls.kept(id))[0] === "0 expired");
    await worker.stop();
    await queue.owner.end();
    assert.equal((await calls.figures(product)).available, 10);
    assert.match(makeCrontab({ exchangeRatesFrom: undefined }), /^\* \* \* \* \* expire_reservations /m);
  });

  it("is listed by product, warehouse, bin, batch, order line, state and reference", async () => {
    const order = await shop.order([{ product, quantity: 2 }]);
    const reference = `cart ${product}`;
    const line = { orderLineItemId: order.lines[0] };
    const { stockReservations } = await calls.tryReserve([[product, "A-1", 2, line]], { reference });
    const nodes = "stockReservations(first: 5) { edges { node { id } } }";
    const found = await shop.read(
      `query ($filter: StockReservationFilterInput) {
         stockReservations(filter: $filter) { edges { node { id note createdAt binLocation { code } } } }
         product(id: "${shop.id[product]}") { ${nodes} }
         orderLineItem(id: "${order.lines[0]}") { ${nodes} } }`,
      { filter: { reference: { equals: reference }, state: { equals: "active" } } },
    );
    const ids = [{ node: { id: stockReservations[0].id } }];
    assert.equal(found.stockReservations.edges[0].node.binLocation.code, "A-1");
    assert.deepEqual(found.product.stockReservations.edges, ids);
    assert.deepEqual(found.orderLineItem.stockReservations.edges, ids);
    assert.ok(uuidOf(ids[0]!.node.id));
  });
});

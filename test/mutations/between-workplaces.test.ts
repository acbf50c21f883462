import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { pickingIn } from "../lib/picking.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// Where containers, picking, labels and codes meet each other and what was there before
let shop: ShippingShop;
let picking: ReturnType<typeof pickingIn>;
before(async () => {
  shop = await openShippingShop();
  picking = pickingIn(shop);
});
after(() => shop.close());
beforeEach(() => picking.clear());
afterEach(() => assertLedgerIsRight(shop));

describe("the container of a pick list", () => {
  it("stays in its warehouse, and moves within it, until it is packed", async () => {
    await shop.store("hammer", "A-1", 5);
    const [tote] = await picking.containers("cart 1");
    const list = await picking.begin([await picking.order(["hammer", 5])], {
      lists: [{ stockContainerIds: [tote] }],
    });
    const move = async (place: object) =>
      refusals(
        await shop.mutate("stockContainerMove", { id: tote, ...place }, { select: "stockContainer { id }" }),
      );
    // Even while it is empty: the units would be picked in the hall and lie in the shed
    for (const place of [{ warehouseId: shop.id.shed }, { binLocationId: shop.id["B-1"] }])
      assert.deepEqual(await move(place), [["NOT_EDITABLE", "warehouseId"]]);
    await assert.rejects(
      shop.sql("update erp.stock_container set warehouse_id = $2 where id = $1", tote!, shop.id.shed!),
      /so it stays in its warehouse/,
    );
    assert.deepEqual(await move({ binLocationId: shop.id["A-2"] }), []);
    await picking.confirm(list.lines[0], { quantity: 3 });
    assert.deepEqual(await picking.figures("hammer"), [5, 5, 0, 5, 5]);
    await picking.done("pickListCancel", { id: list.id });
    const other = await picking.plan([await picking.order(["hammer", 1])], {
      lists: [{ stockContainerIds: await picking.containers("cart 2") }],
    });
    await picking.done("pickListCancel", { id: other.id });
    const [free] = other.tasks;
    const away = { id: free.stockContainer.id, warehouseId: shop.id.shed };
    const payload = await shop.mutate("stockContainerMove", away, { select: "stockContainer { id }" });
    assert.deepEqual(payload.userErrors, []);
  });
});

describe("requested labels", () => {
  const request = async (input: object): Promise<string[]> => {
    const payload = await shop.mutate(
      "shippingLabelRequest",
      { carrierTechnicalName: "swift", parcels: [{}, {}], ...input },
      { select: "shippingLabels { id }" },
    );
    assert.deepEqual(payload.userErrors, []);
    return payload.shippingLabels.map(({ id }: any) => id);
  };
  const statesOf = async (ids: string[]) => {
    const states = [];
    for (const id of ids) {
      const query = `{ shippingLabel(id: "${id}") { state cancellationRequestedAt } }`;
      const { shippingLabel: found } = await shop.read(query);
      states.push(found.cancellationRequestedAt === null ? found.state : `${found.state}, called off`);
    }
    return states;
  };
  before(() =>
    shop.sql(`insert into erp.carrier (technical_name, name, url, secret)
      values ('swift', 'Swift', 'https://carrier.example/', repeat('x', 40))`),
  );

  for (const [name, input] of [
    ["orderCancel", (order: any) => ({ id: order.id })],
    ["fulfillmentOrderCancel", (order: any) => ({ id: order.fulfillmentOrders[0].id })],
  ] as const)
    it(`are called off by ${name}, also those that a carrier may know of; those of returns stay`, async () => {
      await shop.store("hammer", "A-1", 5);
      const order = await picking.order(["hammer", 2]);
      const fulfillmentOrderId = order.fulfillmentOrders[0]!.id;
      const [fresh, called] = await request({ fulfillmentOrderId });
      const [coming] = await request({ fulfillmentOrderId, type: "return" });
      await shop.sql("update erp.shipping_label_work set attempts = 1 where shipping_label_id = $1", called!);
      const labels = [fresh!, called!, coming!];
      assert.deepEqual((await shop.mutate(name, input(order))).userErrors, []);
      assert.deepEqual(await statesOf(labels), [
        "cancelled, called off",
        "requested, called off",
        "requested",
      ]);
      // What the job would call the carrier with: only to cancel one, and to make that of the return
      const work = await shop.sql(`
        select c.id, c.is_cancellation from erp.shipping_label l
        cross join erp.claim_shipping_labels('swift', 10, '1 min') c where l.id = c.id order by c.id`);
      assert.deepEqual(
        work
          .filter(({ id }: any) => labels.some((label) => label.endsWith(id)))
          .map((row: any) => row.is_cancellation),
        [true, false],
      );
      const again = { fulfillmentOrderId, carrierTechnicalName: "swift" };
      assert.deepEqual(refusals(await shop.mutate("shippingLabelRequest", again)), [
        ["INVALID_STATE_TRANSITION", "fulfillmentOrderId"],
      ]);
    });
});

describe("GTINs", () => {
  const [gtin, other] = ["4006381333931", "9780201379624"];
  const set = async (product: string, ...gtins: string[]) =>
    refusals(
      await shop.mutate("productGtinsSet", {
        productId: shop.id[product],
        gtins: gtins.map((one) => ({ gtin: one, quantity: 12 })),
      }),
    );
  const upsert = async (productNumber: string, own: string | null) =>
    refusals(
      await shop.mutate("productsUpsert", { products: [{ productNumber, name: productNumber, gtin: own }] }),
    );

  it("of one product are no further GTINs of another, whichever comes first", async () => {
    assert.deepEqual(await upsert("hammer", gtin), []);
    assert.deepEqual(await set("nail", other, gtin), [["NOT_UNIQUE", "gtins.1.gtin"]]);
    assert.deepEqual(await set("nail", other), []);
    assert.deepEqual(await upsert("hammer", other), [["NOT_UNIQUE", "products.0.gtin"]]);
    assert.deepEqual(await upsert("hammer", `0${other}`), [["NOT_UNIQUE", "products.0.gtin"]]);
    // A product that has it already can change otherwise
    await shop.sql(`update erp.product set gtin = '${other}' where product_number = 'hammer'`);
    assert.deepEqual(await upsert("hammer", other), []);
    assert.deepEqual(await upsert("hammer", null), []);
    assert.deepEqual(await upsert("nail", other), []);
    assert.deepEqual(await set("nail", other), []);
  });
});

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { anonymizeCustomer } from "../../src/commands/customers/anonymize.ts";
import { deliveriesOf, sequence } from "../events/support.ts";
import { uuidOf } from "../lib/ids.ts";
import { assertProof } from "../lib/proof.ts";
import type { ReturnShop } from "../lib/return-shop.ts";
import { openReturnShop } from "../lib/return-shop.ts";
import { refusals } from "../lib/shop.ts";

// Situations of customers, their quotes, the places where they order, and programs that follow
let shop: ReturnShop;
before(async () => {
  shop = await openReturnShop();
  for (const product of ["hammer", "nail"]) await shop.store(product, "A-1", 50);
  await shop.sql(`
    insert into erp.country (iso_code, name) values ('FR', '{"en-GB": "France"}') on conflict do nothing;
    insert into erp.customer_group (technical_name, name) values ('retail', '{"en-GB": "Retail"}');
    insert into erp.payment_method (technical_name) values ('card') on conflict do nothing`);
  const channel = (technicalName: string) => ({
    ...{ technicalName, nameByLocale: { "en-GB": technicalName }, countryIsoCode: "FR" },
    ...{ currencyIsoCode: "EUR", customerGroupTechnicalName: "retail", paymentMethodTechnicalName: "card" },
  });
  await shop.succeed("salesChannelsUpsert", { salesChannels: [channel("web"), channel("till")] });
});
after(async () => {
  await assertProof(shop.owner);
  await shop.close();
});

const nodes = ({ edges }: any): any[] => edges.map(({ node }: any) => node);
const address = { firstName: "Chloé", lastName: "Lefèvre", city: "Annecy", countryIso: "FR" };
/** A customer of a channel, by their number. */
const customer = async (customerNumber: string, salesChannelTechnicalName = "web") => {
  const row = {
    ...{ customerNumber, salesChannelTechnicalName, email: `${customerNumber}@example.com` },
    ...{ firstName: "Chloé", lastName: "Lefèvre", groupTechnicalName: "retail" },
  };
  const { customers } = await shop.succeed("customersUpsert", { customers: [row] }, "customers { id }");
  return customers[0].id;
};
const hammers = { productNumber: "hammer", quantity: 2, unitPrice: 5, taxRate: 19 };
const order = async (orderNumber: string, rest: object = {}) => {
  const { orders } = await shop.succeed(
    "ordersUpsert",
    {
      orders: [
        { orderNumber, currencyIsoCode: "EUR", shippingAddress: address, lineItems: [hammers], ...rest },
      ],
    },
    "orders { id lineItems { edges { node { id } } } }",
  );
  return { id: orders[0].id, lines: nodes(orders[0].lineItems).map(({ id }) => id), fulfillmentOrders: [] };
};
const stateOf = async (made: { id: string }) => {
  const { state, deliveryState } = await shop.stateOf(made as any);
  return [state, deliveryState];
};
/** A quote that was sent. */
const quote = async (rest: object = {}) => {
  const row = {
    ...{ currencyIsoCode: "EUR", validUntil: "2099-01-01T00:00:00Z", shippingAddress: address },
    ...{ lineItems: [hammers], ...rest },
  };
  const { quotes } = await shop.succeed("quotesUpsert", { quotes: [row] }, "quotes { id }");
  await shop.succeed("quoteSend", { id: quotes[0].id });
  return quotes[0].id;
};
const accept = (id: string, rest: object = {}) =>
  shop.mutate(
    "quoteAccept",
    { id, ...rest },
    {
      select: "order { id lineItems { edges { node { id } } } } warnings { code message field details }",
    },
  );
const forget = async (number: string) => {
  const client = await shop.owner.connect();
  try {
    return await anonymizeCustomer(client, number);
  } finally {
    client.release();
  }
};

describe("a quote that is accepted after its date", () => {
  it("is refused, and accepted on purpose or offered again", async () => {
    const ids = [await quote(), await quote()];
    for (const id of ids)
      await shop.sql("update erp.quote set valid_until = now() - interval '1 day' where id = $1", id);
    for (const id of ids) {
      const refused = await accept(id);
      assert.deepEqual(refusals(refused), [["QUOTE_EXPIRED", "id"]]);
      assert.match(refused.userErrors[0].message, /allowExpired.*quoteRevise/);
    }
    const late = await accept(ids[0], { allowExpired: true });
    assert.deepEqual([late.userErrors, late.warnings], [[], []]);
    await shop.succeed("quoteRevise", { id: ids[1] });
    await shop.succeed("quotesUpsert", { quotes: [{ id: ids[1], validUntil: "2099-01-01T00:00:00Z" }] });
    await shop.succeed("quoteSend", { id: ids[1] });
    assert.deepEqual(refusals(await accept(ids[1], { revision: 1 })), [["INVALID", "revision"]]);
    const again = await accept(ids[1], { revision: 2 });
    assert.deepEqual(again.userErrors, []);
    for (const { order: made } of [late, again])
      await shop.succeed("orderShipmentComplete", { orderId: made.id });
    assert.deepEqual(await stateOf(late.order), ["completed", "shipped"]);
  });
});

describe("a quote that is accepted after its products changed", () => {
  it("becomes an order, with warnings about lines that have to change", async () => {
    for (const product of ["vase", "rug", "rug red"]) await shop.addProduct(product);
    await shop.store("rug red", "A-1", 5);
    const line = (productNumber: string) => ({ ...hammers, productNumber });
    const id = await quote({ lineItems: [line("vase"), line("hammer"), line("rug")] });
    await shop.sql("delete from erp.product where id = $1", shop.id.vase!);
    await shop.succeed("productsUpsert", {
      products: [{ productNumber: "rug red", parentProductNumber: "rug" }],
    });
    const { order: made, userErrors, warnings } = await accept(id);
    assert.deepEqual(userErrors, []);
    const lines = nodes(made.lineItems).map((one) => one.id);
    assert.deepEqual(
      warnings.map(({ code, field, details }: any) => [code, field, details]),
      [
        ["PRODUCT_DELETED", ["id"], { orderLineItemId: lines[0] }],
        ["PRODUCT_HAS_VARIANTS", ["id"], { orderLineItemId: lines[2], productId: shop.id.rug }],
      ],
    );
    for (const { message } of warnings) assert.match(message, /ordersUpsert/);
    await shop.succeed("ordersUpsert", {
      orders: [
        {
          id: made.id,
          lineItems: [
            { id: lines[0], productNumber: "nail" },
            { id: lines[1] },
            { id: lines[2], productNumber: "rug red" },
          ],
        },
      ],
    });
    await shop.succeed("orderShipmentComplete", { orderId: made.id });
    assert.deepEqual(await stateOf(made), ["completed", "shipped"]);
    assert.equal(await shop.stockAt("rug red", "A-1"), 3);
  });
});

describe("a customer who must be forgotten while an order or a return is open", () => {
  it("is forgotten when the order is shipped; the return goes on, and a quote warns", async () => {
    const customerId = await customer("C-1");
    const offered = await quote({ customerId, billingAddress: address });
    const made = await order("F-1", { customerId });
    await assert.rejects(forget("C-1"), /still needed by the order F-1\. Complete or cancel these first/);
    await shop.succeed("orderShipmentComplete", { orderId: made.id });
    const back = await shop.request([[made.lines[0], 2]], { isApproved: true });
    assert.equal((await forget("C-1")).wasDone, false);
    const now = await shop.receive([{ line: back.lines[0]!, quantity: 2 }]);
    assert.equal(now.state, "received");
    assert.deepEqual(await stateOf(made), ["completed", "returned"]);
    const accepted = await accept(offered);
    assert.deepEqual(
      [accepted.userErrors, accepted.warnings.map(({ code, details }: any) => [code, details])],
      [[], [["CUSTOMER_ANONYMIZED", { customerId }]]],
    );
    // It is the order of nobody
    await shop.succeed("orderCancel", { id: accepted.order.id });
  });
});

describe("a customer who orders under two e-mail addresses", () => {
  it("gets all orders under one number, and the other one is closed", async () => {
    const [kept, other] = [await customer("D-1"), await customer("D-2")];
    const [first, second] = [
      await order("D-1", { customerId: kept }),
      await order("D-2", { customerId: other }),
    ];
    await shop.succeed("ordersUpsert", { orders: [{ id: second.id, customerNumber: "D-1" }] });
    await shop.succeed("customersUpsert", { customers: [{ id: other, active: false }] });
    const { one, two } = await shop.read(
      `query ($one: ID!, $two: ID!) { one: customer(id: $one) { orders { edges { node { id } } } }
         two: customer(id: $two) { active orders { edges { node { id } } } } }`,
      { one: kept, two: other },
    );
    assert.deepEqual(
      [nodes(one.orders).map(({ id }) => id), two],
      [[first.id, second.id], { active: false, orders: { edges: [] } }],
    );
    for (const { id } of [first, second]) await shop.succeed("orderShipmentComplete", { orderId: id });
  });
});

describe("a sales channel that closes", () => {
  it("keeps its orders, which are shipped; its quotes end, and its customers go to another", async () => {
    const customerId = await customer("E-1", "till");
    const made = await order("E-1", { customerId, salesChannelTechnicalName: "till" });
    const offered = await quote({ customerId, salesChannelTechnicalName: "till" });
    await shop.succeed("quoteDecline", { id: offered, declineReason: "the shop is closed" });
    assert.deepEqual(refusals(await accept(offered)), [["INVALID_STATE_TRANSITION", null]]);
    await shop.succeed("customersUpsert", {
      customers: [{ id: customerId, salesChannelTechnicalName: "web" }],
    });
    await shop.succeed("orderShipmentComplete", { orderId: made.id });
    const { order: read } = await shop.read(
      `query ($id: ID!) { order(id: $id) { state salesChannel { technicalName }
         customer { salesChannel { technicalName } } } }`,
      { id: made.id },
    );
    assert.deepEqual(read, {
      state: "completed",
      salesChannel: { technicalName: "till" },
      customer: { salesChannel: { technicalName: "web" } },
    });
  });
});

describe("a webhook receiver that was away for a day", () => {
  it("reads what it missed, or has it sent again", async () => {
    const { webhookSubscription } = await shop.succeed(
      "webhookSubscriptionCreate",
      { topic: "order.created", url: "https://shop.example/hook", apiVersion: "unstable" },
      "webhookSubscription { id }",
    );
    const { id } = webhookSubscription;
    await order("H-1");
    await sequence(shop.owner);
    const follow = (sequence: number) =>
      shop.read(
        `query ($after: Float!) { events(filter: { topic: { equals: "order.created" }, sequence: { gt: $after } }) {
           edges { node { sequence data } } } }`,
        { after: sequence },
      );
    const seen = nodes((await follow(0)).events).at(-1);
    await shop.sql(
      "update events.delivery set state = 'delivered' where subscription_id = $1 and state = 'pending'",
      id,
    );
    // The receiver was away, and all attempts to reach it are over
    await order("H-2");
    await order("H-3");
    await sequence(shop.owner);
    const missed = nodes((await follow(seen.sequence)).events);
    assert.deepEqual(
      missed.map(({ data }) => data.orderNumber),
      ["H-2", "H-3"],
    );
    await shop.sql(
      "update events.delivery set state = 'failed' where subscription_id = $1 and state = 'pending'",
      id,
    );
    const { replayedCount } = await shop.succeed(
      "webhookDeliveriesReplay",
      { id, fromSequence: seen.sequence, onlyUndelivered: true },
      "replayedCount",
    );
    assert.equal(replayedCount, 2);
    const states = (await deliveriesOf(shop.owner, uuidOf(id))).map(({ state }) => state);
    assert.deepEqual(states.slice(-3), ["delivered", "pending", "pending"]);
  });
});

import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import { noUuid, uuidOf } from "../lib/ids.ts";
import type { TestProcess } from "../lib/service.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// quoteAccept makes one order of a quote, however often and by whomever it is called, and none after it has expired
let shop: ShippingShop;
let processes: TestProcess[];
before(async () => {
  shop = await openShippingShop({ poolSize: 6 });
  processes = [shop, await shop.another({ poolSize: 6 })];
  await shop.sql(`
    insert into erp.country (iso_code, name) values ('FR', '{"en-GB": "France"}');
    insert into erp.customer_group (name) values ('{"en-GB": "Retail"}');
    insert into erp.payment_method (technical_name, name, position) values ('card', '{"en-GB": "Card"}', 1);
    insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
      select '{"en-GB": "Shop"}', c.id, u.id, g.id, p.id
      from erp.country c, erp.currency u, erp.customer_group g, erp.payment_method p where u.iso_code = 'EUR';
    insert into erp.customer (customer_number, email, first_name, last_name, group_id, sales_channel_id)
      select 'C-1', 'c@example.com', 'Chloé', 'Lefèvre', g.id, s.id from erp.customer_group g, erp.sales_channel s`);
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const order = `id orderNumber state amountNet amountTotal purchaseOrderNumber
  lineItems { edges { node { identifier quantity unitPrice totalPrice product { productNumber } } } }`;
const select = `quote { id state revision order { id } } order { ${order} }`;
const address = { company: "Café Zeitlos", city: "Annecy", countryIso: "FR" };
const line = { productNumber: "hammer", quantity: 3, unitPrice: 9.99, taxRate: 19 };

async function sent(rest: object = {}): Promise<string> {
  const row = { currencyId: shop.id.EUR, validUntil: "2099-01-01T00:00:00Z", lineItems: [line], ...rest };
  const { quotes } = await shop.mutate("quotesUpsert", { quotes: [row] }, { select: "quotes { id }" });
  const { userErrors } = await shop.mutate("quoteSend", { id: quotes[0].id });
  assert.deepEqual(userErrors, []);
  return quotes[0].id;
}
const accept = (id: string, rest: object = {}, options: object = {}) =>
  shop.mutate("quoteAccept", { id, ...rest }, { select, ...options });
const overdue = (id: string) =>
  shop.sql("update erp.quote set valid_until = now() - interval '1 minute' where id = $1", id);
const expire = async (most?: number) =>
  (await shop.sql(`select erp.expire_quotes(${most ?? ""}) as count`))[0].count;
const stateOf = async (id: string) =>
  (await shop.sql("select state from erp.quote where id = $1", id))[0].state;
const ordersOf = async (number: string) =>
  (await shop.sql(`select count(*)::int as count from erp.sales_order where order_number = '${number}'`))[0]
    .count;
const reserved = async () =>
  (await shop.sql("select reserved_stock from erp.product where product_number = 'hammer'"))[0]
    .reserved_stock;

describe("quoteAccept", () => {
  it("makes an order with what the quote offered, though the product costs more by now", async () => {
    const [customer] = await shop.sql("select id from erp.customer");
    const customerId = `gid://service/Customer/${customer.id}`;
    const id = await sent({
      customerId,
      billingAddress: address,
      shippingAddress: { ...address, city: "Lyon" },
    });
    const before = await reserved();
    const { quote, order: made, userErrors } = await accept(id, { purchaseOrderNumber: "PO 7" });
    assert.deepEqual(userErrors, []);
    assert.deepEqual([quote.state, quote.order.id], ["accepted", made.id]);
    assert.match(made.orderNumber, /^SO-\d+$/);
    const { amountNet, amountTotal, state, purchaseOrderNumber } = made;
    assert.deepEqual([amountNet, amountTotal, state], [25.18, 29.97, "open"]);
    assert.equal(purchaseOrderNumber, "PO 7");
    assert.equal(await reserved(), before + 3);
    const [row] = await shop.sql(
      "select customer_id, billing_address, shipping_address, tax_status from erp.sales_order where id = $1",
      made.id,
    );
    assert.deepEqual(row, {
      customer_id: uuidOf(customerId),
      billing_address: address,
      shipping_address: { ...address, city: "Lyon" },
      tax_status: "gross",
    });
  });

  it("returns the same order again", async () => {
    const id = await sent();
    const first = await accept(id);
    const again = await accept(id, { orderNumber: "other", revision: 9 });
    assert.deepEqual(again, first);
    assert.equal(await ordersOf("other"), 0);
  });

  it("makes one order when two processes accept at once", async () => {
    for (let round = 0; round < 5; round++) {
      const id = await sent();
      const before = await reserved();
      const answers = await Promise.all([0, 1, 0, 1].map((n) => accept(id, {}, { process: processes[n] })));
      assert.equal(new Set(answers.map((answer) => answer.order.id)).size, 1);
      assert.equal(await reserved(), before + 3);
    }
  });

  it("gives orders accepted at once numbers of their own", async () => {
    const ids = [await sent(), await sent(), await sent()];
    const answers = await Promise.all(ids.map((id, n) => accept(id, {}, { process: processes[n % 2] })));
    assert.equal(new Set(answers.map((answer) => answer.order.orderNumber)).size, 3);
  });

  it("is refused for what it can't accept", async () => {
    const code = async (id: string, rest: object = {}) => refusals(await accept(id, rest));
    assert.deepEqual(await code(`gid://service/Quote/${noUuid}`), [["NOT_FOUND", "id"]]);
    const id = await sent();
    await shop.mutate("ordersUpsert", { orders: [{ orderNumber: "T-1", currencyId: shop.id.USD }] });
    assert.deepEqual(await code(id, { orderNumber: "T-1" }), [["NOT_UNIQUE", "orderNumber"]]);
    const [kept] = await shop.sql(
      "select c.iso_code from erp.sales_order o join erp.currency c on c.id = o.currency_id where order_number = 'T-1'",
    );
    assert.equal(kept.iso_code, "USD");
    assert.deepEqual(await code(id, { orderNumber: " " }), [["INVALID", "orderNumber"]]);
    assert.deepEqual(await code(id, { purchaseOrderNumber: "x".repeat(256) }), [
      ["OUT_OF_RANGE", "purchaseOrderNumber"],
    ]);
    assert.deepEqual(await code(id, { revision: 2 }), [["INVALID", "revision"]]);
    await shop.mutate("quoteDecline", { id });
    assert.deepEqual(await code(id), [["INVALID_STATE_TRANSITION", null]]);
    const token = await shop.token({ read: "all", write: ["orders"] });
    const { codes } = await shop.tryMutate("quoteAccept", { id }, { token });
    assert.deepEqual(codes, ["FORBIDDEN"]);
  });

  it("takes numbers that no order has", async () => {
    await shop.sql(`insert into erp.sales_order (order_number, currency_id)
      select replace(r.pattern, '{n}', (r.last_number + 1)::text), c.id
      from erp.number_range r, erp.currency c where r.technical_name = 'order' and c.iso_code = 'EUR'`);
    assert.deepEqual((await accept(await sent())).userErrors, []);
  });

  it("leaves a line whose product was deleted", async () => {
    await shop.mutate("productsUpsert", { products: [{ productNumber: "gone", name: "Gone" }] });
    const id = await sent({ lineItems: [{ ...line, productNumber: "gone" }] });
    await shop.sql("delete from erp.product where product_number = 'gone'");
    const { order: made, userErrors } = await accept(id);
    assert.deepEqual(userErrors, []);
    assert.deepEqual([made.amountTotal, made.lineItems.edges[0].node.product], [29.97, null]);
  });
});

describe("a quote whose time is over", () => {
  it("isn't accepted, whether or not the job has run, unless somebody says so", async () => {
    const id = await sent();
    await overdue(id);
    const refusal = { code: "QUOTE_EXPIRED", field: ["id"] };
    for (const run of [async () => 0, expire]) {
      await run();
      const { userErrors, order: made } = await accept(id);
      assert.deepEqual([userErrors[0].code, userErrors[0].field, made], [refusal.code, refusal.field, null]);
      assert.ok(userErrors[0].details.validUntil);
    }
    assert.equal(await stateOf(id), "expired");
    assert.deepEqual((await accept(id, { allowExpired: true })).userErrors, []);
    assert.equal(await stateOf(id), "accepted");
  });

  it("expires by a job that takes some at a time, and only those that were sent", async () => {
    const ids = [await sent(), await sent(), await sent()];
    const other = await sent();
    for (const id of ids) await overdue(id);
    await sequence(shop.owner);
    const position = await endOfLog(shop.owner);
    assert.deepEqual([await expire(2), await expire(2), await expire(2)], [2, 1, 0]);
    assert.deepEqual(await Promise.all([...ids, other].map(stateOf)), [
      "expired",
      "expired",
      "expired",
      "sent",
    ]);
    await sequence(shop.owner);
    const events = await logAfter(shop.owner, position);
    assert.deepEqual([...new Set(events.map(({ topic }: any) => topic))], ["quote.expired"]);
  });

  it("is either accepted or expired when both happen at once", async () => {
    for (let round = 0; round < 6; round++) {
      const id = await sent();
      await overdue(id);
      const [answer] = await Promise.all([accept(id, { allowExpired: true }), expire()]);
      assert.deepEqual(answer.userErrors, []);
      assert.equal(await expire(), 0);
      assert.equal(await stateOf(id), "accepted");
      const plain = await sent();
      await overdue(plain);
      const [refused] = await Promise.all([accept(plain), expire()]);
      assert.deepEqual(refusals(refused), [["QUOTE_EXPIRED", "id"]]);
      await expire();
      assert.equal(await stateOf(plain), "expired");
    }
  });
});

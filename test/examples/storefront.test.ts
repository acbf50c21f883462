import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../commands/process.ts";
import { gid } from "../lib/ids.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { until } from "../lib/until.ts";
import { fast, startTestWebhooks } from "../webhooks/support.ts";
import type { TestWebhooks } from "../webhooks/support.ts";
import type { StandIn } from "./stand-in-shops.ts";
import {
  recorded,
  sendFromShopify,
  sendFromShopware,
  startShopify,
  startShopware,
} from "./stand-in-shops.ts";

const program = fileURLToPath(new URL("../../examples/storefront/storefront.ts", import.meta.url));
const channelSql = `
  with country as (insert into erp.country (iso_code, name) values ('DE', '{"en-GB":"Germany"}') returning id),
  kind as (insert into erp.customer_group (name) values ('{"en-GB":"Retail"}') returning id),
  method as (insert into erp.payment_method (technical_name) values ('test_bill') returning id)
  insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
  select '{"en-GB":"Shop"}', country.id, c.id, kind.id, method.id
  from country, kind, method, erp.currency c where c.iso_code = 'EUR' returning id`;

let erp: ShippingShop;
let channel: string;
let webhooks: TestWebhooks;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let credentials: { CLIENT_ID: string; CLIENT_SECRET: string };
before(async () => {
  erp = await openShippingShop({ settings: { webhookAllow: ["127.0.0.1"] } });
  channel = gid("SalesChannel", (await erp.sql(channelSql))[0].id);
  webhooks = startTestWebhooks(erp.loginUrl, { clock: fast(0.001) });
  folder = await temporaryFolder();
  const { clientId, clientSecret } = await erp.credential({
    read: ["currencies"],
    write: ["products", "customers", "orders"],
  });
  credentials = { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
});
after(async () => {
  await webhooks.stop();
  await folder.remove();
  await erp.close();
});

/** The example as a process that can be killed and started again, with the service's subscriptions to it. */
class Storefront {
  url = "";
  #child: ChildProcess | null = null;
  #subscriptions: { id: string; secret: string }[] = [];
  readonly #settings: Record<string, string>;

  constructor(name: string, settings: Record<string, string>) {
    this.#settings = {
      ...settings,
      ...credentials,
      ...{ SALES_CHANNEL_ID: channel, SERVICE_URL: erp.url, PORT: "0", PAUSE_MS: "10" },
      INBOX: join(folder.path, `${name}.sqlite`),
    };
  }

  async subscribe(): Promise<void> {
    for (const [topic, fields] of [
      ["product.updated", ["availableStock"]],
      ["order.updated", ["trackingCodes", "deliveryState"]],
    ] as const) {
      const input = { topic, fields, url: "http://127.0.0.1:9/service", apiVersion: "unstable" };
      const made = await erp.mutate("webhookSubscriptionCreate", input, {
        select: "webhookSubscription { id } secret",
      });
      assert.deepEqual(made.userErrors, []);
      this.#subscriptions.push({ id: made.webhookSubscription.id, secret: made.secret });
    }
  }

  async start(more: Record<string, string> = {}): Promise<void> {
    const WEBHOOK_SECRETS = this.#subscriptions.map(({ secret }) => secret).join(",");
    this.#child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program], {
      env: { ...process.env, ...this.#settings, WEBHOOK_SECRETS, ...more },
      // It tells of what it tries again
      stdio: ["ignore", "pipe", "ignore"],
    });
    let output = "";
    this.#child.stdout!.on("data", (chunk) => (output += chunk));
    await until(() => /listening on port \d+/.test(output));
    this.url = `http://127.0.0.1:${/port (\d+)/.exec(output)![1]}`;
    for (const { id } of this.#subscriptions) {
      const { userErrors } = await erp.mutate("webhookSubscriptionUpdate", {
        id,
        url: `${this.url}/service`,
      });
      assert.deepEqual(userErrors, []);
    }
  }

  /** As a power cut would. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  /** Sends all messages of the service again. */
  async replay(): Promise<void> {
    for (const { id } of this.#subscriptions) {
      const { userErrors } = await erp.mutate("webhookDeliveriesReplay", { id, fromSequence: 1 });
      assert.deepEqual(userErrors, []);
    }
  }

  async close(): Promise<void> {
    await this.kill();
    for (const { id } of this.#subscriptions) await erp.mutate("webhookSubscriptionDelete", { id });
  }
}

const orderOf = async (number: string): Promise<any> =>
  (
    await erp.read(
      `query ($number: String!) { orders(filter: { orderNumber: { equals: $number } }) { edges { node {
        id storefrontId state paymentState amountTotal
        lineItems { edges { node { label quantity totalPrice product { productNumber } } } } } } } }`,
      { number },
    )
  ).orders.edges.map(({ node }: any) => node)[0];
const customersOf = (orderNumber: string): Promise<any[]> =>
  erp.sql(`select c.email, c.storefront_id, c.account_type from erp.customer c
    join erp.sales_order o on o.customer_id = c.id where o.order_number = '${orderNumber}'`);
const product = async (productNumber: string): Promise<any> =>
  (
    await erp.read(
      `query ($number: String!) { products(filter: { productNumber: { equals: $number } }) { edges { node {
        id name gtin parent { productNumber } price { net gross } translations { locale name description }
        images { edges { node { url altText translations { locale altText } } } } } } } }`,
      { number: productNumber },
    )
  ).products.edges.map(({ node }: any) => node)[0];
const imagesOf = async (productNumber: string): Promise<any[]> =>
  (await product(productNumber)).images.edges.map(({ node }: any) => node);
const store = async (productId: string, delta: number): Promise<void> => {
  const lines = [{ productId, place: { warehouseId: erp.id.hall }, delta }];
  assert.deepEqual((await erp.mutate("stockAdjust", { lines })).userErrors, []);
};
const rowsIn = async (table: string): Promise<number> =>
  (await erp.sql(`select count(*)::int as count from ${table}`))[0].count;
const allDelivered = async (): Promise<boolean> =>
  (
    await erp.sql(
      "select from events.outbox union all select from events.delivery where state <> 'delivered'",
    )
  ).length === 0;

describe("the example of a storefront, with a shop of Shopify", () => {
  let shop: StandIn;
  let storefront: Storefront;
  const order = recorded("shopify-order");
  const send = (topic: string, document: object, id?: string, secret = shop.secret) =>
    sendFromShopify(`${storefront.url}/shop`, topic, document, secret, id);
  before(async () => {
    shop = await startShopify();
    storefront = new Storefront("shopify", {
      ...{ SHOP: "shopify", SHOP_URL: shop.url, SHOP_SECRET: shop.secret, SHOP_TOKEN: "shpat_test" },
      SHOP_LOCATION_ID: "gid://shopify/Location/1",
    });
    await storefront.subscribe();
  });
  after(async () => {
    await storefront.close();
    await shop.close();
  });

  it("keeps what it accepted while the service is away, also when it is killed", async () => {
    await storefront.start({ SERVICE_URL: "http://127.0.0.1:9" });
    // The order comes before its products
    assert.equal(await send("orders/create", order, "w1"), 200);
    assert.equal(await send("products/create", recorded("shopify-product"), "w2"), 200);
    await storefront.kill();
    await storefront.start();
    await until(async () => (await orderOf("#1001")) !== undefined);
    const { storefrontId, state, paymentState, amountTotal, lineItems } = await orderOf("#1001");
    assert.deepEqual(
      [storefrontId, state, paymentState, amountTotal],
      ["gid://shopify/Order/5001", "open", "paid", 709.15],
    );
    assert.deepEqual(await customersOf("#1001"), [
      { email: "ada@example.com", storefront_id: "gid://shopify/Customer/7001", account_type: "Private" },
    ]);
    assert.deepEqual(
      lineItems.edges.map(({ node }: any) => [
        ...[node.label, node.quantity, node.totalPrice, node.product?.productNumber],
      ]),
      [
        ["Tent Nordwind, 2 persons", 3, 690.2, "TENT-2"],
        ["Gift wrap", 1, 14, undefined],
        ["Parcel", 1, 4.95, undefined],
      ],
    );
    const { name, gtin, parent, price } = await product("TENT-2");
    assert.deepEqual(
      [name, gtin, parent, price],
      [
        ...["Tent Nordwind, 2 persons", "4006381333931"],
        ...[{ productNumber: "tent-nordwind" }, [{ net: 200, gross: 238 }]],
      ],
    );
    const shown = async (productNumber: string) =>
      (await imagesOf(productNumber)).map(({ url, altText }) => [/[^/]*(?=\?)/.exec(url)![0], altText]);
    const [tent, four] = [
      ["nordwind.jpg", "A tent in the dunes"],
      ["nordwind-4.jpg", null],
    ];
    assert.deepEqual(
      [await shown("tent-nordwind"), await shown("TENT-2"), await shown("TENT-4")],
      [[tent, four], [], [four]],
    );
  });

  it("refuses what the shop or the service hasn't signed", async () => {
    const other = { ...order, admin_graphql_api_id: "gid://shopify/Order/1" };
    assert.equal(await send("orders/create", other, "w3", "another secret"), 401);
    for (const path of ["/shop", "/service"])
      assert.equal((await fetch(storefront.url + path, { method: "POST", body: "{}" })).status, 401);
    assert.equal((await fetch(`${storefront.url}/shop`)).status, 405);
    assert.equal((await fetch(`${storefront.url}/else`, { method: "POST" })).status, 404);
  });

  it("takes repetitions once, the newest state last, and doesn't take a guest for two", async () => {
    const [orders, customers] = [await rowsIn("erp.sales_order"), await rowsIn("erp.customer")];
    const newer = { ...order, updated_at: "2026-03-04T10:00:00+01:00", tags: "web, gift" };
    const guest = {
      ...{ ...order, admin_graphql_api_id: "gid://shopify/Order/5002", name: "#1002" },
      customer: { ...order.customer, admin_graphql_api_id: "gid://shopify/Customer/7002" },
    };
    assert.equal(await send("orders/updated", newer, "w4"), 200);
    // Late, and again
    assert.equal(await send("orders/updated", { ...order, financial_status: "pending" }, "w5"), 200);
    assert.equal(await send("orders/updated", newer, "w4"), 200);
    assert.equal(await send("orders/create", order, "w1"), 200);
    assert.equal(await send("app/uninstalled", {}, "w6"), 200);
    // What comes last is worked off last
    assert.equal(await send("orders/create", guest, "w7"), 200);
    await until(async () => (await orderOf("#1002")) !== undefined);
    assert.equal((await orderOf("#1001")).paymentState, "paid");
    const tags = await erp.sql("select name from erp.tag where name in ('web', 'gift')");
    assert.equal(tags.length, 2);
    assert.deepEqual(
      [await rowsIn("erp.sales_order"), await rowsIn("erp.customer")],
      [orders + 1, customers],
    );

    const cancelled = { ...guest, updated_at: "2026-03-05T10:00:00Z", cancelled_at: "2026-03-05T10:00:00Z" };
    assert.equal(await send("orders/cancelled", cancelled, "w8"), 200);
    await until(async () => (await orderOf("#1002")).state === "cancelled");
  });

  it("brings stock and parcels to the shop once, though it is away and the example is killed", async () => {
    shop.isAway = true;
    await store((await product("TENT-2")).id, 10);
    const { id } = await orderOf("#1001");
    const shipped = await erp.mutate("orderShipmentComplete", {
      orderId: id,
      trackingCodes: ["DHL-1", "DHL-2"],
    });
    assert.deepEqual(shipped.userErrors, []);
    await until(allDelivered);
    await storefront.kill();
    await storefront.start();
    shop.isAway = false;
    const stock = "stock of gid://shopify/InventoryItem/9101: 7";
    const fulfilled = "fulfilled 3: DHL-1,DHL-2";
    await until(() => shop.calls.includes(stock) && shop.calls.includes(fulfilled));
    // Sent again, the messages only repeat what is: the stock of another product comes after them
    await storefront.replay();
    await until(allDelivered);
    await store((await product("TENT-4")).id, 4);
    await until(() => shop.calls.includes("stock of gid://shopify/InventoryItem/9102: 4"));
    await until(allDelivered);
    assert.deepEqual(
      shop.calls.filter((call) => /fulfilled|tracked/.test(call)),
      [fulfilled],
    );
    // What the shop says of the order now changes nothing
    const [{ last }] = await erp.sql("select max(sequence) as last from events.event");
    const late = {
      ...order,
      updated_at: "2026-03-06T10:00:00Z",
      tags: "web, gift",
      fulfillment_status: "fulfilled",
    };
    assert.equal(await send("orders/fulfilled", late, "w9"), 200);
    assert.equal(await send("orders/updated", late, "w10"), 200);
    assert.equal(
      await send("products/update", { ...recorded("shopify-product"), title: "Tent" }, "w11"),
      200,
    );
    await until(async () => (await product("TENT-2")).name === "Tent, 2 persons");
    await until(allDelivered);
    const topics = await erp.sql(`select topic from events.event where sequence > ${last}`);
    assert.deepEqual(
      topics.filter(({ topic }) => topic.startsWith("order.")),
      [],
    );
  });
});

describe("the example of a storefront, with a shop of Shopware", () => {
  let shop: Awaited<ReturnType<typeof startShopware>>;
  let storefront: Storefront;
  const send = (message: object, secret = shop.secret) =>
    sendFromShopware(`${storefront.url}/shop`, message, secret);
  before(async () => {
    shop = await startShopware();
    storefront = new Storefront("shopware", {
      ...{ SHOP: "shopware", SHOP_URL: shop.url, SHOP_SECRET: shop.secret },
      ...{ SHOP_CLIENT_ID: "app", SHOP_CLIENT_SECRET: "hunter2" },
    });
    await storefront.subscribe();
    await storefront.start();
  });
  after(async () => {
    await storefront.close();
    await shop.close();
  });

  it("reads what messages name as soon as the shop is there, and brings it in once", async () => {
    const [productWritten, orderWritten] = [
      recorded("shopware-product-written"),
      recorded("shopware-order-written"),
    ];
    const orders = await rowsIn("erp.sales_order");
    assert.equal(await send(productWritten, "another secret"), 401);
    shop.isAway = true;
    for (const message of [productWritten, orderWritten, orderWritten])
      assert.equal(await send(message), 200);
    await storefront.kill();
    await storefront.start();
    shop.isAway = false;
    await until(async () => (await orderOf("20017")) !== undefined);
    const { amountTotal, paymentState, lineItems } = await orderOf("20017");
    assert.deepEqual([amountTotal, paymentState], [124.95, "paid"]);
    const [customer] = await customersOf("20017");
    assert.deepEqual([customer.email, customer.account_type], ["grace@example.com", "Business"]);
    assert.deepEqual(
      lineItems.edges.map(({ node }: any) => [node.label, node.totalPrice]),
      [
        ["Lampe Leuchtturm", 119],
        ["Shipping", 5.95],
      ],
    );
    const red = await product("LAMP-RED");
    assert.deepEqual([red.parent, red.translations], [{ productNumber: "LAMP" }, []]);
    assert.deepEqual((await product("LAMP")).translations, [
      { locale: "de-DE", name: "Lampe Leuchtturm", description: "Leuchtet weit." },
      { locale: "en-GB", name: "Lighthouse lamp", description: null },
    ]);
    // Its cover first, spelled as addresses are
    assert.deepEqual(await imagesOf("LAMP"), [
      {
        ...{ url: "https://shop.example.com/media/Lampe%20gr%C3%B6%C3%9Fer.jpg", altText: "Eine Lampe" },
        translations: [
          { locale: "de-DE", altText: "Eine Lampe" },
          { locale: "en-GB", altText: "A lamp" },
        ],
      },
      { url: "https://shop.example.com/media/lamp-in-use.jpg", altText: null, translations: [] },
    ]);
    assert.equal(await rowsIn("erp.sales_order"), orders + 1);
  });

  it("brings stock, tracking codes and the state of the delivery to the shop", async () => {
    await store((await product("LAMP-RED")).id, 8);
    const { id } = await orderOf("20017");
    const shipped = await erp.mutate("orderShipmentComplete", { orderId: id, trackingCodes: ["GLS-1"] });
    assert.deepEqual(shipped.userErrors, []);
    const stock = "stock of 018f3c2ab1d77c0e9a51d1a2b3c4d5e6: 6";
    await until(() => ["codes GLS-1", "ship", stock].every((call) => shop.calls.includes(call)));
    await storefront.replay();
    await until(allDelivered);
    await store((await product("LAMP-RED")).id, 1);
    await until(() => shop.calls.includes(stock.replace(/: 6$/, ": 7")));
    assert.equal(shop.calls.filter((call) => /^(codes|ship)/.test(call)).length, 2);
  });

  it("cancels what the shop has cancelled", async () => {
    const written = recorded("shopware-order-written");
    Object.assign(shop.order, {
      ...{ id: "018f3c2ab1d77c0e9a51d1a2b3c40009", orderNumber: "20018" },
      stateMachineState: { technicalName: "cancelled" },
      orderCustomer: null,
    });
    written.data.payload[0].primaryKey = shop.order.id;
    assert.equal(await send({ ...written, source: { ...written.source, eventId: "e3" } }), 200);
    await until(async () => (await orderOf("20018"))?.state === "cancelled");
  });
});

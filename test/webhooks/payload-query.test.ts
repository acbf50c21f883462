import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import type pg from "pg";
import { versions } from "../../src/versions/versions.ts";
import type { Bench } from "../mutations/support.ts";
import { uuidOf } from "../lib/ids.ts";
import { until } from "../lib/until.ts";
import { assertRefused, useBench } from "../mutations/support.ts";
import { fast, openPayloadPool, startReceiver, startTestWebhooks } from "./support.ts";
import type { Receiver, TestWebhooks } from "./support.ts";

const bench: Bench = useBench({ versions, settings: { explorer: false, webhookAllow: ["127.0.0.1"] } });
let receiver: Receiver;
before(async () => {
  receiver = await startReceiver();
});
beforeEach(async () => {
  receiver.received = [];
  await bench.empty("events.webhook_subscription", "events.outbox", "events.event");
});
after(() => receiver.close());

const query =
  "query ($id: ID!) { product(id: $id) { productNumber availableStock tags { edges { node { name } } } } }";
const settings = (more: object = {}) => ({
  ...{ topic: "product.created", url: receiver.url, apiVersion: "2026-06-unstable", payloadQuery: query },
  ...more,
});
const subscribe = (more: object = {}, options = {}) =>
  bench.mutate(
    "webhookSubscriptionCreate",
    settings(more),
    "webhookSubscription { id payloadQuery }",
    options,
  );
const update = (input: object, options = {}) =>
  bench.mutate("webhookSubscriptionUpdate", input, "webhookSubscription { payloadQuery }", options);

describe("a payloadQuery", () => {
  const wrong = {
    "nothing but words": "product please",
    "an unknown field": "query ($id: ID!) { product(id: $id) { colour } }",
    "a mutation": "mutation { stockAdjust(input: { lines: [] }) { userErrors { code } } }",
    "two queries": "query a { __typename } query b { __typename }",
    "another variable": "query ($id: ID!, $name: String!) { product(id: $id) { id } node(id: $name) { id } }",
    "a variable of another type": "query ($id: Int!) { products(first: $id) { edges { node { id } } } }",
    "too much depth": `query ($id: ID!) { product(id: $id) ${"{ parent ".repeat(13)}{ id ${"}".repeat(14)} }`,
    "too many rows": `{ products(first: 250) { edges { node { tags(first: 250) { edges { node { products(first: 250) { edges { node { id } } } } } } } } } }`,
    "too deep brackets": `query { a${"(b: [".repeat(1)}${"[".repeat(9_000)}`,
  };
  for (const [what, payloadQuery] of Object.entries(wrong)) {
    it(`can't be ${what}`, () =>
      bench.unchanged(async () =>
        assertRefused(await subscribe({ payloadQuery }), "INVALID", ["payloadQuery"]),
      ));
  }

  it("can only ask for what its version has", async () => {
    const payloadQuery =
      "query ($id: ID!) { product(id: $id) { id } events(first: 1) { edges { node { sequence } } } }";
    assertRefused(await subscribe({ payloadQuery }), "INVALID", ["payloadQuery"]);
    assert.deepEqual((await subscribe({ payloadQuery, apiVersion: "unstable" })).userErrors, []);
  });

  it("needs the scopes of all that it asks for", async () => {
    const token = await bench.service.token({ read: ["products"], write: ["webhook_subscriptions"] });
    const details = assertRefused(await subscribe({}, { token }), "SCOPE_MISSING", ["payloadQuery"]);
    assert.ok(details.missingScopes.some(({ field }: { field: string }) => field === "Product.tags"));
    const payloadQuery = "query ($id: ID!) { product(id: $id) { name } }";
    assert.deepEqual((await subscribe({ payloadQuery }, { token })).userErrors, []);
  });

  it("is checked again when something about it is changed", async () => {
    const {
      webhookSubscription: { id },
    } = await subscribe({ apiVersion: "unstable" });
    const payloadQuery = "{ events(first: 1) { edges { node { sequence } } } }";
    assert.deepEqual((await update({ id, payloadQuery })).userErrors, []);
    assertRefused(await update({ id, apiVersion: "2026-06-unstable" }), "INVALID", ["payloadQuery"]);
    assertRefused(await update({ id, payloadQuery: "{ nothing }" }), "INVALID", ["payloadQuery"]);
    assert.deepEqual(
      (await update({ id, apiVersion: "2026-06-unstable", payloadQuery: null })).userErrors,
      [],
    );
    await update({ id, payloadQuery: query });
    // From now on its scopes would count
    const token = await bench.service.token({
      read: ["products"],
      write: ["webhook_subscriptions", "all_webhook_subscriptions"],
    });
    assertRefused(await update({ id, url: `${receiver.url}/new` }, { token }), "SCOPE_MISSING", [
      "payloadQuery",
    ]);
  });

  it("isn't run by a subscription that is gone", async () => {
    const {
      webhookSubscription: { id },
    } = await subscribe();
    await bench.rows("delete from events.webhook_subscription");
    assertRefused(await update({ id, payloadQuery: "{ nothing }" }), "NOT_FOUND", ["id"]);
  });
});

describe("the address of a webhook", () => {
  for (const url of [
    "http://10.0.0.1/",
    "http://[::1]/",
    "http://example.com:25/",
    "http://0x7f.0.0.2/",
    "https://example.com:5432/",
  ])
    it(`can't be ${url}`, async () =>
      assertRefused(await subscribe({ url, payloadQuery: null }), "URL_FORBIDDEN", ["url"]));
  it("can be one that the operator allows", async () =>
    assert.deepEqual((await subscribe({ url: "http://127.0.0.1:81/", payloadQuery: null })).userErrors, []));
});

describe("a message with a payloadQuery", () => {
  let webhooks: TestWebhooks;
  let pool: pg.Pool;
  before(() => void (pool = openPayloadPool(bench.service.loginUrl)));
  after(() => pool.end());
  beforeEach(() => {
    const { app } = bench.service;
    const readPayload = app.payloadReader(pool);
    webhooks = startTestWebhooks(bench.service.loginUrl, { readPayload, clock: fast(0) });
  });
  afterEach(() => webhooks.stop());

  const insert = (number: string) =>
    bench.rows("insert into erp.product (product_number) values ($1) returning id", [number]);
  const attempts = () =>
    bench.rows("select number, status, error from events.delivery_attempt order by number");

  it("has what the query answers as its data", async () => {
    await subscribe();
    await insert("saw");
    await until(() => receiver.received.length === 1);
    assert.deepEqual(receiver.received[0]!.body.data, {
      product: { productNumber: "saw", availableStock: 0, tags: { edges: [] } },
    });
    assert.equal(receiver.received[0]!.body.apiVersion, "2026-06-unstable");
  });

  it("has what the event says when its subject is gone", async () => {
    await subscribe();
    // Both in one transaction, so that nothing can be sent in between
    await bench.rows(
      "insert into erp.product (product_number) values ('saw'); delete from erp.product where product_number = 'saw'",
    );
    await until(() => receiver.received.length === 1);
    assert.equal(receiver.received[0]!.body.data.productNumber, "saw");
  });

  it("has what the event says when that is a deletion", async () => {
    await subscribe({ topic: "product.deleted" });
    await bench.rows("delete from erp.product where product_number = 'P-1'");
    await until(() => receiver.received.length === 1);
    const { id, ...others } = receiver.received[0]!.body.data;
    assert.equal(uuidOf(id), uuidOf(bench.product));
    assert.deepEqual(others, { productNumber: "P-1" });
  });

  it("is read with the scopes that the credential has at that moment; the receiver isn't to blame", async () => {
    const token = await bench.service.token({
      name: "shop",
      read: ["products", "tags"],
      write: ["webhook_subscriptions"],
    });
    await subscribe({}, { token });
    await bench.rows("update auth.credential set scopes = '{products:read}' where name = 'shop'");
    await insert("saw");
    await until(async () => (await attempts()).length === 10);
    assert.match(
      (await attempts())[0]!.error,
      /^The payloadQuery failed: The token lacks scopes: .*tags:read.* \(FORBIDDEN\)$/,
    );
    const [{ health, consecutive_failures }] = (await bench.rows(
      "select * from events.webhook_subscription",
    )) as any;
    assert.deepEqual([health, consecutive_failures], ["HEALTHY", 0]);
    assert.deepEqual(receiver.received, []);
    assert.deepEqual(await bench.rows("select state from events.delivery"), [{ state: "failed" }]);
  });

  it("says why it couldn't be read when the version has changed meanwhile", async () => {
    await subscribe();
    await bench.rows("update events.webhook_subscription set payload_query = '{ nothing }'");
    await insert("saw");
    await until(async () => (await attempts()).length > 0);
    assert.match(
      (await attempts())[0]!.error,
      /^The payloadQuery failed: Cannot query field "nothing".*GRAPHQL_VALIDATION_FAILED/,
    );
  });
});

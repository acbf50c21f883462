import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import type { Shop } from "../lib/shop.ts";
import { openShop } from "../lib/shop.ts";
import { endOfLog, sequence } from "./support.ts";

describe("the field events", () => {
  let shop: Shop;
  let start: number;
  before(async () => {
    shop = await openShop({ versions });
  });
  after(() => shop.close());
  beforeEach(async () => {
    await sequence(shop.owner);
    start = await endOfLog(shop.owner);
  });

  const fields = "id sequence topic occurredAt changedFields cause data";
  async function read(args: string, read: string[] = [], selection = fields) {
    const token = await shop.token(read.length ? { read } : {});
    const query = `{ events${args} { edges { cursor node { ${selection} } } pageInfo { hasNextPage hasPreviousPage endCursor } } }`;
    return shop.ask(token, { query });
  }
  const found = async (args: string, scopes?: string[]) => {
    const { body, text } = await read(args, scopes);
    assert.equal(body.errors, undefined, text);
    return body.data.events.edges.map(({ node }: any) => node);
  };
  const since = () => `(first: 250, filter: { sequence: { gt: ${start} } })`;

  it("is the log from any point on, deletions included, in the order of the sequence", async () => {
    await shop.owner.query("insert into erp.product (product_number) values ('x'), ('y')");
    await shop.owner.query("update erp.product set name = 'Y' where product_number = 'y'");
    await shop.owner.query("delete from erp.product where product_number = 'x'");
    await sequence(shop.owner);
    const events = await found(since());
    assert.deepEqual(
      events.map((event: any) => [
        event.sequence - start,
        event.topic,
        event.data.productNumber,
        event.changedFields,
      ]),
      [
        [1, "product.created", "x", null],
        [2, "product.created", "y", null],
        [3, "product.updated", "y", ["name"]],
        [4, "product.deleted", "x", null],
      ],
    );
    assert.match(events[0].occurredAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
    assert.deepEqual(events[0].cause, { credentialId: null, requestId: null, idempotencyKey: null });
    const { body } = await shop.ask(await shop.token(), {
      query: `{ node(id: "${events[3].id}") { ... on Event { topic } } }`,
    });
    assert.deepEqual(body.data.node, { topic: "product.deleted" });
  });

  it("continues where a reader stopped, and misses nothing that is committed in between", async () => {
    await shop.owner.query(
      "insert into erp.product (product_number) select 'p' || n from generate_series(1, 7) n",
    );
    await sequence(shop.owner);
    const seen: number[] = [];
    let after = "";
    for (let page = 0; ; page++) {
      const { body } = await read(`(first: 3, filter: { sequence: { gt: ${start} } }${after})`);
      const { edges, pageInfo } = body.data.events;
      seen.push(...edges.map(({ node }: any) => node.sequence - start));
      if (page === 0) {
        await shop.owner.query("delete from erp.product where product_number in ('p1', 'p7')");
        await sequence(shop.owner);
      }
      if (!pageInfo.hasNextPage) break;
      after = `, after: "${pageInfo.endCursor}"`;
    }
    assert.deepEqual(seen, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("shows each caller the topics that its scopes open, and counts no others", async () => {
    const line = { productId: shop.id.hammer, place: { warehouseId: shop.id.hall }, delta: 1 };
    await shop.mutate("stockAdjust", { lines: [line] });
    await sequence(shop.owner);
    const topics = async (scopes: string[]) =>
      (await found(since(), scopes)).map(({ topic }: any) => topic).sort();
    assert.deepEqual(await topics(["products"]), ["product.updated"]);
    assert.deepEqual(await topics(["stocks"]), ["stock.changed", "stock_movement.created"]);
    assert.deepEqual(await topics(["stocks", "products"]), [
      "product.updated",
      "stock.changed",
      "stock_movement.created",
    ]);
    assert.deepEqual(await topics(["orders"]), []);
    const [hidden] = await found(since(), ["products"]);
    const { body } = await shop.ask(await shop.token({ read: ["stocks"] }), {
      query: `{ event(id: "${hidden.id}") { topic } node(id: "${hidden.id}") { id } }`,
    });
    assert.deepEqual(body.data, { event: null, node: null });
    const { body: page } = await read(`(first: 1, filter: { sequence: { gt: ${start} } })`, ["products"]);
    assert.equal(page.data.events.pageInfo.hasNextPage, false);
  });

  it("can be narrowed to topics and times", async () => {
    await shop.owner.query(
      "insert into erp.product (product_number) values ('t'); update erp.product set name = 'T' where product_number = 't'",
    );
    await sequence(shop.owner);
    const topics = async (filter: string) =>
      (await found(`(filter: { sequence: { gt: ${start} }, ${filter} })`)).map(({ topic }: any) => topic);
    assert.deepEqual(await topics('topic: { in: ["product.updated", "order.created"] }'), [
      "product.updated",
    ]);
    assert.deepEqual(
      await topics('topic: { startsWith: "product." }, occurredAt: { after: "2020-01-01T00:00:00Z" }'),
      ["product.created", "product.updated"],
    );
    assert.deepEqual(await topics('occurredAt: { before: "2020-01-01T00:00:00Z" }'), []);
  });

  it("is forbidden to who may read nothing that events are about", async () => {
    for (const scopes of [["webhook_subscriptions"], ["tags", "currencies"]])
      assert.deepEqual((await read("", scopes)).codes, ["FORBIDDEN"]);
  });

  it("is there in unstable only", async () => {
    const query = "{ events { edges { node { id } } } }";
    const { codes } = await shop.ask(await shop.token(), { query }, { version: "2026-06-unstable" });
    assert.deepEqual(codes, ["GRAPHQL_VALIDATION_FAILED"]);
  });
});

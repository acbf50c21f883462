import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { createClient } from "graphql-sse";
import pg from "pg";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";
import { closeStreams, openStream } from "./sse.ts";

let service: TestService;
let token: string;
before(async () => {
  service = await startService();
  token = await service.token();
});
after(async () => {
  closeStreams();
  await service.close();
});

let count = 0;
/** Makes a product, whose events are in the log then. */
async function makeProduct(name = `Product ${++count}`): Promise<void> {
  await service.owner.query("insert into erp.product (product_number, name) values ($1, $1)", [name]);
  await sequence();
}
/** Cursor of the newest event, as a client finds it. */
async function endOfList(): Promise<string> {
  const { body } = await service.ask(token, { query: "{ events(first: 250) { pageInfo { endCursor } } }" });
  return body.data.events.pageInfo.endCursor;
}
const sequence = () => service.owner.query("select events.sequence_events()");

const graphql = (
  operation: object,
  init: { token?: string; version?: string; headers?: Record<string, string> } = {},
) =>
  openStream(`${service.url}/api/graphql/${init.version ?? "unstable"}`, init.token ?? token, {
    method: "POST",
    body: JSON.stringify(operation),
    headers: { "content-type": "application/json", ...init.headers },
  });
const events = (parameters = "", headers: Record<string, string> = {}, own = token) =>
  openStream(`${service.url}/api/events${parameters}`, own, { headers });

test("a subscription sends events as they happen, in the selected form, and nothing from before", async () => {
  await makeProduct("Earlier");
  const stream = await graphql({
    query: `subscription ($topics: [String!], $isLong: Boolean!) {
      happened: events(topics: $topics) { ...Short id @include(if: $isLong) }
    }
    fragment Short on Event { topic data }`,
    variables: { topics: ["product.created"], isLong: false },
  });
  assert.equal(stream.status, 200);
  await makeProduct("First");
  await makeProduct("Second");
  for (const name of ["First", "Second"]) {
    const { event, data, id } = (await stream.next())!;
    assert.equal(event, "next");
    assert.equal(data.extensions.cursor, id);
    const { happened } = data.data;
    assert.deepEqual(Object.keys(happened), ["topic", "data"]);
    assert.deepEqual([happened.topic, happened.data.productNumber], ["product.created", name]);
  }
  stream.close();
});

test("events continue after a position: a cursor of the list, or that of the last message", async () => {
  const endCursor = await endOfList();
  for (let i = 0; i < 60; i++)
    await service.owner.query("insert into erp.product (product_number, name) values ($1, 'Many')", [
      `many ${i}`,
    ]);
  await sequence();
  const subscription = { query: "subscription ($after: String) { events(after: $after) { data } }" };
  const first = await graphql({ ...subscription, variables: { after: endCursor } });
  let position: string | undefined;
  for (let i = 0; i < 55; i++) {
    const { data, id } = (await first.next())!;
    assert.equal(data.data.events.data.productNumber, `many ${i}`);
    position = id;
  }
  first.close();
  const second = await graphql(subscription, { headers: { "last-event-id": position! } });
  for (let i = 55; i < 60; i++)
    assert.equal((await second.next())!.data.data.events.data.productNumber, `many ${i}`);
  await makeProduct("many 60");
  assert.equal((await second.next())!.data.data.events.data.productNumber, "many 60");
  second.close();
});

test("GET /api/events sends what webhooks send", async () => {
  const stream = await events("?topics=product.created,product.updated");
  await makeProduct("Plain");
  const { event, id, data } = (await stream.next())!;
  assert.equal(event, "message");
  assert.deepEqual(Object.keys(data), [
    "id",
    "type",
    "timestamp",
    "sequence",
    "changedFields",
    "cause",
    "data",
  ]);
  assert.equal(data.data.productNumber, "Plain");
  stream.close();
  await makeProduct("Missed");
  const again = await events("?topics=product.created", { "last-event-id": id! });
  assert.equal((await again.next())!.data.data.productNumber, "Missed");
  again.close();
});

test("the clients of GraphQL over SSE work in their default settings", async () => {
  const client = createClient({
    url: `${service.url}/api/graphql/unstable`,
    headers: { authorization: `Bearer ${token}` },
  });
  const after = await endOfList();
  await makeProduct("By client");
  const received = client.iterate({
    query: "subscription ($after: String) { events(after: $after) { data } }",
    variables: { after },
  });
  const { value } = await received.next();
  assert.equal((value!.data!.events as { data: { name: string } }).data.name, "By client");
  await received.return?.();
  const answer = await client.iterate({ query: "{ products(first: 1) { edges { node { id } } } }" }).next();
  assert.equal(answer.value!.errors, undefined);
  client.dispose();
});

test("a client only gets events that its scopes show", async () => {
  const narrow = await service.token({ read: ["orders"] });
  const stream = await graphql({ query: "subscription { events { topic } }" }, { token: narrow });
  const refused = await graphql(
    { query: 'subscription { events(topics: ["product.created"]) { topic } }' },
    { token: narrow },
  );
  assert.equal(refused.status, 400);
  assert.equal(refused.body.errors[0].extensions.code, "FORBIDDEN");
  const wide = await graphql({ query: "subscription { events { topic } }" });
  await makeProduct("Hidden");
  assert.ok(await wide.next());
  assert.ok(stream.isQuiet());
  stream.close();
  wide.close();
  const none = await service.token({ read: ["countries"] });
  const forbidden = await graphql({ query: "subscription { events { topic } }" }, { token: none });
  assert.deepEqual([forbidden.status, forbidden.body.errors[0].extensions.code], [400, "FORBIDDEN"]);
});

test("a stream ends with the token, and says why", async () => {
  const made = await service.credential();
  const own = await service.tokenFor(made);
  const stream = await graphql({ query: "subscription { events { topic } }" }, { token: own });
  const plain = await events("", {}, own);
  await service.owner.query("update auth.credential set deactivated_at = now() where id = $1", [made.id]);
  const { event, data } = (await stream.next())!;
  assert.deepEqual([event, data.errors[0].extensions.code], ["next", "UNAUTHORIZED"]);
  assert.equal((await stream.next())!.event, "complete");
  assert.equal(await stream.next(), null);
  const message = (await plain.next())!;
  assert.deepEqual([message.event, message.data.errors[0].extensions.code], ["error", "UNAUTHORIZED"]);
  assert.equal(await plain.next(), null);
});

test("@live answers again when something that it shows has changed", async () => {
  const query = `query Stock($number: String!) @live {
    products(filter: { productNumber: { equals: $number } }) { edges { node { name } } }
  }`;
  await makeProduct("Watched");
  const stream = await graphql({ query, variables: { number: "Watched" } });
  const nameOf = ({ data }: { data: any }) => data.data.products.edges[0].node.name;
  assert.equal(nameOf((await stream.next())!), "Watched");
  // Another product's event runs it again, without another answer
  await makeProduct("Not watched");
  await service.owner.query("update erp.product set name = 'Renamed' where product_number = 'Watched'");
  await sequence();
  assert.equal(nameOf((await stream.next())!), "Renamed");
  stream.close();
  const asked = await service.ask(token, { query, variables: { number: "Watched" } });
  assert.equal(nameOf({ data: asked.body }), "Renamed");
});

test("the operations of the guide are answered", async () => {
  const guide = await readFile(new URL("../../docs/guides/live.md", import.meta.url), "utf8");
  const operations = guide.match(/^ {4}(subscription|query)[^]+?\n {4}\}$/gm)!;
  assert.equal(operations.length, 2);
  await service.owner.query(
    "insert into erp.warehouse (code, name, is_default, is_default_receiving) values ('W', 'W', true, true)",
  );
  const { rows } = await service.owner.query(
    "insert into erp.bin_location (warehouse_id, code) select id, 'A-1' from erp.warehouse where code = 'W' returning id",
  );
  const variables = { id: `gid://service/BinLocation/${rows[0].id}`, after: await endOfList() };
  await makeProduct();
  for (const query of operations) {
    const stream = await graphql({
      query: query.replace('["stock.changed"]', '["product.created"]'),
      variables,
    });
    assert.equal(stream.status, 200);
    assert.equal((await stream.next())!.data.errors, undefined);
    stream.close();
  }
});

test("streams outlive their connections to the database, and miss nothing", async () => {
  const stream = await graphql({ query: 'subscription { events(topics: ["product.created"]) { data } }' });
  const live = await graphql({ query: "query @live { products(first: 250) { edges { node { name } } } }" });
  assert.ok(await live.next());
  const admin = new pg.Client({ connectionString: service.adminUrl });
  await admin.connect();
  const { rowCount } = await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and usename in ('service_login', 'service_api_login')`,
  );
  await admin.end();
  assert.ok(rowCount! > 1);
  await makeProduct("After the cut");
  await makeProduct("And another");
  for (const name of ["After the cut", "And another"])
    assert.equal((await stream.next())!.data.data.events.data.productNumber, name);
  const names = (await live.next())!.data.data.products.edges.map(({ node }: any) => node.name);
  assert.ok(names.includes("After the cut"));
  stream.close();
  live.close();
});

test("what can't be sent as a stream is refused with a reason", async () => {
  const refusals: [object, number, string, RegExp][] = [
    [
      { query: 'subscription { events(topics: ["product.eaten"]) { topic } }' },
      400,
      "BAD_USER_INPUT",
      /The topics are .*product\.created/,
    ],
    [{ query: 'subscription { events(after: "x") { topic } }' }, 400, "CURSOR_INVALID", /damaged/],
    [
      { query: "query @live { countrys { edges { node { id } } } }" },
      400,
      "BAD_USER_INPUT",
      /No event is about/,
    ],
    [{ query: "subscription { events { nothing } }" }, 400, "GRAPHQL_VALIDATION_FAILED", /nothing/],
    [
      { query: "subscription ($a: [Int!]) { events(topics: $a) { id } }" },
      400,
      "GRAPHQL_VALIDATION_FAILED",
      /expecting type/,
    ],
    [
      { query: "subscription ($a: [String!]) { events(topics: $a) { id } }", variables: { a: 1.5 } },
      400,
      "BAD_USER_INPUT",
      /String/,
    ],
    [{ query: "mutation { tagsX }" }, 400, "GRAPHQL_VALIDATION_FAILED", /tagsX/],
  ];
  for (const [operation, status, code, message] of refusals) {
    const { status: answered, body } = await graphql(operation);
    assert.equal(answered, status, JSON.stringify(body));
    assert.equal(body.errors[0].extensions.code, code, JSON.stringify(operation));
    assert.match(body.errors[0].message, message);
    assert.ok(body.errors[0].extensions.requestId);
  }
  const asJson = await service.ask(token, { query: "subscription { events { id } }" });
  assert.deepEqual([asJson.status, asJson.codes], [406, ["BAD_USER_INPUT"]]);
  const frozen = await graphql(
    { query: "{ products { edges { node { id } } } }" },
    { version: "2026-06-unstable" },
  );
  assert.ok([400, 406].includes(frozen.status));
  const posted = await fetch(`${service.url}/api/events`, { method: "POST" });
  assert.equal(posted.status, 405);
  assert.equal((await fetch(`${service.url}/api/events`)).status, 401);
});

test("a token has a limited number of streams, and ended ones don't count", async () => {
  const own = await service.token();
  const streams = await Promise.all(Array.from({ length: 20 }, () => events("", {}, own)));
  assert.ok(streams.every(({ status }) => status === 200));
  const refused = await events("", {}, own);
  assert.deepEqual([refused.status, refused.body.errors[0].extensions.code], [429, "THROTTLED"]);
  streams[0]!.close();
  await until(async () => {
    const again = await events("", {}, own);
    again.close();
    return again.status === 200;
  });
  for (const stream of streams) stream.close();
});

test("streams that are opened at the same time pass no limit, and refused ones take no place", async () => {
  const own = await service.token();
  const live = { query: "query @live { products(first: 1) { edges { node { id } } } }" };
  const open = (n: number) => (n % 2 ? graphql(live, { token: own }) : events("", {}, own));
  const streams = await Promise.all(Array.from({ length: 60 }, (_, n) => open(n)));
  assert.equal(streams.filter(({ status }) => status === 200).length, 20);
  assert.equal(streams.filter(({ status }) => status === 429).length, 40);
  for (const stream of streams) stream.close();
  // Neither those that never became a stream: refused, or left before they began
  for (const query of ["subscription { events { nothing } }", 'subscription { events(after: "x") { id } }'])
    assert.ok(
      (await Promise.all(Array.from({ length: 15 }, () => graphql({ query }, { token: own })))).every(
        ({ status }) => status === 400 || status === 429,
      ),
    );
  await until(async () => {
    const again = await Promise.all(Array.from({ length: 20 }, () => events("", {}, own)));
    for (const stream of again) stream.close();
    return again.every(({ status }) => status === 200);
  });
});

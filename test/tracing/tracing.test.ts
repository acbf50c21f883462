import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { pino } from "pino";
import { openTracing } from "../../src/tracing/open-tracing.ts";
import type { Tracing } from "../../src/tracing/tracing.ts";
import { openShop } from "../lib/shop.ts";
import type { Shop } from "../lib/shop.ts";
import { until } from "../lib/until.ts";
import { openPayloadPool, startReceiver, startTestWebhooks, subscribe } from "../webhooks/support.ts";
import type { Receiver, TestWebhooks } from "../webhooks/support.ts";
import { startCollector } from "./collector.ts";
import type { Collector, CollectedSpan } from "./collector.ts";
import { newTrace, quiet, settings, spansOf as spansIn } from "./support.ts";

// One service, whose webhooks go to a receiver and whose traces to a collector
let collector: Collector;
let receiver: Receiver;
let tracing: Tracing;
let shop: Shop;
let payloads: pg.Pool;
let webhooks: TestWebhooks;
let token: string;

before(async () => {
  [collector, receiver] = await Promise.all([startCollector(), startReceiver()]);
  tracing = (await openTracing(settings(collector.url), quiet))!;
  shop = await openShop({ tracing });
  token = await shop.token({ read: "all", write: "all" });
  payloads = openPayloadPool(shop.loginUrl);
  const readPayload = shop.app.payloadReader(payloads);
  webhooks = startTestWebhooks(shop.loginUrl, { tracing, readPayload });
  const payload_query = "query ($id: ID!) { stockMovement(id: $id) { quantity } }";
  const { id } = await shop.credential();
  await subscribe(shop.owner, {
    ...{ topic: "stock_movement.created", url: `${receiver.url}/hook?key=hunter2` },
    ...{ payload_query, credential_id: id },
  });
});
after(async () => {
  await webhooks?.stop();
  await payloads?.end();
  await shop?.close();
  await tracing?.close();
  await Promise.all([receiver.close(), collector.close()]);
});

const spansOf = (traceId: string, count: number) => spansIn(collector, traceId, count);

const adjust = (comment: string, headers: Record<string, string>, product = "hammer") =>
  shop.tryMutate(
    "stockAdjust",
    { lines: [shop.line(product, "A-1", { delta: 1 })], comment },
    { headers, select: "stocks { quantity }" },
  );

test("a read is a span of its request, of its operation and of its statement, below that of the client", async () => {
  const { traceId, parent, headers } = newTrace();
  const secret = `hunter2 ${randomUUID()}`;
  const query =
    "query Named($n: String!) { products(filter: { productNumber: { equals: $n } }) { edges { node { name } } } }";
  const asked = { ...headers, "x-request-id": "traced-1", "user-agent": secret };
  const { codes } = await shop.ask(token, { query, variables: { n: secret } }, { headers: asked });
  assert.deepEqual(codes, []);
  const [request, operation, statement, ...others] = await spansOf(traceId, 3);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [request!.parent, request!.kind, request!.name],
    [parent, 2, "POST /api/graphql/:version"],
  );
  const { "service.credential_id": credential, "service.points": points, ...rest } = request!.attributes;
  assert.match(String(credential), /^[0-9a-f-]{36}$/);
  assert.ok(Number(points) > 0);
  assert.deepEqual(rest, {
    ...{ "http.request.method": "POST", "http.route": "/api/graphql/:version", "url.scheme": "http" },
    ...{ "http.response.status_code": 200, "service.request_id": "traced-1" },
  });
  assert.deepEqual([operation!.parent, operation!.kind, operation!.name], [request!.id, 1, "query"]);
  const { "service.operation.id": id, ...named } = operation!.attributes;
  assert.match(String(id), /^[0-9a-f]{16}$/);
  assert.deepEqual(named, {
    ...{ "graphql.operation.type": "query", "graphql.operation.name": "Named" },
    "service.version_of_api": "unstable",
  });
  assert.deepEqual([statement!.parent, statement!.kind, statement!.name], [operation!.id, 3, "SELECT"]);
  const { "db.query.text": sql, ...about } = statement!.attributes;
  // The same comment as in Postgres' log
  assert.match(String(sql), new RegExp(`operation='${id}'`));
  assert.deepEqual(about, {
    ...{ "db.system.name": "postgresql", "db.operation.name": "SELECT", "db.query.summary": "SELECT" },
    "db.response.returned_rows": 1,
  });
  for (const [inner, outer] of [
    [operation, request],
    [statement, operation],
  ])
    assert.ok(inner!.from >= outer!.from - 0.01 && inner!.to <= outer!.to + 0.01 && inner!.to >= inner!.from);
  assert.equal(request!.resource["service.name"], "test");
});

test("webhooks of a booking belong to its trace, which their receiver gets to know, and no event shows", async () => {
  const { traceId, headers } = newTrace();
  await adjust("traced", { ...headers, tracestate: "one=1,two=of two" });
  await until(() => receiver.received.some(({ body }) => body.cause && headersOf(traceId).length > 0));
  const spans = await spansOf(traceId, 6);
  const named = (name: string) => spans.filter((span) => span.name === name);
  const [operation] = named("mutation");
  const [delivery] = named("POST webhook");
  assert.equal(named("SELECT mutation.run")[0]!.parent, operation!.id);
  assert.deepEqual([delivery!.parent, delivery!.kind], [operation!.id, 3]);
  assert.deepEqual(headersOf(traceId), [`00-${traceId}-${delivery!.id}-01`]);
  const ids = { subscription_id: /^[0-9a-f-]{36}$/, delivery_id: /^[0-9a-f-]{36}$/ };
  const about = { ...delivery!.attributes };
  for (const [name, form] of Object.entries(ids)) {
    assert.match(String(about[`service.webhook.${name}`]), form);
    delete about[`service.webhook.${name}`];
  }
  assert.deepEqual(about, {
    ...{ "http.request.method": "POST", "http.response.status_code": 204, "url.scheme": "http" },
    ...{ "server.address": "127.0.0.1", "server.port": Number(new URL(receiver.url).port) },
    "service.webhook.topic": "stock_movement.created",
  });
  // That of its payload query
  assert.ok(named("SELECT").some(({ parent }) => parent === delivery!.id));
  const message = receiver.received.find(({ headers: sent }) => sent.traceparent?.includes(traceId))!;
  assert.equal(message.headers.tracestate, "one=1,two=of two");
  assert.deepEqual(Object.keys(message.body.cause).sort(), ["credentialId", "idempotencyKey", "requestId"]);
  const { body } = await shop.ask(token, {
    query: "{ events(first: 10) { edges { node { cause data } } } }",
  });
  assert.ok(body.data.events.edges.length > 0 && !JSON.stringify(body).includes(traceId));
});

/** What the receiver was told of a trace. */
const headersOf = (traceId: string) =>
  receiver.received.flatMap(({ headers: { traceparent } }) =>
    traceparent?.includes(traceId) ? [traceparent] : [],
  );

test("bookings that are made together keep their own traces", async () => {
  const isTogether = ({ attributes }: CollectedSpan) => Number(attributes["service.requests_together"]) > 1;
  // Which are, is a matter of when they arrive
  await until(async () => {
    const traces = Array.from({ length: 12 }, () => newTrace());
    const products = ["hammer", "nail"];
    await Promise.all(traces.map(({ headers }, n) => adjust(`together ${n}`, headers, products[n % 2])));
    await until(() => traces.every(({ traceId }) => headersOf(traceId).length === 1));
    const spans = await Promise.all(traces.map(({ traceId }) => spansOf(traceId, 4)));
    return spans.flat().some(isTogether);
  });
});

test("of a tracestate whole members are kept, those that are valid and short enough in all", async () => {
  const member = (n: number) => `v${n}=${"x".repeat(100)}`;
  const long = Array.from({ length: 8 }, (_, n) => member(n)).join();
  const many = Array.from({ length: 40 }, (_, n) => `k${n}=1`);
  const cases: [sent: string, handedOn: string | undefined][] = [
    [long, long.slice(0, 4 * (member(0).length + 1) - 1)],
    [many.join(), many.slice(0, 32).join()],
    ["one=1, UPPER=2,two,=3", "one=1"],
    ["no member at all", undefined],
  ];
  const traces = cases.map(([tracestate, handedOn]) => ({ ...newTrace(), tracestate, handedOn }));
  for (const { headers, tracestate } of traces) await adjust("with tracestate", { ...headers, tracestate });
  for (const { traceId, tracestate, handedOn } of traces) {
    await until(() => headersOf(traceId).length === 1);
    const { headers } = receiver.received.find((message) => message.headers.traceparent?.includes(traceId))!;
    assert.equal(headers.tracestate, handedOn, tracestate);
  }
});

test("what the client doesn't sample isn't traced, nor are its webhooks; nor is a header that is none", async () => {
  const { traceId, headers } = newTrace("00");
  await adjust("not sampled", headers);
  const wrong = { traceparent: `00-${"0".repeat(32)}-zzzz-01`, "x-request-id": "wrong-trace" };
  await adjust("of no trace", wrong);
  // It is a trace of its own
  const own = () =>
    collector.spans.find(({ attributes }) => attributes["service.request_id"] === "wrong-trace");
  await until(() => own() !== undefined);
  assert.equal(own()!.parent, "");
  await until(() => headersOf(own()!.traceId).length === 1);
  assert.deepEqual(headersOf(traceId), []);
  assert.ok(!collector.spans.some((span) => span.traceId === traceId));
});

test("failures are marked, by their codes", async () => {
  const refused = newTrace();
  await shop.ask(token, { query: "{ nothing }" }, { headers: refused.headers });
  const [request] = await spansOf(refused.traceId, 1);
  assert.deepEqual(
    [request!.attributes["error.type"], request!.isError],
    ["GRAPHQL_VALIDATION_FAILED", false],
  );
  receiver.answer = (_, response) => response.writeHead(500).end();
  const { traceId, headers } = newTrace();
  await adjust("refused", headers, "nail");
  const isDelivery = ({ name }: CollectedSpan) => name === "POST webhook";
  await until(() => collector.spans.some((span) => span.traceId === traceId && isDelivery(span)));
  const delivery = collector.spans.find((span) => span.traceId === traceId && isDelivery(span))!;
  assert.deepEqual([delivery.attributes["error.type"], delivery.isError], ["500", true]);
});

test("a trace has no token, no value, no user agent and no address of a receiver", () => {
  const all = Buffer.concat(collector.bytes);
  assert.ok(all.includes("db.query.text"));
  for (const secret of ["hunter2", token, shop.id.hammer!, "together 3", "Bearer"])
    assert.ok(!all.includes(secret), secret);
});

test("statements stay prepared, however many traces there are", async () => {
  const process = await shop.another({ poolSize: 1, tracing });
  const prepared = async () => {
    const client = await process.apiPool.connect();
    const { rows } = await client.query<{ statement: string }>(
      "select statement from pg_prepared_statements",
    );
    client.release();
    return rows.map(({ statement }) => statement);
  };
  const query = "{ warehouses { edges { node { name } } } }";
  const counts = [];
  for (let n = 0; n < 5; n++) {
    await process.ask(token, { query }, { headers: newTrace().headers });
    const input = { lines: [shop.line("glue", "A-1", { delta: 1, batchId: shop.id.G1 })] };
    await shop.tryMutate("stockAdjust", input, { process, headers: newTrace().headers });
    counts.push((await prepared()).length);
  }
  assert.deepEqual(new Set(counts.slice(1)).size, 1, String(counts));
  assert.ok((await prepared()).every((text) => !/traceparent='|00-[0-9a-f]{32}/.test(text)));
});

test("without a client's word, the sampler decides; a ratio of nothing traces nothing", async () => {
  const none = (await openTracing(
    settings(collector.url, { sampler: "traceidratio", samplerArgument: 0 }),
    quiet,
  ))!;
  assert.equal(none.beginRequest(newTrace().headers, "POST", "/"), null);
  assert.ok(tracing.beginRequest({}, "POST", "/"));
  await none.close();
  assert.equal(await openTracing(settings(collector.url, { isDisabled: true }), quiet), null);
  assert.equal(await openTracing({ ...settings(""), endpoint: undefined }, quiet), null);
});

test("a collector that is silent harms nobody: answers come, little waits, the log says it once, a stop doesn't wait long", async (t) => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket.on("error", () => {}))).listen(
    0,
    "127.0.0.1",
  );
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  await until(() => silent.listening);
  process.env.OTEL_EXPORTER_OTLP_TIMEOUT = "300";
  t.after(() => delete process.env.OTEL_EXPORTER_OTLP_TIMEOUT);
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const stuck = (await openTracing(settings(url, { maxQueue: 20, maxBatch: 10 }), logger))!;
  const service = await shop.another({ tracing: stuck });
  for (let n = 0; n < 60; n++)
    assert.deepEqual((await service.ask(token, { query: "{ __typename }" })).codes, []);
  const begun = performance.now();
  await stuck.close();
  assert.ok(performance.now() - begun < 5_000);
  await until(() => lines.length > 0);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ["traces: the collector doesn't take them"],
  );
});

test("OpenTelemetry's libraries are loaded by nothing that is loaded without a collector", async () => {
  const root = fileURLToPath(new URL("../../src/", import.meta.url));
  const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith(".ts"));
  const importing = async (pattern: RegExp) => {
    const found = await Promise.all(
      files.map(async (file) => pattern.test(await readFile(join(root, file), "utf8"))),
    );
    return files.filter((_, index) => found[index]);
  };
  const [spans, tracing] = ["spans.ts", "tracing.ts"].map((name) => join("tracing", name));
  assert.deepEqual((await importing(/^import \{[^}]*\} from "@opentelemetry/m)).sort(), [spans, tracing]);
  assert.deepEqual(await importing(/^import \{[^;]*? from "[./]+(tracing\/)?tracing\.ts"/m), []);
  assert.deepEqual(await importing(/^import \{[^;]*? from "[./]+(tracing\/)?spans\.ts"/m), [tracing]);
});

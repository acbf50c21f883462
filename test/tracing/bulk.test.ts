import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { defaultBulkLimits } from "../../src/bulk/bulk-limits.ts";
import type { BulkWork } from "../../src/bulk/bulk-work.ts";
import { openTracing } from "../../src/tracing/open-tracing.ts";
import type { Tracing } from "../../src/tracing/tracing.ts";
import { ended, jsonl, startTestBulk, upload } from "../bulk/support.ts";
import { uuidOf } from "../lib/ids.ts";
import { openShop } from "../lib/shop.ts";
import type { Shop } from "../lib/shop.ts";
import { until } from "../lib/until.ts";
import { startReceiver, startTestWebhooks, subscribe } from "../webhooks/support.ts";
import type { Receiver, TestWebhooks } from "../webhooks/support.ts";
import { startCollector } from "./collector.ts";
import type { CollectedSpan, Collector } from "./collector.ts";
import { newTrace, quiet, settings, spansOf } from "./support.ts";

// One service, whose webhooks go to a receiver and whose traces to a collector
let collector: Collector;
let receiver: Receiver;
let tracing: Tracing;
let shop: Shop;
let webhooks: TestWebhooks;
let bulk: BulkWork;
let credentialId: string;
let token: string;

before(async () => {
  [collector, receiver] = await Promise.all([startCollector(), startReceiver()]);
  tracing = (await openTracing(settings(collector.url), quiet))!;
  shop = await openShop({ tracing });
  const credential = await shop.credential({ read: "all", write: "all" });
  credentialId = credential.id;
  token = await shop.tokenFor(credential);
  webhooks = startTestWebhooks(shop.loginUrl, { tracing });
  bulk = startTestBulk(shop, { tracing });
  await subscribe(shop.owner, { topic: "product.created", url: receiver.url });
});
after(async () => {
  await Promise.all([webhooks?.stop(), bulk?.stop()]);
  await shop?.close();
  await tracing?.close();
  await Promise.all([receiver.close(), collector.close()]);
});

/** Names of a trace's spans, each below the one that caused it. */
function treeOf(spans: CollectedSpan[], parent: string): unknown[] {
  const below = spans.filter((span) => span.parent === parent);
  return below.map((span) => {
    const within = treeOf(spans, span.id);
    return within.length > 0 ? [span.name, ...within] : span.name;
  });
}

const messagesOf = (traceId: string) =>
  receiver.received.filter(({ headers }) => headers.traceparent?.includes(traceId));

test("an import belongs to the trace of its upload, by chunks, and so do the webhooks of its rows", async () => {
  const { traceId, parent, headers } = newTrace();
  // The second chunk is the last row
  const row = (productNumber: string) => ({ productNumber, name: "Traced" });
  const rows = [row("first"), ...Array.from({ length: 249 }, () => ({ nothing: 1 })), row("last")];
  const asked = { ...headers, tracestate: "one=1", "x-request-id": "upload-1" };
  const { status, body } = await upload(shop, token, "products", jsonl(rows), { headers: asked });
  assert.equal(status, 202);
  const { createdCount, refusedCount } = await ended(shop, token, body.bulkOperation.id);
  assert.deepEqual([createdCount, refusedCount], [2, 249]);
  await until(() => messagesOf(traceId).length === 2);
  const spans = await spansOf(collector, traceId, 8);
  const chunk = ["chunk", "SELECT bulk.import_chunk", "POST webhook"];
  assert.deepEqual(treeOf(spans, parent), [["POST /api/bulk/:resource", ["bulk import", chunk, chunk]]]);
  const named = (name: string) => spans.filter((span) => span.name === name);
  const [request] = named("POST /api/bulk/:resource");
  assert.deepEqual(request!.attributes, {
    ...{ "http.request.method": "POST", "http.route": "/api/bulk/:resource", "url.scheme": "http" },
    ...{ "http.response.status_code": 202, "service.request_id": "upload-1" },
    "service.credential_id": credentialId,
  });
  const [work] = named("bulk import");
  assert.equal(work!.kind, 5);
  assert.deepEqual(work!.attributes, {
    "service.bulk.id": uuidOf(body.bulkOperation.id),
    ...{ "service.bulk.resource": "products", "service.credential_id": credentialId },
  });
  const about = named("chunk").map(({ attributes }) => attributes);
  assert.deepEqual(about, [
    { "service.bulk.chunk": 0, "service.bulk.rows": 250 },
    { "service.bulk.chunk": 1, "service.bulk.rows": 1 },
  ]);
  const told = messagesOf(traceId).map((message) => message.headers);
  assert.deepEqual(
    told.map(({ traceparent }) => traceparent).sort(),
    named("POST webhook")
      .map(({ id }) => `00-${traceId}-${id}-01`)
      .sort(),
  );
  assert.deepEqual(new Set(told.map(({ tracestate }) => tracestate)), new Set(["one=1"]));
});

/** Asks for an export, and waits for its end. */
async function exportTraced(headers: Record<string, string>): Promise<any> {
  const { body } = await shop.tryMutate(
    "bulkOperationRun",
    { query: "{ products { edges { node { id productNumber } } } }" },
    { token, headers, select: "bulkOperation { id }" },
  );
  return ended(shop, token, body.data.bulkOperationRun.bulkOperation.id);
}

test("an export belongs to the trace of the mutation that has asked for it", async () => {
  const { traceId, parent, headers } = newTrace();
  assert.equal((await exportTraced(headers)).state, "completed");
  const [request, ...spans] = await spansOf(collector, traceId, 8);
  assert.equal(request!.parent, parent);
  const [work] = spans.filter(({ name }) => name === "bulk export");
  const [operation] = spans.filter(({ name }) => name === "mutation");
  assert.equal(work!.parent, operation!.id);
  assert.deepEqual(treeOf(spans, work!.id), [["chunk", "SELECT", "SELECT bulk.add_result"]]);
  assert.ok(spans.every(({ isError }) => !isError));
});

test("what has ended a bulk operation is at its chunk; of a request that isn't traced, it isn't either", async () => {
  await bulk.stop();
  bulk = startTestBulk(shop, { tracing, limits: { ...defaultBulkLimits, maxStoredBytes: 0 } });
  const [silent, failing] = [newTrace("00"), newTrace()];
  await exportTraced(silent.headers);
  assert.equal((await exportTraced(failing.headers)).errorCode, "SERVICE_UNAVAILABLE");
  const spans = await spansOf(collector, failing.traceId, 7);
  const failed = spans.filter(({ isError }) => isError);
  assert.deepEqual(
    failed.map(({ name, attributes }) => [name, attributes["error.type"]]),
    [
      ["bulk export", "SERVICE_UNAVAILABLE"],
      ["chunk", "SERVICE_UNAVAILABLE"],
    ],
  );
  assert.ok(!collector.spans.some(({ traceId }) => traceId === silent.traceId));
});

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { after, before, test } from "node:test";
import { diagramFile, diagramFolder, diagramsIn } from "../../src/documentation/diagrams.ts";
import { Documentation } from "../../src/documentation/documentation.ts";
import { packEdition } from "../../src/documentation/edition.ts";
import { homePage } from "../../src/documentation/home.ts";
import { guides } from "../../src/documentation/guides.ts";
import { renderText } from "../../src/documentation/markdown.ts";
import { examples } from "../../src/versions/explorer-examples.ts";
import { timetable } from "../../src/versions/timetable.ts";
import { versions } from "../../src/versions/versions.ts";
import { read, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

let service: TestService;
before(async () => {
  service = await startService({ versions });
});
after(() => service.close());

const get = async (path: string, headers: Record<string, string> = {}, method = "GET") =>
  read(await fetch(service.url + path, { headers, method, redirect: "manual" }));

/** The words of a page, without its tags. */
const wordsOf = (text: string): string =>
  text
    .replace(/<[^>]*>/g, "")
    .replaceAll("&#39;", "'")
    .replace(/\s+/g, " ");

test("a field's page says its scope, cost, errors, what it writes and which events tell of it", async () => {
  const { status, text } = await get("/docs/unstable/mutations/stockAdjust");
  assert.equal(status, 200);
  const words = wordsOf(text);
  assert.match(words, /Scope stocks:write/);
  assert.match(words, /Cost 10 points, one for every 10 elements of its input/);
  assert.match(words, /Writes Stock, StockMovement/);
  assert.match(words, /Events stock\.changed, stock_movement\.created/);
  assert.match(words, /User errors REQUIRED .*INSUFFICIENT_STOCK/);
  assert.match(words, /Warnings STOCK_PROMISED/);
  assert.match(words, /input: StockAdjustInput! required/);
  assert.match(text, /href="\/docs\/unstable\/types\/UserErrorCode#INSUFFICIENT_STOCK"/);
  const upsert = wordsOf((await get("/docs/unstable/mutations/productsUpsert")).text);
  assert.match(upsert, /Events product\.created, product\.updated/);
  assert.doesNotMatch(upsert, /product\.deleted/);
  assert.match(
    wordsOf((await get("/docs/unstable/mutations/goodsReceiptDelete")).text),
    /Events .*goods_receipt\.deleted/,
  );
});

test("a type's page says what reads and writes it, its events, filter, and each field with arguments", async () => {
  const { text } = await get("/docs/unstable/types/Order");
  const words = wordsOf(text);
  assert.match(words, /Read by order, orders/);
  assert.match(words, /Written by .*ordersUpsert/);
  assert.match(words, /Events order\.created, order\.state_changed, order\.updated/);
  assert.match(words, /Filter OrderFilterInput/);
  assert.match(
    words,
    /lineItems: OrderLineItemConnection!.*Scope orders:read Cost 1 point, and one for every 10 rows/,
  );
  assert.match(words, /first: Int/);
  const filter = wordsOf((await get("/docs/unstable/types/OrderFilterInput")).text);
  assert.match(filter, /Filter OrderFilterInput .*orderNumber: StringFilter/);
  assert.match(filter, /createdAt: DateTimeFilter Condition on createdAt[^;]*;[^.]*\. Index createdAt, id /);
  assert.match(filter, /amountTotal: FloatFilter .*?Index none: every row is compared/);
  // Of indexes that find texts, but not their beginnings
  assert.match(filter, /paymentState: StringFilter Condition on paymentState: [^:]*? Index paymentState/);
  assert.match(filter, /storefrontId: IDFilter [^;]*;[^.]*\. Index storefrontId /);
  assert.match(filter, /customer: CustomerFilterInput .*?Index Customer\.id Cost 3 points/);
  assert.match(filter, /lineItems: OrderLineItemListFilter .*?Index OrderLineItem\.orderId/);
  const listFilter = wordsOf((await get("/docs/unstable/types/OrderLineItemListFilter")).text);
  assert.match(listFilter, /some: OrderLineItemFilterInput .*?Cost 3 points/);
  const comparisons = wordsOf((await get("/docs/unstable/types/StringFilter")).text);
  assert.match(comparisons, /contains: String .*?Cost 2 points: no index supports it/);
  // Only the head has derived what its indexes answer
  const frozen = await get("/docs/2026-06-unstable/types/OrderFilterInput");
  assert.doesNotMatch(wordsOf(frozen.text), /Index/);
  const values = await get("/docs/unstable/types/UserErrorCode");
  assert.match(values.text, /id="NOT_FOUND"/);
});

test("figures of lists and subscriptions have pages too, with what they cost", async () => {
  const list = wordsOf((await get("/docs/unstable/types/OrderConnection")).text);
  const [, points] = /totalCount: TotalCount!? [^]*?Cost (\d+) points/.exec(list)!;
  const token = await service.token();
  const costOf = async (inner: string) => {
    const { body } = await service.ask(token, { query: `{ orders(first: 0) { ${inner} } }` });
    return body.extensions.cost.requested as number;
  };
  const added = (await costOf("totalCount { count }")) - (await costOf("__typename"));
  assert.equal(Number(points), added);
  assert.match(wordsOf((await get("/docs/unstable/subscriptions")).text), /events .*each new entry/i);
  const { text } = await get("/docs/unstable/subscriptions/events");
  assert.match(wordsOf(text), /Subscription events/);
});

test("what is deprecated says so, on its page and on that of the version", async () => {
  await service.owner.query(
    "create view api_unstable.old_tags with (security_invoker = true) as select id, name from erp.tag",
  );
  await service.owner.query(
    `comment on view api_unstable.old_tags is
       E'@primaryKey id\\n@requiresScopes tags:read\\n@deprecated 2026-12-01 Use tags.\\nTags of before.'`,
  );
  await service.app.reload();
  assert.match(wordsOf((await get("/docs/unstable")).text), /Deprecated oldTag .*Use tags/);
  assert.match(wordsOf((await get("/docs/unstable/queries/oldTags")).text), /Deprecated\. .*Use tags/);
  assert.equal((await get("/docs/2026-06-unstable/queries/oldTags")).status, 404, "others stay as they are");
});

test("a collection for API clients has the example of each query and mutation", async () => {
  const { body } = await get("/docs/unstable/collection.json");
  const items = body.item.flatMap(({ item = [] }: any) => item);
  assert.ok(items.length > 120, `${items.length}`);
  const { query } = items.find(({ name }: any) => name === "orders").request.body.graphql;
  assert.ok(wordsOf((await get("/docs/unstable/queries/orders")).text).includes(query.replace(/\s+/g, " ")));
});

test("events, scopes, the changelog and what differs between versions have pages", async () => {
  assert.match(wordsOf((await get("/docs/events")).text), /product\.updated .* products:read/);
  const event = await get("/docs/events/product.updated");
  assert.match(wordsOf(event.text), /data\.availableStock: integer/);
  const { body: schema } = await get("/docs/events/product.updated.json");
  assert.equal(schema.title, "product.updated");
  assert.match(wordsOf((await get("/docs/unstable/scopes")).text), /stocks:write .*stockAdjust/);
  assert.match(wordsOf((await get("/docs/changelog")).text), /0\.2\.0/);
  const changes = wordsOf((await get("/docs/changes/2026-06-unstable/unstable")).text);
  assert.match(changes, /From 2026-06-unstable to unstable .*New .*Mutation\.productsUpsert/);
  assert.match(wordsOf((await get("/docs/changes/unstable/2026-06-unstable")).text), /Breaking/);
  assert.equal((await get("/docs/changes/unstable/unstable")).status, 404);
});

test("pages are sent once, compressed, with headers that let nothing in from elsewhere", async () => {
  const first = await get("/docs/reference/requests", { "accept-encoding": "gzip" });
  assert.equal(first.headers.get("content-encoding"), "gzip");
  assert.match(first.headers.get("vary")!, /Accept-Encoding/);
  assert.equal(first.headers.get("cache-control"), "no-cache");
  const policy = first.headers.get("content-security-policy")!;
  assert.match(policy, /^default-src 'none'; .*script-src 'self'; .*frame-ancestors 'none'$/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.doesNotMatch(first.text, /<script>|<style>| style="| on[a-z]+="/);
  const etag = first.headers.get("etag")!;
  assert.equal((await get("/docs/reference/requests", { "if-none-match": etag })).status, 304);
  assert.equal((await get("/docs/reference/requests", {}, "HEAD")).status, 200);
  const [, style] = /<link rel="stylesheet" href="([^"]+)"/.exec(first.text)!;
  assert.match((await get(style!)).headers.get("cache-control")!, /immutable/);
});

test("what there is not, is told so, and nothing but pages can be read", async () => {
  for (const path of [
    ...["/docs/nothing", "/docs/unstable/types/Nothing", "/docs/2020-01", "/docs/guides/toString"],
    ...[
      "/docs/guides/..%2f..%2fpackage.json",
      "/docs/pictures/..%2f..%2fpackage.json",
      "/docs/assets/x/docs.js",
    ],
    ...["/docs/unstable/types/__Schema", "/docs/nowhere"],
  ]) {
    const { status, text } = await get(path);
    assert.equal(status, 404, path);
    assert.match(text, /There is no such page/, path);
  }
  const { status, headers } = await get("/docs/");
  assert.deepEqual([status, headers.get("location")], [301, "/docs"]);
  assert.equal((await get("/docs/pictures/explorer.png")).headers.get("content-type"), "image/png");
  assert.equal((await get("/docs", {}, "POST")).status, 404);
});

test("pages that are requested at the same time are refused when too many wait, and then rendered again", async () => {
  const documentation = new Documentation();
  const edition = packEdition({ slug: "one", sdl: "type Query { a: Int }", fields: new Map(), topics: [] });
  const page = () => documentation.render({ versions: [], explorer: false }, [edition], "/docs/nothing");
  const outcomes = await Promise.allSettled(Array.from({ length: 60 }, page));
  const refused = outcomes.filter(({ status }) => status === "rejected");
  assert.equal(refused.length, 9);
  for (const { reason } of refused as PromiseRejectedResult[])
    assert.equal(reason.extensions.code, "SERVICE_UNAVAILABLE");
  assert.equal(await page(), null);
  await documentation.close();
});

test("a version has no page for kinds that it lacks, and the menu doesn't show them", async () => {
  const version = "/docs/2026-06-unstable";
  for (const path of [version, `${version}/queries`, `${version}/types/Order`]) {
    const { text } = await get(path);
    assert.match(text, new RegExp(`href="${version}/mutations"`), path);
    assert.doesNotMatch(text, new RegExp(`href="${version}/(?:subscriptions|aggregates)"`), path);
  }
  assert.equal((await get(`${version}/subscriptions`)).status, 404);
  const guide = await get(`${version}/aggregates`);
  assert.deepEqual([guide.status, guide.headers.get("location")], [302, "/docs/reference/aggregates"]);
  assert.match((await get("/docs/unstable")).text, /href="\/docs\/unstable\/aggregates"/);
});

test("the front shows a query with its answer, how the service works, and the schema; a button only with an explorer", async () => {
  const { text } = await get("/docs");
  const words = wordsOf(text);
  assert.match(
    words,
    /orders\(first: 1, .*&quot;node&quot;: \{ &quot;orderNumber&quot;: &quot;SO-10001&quot;/,
  );
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  assert.ok(readme.includes(`\`\`\`graphql\n${examples[0]!.query}\n`), "the README has the same query");
  assert.match(text, /How it works<\/h2>\s*<a class="picture" href="\/docs\/pictures\/diagrams\/\w+\.svg"/);
  assert.match(text, /href="\/api\/graphql\/unstable\/schema\.graphql"/);
  assert.doesNotMatch(text, /explorer/);
  const front = String(homePage({ versions: timetable(versions, Date.now()), explorer: true }).body);
  assert.match(front, /href="\/explorer\/unstable\?example=0"\s*>Run it in the explorer</);
});

test("every guide is listed", async () => {
  const files = await readdir(new URL("../../docs/", import.meta.url), { recursive: true });
  const elsewhere = /^(README\.md|events\/|internals\/decisions\/)/;
  const written = files.filter((name) => name.endsWith(".md") && !elsewhere.test(name));
  const listed = new Set(guides.map(({ file }) => file));
  assert.deepEqual(
    written.filter((name) => !listed.has(`docs/${name}`)),
    [],
  );
});

test("former and nearly right addresses lead to the page that is meant", async () => {
  for (const [address, page] of Object.entries({
    "/docs/guides/quickstart": "/docs/tutorials/calling-the-api",
    "/docs/guides/api": "/docs/reference/requests",
    "/docs/guides/errors": "/docs/reference/errors",
    "/docs/webhook": "/docs/guides/webhooks",
    "/docs/guides/Changing_Columns.md": "/docs/guides/changing-columns",
    "/docs/Guides/Webhooks": "/docs/guides/webhooks",
    "/docs/guides/webhooks.MD": "/docs/guides/webhooks.md",
    "/docs/CHANGELOG.md": "/docs/changelog.md",
    "/docs/reference/rate-limits": "/docs/reference/limits",
    "/docs/unstable/mutations/stockadjust": "/docs/unstable/mutations/stockAdjust",
    "/docs/unstable/stock-adjust": "/docs/unstable/mutations/stockAdjust",
    "/docs/unstable/objects/order": "/docs/unstable/queries/order",
    "/docs/unstable/objects/Order": "/docs/unstable/types/Order",
    "/docs/types/OrderFilterInput": "/docs/2026-06-unstable/types/OrderFilterInput",
    "/docs/Stockset": "/docs/2026-06-unstable/mutations/stockSet",
    "/docs/unstable/Queries": "/docs/unstable/queries",
    "/docs/unstable/subscription": "/docs/unstable/subscriptions",
    "/docs/unstable/schema": "/api/graphql/unstable/schema.graphql",
  })) {
    const { status, headers } = await get(address);
    assert.deepEqual([status, headers.get("location")], [302, page], address);
  }
});

test("every diagram of a guide is drawn as it is now, and shown as a picture that loads nothing", async () => {
  const { text } = await get("/docs/reference/data-model");
  const shown = text.matchAll(/<img class="diagram" src="([^"]+)"/g).map(([, address]) => address!);
  const first = await get(shown.next().value!, { "accept-encoding": "gzip" });
  assert.equal(first.headers.get("content-type"), "image/svg+xml; charset=utf-8");
  assert.match(first.headers.get("content-security-policy")!, /^sandbox; default-src 'none'; style-src/);
  assert.match(first.text, /^<svg [^]*erp\.product_supplier_price/);

  const files = [...guides.map(({ file }) => file), "README.md"];
  const sources = files.flatMap((file) =>
    diagramsIn(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")),
  );
  assert.ok(sources.length > 10);
  const drawn = readdirSync(diagramFolder);
  const wanted = [...new Set(sources.map(diagramFile))];
  assert.deepEqual(drawn.toSorted(), wanted.toSorted(), "`npm run draw` draws them");
  for (const file of drawn) {
    const picture = readFileSync(new URL(file, diagramFolder), "utf8");
    assert.doesNotMatch(picture, /<script|@import|\b(?:href|src)="(?!#)|url\((?!#)/, file);
  }
});

test("a diagram that isn't drawn is shown as its source", () => {
  const { content } = renderText("# Title\n\n```mermaid\nflowchart TD\n  new\n```\n", () => null);
  assert.doesNotMatch(String(content), /<img/);
  assert.match(String(content), /<details class="diagram-source">[^]*flowchart TD/);
});

test("HTML and scripts in a text are shown as they are written", () => {
  const source = `# Title <b>\n\n<script>alert(1)</script>\n\n[a](javascript:alert(1)) ![b](x.svg)\n\n\`\`\`ts\n"<img>"\n\`\`\`\n`;
  const { title, content } = renderText(source, (address) => address);
  assert.equal(title, "Title <b>");
  assert.doesNotMatch(String(content), /<script|href="javascript|<img>/);
  assert.match(String(content), /&lt;script&gt;/);
});

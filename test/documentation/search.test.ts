import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import MiniSearch from "minisearch";
import { Model } from "../../src/documentation/model.ts";
import { searchIndex } from "../../src/documentation/search-index.ts";

const sdl = readFileSync(new URL("../../schema/unstable.graphql", import.meta.url), "utf8");
const data = searchIndex(new Model({ slug: "unstable", sdl, fields: new Map(), topics: [] }));
type Find = (text: string) => (typeof data)["entries"];
const engine = new URL("../../src/html/assets/search.js", import.meta.url).href;
// A module for browsers, without types
const { openIndex } = (await import(engine)) as { openIndex: (library: unknown, index: typeof data) => Find };
const find = openIndex(MiniSearch, data);

/** What readers type, and the page that they need. */
const queries: Record<string, string> = {
  // The words of the field
  pagination: "reference/pagination",
  "next page cursor": "reference/pagination",
  "api key": "reference/authentication",
  "bearer token": "reference/authentication",
  "token expired": "reference/authentication",
  "429": "reference/limits",
  "rate limit": "reference/limits",
  "too many requests": "reference/limits",
  "query complexity": "reference/limits",
  "webhook signature": "guides/webhooks",
  "hmac verify": "guides/webhooks",
  retry: "guides/stock",
  "webhook retries": "guides/webhooks",
  "idempotency key": "reference/mutations",
  docker: "guides/deploying",
  "helm chart kubernetes": "guides/deploying",
  "upload csv": "guides/loading",
  "import products": "guides/loading",
  "export csv": "guides/exporting",
  "bulk operation": "guides/exporting",
  "typescript types": "reference/requests",
  sdk: "reference/requests",
  codegen: "reference/requests",
  introspection: "reference/requests",
  sandbox: "tutorials/calling-the-api",
  "getting started": "tutorials/calling-the-api",
  backup: "guides/backups",
  "restore a backup": "guides/backups",
  failover: "guides/replicas",
  "read replica": "guides/replicas",
  "prometheus metrics": "guides/monitoring",
  opentelemetry: "guides/monitoring",
  "slow queries": "guides/monitoring",
  "zero downtime deployment": "guides/running",
  gdpr: "guides/retention",
  "environment variables": "reference/settings",
  "multi tenant": "guides/merchants",
  "breaking changes": "reference/versions",
  "deprecated fields": "reference/versions",
  websocket: "guides/live",
  subscriptions: "reference/events",
  "shopify connector": "guides/storefront",
  "sort order": "reference/pagination",
  "where clause": "reference/filters",
  "sum group by": "reference/aggregates",
  "validation error": "reference/errors",
  "error codes": "reference/errors",
  cors: "reference/requests",
  "oauth client credentials": "reference/authentication",
  "inventory adjustment": "guides/stock",
  "purchase order": "guides/purchasing",
  "shipping label": "guides/labels",
  "add field": "tutorials/changing-the-service",
  "rename column": "guides/changing-columns",
  benchmark: "explanation/speed",
  "entity relationship diagram": "reference/data-model",
  // Typos
  pagniation: "reference/pagination",
  autentication: "reference/authentication",
  "webhok signatur": "guides/webhooks",
  kubernets: "guides/deploying",
  idempotencey: "reference/mutations",
  // Names of the schema
  stockadj: "unstable/mutations/stockAdjust",
  stockAdjust: "unstable/mutations/stockAdjust",
  "stock adjust": "unstable/mutations/stockAdjust",
  Order: "unstable/types/Order",
  orders: "unstable/queries/orders",
  PRODUCT_HAS: "unstable/types/UserErrorCode",
  SEARCH_TOO_BROAD: "reference/errors",
  "Product.availableStock": "unstable/types/Product",
};

const pageOf = (path: string): string => path.split("#")[0]!;

for (const [query, page] of Object.entries(queries))
  test(`the search finds the page for: ${query}`, () => {
    const found = find(query).slice(0, 3);
    assert.ok(
      found.some(([, , path]) => pageOf(path) === page),
      `${page} is not among ${found.map(([title, kind, path]) => `${title} (${kind}) ${path}`).join(", ")}`,
    );
  });

test("the search leaves out the internals", () => {
  assert.deepEqual(
    data.entries.filter(([, , path]) => path.startsWith("internals")),
    [],
  );
});

test("each synonym stands for words of one part of a page", () => {
  const texts = data.entries.map((entry) => entry.join(" ").toLowerCase());
  const unknown = Object.keys(data.synonyms).filter((ours) => {
    const words = ours.toLowerCase().split(" ");
    return !texts.some((text) => words.every((word) => text.includes(word)));
  });
  assert.deepEqual(unknown, []);
});

test("nonsense finds nothing", () => {
  assert.deepEqual(find("qwxzjk vvvv"), []);
  assert.deepEqual(find("the"), []);
});

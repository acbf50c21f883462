import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { buildSchema, isScalarType, isSpecifiedScalarType } from "postgraphile/graphql";
import { versions } from "../../src/versions/versions.ts";
import { query, read, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

// What needs no token, and what browsers are told.
let service: TestService;
before(async () => {
  service = await startService({ versions, settings: { corsOrigins: ["https://shop.example"] } });
});
after(() => service.close());

const get = async (path: string, headers: Record<string, string> = {}, method = "GET") =>
  read(await fetch(service.url + path, { headers, method, redirect: "manual" }));
const pathOf = (slug: string) => `/api/graphql/${slug}/schema.graphql`;

test("the schema of each version is served as SDL, and again only when it has changed", async () => {
  for (const { slug } of versions) {
    const { status, headers, text } = await get(pathOf(slug));
    assert.equal(status, 200);
    assert.match(text, /@requiresScopes\(anyOf: \["products:read"\]\)/);
    buildSchema(text);
    const etag = headers.get("etag")!;
    for (const known of [etag, `"other", ${etag.slice(2)}`]) {
      const again = await get(pathOf(slug), { "if-none-match": known });
      assert.deepEqual([again.status, again.text.length, again.headers.get("etag")], [304, 0, etag]);
    }
    assert.equal((await get(pathOf(slug), { "if-none-match": '"other"' })).status, 200);
  }
  // A version may be written with escapes
  const escaped = await get(pathOf("un%73table"));
  assert.deepEqual([escaped.status, escaped.text], [200, (await get(pathOf("unstable"))).text]);
  const unknown = await get(pathOf("2020-01"));
  assert.deepEqual([unknown.status, unknown.codes], [400, ["SERVICE_GRAPHQL__UNSUPPORTED_API_VERSION"]]);
});

test("scalars of the head say what specifies them; those of the frozen version stay as they are", async () => {
  const scalarsOf = async (slug: string) =>
    Object.values(buildSchema((await get(pathOf(slug))).text).getTypeMap())
      .filter((type) => isScalarType(type) && !isSpecifiedScalarType(type))
      .map((type) => (isScalarType(type) ? type.specifiedByURL : undefined));
  const inHead = await scalarsOf("unstable");
  assert.ok(inHead.length >= 2);
  for (const url of inHead) assert.match(url!, /^https:/);
  assert.ok((await scalarsOf("2026-06-unstable")).every((url) => url == null));
});

/** Places of directives in the specification of October 2021: all that older clients know. */
const placesOf2021 =
  "QUERY MUTATION SUBSCRIPTION FIELD FRAGMENT_DEFINITION FRAGMENT_SPREAD INLINE_FRAGMENT VARIABLE_DEFINITION SCHEMA SCALAR " +
  "OBJECT FIELD_DEFINITION ARGUMENT_DEFINITION INTERFACE UNION ENUM ENUM_VALUE INPUT_OBJECT INPUT_FIELD_DEFINITION";

test("introspection names only places of directives that older clients know", async () => {
  const token = await service.token();
  const text = "{ __schema { directives { name locations } } }";
  for (const { slug } of versions) {
    const { body } = await service.ask(token, { query: text }, { version: slug });
    const { directives } = body.data.__schema;
    assert.ok(directives.some(({ name }: any) => name === "deprecated"));
    const places = new Set(directives.flatMap(({ locations }: any) => locations));
    assert.deepEqual(
      [...places].filter((place) => !placesOf2021.split(" ").includes(String(place))),
      [],
    );
  }
});

const preflight = {
  "access-control-request-method": "POST",
  "access-control-request-headers": "authorization",
};

test("pages of the origins that are set may use the API", async () => {
  const origin = "https://shop.example";
  for (const path of ["/api/graphql/unstable", "/api/oauth/token", "/api/versions", pathOf("unstable")]) {
    const { status, headers } = await get(path, { origin, ...preflight }, "OPTIONS");
    assert.equal(status, 204, path);
    assert.equal(headers.get("access-control-allow-origin"), origin);
    assert.match(headers.get("access-control-allow-headers")!, /authorization, content-type/);
    assert.equal(headers.get("access-control-allow-credentials"), null);
  }
  const token = await service.token();
  for (const given of [token, "wrong"]) {
    const { headers } = await service.ask(given, { query }, { headers: { origin } });
    assert.equal(headers.get("access-control-allow-origin"), origin);
    assert.match(headers.get("access-control-expose-headers")!, /ratelimit/);
    assert.match(headers.get("vary")!, /Origin/);
  }
});

/** Headers that no page sets itself, or that each may set: https://fetch.spec.whatwg.org/#cors-safelisted-request-header */
const ofBrowsers =
  /^(accept-encoding|access-control-.*|content-length|cookie|expect|host|origin|referer|sec-.*|x-forwarded-.*)$/;

test("pages may send each header that the service reads, and those that clients add", async () => {
  const files = await readdir("src", { recursive: true });
  const read = new Set<string>();
  for (const file of files.filter((each) => /^(http|tracing)\/.*\.ts$/.test(each))) {
    const text = await readFile(`src/${file}`, "utf8");
    const found = text.matchAll(
      /(?<!response\.)headers(?:\.(?!ts")([a-z]+)\b|\["([a-z-]+)"\])|request\.get\("([a-z-]+)"\)/g,
    );
    for (const [, name, quoted, got] of found) read.add(name ?? quoted ?? got!);
  }
  const wanted = [...read].filter((name) => !ofBrowsers.test(name));
  assert.ok(wanted.length >= 8, wanted.join());
  const ofClients = [
    "traceparent",
    "tracestate",
    "apollographql-client-name",
    "apollographql-client-version",
  ];
  const path = "/api/graphql/unstable";
  const { headers } = await get(path, { origin: "https://shop.example", ...preflight }, "OPTIONS");
  const allowed = headers.get("access-control-allow-headers")!.split(", ");
  for (const name of [...wanted, ...ofClients, "*"]) assert.ok(allowed.includes(name), name);
});

test("other pages may not, none may use the administration, and none anything without the setting", async () => {
  const closed = await service.another();
  for (const [path, origin] of [
    ["/api/graphql/unstable", "https://other.example"],
    ["/api/graphql/unstable", "null"],
    ["/admin/log-in", "https://shop.example"],
    ["/livez", "https://shop.example"],
  ] as const) {
    for (const method of ["OPTIONS", "GET"]) {
      const { headers } = await get(path, { origin, ...preflight }, method);
      assert.equal(headers.get("access-control-allow-origin"), null, `${method} ${path}`);
    }
  }
  const { headers } = await closed.ask(null, { query }, { headers: { origin: "https://shop.example" } });
  assert.equal(headers.get("access-control-allow-origin"), null);
});

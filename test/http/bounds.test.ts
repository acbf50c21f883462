import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { after, before, describe, it } from "node:test";
import { pino } from "pino";
import { Registry } from "prom-client";
import { Refusals } from "../../src/http/middleware/observing/refusals.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";

let service: TestService;
let token: string;
before(async () => {
  service = await startService();
  token = await service.token();
});
after(() => service.close());

describe("a request with more than one Host", () => {
  it("is refused", async () => {
    const { hostname, port } = new URL(service.url);
    for (const [host, status] of [
      ["Host: a\r\n", 401],
      ["Host: a\r\nhost: b\r\n", 400],
    ]) {
      const socket = connect(Number(port), hostname);
      socket.write(
        `POST /api/graphql/unstable HTTP/1.1\r\n${host}content-length: 0\r\nConnection: close\r\n\r\n`,
      );
      assert.ok((await text(socket)).startsWith(`HTTP/1.1 ${status} `));
    }
  });
});

describe("a message", () => {
  it("doesn't repeat what was sent at any length", async () => {
    const long = "x".repeat(900_000);
    const bodies = [
      { query: `{ ${long} }` },
      { query: `query ($${long}: Int) { __typename }` },
      { query: "query ($a: Int) { products(first: $a) { edges { node { id } } } }", variables: { a: long } },
      { query: "{ __typename }", operationName: long },
      { query: `{ product(id: "${long}") { id } }` },
      { query: `{ products(after: "${long}") { edges { node { id } } } }` },
    ];
    for (const body of bodies) {
      const answer = await service.ask(token, body);
      assert.ok(answer.codes.length > 0 && answer.text.length < 20_000, `${answer.text.length}`);
    }
  });

  it("about many places names a few", async () => {
    const query = `{ ${"products { edges { node { id } } } ".repeat(50)} products(first: 1) { edges { node { id } } } }`;
    const { body } = await service.ask(token, { query });
    assert.ok(body.errors.length > 0);
    for (const { locations } of body.errors) assert.ok(locations.length <= 10);
  });
});

describe("a body that no points were taken for", () => {
  const query = "{ __typename }";
  const long = JSON.stringify({ query, variables: { a: "x".repeat(100_000) } });
  const send = async (body: BodyInit, headers: Record<string, string> = {}) => {
    const response = await fetch(`${service.url}/api/graphql/unstable`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}`, ...headers },
      body,
      duplex: "half",
    } as RequestInit);
    const { errors = [] } = (await response.json()) as { errors?: { message: string }[] };
    return [response.status, errors[0]?.message];
  };
  const refusal = "A body of more than 32768 bytes needs a Content-Length, UTF-8 and no Content-Encoding.";

  it("as its length isn't told, is read when it is short", async () => {
    const chunked = (text: string) => new Blob([text]).stream();
    assert.deepEqual(await send(chunked(JSON.stringify({ query }))), [200, undefined]);
    assert.deepEqual(await send(chunked(long)), [413, refusal]);
    assert.deepEqual(await send(long), [200, undefined]);
  });

  it("as it is longer when it is unpacked, is read when it is short", async () => {
    const packed = { "content-encoding": "gzip" };
    assert.deepEqual(await send(gzipSync(JSON.stringify({ query })), packed), [200, undefined]);
    assert.deepEqual(await send(gzipSync(long), packed), [413, refusal]);
  });

  it("is read as long as it is UTF-8, however its type says so", async () => {
    for (const type of [
      'application/json; charset="UTF-8"',
      "application/json;v=1",
      "application/json ; charset=utf-8",
    ])
      assert.deepEqual(await send(long, { "content-type": type }), [200, undefined], type);
    const utf16 = { "content-type": "application/json; charset=utf-16le" };
    assert.deepEqual(await send(Buffer.from(JSON.stringify({ query }), "utf16le"), utf16), [200, undefined]);
    assert.deepEqual(await send(Buffer.from(long, "utf16le"), utf16), [413, refusal]);
  });

  it("is refused when it takes longer to read than to send", async () => {
    const nested = (count: number) =>
      `{"query":"${query}","variables":{"a":${"[".repeat(count)}${"]".repeat(count)}}}`;
    const tooDeep = "“variables” is nested deeper than 200 levels.";
    assert.deepEqual(await send(nested(199)), [200, undefined]);
    for (const count of [200, 20_000, 49_000]) assert.deepEqual(await send(nested(count)), [400, tooDeep]);
    const tooMuch = "The body has more than 50000 lists, objects and members.";
    assert.deepEqual(await send(nested(100_000)), [400, tooMuch]);
    const equal = '{"a":1},'.repeat(30_000);
    assert.deepEqual(await send(`{"query":"${query}","variables":{"a":[${equal}1]}}`), [400, tooMuch]);
    // In UTF-16, a character may have the byte of a quote
    const members = Array.from({ length: 20_000 }, (_, n) => [`k${n}`, 1]);
    const quoted = JSON.stringify({ query, variables: { "\u2200": 1, ...Object.fromEntries(members) } });
    const differ = "The body has objects that differ in their members, with more than 10000 members.";
    assert.deepEqual(await send(Buffer.from(`\ufeff${quoted}`, "utf16le")), [400, differ]);
    // What is in strings doesn't count, however the body arrives in pieces
    const text = JSON.stringify({ query, variables: { a: '\\"{[:'.repeat(60_000) } });
    assert.deepEqual(await send(text), [200, undefined]);
    assert.deepEqual(await send(`${long}]`), [400, "The body is not valid JSON."]);
  });
});

describe("a body with many members", () => {
  const query = "{ __typename }";
  const membersFrom = (from: number, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`k\\"${from + n}`, 1]));
  const send = async (given: object) => {
    const { status, body } = await service.ask(token, { query, ...given });
    return [status, body.errors?.[0].message];
  };
  const differ = "The body has objects that differ in their members, with more than 10000 members.";

  it("is read when its objects have the same members in the same order", async () => {
    const lines = Array.from({ length: 1_000 }, () => membersFrom(0, 24));
    assert.deepEqual(await send({ variables: { lines } }), [200, undefined]);
    const some = Array.from({ length: 400 }, (_, n) => membersFrom(n, 20));
    assert.deepEqual(await send({ variables: { some } }), [200, undefined]);
  });

  it("is refused before it is parsed when they differ, as that takes fifty times as long", async () => {
    assert.deepEqual(await send({ variables: membersFrom(0, 10_100) }), [400, differ]);
    assert.deepEqual(await send({ extensions: membersFrom(0, 10_100) }), [400, differ]);
    const others = Array.from({ length: 1_010 }, (_, n) => membersFrom(10 * n, 10));
    assert.deepEqual(await send({ variables: { others } }), [400, differ]);
    const longer = Array.from({ length: 150 }, (_, n) => membersFrom(0, n));
    assert.deepEqual(await send({ variables: { longer } }), [400, differ]);
    const shifted = Array.from({ length: 101 }, (_, n) => membersFrom(n, 100));
    assert.deepEqual(await send({ variables: { shifted } }), [400, differ]);
    // Cut off within the object
    const text = JSON.stringify({ query, variables: membersFrom(0, 20_000) });
    assert.deepEqual((await service.ask(token, text.slice(0, -2))).body.errors[0].message, differ);
  });
});

it("wrong variables of a long body are reported by their first fault", async () => {
  const unknown = Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`k${n}`, 1]));
  const able = await service.token({ write: ["stocks"], read: ["tags"] });
  const queries = [
    "query ($input: TagFilterInput) { tags(filter: $input) { edges { node { id } } } }",
    "mutation ($input: StockAdjustInput!) { stockAdjust(input: $input) { userErrors { code } } }",
  ];
  for (const text of queries) {
    const { status, body, codes } = await service.ask(able, { query: text, variables: { input: unknown } });
    assert.deepEqual([status, codes], [200, ["BAD_USER_INPUT"]]);
    assert.match(body.errors[0].message, /^Variable "\$input" got invalid value/);
  }
});

describe("tokens that look like those of the administration", () => {
  it("reach the database only so often from one address", async () => {
    const start = performance.now();
    let asked = 0;
    const count = () => void asked++;
    service.pool.on("acquire", count);
    for (let n = 0; n < 60; n++) {
      const made = `as_${String(n).padStart(43, "0")}`;
      assert.equal((await service.ask(made, { query: "{ __typename }" })).status, 401);
    }
    service.pool.off("acquire", count);
    // 20 at once and one more each second, and what the service itself asks
    const most = 25 + (2 * (performance.now() - start)) / 1_000;
    assert.ok(asked >= 20 && asked <= most, `${asked} of ${most}`);
  });
});

describe("refusals", () => {
  it("are counted by reason and told to the log", async () => {
    const figure = async (reason: string) =>
      Number(
        new RegExp(`^service_refusals_total\\{reason="${reason}"\\} (\\d+)$`, "m").exec(
          await service.app.metrics.registry.metrics(),
        )?.[1] ?? 0,
      );
    const before = await figure("UNAUTHENTICATED");
    await service.ask(null, { query: "{ __typename }" });
    await until(async () => (await figure("UNAUTHENTICATED")) === before + 1);
    const poor = await service.token({ read: ["tags"] });
    await service.ask(poor, { query: "{ products { edges { node { id } } } }" });
    await until(async () => (await figure("FORBIDDEN")) === 1);
    const line = service.log.find(({ reason }) => reason === "FORBIDDEN")!;
    assert.deepEqual([line.level, line.msg], [40, "refused a request"]);
    assert.ok(line.requestId && line.credentialId && line.address);
    await fetch(`${service.url}/api/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({ grant_type: "client_credentials", client_id: "a", client_secret: "b" }),
    });
    await until(async () => (await figure("invalid_client")) === 1);
  });

  it("fill the log no further than so many lines in a minute, and then a sum", () => {
    const lines: Record<string, any>[] = [];
    const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const refusals = new Refusals(new Registry(), logger);
    for (let n = 0; n < 5_000; n++) refusals.note("UNAUTHENTICATED", "192.0.2.1", {});
    for (let n = 0; n < 5_000; n++) refusals.note("THROTTLED", `2001:db8:${n.toString(16)}::1`, {});
    refusals.note("BAD_USER_INPUT", "192.0.2.2", {});
    assert.equal(lines.length, 100);
    refusals.close();
    const { msg, count, most } = lines.at(-1)!;
    assert.deepEqual([lines.length, msg, count], [101, "refused more requests", 9_900]);
    assert.deepEqual(most[0], { reason: "UNAUTHENTICATED", address: "192.0.2.1", count: 4_995 });
  });
});

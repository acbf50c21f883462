import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createPool } from "../../src/postgres/pool.ts";
import { defaultLimits } from "../../src/graphql/limits.ts";
import { query, startService } from "../lib/service.ts";
import type { HttpAnswer, TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";

const limits = { ...defaultLimits, bucket: 1_000_000, refill: 1_000_000 };
let service: TestService;
let token: string;
before(async () => {
  service = await startService({ settings: { limits } });
  token = await service.token({ write: "all" });
});
after(() => service.close());

const modern = { headers: { accept: "application/graphql-response+json" } };
const repeat = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join(" ");
const products = (inner: string, first = 10) => `products(first: ${first}) { edges { node { ${inner} } } }`;
const nested = (levels: number): string => (levels === 0 ? "id" : `parent { ${nested(levels - 1)} }`);
const binary = (levels: number): string =>
  levels === 0 ? "id" : `parent { ${binary(levels - 1)} } p${levels}: parent { ${binary(levels - 1)} }`;

test("variables called like what every object has are refused: not given, they would seem to be", async () => {
  for (const name of ["constructor", "toString", "__proto__"]) {
    for (const argument of [`first: Int = 250`, `after: String`]) {
      const [called, type] = argument.split(": ");
      const document = `query ($${name}: ${type}) { products(${called}: $${name}) { pageInfo { hasNextPage } } }`;
      const { codes, body } = await service.ask(token, { query: document }, modern);
      assert.deepEqual(codes, ["GRAPHQL_VALIDATION_FAILED"]);
      assert.equal(body.errors[0].message, `A variable can't be called "$${name}".`);
    }
  }
});

test("subscriptions to what can't be subscribed to are refused", async () => {
  for (const document of ["subscription { __typename }", "subscription { anything { at { all } } }"]) {
    const { codes } = await service.ask(token, { query: document }, modern);
    assert.deepEqual(codes, ["GRAPHQL_VALIDATION_FAILED"]);
  }
});

for (const [what, document, code] of [
  ["fields too deep", `{ ${products(nested(9))} }`, "QUERY_TOO_DEEP"],
  [
    "any selection too deep, before it is validated",
    `{ ${repeat(30, () => "a {")} b ${repeat(30, () => "}")} }`,
    "QUERY_TOO_DEEP",
  ],
  [
    "too many relations",
    `{ ${products(repeat(101, (i) => `p${i % 9}: parent { p${i}: parent { id } }`))} }`,
    "QUERY_TOO_COMPLEX",
  ],
  ["too many aliases", `{ ${repeat(101, (i) => `a${i}: __typename`)} }`, "QUERY_TOO_COMPLEX"],
  ["too many directives", `{ ${repeat(51, () => "__typename @include(if: true)")} }`, "QUERY_TOO_COMPLEX"],
  ["too many tokens", `{ ${repeat(5_000, () => "__typename")} }`, "QUERY_TOO_COMPLEX"],
  [
    "too many rows",
    `{ ${products(`tags(first: 250) { edges { node { id } } }`, 250)} }`,
    "QUERY_TOO_COMPLEX",
  ],
  [
    "too many mutations",
    `mutation { ${repeat(11, (i) => `m${i}: warehouseCreate(input: { name: "A", code: "A${i}" }) { userErrors { code } }`)} }`,
    "QUERY_TOO_COMPLEX",
  ],
  [
    "a small text that Postgres would plan for half a minute",
    `{ ${products(binary(7))} }`,
    "QUERY_TOO_COMPLEX",
  ],
] as const) {
  test(`${what}: ${code}, when read and when remembered`, async () => {
    for (const expected of [code, code]) {
      const { status, codes, body } = await service.ask(token, { query: document }, modern);
      assert.deepEqual([status, codes], [400, [expected]]);
      assert.equal(typeof body.errors[0].extensions.maximum, "number");
    }
  });
}

test("what is just within the limits is answered", async () => {
  for (const document of [
    `{ ${products(nested(8))} }`,
    `{ ${repeat(100, (i) => `a${i}: __typename`)} }`,
    `{ ${repeat(50, () => "__typename @include(if: true)")} }`,
    `{ ${products(
      repeat(99, (i) => `p${i}: parent { id }`),
      1,
    )} }`,
  ]) {
    assert.deepEqual((await service.ask(token, { query: document })).codes, [], document.slice(0, 60));
  }
});

test("answers say what the operation cost, refused ones too", async () => {
  const cost = async (document: string) =>
    (await service.ask(token, { query: document })).body.extensions.cost;
  assert.deepEqual(await cost("{ __typename }"), { requested: 1, maximum: 2000 });
  assert.deepEqual(await cost(`{ ${products("id parent { id }", 100)} }`), { requested: 22, maximum: 2000 });
  assert.deepEqual(await cost("{ nope }"), { requested: 10, maximum: 2000 });
  const { body } = await service.ask(token, {
    query: `query ($n: Int) { products(first: $n) { edges { node { id } } } }`,
    variables: { n: 50 },
  });
  assert.equal(body.extensions.cost.requested, 6);
});

const counts = ({ headers }: HttpAnswer) => {
  const [, remaining, reset] = /^"points";r=(\d+);t=(\d+)$/.exec(headers.get("ratelimit") ?? "") ?? [];
  return { policy: headers.get("ratelimit-policy"), remaining: Number(remaining), reset: Number(reset) };
};

test("a token that has spent its points is told when to come again, and others continue", async () => {
  const small = await service.another({ settings: { limits: { ...limits, bucket: 10, refill: 0.1 } } });
  const other = await service.token();
  const first = await small.ask(token, { query: "{ ...F } fragment F on Query { __typename }" });
  assert.deepEqual(counts(first), { policy: '"points";q=10;w=100', remaining: 9, reset: 10 });
  // Refusing costs ten points, more than it has; the rest is left
  const refused = await small.ask(token, { query: "{ nope }" }, modern);
  assert.deepEqual([refused.status, refused.codes], [429, ["THROTTLED"]]);
  assert.equal(refused.body.errors[0].extensions.retryable, true);
  assert.deepEqual(counts(refused), { policy: '"points";q=10;w=100', remaining: 9, reset: 10 });
  assert.equal(refused.headers.get("retry-after"), "10");
  for (let left = 8; left >= 0; left--)
    assert.equal(counts(await small.ask(token, { query: "{ __typename }" })).remaining, left);
  const empty = await small.ask(token, { query: "{ __typename }" });
  assert.deepEqual([empty.status, counts(empty).remaining, empty.headers.get("retry-after")], [429, 0, "10"]);
  assert.equal((await small.ask(other, { query })).status, 200);
});

test("members that take long to parse cost points, before they are parsed; those of one shape don't", async () => {
  const small = await service.another({ settings: { limits: { ...limits, bucket: 50, refill: 0.001 } } });
  const query = "{ __typename }";
  const object = (from: number, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`name-${from + n}`, 1]));
  const list = Array.from({ length: 1_000 }, () => object(0, 1));
  // One for the 10 kB of the body, one for the operation
  const alike = await small.ask(token, { query, variables: { list } });
  assert.deepEqual([alike.status, counts(alike).remaining], [200, 48]);
  // One for the body, twenty for a thousand members and some, one for the operation
  const differing = await small.ask(token, { query, variables: object(0, 1_010) });
  assert.deepEqual([differing.status, counts(differing).remaining], [200, 26]);
  const text = JSON.stringify({ query, variables: object(0, 9_000) });
  const refused = await small.ask(token, `${text} is not JSON`);
  assert.deepEqual([refused.status, refused.codes], [429, ["THROTTLED"]]);
  assert.match(refused.body.errors[0].message, /^This costs 180 points; the API credential has \d+ left/);
});

test("points come back", async () => {
  const small = await service.another({ settings: { limits: { ...limits, bucket: 5, refill: 5 } } });
  const ask = async () => (await small.ask(token, { query: "{ __typename }" })).status;
  // Many at once, because points come back while they are spent
  await until(async () => (await Promise.all(Array.from({ length: 30 }, ask))).includes(429));
  await until(async () => (await ask()) === 200);
});

test("processes that count in the database keep to the limit together", async () => {
  const settings = { limits: { ...limits, bucket: 20, refill: 0.01 } };
  const limiterPool = createPool(service.loginUrl, { max: 2 });
  try {
    const [one, two] = [
      await service.another({ settings, limiterPool }),
      await service.another({ settings, limiterPool }),
    ];
    const statuses: number[] = [];
    for (let i = 0; i < 15; i++)
      for (const process of [one, two])
        statuses.push((await process.ask(token, { query: "{ __typename }" })).status);
    assert.equal(statuses.filter((status) => status === 200).length, 20);
    assert.deepEqual(statuses.slice(20), Array(10).fill(429));
  } finally {
    await limiterPool.end();
  }
  // Without the database each process counts for itself
  const alone = await service.another({ settings, limiterPool });
  assert.equal((await alone.ask(token, { query: "{ __typename }" })).status, 200);
});

test("the role that counts sees nothing else", async () => {
  const pool = createPool(service.loginUrl, { max: 1, settings: { role: "service_limiter" } });
  try {
    await pool.query("select count(*) from auth.bucket");
    for (const table of ["auth.credential", "auth.plan", "erp.product"])
      await assert.rejects(pool.query(`select from ${table}`), { code: "42501" });
  } finally {
    await pool.end();
  }
});

test("a body beyond the limit is refused", async () => {
  const small = await service.another({ settings: { limits, maxBodyBytes: 100 } });
  const { status, codes } = await small.ask(token, { query: `{ __typename } # ${"x".repeat(100)}` });
  assert.deepEqual([status, codes], [413, ["BAD_USER_INPUT"]]);
});

test("mutations have a time-out of their own", async () => {
  await service.owner.query(`
    create function erp.dawdle() returns trigger language plpgsql set search_path = pg_catalog, pg_temp
      as $$ begin perform pg_sleep(5); return new; end $$;
    create trigger dawdle before insert on erp.warehouse for each row execute function erp.dawdle();
  `);
  const hurried = await service.another({
    settings: { limits, timeoutsMs: { statement: 5_000, lock: 3_000, mutation: 100 } },
  });
  const { codes } = await hurried.ask(token, {
    query: `mutation { warehouseCreate(input: { name: "Late", code: "L" }) { userErrors { code } } }`,
  });
  assert.deepEqual(codes, ["QUERY_TIMEOUT"]);
});

test("a client may ask for so many tokens a minute; others aren't kept from theirs", async () => {
  const small = await service.another({ settings: { limits, tokenRequestsPerMinute: 3 } });
  const [busy, other] = [await service.credential(), await service.credential()];
  const ask = (credentials: typeof busy, init: RequestInit = {}) =>
    fetch(`${small.url}/api/oauth/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${credentials.clientId}:${credentials.clientSecret}`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials" }),
      ...init,
    });
  for (const expected of [200, 200, 200, 429]) {
    const response = await ask(busy);
    assert.equal(response.status, expected);
    if (expected === 200) continue;
    const wait = Number(response.headers.get("retry-after"));
    assert.ok(wait >= 1 && wait <= 60);
    const body = (await response.json()) as { error: string };
    assert.equal(body.error, "temporarily_unavailable");
  }
  assert.equal((await ask(other)).status, 200);
  // An address that invents clients is stopped as well
  let refused = 0;
  for (let i = 0; i < 40; i++)
    refused += Number((await ask({ ...busy, clientId: `ak_${i}` })).status === 429);
  assert.ok(refused > 0 && refused < 40);
});

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Pool } from "pg";
import { makeSchema } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import type { GraphQLSchema } from "postgraphile/graphql";
import { buildSchema, getIntrospectionQuery, graphqlSync, parse, validate } from "postgraphile/graphql";
import { createPreset } from "../../plugins/index.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { defaultLimits } from "../../src/graphql/limits.ts";
import { schemaFromText, schemaToText } from "../../src/graphql/schema-copy.ts";
import { SchemaThread } from "../../src/graphql/schema-thread.ts";
import type { SchemaWork } from "../../src/graphql/schema-thread.ts";
import { TurnRefused } from "../../src/lib/fair-queue.ts";
import { versions } from "../../src/versions/versions.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

/** Everything that introspection can show. */
const all = getIntrospectionQuery({
  ...{ descriptions: true, specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true },
  ...{ inputValueDeprecation: true, oneOf: true },
});
const repeat = (count: number, make: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => make(n)).join(" ");

describe("a copy of a schema", () => {
  let database: TestDatabase;
  let pool: Pool;
  before(async () => {
    database = await openTestDatabase("template_schema");
    pool = createPool(database.loginUrl, { max: 2 });
  });
  after(async () => {
    await pool?.end();
    await database?.close();
  });

  for (const { slug, schemaName } of versions)
    it(`is introspected like the original, to the letter: ${slug}`, async () => {
      const pgService = makePgService({ pool });
      const { schema } = await makeSchema(createPreset({ pgService, schemaName }));
      const copy = schemaFromText(schemaToText(schema));
      const text = (of: GraphQLSchema) => JSON.stringify(graphqlSync({ schema: of, source: all }));
      assert.equal(text(copy), text(schema));
      assert.ok(text(copy).length > 100_000);
    });
});

describe("the thread of schemas", () => {
  const schema = buildSchema("scalar Day type Query { day(of: Day, size: Int): Day }");
  let worked: Record<string, number>;
  const schemaThread = new SchemaThread();
  let thread: SchemaWork;
  before(() => {
    worked = {};
    thread = schemaThread.forMerchant("", (client, ms) => (worked[client] = (worked[client] ?? 0) + ms));
  });
  after(() => schemaThread.close());
  const check = (text: string, client = "a") => thread.check(client, schema, text, defaultLimits);

  it("finds the same errors in the same places", async () => {
    assert.deepEqual(await check('{ day(of: "x") }'), []);
    for (const text of ["{ nope other }", "query ($a: Int) { day(of: $b) }", "{ day\n  ...F }"]) {
      const expected = validate(schema, parse(text)).map(({ message, locations }) => [message, locations]);
      const found = await check(text);
      assert.deepEqual(
        found.map(({ message, locations }) => [message, locations]),
        expected,
      );
      for (const { extensions } of found) assert.equal(extensions.code, "GRAPHQL_VALIDATION_FAILED");
    }
    const codes = async (text: string) => (await check(text)).map(({ extensions }) => extensions.code);
    assert.deepEqual(await codes("{"), ["GRAPHQL_PARSE_FAILED"]);
    assert.deepEqual(await codes(`{ ${repeat(6_000, () => "day")} }`), ["QUERY_TOO_COMPLEX"]);
    assert.ok(worked.a! > 0);
  });

  it("tells schemas apart", async () => {
    const other = buildSchema("type Query { nope: Int }");
    assert.deepEqual(await thread.check("a", other, "{ nope }", defaultLimits), []);
    assert.equal((await check("{ nope }")).length, 1);
  });

  it("answers introspection as bytes, and nothing else", async () => {
    const ask = (text: string, variableValues: Record<string, unknown> = {}) =>
      thread.introspect("a", schema, { text, operationName: null, variableValues });
    const query = "query ($name: String!) { __type(name: $name) { name } }";
    const answer = await ask(query, { name: "Day" });
    assert.equal(Buffer.from(answer!).toString(), '{"__type":{"name":"Day"}}');
    assert.equal(await ask(query, {}), null);
  });

  it("refuses a client with too much at once, and nobody else", async () => {
    const long = (n: number) => `query Q${n} { ${repeat(500, (i) => `a${i}: __typename`)} }`;
    const many = Array.from({ length: 30 }, (_, n) => check(long(n), "busy"));
    const other = check("{ day }", "other");
    const outcomes = await Promise.allSettled(many);
    assert.deepEqual(await other, []);
    const refused = outcomes.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    assert.equal(refused.length, 19);
    for (const { reason } of refused) assert.ok(reason instanceof TurnRefused && reason.isOwn);
  });
});

describe("long documents", () => {
  let service: TestService;
  let token: string;
  before(async () => {
    service = await startService({ settings: { limits: defaultLimits } });
    token = await service.token();
  });
  after(() => service.close());

  const long = `# ${"x".repeat(2_000)}\n`;
  const document = (value: string) =>
    `${long}{ products(first: 1, filter: { availableStock: { in: [1, ${value}] } }) { edges { node { id } } } }`;

  it("are answered, and refused, like short ones", async () => {
    assert.deepEqual((await service.ask(token, { query: document("2") })).codes, []);
    const wrong = await service.ask(token, { query: document('"a"') });
    assert.deepEqual(wrong.codes, ["GRAPHQL_VALIDATION_FAILED"]);
    assert.match(wrong.body.errors[0].message, /Int cannot represent/);
    const unknown = await service.ask(token, { query: `${document("2")} fragment F on Nope { id }` });
    assert.ok(
      unknown.codes.length > 0 && unknown.codes.every((code) => code === "GRAPHQL_VALIDATION_FAILED"),
    );
    assert.deepEqual(unknown.body.errors[0].locations, [
      { line: 2, column: document("2").length - long.length + 16 },
    ]);
  });

  it("that compare much are read, however short they are", async () => {
    const short = `query Short { ${repeat(90, () => "a: __typename")} }`;
    assert.ok(short.length < 2_000);
    assert.deepEqual((await service.ask(token, { query: short })).codes, []);
  });
});

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, describe, test } from "node:test";
import { buildSchema } from "graphql";
import { findApiChanges } from "../../src/check/api-changes.ts";
import { printDifference } from "../../src/check/changelog.ts";
import { apiDiff, eventDiff } from "../../src/check/api-diff.ts";
import { check } from "../../src/check/check.ts";
import { findEventChanges } from "../../src/check/event-changes.ts";
import type { Finding } from "../../src/check/finding.ts";
import { frozenVersions } from "../../src/check/frozen.ts";
import { findBrokenOperations, readProjectOperations } from "../../src/check/used-operations.ts";
import { readState } from "../../src/check/state.ts";
import { useDatabase } from "../lib/database.ts";

const migration = `
drop view api_unstable.currencies cascade;
create view api_unstable.currencies with (security_invoker = true) as
  select id, iso_code, symbol, erp.localized(name) as label, erp.localized(short_name) as short_name, factor,
    position, is_default_currency
  from erp.currency;
comment on view api_unstable.currencies is $$
@primaryKey id
@requiresScopes currencies:read
@nullable label,short_name,position
@filters factor,iso_code,symbol,position
@ref salesChannels to:SalesChannel plural
@refVia salesChannels via:(id)->sales_channel_currencies(currency_id);(sales_channel_id)->sales_channels(id)
A currency.$$;
comment on column api_unstable.currencies.label is 'Its name.';
alter table erp.salutation add column note text;
comment on column erp.salutation.note is 'A note.';
alter view api_2026_06_unstable.salutations rename column letter_name to letter;
select api_meta.derive();
select api_meta.record_version('api_2026_06_unstable');
`;

describe("what a migration changes for clients", () => {
  const used = useDatabase("template_schema");
  let findings: Finding[];
  before(async () => {
    const { client, database } = used;
    const state = await readState(client, database.ownerUrl);
    await client.query(
      "select auth.create_credential('Shop connector', '{currencies:read}', 'shop-connector-access', sha256('secret'))",
    );
    await client.query(
      "insert into auth.field_use select id, 'unstable', 'Currency.name', current_date - 3 from auth.credential",
    );
    await client.query(
      `insert into events.webhook_subscription (topic, url, api_version, payload_query, enabled)
       values ('order.created', 'https://example.com/hook', 'unstable', 'query ($id: ID!) { order(id: $id) { currency { name } } }', false)`,
    );
    await client.query(
      `select auth.publish_operations('unstable', id, '[{"name": "Prices", "document": "query Prices { currencies { edges { node { name } } } }"}]')
       from auth.credential`,
    );
    await client.query(migration);
    findings = await check(client, {
      current: [{ name: "5-try.sql", text: migration }],
      before: state,
      after: () => readState(client, database.ownerUrl),
      only: [frozenVersions, apiDiff, eventDiff],
    });
  });
  const found = (rule: string, object: string) =>
    findings.find((finding) => finding.rule === rule && finding.object === object);

  test("names what is gone, where, and who used it when", () => {
    const finding = found("api-breaking", "Currency.name")!;
    assert.equal(finding.severity, "error");
    assert.deepEqual([finding.file, finding.line], ["db/current/5-try.sql", 3]);
    assert.match(
      finding.what,
      /^Field 'name' was removed .* It would break: Shop connector \(last on \d{4}-\d\d-\d\d\)\.$/,
    );
  });

  test("names what is new", () => assert.equal(found("api-added", "Currency.label")!.severity, "note"));

  test("names what of a frozen version was altered and recorded", () => {
    const finding = found("frozen-version", "api_2026_06_unstable.salutations.letter_name")!;
    assert.deepEqual([finding.severity, finding.what], ["error", "column is gone"]);
    assert.ok(found("frozen-version-grows", "api_2026_06_unstable.salutations.letter"));
  });

  test("names payload queries of webhooks that would break", () => {
    const broken = findings.filter(({ rule }) => rule === "operation-breaks");
    assert.ok(broken.some(({ file }) => /^webhook subscription \S+ to order\.created$/.test(file!)));
    const told = broken.map(({ what }) => what);
    assert.ok(
      told.some((what) => /Cannot query field "name" on type "Currency"/.test(what)),
      told.join("\n"),
    );
  });

  test("names stored operations that would break, and whose they are", () => {
    const broken = findings.filter(({ file }) => file?.startsWith("stored operation"));
    assert.match(broken[0]!.file!, /^stored operation Prices of Shop connector \([0-9a-f]{12}…\)$/);
    assert.equal(broken[0]!.severity, "error");
  });
});

test("operations of guides, examples and tests that would break are named", async () => {
  const sdl = await readFile(new URL("../../schema/unstable.graphql", import.meta.url), "utf8");
  const before = buildSchema(sdl);
  const operations = await readProjectOperations();
  assert.ok(operations.length > 50);
  assert.deepEqual(findBrokenOperations(operations, before, before), []);
  const after = buildSchema(sdl.replace(/^ {2}availableStock: /gm, "  stockAvailable: "));
  const broken = findBrokenOperations(operations, before, after);
  assert.ok(broken.some(({ file, line }) => file === "README.md" && line! > 1));
  for (const { reason } of broken) assert.match(reason, /availableStock/);
});

const sdl = (query: string, rest = "") => `
  directive @requiresScopes(anyOf: [String!], allOf: [String!]) on FIELD_DEFINITION
  type Query { ${query} } ${rest}`;

test("changes of an API are told by what they mean", async () => {
  const cases: [one: string, other: string, expected: string[]][] = [
    [sdl("a: Int"), sdl("a: Int"), []],
    [sdl("a: Int b: Int"), sdl("a: Int"), ["breaking Query.b"]],
    [sdl("a: Int"), sdl("a: Int t: T", "type T { x: Int }"), ["added Query.t", "added T"]],
    [sdl("a: Int!"), sdl("a: Int"), ["breaking Query.a"]],
    [sdl("a(x: Int): Int"), sdl("a(x: Int!): Int"), ["breaking Query.a.x"]],
    [sdl("a: E", "enum E { A }"), sdl("a: E", "enum E { A B }"), ["dangerous E.B"]],
    [sdl("a: Int"), sdl('a: Int @deprecated(reason: "b")'), ["deprecated Query.a"]],
    [
      sdl('a: Int @requiresScopes(anyOf: ["a:read"])'),
      sdl('a: Int @requiresScopes(anyOf: ["b:read"])'),
      ["breaking Query.a"],
    ],
    [
      sdl('a: Int @requiresScopes(anyOf: ["a:read"])'),
      sdl('a: Int @requiresScopes(anyOf: ["a:read", "b:read"])'),
      ["changed Query.a"],
    ],
    [
      sdl('a: Int @requiresScopes(anyOf: ["a:read", "b:read"], allOf: ["c:read", "d:read"])'),
      sdl('a: Int @requiresScopes(anyOf: ["b:read", "a:read"], allOf: ["c:read"])'),
      ["changed Query.a"],
    ],
    [
      sdl('a: Int @requiresScopes(anyOf: ["a:read", "b:read"])'),
      sdl('a: Int @requiresScopes(anyOf: ["a:read"])'),
      ["breaking Query.a"],
    ],
    [
      sdl('a: Int @requiresScopes(anyOf: ["a:read"])'),
      sdl('a: Int @requiresScopes(anyOf: ["a:read"], allOf: ["b:read"])'),
      ["breaking Query.a"],
    ],
    [
      sdl('a: Int @requiresScopes(allOf: ["a:read"])'),
      sdl('a: Int @requiresScopes(anyOf: ["b:read"], allOf: ["a:read"])'),
      ["breaking Query.a"],
    ],
    [sdl("a: Int"), sdl('"""Words.""" a: Int'), []],
    [sdl("a: Int"), sdl("a(b: Int): Int"), ["added Query.a.b"]],
    [sdl("a: Int"), sdl("a(b: Int!): Int"), ["breaking Query.a.b"]],
    [sdl("a(b: Int = 1): Int"), sdl("a(b: Int): Int"), ["dangerous Query.a.b"]],
  ];
  for (const [one, other, expected] of cases) {
    const changes = await findApiChanges(one, other);
    assert.deepEqual(
      changes.map(({ impact: weight, path }) => `${weight} ${path}`),
      expected,
      other,
    );
  }
});

test("a change of the same argument in many fields is one line", async () => {
  const fields = (argument: string) =>
    sdl(["a", "b", "c"].map((name) => `${name}(${argument}): Int`).join(" "));
  const lines = async (...pair: [string, string]) =>
    (await printDifference(...pair)).split("\n").filter((line) => line.startsWith("- "));
  assert.deepEqual(await lines(fields("x: Int = 10"), fields("x: Int, y: Int")), [
    "- The default of argument `x` changed from 10 to none on 3 fields, such as `Query.a`.",
    "- Argument `y: Int` added to 3 fields, such as `Query.a`.",
  ]);
  assert.deepEqual(await lines(fields("x: Int"), fields("x: Int").replace("x: Int", "x: Int, y: Int")), [
    "- `Query.a.y`",
  ]);
});

test("changes of the bodies of events are told by what they mean", () => {
  const schema = (properties: object, required = Object.keys(properties)) => ({
    t: { type: "object", properties, required },
  });
  const told = (...[one, other]: Parameters<typeof findEventChanges>) =>
    findEventChanges(one, other).map(({ impact: weight, path }) => `${weight} ${path}`);
  const text = { type: "string" };
  assert.deepEqual(told(schema({ a: text }), schema({ a: text })), []);
  assert.deepEqual(told(schema({ a: text }), schema({ b: text })), ["breaking t.a", "added t.b"]);
  assert.deepEqual(told(schema({ a: text }), schema({ a: { type: ["string", "null"] } })), ["breaking t.a"]);
  assert.deepEqual(told(schema({ a: text }), schema({ a: text }, [])), ["breaking t.a"]);
  const state = (...values: string[]) => schema({ a: { type: "string", enum: values } });
  assert.deepEqual(told(state("x", "y"), state("x", "z")), ["dangerous t.a", "breaking t.a"]);
  assert.deepEqual(told(schema({}), {}), ["breaking t"]);
  assert.deepEqual(told({}, schema({})), ["added t"]);
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { versionOf, versions } from "../../src/versions/versions.ts";
import { query, startService } from "../lib/service.ts";
import type { HttpAnswer, TestService } from "../lib/service.ts";

// The life of a stable version, by the clock of the service
const version = "2027-01";
const all = [...versions, versionOf({ slug: version, releasedOn: "2027-01-12" })];

let service: TestService;
let now = Date.parse("2026-12-24");
before(async () => {
  service = await startService({
    versions: all,
    now: () => now,
    before: async (owner) => {
      await owner.query("select api_meta.freeze('api_unstable', 'api_2027_01')");
      await owner.query("select api_meta.derive()");
    },
  });
});
after(() => service.close());

const at = (time: string) => void (now = Date.parse(time));
const ask = async (document = query, options: object = {}): Promise<HttpAnswer> =>
  service.ask(await service.token(), { query: document }, { version, ...options });
const warnings = ({ headers }: HttpAnswer) => [
  headers.get("sunset"),
  headers.get("x-service-api-deprecation-date"),
  headers.get("deprecation"),
  headers.get("link"),
];
const none = [null, null, null, null];
const supported = ({ body }: HttpAnswer) => body.errors[0].meta.supportedVersions;

test("before its release a version is refused", async () => {
  at("2027-01-11T23:00:00Z");
  const answer = await ask();
  assert.equal(answer.status, 400);
  assert.deepEqual(answer.codes, ["SERVICE_GRAPHQL__UNSUPPORTED_API_VERSION"]);
  assert.deepEqual(supported(answer), ["2026-06-unstable", "unstable"]);
});

test("from the day of its release it answers, without warnings", async () => {
  at("2027-01-12T00:00:01Z");
  const answer = await ask();
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.codes, []);
  assert.deepEqual(warnings(answer), none);
});

test("the preview before it is deprecated from that day on, and retired after three months", async () => {
  at("2027-01-12T00:00:01Z");
  const expected = [
    "Mon, 12 Apr 2027 00:00:00 GMT",
    "2027-01-12",
    `@${Date.parse("2027-01-12") / 1000}`,
    '</api/versions>; rel="sunset", </api/graphql/2027-01>; rel="successor-version"',
  ];
  assert.deepEqual(warnings(await ask(query, { version: "2026-06-unstable" })), expected);
  at("2027-04-12T00:00:00Z");
  const answer = await ask(query, { version: "2026-06-unstable" });
  assert.equal(answer.status, 400);
  assert.deepEqual(supported(answer), ["unstable", version]);
  assert.deepEqual(warnings(answer), none);
});

test("it takes what is added to it, while unstable goes its own way", async () => {
  at("2027-02-01");
  await service.owner.query(`
    drop view api_unstable.quote_line_items cascade;
    do $$ begin
      execute 'create or replace view api_2027_01.tags with (security_invoker = true) as '
        || replace(pg_get_viewdef('api_2027_01.tags'), 'FROM erp.tag', ', length(name) as name_length FROM erp.tag');
    end $$;
    comment on column api_2027_01.tags.name_length is 'Characters of the name.';
    select api_meta.derive();
  `);
  await service.app.reload();
  assert.deepEqual((await ask("{ quoteLineItems { edges { node { id } } } }")).codes, []);
  assert.deepEqual((await ask("{ tags { edges { node { name nameLength } } } }")).codes, []);
  const gone = await ask("{ quoteLineItems { edges { node { id } } } }", { version: "unstable" });
  assert.deepEqual(gone.codes, ["GRAPHQL_VALIDATION_FAILED"]);
});

test("in its last three months every answer warns, errors too", async () => {
  at("2027-10-31T23:59:59Z");
  assert.deepEqual(warnings(await ask()), none);
  at("2027-11-01");
  const expected = [
    "Tue, 01 Feb 2028 00:00:00 GMT",
    "2027-11-01",
    `@${Date.parse("2027-11-01") / 1000}`,
    '</api/versions>; rel="sunset"',
  ];
  const answers = {
    "200 ": await ask(),
    "200 GRAPHQL_VALIDATION_FAILED": await ask("{ nope }"),
    "400 GRAPHQL_PARSE_FAILED": await ask("{", { headers: { accept: "application/graphql-response+json" } }),
    "401 UNAUTHENTICATED": await service.ask("nonsense", { query }, { version }),
    "405 BAD_USER_INPUT": await service.ask(null, undefined, { version, method: "PUT" }),
  };
  for (const [said, answer] of Object.entries(answers)) {
    assert.equal(`${answer.status} ${answer.codes.join()}`, said);
    assert.deepEqual(warnings(answer), expected, said);
  }
  const { body } = await service.ask(await service.token(), { query }, { version: "unstable" });
  assert.ok(body.data);
});

test("then it is refused as the specification says", async () => {
  at("2028-02-01");
  const answer = await ask();
  assert.equal(answer.status, 400);
  const [{ status, code, detail, meta }] = answer.body.errors;
  assert.deepEqual([status, code], ["400", "SERVICE_GRAPHQL__UNSUPPORTED_API_VERSION"]);
  assert.match(detail, /“2027-01” is not served.*unstable/);
  assert.deepEqual(meta, { requestedVersion: version, supportedVersions: ["unstable"] });
  assert.deepEqual(warnings(answer), none);
});

test("what has ended isn't built any more by processes that start", async () => {
  // A process with only ended versions builds none, so nothing can fail
  const gone = { ...all.find(({ slug }) => slug === version)!, schemaName: "api_gone" };
  const others = all.filter(({ slug }) => slug !== version);
  const late = await service.another({ versions: [gone, ...others], now: () => Date.parse("2028-02-01") });
  const readiness = await fetch(`${late.url}/readyz`);
  assert.deepEqual([readiness.status, await readiness.json()], [200, { status: "ok" }]);
  assert.deepEqual((await late.ask(null, { query }, { version })).codes, [
    "SERVICE_GRAPHQL__UNSUPPORTED_API_VERSION",
  ]);
});

test("the list of versions says it all, without a token", async () => {
  at("2027-11-05");
  const response = await fetch(`${service.url}/api/versions`);
  const { versions: listed } = (await response.json()) as { versions: any[] };
  assert.deepEqual(
    listed.map(({ slug, state, sunsetOn, path }) => [slug, state, sunsetOn, path]),
    [
      ["2026-06-unstable", "retired", "2027-04-12", "/api/graphql/2026-06-unstable"],
      ["unstable", "served", null, "/api/graphql/unstable"],
      [version, "deprecated", "2028-02-01", "/api/graphql/2027-01"],
    ],
  );
});

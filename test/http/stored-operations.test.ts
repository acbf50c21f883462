import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { restrictOperations } from "../../src/auth/credentials.ts";
import type { ClientCredentials } from "../../src/auth/credentials.ts";
import { runAllOn, runOn } from "../commands/process.ts";
import { read, startService } from "../lib/service.ts";
import type { TestProcess, TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";

let service: TestService;
let other: TestProcess;
let shop: ClientCredentials;
let token: string;
let folder: string;
before(async () => {
  service = await startService();
  other = await service.another();
  await service.owner.query(
    `insert into erp.country (iso_code, name) values ('DE', '{"en-GB": "Germany"}'), ('FR', '{"en-GB": "France"}')`,
  );
  shop = await service.credential({ name: "Shop" });
  await restrictOperations(service.owner, shop.id, true);
  token = await service.tokenFor(shop);
  folder = await mkdtemp(join(tmpdir(), "operations-"));
});
after(async () => {
  await rm(folder, { recursive: true, force: true });
  await service.close();
});

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const persisted = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });
const countries = "query Countries($first: Int!) { countrys(first: $first) { edges { node { name } } } }";
const variables = { first: 1 };
const germany = { countrys: { edges: [{ node: { name: "Germany" } }] } };

/** Runs the command with several lists of arguments. */
const operations = (...lines: string[][]) =>
  runAllOn(
    service.adminUrl,
    "operations",
    lines.map((args) => ({ args })),
  );

async function file(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const publish = (documents: string[], credential: string | null = null, version = "unstable") =>
  service.owner.query("select auth.publish_operations($1, $2, $3)", [
    ...[version, credential, JSON.stringify(documents.map((document) => ({ name: "Test", document })))],
  ]);

/** Waits until each process has heard of what is stored, by asking for one of it. */
const heard = async (text: string, of = token) => {
  for (const process of [service, other])
    await until(
      async () => (await process.ask(of, { extensions: persisted(text), variables })).codes.length === 0,
    );
};

const get = async (parameters: object) =>
  read(
    await fetch(`${service.url}/api/graphql/unstable?${new URLSearchParams(Object.entries(parameters))}`, {
      headers: { authorization: `Bearer ${token}` },
    }),
  );

describe("npx erp operations", () => {
  it("stores Apollo's manifest for a credential, Relay's for all; lists and removes", async () => {
    const manifest = await file("apollo.json", {
      format: "apollo-persisted-query-manifest",
      version: 1,
      operations: [{ id: sha256(countries), name: "Countries", type: "query", body: countries }],
    });
    const forShop = ["--version", "unstable", "--credential", shop.clientId, "--json"];
    const first = await runOn(service.adminUrl, [
      "operations",
      "publish",
      "--manifest",
      manifest,
      ...forShop,
    ]);
    assert.equal(first.exitCode, 0, first.stderr);
    assert.deepEqual(JSON.parse(first.stdout), {
      ...{ version: "unstable", credential_id: shop.id, published: 1, already: 0 },
    });
    const relay = "query Relay { __typename }";
    const ofRelay = await file("relay.json", { [sha256(relay)]: relay });
    // GraphQL Code Generator writes Relay's form, with the name of the algorithm
    const generated = await file("generated.json", { [`sha256:${sha256(relay)}`]: relay });
    const [second, listed, third, removed] = await operations(
      ["publish", "--manifest", ofRelay],
      ["list", "--json"],
      ["publish", "--manifest", generated],
      ["remove", `sha256:${sha256(relay)}`],
    );
    assert.match(second!.stdout, /^Stored 1 for all credentials, version 2026-06-unstable/, second!.stderr);
    assert.deepEqual(
      JSON.parse(listed!.stdout).map((row: any) => [row.version, row.name, row.sha256, row.credential_name]),
      [
        ["2026-06-unstable", "Relay", sha256(relay), null],
        ["unstable", "Countries", sha256(countries), "Shop"],
      ],
    );
    assert.match(third!.stdout, /^Stored 0 for .*; 1 were stored already/, third!.stderr);
    assert.equal(removed!.stdout, "Removed 1.\n", removed!.stderr);
  });

  it("refuses what isn't valid in the version, other ids, and what isn't understood", async () => {
    const wrong = await file("wrong.graphql", "{ countrys { nope } }");
    const good = await file("good.graphql", "{ __typename }");
    const ofMd5 = await file("md5.json", { abc: "{ __typename }" });
    const [invalid, md5, ...unclear] = await operations(
      ["publish", good, wrong],
      ["publish", "--manifest", ofMd5],
      ["publish"],
      ["remove"],
    );
    assert.deepEqual([invalid!.exitCode, invalid!.stdout], [1, ""]);
    assert.match(invalid!.stderr, /wrong\.graphql: Cannot query field "nope"/);
    assert.match(md5!.stderr, /“abc” is not the SHA-256 of its document.*"algorithm": "SHA256"/);
    assert.deepEqual(
      unclear.map(({ exitCode }) => exitCode),
      [2, 2],
    );
    const { rows } = await service.owner.query(
      "select from auth.stored_operation where document = '{ __typename }'",
    );
    assert.equal(rows.length, 0);
  });
});

describe("a credential that may send stored operations only", () => {
  it("sends them by each way in which clients name them, on every process", async () => {
    await heard(countries);
    const hash = sha256(countries);
    for (const named of [
      { extensions: persisted(countries) },
      { documentId: hash },
      { documentId: `sha256:${hash.toUpperCase()}` },
      { id: hash },
      // A client of Relay's has the text null
      { query: null, documentId: hash },
      { query: countries, extensions: persisted(countries) },
      { query: countries },
    ]) {
      const { body } = await other.ask(token, { ...named, variables });
      assert.deepEqual(body.data, germany, JSON.stringify([named, body]));
    }
    for (const named of [
      { documentId: hash },
      { id: hash },
      { extensions: JSON.stringify(persisted(countries)) },
    ]) {
      const { body } = await get({ ...named, variables: JSON.stringify(variables) });
      assert.deepEqual(body.data, germany, JSON.stringify(body));
    }
  });

  it("is refused all others: an unknown hash by the code that makes clients send the text, the text by FORBIDDEN", async () => {
    const unknown = `${countries} # other`;
    for (const named of [{ extensions: persisted(unknown) }, { documentId: sha256(unknown) }]) {
      const answer = await service.ask(token, { ...named, variables });
      assert.deepEqual([answer.status, answer.codes], [200, ["PERSISTED_QUERY_NOT_FOUND"]]);
      assert.equal(answer.body.errors[0].message, "PersistedQueryNotFound");
    }
    const accept = { headers: { accept: "application/graphql-response+json" } };
    for (const body of [
      { query: unknown, variables },
      { query: unknown, extensions: persisted(unknown), variables },
    ]) {
      const refused = await service.ask(token, body, accept);
      assert.deepEqual([refused.status, refused.codes], [400, ["FORBIDDEN"]]);
    }
    // It wasn't kept by the way
    assert.deepEqual((await service.ask(token, { extensions: persisted(unknown) })).codes, [
      "PERSISTED_QUERY_NOT_FOUND",
    ]);
    const introspection = await service.ask(token, { query: "{ __schema { queryType { name } } }" });
    assert.deepEqual(introspection.codes, ["FORBIDDEN"]);
    assert.deepEqual((await get({ query: "{ __typename }" })).codes, ["FORBIDDEN"]);
  });

  it("sends what is stored for another credential, or another version, no more than what isn't", async () => {
    const [secret, frozen] = ["{ __typename } # secret", "{ __typename } # frozen"];
    const somebody = await service.credential();
    await publish([secret], somebody.id);
    await publish([frozen], null, "2026-06-unstable");
    await heard(secret, await service.tokenFor(somebody));
    for (const text of [secret, frozen])
      assert.deepEqual((await service.ask(token, { documentId: sha256(text) })).codes, [
        "PERSISTED_QUERY_NOT_FOUND",
      ]);
  });

  it("may send all others again when it is allowed, and stored ones no more when they are removed", async () => {
    const text = "{ __typename } # removed";
    await publish([text]);
    await heard(text);
    await service.owner.query("select auth.remove_operations(null, null, $1)", [[sha256(text)]]);
    for (const process of [service, other])
      await until(async () => (await process.ask(token, { query: text })).codes[0] === "FORBIDDEN");
    await restrictOperations(service.owner, shop.id, false);
    for (const process of [service, other])
      await until(async () => (await process.ask(token, { query: text })).codes.length === 0);
    await restrictOperations(service.owner, shop.id, true);
    for (const process of [service, other])
      await until(async () => (await process.ask(token, { query: text })).codes[0] === "FORBIDDEN");
  });
});

it("other credentials send stored operations by hash, and any text", async () => {
  const free = await service.token();
  const text = "{ __typename } # for all";
  await publish([text]);
  await heard(text, free);
  assert.deepEqual((await service.ask(free, { documentId: sha256(text) })).body.data, {
    __typename: "Query",
  });
  assert.deepEqual((await service.ask(free, { query: "{ __typename }" })).codes, []);
});

it("a stored operation costs no statement of its own", async (t) => {
  const { pool } = service;
  const connect = t.mock.method(pool, "connect");
  // News of changes before may still empty the caches
  await until(async () => {
    connect.mock.resetCalls();
    for (let n = 0; n < 5; n++) {
      const { body } = await service.ask(token, { documentId: sha256(countries), variables });
      assert.deepEqual(body.data, germany);
      await service.ask(token, { documentId: sha256(`unknown ${n}`) });
    }
    return connect.mock.callCount() === 0;
  });
});

it("what names a document and is no SHA-256 is refused", async () => {
  for (const named of [
    { documentId: "x" },
    { documentId: 5 },
    { id: "md5:abc" },
    { documentId: "sha256:" },
  ]) {
    const { status, codes } = await service.ask(token, named);
    assert.deepEqual([status, codes], [400, ["BAD_USER_INPUT"]], JSON.stringify(named));
  }
  const answer = await service.ask(token, { documentId: sha256(countries), variables: [1] });
  assert.deepEqual([answer.status, answer.codes], [400, ["BAD_USER_INPUT"]]);
});

it("too many, and too long ones, are refused as a whole", async () => {
  const many = Array.from({ length: 5_001 }, (_, n) => `{ a${n}: __typename }`);
  await assert.rejects(publish(many), { code: "54000" });
  await assert.rejects(publish([`{ __typename } # ${"x".repeat(65_536)}`]), { code: "23514" });
  const { rows } = await service.owner.query("select count(*)::int from auth.stored_operation");
  assert.ok(rows[0].count < 10);
});

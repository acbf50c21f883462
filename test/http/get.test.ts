import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { defaultLimits } from "../../src/graphql/limits.ts";
import { query, read, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

let service: TestService;
let token: string;
before(async () => {
  service = await startService();
  await service.owner.query(`insert into erp.country (iso_code, name) values ('DE', '{"en-GB": "Germany"}')`);
  token = await service.token({ read: "all", write: ["warehouses"] });
});
after(() => service.close());

const endpoint = "/api/graphql/unstable";
const get = async (
  parameters: Record<string, string | undefined> | string[][],
  { authorization = token, url = "" } = {},
) =>
  read(
    await fetch(
      `${url || service.url}${endpoint}?${new URLSearchParams(parameters as Record<string, string>)}`,
      {
        headers: authorization ? { authorization: `Bearer ${authorization}` } : {},
      },
    ),
  );
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const persisted = (hash: unknown) => ({ persistedQuery: { version: 1, sha256Hash: hash } });

describe("GET", () => {
  it("answers queries as POST does: reads of all kinds, variables, introspection", async () => {
    const variable =
      "query A($n: Int) { countrys(first: $n) { edges { node { name } } } } query B { __typename }";
    for (const body of [
      { query },
      { query: variable, operationName: "A", variables: { n: 1 } },
      { query: variable, operationName: "B" },
      { query: "{ __schema { queryType { name } } }" },
      { query: "{ nope }" },
      { query: "{ countrys(first: 251) { edges { cursor } } }" },
      // Grafast answers it
      {
        query:
          '{ node(id: "gid://service/Country/01980000-0000-7000-8004-000000000001") { id } nodes: __typename }',
      },
    ]) {
      const parameters = Object.entries(body).map(([name, value]) => [
        name,
        typeof value === "string" ? value : JSON.stringify(value),
      ]);
      const [byGet, byPost] = [await get(parameters), await service.ask(token, body)];
      const ids = /"requestId":"[^"]+"/g;
      assert.equal(byGet.text.replaceAll(ids, ""), byPost.text.replaceAll(ids, ""), body.query);
      assert.equal(byGet.status, byPost.status);
      assert.equal(byGet.headers.get("content-type"), byPost.headers.get("content-type"));
      assert.equal(byGet.headers.get("cache-control"), "no-store");
    }
  });

  it("refuses mutations, by 405, and does nothing", async () => {
    const text = `mutation { warehouseCreate(input: { name: "A", code: "A" }) { warehouse { id } } }`;
    for (const parameters of [
      { query: text },
      { query: `query Q { __typename } ${text.replace("mutation", "mutation M")}`, operationName: "M" },
    ]) {
      const { status, headers, codes } = await get(parameters);
      assert.deepEqual([status, headers.get("allow"), codes], [405, "POST", ["BAD_USER_INPUT"]]);
    }
    const { rows } = await service.owner.query("select from erp.warehouse");
    assert.equal(rows.length, 0);
  });

  it("refuses parameters that can't be read", async () => {
    for (const parameters of [
      [],
      [
        ["query", query],
        ["query", query],
      ],
      [
        ["query", query],
        ["variables", "{"],
      ],
      [
        ["query", query],
        ["variables", "[1]"],
      ],
      [
        ["query", query],
        ["extensions", "3"],
      ],
    ]) {
      const { status, codes } = await get(parameters);
      assert.deepEqual([status, codes], [400, ["BAD_USER_INPUT"]], JSON.stringify(parameters));
    }
  });

  it("needs a token, and points", async () => {
    assert.deepEqual((await get({ query }, { authorization: "" })).codes, ["UNAUTHENTICATED"]);
    const limits = { ...defaultLimits, bucket: 1, refill: 1 };
    const small = await service.another({ settings: { limits } });
    assert.deepEqual((await get({ query }, { url: small.url })).codes, ["THROTTLED"]);
  });

  it("leaves nothing of the query in the log", async () => {
    await get({ query: '{ countrys(filter: { name: { equals: "hidden" } }) { nope } }' });
    assert.ok(!JSON.stringify(service.log).includes("hidden"));
  });
});

describe("persisted queries", () => {
  it("are kept from their first use, for their credential", async () => {
    const text = "{ __typename } # kept";
    const unknown = await service.ask(token, { extensions: persisted(sha256(text)) });
    assert.deepEqual([unknown.status, unknown.codes], [200, ["PERSISTED_QUERY_NOT_FOUND"]]);
    assert.equal(unknown.body.errors[0].message, "PersistedQueryNotFound");
    const told = await service.ask(token, { query: text, extensions: persisted(sha256(text)) });
    const found = await service.ask(token, { extensions: persisted(sha256(text)) });
    const byGet = await get({ extensions: JSON.stringify(persisted(sha256(text).toUpperCase())) });
    for (const { body } of [told, found, byGet]) assert.deepEqual(body.data, { __typename: "Query" });
    const other = await service.token();
    assert.deepEqual((await service.ask(other, { extensions: persisted(sha256(text)) })).codes, [
      "PERSISTED_QUERY_NOT_FOUND",
    ]);
  });

  it("are refused with the hash of another document, and with what is no hash", async () => {
    for (const hash of [sha256("other"), "x", 5, null, undefined, "0".repeat(63)]) {
      const { status, codes } = await service.ask(token, { query, extensions: persisted(hash) });
      assert.deepEqual([status, codes], [400, ["BAD_USER_INPUT"]], String(hash));
    }
  });

  it("stay within limits of memory: the oldest are forgotten", async () => {
    const long = (n: number) => `{ __typename } # ${n} ${"x".repeat(900_000)}`;
    for (let n = 0; n < 6; n++)
      await service.ask(token, { query: long(n), extensions: persisted(sha256(long(n))) });
    const ask = async (n: number) =>
      (await service.ask(token, { extensions: persisted(sha256(long(n))) })).codes;
    assert.deepEqual(await ask(0), ["PERSISTED_QUERY_NOT_FOUND"]);
    assert.notDeepEqual(await ask(5), ["PERSISTED_QUERY_NOT_FOUND"]);
  });
});

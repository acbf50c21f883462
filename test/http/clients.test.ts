import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { createClient, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

// Common GraphQL clients with their default settings must work.
let service: TestService;
let token: string;
before(async () => {
  service = await startService();
  await service.owner.query(
    `insert into erp.country (iso_code, name) values ('DE', '{"en-GB": "Germany"}'), ('FR', '{"en-GB": "France"}')`,
  );
  token = await service.token({ read: "all", write: ["warehouses"] });
});
after(() => service.close());

const url = () => `${service.url}/api/graphql/unstable`;
const headers = () => ({ authorization: `Bearer ${token}` });
const text = "query Countries($first: Int!) { countrys(first: $first) { edges { node { id name } } } }";
const create = `mutation ($code: String!) { warehouseCreate(input: { name: "A", code: $code }) { warehouse { code } } }`;

/** A `fetch` that notes what is sent by it. */
function noted() {
  const sent: { method: string; url: string; body: any; status: number }[] = [];
  const send: typeof fetch = async (input, init = {}) => {
    const answer = await fetch(input, init);
    const body = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    sent.push({ method: init.method ?? "GET", url: new Request(input).url, body, status: answer.status });
    return answer;
  };
  return { sent, send };
}

const apollo = (link: ApolloClient.Options["link"]) => new ApolloClient({ cache: new InMemoryCache(), link });

test("Apollo Client", async () => {
  const client = apollo(new HttpLink({ uri: url(), headers: headers() }));
  const { data } = await client.query<any>({ query: gql(text), variables: { first: 1 } });
  assert.equal(data.countrys.edges[0].node.name, "Germany");
  const written = await client.mutate<any>({ mutation: gql(create), variables: { code: "apollo" } });
  assert.equal(written.data.warehouseCreate.warehouse.code, "apollo");
  await assert.rejects(
    client.query({ query: gql(text), variables: { first: 251 } }),
    /a page has at most 250 entries/,
  );
});

for (const useGETForHashedQueries of [false, true]) {
  test(`Apollo Client with persisted queries by ${useGETForHashedQueries ? "GET" : "POST"}`, async () => {
    const { sent, send } = noted();
    const sha256 = (query: string) => createHash("sha256").update(query).digest("hex");
    const client = apollo(
      new PersistedQueryLink({ sha256, useGETForHashedQueries }).concat(
        new HttpLink({ uri: url(), headers: headers(), fetch: send }),
      ),
    );
    // A name of its own for each way, because the service remembers documents
    const query = gql(text.replace("Countries", `Countries${useGETForHashedQueries}`));
    for (const first of [1, 2]) {
      const { data } = await client.query<any>({ query, variables: { first } });
      assert.equal(data.countrys.edges.length, first);
    }
    const way = useGETForHashedQueries ? "GET" : "POST";
    assert.deepEqual(
      sent.map(({ method, body }) => [method, body?.query !== undefined]),
      [
        [way, false],
        ["POST", true],
        [way, false],
      ],
    );
    // A mutation must not be repeated by a cache
    const written = await client.mutate<any>({
      mutation: gql(create),
      variables: { code: `persisted ${way}` },
    });
    assert.equal(written.data.warehouseCreate.warehouse.code, `persisted ${way}`);
    assert.ok(sent.slice(3).every(({ method }) => method === "POST"));
  });
}

test("urql", async () => {
  for (const preferGetMethod of [undefined, false, true, "force"] as const) {
    const { sent, send } = noted();
    const client = createClient({
      ...{ url: url(), exchanges: [fetchExchange], fetch: send, fetchOptions: { headers: headers() } },
      ...(preferGetMethod !== undefined && { preferGetMethod }),
    });
    const { data, error } = await client.query<any>(text, { first: 2 }).toPromise();
    assert.equal(error, undefined);
    assert.deepEqual(
      data.countrys.edges.map(({ node }: any) => node.name),
      ["Germany", "France"],
    );
    if (preferGetMethod !== undefined) assert.equal(sent[0]!.method, preferGetMethod ? "GET" : "POST");
    const written = await client.mutation<any>(create, { code: `urql ${preferGetMethod}` }).toPromise();
    assert.equal(written.error, undefined);
    const wrong = await client.query<any>(text, { first: 251 }).toPromise();
    assert.equal(wrong.error!.graphQLErrors[0]!.extensions.code, "PAGE_SIZE_EXCEEDED");
  }
});

test("urql with persisted queries", async () => {
  const { sent, send } = noted();
  const client = createClient({
    ...{ url: url(), fetch: send, fetchOptions: { headers: headers() } },
    exchanges: [persistedExchange({ preferGetForPersistedQueries: true }), fetchExchange],
  });
  const query = text.replace("Countries", "CountriesOfUrql");
  for (const first of [1, 2]) {
    const { data, error } = await client.query<any>(query, { first }).toPromise();
    assert.equal(error, undefined);
    assert.equal(data.countrys.edges.length, first);
  }
  assert.deepEqual(
    sent.map(({ method, url }) => [method, new URL(url).searchParams.has("query")]),
    [
      ["GET", false],
      ["GET", true],
      ["GET", false],
    ],
  );
});

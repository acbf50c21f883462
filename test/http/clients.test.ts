import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { createClient, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { promisify } from "node:util";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";

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

// It has no types of its own
const relay = createRequire(import.meta.url)("relay-runtime");

/** What Relay's compiler makes of a query of one field, with its text or, for persisted queries, its hash. */
function relayRequest(name: string, text: string, isPersisted: boolean, root: object[], variables: string[]) {
  const argumentDefinitions = variables.map((variable) => ({
    ...{ defaultValue: null, kind: "LocalArgument", name: variable },
  }));
  const operation = { argumentDefinitions, name, selections: root };
  // What is read has no instructions for what is written
  const selections = root.filter((field: any) => field.kind !== "LinkedHandle");
  const hash = createHash("sha256").update(text).digest("hex");
  return {
    kind: "Request",
    fragment: {
      ...operation,
      selections,
      abstractKey: null,
      kind: "Fragment",
      metadata: null,
      type: "Query",
    },
    operation: { ...operation, kind: "Operation" },
    params: {
      ...{ cacheID: hash, metadata: {}, name, operationKind: "query" },
      ...(isPersisted ? { id: hash, text: null } : { id: null, text }),
    },
  };
}

const scalar = (name: string) => ({ alias: null, args: null, kind: "ScalarField", name, storageKey: null });
const linked = (name: string, plural: boolean, concreteType: string | null, selections: object[]) => ({
  ...{
    alias: null,
    args: null,
    concreteType,
    kind: "LinkedField",
    name,
    plural,
    selections,
    storageKey: null,
  },
});
const given = (name: string) => ({ kind: "Variable", name, variableName: name });
const country = [scalar("__typename"), scalar("id"), scalar("name")];
const relayQueries = {
  page: {
    text: `query CountryList($after: String, $first: Int) { countrys(after: $after, first: $first) {
      edges { node { __typename id name } cursor } pageInfo { endCursor hasNextPage } } }`,
    variables: ["after", "first"],
    root: [
      {
        ...linked("countrys", false, "CountryConnection", [
          linked("edges", true, "CountryEdge", [linked("node", false, "Country", country), scalar("cursor")]),
          linked("pageInfo", false, "PageInfo", [scalar("endCursor"), scalar("hasNextPage")]),
        ]),
        args: [given("after"), given("first")],
      },
      {
        ...{ alias: null, args: [given("after"), given("first")], filters: null, handle: "connection" },
        ...{ key: "List_countrys", kind: "LinkedHandle", name: "countrys" },
      },
    ],
  },
  node: {
    text: "query CountryNode($id: ID!) { node(id: $id) { __typename id ... on Country { name } } }",
    variables: ["id"],
    root: [
      {
        ...linked("node", false, null, [
          ...country.slice(0, 2),
          { kind: "InlineFragment", selections: country.slice(2), type: "Country", abstractKey: null },
        ]),
        args: [given("id")],
      },
    ],
  },
};

for (const isPersisted of [false, true]) {
  test(`Relay joins the pages of a connection, and finds nodes by id, ${isPersisted ? "by stored operations" : "by texts"}`, async () => {
    const { page, node } = relayQueries;
    if (isPersisted)
      await service.owner.query("select auth.publish_operations('unstable', null, $1)", [
        JSON.stringify([page, node].map(({ text: document }) => ({ name: "Relay", document }))),
      ]);
    const send = async ({ id, text: query }: any, variables: object) => {
      const body = isPersisted ? { documentId: id, variables } : { query, variables };
      const answer = await fetch(url(), {
        method: "POST",
        headers: { ...headers(), "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return answer.json();
    };
    const environment = new relay.Environment({
      network: relay.Network.create(send),
      store: new relay.Store(new relay.RecordSource()),
    });
    const fetchBy = ({ text, root, variables }: typeof page, values: object) =>
      relay
        .fetchQuery(
          environment,
          relayRequest(/query (\w+)/.exec(text)![1]!, text, isPersisted, root, variables),
          values,
        )
        .toPromise();
    // The service hears of stored operations a moment later
    if (isPersisted)
      await until(async () => {
        const { codes } = await service.ask(token, {
          documentId: createHash("sha256").update(node.text).digest("hex"),
          variables: { id: "gid://service/Country/01980000-0000-7000-8004-000000000001" },
        });
        return codes.length === 0;
      });
    const { countrys: first } = await fetchBy(page, { first: 1 });
    assert.equal(first.pageInfo.hasNextPage, true);
    await fetchBy(page, { first: 1, after: first.pageInfo.endCursor });
    const [{ node: germany }] = first.edges;
    const again = await fetchBy(node, { id: germany.id });
    assert.deepEqual(again.node, germany);
    let names: string[] = [];
    environment.commitUpdate((store: any) => {
      const connection = relay.ConnectionHandler.getConnection(store.getRoot(), "List_countrys");
      names = connection
        .getLinkedRecords("edges")
        .map((edge: any) => edge.getLinkedRecord("node").getValue("name"));
      assert.equal(store.get(germany.id).getValue("name"), "Germany");
    });
    assert.deepEqual(names, ["Germany", "France"]);
  });
}

/** Reads the schema as clients in Python do, checks a query by it and sends it. */
const python = `
import json, os, urllib.request
from graphql import build_client_schema, get_introspection_query, parse, validate

def ask(query, variables=None):
    body = json.dumps({"query": query, "variables": variables}).encode()
    headers = {"authorization": "Bearer " + os.environ["TOKEN"], "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(os.environ["API"], body, headers)) as answer:
        return json.load(answer)["data"]

everything = get_introspection_query(
    specified_by_url=True, directive_is_repeatable=True, schema_description=True, input_value_deprecation=True
)
schema = build_client_schema(ask(everything))
query = os.environ["QUERY"]
print(json.dumps([
    [error.message for error in validate(schema, parse(query))],
    len(validate(schema, parse("{ nope }"))),
    schema.type_map["DateTime"].specified_by_url,
    ask(query, {"first": 1}),
]))
`;

function withoutPython(): string | false {
  try {
    execFileSync("python3", ["-c", "import graphql; assert graphql.version_info >= (3, 2)"], {
      stdio: "ignore",
    });
    return false;
  } catch {
    return "python3 with graphql-core 3.2 is not installed (pip install graphql-core), not in CI either: nothing was checked";
  }
}

test("graphql-core, which clients in Python are made of", { skip: withoutPython() }, async () => {
  const env = { ...process.env, API: url(), TOKEN: token, QUERY: text };
  const { stdout } = await promisify(execFile)("python3", ["-c", python], { env });
  const [errors, faults, specifiedBy, data] = JSON.parse(stdout);
  assert.deepEqual([errors, faults], [[], 1]);
  assert.match(specifiedBy, /^https:/);
  assert.equal(data.countrys.edges[0].node.name, "Germany");
});

import { examples } from "../versions/explorer-examples.ts";
import { pathOf } from "../versions/versions.ts";
import type { Field, Model } from "./model.ts";
import { createSample } from "./sample-operation.ts";

/**
 * Returns a collection of requests in Postman's format 2.1, which Bruno reads too: the access token, the examples, and an
 * operation for each query and mutation. Its variables are the service's address and the client ID and secret.
 */
export function createCollection(model: Model) {
  const { slug } = model.edition;
  const byTopic = Map.groupBy(examples, ({ topic }) => topic);
  const createItem = (name: string, query: string, variables: object) => ({
    name,
    request: {
      method: "POST",
      url: `{{baseUrl}}${pathOf({ slug })}`,
      header: [{ key: "content-type", value: "application/json" }],
      body: { mode: "graphql", graphql: { query, variables: JSON.stringify(variables, null, 2) } },
    },
  });
  const createFieldItem = (field: Field) => {
    const { query, variables } = createSample(model, field);
    return createItem(field.name, query, variables);
  };
  return {
    info: {
      name: `Stock and order – ${slug}`,
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{token}}", type: "string" }] },
    variable: [
      { key: "baseUrl", value: "http://127.0.0.1:4000" },
      ...["clientId", "clientSecret", "token"].map((key) => ({ key, value: "" })),
    ],
    item: [
      tokenItem,
      ...[...byTopic].map(([name, topicExamples]) => ({
        name: `Examples: ${name}`,
        item: topicExamples.map(({ title, query }) => createItem(title, query, {})),
      })),
      { name: "Queries", item: model.queries.map(createFieldItem) },
      { name: "Mutations", item: model.mutations.map(createFieldItem) },
    ],
  };
}

/** Requests an access token and stores it for the other requests. */
const tokenItem = {
  name: "Access token",
  event: [
    {
      listen: "test",
      script: {
        type: "text/javascript",
        exec: ['pm.collectionVariables.set("token", pm.response.json().access_token);'],
      },
    },
  ],
  request: {
    auth: { type: "noauth" },
    method: "POST",
    url: "{{baseUrl}}/api/oauth/token",
    header: [{ key: "content-type", value: "application/x-www-form-urlencoded" }],
    body: {
      mode: "urlencoded",
      urlencoded: [
        { key: "grant_type", value: "client_credentials" },
        { key: "client_id", value: "{{clientId}}" },
        { key: "client_secret", value: "{{clientSecret}}" },
      ],
    },
  },
};

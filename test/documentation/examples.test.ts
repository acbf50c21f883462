import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { GraphQLObjectType } from "postgraphile/graphql";
import { versions } from "../../src/versions/versions.ts";
import { committedSchema } from "../end-to-end/schema-walk.ts";
import { read, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

/** Examples that the demonstration shop refuses by a code, because of what is in it. */
const refused: Record<string, string> = {
  // Bulk operations belong to an API credential, and the shop begins without any
  bulkOperation: "null",
  bulkOperationCancel: "NOT_FOUND",
  // Its lines are still to be picked, or it is packed
  pickListPack: "INVALID_STATE_TRANSITION",
  // Each of the three warehouses receives goods
  warehouseDelete: "REFERENCE_IN_USE",
  // The subscriptions are disabled, so that a new shop sends nothing
  webhookDeliveriesReplay: "INVALID_STATE_TRANSITION",
  webhookDeliveryRetry: "INVALID_STATE_TRANSITION",
  webhookSubscriptionTest: "INVALID_STATE_TRANSITION",
};

let service: TestService;
let token: string;
before(async () => {
  service = await startService({ versions, template: "template_demo" });
  token = await service.token({ read: "all", write: "all" });
});
after(() => service.close());

/** Reads the example of a page: its operation and variables, and the points that it is said to cost. */
async function readExample(path: string) {
  const { text } = await read(await fetch(service.url + path));
  const example = text.slice(text.indexOf('<h2 id="example">'));
  const [query, variables = "{}"] = [...example.matchAll(/<pre[^>]*>([^]*?)<\/pre>/g)].map(([, block]) =>
    block!
      .replace(/<[^>]*>/g, "")
      .replaceAll("&quot;", '"')
      .replaceAll("&#39;", "'")
      .replaceAll("&amp;", "&"),
  );
  const [, points] = /It costs (\w+) points?\./.exec(example)!;
  return { query, variables: JSON.parse(variables), points: points === "one" ? 1 : Number(points) };
}

for (const { slug: version } of versions) {
  describe(`examples of the reference of ${version}`, () => {
    const schema = committedSchema(version);
    const namesIn = (root: GraphQLObjectType | null | undefined) => Object.keys(root?.getFields() ?? {});

    it("each query finds its objects, at the cost that its page says", async () => {
      for (const name of namesIn(schema.getQueryType())) {
        const { query, variables, points } = await readExample(`/docs/${version}/queries/${name}`);
        const { body, text } = await service.ask(token, { query, variables }, { version });
        assert.equal(body.errors, undefined, `${name}: ${text}`);
        assert.equal(body.extensions.cost.requested, points, name);
        const answer = body.data[name];
        const found = Array.isArray(answer) ? answer : (answer?.edges ?? [answer]);
        if (refused[name] !== undefined) assert.deepEqual(found, [null], name);
        // The shop has no bulk operations
        else if (name !== "bulkOperations") assert.ok(found[0] != null, `${name}: ${text}`);
      }
    });

    // With validateOnly, so that each finds the shop as it was
    it("each mutation is accepted, at the cost that its page says", async () => {
      for (const name of namesIn(schema.getMutationType())) {
        const { query, variables, points } = await readExample(`/docs/${version}/mutations/${name}`);
        variables.input.validateOnly = true;
        const { body, text } = await service.ask(token, { query, variables }, { version });
        assert.equal(body.errors, undefined, `${name}: ${text}`);
        assert.equal(body.extensions.cost.requested, points, name);
        const codes = body.data[name].userErrors.map(({ code }: any) => code);
        assert.deepEqual(codes, refused[name] === undefined ? [] : [refused[name]], `${name}: ${text}`);
      }
    });

    it("each subscription begins", async () => {
      for (const name of namesIn(schema.getSubscriptionType())) {
        const { query, variables } = await readExample(`/docs/${version}/subscriptions/${name}`);
        const stop = new AbortController();
        const { status, headers } = await fetch(`${service.url}/api/graphql/${version}`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${token}`,
            "content-type": "application/json",
            accept: "text/event-stream",
          },
          body: JSON.stringify({ query, variables }),
          signal: stop.signal,
        });
        assert.deepEqual([status, headers.get("content-type")], [200, "text/event-stream"], name);
        stop.abort();
      }
    });
  });
}

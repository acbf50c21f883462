import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { committedSchema, isConnection, listedTypes, requiredScopes } from "./schema-walk.ts";

const version = "2026-06-unstable";
const schema = committedSchema(version);
const types = listedTypes(schema);
const root = schema.getQueryType()!.getFields();
const allScopes = [...new Set(Object.values(root).flatMap(requiredScopes))].sort();

describe("scopes", () => {
  let service: TestService;
  let ids: Record<string, string>;
  const tokens = new Map<string, Promise<string>>();
  const tokenWith = (scopes: string[]) => {
    const read = scopes.map((scope) => scope.replace(":read", "")).sort();
    // Subscriptions of the demonstration are no credential's
    if (read.includes("webhook_subscriptions")) read.push("all_webhook_subscriptions");
    const key = read.join();
    if (!tokens.has(key)) tokens.set(key, service.token({ read }));
    return tokens.get(key)!;
  };
  const ask = async (scopes: string[], query: string) =>
    service.ask(await tokenWith(scopes), { query }, { version });

  before(async () => {
    service = await startService({
      versions: versions.filter(({ slug }) => slug === version),
      template: "template_demo",
    });
    const query = `{ ${types.map(({ list }) => `${list}(first: 1) { edges { node { id } } }`).join(" ")} }`;
    const { body } = await ask(allScopes, query);
    ids = Object.fromEntries(types.map(({ type, list }) => [type.name, body.data[list].edges[0].node.id]));
  });
  after(() => service.close());

  /** Asks with no scope, with exactly the needed ones, and with all except the field's own. */
  async function check(query: string, own: string[], further: string[] = []): Promise<void> {
    const needed = [...new Set([...own, ...further])];
    const others = allScopes.filter((scope) => !own.includes(scope));
    const granted = await ask(needed, query);
    assert.equal(granted.body.errors, undefined, JSON.stringify(granted.body.errors));
    for (const scopes of [[], others]) {
      const { body } = await ask(scopes, query);
      assert.equal(body.data ?? null, null);
      assert.deepEqual(
        body.errors.map((error: any) => error.extensions.code),
        ["FORBIDDEN"],
      );
      assert.ok(
        body.errors[0].extensions.missingScopes.some((missing: any) =>
          own.some((scope) => missing.anyOf?.includes(scope)),
        ),
      );
    }
  }

  for (const { type, list, single } of types) {
    it(`Query.${list} and Query.${single}`, async () => {
      const own = requiredScopes(root[list]!);
      assert.equal(own.length, 1);
      await check(`{ ${list} { edges { node { id } } } }`, own);
      await check(`{ ${single}(id: "${ids[type.name]}") { id } }`, own);
    });

    for (const field of Object.values(type.getFields()).filter((field) => requiredScopes(field).length > 0)) {
      it(`${type.name}.${field.name}`, async () => {
        const selection = isConnection(field) ? "{ edges { node { id } } }" : "{ id }";
        const query = `{ ${list}(first: 1) { edges { node { ${field.name} ${selection} } } } }`;
        await check(query, requiredScopes(field), requiredScopes(root[list]!));
      });
    }

    it(`node: ${type.name} is there with its scope and null without`, async () => {
      const query = `{ node(id: "${ids[type.name]}") { __typename id } }`;
      const own = requiredScopes(root[list]!);
      const others = allScopes.filter((scope) => !own.includes(scope));
      assert.deepEqual((await ask(own, query)).body.data, {
        node: { __typename: type.name, id: ids[type.name] },
      });
      assert.deepEqual((await ask(others, query)).body.data, { node: null });
      assert.deepEqual((await ask([], query)).body.data, { node: null });
    });
  }
});

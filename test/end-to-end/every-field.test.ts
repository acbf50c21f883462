import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { withoutOpen } from "../reads/two-executors.ts";
import { versions } from "../../src/versions/versions.ts";
import { addBulkOperations } from "../lib/bulk-operations.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { committedSchema, everything, listedTypes, nullableFields, page } from "./schema-walk.ts";

// Fields that are always null in the demonstration data, and why
const alwaysNull = new Set<string>([]);

for (const version of ["2026-06-unstable", "unstable"]) {
  const schema = committedSchema(version);

  describe(`every field of ${version}`, () => {
    let service: TestService;
    let token: string;
    before(async () => {
      service = await startService({
        versions: versions.filter(({ slug }) => slug === version),
        template: "template_demo",
      });
      const credential = await service.credential();
      token = await service.tokenFor(credential);
      await addBulkOperations(service.owner, credential.id);
    });
    after(() => service.close());

    for (const { type, list, single } of listedTypes(schema)) {
      it(`${type.name}: lists, single rows and node answer everything`, async () => {
        const seen = new Set<string>();
        let cursor: string | null = null;
        let last: any;
        do {
          const query: string = `query ($after: String) { ${list}(first: 100, after: $after) { ${page(everything(type))} } }`;
          const { body, status } = await service.ask(
            token,
            { query, variables: { after: cursor } },
            { version },
          );
          assert.equal(status, 200);
          assert.equal(body.errors, undefined, JSON.stringify(body.errors));
          const { edges, pageInfo } = body.data[list];
          assert.ok(edges.length > 0, "no rows");
          for (const { node } of edges) {
            // Images are known by their product and place, the batches of stock by both, reasons by their code
            assert.match(
              node.id,
              new RegExp(`^gid://service/${type.name}/([0-9a-f-]{36}(/(\\d+|[0-9a-f-]{36}))?|[a-z_]+)$`),
            );
            for (const [name, value] of Object.entries(node)) if (value !== null) seen.add(name);
          }
          last = edges.at(-1).node;
          cursor = pageInfo.hasNextPage ? pageInfo.endCursor : null;
        } while (cursor !== null);
        assert.deepEqual(
          nullableFields(type).filter((name) => !seen.has(name) && !alwaysNull.has(`${type.name}.${name}`)),
          [],
          "fields that no row has",
        );

        const query = `query ($id: ID!) { ${single}(id: $id) { ${everything(type)} } node(id: $id) { ... on ${type.name} { ${everything(type)} } } }`;
        const { body } = await service.ask(token, { query, variables: { id: last.id } }, { version });
        assert.equal(body.errors, undefined);
        const settled = (data: object) => withoutOpen(JSON.stringify(data));
        assert.equal(settled({ [single]: body.data[single] }), settled({ [single]: last }));
        assert.equal(settled({ node: body.data.node }), settled({ node: last }));
      });
    }
  });
}

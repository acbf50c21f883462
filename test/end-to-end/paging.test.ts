import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { versions } from "../../src/versions/versions.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { committedSchema, isConnection, listedTypes, page } from "./schema-walk.ts";

interface Page {
  edges: { cursor: string; node: { id: string } }[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
}

const version = "2026-06-unstable";

describe("paging", () => {
  let service: TestService;
  let token: string;
  before(async () => {
    service = await startService({
      versions: versions.filter(({ slug }) => slug === version),
      template: "template_demo",
    });
    token = await service.token();
  });
  after(() => service.close());

  /** Reads all pages, checks each page's pageInfo, and returns the ids in order. */
  async function walk(first: number, read: (args: string) => Promise<Page>): Promise<string[]> {
    const ids: string[] = [];
    let after: string | null = null;
    for (;;) {
      const { edges, pageInfo }: Page = await read(
        `first: ${first}${after === null ? "" : `, after: ${JSON.stringify(after)}`}`,
      );
      assert.ok(edges.length <= first);
      assert.equal(pageInfo.hasPreviousPage, ids.length > 0);
      assert.equal(pageInfo.startCursor, edges[0]?.cursor ?? null);
      assert.equal(pageInfo.endCursor, edges.at(-1)?.cursor ?? null);
      ids.push(...edges.map(({ node }) => node.id));
      if (!pageInfo.hasNextPage) return ids;
      assert.equal(edges.length, first);
      after = pageInfo.endCursor;
    }
  }

  const ask = async (query: string): Promise<any> => {
    const { body } = await service.ask(token, { query }, { version });
    assert.equal(body.errors, undefined, JSON.stringify(body.errors));
    return body.data;
  };

  for (const { type, list, single } of listedTypes(committedSchema(version))) {
    it(`Query.${list} gives every row once, oldest first`, async () => {
      const read = async (args: string) => (await ask(`{ ${list}(${args}) { ${page("id")} } }`))[list];
      const ids = await walk(100, read);
      assert.equal(new Set(ids).size, ids.length);
      assert.deepEqual(ids, [...ids].sort());
      if (ids.length <= 100) assert.deepEqual(await walk(7, read), ids);
    });

    for (const field of Object.values(type.getFields()).filter(isConnection)) {
      it(`${type.name}.${field.name} gives the same rows in pages of any size`, async () => {
        const parents: { id: string; rows: Page }[] = (
          await ask(
            `{ ${list}(first: 250) { edges { node { id rows: ${field.name}(first: 250) { ${page("id")} } } } } }`,
          )
        )[list].edges.map(({ node }: any) => node);
        const longest = parents.filter(({ rows }) => rows.edges.length > 0);
        longest.sort((a, b) => b.rows.edges.length - a.rows.edges.length);
        assert.ok(longest.length > 0, "no parent has any");
        for (const { id, rows } of longest.slice(0, 2)) {
          const size = Math.max(1, Math.ceil(rows.edges.length / 4));
          const read = async (args: string) =>
            (await ask(`{ ${single}(id: "${id}") { ${field.name}(${args}) { ${page("id")} } } }`))[single][
              field.name
            ];
          const ids = rows.edges.map(({ node }) => node.id);
          assert.deepEqual((await walk(size, read)).slice(0, ids.length), ids);
        }
      });
    }
  }

  it("stays right while rows are inserted and deleted", async () => {
    const owner = new pg.Client({ connectionString: service.ownerUrl });
    await owner.connect();
    const before = await walk(250, async (args) => (await ask(`{ tags(${args}) { ${page("id")} } }`)).tags);
    let pages = 0;
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const { tags }: any = await ask(
        `{ tags(first: 3${after ? `, after: "${after}"` : ""}) { ${page("id")} } }`,
      );
      seen.push(...tags.edges.map(({ node }: any) => node.id));
      after = tags.pageInfo.hasNextPage ? tags.pageInfo.endCursor : null;
      // a row before the present page, and one after all of them
      await owner.query(
        "insert into erp.tag (id, name) values (('00000000-0000-7000-8000-' || lpad($1::text, 12, '0'))::uuid, 'early ' || $1)",
        [++pages],
      );
      if (pages <= 2) await owner.query("insert into erp.tag (name) values ('late ' || $1::int)", [pages]);
      // the row of the cursor
      if (pages === 1)
        await owner.query("delete from erp.tag where id = $1", [seen.at(-1)!.split("/").at(-1)]);
    } while (after !== null);
    await owner.end();
    assert.deepEqual(seen.slice(0, before.length), before);
    assert.equal(seen.length, before.length + 2);
  });
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parse as parseCsv } from "csv-parse/sync";
import type { BulkWork } from "../../src/bulk/bulk-work.ts";
import { seed as firstSeed } from "../lib/seed.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import type { Part } from "./random-exports.ts";
import { isWholeList, randomExport } from "./random-exports.ts";
import { ended, startTestBulk } from "./support.ts";

// Has a process of its own: it takes long.

/** How many exports are compared with pages. */
const wanted = Number(process.env.RANDOM_EXPORTS ?? 15);
const huge = 1_000_000_000;
const limits = {
  ...{ depth: 100, relations: 10_000, aliases: 10_000, directives: 10_000, tokens: 100_000, mutations: 10 },
  ...{ cost: huge, bucket: huge, refill: huge },
};

let service: TestService;
let bulk: BulkWork;
let token: string;
before(async () => {
  service = await startService({ template: "template_demo", settings: { limits } });
  // Lists within rows have few rows: they go on beyond such a page
  bulk = startTestBulk(service, { pageSize: 7 });
  token = await service.token({ read: "all", write: "all" });
});
after(async () => {
  await bulk.stop();
  await service.close();
});

async function ask(query: string, variables: object = {}): Promise<any> {
  const { body, text } = await service.ask(token, { query, variables });
  assert.equal(body.errors, undefined, `${query} ${text.slice(0, 500)}`);
  return body.data;
}

/** A line that a file is to have: its values, and the list that it is of. */
interface Expected {
  values: Record<string, any>;
  list: Part;
  path: string[];
}

/** Reads rows by pages, as a client does: lists within a row that go on are read by its node. */
class Paging {
  readonly lines: Expected[] = [];

  async read(root: Part): Promise<Expected[]> {
    for (let after: string | null = null; ;) {
      const page: any = (await ask(`query ($after: String) { ${pageOf(root, 37)} }`, { after }))[root.key];
      await this.#add(root, page, [], null);
      if (!page.pageInfo.hasNextPage) return this.lines;
      after = page.pageInfo.endCursor;
    }
  }

  async #add(list: Part, page: any, path: string[], parentId: string | null): Promise<void> {
    for (const { node } of page.edges) {
      const lists: { part: Part; object: any; path: string[] }[] = [];
      const values = this.#valuesOf(list.parts, node, path, lists);
      const parent = parentId === null ? {} : { __parentId: parentId };
      this.lines.push({ values: { id: node.ownId, ...values, ...parent }, list, path });
      for (const { part, object, path: here } of lists) {
        let next = object[part.key];
        for (;;) {
          await this.#add(part, next, here, node.ownId);
          if (!next.pageInfo.hasNextPage) break;
          const query = `query ($id: ID!, $after: String) { node(id: $id) { ... on ${part.owner} { ${pageOf(part, 50)} } } }`;
          next = (await ask(query, { id: object.ownId, after: next.pageInfo.endCursor })).node[part.key];
        }
      }
    }
  }

  #valuesOf(
    parts: readonly Part[],
    object: any,
    path: string[],
    lists: { part: Part; object: any; path: string[] }[],
  ): any {
    const values: Record<string, any> = {};
    for (const part of parts.filter(({ isLeftOut }) => !isLeftOut)) {
      const [value, here] = [object[part.key], [...path, part.key]];
      if (part.kind === "list") lists.push({ part, object, path: here });
      else if (part.kind === "object" && value !== null)
        values[part.key] = this.#valuesOf(part.parts, value, here, lists);
      else values[part.key] = value;
    }
    return values;
  }
}

const textOf = (part: Part): string => {
  const { key, call, parts, kind } = part;
  if (kind === "list") return pageOf(part, 5);
  const given = call.arguments.length > 0 ? `(${call.arguments.join(", ")})` : "";
  return `${key}: ${call.name}${given}${kind === "value" ? "" : ` { ${selectionOf(parts)} }`}`;
};
const selectionOf = (parts: readonly Part[]): string => {
  const some = parts.filter(({ isLeftOut }) => !isLeftOut);
  return [...(some.some(({ kind }) => kind === "list") ? ["ownId: id"] : []), ...some.map(textOf)].join(" ");
};
const pageOf = ({ key, call, parts, owner }: Part, size: number): string => {
  const isFirst = owner === "Query" || size === 50;
  const given = [...call.arguments, `first: ${size}`, ...(isFirst ? ["after: $after"] : [])].join(", ");
  return `${key}: ${call.name}(${given}) { pageInfo { hasNextPage endCursor } edges { node { ownId: id ${selectionOf(parts)} } } }`;
};

async function fileOf(query: string, variables: object, format: string): Promise<string> {
  const run = `mutation ($input: BulkOperationRunInput!) {
    bulkOperationRun(input: $input) { bulkOperation { id } userErrors { message } } }`;
  const { bulkOperationRun } = await ask(run, { input: { query, variables, format } });
  assert.deepEqual(bulkOperationRun.userErrors, [], query);
  const done = await ended(service, token, bulkOperationRun.bulkOperation.id);
  assert.equal(done.state, "completed", `${done.errorMessage} ${query}`);
  return (await fetch(`${service.url}${done.resultUrl}`)).text();
}

const cellOf = (value: unknown): string =>
  typeof value === "string" ? value : value === null || value === undefined ? "" : JSON.stringify(value);

/** The cells of a line by their columns. */
function cellsOf({ values, list, path }: Expected): Record<string, string> {
  const cells: Record<string, string> = {};
  const fill = (parts: readonly Part[], object: any, before: string) => {
    for (const { key, kind, parts: within } of parts.filter(({ isLeftOut }) => !isLeftOut))
      if (kind === "object" && object[key]) fill(within, object[key], `${before}${key}.`);
      else if (kind === "value" || kind === "values") cells[before + key] = cellOf(object[key]);
  };
  const prefix = path.map((part) => `${part}.`).join("");
  fill(list.parts, values, prefix);
  cells[`${prefix}id`] = values.id;
  if (values.__parentId) cells.__parentId = values.__parentId;
  return Object.fromEntries(Object.entries(cells).filter(([, cell]) => cell !== ""));
}

test(`exports have the rows of pages, ${wanted} times`, async (context) => {
  const schema = service.app.headReader().schema;
  const ids = new Map<string, string[]>();
  for (const field of Object.values(schema.getQueryType()!.getFields()).filter(isWholeList)) {
    const { list } = await ask(`{ list: ${field.name}(first: 250) { edges { node { id } } } }`);
    ids.set(
      field.name,
      list.edges.map(({ node }: any) => node.id),
    );
  }
  let [lines, nested] = [0, 0];
  for (let seed = firstSeed; seed < firstSeed + wanted; seed++) {
    const { source, variables, root } = randomExport(schema, (list) => ids.get(list)!, seed);
    const where = `seed ${seed}: ${source}`;
    const expected = await new Paging().read(root);
    const format = seed % 4 === 0 ? "csv" : "jsonl";
    const text = await fileOf(source, variables, format);
    if (format === "csv") {
      const records: Record<string, string>[] = parseCsv(text, { columns: true });
      const cells = records.map((row) =>
        Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== "")),
      );
      assert.deepEqual(cells, expected.map(cellsOf), where);
    } else {
      const found: any[] = text
        .trimEnd()
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      assert.deepEqual(
        found,
        expected.map(({ values }) => values),
        where,
      );
      const known = new Set(found.map(({ id }) => id));
      for (const { __parentId } of found)
        if (__parentId !== undefined) assert.ok(known.has(__parentId), where);
    }
    lines += expected.length;
    nested += expected.filter(({ path }) => path.length > 0).length;
  }
  context.diagnostic(`${lines} lines, ${nested} of lists within`);
  assert.ok(lines > wanted * 5 && nested > wanted);
});

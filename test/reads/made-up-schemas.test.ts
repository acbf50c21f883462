import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import pg from "pg";
import type { GraphQLObjectType, GraphQLSchema } from "postgraphile/graphql";
import {
  getNamedType,
  isEnumType,
  isLeafType,
  isRequiredArgument,
  parse,
  validate,
} from "postgraphile/graphql";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { seed } from "../lib/seed.ts";
import { madeUpSchema, madeUpSql } from "./made-up-schema.ts";
import { randomRead } from "./random-reads.ts";
import { takeSamples } from "./samples.ts";
import type { ReadRequest, TwoExecutors } from "./two-executors.ts";
import { makeTwoExecutors } from "./two-executors.ts";

const runs = Number(process.env.MADE_UP_SCHEMAS ?? 2);
const operations = 30;
const refusals = new Set<unknown>(["BAD_USER_INPUT", "CURSOR_INVALID", "PAGE_SIZE_EXCEEDED"]);

type Executors = Pick<TwoExecutors, "schema" | "bySql" | "byGrafast">;

/** The answer, which has to be the same by both. */
async function both({ bySql, byGrafast }: Executors, request: ReadRequest) {
  const expected = await byGrafast(request);
  const found = await bySql(request);
  const where = JSON.stringify(request);
  assert.deepEqual(found.errors, expected.errors, where);
  assert.equal(found.text, expected.text, where);
  for (const { code, message } of expected.errors) assert.ok(refusals.has(code), `${message} ${where}`);
  return { ...found, where };
}

const leavesOf = (type: GraphQLObjectType): string =>
  Object.values(type.getFields())
    .filter((leaf) => isLeafType(getNamedType(leaf.type)) && !leaf.args.some(isRequiredArgument))
    .map(({ name }) => name)
    .join(" ");

/** Reads a list page by page: no row is missing, none comes twice, each is found again by its id. */
async function walk(executors: Executors, list: string, type: GraphQLObjectType): Promise<void> {
  const columns = leavesOf(type);
  const page = `edges { node { ${columns} } } pageInfo { hasNextPage endCursor }`;
  const all = await both(executors, { source: `{ list: ${list}(first: 250) { ${page} } }` });
  assert.ok(all.isBySql, all.where);
  const rows: any[] = all.data.list.edges.map(({ node }: any) => node);
  assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length, "ids differ");
  const paged: unknown[] = [];
  for (let cursor: string | null = null, isLast = false; !isLast;) {
    const source = `query ($after: String) { list: ${list}(first: 2, after: $after) { ${page} } }`;
    const { data, errors, where }: any = await both(executors, { source, variables: { after: cursor } });
    assert.deepEqual(errors, [], where);
    paged.push(...data.list.edges.map(({ node }: any) => node));
    cursor = data.list.pageInfo.endCursor;
    isLast = !data.list.pageInfo.hasNextPage;
  }
  assert.deepEqual(paged, rows);
  for (const row of rows) {
    const source = `query ($id: ID!) { node(id: $id) { ... on ${type.name} { ${columns} } }
      list: ${list}(filter: { id: { in: [$id] } }) { edges { node { ${columns} } } } }`;
    const { data, where } = await both(executors, { source, variables: { id: row.id } });
    assert.deepEqual(data, { node: row, list: { edges: [{ node: row }] } }, where);
  }
}

/** Reads a list page by page in one of its orders, from the end too: both are the whole list. */
async function walkBothWays(
  executors: Executors,
  list: string,
  type: string,
  orderBy: string,
): Promise<void> {
  const page = "edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";
  const source = `query ($first: Int, $last: Int, $after: String, $before: String, $orderBy: ${type}OrderBy) {
    list: ${list}(first: $first, last: $last, after: $after, before: $before, orderBy: $orderBy) { ${page} totalCount { count } } }`;
  const read = async (variables: Record<string, unknown>) => {
    const { data, errors, where, isBySql } = await both(executors, {
      source,
      variables: { orderBy, ...variables },
    });
    assert.deepEqual(errors, [], where);
    assert.ok(isBySql, where);
    const { edges, pageInfo, totalCount } = data.list;
    return { ids: edges.map(({ node }: any) => node.id), pageInfo, count: totalCount.count };
  };
  const { ids, count } = await read({ first: 250 });
  assert.equal(ids.length, count);
  const [forward, backward]: [unknown[], unknown[]] = [[], []];
  for (let after: string | null = null, isLast = false; !isLast;) {
    const { ids: some, pageInfo } = await read({ first: 3, after });
    forward.push(...some);
    ({ endCursor: after } = pageInfo);
    isLast = !pageInfo.hasNextPage;
  }
  for (let before: string | null = null, isFirst = false; !isFirst;) {
    const { ids: some, pageInfo } = await read({ last: 3, before });
    backward.unshift(...some);
    ({ startCursor: before } = pageInfo);
    isFirst = !pageInfo.hasPreviousPage;
  }
  assert.deepEqual([forward, backward], [ids, ids], `${list} ${orderBy}`);
}

function ordersOf(schema: GraphQLSchema, { name }: GraphQLObjectType): string[] {
  const type = schema.getType(`${name}OrderBy`);
  return isEnumType(type) ? type.getValues().map((value) => value.name) : [];
}

function listsOf(schema: GraphQLSchema): { list: string; type: GraphQLObjectType }[] {
  return Object.values(schema.getQueryType()!.getFields()).flatMap((field) => {
    const { name } = getNamedType(field.type);
    if (!name.endsWith("Connection") || field.args.some(isRequiredArgument)) return [];
    return [{ list: field.name, type: schema.getType(name.replace("Connection", "")) as GraphQLObjectType }];
  });
}

describe("schemas that nobody thought of, read by one statement and by Grafast", () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  before(async () => {
    database = await openTestDatabase("template0");
    pool = new pg.Pool({ connectionString: database.adminUrl, max: 2 });
    pool.on("error", () => {});
  });
  after(async () => {
    await pool.end();
    await database.close();
  });

  it(`give the same answers, ${runs} times`, async (test) => {
    const tally = { valid: 0, bySql: 0, withErrors: 0 };
    const property = fc.asyncProperty(madeUpSchema, fc.nat(1e6), async (made, first) => {
      await pool.query(madeUpSql(made));
      const executors = await makeTwoExecutors(pool, "made_up_api", {
        allScopes: ["things:read"],
        role: "none",
      });
      for (const { list, type } of listsOf(executors.schema)) {
        await walk(executors, list, type);
        // Each second one: the other directions come in other schemas
        const orders = ordersOf(executors.schema, type).filter((_order, index) => (index + first) % 2 === 0);
        for (const order of orders) await walkBothWays(executors, list, type.name, order);
      }
      const samples = await takeSamples(executors);
      for (let next = first; next < first + operations; next++) {
        const read = randomRead(executors.schema, samples, next);
        if (validate(executors.schema, parse(read.source)).length > 0) continue;
        const { errors, isBySql, where } = await both(executors, read);
        tally.valid++;
        if (errors.length > 0) tally.withErrors++;
        else if (isBySql) tally.bySql++;
        else if (process.env.SHOW_OTHERS) console.log(where);
      }
    });
    await fc.assert(property, { numRuns: runs, seed, endOnFailure: true });
    test.diagnostic(JSON.stringify(tally));
    assert.ok(
      tally.bySql > (tally.valid - tally.withErrors) * 0.95,
      "nearly all are answered by one statement",
    );
  });
});

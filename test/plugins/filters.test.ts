import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { GraphQLInputObjectType } from "postgraphile/graphql";
import { parse } from "postgraphile/graphql";
import { findTypesRead } from "../../src/live/keep-current.ts";
import { allScopes, sampleGid, openSample } from "./support.ts";
import type { Sample } from "./support.ts";

let sample: Sample;
before(async () => void (sample = await openSample()));
after(() => sample?.close());

const all = Array.from({ length: 30 }, (_, index) => index + 1);
const numbers = (condition: (n: number) => boolean) => all.filter(condition);

/** The numbers of the products that a filter finds. */
async function find(filter: unknown): Promise<number[]> {
  const source = `query ($filter: ProductFilterInput) {
    products(first: 250, filter: $filter) { edges { node { productNumber } } }
  }`;
  const { data, errors } = await sample.run(source, { variables: { filter } });
  assert.deepEqual(errors, [], JSON.stringify(filter));
  return data.products.edges.map((edge: any) => Number(edge.node.productNumber.slice(2)));
}

async function refusal(filter: unknown, code = "BAD_USER_INPUT"): Promise<string> {
  const source = `query ($filter: ProductFilterInput) { products(filter: $filter) { edges { cursor } } }`;
  const { data, errors } = await sample.run(source, { variables: { filter } });
  assert.equal(data, null, JSON.stringify(filter));
  assert.equal(errors[0]?.code, code, JSON.stringify(errors));
  return errors[0].message;
}

const product = (n: number) => sampleGid("Product", n);

/** Filters and the products that they must find; n is the product's number, see sample.sql. */
const cases: Record<string, [filter: unknown, found: number[]][]> = {
  "the whole filter": [
    [null, all],
    [undefined, all],
    [{}, all],
    [{ name: {} }, all],
    [{ id: { equals: product(3) }, active: { equals: true } }, []],
    [{ id: { equals: product(4) }, active: { equals: true } }, [4]],
  ],
  IDFilter: [
    [{ id: { equals: product(3) } }, [3]],
    [{ id: { equals: product(99) } }, []],
    [{ id: { in: [product(3), product(99), product(1), product(1)] } }, [1, 3]],
    [{ id: { in: product(3) } }, [3]],
    [{ id: { in: [] } }, []],
    [{ id: { notIn: [] } }, all],
    [{ id: { notIn: [product(1)] } }, numbers((n) => n !== 1)],
    [{ parentId: { equals: product(1) } }, [4, 5, 6]],
    [{ parentId: { notIn: [product(2)] } }, [4, 5, 6]],
    [{ parentId: { notIn: [] } }, all],
    [{ returnOrderId: { equals: sampleGid("ReturnOrder", 1) } }, [2]],
  ],
  StringFilter: [
    [{ productNumber: { equals: "P-007" } }, [7]],
    [{ productNumber: { equals: "p-007" } }, []],
    [{ productNumber: { in: ["P-001", "P-002", "x"] } }, [1, 2]],
    [{ productNumber: { in: [] } }, []],
    [{ productNumber: { startsWith: "P-02" } }, numbers((n) => n >= 20 && n < 30)],
    [{ productNumber: { endsWith: "7" } }, [7, 17, 27]],
    [{ productNumber: { contains: "-01" } }, numbers((n) => n >= 10 && n < 20)],
    [{ productNumber: { startsWith: "P-02", endsWith: "7" } }, [27]],
    [{ productNumber: { contains: "" } }, all],
    [{ name: { contains: "" } }, numbers((n) => n !== 10)],
    [{ name: { contains: "%" } }, [7]],
    [{ name: { contains: "_" } }, [8]],
    [{ name: { contains: "\\" } }, [9]],
    [{ name: { startsWith: "100%" } }, [7]],
    [{ name: { startsWith: "1%" } }, []],
    [{ name: { endsWith: "%" } }, []],
    [{ name: { contains: "\\\\" } }, []],
    [{ name: { equals: "CASE" } }, [11]],
    [{ name: { contains: "ase" } }, [12]],
    [{ name: { isNull: true } }, [10]],
    [{ name: { isNull: false } }, numbers((n) => n !== 10)],
    [{ name: { equals: "'; drop table sample.product; --" } }, []],
    [{ name: { in: ['"', "'", "{}", ",", "\\", "NULL", "💥", "\ud800"] } }, []],
    [{ name: { equals: "x".repeat(100_000) } }, []],
  ],
  "IntFilter, on an integer": [
    [{ stock: { equals: 70 } }, [7]],
    [{ stock: { in: [10, 20, 25] } }, [1, 2]],
    [{ stock: { lt: 20 } }, [1]],
    [{ stock: { lte: 20 } }, [1, 2]],
    [{ stock: { gt: 290 } }, [30]],
    [{ stock: { gte: 290 } }, [29, 30]],
    [{ stock: { gt: 10, lt: 40 } }, [2, 3]],
    [{ stock: { isNull: true } }, []],
    [{ stock: { gt: -2147483648, lt: 2147483647 } }, all],
  ],
  "IntFilter, on a smallint, whose range is smaller than that of Int": [
    [{ position: { equals: 7 } }, [7]],
    [{ position: { equals: 2147483647 } }, []],
    [{ position: { in: [1, -2147483648, 2147483647] } }, [1]],
    [{ position: { lt: 2147483647 } }, numbers((n) => n % 5 !== 0)],
    [{ position: { isNull: true } }, numbers((n) => n % 5 === 0)],
  ],
  "FloatFilter, on numeric": [
    [{ weight: { equals: 1.5 } }, [1]],
    [{ weight: { equals: 3 } }, [2]],
    [{ weight: { in: [1.5, 3, 7] } }, [1, 2]],
    [{ weight: { lt: 3 } }, [1]],
    [{ weight: { lte: 3 } }, [1, 2]],
    [{ weight: { gt: 42 } }, [29]],
    [{ weight: { gte: 42 } }, [28, 29]],
    [{ weight: { isNull: true } }, numbers((n) => n % 3 === 0)],
    [{ weight: { lt: 1e308 } }, numbers((n) => n % 3 !== 0)],
    [{ weight: { gt: 5e-324 } }, numbers((n) => n % 3 !== 0)],
  ],
  "FloatFilter, on double precision": [
    [{ rating: { equals: 0.125 } }, [1]],
    [{ rating: { in: [0.125, 0.25] } }, [1, 2]],
    [{ rating: { gt: 3.5, lt: 1e308 } }, [29, 30]],
    [{ rating: { isNull: true } }, numbers((n) => n % 4 === 0)],
  ],
  DateTimeFilter: [
    [{ createdAt: { equals: "2026-03-04T05:06:07+00:00" } }, all],
    [{ createdAt: { equals: "2026-03-04T06:06:07+01:00" } }, all],
    [{ createdAt: { before: "2026-03-04T05:06:07Z" } }, []],
    [{ createdAt: { before: "2026-03-04T05:06:07.001Z" } }, all],
    [{ updatedAt: { after: "2026-05-02T04:00:00Z" } }, [30]],
    [{ updatedAt: { before: "2026-05-01T04:00:01Z" } }, [2, 4]],
    [{ updatedAt: { isNull: true } }, numbers((n) => n % 2 === 1)],
    [
      { updatedAt: { after: "0001-01-01T00:00:00Z", before: "9999-12-31T23:59:59Z" } },
      numbers((n) => n % 2 === 0),
    ],
  ],
  BooleanFilter: [
    [{ active: { equals: true } }, numbers((n) => n % 2 === 0)],
    [{ active: { equals: false } }, numbers((n) => n % 2 === 1)],
  ],
  "AND, OR and NOT": [
    [{ AND: [{ stock: { gt: 10 } }, { stock: { lt: 40 } }] }, [2, 3]],
    [{ OR: [{ stock: { lt: 20 } }, { stock: { gt: 290 } }] }, [1, 30]],
    [{ NOT: { stock: { gt: 20 } } }, [1, 2]],
    [{ NOT: { NOT: { stock: { gt: 290 } } } }, [30]],
    [{ active: { equals: true }, OR: [{ stock: { lt: 30 } }, { stock: { gt: 280 } }] }, [2, 30]],
    [
      { OR: [{ AND: [{ stock: { gt: 10 } }, { stock: { lt: 30 } }] }, { NOT: { stock: { lt: 300 } } }] },
      [2, 30],
    ],
    [{ NOT: { OR: [{ stock: { gt: 20 } }, { active: { equals: true } }] } }, [1]],
    [
      { NOT: { AND: [{ stock: { gt: 20 } }, { active: { equals: true } }] } },
      numbers((n) => n <= 2 || n % 2 === 1),
    ],
    [{ AND: [], OR: [] }, all],
    [{ AND: [{}] }, all],
    [{ OR: [{}, { stock: { lt: 0 } }] }, all],
    [{ OR: [{ OR: [] }, { stock: { lt: 0 } }] }, all],
    [{ OR: [{ name: {} }, { stock: { lt: 0 } }] }, all],
    [{ OR: { stock: { lt: 20 } } }, [1]],
    [{ NOT: {} }, []],
    [{ NOT: { OR: [] } }, []],
    [{ OR: [{ NOT: {} }, { stock: { lt: 20 } }] }, [1]],
    // null neither matches nor fails, as in SQL
    [{ NOT: { name: { equals: "CASE" } } }, numbers((n) => n !== 11 && n !== 10)],
    [{ NOT: { name: { isNull: true } } }, numbers((n) => n !== 10)],
    [{ NOT: { parentId: { equals: product(1) } } }, []],
  ],
  "relations to one": [
    [{ parent: { productNumber: { equals: "P-001" } } }, [4, 5, 6]],
    [{ parent: { productNumber: { equals: "P-002" } } }, []],
    [{ parent: {} }, [4, 5, 6]],
    [{ NOT: { parent: {} } }, numbers((n) => n < 4 || n > 6)],
    [{ NOT: { parent: { stock: { gt: 0 } } } }, numbers((n) => n < 4 || n > 6)],
    [{ parent: { active: { equals: false } }, stock: { gt: 50 } }, [6]],
    [{ OR: [{ parent: {} }, { stock: { lt: 20 } }] }, [1, 4, 5, 6]],
    [{ parent: { OR: [{ name: { isNull: true } }, { NOT: { stock: { gt: 10 } } }] } }, [4, 5, 6]],
    [{ parent: { id: { in: [] } } }, []],
  ],
  "relations to many": [
    [{ children: {} }, all],
    [{ children: { some: {} } }, [1]],
    [{ children: { none: {} } }, numbers((n) => n !== 1)],
    [{ children: { every: {} } }, all],
    [{ children: { some: {}, every: { stock: { gt: 30 } } } }, [1]],
    [{ children: { some: { stock: { gt: 50 } } } }, [1]],
    [{ children: { every: { stock: { gt: 50 } } } }, numbers((n) => n !== 1)],
    [{ children: { none: { stock: { gt: 60 } } } }, all],
    [{ NOT: { children: { every: { stock: { gt: 50 } } } } }, [1]],
    // One of them has no weight
    [{ children: { every: { weight: { gt: 0 } } } }, numbers((n) => n !== 1)],
    [{ children: { none: { weight: { lte: 0 } } } }, all],
    [{ tags: { some: { name: { equals: "tag-12" } } } }, [6]],
    [{ tags: { some: { name: { in: ["tag-3", "tag-9"] } } } }, [2, 3, 4, 5, 6]],
    [{ tags: { none: { name: { equals: "tag-3" } } } }, numbers((n) => n === 1 || n > 6)],
    [{ tags: { some: {}, every: { name: { in: ["tag-1", "tag-2", "tag-3", "tag-4"] } } } }, [1, 2]],
    [{ batches: { some: { state: { equals: "Open" } } }, stock: { gte: 40 } }, [4, 5]],
    [{ AND: [{ batches: { some: {} } }, { tags: { none: {} } }] }, []],
  ],
  "relations, one after the other": [
    [{ batches: { some: { location: { code: { equals: "L-1" } } } } }, [2]],
    [{ batches: { none: { location: {} }, some: {} } }, [3, 4, 5]],
    [{ batches: { some: { location: { batch: { number: { equals: "B-5" } } } } } }, [2]],
    [{ parent: { children: { some: { tags: { some: { name: { equals: "tag-12" } } } } } } }, [4, 5, 6]],
    [{ parent: { parent: {} } }, []],
  ],
};

for (const [topic, filters] of Object.entries(cases)) {
  describe(`filters: ${topic}`, () => {
    for (const [filter, found] of filters) {
      it(String(JSON.stringify(filter)).slice(0, 100), async () =>
        assert.deepEqual(await find(filter), found),
      );
    }
  });
}

describe("filters of enums", () => {
  const states = async (filter: string) => {
    const { data, errors } = await sample.run(`{ batches(filter: ${filter}) { edges { node { state } } } }`);
    assert.deepEqual(errors, []);
    return [...new Set(data.batches.edges.map((edge: any) => edge.node.state))].sort();
  };
  it("compare by value", async () => {
    assert.deepEqual(await states("{ state: { equals: OnHold } }"), ["OnHold"]);
    assert.deepEqual(await states("{ state: { in: [OnHold, Open] } }"), ["OnHold", "Open"]);
    assert.deepEqual(await states("{ state: { in: [] } }"), []);
    assert.deepEqual(await states("{ state: { isNull: true } }"), []);
    assert.deepEqual(await states("{ NOT: { state: { equals: Open } } }"), ["Closed", "OnHold"]);
  });
  it("refuse other values before anything runs", async () => {
    const { errors, statements } = await sample.run(
      `{ batches(filter: { state: { equals: Lost } }) { edges { cursor } } }`,
    );
    assert.match(errors[0]!.message, /Lost/);
    assert.deepEqual(statements, []);
  });
});

describe("filters are refused", () => {
  it("with null for an operator, a field, AND, OR or NOT, and the place is named", async () => {
    assert.match(await refusal({ name: { equals: null } }), /^filter\.name\.equals: .*isNull: true/);
    assert.match(await refusal({ stock: null }), /^filter\.stock: must not be null/);
    assert.match(
      await refusal({ OR: [{}, { NOT: { name: { in: null } } }] }),
      /^filter\.OR\[1\]\.NOT\.name\.in: /,
    );
    for (const name of ["AND", "OR", "NOT"])
      assert.match(await refusal({ [name]: null }), new RegExp(`^filter\\.${name}: `));
    assert.match(await refusal({ name: { isNull: null } }), /must not be null/);
  });

  it("without advice to use isNull, where there is none", async () => {
    assert.match(
      await refusal({ id: { equals: null } }),
      /^filter\.id\.equals: must not be null\. Leave it out\.$/,
    );
  });

  it("with a null that comes through a variable inside", async () => {
    const source = `query ($text: String) { products(filter: { name: { contains: $text } }) { edges { cursor } } }`;
    const { errors } = await sample.run(source, { variables: { text: null } });
    assert.equal(errors[0]?.code, "BAD_USER_INPUT");
    const left = await sample.run(source);
    assert.equal(
      left.data.products.edges.length,
      10,
      "a variable that isn't given is a condition that isn't given",
    );
  });

  it("with an id that is none, or of another type", async () => {
    assert.match(await refusal({ id: { equals: "garbage" } }), /^filter\.id\.equals: "garbage" is not an id/);
    assert.match(
      await refusal({ id: { in: [product(1), sampleGid("Batch", 1)] } }),
      /^filter\.id\.in: Expected the id of a Product/,
    );
    assert.match(await refusal({ id: { notIn: [""] } }), /is not an id/);
    assert.match(
      await refusal({ parentId: { equals: "01980000-0000-7000-8004-000000000001" } }),
      /is not an id/,
    );
    assert.match(
      await refusal({ returnOrderId: { equals: product(1) } }),
      /Expected the id of a ReturnOrder/,
    );
    assert.match(
      await refusal({ OR: [{}, { id: { equals: 5 } }] }),
      /is not an id/,
      "even where another branch matches all",
    );
  });

  it("with a NUL character", async () => {
    for (const operator of ["equals", "contains", "startsWith", "endsWith"]) {
      assert.match(
        await refusal({ name: { [operator]: "a\0b" } }),
        new RegExp(`^filter\\.name\\.${operator}: .*U\\+0000`),
      );
    }
    await refusal({ name: { in: ["a", "\0"] } });
    await refusal({ id: { equals: "\0" } });
  });

  it("with more than 255 characters to look for within texts", async () => {
    for (const operator of ["contains", "endsWith"]) {
      assert.match(
        await refusal({ NOT: { name: { [operator]: "x".repeat(256) } } }),
        new RegExp(`^filter\\.NOT\\.name\\.${operator}: The text can't be longer than 255 characters`),
      );
      assert.deepEqual(await find({ name: { [operator]: "\u{1d54f}".repeat(255) } }), []);
    }
    for (const operator of ["equals", "startsWith"])
      assert.deepEqual(await find({ name: { [operator]: "x".repeat(5_000) } }), []);
  });

  it("with more than 250 values in a list", async () => {
    const texts = (length: number) => Array.from({ length }, (_, n) => `P-${n}`);
    assert.deepEqual(
      await find({ productNumber: { in: texts(250) } }),
      numbers((n) => n >= 100),
    );
    assert.match(
      await refusal({ productNumber: { in: texts(251) } }),
      /^filter\.productNumber\.in: lists .* 250/,
    );
    for (const name of ["AND", "OR"]) {
      const branches = (length: number) => ({ [name]: Array.from({ length }, () => ({ stock: { gt: 0 } })) });
      assert.deepEqual(await find(branches(250)), all);
      assert.match(await refusal(branches(251)), new RegExp(`^filter\\.${name}: lists .* 250`));
    }
  });

  it("when they are nested absurdly deep or wide", async () => {
    const nested = (depth: number): object => (depth ? { NOT: nested(depth - 1) } : { stock: { gt: 290 } });
    assert.deepEqual(await find(nested(8)), [30]);
    assert.match(await refusal(nested(50)), /nested/);
    const wide = {
      OR: Array.from({ length: 250 }, () => ({ stock: { gt: 0, lt: 1, gte: 1, lte: 1, equals: 1 } })),
    };
    assert.match(await refusal(wide), /more than 1000 comparisons/);
  });

  it("that follow too many relations, or one after the other", async () => {
    const tooDeep = { batches: { some: { location: { batch: { product: {} } } } } };
    assert.match(
      await refusal(tooDeep),
      /^filter\.batches\.some\.location\.batch\.product: .* more than 3 relations/,
    );
    const many = (length: number) => ({ OR: Array.from({ length }, () => ({ parent: {} })) });
    assert.deepEqual(await find(many(10)), [4, 5, 6]);
    assert.match(await refusal(many(11)), /^filter: more than 10 relations/);
  });

  it("with a null for a relation", async () => {
    assert.match(await refusal({ parent: null }), /^filter\.parent: must not be null\. Leave it out\.$/);
    assert.match(await refusal({ children: { some: null } }), /^filter\.children\.some: must not be null/);
    assert.match(
      await refusal({ children: { every: { name: { equals: null } } } }),
      /^filter\.children\.every\.name\.equals: /,
    );
  });

  it("with values of another type, before anything runs", async () => {
    const wrong = [
      { stock: { equals: 2147483648 } },
      { stock: { equals: 1.5 } },
      { stock: { equals: "1" } },
      { name: { equals: 1 } },
    ];
    wrong.push(
      { updatedAt: { after: "2026-02-30T00:00:00Z" } } as never,
      { updatedAt: { after: "yesterday" } } as never,
    );
    wrong.push(
      { secret: { equals: "x" } } as never,
      { name: { regex: "x" } } as never,
      { active: { in: [true] } } as never,
    );
    for (const filter of wrong) {
      const source = `query ($filter: ProductFilterInput) { products(filter: $filter) { edges { cursor } } }`;
      const { data, errors, statements } = await sample.run(source, { variables: { filter } });
      assert.equal(data, null);
      assert.equal(errors.length, 1, JSON.stringify(filter));
      assert.deepEqual(statements, []);
    }
  });
});

describe("filters through relations", () => {
  const scopes = allScopes.filter((scope) => scope !== "batches:read");
  const wanted = { batches: { some: { number: { equals: "B-1" } } } };
  const list = "edges { node { productNumber } }";
  const asked: Record<string, [source: string, variables?: Record<string, unknown>]> = {
    literal: [`{ products(filter: { batches: { none: {} } }) { ${list} } }`],
    variable: [
      `query ($filter: ProductFilterInput) { products(filter: $filter) { ${list} } }`,
      { filter: wanted },
    ],
    default: [
      `query ($filter: ProductFilterInput = { OR: { batches: { every: {} } } }) { products(filter: $filter) { ${list} } }`,
    ],
    "variable within": [
      `query ($batches: BatchListFilter) { products(filter: { NOT: { batches: $batches } }) { ${list} } }`,
      { batches: { every: {} } },
    ],
    "list within": [
      `query ($all: [ProductFilterInput!]) { products { edges { node { children(filter: { AND: $all }) { ${list} } } } } }`,
      { all: [{ parent: { AND: wanted } }] },
    ],
  };
  for (const [what, [source, variables = {}]] of Object.entries(asked)) {
    it(`are refused without the scope of the relation, before anything runs: ${what}`, async () => {
      const { data, errors, statements } = await sample.run(source, { variables, scopes });
      assert.equal(data, null);
      assert.deepEqual([errors[0]!.code, statements], ["FORBIDDEN", []]);
      const { missingScopes } = errors[0]!.extensions as any;
      assert.deepEqual(missingScopes[0].anyOf, ["batches:read"]);
      assert.equal(missingScopes[0].field, "ProductFilterInput.batches");
      assert.deepEqual((await sample.run(source, { variables })).errors, []);
    });
  }

  it("need the scopes of each relation, and only of those that are given", async () => {
    const source = `query ($filter: ProductFilterInput) { products(filter: $filter) { ${list} } }`;
    const deep = { batches: { some: { location: {} } } };
    const withoutAudits = allScopes.filter((scope) => scope !== "audits:read");
    const { errors } = await sample.run(source, { variables: { filter: deep }, scopes: withoutAudits });
    assert.match(errors[0]!.message, /BatchFilterInput\.location needs locations:read, and audits:read/);
    for (const filter of [{ parent: {} }, {}, null]) {
      const answer = await sample.run(source, { variables: { filter }, scopes });
      assert.deepEqual(answer.errors, []);
    }
    assert.equal((await sample.run(source, { variables: { filter: wanted }, scopes })).data, null);
  });

  it("are of what a live query looks at", () => {
    const document = parse(
      "query ($f: [ProductFilterInput!]) { products(filter: { OR: $f }) { edges { cursor } } }",
    );
    const seen = (f: unknown) => [
      ...findTypesRead({ schema: sample.schema, document, operationName: null, variables: { f } }),
    ];
    assert.deepEqual(seen([]), ["ProductConnection", "ProductEdge", "Query"]);
    assert.deepEqual(seen([{ batches: { some: { location: {} } } }]).slice(3), ["Batch", "Location"]);
  });

  it("don't exist where no index answers, nor where lists take no filter", async () => {
    for (const [type, name] of [
      ["Tag", "products"],
      ["Currency", "prices"],
    ])
      assert.equal(
        (sample.schema.getType(`${type}FilterInput`) as GraphQLInputObjectType).getFields()[name!],
        undefined,
      );
    const unindexed = await openSample({
      sql: "comment on column sample_api.batches.product_id is '@notNull'",
    });
    try {
      const { errors } = await unindexed.run(`{ products(filter: { batches: { some: {} } }) { ${list} } }`);
      assert.match(errors[0]!.message, /"batches" is not defined by type "ProductFilterInput"/);
    } finally {
      await unindexed.close();
    }
  });

  it("find by the index of the join, behind row-level security too", async () => {
    const results = await sample.sql(`
      set local enable_seqscan = off;
      set local enable_hashjoin = off;
      set local enable_mergejoin = off;
      set local role plugin_sample_caller;
      explain select from sample_api.products p
      where exists(select from sample_api.batches b where b.product_id = p.id and b.number = 'B-1')
    `);
    assert.match(JSON.stringify(results), /batch_product_id_id_idx/);
  });
});

describe("filters of nested lists", () => {
  it("apply to each parent's entries", async () => {
    const { data, errors } = await sample.run(`{ products(first: 3) { edges { node {
      tags(filter: { name: { endsWith: "2" } }) { edges { node { name } } }
      batches(filter: { OR: [{ number: { in: ["B-1", "B-6"] } }, { state: { equals: Closed } }] }) { edges { node { number } } }
    } } } }`);
    assert.deepEqual(errors, []);
    const found = data.products.edges.map(({ node }: any) => ({
      tags: node.tags.edges.map((edge: any) => edge.node.name),
      batches: node.batches.edges.map((edge: any) => edge.node.number),
    }));
    assert.deepEqual(found, [
      { tags: ["tag-2"], batches: ["B-1", "B-2"] },
      { tags: ["tag-2"], batches: ["B-5", "B-6", "B-8"] },
      { tags: ["tag-2"], batches: ["B-11"] },
    ]);
  });

  it("don't exist where the tag @noFilter forbids them", async () => {
    const { errors } = await sample.run(
      `{ tags { edges { node { products(filter: {}) { edges { cursor } } } } } }`,
    );
    assert.match(errors[0]!.message, /Unknown argument "filter"/);
  });
});

describe("filters in SQL", () => {
  it("are plain predicates with parameters, so that indexes serve them and values need no new plan", async () => {
    const source = `query ($filter: ProductFilterInput) { products(filter: $filter) { edges { cursor } } }`;
    const text = async (filter: unknown) =>
      (await sample.run(source, { variables: { filter } })).statements.join();
    const one = await text({
      id: { equals: product(1) },
      productNumber: { startsWith: "P" },
      stock: { in: [1] },
    });
    assert.match(one, /"id" = \$1::"uuid"/);
    assert.match(
      one,
      /"product_number" >= \$2::"text" collate "C" and \S+"product_number" < \$3::"text" collate "C"/,
    );
    assert.match(one, /"stock" = any\(\$4::"int4"\[\]\)/);
    assert.equal(
      await text({ id: { equals: product(2) }, productNumber: { startsWith: "Q" }, stock: { in: [1, 2] } }),
      one,
    );
  });

  it("find a text's beginning through the index, behind row-level security too", async () => {
    const results = await sample.sql(`
      create index on sample.product (product_number);
      set local enable_seqscan = off;
      set local role plugin_sample_caller;
      explain select from sample_api.products
      where product_number >= 'P-00' collate "C" and product_number < 'P-01' collate "C"
    `);
    assert.match(JSON.stringify(results), /Index Cond:.*>= 'P-00'/);
  });
});

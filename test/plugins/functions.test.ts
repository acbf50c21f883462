import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { openSample } from "./support.ts";

const orchard = await readFile(new URL("any-schema.sql", import.meta.url), "utf8");

describe("stable functions", () => {
  let service: TestService;
  let token: string;
  before(async () => {
    service = await startService({
      async before(owner) {
        await owner.query(orchard);
        await owner.query("select api_meta.finish_migration()");
      },
    });
    token = await service.token({ read: ["trees", "apples"] });
  });
  after(() => service.close());

  /** Asks both ways, which have to answer the same: introspection beside it is none of a statement's. */
  async function ask(fields: string, variables: Record<string, unknown> = {}, head = "", as = token) {
    const byStatement = await service.ask(as, { query: `query ${head} { ${fields} }`, variables });
    const query = `query ${head} { ${fields} __schema { queryType { name } } }`;
    const byGrafast = await service.ask(as, { query, variables });
    if (byStatement.codes.length === 0) {
      assert.equal(byStatement.headers.get("x-read-by"), "sql");
      assert.equal(byGrafast.headers.get("x-read-by"), "grafast");
    }
    delete byGrafast.body.data?.__schema;
    assert.deepEqual(byGrafast.body.data, byStatement.body.data);
    assert.deepEqual(byGrafast.codes, byStatement.codes);
    return byStatement;
  }
  const nodes = ({ edges }: any) => edges.map(({ node }: any) => node);

  it("over a row with arguments are fields; an argument that isn't given has its default", async () => {
    const { body } = await ask(
      `trees(first: 2) { edges { node { feet: heightIn(divisor: "0.3048", unit: $unit) heightIn(divisor: "1") } } }`,
      { unit: "ft" },
      "($unit: String)",
    );
    assert.deepEqual(nodes(body.data.trees), [
      { feet: "10.663 ft", heightIn: "3.25 m" },
      { feet: "8.202 ft", heightIn: "2.5 m" },
    ]);
    const { codes } = await ask("trees { edges { node { heightIn } } }");
    assert.deepEqual(codes, ["GRAPHQL_VALIDATION_FAILED"]);
    const omitted = await ask(
      `trees(first: 1) { edges { node { heightIn(divisor: "1", unit: $unit) } } }`,
      {},
      "($unit: String)",
    );
    assert.deepEqual(nodes(omitted.body.data.trees), [{ heightIn: "3.25 m" }]);
  });

  it("may require scopes of their own, and have another name", async () => {
    const riddle = "trees(first: 1) { edges { node { riddle(number: 7) } } }";
    assert.deepEqual((await ask(riddle)).codes, ["FORBIDDEN"]);
    const initiated = await service.token({ read: ["trees", "secrets"] });
    const { body } = await ask(riddle, {}, "", initiated);
    assert.deepEqual(nodes(body.data.trees), [{ riddle: "9007199254741000" }]);
    const { codes } = await ask("trees { edges { node { riddle(number: 32768) } } }", {}, "", initiated);
    assert.deepEqual(codes, ["BAD_USER_INPUT"]);
  });

  it("that return rows of a view are lists of a row, with pages and filters", async () => {
    const page = `first: 2, filter: { weightInGrams: { gt: 101 } }, after: $after`;
    const walk = async (after: string | null) => {
      const { body } = await ask(
        `trees(first: 1) { edges { node { ripeApples(day: "2026-09-05", ${page}) {
          edges { cursor node { id weightInGrams tree { sort } } } pageInfo { hasNextPage hasPreviousPage endCursor } } } } }`,
        { after },
        "($after: String)",
      );
      return nodes(body.data.trees)[0].ripeApples;
    };
    const first = await walk(null);
    assert.deepEqual(nodes(first), [
      { id: "gid://service/Apple/1/2", weightInGrams: 102, tree: { sort: "Boskoop" } },
      { id: "gid://service/Apple/1/3", weightInGrams: 103, tree: { sort: "Boskoop" } },
    ]);
    assert.deepEqual(first.pageInfo, {
      hasNextPage: true,
      hasPreviousPage: false,
      endCursor: first.edges[1].cursor,
    });
    const second = await walk(first.pageInfo.endCursor);
    assert.deepEqual(
      nodes(second).map(({ weightInGrams }: any) => weightInGrams),
      [104],
    );
    assert.deepEqual([second.pageInfo.hasNextPage, second.pageInfo.hasPreviousPage], [false, true]);
  });

  it("that return rows without taking one are lists at the root, by all kinds of arguments", async () => {
    const { body } = await ask(
      `heavyApples(weights: [304, 305], exceptOf: ["gid://service/Tree/1"], taste: sweet) {
         edges { node { id tree { heightIn(divisor: "1") ripeApples(day: "2026-09-03", atLeast: 2) { edges { node { number } } } } } } }
       none: heavyApples(weights: []) { edges { node { id } } }
       sour: heavyApples(weights: [1], taste: very_sour, first: 1) { edges { node { id } } }
       tallTrees { edges { node { sort } } }`,
    );
    const tree = { heightIn: "1.125 m", ripeApples: { edges: [{ node: { number: "2" } }] } };
    assert.deepEqual(nodes(body.data.heavyApples), [
      { id: "gid://service/Apple/3/4", tree },
      { id: "gid://service/Apple/3/5", tree },
    ]);
    assert.deepEqual(nodes(body.data.none), []);
    assert.deepEqual(nodes(body.data.sour), [{ id: "gid://service/Apple/1/1" }]);
    assert.deepEqual(nodes(body.data.tallTrees), [{ sort: "Boskoop" }, { sort: "Elstar" }]);
  });

  it("that return one row of a view are relations, with all that is known of the row", async () => {
    const apple = "appleBelow(weight: $weight, before: $before)";
    const { body } = await ask(
      `trees(first: 2) { edges { node { ${apple} { id weightInGrams tree { id riper: ripeApples(day: "2026-09-03") {
         edges { node { number } } } } } } } }
       treeOfSort(sort: "Elstar") { id heightIn(divisor: "1") appleBelow(weight: 1000) { number } }
       none: treeOfSort(sort: "Cox") { id }`,
      { weight: 205, before: "2026-09-04" },
      "($weight: Int!, $before: Date)",
    );
    const riper = { edges: [{ node: { number: "1" } }, { node: { number: "2" } }] };
    assert.deepEqual(nodes(body.data.trees), [
      {
        appleBelow: {
          id: "gid://service/Apple/1/2",
          weightInGrams: 102,
          tree: { id: "gid://service/Tree/1", riper },
        },
      },
      {
        appleBelow: {
          id: "gid://service/Apple/2/2",
          weightInGrams: 202,
          tree: { id: "gid://service/Tree/2", riper },
        },
      },
    ]);
    assert.deepEqual(body.data.treeOfSort, {
      id: "gid://service/Tree/2",
      heightIn: "2.5 m",
      appleBelow: { number: "5" },
    });
    assert.equal(body.data.none, null);
    const nothing = await ask("trees { edges { node { appleBelow(weight: 0) { id } } } }");
    assert.deepEqual(nodes(nothing.body.data.trees), Array(3).fill({ appleBelow: null }));
  });

  it("that return one row need the scopes of its view, or those that they name", async () => {
    const ofTrees = await service.token({ read: ["trees"] });
    const apple = "trees { edges { node { appleBelow(weight: 1000) { number } } } }";
    assert.deepEqual((await ask(apple, {}, "", ofTrees)).codes, ["FORBIDDEN"]);
    const next = "trees { edges { node { nextTree { sort } } } }";
    assert.deepEqual((await ask(next)).codes, ["FORBIDDEN"]);
    const initiated = await service.token({ read: ["trees", "secrets"] });
    const { body } = await ask(next, {}, "", initiated);
    assert.deepEqual(
      nodes(body.data.trees).map(({ nextTree }: any) => nextTree?.sort),
      ["Elstar", "Elstar", undefined],
    );
    for (const field of ["wholeCrop { apples }", "trees { edges { node { crop { apples } } } }"])
      assert.deepEqual((await ask(field, {}, "", ofTrees)).codes, ["FORBIDDEN"]);
    // Row-level security holds within functions, too
    const grown = await ask("trees { edges { node { growth { height } } } }", {}, "", ofTrees);
    assert.deepEqual(grown.codes, []);
  });

  it("that return a composite type are objects of it", async () => {
    const crop = "__typename treeId apples weight tastes lastDay";
    const { body } = await ask(
      `trees { edges { node { crop(since: "2026-09-05") { ${crop} } never: crop(since: "2027-01-01") { apples }
         growth { height grown } } } } wholeCrop { ${crop} }`,
    );
    assert.deepEqual(nodes(body.data.trees)[2], {
      crop: {
        __typename: "Crop",
        treeId: "gid://service/Tree/3",
        apples: "2",
        weight: "304.5",
        tastes: ["sweet"],
        lastDay: "2026-09-06",
      },
      never: null,
      growth: null,
    });
    assert.deepEqual(nodes(body.data.trees)[0].growth, { height: "1.75", grown: null });
    const whole = { treeId: null, apples: "15", weight: "3045", tastes: [], lastDay: "2026-09-06" };
    assert.deepEqual(body.data.wholeCrop, { __typename: "Crop", ...whole });
  });

  it("refuse what they can't take", async () => {
    for (const list of [
      `heavyApples(weights: [1], exceptOf: ["gid://service/Apple/1/1"])`,
      `heavyApples(weights: [1], exceptOf: ["gid://service/Tree/x"])`,
      `heavyApples(weights: [${"1,".repeat(251)}])`,
      `trees { edges { node { heightIn(divisor: "1", unit: "a\\u0000") } } } other: heavyApples(weights: [1])`,
    ]) {
      const { codes, body } = await ask(`${list} { edges { cursor } }`);
      assert.deepEqual(codes, ["BAD_USER_INPUT"], `${list} ${JSON.stringify(body)}`);
    }
    const { body, codes } = await ask(
      `trees(first: 1) { edges { node { ripeApples(day: "2026-09-05", atLeast: 101) { edges { cursor } } } } }`,
    );
    assert.deepEqual(codes, ["BAD_USER_INPUT"]);
    assert.match(body.errors[0].message, /value that isn't allowed/);
    const ofApples = await service.token({ read: ["apples"] });
    assert.deepEqual((await ask("tallTrees { edges { cursor } }", {}, "", ofApples)).codes, ["FORBIDDEN"]);
  });

  it("are cloned with the version that is released", async () => {
    const client = await service.owner.connect();
    await client.query("begin; select api_meta.freeze('api_unstable', 'api_2027_01')");
    const { rows } = await client.query(
      `select count(*)::int, min((api_2027_01.trees_apple_below(t, 1000)).weight_in_grams) as apple,
         (select apples::int from api_2027_01.whole_crop()) as apples,
         (select pg_typeof(api_2027_01.whole_crop())::text) as type
       from api_2027_01.trees t, api_2027_01.trees_ripe_apples(t, '2026-09-02')`,
    );
    await client.query("rollback");
    client.release();
    assert.deepEqual(rows, [{ count: 3, apple: 105, apples: 15, type: "api_2027_01.crop" }]);
  });

  it("are described by their comments, and deprecated by their tags", async () => {
    const { body } = await service.ask(token, {
      query: `{ __type(name: "Tree") { fields { name description args { name description type { kind } } } }
        query: __type(name: "Query") { fields(includeDeprecated: true) { name deprecationReason args { name } } }
        crop: __type(name: "Crop") { description fields(includeDeprecated: true) { name description deprecationReason type { kind } } } }`,
    });
    const { description, args } = body.data.__type.fields.find(({ name }: any) => name === "heightIn");
    assert.equal(description, "The height of the tree, in another unit.");
    assert.deepEqual(args, [
      { name: "divisor", description: "How many metres the unit has.", type: { kind: "NON_NULL" } },
      { name: "unit", description: "The unit.", type: { kind: "SCALAR" } },
    ]);
    const fields = new Map<string, any>(body.data.query.fields.map((field: any) => [field.name, field]));
    assert.equal(fields.get("heavyApples").deprecationReason, "Use apples. Deprecated since 2026-12-01.");
    assert.equal(fields.get("treeOfSort").deprecationReason, "Use trees. Deprecated since 2026-12-01.");
    assert.equal(body.data.crop.description, "What trees bear.");
    const [, apples, , , lastDay] = body.data.crop.fields;
    assert.deepEqual(apples, {
      name: "apples",
      description: "How many apples.",
      deprecationReason: null,
      type: { kind: "NON_NULL" },
    });
    assert.equal(lastDay.deprecationReason, "Ask the gardener. Deprecated since 2026-12-01.");
    assert.deepEqual(
      fields.get("tallTrees").args.map(({ name }: any) => name),
      ["first", "after", "last", "before", "orderBy"],
    );
  });
});

describe("two things that would have the same name", () => {
  const rows = "create function sample_api.";
  const cases: [sql: string, both: RegExp[]][] = [
    [
      `${rows}products() returns setof sample_api.products language sql stable begin atomic select * from sample_api.products; end`,
      [/named 'products'/, /a table\/view.*"sample_api"\."products"/, /a function accepting 0 parameters/],
    ],
    [
      `${rows}products_tags(p sample_api.products, name text) returns text language sql stable return name`,
      [
        /'tags'/,
        /many relation connection field/,
        /Adding the function sample_api\.products_tags to Product/,
      ],
    ],
  ];
  const tags = (view: string, more: string) =>
    `comment on view sample_api.${view} is E'@primaryKey id\\n@requiresScopes products:read${more}'`;
  cases.push(
    [
      `create view sample_api.product as select * from sample_api.products; ${tags("product", "")}`,
      [/the name Product: the view sample_api\.products?, and the view sample_api\.products?$/],
    ],
    [
      `create type sample_api.product as enum ('a');
       create view sample_api.things as select id, 'a'::sample_api.product as kind from sample_api.tags; ${tags("things", "")}`,
      [/the name Product: the view sample_api\.products, and the enum sample_api\.product$/],
    ],
    [
      `create view sample_api.things as select id, id as product_id from sample_api.tags;
       ${tags("things", "\\n@foreignKey (product_id) references products (id)|@fieldName product|@foreignFieldName tags")}`,
      [
        /the name Product\.tags: .*the relation back from sample_api\.things \(product_id\), and the @ref tags of sample_api\.products$/,
      ],
    ],
    [
      `create view sample_api.things as select id, name as "a_b", name as "aB" from sample_api.tags; ${tags("things", "")}`,
      [/the name Thing\.aB: the column sample_api\.things\.a_b, and the column sample_api\.things\.aB$/],
    ],
  );
  for (const [sql, both] of cases)
    it(`are told with both: ${both.join(" ")}`, async () => {
      const failure = await openSample({ sql }).then(
        async (sample) => (await sample.close(), null),
        (error: Error) => error,
      );
      assert.ok(failure, "it is refused");
      for (const each of both) assert.match(failure.message, each);
    });
});

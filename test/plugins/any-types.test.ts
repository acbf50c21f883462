import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

const orchard = await readFile(new URL("any-schema.sql", import.meta.url), "utf8");

describe("tables and columns of all sorts", () => {
  let service: TestService;
  let token: string;
  before(async () => {
    service = await startService({
      async before(owner) {
        await owner.query(orchard);
        await owner.query("select api_meta.finish_migration()");
      },
    });
    token = await service.token({ read: ["trees"] });
  });
  after(() => service.close());

  const ask = async (query: string, as = token) => {
    const answer = await service.ask(as, { query });
    if (answer.codes.length === 0) assert.equal(answer.headers.get("x-read-by"), "sql");
    return answer;
  };

  /** The crates that a filter finds, by both ways. */
  async function crates(filter: string): Promise<number[]> {
    const list = `harvests(filter: { ${filter} }) { edges { node { year crate } } }`;
    const { body } = await ask(`{ ${list} }`);
    assert.equal(body.errors, undefined, JSON.stringify(body.errors));
    const other = await service.ask(token, { query: `{ ${list} __schema { queryType { name } } }` });
    assert.deepEqual(other.body.data.harvests, body.data.harvests);
    return body.data.harvests.edges.map(({ node }: any) => (node.year === 2026 ? 3 : Number(node.crate)));
  }

  it("keep all digits of numbers in what mutations take and answer, by both ways", async () => {
    const writer = await service.token({ read: ["trees"], write: ["trees"] });
    const measure = (key: string) =>
      `${key}: treeMeasure(input: { treeId: "9007199254740993", amount: "12345678901234567890.1230" }) {
        number amount amounts notes userErrors { code } }`;
    const expected =
      '{"number":"9007199254740993","amount":"12345678901234567890.1230","amounts":["12345678901234567890.1230","1.50"],' +
      '"notes":{"d":1.10,"n":12345678901234567890},"userErrors":[]}';
    for (const keys of [["a"], ["a", "b"]]) {
      const { text } = await service.ask(writer, { query: `mutation { ${keys.map(measure).join(" ")} }` });
      for (const key of keys) assert.ok(text.includes(`"${key}":${expected}`), text);
    }
  });

  it("keep all digits of numbers in aggregates, by both ways", async () => {
    const list = `harvests {
      aggregates { sum { crate kilograms } average { crate kilograms } min { crate kilograms } max { crate kilograms } distinctCount { crate } }
      groupedAggregates(groupBy: [YEAR, CRATE]) { keys max { crate } } }`;
    const { body } = await ask(`{ ${list} }`);
    assert.deepEqual(body.data.harvests.aggregates, {
      sum: { crate: "9007199254740996", kilograms: "100012.500" },
      average: { crate: "3002399751580332.000000", kilograms: "33337.500000" },
      min: { crate: "1", kilograms: "0.001" },
      max: { crate: "9007199254740993", kilograms: "99999.999" },
      distinctCount: { crate: 3 },
    });
    const groups = body.data.harvests.groupedAggregates;
    assert.deepEqual(groups.at(-1), {
      keys: ["2026", "9007199254740993"],
      max: { crate: "9007199254740993" },
    });
    const other = await service.ask(token, { query: `{ ${list} __schema { queryType { name } } }` });
    assert.deepEqual(other.body.data.harvests, body.data.harvests);
  });

  it("are read: of a partitioned table, generated and identity columns, a materialized view", async () => {
    const { body } = await ask(`{
      harvests { edges { node { id year crate picker kilograms pounds tastes marks scales notes kept shelves } } }
      yearlyTotals { edges { node { id kilograms } } } }`);
    const [first, , third] = body.data.harvests.edges.map(({ node }: any) => node);
    assert.deepEqual(first, {
      ...{ id: "gid://service/Harvest/2025/1", year: 2025, crate: "1", picker: "Ada", kilograms: "12.500" },
      ...{ pounds: "27.55778277312500", tastes: ["sweet"], marks: ["red", "large"], scales: [1.5] },
      ...{ notes: { worms: 2, sold: { to: ["Bea"] } }, kept: "[2025-10-01,2026-02-01)", shelves: "[1,4)" },
    });
    assert.deepEqual([third.crate, third.tastes, third.notes], ["9007199254740993", null, null]);
    assert.deepEqual(
      body.data.yearlyTotals.edges.map(({ node }: any) => node),
      [
        { id: "gid://service/YearlyTotal/2025", kilograms: "12.501" },
        { id: "gid://service/YearlyTotal/2026", kilograms: "99999.999" },
      ],
    );
  });

  it("show nothing to a token without the scope, whatever they are made of", async () => {
    const other = await service.token({ read: ["apples"] });
    for (const list of ["harvests", "yearlyTotals"])
      assert.deepEqual((await ask(`{ ${list} { edges { cursor } } }`, other)).codes, ["FORBIDDEN"]);
    const client = await service.owner.connect();
    await client.query("begin; set local role service_api; set local service.scopes = 'apples:read'");
    for (const view of ["harvests", "yearly_totals"])
      assert.equal((await client.query(`select from api_unstable.${view}`)).rowCount, 0, view);
    await client.query("rollback");
    client.release();
  });

  /** A list of samples, by both ways. */
  async function samples(given: string, selected: string) {
    const list = `samples(first: 50 ${given}) { edges { node { ${selected} } } }`;
    const { body, text } = await service.ask(token, { query: `{ ${list} }` });
    const other = await service.ask(token, { query: `{ ${list} __schema { queryType { name } } }` });
    assert.deepEqual(other.body.data?.samples, body.data?.samples, text + other.text);
    return body;
  }

  it("have moments that are compared as they are shown: what a client has read and sends back means the same rows", async () => {
    const { rows } = await service.owner.query<{ id: string; moment: string }>(
      `select 'gid://service/Sample/' || sample_id as id,
         to_char(taken_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"') as moment
       from orchard.sample order by sample_id`,
    );
    const given = [...rows.flatMap(({ moment }) => [moment, moment.replace("+00", ".2+00")])];
    given.push("9999-12-31T23:59:59.5Z");
    for (const [operator, holds] of [
      ["after", (shown: number, moment: number) => shown > moment],
      ["before", (shown: number, moment: number) => shown < moment],
      ["equals", (shown: number, moment: number) => shown === moment],
    ] as const) {
      for (const moment of given) {
        const body = await samples(`filter: { takenAt: { ${operator}: "${moment}" } }`, "id takenAt");
        const found = body.data.samples.edges.map(({ node }: any) => [node.id, node.takenAt]);
        const expected = rows.filter((row) => holds(Date.parse(row.moment), Date.parse(moment)));
        assert.deepEqual(
          found,
          expected.map((row) => [row.id, row.moment]),
          `${operator} ${moment}`,
        );
      }
    }
  });

  it("have points, money, words and XML as texts", async () => {
    const body = await samples("", "spot price words note");
    assert.deepEqual(body.data.samples.edges[1].node, {
      ...{ spot: "(1,0.1)", price: "$90,071,992,547,409.93", words: "'a' 'cat' 'fat'", note: "<a/>" },
    });
    assert.match(JSON.stringify(body.data.samples.edges[1].node.price), /90,071,992,547,409\.93/);
  });

  it("have lists that hold null where the table does, and never where a check forbids it", async () => {
    const body = await samples("", "counts sure");
    assert.deepEqual(
      body.data.samples.edges.slice(-2).map(({ node }: any) => node),
      [
        { counts: [6], sure: ["a"] },
        { counts: [1, null], sure: ["a"] },
      ],
    );
    const { body: types } = await service.ask(token, {
      query: `{ __type(name: "Sample") { fields { name type { kind ofType { kind } } } } }`,
    });
    const kindOf = (name: string) => types.data.__type.fields.find((field: any) => field.name === name).type;
    assert.deepEqual(kindOf("counts"), { kind: "LIST", ofType: { kind: "SCALAR" } });
    assert.deepEqual(kindOf("sure"), { kind: "LIST", ofType: { kind: "NON_NULL" } });
  });

  it("of which a list of lists can't be shown: it fails, and isn't worth a repetition", async () => {
    await service.owner.query("update orchard.sample set counts = '{{1,2}}' where sample_id = 0");
    const body = await samples("", "counts");
    const [{ extensions }] = body.errors;
    assert.deepEqual([extensions.code, extensions.retryable], ["INTERNAL_SERVER_ERROR", false]);
    await service.owner.query("update orchard.sample set counts = '{1}' where sample_id = 0");
  });

  it("are searched in a schema of their own", async () => {
    const { body } = await ask(`{ visitors(search: "apfel") { edges { node { name } } } }`);
    assert.deepEqual(body.data, { visitors: { edges: [{ node: { name: "Ada Apfel" } }] } });
  });

  it("are refused with the view and its tag, if the table has not what is searched", async () => {
    const client = await service.owner.connect();
    await client.query("begin");
    await client.query(`create view api_unstable.guests with (security_invoker = true) as
      select id as guest_id, id, name as title from orchard.visitor;
      comment on view api_unstable.guests is E'@primaryKey id\\n@requiresScopes trees:read\\n@search title\\nGuests.'`);
    await assert.rejects(
      client.query("select api_meta.finish_migration()"),
      /@search of api_unstable\.guests can't be derived: orchard\.visitor has no column title/,
    );
    await client.query("rollback");
    client.release();
  });

  it("have orders, although the view has another name for their key", async () => {
    const dates = async (order: string) => {
      const { body } = await ask(`{ samples(first: 50, orderBy: ${order}) { edges { node { id } } } }`);
      return body.data.samples.edges.map(({ node }: any) => node.id);
    };
    const ascending = await dates("TAKEN_AT_ASC");
    assert.equal(ascending[0], "gid://service/Sample/0");
    assert.deepEqual(await dates("TAKEN_AT_DESC"), ascending.toReversed());
  });

  const found: [filter: string, crates: number[]][] = [
    [`marks: { contains: ["red"] }`, [1, 3]],
    [`marks: { contains: ["red", "large"] }`, [1]],
    [`marks: { contains: [] }`, [1, 2, 3]],
    [`marks: { overlaps: ["large", "small"] }`, [1]],
    [`marks: { isEmpty: true }`, [2]],
    [`tastes: { overlaps: [very_sour] }`, [2]],
    [`tastes: { isNull: true }`, [3]],
    [`NOT: { tastes: { contains: [sweet] } }`, []],
    [`scales: { contains: [1.5], isEmpty: false }`, [1]],
    [`notes: { contains: { sold: { to: ["Bea"] } } }`, [1]],
    [`notes: { contains: ["worms"] }`, [2]],
    [`notes: { hasKey: "worms" }`, [1, 2]],
    [`notes: { isNull: false }`, [1, 2]],
    [`kept: { contains: "2026-01-31" }`, [1]],
    [`kept: { contains: "2030-01-01" }`, [3]],
    [`kept: { overlaps: "[2026-01-01,)" }`, [1, 3]],
    [`shelves: { contains: 3 }`, [1, 2]],
    [`picker: { equals: "ADA" }`, [1, 2]],
    [`picker: { in: ["bEA"] }`, [3]],
    [`picker: { startsWith: "A" }`, [1]],
    [`kilograms: { gte: "99999.999" }`, [3]],
    [`crate: { equals: "9007199254740993" }`, [3]],
  ];
  for (const [filter, expected] of found)
    it(`are filtered: ${filter}`, async () => assert.deepEqual(await crates(filter), expected));

  it("have events whose numbers lose no digit, in order by keys that are no uuids", async () => {
    await service.owner.query(`
      delete from events.outbox;
      delete from events.event;
      update orchard.tree set height = height + 0.000000000000000001 where id = 1;
      insert into orchard.harvest (year, crate, picker, kilograms, tastes) values (2026, 7, 'a/b%', 1, '{sweet}');
      update orchard.harvest set kilograms = 1.25, notes = '[1]' where crate = 7;
      delete from orchard.harvest where crate = 7;`);
    const { rows } = await service.owner.query(
      `select topic, entity_id, data, changed_fields, events.schema(topic) as schema
       from (select * from events.outbox union all
         select sequence, topic, subject_id, entity_id, data, changed_fields, cause, occurred_at from events.event) e
       order by topic, position`,
    );
    const sold = {
      id: "gid://service/Harvest/2026/7",
      crate: "7",
      pickerId: "gid://service/Picker/a%2Fb%25",
    };
    const nothing = { kept: null, notes: null };
    const grown = { id: "gid://service/Tree/1", sort: "Boskoop", height: "3.250000000000000001" };
    assert.deepEqual(
      rows.map(({ topic, data, changed_fields: changed }) => [topic, data, changed]),
      [
        ["harvest.changed", { ...sold, ...nothing, kilograms: "1.000", tastes: ["sweet"] }, null],
        [
          "harvest.changed",
          { ...sold, kept: null, notes: [1], kilograms: "1.250", tastes: ["sweet"] },
          ["kilograms", "notes"],
        ],
        ["harvest.deleted", { ...sold, kept: null, notes: [1], kilograms: "1.250", tastes: ["sweet"] }, null],
        ["tree.changed", grown, ["height"]],
      ],
    );
    const ofCrate = rows.slice(0, 3).map(({ entity_id: entity }) => entity);
    assert.equal(new Set(ofCrate).size, 1);
    assert.notEqual(ofCrate[0], rows[3].entity_id);
    for (const { data, schema } of rows) {
      const validate = new Ajv2020({ strictTypes: false, formats: { date: true } }).compile(
        schema.properties.data,
      );
      assert.ok(validate(data), JSON.stringify(validate.errors));
    }
  });

  it("have ids in events as in the API, whatever their keys are made of", async () => {
    await service.owner.query(
      `insert into orchard.reading values ('2026-05-05T10:00:00.25+02', '\\x2f25', 7), ('2026-05-05T10:00:00Z', '', 8)`,
    );
    const { body } = await ask("{ readings { edges { node { id } } } }");
    const shown = body.data.readings.edges.map(({ node }: any) => node.id);
    const { rows } = await service.owner.query(
      `select data ->> 'id' as id from events.outbox where topic = 'reading.taken'
       union all select data ->> 'id' from events.event where topic = 'reading.taken'`,
    );
    assert.deepEqual(rows.map(({ id }) => id).sort(), shown.toSorted());
    for (const id of shown) {
      const { body: answer } = await ask(`{ node(id: ${JSON.stringify(id)}) { id } }`);
      assert.equal(answer.data?.node?.id, id, JSON.stringify(answer));
    }
  });

  it("are filtered by what their types have, and nothing else", async () => {
    for (const [filter, code] of [
      [`marks: { contains: [null] }`, "GRAPHQL_VALIDATION_FAILED"],
      [`marks: { equals: ["red"] }`, "GRAPHQL_VALIDATION_FAILED"],
      [`marks: { contains: null }`, "BAD_USER_INPUT"],
      [`marks: { contains: [${`"x",`.repeat(251)}] }`, "BAD_USER_INPUT"],
      [`kept: { contains: "2026-02-30" }`, "GRAPHQL_VALIDATION_FAILED"],
      [`notes: { contains: { a: "\\u0000" } }`, "BAD_USER_INPUT"],
      [`shelves: { contains: "3" }`, "GRAPHQL_VALIDATION_FAILED"],
    ]) {
      const { codes } = await ask(`{ harvests(filter: { ${filter} }) { edges { cursor } } }`);
      assert.ok(codes.length > 0 && codes.every((one) => one === code), `${filter}: ${codes.join()}`);
    }
  });
});

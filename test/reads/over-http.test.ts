import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { versions } from "../../src/versions/versions.ts";
import { readCounts } from "../../src/reads/answer-by-statement.ts";
import { startService } from "../lib/service.ts";
import type { HttpAnswer, AskOptions, TestProcess, TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";

let service: TestService;
/** The same with FAST_READS=false. */
let grafastOnly: TestProcess;
let token: string;
before(async () => {
  service = await startService({ versions, template: "template_demo" });
  grafastOnly = await service.another({ versions, settings: { explorer: false, fastReads: false } });
  token = await service.token();
});
after(() => service.close());

/** Headers except those that differ in each answer. */
function headersOf({ headers }: HttpAnswer): Record<string, string> {
  const shown = Object.fromEntries(headers);
  for (const name of ["date", "x-request-id", "x-read-by", "ratelimit", "keep-alive"]) delete shown[name];
  return shown;
}

const ids = "x-request-id";
async function bothWays(body: unknown, { headers = {}, ...more }: AskOptions = {}, caller = token) {
  const options = { ...more, headers: { [ids]: "same", ...headers } };
  const [bySql, byGrafast] = [
    await service.ask(caller, body, options),
    await grafastOnly.ask(caller, body, options),
  ];
  assert.equal(bySql.text, byGrafast.text);
  assert.equal(bySql.status, byGrafast.status);
  assert.deepEqual(headersOf(bySql), headersOf(byGrafast));
  return bySql;
}

const list = `query ($first: Int = 3) {
  products(first: $first) { edges { cursor node { id name price { net } tags(first: 1) { edges { node { name } } } } } pageInfo { hasNextPage } }
}`;

describe("a read by one statement", () => {
  it("says so in unstable, and only there", async () => {
    const head = await service.ask(token, { query: list });
    assert.equal(head.headers.get("x-read-by"), "sql");
    const frozen = await service.ask(token, { query: list }, { version: "2026-06-unstable" });
    assert.equal(frozen.headers.get("x-read-by"), null);
    const both = "{ __schema { queryType { name } } countrys { edges { node { id } } } }";
    assert.equal((await service.ask(token, { query: both })).headers.get("x-read-by"), "grafast");
    assert.equal((await grafastOnly.ask(token, { query: list })).headers.get("x-read-by"), null);
  });

  it("answers filters of any size that a client sends", async () => {
    const OR = Array.from({ length: 250 }, (_, n) => ({ productNumber: { contains: `${n}` } }));
    const query =
      "query ($OR: [ProductFilterInput!]) { products(filter: { OR: $OR }) { edges { node { name } } } }";
    const answer = await bothWays({ query, variables: { OR } });
    assert.equal(answer.headers.get("x-read-by"), "sql");
    assert.ok(answer.body.data.products.edges.length > 0);
  });

  it("answers filters through relations, which need their scopes and cost three points each", async () => {
    const query = `query ($filter: OrderFilterInput) { orders(first: 10, filter: $filter) {
      totalCount { count } aggregates { count } edges { node { state customer { id email } lineItems { edges { node { product { id } } } } } } } }`;
    const find = async (filter: object) => {
      const { body, headers, text } = await bothWays({ query, variables: { filter } });
      assert.equal(headers.get("x-read-by"), "sql", text);
      const { totalCount, aggregates, edges } = body.data.orders;
      assert.equal(aggregates.count, totalCount.count);
      return {
        ...totalCount,
        orders: edges.map(({ node }: any) => node),
        cost: body.extensions.cost.requested,
      };
    };
    const withCustomer = await find({ customer: {} });
    const [{ customer, lineItems }] = withCustomer.orders;
    const [
      {
        node: { product },
      },
    ] = lineItems.edges;
    const own = await find({
      customer: { email: { equals: customer.email } },
      state: { in: ["completed", "open"] },
    });
    assert.ok(own.count > 0 && own.count < withCustomer.count);
    assert.deepEqual([...new Set(own.orders.map((order: any) => order.customer.id))], [customer.id]);
    const byId = await find({ customerId: { equals: customer.id } });
    const under = await bothWays({
      query: `query ($id: ID!) { customer(id: $id) { orders(filter: { lineItems: { some: {} } }) {
      totalCount { count } } } }`,
      variables: { id: customer.id },
    });
    assert.equal(under.body.data.customer.orders.totalCount.count, byId.count);
    const sold = await find({ lineItems: { some: { productId: { equals: product.id } } } });
    const others = await find({ lineItems: { none: { product: { id: { equals: product.id } } } } });
    assert.ok(sold.count > 0 && others.count > 0);
    assert.equal(sold.count + others.count, (await find({})).count);
    assert.equal(withCustomer.cost, (await find({})).cost + 3);
    assert.equal((await find({ lineItems: { some: {}, every: {} } })).cost, withCustomer.cost + 3);

    const stranger = await service.token({ read: ["orders", "currencies"] });
    const few = "query ($filter: OrderFilterInput) { orders(filter: $filter) { edges { node { state } } } }";
    const filter = {
      OR: [{ state: { equals: "open" } }, { NOT: { customer: { email: { startsWith: "a" } } } }],
    };
    const { codes, body } = await bothWays({ query: few, variables: { filter } }, {}, stranger);
    assert.deepEqual(codes, ["FORBIDDEN"]);
    assert.equal(body.errors[0].extensions.missingScopes[0].field, "OrderFilterInput.customer");
    const allowed = {
      lineItems: { every: { quantity: { gt: 0 } } },
      currency: { isoCode: { equals: "EUR" } },
    };
    assert.ok(
      (await bothWays({ query: few, variables: { filter: allowed } }, {}, stranger)).body.data.orders.edges
        .length > 0,
    );
  });

  it("has the same status, headers and body as otherwise", async () => {
    const choices: AskOptions[] = [
      {},
      { headers: { accept: "application/json" } },
      { headers: { accept: "application/graphql-response+json" } },
      { headers: { accept: "*/*", "accept-language": "de-AT, en;q=0.5" } },
      { version: "2026-06-unstable" },
    ];
    for (const options of choices) {
      await bothWays({ query: list }, options);
      await bothWays({ query: list, variables: { first: 1 } }, options);
      await bothWays({ query: "{ __typename }" }, options);
    }
  });

  it("gives the same answer for any variable of @skip or @include", async () => {
    const query = `query ($on: Boolean = true) {
      products(first: 2) { edges { node { id name @include(if: $on) gtin @skip(if: $on) } } }
    }`;
    for (const variables of [{}, { on: true }, { on: false }, { on: null }])
      await bothWays({ query, variables });
  });

  it("is refused for the same reasons, in the same words", async () => {
    const few = await service.token({ read: ["currencies"] });
    const refused: [unknown, string, string?][] = [
      [{ query: list, variables: { first: 251 } }, "PAGE_SIZE_EXCEEDED"],
      [{ query: list, variables: { first: "x" } }, "BAD_USER_INPUT"],
      [{ query: '{ products(after: "x") { edges { cursor } } }' }, "CURSOR_INVALID"],
      [{ query: '{ product(id: "x") { id } }' }, "BAD_USER_INPUT"],
      [{ query: "{ products(filter: { gtin: null }) { edges { cursor } } }" }, "BAD_USER_INPUT"],
      [{ query: list }, "FORBIDDEN", few],
      [{ query: `query A ${list.slice(5)} query B { __typename }`, operationName: "C" }, "BAD_USER_INPUT"],
      [{ query: "{ products { edges { nope } } }" }, "GRAPHQL_VALIDATION_FAILED"],
      [
        { query: `{ products { edges { node { ${"parent { ".repeat(12)} id ${"} ".repeat(12)} } } } }` },
        "QUERY_TOO_DEEP",
      ],
    ];
    for (const [body, code, caller] of refused) {
      const modern = { headers: { accept: "application/graphql-response+json" } };
      for (const options of [{}, modern]) {
        const { codes, text } = await bothWays(body, options, caller);
        assert.deepEqual(codes, [code], text);
      }
    }
  });

  it("is never taken for another operation, however many flags they have", async () => {
    // A separate service, so that its counts begin at 0
    const fresh = await service.another();
    for (let number = 0; number < 120; number++) {
      const flags = Array.from({ length: number < 12 ? 2 : 1 }, (_, i) => `f${i}`);
      const query =
        `query (${flags.map((flag) => `$${flag}: Boolean!`).join()}) { own${number}: __typename ` +
        `${flags.map((flag) => `${flag}: __typename @include(if: $${flag})`).join(" ")} }`;
      for (const isSet of [true, false]) {
        const variables = Object.fromEntries(flags.map((flag) => [flag, isSet]));
        const { body } = await fresh.ask(token, { query, variables });
        assert.deepEqual(Object.keys(body.data), [`own${number}`, ...(isSet ? flags : [])]);
      }
    }
  });

  it("is counted", async () => {
    const before = { ...readCounts };
    await service.ask(token, { query: list });
    await service.ask(token, { query: '{ product(id: "x") { id } }' });
    assert.deepEqual(readCounts, { sql: before.sql + 1, grafast: before.grafast + 1 });
  });

  it("follows the schema when that is built again", async () => {
    const query = "{ currencies(first: 1) { edges { node { isoCode } } } }";
    const before = await service.ask(token, { query });
    await service.app.reload();
    const afterwards = await service.ask(token, { query });
    assert.equal(afterwards.headers.get("x-read-by"), "sql");
    assert.equal(afterwards.text, before.text);
  });

  it("is one transaction: several root fields see the data of one moment", async () => {
    const query =
      "{ a: currencies(first: 50) { edges { node { factor } } } b: currencies(first: 50) { edges { node { factor } } } }";
    let stop = false;
    const writing = (async () => {
      for (let i = 1; !stop; i++)
        await service.owner.query("update erp.currency set factor = $1 where iso_code <> 'EUR'", [i]);
    })();
    try {
      for (let i = 0; i < 100; i++) {
        const { body } = await service.ask(token, { query });
        assert.deepEqual(body.data.a, body.data.b);
      }
    } finally {
      stop = true;
      await writing;
    }
  });
});

describe("a read that fails in the database", () => {
  let locker: pg.PoolClient | undefined;
  const lock = async () => {
    locker = await service.owner.connect();
    await locker.query("begin; lock table erp.currency in access exclusive mode");
  };
  const unlock = async () => {
    await locker?.query("rollback");
    locker?.release();
    locker = undefined;
  };
  const queries = [
    "{ currencies { edges { node { id } } } }",
    `query ($id: ID!) { currency(id: $id) { id } twice: node(id: $id) { id } }`,
  ];
  const variables = { id: "gid://service/Currency/01990000-0000-7000-8000-000000000000" };

  // Whatever else a request asks Postgres may take a while on a busy machine, but waits for no lock
  for (const [setting, ms, code] of [
    ["statement_timeout", 500, "QUERY_TIMEOUT"],
    ["lock_timeout", 60, "CONFLICT_RETRY"],
  ] as const) {
    it(`by ${setting} is answered like others, without trying again`, async () => {
      const limited = await Promise.all(
        [true, false].map(async (fastReads) => {
          const process = await service.another({ settings: { explorer: false, fastReads } });
          process.apiPool.on("acquire", (client) => void client.query(`set ${setting} = ${ms}`));
          return process;
        }),
      );
      // So that only the read itself meets the lock
      for (const process of limited)
        await until(
          async () => (await process.ask(token, { query: queries[0], variables })).codes.length === 0,
        );
      await lock();
      try {
        for (const query of queries) {
          const [bySql, byGrafast] = await Promise.all(
            limited.map((process) =>
              process.ask(token, { query, variables }, { headers: { [ids]: "same" } }),
            ),
          );
          assert.equal(bySql!.text, byGrafast!.text);
          assert.ok(bySql!.codes.length > 0 && bySql!.codes.every((found) => found === code));
        }
      } finally {
        await unlock();
      }
    });
  }

  it("by a lost connection is answered like others, and the next one is read", async () => {
    await lock();
    try {
      const held = service.ask(token, { query: queries[0] });
      let isDone = false;
      void held.then(() => (isDone = true));
      await until(async () => {
        await grafastOnly.apiPool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and usename = 'service_api_login'`,
        );
        return isDone;
      });
      const { codes, body } = await held;
      assert.deepEqual(codes, ["SERVICE_UNAVAILABLE"]);
      assert.deepEqual([body.data, body.errors[0].path], [null, ["currencies"]]);
    } finally {
      await unlock();
    }
    assert.deepEqual((await service.ask(token, { query: queries[0] })).codes, []);
  });

  it("by deadlocks, one after the other, is read again, since they undid nothing", async () => {
    // A read locks the view, then the table. These lock the table first, and wait longer: Postgres ends the read, unless
    // that has waited a second before the deadlock is there, since it looks for one once only
    const migrations = await Promise.all(
      [1, 2].map(async () => {
        const client = new pg.Client({ connectionString: service.adminUrl });
        await client.connect();
        // Not in the transaction, which would undo it
        await client.query("set deadlock_timeout = '4s'");
        await client.query("begin");
        return client;
      }),
    );
    const [first, second] = migrations as [pg.Client, pg.Client];
    const lockTable = "lock table erp.currency in access exclusive mode";
    // Without rights on the view, only itself would be locked
    const lockView = "drop view api_unstable.currencies cascade";
    const waiting = (client: pg.Client, count: number) =>
      until(async () => {
        const { rowCount } = await client.query(
          `select from pg_locks where relation = 'erp.currency'::regclass and not granted
             and database = (select oid from pg_database where datname = current_database())`,
        );
        return rowCount === count;
      });
    /** Asks for the view when others wait for the table. Returns whether Postgres has ended the read for that. */
    const endsRead = async (migration: pg.Client, others: number) => {
      await waiting(migration, others);
      const isLocked = await migration.query(lockView).then(
        () => true,
        ({ code }) => (assert.equal(code, "40P01"), false),
      );
      await migration.query("rollback; begin");
      return isLocked;
    };
    const endBoth = async (process: TestProcess) => {
      await first.query(lockTable);
      const read = process.ask(token, { query: queries[0] });
      await waiting(first, 1);
      const next = second.query(lockTable);
      const isEnded = await endsRead(first, 2);
      await next;
      const isEndedAgain = isEnded && (await endsRead(second, 1));
      await second.query("rollback; begin");
      assert.deepEqual((await read).codes, []);
      return isEndedAgain;
    };
    try {
      for (const process of [service, grafastOnly]) await until(() => endBoth(process));
    } finally {
      await Promise.all(migrations.map((client) => client.end()));
    }
  });

  it("by anything else is tried again by Grafast, which says what is wrong", async () => {
    await service.owner.query("revoke select on api_unstable.currencies from service_api");
    try {
      const { codes, body } = await bothWays({ query: queries[0] });
      assert.deepEqual(codes, ["INTERNAL_SERVER_ERROR"]);
      assert.deepEqual(body.errors[0].path, ["currencies"]);
    } finally {
      await service.owner.query("grant select on api_unstable.currencies to service_api");
    }
  });
});

it("a thousand reads at once, of other callers, in other languages, with errors between, leak nothing", async () => {
  const crowded = await service.another({ poolSize: 3 });
  crowded.apiPool.options.connectionTimeoutMillis = 60_000;
  const few = await service.token({ read: ["countries"] });
  const query = "{ countrys(first: 20) { edges { node { id name } } } }";
  const expected = new Map<string, string>();
  for (const locale of ["en-GB", "de-DE"]) {
    const { text } = await grafastOnly.ask(token, { query }, { headers: { "accept-language": locale } });
    expected.set(locale, text);
  }
  assert.notEqual(expected.get("en-GB"), expected.get("de-DE"));
  const product = (
    await grafastOnly.ask(token, { query: "{ products(first: 1) { edges { node { id } } } }" })
  ).body.data.products.edges[0].node.id;
  const node = "query ($id: ID!) { node(id: $id) { id } }";
  const failing = '{ products(after: "x") { edges { cursor } } }';
  const one = async (i: number) => {
    const locale = i % 2 === 0 ? "en-GB" : "de-DE";
    const caller = i % 3 === 0 ? few : token;
    const headers = { "accept-language": locale, [ids]: "same" };
    if (i % 5 === 0) {
      // Row-level security hides it
      const { body } = await crowded.ask(caller, { query: node, variables: { id: product } }, { headers });
      return assert.deepEqual(body.data, { node: caller === token ? { id: product } : null });
    }
    if (i % 7 === 0) {
      const { codes } = await crowded.ask(caller, { query: failing }, { headers });
      return assert.deepEqual(codes, [caller === token ? "CURSOR_INVALID" : "FORBIDDEN"]);
    }
    const { text } = await crowded.ask(caller, { query }, { headers });
    assert.equal(text, expected.get(locale));
  };
  const clients = Array.from({ length: 50 }, async (_, client) => {
    for (let i = 0; i < 20; i++) await one(client * 20 + i);
  });
  await Promise.all(clients);
});

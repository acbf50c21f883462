import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { runCommand } from "../commands/process.ts";
import { query, startService } from "../lib/service.ts";
import type { TestProcess, TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";

let service: TestService;
let other: TestProcess;
let token: string;
before(async () => {
  service = await startService({ versions });
  other = await service.another();
  token = await service.token({ write: "all" });
});
after(() => service.close());

const setPlan = (plan: string, limits: object | null = null) =>
  service.owner.query("select auth.set_plan($1, $2)", [plan, limits && JSON.stringify(limits)]);
afterEach(() => setPlan("full", {}));

const create = `mutation { warehouseCreate(input: { name: "Annex", code: "X1" }) { warehouse { id } userErrors { code } } }`;
const warehouses = async () => (await service.owner.query("select from erp.warehouse")).rowCount;

/** The answers of both processes, after both got the notification. */
async function both(document: string, isExpected: (status: number, codes: string[]) => boolean) {
  for (const process of [service, other]) {
    await until(async () => {
      const { status, codes } = await process.ask(token, { query: document });
      return isExpected(status, codes);
    });
  }
}

test("without the API in the plan, everything is refused with 402, at once and in every process", async () => {
  await both(query, (status) => status === 200);
  await setPlan("none");
  await both(query, (status, codes) => status === 402 && codes.join() === "SERVICE_GRAPHQL__API_DISABLED");
  const answers = [
    await service.ask(null, { query }),
    await service.ask(token, undefined, { method: "GET" }),
    await service.ask("nonsense", "{", {}),
    await service.ask(token, { query }, { version: "2026-06-unstable" }),
  ];
  for (const { status, body } of answers) {
    assert.equal(status, 402);
    const [{ status: inBody, code, title, detail }, ...more] = body.errors;
    assert.deepEqual([inBody, code, more], ["402", "SERVICE_GRAPHQL__API_DISABLED", []]);
    assert.ok(title && detail);
  }
  const unknown = await service.ask(token, { query }, { version: "2020-01" });
  assert.equal(unknown.status, 400);
});

test("neither are there tokens then", async () => {
  const credentials = await service.credential();
  await setPlan("none");
  await until(async () => (await service.ask(token, { query })).status === 402);
  await assert.rejects(service.tokenFor(credentials), /402/);
});

test("with a read-only plan queries work, and mutations are refused and do nothing", async () => {
  await setPlan("read_only");
  await both(create, (status, codes) => status === 200 && codes.join() === "FORBIDDEN");
  const before = await warehouses();
  for (const document of [
    create,
    `query A { countrys { edges { cursor } } } mutation B { a: warehouseCreate(input: { name: "A", code: "A" }) { userErrors { code } } }`,
    `mutation B { ...F } fragment F on Mutation { warehouseCreate(input: { name: "A", code: "A", validateOnly: true }) { userErrors { code } } }`,
  ]) {
    const { body, codes } = await service.ask(token, {
      query: document,
      operationName: document.startsWith("query") ? "B" : undefined,
    });
    assert.deepEqual(codes, ["FORBIDDEN"], document);
    assert.equal(body.data, undefined);
    assert.match(body.errors[0].message, /plan/);
  }
  assert.equal(await warehouses(), before);
  const { codes, body } = await service.ask(token, { query });
  assert.deepEqual([codes, Boolean(body.data)], [[], true]);
});

test("Postgres refuses mutations too, for a process that hasn't heard yet", async () => {
  await setPlan("read_only");
  const client = await service.pool.connect();
  try {
    await client.query("begin; set local role service_api; set local service.scopes = 'warehouses:write'");
    await assert.rejects(
      client.query(
        `select mutation.run('api_unstable', 'warehouse_create', '{"name": "A", "code": "A"}', null, false)`,
      ),
      { code: "UE003" },
    );
  } finally {
    await client.query("rollback");
    client.release();
  }
});

test("limits of the plan take the place of the defaults", async () => {
  const deep = "{ countrys { edges { node { id } } } }";
  await both(deep, (_status, codes) => codes.length === 0);
  await setPlan("full", { depth: 3 });
  await both(deep, (_status, codes) => codes.join() === "QUERY_TOO_DEEP");
  await setPlan("full", { depth: 3, nonsense: true });
  await both(deep, (_status, codes) => codes.length === 0);
  await until(() => service.log.some(({ msg }) => /limits of the plan are invalid/.test(String(msg))));
});

test("erp plan shows and sets it", async () => {
  const run = (...words: string[]) => runCommand(["plan", ...words], { DATABASE_URL: service.adminUrl });
  assert.deepEqual(await run("show"), { code: 0, output: "full {}\n" });
  assert.deepEqual(await run("set", "read_only", "--limits", '{"cost":500}'), {
    code: 0,
    output: 'read_only {"cost": 500}\n'.replace(": ", ":"),
  });
  await both(create, (_status, codes) => codes.join() === "FORBIDDEN");
  assert.equal((await run("set", "gold")).code, 2);
  assert.match((await run("set", "full", "--limits", '{"speed": 1}')).output, /speed/);
  assert.match((await run("set", "full", "--limits", "{")).output, /not JSON/);
  assert.equal((await run("sell")).code, 2);
  assert.equal((await run("set", "read_only", "--limits", "{}")).output, "read_only {}\n");
});

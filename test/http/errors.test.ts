import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type pg from "pg";
import { pino } from "pino";
import { errorCodes } from "../../src/errors/api-error.ts";
import { clientError } from "../../src/errors/client-errors.ts";
import { query, startService } from "../lib/service.ts";
import type { HttpAnswer, TestProcess, TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";

let service: TestService;
let token: string;
before(async () => {
  service = await startService();
  token = await service.token();
});
after(() => service.close());

/** Every error has a code, says whether a repetition helps, and has the request's id. It shows no internals. */
function assertErrors(
  { headers, body, text, codes }: HttpAnswer,
  ...expected: (keyof typeof errorCodes)[]
): void {
  assert.deepEqual(codes, expected, text);
  for (const { message, extensions } of body.errors ?? []) {
    assert.ok(message.length > 0);
    assert.equal(extensions.requestId, headers.get("x-request-id"));
    assert.equal(extensions.retryable, errorCodes[extensions.code as keyof typeof errorCodes].retryable);
  }
  assert.doesNotMatch(text, /node_modules|select |erp\.|api_unstable|at .*\.ts:|service_api/);
}

const modern = { headers: { accept: "application/graphql-response+json" } };

const mistakes: [string, { query: string; [key: string]: unknown }, keyof typeof errorCodes][] = [
  ["syntax", { query: "{" }, "GRAPHQL_PARSE_FAILED"],
  ["an empty document", { query: "" }, "GRAPHQL_PARSE_FAILED"],
  ["a document that would overflow the stack", { query: "{a".repeat(50_000) }, "GRAPHQL_PARSE_FAILED"],
  ["an unknown field", { query: "{ nope }" }, "GRAPHQL_VALIDATION_FAILED"],
  ["a bad literal", { query: '{ countrys(first: "x") { edges { cursor } } }' }, "GRAPHQL_VALIDATION_FAILED"],
  [
    "a number beyond those of floating point",
    { query: "{ currencies(filter: { factor: { lt: 1e999 } }) { edges { cursor } } }" },
    "GRAPHQL_VALIDATION_FAILED",
  ],
  [
    "the same as whole number, in a long document",
    {
      query: `{ currencies(filter: { factor: { gt: -${"9".repeat(2_500)} } }) { edges { cursor } } }`,
    },
    "GRAPHQL_VALIDATION_FAILED",
  ],
  ["a missing variable", { query: "query ($id: ID!) { node(id: $id) { id } }" }, "BAD_USER_INPUT"],
  [
    "a variable of the wrong type",
    { query: "query ($n: Int!) { countrys(first: $n) { edges { cursor } } }", variables: { n: "x" } },
    "BAD_USER_INPUT",
  ],
  ["an unknown operation", { query: "query A { __typename }", operationName: "B" }, "BAD_USER_INPUT"],
  ["no operation named", { query: "query A { __typename } query B { __typename }" }, "BAD_USER_INPUT"],
  ["no operation at all", { query: "fragment F on Query { __typename }" }, "GRAPHQL_VALIDATION_FAILED"],
];

for (const [what, body, code] of mistakes) {
  test(`${what}: ${code}, once as before and once as cached`, async () => {
    for (let i = 0; i < 2; i++) {
      const plain = await service.ask(token, body);
      assert.equal(plain.status, 200);
      assertErrors(plain, code);
      const answer = await service.ask(token, body, modern);
      assert.equal(answer.status, 400);
      assert.ok(!("data" in answer.body));
      assertErrors(answer, code);
    }
  });
}

test("a word given to an argument that isn't there is no word within JSON", async () => {
  const answer = await service.ask(token, { query: "{ currencies(sort: NAME) { edges { cursor } } }" });
  assertErrors(answer, "GRAPHQL_VALIDATION_FAILED");
  assert.match(answer.body.errors[0].message, /Unknown argument "sort"/);
});

test("a missing scope: FORBIDDEN, nothing is run, and the fields are named", async () => {
  const answer = await service.ask(await service.token({ read: ["currencies"] }), { query });
  assertErrors(answer, "FORBIDDEN");
  assert.equal(answer.body.data, undefined);
  assert.ok(answer.body.errors[0].extensions.missingScopes.length > 0);
});

test("an unforeseen failure is masked, and its cause is in the log under the request's id", async () => {
  await service.owner.query("revoke select on api_unstable.countries from service_api");
  try {
    const answer = await service.ask(token, { query }, { headers: { "x-request-id": "masked-1" } });
    assertErrors(answer, "INTERNAL_SERVER_ERROR");
    assert.doesNotMatch(answer.text, /permission|denied/);
    assert.equal(answer.body.errors[0].path[0], "countrys");
    const entry = service.log.find(({ requestId, level }) => requestId === "masked-1" && level === 50);
    assert.match(JSON.stringify(entry), /permission denied/);
  } finally {
    await service.owner.query("grant select on api_unstable.countries to service_api");
  }
});

// A lock on their table holds up queries, so that there is time to disturb them.

let locker: pg.PoolClient | undefined;
afterEach(async () => {
  await locker?.query("rollback");
  locker?.release();
  locker = undefined;
});

async function lockCountries(): Promise<void> {
  locker = await service.owner.connect();
  await locker.query("begin; lock table erp.country in access exclusive mode");
}

/** A process with a time limit that applies to requests, but not to building the schema. */
async function withLimit(setting: "statement_timeout" | "lock_timeout"): Promise<TestProcess> {
  const process = await service.another();
  process.apiPool.on("acquire", (client) => void client.query(`set ${setting} = 100`));
  return process;
}

test("a statement that takes too long: QUERY_TIMEOUT", async () => {
  const process = await withLimit("statement_timeout");
  await lockCountries();
  assertErrors(await process.ask(token, { query }), "QUERY_TIMEOUT");
});

test("a lock that takes too long: CONFLICT_RETRY", async () => {
  const process = await withLimit("lock_timeout");
  await lockCountries();
  assertErrors(await process.ask(token, { query }), "CONFLICT_RETRY");
});

test("more requests than connections for too long: SERVICE_UNAVAILABLE", async () => {
  const process = await service.another({ poolSize: 1 });
  assertErrors(await process.ask(token, { query }));
  process.apiPool.options.connectionTimeoutMillis = 100;
  await lockCountries();
  const held = process.ask(token, { query });
  await until(() => process.apiPool.totalCount > process.apiPool.idleCount);
  assertErrors(await process.ask(token, { query }), "SERVICE_UNAVAILABLE");
  await locker!.query("rollback");
  assertErrors(await held);
});

async function terminateQueries(process: TestProcess): Promise<void> {
  await process.apiPool.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and usename = 'service_api_login'`);
}

test("a backend that is killed in the middle: SERVICE_UNAVAILABLE, and the next request is answered", async () => {
  await lockCountries();
  const held = Array.from({ length: 3 }, () => service.ask(token, { query }));
  const isDone = Promise.all(held);
  let finished = false;
  void isDone.then(() => (finished = true));
  await until(async () => {
    await terminateQueries(service).catch(() => {});
    return finished;
  });
  for (const answer of await isDone) assertErrors(answer, "SERVICE_UNAVAILABLE");
  await locker!.query("rollback");
  assertErrors(await service.ask(token, { query }));
});

test("idle backends that were killed: requests are answered again at once", async () => {
  await Promise.all(Array.from({ length: 5 }, () => service.ask(token, { query })));
  await service.apiPool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and usename = 'service_api_login' and pid <> pg_backend_pid()`,
  );
  await until(async () => (await service.ask(token, { query })).codes.length === 0);
  for (let i = 0; i < 10; i++) assertErrors(await service.ask(token, { query }));
});

test("an outage is logged once a second, with the number of other requests that failed", async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  for (let n = 1; n <= 100; n++) {
    const { extensions } = clientError(refused, { requestId: `r${n}`, logger });
    assert.deepEqual([extensions.code, extensions.requestId], ["SERVICE_UNAVAILABLE", `r${n}`]);
  }
  assert.deepEqual(
    lines.map(({ requestId }) => requestId),
    ["r1"],
  );
  await until(() => lines.length > 1);
  assert.deepEqual([lines.length, lines[1]!.count], [2, 99]);
});

test("the log of all this is warnings and the one masked error", () => {
  assert.equal(service.log.filter(({ level }) => (level as number) >= 50).length, 1);
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { versions } from "../../src/versions/versions.ts";
import { query, read, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";

let service: TestService;
let token: string;
before(async () => {
  service = await startService({ versions, settings: { logRequests: true } });
  token = await service.token();
});
after(() => service.close());

const get = async (path: string, init?: RequestInit) => read(await fetch(service.url + path, init));

test("versions that aren't served get the specified body, before the token is looked at", async () => {
  for (const version of ["2020-01", "UNSTABLE", "constructor", "%3Cb%3E"]) {
    const { status, body } = await service.ask(null, { query }, { version });
    assert.equal(status, 400);
    const requestedVersion = decodeURIComponent(version);
    const supportedVersions = ["2026-06-unstable", "unstable"];
    const [{ status: inBody, code, title, detail, meta }, ...others] = body.errors;
    assert.deepEqual(others, []);
    assert.deepEqual([inBody, code], ["400", "SERVICE_GRAPHQL__UNSUPPORTED_API_VERSION"]);
    assert.equal(typeof title, "string");
    for (const named of [requestedVersion, ...supportedVersions]) assert.ok(detail.includes(named));
    assert.deepEqual(meta, { requestedVersion, supportedVersions });
  }
});

test("both versions answer", async () => {
  for (const version of ["2026-06-unstable", "unstable"]) {
    const { status, body } = await service.ask(token, { query }, { version });
    assert.equal(status, 200);
    assert.ok(body.data.countrys);
  }
});

test("only GET and POST", async () => {
  for (const method of ["HEAD", "PUT", "DELETE"]) {
    const { status, headers, codes } = await service.ask(token, undefined, { method });
    assert.deepEqual([status, headers.get("allow")], [405, "GET, POST"]);
    if (method !== "HEAD") assert.deepEqual(codes, ["BAD_USER_INPUT"]);
  }
});

test("the media type of the answer is the client's choice", async () => {
  const plain = "application/json";
  const modern = "application/graphql-response+json";
  const choices: [string, string][] = [
    ["*/*", plain],
    ["application/*", plain],
    [plain, plain],
    [modern, modern],
    [`${modern}, ${plain};q=0.9`, modern],
    [`${modern};q=0.5, ${plain}`, plain],
    [`${modern};charset=utf-8`, modern],
    [`text/html, */*;q=0.1`, plain],
  ];
  for (const [accept, expected] of choices) {
    for (const asked of [token, null]) {
      const { headers } = await service.ask(asked, { query }, { headers: { accept } });
      assert.match(
        headers.get("content-type")!,
        new RegExp(`^${expected.replace("+", "\\+")} *; *charset=utf-8$`),
        accept,
      );
      assert.match(headers.get("vary")!, /Accept/);
    }
  }
  const { status, codes } = await service.ask(token, { query }, { headers: { accept: "text/html" } });
  assert.deepEqual([status, codes], [406, ["BAD_USER_INPUT"]]);
});

test("bodies that are no GraphQL request are refused with a code", async () => {
  const cases: [string, unknown, number, Record<string, string>?][] = [
    ["not JSON", "{", 400],
    ["empty", "", 400],
    ["no body", undefined, 400],
    ["a batch", [{ query }], 400],
    ["null", "null", 400],
    ["no query", {}, 400],
    ["query is no string", { query: 7 }, 400],
    ["variables are no object", { query, variables: [1] }, 400],
    ["extensions are a list", { query, extensions: [{}] }, 400],
    ["operationName is no string", { query, operationName: {} }, 400],
    ["extensions are no object", { query, extensions: "x" }, 400],
    ["a persisted operation", { documentId: "x" }, 400],
    ["too large", { query: `${query} #${"x".repeat(1_048_576)}` }, 413],
    ["another type", query, 415, { "content-type": "application/graphql" }],
    ["a form", "query=x", 415, { "content-type": "application/x-www-form-urlencoded" }],
    ["another charset", { query }, 415, { "content-type": "application/json; charset=latin-1" }],
    ["another encoding", { query }, 415, { "content-encoding": "nonsense" }],
  ];
  for (const [what, body, expected, headers = {}] of cases) {
    const { status, codes } = await service.ask(token, body, { headers });
    assert.deepEqual([status, codes], [expected, ["BAD_USER_INPUT"]], what);
  }
});

test("an empty list stands for no variables and extensions, as PHP writes them", async () => {
  for (const body of [
    { query, variables: [], extensions: [] },
    { query: "query ($n: Int = 1) { countrys(first: $n) { edges { node { id } } } }", variables: [] },
  ]) {
    const parameters = new URLSearchParams(
      Object.entries(body).map(([name, value]) => [name, typeof value === "string" ? value : "[]"]),
    );
    const headers = { authorization: `Bearer ${token}` };
    for (const { body: answer, text } of [
      await service.ask(token, body),
      await get(`/api/graphql/unstable?${parameters}`, { headers }),
    ])
      assert.ok(answer.data?.countrys, text);
  }
});

test("JSON that is no object is called that, however it is sent", async () => {
  for (const [text, message] of [
    ["null", "The body is not a JSON object."],
    ['"x"', "The body is not a JSON object."],
    ["7", "The body is not a JSON object."],
    ["{", "The body is not valid JSON."],
  ] as const)
    for (const type of ["application/json", "application/json; charset=utf-16"]) {
      const encoding = type.endsWith("16") ? "utf16le" : "utf8";
      const headers = { authorization: `Bearer ${token}`, "content-type": type };
      const body = Buffer.from(text, encoding);
      const answer = await get("/api/graphql/unstable", { method: "POST", headers, body });
      assert.equal(answer.status, 400);
      assert.equal(answer.body.errors[0].message, message, `${text} as ${type}`);
    }
});

test("a body of almost a MiB, and a compressed one, are read; a bomb is not", async () => {
  const large = { query: `${query} #${"x".repeat(1_000_000)}` };
  assert.equal((await service.ask(token, large)).status, 200);
  const send = (text: string) =>
    get("/api/graphql/unstable", {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "content-encoding": "gzip",
      },
      body: gzipSync(text),
    });
  assert.equal((await send(JSON.stringify({ query }))).status, 200);
  assert.equal((await send(JSON.stringify({ query: query + " ".repeat(5_000_000) }))).status, 413);
});

test("every answer has a request id: the client's when it is sane, else a fresh one", async () => {
  const own = await service.ask(token, { query: "{ nope }" }, { headers: { "x-request-id": "trace-1:2/3" } });
  assert.equal(own.headers.get("x-request-id"), "trace-1:2/3");
  assert.equal(own.body.errors[0].extensions.requestId, "trace-1:2/3");
  for (const id of ["", "two words", "x".repeat(200), 'a"b', "{}"]) {
    const { headers, body } = await service.ask(
      token,
      { query: "{ nope }" },
      { headers: { "x-request-id": id } },
    );
    const given = headers.get("x-request-id")!;
    assert.match(given, /^[0-9a-f-]{36}$/);
    assert.equal(body.errors[0].extensions.requestId, given);
  }
  const paths = ["/healthz", "/nowhere", "/api/oauth/token", "/api/graphql/nope", "/api/graphql/unstable"];
  for (const path of paths) assert.ok((await get(path)).headers.get("x-request-id"), path);
});

test("unknown addresses: 404 as JSON", async () => {
  for (const path of [
    "/",
    "/nowhere",
    "/api/graphql",
    "/api/graphql/unstable/",
    "/API/graphql/unstable",
    "/explorer/unstable",
  ]) {
    const { status, body } = await get(path);
    assert.equal(status, 404, path);
    assert.ok(body.errors[0].extensions.code);
  }
  assert.ok([400, 404].includes((await get("/api/graphql/%")).status));
});

test("answers say that they are to be taken for what they are, and not what serves them", async () => {
  for (const path of ["/healthz", "/nowhere", "/api/oauth/token"]) {
    const { headers } = await get(path, { headers: { origin: "https://example.com" } });
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("x-powered-by"), null);
    assert.equal(headers.get("access-control-allow-origin"), null);
  }
  assert.equal((await service.ask(token, { query })).headers.get("cache-control"), "no-store");
});

test("health tells only whether the database is there", async () => {
  const { status, body } = await get("/healthz");
  assert.deepEqual([status, body], [200, { status: "ok" }]);
});

test("the explorer is there when it is asked for, and loads nothing from elsewhere", async () => {
  const developer = await service.another({ versions, settings: { explorer: true } });
  const page = await read(await fetch(developer.url, { headers: { accept: "text/html" } }));
  assert.equal(page.status, 200);
  assert.match(page.headers.get("content-type")!, /^text\/html/);
  assert.doesNotMatch(page.text, /(src|href|from|import)\s*[=("]*\s*"?https?:/);
  assert.match(page.text, /\/api\/graphql\/2026-06-unstable/);
  const files = [...page.text.matchAll(/"(\/(?:ruru-static|explorer-files)\/[^"]+\.(?:js|css))"/g)];
  assert.ok(files.length >= 4);
  for (const [, file] of files) assert.equal((await fetch(developer.url + file)).status, 200, file);
  const head = await read(await fetch(`${developer.url}/explorer/unstable`));
  assert.match(head.text, /\/api\/graphql\/unstable/);
});

test("after a change of the database, reload shows it without a restart", async () => {
  const fields = async () => {
    const { body } = await service.ask(token, { query: "{ __schema { queryType { fields { name } } } }" });
    return body.data.__schema.queryType.fields.map(({ name }: { name: string }) => name);
  };
  await service.owner.query(`
    create view api_unstable.moons as select id, iso_code from erp.country;
    comment on view api_unstable.moons is E'@name moon\\n@primaryKey id\\n@requiresScopes moons:read\\nA moon.';
    grant select on api_unstable.moons to service_api;
  `);
  assert.ok(!(await fields()).includes("moons"));
  await service.app.reload();
  assert.ok((await fields()).includes("moons"));
});

test("each request has a line in the log: what it was, whose, what it cost, and where its time went", async () => {
  const lineOf = async (id: string, body: unknown, asker: string | null = token) => {
    await service.ask(asker, body, { headers: { "x-request-id": id } });
    const find = () =>
      service.log.find((line) => line.requestId === id && line.msg === "answered an operation");
    await until(() => find() !== undefined);
    return find() as any;
  };
  const secret = "not for the log";
  const line = await lineOf("logged-1", {
    query: `query Named { products(filter: { productNumber: { equals: "${secret}" } }) { edges { node { id } } } }`,
  });
  assert.deepEqual([line.version, line.status, line.code], ["unstable", 200, undefined]);
  assert.deepEqual([line.operation.name, /^[0-9a-f]{16}$/.test(line.operation.id)], ["Named", true]);
  assert.match(line.credentialId, /^[0-9a-f-]{36}$/);
  assert.ok(line.points > 0);
  const { milliseconds: ofStatements, ...statements } = line.statements;
  assert.deepEqual(statements, { count: 1, rows: 1 });
  assert.ok(ofStatements > 0 && ofStatements <= line.milliseconds.all);
  const { all, ...stages } = line.milliseconds;
  assert.deepEqual(Object.keys(stages), ["rights", "reading", "limits", "answer"]);
  const sum = Object.values<number>(stages).reduce((one, other) => one + other);
  assert.ok(Math.abs(sum - all) < 0.1, JSON.stringify(line.milliseconds));
  assert.ok(!JSON.stringify(line).includes(secret));

  const refused = await lineOf("logged-2", { query }, null);
  assert.deepEqual([refused.status, refused.code, refused.operation], [401, "UNAUTHENTICATED", undefined]);
  assert.deepEqual(Object.keys(refused.milliseconds), ["answer", "all"]);
  const wrong = await lineOf("logged-3", { query: "{ nothing }" });
  assert.deepEqual([wrong.code, wrong.credentialId], ["GRAPHQL_VALIDATION_FAILED", line.credentialId]);
});

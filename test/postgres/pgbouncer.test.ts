import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type pg from "pg";
import { deactivateCredential } from "../../src/auth/credentials.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { Positions } from "../../src/replicas/positions.ts";
import { checkDatabase } from "../../src/migrations/requirements.ts";
import { defaultLimits } from "../../src/graphql/limits.ts";
import { retry } from "../../src/lib/retry.ts";
import { temporaryFolder } from "../commands/process.ts";
import { hasBouncer, startBouncer, withoutTracking } from "../lib/pgbouncer.ts";
import type { Bouncer } from "../lib/pgbouncer.ts";
import { query, startService } from "../lib/service.ts";
import type { TestProcess, TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";

const skip = !hasBouncer && "PgBouncer is not installed";
const ignore = "ignore_startup_parameters = options,extra_float_digits";

// In transaction mode each transaction may be on another connection, and sessions keep nothing.
describe("behind PgBouncer in transaction mode", { skip }, () => {
  let service: TestService;
  let behind: TestProcess;
  let bouncer: Bouncer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  before(async () => {
    service = await startService({ template: "template_demo" });
    folder = await temporaryFolder();
    const settings = `default_pool_size = 3\n${ignore}`;
    bouncer = await startBouncer(service.loginUrl, { folder: folder.path, settings });
    behind = await service.another({ loginUrl: bouncer.url, poolSize: 10, prepare: false });
  });
  after(async () => {
    await service?.close();
    await bouncer?.stop();
    await folder?.remove();
  });

  it("callers see what is theirs, however their requests share connections", async () => {
    const everything = await service.token();
    const products = await service.token({ read: ["products"] });
    const ask = async (token: string, n: number) => {
      const document = `{ products(first: ${1 + (n % 5)}) { edges { node { id name parent { id } } } } ${token === everything ? "orders(first: 2) { edges { node { orderNumber currency { isoCode } } } }" : ""} }`;
      const [direct, pooled] = await Promise.all([
        service.ask(token, { query: document }),
        behind.ask(token, { query: document }),
      ]);
      assert.deepEqual(pooled.codes, [], pooled.text);
      assert.deepEqual(pooled.body, direct.body);
    };
    // Twenty at once: three connections keep none waiting for the five seconds after which it would be refused
    const numbers = Array.from({ length: 100 }, (_, n) => n).values();
    const some = async () => {
      for (const n of numbers) await ask(n % 2 ? everything : products, n);
    };
    await Promise.all(Array.from({ length: 20 }, some));
    const { codes } = await behind.ask(products, { query });
    assert.deepEqual(codes, ["FORBIDDEN"]);
  });

  it("time-outs and the time zone are those of the role", async () => {
    const { rows } = await behind.pool.query(
      "select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock, current_setting('timezone') as zone",
    );
    assert.deepEqual(rows, [{ statement: "5s", lock: "3s", zone: "UTC" }]);
  });

  it("mutations work, and errors leave nothing behind", async () => {
    const token = await service.token({ write: "all" });
    const create = (code: string) =>
      behind.ask(token, {
        query: `mutation { warehouseCreate(input: { name: "Annex", code: "${code}" }) { warehouse { code } userErrors { code } } }`,
      });
    const answers = await Promise.all(["A1", "A2", "A1", "A3"].map(create));
    const outcomes = answers.map(
      ({ body }) => body.data.warehouseCreate.warehouse?.code ?? body.data.warehouseCreate.userErrors[0].code,
    );
    assert.deepEqual(outcomes.sort(), ["A1", "A2", "A3", "NOT_UNIQUE"]);
  });

  it("positions of writes are found out, for replicas", async () => {
    const replicas = { urls: [], pool: { max: 1 }, maxLagMs: 1_000, positions: new Positions(null) };
    const loginUrl = behind.pool.options.connectionString!;
    const writing = await service.another({ loginUrl, prepare: false, replicas });
    const token = await service.token({ write: "all" });
    const create = (code: string) =>
      `${code}: warehouseCreate(input: { name: "Annex", code: "${code}" }) { warehouse { code } }`;
    const ask = (n: number) =>
      writing.ask(token, { query: `mutation { ${create(`P${n}`)} ${create(`Q${n}`)} }` });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => ask(n)));
    for (const { body, text } of answers) assert.match(body.extensions.consistentWith, /^0\//, text);
  });

  it("points are counted in the database", async () => {
    const settings = { limits: { ...defaultLimits, bucket: 20, refill: 0.01 } };
    const loginUrl = behind.pool.options.connectionString!;
    const limiterPool = createPool(loginUrl, { max: 2, prepare: false });
    try {
      const counting = await service.another({ loginUrl, prepare: false, settings, limiterPool });
      const token = await service.token();
      const ask = async () => (await counting.ask(token, { query: "{ __typename }" })).status;
      const statuses = await Promise.all(Array.from({ length: 25 }, ask));
      // Time beyond what the points pay for, as on a busy machine, costs more of them
      const allowed = statuses.filter((status) => status === 200).length;
      assert.ok(allowed > 0 && allowed <= 20, `${allowed}`);
      const { rowCount } = await service.owner.query("select from auth.bucket where key ~ '^points '");
      assert.equal(rowCount, 1);
      const isTrouble = (line: Record<string, unknown>) => /shared buckets/.test(String(line.msg));
      assert.deepEqual(counting.log.filter(isTrouble), []);
    } finally {
      await limiterPool.end();
    }
  });

  it("a start warns of what doesn't work there, if it is to be done", async () => {
    const url = behind.pool.options.connectionString!;
    assert.deepEqual(await checkDatabase(url), []);
    const [warning, ...others] = await checkDatabase(url, { jobConcurrency: 2 });
    assert.match(warning!, /pooler that ignores the settings .*WORKER_CONCURRENCY=0/);
    assert.deepEqual(others, []);
    assert.deepEqual(await checkDatabase(service.loginUrl, { jobConcurrency: 2 }), []);
  });

  it("without its setting, a start names it", async () => {
    const strict = await startBouncer(service.loginUrl, { folder: folder.path, settings: "" });
    try {
      await assert.rejects(checkDatabase(strict.url), /PgBouncer at .+ignore_startup_parameters = options,/);
    } finally {
      await strict.stop();
    }
  });

  it("a deactivated credential stops at once, though nothing is heard of changes", async () => {
    const credentials = await service.credential();
    const token = await behind.tokenFor(credentials);
    assert.deepEqual((await behind.ask(token, { query })).codes, []);
    await deactivateCredential(service.owner, credentials.id);
    assert.deepEqual((await behind.ask(token, { query })).codes, ["UNAUTHORIZED"]);
  });
});

describe("behind a PgBouncer that doesn't track prepared statements", { skip }, () => {
  let service: TestService;
  let bouncer: Bouncer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  before(async () => {
    service = await startService({ template: "template_demo" });
    folder = await temporaryFolder();
    const settings = `default_pool_size = 5\n${ignore}\n${withoutTracking()}`;
    bouncer = await startBouncer(service.loginUrl, { folder: folder.path, settings });
  });
  after(async () => {
    await service?.close();
    await bouncer?.stop();
    await folder?.remove();
  });

  it("requests get the answer to their own question or none, and the process isn't ready", async () => {
    // What it prepares when it opens may be lost as well
    const behind = await retry(() => service.another({ loginUrl: bouncer.url, poolSize: 10 }), {
      pauseMs(error, failures) {
        if ((error as pg.DatabaseError).code !== "26000" || failures > 20) throw error;
        return 50;
      },
    });
    const token = await service.token();
    const fields = ["name", "id", "gtin", "productNumber", "physicalStock"];
    const ask = async (n: number) => {
      const document = `{ products(first: ${1 + (n % 7)}) { edges { node { ${fields[n % 5]} } } } }`;
      const pooled = await behind.ask(token, { query: document });
      if (pooled.codes.length === 0)
        assert.deepEqual(pooled.body, (await service.ask(token, { query: document })).body);
      return pooled;
    };
    const numbers = Array.from({ length: 200 }, (_, n) => n).values();
    const codesSeen = new Set<string>();
    const some = async () => {
      for (const n of numbers) {
        const { codes, body } = await ask(n);
        const [code = "none"] = codes;
        codesSeen.add(code);
        if (code === "SERVICE_UNAVAILABLE") assert.equal(body.errors[0].extensions.retryable, true);
      }
    };
    await Promise.all(Array.from({ length: 20 }, some));
    for (const address of ["readyz", "healthz"]) {
      let message = "";
      // Others may take the servers during a look
      await until(async () => {
        const response = await fetch(`${behind.url}/${address}`);
        const { obstacles } = await response.json();
        if (response.status !== 503 || obstacles[0].code !== "PREPARED_STATEMENTS_LOST") return false;
        message = obstacles[0].message;
        return true;
      });
      assert.match(message, /PREPARED_STATEMENTS=false/);
    }
    assert.deepEqual([...codesSeen].sort(), ["SERVICE_UNAVAILABLE", "none"]);
  });

  it("a process that prepares nothing is ready", async () => {
    const behind = await service.another({ loginUrl: bouncer.url, prepare: false });
    assert.equal((await fetch(`${behind.url}/readyz`)).status, 200);
  });

  it("a start is refused, and says what to change", async () => {
    const prepared = checkDatabase(bouncer.url, { preparedStatements: true });
    await assert.rejects(prepared, /1\.21 .*max_prepared_statements.*PREPARED_STATEMENTS=false/);
    assert.deepEqual(await checkDatabase(bouncer.url, { preparedStatements: false }), []);
    assert.deepEqual(await checkDatabase(service.loginUrl, { preparedStatements: true }), []);
  });
});

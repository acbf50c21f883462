import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "../../src/postgres/client.ts";
import { checkDatabase } from "../../src/migrations/requirements.ts";
import { waitForDatabase } from "../../src/postgres/wait.ts";
import { UserError } from "../../src/errors/user-error.ts";
import { allVersions, startCommand } from "../commands/process.ts";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";

let database: TestDatabase;
before(async () => void (database = await openTestDatabase("template_schema")));
after(() => database.close());

test("a start waits for a database that is away, says so every second, and then serves all versions", async (t) => {
  const proxy = await openCuttableProxy(database.loginUrl);
  t.after(() => proxy.close());
  proxy.cut();
  const service = startCommand(["start"], {
    ...allVersions,
    ...{ DATABASE_URL: proxy.url, WORKER_CONCURRENCY: "0", LOCK_TIMEOUT: "60" },
  });
  t.after(() => service.kill("SIGKILL"));
  const line = String.raw`Waiting for Postgres at 127\.0\.0\.1:\d+\/\w+, for up to \d+ s more: .+\n`;
  await service.said(new RegExp(`(?:${line}){2}`));
  // Away again for one of the versions, while what they are built from is read
  await withClient(database.adminUrl, async (admin) => {
    await admin.query("begin; lock table pg_catalog.pg_inherits");
    proxy.restore();
    const reading =
      "from pg_stat_activity where datname = current_database() and application_name = 'catalog' and wait_event_type = 'Lock'";
    // A transaction sees one moment of pg_stat_activity
    const areReading = async () => {
      await admin.query("select pg_stat_clear_snapshot()");
      return (await admin.query(`select ${reading}`)).rowCount === 2;
    };
    await until(areReading);
    await admin.query(`select pg_terminate_backend(min(pid)) ${reading}`);
    await admin.query("rollback");
  });
  const [, address] = await service.said(/The API is at (http:\S+?)\/api/);
  const health = await fetch(`${address}/healthz`);
  assert.deepEqual([health.status, await health.json()], [200, { status: "ok" }], service.output());
  assert.ok(!service.output().includes(new URL(proxy.url).password));
  service.kill("SIGINT");
  assert.equal(await service.ended, 0, service.output());
});

test("a healthy database that takes a while causes no message; one that stays silent does, without a failure", async () => {
  const wait = async (workMs: number) => {
    const lines: string[] = [];
    const onWaiting = (line: string) => void lines.push(line);
    await waitForDatabase({ url: database.loginUrl, waitMs: 60_000, onWaiting }, () => sleep(workMs));
    return lines;
  };
  const [whileBusy, whileSilent] = await Promise.all([wait(2_500), wait(6_500)]);
  assert.deepEqual(whileBusy, []);
  assert.match(whileSilent[0]!, /^Waiting for Postgres at \S+, for up to 5\d s more: no response yet$/);
});

test("a start that waits ends at once when it is told to", async () => {
  const service = startCommand(["start"], { DATABASE_URL: "postgres://a:hunter2@127.0.0.1:1/erp" });
  await service.said(/Waiting for Postgres/);
  service.kill("SIGTERM");
  assert.equal(await service.ended, 0, service.output());
  assert.doesNotMatch(service.output(), /hunter2|\n\s+at /);
});

test("the waiting ends with its time, or with an error that it doesn't mend", async () => {
  const wait = async (change: object, waitMs: number) => {
    const url = Object.assign(new URL(database.loginUrl), change).href;
    let lines = 0;
    const begin = performance.now();
    const error = await waitForDatabase({ url, waitMs, onWaiting: () => void lines++ }, () =>
      checkDatabase(url),
    ).catch((reason: unknown) => reason);
    assert.ok(error instanceof UserError, String(error));
    return { message: error.message, lines, seconds: (performance.now() - begin) / 1_000 };
  };
  const away = await wait({ port: "1" }, 2_500);
  assert.match(away.message, /^Postgres at 127\.0\.0\.1:1\/\w+ can't be used: .*ECONNREFUSED/);
  assert.ok(away.lines >= 1 && away.seconds < 15, JSON.stringify(away));
  for (const change of [{ password: "hunter2" }, { pathname: "/nowhere" }])
    assert.ok((await wait(change, 300_000)).seconds < 60);
});

test("a missing file isn't taken for a missing socket, which has the same code", async () => {
  const lines: string[] = [];
  const wait = (work: () => Promise<unknown>) =>
    waitForDatabase(
      { url: database.loginUrl, waitMs: 2_500, onWaiting: (line) => void lines.push(line) },
      work,
    );
  const folder = "/nowhere-at-all";
  await assert.rejects(
    wait(() => readFile(folder)),
    { code: "ENOENT", syscall: "open" },
  );
  assert.deepEqual(lines, []);
  await assert.rejects(
    wait(() => withClient(`postgres:///erp?host=${folder}`, () => Promise.resolve())),
    /can't be used: .*ENOENT/,
  );
  assert.notDeepEqual(lines, []);
});

test("PgBouncer that refuses how connections begin is named, with the setting that mends it", async (t) => {
  // PgBouncer's answer. test/postgres/pgbouncer.test.ts asks a real one, if installed
  const server = createServer((socket) => {
    socket
      .on("error", () => {})
      .once("data", () => {
        const fields = ["SFATAL", "C08P01", "Munsupported startup parameter: options"];
        const body = Buffer.from(`${fields.map((field) => `${field}\0`).join("")}\0`);
        const head = Buffer.from("E\0\0\0\0");
        head.writeInt32BE(body.length + 4, 1);
        socket.end(Buffer.concat([head, body]));
      });
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const service = startCommand(["start"], {
    DATABASE_URL: `postgres://service_login:hunter2@127.0.0.1:${port}/erp`,
  });
  assert.equal(await service.ended, 1);
  assert.match(
    service.output(),
    /^PgBouncer at 127\.0\.0\.1:\d+\/erp refuses .+`ignore_startup_parameters = options,extra_float_digits`/,
  );
  assert.doesNotMatch(service.output(), /Waiting|hunter2|\n\s+at /);
});

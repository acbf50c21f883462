import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { join } from "node:path";
import { startCluster } from "../../src/cluster/cluster.ts";
import { urlAsOwner } from "../../src/postgres/roles.ts";
import { temporaryFolder } from "../commands/process.ts";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { startOwnPostgres, unsafe } from "../lib/prepared.ts";
import { until } from "../lib/until.ts";
import { noting, Queue, sorted, startTestJobs, upTo } from "./support.ts";

let database: TestDatabase;
let queue: Queue;
before(async () => {
  database = await openTestDatabase("template_schema");
  queue = new Queue(database.ownerUrl);
});
afterEach(() => queue.clear());
after(async () => {
  await queue.owner.end();
  await database.close();
});

test("connections that are ended while it waits are replaced, and it hears of jobs again", async (t) => {
  const { done, note } = noting();
  const worker = startTestJobs(database.loginUrl, { note });
  t.after(() => worker.stop());
  await queue.add("note");
  // If it were cut before its job is deleted, the job would run again
  await until(async () => done.length === 1 && (await queue.jobs()).length === 0);
  assert.ok((await queue.cutConnections(database.adminUrl)) > 0);
  await queue.add("note");
  await until(() => done.length === 2);
});

test("connections that are ended again and again under load lose no job", async (t) => {
  const { done, note } = noting(5);
  const worker = startTestJobs(database.loginUrl, { note });
  t.after(() => worker.stop());
  await queue.add("note", 90);
  for (const count of [10, 30, 50]) {
    await until(() => done.length >= count);
    await queue.cutConnections(database.adminUrl);
  }
  await queue.empties();
  assert.deepEqual(sorted(new Set(done)), upTo(90));
});

test("a job that was done while the line was cut is not held any longer, and done again at worst", async (t) => {
  const proxy = await openCuttableProxy(database.loginUrl);
  t.after(() => proxy.close());
  const hold = Promise.withResolvers<void>();
  let attempts = 0;
  const worker = startTestJobs(proxy.url, {
    wait: async () => {
      attempts++;
      await hold.promise;
    },
  });
  await queue.add("wait");
  await until(() => attempts === 1);
  proxy.cut();
  hold.resolve();
  await until(() => worker.log.some(({ msg }) => /can't start; trying again/.test(msg)));
  assert.notEqual((await queue.jobs())[0].locked_by, null);
  proxy.restore();
  await queue.empties();
  assert.equal(attempts, 2);
  await worker.stop();
});

test("a worker that starts before the database can be reached begins when it can", async (t) => {
  const proxy = await openCuttableProxy(database.loginUrl);
  t.after(() => proxy.close());
  proxy.cut();
  const { done, note } = noting();
  const worker = startTestJobs(proxy.url, { note });
  await queue.add("note");
  await until(() => worker.log.some(({ msg }) => /can't start; trying again/.test(msg)));
  proxy.restore();
  await until(() => done.length === 1);
  await worker.stop();
});

test("stopped while the database can't be reached, it stops soon", async (t) => {
  const proxy = await openCuttableProxy(database.loginUrl);
  t.after(() => proxy.close());
  const { done, note } = noting();
  const worker = startTestJobs(proxy.url, { note });
  await queue.add("note");
  await until(() => done.length === 1);
  proxy.cut();
  await worker.stop();
});

test("when Postgres itself is stopped and started again, work continues", async (t) => {
  const folder = await temporaryFolder();
  const options = { directory: join(folder.path, "own"), flags: unsafe };
  const { adminUrl, loginUrl, ...started } = await startOwnPostgres(options);
  let { cluster } = started;
  t.after(async () => {
    await cluster.stop();
    await folder.remove();
  });
  const own = new Queue(urlAsOwner(adminUrl));
  const { done, note } = noting(5);
  const worker = startTestJobs(loginUrl, { note });
  await own.add("note", 40);
  await until(() => done.length >= 10);
  await cluster.stop();
  await until(() => worker.log.some(({ msg }) => /can't start; trying again/.test(msg)));
  cluster = await startCluster(options);
  await own.empties();
  await worker.stop();
  await own.owner.end();
  assert.deepEqual(sorted(new Set(done)), upTo(40));
});

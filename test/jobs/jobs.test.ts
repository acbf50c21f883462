import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type { TaskList } from "graphile-worker";
import type { JobRunnerOptions } from "../../src/jobs/job-runner.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";
import { noting, Queue, sorted, startTestJobs, upTo } from "./support.ts";
import type { TestJobRunner } from "./support.ts";

let database: TestDatabase;
let queue: Queue;
let workers: TestJobRunner[] = [];
before(async () => {
  database = await openTestDatabase("template_schema");
  queue = new Queue(database.ownerUrl);
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
  await queue.clear();
});
after(async () => {
  await queue.owner.end();
  await database.close();
});

function start(tasks: TaskList, options?: Partial<JobRunnerOptions>): TestJobRunner {
  const worker = startTestJobs(database.loginUrl, tasks, options);
  workers.push(worker);
  return worker;
}

test("a job is done, and the log says so without telling what it was about", async () => {
  const { done, note } = noting();
  const { log } = start({ note });
  await queue.add("note");
  await queue.empties();
  assert.deepEqual(done, [1]);
  const [line] = log.filter(({ msg }) => msg === "a job is done");
  assert.deepEqual(Object.keys(line.job), ["id", "task", "attempts", "maxAttempts"]);
  assert.equal(line.job.task, "note");
});

test("a worker that waits hears of a new job at once", async () => {
  const { done, note } = noting();
  start({ note });
  await queue.add("note");
  await queue.empties();
  const begin = performance.now();
  for (const n of upTo(4)) {
    await queue.add("note");
    await until(() => done.length === n + 1);
  }
  assert.ok(performance.now() - begin < 5_000, "without listening, it looks every two seconds");
});

test("a job that fails is logged with its id and attempts, and tried again", async () => {
  let attempts = 0;
  const { log } = start({
    stumble: () => {
      if (++attempts === 1) throw new Error("a stone");
    },
  });
  await queue.add("stumble");
  await until(async () => (await queue.jobs())[0]?.last_error === "a stone");
  const [job] = await queue.jobs();
  assert.deepEqual([job.attempts, job.locked_by], [1, null]);
  await queue.empties();
  assert.equal(attempts, 2);
  const [line] = log.filter(({ msg }) => msg === "a job failed");
  assert.deepEqual(
    [line.level, line.job, line.err.message],
    [50, { id: String(job.id), task: "stumble", attempts: 1, maxAttempts: 25 }, "a stone"],
  );
});

test("a job is queued at the start, and not twice when it waits already", async () => {
  const { done, note } = noting();
  const atStart = { atStart: ["greet"] };
  await start({ note }, atStart).stop();
  start({ note }, atStart);
  await queue.add("note");
  // Its row is deleted a moment after the job is done
  await until(async () => done.length === 1 && (await queue.jobs()).length === 1);
});

test("two workers share the jobs, and do each once", async () => {
  const [one, other] = [noting(5), noting(5)];
  // Each begins its second job when the other has begun too, for one of them may be ready earlier
  const haveBegun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  [one, other].forEach(({ note }, n) =>
    start({
      async note(payload, helpers) {
        haveBegun[n]!.resolve();
        await Promise.all(haveBegun.map(({ promise }) => promise));
        await note(payload, helpers);
      },
    }),
  );
  await queue.add("note", 60);
  await queue.empties();
  assert.ok(one.done.length > 0 && other.done.length > 0);
  assert.deepEqual(sorted([...one.done, ...other.done]), upTo(60));
});

test("stopped under load, it ends the jobs under way, and loses none", async () => {
  const first = noting(10);
  await queue.add("note", 60);
  const worker = start({ note: first.note });
  await until(() => first.done.length >= 10);
  await worker.stop();
  const rest = await queue.jobs();
  assert.equal(first.done.length + rest.length, 60);
  assert.ok(rest.every(({ locked_by: holder, attempts }) => holder === null && attempts === 0));
  const second = noting();
  start({ note: second.note });
  await queue.empties();
  assert.deepEqual(sorted([...first.done, ...second.done]), upTo(60));
});

test("a job that is asked to break off, and does, is given back", async () => {
  const stopTimeouts = { abortMs: 50, giveBackMs: 4_000 };
  const worker = start({ wait: (_, { abortPromise }) => abortPromise }, { stopTimeouts });
  await queue.add("wait");
  await until(async () => (await queue.jobs())[0].locked_by !== null);
  await worker.stop();
  const [job] = await queue.jobs();
  assert.deepEqual([job.locked_by, job.attempts], [null, 1]);
});

test("a job that doesn't end is given back, and the worker stops all the same", async () => {
  const stopTimeouts = { abortMs: 50, giveBackMs: 100 };
  const hung = Promise.withResolvers<void>();
  const worker = start({ hang: () => hung.promise }, { stopTimeouts });
  await queue.add("hang");
  await until(async () => (await queue.jobs())[0].locked_by !== null);
  await worker.stop();
  const [job] = await queue.jobs();
  assert.deepEqual([job.locked_by, job.last_error], [null, "The worker has stopped."]);
  hung.resolve();
});

test("a worker that has never reached the database stops too", async () => {
  const nowhere = Object.assign(new URL(database.loginUrl), { port: "1" }).href;
  const worker = startTestJobs(nowhere, { note: () => {} });
  await until(() => worker.log.some(({ msg }) => /can't start; trying again/.test(msg)));
  await worker.stop();
});

test("what is due by the clock is queued by the role of the worker, and made up for after a pause", async () => {
  const { done, note } = noting();
  const options = { crontab: "0 * * * * note ?fill=3h&jobKey=note" };
  const first = start({ note }, options);
  const known = async () =>
    (await queue.owner.query("select last_execution from graphile_worker._private_known_crontabs")).rows;
  await until(async () => (await known()).length === 1);
  await first.stop();
  await queue.owner.query(
    "update graphile_worker._private_known_crontabs set known_since = now() - interval '2 days', last_execution = now() - interval '1 day'",
  );
  start({ note }, options);
  // At the full hour the first one may already have run
  const lastHour = new Date(Date.now() - 3_700_000);
  await until(async () => done.length > 0 && (await known())[0].last_execution > lastHour);
});

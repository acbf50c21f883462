import assert from "node:assert/strict";
import { glob, readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { createJobPool } from "../../src/postgres/background-pool.ts";
import { useDatabase } from "../lib/database.ts";

// What isn't public of graphile-worker is used at these places alone. docs/internals/upstream.md says why
const doors = ["src/jobs/chores.ts", "db/worker.sql"];

describe("the inside of graphile-worker", () => {
  const used = useDatabase("template_schema");

  it("is as db/worker.sql and chores.ts know it", async () => {
    const { rows } = await used.client.query<{ name: string; columns: string }>(`
      select c.relname as name, string_agg(a.attname, ' ' order by a.attnum) as columns
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind = 'r' group by c.relname order by c.relname`);
    assert.deepEqual(Object.fromEntries(rows.map(({ name, columns }) => [name, columns])), {
      _private_job_queues: "id queue_name locked_at locked_by is_available",
      _private_jobs:
        "id job_queue_id task_id payload priority run_at attempts max_attempts last_error created_at updated_at key locked_at locked_by revision flags is_available",
      _private_known_crontabs: "identifier known_since last_execution",
      _private_tasks: "id identifier",
      migrations: "id ts breaking",
    });
  });

  it("is used at its doors alone", async () => {
    const found: string[] = [];
    for (const pattern of ["src/**/*.ts", "plugins/**/*.ts", "db/*.sql", "db/fixtures/**/*.sql"])
      for await (const path of glob(pattern))
        if ((await readFile(path, "utf8")).includes("graphile_worker._private_")) found.push(path);
    assert.deepEqual(found.sort(), [...doors].sort());
  });

  it("may release its listening connection twice", async () => {
    const pool = createJobPool(used.database.loginUrl, 1);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    pool.connect((error, _client, release) => {
      if (error) return reject(error);
      release();
      // Of pg's own pool it throws
      release();
      resolve();
    });
    await promise;
    assert.deepEqual([pool.totalCount, pool.idleCount], [1, 1]);
    await pool.end();
  });

  it("may release a connection that it couldn't get", async () => {
    const pool = createJobPool(used.database.loginUrl, 1);
    const ask = async () => {
      const { error, release } = await new Promise<{ error: Error | undefined; release: () => void }>(
        (resolve) => pool.connect((error, _client, release) => resolve({ error, release })),
      );
      // Of pg's own pool there is none to call
      release();
      return error!.message;
    };
    const all = await Promise.all(Array.from({ length: 3 }, () => pool.connect()));
    pool.options.connectionTimeoutMillis = 10;
    assert.match(await ask(), /timeout exceeded/);
    for (const client of all) client.release();
    await pool.end();
    assert.match(await ask(), /after calling end/);
  });
});

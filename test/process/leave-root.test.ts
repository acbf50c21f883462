import assert from "node:assert/strict";
import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import pg from "pg";
import { lookUpUser } from "../../src/cluster/postgres-user.ts";
import { runCommand, startCommand, temporaryFolder } from "../commands/process.ts";
import type { CommandProcess } from "../commands/process.ts";
import { Project } from "../commands/project.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { freePort } from "../lib/free-port.ts";
import { copyPrepared } from "../lib/prepared.ts";
import { assertRunsAs, assertWorks, staysWhy, whoIs } from "./users.ts";

// Several processes behind one port: stops.test.ts; those that stay root: worker-processes.test.ts
describe("a service that root has started", { skip: staysWhy }, () => {
  let database: TestDatabase;
  let owner: pg.Client;
  let running: CommandProcess | undefined;
  before(async () => {
    database = await openTestDatabase("template_demo");
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
  });
  afterEach(async () => {
    running?.kill("SIGINT");
    const code = await running?.ended;
    assert.equal(code ?? 0, 0, running?.output());
    running = undefined;
  });
  after(async () => {
    await owner.end();
    await database.close();
  });

  async function start(settings: Record<string, string>) {
    const service = (running = startCommand(["start"], { DATABASE_URL: database.loginUrl, ...settings }));
    const [, address] = await service.said(/The API is at (http:\S+?)\/api/);
    return { service, address: address! };
  }

  it("serves as nobody, when the database is another's", async () => {
    const metricsPort = await freePort();
    const { service, address } = await start({ METRICS_PORT: String(metricsPort) });
    await assertRunsAs(service.pid, await lookUpUser("nobody"));
    await assertWorks(address, owner);
    const metrics = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    assert.match(await metrics.text(), /process_open_fds \d+/);
    assert.doesNotMatch(service.output(), /Warning/);
  });

  it("doesn't start for a user that there isn't", async () => {
    const settings = { DATABASE_URL: database.loginUrl, RUN_AS: "nosuchuser" };
    const { code, output } = await runCommand(["start"], settings);
    assert.equal(code, 1);
    assert.match(output, /There is no user nosuchuser on this machine/);
  });

  it("stays root where others can't read the project, and says so", async () => {
    const project = await Project.copy({ versions: "head" });
    try {
      await chmod(project.path, 0o700);
      const service = (running = project.start(["start"], { DATABASE_URL: database.loginUrl }));
      const [, address] = await service.said(/The API is at (http:\S+?)\/api/);
      assert.match(
        service.output(),
        /Warning: The service continues as root, .* may not read \S+start\.ts\./,
      );
      assert.deepEqual((await whoIs(service.pid)).users, [0, 0, 0, 0]);
      await assertWorks(address!, owner);
    } finally {
      running?.kill("SIGINT");
      await running?.ended;
      await project.remove();
    }
  });
});

describe("a service that root has started with a Postgres of its own", { skip: staysWhy }, () => {
  it("serves as the user who runs that, and starts it again", async () => {
    const folder = await temporaryFolder();
    const home = join(folder.path, "data");
    await copyPrepared(home, "daemon");
    const service = startCommand(["start"], { DATA_DIRECTORY: home, RUN_AS: "daemon", LOG_LEVEL: "warn" });
    try {
      await service.said(/The API is at/);
      const daemon = await lookUpUser("daemon");
      await assertRunsAs(service.pid, daemon);
      const postmaster = async () =>
        Number.parseInt(await readFile(join(home, "postgres/postmaster.pid"), "utf8"));
      const pid = await postmaster();
      await assertRunsAs(pid, daemon);
      process.kill(pid, "SIGKILL");
      await service.said(/Postgres is running again/);
      assert.notEqual(await postmaster(), pid);
    } finally {
      service.kill("SIGTERM");
    }
    assert.equal(await service.ended, 0, service.output());
    const { code, output } = await runCommand(["start"], { DATA_DIRECTORY: home, RUN_AS: "nobody" });
    assert.equal(code, 1);
    assert.match(output, /belongs to the user \d+\. Set RUN_AS to that user/);
    await folder.remove();
  });
});

import assert from "node:assert/strict";
import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import pg from "pg";
import { createCredential } from "../../src/auth/credentials.ts";
import { idsOf } from "../../src/database/cluster/postgres-user.ts";
import { successorOfRoot } from "../../src/process/leave-root.ts";
import { runCommand, startCommand, temporaryFolder } from "../commands/process.ts";
import type { CommandProcess } from "../commands/process.ts";
import { Project } from "../commands/project.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { freePort } from "../lib/free-port.ts";
import { copyPrepared } from "../lib/prepared.ts";
import { servingProcesses } from "../lib/processes.ts";
import { query, read } from "../lib/service.ts";
import { until } from "../lib/until.ts";

const isRoot = process.getuid?.() === 0;
const skip = !isRoot ? "only root can be left" : ((await successorOfRoot(undefined, null)).warning ?? false);

/** Real, effective, saved and file-system user of a process, and all of its groups. */
async function whoIs(pid: number): Promise<{ users: number[]; groups: number[] }> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const numbers = (name: string) =>
    new RegExp(`^${name}:(.*)$`, "m").exec(status)![1]!.trim().split(/\s+/).filter(Boolean).map(Number);
  return { users: numbers("Uid"), groups: [...new Set([...numbers("Gid"), ...numbers("Groups")])] };
}

async function assertRunsAs(pid: number, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  const { users, groups } = await whoIs(pid);
  assert.deepEqual([users, groups.filter((each) => each !== gid)], [[uid, uid, uid, uid], []]);
}

describe("a service that root has started", { skip }, () => {
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

  async function start(parameters: string[] = [], settings: Record<string, string> = {}) {
    const service = (running = startCommand(["start.ts", ...parameters], {
      DATABASE_URL: database.loginUrl,
      ...settings,
    }));
    const [, address] = await service.said(/The API is at (http:\S+?)\/api/);
    return { service, address: address! };
  }

  /** Sends requests that need a token, a statement, and code that is loaded only then. */
  async function assertWorks(address: string): Promise<void> {
    const { clientId, clientSecret } = await createCredential(owner, { name: "test", read: "all" });
    const body = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
    const json = { "content-type": "application/json" };
    const issued = await fetch(`${address}/api/oauth/token`, {
      ...{ method: "POST", headers: json, body: JSON.stringify(body) },
    });
    const { access_token: token } = (await issued.json()) as { access_token: string };
    const { codes } = await read(
      await fetch(`${address}/api/graphql/unstable`, {
        ...{ method: "POST", body: JSON.stringify({ query }) },
        headers: { ...json, authorization: `Bearer ${token}` },
      }),
    );
    assert.deepEqual(codes, []);
    const { rows } = await owner.query(
      "select id, deep_link_code as code from erp.document where not static limit 1",
    );
    const document = await fetch(`${address}/api/_action/document/${rows[0].id}/${rows[0].code}`);
    assert.deepEqual([document.status, document.headers.get("content-type")], [200, "application/pdf"]);
    assert.equal((await fetch(`${address}/readyz`)).status, 200);
  }

  it("serves as nobody, when the database is another's", async () => {
    const metricsPort = await freePort();
    const { service, address } = await start([], { METRICS_PORT: String(metricsPort) });
    await assertRunsAs(service.pid, await idsOf("nobody"));
    await assertWorks(address);
    const metrics = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    assert.match(await metrics.text(), /process_open_fds \d+/);
    assert.doesNotMatch(service.output(), /Warning/);
  });

  it("serves as the user who is named, with each of several processes, those that replace them included, and with their parent", async () => {
    const { service, address } = await start(["--workers", "2"], { LOG_LEVEL: "info", RUN_AS: "daemon" });
    const daemon = await idsOf("daemon");
    const first = await servingProcesses(service.pid);
    assert.equal(first.length, 2);
    for (const pid of [service.pid, ...first]) await assertRunsAs(pid, daemon);
    await assertWorks(address);
    service.kill("SIGHUP");
    await service.said(/all processes have been replaced/);
    await until(async () => (await servingProcesses(service.pid)).length === 2);
    const second = await servingProcesses(service.pid);
    assert.ok(second.every((pid) => !first.includes(pid)));
    for (const pid of second) await assertRunsAs(pid, daemon);
    await assertWorks(address);
  });

  it("stays root where that is named", async () => {
    const { service } = await start([], { RUN_AS: "root" });
    assert.deepEqual((await whoIs(service.pid)).users, [0, 0, 0, 0]);
  });

  it("doesn't start for a user that there isn't", async () => {
    const settings = { DATABASE_URL: database.loginUrl, RUN_AS: "nosuchuser" };
    const { code, output } = await runCommand(["start.ts"], settings);
    assert.equal(code, 1);
    assert.match(output, /There is no user nosuchuser on this machine/);
  });

  it("stays root where others can't read the project, and says so", async () => {
    const project = await Project.copy();
    try {
      await chmod(project.path, 0o700);
      const service = (running = project.start(["start.ts"], { DATABASE_URL: database.loginUrl }));
      const [, address] = await service.said(/The API is at (http:\S+?)\/api/);
      assert.match(
        service.output(),
        /Warning: The service continues as root, .* may not read \S+start\.ts\./,
      );
      assert.deepEqual((await whoIs(service.pid)).users, [0, 0, 0, 0]);
      await assertWorks(address!);
    } finally {
      running?.kill("SIGINT");
      await running?.ended;
      await project.remove();
    }
  });
});

describe("a service that root has started with a Postgres of its own", { skip }, () => {
  it("serves as the user who runs that, and starts it again", async () => {
    const folder = await temporaryFolder();
    const home = join(folder.path, "data");
    await copyPrepared(home, "daemon");
    const service = startCommand(["start.ts"], { DATA_DIRECTORY: home, RUN_AS: "daemon", LOG_LEVEL: "warn" });
    try {
      await service.said(/The API is at/);
      const daemon = await idsOf("daemon");
      await assertRunsAs(service.pid, daemon);
      const postmaster = async () =>
        Number.parseInt(await readFile(join(home, "postgres/postmaster.pid"), "utf8"));
      const pid = await postmaster();
      await assertRunsAs(pid, daemon);
      process.kill(pid, "SIGKILL");
      await service.said(/Postgres runs again/);
      assert.notEqual(await postmaster(), pid);
    } finally {
      service.kill("SIGINT");
    }
    assert.equal(await service.ended, 0, service.output());
    const { code, output } = await runCommand(["start.ts"], { DATA_DIRECTORY: home, RUN_AS: "nobody" });
    assert.equal(code, 1);
    assert.match(output, /belongs to the user \d+\. Set RUN_AS to that one/);
    await folder.remove();
  });
});

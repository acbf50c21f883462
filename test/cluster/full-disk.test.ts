import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { createCredential } from "../../src/auth/credentials.ts";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { temporaryFolder } from "../commands/process.ts";
import { startOwnPostgres } from "../lib/prepared.ts";
import { query, startProcess } from "../lib/service.ts";
import type { TestProcess } from "../lib/service.ts";
import { until } from "../lib/until.ts";

const folder = await temporaryFolder();
const disk = join(folder.path, "disk");
const filler = join(disk, "filler");

/** Why there can be no small disk here; false when there is one. */
async function mountDisk(): Promise<string | false> {
  await mkdir(disk);
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "only root can mount a small disk";
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256m,mode=755", "tmpfs", disk], { stdio: "pipe" });
    return false;
  } catch (error) {
    return `a small disk can't be mounted: ${(error as Error).message.trim()}`;
  }
}

const skip = await mountDisk();
after(async () => {
  if (skip === false) execFileSync("umount", ["--lazy", disk]);
  await folder.remove();
});

describe("with a full disk", { skip }, () => {
  let cluster: Cluster | undefined;
  let admin: pg.Client;
  let service: TestProcess;
  let token: string;
  before(async () => {
    const own = await startOwnPostgres({
      directory: join(disk, "cluster"),
      // Postgres recycles these files; without room for them it stops, as it must
      flags: { fsync: "off", min_wal_size: "64MB", max_wal_size: "96MB" },
    });
    ({ cluster } = own);
    admin = new pg.Client({ connectionString: own.adminUrl });
    await admin.connect();
    service = await startProcess({ loginUrl: own.loginUrl });
    token = await service.tokenFor(
      await createCredential(admin, { name: "test", read: "all", write: "all" }),
    );
    await admin.query("checkpoint");
  });
  after(async () => {
    await service?.close();
    await admin?.end();
    await cluster?.stop();
  });

  let count = 0;
  const create = () =>
    service.ask(token, {
      query: `mutation { warehouseCreate(input: { name: "${"x".repeat(200)}", code: "W${++count}" })
        { warehouse { code } userErrors { code } } }`,
    });
  const readiness = async () => {
    const response = await fetch(`${service.url}/readyz`);
    return { status: response.status, body: await response.json() };
  };

  it("what needs room is SERVICE_UNAVAILABLE, what reads is answered, and the readiness says why", async () => {
    assert.equal((await readiness()).status, 200);
    const room = execFileSync("df", ["--output=avail", "-B1", disk]).toString();
    execFileSync("fallocate", ["-l", String(Number(room.split("\n")[1])), filler]);
    let answer = await create();
    while (answer.codes.length === 0 && count < 500) answer = await create();
    assert.deepEqual([answer.status, answer.codes], [200, ["SERVICE_UNAVAILABLE"]], answer.text);
    assert.equal(answer.body.errors[0].extensions.retryable, true);
    assert.match(answer.body.errors[0].message, /no room/);
    assert.deepEqual((await service.ask(token, { query })).codes, []);
    await until(async () => (await readiness()).status === 503);
    const obstacles = [{ part: "database", code: "DISK_FULL", message: "The database's disk is full." }];
    assert.deepEqual((await readiness()).body, { status: "unavailable", obstacles });
  });

  it("when there is room again, all is well by itself", async () => {
    await rm(filler);
    const { codes, body } = await create();
    assert.deepEqual([codes, body.data.warehouseCreate.userErrors], [[], []]);
    await until(async () => (await readiness()).status === 200);
    assert.deepEqual((await admin.query("select * from ledger.proof limit 5")).rows, []);
    // Every confirmed one, and the one just now
    const { rows } = await admin.query("select count(*)::int as count from erp.warehouse");
    assert.equal(rows[0].count, count - 1);
  });
});

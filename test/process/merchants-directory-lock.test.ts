import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { whileLocked } from "../../src/process/merchants/directory-lock.ts";
import { readDirectory, storeMerchant } from "../../src/process/merchants/directory.ts";
import { startCommand } from "../commands/process.ts";

const lock = fileURLToPath(new URL("../../src/process/merchants/directory-lock.ts", import.meta.url));
const acme = {
  name: "acme",
  databaseUrl: "postgres://acme@db.example/acme",
  hosts: ["acme.example"],
  hasPath: false,
  state: "active" as const,
};
let folder: string;

/** Another process that has the lock until it is killed. */
async function holder() {
  const held = `const { whileLocked } = await import(${JSON.stringify(lock)});
    await whileLocked(${JSON.stringify(folder)}, async () => { console.log("held"); setInterval(() => {}, 1e6); await new Promise(() => {}); });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", held], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "merchants-"));
});
after(() => rm(folder, { recursive: true, force: true }));

suite("the lock of the directory of merchants", () => {
  test("a command waits for another one, and keeps what that has changed", async (t) => {
    await storeMerchant(folder, acme);
    const suspending = await whileLocked(folder, async () => {
      const begun = startCommand(["merchants.ts", "suspend", "acme"], { MERCHANTS: folder });
      t.after(() => begun.kill("SIGKILL"));
      // It has tried, and is refused
      await begun.said(/Waiting for another command/);
      assert.equal((await readDirectory(folder))[0]!.state, "active");
      await storeMerchant(folder, { ...acme, hosts: ["new.example"] });
      return begun;
    });
    assert.equal(await suspending.ended, 0);
    const [now] = await readDirectory(folder);
    assert.deepEqual([now!.state, now!.hosts], ["suspended", ["new.example"]]);
  });

  test("one that doesn't end is named, and the lock ends with it", async (t) => {
    const other = await holder();
    t.after(() => other.kill("SIGKILL"));
    await assert.rejects(
      whileLocked(folder, async () => assert.fail(), { waitMs: 1 }),
      /Another command changes the merchants/,
    );
    other.kill("SIGKILL");
    await once(other, "exit");
    assert.equal(await whileLocked(folder, async () => "mine", { waitMs: 0 }), "mine");
  });
});

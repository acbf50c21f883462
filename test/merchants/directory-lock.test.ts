import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { withDirectoryLock } from "../../src/merchants/directory-lock.ts";
import { readDirectory, storeMerchant } from "../../src/merchants/directory.ts";
import { startCommand } from "../commands/process.ts";

const lock = fileURLToPath(new URL("../../src/merchants/directory-lock.ts", import.meta.url));
const acme = {
  name: "acme",
  databaseUrl: "postgres://acme@db.example/acme",
  hosts: ["acme.example"],
  hasPath: false,
  state: "active" as const,
};
let folder: string;

/** Another process that has the lock until it is killed, or prints why it can't have it. */
async function holder(options: { uid?: number } = {}) {
  const held = `const { whileLocked } = await import(${JSON.stringify(lock)});
    const work = async () => { console.log("held"); setInterval(() => {}, 1e6); await new Promise(() => {}); };
    ${options.uid === undefined ? "" : `process.setuid(${options.uid});`}
    await whileLocked(${JSON.stringify(folder)}, work).catch(({ name, message }) => console.log(name, message));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", held], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  return Object.assign(child, { said: said.toString() });
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "merchants-"));
});
after(() => rm(folder, { recursive: true, force: true }));

suite("the lock of the directory of merchants", () => {
  test("a command waits for another one, and keeps what that has changed", async (t) => {
    await storeMerchant(folder, acme);
    const suspending = await withDirectoryLock(folder, async () => {
      const begun = startCommand(["merchants", "suspend", "acme"], { MERCHANTS: folder });
      t.after(() => begun.kill("SIGKILL"));
      // It has tried, and is refused
      await begun.said(/Waiting for another command/);
      assert.equal((await readDirectory(folder)).merchants[0]!.state, "active");
      await storeMerchant(folder, { ...acme, hosts: ["new.example"] });
      return begun;
    });
    assert.equal(await suspending.ended, 0);
    const [now] = (await readDirectory(folder)).merchants;
    assert.deepEqual([now!.state, now!.hosts], ["suspended", ["new.example"]]);
  });

  test("one that doesn't end is named, and the lock ends with it", async (t) => {
    const other = await holder();
    t.after(() => other.kill("SIGKILL"));
    await assert.rejects(
      withDirectoryLock(folder, async () => assert.fail(), { waitMs: 1 }),
      /Another command is changing the merchants/,
    );
    other.kill("SIGKILL");
    await once(other, "exit");
    assert.equal(await withDirectoryLock(folder, async () => "mine", { waitMs: 0 }), "mine");
  });

  test("what is no lock, or another user's, is refused with its name", async (t) => {
    const file = join(folder, ".lock");
    await writeFile(file, "no database".repeat(999));
    const refusal = {
      name: "UserError",
      message: /\.lock can't be locked: .+ must be able to read and write/,
    };
    await assert.rejects(
      withDirectoryLock(folder, async () => assert.fail()),
      refusal,
    );
    await rm(file);
    if (process.getuid?.() !== 0) return t.skip("only root can be another user");
    await withDirectoryLock(folder, async () => {});
    await chmod(folder, 0o777);
    for (const mode of [0o600, 0o644]) {
      await chmod(file, mode);
      const other = await holder({ uid: 65_534 });
      t.after(() => other.kill("SIGKILL"));
      assert.match(
        other.said,
        /^UserError .*\.lock can't be locked: .+ must be able to read and write/,
        `${mode}`,
      );
    }
  });
});

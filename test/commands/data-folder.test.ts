import assert from "node:assert/strict";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { startFromSettings } from "../../src/commands/start-service.ts";
import type { RunningService } from "../../src/commands/start-service.ts";
import { withClient } from "../../src/postgres/client.ts";
import { openFolder } from "../../src/cluster/content.ts";
import { openAsAdmin } from "../../src/migrations/open-database.ts";
import type { DatabaseSettings } from "../../src/migrations/open-database.ts";
import { parseSettings } from "../../src/process/settings.ts";
import { copyPrepared } from "../lib/prepared.ts";
import { runAllOn, temporaryFolder } from "./process.ts";

// What a start, and a command, make of a folder for data: of a new one, of one that has lost its data, of a damaged one
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let running: RunningService | undefined;

before(async () => void (folder = await temporaryFolder()));
afterEach(async () => {
  await running?.stop();
  running = undefined;
});
after(() => folder.remove());

const at = (name: string) => join(folder.path, name);

const settingsOf = (name: string, variables: Record<string, string> = {}) =>
  parseSettings({
    ...{ DATA_DIRECTORY: at(name), HOST: "127.0.0.1", PORT: "0", LOG_LEVEL: "error" },
    // A service of its own process would become another user
    RUN_AS: "root",
    ...{ WEBHOOK_CONCURRENCY: "0", WORKER_CONCURRENCY: "0", BULK_CONCURRENCY: "0", ...variables },
  });
const production = { NODE_ENV: "production" };

const start = async (name: string, variables = {}, content?: DatabaseSettings["content"]) =>
  (running = await startFromSettings(
    { ...settingsOf(name, variables), content },
    new AbortController().signal,
  ));

const refused = (starting: Promise<unknown>, message: RegExp) =>
  assert.rejects(starting, { name: "UserError", message });

/** Whether the shop has something, and whether someone can log in. */
async function contentOf({ database }: RunningService) {
  return withClient(database.adminUrl!, async (client) => {
    const { rows } = await client.query<{ currencies: number; administrators: number }>(
      "select (select count(*)::int from erp.currency) as currencies, (select count(*)::int from auth.administrator) as administrators",
    );
    return { hasShop: rows[0]!.currencies > 0, administrators: rows[0]!.administrators };
  });
}

test("in production, a folder without data is refused by starts and commands, which name what may be meant", async () => {
  const message =
    /There are no data in .*unmounted.*mounted.*npx erp restore.*npx erp start --empty.*npx erp start --demo/s;
  await refused(start("unmounted", production), message);
  await refused(openAsAdmin(settingsOf("unmounted", production)), message);
  await assert.rejects(readdir(at("unmounted")), "nothing was made");
});

test("a backup and an examination make no data, in development neither", async () => {
  const settings = { DATABASE_URL: "", DATA_DIRECTORY: at("nothing") };
  const [backup] = await runAllOn("", "backup", [{ args: ["--to", at("backups")], settings }]);
  const [doctor] = await runAllOn("", "doctor", [{ args: [], settings }]);
  for (const { exitCode, stderr } of [backup!, doctor!]) {
    assert.equal(exitCode, 1);
    assert.match(stderr, /^There are no data in .*nothing\. Is its disk mounted/);
    assert.doesNotMatch(stderr, /\n\s+at /);
  }
});

test("a folder that once had data is never given a new shop, whatever is asked", async () => {
  for (const name of ["password", "port"]) {
    const home = `lost-${name}`;
    await mkdir(at(home));
    await writeFile(join(at(home), name), "5432");
    const message = new RegExp(`once had data: ${name} is left, .*mount that disk.*npx erp restore`, "s");
    for (const content of [undefined, "demo", "empty"] as const)
      await refused(start(home, {}, content), message);
    await refused(openAsAdmin(settingsOf(home)), message);
  }
  // All of it is gone, but its backups
  await mkdir(at("kept/20261122T210000Z"), { recursive: true });
  await refused(
    start("gone", { BACKUP_DIRECTORY: at("kept") }),
    /There are no data in .*gone.*backups.*npx erp restore --from .*kept/s,
  );
});

test("damaged folders are refused in words", async () => {
  await writeFile(at("file"), "");
  await mkdir(at("inner"));
  await writeFile(at("inner/postgres"), "");
  await mkdir(at("torn/postgres/base"), { recursive: true });
  await refused(
    start("file"),
    /file\/postgres can't be used: it, or a part of its path, is a file and not a folder/,
  );
  await refused(start("file/below"), /is a file and not a folder/);
  await refused(start("inner"), /inner\/postgres can't be used: .* is a file and not a folder/);
  await refused(start("torn"), /torn\/postgres is incomplete: it has no PG_VERSION/);
  await refused(start(relative(folder.path, "/proc/erp")), /\/proc\/erp can't be created/);
});

test("an empty shop stays empty, asked for once; without its file of the password it starts, too", async () => {
  const { NODE_ENV } = production;
  assert.deepEqual(await contentOf(await start("empty", { NODE_ENV }, "empty")), {
    ...{ hasShop: false, administrators: 1 },
  });
  await running!.stop();
  running = undefined;
  await refused(start("empty", { NODE_ENV }, "empty"), /empty already has a shop: start without --empty/);
  await refused(start("empty", {}, "demo"), /empty already has a shop: start without --demo/);
  await rm(at("empty/password"));
  assert.deepEqual(await contentOf(await start("empty")), { hasShop: false, administrators: 1 });
});

test("a demonstration shop that was begun is finished by the next start; others are left as they are", async () => {
  assert.equal((await openFolder({ ...settingsOf("begun", production), content: "demo" })).wantsDemo, true);
  await copyPrepared(at("begun"));
  const next = await openFolder(settingsOf("begun", production));
  assert.equal(next.wantsDemo, true);
  await next.demoIsMade();
  assert.equal((await openFolder(settingsOf("begun"))).wantsDemo, false);
  await rename(at("begun"), at("moved"));
  assert.equal((await openFolder(settingsOf("begun"))).wantsDemo, true);
  assert.equal((await openFolder({ ...settingsOf("begun"), content: "empty" })).wantsDemo, false);
});

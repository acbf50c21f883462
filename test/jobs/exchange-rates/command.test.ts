import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import pg from "pg";
import { Commands, runCommand, startCommand, temporaryFolder } from "../../commands/process.ts";
import { openTestDatabase } from "../../lib/database.ts";
import type { TestDatabase } from "../../lib/database.ts";
import { copyPrepared } from "../../lib/prepared.ts";
import { listOf, oneDay } from "./lists.ts";

let database: TestDatabase;
let owner: pg.Client;
let commands: Commands;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let list: string;
before(async () => {
  folder = await temporaryFolder();
  list = join(folder.path, "rates.xml");
  await writeFile(list, oneDay);
  database = await openTestDatabase("template_demo");
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  commands = new Commands(database.adminUrl);
});
after(async () => {
  await commands.close();
  await owner.end();
  await database.close();
  await folder.remove();
});

async function run(args: string[], databaseUrl = database.adminUrl) {
  const line = { args: ["rates", ...args], settings: { DATABASE_URL: databaseUrl } };
  const { exitCode: code, stdout, stderr } = await commands.run(line);
  return { code, output: stdout + stderr };
}

async function countOf(date: string): Promise<number> {
  const { rowCount } = await owner.query("select from erp.exchange_rate where reference_date = $1", [date]);
  return rowCount!;
}

test("it imports a file, and prints what it has imported", async () => {
  const { code, output } = await run(["--from", list]);
  assert.equal(code, 0, output);
  assert.equal(output, "2026-06-01  3 of 4 rates are for currencies of the shop\n");
  assert.equal(await countOf("2026-06-01"), 3);
});

test("the service's own URL will do", async () => {
  const other = join(folder.path, "two.xml");
  await writeFile(other, listOf({ "2026-06-03": { USD: "1.2" }, "2026-06-02": { USD: "1.1", GBP: "0.8" } }));
  const { code, output } = await run(["--from", other], database.loginUrl);
  assert.equal(code, 0, output);
  assert.match(output, /^2026-06-02 {2}2 of 2 .*\n2026-06-03 {2}1 of 1 .*\n$/);
  assert.deepEqual([await countOf("2026-06-02"), await countOf("2026-06-03")], [2, 1]);
});

test("refusals end with 1 and say why", async () => {
  const bad = join(folder.path, "bad.xml");
  await writeFile(bad, oneDay.replaceAll("2026-06-01", "2026-06-31"));
  const empty = await openTestDatabase("template0");
  const refusals = await Promise.all([
    run(["--from", bad]),
    run(["--from", join(folder.path, "none.xml")]),
    run(["--from", "ftp://example.com/rates.xml"]),
    run(["--from", list], empty.adminUrl),
    run(["--from", list], "postgres://me:hunter2@127.0.0.1:1/erp"),
  ]);
  await empty.close();
  const messages = [
    /This is no list of exchange rates/,
    /there is no such file/,
    /https: and http:/,
    /has not been set up for this yet/,
    /127\.0\.0\.1:1\/erp can't be used/,
  ];
  for (const [index, { code, output }] of refusals.entries()) {
    assert.equal(code, 1);
    assert.match(output, messages[index]!);
    assert.doesNotMatch(output, /\n\s+at |hunter2/);
  }
});

test("what isn't understood ends with 2 and shows the usage", async () => {
  for (const args of [[], ["--from"], [list], ["--from", ""]]) {
    const { code, output } = await run(args);
    assert.equal(code, 2, args.join(" "));
    assert.match(output, /^Usage: erp rates/);
  }
});

test("on the embedded Postgres it works while the service runs, and when it doesn't", async () => {
  const settings = { DATA_DIRECTORY: join(folder.path, "own") };
  await copyPrepared(settings.DATA_DIRECTORY);
  const service = startCommand(["start"], settings);
  try {
    await service.said(/The API is at/);
    const { code, output } = await runCommand(["rates", "--from", list], settings);
    assert.deepEqual([code, /3 of 4 rates/.test(output)], [0, true], output);
  } finally {
    service.kill("SIGINT");
  }
  assert.equal(await service.ended, 0, service.output());
  const { code, output } = await runCommand(["rates", "--from", list], settings);
  assert.deepEqual([code, /3 of 4 rates/.test(output)], [0, true], output);
});

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { promisify } from "node:util";
import { HttpBrowser } from "../administration/browser.ts";
import { processesIn } from "../lib/processes.ts";
import { until } from "../lib/until.ts";
import { showFirstSecrets } from "../../src/commands/first-secrets.ts";
import { allVersions, startCommand, temporaryFolder } from "./process.ts";
import type { CommandProcess } from "./process.ts";

// The tests use one data folder in turn, as the starts of one installation do. A start takes seconds of processor time, so
// some show how a process starts, and how it ends, too.
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let credentials: { client_id: string; client_secret: string };
let running: CommandProcess | undefined;

before(async () => void (folder = await temporaryFolder()));
afterEach(async () => {
  running?.kill("SIGINT");
  const timer = setTimeout(() => running?.kill("SIGKILL"), 15_000);
  await running?.ended;
  clearTimeout(timer);
  running = undefined;
  await tidyUp();
});
after(async () => {
  await folder.remove();
});

const start = (settings: Record<string, string> = {}) =>
  (running = startCommand(["start"], { DATA_DIRECTORY: folder.path, ...settings }));

const addressOf = async (service: CommandProcess) =>
  (await service.said(/The API is at (http:\S+?)\/api/))[1]!;

/** Asks the API with the client credentials of the first start, so a success shows that its data is still there. */
async function assertAnswers(service: CommandProcess): Promise<void> {
  const address = await addressOf(service);
  assert.equal((await fetch(`${address}/healthz`)).status, 200);
  const response = await fetch(`${address}/api/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ grant_type: "client_credentials", ...credentials }),
  });
  assert.equal(response.status, 200, await response.text());
}

async function assertStops(service: CommandProcess): Promise<void> {
  const begin = performance.now();
  assert.equal(await service.ended, 0, service.output());
  assert.ok(performance.now() - begin < 20_000);
  assert.equal(await postgresPid(), null, "Postgres has stopped too");
}

/** The process in Postgres' pid file; null when there is none. */
async function postgresPid(): Promise<number | null> {
  const text = await readFile(join(folder.path, "postgres/postmaster.pid"), "utf8").catch(() => "");
  return Number.parseInt(text) || null;
}

async function endPostgres(): Promise<void> {
  const pid = await postgresPid();
  if (pid === null || pid === process.pid) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
  await until(async () => (await processesIn(join(folder.path, "postgres"))).length === 0);
}

/** Removes remains of a failed test. */
async function tidyUp(): Promise<void> {
  await endPostgres();
  await rm(join(folder.path, "postgres/postmaster.pid"), { force: true });
}

test("a set-up of Postgres may be broken off", async () => {
  const killed = start();
  // Some of the data is there, but not yet in its place
  const isUnderWay = async () => {
    const names = await readdir(folder.path, { recursive: true });
    return names.some((name) => /^postgres\.new-[^/]+\/base$/.test(name));
  };
  await until(isUnderWay);
  killed.kill("SIGKILL");
  await killed.ended;
});

test("a taken port is named before data are made, which takes long", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  for (const name of ["PORT", "METRICS_PORT"]) {
    const service = start({ [name]: String(port) });
    assert.equal(await service.ended, 1);
    assert.match(
      service.output(),
      new RegExp(
        `^Can't listen on 127.0.0.1:${port}: another program uses it\\. Set ${name} to another port\\.\n$`,
      ),
    );
  }
  assert.ok(!(await readdir(folder.path)).includes("postgres"));
});

test("the first start that succeeds writes a credential to a file that only its user may read, and commands that work when pasted; the end of the terminal stops it", async () => {
  const service = start(allVersions);
  const address = await addressOf(service);
  const [, path] = await service.said(/password are in (\S+),/);
  assert.equal(path, join(folder.path, "first-secrets.txt"));
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const output = await readFile(path, "utf8");
  assert.doesNotMatch(service.output(), /ak_|sk_/);
  assert.doesNotMatch(service.output(), /Waiting for Postgres/, "it was there all the time");
  credentials = {
    client_id: /client_id\s+(\S+)/.exec(output)![1]!,
    client_secret: /client_secret\s+(\S+)/.exec(output)![1]!,
  };
  await assertAnswers(service);
  const commands = output.slice(output.indexOf("TOKEN=$("));
  const { stdout } = await promisify(execFile)("bash", ["-euc", commands]);
  assert.deepEqual(Object.keys(JSON.parse(stdout)), ["data", "extensions"], stdout);
  assert.ok(commands.includes(address));
  const password = /name +admin\n +password +(\S+)/.exec(output)![1]!;
  await new HttpBrowser(address).logIn("admin", password);
  service.kill("SIGHUP");
  await assertStops(service);
});

test("another start keeps the data and prints no secret; a second process is refused, and the first continues; the next takes over its Postgres when it was killed, or recovers that; two Ctrl-C stop it cleanly", async () => {
  const first = start();
  await assertAnswers(first);
  assert.match(first.output(), /The administration is at http:\S+\/admin\n/);
  assert.doesNotMatch(first.output(), /client_secret|password/);
  const second = startCommand(["start"], { DATA_DIRECTORY: folder.path });
  assert.equal(await second.ended, 1);
  assert.match(second.output(), /Another process is using the database in .+\. Stop it first\./);
  assert.doesNotMatch(second.output(), /\n\s+at /);
  await assertAnswers(first);
  first.kill("SIGKILL");
  await first.ended;
  assert.notEqual(await postgresPid(), null);

  const killedWithPostgres = start();
  await assertAnswers(killedWithPostgres);
  killedWithPostgres.kill("SIGKILL");
  await killedWithPostgres.ended;
  await endPostgres();
  assert.notEqual(await postgresPid(), null, "it could not tidy up");

  const service = start();
  await assertAnswers(service);
  const address = await addressOf(service);
  // Under npm it reaches the process twice
  service.kill("SIGINT");
  // Two at the same time may arrive as one
  await until(() =>
    fetch(`${address}/healthz`).then(
      () => false,
      () => true,
    ),
  );
  service.kill("SIGINT");
  await assertStops(service);
});

test("wrong settings are all named, before anything starts", async () => {
  const service = start({ PORT: "http", LOG_LEVEL: "loud", DATABASE_URL: "mysql://root:hunter2@db/erp" });
  assert.equal(await service.ended, 1);
  for (const name of ["PORT", "LOG_LEVEL", "DATABASE_URL"])
    assert.match(service.output(), new RegExp(`^  ${name}: `, "m"));
  assert.doesNotMatch(service.output(), /hunter2|Starting Postgres|\n\s+at /);
});

test("an address where no Postgres answers is told without the password", async () => {
  const service = start({
    DATABASE_URL: "postgres://service_login:hunter2@127.0.0.1:1/erp",
    DATABASE_WAIT: "0",
  });
  assert.equal(await service.ended, 1);
  assert.match(service.output(), /Postgres at 127\.0\.0\.1:1\/erp can't be used/);
  assert.doesNotMatch(service.output(), /hunter2|\n\s+at /);
});

test("a file of Postgres that names another program's process doesn't stop the start; SIGINT during it stops Postgres too", async () => {
  await writeFile(join(folder.path, "postgres/postmaster.pid"), `${process.pid}\n`);
  const service = start();
  await service.said(/Migrating/);
  service.kill("SIGINT");
  await service.ended;
  assert.equal(await postgresPid(), null);
});

test("a terminal shows the first secrets", async (t) => {
  const secrets = { credential: { id: "", clientId: "ak_1", clientSecret: "sk_1" }, password: "hunter2" };
  const write = t.mock.method(process.stderr, "write", () => true);
  await showFirstSecrets(secrets, "http://127.0.0.1:4000", null);
  write.mock.restore();
  const text = write.mock.calls.map(({ arguments: [part] }) => String(part)).join("");
  assert.match(text, /password {2}hunter2[^]*client_secret {2}sk_1/);
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loggedIn, HttpBrowser } from "../administration/browser.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { Commands, runOn } from "./process.ts";

let service: TestService;
let commands: Commands;
before(async () => {
  service = await startService();
  commands = new Commands(service.adminUrl);
});
after(async () => {
  await commands.close();
  await service.close();
});

const run = (args: string[]) => commands.run({ args: ["admin", ...args] });
const runWith = (input: string, ...args: string[]) => runOn(service.adminUrl, ["admin", ...args], input);

async function json(...args: string[]): Promise<any> {
  const { exitCode, stdout, stderr } = await run([...args, "--json"]);
  assert.equal(exitCode, 0, stderr);
  return JSON.parse(stdout);
}

test("an administrator who is made logs in, gets another password, and is deactivated", async () => {
  const { password } = await json("create", "anna@example.com");
  const visitor = new HttpBrowser(service.url);
  await visitor.logIn("anna@example.com", password);

  const { password: next } = await json("reset-password", "Anna@example.com");
  assert.notEqual(next, password);
  assert.equal((await visitor.get("/admin/tokens")).status, 303);
  await visitor.logIn("anna@example.com", next);

  await json("deactivate", "anna@example.com");
  assert.equal((await visitor.get("/admin/tokens")).status, 303);
  const [listed] = (await json("list")).filter(({ name }: { name: string }) => name === "anna@example.com");
  assert.equal(listed.active, false);
  assert.ok(listed.last_log_in_at);

  const { password: third } = await json("reset-password", "anna@example.com");
  await visitor.logIn("anna@example.com", third);
});

test("a password can be given by standard input, and is not shown then", async () => {
  const given = "one of my own making";
  const { exitCode, stdout } = await runWith(`${given}\n`, "create", "berta", "--password-stdin");
  assert.equal(exitCode, 0);
  assert.ok(!stdout.includes(given));
  await new HttpBrowser(service.url).logIn("berta", given);
});

test("people read text, with the password once", async () => {
  const { stdout } = await run(["create", "carla"]);
  assert.match(stdout, /Made the administrator “carla”[^]*password +[a-z2-9]{6}(-[a-z2-9]{6}){3} /);
  const { stdout: list } = await run(["list"]);
  assert.match(list, /^carla +active, never logged in$/m);
  assert.doesNotMatch(list, /argon2/);
});

test("refusals end with 1 and say why", async () => {
  await loggedIn(service, "dora");
  const cases: [args: string[], reason: RegExp][] = [
    [["create", "DORA"], /There is already an administrator “DORA”/],
    [["create", "two words"], /without spaces/],
    [["reset-password", "nobody"], /There is no administrator “nobody”/],
    [["deactivate", "nobody"], /There is no administrator “nobody”/],
  ];
  const short = await runWith("short", "create", "emma", "--password-stdin");
  const results = [...(await Promise.all(cases.map(([args]) => run(args)))), short];
  for (const [n, { exitCode, stdout, stderr }] of results.entries()) {
    assert.deepEqual([exitCode, stdout], [1, ""], stderr);
    assert.match(stderr, cases[n]?.[1] ?? /at least 12 characters/);
    assert.doesNotMatch(stderr, /\n +at /);
  }
  const { exitCode } = await runOn(service.loginUrl, ["admin", "list"]);
  assert.equal(exitCode, 1);
});

test("what isn't understood ends with 2 and shows the usage", async () => {
  const wrong = [[], ["nonsense"], ["constructor"], ["create"], ["list", "x"], ["create", "a", "b"]];
  for (const { exitCode, stdout, stderr } of await Promise.all(wrong.map(run))) {
    assert.deepEqual([exitCode, stdout], [2, ""], stderr);
    assert.match(stderr, /^Usage: erp admin/);
  }
});

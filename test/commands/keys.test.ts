import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { decodeProtectedHeader } from "jose";
import type { ClientCredentials } from "../../src/auth/credentials.ts";
import { query, startService } from "../lib/service.ts";
import type { TestProcess, TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";
import { Commands, runOn } from "./process.ts";

// Two services on one database, which hear of each other as two processes do
let service: TestService;
let services: TestProcess[];
let credentials: ClientCredentials;
let commands: Commands;

before(async () => {
  service = await startService({ settings: { tokenRequestsPerMinute: 100_000 } });
  services = [service, await service.another({ settings: { tokenRequestsPerMinute: 100_000 } })];
  credentials = await service.credential();
  commands = new Commands(service.adminUrl);
});
after(async () => {
  await commands.close();
  await service.close();
});

const run = (args: string[], settings = {}) => commands.run({ args: ["keys", ...args], settings });
const runJson = async (args: string[]): Promise<any> => {
  const { exitCode, stdout, stderr } = await run([...args, "--json"]);
  assert.equal(exitCode, 0, stderr);
  return JSON.parse(stdout);
};

/** A token of each. */
const tokens = () => Promise.all(services.map((each) => each.tokenFor(credentials)));

const kidOf = (token: string) => decodeProtectedHeader(token).kid!;

const statusesOf = (token: string) =>
  Promise.all(services.map(async ({ ask }) => (await ask(token, { query })).status));

/** Waits until both sign with a key. Returns a token of each. */
async function signedBy(kid: string): Promise<string[]> {
  await until(async () => (await tokens()).every((token) => kidOf(token) === kid));
  return tokens();
}

test("after a rotation both services sign with the new key, and accept both", async () => {
  const old = await tokens();
  const [first] = await runJson(["list"]);
  assert.deepEqual([first.state, first.until, first.from], ["signs", null, "database, plain"]);
  assert.deepEqual(old.map(kidOf), [first.kid, first.kid]);

  const { kid, overlap_ends_at: end } = await runJson(["rotate"]);
  assert.notEqual(kid, first.kid);
  const minutes = (Date.parse(end) - Date.now()) / 60_000;
  assert.ok(minutes > 10.5 && minutes < 11.5, "longer than a token lasts");
  // The first token of either: the other may not know the key yet
  let fresh = "";
  await until(async () => {
    fresh = (await tokens()).find((token) => kidOf(token) === kid) ?? "";
    return fresh !== "";
  });
  assert.deepEqual(await statusesOf(fresh), [200, 200], "at once");
  for (const token of [...old, ...(await signedBy(kid))])
    assert.deepEqual(await statusesOf(token), [200, 200]);

  const { stdout } = await run(["list"]);
  const [headings, ...lines] = stdout.trimEnd().split("\n");
  assert.match(headings!, /^KID +CREATED +STATE +FROM$/);
  assert.match(lines[0]!, new RegExp(`^${kid}  \\S+  signs +database, plain$`));
  assert.match(lines[1]!, new RegExp(`^${first.kid}  \\S+  verifies until \\S+Z  database, plain$`));
  const { rows } = await service.owner.query("select secret from auth.signing_key");
  for (const { secret } of rows) assert.ok(!stdout.includes(secret));
});

test("retiring a key ends its tokens in both services, and no others", async () => {
  const [old] = await tokens();
  const { kid } = await runJson(["rotate"]);
  const fresh = await signedBy(kid);
  assert.deepEqual(await statusesOf(old!), [200, 200]);
  assert.deepEqual(await runJson(["retire", kidOf(old!), "--now"]), { kid: kidOf(old!), state: "retired" });
  await until(async () => (await statusesOf(old!)).every((status) => status === 401));
  for (const token of fresh) assert.deepEqual(await statusesOf(token), [200, 200]);
  const { rows } = await service.owner.query("select secret from auth.signing_key where id = $1", [
    kidOf(old!),
  ]);
  assert.deepEqual(rows, [{ secret: null }], "nothing is left of it");
  assert.match((await run(["list"])).stdout, new RegExp(`${kidOf(old!)} .*retired since .*database, erased`));
  assert.equal((await run(["retire", kidOf(old!), "--now"])).exitCode, 0, "twice does no harm");
});

test("a key retires by itself when its time is over, and is erased", async () => {
  const [old] = await tokens();
  await runJson(["rotate"]);
  assert.deepEqual(await statusesOf(old!), [200, 200]);
  await service.owner.query(
    "update auth.signing_key set retires_at = date_trunc('second', now()) + interval '1 s' where id = $1",
    [kidOf(old!)],
  );
  await until(async () => (await statusesOf(old!)).every((status) => status === 401));
  const { rows } = await service.owner.query("select auth.erase_retired_keys() as erased");
  assert.deepEqual(rows, [{ erased: 1 }]);
});

test("what is done is in the audit, without a key", async () => {
  const { kid } = await runJson(["rotate"]);
  const { rows } = await service.owner.query(
    "select actor, action, subject from auth.audit_event where action ~ 'signing_key' order by id desc limit 1",
  );
  assert.deepEqual(rows, [{ actor: "command line", action: "signing_key.rotated", subject: kid }]);
});

test("refusals name what is wrong, and change nothing", async () => {
  const { kid } = await runJson(["rotate"]);
  const [, before] = await runJson(["list"]);
  const state = async () => (await service.owner.query("select * from auth.signing_key order by id")).rows;
  const untouched = await state();
  const cases: [args: string[], pattern: RegExp, settings?: Record<string, string>][] = [
    [["retire", kid, "--now"], /is the key that signs.*keys rotate/],
    [["retire", before.kid], /valid until 2\d{3}-.*--now/s],
    [["retire", "018f0000-0000-7000-8000-000000000000", "--now"], /There is no signing key 018f/],
    [["retire", "'; drop table x", "--now"], /There is no signing key/],
    [["rotate"], /TOKEN_SIGNING_KEY/, { TOKEN_SIGNING_KEY: "k".repeat(32) }],
    [["encrypt"], /SECRETS_KEY is not set/],
  ];
  for (const [args, pattern, settings] of cases) {
    const { exitCode, stdout, stderr } = await run(args, settings);
    assert.deepEqual([exitCode, stdout], [1, ""], args.join(" "));
    assert.match(stderr, pattern);
    assert.doesNotMatch(stderr, /\n +at /);
  }
  const login = await runOn(service.loginUrl, ["keys", "rotate"]);
  assert.equal(login.exitCode, 1);
  assert.match(login.stderr, /administrator/);
  assert.deepEqual(await state(), untouched);
});

test("keys of the environment are listed, and not those that they stand before", async () => {
  const [old, fresh] = ["o".repeat(32), "f".repeat(32)];
  const settings = { TOKEN_SIGNING_KEY: `${fresh},${old}` };
  const { stdout } = await runOn(service.adminUrl, ["keys", "list", "--json"], "", settings);
  const [first, second, ...others] = JSON.parse(stdout);
  assert.deepEqual([first.state, first.from], ["signs", "environment"]);
  assert.deepEqual([second.state, second.from], ["verifies", "environment"]);
  for (const { state } of others) assert.match(state, /unused|retired/);
  assert.doesNotMatch(stdout, /o{8}|f{8}/);
});

test("what isn't understood ends with 2 and shows the usage", async () => {
  const wrong = [[], ["nonsense"], ["retire"], ["list", "x"], ["rotate", "--now"], ["retire", "a", "b"]];
  for (const { exitCode, stdout, stderr } of await Promise.all(wrong.map((args) => run(args)))) {
    assert.deepEqual([exitCode, stdout], [2, ""], stderr);
    assert.match(stderr, /^Usage: erp keys/);
  }
});

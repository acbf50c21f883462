import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { secretPlace, Secrets } from "../../src/secrets/secrets.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { Commands } from "./process.ts";

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

const key = Buffer.alloc(32, 7).toString("base64");
const run = (args: string[], settings: Record<string, string> = { SECRETS_KEY: key }) =>
  commands.run({ args: ["carrier", ...args], settings });
const runJson = async (args: string[], settings?: Record<string, string>): Promise<any> => {
  const { exitCode, stdout, stderr } = await run([...args, "--json"], settings);
  assert.equal(exitCode, 0, stderr);
  return JSON.parse(stdout);
};
const stored = async () => (await service.owner.query("select * from erp.carrier")).rows[0];

test("a carrier gets a secret, which is shown once and stored encrypted", async () => {
  const url = "https://labels.example.com/demo";
  const { secret, ...shown } = await runJson(["set", "demo", "--name", "Demo", "--url", url]);
  assert.deepEqual(shown, { technical_name: "demo", name: "Demo", url, is_active: true });
  const { id, secret: sealed } = await stored();
  assert.match(sealed, /^sealed:v1:/);
  assert.equal(new Secrets([key]).open(sealed, secretPlace("carrier secret", id)), secret);
  const { stdout } = await run(["list"]);
  assert.match(stdout, /demo +Demo +https:\/\/labels\.example\.com\/demo +active/);
  assert.ok(!stdout.includes(secret));
});

test("what is left out stays, and what is given changes", async () => {
  const before = await stored();
  const changed = await runJson([
    "set",
    "demo",
    "--no-active",
    "--tracking-url",
    "https://t.example.com/{code}",
  ]);
  assert.deepEqual([changed.name, changed.is_active, changed.secret], ["Demo", false, undefined]);
  const { secret, tracking_url_pattern: pattern } = await stored();
  assert.deepEqual([secret, pattern], [before.secret, "https://t.example.com/{code}"]);
  assert.equal((await runJson(["set", "demo", "--active"])).is_active, true);
  const renewed = await runJson(["set", "demo", "--new-secret"]);
  assert.ok(renewed.secret && (await stored()).secret !== before.secret);
});

test("secrets of carriers are encrypted anew with another key", async () => {
  const { secret } = await runJson(["set", "demo", "--new-secret"], { SECRETS_KEY: "" });
  assert.equal((await stored()).secret, secret);
  const { exitCode, stdout } = await commands.run({
    args: ["keys", "encrypt"],
    settings: { SECRETS_KEY: key },
  });
  assert.equal(exitCode, 0, stdout);
  assert.match(stdout, /and 1 of carriers\.$/m);
  const { id, secret: sealed } = await stored();
  assert.equal(new Secrets([key]).open(sealed, secretPlace("carrier secret", id)), secret);
});

test("addresses that the service wouldn't call are refused, and values that are none", async () => {
  const url = (address: string) => ["set", "other", "--name", "Other", "--url", address];
  for (const [args, message, settings] of [
    [["set", "other"], /is new: it needs --name and --url/],
    [url("http://labels.example.com/"), /not sent to port 80, only to 443/],
    [url("https://labels.example.com:8443/"), /not sent to port 8443/],
    [url("https://10.0.0.1/"), /not on the public internet/],
    [url("https://me:hunter2@labels.example.com/"), /name and password/],
    [url("http://labels.example.com:443/"), /by http: only if CARRIER_ALLOW/],
    [["set", "Other One", "--name", "Other", "--url", "https://labels.example.com/"], /lower-case letters/],
    [["set", "demo", "--tracking-url", "https://t.example.com/"], /has \{code\}/],
    [["set", "demo", "--name", " "], /1 to 255 characters/],
  ] as [string[], RegExp, Record<string, string>?][]) {
    const { exitCode, stderr } = await run(args, settings);
    assert.notEqual(exitCode, 0, args.join(" "));
    assert.match(stderr, message);
  }
  const settings = { CARRIER_ALLOW: "10.0.0.0/8", SECRETS_KEY: key };
  assert.equal((await runJson(url("http://10.0.0.1:5001"), settings)).url, "http://10.0.0.1:5001");
});

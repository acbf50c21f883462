import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { query, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";
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

const run = (args: string[]) => commands.run({ args: ["credential", ...args] });

async function json(...args: string[]): Promise<any> {
  const { exitCode, stdout, stderr } = await run([...args, "--json"]);
  assert.equal(exitCode, 0, stderr);
  assert.equal(stdout.trim().split("\n").length, 1);
  return JSON.parse(stdout);
}

test("scripts that still call it token work", async () => {
  assert.equal((await commands.run({ args: ["token", "list"] })).exitCode, 0);
});

const tokenOf = ({ id, client_id: clientId, client_secret: clientSecret }: Record<string, string>) =>
  service.tokenFor({ id: id!, clientId: clientId!, clientSecret: clientSecret! });

test("a credential made at the terminal works, is listed, rotated, deactivated and deleted", async () => {
  const made = await json("create", "--name", "shop", "--read", "countries, currencies", "--write", "orders");
  assert.deepEqual(made.scopes, ["countries:read", "currencies:read", "orders:read", "orders:write"]);
  const token = await tokenOf(made);
  assert.equal((await service.ask(token, { query })).status, 200);

  const [listed] = (await json("list")).filter(({ id }: { id: string }) => id === made.id);
  assert.deepEqual([listed.name, listed.client_id, listed.active], ["shop", made.client_id, true]);
  assert.ok(listed.last_used_at);
  assert.ok(!("client_secret" in listed));

  const rotated = await json("rotate", made.id);
  assert.notEqual(rotated.client_id, made.client_id);
  await assert.rejects(tokenOf(made), /401/);
  const next = await tokenOf(rotated);

  await json("change", made.id, "--operations", "stored");
  await until(async () => (await service.ask(next, { query })).codes.join() === "FORBIDDEN");
  await json("deactivate", made.id);
  // The database tells the service of it
  await until(async () => (await service.ask(next, { query })).codes.join() === "UNAUTHORIZED");
  await json("delete", made.id);
  assert.ok(!(await json("list")).some(({ id }: { id: string }) => id === made.id));
});

test("after a rotation with an overlap the old client credentials stay valid; deactivating can be undone", async () => {
  const made = await json("create", "--name", "overlap", "--read", "countries");
  const rotated = await json("rotate", made.id, "--overlap", "24h");
  for (const credentials of [made, rotated])
    assert.equal((await service.ask(await tokenOf(credentials), { query })).status, 200);
  const { rows } = await service.owner.query(
    "select round(extract(epoch from expires_at - now()) / 3600)::int as hours from auth.credential_secret where access_key = $1",
    [made.client_id],
  );
  assert.deepEqual(rows, [{ hours: 24 }]);
  await json("deactivate", made.id);
  await assert.rejects(tokenOf(rotated), /401/);
  await json("activate", made.id);
  await tokenOf(rotated);
});

test("all resources at once, and none", async () => {
  const reader = await json("create", "--name", "reader", "--read", "all");
  assert.ok(reader.scopes.length > 20 && reader.scopes.every((scope: string) => scope.endsWith(":read")));
  const writer = await json("create", "--name", "writer", "--write", "all", "--read", "all");
  const written = writer.scopes.filter((scope: string) => scope.endsWith(":write"));
  assert.ok(written.includes("orders:write") && !written.includes("countries:write"));
  assert.equal(writer.scopes.length, reader.scopes.length + written.length);
  assert.deepEqual((await json("create", "--name", "nobody", "--no-access")).scopes, []);
});

test("a credential is named by its client id as well, in every command", async () => {
  const made = await json("create", "--name", "by key", "--read", "countries");
  await json("deactivate", made.client_id);
  await assert.rejects(tokenOf(made), /401/);
  await json("activate", made.client_id);
  await tokenOf(made);
  const rotated = await json("rotate", made.client_id, "--overlap", "1h");
  assert.equal(rotated.id, made.id);
  await tokenOf(rotated);
  // The older key is still valid, so it still names the credential
  assert.equal((await json("delete", made.client_id)).id, made.id);
  const { exitCode, stderr } = await run(["deactivate", rotated.client_id]);
  assert.equal(exitCode, 1);
  assert.match(stderr, /neither the id nor the client_id/);
});

test("people read text, with the secret once", async () => {
  const { stdout } = await runOn(service.adminUrl, ["token", "create", "--name", "shop", "--read", "tags"]);
  for (const line of [/client_id +ak_/, /client_secret +sk_/, /tags:read/]) assert.match(stdout, line);
  const { stdout: list } = await run(["list"]);
  assert.match(list, /shop[^]*client_id +ak_[^]*never used/);
  assert.doesNotMatch(list, /sk_/);
});

test("refusals end with 1 and say why", async () => {
  const unknown = await run(["create", "--name", "x", "--read", "moons"]);
  assert.equal(unknown.exitCode, 1);
  assert.match(unknown.stderr, /“moons”.*countries/);
  const missing = await run(["delete", "01980000-0000-7000-8000-000000000000"]);
  assert.deepEqual([missing.exitCode, missing.stdout], [1, ""]);
  assert.match(missing.stderr, /^There is no credential/);
  const login = await runOn(service.loginUrl, ["token", "list"]);
  assert.equal(login.exitCode, 1);
  assert.match(login.stderr, /administrator/);
  for (const { stderr } of [unknown, missing, login]) assert.doesNotMatch(stderr, /\n +at /);
});

test("what isn't understood ends with 2 and shows the usage", async () => {
  const wrong = [
    [],
    ["nonsense"],
    ["create"],
    ["create", "--name", "x"],
    ["create", "--name", "x", "--read", " , "],
    ["create", "--name", "x", "--read", "tags", "--no-access"],
    ["rotate"],
    ["list", "x"],
    ["delete", "a", "b"],
    ["rotate", "a", "--overlap", "31d"],
    ["rotate", "a", "--overlap", "a day"],
    ["change", "a", "--operations", "some"],
  ];
  for (const [n, result] of (await Promise.all(wrong.map(run))).entries()) {
    assert.deepEqual([result.exitCode, result.stdout], [2, ""], wrong[n]!.join(" "));
    assert.match(result.stderr, /^Usage: erp credential/);
  }
});

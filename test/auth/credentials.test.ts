import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as credentials from "../../src/auth/credentials.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

const { createCredential, CredentialError, listCredentials } = credentials;
let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

const find = async (id: string) => (await listCredentials(service.owner)).find((listed) => listed.id === id);

test("scopes are known from the tags of the views", async () => {
  const known = await credentials.knownScopes(service.owner);
  for (const scope of ["countries:read", "orders:read", "orders:write"])
    assert.ok(known.includes(scope), scope);
  // No mutation writes countries
  assert.ok(!known.includes("countries:write"));
  assert.deepEqual(known, [...new Set(known)].sort());
});

test("write holds read", async () => {
  const { scopes } = await createCredential(service.owner, {
    name: "a",
    write: ["orders"],
    read: ["currencies"],
  });
  assert.deepEqual(scopes, ["currencies:read", "orders:read", "orders:write"]);
});

test("what no mutation writes can only be read", async () => {
  await assert.rejects(
    createCredential(service.owner, { name: "a", write: ["orders", "countries"] }),
    (error: Error) =>
      error instanceof CredentialError && /No mutation writes “countries”/.test(error.message),
  );
  await assert.rejects(
    service.owner.query(
      "select auth.create_credential('a', '{countries:write}', 'ak_0123456789abcdef', sha256('x'))",
    ),
    /There is no scope countries:write/,
  );
});

test("all means every resource", async () => {
  const known = await credentials.knownScopes(service.owner);
  assert.deepEqual((await createCredential(service.owner, { name: "a", write: "all" })).scopes, known);
  const { scopes } = await createCredential(service.owner, { name: "a", read: "all" });
  assert.deepEqual(
    scopes,
    known.filter((scope) => scope.endsWith(":read")),
  );
});

test("a credential may have no scope at all", async () => {
  assert.deepEqual((await createCredential(service.owner, { name: "a" })).scopes, []);
});

test("unknown resources are refused, with those that there are", async () => {
  const request = { name: "a", read: ["countries", "moons"] };
  await assert.rejects(createCredential(service.owner, request), (error: Error) => {
    assert.ok(error instanceof CredentialError);
    assert.match(error.message, /“moons”.*countries.*currencies/);
    return true;
  });
  await assert.rejects(
    service.owner.query(
      "select auth.create_credential('a', '{moons:read}', 'ak_0123456789abcdef', sha256('x'))",
    ),
    /There is no scope moons:read/,
  );
});

test("names must be there", async () => {
  await assert.rejects(createCredential(service.owner, { name: " " }), CredentialError);
  await assert.rejects(createCredential(service.owner, { name: "x".repeat(101) }), CredentialError);
});

test("lists show everything but the secret", async () => {
  const { id, clientId, clientSecret, scopes } = await createCredential(service.owner, {
    name: " shop ",
    read: "all",
  });
  const listed = (await find(id))!;
  assert.equal(listed.name, "shop");
  assert.equal(listed.clientId, clientId);
  assert.deepEqual(listed.scopes, scopes);
  assert.equal(listed.active, true);
  assert.equal(listed.lastUsedAt, null);
  const { rows } = await service.owner.query(
    "select to_jsonb(s) || to_jsonb(c) as row from auth.credential_secret s, auth.credential c",
  );
  assert.ok(!JSON.stringify(rows).includes(clientSecret));
});

test("its use is noted", async () => {
  const credentials = await service.credential();
  await service.tokenFor(credentials);
  assert.ok((await find(credentials.id))!.lastUsedAt);
});

test("rotation gives new client credentials to the same credential", async () => {
  const { id, clientId } = await service.credential();
  const fresh = await credentials.rotateCredential(service.owner, id);
  assert.equal(fresh.id, id);
  assert.notEqual(fresh.clientId, clientId);
  const listed = (await find(id))!;
  assert.equal(listed.clientId, fresh.clientId);
  assert.ok(listed.rotatedAt);
});

test("deactivation stays in the list, a second one changes nothing, and rotation doesn't revive", async () => {
  const { id } = await service.credential();
  await credentials.deactivateCredential(service.owner, id);
  const { active, deactivatedAt } = (await find(id))!;
  assert.equal(active, false);
  await credentials.deactivateCredential(service.owner, id);
  assert.deepEqual((await find(id))!.deactivatedAt, deactivatedAt);
  await assert.rejects(credentials.rotateCredential(service.owner, id), CredentialError);
});

test("deletion removes it with its secrets", async () => {
  const { id } = await service.credential();
  await credentials.deleteCredential(service.owner, id);
  assert.equal(await find(id), undefined);
  const { rowCount } = await service.owner.query(
    "select from auth.credential_secret where credential_id = $1",
    [id],
  );
  assert.equal(rowCount, 0);
});

test("credentials that don't exist are refused", async () => {
  for (const id of ["01980000-0000-7000-8000-000000000000", "nonsense"]) {
    await assert.rejects(credentials.rotateCredential(service.owner, id), CredentialError);
    await assert.rejects(credentials.deactivateCredential(service.owner, id), CredentialError);
    await assert.rejects(credentials.deleteCredential(service.owner, id), CredentialError);
  }
});

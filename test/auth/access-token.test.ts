import assert from "node:assert/strict";
import { createSecretKey, randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { AccessTokens } from "../../src/auth/access-token.ts";
import { loadSigningKeys } from "../../src/auth/signing-keys.ts";
import { query, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

let time = Date.now();
let service: TestService;
before(async () => void (service = await startService({ now: () => time })));
after(() => service.close());

const challengeOf = async (token: string | null, headers: Record<string, string> = {}) => {
  const { status, codes, headers: answered, body } = await service.ask(token, { query }, { headers });
  assert.deepEqual([status, codes], [401, ["UNAUTHENTICATED"]]);
  assert.equal(body.data, undefined);
  return answered.get("www-authenticate");
};

test("without a token: 401, a challenge that names no error, UNAUTHENTICATED", async () => {
  assert.equal(await challengeOf(null), 'Bearer realm="service"');
});

test("with a damaged, unsigned or strangely signed token: 401 and invalid_token", async () => {
  const token = await service.token();
  const [head, body, signature] = token.split(".");
  const none = Buffer.from(JSON.stringify({ alg: "none", typ: "at+jwt" })).toString("base64url");
  const stranger = { currentId: "x", byId: new Map([["x", createSecretKey(randomBytes(32))]]) };
  const claims = { credentialId: "x", accessKey: "x", scopes: [] };
  const bad = [
    "x",
    "x.y.z",
    `${head}.${body}.`,
    `${head}.${body}.${signature!.split("").reverse().join("")}`,
    `${none}.${body}.`,
    `${head}.${body}x.${signature}`,
    await new AccessTokens(stranger, Date.now).issue(claims),
    "x".repeat(10_000),
  ];
  for (const value of bad) {
    assert.match(
      (await challengeOf(value))!,
      /^Bearer realm="service", error="invalid_token", error_description="[ !#-[\]-~]+"$/,
      value.slice(0, 40),
    );
  }
});

test("with another scheme: 401", async () => {
  const { clientId, clientSecret } = await service.credential();
  const pair = Buffer.from(`${clientId}:${clientSecret}`).toString("base64");
  await challengeOf(null, { authorization: `Basic ${pair}` });
  await challengeOf(null, { authorization: "Bearer" });
  await challengeOf(null, { authorization: "Bearer two words" });
});

test("a token works for its ten minutes and not a second longer, also when it was verified before", async () => {
  const token = await service.token();
  const start = time;
  time = start + 599_000;
  assert.equal((await service.ask(token, { query })).status, 200);
  time = start + 601_000;
  assert.match((await challengeOf(token))!, /invalid_token/);
  time = start;
});

test("a valid token of another kind: UNAUTHORIZED", async () => {
  const { id, clientId, scopes } = await service.credential();
  const keys = await loadSigningKeys(service.pool, undefined);
  const session = await new AccessTokens(keys, () => time).issue(
    { credentialId: id, accessKey: clientId, scopes },
    "urn:service:administration",
  );
  const { status, codes, headers } = await service.ask(session, { query });
  assert.deepEqual([status, codes], [403, ["UNAUTHORIZED"]]);
  assert.equal(headers.get("www-authenticate"), null);
});

test("a token that claims a credential that never was: UNAUTHORIZED", async () => {
  const keys = await loadSigningKeys(service.pool, undefined);
  const claims = { credentialId: "x", accessKey: "ak_never", scopes: ["countries:read"] };
  const token = await new AccessTokens(keys, () => time).issue(claims);
  assert.deepEqual((await service.ask(token, { query })).codes, ["UNAUTHORIZED"]);
});

test("the key is made once and kept: a token works after a restart and in another process", async () => {
  const token = await service.token();
  const other = await service.another({ now: () => time });
  assert.equal((await other.ask(token, { query })).status, 200);
});

test("a configured key takes the place of the stored ones", async () => {
  const token = await service.token();
  const settings = { explorer: false, tokenSigningKey: "a key of more than thirty-two characters" };
  const other = await service.another({ now: () => time, settings });
  assert.equal((await other.ask(token, { query })).status, 401);
  const own = await other.tokenFor(await service.credential());
  assert.equal((await other.ask(own, { query })).status, 200);
  assert.equal((await service.ask(own, { query })).status, 401);
});

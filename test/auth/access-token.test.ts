import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { JWTPayload } from "jose";
import { jwtVerify, SignJWT } from "jose";
import { AccessTokens } from "../../src/auth/access-token.ts";
import { createCredential } from "../../src/auth/credentials.ts";
import { configuredSigningKeys } from "../../src/auth/signing-keys.ts";
import type { SigningKeys } from "../../src/auth/signing-keys.ts";
import { query, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { storedKeys } from "../lib/signing-keys.ts";

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
  const stranger = configuredSigningKeys([randomBytes(32).toString("hex")]);
  const ofOurs: SigningKeys = {
    current: async () => ({
      id: (await storedKeys(service.pool).current()).id,
      key: stranger.current().key,
    }),
    find: () => undefined,
  };
  const claims = { credentialId: "x", accessKey: "x", scopes: [] };
  const bad = [
    "x",
    "x.y.z",
    `${head}.${body}.`,
    `${head}.${body}.${signature!.split("").reverse().join("")}`,
    `${none}.${body}.`,
    `${head}.${body}x.${signature}`,
    await new AccessTokens(stranger, Date.now).issue(claims),
    await new AccessTokens(ofOurs, Date.now).issue(claims),
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

test("with the client secret or the client ID of a credential: 401, and what to do with it, without repeating it", async () => {
  const { clientId, clientSecret } = await createCredential(service.owner, { name: "mistaken" });
  for (const [part, name] of [
    [clientSecret, "secret"],
    [clientId, "ID"],
  ] as const) {
    const { status, body } = await service.ask(part, { query });
    assert.equal(status, 401);
    const [{ message }] = body.errors;
    assert.match(message, new RegExp(`This is the client ${name} of an API credential.*/api/oauth/token`));
    assert.ok(!message.includes(part));
  }
});

test("with another scheme: 401", async () => {
  const { clientId, clientSecret } = await service.credential();
  const credentials = Buffer.from(`${clientId}:${clientSecret}`).toString("base64");
  await challengeOf(null, { authorization: `Basic ${credentials}` });
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
  const keys = storedKeys(service.pool);
  const session = await new AccessTokens(keys, () => time).issue(
    { credentialId: id, accessKey: clientId, scopes },
    "urn:service:administration",
  );
  const { status, codes, headers } = await service.ask(session, { query });
  assert.deepEqual([status, codes], [403, ["UNAUTHORIZED"]]);
  assert.equal(headers.get("www-authenticate"), null);
});

test("a token that claims a credential that never was: UNAUTHORIZED", async () => {
  const keys = storedKeys(service.pool);
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
  const settings = { explorer: false, tokenSigningKeys: ["a key of more than thirty-two characters"] };
  const other = await service.another({ now: () => time, settings });
  assert.equal((await other.ask(token, { query })).status, 401);
  const own = await other.tokenFor(await service.credential());
  assert.equal((await other.ask(own, { query })).status, 200);
  assert.equal((await service.ask(own, { query })).status, 401);
});

test("of several configured keys the first signs, and all are accepted", async () => {
  const [old, fresh] = ["o".repeat(32), "f".repeat(32)];
  const having = (...tokenSigningKeys: string[]) =>
    service.another({ now: () => time, settings: { explorer: false, tokenSigningKeys } });
  const [before, both, later] = [await having(old), await having(fresh, old), await having(fresh)];
  const credentials = await service.credential();
  const statusesOf = async (token: string) =>
    Promise.all([before, both, later].map(async (process) => (await process.ask(token, { query })).status));
  assert.deepEqual(await statusesOf(await before.tokenFor(credentials)), [200, 200, 401]);
  assert.deepEqual(await statusesOf(await both.tokenFor(credentials)), [401, 200, 200]);
});

test("the database is asked about few of many tokens with unknown keys", async () => {
  const { id, clientId, scopes } = await service.credential();
  await service.token();
  const forge = (kid: string) => {
    const { key } = configuredSigningKeys([randomBytes(32).toString("hex")]).current();
    const keys: SigningKeys = { current: () => ({ id: kid, key }), find: () => undefined };
    return new AccessTokens(keys, () => time).issue({ credentialId: id, accessKey: clientId, scopes });
  };
  let connections = 0;
  const count = () => connections++;
  const begin = performance.now();
  service.pool.on("acquire", count);
  for (let i = 0; i < 200; i++)
    assert.match((await challengeOf(await forge(randomUUID())))!, /invalid_token/);
  service.pool.off("acquire", count);
  const seconds = (performance.now() - begin) / 1_000;
  // Five at once, one more a second, and the listener's own check
  assert.ok(connections <= 5 + 2 * Math.ceil(seconds), `${connections} in ${seconds} s`);
  assert.ok(connections >= 1, "one of them could have been a key that is new");
});

test("another implementation of the standard reads the tokens, and writes ones that are taken", async () => {
  const { id: kid, key } = await storedKeys(service.pool).current();
  const credentials = await service.credential();
  const { payload, protectedHeader } = await jwtVerify(await service.tokenFor(credentials), key, {
    ...{ algorithms: ["HS256"], issuer: "urn:service:tokens", audience: "urn:service:graphql-api" },
    ...{ typ: "at+jwt", requiredClaims: ["sub", "jti", "exp", "iat", "client_id", "scope"] },
    currentDate: new Date(time),
  });
  assert.deepEqual(protectedHeader, { alg: "HS256", typ: "at+jwt", kid });
  assert.deepEqual(
    [payload.sub, payload.client_id, payload.exp! - payload.iat!],
    [credentials.id, credentials.clientId, 600],
  );
  const signed = (claims: JWTPayload, header = {}) =>
    new SignJWT(claims).setProtectedHeader({ alg: "HS256", typ: "at+jwt", kid, ...header }).sign(key);
  assert.equal((await service.ask(await signed(payload), { query })).status, 200);
  for (const [claims, header] of [
    [{ ...payload, iss: "urn:other" }],
    [{ ...payload, sub: undefined }],
    [{ ...payload, exp: undefined }],
    [{ ...payload, iat: undefined }],
    [{ ...payload, nbf: payload.iat! + 60 }],
    [{ ...payload, exp: payload.iat! - 1 }],
    [payload, { kid: undefined }],
    [payload, { kid: randomUUID() }],
    [payload, { kid: "__proto__" }],
    [payload, { alg: "HS384" }],
    [payload, { alg: "HS512" }],
  ] as [JWTPayload, object?][])
    assert.match((await challengeOf(await signed(claims, header)))!, /invalid_token/);
  const foreign = await signed(payload, { typ: "JWT" });
  assert.deepEqual((await service.ask(foreign, { query })).codes, ["UNAUTHORIZED"]);
});

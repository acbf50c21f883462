import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { decodeJwt, decodeProtectedHeader } from "jose";
import type { ClientCredentials } from "../../src/auth/credentials.ts";
import { query, read, startService } from "../lib/service.ts";
import type { HttpAnswer, TestService } from "../lib/service.ts";

let service: TestService;
let credentials: ClientCredentials & { scopes: string[] };
before(async () => {
  service = await startService();
  credentials = await service.credential({ read: ["countries"], write: ["warehouses"] });
});
after(() => service.close());

const send = async (init: RequestInit): Promise<HttpAnswer> =>
  read(await fetch(`${service.url}/api/oauth/token`, { method: "POST", ...init }));
const sendJson = (body: unknown, headers: Record<string, string> = {}) =>
  send({
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const sendForm = (body: Record<string, string> | string[][], headers: Record<string, string> = {}) =>
  send({ headers, body: new URLSearchParams(body) });

const grant = { grant_type: "client_credentials" };
const inBody = () => ({ ...grant, client_id: credentials.clientId, client_secret: credentials.clientSecret });
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
});

function assertToken({ status, headers, body }: HttpAnswer): void {
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.token_type, "Bearer");
  assert.equal(body.expires_in, 600);
  assert.equal(typeof body.access_token, "string");
  assert.ok(!("refresh_token" in body));
  assert.equal(headers.get("cache-control"), "no-store");
}

function assertRefused({ status, headers, body }: HttpAnswer, expectedStatus: number, error: string): void {
  assert.deepEqual([status, body.error], [expectedStatus, error], JSON.stringify(body));
  assert.equal(typeof body.error_description, "string");
  assert.equal(headers.get("cache-control"), "no-store");
  assert.equal(headers.has("www-authenticate"), status === 401);
}

test("client credentials in a JSON body are exchanged for a token that works", async () => {
  const answer = await sendJson(inBody());
  assertToken(answer);
  assert.equal(answer.body.scope, "countries:read warehouses:read warehouses:write");
  const { status, body } = await service.ask(answer.body.access_token, { query });
  assert.equal(status, 200);
  assert.ok(Array.isArray(body.data.countrys.edges));
});

test("the token is a JWT of RFC 9068 that says who, for what and how long", async () => {
  const { body } = await sendJson(inBody());
  assert.equal(decodeProtectedHeader(body.access_token).typ, "at+jwt");
  const claims = decodeJwt(body.access_token);
  assert.equal(claims.sub, credentials.id);
  assert.equal(claims.client_id, credentials.clientId);
  assert.equal(claims.scope, body.scope);
  assert.equal(claims.exp! - claims.iat!, 600);
  assert.ok(claims.iss && claims.aud && claims.jti);
});

test("client credentials in a form body are exchanged", async () => assertToken(await sendForm(inBody())));

test("client credentials in HTTP Basic are exchanged, with a form, JSON and the client_id repeated", async () => {
  assertToken(await sendForm(grant, basic(credentials.clientId, credentials.clientSecret)));
  assertToken(await sendJson(grant, basic(credentials.clientId, credentials.clientSecret)));
  assertToken(
    await sendForm(
      { ...grant, client_id: credentials.clientId },
      basic(credentials.clientId, credentials.clientSecret),
    ),
  );
});

test("HTTP Basic is percent-decoded", async () => {
  const encode = (text: string) => text.replace(/[^A-Za-z0-9]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  assertToken(await sendForm(grant, basic(encode(credentials.clientId), encode(credentials.clientSecret))));
});

test("scope narrows the token", async () => {
  const answer = await sendForm({ ...inBody(), scope: "warehouses:read" });
  assertToken(answer);
  assert.equal(answer.body.scope, "warehouses:read");
  const refused = await service.ask(answer.body.access_token, { query });
  assert.deepEqual(refused.codes, ["FORBIDDEN"]);
});

test("an empty scope counts as none", async () => {
  const answer = await sendForm({ ...inBody(), scope: "" });
  assertToken(answer);
  assert.deepEqual(answer.body.scope.split(" "), credentials.scopes);
});

test("scopes that the credential lacks, or that don't exist, are refused", async () => {
  assertRefused(await sendJson({ ...inBody(), scope: "countries:write" }), 400, "invalid_scope");
  assertRefused(await sendJson({ ...inBody(), scope: "countries:read moons:read" }), 400, "invalid_scope");
});

test("an unknown key, a wrong secret and a deactivated credential are answered alike", async () => {
  const deactivated = await service.credential();
  await service.owner.query("select auth.deactivate_credential($1)", [deactivated.id]);
  const answers = [
    await sendJson({ ...inBody(), client_id: "ak_0000000000000000" }),
    await sendJson({ ...inBody(), client_id: "\0" }),
    await sendJson({ ...inBody(), client_secret: "wrong" }),
    await sendJson({ ...grant, client_id: deactivated.clientId, client_secret: deactivated.clientSecret }),
    await sendForm(grant, basic(credentials.clientId, "wrong")),
  ];
  for (const answer of answers) assertRefused(answer, 401, "invalid_client");
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
});

test("a client that doesn't prove itself is refused with a challenge", async () => {
  const answers = [
    await sendJson(grant),
    await sendJson({ ...grant, client_id: credentials.clientId }),
    await sendJson(grant, { authorization: "Bearer x" }),
    await sendJson(grant, { authorization: "Basic !!!" }),
    await sendJson(grant, { authorization: `Basic ${Buffer.from("no colon").toString("base64")}` }),
    await sendJson(grant, basic("%zz", "x")),
  ];
  for (const answer of answers) {
    assertRefused(answer, 401, "invalid_client");
    assert.match(answer.headers.get("www-authenticate")!, /^Basic /);
  }
});

test("other grants are refused", async () => {
  assertRefused(await sendJson({ ...inBody(), grant_type: "password" }), 400, "unsupported_grant_type");
  assertRefused(await sendJson({ ...inBody(), grant_type: "refresh_token" }), 400, "unsupported_grant_type");
});

test("malformed requests are refused", async () => {
  const { client_id, client_secret } = inBody();
  const twice = [...Object.entries(inBody()), ["client_id", client_id]];
  const refused: [string, HttpAnswer][] = [
    ["no grant_type", await sendJson({ client_id, client_secret })],
    ["an empty one", await sendJson({ ...inBody(), grant_type: "" })],
    ["bad JSON", await sendJson("{")],
    ["not an object", await sendJson([inBody()])],
    ["null", await sendJson("null")],
    ["not a string", await sendJson({ ...inBody(), client_id: 7 })],
    ["no body", await send({ headers: { "content-type": "application/json" } })],
    ["no content type", await send({})],
    ["another content type", await send({ headers: { "content-type": "text/plain" }, body: "x" })],
    ["a parameter twice", await sendForm(twice)],
    ["proof in two places", await sendForm(inBody(), basic(client_id, client_secret))],
    ["two clients", await sendForm({ ...grant, client_id: "other" }, basic(client_id, client_secret))],
  ];
  for (const [what, { status, body }] of refused) {
    assert.deepEqual([status, body.error], [400, "invalid_request"], what);
  }
});

test("a body that is too large is refused", async () => {
  assertRefused(await sendJson({ ...inBody(), scope: "x".repeat(20_000) }), 413, "invalid_request");
});

test("other methods are refused", async () => {
  const answer = await send({ method: "GET" });
  assertRefused(answer, 405, "invalid_request");
  assert.equal(answer.headers.get("allow"), "POST");
});

test("neither the secret nor its hash is in any answer or in the log", async () => {
  await sendJson({ ...inBody(), grant_type: "x" });
  assert.ok(!JSON.stringify(service.log).includes(credentials.clientSecret));
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import { after, before, test } from "node:test";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { ClientCredentials } from "simple-oauth2";
import { query, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

// Common OAuth clients with their default settings must work.
let service: TestService;
let credentials: { clientId: string; clientSecret: string };
before(async () => {
  service = await startService();
  credentials = await service.credential();
});
after(() => service.close());

const tokenPath = "/api/oauth/token";

async function assertWorks(token: string): Promise<void> {
  assert.deepEqual((await service.ask(token, { query })).codes, []);
}

test("oauth4webapi", async () => {
  const server = { issuer: service.url, token_endpoint: service.url + tokenPath };
  const client = { client_id: credentials.clientId };
  for (const authentication of [
    oauth.ClientSecretBasic(credentials.clientSecret),
    oauth.ClientSecretPost(credentials.clientSecret),
  ]) {
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      authentication,
      new URLSearchParams({ scope: "countries:read" }),
      { [oauth.allowInsecureRequests]: true },
    );
    const answer = await oauth.processClientCredentialsResponse(server, client, response);
    assert.equal(answer.expires_in, 600);
    assert.equal(answer.scope, "countries:read");
    await assertWorks(answer.access_token);
  }
});

test("oauth4webapi understands a refusal", async () => {
  const server = { issuer: service.url, token_endpoint: service.url + tokenPath };
  const client = { client_id: credentials.clientId };
  const response = await oauth.clientCredentialsGrantRequest(
    server,
    client,
    oauth.ClientSecretPost("wrong"),
    new URLSearchParams(),
    { [oauth.allowInsecureRequests]: true },
  );
  await assert.rejects(oauth.processClientCredentialsResponse(server, client, response), (error: any) => {
    return error.status === 401 || error.error === "invalid_client";
  });
});

test("openid-client", async () => {
  const server = { issuer: service.url, token_endpoint: service.url + tokenPath };
  const configuration = new openid.Configuration(server, credentials.clientId, credentials.clientSecret);
  openid.allowInsecureRequests(configuration);
  const answer = await openid.clientCredentialsGrant(configuration);
  assert.equal(answer.expires_in, 600); // `expiresIn()` may be a second less already
  await assertWorks(answer.access_token);
});

test("clients that know the address alone find the token endpoint (RFC 8414)", async () => {
  const configuration = await openid.discovery(
    new URL(service.url),
    credentials.clientId,
    credentials.clientSecret,
    undefined,
    { algorithm: "oauth2", execute: [openid.allowInsecureRequests] },
  );
  const { issuer, scopes_supported: scopes } = configuration.serverMetadata();
  assert.equal(issuer, service.url);
  const { rows } = await service.owner.query("select auth.known_scopes() as scope");
  assert.deepEqual(scopes, rows.map(({ scope }) => scope).sort());
  await assertWorks((await openid.clientCredentialsGrant(configuration)).access_token);
});

test("simple-oauth2", async () => {
  const client = new ClientCredentials({
    client: { id: credentials.clientId, secret: credentials.clientSecret },
    auth: { tokenHost: service.url, tokenPath },
  });
  const answer = await client.getToken({});
  assert.equal(answer.expired(), false);
  await assertWorks(answer.token.access_token as string);
});

test("the metadata name the configured address, or a host that the service knows, never any that a request names", async () => {
  const [known, named] = await Promise.all([
    service.another({ settings: { hosts: ["erp.example"] } }),
    service.another({ settings: { publicUrl: "https://api.example.com/" } }),
  ]);
  const issuerAt = async ({ url }: { url: string }, host: string) => {
    const request = get(`${url}/.well-known/oauth-authorization-server`, { headers: { host } });
    const [response] = await once(request, "response");
    const text = (await response.toArray()).join("");
    assert.ok(host !== "evil.example" || !text.includes(host), text);
    return response.statusCode === 200 ? JSON.parse(text).issuer : response.statusCode;
  };
  const { port } = new URL(known.url);
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, "erp.example", "ERP.example:443"])
    assert.equal(await issuerAt(known, host), `http://${host}`.toLowerCase());
  for (const host of [
    "evil.example",
    "127.0.0.1.evil.example",
    "erp.example@evil.example",
    "10.0.0.1",
    "a b",
  ])
    assert.equal(await issuerAt(known, host), 404, host);
  assert.equal(await issuerAt(named, "evil.example"), "https://api.example.com");
});

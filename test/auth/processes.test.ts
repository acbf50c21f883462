import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deactivateCredential, deleteCredential, rotateCredential } from "../../src/auth/credentials.ts";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import { query, startService } from "../lib/service.ts";
import type { TestProcess, TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";

let service: TestService;
let other: TestProcess;
before(async () => {
  service = await startService();
  other = await service.another();
});
after(() => service.close());

const codesOf = async (process: TestProcess, token: string) => (await process.ask(token, { query })).codes;

/** A token that both processes have cached. */
async function knownToken(credentials: Parameters<TestProcess["tokenFor"]>[0]): Promise<string> {
  const token = await service.tokenFor(credentials);
  for (const process of [service, other, service, other]) assert.deepEqual(await codesOf(process, token), []);
  return token;
}

/** Asserts that a token stops in both processes. */
async function assertStops(token: string): Promise<void> {
  for (const process of [service, other]) await until(async () => (await codesOf(process, token)).length > 0);
  for (const process of [service, other]) {
    const { status, codes } = await process.ask(token, { query });
    assert.deepEqual([status, codes], [403, ["UNAUTHORIZED"]]);
  }
}

test("a deactivated credential's tokens stop at once on every process", async () => {
  const credentials = await service.credential();
  const token = await knownToken(credentials);
  await deactivateCredential(service.owner, credentials.id);
  await assertStops(token);
});

test("a deleted credential's tokens stop at once on every process", async () => {
  const credentials = await service.credential();
  const token = await knownToken(credentials);
  await deleteCredential(service.owner, credentials.id);
  await assertStops(token);
});

test("after a rotation the old client credentials and their tokens stop, and the new ones work", async () => {
  const credentials = await service.credential();
  const token = await knownToken(credentials);
  const fresh = await rotateCredential(service.owner, credentials.id);
  assert.notEqual(fresh.clientId, credentials.clientId);
  await assertStops(token);
  await assert.rejects(service.tokenFor(credentials), /401/);
  await knownToken(fresh);
});

test("scopes that are taken from a credential are taken from its tokens", async () => {
  const credentials = await service.credential();
  const token = await knownToken(credentials);
  await service.owner.query("update auth.credential set scopes = '{currencies:read}' where id = $1", [
    credentials.id,
  ]);
  await until(async () => (await codesOf(other, token)).includes("FORBIDDEN"));
});

test("other credentials are not affected, and using one changes nothing", async () => {
  const token = await knownToken(await service.credential());
  await deactivateCredential(service.owner, (await service.credential()).id);
  assert.deepEqual(await codesOf(service, token), []);
});

test("a known token costs no statement about its credential", async () => {
  const token = await knownToken(await service.credential());
  let connections = 0;
  const count = () => connections++;
  for (const pool of [service.pool, service.apiPool]) pool.on("acquire", count);
  // The news of earlier changes may still be on their way
  await until(async () => {
    connections = 0;
    for (let i = 0; i < 10; i++)
      assert.deepEqual(
        (await service.ask(token, { query: "{ __schema { queryType { name } } }" })).codes,
        [],
      );
    return connections === 0;
  });
  for (const pool of [service.pool, service.apiPool]) pool.off("acquire", count);
});

test("a process that lost its listener asks the database each time, and listens again by itself", async () => {
  const credentials = await service.credential();
  const token = await knownToken(credentials);
  await terminateListeners();
  await deactivateCredential(service.owner, credentials.id);
  await assertStops(token);

  await until(async () => (await countListeners()) === 2);
  const next = await service.credential();
  const nextToken = await knownToken(next);
  await deactivateCredential(service.owner, next.id);
  await assertStops(nextToken);
});

const listeners =
  "from pg_stat_activity where datname = current_database() and application_name ~ 'listener'";

async function countListeners(): Promise<number> {
  const { rows } = await service.owner.query(`select count(*)::int as n ${listeners}`);
  return rows[0].n;
}

async function terminateListeners(): Promise<void> {
  assert.equal(await countListeners(), 2);
  await service.pool.query(`select pg_terminate_backend(pid) ${listeners}`);
}

test("while the database is gone: 503 and SERVICE_UNAVAILABLE; afterwards all is well by itself", async () => {
  const proxy = await openCuttableProxy(service.loginUrl);
  const process = await service.another({ loginUrl: proxy.url });
  try {
    const token = await process.tokenFor(await service.credential());
    assert.deepEqual(await codesOf(process, token), []);
    proxy.cut();
    assert.deepEqual(await codesOf(process, token), ["SERVICE_UNAVAILABLE"]);
    await until(async () => (await process.ask(token, { query })).status === 503);
    const { codes, headers, body } = await process.ask(token, { query });
    assert.deepEqual(codes, ["SERVICE_UNAVAILABLE"]);
    assert.equal(body.errors[0].extensions.retryable, true);
    assert.equal(headers.get("retry-after"), "1");
    assert.equal((await fetch(`${process.url}/healthz`)).status, 503);
    await assert.rejects(process.tokenFor(await service.credential()), /503/);
    proxy.restore();
    assert.deepEqual(await codesOf(process, token), []);
    assert.equal((await fetch(`${process.url}/healthz`)).status, 200);
  } finally {
    await process.close();
    await proxy.close();
  }
});

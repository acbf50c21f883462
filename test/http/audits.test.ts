import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { auditServer } from "graphql-http";
import { versions } from "../../src/versions/versions.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

let service: TestService;
before(async () => void (service = await startService({ versions })));
after(() => service.close());

// Optional features that we don't offer: queries by GET would end up in logs and caches.
const declined = [
  "5A70", // MAY accept application/x-www-form-urlencoded formatted GET requests
  "D6D5", // MAY allow URL-encoded JSON string {variables} parameter in GETs …
  "6A70", // MAY allow URL-encoded JSON string {variables} parameter in GETs …
];

for (const version of ["unstable", "2026-06-unstable"]) {
  test(`${version} passes the audits of graphql-http`, async () => {
    const token = await service.token();
    const results = await auditServer({
      url: `${service.url}/api/graphql/${version}`,
      fetchFn: (url: string, { headers = {}, ...init }: RequestInit = {}) =>
        fetch(url, { ...init, headers: { ...headers, authorization: `Bearer ${token}` } }),
    });
    const failed = results.filter(({ status }) => status !== "ok");
    assert.deepEqual(failed.map(({ id }) => id).sort(), [...declined].sort());
    assert.ok(results.length > 50);
  });
}

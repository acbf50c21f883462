import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { auditServer } from "graphql-http";
import { versions } from "../../src/versions/versions.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

let service: TestService;
before(async () => void (service = await startService({ versions })));
after(() => service.close());

for (const version of ["unstable", "2026-06-unstable"]) {
  test(`${version} passes the audits of graphql-http`, async () => {
    const token = await service.token();
    const results = await auditServer({
      url: `${service.url}/api/graphql/${version}`,
      fetchFn: (url: string, { headers = {}, ...init }: RequestInit = {}) =>
        fetch(url, { ...init, headers: { ...headers, authorization: `Bearer ${token}` } }),
    });
    const failed = results.filter(({ status }) => status !== "ok");
    assert.deepEqual(failed, []);
    assert.ok(results.length > 50);
  });
}

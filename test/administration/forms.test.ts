import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";
import { csrfTokenIn, loggedIn, textOf, HttpBrowser } from "./browser.ts";

let service: TestService;
let visitor: HttpBrowser;
before(async () => {
  service = await startService();
  visitor = await loggedIn(service);
});
after(() => service.close());

const count = async () =>
  (await service.owner.query("select count(*)::int as n from auth.credential")).rows[0].n;
const tokenOf = async (visitor: HttpBrowser) => csrfTokenIn((await visitor.get("/admin/tokens/new")).html);

test("a form without the session's token, with another's or a damaged one changes nothing", async () => {
  const before = await count();
  const other = await tokenOf(await loggedIn(service));
  const own = await tokenOf(visitor);
  for (const _csrf of [undefined, "", "x", other, own.slice(1), `${own}x`]) {
    const page = await visitor.postRaw("/admin/tokens/new", {
      name: "x",
      ...(_csrf !== undefined && { _csrf }),
    });
    assert.equal(page.status, 403);
    assert.match(textOf(page), /This form can’t be accepted.*Nothing was changed.*Request ID/);
  }
  assert.equal(await count(), before);
});

test("a form from elsewhere changes nothing, even with the token", async () => {
  const _csrf = await tokenOf(visitor);
  const before = await count();
  for (const headers of [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "evil" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
  ]) {
    const { status } = await visitor.postRaw("/admin/tokens/new", { _csrf, name: "x" }, { headers });
    assert.equal(status, 403, JSON.stringify(headers));
  }
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const silent = await fetch(`${service.url}/admin/tokens/new`, {
    method: "POST",
    body: new URLSearchParams({ _csrf, name: "x" }),
    headers: { cookie, "sec-fetch-site": "" },
  });
  assert.equal(silent.status, 403);
  assert.equal(await count(), before);
});

test("the public address counts as ours, behind a proxy that has its own", async () => {
  const proxied = await service.another({
    settings: { explorer: false, publicUrl: "https://api.example.com" },
  });
  const there = new HttpBrowser(proxied.url);
  const page = await there.get("/admin/log-in");
  const headers = { origin: "https://api.example.com" };
  const { status } = await there.postRaw(
    "/admin/log-in",
    { _csrf: csrfTokenIn(page.html), name: "x", password: "y" },
    { headers },
  );
  assert.equal(status, 422);
});

test("logging in is protected too", async () => {
  const stranger = new HttpBrowser(service.url);
  await stranger.get("/admin/log-in");
  assert.equal((await stranger.postRaw("/admin/log-in", { name: "x", password: "y" })).status, 403);
  const other = csrfTokenIn((await new HttpBrowser(service.url).get("/admin/log-in")).html);
  assert.equal(
    (await stranger.postRaw("/admin/log-in", { _csrf: other, name: "x", password: "y" })).status,
    403,
  );
});

test("every action needs the token", async () => {
  const credentials = await service.credential();
  for (const path of [
    "/admin/log-out",
    "/admin/account",
    "/admin/plan",
    ...["change", "rotate", "deactivate", "activate", "delete"].map(
      (action) => `/admin/tokens/${credentials.id}/${action}`,
    ),
  ])
    assert.equal((await visitor.postRaw(path, {})).status, 403, path);
  assert.equal((await visitor.get("/admin/account")).status, 200, "still logged in");
});

test("actions are never done by GET", async () => {
  const credentials = await service.credential();
  for (const path of ["/admin/log-out", `/admin/tokens/${credentials.id}/activate`])
    assert.equal((await visitor.get(path)).status, 404);
  for (const action of ["deactivate", "delete"])
    assert.equal((await visitor.get(`/admin/tokens/${credentials.id}/${action}`)).status, 200);
  const { rows } = await service.owner.query("select deactivated_at from auth.credential where id = $1", [
    credentials.id,
  ]);
  assert.deepEqual(rows, [{ deactivated_at: null }]);
});

test("pages without log-in show nothing and do nothing", async () => {
  const credentials = await service.credential();
  const stranger = new HttpBrowser(service.url);
  for (const path of [
    "/admin",
    "/admin/tokens",
    "/admin/tokens/new",
    `/admin/tokens/${credentials.id}`,
    "/admin/activity",
    "/admin/account",
    "/admin/nothing",
  ]) {
    const { status, location } = await stranger.get(path);
    assert.equal(status, 303, path);
    assert.match(location!, /^\/admin\/log-in\?/);
  }
  for (const action of ["change", "rotate", "deactivate", "activate", "delete"])
    assert.equal((await stranger.postRaw(`/admin/tokens/${credentials.id}/${action}`, {})).status, 303);
  assert.equal((await stranger.get("/admin/assets/style.css")).status, 200);
  assert.equal((await stranger.get("/admin/assets/../administration.ts")).status, 303);
  assert.equal((await stranger.get("/admin/assets/..%2fadministration.ts")).status, 303);
});

test("an access token of the API opens no page", async () => {
  const stranger = new HttpBrowser(service.url);
  stranger.headers = { authorization: `Bearer ${await service.token()}` };
  assert.equal((await stranger.get("/admin/tokens")).status, 303);
});

test("every page has the headers that keep browsers strict", async () => {
  const credentials = await service.credential();
  const pages = [
    await new HttpBrowser(service.url).get("/admin/log-in"),
    await new HttpBrowser(service.url).get("/admin/tokens"),
    await visitor.postRaw("/admin/account", {}),
    await visitor.post("/admin/account", {}),
    ...(await Promise.all(
      [
        "",
        "/tokens",
        "/tokens/new",
        `/tokens/${credentials.id}`,
        `/tokens/${credentials.id}/change`,
        `/tokens/${credentials.id}/rotate`,
        `/tokens/${credentials.id}/delete`,
        "/activity",
        "/versions",
        "/plan",
        "/account",
        "/nothing",
      ].map((path) => visitor.get(`/admin${path}`)),
    )),
  ];
  for (const { headers, html, status } of pages) {
    const policy = headers.get("content-security-policy")!;
    assert.ok(policy.startsWith("default-src 'none';"), policy);
    assert.ok(policy.includes("frame-ancestors 'none'") && !policy.includes("unsafe"));
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "same-origin");
    assert.equal(headers.get("x-frame-options"), "DENY");
    assert.equal(headers.get("cross-origin-opener-policy"), "same-origin");
    assert.ok(headers.get("x-request-id"));
    assert.ok(!headers.has("x-powered-by"));
    if (status !== 303) assert.match(html, /^<!doctype html>/);
    assert.doesNotMatch(html, /<style|style="|<script>| on[a-z]+="/);
  }
});

test("a form that is too large, or no form at all, is refused with a page", async () => {
  const large = await visitor.postRaw("/admin/tokens/new", { name: "x".repeat(100_000) });
  assert.equal(large.status, 413);
  assert.match(textOf(large), /can’t be read/);
  const json = await visitor.postRaw(
    "/admin/tokens/new",
    {},
    { headers: { "content-type": "application/json" } },
  );
  assert.equal(json.status, 403);
});

test("when the database is away the page says so, and the same page works when it is back", async () => {
  const proxy = await openCuttableProxy(service.loginUrl);
  const process = await service.another({ loginUrl: proxy.url });
  const there = new HttpBrowser(process.url);
  visitor.cookies.forEach((value, name) => there.cookies.set(name, value));
  proxy.cut();
  const page = await there.get("/admin/tokens");
  assert.equal(page.status, 503);
  assert.match(textOf(page), /The database can’t be reached.*Request ID/);
  proxy.restore();
  await until(async () => (await there.get("/admin/tokens")).status === 200);
  await process.close();
  await proxy.close();
});

test("a fault of ours is a page with the request id, and tells no internals; the log has the cause", async () => {
  const right = "execute on function administration.known_scopes()";
  await service.owner.query(`revoke ${right} from service_administration`);
  const page = await visitor.get("/admin/tokens/new");
  await service.owner.query(`grant ${right} to service_administration`);
  assert.equal(page.status, 500);
  const id = page.headers.get("x-request-id");
  assert.ok(textOf(page).includes(`Request ID ${id}`));
  assert.doesNotMatch(page.html, /permission|known_scopes|node_modules/i);
  assert.ok(
    service.log.some((line) => line.requestId === id && JSON.stringify(line).includes("known_scopes")),
  );
});

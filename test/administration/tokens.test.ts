import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { query, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";
import { csrfTokenIn, HttpBrowser, loggedIn, textOf } from "./browser.ts";
import type { FetchedPage } from "./browser.ts";

let service: TestService;
let visitor: HttpBrowser;
before(async () => {
  service = await startService({ versions, settings: { explorer: true } });
  visitor = await loggedIn(service, "anna");
});
after(() => service.close());

interface Made {
  id: string;
  path: string;
  clientId: string;
  clientSecret: string;
}

function pairOn(page: FetchedPage): Made {
  const find = (pattern: RegExp) => pattern.exec(page.html)?.[1] ?? assert.fail(page.html);
  const id = find(/href="\/admin\/tokens\/([0-9a-f-]{36})"/);
  return {
    id,
    path: `/admin/tokens/${id}`,
    clientId: find(/<code id="client-id">(ak_\w+)</),
    clientSecret: find(/<code id="secret">(sk_[\w-]+)</),
  };
}

async function make(name: string, access: Record<string, string> = { countries: "read" }): Promise<Made> {
  const { html } = await visitor.get("/admin/tokens/new");
  const id = /name="id" value="([^"]+)"/.exec(html)![1]!;
  const levels = Object.fromEntries(
    Object.entries(access).map(([resource, level]) => [`access.${resource}`, level]),
  );
  const page = await visitor.postRaw("/admin/tokens/new", { _csrf: csrfTokenIn(html), id, name, ...levels });
  assert.equal(page.status, 200, page.html);
  return pairOn(page);
}

const scopesOf = async (id: string): Promise<string[]> =>
  (await service.owner.query("select scopes from auth.credential where id = $1", [id])).rows[0]?.scopes;
const statusOf = async (token: string) => (await service.ask(token, { query })).status;

test("a new API credential has the chosen access, and its client ID and secret work", async () => {
  const made = await make("Warehouse app", { countries: "read", stocks: "write", tags: "none" });
  assert.deepEqual(await scopesOf(made.id), ["countries:read", "stocks:read", "stocks:write"]);
  assert.equal(await statusOf(await service.tokenFor(made)), 200);
});

test("the form offers every resource that has a scope, at first with none, and writing where something can be written", async () => {
  const { html } = await visitor.get("/admin/tokens/new");
  const { rows } = await service.owner.query("select s as scope from auth.known_scopes() s");
  const known = new Set(rows.map(({ scope }) => scope));
  const resources = new Set(rows.map(({ scope }) => scope.split(":")[0]));
  assert.ok(resources.size > 20);
  for (const name of resources) {
    for (const level of ["none", "read", "write"]) {
      const [input] =
        new RegExp(`<input[^>]*name="access.${name}"[^>]*value="${level}"[^>]*>`).exec(html) ?? [];
      assert.equal(input !== undefined, level !== "write" || known.has(`${name}:write`), `${name} ${level}`);
      if (input) assert.equal(/ checked/.test(input), level === "none", input);
    }
  }
  assert.ok(known.has("orders:write") && !known.has("countries:write"));
});

test("the secret is shown once: on no later page, and nowhere in the database", async () => {
  const { clientSecret, path } = await make("Secretive");
  for (const other of ["/admin/tokens", path, `${path}/change`, `${path}/rotate`, "/admin/activity"])
    assert.ok(!(await visitor.get(other)).html.includes(clientSecret), other);
  const { rows: tables } = await service.owner.query(
    "select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace::regnamespace::text in ('auth', 'administration')",
  );
  for (const { name } of tables) {
    const { rows } = await service.owner.query(
      `select t::text as row from ${name} t where t::text like '%' || $1 || '%'`,
      [clientSecret],
    );
    assert.deepEqual(rows, [], name);
  }
  assert.ok(!JSON.stringify(service.log).includes(clientSecret));
});

test("the same form sent twice creates one API credential, and doesn't show the secret again", async () => {
  const { html } = await visitor.get("/admin/tokens/new");
  const id = /name="id" value="([^"]+)"/.exec(html)![1]!;
  const fields = { _csrf: csrfTokenIn(html), id, name: "Twice", "access.tags": "read" };
  await visitor.postRaw("/admin/tokens/new", fields);
  const { status, location } = await visitor.postRaw("/admin/tokens/new", fields);
  assert.deepEqual([status, location], [303, `/admin/tokens/${fields.id}?done=repeated`]);
  assert.match(
    textOf(await visitor.get(location!)),
    /has already been created, and its secret was shown once/,
  );
  const { rows } = await service.owner.query("select from auth.credential where name = 'Twice'");
  assert.equal(rows.length, 1);
});

test("names that won't do are refused; what was chosen stays", async () => {
  for (const [name, reason] of [
    ["", /Enter a name/],
    ["  ", /Enter a name/],
    ["x".repeat(101), /more than 100/],
    ["a\0b", /can’t be shown/],
  ] as const) {
    const page = await visitor.post("/admin/tokens/new", { name, "access.stocks": "write" });
    assert.equal(page.status, 422);
    assert.match(textOf(page), reason);
    assert.match(page.html, /name="access.stocks"\s+value="write"\s+checked/);
    assert.match(page.html, /role="alert"/);
  }
});

test("an API credential without access must be confirmed", async () => {
  const asked = await visitor.post("/admin/tokens/new", { name: "Nobody", "access.tags": "none" });
  assert.equal(asked.status, 422);
  assert.match(textOf(asked), /Choose what the credential may read or write.*Create it without access/);
  const made = await visitor.post("/admin/tokens/new", { name: "Nobody", noAccess: "wanted" });
  assert.equal(made.status, 200);
  assert.deepEqual(await scopesOf(pairOn(made).id), []);
});

test("resources and levels that don't exist are not taken", async () => {
  const { id } = await make("Odd", { moons: "write", stocks: "own", countries: "write", tags: "read" });
  assert.deepEqual(await scopesOf(id), ["tags:read"]);
});

test("names are shown as text", async () => {
  const name = `<script>alert("1")</script> & 'x'`;
  const { path } = await make(name);
  for (const page of [
    await visitor.get("/admin/tokens"),
    await visitor.get(path),
    await visitor.get(`${path}/change`),
    await visitor.get("/admin/activity"),
  ]) {
    assert.ok(!page.html.includes("<script>alert"));
    assert.ok(page.html.includes("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;"));
  }
});

test("the list shows name, access, last use and state", async () => {
  const { id } = await make("Listed", { countries: "read", stocks: "write" });
  await service.owner.query(
    "update auth.credential set last_used_at = '2026-03-04 05:06Z', deactivated_at = now() where id = $1",
    [id],
  );
  assert.match(
    textOf(await visitor.get("/admin/tokens")),
    /Listed Writes 1 resource, reads 1 more Last used 4 Mar 2026, 05:06 UTC Deactivated/,
  );
});

test("the page of an API credential shows its addresses, for each version, and its access", async () => {
  const { path, clientId } = await make("Detailed", { stocks: "write", countries: "read" });
  const text = textOf(await visitor.get(path));
  for (const part of [
    clientId,
    `${service.url}/api/oauth/token`,
    `${service.url}/api/graphql/2026-06-unstable`,
    `${service.url}/api/graphql/unstable`,
    "Read and write Stocks Read Countries No access All webhook subscriptions, Batches",
  ])
    assert.ok(text.includes(part), part);
});

test("behind a proxy the addresses are those that clients reach", async () => {
  const proxied = await service.another({
    settings: { explorer: false, publicUrl: "https://api.example.com" },
  });
  const { path } = await make("Proxied");
  const token = visitor.cookies.get("service-session")!;
  const response = await fetch(proxied.url + path, {
    headers: { cookie: `__Host-service-session=${token}` },
  });
  const page = await response.text();
  assert.ok(page.includes(">https://api.example.com/api/oauth/token<"));
  // It serves no explorer
  assert.ok(!page.includes("/admin/explorer"));
  const headers = { cookie: `__Host-service-session=${token}` };
  assert.equal((await fetch(`${proxied.url}/admin/explorer`, { headers })).status, 404);
});

test("rotating at once stops the old client ID and secret and their access tokens, and shows the new secret once", async () => {
  const old = await make("Rotated");
  const before = await service.tokenFor(old);
  const page = await visitor.post(`${old.path}/rotate`, { present: old.clientId, overlap: "0" });
  assert.equal(page.status, 200);
  const fresh = pairOn(page);
  assert.notEqual(fresh.clientId, old.clientId);
  await assert.rejects(service.tokenFor(old), /401/);
  assert.equal(await statusOf(before), 403);
  assert.equal(await statusOf(await service.tokenFor(fresh)), 200);
});

for (const [overlap, hours] of [
  ["1", 1],
  ["24", 24],
  ["168", 168],
] as const) {
  test(`rotating with ${hours} hours of overlap keeps the old client ID and secret and their access tokens valid until then`, async () => {
    const old = await make(`Rotated ${overlap}`);
    const before = await service.tokenFor(old);
    const fresh = pairOn(await visitor.post(`${old.path}/rotate`, { present: old.clientId, overlap }));
    for (const credentials of [old, fresh])
      assert.equal(await statusOf(await service.tokenFor(credentials)), 200);
    assert.equal(await statusOf(before), 200);
    const { rows } = await service.owner.query(
      "select extract(epoch from expires_at - now()) / 3600 as hours from auth.credential_secret where access_key = $1",
      [old.clientId],
    );
    assert.ok(Math.abs(rows[0].hours - hours) < 0.1);
    const text = textOf(await visitor.get(old.path));
    assert.match(text, /Old client ID works until/);
    assert.ok(text.indexOf(fresh.clientId) > 0);
    await service.owner.query(
      "update auth.credential_secret set expires_at = now() - interval '1 second' where access_key = $1",
      [old.clientId],
    );
    await assert.rejects(service.tokenFor(old), /401/);
    await until(async () => (await statusOf(before)) === 403);
    assert.doesNotMatch(textOf(await visitor.get(old.path)), /Old client ID works until/);
  });
}

test("an old client ID expires by itself, also in caches", async () => {
  const old = await make("Ends");
  const token = await service.tokenFor(old);
  await visitor.post(`${old.path}/rotate`, { present: old.clientId, overlap: "1" });
  await service.owner.query(
    "update auth.credential_secret set expires_at = now() + interval '2 seconds' where access_key = $1",
    [old.clientId],
  );
  assert.equal(await statusOf(token), 200);
  await until(async () => (await statusOf(token)) === 403);
});

test("a later rotation at once ends all older keys; one with overlap doesn't lengthen them", async () => {
  const first = await make("Often");
  const second = pairOn(
    await visitor.post(`${first.path}/rotate`, { present: first.clientId, overlap: "1" }),
  );
  const third = pairOn(
    await visitor.post(`${first.path}/rotate`, { present: second.clientId, overlap: "168" }),
  );
  const { rows } = await service.owner.query(
    "select expires_at < now() + interval '2 hours' as soon from auth.credential_secret where access_key = $1",
    [first.clientId],
  );
  assert.equal(rows[0].soon, true);
  pairOn(await visitor.post(`${first.path}/rotate`, { present: third.clientId, overlap: "0" }));
  for (const credentials of [first, second, third])
    await assert.rejects(service.tokenFor(credentials), /401/);
});

test("the same form to rotate, sent twice, rotates once", async () => {
  const old = await make("Rotated twice");
  const fields = {
    _csrf: csrfTokenIn((await visitor.get(`${old.path}/rotate`)).html),
    present: old.clientId,
    overlap: "0",
  };
  const fresh = pairOn(await visitor.postRaw(`${old.path}/rotate`, fields));
  const again = await visitor.postRaw(`${old.path}/rotate`, fields);
  assert.deepEqual([again.status, again.location], [303, `${old.path}?done=rotated`]);
  assert.equal(await statusOf(await service.tokenFor(fresh)), 200);
});

test("an overlap that isn't offered is refused", async () => {
  const { path, clientId } = await make("Overlap");
  for (const overlap of ["", "2", "99999", "-1"])
    assert.equal((await visitor.post(`${path}/rotate`, { present: clientId, overlap })).status, 400, overlap);
});

test("a deactivated API credential stops, can't be rotated, and works again when activated", async () => {
  const made = await make("Stopped");
  const token = await service.tokenFor(made);
  const { location } = await visitor.post(`${made.path}/deactivate`);
  assert.match(textOf(await visitor.get(location!)), /has been deactivated.*Deactivated/);
  assert.equal(await statusOf(token), 403);
  const { _csrf } = { _csrf: csrfTokenIn((await visitor.get(made.path)).html) };
  const refused = await visitor.postRaw(`${made.path}/rotate`, {
    _csrf,
    present: made.clientId,
    overlap: "0",
  });
  assert.equal(refused.location, `${made.path}?done=inactive`);
  assert.equal((await visitor.get(`${made.path}/rotate`)).location, `${made.path}?done=inactive`);
  await visitor.post(`${made.path}/activate`, {}, { on: made.path });
  // The process hears of it a moment later
  await until(async () => (await statusOf(token)) === 200);
});

test("renaming and changing access: removed access ends at once, added access comes with the next access token", async () => {
  const made = await make("Changed", { countries: "read", tags: "read" });
  const token = await service.tokenFor(made);
  const { html } = await visitor.get(`${made.path}/change`);
  assert.match(html, /name="access.countries"\s+value="read"\s+checked/);
  const { location } = await visitor.post(`${made.path}/change`, {
    name: "New name",
    "access.stocks": "write",
    "access.tags": "read",
  });
  assert.match(textOf(await visitor.get(location!)), /New name.*The changes have been saved/);
  assert.deepEqual(await scopesOf(made.id), ["stocks:read", "stocks:write", "tags:read"]);
  assert.deepEqual((await service.ask(token, { query })).codes, ["FORBIDDEN"]);
  const page = await visitor.post(`${made.path}/change`, { name: "" });
  assert.equal(page.status, 422);
  assert.match(textOf(page), /Enter a name/);
});

test("an API credential can be restricted to stored operations; its page shows them, and the activity says so", async () => {
  const made = await make("Held", { countries: "read" });
  const token = await service.tokenFor(made);
  await service.owner.query("select auth.publish_operations('unstable', $1, $2)", [
    ...[made.id, JSON.stringify([{ name: "Countries", document: query }])],
  ]);
  const change = (operations: object) =>
    visitor.post(`${made.path}/change`, { name: "Held", "access.countries": "read", ...operations });
  await change({ operations: "stored" });
  assert.deepEqual((await service.ask(token, { query: "{ __typename }" })).codes, ["FORBIDDEN"]);
  assert.deepEqual((await service.ask(token, { query })).codes, []);
  const page = textOf(await visitor.get(made.path));
  assert.match(page, /Stored operations only; all other operations are refused\..*Countries unstable/);
  assert.match(
    page,
    /Changed the API credential May send stored operations only.*Stored operations for Held/,
  );
  assert.match(
    (await visitor.get(`${made.path}/change`)).html,
    /name="operations"\s+value="stored"\s+checked/,
  );
  await change({});
  assert.deepEqual((await service.ask(token, { query: "{ __typename }" })).codes, []);
});

test("deleting asks for confirmation, then the API credential is gone", async () => {
  const made = await make("Deleted");
  const token = await service.tokenFor(made);
  assert.match(
    textOf(await visitor.get(`${made.path}/delete`)),
    /Delete API credential “Deleted”\?.*can’t be undone/,
  );
  assert.equal(await statusOf(token), 200);
  const { location } = await visitor.post(`${made.path}/delete`);
  assert.match(textOf(await visitor.get(location!)), /The API credential has been deleted/);
  assert.equal(await statusOf(token), 403);
  assert.equal((await visitor.get(made.path)).status, 404);
});

test("the process that deletes an API credential refuses its access tokens at once", async () => {
  const made = await make("Deleted at once");
  const token = await service.tokenFor(made);
  assert.equal(await statusOf(token), 200);
  const { rows } = await service.owner.query(
    `select pid from pg_stat_activity
     where datname = current_database() and application_name = 'service credential listener'`,
  );
  // A stopped backend passes no notification on
  process.kill(rows[0].pid, "SIGSTOP");
  try {
    await visitor.post(`${made.path}/delete`);
    assert.equal(await statusOf(token), 403);
  } finally {
    process.kill(rows[0].pid, "SIGCONT");
  }
});

test("API credentials that don't exist: every page and action is a 404 with the request ID", async () => {
  const { html } = await visitor.get("/admin/account");
  const _csrf = csrfTokenIn(html);
  for (const id of ["01980000-0000-7000-8000-000000000000", "x", "%00"]) {
    for (const page of ["", "/change", "/rotate", "/delete", "/deactivate"]) {
      const { status, headers, html } = await visitor.get(`/admin/tokens/${id}${page}`);
      assert.equal(status, 404, page);
      assert.ok(html.includes(headers.get("x-request-id")!));
    }
    for (const action of ["/change", "/rotate", "/delete", "/deactivate", "/activate"]) {
      const { status } = await visitor.postRaw(`/admin/tokens/${id}${action}`, {
        _csrf,
        name: "x",
        overlap: "0",
        present: "x",
      });
      assert.equal(status, 404, action);
    }
  }
});

/** What a page hands to the explorer. */
function handedOn({ status, html }: FetchedPage): Made {
  assert.equal(status, 200, html);
  const find = (pattern: RegExp) => pattern.exec(html)?.[1] ?? assert.fail(html);
  const value = find(/data-value="([^"]+)"/).replaceAll("&quot;", '"');
  const { id: clientId, secret: clientSecret } = JSON.parse(value) as Record<"id" | "secret", string>;
  const path = find(/data-redirect="([^"]+)"/);
  return { id: "", path, clientId, clientSecret };
}

test("the explorer opens with the chosen scopes for an hour, with the administrator's own API credential", async () => {
  const { html } = await visitor.get("/admin/explorer");
  assert.match(html, /name="access.orders"\s+value="read"\s+checked/);
  const page = await visitor.post("/admin/explorer", { "access.countries": "read", "access.stocks": "none" });
  const first = handedOn(page);
  assert.equal(first.path, "/explorer/unstable");
  const token = await service.tokenFor(first);
  assert.equal(await statusOf(token), 200);
  assert.deepEqual((await service.ask(token, { query: "{ tags { edges { node { id } } } }" })).codes, [
    "FORBIDDEN",
  ]);
  const own = async ({ clientId }: Made) => {
    const { rows } = await service.owner.query(
      `select name, scopes, round(extract(epoch from expires_at - now()) / 360)::int as tenths,
         array(select access_key from auth.credential_secret where credential_id = c.id) = array[$1] as one_key
       from auth.credential c where name like 'Explorer of %'`,
      [clientId],
    );
    return rows;
  };
  const expected = { name: "Explorer of anna", tenths: 10, one_key: true };
  assert.deepEqual(await own(first), [{ ...expected, scopes: ["countries:read"] }]);

  // Again: the same API credential with other scopes and another client ID; also after somebody has deactivated it
  await service.owner.query(
    "update auth.credential set deactivated_at = now() where name = 'Explorer of anna'",
  );
  const second = handedOn(await visitor.post("/admin/explorer", { "access.tags": "read" }));
  assert.deepEqual(await own(second), [{ ...expected, scopes: ["tags:read"] }]);
  await assert.rejects(service.tokenFor(first), /401/);
  await service.tokenFor(second);
  assert.match((await visitor.get("/admin/explorer")).html, /name="access.tags"\s+value="read"\s+checked/);
  for (const { clientSecret } of [first, second])
    assert.ok(!JSON.stringify(service.log).includes(clientSecret));
  assert.match(textOf(await visitor.get("/admin/activity")), /anna .*Explorer of anna/);
});

test("the explorer's API credential expires after an hour, and opening the explorer again renews it", async () => {
  const nora = await loggedIn(service, "nora");
  const opened = async () => handedOn(await nora.post("/admin/explorer", { "access.countries": "read" }));
  const first = await opened();
  const token = await service.tokenFor(first);
  assert.equal(await statusOf(token), 200);
  const { rows } = await service.owner.query(
    "update auth.credential set expires_at = now() - interval '1 second' where name = 'Explorer of nora' returning id",
  );
  const path = `/admin/tokens/${rows[0].id}`;
  // The process hears of it a moment later
  await until(async () => (await statusOf(token)) !== 200);
  const { status, codes } = await service.ask(token, { query: "{ __typename }" });
  assert.deepEqual({ status, codes }, { status: 403, codes: ["UNAUTHORIZED"] });
  await assert.rejects(service.tokenFor(first), /401/);

  assert.match(
    textOf(await nora.get("/admin/tokens")),
    /Explorer of nora Reads 1 resource (Never used|Last used [\w ,:]+) Expired/,
  );
  const page = await nora.get(path);
  assert.match(textOf(page), /Expired.*Works until/);
  assert.doesNotMatch(page.html, /\/(activate|deactivate|rotate)"/);
  assert.equal((await nora.get(`${path}/rotate`)).location, `${path}?done=inactive`);
  const _csrf = csrfTokenIn(page.html);
  assert.equal((await nora.postRaw(`${path}/activate`, { _csrf })).status, 404);
  const again = await nora.postRaw(`${path}/rotate`, { _csrf, present: first.clientId, overlap: "0" });
  assert.equal(again.location, `${path}?done=inactive`);

  const second = await opened();
  assert.equal(await statusOf(await service.tokenFor(second)), 200);
  await assert.rejects(service.tokenFor(first), /401/);
  assert.match(textOf(await nora.get(path)), /Active .*Limited the lifetime of the API credential/);
});

test("the explorer opens for nobody else, and not without scopes", async () => {
  const fields = { "access.tags": "read" };
  const other = await loggedIn(service, "otto");
  const count = async () =>
    (await service.owner.query("select from auth.credential where name = 'Explorer of otto'")).rows.length;
  assert.equal((await other.postRaw("/admin/explorer", fields)).status, 403);
  const elsewhere = { headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" } };
  assert.equal((await other.post("/admin/explorer", fields, { ...elsewhere })).status, 403);
  const nothing = await other.post("/admin/explorer", { "access.tags": "none" });
  assert.equal(nothing.status, 422);
  assert.match(textOf(nothing), /Choose what to read or write/);
  const stranger = new HttpBrowser(service.url);
  for (const { status, location } of [
    await stranger.get("/admin/explorer"),
    await stranger.postRaw("/admin/explorer", fields),
  ]) {
    assert.equal(status, 303);
    assert.match(location!, /^\/admin\/log-in/);
  }
  assert.equal(await count(), 0);
  // Sent twice at once, it creates one API credential; the last client ID works
  const { html } = await other.get("/admin/explorer");
  const sent = { _csrf: csrfTokenIn(html), ...fields };
  const pages = await Promise.all([1, 2].map(() => other.postRaw("/admin/explorer", sent)));
  const answers = await Promise.allSettled(pages.map((page) => service.tokenFor(handedOn(page))));
  assert.deepEqual(answers.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  assert.equal(await count(), 1);
});
